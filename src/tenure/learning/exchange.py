"""Playbooks in and out: a file of another tool brought in as one delta, a playbook written without secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tenure.governance.redaction import redact, redact_operation
from tenure.learning.upkeep import raise_bounds
from tenure.playbook.aggregates import Observed, aggregate_id, place_of
from tenure.playbook.delta import Add, Delta, Observe, Operation, Receipt, Retire, Tally
from tenure.playbook.foreign import Foreign
from tenure.playbook.lessons import TALLY_NAMES, Lesson, normalised, section_name, text_digest
from tenure.playbook.notation import Form, assemble, dumps
from tenure.playbook.observations import NO_OBSERVATIONS, Observations
from tenure.playbook.observing import Noted, Shown, note
from tenure.playbook.records import Record, group_key
from tenure.playbook.state import Playbook
from tenure.playbook.wellformed import operation_problem
from tenure.ports import IdSource, Reading, Writing
from tenure.settings import read_settings

_FREE_TEXTS = ("applies_when", "avoid", "about", "origin", "section")
_FREE_REGISTERS = ("text", "proposed", "applies_when", "about", "retired_because")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of an imported file.

    Attributes:
        added, merged, held: lessons that are new, that were there, and that wait for a review.
        changed: other operations that were applied, counts left out.
        skipped: what could not be read or applied; `reasons` has a sentence for each.
        reasons: in file order, what could not be read before what could not be applied.
        raised: which bounds were raised, one sentence; empty if they held.
        version: of the delta; none if it left no trace.
    """

    added: int = 0
    merged: int = 0
    held: int = 0
    changed: int = 0
    skipped: int = 0
    reasons: tuple[str, ...] = ()
    raised: str = ""
    version: int | None = None


def import_delta(reading: Reading, found: Foreign, *, id: str, at: datetime, author: str) -> tuple[Delta, int]:
    """The delta that brings a file in, and how many of its lessons are there already.

    A lesson that stands in the playbook as the file has it is left alone, and of its counts only
    what the file has more: importing a file twice changes nothing.

    Args:
        reading: the scope.
        found: what the file holds.
        id: of the delta.
        at: the present moment.
        author: `import:FILE`.
    """
    retired = {op.id for op in found.operations if isinstance(op, Retire)}
    known: dict[str, Lesson] = {}
    kept: list[Operation] = []
    there = 0
    for op in map(redact_operation, found.operations):
        if isinstance(op, Add) and not operation_problem(op):  # what is wrong with another its receipt will say
            same = _standing(reading, op, retired)
            if same is not None:
                there += 1
                known[op.id or same.id] = same
                continue
        if isinstance(op, Observe) and not operation_problem(op) and _observed(reading, op):
            there += 1
            continue
        kept.append(op)
    operations = [_excess(op, known[op.id]) if isinstance(op, Tally) and op.id in known else op for op in kept]
    operations = [op for op in operations if not (isinstance(op, Tally) and op.id in known and not op.tallies)]
    operations = [op for op in operations if not (isinstance(op, Retire) and op.id in known and known[op.id].status == "retired")]
    return Delta(id, operations, scope=reading.scope, author=author, cause="import", at=at), there


def bring_in(work: Writing, found: Foreign, *, ids: IdSource, at: datetime, author: str) -> Imported:
    """Import what a file holds as one delta, and raise the scope's bounds to what it stores then.

    Args:
        work: a transaction on the scope.
        found: what the file holds.
        ids: for the delta.
        at: the present moment.
        author: `import:FILE`.
    """
    delta, there = import_delta(work, found, id=ids.next(work.newest_delta_id()), at=at, author=author)
    admitted = work.admit(delta) if delta.operations else None
    raised = raise_bounds(work, read_settings(work.setting)) if admitted is not None else ""
    receipts = admitted.receipts if admitted is not None else ()
    return replace(counted(found, delta, receipts, there), raised=raised, version=admitted.version if admitted is not None else None)


def counted(found: Foreign, delta: Delta, receipts: Sequence[Receipt], there: int) -> Imported:
    """An import in figures, from the receipts of its delta."""
    done = list(zip(delta.operations, receipts, strict=True))
    lost = tuple(
        f"lesson '{receipt.id}': {receipt.reason}" if receipt.id else receipt.reason for _, receipt in done if receipt.status == "skipped"
    )
    return Imported(
        added=sum(isinstance(op, Add) and receipt.status == "applied" for op, receipt in done),
        merged=there + sum(receipt.status == "merged" for _, receipt in done),
        held=sum(receipt.status == "held" for _, receipt in done),
        changed=sum(not isinstance(op, Add | Tally) and receipt.status == "applied" for op, receipt in done),
        skipped=len(found.rejections) + len(lost),
        reasons=(*found.rejections, *lost),
    )


