"""Connecting writes into hosts' files, and disconnecting gives them back."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.connect.hosts import HOSTS
from tenure.connect.installing import connect, disconnect, state_of
from tenure.connect.journal import Journal
from tenure.connect.settings_text import BrokenSettings
from tenure.connect.wanted import Programs, Wanted
from tenure.errors import UserError
from tests.connect.conftest import Machine
from tests.connect.test_settings_text import settings as settings_files

PROGRAMS = Programs(hook=("/opt/my tools/tenure-hook",), tenure=("/opt/my tools/tenure",))


def wanted(host: str, root: Path, *, user: bool = False) -> Wanted:
    return HOSTS[host](root, PROGRAMS, user=user, environment={})


def contents(root: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))}


@pytest.mark.parametrize("user", [False, True])
@pytest.mark.parametrize("host", HOSTS)
def test_a_machine_without_any_of_the_files_comes_back_empty(host: str, user: bool, tmp_path: Path) -> None:
    home, journal = tmp_path / "home", Journal(tmp_path / "data" / "c.json")
    home.mkdir()
    asked = wanted(host, home, user=user)
    connect(asked, journal)
    assert state_of(asked, journal) == "connected"
    disconnect(asked, journal)
    assert contents(home) == {}
    assert not journal.path.exists()


@given(hooks=settings_files(), servers=settings_files(), host=st.sampled_from(list(HOSTS)), times=st.integers(1, 2))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_files_of_others_come_back_byte_for_byte(hooks: str, servers: str, host: str, times: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        asked = wanted(host, root)
        for file, text in zip([one for one in asked.files if one.form == "json"], (hooks, servers), strict=False):
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_bytes(text.encode())
        before, journal = contents(root), Journal(Path(folder) / "c.json")
        for _ in range(times):
            connect(asked, journal)
        assert contents(root) != before
        assert all(step.exact for step in disconnect(asked, journal) if step.became == "removed")
        assert {name: raw for name, raw in contents(root).items() if raw is not None or name in before} == before


def test_connecting_twice_writes_nothing_the_second_time(tmp_path: Path) -> None:
    asked, journal = wanted("claude-code", tmp_path), Journal(tmp_path / "data" / "c.json")
    connect(asked, journal)
    first = contents(tmp_path)
    assert {step.became for step in connect(asked, journal, at="")} == {"unchanged"}
    assert contents(tmp_path) == first


def test_a_file_edited_since_loses_our_entries_alone(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    file = root / ".claude" / "settings.local.json"
    file.parent.mkdir(parents=True)
    file.write_text('{\n  "hooks": {}\n}\n')
    asked = wanted("claude-code", root)
    connect(asked, journal)
    held = json.loads(file.read_text())
    held["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "theirs.sh"})
    held["hooks"]["PreCompact"][0]["hooks"][0]["timeout"] = 99
    held["model"] = "opus"
    file.write_text(json.dumps(held, indent=4))
    steps = {step.path.name: step for step in disconnect(asked, journal)}
    assert not steps["settings.local.json"].exact
    left = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "theirs.sh"}]}]}, "model": "opus"}
    assert json.loads(file.read_text()) == left
    assert not (root / ".claude" / "skills").exists()


def test_a_skill_that_a_person_changed_is_left(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    asked = wanted("claude-code", root)
    connect(asked, journal)
    skill = root / ".claude" / "skills" / "tenure" / "SKILL.md"
    skill.write_text("mine now")
    assert [step.became for step in disconnect(asked, journal) if step.path == skill] == ["kept"]
    assert skill.read_text() == "mine now"


def test_links_are_followed_and_stay_links(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    real = tmp_path / "dotfiles.json"
    real.write_text('{"model": "opus"}')
    real.chmod(0o600)
    link = root / ".claude" / "settings.local.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    asked = wanted("claude-code", root)
    connect(asked, journal)
    assert link.is_symlink()
    assert "tenure-hook" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o600
    disconnect(asked, journal)
    assert link.is_symlink()
    assert real.read_text() == '{"model": "opus"}'


def test_a_broken_file_stops_it_all_before_anything_is_written(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    root.mkdir()
    (root / ".mcp.json").write_text('{\n  "mcpServers": {,}\n}\n')
    before = contents(root)
    with pytest.raises(BrokenSettings, match=r"\.mcp\.json, line 2, column 18"):
        connect(wanted("claude-code", root), journal)
    assert contents(root) == before
    assert not journal.path.exists()


def test_a_server_of_that_name_which_is_a_persons_own_stays_theirs(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    root.mkdir()
    text = '{"mcpServers": {"tenure": {"command": "my-own"}}}'
    (root / ".mcp.json").write_text(text)
    asked = wanted("claude-code", root)
    assert [step.became for step in connect(asked, journal) if step.path.name == ".mcp.json"] == ["theirs"]
    disconnect(asked, journal)
    assert (root / ".mcp.json").read_text() == text


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not hold for this account")
def test_a_folder_that_cannot_be_written_is_named_and_all_is_as_it_was(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    (root / ".claude" / "skills").mkdir(parents=True)
    (root / ".claude" / "skills").chmod(0o500)
    before = contents(root)
    with pytest.raises(UserError, match=r"SKILL\.md' cannot be written"):
        connect(wanted("claude-code", root), journal)
    assert contents(root) == before


def test_a_part_of_the_path_that_is_a_file_is_named(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    (root / ".cursor").write_text("a file")
    with pytest.raises(UserError, match=r"\.cursor/hooks\.json' cannot be written"):
        connect(wanted("cursor", root), Journal(tmp_path / "c.json"))


def test_without_a_record_what_is_plainly_ours_goes(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    root.mkdir()
    (root / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "o"}}}')
    asked = wanted("claude-code", root)
    connect(asked, journal)
    journal.path.unlink()
    disconnect(asked, journal)
    assert json.loads((root / ".mcp.json").read_text()) == {"mcpServers": {"other": {"command": "o"}}}
    assert "tenure" not in (root / ".claude" / "settings.local.json").read_text()


def test_the_command_connects_lists_and_disconnects(machine: Machine, tree: Callable[[], dict[str, bytes | None]]) -> None:
    (machine.project / "AGENTS.md").write_text("theirs\n")
    before = tree()
    dry = machine.tenure("connect", "claude-code", "--dry-run")
    assert "+++ " in dry
    assert "claude-code session-start" in dry
    assert tree() == before
    machine.tenure("connect", "claude-code")
    assert not (machine.project / "CLAUDE.md").exists()
    states = json.loads(machine.tenure("connect", "--list", "--json"))["connections"]
    assert [(one["host"], one["for"]) for one in states if one["state"] == "connected"] == [("claude-code", "project")]
    machine.tenure("disconnect", "claude-code")
    assert tree() == before


def test_mistakes_are_named(machine: Machine) -> None:
    assert "no host 'emacs'" in machine.tenure("connect", "emacs", code=2)
    assert "Name a host" in machine.tenure("connect", code=2)
    assert "exclude each other" in machine.tenure("connect", "codex", "--user", "--project", code=2)
    (machine.project / ".mcp.json").write_text("{")
    assert ".mcp.json, line 1, column 2" in machine.tenure("connect", "claude-code", code=2)


def test_a_failed_write_leaves_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    (root / ".claude").mkdir(parents=True)
    (root / ".claude" / "settings.local.json").write_text("{}")
    before = contents(root)
    real = os.replace

    def full(source: str | Path, target: str | Path) -> None:
        if str(target).endswith(".mcp.json"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UserError, match=r"\.mcp\.json' cannot be written: no space left"):
        connect(wanted("claude-code", root), journal)
    assert contents(root) == before
    assert journal.all() == ()


def test_a_file_made_read_only_is_not_put_aside_for_another(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    file = root / ".claude" / "settings.local.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"model": "opus"}')
    file.chmod(0o444)
    before = contents(root)
    with pytest.raises(UserError, match=r"settings\.local\.json' is read-only\. .*nothing was written"):
        connect(wanted("claude-code", root), journal)
    assert (contents(root), journal.all()) == (before, ())
    file.chmod(0o644)
    connect(wanted("claude-code", root), journal)
    file.chmod(0o444)
    connected = contents(root)
    with pytest.raises(UserError, match="is read-only"):
        disconnect(wanted("claude-code", root), journal)
    assert contents(root) == connected
    assert state_of(wanted("claude-code", root), journal) == "connected"


def _connect_one(folder: str) -> None:
    connect(wanted("claude-code", Path(folder)), Journal(Path(folder).parent / "data" / "c.json"))


def test_connections_made_at_once_are_all_recorded_and_all_come_back(tmp_path: Path) -> None:
    # Eight projects, and one of them thrice: what is recorded last must not take the others' records with it.
    folders = [tmp_path / f"p{n}" for n in range(8)]
    for folder in folders:
        (folder / ".claude").mkdir(parents=True)
        (folder / ".claude" / "settings.local.json").write_bytes(b'{"model": "opus" /* mine */}\r\n')
    with ProcessPoolExecutor(5, mp_context=get_context("fork" if os.name != "nt" else "spawn")) as pool:
        list(pool.map(_connect_one, map(str, (*folders, folders[0], folders[0]))))
    journal = Journal(tmp_path / "data" / "c.json")
    assert {one.root for one in journal.all()} == set(folders)
    for folder in folders:
        assert all(step.exact for step in disconnect(wanted("claude-code", folder), journal))
        assert {name for name, raw in contents(folder).items() if raw is not None} == {".claude/settings.local.json"}
        assert (folder / ".claude" / "settings.local.json").read_bytes() == b'{"model": "opus" /* mine */}\r\n'


@pytest.mark.parametrize("written", range(4))
def test_a_connection_that_was_cut_off_can_be_made_again_or_taken_away(
    written: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    real, left = os.replace, [written]

    def replace(source: str | Path, target: str | Path) -> None:
        if "c.json" not in str(target):
            if not left[0]:
                raise Killed
            left[0] -= 1
        real(source, target)

    for again in (False, True):
        root, journal = tmp_path / f"p{again}", Journal(tmp_path / f"{again}" / "c.json")
        root.mkdir()
        (root / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "o"}}}')
        before = contents(root)
        left[0] = written
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            if written < 3:
                with pytest.raises(Killed):
                    connect(wanted("claude-code", root), journal)
            else:
                connect(wanted("claude-code", root), journal)
        if again:
            connect(wanted("claude-code", root), journal)
            assert state_of(wanted("claude-code", root), journal) == "connected"
            assert not list(root.rglob(".*.tenure-*"))
        disconnect(wanted("claude-code", root), journal)
        assert {name: raw for name, raw in contents(root).items() if ".tenure-" not in name and raw is not None} == before


def test_an_installation_that_moved_is_written_anew_in_place_of_the_old_one(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    root.mkdir()
    text = '{\n\t"mcpServers": {} // mine\n}\n'
    (root / ".mcp.json").write_text(text)
    for host in HOSTS:
        connect(wanted(host, root), journal)
        moved = HOSTS[host](root, Programs(hook=("/new/über 🚀/tenure-hook",), tenure=("/new/über 🚀/tenure",)), user=False, environment={})
        connect(moved, journal)
        written = {file.path: file.path.read_text(encoding="utf-8") for file in moved.files if file.meaning != "instructions"}
        assert all("/new/über 🚀/tenure" in said and "/opt/" not in said for said in written.values())
        assert all(step.exact for step in disconnect(moved, journal))
    assert {name: raw for name, raw in contents(root).items() if raw is not None} == {".mcp.json": text.encode()}


@pytest.mark.parametrize(
    ("theirs", "edit"),
    [
        ('{"a": [1, 2,],}', ("2, 3,", "2,")),
        ('{\n\t"hooks": {\n\t\t"SessionStart": [] // none\n\t},\n\t"model": "opus"\n}\n', ("sonnet", "opus")),
        ('// mine\r\n{\r\n  "permissions": {"allow": []}\r\n}', ('["Bash(ls)"]', "[]")),
    ],
)
def test_what_a_person_edited_elsewhere_since_stays_byte_for_byte(theirs: str, edit: tuple[str, str], tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    file = root / ".claude" / "settings.local.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(theirs.encode())
    connect(wanted("claude-code", root), journal)
    new, old = edit
    head, found, tail = file.read_bytes().decode().rpartition(old)
    assert found
    file.write_bytes(f"{head}{new}{tail}".encode())
    disconnect(wanted("claude-code", root), journal)
    head, _, tail = theirs.rpartition(old)
    assert file.read_bytes().decode() == f"{head}{new}{tail}"


def test_a_line_like_our_table_in_a_string_is_no_table(tmp_path: Path) -> None:
    root, journal = tmp_path / "p", Journal(tmp_path / "c.json")
    file = root / ".codex" / "config.toml"
    file.parent.mkdir(parents=True)
    text = 'notes = """\n[mcp_servers.tenure]\ncommand = \'old\'\n"""\n'
    file.write_text(text)
    connect(wanted("codex", root), journal)
    file.write_text(file.read_text() + '\n[mcp_servers.tenure.env]\nA = "1"\n\n[later]\nx = 1\n')
    disconnect(wanted("codex", root), journal)
    assert file.read_text() == text + "\n[later]\nx = 1\n"


