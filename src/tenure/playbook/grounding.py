"""Whether a revised text rests on its source: the rule that a run may test a lesson, and add nothing to it.

A revision is allowed to say what its source case or the old lesson supports. Each fact of a statement
(see `facts`) must occur there; a word or fact that occurs only in the current run is *leaked*. A
statement with a leak is dropped; one with a fact that nothing supports is marked as a hypothesis. This
is a check of words and facts, not of sense: what is wrong without being new passes it.

Source of the rule: ReHarness (2026), whose authors found 95 % of revised statements supported and 1 to 2 % leaked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import cast

from tenure.playbook.facts import Fact, Reading, Statement, facts, joined, numbers, plain_form, spaced, statements
from tenure.ranking import STOP_WORDS
from tenure.terms import REQUEST_WORDS, search_words, stem

MARK = "Hypothesis: "
"""Stands before a statement that neither source nor old lesson supports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One statement of a revised text, held against its source.

    Attributes:
        statement: as proposed, without the mark.
        unsupported: facts that occur neither in the source nor in the old lesson, as written.
        leaked: words and facts that occur only in the current run, as written.
        marked: whether it was put forward as a hypothesis.
    """

    statement: Statement
    unsupported: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()
    marked: bool = False

    @property
    def supported(self) -> bool:
        """Whether it can stand as it is."""
        return not self.unsupported and not self.leaked and not self.marked


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """A revised text, statement by statement.

    Attributes:
        judged: its statements in their order.
    """

    judged: tuple[Judged, ...] = ()

    @property
    def grounded(self) -> float:
        """Share of the statements that source and old lesson support, 0 to 1; 1 if there are none."""
        return sum(one.supported for one in self.judged) / len(self.judged) if self.judged else 1.0

    @property
    def leaked(self) -> float:
        """Share of the statements that hold what occurs only in the current run, 0 to 1."""
        return sum(bool(one.leaked) for one in self.judged) / len(self.judged) if self.judged else 0.0

    @property
    def hypotheses(self) -> int:
        """How many statements of `text` are marked."""
        return sum(not one.leaked and not one.supported for one in self.judged)

    @property
    def dropped(self) -> int:
        """How many statements are not in `text`."""
        return sum(bool(one.leaked) for one in self.judged)

    @property
    def text(self) -> str:
        """What may be kept: without leaked statements, unsupported ones marked. May be empty."""
        kept = [
            one.statement if one.supported else replace(one.statement, text=MARK + one.statement.text)
            for one in self.judged
            if not one.leaked
        ]
        return joined(kept).strip()

    def __add__(self, other: Grounding) -> Grounding:
        return Grounding(judged=(*self.judged, *other.judged))


class Grounds:
    """What a revision may rest on, and the run that it may only be tested on.

    Args:
        source: the texts of the source case; empty if it is not kept.
        old: the texts of the lesson as it stood.
        current: the texts of the run that tested it.
        tools: names of tools that either run called.
    """

    def __init__(self, *, source: Iterable[str], old: Iterable[str], current: Iterable[str], tools: Collection[str] = ()) -> None:
        self._tools = frozenset(tools)
        # What the old lesson only supposed is no ground: a guess does not become knowledge by being repeated.
        certain = (joined([one for one in statements(text) if not one.text.startswith(MARK.strip())]) for text in old)
        self._known = _Text((*source, *certain), self._tools)
        self._current = _Text(current, self._tools)

    def judge(self, text: str) -> Grounding:
        """Each statement of a text, with what of it nothing supports and what leaked."""
        return Grounding(judged=tuple(map(self._judged, statements(text))))

    def leaks(self, text: str) -> tuple[str, ...]:
        """Words and facts of a text that occur in the current run and in nothing that it may rest on."""
        return self._leaks(text, lists=True)

    def _leaks(self, text: str, *, lists: bool) -> tuple[str, ...]:
        named = facts(text, tools=self._tools, lists=lists)
        facts_there = [one.said for one in named if not self._known.supports(one) and self._current.supports(one)]
        words_there = [said for said, root in _content_words(text) if root in self._current.words and root not in self._known.words]
        return tuple(dict.fromkeys((*facts_there, *words_there)))

    def _judged(self, statement: Statement) -> Judged:
        marked = statement.text.startswith(MARK.strip())
        said = statement.text.removeprefix(MARK.strip()).lstrip() if marked else statement.text
        bare = replace(statement, text=said)
        # The mark of a list stands before a statement, never in it.
        named = facts(said, tools=self._tools, lists=False)
        unsupported = tuple(dict.fromkeys(one.said for one in named if not self._known.supports(one)))
        return Judged(statement=bare, unsupported=unsupported, leaked=self._leaks(said, lists=False), marked=marked)


class _Text:
    """Texts, ready to be asked what they hold."""

    def __init__(self, texts: Iterable[str], tools: Collection[str]) -> None:
        whole = "\n".join(texts)
        self.words = {root for _, root in _content_words(whole)}
        self._plain = spaced(whole)
        self._readings: set[Reading] = set()
        self._dates: set[tuple[int | None, int, int | None]] = set()
        for fact in facts(whole, tools=tools):
            for reading in fact.readings:
                if isinstance(reading, tuple):
                    self._dates.add(reading)
                else:
                    self._readings.add(reading)
        # A figure in a quotation, inside an identifier or in the place of a list's mark is there as well.
        self._readings |= numbers(_OPENED.sub(" ", whole))

    def supports(self, fact: Fact) -> bool:
        """Whether a fact is there, however it is spelled."""
        if fact.kind == "quoted":
            return all(_holds(self._plain, cast(str, reading)) for reading in fact.readings)
        if fact.kind == "name":
            return _holds(self._plain, spaced(fact.said))
        if fact.kind == "date":
            return any(isinstance(one, tuple) and any(_says(there, one) for there in self._dates) for one in fact.readings)
        if fact.kind == "tool":
            return bool(fact.readings & self._readings)
        if fact.kind == "identifier" and _holds(self._plain, spaced(fact.said)):
            return True
        return bool(fact.readings & self._readings)


_OPENED = re.compile(r"[\"'`“”‘’«»「」『』()\[\]{}=:,](?=\D|$)|(?<=\D)[\"'`“”‘’«»「」『』()\[\]{}=:]")


def _says(there: tuple[int | None, int, int | None], wanted: tuple[int | None, int, int | None]) -> bool:
    """Whether a date that is there says one that is wanted: what the wanted one leaves open does not matter."""
    return all(want is None or want == have for have, want in zip(there, wanted, strict=True))


def _holds(text: str, wanted: str) -> bool:
    """Whether a folded text holds another as whole words."""
    if not wanted:
        return True
    place = text.find(wanted)
    while place >= 0:
        before, after = text[place - 1 : place], text[place + len(wanted) : place + len(wanted) + 1]
        if not (_joins(before) and _joins(wanted[0])) and not (_joins(after) and _joins(wanted[-1])):
            return True
        place = text.find(wanted, place + 1)
    return False


def _joins(char: str) -> bool:
    """Whether a character makes one word with a neighbour: letters and digits, but not those of scripts without spaces."""
    return char.isalnum() and not "\u3040" <= char <= "\u9fff"


_COMMON = (
    STOP_WORDS
    | REQUEST_WORDS
    | frozenset(
        # What any statement of a condition is made with.
        "apply applies only unless otherwise never always task tasks run runs case cases lesson hypothesis following instead rather".split()
    )
)


def _content_words(text: str) -> list[tuple[str, str]]:
    """The words of a text that say something, each with its root; figures are left to `facts`."""
    found: list[tuple[str, str]] = []
    for word in search_words(plain_form(text)):
        if word in _COMMON or word.isdigit() or (len(word) < 2 and word.isascii()):
            continue
        found.append((word, stem(word)))
    return found
