"""Observations in a SQL database: each a row, figures read off indexes, sums kept running.

Counts and sums are kept because they are exact however they were reached; the least, the greatest, the middle and
the latest values are read off an index, so that nothing has to be worked out anew when one is revoked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from tenure.playbook.aggregates import (
    DEFAULT_SHOW,
    MOST_LAST,
    Aggregate,
    Observation,
    Observed,
    Row,
    added,
    aggregate_id,
    from_sortable,
    middle,
    moment,
    sortable,
    written,
)
from tenure.playbook.observations import Observations, observed_from_json, observed_to_json, shown_from_json, shown_to_json
from tenure.playbook.observing import Noted, Shown
from tenure.stores import rows
from tenure.stores.prepared import change, fetch, fetch_among, put

_AT_ONCE = 500
_ROW = ("tenant", "scope", "aggregate", "unit", "key")
_VALUES = ("unit", "counts", "amount", "moment", "delta_id", "origin", "body")


def observed(connection: Connection, wall: Mapping[str, str], ids: Sequence[str]) -> dict[str, Observed]:
    """What was written under ids of observations; unknown ones are left out."""
    t = rows.observations
    found: dict[str, Observed] = {}
    for start in range(0, len(ids), _AT_ONCE):
        for one, body in fetch_among(connection, (t.c.id, t.c.body), wall, "id", ids[start : start + _AT_ONCE]):
            found[one] = observed_from_json(body)
    return found


def shown(connection: Connection, wall: Mapping[str, str], aggregate: str) -> Shown | None:
    """Which columns an aggregate shows; none if nobody named any."""
    found = fetch(connection, _shown(), {**wall, "id": aggregate})
    return shown_from_json(found[0][0]) if found and found[0][0] else None


def other_unit(connection: Connection, wall: Mapping[str, str], aggregate: str, unit: str) -> str | None:
    """The smallest unit other than this one that counts in an aggregate."""
    for below in (True, False):
        ((found,),) = fetch(connection, _unit(below), {**wall, "aggregate": aggregate, "unit": unit})
        if found is not None:
            return str(found)
    return None


def put_noted(connection: Connection, wall: Mapping[str, str], noted: Noted) -> None:
    """Write what a delta changes of observations. Cost follows the delta."""
    before = observed(connection, wall, list(noted.observations))
    where = {f"where_{name}": value for name, value in wall.items()}
    grown: defaultdict[tuple[str, str, str], tuple[int, Decimal]] = defaultdict(lambda: (0, Decimal(0)))
    new: list[dict[str, object]] = []
    old: list[dict[str, object]] = []
    named: dict[str, tuple[str, str]] = {one: (held.section, held.name) for one, held in noted.shown.items()}
    for one, held in noted.observations.items():
        aggregate, was = aggregate_id(held.section, held.name), before.get(one)
        named[aggregate] = (held.section, held.name)
        for each, by in ((was, -1), (held, 1)):
            if each is not None and each.counts:
                value, unit = each.said.value[:2]
                count, total = grown[aggregate, unit, held.key]
                grown[aggregate, unit, held.key] = (count + by, added(total, Decimal(value) if by > 0 else Decimal(value).copy_negate()))
        value, unit, origin, _, at = held.said.value
        values = {
            "unit": unit,
            "counts": held.counts,
            "amount": sortable(value),
            "moment": moment(at),
            "delta_id": held.said.stamp.delta,
            "origin": origin,
            "body": observed_to_json(held),
        }
        if was is None:
            fixed = {"id": one, "aggregate": aggregate, "key": held.key, "run_id": held.run, "step": held.step}
            new.append({**wall, **fixed, **values})
        else:
            old.append({**where, "where_id": one, **values})
    put(connection, rows.observations, new)
    change(connection, _revision(), old)
    _put_names(connection, wall, named, noted)
    _put_sums(connection, wall, grown)


def _put_names(connection: Connection, wall: Mapping[str, str], named: Mapping[str, tuple[str, str]], noted: Noted) -> None:
    t = rows.aggregates
    known = {one for (one,) in fetch_among(connection, (t.c.id,), wall, "id", list(named))}
    columns = {one: shown_to_json(held) for one, held in noted.shown.items()}
    put(
        connection,
        t,
        [
            {**wall, "id": one, "section": section, "name": name, "shown": columns.get(one, "")}
            for one, (section, name) in named.items()
            if one not in known
        ],
    )
    where = {f"where_{name}": value for name, value in wall.items()}
    change(connection, _columns(), [{**where, "where_id": one, "shown": text} for one, text in columns.items() if one in known])


def _put_sums(connection: Connection, wall: Mapping[str, str], grown: Mapping[tuple[str, str, str], tuple[int, Decimal]]) -> None:
    where = {f"where_{name}": value for name, value in wall.items()}
    new: list[dict[str, object]] = []
    old: list[dict[str, object]] = []
    gone: list[dict[str, object]] = []
    for (aggregate, unit, key), (count, total) in grown.items():
        if not count and not total:
            continue
        place: dict[str, object] = {"aggregate": aggregate, "unit": unit, "key": key}
        kept = fetch(connection, _sum(), {**wall, **place})
        if not kept:
            new.append({**wall, **place, "count": count, "total": written(total)})
            continue
        ((had, was),) = kept
        at: dict[str, object] = {**where, **{f"where_{name}": value for name, value in place.items()}}
        if had + count:
            old.append({**at, "count": had + count, "total": written(added(Decimal(was), total))})
        else:
            gone.append(at)
    put(connection, rows.sums, new)
    change(connection, _new_sum(), old)
    change(connection, _no_sum(), gone)


def names(connection: Connection, wall: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Section and name of the aggregates with observations that count, by id; sorted by section and name."""
    found = fetch(connection, _names(), wall)
    return {one: (section, name) for one, section, name in sorted(found, key=lambda row: (row[1], row[2]))}


