"""PostgreSQL: tenants walled in by the server, errors that say what to do, what is forgotten gone from the files, databases moved."""

from __future__ import annotations

import random
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from tenure.errors import StoreBusy, StoreError, UnstorableValue
from tenure.learning.forgetting import Wanted, forget
from tenure.playbook.delta import Add, Delta
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Run, Task
from tenure.ports import Embedded, Usage
from tenure.stores import rows
from tenure.stores.sqlite import open_sqlite
from tenure.stores.vectors import text_hash
from tests import postgres
from tests.stores.contract import fill, look_at
from tests.stores.processes import SCOPE, at_once

pytestmark = pytest.mark.skipif(bool(postgres.MISSING), reason=postgres.MISSING)

if not postgres.MISSING:
    import psycopg

    from tenure.stores.copying import copy
    from tenure.stores.postgres import PostgresStore, open_postgres
    from tenure.stores.postgres_schema import unwalled
    from tenure.stores.postgres_session import address
    from tenure.stores.postgres_setup import set_up


@pytest.fixture
def database() -> Iterator[postgres.Database]:
    made = postgres.fresh_database()
    yield made
    postgres.drop(made)


@pytest.fixture
def store(database: postgres.Database) -> Iterator[PostgresStore]:
    opened = open_postgres(database.url, busy_s=5)
    yield opened
    opened.close()


def fill_scope(store: Any, scope: str, mark: str) -> None:
    """One of everything in a scope, a vector and a piece of memory too."""
    with store.writing(scope) as work:
        fill(work, mark)
    with store.writing(scope) as work:
        said = f"put the smallest number first {mark}"
        work.put_vectors("m", [Embedded(kind="lesson", id="ctx-1", text_hash=text_hash(said), vector=(0.6, 0.8))])
        work.put_memory_file("knowledge", "about", f"knows {mark}")
    store.add_spending(scope, "2026-03-15", Usage(calls=1))


def admin(database: postgres.Database) -> psycopg.Connection[Any]:
    return psycopg.connect(database.admin_url, autocommit=True)


@contextmanager
def inspected(database: postgres.Database) -> Iterator[Any]:
    """What the database says of its tables."""
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(database.admin_url))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Did not recognize type 'vector'")
            yield inspect(engine)
    finally:
        engine.dispose()


def tenant_tables(database: postgres.Database) -> list[str]:
    """All tables with a column for the tenant."""
    with admin(database) as connection:
        found = connection.execute(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = 'tenure' AND column_name = 'tenant' ORDER BY 1"
        )
        return [str(name) for (name,) in found]


# -- the wall ---------------------------------------------------------------------------------------------


def test_every_table_with_a_tenant_is_walled_in_and_begins_its_keys_with_it(database: postgres.Database) -> None:
    tables = tenant_tables(database)
    assert {"lessons", "lessons_holders", "ledger", "vectors", "memory_words", "api_keys"} <= set(tables)
    with admin(database) as connection:
        assert unwalled(connection.cursor()) == []
    with inspected(database) as looked:
        for table in tables:
            keys = [looked.get_pk_constraint(table, schema="tenure")["constrained_columns"]]
            keys += [one["column_names"] for one in looked.get_unique_constraints(table, schema="tenure")]
            keys += [one["column_names"] for one in looked.get_indexes(table, schema="tenure")]
            assert {key[0] for key in keys} == {"tenant"}, (table, keys)


