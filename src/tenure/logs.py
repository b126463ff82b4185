"""The log of the service: one JSON object a line, of events that have a name and fields of a list, and never a text of a lesson or a task.

Tenure's own code says `event(logger, "run.learned", run=..., added=...)`. What other code logs under Tenure's loggers, or libraries do, is
told by its level, its logger and where it stands in the source, without its message, which may quote anything.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from traceback import format_tb, walk_tb
from typing import TextIO

from tenure.errors import StoreError
from tenure.telemetry.attributes import FORMS, Value, fields

_NAME = re.compile(r"[a-z][a-z0-9_.]{0,63}")
_request: ContextVar[dict[str, Value] | None] = ContextVar("tenure_log_request", default=None)


def event(
    logger: logging.Logger, name: str, level: int = logging.INFO, *, said: str = "", failure: BaseException | None = None, **given: object
) -> None:
    """Logs that something happened.

    Where no lines of JSON are written, the message is a sentence, or else the name with its fields, told by the same list.

    Args:
        logger: such as `logging.getLogger("tenure.service")`.
        name: what happened, such as `request.done`.
        level: as in `logging`.
        said: the same as a sentence, for logs that are no lines of JSON; empty for the name with its fields.
        failure: what it came of; its kind, where it was raised, and of a database's the reason in a word are told, its message is not.
        given: fields of `tenure.telemetry.attributes.FORMS`; others are left out, and counted under `left_out`.

    Raises:
        ValueError: the name is none of the program's: lower case, digits, dots and underscores.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("The name of an event is lower case letters, digits, dots and underscores, and begins with a letter.")
    if logger.isEnabledFor(level):
        told = dict(given)
        if failure is not None:
            why = {"reason": failure.reason} if isinstance(failure, StoreError) and failure.reason else {}
            told = {"error": type(failure).__name__, **why, **told}
        place = raised_at(failure)
        plain = {**fields(told), **({"raised_at": place} if place else {})}
        logger.log(
            level,
            "%s",
            said or " ".join((name, *(f"{one}={value}" for one, value in plain.items()))),
            extra={"tenure_event": name, "tenure_fields": told, "tenure_raised_at": place},
            stacklevel=2,
        )


@contextmanager
def in_request(request: str, *, tenant: str = "") -> Iterator[None]:
    """Puts the id of a request, and the digest of its tenant, into every line that is logged meanwhile.

    Args:
        request: its id.
        tenant: the tenant's name, or a scope of it; it is told by its digest alone.
    """
    token = _request.set(fields({"request": request, **({"tenant": tenant} if tenant else {})}))
    try:
        yield
    finally:
        _request.reset(token)


class JsonLines(logging.Formatter):
    """A record as one line of JSON: `time`, `level`, `logger`, `event`, `request`, `tenant` (a digest) and the event's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        name = getattr(record, "tenure_event", None)
        given = getattr(record, "tenure_fields", None)
        told: dict[str, Value] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": name if isinstance(name, str) and _NAME.fullmatch(name) else "log",
            **(_request.get() or {}),
        }
        if isinstance(given, dict):
            told |= fields(given)
            left_out = [one for one in given if one not in FORMS]
            if left_out:
                told["left_out"] = len(left_out)
        else:
            told["at"] = f"{record.module}:{record.lineno}"
        place = getattr(record, "tenure_raised_at", "")
        if record.exc_info and record.exc_info[1] is not None:
            told["error"] = type(record.exc_info[1]).__name__
            place = raised_at(record.exc_info[1])
        if place:
            told["raised_at"] = place
        return json.dumps(told, ensure_ascii=True)


def without_words(failure: BaseException) -> str:
    """An error by its kind and the lines of source that it came through, without its message: that may quote a lesson or a task."""
    return f"{type(failure).__name__}\n{''.join(format_tb(failure.__traceback__))}"


def raised_at(failure: BaseException | None) -> str:
    """Where in the source an error was raised, such as `sqlite:212`; empty where that is not known."""
    frames = list(walk_tb(failure.__traceback__)) if failure is not None else []
    return f"{Path(frames[-1][0].f_code.co_filename).stem}:{frames[-1][1]}" if frames else ""


def configure_logs(level: int | str = logging.INFO, stream: TextIO | None = None, *, loggers: tuple[str, ...] = ("tenure",)) -> None:
    """Writes the log as lines of JSON; what these loggers wrote to before is taken away from them.

    Args:
        level: `debug`, `info`, `warning`, `error`, or a number of `logging`.
        stream: where lines go; none is stderr.
        loggers: whose records are told; `("tenure", "uvicorn")` for a server.

    Raises:
        ValueError: there is no such level.
    """
    wanted = level.upper() if isinstance(level, str) else level
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name in loggers:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(wanted)
