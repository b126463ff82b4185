"""The page of a comparison: one HTML file that needs nothing else, with plots drawn by hand as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from tenure.evaluation.harness.charts import bar_chart, colour_of, line_chart
from tenure.evaluation.harness.metrics import ATTEMPTS

PAGE = "report.html"

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #ffffff; --tint: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --paper: #0d1117; --tint: #151b23; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
body { max-width: 90rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p.said { background: var(--tint); border-left: 4px solid #bf8700; padding: .6rem .9rem; }
p.soft, figcaption, small { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .45rem; font-size: .9rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } td.why { text-align: left; white-space: normal; }
tr.ours td { font-weight: 600; } div.wide { overflow-x: auto; }
div.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1.2rem; }
figure { margin: 0; } svg { width: 100%; height: auto; }
svg text { fill: var(--ink); } svg .axis { stroke: var(--line); } svg .soft { fill: var(--soft); }
pre { background: var(--tint); padding: .7rem .9rem; overflow-x: auto; white-space: pre-wrap; }
i.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .4rem; vertical-align: -1px; }
"""


def write_report(result: Mapping[str, Any], folder: Path) -> Path:
    """Write the page of a comparison into a folder; the file.

    Args:
        result: what `compare` gave.
        folder: made if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    path.write_text(page(result), encoding="utf-8")
    return path


def page(result: Mapping[str, Any]) -> str:
    """The page of a comparison, as HTML."""
    arms: Mapping[str, Mapping[str, Any]] = result["arms"]
    about = ", ".join(f"{name} {value}" for name, value in ({"seed": result["seed"]} | dict(result["about"])).items())
    orders = "1 order" if result["orders"] == 1 else f"{result['orders']} orders"
    parts = [
        f"<title>tenure bench: {escape(result['task'])}</title>",
        f"<h1>{escape(result['task'])}: {len(arms)} memories compared</h1>",
        f'<p class="soft">{orders}; {escape(about)}. Tenure {escape(result["tenure"])}.</p>',
        f'<p class="said">{escape(result["said"])} Agent: {escape(result["agent"])}. '
        f"Lessons are written by: {escape(result['writer'])}.</p>",
        "<h2>Arms</h2>",
        _arms_table(result),
        "<h2>Along the stream, and over all</h2>",
        f"<p>{_legend(result)}</p>",
        '<div class="plots">',
        _curve(result, "score", "Learning curve: mean score by part of the stream"),
        _bars(result, "gain", "Gain over the same arm reset before each instance, as a share of its headroom, with 95 % interval"),
        _curve(result, "tokens", "Tokens put before the agent or asked of models, by instance"),
        _curve(result, "memory", "Size of the memory in tokens"),
        _curve(result, "cached", "Share of those tokens that a prefix cache has"),
        _bars(result, "usd", "Cost of all orders, in US dollars")
        if any(one["usd"] for one in arms.values())
        else _bars(result, "seconds", "Processor seconds of one order"),
        "</div>",
        _paired_table(result),
        _skipped_table(result),
        "<h2>Again</h2>",
        f"<pre>{escape(result['command'])}</pre>",
        f'<p class="soft">It took {result["seconds"]:,} s. Intervals are Student\'s, at 95 %, over orders. '
        "A response that could not be scored is counted as such and in no mean.</p>",
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en">\n{head}\n' + "\n".join(filter(None, parts)) + "\n</html>\n"


def _arms_table(result: Mapping[str, Any]) -> str:
    titles = ("score", "95 %", "first to last quarter", "gain", "95 %", "tokens", "cached", "memory", "attempts", "calls", "USD", "seconds")
    rows = [
        (
            arm,
            (
                _number(one["score"]),
                _range(one["score_low"], one["score_high"]),
                " · ".join(_number(part, "{:.2f}") for part in one["score_by_quarter"]),
                _number(one["gain"]),
                _range(one["gain_low"], one["gain_high"]),
                _number(one["tokens"], "{:,.0f}"),
                _number(one["cached_share"], "{:.0%}"),
                _number(one["memory_tokens"], "{:,.0f}"),
                _number(one[ATTEMPTS], "{:,.0f}"),
                _number(one["calls"], "{:,.0f}"),
                _number(one["usd"], "{:,.2f}"),
                _number(one["seconds"], "{:,.1f}"),
            ),
        )
        for arm, one in result["arms"].items()
    ]
    unscorable = {arm: one["unscorable"] for arm, one in result["arms"].items() if one["unscorable"]}
    note = "".join(f"<p>{escape(result['shown'][arm])}: {count:,} responses could not be scored.</p>" for arm, count in unscorable.items())
    return _table(result, titles, rows) + note


def _paired_table(result: Mapping[str, Any]) -> str:
    rows = [
        (
            arm,
            (
                _number(one["difference"], "{:+.3f}"),
                _range(one["low"], one["high"]),
                _chance(one["p_t"]),
                _chance(one["p_flips"]),
                str(one["orders"]),
            ),
        )
        for arm, one in result["paired"].items()
    ]
    if not rows:
        return ""
    titles = ("difference", "95 %", "p, paired t", "p, exact sign flips", "orders")
    return f"<h2>Tenure less each other arm, order by order</h2>{_table(result, titles, rows)}"


def _skipped_table(result: Mapping[str, Any]) -> str:
    if not result["skipped"]:
        return ""
    rows = "".join(f'<tr><td>{escape(arm)}</td><td class="why">{escape(why)}</td></tr>' for arm, why in result["skipped"].items())
    return f"<h2>Skipped</h2><table>{rows}</table>"


def _table(result: Mapping[str, Any], titles: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in ("arm", *titles))
    body = "".join(
        f'<tr class="{"ours" if arm.startswith("tenure") else ""}"><td><i class="key" style="background:{_colour(result, arm)}"></i>'
        f"{escape(result['shown'][arm])}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for arm, cells in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _legend(result: Mapping[str, Any]) -> str:
    return " &nbsp; ".join(
        f'<i class="key" style="background:{_colour(result, arm)}"></i>{escape(result["shown"][arm])}' for arm in result["arms"]
    )


def _curve(result: Mapping[str, Any], name: str, title: str) -> str:
    lines = [(_colour(result, arm), result["curves"][arm][name], arm.startswith("tenure")) for arm in result["arms"]]
    if not any(value is not None for _, values, _ in lines for value in values):
        return ""
    share = name in ("score", "cached")
    return _figure(line_chart(lines, share=share), title)


def _bars(result: Mapping[str, Any], name: str, title: str) -> str:
    bars = [
        (result["shown"][arm], _colour(result, arm), one[name], one.get(f"{name}_low"), one.get(f"{name}_high"))
        for arm, one in result["arms"].items()
        if one[name] is not None
    ]
    return _figure(bar_chart(bars), title) if bars else ""


def _figure(svg: str, title: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(title)}</figcaption></figure>"


def _colour(result: Mapping[str, Any], arm: str) -> str:
    return colour_of(list(result["arms"]).index(arm), ours=arm == "tenure")


def _number(value: float | None, form: str = "{:.3f}") -> str:
    return "–" if value is None else form.format(value)


def _chance(value: float | None) -> str:
    return "< 0.0001" if value is not None and value < 0.0001 else _number(value, "{:.4f}")


def _range(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:.3f} to {high:.3f}"