def _observed(reading: Reading, op: Observe) -> bool:
    """Whether an observation stands here, under the id it was exported with or under the one it gets."""
    if not op.value:
        return reading.shown(aggregate_id(*place_of(op.section, op.name))) is not None
    done = note(reading, Delta("0-looked-up", ()), [(0, op)])
    (new,) = done.observations.values()
    return any(held is not None and held.said.value[:2] == new.said.value[:2] for held in map(reading.observed, (op.mark, new.id)))


def _standing(reading: Reading, op: Add, retired: set[str]) -> Lesson | None:
    """The lesson that already says what an ADD says, in the standing that the file gives it; none if there is none."""
    section = section_name(op.section, op.kind or "strategy")
    candidates = [op.id] if op.id else [member.key for member in reading.group(group_key(section, text_digest(op.text)))]
    for candidate in candidates:
        lesson = reading.lesson(candidate)
        # A text that a person has changed since it came from this very file is newer than the file.
        if lesson is None or lesson.section != section or not (_says(lesson, op) or _came_from(reading, candidate, op)):
            continue
        wanted = "retired" if op.id in retired else "held" if op.status == "held" else "live"
        if wanted == ("live" if lesson.live else lesson.status):
            return lesson
    return None


def _says(lesson: Lesson, op: Add) -> bool:
    same = normalised(lesson.text) == normalised(op.text)
    return same and lesson.applies_when == op.applies_when and lesson.avoid == op.avoid


def _came_from(reading: Reading, key: str, op: Add) -> bool:
    """Whether an ADD like this one was admitted under this id before."""
    record = reading.record(key)
    records = [] if record is None else [record, *(reading.record(claim.key) for claim in record.claims)]
    said = [one.admission for one in records if one is not None and one.admission is not None]
    digest = text_digest(op.text)
    return any(one.digest == digest and one.applies_when == op.applies_when and one.avoid == op.avoid for one in said)


def _excess(op: Tally, lesson: Lesson) -> Tally:
    more = {name: max(0, getattr(op.tallies, name) - getattr(lesson.tallies, name)) for name in TALLY_NAMES}
    return replace(op, **more)


def written(playbook: Playbook, form: Form) -> str:
    """A playbook as text (see `notation.dumps`), once more without secrets: rules may have been added since it was stored."""
    clean = {key: _redacted(record) for key, record in playbook.records.items()}
    numbers = _redacted_numbers(playbook.observations)
    if numbers is playbook.observations and all(clean[key] is record for key, record in playbook.records.items()):
        return dumps(playbook, form)
    return dumps(assemble(clean.values(), dict(playbook.deltas), numbers), form)


def _redacted_numbers(held: Observations) -> Observations:
    """Observations without secrets in the texts around them; the very same value if there were none."""
    everyone: tuple[Observed | Shown, ...] = (*held.by_id.values(), *held.shown.values())
    texts = {text for one in everyone for text in (one.section, one.name)}
    for one in held.by_id.values():
        texts |= {one.key, one.mark, *one.said.value[1:4]}
    found = _changed({text: text for text in texts})
    if not found:
        return held

    def clean(text: str) -> str:
        return found.get(text, text)

    observations: dict[str, Observed] = {}
    for one in held.by_id.values():
        value, unit, origin, author, at = one.said.value
        said = one.said._replace(value=[value, clean(unit), clean(origin), clean(author), at])
        texts_of = {name: clean(getattr(one, name)) for name in ("section", "name", "key", "mark")}
        observations[one.id] = replace(one, said=said, **texts_of)  # type: ignore[arg-type]
    shown = [replace(one, section=clean(one.section), name=clean(one.name)) for one in held.shown.values()]
    columns = {aggregate_id(one.section, one.name): one for one in shown}
    return NO_OBSERVATIONS.put(Noted(observations=observations, shown=columns))


def _redacted(record: Record) -> Record:
    changes: dict[str, object] = {}
    if record.admission is not None:
        texts = _changed({name: getattr(record.admission, name) for name in _FREE_TEXTS})
        if texts:
            changes["admission"] = replace(record.admission, **texts)  # type: ignore[arg-type]
    said = {
        name: register.value for name, register in record.registers.items() if name in _FREE_REGISTERS and isinstance(register.value, str)
    }
    found = _changed(said)
    if found:
        changes["registers"] = {
            name: register._replace(value=found[name]) if name in found else register for name, register in record.registers.items()
        }
    return replace(record, **changes) if changes else record  # type: ignore[arg-type]


def _changed(texts: Mapping[str, str]) -> dict[str, str]:
    found = {name: redact(text).text for name, text in texts.items()}
    return {name: text for name, text in found.items() if text is not texts[name]}
