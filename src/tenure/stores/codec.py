"""Values as JSON for the rows that keep them, and back. Defaults are left out; nothing else is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from types import MappingProxyType
from typing import Any

from tenure.playbook.delta_json import plain, storable
from tenure.playbook.lessons import Evidence, Lesson, Tallies
from tenure.playbook.operations_json import operation_from_json, operation_to_json
from tenure.playbook.render import Core, Line
from tenure.playbook.run import Draw, Origin, Outcome, Run, Step, Task
from tenure.ports import FailedReply, HeldChange


def compact(value: object) -> str:
    """Canonical JSON: sorted keys, no spaces, characters as they are; half a character reads U+FFFD, for no file can store it."""
    return storable(_CANONICAL.encode(value))


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def lesson_to_json(lesson: Lesson) -> str:
    """A lesson as JSON."""
    out = plain(lesson)
    if "tallies" in out:
        out["tallies"] = plain(lesson.tallies)
    if "evidence" in out:
        out["evidence"] = [[place.run, place.step, place.role] for place in lesson.evidence]
    return compact(out)


@lru_cache(maxsize=4_096)
def lesson_from_json(text: str) -> Lesson:
    """The lesson that `lesson_to_json` wrote; remembered, for the same ones are looked at for every task."""
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


@lru_cache(maxsize=64)
def cores_from_json(text: str) -> Mapping[int, Core]:
    """The cores that `cores_to_json` wrote, or the single one of an earlier version; remembered, for every prompt begins with one."""
    held = json.loads(text)
    return MappingProxyType({0: _read_core(held)} if isinstance(held, dict) else {size: _read_core(core) for size, core in held})


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
