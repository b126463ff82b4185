"""What a shell offers when the Tab key is pressed. A completion never fails aloud: it would garble the line being typed."""

from __future__ import annotations

import typer

from tenure.errors import TenureError
from tenure.serving.cli.request import Request


def lesson_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids of lessons that begin with what was typed, ten at most."""
    given = {**ctx.find_root().params, **{name: value for name, value in ctx.params.items() if value}}
    try:
        with Request(db=given.get("db"), scope=given.get("scope")).reading(tell=False) as book, book.store.reading(book.scope) as reading:
            return list(reading.resolve(incomplete))
    except (TenureError, OSError):
        return []


def setting_names(incomplete: str) -> list[str]:
    """Names of settings."""
    from tenure.settings import SETTINGS

    return [name for name in SETTINGS if name.startswith(incomplete)]


def run_formats(incomplete: str) -> list[str]:
    """Names of the forms that runs come in."""
    from tenure.traces import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def statuses(incomplete: str) -> list[str]:
    """What a lesson can be."""
    from tenure.playbook.lessons import STATUSES

    return [name for name in STATUSES if name.startswith(incomplete)]


def export_forms(incomplete: str) -> list[str]:
    """What a playbook can be written as."""
    return [name for name in ("ace", "json") if name.startswith(incomplete)]


def colours(incomplete: str) -> list[str]:
    """When to use colours."""
    from tenure.serving.cli.output import COLOURS

    return [name for name in COLOURS if name.startswith(incomplete)]


def bench_names(incomplete: str) -> list[str]:
    """What can be measured."""
    from tenure.evaluation.benches import BENCHES
    from tenure.evaluation.tasks.listed import TASKS

    return [name for name in (*BENCHES, *TASKS) if name.startswith(incomplete)]
