"""Tenure's own run format: one run a line, documented in docs/reference/run-format.md and run.schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from tenure.playbook.run import STEP_KINDS, Draw, Origin, Outcome, Run, Step, Task
from tenure.traces.decoding import without_lone_surrogates
from tenure.traces.placing import Place, scope_for
from tenure.traces.report import ReadReport
from tenure.traces.shapes import digest
from tenure.traces.streaming import read_records

HOST = "tenure"

VERSION = 1
"""Version of the format, written as `tenure_run` on every line."""

_TEXTS: Mapping[type, tuple[str, ...]] = {
    Origin: ("principal", "channel", "document"),
    Task: ("text", "kind", "key"),
    Step: ("kind", "role", "name", "content", "error", "call_id", "at"),
    Outcome: ("feedback", "signal", "expected", "at"),
    Run: ("id", "scope", "session", "started", "ended"),
    Draw: ("lesson", "reason", "text"),
}
_LISTS = ("shown", "withheld", "cited")


class _Malformed(ValueError):
    """A record is not a run; the message says which field is wrong."""


def recognises(value: object) -> bool:
    """Whether a record is a run in this format; the version mark may be left out in files made by hand."""
    return isinstance(value, dict) and ("tenure_run" in value or (isinstance(value.get("steps"), list) and "task" in value))


def write_runs(runs: Iterable[Run]) -> Iterator[str]:
    """Each run as one line of JSON, with its line end. Reading the lines gives equal runs.

    Fields at their default are left out. Lone surrogates, which no file can hold, become U+FFFD.
    """
    for run in runs:
        record = {"tenure_run": VERSION, **_plain(run)}
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=_jsonable)
        yield without_lone_surrogates(line) + "\n"


def read(path: Path, *, scope: Place, report: ReadReport) -> Iterator[Run]:
    """The runs of a file, one a line (or element of a JSON list). A scope that is given replaces that of the runs."""
    for number, record, unit in read_records(path, report, whole_strings=True):
        try:
            run = _run(record, scope_for(scope))
        except _Malformed as error:
            report.lost(path, str(error), number=number, unit=unit)
            continue
        for name in _unknown_fields(record):
            report.unknown(HOST, f"field {name}")
        yield run


def _plain(value: Any) -> dict[str, Any]:
    """The fields of a value that differ from their defaults."""
    plain: dict[str, Any] = {}
    for field in fields(value):
        given = getattr(value, field.name)
        if field.name != "steps" and field.default is not MISSING and given == field.default and type(given) is type(field.default):
            continue
        if isinstance(given, Task | Origin | Outcome):
            if isinstance(given, Task) or given != type(given)() or (field.name == "origin" and isinstance(value, Step)):
                plain[field.name] = _plain(given)
        elif field.name in ("steps", "draws"):
            plain[field.name] = [_plain(one) for one in given]
        elif field.name == "arguments":
            if given:
                plain["arguments"] = dict(given)
        else:
            plain[field.name] = list(given) if isinstance(given, tuple) else given
    return plain


def _jsonable(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    return str(value)


def _unknown_fields(record: Mapping[str, Any]) -> Iterator[str]:
    """Names of fields that the format does not have: most often a slip, such as `outcome.sucess`."""
    parts: list[tuple[str, type, Any]] = [
        ("", Run, record),
        ("task.", Task, record.get("task")),
        ("outcome.", Outcome, record.get("outcome")),
    ]
    parts += [("steps.", Step, step) for step in record.get("steps", ())]
    parts += [("draws.", Draw, draw) for draw in record.get("draws", ())]
    for where, kind, part in parts:
        if isinstance(part, dict):
            known = {field.name for field in fields(kind)}
            yield from (f"{where}{name}" for name in part if name not in known and name != "tenure_run")


def _run(record: Mapping[str, Any], scope: str) -> Run:
    version = record.get("tenure_run", VERSION)
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        raise _Malformed("is in a newer version of the format; update Tenure" if newer else f"field 'tenure_run' is not {VERSION}")
    task = record.get("task")
    steps = record.get("steps", [])
    if task is None:
        raise _Malformed("has no 'task'")
    if not isinstance(steps, list):
        raise _Malformed("field 'steps' is not a list")
    texts = _texts(Run, record, "")
    if not texts.get("id"):
        texts["id"] = f"run:{digest(HOST, task, steps, record.get('outcome'), record.get('started'))}"
    lists: dict[str, Any] = {}
    for name in _LISTS:
        value = record.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _Malformed(f"field '{name}' is not a list of texts")
        lists[name] = tuple(value)
    draws = record.get("draws", [])
    if not isinstance(draws, list):
        raise _Malformed("field 'draws' is not a list")
    return Run(
        draws=tuple(_draw(one, place) for place, one in enumerate(draws)),
        **{**texts, "scope": scope or texts.get("scope", "")},
        **lists,
        task=Task(text=task) if isinstance(task, str) else Task(**{"text": "", **_texts(Task, _object(record, "task"), "task.")}),
        steps=tuple(_step(step, place) for place, step in enumerate(steps)),
        outcome=_outcome(_object(record, "outcome")),
        origin=_origin(_object(record, "origin"), "origin."),
    )


def _step(record: object, place: int) -> Step:
    where = f"steps[{place}]."
    if not isinstance(record, dict):
        raise _Malformed(f"'steps[{place}]' is not an object")
    if record.get("kind") not in STEP_KINDS:
        raise _Malformed(f"field '{where}kind' is none of {', '.join(STEP_KINDS)}")
    origin = None if record.get("origin") is None else _origin(_object(record, "origin", where), f"{where}origin.")
    return Step(**_texts(Step, record, where), arguments=_object(record, "arguments", where), origin=origin)


def _draw(record: object, place: int) -> Draw:
    where = f"draws[{place}]."
    if not isinstance(record, dict):
        raise _Malformed(f"'draws[{place}]' is not an object")
    texts, withheld, chance = _texts(Draw, record, where), record.get("withheld"), record.get("chance")
    if not texts.get("lesson"):
        raise _Malformed(f"field '{where}lesson' is missing")
    if not isinstance(withheld, bool):
        raise _Malformed(f"field '{where}withheld' is not true or false")
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 < chance < 1:
        raise _Malformed(f"field '{where}chance' is not a number between 0 and 1")
    return Draw(**texts, withheld=withheld, chance=float(chance))


def _origin(record: Mapping[str, Any], where: str) -> Origin:
    trusted = record.get("trusted", True)
    if not isinstance(trusted, bool):
        raise _Malformed(f"field '{where}trusted' is not true or false")
    return Origin(**_texts(Origin, record, where), trusted=trusted)


def _outcome(record: Mapping[str, Any]) -> Outcome:
    success = record.get("success")
    if success is not None and not isinstance(success, bool):
        raise _Malformed("field 'outcome.success' is not true or false")
    numbers: dict[str, float | None] = {}
    for name in ("score", "reliability"):
        value = record.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1):
            raise _Malformed(f"field 'outcome.{name}' is not a number from 0 to 1")
        numbers[name] = value
    try:
        return Outcome(success=success, score=numbers["score"], reliability=numbers["reliability"], **_texts(Outcome, record, "outcome."))
    except ValueError as error:
        raise _Malformed("field 'outcome.signal' is not known") from error


def _object(record: Mapping[str, Any], name: str, where: str = "") -> Mapping[str, Any]:
    value = record.get(name)
    if value is not None and not isinstance(value, dict):
        raise _Malformed(f"field '{where}{name}' is not an object")
    return value or {}


def _texts(kind: type, record: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The text fields that a record gives; each must be a text."""
    texts: dict[str, Any] = {}
    for name in _TEXTS[kind]:
        value = record.get(name)
        if value is None:
            continue
        if not isinstance(value, str):
            raise _Malformed(f"field '{where}{name}' is not a text")
        texts[name] = value
    return texts
