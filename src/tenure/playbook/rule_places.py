"""Where the rules of a person's instruction file stand, and the file with conditions put to some of them.

A condition is one more line below its rule, nested in it. Nothing else is touched: line breaks, byte-order
mark, trailing white space and a missing line break at the end stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tenure.playbook.lessons import normalised
from tenure.playbook.rule_lists import read_rule_places

APPLY = "Apply only if "
"""How the line with a condition begins."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_ENTRY = re.compile(r"([ \t]*)([-*+]|[0-9]{1,9}[.)])([ \t]+|$)")
_CONDITION = re.compile(rf"[ \t]*(?:(?:[-*+]|[0-9]{{1,9}}[.)])[ \t]+)?{re.escape(APPLY)}(.+)")
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
    found = read_rule_places(text.removeprefix("\ufeff"))
    return tuple(
        PlacedRule(number=number, section=rule.section, text=rule.text, first=first, last=last)
        for number, (rule, first, last) in enumerate(found, 1)
    )


def split_conditions(rule: str) -> tuple[str, str]:
    """A rule's text without its "Apply only if" lines, and what they say, joined by `; and`."""
    lines = rule.split("\n")
    said = [_CONDITION.match(line) for line in lines]
    body = "\n".join(line for line, found in zip(lines, said, strict=True) if found is None)
    return body.strip(), "; and ".join(found[1].strip().rstrip(".") for found in said if found is not None)


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
        entry = _ENTRY.match(lines[rule.first - 1].lstrip("\ufeff").rstrip("\r\n"))
        assert entry is not None  # a placed rule begins with one
        mark = entry[2] if entry[2] in "-*+" else "-"
        line = f"{entry[1]}{' ' * (len(entry[2]) + 1)}{mark} {APPLY}{condition}."
        own = _BREAK.search(lines[rule.last - 1])
        if own is not None:
            out.insert(rule.last, line + own[0])
        else:
            out[rule.last - 1 :] = [lines[rule.last - 1] + common, line]
    return "".join(out)
