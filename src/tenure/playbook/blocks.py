"""How a lesson stands in a text for an agent, and the marks around what Tenure puts in front of one.

Light: a hook of a coding agent shows lessons at every prompt, and loads nothing else of the playbook.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # without `typing`: see `tenure/__init__.py`
if TYPE_CHECKING:
    from typing import Protocol

    class Said(Protocol):
        """What of a lesson is shown."""

        @property
        def id(self) -> str:
            """The lesson's id."""
            ...

        @property
        def text(self) -> str:
            """What it says."""
            ...

        @property
        def applies_when(self) -> str:
            """Its conditions; may be empty."""
            ...

        @property
        def avoid(self) -> str:
            """What it warns of; may be empty."""
            ...


INTRODUCTION = "Lessons from earlier runs. Follow those whose conditions hold; name the ids you used."

OPEN = "<tenure-context"
"""How the opening tag of an injected text begins; attributes and `>` follow."""

CLOSE = "</tenure-context>"
"""The closing tag."""

# Made visible: control characters, direction overrides, and characters that are there but show nothing (among them
# the tag characters that can carry a hidden text). Joiners stay: Persian, Hindi and many emoji are written with them.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
_OWN_TAG = re.compile(r"<(?=\s*/?\s*tenure)", re.IGNORECASE)


def lesson_block(lesson: Said, shown_id: str | None = None) -> str:
    """One lesson as a prompt shows it, without counters, further lines marked by `|`.

    Args:
        lesson: the lesson.
        shown_id: its id as shown; none shows it whole.
    """
    parts = [f"- [{defused(shown_id or lesson.id)}] {defused(lesson.text)}"]
    if lesson.applies_when:
        parts.append(f"  Applies when: {defused(lesson.applies_when)}")
    if lesson.avoid:
        parts.append(f"  Avoid: {defused(lesson.avoid)}")
    return "\n".join(parts)


def defused(text: str) -> str:
    """A text that cannot be taken for structure: further lines marked, control characters visible, own tags broken."""
    plain = text.strip()
    if plain.isprintable() and "<" not in plain:  # by far the most: one line that has nothing to defuse
        return plain
    plain = plain.replace("\r\n", "\n").replace("\r", "\n")
    plain = _CONTROL.sub(_visible, plain)
    return _OWN_TAG.sub("‹", plain).replace("\n", "\n  | ")


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def short_ids(ids: list[str] | tuple[str, ...], *, least: int = 4) -> dict[str, str]:
    """Each id as short as it can be shown and still be told from the others: `inv-7k2m9q`.

    Imported ids, which do not end in 13 base32 characters, are never cut.
    """
    shown: dict[str, str] = {}
    ordered = sorted(set(ids))
    for place, full in enumerate(ordered):
        slug, _, tail = full.rpartition("-")
        if len(tail) != 13 or not slug:
            shown[full] = full
            continue
        neighbours = (ordered[place - 1] if place else "", ordered[place + 1] if place + 1 < len(ordered) else "")
        shared = max(_shared_prefix(full, neighbour) for neighbour in neighbours)
        shown[full] = full[: max(len(slug) + 1 + least, shared + 1)]
    return shown


def _shared_prefix(a: str, b: str) -> int:
    length = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        length += 1
    return length
