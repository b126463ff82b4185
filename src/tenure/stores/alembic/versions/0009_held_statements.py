"""What held lessons and changes say, by key, so that those who say the same find them."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the table, and look at what is held already."""
    from tenure.playbook.statements import proposal_key, statement_key
    from tenure.stores import codec

    table = op.create_table(
        "held_statements",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("says", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "says", "id", name=op.f("pk_held_statements")),
    )
    op.create_index(op.f("ix_held_statements_tenant_scope_id"), "held_statements", ["tenant", "scope", "id"], unique=False)
    connection = op.get_bind()
    lessons = connection.execute(sa.text("SELECT tenant, scope, id, body FROM lessons WHERE status = 'held'")).all()
    changes = connection.execute(sa.text("SELECT tenant, scope, id, body FROM held WHERE state = 'open'")).all()
    found = [(tenant, scope, one, statement_key(codec.lesson_from_json(body))) for tenant, scope, one, body in lessons]
    found += [(tenant, scope, one, proposal_key(codec.held_from_json(body).operation)) for tenant, scope, one, body in changes]
    new = [{"tenant": tenant, "scope": scope, "id": one, "says": key} for tenant, scope, one, key in found if key]
    if new:
        connection.execute(table.insert(), new)
