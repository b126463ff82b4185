"""A database of an earlier schema is brought up to date without losing anything."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tenure import Add, Delta, Evidence, Retire, Run, Task
from tenure.playbook.run import Origin
from tenure.stores.migrations import HEAD
from tenure.stores.sqlite import open_sqlite

BEFORE_FORGETTING = """
DROP TABLE forgotten_runs;
DROP INDEX ix_runs_tenant_scope_origin;
ALTER TABLE runs DROP COLUMN origin;
ALTER TABLE runs DROP COLUMN revoked;
ALTER TABLE runs DROP COLUMN verdict_learned;
DROP INDEX ix_ledger_tenant_scope_delta_id;
DROP INDEX ix_ledger_tenant_scope_delta_key;
ALTER TABLE ledger RENAME TO shared;
CREATE TABLE ledger (tenant TEXT NOT NULL, scope TEXT NOT NULL, version INTEGER NOT NULL, writer TEXT NOT NULL, seq INTEGER NOT NULL,
    delta_id TEXT NOT NULL, delta_key TEXT, payload TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL, recorded TEXT NOT NULL,
    CONSTRAINT pk_ledger PRIMARY KEY (tenant, scope, version),
    CONSTRAINT uq_ledger_tenant_scope_delta_id UNIQUE (tenant, scope, delta_id),
    CONSTRAINT uq_ledger_tenant_scope_delta_key UNIQUE (tenant, scope, delta_key),
    CONSTRAINT uq_ledger_tenant_scope_writer_seq UNIQUE (tenant, scope, writer, seq));
INSERT INTO ledger SELECT tenant, scope, version, writer, seq, delta_id, delta_key, payload, previous, digest, recorded FROM shared;
DROP TABLE shared;
ALTER TABLE scopes DROP COLUMN merged;
ALTER TABLE scopes DROP COLUMN cases;
ALTER TABLE installation DROP COLUMN unscrubbed;
"""

SINCE_MEMORY = (
    "memory_entries",
    "memory_nodes",
    "memory_files",
    "memory_words",
    "api_keys",
    "audit",
    "kept_replies",
    "workers",
    "turns",
    "conversations",
    "conversation_replies",
    "prompt_generations",
    "web_sessions",
)

OLD_TEXTS = f"""
{BEFORE_FORGETTING}
ALTER TABLE ledger_texts RENAME TO newer;
CREATE TABLE ledger_texts (tenant TEXT NOT NULL, scope TEXT NOT NULL, digest TEXT NOT NULL, version INTEGER NOT NULL, salt TEXT NOT NULL,
    text TEXT NOT NULL, CONSTRAINT pk_ledger_texts PRIMARY KEY (tenant, scope, digest));
