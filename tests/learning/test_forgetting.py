"""Forgetting as a person asks for it: gone from the files byte for byte, also after a crash and beside other processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tenure import Add, Evidence, Outcome, Run, Step, Task, Tenure, UserError
from tenure.playbook.delta import Observe
from tenure.playbook.run import Origin
from tenure.ports import HeldChange

SECRETS = ("quetzall", "whitfield", "zanzibar", "vermicul")
"""Beginnings of words of the run that is forgotten, as short as the stems in the index; no other text holds them."""


def planted(one: str = "run-quetzalline-7", *, steps: int = 3) -> Run:
    """A run with telling words in its task, its steps, its arguments and its outcome."""
    said = tuple(
        Step(
            kind="tool_call",
            role="assistant",
            name="book",
            arguments={"customer": "Dana Whitfielda", "note": f"zanzibarium {number}"},
            content="calls for Quetzalline",
        )
        for number in range(steps)
    )
    return Run(
        id=one,
        task=Task(text="reconcile the account of Quetzalline vermicularon", key="vermicularon-1"),
        steps=said,
        outcome=Outcome(success=True, signal="test", feedback="zanzibarium booked"),
        ended="2026-11-30T10:00:00+00:00",
    )


def other(number: int) -> Run:
    """A run of somebody else's."""
    return Run(
        id=f"other-{number}",
        task=Task(text=f"reconcile invoice {number} of the baker"),
        steps=(Step(kind="message", role="user", content=f"flour and water {number}"),),
        outcome=Outcome(success=True, signal="test"),
        ended="2026-11-30T09:00:00+00:00",
    )


def fill(book: Tenure) -> None:
    """Runs of others around the one that is to be forgotten, and all that can come of it."""
    for number in range(4):
        book.learn(other(number))
    book.learn(planted())
    run = "run-quetzalline-7"
    lesson = Add("quetzalline section", "Quetzalline wants zanzibarium first", evidence=(Evidence(run=run),), applies_when="vermicularon")
    book.apply([lesson, Observe("bids", "price", "99.25", "EUR", "Dana Whitfielda", run=run, step=1)])
    with book.store.writing(book.scope) as work:
        work.hold(HeldChange(id="h", operation=Add("s", "hold zanzibarium"), reason="Quetzalline", author="x", run=run))
    book.context("the account of Quetzalline")
    for number in range(4, 8):
        book.learn(other(number))


def found_in_files(folder: Path, words: tuple[str, ...] = SECRETS) -> list[str]:
    """Which words stand anywhere in the files of a folder, whatever the case."""
    files = {file.name: file.read_bytes().lower() for file in sorted(folder.iterdir())}
    return [f"{word} in {name}" for name, held in files.items() for word in words if word.lower().encode() in held]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the database lies, and nothing else."""
    (tmp_path / "db").mkdir()
    return tmp_path / "db"


def opened(folder: Path) -> Tenure:
    return Tenure.open(f"sqlite:///{folder / 'book.db'}", scope="local/desk", embedder="none")


def test_no_byte_of_a_forgotten_run_is_left_in_any_file(folder: Path) -> None:
    with opened(folder) as book:
        fill(book)
        assert {one.split()[0] for one in found_in_files(folder)} == set(SECRETS)
        told = book.forget(runs="run-quetzalline-7")
        assert told.scrubbed is not None
        assert told.scrubbed.done
        assert told.runs == ("run-quetzalline-7",)
        assert told.held == ("h",)
        assert told.observations == 1
        assert found_in_files(folder) == []
        assert "quetzalline" not in book.context("the account").text.lower()
        assert book.learn(planted()).skipped.startswith("it was forgotten on ")
        with pytest.raises(UserError, match="was not kept: it was forgotten"):
            book.keep(planted())
        assert found_in_files(folder) == []
        assert book.allow_again("run-quetzalline-7")
        assert not book.learn(planted()).skipped
    with opened(folder) as book, book.store.reading(book.scope) as look:
        assert look.verify_ledger() == []


def test_no_byte_of_a_subject_is_left_in_any_file(folder: Path) -> None:
    with opened(folder) as book:
        fill(book)
        book.set("model", "openai:whitfielda")
        told = book.forget(subjects=["Dana Whitfielda", "quetzalline", "zanzibarium", "vermicularon", "whitfielda"])
        assert told.scrubbed is not None
        assert told.scrubbed.done
        assert found_in_files(folder) == []
        assert book.settings().text("model") == ""


def test_a_subject_is_too_short_or_nothing_named_is_said(folder: Path) -> None:
    with opened(folder) as book:
        with pytest.raises(UserError, match="too short"):
            book.forget(subjects="ab")
        with pytest.raises(UserError, match="Nothing is named"):
            book.forget()
        with pytest.raises(UserError, match="has left nothing"):
            book.forget(runs="nobody")
        with pytest.raises(UserError, match="empty"):
            book.forget(origins=" ")
        assert book.forget(subjects="nobody at all").nothing


READER = """
    import sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM runs").fetchall()
    print("reading", flush=True)
    sys.stdin.readline()
    connection.execute("COMMIT")
    connection.close()
