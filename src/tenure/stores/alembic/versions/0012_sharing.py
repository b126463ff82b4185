"""Shared ledgers: two installations can hold the same delta or its key, each in a chain of its own, and only one of them counts.

So ids and keys of deltas are unique no more; rows that came from another installation say so, for their versions are
counted there; and a scope knows up to which version its deltas count in the order of their ids.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_COLUMNS = "tenant scope version writer seq delta_id delta_key payload previous digest recorded effective".split()


def upgrade() -> None:
    """Add the columns, and make the table of the ledger anew without the two constraints."""
    wall = ["tenant", "scope"]
    op.add_column("scopes", sa.Column("merged", sa.Integer(), nullable=False, server_default="0"))
    if op.get_bind().dialect.name == "sqlite":
        _make_anew(wall)
    else:
        op.add_column("ledger", sa.Column("imported", sa.Boolean(), nullable=False, server_default=sa.false()))
        op.drop_constraint(op.f("uq_ledger_tenant_scope_delta_id"), "ledger", type_="unique")
        op.drop_constraint(op.f("uq_ledger_tenant_scope_delta_key"), "ledger", type_="unique")
    op.create_index(op.f("ix_ledger_tenant_scope_delta_id"), "ledger", [*wall, "delta_id"], unique=False)
    op.create_index(op.f("ix_ledger_tenant_scope_delta_key"), "ledger", [*wall, "delta_key"], unique=False)


def _make_anew(wall: list[str]) -> None:
    op.create_table(
        "ledger_shared",
        *(sa.Column(name, sa.Text(), nullable=False) for name in wall),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("writer", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("delta_id", sa.Text(), nullable=False),
        sa.Column("delta_key", sa.Text(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("recorded", sa.Text(), nullable=False),
        sa.Column("effective", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("imported", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint(*wall, "version", name=op.f("pk_ledger")),
        sa.UniqueConstraint(*wall, "writer", "seq", name=op.f("uq_ledger_tenant_scope_writer_seq")),
    )
    columns = ", ".join(_COLUMNS)
    op.execute(f"INSERT INTO ledger_shared ({columns}) SELECT {columns} FROM ledger ORDER BY tenant, scope, version")
    op.drop_table("ledger")
    op.rename_table("ledger_shared", "ledger")
