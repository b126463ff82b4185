"""What is left when a process dies, a file is damaged, or the place is the wrong one (SQLite)."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.errors import DamagedStore, SchemaMismatch, StoreError, TenureError
from tenure.playbook.delta import Add, Delta
from tenure.playbook.notation import dumps
from tenure.ports import Store
from tenure.stores.migrations import HEAD
from tenure.stores.sqlite import open_sqlite
from tests.stores.contract import fold_ledger, look_at
from tests.stores.processes import SCOPE, at_once


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.db"


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def assert_sound(path: Path, acknowledged: set[str]) -> None:
    """The file opens, everything acknowledged is there, and all that it holds agrees."""
    store = open_sqlite(url_of(path))
    with store.reading(SCOPE) as look:
        entries = look.ledger()
        runs = set(look.run_ids())
        there = {f"delta {entry.delta.id}" for entry in entries} | {f"run {run_id}" for run_id in runs}
        assert acknowledged - there == set()
        assert [entry.version for entry in entries] == list(range(1, look.version() + 1))
        # A run and its delta were one transaction: there is never one without the other.
        assert {entry.delta.key for entry in entries} == runs
        assert dumps(look.playbook()) == fold_ledger(entries)
        assert list(look.lessons(live=False)) == list(look.playbook().every_lesson)
        assert look.verify_ledger() == []
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def spoken(lines: list[str]) -> set[str]:
    """The runs and deltas that a process acknowledged."""
    return {line for line in lines if line.startswith(("run ", "delta "))}


def spoken_until_killed(lines: list[str]) -> set[str]:
    """What it acknowledged until it was killed, for which there was no other reason."""
    assert spoken(lines) == set(lines)
    return spoken(lines)


# -- kill -9 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kills", [pytest.param(10, id="10 kills"), pytest.param(100, id="100 kills", marks=pytest.mark.full)])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(path: Path, kills: int) -> None:
    chance = random.Random(kills)
    acknowledged: set[str] = set()
    for number in range(kills):
        with at_once(("learn", url_of(path), f"w{number:03}", "0")) as (process,):
            # One in five dies while it opens the file, the others while they write.
            first = [process.wait_for_a_line()] if number % 5 else []
            time.sleep(chance.uniform(0.0, 0.25 if number % 5 else 0.6))
            acknowledged |= spoken_until_killed(first + process.kill())
        if number % 5 == 4 or number == kills - 1:
            assert_sound(path, acknowledged)
        else:
            open_sqlite(url_of(path)).close()
    assert len(acknowledged) >= kills  # they were killed at work, not before it


@pytest.mark.parametrize("kills", [pytest.param(5, id="5 kills"), pytest.param(40, id="40 kills", marks=pytest.mark.full)])
def test_a_process_killed_while_it_makes_the_database_leaves_none_or_a_whole_one(tmp_path: Path, kills: int) -> None:
    chance = random.Random(kills)
    for number in range(kills):
        path = tmp_path / f"book{number}.db"
        with at_once(("open", url_of(path))):
            time.sleep(chance.uniform(0.0, 0.5))
        assert_sound(path, set())


def test_a_killed_writer_does_not_disturb_another(path: Path) -> None:
    chance = random.Random(7)
    acknowledged: set[str] = set()
    with at_once(("learn", url_of(path), "steady", "100")) as (steady,):
        for number in range(4):
            with at_once(("learn", url_of(path), f"w{number}", "0")) as (process,):
                first = process.wait_for_a_line()
                time.sleep(chance.uniform(0.0, 0.2))
                acknowledged |= spoken_until_killed([first, *process.kill()])
        done = spoken(steady.finish())
    assert len(done) == 200
    assert_sound(path, acknowledged | done)


def test_a_full_disk_is_an_error_and_nothing_acknowledged_is_lost(path: Path) -> None:
    open_sqlite(url_of(path)).close()
    most = path.stat().st_size + 2_000_000
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))  # inherited by the process that is started
    try:
        with at_once(("learn", url_of(path), "w", "0")) as (process,):
            lines = process.end()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert lines[-1].startswith("StoreError: ")
    assert str(path) in lines[-1]
    assert len(spoken(lines)) >= 10
    assert_sound(path, spoken(lines))


# -- damaged files --------------------------------------------------------------------------------------


def a_database(path: Path) -> bytes:
    """The bytes of a database with something in it."""
    store = open_sqlite(url_of(path))
    with store.writing(SCOPE) as transaction:
        transaction.admit(Delta("01A", [Add("s", f"text {number} {'x' * 500}") for number in range(200)]))
    store.close()
    whole = path.read_bytes()
    for part in path.parent.iterdir():
        part.unlink()
    assert whole.startswith(b"SQLite format 3\x00")
    return whole


DAMAGES = ("random bytes", "a text file", "a truncated header", "half a file", "a scrambled header", "a scrambled schema")


def damaged(path: Path, damage: str) -> bytes:
    noise = random.Random(3).randbytes(8192)
    if damage == "random bytes":
        return noise
    if damage == "a text file":
        return b"# Notes\nThis is no database.\n" * 100
    whole = a_database(path)
    if damage == "a truncated header":
        return whole[:60]
    if damage == "half a file":
        return whole[: len(whole) // 2]
    if damage == "a scrambled header":
        return noise[:100] + whole[100:]
    return whole[:100] + noise[:3996] + whole[4096:]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_set_aside_and_never_deleted(path: Path, damage: str) -> None:
    content = damaged(path, damage)
    path.write_bytes(content)
    with pytest.raises(DamagedStore) as raised:
        open_sqlite(url_of(path))
    asides = [part for part in path.parent.iterdir() if part.read_bytes() == content]
    assert len(asides) == 1
    assert asides[0] != path
    assert str(asides[0]) in str(raised.value)
    assert not path.exists()

    assert_usable(path)
    assert asides[0].read_bytes() == content


def assert_usable(path: Path) -> None:
    store = open_sqlite(url_of(path))
    with store.writing(SCOPE) as transaction:
        assert transaction.admit(Delta("01A", [Add("s", "new start")])).version == 1
    store.close()


def test_a_second_damaged_file_does_not_replace_the_first(path: Path) -> None:
    for number in range(3):
        path.write_bytes(f"no database {number}".encode() * 100)
        with pytest.raises(DamagedStore):
            open_sqlite(url_of(path))
    assert len({part.read_bytes() for part in path.parent.iterdir()}) == 3


def test_the_log_of_a_damaged_file_goes_with_it(path: Path) -> None:
    for value in "ab":  # the second value changes one page in place, which then stands in the log alone
        store = open_sqlite(url_of(path))
        with store.writing(SCOPE) as transaction:
            transaction.set("mark", value)
        parts = {part.name: part.read_bytes() for part in path.parent.iterdir()}
        store.close()
    assert parts["book.db-wal"]
    for name, content in parts.items():
        (path.parent / name).write_bytes(content)
    path.write_bytes(random.Random(3).randbytes(8192))
    with pytest.raises(DamagedStore):
        open_sqlite(url_of(path))
    assert [part.name for part in path.parent.iterdir() if part.name.startswith("book.db-")] == []
    assert parts["book.db-wal"] in [part.read_bytes() for part in path.parent.iterdir()]
    assert_usable(path)


def test_damage_deep_inside_is_named_and_the_file_stays(path: Path) -> None:
    whole = bytearray(a_database(path))
    noise = random.Random(5)
    for start in range(4096, len(whole), 4096):
        whole[start : start + 4096] = noise.randbytes(4096)
    path.write_bytes(whole)
    with pytest.raises(DamagedStore, match="damaged"):
        look_at(open_sqlite(url_of(path)), SCOPE)
    assert bytes(whole) in [part.read_bytes() for part in path.parent.iterdir() if part.stat().st_size == len(whole)]


def test_processes_that_meet_a_damaged_file_at_once_lose_nothing(path: Path) -> None:
    content = b"no database at all " * 500
    path.write_bytes(content)
    with at_once(*[("open", url_of(path))] * 4) as processes:
        for process in processes:
            said = process.end()
            assert said == ["opened at version 0", "done"] or said[-1].startswith("DamagedStore: ")
    assert [part.read_bytes() for part in path.parent.iterdir()].count(content) == 1
    open_sqlite(url_of(path)).close()


def test_an_empty_file_is_a_new_database(path: Path) -> None:
    path.touch()
    assert_usable(path)


# -- the wrong schema, the wrong file, the wrong place ----------------------------------------------------


def with_schema(path: Path, revision: str) -> None:
    a_store = open_sqlite(url_of(path))
    with a_store.writing(SCOPE) as transaction:
        transaction.admit(Delta("01A", [Add("s", "text")]))
    a_store.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def untouched(path: Path, error: type[StoreError]) -> StoreError:
    """The error that opening raises, which leaves the folder byte for byte as it was."""
    before = {part.name: part.read_bytes() for part in path.parent.iterdir()}
    with pytest.raises(error) as raised:
        open_sqlite(url_of(path))
    after = {part.name: part.read_bytes() for part in path.parent.iterdir() if not part.name.endswith(("-wal", "-shm"))}
    assert after == {name: content for name, content in before.items() if not name.endswith(("-wal", "-shm"))}
    assert str(path) in str(raised.value)
    return raised.value


@pytest.mark.parametrize("revision", ["9999", f"{int(HEAD) + 1:04}"])
def test_a_newer_schema_asks_for_a_newer_tenure(path: Path, revision: str) -> None:
    with_schema(path, revision)
    error = untouched(path, SchemaMismatch)
    assert isinstance(error, SchemaMismatch)
    assert (error.newer, error.found) == (True, revision)
    assert "pip install -U tenure" in str(error)


@pytest.mark.parametrize("revision", ["0000", "8f2c1d"])
def test_an_unknown_schema_is_named(path: Path, revision: str) -> None:
    with_schema(path, revision)
    error = untouched(path, SchemaMismatch)
    assert isinstance(error, SchemaMismatch)
    assert (error.newer, error.found) == (False, revision)


def test_a_database_that_lost_its_schema_number_is_left_alone(path: Path) -> None:
    with_schema(path, "0001")
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM alembic_version")
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert "without a number" in str(untouched(path, SchemaMismatch))


@pytest.mark.parametrize("said", ["# Notes\n\nBuy milk.\n" * 9, "发票按开票日汇率换算。" * 600])
def test_a_persons_text_file_is_left_alone(path: Path, said: str) -> None:
    notes = path.with_name("notes.md")
    notes.write_text(said, encoding="utf-8")
    error = untouched(notes, StoreError)
    assert "text file" in str(error)
    assert notes.read_text(encoding="utf-8") == said


FOREIGN = {
    "another program": ("CREATE TABLE bookmarks (url TEXT)",),
    "another program with Alembic": (
        "CREATE TABLE alembic_version (version_num TEXT)",
        "INSERT INTO alembic_version VALUES ('0001')",
        "CREATE TABLE users (id)",
    ),
    "a view only": ("CREATE VIEW v AS SELECT 1",),
}


@pytest.mark.parametrize("program", FOREIGN)
def test_a_file_of_another_program_is_left_alone(path: Path, program: str) -> None:
    connection = sqlite3.connect(path)
    for statement in FOREIGN[program]:
        connection.execute(statement)
    connection.commit()
    connection.close()
    error = untouched(path, StoreError)
    assert not isinstance(error, DamagedStore)
    assert "not Tenure's" in str(error)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=str(tmp_path)):
        open_sqlite(url_of(tmp_path))
    assert tmp_path.is_dir()


def test_a_database_below_a_file_is_no_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(StoreError, match="file"):
        open_sqlite(url_of(tmp_path / "file" / "book.db"))


@pytest.mark.parametrize("url", ["book.db", "sqlite:/book.db", "postgres://x", "", "sqlite:///"])
def test_an_address_that_is_none_is_an_error_that_shows_one(url: str) -> None:
    with pytest.raises(StoreError, match="sqlite:///"):
        open_sqlite(url)


@pytest.fixture
def read_only(path: Path) -> Iterator[Path]:
    """A database that the present user can read and not write."""
    # Not below pytest's own folder, which nobody but its owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="tenure-read-only-"))
    place = folder / "book.db"
    place.write_bytes(a_database(path))
    place.chmod(0o444)
    folder.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)  # root may write anything; nobody may not
    yield place
    if is_root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def use(path: Path) -> None:
    store: Store = open_sqlite(url_of(path))
    try:
        with store.writing(SCOPE) as transaction:
            transaction.admit(Delta("01B", [Add("s", "text")]))
    finally:
        store.close()


def test_a_read_only_file_is_a_clear_error(read_only: Path) -> None:
    content = read_only.read_bytes()
    with pytest.raises(StoreError, match=str(read_only)) as raised:
        use(read_only)
    assert not isinstance(raised.value, DamagedStore)
    assert read_only.read_bytes() == content


def test_a_read_only_folder_is_a_clear_error(read_only: Path) -> None:
    with pytest.raises(StoreError, match=str(read_only.parent)):
        use(read_only.with_name("new.db"))
    with pytest.raises(StoreError, match=str(read_only.parent)):
        use(read_only.parent / "new folder" / "book.db")
    assert issubclass(StoreError, TenureError)
