"""A part of a playbook, folded from the deltas that concern it: what some records are, at a cost that follows them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from tenure.playbook.apply import added_keys, fold_in, put_in
from tenure.playbook.delta import Add, Delta, Merge, Observe, Operation, Revoke
from tenure.playbook.lessons import normalised, section_name
from tenure.playbook.notation import assemble
from tenure.playbook.state import Playbook


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some records of a playbook as a playbook of their own.

    Attributes:
        playbook: with these records and no others, and with observations if they were asked for.
        effective: ids of the deltas that left a trace in it.
    """

    playbook: Playbook
    effective: frozenset[str]


def related(deltas: Iterable[Delta], keys: Collection[str]) -> set[str]:
    """These ids and those that an operation puts together with one of them: merged ones, and an import with its name."""
    found = set(keys)
    for delta in deltas:
        made = added_keys(delta)
        for place, operation in enumerate(delta.operations):
            if isinstance(operation, Merge):
                together = {*operation.ids, operation.into}
            elif isinstance(operation, Add) and operation.id:
                together = {operation.id, made.get(place, operation.id)}
            else:
                continue
            if together & found:
                found |= together
    return found


def fold_part(deltas: Iterable[Delta], keys: Collection[str], *, observed: bool = False) -> Part:
    """The records under some ids, as all deltas that concern them leave them.

    Args:
        deltas: at least those that name or make one of the records, in the order in which they came. One with decisions leaves
            a trace whatever else it does.
        keys: closed under `related`: what an operation does to a record can depend on whether the others are there.
        observed: whether observations are wanted; then all deltas that hold any are needed.
    """
    book, effective = Playbook(), set[str]()
    for delta in deltas:
        kept = _concerning(delta, keys, observed=observed)
        if not kept and not delta.decisions:
            continue
        change = fold_in(book, replace(delta, operations=kept))
        if change.effective:
            effective.add(delta.id)
            book = put_in(book, delta, change)
    records = [record for key, record in book.records.items() if key in keys]
    return Part(playbook=assemble(records, dict(book.deltas.items()), book.observations), effective=frozenset(effective))


def _concerning(delta: Delta, keys: Collection[str], *, observed: bool) -> tuple[Operation, ...]:
    """The operations that concern these records. ADDs of equal texts stay together, for their ids follow from how many there are."""
    made = added_keys(delta)
    wanted = {_alike(op) for place, op in enumerate(delta.operations) if isinstance(op, Add) and (made.get(place) in keys or op.id in keys)}

    def concerns(operation: Operation) -> bool:
        if isinstance(operation, Observe | Revoke):
            return observed
        if isinstance(operation, Add):
            return _alike(operation) in wanted
        if isinstance(operation, Merge):
            return operation.into in keys or any(one in keys for one in operation.ids)
        return operation.id in keys

    return tuple(filter(concerns, delta.operations))


def _alike(add: Add) -> tuple[str, str]:
    return section_name(add.section, add.kind or "strategy"), normalised(add.text)


def close(name: Callable[[Collection[str]], Sequence[Delta]], keys: Collection[str]) -> tuple[set[str], list[Delta]]:
    """Ids closed under `related`, and the deltas that concern them, in order.

    Args:
        name: gives the deltas, in order, that name or make one of some records.
        keys: to begin with.
    """
    found = set(keys)
    while True:
        deltas = list(name(found))
        more = related(deltas, found)
        if more == found:
            return found, deltas
        found = more
