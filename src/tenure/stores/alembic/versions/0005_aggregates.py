"""Observations of numbers and inventories, and the running sums of their aggregates."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def _table(name: str, *columns: "sa.Column[object] | sa.PrimaryKeyConstraint") -> None:
    op.create_table(name, sa.Column("tenant", sa.Text(), nullable=False), sa.Column("scope", sa.Text(), nullable=False), *columns)


def upgrade() -> None:
    """Add the tables; there is nothing to fill them with."""
    _table(
        "observations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("aggregate", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.Column("amount", sa.Text(), nullable=False),
        sa.Column("moment", sa.Text(), nullable=False),
        sa.Column("delta_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "id", name=op.f("pk_observations")),
    )
    row = ["tenant", "scope", "aggregate", "unit", "key", "counts"]
    op.create_index("ix_observations_amount", "observations", [*row, "amount"], unique=False)
    op.create_index("ix_observations_last", "observations", [*row, "moment", "delta_id", "step", "id"], unique=False)
    op.create_index("ix_observations_run", "observations", ["tenant", "scope", "run_id"], unique=False)
    op.create_index("ix_observations_origin", "observations", ["tenant", "scope", "origin"], unique=False)
    _table(
        "aggregates",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "id", name=op.f("pk_aggregates")),
    )
    _table(
        "sums",
        sa.Column("aggregate", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("total", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "aggregate", "unit", "key", name=op.f("pk_sums")),
    )
    op.create_index("ix_sums_count", "sums", ["tenant", "scope", "aggregate", sa.text("count DESC"), "key", "unit"], unique=False)
