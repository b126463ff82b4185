"""The container and compose files hold together: what they name is there, and what they run is what the command takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tenure.serving.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = ROOT / "deploy" / "Containerfile"
COMPOSE = ROOT / "deploy" / "compose.yaml"

yaml = pytest.importorskip("yaml")

INSTRUCTIONS = frozenset(
    "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR".split()
)


def instructions() -> list[tuple[str, str]]:
    """Instructions of the container file with what follows them, continued lines joined."""
    lines = [line for line in CONTAINER.read_text(encoding="utf-8").splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined)]


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load(COMPOSE.read_text(encoding="utf-8")))


def options_of(words: list[str]) -> tuple[list[str], set[str]]:
    """The commands a line goes through, and the options that the last of them takes."""
    import typer.main

    command: Any = typer.main.get_command(app)
    path = []
    for word in words:
        found = getattr(command, "commands", {}).get(word)
        if found is None:
            break
        command = found
        path.append(word)
    return path, {option for param in command.params for option in param.opts}


def taken(words: list[str]) -> None:
    """Fail unless `tenure` with these words is a command with options that it takes."""
    path, options = options_of(words)
    assert path == [word for word in words if not word.startswith("-")][: len(path)]
    assert path, f"no command: {words}"
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options


def test_the_container_file_has_known_instructions_and_copies_what_is_there() -> None:
    found = instructions()
    assert {name for name, _ in found} <= INSTRUCTIONS
    assert found[0][0] == "FROM"
    for name, rest in found:
        if name == "COPY" and not rest.startswith("--from="):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source


def test_the_container_does_not_run_as_root_and_answers_its_health_check() -> None:
    found = instructions()
    users = [rest for name, rest in found if name == "USER"]
    assert users == ["10001"]
    ports = {rest for name, rest in found if name == "EXPOSE"}
    health = next(rest for name, rest in found if name == "HEALTHCHECK")
    assert ports == {"8765"}
    assert ":8765/healthz" in health


def test_extras_that_the_container_installs_are_there() -> None:
    import tomllib

    known = set(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"])
    named = re.search(r'"\.\[([a-z,-]+)\]"', CONTAINER.read_text(encoding="utf-8"))
    assert named is not None
    assert set(named[1].split(",")) <= known


def test_every_command_of_the_containers_is_one_that_tenure_takes() -> None:
    usual = next(rest for name, rest in instructions() if name == "CMD")
    taken(list(yaml.safe_load(usual)))
    for name, service in compose()["services"].items():
        if name != "database":
            taken(service["command"])


def test_services_wait_for_what_is_there_and_only_the_migration_is_an_administrator() -> None:
    found = compose()
    services = found["services"]
    assert set(services) == {"database", "migrate", "server", "worker"}
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in found["volumes"]
    administrators = {
        name for name, service in services.items() if "tenure_admin" in str(service.get("environment", {}).get("TENURE_DB", ""))
    }
    assert administrators == {"migrate"}
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"]), "nothing is open to the network by default"


def test_secrets_are_asked_for_and_stand_nowhere() -> None:
    text = COMPOSE.read_text(encoding="utf-8")
    wanted = set(re.findall(r"\$\{([A-Z_]+)", text))
    offered = dict(line.split("=", 1) for line in (ROOT / "deploy" / "example.env").read_text().splitlines() if "=" in line)
    assert wanted == set(offered)
    assert set(offered.values()) == {""}
    assert all(f"${{{name}:?" in text for name in wanted if name.endswith("PASSWORD"))


def test_commands_of_the_page_are_ones_that_tenure_takes() -> None:
    page = (ROOT / "docs" / "howto" / "deploy.md").read_text(encoding="utf-8")
    lines = [line[2:].split("#")[0].rstrip(" &") for line in page.splitlines() if line.startswith("$ ")]
    typed = [shlex.split(line) for line in lines]
    ours = [words[1:] for words in typed if words[0] == "tenure"]
    ours += [words[words.index("server") + 1 :] for words in typed if "--rm" in words]
    assert len(ours) > 8
    for words in ours:
        taken(words)
