"""The observations of a playbook as an immutable value, and their part of the canonical JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rpds import HashTrieMap

from tenure.playbook.aggregates import Aggregate, Observation, Observed, aggregate_id, column, exact, summarise, written
from tenure.playbook.delta import Observe, Operation
from tenure.playbook.observing import Noted, Shown
from tenure.playbook.records import Register, Stamp
from tenure.playbook.wellformed import storable

_NO_IDS: HashTrieMap[str, None] = HashTrieMap()
_NO_COUNTS: HashTrieMap[str, int] = HashTrieMap()
_NO_OBSERVED: HashTrieMap[str, Observed] = HashTrieMap()
_NO_SHOWN: HashTrieMap[str, Shown] = HashTrieMap()
_NO_MEMBERS: HashTrieMap[str, HashTrieMap[str, None]] = HashTrieMap()
_NO_UNITS: HashTrieMap[str, HashTrieMap[str, int]] = HashTrieMap()


@dataclass(frozen=True, slots=True)
class Observations:
    """All observations of a playbook.

    Attributes:
        by_id: each as it was written.
        shown: columns by aggregate, where some were named.
        members: ids by aggregate, revoked ones too.
        units: by aggregate, how many observations of each unit count.
    """

    by_id: HashTrieMap[str, Observed] = _NO_OBSERVED
    shown: HashTrieMap[str, Shown] = _NO_SHOWN
    members: HashTrieMap[str, HashTrieMap[str, None]] = field(default=_NO_MEMBERS, compare=False)
    units: HashTrieMap[str, HashTrieMap[str, int]] = field(default=_NO_UNITS, compare=False)
    _read: list[tuple[Aggregate, ...]] = field(default_factory=list[tuple[Aggregate, ...]], compare=False)

    def put(self, noted: Noted) -> Observations:
        """The observations after a delta; the very same value if it changed none. Cost follows the delta."""
        if not noted.observations and not noted.shown:
            return self
        members, units = self.members, self.units
        for one in noted.observations.values():
            aggregate, before = aggregate_id(one.section, one.name), self.by_id.get(one.id)
            if before is None:
                members = members.insert(aggregate, members.get(aggregate, _NO_IDS).insert(one.id, None))
            for held, by in ((before, -1), (one, 1)):
                if held is not None and held.counts:
                    units = units.insert(aggregate, _counted(units.get(aggregate, _NO_COUNTS), held.said.value[1], by))
        return Observations(by_id=self.by_id.update(noted.observations), shown=self.shown.update(noted.shown), members=members, units=units)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The tables, sorted by section and name. Worked out once per value."""
        if not self._read:
            found = (self.aggregate(one) for one in self.members)
            self._read.append(tuple(sorted((one for one in found if one is not None), key=lambda one: (one.section, one.name))))
        return self._read[0]

    def aggregate(self, aggregate: str) -> Aggregate | None:
        """One table; none if nothing counts in it. Cost follows its observations."""
        held = self.of(aggregate)
        if not held:
            return None
        shown = self.shown.get(aggregate)
        return summarise(held[0].section, held[0].name, shown.register if shown is not None else None, held)

    def of(self, aggregate: str) -> Sequence[Observation]:
        """The observations of an aggregate, revoked ones too, in the order that `last` goes by."""
        found = (self.by_id[one].observation for one in self.members.get(aggregate, _NO_IDS))
        return sorted(found, key=lambda one: one.order)


def observing_operations(held: Observations) -> tuple[Operation, ...]:
    """The operations that bring observations into another playbook: those that count, and the columns of their tables.

    One that no run and no mark tells apart is marked with its id, so that bringing it in twice counts once.
    """
    found: list[Operation] = [
        Observe(
            one.section,
            one.name,
            written(one.value),
            one.unit,
            one.key,
            run=one.run,
            step=one.step,
            mark=held.by_id[one.id].mark or ("" if one.run else one.id),
            origin=one.origin,
            at=one.at,
        )
        for aggregate in sorted(held.members)
        for one in held.of(aggregate)
        if not one.revoked
    ]
    return (
        *found,
        *(Observe(held.shown[one].section, held.shown[one].name, show=tuple(held.shown[one].register.value)) for one in sorted(held.shown)),
    )


