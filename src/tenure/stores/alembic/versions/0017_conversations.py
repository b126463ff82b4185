"""Conversations of the proxy: what was added to each, the replies that go on from them, and which generation of prompts is today's."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "conversations",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("core", sa.Text(), nullable=False),
        sa.Column("recall", sa.Text(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("begun", sa.Text(), nullable=False),
        sa.Column("used", sa.Text(), nullable=False),
        sa.Column("ended", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_conversations")),
    )
    op.create_index(op.f("ix_conversations_tenant_run"), "conversations", ["tenant", "run"], unique=False)
    op.create_index(op.f("ix_conversations_tenant_used"), "conversations", ["tenant", "used"], unique=False)
    op.create_table(
        "conversation_replies",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("reply", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "reply", name=op.f("pk_conversation_replies")),
    )
    op.create_index(op.f("ix_conversation_replies_tenant_conversation"), "conversation_replies", ["tenant", "conversation"], unique=False)
    op.create_table(
        "prompt_generations",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", name=op.f("pk_prompt_generations")),
    )
