"""A store in PostgreSQL: tenants walled in by row-level security, one writer of a scope at a time, readers that wait for nobody."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import psycopg
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from tenure.errors import SchemaMismatch, StoreError
from tenure.playbook.lessons import Lesson
from tenure.ports import Nearest, Scrubbed, Usage, VectorKind
from tenure.stores import migrations, postgres_log, postgres_scrubbing, postgres_vectors, postgres_words, sql_store
from tenure.stores.dialect import Searchable
from tenure.stores.new_names import check_new
from tenure.stores.postgres_log import PostgresLog
from tenure.stores.postgres_schema import Standing, standing
from tenure.stores.postgres_session import BUSY_S, LOST, Address, address, begin, make_engine, translated
from tenure.stores.scopes import check_scope, check_tenant, tenant
from tenure.stores.sql_reading import SqlReading
from tenure.stores.sql_tenancy import SqlTenancy
from tenure.stores.sql_workforce import SqlWorkforce
from tenure.stores.sql_writing import SqlWriting
from tenure.stores.weighing import Weighed, own_text, searched, searched_task, weigh


class PostgresDialect:
    """What is PostgreSQL's own: an inverted index of rows for words, pgvector, os.urandom for salts.

    Args:
        now: the clock.
        tenant: whose transaction it serves.
    """

    def __init__(self, now: Callable[[], datetime], tenant: str) -> None:
        self._now, self._tenant = now, tenant

    def put_words(self, connection: Connection, row: int, wall: int, lesson: Lesson, asked: str) -> None:
        """Make a lesson searchable in place of what was there."""
        self.put_all_words(connection, wall, [(row, lesson, asked, True)])

    def put_all_words(self, connection: Connection, wall: int, said: Sequence[tuple[int, Lesson, str, bool]]) -> None:
        """`put_words` for many lessons."""
        postgres_words.remove(connection, "lessons", self._tenant, [row for row, _, _, known in said if known])
        new = [(row, searched(own_text(lesson), asked)) for row, lesson, asked, _ in said if lesson.live]
        postgres_words.put_searched(connection, "lessons", self._tenant, wall, new)

    def put_task(self, connection: Connection, row: int, wall: int, asked: str) -> None:
        """Make a run searchable by its task's input, in place of what was there."""
        postgres_words.remove(connection, "runs", self._tenant, [row])
        postgres_words.put_searched(connection, "runs", self._tenant, wall, [(row, searched_task(asked))])

    def remove_words(self, connection: Connection, table: Searchable, rows: Sequence[int]) -> None:
        """Make rows unfindable."""
        postgres_words.remove(connection, table, self._tenant, rows)

    def put_entries(self, connection: Connection, wall: int, new: Sequence[tuple[int, str]]) -> None:
        """Make new entries of the memory searchable."""
        postgres_log.put_entries(connection, self._tenant, wall, new)

    def log(self, connection: Connection, wall: int, scope: tuple[str, str]) -> PostgresLog:
        """The raw log of a scope, for search."""
        return PostgresLog(connection, wall, scope)

    def remove_entries(self, connection: Connection, rows: Sequence[int]) -> None:
        """Take entries of the memory out of the index."""
        postgres_log.remove_entries(connection, self._tenant, rows)

    def indexed_entries(self, connection: Connection, wall: int) -> Sequence[int]:
        """Rows of all entries inside the wall that the index has."""
        return postgres_log.indexed_entries(connection, self._tenant, wall)

    def find_sharing(self, connection: Connection, wall: int, groups: Sequence[Sequence[str]], limit: int) -> Sequence[int]:
        """Rows that hold every word of at least one of the groups."""
        return postgres_words.sharing(connection, self._tenant, wall, groups, limit)

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
        if not walls:
            return []
        return weigh(postgres_words.PostgresIndex(connection, table, walls, tenant=tenant, size=size, asked=asked), asked, limit=limit)

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
        return postgres_vectors.nearest(connection, scopes, vector, model=model, kind=kind, limit=limit)

    def cosines(
        self, connection: Connection, scope: str, kind: VectorKind, ids: Collection[str], *, model: str, vector: Sequence[float]
    ) -> Mapping[str, float]:
        """The cosines of some of a scope with a vector."""
        return postgres_vectors.cosines(connection, scope, kind, ids, model=model, vector=vector)

    def salt(self) -> str:
        """Fresh randomness, 16 bytes as hex."""
        return os.urandom(16).hex()

    def now(self) -> str:
        """The present moment, ISO 8601."""
        return self._now().isoformat()


