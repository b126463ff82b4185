"""A reader that walks a memory tree with nothing but what it has read: for the bench `memory-tree`.

It has no index. All that it has of the tree is a `Door`, which gives the root's text first, then the text of a day,
week or month that a text it gave names, or a raw session that the text of its day names; which refuses every other
name; and which counts tokens. The reader opens what holds most of the words that it is looking for, those counting
more that stand in few of the lines read so far, until its budget is spent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from tenure.memory_tree.keywords import telling
from tenure.ranking import estimate_tokens
from tenure.terms import search_words

TURN_TOKENS = 300
"""The most that opening a raw session costs: the turn that is read."""

UNSEEN = 0.08
"""What a word looked for counts for a node that is not opened and whose line does not name it: it may stand below."""

NOT_NAMED = 3.0
"""Weight of a word that no line of the nodes read so far names."""

FEWEST_LINES = 40
"""Lines that a word's rarity is counted among at least: in the first ten every word is rare."""

_PERIOD = re.compile(r"\b\d{4}-(?:W\d{2}|\d{2}-\d{2}|\d{2})\b")
_SESSION = re.compile(r"#+ (#\d+)\b")
_DAY = re.compile(r"#+ (\d{4}-\d{2}-\d{2}):")
_HEADING = re.compile(r"#+ (\d{4}(?:-W?\d{2})?)\b")
_NAMED = re.compile(r"- (#\d+|\d{4}-W\d{2}|\d{4}-\d{2}-\d{2}|\d{4}-\d{2}|\d{2}-\d{2}|\d{2}):(.*)")


@dataclass(frozen=True, slots=True)
class Named:
    """A child that a text names, and the stems of the line that names it."""

    name: str
    stems: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """What can be read.

    Attributes:
        root: its text.
        nodes: texts by name.
        session_tokens: what opening a session costs, by name such as `2026-03-15#3`.
    """

    root: str
    nodes: Mapping[str, str]
    session_tokens: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """A walk.

    Attributes:
        opened: the raw sessions in the order in which they were opened, each with the tokens read until then.
        tokens: read in all.
    """

    opened: tuple[tuple[str, int], ...]
    tokens: int

    def reached(self, wanted: Collection[str], budget: int) -> bool:
        """Whether any of some sessions was opened within a budget."""
        return any(name in wanted and tokens <= budget for name, tokens in self.opened)


def looked_for(text: str, without: Collection[str] = ()) -> tuple[str, ...]:
    """The stems of a text that tell something, each once."""
    return tuple(dict.fromkeys(root for word in search_words(text) if word not in without and (root := telling(word))))


@lru_cache(maxsize=1 << 13)
def children(name: str, text: str) -> tuple[Named, ...]:
    """The children that a text names. `name` is of the node read; empty for the root.

    Short names are read as people do: `05` under the heading of a month is a day of it, `04-05` in a week or month
    is a day of that year, `#3` in a day is a session of it, with what stands under its heading where the day is a copy.
    """
    found: list[Named] = []
    heading, day, session, below = name, name, "", list[str]()
    for line in text.splitlines():
        if match := _SESSION.match(line):
            found += [Named(session, _stems(" ".join(below)))] if session else []
            session, below = f"{day}{match[1]}", []
            continue
        if match := _DAY.match(line):
            # A short week or month is a copy of its days.
            day = match[1]
        if session:
            below.append(line)
        elif match := _HEADING.match(line):
            heading = name or match[1]
        elif match := _NAMED.match(line):
            found.append(Named(_whole_name(match[1], name, heading), _stems(match[2])))
        elif line.startswith("- "):
            found += [Named(period, _stems(line)) for period in dict.fromkeys(_PERIOD.findall(line))]
    return (*found, Named(session, _stems(" ".join(below)))) if session else tuple(found)


def _whole_name(short: str, name: str, heading: str) -> str:
    if short.startswith("#"):
        return f"{name}{short}"
    if len(short) == len("05"):
        return f"{heading}-{short}"
    return f"{heading[:4]}-{short}" if len(short) == len("04-05") else short


class NotNamed(Exception):
    """A name was asked for that no text read so far has named."""


