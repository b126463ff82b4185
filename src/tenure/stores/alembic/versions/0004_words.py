"""The text index made anew from lessons and runs: folded words, and identifiers as they stand in a column of marks.

And the texts of the ledger under their version first, so that those of one delta stand together: by digest alone, each
was written to a page of its own.
"""

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from tenure.terms import identifiers, indexed_words

revision = "0004"
down_revision = "0003"

_AT_ONCE = 500
# Ends each identifier; it and the sizes below are as in tenure.stores.weighing when this was written.
_END = "\ue000"
_SOURCE_TASKS, _SOURCE_CHARACTERS, _TASK_CHARACTERS = 8, 2_000, 4_000


def upgrade() -> None:
    """Give the ledger's texts their new key; make the index again and fill it."""
    connection = op.get_bind()
    _key_texts_by_version(connection.dialect.name)
    if connection.dialect.name != "sqlite":
        return
    for table in ("lessons", "runs"):
        op.execute(f"DROP TABLE {table}_words")
        op.execute(f"CREATE VIRTUAL TABLE {table}_words USING fts5(wall, said, asked, marks, tokenize='porter unicode61')")
    _fill(connection, "runs", _runs(connection))
    _fill(connection, "lessons", _lessons(connection))


def _key_texts_by_version(database: str) -> None:
    name, key = "ledger_texts", ["tenant", "scope", "version", "digest"]
    op.drop_index(op.f("ix_ledger_texts_tenant_scope_version"), table_name=name)
    if database != "sqlite":
        op.drop_constraint(op.f("pk_ledger_texts"), name, type_="primary")
        op.create_primary_key(op.f("pk_ledger_texts"), name, key)
        return
    # SQLite cannot change a key: the table is made again.
    op.create_table(
        "ledger_texts_by_version",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint(*key, name=op.f("pk_ledger_texts")),
    )
    columns = "tenant, scope, digest, version, salt, text"
    op.execute(f"INSERT INTO ledger_texts_by_version ({columns}) SELECT {columns} FROM {name} ORDER BY {', '.join(key)}")
    op.drop_table(name)
    op.rename_table("ledger_texts_by_version", name)


def _fill(connection: sa.Connection, table: str, found: Iterator[dict[str, object]]) -> None:
    put = sa.text(f"INSERT INTO {table}_words (rowid, wall, said, asked, marks) VALUES (:row, :wall, :said, :asked, :marks)")
    portion: list[dict[str, object]] = []
    for one in found:
        portion.append(one)
        if len(portion) == _AT_ONCE:
            connection.execute(put, portion)
            portion = []
    if portion:
        connection.execute(put, portion)


def _rows(connection: sa.Connection, table: str, live: str = "") -> Iterator[Any]:
    """Rows with the number of their scope, a portion at a time."""
    wanted = sa.text(
        f"SELECT t.n, s.n AS wall, t.tenant, t.scope, t.body FROM {table} AS t "
        f"JOIN scopes AS s ON s.tenant = t.tenant AND s.scope = t.scope WHERE t.n > :after {live} ORDER BY t.n LIMIT :most"
    )
    after = 0
    while found := connection.execute(wanted, {"after": after, "most": _AT_ONCE}).all():
        yield from found
        after = found[-1].n


def _runs(connection: sa.Connection) -> Iterator[dict[str, object]]:
    for row in _rows(connection, "runs"):
        asked = str(json.loads(row.body)["task"]["text"])[:_TASK_CHARACTERS]
        yield {"row": row.n, "wall": f"wall{row.wall}", "said": _words(asked), "asked": "", "marks": _marks(asked)}


def _lessons(connection: sa.Connection) -> Iterator[dict[str, object]]:
    task = sa.text("SELECT body FROM runs WHERE tenant = :tenant AND scope = :scope AND id = :id")
    for row in _rows(connection, "lessons", "AND t.status IN ('provisional', 'active')"):
        lesson = json.loads(row.body)
        own = f"{lesson['text']}\n{lesson.get('applies_when', '')}\n{lesson.get('avoid', '')}"
        tasks: list[str] = []
        for run in list(dict.fromkeys(place[0] for place in lesson.get("evidence", ())))[:_SOURCE_TASKS]:
            body = connection.execute(task, {"tenant": row.tenant, "scope": row.scope, "id": run}).scalar()
            if body is not None:
                tasks.append(str(json.loads(body)["task"]["text"])[:_SOURCE_CHARACTERS])
        asked = "\n".join(tasks)
        yield {
            "row": row.n,
            "wall": f"wall{row.wall}",
            "said": _words(own),
            "asked": f"{_words(asked)} {_marks(asked)}".strip(),
            "marks": _marks(own),
        }


def _words(text: str) -> str:
    return " ".join(indexed_words(text))


def _marks(text: str) -> str:
    return " ".join(name + _END for name in identifiers(text))
