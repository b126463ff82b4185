"""Draws: for which lessons chance decided in a run, and how that run ended."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the table; no run before it has a draw."""
    op.create_table(
        "draws",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("lesson_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("chance", sa.Float(), nullable=False),
        sa.Column("withheld", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "scope", "lesson_id", "run_id", name=op.f("pk_draws")),
    )
    op.create_index("ix_draws_run", "draws", ["tenant", "scope", "run_id"], unique=False)
