"""Explicit rules that give notes a type when their writer sets none. They read the text, and never who speaks."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.errors import UserError
from tenure.memory_tree.entries import ENTRY_TYPES, EntryType, checked_type

MOST_RULES, LONGEST_PATTERN = 50, 200


@dataclass(frozen=True, slots=True)
class TypeRule:
    """A rule.

    Attributes:
        type: what matching notes are.
        pattern: the whole note, in which `*` stands for any text; letters match in either case.
    """

    type: EntryType
    pattern: str

    def matches(self, text: str) -> bool:
        """Whether a note is meant."""
        said = text.strip().casefold()
        first, *others = self.pattern.casefold().split("*")
        if not others:
            return said == first
        if not said.startswith(first):
            return False
        place, last = len(first), others.pop()
        # Each part as early as it can be: so no text makes this slow.
        for part in others:
            place = said.find(part, place)
            if place < 0:
                return False
            place += len(part)
        return len(said) - len(last) >= place and said.endswith(last)


def read_type_rules(text: str) -> tuple[TypeRule, ...]:
    """Rules as a setting has them: `feedback=always *; reference=*https://*`. The first that matches holds.

    Raises:
        ValueError: a rule is malformed; the message begins with `must`.
    """
    rules: list[TypeRule] = []
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, pattern = (piece.strip() for piece in part.partition("="))
        if not equals or not pattern.strip("* ") or len(pattern) > LONGEST_PATTERN:
            raise ValueError(f"must be rules such as 'feedback=always *; reference=*https://*', and '{part[:60]}' is none")
        try:
            rules.append(TypeRule(checked_type(name), pattern))
        except UserError as exc:
            raise ValueError(f"must name types of entries ({', '.join(ENTRY_TYPES)}), and '{name[:60]}' is none") from exc
    if len(rules) > MOST_RULES:
        raise ValueError(f"must have {MOST_RULES} rules at most")
    return tuple(rules)


def type_by_rules(text: str, rules: tuple[TypeRule, ...]) -> EntryType:
    """The type of the first rule that matches; `log` if none does."""
    return next((rule.type for rule in rules if rule.matches(text)), "log")