def _counted(units: HashTrieMap[str, int], unit: str, by: int) -> HashTrieMap[str, int]:
    left = units.get(unit, 0) + by
    return units.insert(unit, left) if left else units.discard(unit)


NO_OBSERVATIONS = Observations()


def observations_to_json(held: Observations) -> str:
    """The part of the canonical JSON that carries observations, one a line; empty if there are none."""
    parts = ""
    if len(held.by_id):
        lines = ",\n".join(observed_to_json(held.by_id[one]) for one in sorted(held.by_id))
        parts += f',"observations":[\n{lines}\n]'
    if len(held.shown):
        lines = ",\n".join(shown_to_json(held.shown[one]) for one in sorted(held.shown))
        parts += f',"shown":[\n{lines}\n]'
    return parts


def observations_from_json(held: Mapping[str, Any]) -> Observations:
    """The observations in the canonical JSON of a playbook.

    Raises:
        KeyError, TypeError, ValueError: they are not well-formed.
    """
    observations = [_checked(observed_from_json(entry)) for entry in held.get("observations", ())]
    shown = {aggregate_id(one.section, one.name): one for one in map(shown_from_json, held.get("shown", ()))}
    for one in shown.values():
        if list(map(column, one.register.value)) != one.register.value:
            raise ValueError(f"aggregate '{one.name}' shows {one.register.value!r}")
    return NO_OBSERVATIONS.put(Noted(observations={one.id: one for one in observations}, shown=shown))


def observed_to_json(one: Observed) -> str:
    """One observation as canonical JSON, defaults left out."""
    out: dict[str, Any] = {"id": one.id, "section": one.section, "name": one.name, "said": _register(one.said)}
    for name, default in (("key", ""), ("run", ""), ("step", -1), ("mark", "")):
        if getattr(one, name) != default:
            out[name] = getattr(one, name)
    if one.revoked is not None:
        out["revoked"] = _register(one.revoked)
    return json.dumps(out, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def observed_from_json(held: Mapping[str, Any] | str) -> Observed:
    """The observation that `observed_to_json` wrote."""
    entry: Mapping[str, Any] = json.loads(held) if isinstance(held, str) else held
    revoked = entry.get("revoked")
    return Observed(
        id=entry["id"],
        section=entry["section"],
        name=entry["name"],
        key=entry.get("key", ""),
        run=entry.get("run", ""),
        step=entry.get("step", -1),
        mark=entry.get("mark", ""),
        said=_read_register(entry["said"]),
        revoked=_read_register(revoked) if revoked is not None else None,
    )


def shown_to_json(one: Shown) -> str:
    """The columns of one aggregate as canonical JSON."""
    out = {"section": one.section, "name": one.name, "columns": _register(one.register)}
    return json.dumps(out, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def shown_from_json(held: Mapping[str, Any] | str) -> Shown:
    """The columns that `shown_to_json` wrote."""
    entry: Mapping[str, Any] = json.loads(held) if isinstance(held, str) else held
    return Shown(section=entry["section"], name=entry["name"], register=_read_register(entry["columns"]))


def _register(register: Register) -> list[Any]:
    return [register.stamp.delta, register.stamp.rank, register.value, register.at]


def _read_register(held: Sequence[Any]) -> Register:
    delta, rank, value, at = held
    return Register(Stamp(delta, rank), value, at)


def _checked(one: Observed) -> Observed:
    """The observation, if its fields have the types they must have.

    Raises:
        TypeError, ValueError: one has not.
    """
    value, unit, origin, author, at = one.said.value
    texts: list[object] = [one.id, one.section, one.name, one.key, one.run, one.mark, one.said.stamp.delta, one.said.at]
    texts += [value, unit, origin, author, at]
    numbers: list[object] = [one.step, one.said.stamp.rank]
    if one.revoked is not None:
        revoked, reason = one.revoked.value
        texts += [one.revoked.stamp.delta, one.revoked.at, reason]
        numbers += [one.revoked.stamp.rank, int(revoked is True)]
    wrong = [value for value in texts if not isinstance(value, str) or not storable(value)]
    wrong += [value for value in numbers if type(value) is not int]
    if wrong:
        raise TypeError(f"observation '{one.id}' holds {wrong[0]!r} where that cannot be")
    if exact(value) != value:
        raise ValueError(f"observation '{one.id}' holds the number {value!r}, which is not in its exact form")
    return one
