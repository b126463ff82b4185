"""What a service keeps of a tenant: API keys, the audit, replies that are given again."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "api_keys",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("expires", sa.Text(), nullable=False),
        sa.Column("revoked", sa.Text(), nullable=False),
        sa.Column("rate", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_api_keys")),
    )
    op.create_table(
        "audit",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("act", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_audit")),
    )
    op.create_table(
        "kept_replies",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key", name=op.f("pk_kept_replies")),
    )
    op.create_index(op.f("ix_kept_replies_tenant_at"), "kept_replies", ["tenant", "at"], unique=False)