def note_tenant(connection: Connection, tenant: str) -> None:
    """Put a tenant's name into the list of tenants."""
    connection.connection.cursor().execute("INSERT INTO tenants (name) VALUES (%s) ON CONFLICT DO NOTHING", (tenant,))


class PostgresStore:
    """A store in a PostgreSQL database (see `ports.Store`). Open it with `open_postgres`."""

    def __init__(self, engine: Engine, place: Address, found: Standing, now: Callable[[], datetime], busy_s: float) -> None:
        self._engine, self._place, self._standing, self._now, self._busy_s = engine, place, found, now, busy_s
        self._noted = set[str]()

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return self._place.shown

    @contextmanager
    def reading(self, scope: str) -> Iterator[SqlReading]:
        """A consistent look at a scope."""
        whose = tenant(scope)
        with self.transaction(whose) as connection:
            yield SqlReading(connection, scope, PostgresDialect(self._now, whose))

    @contextmanager
    def writing(self, scope: str) -> Iterator[SqlWriting]:
        """A transaction on a scope: on disk when it ends, undone if an error leaves it."""
        whose = tenant(scope)
        check_new(self, scope)
        self._note(whose)
        with self.transaction(whose, turn=f"scope {scope}") as connection:
            yield SqlWriting(connection, scope, PostgresDialect(self._now, whose))

    @contextmanager
    def tenancy(self, tenant: str) -> Iterator[SqlTenancy]:
        """A consistent look at what a service keeps of a tenant."""
        with self.transaction(check_tenant(tenant)) as connection:
            yield SqlTenancy(connection, tenant)

    @contextmanager
    def changing_tenancy(self, tenant: str) -> Iterator[SqlTenancy]:
        """A transaction on what a service keeps of a tenant."""
        check_new(self, check_tenant(tenant))
        self._note(tenant)
        with self.transaction(tenant, turn=f"tenant {tenant}") as connection:
            yield SqlTenancy(connection, tenant)

    def has_api_key(self, at: str) -> bool:
        """Whether any tenant has an API key that is valid at a moment; tenant after tenant, for each is walled in."""

        def has(tenant: str) -> bool:
            with self.tenancy(tenant) as look:
                return any(key.state(at) == "valid" for key in look.api_keys())

        return any(map(has, self.tenants()))

    @property
    def workforce(self) -> SqlWorkforce:
        """Which workers are alive."""
        return SqlWorkforce(lambda: self.transaction("", turn="workforce"))

    def scopes(self, tenant: str | None = None) -> Sequence[str]:
        """Scopes with a delta, a run or a memory, sorted; of one tenant, or of all, tenant by tenant."""
        if tenant is not None:
            with self.transaction(tenant) as connection:
                return sql_store.scopes(connection, tenant)
        return sorted(scope for one in self.tenants() for scope in self.scopes(one))

    def tenants(self) -> Sequence[str]:
        """Names of the tenants that have something here, sorted. Names alone: to read more, one has to be named."""
        with self.transaction("") as connection:
            return [str(name) for (name,) in connection.connection.cursor().execute("SELECT name FROM tenants ORDER BY name").fetchall()]

    def spent(self, scope: str, day: str | None = None) -> Usage:
        """What model calls for a scope used on a day, or ever."""
        with self.transaction(tenant(scope)) as connection:
            return sum(sql_store.spent(connection, check_scope(scope), day).values(), Usage())

    def add_spending(self, scope: str, day: str, usage: Usage) -> None:
        """Add to what model calls for a scope used on a day."""
        with self.transaction(tenant(scope), turn=f"spending {scope}") as connection:
            before = sql_store.spent(connection, scope, day).get(day, Usage())
            sql_store.spend(connection, scope, day, before, usage)

    def book_spending(self, scope: str, usage: Usage, decide: Callable[[Mapping[str, Usage]], str]) -> str:
        """Add to what a scope used on the day that `decide` names, unless it raises."""
        with self.transaction(tenant(scope), turn=f"spending {scope}") as connection:
            days = sql_store.spent(connection, scope, None)
            day = decide(days)
            sql_store.spend(connection, scope, day, days.get(day, Usage()), usage)
        return day

    def scrub(self, tell: Callable[[str], None] | None = None) -> Scrubbed:
        """Leave no byte of what was taken out in the files of the tables."""
        with translated(self._place):
            reason = postgres_scrubbing.scrub(self._place.conninfo, tell=tell)
        return Scrubbed(done=not reason, reason=reason, beyond=postgres_scrubbing.BEYOND)

    def check(self) -> Sequence[str]:
        """What is wrong with how the database is set up; empty if it is sound."""
        with self.transaction("") as connection:
            return standing(connection).problems

    def enter(self, connection: Connection, tenant: str) -> None:
        """Go on in a transaction as another tenant, which is noted down: for copying a whole database."""
        connection.connection.cursor().execute("SELECT set_config('tenure.tenant', %s, true)", (tenant,))
        note_tenant(connection, tenant)

    def dialect(self, tenant: str) -> PostgresDialect:
        """What is PostgreSQL's own, for a tenant."""
        return PostgresDialect(self._now, tenant)

    def close(self) -> None:
        """Release connections."""
        self._engine.dispose()

    def _note(self, tenant: str) -> None:
        """Put a tenant's name into the list of tenants, which is all that can be read without naming one.

        In a transaction of its own, before the one that writes: two that bring the same name would wait for each other.
        """
        if tenant not in self._noted:
            with self.transaction("") as connection:
                cursor = connection.connection.cursor()
                known = cursor.execute("SELECT 1 FROM tenants WHERE name = %s", (tenant,)).fetchone()
            if known is None:
                with self.transaction("", turn="tenants") as connection:
                    note_tenant(connection, tenant)
            self._noted.add(tenant)

    @contextmanager
    def transaction(self, tenant: str, *, turn: str = "") -> Iterator[Connection]:
        """A transaction that sees the rows of one tenant.

        Args:
            tenant: whose; empty for nobody's.
            turn: what only one transaction at a time may do; a transaction without one only reads.
        """
        with translated(self._place):
            connection = self._begun(tenant, turn)
            try:
                yield connection
                _commit(connection)
            except BaseException:
                _undo(connection)
                raise
            finally:
                connection.close()

    def _begun(self, tenant: str, turn: str) -> Connection:
        """A connection inside a transaction. One that broke while nobody used it is replaced, for nothing was done on it."""
        for last in (False, True):
            connection = self._engine.connect()
            connection.begin()
            try:
                begin(
                    connection,
                    tenant=tenant,
                    turn=turn,
                    write=bool(turn),
                    extensions=self._standing.extensions,
                    busy_s=self._busy_s,
                )
            except psycopg.Error as exc:
                lost = connection.connection.driver_connection.closed or (exc.sqlstate or "").startswith(LOST)  # type: ignore[union-attr]
                if lost:
                    connection.invalidate()
                else:
                    _undo(connection)
                connection.close()
                if not lost or last:
                    raise
            else:
                return connection
        raise AssertionError("unreachable")


