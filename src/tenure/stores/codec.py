"""Values as JSON for the rows that keep them, and back. Defaults are left out; nothing else is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from sys import intern
from typing import Any

from tenure.playbook.delta import Decision, Delta
from tenure.playbook.lessons import Evidence, Lesson, Tallies
from tenure.playbook.operations_json import operation_from_json, operation_to_json
from tenure.playbook.render import Core, Line
from tenure.playbook.run import Draw, Origin, Outcome, Run, Step, Task
from tenure.playbook.wellformed import operation_problem
from tenure.ports import FailedReply, HeldChange


def compact(value: object) -> str:
    """Canonical JSON: sorted keys, no spaces, characters as they are; half a character reads U+FFFD, for no file can store it."""
    return storable(_CANONICAL.encode(value))


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def storable(text: str) -> str:
    """A text with lone surrogates replaced by U+FFFD; the very same one if it has none."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def plain(value: Any) -> dict[str, Any]:
    """A flat dataclass as a dict without its defaults; nested values are left to the caller."""
    out: dict[str, Any] = {}
    for name, default in _defaults(value.__class__):
        held = getattr(value, name)
        if held is not default and (held != default or type(held) is not type(default)):
            out[name] = held
    return out


@lru_cache(maxsize=64)
def _defaults(kind: type) -> tuple[tuple[str, object], ...]:
    """The names of a dataclass's fields, each with its default; `MISSING` for none."""
    return tuple((one.name, one.default_factory() if one.default_factory is not MISSING else one.default) for one in fields(kind))


def lesson_to_json(lesson: Lesson) -> str:
    """A lesson as JSON."""
    out = plain(lesson)
    if "tallies" in out:
        out["tallies"] = plain(lesson.tallies)
    if "evidence" in out:
        out["evidence"] = [[place.run, place.step, place.role] for place in lesson.evidence]
    return compact(out)


def lesson_from_json(text: str) -> Lesson:
    """The lesson that `lesson_to_json` wrote."""
    held = json.loads(text)
    if "tallies" in held:
        held["tallies"] = Tallies(**held["tallies"])
    if "evidence" in held:
        held["evidence"] = tuple(Evidence(run=run, step=step, role=role) for run, step, role in held["evidence"])
    for name in ("tool_order", "merged"):
        if name in held:
            held[name] = tuple(held[name])
    for name in _SHARED:
        if name in held:
            held[name] = intern(held[name])
    return Lesson(**held)


_SHARED = ("section", "kind", "status", "author", "origin", "created", "updated")
"""What many lessons have in common is held once, for those who read them all."""


def run_to_json(run: Run) -> str:
    """A run without its steps, which have rows of their own, and without its scope, which the row has."""
    out = plain(run)
    out.pop("steps", None)
    out.pop("scope", None)
    out["task"] = plain(run.task)
    for name in ("outcome", "origin"):
        if name in out:
            out[name] = plain(getattr(run, name))
    if "draws" in out:
        out["draws"] = [plain(one) for one in run.draws]
    return compact(out)


def run_from_json(text: str, *, scope: str, steps: tuple[Step, ...] = ()) -> Run:
    """The run that `run_to_json` wrote, with its steps."""
    held = json.loads(text)
    held["task"] = Task(**held["task"])
    if "outcome" in held:
        held["outcome"] = Outcome(**held["outcome"])
    if "origin" in held:
        held["origin"] = Origin(**held["origin"])
    for name in ("shown", "withheld", "cited"):
        if name in held:
            held[name] = tuple(held[name])
    if "draws" in held:
        held["draws"] = tuple(Draw(**one) for one in held["draws"])
    return Run(**held, scope=scope, steps=steps)


def step_to_json(step: Step) -> str:
    """A step as JSON."""
    out = plain(step)
    if step.origin is not None:
        out["origin"] = plain(step.origin)
    if "arguments" in out:
        out["arguments"] = dict(step.arguments)
    return compact(out)


def step_from_json(text: str) -> Step:
    """The step that `step_to_json` wrote."""
    held = json.loads(text)
    if "origin" in held:
        held["origin"] = Origin(**held["origin"])
    return Step(**held)