INSERT INTO ledger_texts SELECT tenant, scope, digest, version, salt, text FROM newer ORDER BY digest;
DROP TABLE newer;
CREATE INDEX ix_ledger_texts_tenant_scope_version ON ledger_texts (tenant, scope, version);
"""


def test_sizes_are_counted_from_the_lessons_of_an_earlier_schema(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    store = open_sqlite(url)
    with store.writing("local/a") as work:
        work.admit(Delta("01", [Add("s", "one", id="a-1"), Add("s", "two", id="a-2"), Add("t", "three", id="a-3")]))
        work.admit(Delta("02", [Retire("a-2")]))
    with store.reading("local/a") as look:
        before = dict(look.sizes())
    store.close()
    connection = sqlite3.connect(tmp_path / "book.db")
    since = ("draws", "labels", "grades", "beliefs", "noise", "postponed", "held_statements")
    for gone in ("sizes", "observations", "aggregates", "sums", *since, *SINCE_MEMORY):
        connection.execute(f"DROP TABLE {gone}")
    connection.executescript(OLD_TEXTS + "DROP INDEX ix_lessons_support; UPDATE alembic_version SET version_num = '0002';")
    connection.close()
    store = open_sqlite(url)
    with store.reading("local/a") as look:
        assert dict(look.sizes()) == before
        assert before["s"][0] == 1
    store.close()
    connection = sqlite3.connect(tmp_path / "book.db")
    assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
    assert ("ix_lessons_support",) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall()
    connection.close()


OLD_WORDS = """
DROP TABLE api_keys;
DROP TABLE audit;
DROP TABLE kept_replies;
DROP TABLE conversations;
DROP TABLE conversation_replies;
DROP TABLE prompt_generations;
DROP TABLE workers;
DROP TABLE turns;
DROP TABLE web_sessions;
DROP TABLE memory_entries;
DROP TABLE memory_nodes;
DROP TABLE memory_files;
DROP TABLE memory_words;
DROP TABLE held_statements;
DROP TABLE observations;
DROP TABLE labels;
DROP TABLE grades;
DROP TABLE beliefs;
DROP TABLE noise;
DROP TABLE aggregates;
DROP TABLE sums;
DROP TABLE draws;
DROP TABLE postponed;
DROP TABLE lessons_words;
DROP TABLE runs_words;
CREATE VIRTUAL TABLE lessons_words USING fts5(wall, said, asked, tokenize='porter unicode61');
CREATE VIRTUAL TABLE runs_words USING fts5(wall, asked, tokenize='porter unicode61');
INSERT INTO lessons_words (rowid, wall, said, asked) SELECT n, 'wall1', 'build the c part', '' FROM lessons;
UPDATE alembic_version SET version_num = '0003';
"""


def test_words_and_identifiers_are_indexed_anew_from_the_rows_of_an_earlier_schema(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    questions = (
        "C++",
        "Zurich",
        "umbrellas",
        "汇率",
        "dunning letters",
        "--force",
        "retired",
        "theirs",
        "汇",
        "चालान",
        "databases",
        "🚀",
        "שלום",
    )
    store = open_sqlite(url)
    for number in range(2):
        scope = f"local/{number}"
        with store.writing(scope) as work:
            work.keep_run(Run(id="r1", task=Task(text="dunning letters with --force")), learned=True)
            work.keep_run(Run(id="r2", task=Task(text="按开票日汇率换算")), learned=True)
            work.admit(
                Delta(
                    f"0{number}",
                    [
                        Add("s", "Build the C++ part", id="a-1", evidence=(Evidence(run="r1", step=3), Evidence(run="gone"))),
                        Add("s", "Parcels for Zürich", id="a-2", applies_when="umbrellas, databases 🚀", avoid="多币种发票 चालान שָׁלוֹם"),
                        Add("s", "retired", id="a-3"),
                        *([Add("s", "theirs", id="a-4")] if number else []),
                    ],
                )
            )
            work.admit(Delta(f"1{number}", [Retire("a-3")]))

    def seen() -> list[tuple[object, object]]:
        with store.reading("local/0") as look:
            return [(look.search(one, limit=9), look.cases_like(one, limit=9)) for one in questions]

    before = seen()
    assert [one for one, (lessons, cases) in zip(questions, before, strict=True) if not lessons and not cases] == ["retired", "theirs"]
    store.close()
    connection = sqlite3.connect(tmp_path / "book.db")
    connection.executescript(OLD_TEXTS)
    held = "SELECT rowid, * FROM {}_words ORDER BY rowid"
    rows = [connection.execute(held.format(table)).fetchall() for table in ("lessons", "runs")]
    connection.executescript(OLD_WORDS)
    connection.close()
    store = open_sqlite(url)
    assert seen() == before
    store.close()
    connection = sqlite3.connect(tmp_path / "book.db")
    assert [connection.execute(held.format(table)).fetchall() for table in ("lessons", "runs")] == rows
    connection.close()


def test_origins_and_the_number_of_cases_are_read_off_the_runs_of_an_earlier_schema(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    store = open_sqlite(url)
    theirs = Origin(principal="mallory", channel="web", document="a", trusted=False)
    for scope, count in (("local/a", 3), ("local/b", 1)):
        with store.writing(scope) as work:
            for number in range(count):
                work.keep_run(Run(id=f"r{number}", task=Task(text="dunning letters"), origin=theirs if number else Origin()), learned=True)

    def seen() -> list[object]:
        found: list[object] = []
        for scope in ("local/a", "local/b"):
            with store.reading(scope) as look:
                found.append((look.origins(), look.cases_like("letters", limit=9), look.run_ids(), look.playbook()))
        return found

    before = seen()
    store.close()
    connection = sqlite3.connect(tmp_path / "book.db")
    later = "".join(f"DROP TABLE {gone};" for gone in ("draws", "postponed", "held_statements", *SINCE_MEMORY))
    connection.executescript(f"{later}{BEFORE_FORGETTING}UPDATE alembic_version SET version_num = '0006';")
    connection.close()
    store = open_sqlite(url)
    assert seen() == before
    store.close()


def test_texts_of_the_ledger_are_kept_under_their_version_with_every_byte_of_an_earlier_schema(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    store = open_sqlite(url)
    for number, scope in enumerate(("local/a", "local/b")):
        for delta in range(3):
            with store.writing(scope) as work:
                work.admit(Delta(f"{number}{delta}", [Add("s", f"text {place} of {delta}\n汇率 \x01") for place in range(4)]))

    def seen() -> list[object]:
        found: list[object] = []
        for scope in ("local/a", "local/b"):
            with store.reading(scope) as look:
                assert look.verify_ledger() == []
                found.append((look.ledger(), look.ledger(after=1, limit=1)))
        return found

    before = seen()
    store.close()
    every = "SELECT tenant, scope, version, digest, salt, text FROM ledger_texts ORDER BY digest"
    of_texts = "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'ledger_texts'"
    connection = sqlite3.connect(tmp_path / "book.db")
    rows, made = connection.execute(every).fetchall(), connection.execute(of_texts).fetchall()
    connection.executescript(OLD_TEXTS + OLD_WORDS)
    connection.close()
    store = open_sqlite(url)
    assert seen() == before
    store.close()
    connection = sqlite3.connect(tmp_path / "book.db")
    assert connection.execute(every).fetchall() == rows
    assert connection.execute(of_texts).fetchall() == made, "an upgraded file has the same tables as a new one"
    assert [name for name, _ in made] == ["ledger_texts", "sqlite_autoindex_ledger_texts_1"]
    connection.close()
