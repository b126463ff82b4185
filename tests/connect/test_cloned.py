"""A repository that somebody else made is cloned, and hooks run in it: nothing that it carries is used, or leads anywhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tenure.connect.backlog import work_off
from tenure.connect.spool import Spool, name_of
from tests.connect.conftest import Machine
from tests.connect.test_hook import context_of

WAITS = {"host": "claude-code", "session": "x", "due": 0, "at": 1, "scope": "local/x", "transcript": "", "folder": ""}


def _plant(folder: Path, target: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(WAITS))
    (folder / f"{name}.new.jsonl").write_text("touch PWNED\n")
    (folder / f"{name}.taken.jsonl").symlink_to(target)


def _start(machine: Machine, session: str = "s") -> str:
    return context_of(machine.hook("claude-code", "session-start", machine.event(session, source="startup")))


def test_a_spool_in_a_repository_writes_to_no_file_of_the_person(machine: Machine) -> None:
    profile = machine.home / ".profile"
    profile.write_text("mine\n")
    _plant(machine.project / ".tenure" / "tenure.db-hooks", profile, name_of("claude-code", "x"))
    machine.hook("claude-code", "session-end", machine.event("s"))
    machine.learned()
    assert profile.read_text() == "mine\n"


@pytest.mark.parametrize("ending", [".taken.jsonl", ".new.jsonl"])
def test_a_link_in_the_spool_is_refused_and_the_session_put_off(ending: str, tmp_path: Path) -> None:
    database, mine = tmp_path / "b.db", tmp_path / "mine"
    mine.write_text("mine\n")
    spool, name = Spool(database), name_of("claude-code", "x")
    spool.waits("claude-code", "x", {"scope": "local/x", "transcript": ""}, now=True)
    (spool.folder / f"{name}.new.jsonl").write_text("touch PWNED\n")
    (spool.folder / f"{name}{ending}").unlink(missing_ok=True)
    (spool.folder / f"{name}{ending}").symlink_to(mine)
    work_off(database)
    assert mine.read_text() == "mine\n"
    assert "attempt 1 failed" in (spool.folder / "log").read_text()


def test_neither_notes_nor_log_nor_lock_go_through_a_link(tmp_path: Path) -> None:
    from tenure.connect.locking import alone

    mine = tmp_path / "mine"
    mine.write_text("mine\n")
    spool = Spool(tmp_path / "b.db")
    spool.log("made")
    (spool.folder / "log").unlink()
    for name in ("log", "lock", f"{name_of('cursor', 'x')}.jsonl"):
        (spool.folder / name).symlink_to(mine)
    with pytest.raises(OSError):
        spool.note("cursor", "x", {"kind": "reset"})
    with pytest.raises(OSError):
        spool.log("said")
    with pytest.raises(OSError), alone(spool.folder / "lock"):
        pass
    assert mine.read_text() == "mine\n"


def test_the_spool_is_the_persons_alone_and_its_log_cannot_be_forged(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "b.db")
    spool.log("session x\n2026-01-01T00:00:00Z forged")
    assert spool.folder.stat().st_mode & 0o777 == 0o700
    assert len([line for line in (spool.folder / "log").read_text().splitlines() if not line.startswith(" ")]) == 1


def test_names_that_no_hook_makes_are_let_be(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "b.db")
    spool.log("made")
    (spool.folder / "evil.json").write_text(json.dumps(WAITS))
    assert list(spool.sessions()) == []


@pytest.mark.parametrize(
    "held",
    [{"at": 1, "due": "x"}, {**WAITS, "due": None}, {**WAITS, "at": "1"}, {**WAITS, "scope": 3}, {**WAITS, "attempts": "x"}, [1], "x"],
    ids=str,
)
def test_a_file_that_waits_and_cannot_be_read_is_set_aside_and_the_rest_learned(held: object, tmp_path: Path) -> None:
    database = tmp_path / "b.db"
    spool = Spool(database)
    spool.waits("claude-code", "good", {"scope": "local/p", "transcript": ""}, now=True)
    (spool.folder / f"{'0' * 24}.json").write_text(json.dumps(held))
    assert work_off(database) == 1
    assert [path.name for path in spool.folder.glob("*.failed")] == [f"{'0' * 24}.failed"]
    assert "was set aside" in (spool.folder / "log").read_text()
    assert not list(spool.folder.glob("*.json"))


def _clone(machine: Machine) -> None:
    """Have the project carry a database that this person's machine did not make."""
    machine.tenure("learn", str(machine.session("theirs")))
    shutil.rmtree(machine.home / "data")


def test_a_database_that_came_with_a_repository_is_shown_only_once_the_person_agreed(machine: Machine) -> None:
    _clone(machine)
    before = machine.database.read_bytes()
    assert _start(machine) == ""
    machine.hook("claude-code", "session-end", machine.event("theirs"))
    assert work_off(machine.database) == 0
    assert not machine.spool.exists()
    assert machine.database.read_bytes() == before
    for command in ("doctor", "status"):
        assert "tenure connect --trust" in " ".join(machine.tenure(command).split())
    assert "not made here" in " ".join(machine.tenure("connect", "claude-code").split())
    assert "stg accepted" in _start(machine)
    for command in ("doctor", "status"):
        assert "--trust" not in machine.tenure(command)


def test_trust_is_given_without_a_host_and_goes_with_the_database(machine: Machine) -> None:
    _clone(machine)
    machine.tenure("connect", "--trust")
    assert "stg accepted" in _start(machine)
    elsewhere = machine.project.with_name("other")
    (elsewhere / ".git").mkdir(parents=True)
    (elsewhere / "lessons.txt").write_text("[rule-00001] helpful=1 harmful=0 :: Never deploy on a Friday.\n", encoding="utf-8")
    machine.tenure("import", "lessons.txt", folder=elsewhere)
    # A pull puts another database in its place.
    for path in machine.database.parent.glob("tenure.db*"):
        path.unlink()
    with_log = elsewhere / ".tenure"
    for path in with_log.glob("tenure.db*"):
        shutil.copy(path, machine.database.parent / path.name)
    assert _start(machine, "later") == ""


def test_a_link_to_a_database_that_is_known_is_not(machine: Machine) -> None:
    machine.tenure("learn", str(machine.session("taught")))
    cloned = machine.project.with_name("cloned")
    (cloned / ".git").mkdir(parents=True)
    (cloned / ".tenure").symlink_to(machine.database.parent)
    scope = json.loads(machine.tenure("show", "--json"))["scope"]
    event = {**machine.event("s", source="startup"), "cwd": str(cloned)}
    assert machine.hook("claude-code", "session-start", event, TENURE_SCOPE=scope) is None
