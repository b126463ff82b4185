"""`tenure learn` over a whole history: each project's sessions reach the database that its hooks and commands read."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.serving.cli.conftest import Answer, Cli
from tests.serving.cli.test_learn import SESSION


class History:
    """A person's projects and the sessions in them, with `tenure` run from a folder that is no project."""

    def __init__(self, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._cli, self._monkeypatch = folder, cli, monkeypatch
        (folder / "logs").mkdir()
        monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))

    def project(self, name: str, *, used: bool) -> Path:
        from tenure import Tenure

        root = self.folder / name
        (root / ".git").mkdir(parents=True)
        if used:
            Tenure.open(f"sqlite:///{self.database(root)}").close()
        log = self.folder / "logs" / f"-{name}"
        log.mkdir()
        text = SESSION.read_text(encoding="utf-8").replace("/srv/shop", str(root)).replace("5f0c1c1e", f"{len(name):08d}")
        (log / "session.jsonl").write_text(text, encoding="utf-8")
        return root

    @staticmethod
    def database(root: Path) -> Path:
        return root / ".tenure" / "tenure.db"

    @property
    def at_hand(self) -> Path:
        return self.folder / "data" / "tenure" / "tenure.db"

    def tenure(self, *words: str, at: Path | None = None, environment_db: str = "") -> Answer:
        self._monkeypatch.chdir(at or self.folder)
        return self._cli(*words, TENURE_DB=environment_db, TENURE_SCOPE="")

    def lessons(self, root: Path) -> int:
        """How many lessons a command inside a project sees."""
        return len(self.tenure("show", "--json", at=root).json["lessons"])