"""


def test_while_another_process_reads_the_bytes_may_stay_and_this_is_said_and_ended_later(folder: Path) -> None:
    with opened(folder) as book:
        fill(book)
        path = str(folder / "book.db")
        command = [sys.executable, "-c", textwrap.dedent(READER), path]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout is not None
            assert reader.stdin is not None
            assert reader.stdout.readline() == "reading\n"
            told = book.forget(runs="run-quetzalline-7")
            assert told.scrubbed is not None
            assert not told.scrubbed.done
            assert "another process is reading" in told.scrubbed.reason
            assert book.learn(planted()).skipped  # it is forgotten all the same
            reader.stdin.write("\n")
            reader.stdin.flush()
        assert book.scrub().done
        assert found_in_files(folder) == []


def test_an_open_process_that_reads_nothing_is_in_nobodys_way_and_sees_it_at_once(folder: Path) -> None:
    with opened(folder) as book, opened(folder) as again:
        fill(book)
        assert "Quetzalline" in again.context("the account of Quetzalline").text
        told = book.forget(runs="run-quetzalline-7")
        assert told.scrubbed is not None
        assert told.scrubbed.done
        assert found_in_files(folder) == []
        assert "Quetzalline" not in again.context("the account").text
        again.learn(other(99))
        assert found_in_files(folder) == []


KILLED = """
    import os, signal, sys
    from tenure import Tenure
    from tenure.stores import scrubbing, sqlite
    from tenure.stores.sql_forgetting import SqlForgetting

    def die(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    place = sys.argv[2]
    if place == "before the commit":
        SqlForgetting.remember_forgotten = die
    elif place == "before the scrubbing":
        scrubbing.scrub_file = die
    elif place == "between its steps":
        scrubbing._cut_log = die
    with Tenure.open(sys.argv[1], scope="local/desk", embedder="none") as book:
        book.forget(runs="run-quetzalline-7")
"""


@pytest.mark.parametrize("place", ["before the commit", "before the scrubbing", "between its steps"])
def test_a_killed_forgetting_is_undone_or_completed_by_whoever_opens_the_file(folder: Path, place: str) -> None:
    with opened(folder) as book:
        fill(book)
    url = f"sqlite:///{folder / 'book.db'}"
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), url, place], env=dict(os.environ), check=False)
    assert done.returncode == -signal.SIGKILL
    with opened(folder) as book:
        with book.store.reading(book.scope) as look:
            there = look.run("run-quetzalline-7") is not None
            assert look.verify_ledger() == []
        assert there is (place == "before the commit")
        if there:
            assert book.forget(runs="run-quetzalline-7").version is not None
        assert found_in_files(folder) == []
        assert [f"{file.name}" for file in folder.iterdir() if file.suffix == ".db"] == ["book.db"]


def test_a_ledger_that_was_changed_by_hand_is_found_out_beside_what_was_forgotten(folder: Path) -> None:
    with opened(folder) as book:
        fill(book)
        book.forget(runs="run-quetzalline-7")
        with book.store.reading(book.scope) as look:
            assert look.verify_ledger() == []
            changed = next(entry.version for entry in look.ledger() if not entry.delta.operations)
    with sqlite3.connect(folder / "book.db") as connection:
        connection.execute("UPDATE ledger SET payload = replace(payload, 'cause', 'Cause') WHERE version = ?", (changed,))
    connection.close()
    with opened(folder) as book, book.store.reading(book.scope) as look:
        (wrong,) = look.verify_ledger()
        assert f"version {changed}:" in wrong


def test_a_revoked_origin_is_not_learned_from_until_that_is_lifted(folder: Path) -> None:
    mallory = Origin(principal="mallory", channel="web", document="x", trusted=False)
    with opened(folder) as book:
        book.learn(other(1))
        book.learn(Run(id="m1", task=Task(text="pay mallory"), origin=mallory, outcome=Outcome(success=True, signal="test")))
        told = book.revoke_origin("mallory/web", dry_run=True)
        assert (told.runs, told.version) == (("m1",), None)
        assert book.revoked_origins == frozenset()
        assert book.revoke_origin("mallory/web", reason="planted records").version is not None
        assert book.revoked_origins == {"mallory/web"}
        assert "is revoked" in book.learn(Run(id="m2", task=Task(text="pay"), origin=mallory)).skipped
        for dry_run in (True, False):
            with pytest.raises(UserError, match="revoked already"):
                book.revoke_origin("mallory/web", dry_run=dry_run)
        with pytest.raises(UserError, match="Origins here: local/api"):
            book.revoke_origin("nobody")
        with pytest.raises(UserError, match="is not revoked"):
            book.lift_revocation("nobody")
        assert book.lift_revocation("mallory/web").runs == ("m1",)
        assert not book.learn(Run(id="m2", task=Task(text="pay"), origin=mallory)).skipped
