"""One SQLite file: write-ahead log, full sync on commit, one writer at a time that waits its turn."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exists, insert, or_, select, text
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import QueuePool, StaticPool

from tenure.errors import DamagedStore, StoreBusy, StoreError, UnstorableValue
from tenure.playbook.lessons import Lesson
from tenure.ports import Nearest, Scrubbed, Usage, VectorKind
from tenure.stores import migrations, rows, scrubbing, sql_store, sql_vectors, sqlite_words
from tenure.stores.dialect import Searchable
from tenure.stores.new_names import check_new
from tenure.stores.scopes import check_scope, check_tenant
from tenure.stores.sql_reading import SqlReading
from tenure.stores.sql_tenancy import SqlTenancy
from tenure.stores.sql_vectors import Matrices
from tenure.stores.sql_workforce import SqlWorkforce
from tenure.stores.sql_writing import SqlWriting
from tenure.stores.sqlite_log import SqliteLog
from tenure.stores.unstorable import unstorable_text
from tenure.stores.weighing import Weighed, own_text, searched, searched_task, weigh

BUSY_S = 60.0
"""How long a writer waits for another before it gives up, in seconds."""

CACHE_KIB = 8_000
"""Pages of the file that a connection keeps, in KiB. With SQLite's own 2,000 a context at 100,000 lessons reads seven times as many."""

SCRUB_AGAIN_S = 0.5
"""How long others are waited for when a file is opened that was left unscrubbed, in seconds: it can be done the next time."""

DATABASE_SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3"})
"""Names under which a file without the form of a database is a damaged one; under others it may be a text."""

_DAMAGE = ("file is not a database", "malformed", "file is encrypted")


class SqliteDialect:
    """What is SQLite's own: FTS5 for words, os.urandom for salts."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self.matrices = Matrices()

    def put_words(self, connection: Connection, row: int, wall: int, lesson: Lesson, asked: str) -> None:
        """Make a lesson searchable in place of what was there."""
        self.put_all_words(connection, wall, [(row, lesson, asked, True)])

    def put_all_words(self, connection: Connection, wall: int, said: Sequence[tuple[int, Lesson, str, bool]]) -> None:
        """`put_words` for many lessons, in two statements."""
        sqlite_words.remove(connection, "lessons", [row for row, _, _, known in said if known])
        new = [(row, searched(own_text(lesson), asked)) for row, lesson, asked, _ in said if lesson.live]
        sqlite_words.put_searched(connection, "lessons", wall, new)

    def put_task(self, connection: Connection, row: int, wall: int, asked: str) -> None:
        """Make a run searchable by its task's input, in place of what was there."""
        sqlite_words.remove(connection, "runs", [row])
        sqlite_words.put_searched(connection, "runs", wall, [(row, searched_task(asked))])

    def remove_words(self, connection: Connection, table: Searchable, rows: Sequence[int]) -> None:
        """Make rows unfindable."""
        sqlite_words.remove(connection, table, rows)

    def put_entries(self, connection: Connection, wall: int, new: Sequence[tuple[int, str]]) -> None:
        """Make new entries of the memory searchable."""
        sqlite_words.put_entries(connection, wall, new)

    def log(self, connection: Connection, wall: int, scope: tuple[str, str]) -> SqliteLog:
        """The raw log of a scope, for search."""
        return SqliteLog(connection, wall, scope)

    def remove_entries(self, connection: Connection, rows: Sequence[int]) -> None:
        """Take entries of the memory out of the index."""
        sqlite_words.remove_entries(connection, rows)

    def indexed_entries(self, connection: Connection, wall: int) -> Sequence[int]:
        """Rows of all entries inside the wall that the index has."""
        return sqlite_words.indexed_entries(connection, wall)

    def find_sharing(self, connection: Connection, wall: int, groups: Sequence[Sequence[str]], limit: int) -> Sequence[int]:
        """Rows that hold every word of at least one of the groups."""
        return sqlite_words.sharing(connection, wall, groups, limit)

    def find(
        self,
        connection: Connection,
        table: Searchable,
        walls: Mapping[int, str],
        asked: str,
        *,
        tenant: str,
        size: int,
        limit: int,
    ) -> Sequence[Weighed]:
        """Rows inside the walls that answer a question."""
        return weigh(sqlite_words.SqliteIndex(connection, table, walls, tenant=tenant, size=size), asked, limit=limit)

    def nearest(
        self,
        connection: Connection,
        scopes: Sequence[str],
        vector: Sequence[float],
        *,
        model: str,
        kind: VectorKind,
        limit: int,
        writing: bool,
    ) -> Nearest:
        """What of some scopes is nearest to a vector."""
        matrices = None if writing else self.matrices
        return sql_vectors.nearest(connection, scopes, vector, model=model, kind=kind, limit=limit, matrices=matrices)

    def cosines(
        self, connection: Connection, scope: str, kind: VectorKind, ids: Collection[str], *, model: str, vector: Sequence[float]
    ) -> Mapping[str, float]:
        """The cosines of some of a scope with a vector."""
        return sql_vectors.cosines(connection, scope, kind, ids, model=model, vector=vector)

    def salt(self) -> str:
        """Fresh randomness, 16 bytes as hex."""
        return os.urandom(16).hex()

    def now(self) -> str:
        """The present moment, ISO 8601."""
        return self._now().isoformat()


