"""Workers of the service that are alive, and runs whose verdict came late and waits to be learned from."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0014"


def upgrade() -> None:
    """Add the table and the column. Verdicts that are there were learned from: they came with a report that was learned at once."""
    op.add_column("runs", sa.Column("verdict_learned", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.create_table(
        "workers",
        sa.Column("executor", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("process", sa.Integer(), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("started", sa.Float(), nullable=False),
        sa.Column("seen", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("executor", name=op.f("pk_workers")),
    )
    op.create_table(
        "turns",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("taken", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_turns")),
    )