def test_a_table_that_lacks_its_wall_is_found_and_given_one(database: postgres.Database) -> None:
    with admin(database) as connection:
        connection.execute("CREATE TABLE tenure.later (tenant text NOT NULL, said text NOT NULL, PRIMARY KEY (tenant, said))")
        assert unwalled(connection.cursor()) == ["later"]
        connection.execute("ALTER TABLE tenure.runs NO FORCE ROW LEVEL SECURITY")
        connection.execute("CREATE POLICY open ON tenure.ledger USING (true)")
        assert unwalled(connection.cursor()) == ["later", "ledger", "runs"]
        with pytest.raises(StoreError, match=r"without a wall between tenants: later, ledger, runs; run, .* tenure migrate"):
            open_postgres(database.url)
        connection.execute("DROP POLICY open ON tenure.ledger")
        set_up(database.admin_url)
        assert unwalled(connection.cursor()) == []
        (collation,) = connection.execute(
            "SELECT collation_name FROM information_schema.columns WHERE table_name = 'later' AND column_name = 'said'"
        ).fetchone() or ("",)
        assert collation == "C"
    open_postgres(database.url).close()


def test_a_forgotten_condition_finds_nothing_of_others(database: postgres.Database, store: PostgresStore) -> None:
    for tenant in ("acme", "globex"):
        fill_scope(store, f"{tenant}/desk", tenant)
    tables = tenant_tables(database)
    filled = {
        "lessons",
        "runs",
        "ledger",
        "ledger_texts",
        "records",
        "lessons_words",
        "lessons_holders",
        "vectors",
        "memory_files",
        "scopes",
    }
    for whose, seen in (("acme", {"acme"}), ("globex", {"globex"}), ("", set[str]()), ("nobody", set[str]())):
        with store.transaction(whose) as connection:
            for table in tables:
                found = {str(one) for one in connection.execute(text(f"SELECT tenant FROM {table}")).scalars()}
                assert found <= seen, table
                if table in filled:
                    assert found == seen, table
    assert store.scopes("acme") == ["acme/desk"]
    assert store.scopes("nobody") == []
    assert store.scopes() == ["acme/desk", "globex/desk"]
    assert store.tenants() == ["acme", "globex"]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO settings (tenant, scope, name, value) VALUES ('globex', 'globex/desk', 'n', 'v')",
        "UPDATE settings SET tenant = 'globex'",
    ],
)
def test_a_row_of_another_tenant_cannot_be_written(store: PostgresStore, statement: str) -> None:
    fill_scope(store, "acme/desk", "m")
    with pytest.raises(StoreError, match="refused a row of another tenant"), store.transaction("acme", turn="t") as connection:
        connection.execute(text(statement))
    with store.transaction("acme", turn="t") as connection:
        assert connection.execute(text("UPDATE settings SET value = 'mine' WHERE tenant <> 'acme'")).rowcount == 0


def test_a_login_for_which_there_is_no_wall_is_refused(database: postgres.Database) -> None:
    with pytest.raises(StoreError, match="'postgres' is a superuser, so that tenants would not be walled in"):
        open_postgres(database.admin_url)
    with pytest.raises(StoreError, match="Role 'postgres' is a superuser"):
        set_up(database.admin_url, role="postgres")
    with admin(database) as connection:
        role = f"exempt_{database.name}"
        connection.execute(f"CREATE ROLE {role} LOGIN BYPASSRLS")
        connection.execute(f"GRANT tenure_app TO {role}")
    with pytest.raises(StoreError, match="is exempt from row-level security"):
        open_postgres(database.url.replace("tenure_app", role))


# -- the schema -------------------------------------------------------------------------------------------


def test_the_tables_are_those_of_the_code(database: postgres.Database) -> None:
    with inspected(database) as looked:
        for table in rows.metadata.sorted_tables:
            columns = looked.get_columns(table.name, schema="tenure")
            assert {one["name"]: one["nullable"] for one in columns} == {one.name: bool(one.nullable) for one in table.columns}, table.name
            key = [one.name for one in table.primary_key.columns]
            # A number alone is a key in a file; here tenants come first.
            wanted = ["tenant", "n"] if key == ["n"] else key
            assert looked.get_pk_constraint(table.name, schema="tenure")["constrained_columns"] == wanted, table.name
            indexes = {one["name"] for one in looked.get_indexes(table.name, schema="tenure") if "duplicates_constraint" not in one}
            assert indexes == {str(one.name) for one in table.indexes}, table.name