class SqliteStore:
    """A store in one SQLite file (see `ports.Store`). Open it with `open_sqlite`."""

    def __init__(self, engine: Engine, url: str, dialect: SqliteDialect) -> None:
        self._engine, self._url, self._dialect = engine, url, dialect

    @property
    def url(self) -> str:
        """Where it is."""
        return self._url

    @contextmanager
    def reading(self, scope: str) -> Iterator[SqlReading]:
        """A consistent look at a scope."""
        with self._transaction(write=False) as connection:
            yield SqlReading(connection, check_scope(scope), self._dialect)

    @contextmanager
    def writing(self, scope: str) -> Iterator[SqlWriting]:
        """A transaction on a scope: on disk when it ends, undone if an error leaves it."""
        check_new(self, scope)
        with self._transaction(write=True) as connection:
            yield SqlWriting(connection, check_scope(scope), self._dialect)

    @contextmanager
    def tenancy(self, tenant: str) -> Iterator[SqlTenancy]:
        """A consistent look at what a service keeps of a tenant."""
        with self._transaction(write=False) as connection:
            yield SqlTenancy(connection, check_tenant(tenant))

    @contextmanager
    def changing_tenancy(self, tenant: str) -> Iterator[SqlTenancy]:
        """A transaction on what a service keeps of a tenant."""
        check_new(self, check_tenant(tenant))
        with self._transaction(write=True) as connection:
            yield SqlTenancy(connection, check_tenant(tenant))

    @property
    def workforce(self) -> SqlWorkforce:
        """Which workers are alive."""
        return SqlWorkforce(lambda: self._transaction(write=True))

    def has_api_key(self, at: str) -> bool:
        """Whether any tenant has an API key that is valid at a moment."""
        t = rows.api_keys
        with self._transaction(write=False) as connection:
            valid = exists().where(t.c.revoked == "", or_(t.c.expires == "", t.c.expires > at))
            return bool(connection.execute(select(valid)).scalar())

    def scopes(self, tenant: str | None = None) -> Sequence[str]:
        """Scopes with a delta, a run or a memory, sorted; of one tenant, or of all."""
        with self._transaction(write=False) as connection:
            return sql_store.scopes(connection, tenant)

    def spent(self, scope: str, day: str | None = None) -> Usage:
        """What model calls for a scope used on a day, or ever."""
        with self._transaction(write=False) as connection:
            return sum(sql_store.spent(connection, check_scope(scope), day).values(), Usage())

    def add_spending(self, scope: str, day: str, usage: Usage) -> None:
        """Add to what model calls for a scope used on a day."""
        with self._transaction(write=True) as connection:
            before = sql_store.spent(connection, check_scope(scope), day).get(day, Usage())
            sql_store.spend(connection, scope, day, before, usage)

    def book_spending(self, scope: str, usage: Usage, decide: Callable[[Mapping[str, Usage]], str]) -> str:
        """Add to what a scope used on the day that `decide` names, unless it raises."""
        with self._transaction(write=True) as connection:
            days = sql_store.spent(connection, check_scope(scope), None)
            day = decide(days)
            sql_store.spend(connection, scope, day, days.get(day, Usage()), usage)
        return day

    def check_file(self) -> Sequence[str]:
        """What SQLite's own check finds wrong with the file; empty if it is sound."""
        with self._transaction(write=False) as connection:
            return [line for line in connection.execute(text("PRAGMA integrity_check")).scalars() if line != "ok"]

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy of the database to a file that is not there yet; others go on meanwhile."""
        with _translated(self._url):
            raw = self._engine.raw_connection()
            try:
                raw.cursor().execute("VACUUM INTO ?", (str(path),))
            finally:
                raw.close()

    def scrub(self, tell: Callable[[str], None] | None = None, *, wait_s: float = scrubbing.WAIT_S) -> Scrubbed:
        """Leave no byte of what was taken out in the file and its log."""
        path = _path(self._url)
        with _translated(self._url):
            raw = self._engine.raw_connection()
            try:
                reason = scrubbing.scrub_file(raw.driver_connection, wait_s=wait_s, tell=tell)
            finally:
                raw.close()
        return Scrubbed(done=not reason, reason=reason, elsewhere=scrubbing.copies_beside(path) if path is not None else ())

    def finish_scrubbing(self) -> None:
        """Scrub what a process that died, or that others were in the way of, left unscrubbed. They may still be in the way."""
        with _translated(self._url):
            raw = self._engine.raw_connection()
            try:
                if scrubbing.is_unscrubbed(raw.driver_connection):
                    scrubbing.scrub_file(raw.driver_connection, wait_s=SCRUB_AGAIN_S)
            finally:
                raw.close()

    def tenants(self) -> Sequence[str]:
        """Tenants that have something here, sorted."""
        with self._transaction(write=False) as connection:
            tables = [table for table in rows.metadata.sorted_tables if "tenant" in table.c]
            return sorted({str(one) for table in tables for one in connection.execute(select(table.c.tenant).distinct()).scalars()})

    @contextmanager
    def transaction(self, tenant: str, *, turn: str = "") -> Iterator[Connection]:
        """A transaction; whose it is makes no difference in a file. One with a turn writes."""
        with self._transaction(write=bool(turn)) as connection:
            yield connection

    def enter(self, connection: Connection, tenant: str) -> None:
        """Nothing: a file has no walls between its connections."""

    def dialect(self, tenant: str) -> SqliteDialect:
        """What is SQLite's own."""
        return self._dialect

    def close(self) -> None:
        """Release connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Connection]:
        with _translated(self._url), self._engine.connect() as connection:
            connection.execution_options(tenure_write=write)
            with connection.begin():
                yield connection


def open_sqlite(url: str, *, now: Callable[[], datetime] | None = None, busy_s: float = BUSY_S) -> SqliteStore:
    """Open a SQLite database, made and brought up to date where needed.

    Args:
        url: `sqlite:///relative/path.db`, `sqlite:////absolute/path.db`, or `sqlite://` for one in memory.
        now: the clock; none takes the system's.
        busy_s: how long a writer waits for another, in seconds.

    Raises:
        DamagedStore: the file is damaged; it was set aside, nothing was deleted.
        SchemaMismatch: a newer Tenure made it.
        StoreError: the path cannot be used, or the file holds another program's tables.
    """
    clock = now or (lambda: datetime.now(UTC))
    path = _path(url)
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StoreError(
                f"The folder {path.parent} for the database cannot be made: {exc.strerror}. Name another with --db or TENURE_DB."
            ) from exc
    engine = _engine(url, path, busy_s)
    store = SqliteStore(engine, url, SqliteDialect(clock))
    if path is None:
        _prepare(engine, url, clock)
    elif not _is_ready(engine, url):
        with _alone_in(path.parent):
            try:
                _prepare(engine, url, clock)
            except DamagedStore as exc:
                engine.dispose()
                raise _damaged(path, exc, clock()) from exc
    if path is not None:
        store.finish_scrubbing()
    return store


def look_at(path: Path, *, copy: Path | None = None) -> None:
    """Make sure that a database that is there can be used, or could be after an update, and change nothing of it.

    For a database that the person did not name: opening one brings it up to date, and sets a damaged one aside.

    Args:
        path: of its file.
        copy: a file that is not there yet, which gets a consistent copy.

    Raises:
        DamagedStore: the file is damaged. It stays where it is.
        SchemaMismatch: a newer Tenure made it.
        StoreError: it cannot be read, or holds another program's tables.
    """
    url = f"sqlite:///{path}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)

    engine = create_engine("sqlite://", creator=connect, poolclass=StaticPool)
    try:
        with _translated(url), engine.connect() as connection:
            found = migrations.revision_of(connection, url)
            if found is not None:
                migrations.check(url, found)
            if copy is not None:
                connection.rollback()
                connection.exec_driver_sql("VACUUM INTO ?", (str(copy),))
    finally:
        engine.dispose()


def _is_ready(engine: Engine, url: str) -> bool:
    """Whether the file is a sound database of the present schema."""
    try:
        with _translated(url), engine.connect() as connection, connection.begin():
            found = migrations.revision_of(connection, url)
        if found is not None and migrations.check(url, found):
            return True
    except DamagedStore:
        pass  # looked at again when it is this process's turn
    # Another process may put a new file in its place before then.
    engine.dispose()
    return False


def _damaged(path: Path, found: DamagedStore, at: datetime) -> StoreError:
    """The error for a damaged file, which is set aside; a text file of somebody's is left alone."""
    if _is_somebodys_text(path):
        return StoreError(f"{path} is a text file, not a database; it was left as it is. Name another file with --db or TENURE_DB.")
    aside = _set_aside(path, at)
    return DamagedStore(
        f"Database {path} is damaged ({found.detail}). It was set aside as {aside}; nothing was deleted. "
        f"The next start makes a new one. To rescue what can be read: sqlite3 '{aside}' .recover",
        detail=found.detail,
    )


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One process at a time makes databases in a folder, or sets damaged ones aside.

    SQLite's own locks do not cover the change to a write-ahead log, which fails at once where two
    try it, nor the renaming of files. The folder itself is locked, so that nothing is left behind.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such locks, and does not let an open file be renamed
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def library() -> tuple[str, bool]:
    """The version of the SQLite library that Python was built with, and whether it has the full-text search (FTS5) that a store needs."""
    connection = sqlite3.connect(":memory:")
    try:
        return sqlite3.sqlite_version, ("ENABLE_FTS5",) in connection.execute("PRAGMA compile_options").fetchall()
    finally:
        connection.close()