def _commit(connection: Connection) -> None:
    """End a transaction. The server answers the end of one that failed as if all were well, and undoes it: that is an error here."""
    raw = connection.connection.driver_connection
    if raw is None or raw.info.transaction_status is not psycopg.pq.TransactionStatus.INTRANS:
        raise StoreError("A statement of this transaction failed, so that all of it was undone. Nothing was written; try again.")
    connection.commit()


def _undo(connection: Connection) -> None:
    """Undo a transaction; one whose connection is gone was undone by the server."""
    try:
        connection.rollback()
    except (DBAPIError, psycopg.Error):
        connection.invalidate()


def open_postgres(url: str, *, now: Callable[[], datetime] | None = None, busy_s: float = BUSY_S) -> PostgresStore:
    """Open a database that `tenure migrate` set up. It is never changed by this: that takes rights that an application should not have.

    Args:
        url: `postgresql://tenure_app:PASSWORD@host:5432/database`; what it leaves out comes from PGHOST and the like.
        now: the clock; none takes the system's.
        busy_s: how long a writer waits for another of its scope, in seconds.

    Raises:
        SchemaMismatch: an older or newer Tenure set it up.
        StoreError: it cannot be reached, was not set up, or the login is one for which tenants are not walled in.
    """
    place = address(url)
    engine = make_engine(place)
    try:
        with translated(place), engine.connect() as connection, connection.begin():
            begin(connection, tenant="")
            found = standing(connection)
        if found.revision is None:
            raise StoreError(
                f"Database {place.shown} is not set up. Run, with an administrator's address: tenure migrate --db postgresql://..."
            )
        if not migrations.check(place.shown, found.revision):
            raise SchemaMismatch(url=place.shown, found=found.revision, expected=migrations.HEAD, newer=False)
        if found.problems:
            raise StoreError(f"Database {place.shown} is not opened: {'; '.join(found.problems)}.")
    except BaseException:
        engine.dispose()
        raise
    return PostgresStore(engine, place, found, now or (lambda: datetime.now(UTC)), busy_s)
