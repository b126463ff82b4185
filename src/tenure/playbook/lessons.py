"""Lessons, and the pure facts about their texts: sections, kinds, ids, normal forms.

Source: ACE (ICLR 2026) calls a lesson a bullet; ReHarness (2026) a reflection.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal

from tenure.playbook.blocks import short_ids as short_ids

Kind = Literal["strategy", "tool_rule", "domain_rule", "common_error", "template", "prohibition", "task_goal"]
Status = Literal["provisional", "active", "held", "retired"]

KINDS: Mapping[str, str] = {
    "strategy": "strategies",
    "tool_rule": "tool rules",
    "domain_rule": "domain rules",
    "common_error": "common errors",
    "template": "templates and snippets",
    "prohibition": "prohibitions",
    "task_goal": "task goals",
}
"""Each kind of lesson, and the section it goes to where none is named."""

STATUSES: tuple[str, ...] = ("provisional", "active", "held", "retired")


MOST_COUNTED = 10**15 - 1
"""Largest count, so that counts stay exact as floating-point numbers and short as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tallies:
    """Counts of what happened around a lesson. From 0 to `MOST_COUNTED` when read from a lesson.

    Attributes:
        helpful, harmful, neutral: runs in which it helped, misled, or made no difference.
        shown: runs in which the agent saw it.
        cited: runs in which the agent named it.
        withheld: runs in which it matched and was deliberately not shown.
        support: runs that showed, each for itself, what the lesson says.
    """

    helpful: int = 0
    harmful: int = 0
    neutral: int = 0
    shown: int = 0
    cited: int = 0
    withheld: int = 0
    support: int = 0

    def __add__(self, other: Tallies) -> Tallies:
        if not other or not self:
            return other or self
        return Tallies(**{name: getattr(self, name) + getattr(other, name) for name in TALLY_NAMES})

    def __sub__(self, other: Tallies) -> Tallies:
        return Tallies(**{name: getattr(self, name) - getattr(other, name) for name in TALLY_NAMES})

    def __bool__(self) -> bool:
        return bool(self.helpful or self.harmful or self.neutral or self.shown or self.cited or self.withheld or self.support)

    def floored(self) -> Tallies:
        """The same counts with negative sums (an undone count arriving first) read as 0."""
        counts = (self.helpful, self.harmful, self.neutral, self.shown, self.cited, self.withheld, self.support)
        if min(counts) >= 0 and max(counts) <= MOST_COUNTED:
            return self
        return Tallies(**{name: min(max(0, getattr(self, name)), MOST_COUNTED) for name in TALLY_NAMES})


TALLY_NAMES: tuple[str, ...] = tuple(f.name for f in fields(Tallies))


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Evidence:
    """A place in a run that a lesson rests on.

    Attributes:
        run: the run's id.
        step: index of the step in the run, from 0; -1 for the run as a whole.
        role: what the step shows: `error`, `cure`, `repeat`, `correction`, `failure`, `success`,
            `source` or `context`.
    """

    run: str
    step: int = -1
    role: str = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One self-contained, actionable statement with conditions of applicability.

    Attributes:
        id: `<section slug>-<13 base32 characters>`, or the id it was imported with.
        section: the named part of the playbook it stands in.
        kind: one of `KINDS`.
        text: the statement.
        applies_when: the conditions; empty means always.
        avoid: what not to do, where that is worth saying apart.
        tool_order: tools in the order in which to call them.
        about: what the lesson is about, for machines: an error signature such as
            `tool-error:book:amount does not match #`. At most one live lesson a subject is learned.
        status: `provisional` (seen, not yet proven), `active`, `held` (waiting for a review) or `retired`.
        tallies: counts of what happened around it.
        evidence: the earliest places it rests on (`EVIDENCE_KEPT` at most; `tallies.support` counts all).
        origin: name of the origin its text came from.
        author: who proposed it: `person:NAME`, `extractive`, `model:NAME`, `import:FILE`.
        verdict: last verdict of a revision: `confirmed`, `too general`, `outdated`, or empty.
        revision: what is recorded of it, as `revision.Revision.to_text` writes it; empty if there was none.
        created, updated: ISO 8601 of the deltas that wrote it; empty if those had no time.
        pinned: whether refine must leave it alone.
        merged: ids of lessons that were merged into this one.
        restored: ISO 8601 of the delta that brought it back after it had been retired; empty if none did.
    """

    id: str
    section: str
    text: str
    kind: str = "strategy"
    applies_when: str = ""
    avoid: str = ""
    tool_order: tuple[str, ...] = ()
    about: str = ""
    status: str = "active"
    tallies: Tallies = Tallies()
    evidence: tuple[Evidence, ...] = ()
    origin: str = ""
    author: str = ""
    verdict: str = ""
    revision: str = ""
    created: str = ""
    updated: str = ""
    pinned: bool = False
    merged: tuple[str, ...] = ()
    restored: str = ""

    @property
    def live(self) -> bool:
        """Whether an agent can be shown it: provisional or active."""
        return self.status in ("provisional", "active")

    def with_text(self, text: str, applies_when: str | None = None) -> Lesson:
        """The same lesson with another text."""
        return replace(self, text=text, applies_when=self.applies_when if applies_when is None else applies_when)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What is needed to rank a lesson, without its text.

    Attributes:
        id, section, pinned, created, updated: see `Lesson`.
        tallies: helpful, harmful, neutral and support at least.
        tokens: its estimated size in a prompt.
    """

    id: str
    section: str
    pinned: bool
    created: str
    updated: str
    tallies: Tallies
    tokens: int


EVIDENCE_KEPT = 32
"""Places kept with a lesson; every one ever recorded stays in the ledger."""


def normalised(text: str) -> str:
    """The form in which two texts are the same lesson: NFC, runs of white space as one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def text_digest(text: str) -> str:
    """Short digest of the normal form of a text (20 hex characters, 80 bits)."""
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()[:20]


def section_name(section: str, kind: str = "strategy") -> str:
    """A section's name as kept: one line, no control characters, no closing colon, never empty."""
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") else c for c in section)
    plain = normalised(plain).rstrip(": ").lstrip("# ")
    return plain or KINDS.get(kind, "strategies")


def section_slug(section: str) -> str:
    """The readable start of a lesson id: initials of several words, else three letters."""
    words = re.findall(r"[a-z0-9]+", section.lower())
    if len(words) > 1:
        return "".join(word[0] for word in words[:4])
    return words[0][:3] if words else "les"


def lesson_id(delta_id: str, section: str, text: str, count: int) -> str:
    """The id of a lesson that an ADD without one creates, the same whoever computes it.

    Args:
        delta_id: id of the delta that adds it.
        section: its section, in kept form.
        text: its text.
        count: how many ADDs of the same section and text come before it in its delta.
    """
    material = "\x1f".join((delta_id, section, normalised(text), str(count)))
    digest = hashlib.sha256(material.encode("utf-8", "surrogatepass")).digest()
    return f"{section_slug(section)}-{base64.b32encode(digest[:9]).decode().lower()[:13]}"
