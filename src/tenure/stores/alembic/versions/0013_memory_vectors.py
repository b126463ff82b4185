"""Vectors of the memory: entries say which session they are of, and whether of a person, without their JSON being read."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the columns, fill them from what is kept of the entries, and put them into the index of days."""
    op.add_column("memory_entries", sa.Column("session", sa.Text(), nullable=False, server_default=""))
    op.add_column("memory_entries", sa.Column("own", sa.Boolean(), nullable=False, server_default=sa.true()))
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "UPDATE memory_entries SET session = json_extract(body, '$.session'), own = json_extract(body, '$.role') IN ('user', '')"
        )
    op.drop_index("ix_memory_entries_day", table_name="memory_entries")
    columns = ["tenant", "scope", "day", "at", "id", "session", "own"]
    op.create_index("ix_memory_entries_day", "memory_entries", columns, unique=False)
