"""The deterministic merge: a delta goes into a playbook without a model.

Laws (each is a property test): pure and total; commutative; idempotent; byte-stable; nothing is
destroyed; cost follows the delta. See `design.md`, section 3, and docs/reference/algebra.md.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from tenure.playbook.delta import Add, Delta, Merge, Observe, Operation, Pin, Receipt, Restore, Retire, Revoke, Tally, Update
from tenure.playbook.lessons import Evidence, Tallies, lesson_id, normalised, section_name, text_digest
from tenure.playbook.observing import NOTHING_NOTED, Noted, State, note
from tenure.playbook.records import (
    Admission,
    Claim,
    Member,
    Place,
    Record,
    Register,
    Stamp,
    View,
    group_key,
    is_held_by,
    keep_earliest,
    latest,
    root_of,
)
from tenure.playbook.state import Playbook
from tenure.playbook.wellformed import delta_problem, named_id, operation_problem, usable_id

# Ranks decide between operations of one delta on one register: what is later in this list wins.
_BY_ADD, _BY_UPDATE, _BY_RESTORE, _BY_RETIRE = range(4)

_SPOKEN = {"applies_when": "conditions", "life": "standing", "proven": "standing", "retired_because": "standing", "pointer": "merging"}
"""What registers are called in receipts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a delta does to a state, before it is put there.

    Attributes:
        receipts: one per operation, in their order.
        records: the records that changed, whole, by key.
        groups: the groups of equal texts that changed.
        pointers: for ids whose set of pointing records changed, the new set.
        noted: what it changes of observations.
        decided: whether it says what was decided of held changes.
        effective: whether the delta becomes part of the state.
    """

    receipts: tuple[Receipt, ...]
    records: Mapping[str, Record] = field(default_factory=dict[str, Record])
    groups: Mapping[str, tuple[Member, ...]] = field(default_factory=dict[str, tuple[Member, ...]])
    pointers: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    noted: Noted = NOTHING_NOTED
    decided: bool = False

    @property
    def effective(self) -> bool:
        """Whether the delta becomes part of the state: it wrote a record, changed an aggregate, or tells a decision."""
        return bool(self.records or self.noted.observations or self.noted.shown or self.decided)


@dataclass(frozen=True, slots=True)
class Applied:
    """A playbook after a delta, and what became of each operation.

    Attributes:
        playbook: the new value; the very same one if the delta left no trace.
        receipts: one per operation, in their order.
    """

    playbook: Playbook
    receipts: tuple[Receipt, ...]


def apply(playbook: Playbook, delta: Delta) -> Applied:
    """Put a delta into a playbook. Never raises on a well-typed delta.

    Args:
        playbook: the value to start from; it stays valid.
        delta: its id should be greater than those it was made after, so that later deltas win.

    Returns:
        The new playbook and a receipt per operation. A delta that is already held, or whose
        operations are all skipped and that tells no decision, leaves no trace.
    """
    change = fold_in(playbook, delta)
    if not change.effective:
        return Applied(playbook, change.receipts)
    return Applied(put_in(playbook, delta, change), change.receipts)


def put_in(playbook: Playbook, delta: Delta, change: Change) -> Playbook:
    """A playbook with a change in it that `fold_in` worked out of this delta and this playbook."""
    return Playbook(
        records=playbook.records.update(change.records),
        groups=playbook.groups.update(change.groups),
        pointers=playbook.pointers.update(change.pointers),
        deltas=playbook.deltas.insert(delta.id, delta.key or ""),
        keys=playbook.keys.insert(delta.key, delta.id) if delta.key else playbook.keys,
        observations=playbook.observations.put(change.noted),
    )


def fold_in(view: State, delta: Delta) -> Change:
    """What a delta does to a state that can be looked up record by record.

    `apply` uses it on a playbook in memory, a store on rows it fetches as they are asked for.
    """
    refusal = _refusal(view, delta)
    if refusal:
        return Change(receipts=tuple(Receipt("skipped", refusal, named_id(op)) for op in delta.operations))
    work = _Work(view, delta)
    problems = [operation_problem(op) for op in delta.operations]
    adds = [(i, op) for i, op in enumerate(delta.operations) if isinstance(op, Add) and not problems[i]]
    work.admit(adds)
    numbers = [(i, op) for i, op in enumerate(delta.operations) if isinstance(op, Observe | Revoke) and not problems[i]]
    noted = note(view, delta, numbers) if numbers else NOTHING_NOTED
    receipts: list[Receipt | None] = []
    for place, (op, problem) in enumerate(zip(delta.operations, problems, strict=True)):
        if problem:
            receipts.append(Receipt("skipped", problem, named_id(op)))
        elif isinstance(op, Observe | Revoke):
            receipts.append(noted.receipts[place])
        elif isinstance(op, Add):
            receipts.append(None)
        else:
            receipts.append(work.write(op))
    final = [r if r is not None else work.add_receipt(i) for i, r in enumerate(receipts)]
    return Change(
        receipts=tuple(final),
        records=work.records,
        groups=work.groups,
        pointers=work.pointers,
        noted=noted,
        decided=bool(delta.decisions),
    )


def _refusal(view: View, delta: Delta) -> str:
    """Why no operation of a delta counts in this state, or an empty text."""
    problem = delta_problem(delta)
    if problem:
        return problem
    if view.holds(delta.id):
        return f"delta '{delta.id}' is already held"
    if delta.key and (owner := view.key_owner(delta.key)) is not None:
        return f"delta '{owner}' already holds the key '{delta.key}'"
    return ""


def added_keys(delta: Delta) -> dict[int, str]:
    """The ids of the records that the sound ADDs of a delta make, by place of the operation."""
    return _keys_of(delta.id, [(i, op) for i, op in enumerate(delta.operations) if isinstance(op, Add) and not operation_problem(op)])


def _keys_of(delta_id: str, adds: Sequence[tuple[int, Add]]) -> dict[int, str]:
    alike: defaultdict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for place, op in adds:
        alike[section_name(op.section, op.kind or "strategy"), normalised(op.text)].append((_canonical(op), place))
    texts = dict(adds)
    return {
        place: lesson_id(delta_id, section, texts[place].text, count)
        for (section, _), same in alike.items()
        for count, (_, place) in enumerate(sorted(same))
    }


class _Work:
    """The records a delta touches, over a view that stays as it is."""

    def __init__(self, view: View, delta: Delta) -> None:
        self._view, self._delta = view, delta
        self._at = delta.time
        self.records: dict[str, Record] = {}
        self.groups: dict[str, tuple[Member, ...]] = {}
        self.pointers: dict[str, frozenset[str]] = {}
        self._own_names: dict[str, str] = {}
        self._added: dict[int, tuple[str, Add, str]] = {}

    # -- the view, with this delta's writes on top --------------------------------------------

    def record(self, key: str) -> Record | None:
        return self.records.get(key) or self._view.record(key)

    def group(self, group: str) -> tuple[Member, ...]:
        return self.groups[group] if group in self.groups else self._view.group(group)

    def pointing(self, key: str) -> Iterable[str]:
        return self.pointers[key] if key in self.pointers else self._view.pointing(key)

    def holds(self, delta_id: str) -> bool:
        return self._view.holds(delta_id)

    def key_owner(self, key: str) -> str | None:
        return self._view.key_owner(key)

    # -- ADD -----------------------------------------------------------------------------------

    def admit(self, adds: list[tuple[int, Add]]) -> None:
        """Create the records of all ADDs first, so that the order of operations does not matter."""
        keys = _keys_of(self._delta.id, adds)
        for place, op in adds:
            self._admit(place, op, section_name(op.section, op.kind or "strategy"), keys[place])

    def _admit(self, place: int, op: Add, section: str, key: str) -> None:
        delta, at, note, name = self._delta.id, self._at, "", op.id or ""
        if name and not usable_id(name):
            note, name = f"the id {op.id!r} cannot be kept (white space, brackets or control characters); it got a derived one", ""
        digest = text_digest(op.text)
        # A text that waits for a review is only read where no other was written: held, it overrides nothing.
        registers = {"proposed" if op.status == "held" else "text": Register(Stamp(delta, _BY_ADD), op.text, at)}
        if op.status != "held":
            registers["life"] = Register(Stamp(delta, _BY_ADD), "live", at)
        if op.status == "active":
            registers["proven"] = Register(Stamp(delta, _BY_ADD), True, at)
        evidence = tuple(Place(delta, place) for place in op.evidence)
        # The id may be known already: another playbook's export can arrive before what it was made from.
        record = self.record(key) or Record(key=key)
        admitted = replace(
            record,
            admission=Admission(
                delta=delta,
                section=section,
                digest=digest,
                at=at,
                status=op.status,
                kind=op.kind or "strategy",
                applies_when=op.applies_when,
                avoid=op.avoid,
                tool_order=tuple(op.tool_order),
                about=op.about,
                origin=op.origin,
                author=op.author or self._delta.author,
                name=name,
            ),
            registers={**record.registers, **{what: latest(record.registers.get(what), new) for what, new in registers.items()}},
            tallies=record.tallies + Tallies(support=1) if evidence else record.tallies,
        )
        self.records[key] = self._with_evidence(admitted, op.evidence)
        group = group_key(section, digest)
        self.groups[group] = tuple(sorted({*self.group(group), Member(delta, key, bool(name))}))
        if name:
            owner = self.record(name) or Record(key=name)
            self.records[name] = replace(owner, claims=tuple(sorted({*owner.claims, Claim(delta, key, digest)})))
            self._own_names[name] = min(key, self._own_names.get(name, key))
        self._added[place] = (key, op, note)

    def add_receipt(self, place: int) -> Receipt:
        """What became of an ADD, judged once all operations of the delta are in."""
        key, op, note = self._added[place]
        root = root_of(self, key)
        named = "" if note or not op.id else op.id
        kept = named == key or is_held_by(self, key, named)
        if named and not kept:
            note = f"another lesson holds the id '{named}' with another text; this one got a derived id"
        joined = ""
        if "pointer" in self.records[key].registers and root not in (key, named):
            joined = f"this delta merges it into '{root}'"
        elif root not in (key, named) or (kept and named != key and self._known_before(named)):
            joined = f"the same text is there as '{root}'"
        if joined:
            return Receipt("merged", "; ".join(filter(None, (joined, note))), root)
        if op.status == "held":
            return Receipt("held", note or "it waits for a review", root)
        return Receipt("applied", note, root)

    def _known_before(self, name: str) -> bool:
        record = self._view.record(name)
        return record is not None and (record.admission is not None or bool(record.claims))

    # -- the other operations --------------------------------------------------------------------

    def write(self, op: Operation) -> Receipt:
        """Carry out an operation that is not an ADD."""
        if isinstance(op, Merge):
            return self._merge(op)
        assert not isinstance(op, Add | Observe | Revoke)
        key = self._own_names.get(op.id, op.id)
        record = self.record(key)
        if record is None:
            return Receipt("skipped", f"unknown lesson '{op.id}'", op.id)
        if isinstance(op, Tally):
            self.records[key] = self._with_evidence(replace(record, tallies=record.tallies + op.tallies), op.evidence)
            return Receipt("applied", "", op.id)
        if isinstance(op, Restore) and op.unmerge:
            return self._point(record, None, _BY_RESTORE)
        overtaken = self._set(record, _writes(op))
        if isinstance(op, Update) and op.evidence:
            self.records[key] = self._with_evidence(self.records[key], op.evidence)
        return Receipt("applied", overtaken, op.id)

    def _merge(self, op: Merge) -> Receipt:
        into = self._own_names.get(op.into, op.into)
        target = self.record(into)
        if target is None:
            return Receipt("skipped", f"unknown lesson '{op.into}'", op.into)
        named = [self._own_names.get(one, one) for one in dict.fromkeys(op.ids)]
        known = [key for key in named if key != into and self.record(key) is not None]
        unknown = [one for one, key in zip(dict.fromkeys(op.ids), named, strict=True) if self.record(key) is None]
        if not known:
            return Receipt("skipped", f"no other known lesson to merge among {', '.join(map(repr, op.ids)) or 'no ids'}", op.into)
        overtaken = ""
        for key in known:
            record = self.record(key)
            assert record is not None
            overtaken = self._point(record, into, _BY_UPDATE).reason or overtaken
        if op.text is not None:
            record = self.record(into)
            assert record is not None
            overtaken = self._set(record, {"text": (_BY_UPDATE, op.text)}) or overtaken
        missing = f"unknown ids left out: {', '.join(unknown)}" if unknown else ""
        return Receipt("applied", "; ".join(filter(None, (missing, overtaken))), op.into)

    def _point(self, record: Record, target: str | None, rank: int) -> Receipt:
        before = record.registers.get("pointer")
        overtaken = self._set(record, {"pointer": (rank, target)})
        after = self.records[record.key].registers["pointer"]
        if before is not None and before.value and before.value != after.value:
            self.pointers[before.value] = frozenset(self.pointing(before.value)) - {record.key}
        if after.value:
            self.pointers[after.value] = frozenset(self.pointing(after.value)) | {record.key}
        return Receipt("applied", overtaken, record.key)

    def _set(self, record: Record, values: Mapping[str, tuple[int, object]]) -> str:
        """Write registers; say so where a later delta had written one before this one arrived."""
        registers = dict(record.registers)
        overtaken = ""
        for name, (rank, value) in values.items():
            written = Register(Stamp(self._delta.id, rank), value, self._at)
            winner = latest(registers.get(name), written)
            if winner.stamp.delta > self._delta.id:
                overtaken = f"stale: the later delta '{winner.stamp.delta}' has already written its {_SPOKEN.get(name, name)}"
            registers[name] = winner
        self.records[record.key] = replace(record, registers=registers)
        return overtaken

    def _with_evidence(self, record: Record, evidence: tuple[Evidence, ...]) -> Record:
        if not evidence:
            return record
        return replace(record, evidence=keep_earliest((*record.evidence, *(Place(self._delta.id, place) for place in evidence))))


def _writes(op: Update | Retire | Restore | Pin | Tally) -> dict[str, tuple[int, object]]:
    """The registers an operation sets, each with the rank that decides within one delta."""
    if isinstance(op, Pin):
        return {"pinned": (_BY_UPDATE, op.pinned)}
    if isinstance(op, Retire):
        # A lesson that comes back after it was retired has to be proven again.
        return {"life": (_BY_RETIRE, "retired"), "proven": (_BY_RETIRE, False), "retired_because": (_BY_RETIRE, op.reason)}
    if isinstance(op, Restore):
        return _standing(op.status, _BY_RESTORE)
    assert isinstance(op, Update)
    values: dict[str, tuple[int, object]] = {}
    for name in ("text", "applies_when", "verdict", "kind", "about", "revision"):
        value = getattr(op, name)
        if value is not None:
            values[name] = (_BY_UPDATE, value)
    if op.status is not None:
        values |= _standing(op.status, _BY_UPDATE)
    return values


def _standing(status: str, rank: int) -> dict[str, tuple[int, object]]:
    if status == "held":
        return {"life": (rank, "held")}
    return {"life": (rank, "live"), "proven": (rank, status == "active")}


def _canonical(op: Add) -> str:
    """A text that orders the equal ADDs of one delta, whatever order they came in."""
    return json.dumps(
        [getattr(op, f.name) if f.name != "evidence" else [[e.run, e.step, e.role] for e in op.evidence] for f in fields(op)],
        ensure_ascii=False,
        default=list,
    )
