"""The state behind a playbook, kept per id, and how lessons are read from it.

A record holds what was written under one id and nothing that depends on the order of arrival:
last-writer-wins registers stamped with the id of the delta that wrote them, counts that add, and
places that unite. Which records make up a lesson (aliases and all) is worked out on reading, so
that the state is a function of the *set* of deltas, whatever their order.

A lesson is a tree of records under a root. A record points to another because a MERGE said so,
because an earlier ADD admitted the same text in its section, or because it was imported under a
name (to the record of that name). An imported lesson and its name are one: what a MERGE wrote to
either counts for both.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from tenure.playbook.lessons import EVIDENCE_KEPT, Evidence, Lesson, Tallies


class Stamp(NamedTuple):
    """When a register was written: the delta's id, then the rank of the operation within it."""

    delta: str
    rank: int


class Register(NamedTuple):
    """A last-writer-wins value. `at` is the time of the writing delta, for display only."""

    stamp: Stamp
    value: Any
    at: str


class Claim(NamedTuple):
    """An imported lesson's claim to a name: by which delta, the record's key, its text's digest."""

    delta: str
    key: str
    digest: str


class Member(NamedTuple):
    """A record in a group of equal admitted texts. Imported ones head a group but never join one."""

    delta: str
    key: str
    imported: bool


class Place(NamedTuple):
    """Evidence with the delta that brought it, so that the earliest can be kept."""

    delta: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What the ADD of a record said. Never changes; registers written later override it."""

    delta: str
    section: str
    digest: str
    at: str = ""
    status: str = "active"
    kind: str = "strategy"
    applies_when: str = ""
    avoid: str = ""
    tool_order: tuple[str, ...] = ()
    about: str = ""
    origin: str = ""
    author: str = ""
    name: str = ""

    @property
    def group(self) -> str:
        """Key of the group of equal texts in one section."""
        return group_key(self.section, self.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """All that was written under one id.

    Attributes:
        key: the id: derived for a lesson that an ADD created, the given one for an imported name.
        admission: what the ADD said; none for an imported name.
        claims: records imported under this name, by delta id.
        registers: `text`, `proposed` (a text that was added held; read where no `text` was
            written), `applies_when`, `life` (live, held, retired), `proven`, `pinned`, `pointer`,
            `verdict`, `revision`, `kind`, `about`, `retired_because`. Treated as immutable.
        tallies: sums; may be negative while an undone count is still to arrive.
        evidence: the earliest places, `EVIDENCE_KEPT` at most, sorted.
    """

    key: str
    admission: Admission | None = None
    claims: tuple[Claim, ...] = ()
    registers: Mapping[str, Register] = field(default_factory=dict[str, Register])
    tallies: Tallies = Tallies()
    evidence: tuple[Place, ...] = ()


class View(Protocol):
    """Read access to records, whether they lie in memory or in a database."""

    def record(self, key: str) -> Record | None:
        """The record under this id."""
        ...

    def group(self, group: str) -> tuple[Member, ...]:
        """The members of a group of equal texts, sorted by delta id and key."""
        ...

    def pointing(self, key: str) -> Iterable[str]:
        """Keys of the records whose pointer register names this id."""
        ...

    def holds(self, delta_id: str) -> bool:
        """Whether this delta is part of the state."""
        ...

    def key_owner(self, key: str) -> str | None:
        """Id of the delta that holds this delta key."""
        ...


def group_key(section: str, digest: str) -> str:
    """Names a group of equal texts in one section."""
    return f"{digest}:{section}"


def latest(a: Register | None, b: Register) -> Register:
    """The register that wins: by stamp, then by value, so that the order of arrival never decides."""
    if a is None:
        return b
    if a.stamp != b.stamp:
        return a if a.stamp > b.stamp else b
    return max(a, b, key=lambda r: (json.dumps(r.value, sort_keys=True, ensure_ascii=False), r.at))


def keep_earliest(places: Collection[Place]) -> tuple[Place, ...]:
    """The earliest distinct places, `EVIDENCE_KEPT` at most, sorted."""
    if not places:
        return ()
    seen: dict[Evidence, Place] = {}
    for place in sorted(set(places)):
        seen.setdefault(place.evidence, place)
        if len(seen) == EVIDENCE_KEPT:
            break
    return tuple(sorted(seen.values()))


class _Pointer(NamedTuple):
    target: str
    delta: str
    kind: str
    """`merge` (written by a MERGE), `text` (to the first of equal texts) or `name` (to the id it was imported with)."""


def _pointer(view: View, key: str) -> _Pointer | None:
    record = view.record(key)
    if record is None:
        return None
    admission = record.admission
    if admission is not None and admission.name and is_held_by(view, key, admission.name):
        return _Pointer(admission.name, admission.delta, "name")
    register = _pointer_register(view, record) if record.claims else record.registers.get("pointer")
    if register is not None:
        return _Pointer(register.value, register.stamp.delta, "merge") if register.value else None
    if admission is None or admission.name:
        return None
    head = view.group(admission.group)[0]
    return _Pointer(head.key, admission.delta, "text") if head.key != key else None


def is_held_by(view: View, key: str, name: str) -> bool:
    """Whether the lesson imported as this record is the one that holds the imported name."""
    if not name or name == key:
        return False
    record, held = view.record(key), view.record(name)
    return record is not None and record.admission is not None and held is not None and _holder_digest(held) == record.admission.digest


def _holder_digest(name: Record) -> str:
    """Digest of the text that holds an imported name: a lesson born with it, else the first claim."""
    if name.admission is not None:
        return name.admission.digest
    return name.claims[0].digest if name.claims else ""


def _pointer_register(view: View, record: Record) -> Register | None:
    """The pointer that counts for a record; for a name, also what was written to the records it stands for."""
    found = record.registers.get("pointer")
    for claim in record.claims:
        if claim.digest == _holder_digest(record) and claim.key != record.key:
            imported = view.record(claim.key)
            register = imported.registers.get("pointer") if imported is not None else None
            found = latest(found, register) if register is not None else found
    return found


def root_of(view: View, key: str) -> str:
    """The id whose lesson this id belongs to. In a cycle, the pointer with the smallest delta id is ignored."""
    path: list[str] = []
    pointers: list[_Pointer] = []
    place: dict[str, int] = {}
    while True:
        place[key] = len(path)
        path.append(key)
        pointer = _pointer(view, key)
        if pointer is None or view.record(pointer.target) is None:
            return key
        pointers.append(pointer)
        key = pointer.target
        if key in place:
            cycle = range(place[key], len(path))
            # An import and its name are one: no cycle is broken between them while there is another place.
            return path[min(cycle, key=lambda i: (pointers[i].kind == "name", pointers[i].delta, path[i]))]


def target_of(view: View, key: str) -> str | None:
    """The id that a record points to, whether or not that closes a cycle; none if to no other."""
    pointer = _pointer(view, key)
    return pointer.target if pointer is not None else None


def _children(view: View, key: str) -> Iterator[tuple[str, _Pointer]]:
    record = view.record(key)
    if record is None:
        return
    candidates = set(view.pointing(key))
    for candidate in tuple(candidates):
        imported = view.record(candidate)
        if imported is not None and imported.admission is not None:
            candidates.add(imported.admission.name)
    candidates.update(claim.key for claim in record.claims)
    if record.admission is not None:
        members = view.group(record.admission.group)
        if members[0].key == key:
            candidates.update(member.key for member in members if not member.imported)
    for candidate in sorted(candidates - {key, ""}):
        pointer = _pointer(view, candidate)
        if pointer is not None and pointer.target == key:
            yield candidate, pointer


class _Once:
    """A view that is asked only once for each thing, while one lesson is read."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._records: dict[str, Record | None] = {}
        self._groups: dict[str, tuple[Member, ...]] = {}

    def record(self, key: str) -> Record | None:
        if key not in self._records:
            self._records[key] = self._view.record(key)
        return self._records[key]

    def group(self, group: str) -> tuple[Member, ...]:
        if group not in self._groups:
            self._groups[group] = self._view.group(group)
        return self._groups[group]

    def pointing(self, key: str) -> Iterable[str]:
        return self._view.pointing(key)

    def holds(self, delta_id: str) -> bool:
        return self._view.holds(delta_id)

    def key_owner(self, key: str) -> str | None:
        return self._view.key_owner(key)


