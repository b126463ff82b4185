"""A delta without what is forgotten or revoked: pure, so that a ledger can be read as if some runs had never been learned.

The rule: of a delta that was learned from a run that goes, only lessons stay that rest on other runs too, without that
run's evidence and so without its support. All else that the delta did is undone: its counts, promotions, retirements and
revisions. Of other deltas goes what names a lesson that goes, and the evidence of runs that go. A lesson that names a
subject goes; conditions, reasons and names of authors that name one stay without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from tenure.playbook.apply import added_keys
from tenure.playbook.delta import Add, Decision, Delta, Merge, Observe, Operation, Revoke, Tally, Update
from tenure.playbook.lessons import Evidence
from tenure.playbook.observing import observation_ids
from tenure.playbook.revision import read_revision
from tenure.playbook.run import UNTRUSTED
from tenure.playbook.subject import FORGOTTEN, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """What goes.

    Attributes:
        runs: ids of runs.
        lessons: ids of records: of lessons, and of texts that were merged into others.
        observations: ids of observations.
        subjects: what no text may name.
        origins: names of origins that stay nowhere; whether they were trusted stays.
        everything: whether nothing of any delta stays.
    """

    runs: frozenset[str] = frozenset()
    lessons: frozenset[str] = frozenset()
    observations: frozenset[str] = frozenset()
    subjects: tuple[Subject, ...] = ()
    origins: frozenset[str] = frozenset()
    everything: bool = False

    def names(self, text: str) -> bool:
        """Whether a text names a subject."""
        return any(subject.stands_in(text) for subject in self.subjects)

    def clean(self, text: str) -> str:
        """A text without the subjects."""
        for subject in self.subjects:
            text = subject.taken_out(text)
        return text


def run_of(delta: Delta) -> str:
    """Id of the run that a delta was learned from, at once or when a model was asked later; empty if from none."""
    return run_in_key(delta.key or "") if delta.cause == "run" else ""


def run_in_key(key: str) -> str:
    """Id of the run in the key of a delta that was learned from one; empty if it is no such key."""
    first, _, rest = key.partition(":")
    return rest.rsplit(":", 2)[0] if first in ("learn", "reflect") else ""


def without(delta: Delta, gone: Gone) -> Delta:
    """A delta without what goes; the very same one if that changes nothing."""
    if gone.everything:
        return Delta(delta.id, (), scope=delta.scope, author=FORGOTTEN, cause=delta.cause, at=delta.at, note=FORGOTTEN)
    of_gone = run_of(delta) in gone.runs
    keys, seen = added_keys(delta), observation_ids(delta)
    kept: list[Operation] = []
    for place, operation in enumerate(delta.operations):
        ids = (keys.get(place, ""), seen.get(place, ""))
        found = _without(operation, ids, gone, of_gone=of_gone)
        if found is not None:
            kept.append(found)
    key = None if of_gone or (delta.key and gone.names(delta.key)) else delta.key
    note = FORGOTTEN if of_gone and delta.note else gone.clean(delta.note)
    author = gone.clean(delta.author)
    decisions = tuple(_decided(one, gone, of_gone=of_gone) for one in delta.decisions)
    same = len(kept) == len(delta.operations) and all(a is b for a, b in zip(kept, delta.operations, strict=True))
    if same and (key, note, author, decisions) == (delta.key, delta.note, delta.author, delta.decisions):
        return delta
    return replace(delta, operations=tuple(kept), key=key, note=note, author=author, decisions=decisions)


def _decided(decision: Decision, gone: Gone, *, of_gone: bool) -> Decision:
    """A decision on a held change, without what its note says of what goes: a corroboration names runs and origins."""
    named = of_gone or any(one in decision.note for one in (*gone.runs, *gone.origins))
    note = FORGOTTEN if decision.note and named else gone.clean(decision.note)
    return decision if note == decision.note else replace(decision, note=note)


def _without(operation: Operation, ids: tuple[str, str], gone: Gone, *, of_gone: bool) -> Operation | None:
    """An operation without what goes; none if nothing of it stays."""
    if not _stays(operation, ids, gone, of_gone=of_gone):
        return None
    if isinstance(operation, Revoke):
        left = tuple(one for one in operation.ids if one not in gone.observations)
        operation = operation if len(left) == len(operation.ids) else replace(operation, ids=left)
    elif isinstance(operation, Merge):
        left = tuple(one for one in operation.ids if one not in gone.lessons)
        operation = operation if len(left) == len(operation.ids) else replace(operation, ids=left)
    elif isinstance(operation, Add | Update | Tally):
        operation = _without_runs(operation, gone)
        if isinstance(operation, Tally) and not operation.tallies and not operation.evidence:
            return None
    return _cleaned(operation, gone)


def _stays(operation: Operation, ids: tuple[str, str], gone: Gone, *, of_gone: bool) -> bool:
    """Whether anything of an operation can stay."""
    key, observation = ids
    if isinstance(operation, Observe):
        goes = of_gone or observation in gone.observations or operation.run in gone.runs or operation.origin in gone.origins
        return not goes and not any(map(gone.names, texts_of(operation).values()))
    if isinstance(operation, Add):
        return key not in gone.lessons and not (operation.id and operation.id in gone.lessons)
    if of_gone:
        return False
    if isinstance(operation, Revoke):
        return not gone.observations.issuperset(operation.ids)
    if isinstance(operation, Merge):
        return operation.into not in gone.lessons and not gone.lessons.issuperset(operation.ids)
    return operation.id not in gone.lessons


def _without_runs(operation: Add | Update | Tally, gone: Gone) -> Add | Update | Tally:
    """An operation without evidence from runs that go, and without what else it says of them and their origins."""
    places = tuple(place for place in operation.evidence if place.run not in gone.runs)
    if len(places) != len(operation.evidence):
        operation = replace(operation, evidence=places)
        if isinstance(operation, Tally):
            # What the run that goes supported, it supports no more.
            operation = replace(operation, support=min(operation.support, len(places)))
    if isinstance(operation, Add) and operation.origin in gone.origins:
        operation = replace(operation, origin=FORGOTTEN + UNTRUSTED * operation.origin.endswith(UNTRUSTED))
    if isinstance(operation, Update) and operation.revision:
        said = _revision(operation.revision, gone.runs)
        operation = operation if said == operation.revision else replace(operation, revision=said)
    return operation


def _revision(text: str, runs: Collection[str]) -> str:
    """What is recorded of a revision, without runs that go and without what was quoted from them."""
    found = read_revision(text)
    if found is None or (found.source not in runs and found.run not in runs):
        return text
    source, run = ("" if one in runs else one for one in (found.source, found.run))
    return replace(found, source=source, run=run, basis=FORGOTTEN, checks=()).to_text()


def _cleaned(operation: Operation, gone: Gone) -> Operation:
    """An operation without subjects in any of its texts; the very same one if it names none."""
    if not gone.subjects:
        return operation
    changes: dict[str, Any] = {}
    for one in fields(operation):
        value = getattr(operation, one.name)
        cleaned = _clean_value(value, gone.clean)
        if cleaned != value:
            changes[one.name] = cleaned
    return replace(operation, **changes) if changes else operation


def _clean_value(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, tuple):
        return tuple(
            replace(one, run=clean(one.run), role=clean(one.role)) if isinstance(one, Evidence) else _clean_value(one, clean)
            for one in value
        )
    return value


def texts_of(operation: Operation) -> Mapping[str, str]:
    """The texts of an operation by the name of their field; lists as one text."""
    found: dict[str, str] = {}
    for one in fields(operation):
        value = getattr(operation, one.name)
        if isinstance(value, str):
            found[one.name] = value
        elif isinstance(value, tuple):
            found[one.name] = "\n".join(f"{part.run}\n{part.role}" if isinstance(part, Evidence) else str(part) for part in value)
    return found


def touched(delta: Delta) -> set[str]:
    """The ids of records that a delta's operations name or make."""
    found = set(added_keys(delta).values())
    for operation in delta.operations:
        if isinstance(operation, Merge):
            found.update((*operation.ids, operation.into))
        elif isinstance(operation, Add):
            found.update(filter(None, (operation.id,)))
        elif not isinstance(operation, Observe | Revoke):
            found.add(operation.id)
    return found