def test_setting_up_is_done_once_and_says_what_it_did() -> None:
    url = postgres.empty_database()
    first, second = set_up(url, role="app_of_this_test"), set_up(url, role="app_of_this_test")
    assert (first.before, first.role_made, bool(first.password)) == ("", True, True)
    assert (second.before, second.now, second.role_made, second.password) == (first.now, first.now, False, "")
    assert f"app_of_this_test:{first.password}@" in first.url
    store = open_postgres(first.url)
    fill_scope(store, "acme/desk", "m")
    assert first.password not in store.url
    store.close()


def test_a_database_that_is_not_set_up_says_what_to_do() -> None:
    name = postgres.empty_database().split("/")[3].partition("?")[0]
    with pytest.raises(StoreError, match=r"is not set up\. Run, with an administrator's address: tenure migrate"):
        open_postgres(postgres.application_url(name))


@pytest.mark.parametrize(
    ("url", "said", "reason"),
    [
        ("postgresql://tenure_app:s3cret@127.0.0.1:1/x", "cannot be reached", "unreachable"),
        ("postgresql://tenure_app:s3cret@{}/nowhere", "does not exist on its server", "no_database"),
        ("postgresql://nobody:s3cret@{}/postgres", "refused the login", "login"),
        ("postgresql://tenure_app:s3cret@127.0.0.1:port:s3cret/x", "cannot be read", ""),
        ("postgresql://tenure_app:pass@s3cret@127.0.0.1/x", "cannot be read", ""),
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_its_password(url: str, said: str, reason: str) -> None:
    host = address(postgres.admin_url()).shown.partition("host=")[2].replace("/", "%2F")
    with pytest.raises(StoreError, match=said) as caught:
        open_postgres(url.format(host) if "{}" in url else url)
    assert "s3cret" not in str(caught.value)
    assert caught.value.reason == reason


def test_a_name_that_no_index_holds_is_refused_by_name(store: PostgresStore) -> None:
    long = "".join(chr(0x4E00 + number) for number in range(5_000))
    with pytest.raises(UnstorableValue, match="a name or an id of so many characters"), store.writing("acme/desk") as work:
        work.keep_run(Run(id=long, task=Task(text="t")), learned=False)
    with store.writing("acme/desk") as work:  # keys that are only compared may be as long as they like
        work.keep_run(Run(id="r1", task=Task(text="t", key=long)), learned=False)
        work.admit(Delta("01", [Add("s", "one", about=long)], key=long))
    with store.reading("acme/desk") as look:
        assert look.key_owner(long) == "01"
        found = look.about(long)
        assert found is not None
        assert [one.id for one in look.runs_like(Run(id="r2", task=Task(text="t", key=long)))] == ["r1"]
        assert look.verify_ledger() == []


# -- turns and trouble ------------------------------------------------------------------------------------


def test_writers_of_two_scopes_do_not_wait_for_each_other(store: PostgresStore) -> None:
    with store.writing("acme/one") as first:
        first.set("mark", "1")
        with store.writing("acme/two") as second:
            second.set("mark", "2")
        with store.reading("acme/one") as look:
            assert look.setting("mark") is None
    with store.reading("acme/one") as look:
        assert look.setting("mark") == "1"


def test_a_reader_sees_one_state_all_along(store: PostgresStore) -> None:
    with store.reading("acme/desk") as look:
        assert look.version() == 0
        with store.writing("acme/desk") as work:
            work.admit(Delta("01", [Add("s", "one")]))
        assert (look.version(), look.lessons()) == (0, [])


def test_a_writer_that_waits_in_vain_says_so(database: postgres.Database) -> None:
    first, second = open_postgres(database.url), open_postgres(database.url, busy_s=0.1)
    with first.writing("acme/desk"), pytest.raises(StoreBusy, match="Nothing was written; try again"), second.writing("acme/desk"):
        pytest.fail("two transactions at once")
    first.close()
    second.close()


def test_a_connection_that_broke_meanwhile_is_replaced_and_one_that_breaks_at_work_is_told(
    database: postgres.Database, store: PostgresStore
) -> None:
    fill_scope(store, "acme/desk", "m")

    def break_all() -> None:
        with admin(database) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tenure_app' AND datname = current_database()"
            )

    break_all()
    before = look_at(store, "acme/desk")

    def write_and_break() -> None:
        with store.writing("acme/desk") as work:
            work.set("mark", "lost")
            break_all()
            work.set("mark", "lost again")

    with pytest.raises(StoreError, match="kept whole or not at all"):
        write_and_break()
    assert look_at(store, "acme/desk") == before


def test_a_transaction_that_failed_inside_is_never_taken_for_done(store: PostgresStore) -> None:

    def go_on_after_a_failure() -> None:
        with store.transaction("acme", turn="t") as connection:
            connection.execute(text("INSERT INTO settings (tenant, scope, name, value) VALUES ('acme', 'acme', 'n', 'v')"))
            with pytest.raises(DBAPIError, match="nowhere"):
                connection.execute(text("SELECT * FROM nowhere"))

    with pytest.raises(StoreError, match="Nothing was written"):
        go_on_after_a_failure()
    with store.reading("acme") as look:
        assert look.setting("n") is None


def test_threads_that_write_at_once_lose_nothing(store: PostgresStore) -> None:
    def add(number: int) -> None:
        for turn in range(5):
            with store.writing("acme/desk") as work:
                work.admit(Delta(f"01-{number}-{turn}", [Add("s", "what everybody finds", evidence=(Evidence(run=f"{number}-{turn}"),))]))
            store.add_spending("acme/desk", "2026-03-15", Usage(calls=1))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading("acme/desk") as look:
        assert (look.version(), look.verify_ledger()) == (30, [])
        assert [lesson.tallies.support for lesson in look.lessons()] == [30]
    assert store.spent("acme/desk").calls == 30


# -- forgetting -------------------------------------------------------------------------------------------

SECRET = "quokkaberry"


def files_with(database: postgres.Database, said: bytes) -> list[str]:
    """Tables, indexes and what the server keeps of statistics, in whose files a text stands."""
    with admin(database) as connection:
        connection.execute("CHECKPOINT")
        (folder,) = connection.execute("SHOW data_directory").fetchone() or ("",)
        found = connection.execute(
            "SELECT oid::regclass::text, pg_relation_filepath(oid) FROM pg_class WHERE pg_relation_filepath(oid) IS NOT NULL"
        )
        return sorted(str(name) for name, path in found if path and said in (Path(str(folder)) / str(path)).read_bytes())


def test_no_file_of_a_table_holds_what_was_forgotten(database: postgres.Database, store: PostgresStore) -> None:
    with store.writing("acme/desk") as work:
        for number in range(3):
            work.keep_run(Run(id=f"r{number}", task=Task(text=f"ask {SECRET} about invoice {number}")), learned=True)
        work.admit(Delta("01", [Add("s", f"call {SECRET} first", evidence=(Evidence(run="r0"),))]))
        work.admit(Delta("02", [Add("s", "what stays")]))
    with admin(database) as connection:
        connection.execute("ANALYZE")
    assert {"tenure.runs", "tenure.runs_words", "tenure.ledger_texts"} <= set(files_with(database, SECRET.encode()))
    with store.writing("acme/desk") as work:
        _forget(work, SECRET)
    assert files_with(database, SECRET.encode()) != []
    done = store.scrub()
    assert (done.done, done.reason) == (True, "")
    assert any("write-ahead log" in one for one in done.beyond)
    assert any("backups" in one for one in done.beyond)
    assert files_with(database, SECRET.encode()) == []
    with store.reading("acme/desk") as look:
        assert look.verify_ledger() == []
        assert [lesson.text for lesson in look.lessons()] == ["what stays"]


def _forget(work: Any, subject: str) -> None:
    from tenure.system import SystemClock, UlidSource

    clock = SystemClock()
    forget(work, Wanted(subjects=(subject,)), author="person:test", at=clock.now(), ids=UlidSource(clock))


def test_what_another_transaction_still_sees_is_not_said_to_be_gone(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.stores.postgres_scrubbing.WAIT_S", 0.1)
    fill_scope(store, "acme/desk", "m")
    with store.reading("acme/desk") as look:
        assert look.run("r1") is not None
        with store.writing("acme/desk") as work:
            work.drop_runs(["r1"])
        done = store.scrub()
        assert not done.done
        assert "table" in done.reason
    assert store.scrub().done


# -- moving -----------------------------------------------------------------------------------------------


def test_everything_moves_from_a_file_and_back(tmp_path: Path, store: PostgresStore) -> None:
    scopes = ["acme/desk", "acme/desk/below", "globex/desk"]
    first, last = open_sqlite(f"sqlite:///{tmp_path / 'first.db'}"), open_sqlite(f"sqlite:///{tmp_path / 'last.db'}")
    for scope in scopes:
        fill_scope(first, scope, f"zürich \x00 {scope}")
    for source, target in ((first, store), (store, last)):
        done = copy(source, target)
        assert done.problems == {}
        assert done.scopes == dict.fromkeys(scopes, 1)
        for scope in scopes:
            assert look_at(target, scope) == look_at(source, scope)
            assert target.spent(scope) == source.spent(scope)
            with source.reading(scope) as there, target.reading(scope) as here:
                for asked in ("smallest", "zurich", "prices", "third"):
                    assert here.search(asked, limit=9) == there.search(asked, limit=9)
                    assert here.cases_like(asked, limit=9) == there.cases_like(asked, limit=9)
                assert here.nearest((1.0, 0.0), model="m").hits[0].id == there.nearest((1.0, 0.0), model="m").hits[0].id
                assert here.memory_texts() == there.memory_texts()
    with store.writing("acme/desk") as work:  # what goes on there is a chain of its own
        work.admit(Delta("02", [Add("s", "later")]))
    with store.reading("acme/desk") as look:
        assert look.verify_ledger() == []
    first.close()
    last.close()


def test_nothing_moves_to_where_something_is(tmp_path: Path, store: PostgresStore) -> None:
    first = open_sqlite(f"sqlite:///{tmp_path / 'first.db'}")
    for scope in ("acme/desk", "globex/desk"):
        fill_scope(first, scope, "m")
    fill_scope(store, "globex/desk", "theirs")
    before = look_at(store, "globex/desk")
    with pytest.raises(StoreError, match=r"has something in 1 of these scopes already, such as 'globex/desk'\. Nothing was copied"):
        copy(first, store)
    assert store.scopes() == ["globex/desk"]
    assert look_at(store, "globex/desk") == before
    first.close()


# -- kill -9 ----------------------------------------------------------------------------------------------


def test_a_killed_writer_loses_nothing_that_it_acknowledged(database: postgres.Database) -> None:
    chance = random.Random(7)
    acknowledged: set[str] = set()
    for number in range(6):
        with at_once(("learn", database.url, f"w{number:03}", "0")) as (process,):
            first = [process.wait_for_a_line()]
            time.sleep(chance.uniform(0.0, 0.3))
            acknowledged |= {line for line in first + process.kill() if line.startswith(("run ", "delta "))}
    store = open_postgres(database.url)
    with store.reading(SCOPE) as look:
        entries, runs = look.ledger(), set(look.run_ids())
        assert acknowledged <= {f"delta {entry.delta.id}" for entry in entries} | {f"run {run}" for run in runs}
        assert {entry.delta.key for entry in entries} == runs
        assert look.verify_ledger() == []
    store.close()