def aggregates(
    connection: Connection, wall: Mapping[str, str], *, ids: Collection[str] | None, most_rows: int, keys: Collection[str]
) -> list[Aggregate]:
    """Tables, sorted by section and name, each with the rows of these keys and those with the most observations."""
    known = names(connection, wall)
    found = [_aggregate(connection, wall, one, *known[one], most_rows, keys) for one in known if ids is None or one in ids]
    return [one for one in found if one is not None]


def _aggregate(
    connection: Connection, wall: Mapping[str, str], one: str, section: str, name: str, most_rows: int, keys: Collection[str]
) -> Aggregate | None:
    here = {**wall, "aggregate": one}
    wanted = {
        (key, unit): (count, total) for key, unit, count, total in fetch(connection, _top(), {**here, "most": most_rows, "skipped": 0})
    }
    if keys and len(wanted) == most_rows:
        some = sorted(keys)[:_AT_ONCE]
        t = rows.sums
        near = fetch_among(connection, (t.c.aggregate, t.c.key, t.c.unit, t.c.count, t.c.total), wall, "key", some)
        asked = {(key, unit): (count, total) for aggregate, key, unit, count, total in near if aggregate == one}
        wanted = dict(list({**asked, **wanted}.items())[:most_rows])
    if not wanted:
        return None
    ((rows_in_all, counted),) = fetch(connection, _whole(), here)
    columns = shown(connection, wall, one)
    found = [_row(connection, {**here, "key": key, "unit": unit}, key, unit, *held) for (key, unit), held in wanted.items()]
    return Aggregate(
        id=one,
        section=section,
        name=name,
        show=tuple(columns.register.value) if columns is not None else DEFAULT_SHOW,
        rows=tuple(sorted(found, key=lambda row: (-row.count, row.key, row.unit))),
        keys=int(rows_in_all),
        count=int(counted),
    )