class Door:
    """The one way to a tree: texts by name, those alone that were named before, counted in tokens.

    Args:
        tree: what can be read.
        budget: tokens that may be read.
    """

    def __init__(self, tree: Tree, budget: int) -> None:
        self._tree, self._budget = tree, budget
        self._named, self._opened = {""}, list[tuple[str, int]]()
        self.tokens = 0

    @property
    def opened(self) -> tuple[tuple[str, int], ...]:
        """The raw sessions that were opened, each with the tokens read until then."""
        return tuple(self._opened)

    def read(self, name: str) -> str | None:
        """The text of a node, of the root for no name; none if there is none, or if it does not fit.

        How long a text is can be seen before it is read, as of a file: what does not fit costs nothing.

        Raises:
            NotNamed: no text read so far names it.
        """
        text = self._tree.root if not name else self._tree.nodes.get(self._known(name))
        if text is None or not self._pay(_tokens(text)):
            return None
        self._named.update(one.name for one in children(name, text))
        return text

    def open_session(self, name: str) -> bool:
        """Open a raw session, for the turn that is read, `TURN_TOKENS` at most; whether that still fits.

        Raises:
            NotNamed: no text read so far names it.
        """
        if not self._pay(min(TURN_TOKENS, self._tree.session_tokens[self._known(name)])):
            return False
        self._opened.append((name, self.tokens))
        return True

    def _known(self, name: str) -> str:
        if name not in self._named:
            raise NotNamed(name)
        return name

    def _pay(self, tokens: int) -> bool:
        if self.tokens + tokens > self._budget:
            return False
        self.tokens += tokens
        return True


def walk(tree: Tree, wanted: Sequence[str], budget: int) -> Walk:
    """Read the root, then whatever child of what was read promises most, until nothing more fits the budget.

    Args:
        tree: what can be read, through a `Door`.
        wanted: stems that are looked for.
        budget: tokens, the root's own among them.
    """
    door = Door(tree, budget)
    _go(door, _Reader(frozenset(wanted)))
    return Walk(opened=door.opened, tokens=door.tokens)


def _go(door: Door, reader: _Reader) -> None:
    name: str | None = ""
    while name is not None:
        if "#" in name:
            if not door.open_session(name):
                return
        elif (text := door.read(name)) is not None:
            reader.read(name, text)
        name = reader.next_name()


class _Reader:
    """What was read so far, and what it named that was not opened yet, grouped by which words of the search stand beside it."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted = wanted
        self._nodes: dict[frozenset[str], list[str]] = {}
        self._sessions: dict[frozenset[str], list[str]] = {}
        self._named: dict[str, frozenset[str]] = {}
        self._node_lines, self._session_lines = _Lines(), _Lines()

    def read(self, name: str, text: str) -> None:
        """Take in a text: `name` is of the node, empty for the root."""
        for one in children(name, text):
            held = one.stems & self._wanted
            (self._session_lines if "#" in one.name else self._node_lines).add(held)
            groups, before = self._sessions if "#" in one.name else self._nodes, self._named.get(one.name)
            if before is None:
                self._named[one.name] = held
                groups.setdefault(held, []).append(one.name)
            elif not held <= before and one.name in groups.get(before, ()):
                # Named again before it was opened: what all lines say of it counts.
                _drop(groups, before, one.name)
                self._named[one.name] = held | before
                groups.setdefault(held | before, []).append(one.name)

    def next_name(self) -> str | None:
        """What promises most, taken off what waits; none if nothing is left."""
        lines = self._node_lines
        weights = {stem: lines.weight(stem) if lines.held[stem] else NOT_NAMED for stem in self._wanted}
        whole = sum(weights.values())

        def promise(held: frozenset[str]) -> float:
            beside = sum(weights[stem] for stem in held)
            return beside + UNSEEN * (whole - beside)

        node = _best(self._nodes, promise)
        session = _best(self._sessions, lambda held: sum(map(self._session_lines.weight, held)))
        if session is not None and (node is None or session[0] >= node[0]):
            return _take(self._sessions, session[1])
        return _take(self._nodes, node[1]) if node is not None else None


class _Lines:
    """How many lines were read, and in how many of them each word stood."""

    def __init__(self) -> None:
        self._count, self.held = FEWEST_LINES, Counter[str]()
        self._read = 0

    def add(self, held: Collection[str]) -> None:
        self._read += 1
        self._count = max(self._count, self._read)
        self.held.update(held)

    def weight(self, stem: str) -> float:
        """The fewer lines hold a word, the more; never nothing."""
        count = self.held[stem]
        return max(log(1 + (self._count - count + 0.5) / (count + 0.5)), 0.3)


def _best(groups: Mapping[frozenset[str], object], worth: Callable[[frozenset[str]], float]) -> tuple[float, frozenset[str]] | None:
    return max(((worth(held), held) for held in groups), key=lambda one: (one[0], sorted(one[1])), default=None)


def _take(groups: dict[frozenset[str], list[str]], held: frozenset[str]) -> str:
    name = groups[held][0]
    _drop(groups, held, name)
    return name


def _drop(groups: dict[frozenset[str], list[str]], held: frozenset[str], name: str) -> None:
    groups[held].remove(name)
    if not groups[held]:
        del groups[held]


@lru_cache(maxsize=1 << 13)
def _tokens(text: str) -> int:
    """Tokens of a text, kept: the same nodes are read in many walks."""
    return estimate_tokens(text)


@lru_cache(maxsize=1 << 16)
def _stems(line: str) -> frozenset[str]:
    return frozenset(looked_for(line))