@pytest.mark.skipif(os.name == "nt", reason="the account's home is found otherwise")
def test_a_home_that_is_not_known_is_said_and_no_folder_of_that_name_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    from tenure.connect.hosts import wanted_for
    from tenure.connect.journal import journal_path
    from tenure.errors import SettingError
    from tenure.project import find_database

    def nobody(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="Set HOME, or connect a project"):
        wanted_for("claude-code", tmp_path, user=True)
    with pytest.raises(UserError, match="Set HOME or XDG_DATA_HOME"):
        journal_path()
    with pytest.raises(SettingError, match="Set HOME or XDG_DATA_HOME"):
        find_database(folder=tmp_path, environment={})
    assert contents(tmp_path) == {}


def test_a_host_that_was_never_connected_is_not_said_to_be_disconnected(machine: Machine) -> None:
    for words in ((), ("--dry-run",)):
        said = machine.tenure("disconnect", "claude-code", *words)
        assert "was not connected" in said
        assert "is disconnected" not in said


@pytest.mark.parametrize(
    ("host", "files"),
    [
        ("claude-code", (".claude/settings.local.json", ".mcp.json")),
        ("codex", (".codex/hooks.json", ".codex/config.toml")),
    ],
)
def test_every_file_with_a_path_of_this_machine_that_git_would_add_is_named(host: str, files: tuple[str, str], machine: Machine) -> None:
    subprocess.run(["git", "init", "-q"], cwd=machine.project, env=machine.environment, check=True)
    said = " ".join(machine.tenure("connect", host).split())
    assert f"{files[0]} and {files[1]} hold paths of this machine" in said
    (machine.project / ".gitignore").write_text(f"{files[0]}\n")
    said = " ".join(machine.tenure("connect", host).split())
    assert f"{files[1]} holds paths of this machine" in said
    assert f"{files[0]} and" not in said
    (machine.project / ".gitignore").write_text("\n".join(files))
    assert "of this machine" not in machine.tenure("connect", host)
