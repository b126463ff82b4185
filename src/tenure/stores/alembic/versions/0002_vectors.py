"""Vectors of lessons and runs, by model."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table of vectors; it is filled when an embedder is first used."""
    op.create_table(
        "vectors",
        sa.Column("n", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("n", name=op.f("pk_vectors")),
        sa.UniqueConstraint("tenant", "scope", "kind", "id", "model", name=op.f("uq_vectors_tenant_scope_kind_id_model")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_vectors_tenant_scope_kind_model_dimension_n"),
        "vectors",
        ["tenant", "scope", "kind", "model", "dimension", "n"],
        unique=False,
    )
