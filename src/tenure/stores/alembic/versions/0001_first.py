"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "cores",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", name=op.f("pk_cores")),
    )
    op.create_table(
        "exposures",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("lesson_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "run_id", "lesson_id", "role", name=op.f("pk_exposures")),
    )
    op.create_index(op.f("ix_exposures_tenant_scope_lesson_id"), "exposures", ["tenant", "scope", "lesson_id"], unique=False)
    op.create_table(
        "failed_replies",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "id", name=op.f("pk_failed_replies")),
    )
    op.create_table(
        "held",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "id", name=op.f("pk_held")),
    )
    op.create_index(op.f("ix_held_tenant_scope_state"), "held", ["tenant", "scope", "state"], unique=False)
    op.create_table(
        "installation",
        sa.Column("writer", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("writer", name=op.f("pk_installation")),
    )
    op.create_table(
        "ledger",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("writer", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("delta_id", sa.Text(), nullable=False),
        sa.Column("delta_key", sa.Text(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("recorded", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "version", name=op.f("pk_ledger")),
        sa.UniqueConstraint("tenant", "scope", "delta_id", name=op.f("uq_ledger_tenant_scope_delta_id")),
        sa.UniqueConstraint("tenant", "scope", "delta_key", name=op.f("uq_ledger_tenant_scope_delta_key")),
        sa.UniqueConstraint("tenant", "scope", "writer", "seq", name=op.f("uq_ledger_tenant_scope_writer_seq")),
    )
    op.create_table(
        "ledger_heads",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("writer", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "writer", name=op.f("pk_ledger_heads")),
    )
    op.create_table(
        "ledger_texts",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "digest", name=op.f("pk_ledger_texts")),
    )
    op.create_index(op.f("ix_ledger_texts_tenant_scope_version"), "ledger_texts", ["tenant", "scope", "version"], unique=False)
    op.create_table(
        "lessons",
        sa.Column("n", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("came", sa.Integer(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("updated", sa.Text(), nullable=False),
        sa.Column("helpful", sa.Integer(), nullable=False),
        sa.Column("harmful", sa.Integer(), nullable=False),
        sa.Column("neutral", sa.Integer(), nullable=False),
        sa.Column("support", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("n", name=op.f("pk_lessons")),
        sa.UniqueConstraint("tenant", "scope", "id", name=op.f("uq_lessons_tenant_scope_id")),
    )
    op.create_index(op.f("ix_lessons_tenant_scope_about"), "lessons", ["tenant", "scope", "about"], unique=False)
    op.create_index(op.f("ix_lessons_tenant_scope_came"), "lessons", ["tenant", "scope", "came"], unique=False)
    op.create_index(op.f("ix_lessons_tenant_scope_status"), "lessons", ["tenant", "scope", "status"], unique=False)
    op.create_table(
        "records",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("group_key", sa.Text(), nullable=True),
        sa.Column("imported", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("delta_id", sa.Text(), nullable=True),
        sa.Column("points_to", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "scope", "key", name=op.f("pk_records")),
    )
    op.create_index(op.f("ix_records_tenant_scope_group_key"), "records", ["tenant", "scope", "group_key"], unique=False)
    op.create_index(op.f("ix_records_tenant_scope_points_to"), "records", ["tenant", "scope", "points_to"], unique=False)
    op.create_table(
        "runs",
        sa.Column("n", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("arrived", sa.Integer(), nullable=False),
        sa.Column("task_key", sa.Text(), nullable=False),
        sa.Column("task_kind", sa.Text(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=True),
        sa.Column("finished", sa.Boolean(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("learned", sa.Integer(), nullable=True),
        sa.Column("tools", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("n", name=op.f("pk_runs")),
        sa.UniqueConstraint("tenant", "scope", "id", name=op.f("uq_runs_tenant_scope_id")),
    )
    op.create_index(op.f("ix_runs_tenant_scope_arrived"), "runs", ["tenant", "scope", "arrived"], unique=False)
    op.create_index(op.f("ix_runs_tenant_scope_task_key"), "runs", ["tenant", "scope", "task_key"], unique=False)
    op.create_table(
        "scopes",
        sa.Column("n", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("n", name=op.f("pk_scopes")),
        sa.UniqueConstraint("tenant", "scope", name=op.f("uq_scopes_tenant_scope")),
    )
    op.create_table(
        "settings",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "name", name=op.f("pk_settings")),
    )
    op.create_table(
        "sources",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("lesson_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "run_id", "lesson_id", name=op.f("pk_sources")),
    )
    op.create_table(
        "spending",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cached_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Text(), nullable=False),
        sa.Column("priced", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "day", name=op.f("pk_spending")),
    )
    op.create_table(
        "steps",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "run_id", "place", name=op.f("pk_steps")),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE lessons_words USING fts5(wall, said, asked, tokenize='porter unicode61')")
        op.execute("CREATE VIRTUAL TABLE runs_words USING fts5(wall, asked, tokenize='porter unicode61')")
