"""What forgetting and revoking need: who reported a run, whether it was revoked, how many count, and which were forgotten."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_AT_ONCE = 500
_UNTRUSTED = " (untrusted)"  # as in tenure.playbook.run when this was written


def upgrade() -> None:
    """Add the columns and the table; fill in what runs say of themselves."""
    op.add_column("installation", sa.Column("unscrubbed", sa.Text(), nullable=False, server_default=""))
    op.add_column("scopes", sa.Column("cases", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("ledger", sa.Column("effective", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.add_column("runs", sa.Column("origin", sa.Text(), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("revoked", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index(op.f("ix_runs_tenant_scope_origin"), "runs", ["tenant", "scope", "origin"])
    op.create_table(
        "forgotten_runs",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "digest", name=op.f("pk_forgotten_runs")),
    )
    _name_origins(op.get_bind())
    op.execute("UPDATE scopes SET cases = (SELECT count(*) FROM runs WHERE runs.tenant = scopes.tenant AND runs.scope = scopes.scope)")


def _name_origins(connection: sa.Connection) -> None:
    wanted = sa.text("SELECT n, body FROM runs WHERE n > :after ORDER BY n LIMIT :most")
    change = sa.text("UPDATE runs SET origin = :origin WHERE n = :n")
    after = 0
    while found := connection.execute(wanted, {"after": after, "most": _AT_ONCE}).all():
        connection.execute(change, [{"n": n, "origin": _name(json.loads(body).get("origin", {}))} for n, body in found])
        after = found[-1].n


def _name(origin: dict[str, object]) -> str:
    parts = (origin.get("principal", "local"), origin.get("channel", "api"), origin.get("document", ""))
    return "/".join(str(part) for part in parts if part) + ("" if origin.get("trusted", True) else _UNTRUSTED)
