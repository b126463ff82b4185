"""What a delta does to observations: the part of `apply` that concerns aggregates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from tenure.playbook.aggregates import (
    Aggregate,
    Observation,
    Observed,
    aggregate_id,
    column,
    joined,
    observation_id,
    place_of,
    show_register,
)
from tenure.playbook.delta import Delta, Observe, Receipt, Revoke
from tenure.playbook.lessons import normalised
from tenure.playbook.records import Register, Stamp, View, latest
from tenure.playbook.wellformed import operation_problem


class Observing(Protocol):
    """Read access to observations, whether they lie in memory or in a database."""

    def observed(self, observation: str) -> Observed | None:
        """What was written under the id of an observation."""
        ...

    def shown(self, aggregate: str) -> Shown | None:
        """Which columns an aggregate shows; none if nobody named any."""
        ...

    def other_unit(self, aggregate: str, unit: str) -> str | None:
        """A unit other than this one in which observations of an aggregate count; none if there is none."""
        ...


class State(View, Observing, Protocol):
    """Read access to all that a delta can change."""


class Figures(State, Protocol):
    """Read access to the aggregates of a scope, for people, prompts and roles."""

    def aggregate_names(self) -> Mapping[str, tuple[str, str]]:
        """Section and name of the scope's aggregates in which something counts, by id; sorted by section and name."""
        ...

    def aggregates(self, *, ids: Collection[str] | None = None, most_rows: int = 24, keys: Collection[str] = ()) -> Sequence[Aggregate]:
        """The scope's tables of numbers and inventories, sorted by section and name.

        Args:
            ids: only these; none takes all.
            most_rows: of a table; those of `keys`, then those with the most observations.
            keys: rows to prefer.
        """
        ...

    def inherited_aggregates(self, *, most_rows: int = 24, keys: Collection[str] = ()) -> Sequence[tuple[str, Aggregate]]:
        """Tables of the parent scopes, nearest first, each with its scope."""
        ...

    def observations(
        self, *, aggregate: str = "", key: str | None = None, run: str = "", origin: str = "", limit: int | None = None
    ) -> Sequence[Observation]:
        """Observations of an aggregate, key, run or origin, revoked ones too, oldest first; the latest where a limit cuts them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The columns of an aggregate.

    Attributes:
        section, name: the aggregate.
        register: the list of columns, by the latest delta that named them.
    """

    section: str
    name: str
    register: Register


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What a delta changes of observations.

    Attributes:
        receipts: by place of the operation in the delta.
        observations: those that changed, whole, by id.
        shown: columns that changed, by aggregate.
    """

    receipts: Mapping[int, Receipt] = field(default_factory=dict[int, Receipt])
    observations: Mapping[str, Observed] = field(default_factory=dict[str, Observed])
    shown: Mapping[str, Shown] = field(default_factory=dict[str, Shown])


NOTHING_NOTED = Noted()


def note(view: Observing, delta: Delta, operations: Sequence[tuple[int, Observe | Revoke]]) -> Noted:
    """Carry out the sound OBSERVE and REVOKE operations of a delta; their order does not matter.

    Args:
        view: the state, which stays as it is.
        delta: the delta they stand in.
        operations: each with its place in the delta.
    """
    receipts: dict[int, Receipt] = {}
    observations: dict[str, Observed] = {}
    shown: dict[str, Shown] = {}
    stamp = Stamp(delta.id, 1)
    seen: Counter[tuple[str, ...]] = Counter()
    observes = [(place, op) for place, op in operations if isinstance(op, Observe)]
    units = {place_of(op.section, op.name): set[str]() for _, op in observes}
    for _, op in observes:
        if op.value:
            units[place_of(op.section, op.name)].add(normalised(op.unit))
    for place, op in observes:
        section, name = place_of(op.section, op.name)
        aggregate = aggregate_id(section, name)
        if op.show:
            register = show_register(stamp, dict.fromkeys(map(column, op.show)), delta.time)
            before = shown.get(aggregate) or view.shown(aggregate)
            shown[aggregate] = Shown(section=section, name=name, register=latest(before.register if before else None, register))
        if not op.value:
            receipts[place] = Receipt("applied", "", aggregate)
            continue
        new = _observed(op, section, name, delta, stamp, seen)
        before_it = observations.get(new.id) or view.observed(new.id)
        observations[new.id] = joined(before_it, new)
        unit = normalised(op.unit)
        other = min(units[section, name] - {unit}, default=None)
        other = view.other_unit(aggregate, unit) if other is None else other
        receipts[place] = _receipt(before_it, observations[new.id], new, unit, other)
    for place, revoke in ((place, op) for place, op in operations if isinstance(op, Revoke)):
        receipts[place] = _revoke(view, revoke, stamp, delta, observations)
    return Noted(receipts=receipts, observations=observations, shown=shown)


def observation_ids(delta: Delta) -> dict[int, str]:
    """The ids of the observations that the sound OBSERVE operations of a delta tell, by place of the operation."""
    seen: Counter[tuple[str, ...]] = Counter()
    stamp = Stamp(delta.id, 1)
    return {
        place: _observed(op, *place_of(op.section, op.name), delta, stamp, seen).id
        for place, op in enumerate(delta.operations)
        if isinstance(op, Observe) and op.value and not operation_problem(op)
    }


def _observed(op: Observe, section: str, name: str, delta: Delta, stamp: Stamp, seen: Counter[tuple[str, ...]]) -> Observed:
    key, unit, run = normalised(op.key), normalised(op.unit), op.run
    if op.mark:
        # With the origin: nobody corrects what another observed.
        mark = f"m:{op.mark}\x1f{op.origin}"
    elif run:
        mark = f"v:{op.value}\x1f{unit}"
    else:
        # Outside of runs each telling counts, also a second one in the same delta.
        told = (section, name, key, op.value, unit, op.origin, op.at, str(op.step))
        seen[told] += 1
        mark = "\x1f".join(("d:", delta.id, *told, str(seen[told])))
    return Observed(
        id=observation_id(section, name, key, run=run, step=op.step, mark=mark),
        section=section,
        name=name,
        key=key,
        run=run,
        step=op.step,
        mark=op.mark,
        said=Register(stamp, [op.value, unit, op.origin, delta.author, op.at or delta.time], delta.time),
    )


def _receipt(before: Observed | None, after: Observed, new: Observed, unit: str, other: str | None) -> Receipt:
    if not after.counts:
        return Receipt("merged", "it was observed before and revoked; it stays revoked until REVOKE puts it back", after.id)
    said = ""
    if before is not None and before.said.value[:2] == new.said.value[:2]:
        return Receipt("merged", "the same observation is there; it counts once", after.id)
    if before is not None and after.said == before.said:
        said = f"stale: the later delta '{before.said.stamp.delta}' has already said it"
    elif before is not None:
        said = f"it corrects the {_amount(before)} that was there"
    if other is not None:
        mixed = f"its unit {unit or 'none'!r} is not the {other or 'none'!r} that others have; it gets a row of its own"
        said = f"{said}; {mixed}" if said else mixed
    return Receipt("applied", said, after.id)


def _amount(one: Observed) -> str:
    return " ".join(filter(None, one.said.value[:2]))


def _revoke(view: Observing, op: Revoke, stamp: Stamp, delta: Delta, observations: dict[str, Observed]) -> Receipt:
    ids = list(dict.fromkeys(op.ids))
    unknown: list[str] = []
    overtaken = ""
    for one in ids:
        found = observations.get(one) or view.observed(one)
        if found is None:
            unknown.append(one)
            continue
        register = latest(found.revoked, Register(stamp, [op.revoked, op.reason], delta.time))
        if register.stamp.delta > delta.id:
            overtaken = f"stale: the later delta '{register.stamp.delta}' has already decided on '{one}'"
        observations[one] = replace(found, revoked=register)
    missing = f"unknown observations left out: {', '.join(unknown[:5])}{' and more' if len(unknown) > 5 else ''}" if unknown else ""
    if len(unknown) == len(ids):
        return Receipt("skipped", missing.replace(" left out", ""), ids[0])
    return Receipt("applied", "; ".join(filter(None, (missing, overtaken))), next(one for one in ids if one not in unknown))