def bare_commits_ms(path: Path, *, times: int = 50) -> list[float]:
    """What a commit of one row costs with nothing around it, under the settings of a store; milliseconds, one by one.

    Args:
        path: of a database that is made for it.
        times: how many commits.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    taken: list[float] = []
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE one (n INTEGER PRIMARY KEY, said TEXT)")
        for _ in range(times):
            began = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO one (said) VALUES ('a row')")
            connection.execute("COMMIT")
            taken.append((time.perf_counter() - began) * 1000)
    finally:
        connection.close()
    return taken


def _path(url: str) -> Path | None:
    place = url.removeprefix("sqlite:///")
    if url in ("sqlite://", "sqlite:///:memory:"):
        return None
    if place == url or not place:
        raise StoreError(f"'{url}' is not a database address. Use sqlite:///book.db (in this folder) or sqlite:////absolute/path/book.db")
    return Path(place)


def _engine(url: str, path: Path | None, busy_s: float) -> Engine:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            str(path) if path is not None else ":memory:", timeout=busy_s, isolation_level=None, check_same_thread=False
        )
        connection.execute(f"PRAGMA busy_timeout = {int(busy_s * 1000)}")
        connection.execute("PRAGMA foreign_keys = ON")
        if path is not None:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
        return connection

    pool: dict[str, Any] = {"poolclass": StaticPool} if path is None else {"poolclass": QueuePool, "pool_size": 4, "max_overflow": 28}
    engine = create_engine("sqlite://", creator=connect, **pool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes its turn at once; a reader that becomes a writer midway could not.
        if connection.get_execution_options().get("tenure_write", False):
            _take_turn(connection, busy_s)
        else:
            connection.exec_driver_sql("BEGIN")

    return engine


def _take_turn(connection: Connection, busy_s: float) -> None:
    """Begin a write, waiting for other writers in short uneven steps.

    SQLite's own wait doubles its steps up to a tenth of a second, so that with many writers some
    wait very long while newcomers slip in.
    """
    raw = connection.connection.cursor()
    deadline = time.monotonic() + busy_s
    raw.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                raw.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as exc:
                if exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(random.uniform(0.0005, 0.004))
    finally:
        raw.execute(f"PRAGMA busy_timeout = {int(busy_s * 1000)}")
        raw.close()


def _prepare(engine: Engine, url: str, clock: Callable[[], datetime]) -> None:
    with _translated(url):
        # Whose file it is comes first: another program's is left as it is, its journal too.
        with engine.connect() as connection, connection.begin():
            found = migrations.revision_of(connection, url)
        if found is not None and migrations.check(url, found):
            return
        if engine.pool.__class__ is not StaticPool:
            _use_write_ahead_log(engine)
        with engine.connect() as connection:
            connection.execution_options(tenure_write=True)
            with connection.begin():
                # Looked at again under the lock: another process may have been first.
                found = migrations.revision_of(connection, url)
                if found is None or not migrations.check(url, found):
                    migrations.upgrade(connection)
                if connection.execute(select(rows.installation.c.writer)).first() is None:
                    connection.execute(insert(rows.installation).values(writer=os.urandom(10).hex(), created=clock().isoformat()))


def _use_write_ahead_log(engine: Engine) -> None:
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("PRAGMA journal_mode = WAL")
    finally:
        raw.close()


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Errors of the driver as Tenure's own."""
    try:
        yield
    except (DatabaseError, sqlite3.DatabaseError) as exc:
        said = str(exc.orig if isinstance(exc, DatabaseError) else exc)
        if any(mark in said for mark in _DAMAGE):
            raise DamagedStore(f"Database {url} is damaged: {said}. Check it with: tenure doctor", detail=said) from exc
        if "locked" in said or "busy" in said:
            raise StoreBusy(f"Database {url} was held by another process for too long ({said}). Nothing was written; try again.") from exc
        if isinstance(exc, OperationalError | sqlite3.OperationalError):
            raise StoreError(
                f"Database {url} cannot be used: {said}. Check the path and its permissions, or name another with --db or TENURE_DB."
            ) from exc
        raise
    except UnicodeEncodeError as exc:
        raise unstorable_text(exc) from exc
    except OverflowError as exc:
        if "SQLite" not in str(exc):  # the driver's alone; ours are faults
            raise
        raise UnstorableValue("a number beyond the range of its column") from exc


def _is_somebodys_text(path: Path) -> bool:
    """Whether a file that is no database looks like a person's text, by its name and its first 4 KiB."""
    if path.suffix in DATABASE_SUFFIXES:
        return False
    with path.open("rb") as file:
        start = file.read(4096)
    try:
        start.decode("utf-8")
    except UnicodeDecodeError as exc:
        return exc.start > len(start) - 4 and b"\0" not in start  # cut within a character
    return b"\0" not in start


def _set_aside(path: Path, at: datetime) -> Path:
    stamp = at.strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    # The file itself goes last: whoever opens the name before that still meets the damage, not a new file beside an old log.
    for suffix in ("-wal", "-shm", ""):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside
