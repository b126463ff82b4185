"""Labels of kept runs, grades of lessons by replay, and what they amount to."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def _table(name: str, *columns: "sa.Column[object] | sa.PrimaryKeyConstraint") -> sa.Table:
    wall = (sa.Column("tenant", sa.Text(), nullable=False), sa.Column("scope", sa.Text(), nullable=False))
    return op.create_table(name, *wall, *columns)


def upgrade() -> None:
    """Add the tables; the labels of runs that are there are read off their rows, grades come with the next runs."""
    labels = _table(
        "labels",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("reliability", sa.Text(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "run_id", name=op.f("pk_labels")),
    )
    op.create_index(op.f("ix_labels_tenant_scope_place"), "labels", ["tenant", "scope", "place"], unique=False)
    _table(
        "grades",
        sa.Column("lesson_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("reliability", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("wording", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "lesson_id", "run_id", name=op.f("pk_grades")),
    )
    op.create_index(op.f("ix_grades_tenant_scope_run_id"), "grades", ["tenant", "scope", "run_id"], unique=False)
    _table(
        "beliefs",
        sa.Column("lesson_id", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("times_right", sa.Integer(), nullable=False),
        sa.Column("times_wrong", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "lesson_id", name=op.f("pk_beliefs")),
    )
    _table("noise", sa.Column("body", sa.Text(), nullable=False), sa.PrimaryKeyConstraint("tenant", "scope", name=op.f("pk_noise")))
    connection = op.get_bind()
    for tenant, scope, run_id, place, body in connection.execute(sa.text("SELECT tenant, scope, id, arrived, body FROM runs")):
        run = json.loads(body)
        outcome = run.get("outcome", {})
        if outcome.get("expected"):
            honest = outcome.get("signal") in ("test", "environment", "label", "human")
            counts = honest and run.get("origin", {}).get("trusted", True)
            row = {"tenant": tenant, "scope": scope, "run_id": run_id, "place": place, "text": run["task"]["text"]}
            reliability = repr(float(outcome.get("reliability") or 0.0))
            connection.execute(sa.insert(labels).values(**row, answer=outcome["expected"], reliability=reliability, counts=counts))
