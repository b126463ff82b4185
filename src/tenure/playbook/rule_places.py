"""Where the rules of a person's instruction file stand, and the file with conditions put to some of them.

A condition is one more line below its rule, nested in it. Nothing else is touched: line breaks, byte-order
mark, trailing white space and a missing line break at the end stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tenure.playbook.lessons import normalised
from tenure.playbook.rule_lists import read_rule_lists

APPLY = "Apply only if "
"""How the line with a condition begins."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_ENTRY = re.compile(r"([ \t]*)([-*+]|[0-9]{1,9}[.)])([ \t]+|$)")
_BREAK = re.compile(r"(?:\r\n|\n|\r)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRule:
    """One rule of a file.

    Attributes:
        number: its place among the rules, from 1.
        section: the heading above it; empty if there is none.
        text: as `read_rule_lists` gives it.
        first, last: its first and last line in the file, from 1.
    """

    number: int
    section: str
    text: str
    first: int
    last: int


def place_rules(text: str) -> tuple[PlacedRule, ...]:
    """The rules of a file's text with the lines they stand on. A byte-order mark may come first."""
    lines = [line.lstrip("\ufeff") if place == 0 else line for place, line in enumerate(_LINE.findall(text))]
    rules, _ = read_rule_lists(text.removeprefix("\ufeff"))
    found: list[PlacedRule] = []
    place = 0
    for number, rule in enumerate(rules, 1):
        said = [line.strip() for line in rule.text.split("\n") if line.strip()]
        at = _span(lines, place, said)
        if at is None:
            continue  # read otherwise than it is written: it is left alone
        first, last = at
        found.append(PlacedRule(number=number, section=rule.section, text=rule.text, first=first + 1, last=last + 1))
        place = last + 1
    return tuple(found)


def _span(lines: list[str], start: int, said: list[str]) -> tuple[int, int] | None:
    """The first lines from a place on that hold a rule's lines, the first of them a list's entry."""
    for first in range(start, len(lines)):
        entry = _ENTRY.match(lines[first])
        if entry is None:
            continue
        wanted = list(said)
        rest = _without_box(lines[first][entry.end() :].strip())
        if rest and rest != wanted.pop(0):
            continue
        last = first
        for line in range(first + 1, len(lines)):
            if not wanted:
                break
            held = lines[line].strip()
            if not held:
                continue
            if held != wanted[0]:
                break
            wanted.pop(0)
            last = line
        if not wanted:
            return first, last
    return None


def _without_box(text: str) -> str:
    return re.sub(r"^\[[ xX]\][ \t]+", "", text)


def with_conditions(text: str, conditions: Mapping[int, str]) -> str:
    """A file's text with "Apply only if" lines below some of its rules.

    Args:
        text: the file's, with its line breaks as they are.
        conditions: by number of the rule; one that the rule says already is left out.
    """
    lines = _LINE.findall(text)
    breaks = [found[0] for line in lines if (found := _BREAK.search(line))]
    common = breaks[0] if breaks else "\n"
    out = list(lines)
    for rule in reversed(place_rules(text)):
        condition = normalised(conditions.get(rule.number, "")).rstrip(".")
        if not condition or normalised(condition).casefold() in normalised(rule.text).casefold():
            continue
        entry = _ENTRY.match(lines[rule.first - 1].lstrip("\ufeff"))
        assert entry is not None  # a placed rule begins with one
        mark = entry[2] if entry[2] in "-*+" else "-"
        line = f"{entry[1]}{' ' * (len(entry[2]) + 1)}{mark} {APPLY}{condition}."
        own = _BREAK.search(lines[rule.last - 1])
        if own is not None:
            out.insert(rule.last, line + own[0])
        else:
            out[rule.last - 1 :] = [lines[rule.last - 1] + common, line]
    return "".join(out)
