"""Charts as numbers that a template draws: a line with its interval, and bars that stand on one another. Each has its table.

Colour is never all that tells two things apart: what is stacked keeps its order and its name in the legend and in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10

WIDTH, HEIGHT = 440, 200
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 12, 26
LABELS = 6
"""Names on the axis below, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A rectangle, in units of the drawing.

    Attributes:
        x, y, width, height: where.
        look: name of its look.
        said: what it stands for, in words.
    """

    x: float
    y: float
    width: float
    height: float
    look: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart and the table behind it.

    Attributes:
        id: unique on its page.
        title: what it shows.
        told: the same in a sentence or two, with the figures that matter.
        bars, line, band: what is drawn; `line` and `band` are paths, empty for none.
        levels, names: marks on the axes, each with its place.
        legend: look and name of what is stacked; empty where there is one thing.
        columns, rows: of the table.
    """

    id: str
    title: str
    told: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    bars: Sequence[Bar] = ()
    line: str = ""
    band: str = ""
    levels: Sequence[tuple[float, str]] = ()
    names: Sequence[tuple[float, str]] = ()
    legend: Sequence[tuple[str, str]] = ()
    width: int = field(default=WIDTH)
    height: int = field(default=HEIGHT)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.bars and not self.line


def line_chart(
    id: str,
    title: str,
    told: str,
    *,
    points: Sequence[tuple[str, float, float, float]],
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> Chart:
    """A line of shares from 0 to 1 with an interval around it.

    Args:
        id, title, told: see `Chart`.
        points: name, share, and the ends of its interval, in order.
        columns, rows: of the table.
    """
    inner = WIDTH - LEFT - RIGHT
    places = [LEFT + inner * (place / max(1, len(points) - 1)) for place in range(len(points))]
    path = " ".join(
        f"{'M' if not place else 'L'}{x:.1f} {_height(share, 1):.1f}" for place, (x, (_, share, _, _)) in enumerate(_pairs(places, points))
    )
    upper = [f"{x:.1f} {_height(high, 1):.1f}" for x, (_, _, _, high) in _pairs(places, points)]
    lower = [f"{x:.1f} {_height(low, 1):.1f}" for x, (_, _, low, _) in _pairs(places, points)]
    band = f"M{' L'.join([*upper, *reversed(lower)])} Z" if len(points) > 1 else ""
    return Chart(
        id=id,
        title=title,
        told=told,
        line=path,
        band=band,
        levels=[(_height(share, 1), f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)],
        names=_few([(x, name) for x, (name, _, _, _) in _pairs(places, points)]),
        columns=columns,
        rows=rows,
    )


def bar_chart(
    id: str,
    title: str,
    told: str,
    *,
    stacks: Sequence[tuple[str, Sequence[float]]],
    looks: Sequence[tuple[str, str]],
    said: Sequence[Sequence[str]],
    columns: Sequence[str],
    top: float | None = None,
    level: str = "{:,.0f}",
) -> Chart:
    """Bars, one for each name.

    Args:
        id, title, told: see `Chart`.
        stacks: name and the values that stand on one another, 0 or more.
        looks: look and name of each value of a stack.
        said: for each stack its values in words.
        columns: of the table: what names are, then one for each value.
        top: of the axis; none takes a round number above the highest.
        level: how a number is written on the axis.
    """
    highest = top if top is not None else _round_up(max((sum(values) for _, values in stacks), default=0))
    inner = (WIDTH - LEFT - RIGHT) / max(1, len(stacks))
    bars: list[Bar] = []
    for place, (name, values) in enumerate(stacks):
        under = 0.0
        for value, (look, what), told_of in zip(values, looks, said[place], strict=True):
            if value > 0 and highest > 0:
                y = _height(under + value, highest)
                bars.append(
                    Bar(
                        x=round(LEFT + inner * place + inner * 0.12, 2),
                        y=round(y, 2),
                        width=round(inner * 0.76, 2),
                        height=round(_height(under, highest) - y, 2),
                        look=look,
                        said=f"{name}: {told_of} {what}".strip(),
                    )
                )
            under += value
    steps = (0, 0.5, 1) if highest else (0,)
    return Chart(
        id=id,
        title=title,
        told=told,
        bars=bars,
        levels=[(_height(highest * share, highest or 1), level.format(highest * share)) for share in steps],
        names=_few([(LEFT + inner * (place + 0.5), name[5:] if len(name) == 10 else name) for place, (name, _) in enumerate(stacks)]),
        legend=looks if len(looks) > 1 else (),
        columns=columns,
        rows=[(name, *words) for (name, _), words in zip(stacks, said, strict=True)],
    )


def _pairs(
    places: Sequence[float], points: Sequence[tuple[str, float, float, float]]
) -> list[tuple[float, tuple[str, float, float, float]]]:
    return list(zip(places, points, strict=True))


def _height(value: float, highest: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value / highest)


def _few(names: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    if len(names) <= LABELS:
        return list(names)
    step = (len(names) - 1) / (LABELS - 1)
    return [names[round(place * step)] for place in range(LABELS)]


def _round_up(value: float) -> float:
    if value <= 0:
        return 0.0
    size = 10.0 ** floor(log10(value))
    return next(factor * size for factor in (1, 2, 4, 6, 8, 10) if factor * size >= value - 1e-12) if value else ceil(value)
