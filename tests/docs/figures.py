"""Figures in pages: which stand there, which report each comes from, and what that report says.

Behind a figure stands a comment that names its report, the key below `figures`, and how the value becomes what is read:

    about 80 ms<!-- report: hooks prompt_cpu_ms to 10 -->
    0.88<!-- report: drift worlds/sparse/held -->
    21 %<!-- report: prompt_cache reuse_sectioned times 100 -->

It is rounded to the decimals that are written, or to a multiple of what stands after `to`. What looks like a measured
figure and is none of ours has a comment in its line that says what it is: `<!-- not measured: a setting -->`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT, pages

REPORTS = ROOT / "benchmarks" / "reports"

GENERATED = frozenset(("cli.md", "config.md", "python.md"))
"""Reference pages that follow from the code: what stands there are settings and limits."""

_COMMENT = re.compile(r"<!--(?P<said>.*?)-->")
_REPORT = re.compile(r"\s*report:\s+(?P<report>[\w-]+)\s+(?P<key>\S+)(?:\s+times\s+(?P<times>[\d.]+))?(?:\s+to\s+(?P<to>[\d.]+))?\s*\Z")
_ALLOWED = re.compile(r"\s*not measured:\s*(?P<reason>.*?)\s*\Z")
_NUMBER = re.compile(r"(?<![\w.,/-])\d[\d,]*(?:\.\d+)?(?![\d]|\.\d)")
_UNIT = re.compile(
    r"\s?(?:ms|s|µs|seconds?|minutes?|hours?|[KMG]i?B|%)(?![\w-])|\s(?:of|in)\s\d[\d,]*(?:\s(?:runs|cases|questions|items)\b|[.,;:)\s])"
)
_DECIMAL = re.compile(r"\d+\.\d+")
_NAMED = re.compile(r"(?:arXiv|Python|GPT-|version|Codex|Apache-|SQLite)\s?\Z")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")

NEAR = 40
"""Characters between a figure and its comment at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number in a page.

    Attributes:
        where: page and line.
        text: as it stands there.
        looks_measured: whether it has a unit, decimals, or is a share.
        report: what the comment behind it says; none without one.
        allowed: the reason for which its line may hold figures without a report; empty where there is none.
    """

    where: str
    text: str
    looks_measured: bool
    report: re.Match[str] | None
    allowed: str


def measured_pages() -> list[Path]:
    """Pages whose figures have to come from reports."""
    own = [page for page in pages() if page.name == "README.md" or (page.is_relative_to(ROOT / "docs") and page.name not in GENERATED)]
    return sorted({*own, ROOT / "benchmarks" / "README.md"})


def figures_in(text: str, page: str) -> Iterator[Figure]:
    """The numbers of a page outside of code, in their order."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield from _in_line(line, f"{page}:{number}")


def _in_line(line: str, where: str) -> Iterator[Figure]:
    comments = list(_COMMENT.finditer(line))
    allowed = next((found["reason"] for one in comments for found in (_ALLOWED.match(one["said"]),) if found), "")
    # Code, addresses and comments keep their length, so that places stay.
    plain = re.sub(r"<!--.*?-->|`[^`]*`|\]\([^)]*\)|https?://\S+", lambda one: "\0" * len(one[0]), line)
    spans = list(_NUMBER.finditer(plain))
    behind: dict[int, re.Match[str]] = {}
    for one in comments:
        named = _REPORT.match(one["said"])
        before = [span for span in spans if span.end() <= one.start() and one.start() - span.end() <= NEAR]
        if named is not None and before:
            behind[before[-1].start()] = named
        elif named is not None or one["said"].strip().startswith("report"):
            yield Figure(where=where, text=one[0], looks_measured=True, report=None, allowed="")
    for span in spans:
        rest = plain[span.end() :].replace("\0", " ")
        unit = _UNIT.match(re.sub(r"^\s{2,}", " ", rest))
        decimal = _DECIMAL.fullmatch(span[0]) is not None and _NAMED.search(plain[: span.start()]) is None
        yield Figure(
            where=where, text=span[0], looks_measured=unit is not None or decimal, report=behind.get(span.start()), allowed=allowed
        )


def wrong(figure: Figure) -> str:
    """How a marked figure differs from its report; empty where it agrees."""
    named = figure.report
    assert named is not None
    try:
        value = reported(named["report"], named["key"])
    except KeyError as exc:
        return f"{figure.where}: '{figure.text}' {exc.args[0]}"
    value *= float(named["times"] or 1)
    said = float(figure.text.replace(",", ""))
    step = float(named["to"]) if named["to"] else 10.0 ** -len(figure.text.partition(".")[2])
    # Half a step either way, with room for what floats cannot hold.
    if abs(said - value) <= step / 2 + 1e-9 * max(1.0, abs(value)):
        return ""
    return f"{figure.where}: '{figure.text}', but {named['report']}.json says {value:g} for {named['key']}"


def reported(name: str, key: str) -> float:
    """A number of a report.

    Raises:
        KeyError: there is no such report, or no such number in it.
    """
    if name not in reports():
        raise KeyError(f"names the report '{name}', which is not in {REPORTS.relative_to(ROOT)}")
    held: Any = reports()[name]["figures"]
    for part in key.split("/"):
        if isinstance(held, Mapping) and part in held:
            held = held[part]
        elif isinstance(held, list) and part.isdigit() and int(part) < len(held):
            held = held[int(part)]
        else:
            raise KeyError(f"names '{key}', which {name}.json does not have")
    if not isinstance(held, int | float) or isinstance(held, bool):
        raise KeyError(f"names '{key}', which is no number in {name}.json")
    return float(held)


@lru_cache(maxsize=1)
def reports() -> Mapping[str, Mapping[str, Any]]:
    """The committed reports, by name."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(REPORTS.glob("*.json"))}
