"""Small plots as SVG, written by hand: no library is needed to look at a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, MARGIN = 560, 360, 64
INSET = 0.07
"""Room between the frame and the outermost points, as a share of its width, so that their values do not meet the axis's."""

_FIGURES = {
    "apply_ms": "apply, ten operations, committed (ms)",
    "context_ms": "context (ms)",
    "render_ms": "render after a counter changed (ms)",
    "dedup_ms": "check of one new lesson for duplicates (ms)",
    "refine_s": "refine (s)",
    "open_ms": "open (ms)",
    "peak_mb": "peak memory (MB)",
}


def draw_scale(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """A plot of each figure of the bench `scale` against the number of lessons; the files, in order. None for a single size."""
    sizes = sorted(map(int, result["sizes"]))
    if len(sizes) < 2:  # a point says nothing of growth
        return []
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for figure, title in _FIGURES.items():
        points = [(size, result["sizes"][str(size)].get(figure)) for size in sizes]
        known = [(size, float(value)) for size, value in points if value]
        if known:
            path = folder / f"scale-{figure.rpartition('_')[0]}.svg"
            path.write_text(log_plot(title, "lessons", known), encoding="utf-8")
            written.append(path)
    return written


def log_plot(title: str, across: str, points: Sequence[tuple[float, float]]) -> str:
    """Points joined by a line, both axes logarithmic, as SVG. All values above 0."""
    xs, ys = _decades([x for x, _ in points]), _decades([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        wide = INSET + (1 - 2 * INSET) * (log10(x) - xs[0]) / (xs[-1] - xs[0])
        high = (log10(y) - ys[0]) / (ys[-1] - ys[0])
        return MARGIN + wide * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - high * (HEIGHT - 2 * MARGIN)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="28" text-anchor="middle" font-size="14">{escape(title)}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 18}" text-anchor="middle">{escape(across)}</text>',
    ]
    for power in xs:
        left, _ = place(10.0**power, 10.0 ** ys[0])
        parts.append(f'<line x1="{left:.1f}" y1="{MARGIN}" x2="{left:.1f}" y2="{HEIGHT - MARGIN}" stroke="#ddd"/>')
        parts.append(f'<text x="{left:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{10.0**power:,g}</text>')
    for power in ys:
        _, top = place(10.0 ** xs[0], 10.0**power)
        parts.append(f'<line x1="{MARGIN}" y1="{top:.1f}" x2="{WIDTH - MARGIN}" y2="{top:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{MARGIN - 8}" y="{top + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>')
    line = " ".join(f"{left:.1f},{top:.1f}" for left, top in (place(x, y) for x, y in points))
    parts.append(f'<polyline points="{line}" fill="none" stroke="#1f6feb" stroke-width="2"/>')
    for x, y in points:
        left, top = place(x, y)
        parts.append(f'<circle cx="{left:.1f}" cy="{top:.1f}" r="4" fill="#1f6feb"/>')
        halo = 'stroke="white" stroke-width="4" paint-order="stroke"'  # the line and the grid stay clear of the value
        parts.append(f'<text x="{left:.1f}" y="{top - 10:.1f}" text-anchor="middle" font-weight="bold" {halo}>{_told(y)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#8250df", "#9a6700")


def draw_lines(path: Path, *, title: str, across: str, lines: Mapping[str, Sequence[float]]) -> Path:
    """Curves over steps, counted from 1, as an SVG file with a legend; the path.

    Args:
        path: of the file; its folder is made if it is not there.
        title: above the plot.
        across: what the steps are.
        lines: values of 0 and more by step, by name; five curves at most.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    most = max((max(values, default=0) for values in lines.values()), default=0) or 1
    steps = max((len(values) for values in lines.values()), default=0)
    wide, high = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="24" text-anchor="middle" font-size="14">{escape(title)}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 18}" text-anchor="middle">{escape(across)}</text>',
    ]
    for quarter in range(5):
        top = HEIGHT - MARGIN - quarter / 4 * high
        parts.append(f'<line x1="{MARGIN}" y1="{top:.1f}" x2="{WIDTH - MARGIN}" y2="{top:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{MARGIN - 8}" y="{top + 4:.1f}" text-anchor="end">{_told(most * quarter / 4)}</text>')
    for at in sorted({1, steps}):
        left = MARGIN + (at - 1) / max(1, steps - 1) * wide
        parts.append(f'<text x="{left:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{at}</text>')
    for (name, values), colour, place in zip(lines.items(), COLOURS, range(len(COLOURS)), strict=False):
        spots = ((MARGIN + at / max(1, steps - 1) * wide, HEIGHT - MARGIN - value / most * high) for at, value in enumerate(values))
        line = " ".join(f"{left:.1f},{top:.1f}" for left, top in spots)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{MARGIN + 8}" y="{MARGIN - 18 + 15 * place}" fill="{colour}">{escape(name)}</text>')
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")
    return path


def _told(value: float) -> str:
    """A value to three figures, whole above 100: 1,234 and not 1.23e+03."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _decades(values: Sequence[float]) -> list[int]:
    """Whole powers of ten around values, at least two."""
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return list(range(low, max(high, low + 1) + 1))
