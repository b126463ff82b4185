"""Runs whose reflection by a model was put off."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the table. What failed before was kept as replies alone, and stays there."""
    op.create_table(
        "postponed",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("barrier", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("moment", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "run_id", name=op.f("pk_postponed")),
    )
    op.create_index("ix_postponed_moment", "postponed", ["tenant", "scope", "moment"], unique=False)