@pytest.fixture
def history(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> History:
    return History(folder, cli, monkeypatch)


def test_lessons_reach_the_project_in_use_and_nothing_is_made_in_the_other(history: History) -> None:
    used, other = history.project("used", used=True), history.project("other1", used=False)
    said = history.tenure("learn", "logs")
    assert f"->  {history.database(used)}" in said.err
    (hint,) = [line.strip() for line in said.err.splitlines() if "cd " in line and "&&" in line]
    assert hint == f"cd {other} && tenure learn {history.folder / 'logs' / '-other1' / 'session.jsonl'}"
    assert (history.lessons(used), history.lessons(other)) == (3, 0)
    assert not (other / ".tenure").exists()
    found = history.tenure("learn", "logs", "--json").json
    assert found["skipped"] == found["runs"] == 4
    assert {one["database"] for one in found["projects"]} == {str(history.database(used)), str(history.at_hand)}
    assert [one["to_bring_there"] for one in found["projects"]] == [[hint], []]


def test_the_command_that_is_told_brings_the_lessons_to_the_project(history: History) -> None:
    other = history.project("other1", used=False)
    (command,) = history.tenure("learn", "logs", "--json").json["projects"][0]["to_bring_there"]
    history.tenure(*command.partition(" && tenure ")[2].split(), at=other)
    assert history.lessons(other) == 3


def test_a_dry_run_says_the_same_and_writes_nowhere(history: History) -> None:
    used, marked = history.project("used", used=True), history.project("marked", used=False)
    (marked / ".tenure").mkdir()
    before = history.database(used).read_bytes()
    dry = history.tenure("learn", "logs", "--dry-run", "--json").json
    assert dry["added"] == 6
    assert {one["database"] for one in dry["projects"]} == {str(history.database(used)), str(history.database(marked))}
    assert history.database(used).read_bytes() == before
    assert not history.database(marked).exists()
    assert not history.at_hand.exists()


@pytest.mark.parametrize("words", [("--db", "one.db"), ("--scope", "acme/all"), ()], ids=["db", "scope", "environment"])
def test_what_was_named_takes_everything(history: History, words: tuple[str, ...]) -> None:
    used = history.project("used", used=True)
    found = history.tenure("learn", "logs", "--json", *words, environment_db="" if words else str(history.folder / "named.db")).json
    assert found["added"] == 3
    assert [one["to_bring_there"] for one in found["projects"]] == [[]]
    assert history.lessons(used) == 0


def test_a_database_that_cannot_be_used_is_left_as_it_is_and_its_sessions_are_named(history: History) -> None:
    newer, broken, used = (history.project(name, used=True) for name in ("newer", "broken", "used"))
    with sqlite3.connect(history.database(newer)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    for left in history.database(broken).parent.glob("tenure.db*"):
        left.unlink()
    history.database(broken).write_bytes(b"\x00\xffno database" * 500)
    said = history.tenure("learn", "logs")
    assert said.code == 0
    assert "2 runs of local/newer-" in said.err
    assert "newer Tenure" in said.err
    assert "2 runs of local/broken-" in said.err
    assert "  session 00000005" in said.err
    assert history.database(broken).read_bytes().startswith(b"\x00\xffno database")
    assert history.lessons(used) == 3
    found = history.tenure("learn", "logs", "--json", "--strict")
    assert found.code == 3
    assert sorted((one["runs"], len(one["sessions"])) for one in found.json["not_learned"]) == [(2, 1), (2, 1)]


def test_two_checkouts_of_one_repository_learn_from_their_own_sessions(history: History) -> None:
    for name in ("one", "another"):
        root = history.project(name, used=False)
        (root / ".git" / "config").write_text('[remote "origin"]\n\turl = https://git.example/acme/shop.git\n', encoding="utf-8")
        (root / ".tenure").mkdir()
    found = history.tenure("learn", "logs", "--json").json
    assert len({one["scope"] for one in found["projects"]}) == 1
    assert len({one["database"] for one in found["projects"]}) == 2
    assert [history.lessons(history.folder / name) for name in ("one", "another")] == [3, 3]


def test_a_file_with_sessions_of_two_projects_leaves_the_lessons_to_be_taken_over(history: History) -> None:
    one, other = history.project("one", used=False), history.project("another", used=False)
    both = "".join((history.folder / "logs" / f"-{root.name}" / "session.jsonl").read_text(encoding="utf-8") for root in (one, other))
    (history.folder / "both.jsonl").write_text(both, encoding="utf-8")
    found = history.tenure("learn", "both.jsonl", "--json").json
    commands = [command for project in found["projects"] for command in project["to_bring_there"]]
    assert len(commands) == 2
    assert all(command.startswith("tenure export --form json --scope local/") for command in commands)


def test_learning_that_is_switched_off_in_a_project_is_respected(history: History) -> None:
    used = history.project("used", used=True)
    assert history.tenure("config", "set", "learn.enabled", "off", at=used).code == 0
    said = history.tenure("learn", "logs")
    assert "Learning is switched off there" in said.err
    assert said.code == 1
    assert history.lessons(used) == 0


def test_connecting_tells_of_lessons_in_the_persons_own_database(history: History) -> None:
    root = history.project("shop", used=False)
    assert history.tenure("learn", "logs").code == 0
    told = json.loads(history.tenure("connect", "claude-code", "--json", at=root).out)["next"][-1]
    assert told.startswith(f"3 lessons of this project are in {history.at_hand}")
    export, _, _ = told.partition("Take over: tenure ")[2].partition(" | ")
    exported = history.tenure(*export.split()).out
    (history.folder / "book.json").write_text(exported, encoding="utf-8")
    assert history.tenure("import", str(history.folder / "book.json"), at=root).code == 0
    assert history.lessons(root) == 3
    again = json.loads(history.tenure("connect", "claude-code", "--json", at=root).out)["next"][-1]
    assert "lessons of this project" not in again


def test_a_project_that_is_connected_is_in_use_before_its_first_session(history: History) -> None:
    root = history.project("shop", used=False)
    assert history.tenure("connect", "claude-code", at=root).code == 0
    assert not history.database(root).exists()
    said = history.tenure("learn", "logs")
    assert f"Made the database {history.database(root)}" in said.err
    assert history.lessons(root) == 3