def component(view: View, root: str) -> dict[str, str]:
    """The records that make up a lesson, each with its gate.

    A write to a record counts for the lesson if its delta id is above the record's gate: the
    greatest delta id among the MERGE pointers between it and the root.
    """
    return _component(_Once(view), root)


def _component(view: View, root: str) -> dict[str, str]:
    gates = {root: ""}
    waiting = [root]
    while waiting:
        key = waiting.pop()
        for child, pointer in _children(view, key):
            if child not in gates:
                gates[child] = max(gates[key], pointer.delta if pointer.kind == "merge" else "")
                waiting.append(child)
    return gates


def read_lesson(view: View, root: str) -> Lesson:
    """The lesson of a root, resolved from all its records. Cost follows their number."""
    view = _Once(view)
    gates = _component(view, root)
    registers: dict[str, Register] = {}
    tallies = Tallies()
    places: list[Place] = []
    first: Admission | None = None
    own: set[str] = {root}
    for key, gate in gates.items():
        record = view.record(key)
        if record is None:  # pragma: no cover - component only names records that exist
            continue
        for name, register in record.registers.items():
            if name != "pointer" and register.stamp.delta > gate:
                registers[name] = latest(registers.get(name), register)
        tallies += record.tallies
        places.extend(record.evidence)
        if record.admission is not None and record.admission.name and is_held_by(view, key, record.admission.name):
            own.add(key)
    record = view.record(root)
    if record is not None:
        first = record.admission
        if first is None and record.claims:
            holder = view.record(record.claims[0].key)
            first = holder.admission if holder is not None else None
    if first is None:
        raise LookupError(f"record '{root}' has neither an admission nor a claim")
    return _compose(root, first, registers, tallies, places, tuple(sorted(set(gates) - own)))


def _compose(
    root: str, first: Admission, registers: Mapping[str, Register], tallies: Tallies, places: list[Place], merged: tuple[str, ...]
) -> Lesson:
    def value(name: str, default: Any) -> Any:
        register = registers.get(name)
        return default if register is None else register.value

    life = value("life", "held" if first.status == "held" else "live")
    status = ("active" if value("proven", False) else "provisional") if life == "live" else life
    newest = max(registers.values(), key=lambda r: r.stamp, default=None)
    return Lesson(
        id=root,
        section=first.section,
        kind=value("kind", first.kind),
        text=value("text", value("proposed", "")),
        applies_when=value("applies_when", first.applies_when),
        avoid=first.avoid,
        tool_order=first.tool_order,
        about=value("about", first.about),
        status=status,
        tallies=tallies.floored(),
        evidence=tuple(place.evidence for place in keep_earliest(places)),
        origin=first.origin,
        author=first.author,
        verdict=value("verdict", ""),
        revision=value("revision", ""),
        created=first.at,
        updated=newest.at if newest is not None else first.at,
        pinned=bool(value("pinned", False)),
        merged=merged,
        restored=registers["life"].at if life == "live" and "retired_because" in registers else "",
    )
