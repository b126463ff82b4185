"""Lines and bars as SVG that takes its ink from the page it stands in."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import floor, log10

WIDTH, HEIGHT = 520, 280
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 30
BAR, LABEL = 26, 190
LETTER = 6.6
"""Width of a letter of the charts' text, about."""

COLOURS = ("#0969da", "#cf222e", "#8250df", "#bf8700", "#0a7ea4", "#d4549c", "#6e7781", "#a05a2c", "#2f6f4f", "#5a5fcf")
"""Told apart also by those who see red and green alike, together with the order in the legend."""

OURS = "#1a7f37"


def colour_of(place: int, *, ours: bool = False) -> str:
    """The colour of an arm by its place."""
    return OURS if ours else COLOURS[place % len(COLOURS)]


def line_chart(lines: Sequence[tuple[str, Sequence[float | None], bool]], *, share: bool) -> str:
    """Lines from the start of a stream to its end.

    Args:
        lines: colour, values at equal distances (none leaves a gap), and whether it is drawn bold.
        share: whether values are shares, 0 to 1.
    """
    known = [value for _, values, _ in lines for value in values if value is not None]
    top = _round_up(max(known, default=1.0) or 1.0)
    if share:
        top = min(1.0, top)

    def x(place: int, of: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ((place + 0.5) / of)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" font-size="11" role="img">']
    for step in range(5):
        value = top * step / 4
        parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>')
        parts.append(f'<text class="soft" x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{_tick(value, top, share=share)}</text>')
    for place, said in ((LEFT, "start"), ((LEFT + WIDTH - RIGHT) / 2, "half"), (WIDTH - RIGHT, "end")):
        anchor = {"start": "start", "half": "middle", "end": "end"}[said]
        parts.append(f'<text class="soft" x="{place}" y="{HEIGHT - 10}" text-anchor="{anchor}">{said} of the stream</text>')
    for colour, values, bold in lines:
        points = [(x(place, len(values)), y(value)) for place, value in enumerate(values) if value is not None]
        path, wide = " ".join(f"{left:.1f},{high:.1f}" for left, high in points), 3 if bold else 1.6
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{wide}" stroke-linejoin="round"/>')
    return "\n".join([*parts, "</svg>"])


def bar_chart(bars: Sequence[tuple[str, str, float, float | None, float | None]]) -> str:
    """Bars with intervals, one below the other.

    Args:
        bars: name, colour, value, and the bounds of its interval, or none.
    """
    values = [value for _, _, *every in bars for value in every if value is not None]
    low, high = min(0.0, *values), max(0.0, *values) or 1.0
    if low < 0:
        low = -_round_up(-low)
    high = _round_up(high)
    height = len(bars) * BAR + BOTTOM
    label = max(LABEL, *(round(LETTER * len(name)) + 12 for name, *_ in bars)) if bars else LABEL

    def x(value: float) -> float:
        return label + (WIDTH - label - 60) * (value - low) / (high - low)

    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" font-size="11" role="img">']
    parts.append(f'<line class="axis" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="0" y2="{height - BOTTOM + 4}"/>')
    for place, (name, colour, value, bottom, top) in enumerate(bars):
        middle = place * BAR + BAR / 2
        start, end = sorted((x(0), x(value)))
        parts.append(f'<text x="{label - 8}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="{start:.1f}" y="{middle - 8}" width="{max(0.5, end - start):.1f}" height="16" fill="{colour}" rx="2"/>')
        if bottom is not None and top is not None:
            parts.append(
                f'<line x1="{x(bottom):.1f}" x2="{x(top):.1f}" y1="{middle}" y2="{middle}" stroke="currentColor" stroke-width="1.5"/>'
            )
        right = max(end, x(top) if top is not None else end)
        parts.append(f'<text x="{right + 6:.1f}" y="{middle + 4}">{_said(value)}</text>')
    for value in (low, high) if low < 0 else (0.0, high):
        parts.append(f'<text class="soft" x="{x(value):.1f}" y="{height - 8}" text-anchor="middle">{_said(value)}</text>')
    return "\n".join([*parts, "</svg>"])


def _round_up(value: float) -> float:
    """The next round number at or above a positive one: 1, 2, 2.5 or 5 times a power of ten, or the tenth above."""
    scale = 10.0 ** floor(log10(value))
    return next(step * scale for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if value <= step * scale * (1 + 1e-9))


def _tick(value: float, top: float, *, share: bool) -> str:
    if share:
        return f"{value:.3g}"
    return f"{value:,.0f}" if top >= 10 else f"{value:.2g}"


def _said(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
