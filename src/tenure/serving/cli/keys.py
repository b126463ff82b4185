"""`tenure keys`: API keys of the service, made, listed and revoked."""

from __future__ import annotations

import importlib.util
import shlex
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import MissingExtra, UserError
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, local_time
from tenure.serving.cli.request import OK, Request, person
from tenure.serving.cli.verbs import add_group, add_verb
from tenure.stores.scopes import check_tenant

if TYPE_CHECKING:
    from tenure.governance.access import ApiKey
    from tenure.wiring import Tenure


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    group = add_group(
        app,
        "keys",
        "API keys of the service: who may do what, and where.",
        "tenure keys create --role admin",
        "tenure keys",
        default=list_keys,
    )
    add_verb(
        group,
        "create",
        create,
        "tenure keys create --scope acme/finance --role reporter --label ci --days 90",
        "tenure keys create --tenant acme --role admin",
    )
    add_verb(group, "list", list_keys, "tenure keys list", "tenure keys list --tenant acme --json")
    add_verb(group, "revoke", revoke, "tenure keys revoke k3rj2v7a4q")


TenantName = Annotated[
    str, typer.Option("--tenant", metavar="NAME", help="A tenant as a whole, such as acme: all of its scopes.", show_default=False)
]


def create(
    request: Request,
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="reader, reporter, reviewer or admin; each may do what those before it may.")
    ],
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What you call it.")] = "",
    days: Annotated[int | None, typer.Option("--days", help="Days until it expires; without it never.")] = None,
    rate: Annotated[int, typer.Option("--rate", help="Requests a minute; 0 takes the server's limit.")] = 0,
    tenant: TenantName = "",
) -> int:
    """Make a key for a scope and those below it.

    It is shown this once: only a digest is kept.

    A reader looks; a reporter also reports runs and writes memory; a reviewer also decides and changes playbooks; an admin also
    makes keys, sets settings and forgets.
    """
    _needs_service()
    from tenure.serving.service.callers import key_json, make_key

    if role not in ("reader", "reporter", "reviewer", "admin"):
        raise UserError(f"'{role}' is not a role. Roles: reader, reporter, reviewer, admin.")
    with request.writing() as book:
        opens = _opened(request, book, tenant)
        made = make_key(
            book.store, book.clock, book.ids, scope=opens, role=role, by=person(), label=label, days=days, rate=rate  # type: ignore[arg-type]
        )  # fmt: skip
        at = _now(book)
    if request.as_json:
        request.terminal.document({"key": made.text, **key_json(made.key, at)})
        return OK
    request.terminal.text(made.text)
    until = f" until {local_time(made.key.expires)}" if made.key.expires else ""
    request.terminal.say(f"It opens {made.key.scope} as {made.key.role}{until}. Keep it: it is not shown again.")
    request.terminal.say(f"Revoke it: {_of_tenant(request, f'keys revoke {made.key.id}', made.key.tenant)}")
    return OK


def list_keys(request: Request, tenant: TenantName = "") -> int:
    """List the keys of the scope's tenant, revoked and expired ones too."""
    _needs_service()
    from tenure.serving.service.callers import key_json

    with request.reading(writes="keys create --role admin") as book:
        whose = _tenant(_opened(request, book, tenant))
        with book.store.tenancy(whose) as look:
            keys = look.api_keys()
        at = _now(book)
    if request.as_json:
        request.terminal.document({"tenant": whose, "keys": [key_json(key, at) for key in keys]})
        return OK
    if not keys:
        request.terminal.text(f"Tenant {whose} has no keys. Make one: {_of_tenant(request, 'keys create --role admin', whose)}")
        if not tenant:
            request.terminal.say(f"Those of another tenant: {replace(request, scope=None).command('keys list --tenant NAME')}")
        return OK
    request.terminal.table(
        [Column(title=one) for one in ("id", "role", "scope", "label", "state", "made", "expires")], [_row(key, at) for key in keys]
    )
    return OK


def _row(key: ApiKey, at: str) -> list[Cell]:
    until = local_time(key.expires) if key.expires else "never"
    return [key.id, key.role, key.scope, key.label, key.state(at), local_time(key.created), until]


def revoke(
    request: Request,
    key: Annotated[str, typer.Argument(metavar="ID", help="Id of the key: its first ten characters after tnr_.")],
    tenant: TenantName = "",
) -> int:
    """Revoke a key: the next request with it is refused.

    It cannot be brought back; make another.
    """
    _needs_service()
    from tenure.governance.access import read_key
    from tenure.serving.service.callers import key_json, revoke_key

    presented = read_key(key.strip())
    named = presented.id if presented is not None else key.strip().removeprefix("tnr_")
    with request.writing() as book:
        whose = _tenant(_opened(request, book, tenant))
        found = revoke_key(book.store, book.clock, book.ids, tenant=whose, key_id=named, by=person())
        if found is None:
            elsewhere = "" if tenant else " One of another tenant takes --tenant NAME."
            raise UserError(f"Tenant {whose} has no key '{named[:40]}'.{elsewhere} See them: {_of_tenant(request, 'keys list', whose)}")
        at = _now(book)
    if request.as_json:
        request.terminal.document(key_json(found, at))
        return OK
    request.terminal.text(f"Key {found.id} ({found.role} of {found.scope}) is revoked since {local_time(found.revoked)}.")
    return OK


def _opened(request: Request, book: Tenure, tenant: str) -> str:
    """The scope that is meant: the one at hand, or a tenant as a whole.

    Raises:
        UserError: both are named.
        ScopeError: it is no tenant's name.
    """
    if not tenant:
        return book.scope
    if request.scope:
        raise UserError("--tenant is a tenant as a whole, --scope a part of one. Name one of them.")
    return check_tenant(tenant)


def _needs_service() -> None:
    """Raises:
    MissingExtra: the service is not installed, and keys are its affair.
    """
    if importlib.util.find_spec("fastapi") is None:
        raise MissingExtra("API keys", extra="server")


def _of_tenant(request: Request, words: str, tenant: str) -> str:
    """A command to type next for a tenant as a whole, whatever scope is at hand there."""
    return replace(request, scope=None).command(f"{words} --tenant {shlex.quote(tenant)}")


def _tenant(scope: str) -> str:
    return scope.partition("/")[0]


def _now(book: Tenure) -> str:
    return book.clock.now().astimezone(UTC).isoformat()
