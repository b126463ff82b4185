"""Figures of a scope, what models used for it, and its settings."""

from __future__ import annotations

from datetime import UTC
from typing import Annotated, Any

from fastapi import Depends, Path, Response
from pydantic import ConfigDict, Field

from tenure.serving.service.api import Body, router, told
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.operators import operators
from tenure.serving.service.problems import Problem, answered
from tenure.serving.wire import usage_json
from tenure.settings import SETTINGS

ROUTER = router("scope")

_SETTING = {
    "name": "learn.enabled",
    "value": "on",
    "source": "default",
    "meaning": "whether runs are learned from: on or off",
    "operators": False,
}
_USED = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "cost_usd": 0.0}

SettingName = Annotated[str, Path(max_length=100, description="Name of a setting.", examples=["learn.enabled"])]


class SettingBody(Body):
    """The value of a setting, as text."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": "off"}]})

    value: Annotated[str, Field(max_length=10_000)]


@ROUTER.get(
    "/metrics",
    summary="Figures of the scope",
    responses=told("Counts by name, and sizes by section.", {"scope": "acme/finance", "version": 7, "counts": {"runs": 2}, "sections": {}}),
)
def show_figures(to: Annotated[Doing, Depends(May("read", "metrics"))]) -> Response:
    """How many runs, lessons, deltas and the like there are, and live lessons with their tokens by section."""
    with to.book.store.reading(to.scope) as look:
        counts, version = dict(look.counts()), look.version()
        sections = {name: {"lessons": lessons, "tokens": tokens} for name, (lessons, tokens) in look.sizes().items()}
    return answered({"scope": to.scope, "version": version, "counts": counts, "sections": sections})


@ROUTER.get(
    "/spend", summary="What models used", responses=told("Today (UTC) and ever.", {"day": "2026-03-15", "today": _USED, "ever": _USED})
)
def show_spending(to: Annotated[Doing, Depends(May("read", "spend"))]) -> Response:
    """What model calls for the scope used, today in UTC and ever."""
    day = to.engine.clock.now().astimezone(UTC).date().isoformat()
    store = to.book.store
    return answered({"day": day, "today": usage_json(store.spent(to.scope, day)), "ever": usage_json(store.spent(to.scope))})


@ROUTER.get("/settings", summary="Settings", responses=told("Every setting, as it applies.", {"items": [_SETTING]}))
def list_settings(to: Annotated[Doing, Depends(May("read", "settings.list"))]) -> Response:
    """The settings that apply to the scope, and where each comes from. Those of the operator are named, and their values are not told."""
    found = to.book.settings()
    items = []
    for name, setting in SETTINGS.items():
        theirs = operators(name)
        value, source = (None, None) if theirs else (found.values[name], found.sources[name])
        items.append({"name": name, "value": value, "source": source, "meaning": setting.meaning, "operators": theirs})
    return answered({"items": items})


@ROUTER.put("/settings/{name}", summary="Set a setting", responses=told("As it applies now.", _SETTING))
def put_setting(
    to: Annotated[Doing, Depends(May("administer", "settings.set", once=True))], name: SettingName, body: SettingBody
) -> Response:
    """Set a setting of the scope."""
    return to.reply(lambda: _set(to, name, body.value), subject=name)


@ROUTER.delete("/settings/{name}", summary="Go back to the default", responses=told("As it applies now.", _SETTING))
def drop_setting(to: Annotated[Doing, Depends(May("administer", "settings.set", once=True))], name: SettingName) -> Response:
    """Have the default of a setting apply again."""
    return to.reply(lambda: _set(to, name, None), subject=name)


def _set(to: Doing, name: str, value: str | None) -> dict[str, Any]:
    if name not in SETTINGS:
        raise Problem(404, "setting", f"There is no setting '{name[:60]}'. Settings: GET /v1/settings")
    if operators(name):
        raise Problem(403, "operator", f"Setting '{name}' is the affair of whoever runs the server: tenure config set {name} VALUE")
    to.book.set(name, value)
    found = to.book.settings()
    told = {"name": name, "value": found.values[name], "source": found.sources[name]}
    return {**told, "meaning": SETTINGS[name].meaning, "operators": False}