def delta_to_json(delta: Delta) -> dict[str, Any]:
    """A delta as plain JSON values."""
    return {
        "id": delta.id,
        "key": delta.key,
        "scope": delta.scope,
        "author": delta.author,
        "cause": delta.cause,
        "at": delta.time,
        "note": delta.note,
        "operations": [operation_to_json(op) for op in delta.operations],
        # Left out where there are none, so that what was chained before there were any reads as it did.
        **({"decisions": [plain(one) for one in delta.decisions]} if delta.decisions else {}),
    }


def storable_delta(delta: Delta) -> dict[str, Any]:
    """A delta as JSON values that a file can hold; operations that cannot be read back, which `apply` skips, are left out."""
    held = delta_to_json(delta)
    # What is well formed can be read back; only the rest has to be tried.
    pairs = zip(delta.operations, held["operations"], strict=True)
    kept = [operation for op, operation in pairs if not operation_problem(op) or _writable(operation)]
    names = {name: storable(value) if isinstance(value, str) else value for name, value in held.items() if name != "operations"}
    return {**names, "operations": kept}


def _writable(operation: Mapping[str, Any]) -> bool:
    text = json.dumps(operation, ensure_ascii=False, default=str)
    return storable(text) is text and not isinstance(operation_from_json(operation), str)


def delta_from_json(held: Mapping[str, Any]) -> Delta:
    """The delta that `delta_to_json` gave.

    Raises:
        ValueError: an operation in it cannot be read.
    """
    operations = []
    for entry in held["operations"]:
        op = operation_from_json(entry)
        if isinstance(op, str):
            raise ValueError(f"delta {held['id']}: {op}")
        operations.append(op)
    return Delta(
        held["id"],
        tuple(operations),
        key=held["key"],
        scope=held["scope"],
        author=held["author"],
        cause=held["cause"],
        at=held["at"] or None,
        note=held["note"],
        decisions=tuple(Decision(**one) for one in held.get("decisions", ())),
    )


def held_to_json(change: HeldChange) -> str:
    """A held change as JSON."""
    out = plain(change)
    out["operation"] = operation_to_json(change.operation)
    return compact(out)


def held_from_json(text: str) -> HeldChange:
    """The held change that `held_to_json` wrote.

    Raises:
        ValueError: its operation cannot be read.
    """
    held = json.loads(text)
    op = operation_from_json(held["operation"])
    if isinstance(op, str):
        raise ValueError(f"held change {held['id']}: {op}")
    held["operation"] = op
    if "voices" in held:
        held["voices"] = tuple(held["voices"])
    return HeldChange(**held)


def failed_to_json(failed: FailedReply) -> str:
    """A failed reply as JSON."""
    return compact(plain(failed))


def failed_from_json(text: str) -> FailedReply:
    """The failed reply that `failed_to_json` wrote."""
    return FailedReply(**json.loads(text))


CORES_KEPT = 6
"""Sizes of which a core is kept."""


def with_core(cores: Mapping[int, Core], core: Core, size: int) -> dict[int, Core]:
    """The cores of a scope by size with one put in at the end; the first ones go where there are too many, but not size 0."""
    kept = {one: held for one, held in cores.items() if one != size} | {size: core}
    others = [one for one in kept if one not in (0, size)]
    for one in others[: max(0, len(kept) - CORES_KEPT)]:
        del kept[one]
    return kept


def cores_to_json(cores: Mapping[int, Core]) -> str:
    """The cores of a scope as JSON."""
    return compact([[size, _core(core)] for size, core in cores.items()])


def cores_from_json(text: str) -> dict[int, Core]:
    """The cores that `cores_to_json` wrote, or the single one of an earlier version."""
    held = json.loads(text)
    return {0: _read_core(held)} if isinstance(held, dict) else {size: _read_core(core) for size, core in held}


def _core(core: Core) -> dict[str, Any]:
    return {
        "lines": [[line.id, line.section, line.text] for line in core.lines],
        "tail": [[line.id, line.section, line.text] for line in core.tail],
        "left_out": sorted(core.left_out),
        "version": core.version,
        **({"stale": core.stale} if core.stale else {}),
        **({"generations": core.generations} if core.generations else {}),
    }


def _read_core(held: Mapping[str, Any]) -> Core:
    return Core(
        lines=tuple(Line(id=one, section=section, text=said) for one, section, said in held["lines"]),
        tail=tuple(Line(id=one, section=section, text=said) for one, section, said in held["tail"]),
        left_out=frozenset(held["left_out"]),
        version=held["version"],
        stale=held.get("stale", ""),
        generations=tuple(held.get("generations", ())),
    )
