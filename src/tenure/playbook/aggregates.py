"""Numbers and inventories as typed aggregates: exact decimals, observations that stay, rows worked out from them.

Prose loses numbers: after many rewritings a playbook keeps the rules for keeping a list, and no list. So each
number stays an observation of its own, with the run it came from, and every figure is worked out from those that
count. An aggregate is a named table of a section, one row a key and unit; units are never mixed in a row.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact

from tenure.playbook.lessons import normalised, section_name, section_slug
from tenure.playbook.records import Register, Stamp, latest

Number = int | float | Decimal | str
"""What a number can be given as."""

KINDS = ("count", "sum", "min", "max", "mean", "median", "last")
"""What a column can hold. `last` takes a number: `last 3`."""

DEFAULT_SHOW = ("count", "mean", "min", "max", "last 3")
"""The columns of an aggregate for which none were named."""

MOST_LAST = 20
"""Most values that `last n` keeps."""

WHOLE_DIGITS, DECIMALS = 30, 18
"""Digits before and after the point that are kept. More is refused, never rounded."""

NAME_LENGTH, KEY_LENGTH, UNIT_LENGTH = 120, 200, 40
SECTION = "figures"
"""The section of an aggregate for which none was named."""

MEAN_DIGITS = 12
"""Significant digits of a mean that does not end; the only figure that is ever rounded."""

# Sums of up to 10^15 observations of 48 digits are exact; anything that would not be raises.
_EXACT = Context(prec=80, traps=[Inexact])
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?", re.ASCII)
_SCALE = 10**DECIMALS
_OFFSET = 10 ** (WHOLE_DIGITS + DECIMALS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """All that was written under the id of one observation. Like a `Record`: registers that do not depend on order.

    Attributes:
        id: derived from what it is an observation of (see `observation_id`).
        section, name, key, run, step: what it is an observation of, and where it was made; never change.
        said: value, unit, origin, author and time, by the delta that counts.
        mark: a name its author gave it. With one the latest telling counts; else the first, so that telling it again
            changes neither its origin nor its time.
        revoked: whether it was taken out, and why.
    """

    id: str
    section: str
    name: str
    key: str = ""
    run: str = ""
    step: int = -1
    said: Register
    mark: str = ""
    revoked: Register | None = None

    @property
    def counts(self) -> bool:
        """Whether it counts: it was not revoked."""
        return self.revoked is None or not self.revoked.value[0]

    @property
    def observation(self) -> Observation:
        """It as read."""
        value, unit, origin, author, at = self.said.value
        return Observation(
            id=self.id,
            section=self.section,
            name=self.name,
            key=self.key,
            value=Decimal(value),
            unit=unit,
            run=self.run,
            step=self.step,
            origin=origin,
            author=author,
            at=at,
            delta=self.said.stamp.delta,
            revoked=not self.counts,
            reason=self.revoked.value[1] if self.revoked is not None else "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One number, as it was observed.

    Attributes:
        id: `obs-<16 base32 characters>`.
        section, name: the aggregate it belongs to.
        key: the row; empty for an aggregate without keys.
        value: exact.
        unit: of the value; empty for a plain number.
        run, step: where it was observed; empty and -1 if in no run.
        origin: who or what it came from.
        author: who proposed it.
        at: when it was observed, ISO 8601; empty if unknown.
        delta: the delta that said it last.
        revoked, reason: whether it was taken out, and why.
    """

    id: str
    section: str
    name: str
    key: str
    value: Decimal
    unit: str
    run: str
    step: int
    origin: str
    author: str
    at: str
    delta: str
    revoked: bool
    reason: str = ""

    @property
    def order(self) -> tuple[str, str, int, str]:
        """What `last` goes by: time, then delta, then step, then id."""
        return (moment(self.at), self.delta, self.step, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The figures of one key and unit, from the observations that count; at least one.

    Attributes:
        key, unit: of the row.
        count: observations.
        total: their exact sum.
        least, greatest: of their values.
        median: the middle value, or half the sum of the two middle ones; exact.
        last: the latest values, oldest first; `MOST_LAST` at most.
    """

    key: str
    unit: str
    count: int
    total: Decimal
    least: Decimal
    greatest: Decimal
    median: Decimal
    last: tuple[Decimal, ...]

    @property
    def mean(self) -> Decimal:
        """Exact where it ends; else rounded, half to even, to `MEAN_DIGITS` digits, or to six places where it is longer."""
        try:
            return _EXACT.divide(self.total, Decimal(self.count))
        except Inexact:
            digits = max(MEAN_DIGITS, self.total.adjusted() - len(str(self.count)) + 8)
            return Context(prec=digits, rounding=ROUND_HALF_EVEN).divide(self.total, Decimal(self.count))

    def figure(self, kind: str) -> str:
        """What a column shows of the row."""
        name, _, most = kind.partition(" ")
        if name == "count":
            return str(self.count)
        if name == "last":
            return ", ".join(map(written, self.last[-int(most) :]))
        return written({"sum": self.total, "min": self.least, "max": self.greatest, "mean": self.mean, "median": self.median}[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A table of figures in a section of a playbook.

    Attributes:
        id: `<section slug>-<13 base32 characters>`, from section and name.
        section, name: where it stands and what it is called.
        show: its columns.
        rows: those with the most observations first, then by key and unit; perhaps not all.
        keys: how many rows there are.
        count: observations that count, in all rows.
    """

    id: str
    section: str
    name: str
    show: tuple[str, ...]
    rows: tuple[Row, ...]
    keys: int
    count: int

    def narrowed(self, most_rows: int, keys: Collection[str] = ()) -> Aggregate:
        """The same table with this many rows: those of these keys before those with the most observations."""
        if len(self.rows) <= most_rows:
            return self
        kept = sorted(self.rows, key=lambda row: row.key not in keys)[:most_rows]
        return replace(self, rows=tuple(sorted(kept, key=row_order)))


def exact(value: object) -> str:
    """A number as its one exact text: no exponent, no needless zeros, `0` without a sign. What is no such number gives none.

    A float counts as the shortest text that reads back as it: 0.1 is 0.1. Booleans are no numbers.

    Raises:
        ValueError: it is no finite number in range; the message is a sentence for a receipt.
    """
    text = str(value).strip() if isinstance(value, int | float | Decimal | str) and not isinstance(value, bool) else ""
    shown = f"its value {str(value)[:60]!r}"
    if text.lower().lstrip("+-") in ("nan", "snan", "inf", "infinity"):
        raise ValueError(f"{shown} is not a number that can be counted; leave the observation out")
    if len(text) > 120 or not _NUMBER.fullmatch(text):
        raise ValueError(f"{shown} is not a number; write digits with a point, such as 1200.50, and put the unit into 'unit'")
    number = Decimal(text)
    if number and number.adjusted() >= WHOLE_DIGITS:
        raise ValueError(f"{shown} is beyond {WHOLE_DIGITS} digits before the point; give it in a larger unit")
    plain = written(number) if not number or number.adjusted() >= -DECIMALS else ""
    if not plain or len(plain.partition(".")[2]) > DECIMALS:
        raise ValueError(f"{shown} has more than {DECIMALS} digits after the point; round it or give it in a smaller unit")
    return plain


def written(number: Decimal) -> str:
    """A decimal as its shortest text without an exponent."""
    if not number:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def sortable(value: str) -> str:
    """An exact text as one that sorts as the number does; always 49 digits."""
    return str(int(_EXACT.multiply(Decimal(value), Decimal(_SCALE))) + _OFFSET).zfill(WHOLE_DIGITS + DECIMALS + 1)


def from_sortable(text: str) -> Decimal:
    """The number that `sortable` was given."""
    return _EXACT.divide(Decimal(int(text) - _OFFSET), Decimal(_SCALE))


def added(a: Decimal, b: Decimal) -> Decimal:
    """The exact sum of two numbers."""
    return _EXACT.add(a, b)


def middle(low: Decimal, high: Decimal) -> Decimal:
    """The exact mean of two numbers."""
    return _EXACT.divide(_EXACT.add(low, high), Decimal(2))


def moment(at: str) -> str:
    """A time as text that sorts in order of time: UTC with microseconds; without a zone it is taken for UTC; empty if it is none."""
    try:
        when = datetime.fromisoformat(at)
        return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        return ""


def column(text: str) -> str:
    """A column's name in its one form, such as `last 3`.

    Raises:
        ValueError: there is no such column; the message is a sentence for a receipt.
    """
    name, _, most = normalised(text).lower().partition(" ")
    if name in KINDS and name != "last" and not most:
        return name
    if name == "last" and (most or "1").isascii() and (most or "1").isdigit() and 1 <= int((most or "1")[:9]) <= MOST_LAST:
        return f"last {int(most or '1')}"
    raise ValueError(f"unknown column {text[:40]!r}; use {', '.join(KINDS[:-1])}, or last 1 to last {MOST_LAST}")


def place_of(section: str, name: str) -> tuple[str, str]:
    """Section and name of an aggregate as they are kept."""
    return section_name(section) if section.strip() else SECTION, section_name(name)


def aggregate_id(section: str, name: str) -> str:
    """The id of an aggregate, the same whoever computes it; section and name in kept form."""
    return f"{section_slug(section)}-{_digest('aggregate', section, name)[:13]}"


def observation_id(section: str, name: str, key: str, *, run: str, step: int, mark: str) -> str:
    """The id of an observation: the same aggregate, key, run, step and mark are one observation, however often it is told.

    Args:
        section, name, key: in kept form.
        run, step: where it was made.
        mark: what tells it from others made there: a name its author gave, with its origin; else value and unit, and
            outside of runs the delta and the count within it.
    """
    return f"obs-{_digest('observation', section, name, key, run, str(step), mark)[:16]}"


def _digest(*parts: str) -> str:
    material = "\x1f".join(parts)
    return base64.b32encode(hashlib.sha256(material.encode("utf-8", "surrogatepass")).digest()[:12]).decode().lower()


def joined(a: Observed | None, b: Observed) -> Observed:
    """Two writings of one observation as one, whichever came first."""
    if a is None:
        return b
    revoked = b.revoked if a.revoked is None else a.revoked if b.revoked is None else latest(a.revoked, b.revoked)
    return Observed(
        id=a.id,
        section=a.section,
        name=a.name,
        key=a.key,
        run=a.run,
        step=a.step,
        said=latest(a.said, b.said) if a.mark or a.said.stamp == b.said.stamp else min(a.said, b.said, key=lambda one: one.stamp),
        mark=a.mark,
        revoked=revoked,
    )


def summarise(section: str, name: str, show: Register | None, observations: Iterable[Observation]) -> Aggregate | None:
    """The table of the observations of one aggregate that count; none if none do. Cost follows their number."""
    by_row: defaultdict[tuple[str, str], list[Observation]] = defaultdict(list)
    for one in observations:
        if not one.revoked:
            by_row[one.key, one.unit].append(one)
    if not by_row:
        return None
    rows = sorted((_row(key, unit, found) for (key, unit), found in by_row.items()), key=row_order)
    return Aggregate(
        id=aggregate_id(section, name),
        section=section,
        name=name,
        show=tuple(show.value) if show is not None else DEFAULT_SHOW,
        rows=tuple(rows),
        keys=len(rows),
        count=sum(row.count for row in rows),
    )


def row_order(row: Row) -> tuple[int, str, str]:
    """Rows with the most observations first, then by key and unit."""
    return (-row.count, row.key, row.unit)


def _row(key: str, unit: str, found: Sequence[Observation]) -> Row:
    values = sorted(one.value for one in found)
    total = Decimal(0)
    for value in values:
        total = added(total, value)
    return Row(
        key=key,
        unit=unit,
        count=len(values),
        total=total,
        least=values[0],
        greatest=values[-1],
        median=middle(values[(len(values) - 1) // 2], values[len(values) // 2]),
        last=tuple(one.value for one in sorted(found, key=lambda one: one.order)[-MOST_LAST:]),
    )


def show_register(stamp: Stamp, show: Iterable[str], at: str) -> Register:
    """The register that says which columns an aggregate shows."""
    return Register(stamp, list(show), at)