def _row(connection: Connection, here: Mapping[str, object], key: str, unit: str, count: int, total: str) -> Row:
    whole = Decimal(total)
    if count == 1:
        return Row(key=key, unit=unit, count=1, total=whole, least=whole, greatest=whole, median=whole, last=(whole,))

    def at(offset: int, most: int = 1) -> list[Decimal]:
        found = fetch(connection, _nth(), {**here, "counts": True, "most": most, "skipped": offset})
        return [from_sortable(amount) for (amount,) in found]

    middles = at((count - 1) // 2, 2 - count % 2)
    last = fetch(connection, _last(), {**here, "counts": True, "most": MOST_LAST, "skipped": 0})
    ((greatest,),) = fetch(connection, _greatest(), {**here, "counts": True})
    return Row(
        key=key,
        unit=unit,
        count=count,
        total=whole,
        least=at(0)[0],
        greatest=from_sortable(greatest),
        median=middle(middles[0], middles[-1]),
        last=tuple(from_sortable(amount) for (amount,) in reversed(last)),
    )


def observations(connection: Connection, wall: Mapping[str, str], *, limit: int | None, where: Mapping[str, str]) -> list[Observation]:
    """Observations that have these values, revoked ones too, in the order that `last` goes by; the latest where a limit cuts them."""
    found = fetch(connection, _observations(tuple(where), limit is not None), {**wall, **where, "most": limit, "skipped": 0})
    return [observed_from_json(body).observation for (body,) in reversed(found)]


def everything(connection: Connection, wall: Mapping[str, str]) -> Observations:
    """All observations of a scope as a value. Cost follows their number."""
    bodies = fetch(connection, _observations((), False), wall)
    columns = (shown_from_json(text) for (text,) in fetch(connection, _all_shown(), wall) if text)
    return Observations().put(
        Noted(
            observations={one.id: one for one in (observed_from_json(body) for (body,) in bodies)},
            shown={aggregate_id(one.section, one.name): one for one in columns},
        )
    )


# -- statements, built once ---------------------------------------------------------------------------


def _at(table: Any, columns: Iterable[str], prefix: str = "") -> list[Any]:
    return [table.c[name] == bindparam(f"{prefix}{name}") for name in columns]


@lru_cache(maxsize=1)
def _shown() -> Any:
    t = rows.aggregates
    return select(t.c.shown).where(*_at(t, ("tenant", "scope", "id")))


@lru_cache(maxsize=1)
def _all_shown() -> Any:
    t = rows.aggregates
    return select(t.c.shown).where(*_at(t, ("tenant", "scope")))


@lru_cache(maxsize=2)
def _unit(below: bool) -> Any:
    t = rows.sums
    apart = t.c.unit < bindparam("unit") if below else t.c.unit > bindparam("unit")
    return select(func.min(t.c.unit)).where(*_at(t, ("tenant", "scope", "aggregate")), apart)


@lru_cache(maxsize=1)
def _revision() -> Any:
    t = rows.observations
    return update(t).where(*_at(t, ("tenant", "scope", "id"), "where_")).values({name: bindparam(name) for name in _VALUES})


@lru_cache(maxsize=1)
def _columns() -> Any:
    t = rows.aggregates
    return update(t).where(*_at(t, ("tenant", "scope", "id"), "where_")).values(shown=bindparam("shown"))


@lru_cache(maxsize=1)
def _sum() -> Any:
    t = rows.sums
    return select(t.c.count, t.c.total).where(*_at(t, _ROW))


@lru_cache(maxsize=1)
def _new_sum() -> Any:
    t = rows.sums
    return update(t).where(*_at(t, _ROW, "where_")).values(count=bindparam("count"), total=bindparam("total"))


@lru_cache(maxsize=1)
def _no_sum() -> Any:
    return delete(rows.sums).where(*_at(rows.sums, _ROW, "where_"))


@lru_cache(maxsize=1)
def _names() -> Any:
    t, s = rows.aggregates, rows.sums
    counting = select(s.c.aggregate).where(s.c.tenant == t.c.tenant, s.c.scope == t.c.scope, s.c.aggregate == t.c.id).exists()
    return select(t.c.id, t.c.section, t.c.name).where(*_at(t, ("tenant", "scope")), counting)


@lru_cache(maxsize=1)
def _top() -> Any:
    t = rows.sums
    order = (t.c.count.desc(), t.c.key, t.c.unit)
    return (
        select(t.c.key, t.c.unit, t.c.count, t.c.total)
        .where(*_at(t, _ROW[:3]))
        .order_by(*order)
        .limit(bindparam("most"))
        .offset(bindparam("skipped"))
    )


@lru_cache(maxsize=1)
def _whole() -> Any:
    t = rows.sums
    return select(func.count(), func.sum(t.c.count)).where(*_at(t, _ROW[:3]))


@lru_cache(maxsize=1)
def _nth() -> Any:
    t = rows.observations
    wanted = select(t.c.amount).where(*_at(t, (*_ROW, "counts"))).order_by(t.c.amount)
    return wanted.limit(bindparam("most")).offset(bindparam("skipped"))


@lru_cache(maxsize=1)
def _greatest() -> Any:
    t = rows.observations
    return select(func.max(t.c.amount)).where(*_at(t, (*_ROW, "counts")))


@lru_cache(maxsize=1)
def _last() -> Any:
    t = rows.observations
    order = (t.c.moment.desc(), t.c.delta_id.desc(), t.c.step.desc(), t.c.id.desc())
    return select(t.c.amount).where(*_at(t, (*_ROW, "counts"))).order_by(*order).limit(bindparam("most")).offset(bindparam("skipped"))


@lru_cache(maxsize=32)
def _observations(where: tuple[str, ...], limited: bool) -> Any:
    t = rows.observations
    order = (t.c.moment.desc(), t.c.delta_id.desc(), t.c.step.desc(), t.c.id.desc())
    wanted = select(t.c.body).where(*_at(t, ("tenant", "scope", *where))).order_by(*order)
    return wanted.limit(bindparam("most")).offset(bindparam("skipped")) if limited else wanted
