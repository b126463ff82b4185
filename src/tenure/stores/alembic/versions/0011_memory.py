"""The memory tree: raw entries with their text index, nodes, and the small texts of the first layer."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the tables; there is nothing to fill them with."""
    wall = ["tenant", "scope"]

    def own() -> "list[sa.Column[str]]":
        return [sa.Column(name, sa.Text(), nullable=False) for name in wall]

    op.create_table(
        "memory_entries",
        sa.Column("n", sa.Integer(), primary_key=True, autoincrement=True),
        *own(),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("event", sa.Text()),
        sa.Column("body", sa.Text(), nullable=False),
        sa.UniqueConstraint(*wall, "id", name=op.f("uq_memory_entries_tenant_scope_id")),
        sa.UniqueConstraint(*wall, "event", name=op.f("uq_memory_entries_tenant_scope_event")),
    )
    op.create_index("ix_memory_entries_day", "memory_entries", [*wall, "day", "at", "id"], unique=False)
    op.create_table(
        "memory_nodes",
        *own(),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("stale", sa.Boolean(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint(*wall, "kind", "key", name=op.f("pk_memory_nodes")),
    )
    op.create_index("ix_memory_nodes_stale", "memory_nodes", [*wall, "stale"], unique=False)
    op.create_table(
        "memory_files",
        *own(),
        sa.Column("layer", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint(*wall, "layer", "name", name=op.f("pk_memory_files")),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE memory_words USING fts5(wall, said, tokenize='porter unicode61')")
