"""The server by the clients of the TypeScript SDK, which most hosts are built with.

`make test` installs them beside the environment (scripts/typescript-sdk), because tests use no network. TENURE_NODE_MCP names
another folder `node_modules` that has them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving.mcp.conftest import STEPS

TYPESCRIPT = Path(__file__).with_name("typescript")
TOOLS = [
    "context",
    "recall",
    "checkpoint",
    "report_outcome",
    "propose_lesson",
    "review_list",
    "submit_reflection",
    "submit_revision",
]
PACKAGES = sorted(json.loads((TYPESCRIPT / "package.json").read_text(encoding="utf-8"))["dependencies"])


def modules_with(package: str) -> Path:
    """The folder that has a package; the test is skipped, with the reason, where there is none."""
    if shutil.which("node") is None:
        pytest.skip("needs node, which is not on the path")
    named = os.environ.get("TENURE_NODE_MCP")
    if named:
        if not (Path(named) / package).is_dir():
            pytest.fail(f"TENURE_NODE_MCP names {named}, and {package} is not there")
        return Path(named).resolve()
    installed = Path(sys.prefix) / "typescript-sdk"
    if not (installed / "installed").is_file() or not (installed / "node_modules" / package).is_dir():
        why = (
            (installed / "why-not").read_text(encoding="utf-8").strip()
            if (installed / "why-not").is_file()
            else "run scripts/typescript-sdk"
        )
        pytest.skip(f"needs the TypeScript SDK of MCP: {why}")
    return installed / "node_modules"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_host_in_typescript_goes_from_context_to_lesson(package: str, tenure_command: list[str], tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(modules_with(package))
    shutil.copy(TYPESCRIPT / "client.mjs", tmp_path)
    done = subprocess.run(
        ["node", "client.mjs", package, *tenure_command, "mcp", "--db", "book.db", "--scope", "acme/orders"],
        cwd=tmp_path,
        env={**os.environ, "STEPS": json.dumps(STEPS)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["tools"] == TOOLS
    assert seen["prompts"] == ["reflect", "revise"]
    assert seen["templates"] == ["tenure://lessons/{id}"]
    assert seen["report"]["added"] == seen["reflection"]["added"] == 1
    assert seen["prompt"] is True
    assert "Pass dates to search_orders" in seen["playbook"]
    assert seen["refused"]["isError"]
    assert seen["refused"]["content"][0]["text"].startswith("Refused: ")
    assert seen["unknown"]["isError"]
    assert "is not in scope" in seen["unknown"]["content"][0]["text"]
    assert seen["checkpoints"][0].startswith("Written down")
    assert "nothing was added" in seen["checkpoints"][1]
    assert seen["recalled"].count("Nordwind") == 1
    assert seen["runs"] == 20


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize("npm", ["exit 1", "sleep 0; echo 'npm error network getaddrinfo ENOTFOUND' >&2; exit 1", None])
def test_a_registry_that_cannot_be_reached_is_a_reason_to_skip_and_none_to_fail(npm: str | None, root: Path, tmp_path: Path) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("sh", "dirname", "cksum", "tr", "cat", "mkdir", "rm", "cp", "grep", "head", "cut", "timeout"):
        if found := shutil.which(name):
            (commands / name).symlink_to(found)
    for name, does in (("node", "exit 0"), ("npm", npm)):
        if does is not None:
            (commands / name).write_text(f"#!/bin/sh\n{does}\n")
            (commands / name).chmod(0o755)
    folder = tmp_path / "sdk"
    done = subprocess.run(
        [root / "scripts" / "typescript-sdk", folder], env={"PATH": str(commands)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    why = (folder / "why-not").read_text()
    assert why.strip() in done.stderr
    assert ("npm is not on the path" if npm is None else "npm could not install it") in why
    assert not (folder / "installed").exists()
