"""Sizes of sections kept beside the lessons, and the order of support in an index, so that cost stays flat as a playbook grows."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table, fill it from the lessons that are there, and add the index."""
    op.create_table(
        "sizes",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("lessons", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "section", name=op.f("pk_sizes")),
    )
    op.execute(
        "INSERT INTO sizes (tenant, scope, section, lessons, tokens) SELECT tenant, scope, section, count(*), sum(tokens) FROM lessons "
        "WHERE status IN ('provisional', 'active') GROUP BY tenant, scope, section"
    )
    op.create_index("ix_lessons_support", "lessons", ["tenant", "scope", sa.text("support DESC"), "id"], unique=False)
