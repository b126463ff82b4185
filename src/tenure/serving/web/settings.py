"""The settings of a scope: what is set, where it comes from, and changing it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from tenure.errors import SettingError
from tenure.serving.cli.settings import in_use
from tenure.serving.cli.spend import MEASURES, amount, spending_of
from tenure.serving.service.operators import operators
from tenure.serving.service.problems import Problem
from tenure.serving.web.pages import go_on, page
from tenure.serving.web.visitors import Changing, Seen, Visitor
from tenure.settings import SETTINGS


def add_pages(router: APIRouter) -> None:
    """Add the routes."""

    @router.get("/settings")
    def settings(request: Request, visitor: Seen) -> Response:
        found, spending = visitor.book.settings(), spending_of(visitor.book)
        groups: dict[str, list[tuple[str, str, str, str, str, bool]]] = {}
        for name, setting in SETTINGS.items():
            group = name.partition(".")[0] if "." in name else "model"
            theirs = _theirs(visitor, name)
            value, used = ("", "") if theirs else (found.values[name], in_use(name, found))
            groups.setdefault(group, []).append((name, value, used, found.sources[name], setting.meaning, theirs))
        left = [
            (name, what, amount(what, spending.left(period, what)), amount(what, getattr(spending.caps, f"{what}_per_{period}")))
            for name, period, _ in spending.rows()
            for what in MEASURES
            if getattr(spending.caps, f"{what}_per_{period}") is not None
        ]
        return page(request, visitor, "settings.html", title="Settings", groups=groups, spending=spending, left=left)

    @router.post("/settings")
    def change(
        request: Request,
        visitor: Changing,
        name: Annotated[str, Form(max_length=100)] = "",
        value: Annotated[str, Form(max_length=2_000)] = "",
        back_to_default: Annotated[str, Form(max_length=3)] = "",
    ) -> Response:
        visitor.check("administer", "settings.set", name)
        if name not in SETTINGS:
            raise Problem(404, "unknown", f"There is no setting '{name[:60]}'. See what there is: the page Settings.")
        if _theirs(visitor, name):
            visitor.note("settings.set", name, "refused: operator")
            raise Problem(403, "operator", f"Setting '{name}' is the affair of whoever runs the server: tenure config set {name} VALUE")
        back = visitor.to("/settings")
        try:
            with visitor.noting("settings.set", name):
                visitor.book.set(name, None if back_to_default == "yes" else value.strip())
        except SettingError as exc:
            return go_on(request, visitor, back, str(exc), careful=True)
        found = visitor.book.settings()
        sentence = f"{name} = {found.values[name] or '(none)'}."
        overridden = found.sources[name] not in ("scope", "default")
        if overridden:
            sentence += f" The environment variable {found.sources[name]} of the server overrides it."
        return go_on(request, visitor, back, sentence, careful=overridden)


def _theirs(visitor: Visitor, name: str) -> bool:
    """Whether a setting is the operator's, and the visitor only a tenant's. Where there are no keys, the operator sits there."""
    return visitor.signed_in and operators(name)
