"""Search over the raw log of a memory: sessions as wholes, and what was said in them, by words and by meaning.

Words are those of the log's own index; vectors are of sessions and of entries, where an embedder made some. The same `find`
as over passages weighs and widens. What differs is where the words come from: nothing is read but the entries that hold a
rare word of what is asked, or are near to it, so that a log of a million entries costs little more than a short one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

from tenure.fusion import ASIDE_WEIGHT, WHOLE_VECTOR_WEIGHT
from tenure.ports import Found, Nearest, PassageHit, VectorKind
from tenure.stores.passages import NEAREST, AllCosines, Cosines, Indexed, Meaning, find
from tenure.terms import identifiers, question, search_words, shown, stem

COMMON = 5_000
"""Entries from which on a word is counted no further: it tells few of them apart."""

WEIGHED = 20_000
"""Entries that a database may have to weigh for one look; the rarest words come first."""

READ = 1_200
"""Entries that are read for one look, the likeliest by the database's own measure."""

TURNS = 4
"""Entries of a session that hold a word, beside those that do not: how counts of entries become counts of sessions, roughly."""


@dataclass(frozen=True, slots=True)
class Said:
    """An entry as it is searched.

    Attributes:
        id: the entry's.
        session: its day and session (see `session_name`).
        own: whether it is of whom the session is remembered for, not an answer.
        words: as indexed.
        text: as kept; empty where it was not asked for.
    """

    id: str
    session: str
    own: bool
    words: tuple[str, ...]
    text: str = ""


class Log(Protocol):
    """The raw log of one scope, as an adapter keeps it."""

    def size(self) -> int:
        """How many entries there are, those beyond a few hundred thousand not counted."""
        ...

    def held_by(self, word: str) -> int:
        """How many entries hold a word or another with its stem; any number above `COMMON` where it is more than that."""
        ...

    def said(self, ids: Sequence[str], *, texts: bool) -> Sequence[Said]:
        """Entries by their ids; those that are not there are left out."""
        ...

    def holding(self, phrases: Sequence[str], *, limit: int, newest: bool, texts: bool) -> Sequence[Said]:
        """Entries that hold any of some words, or several next to each other: the likeliest first, or the newest; `texts` if wanted."""
        ...


def split_session_name(name: str) -> tuple[str, str]:
    """Day and session of a `session_name`."""
    day, _, session = name.partition(" ")
    return day, session


class NearInLog(Protocol):
    """The vectors of a log beside that of a question, as an adapter keeps them."""

    def nearest(self, kind: VectorKind, most: int) -> Nearest:
        """What of a kind is nearest; where there are very many, of the newest alone."""
        ...

    def cosines(self, kind: VectorKind, ids: Collection[str]) -> Mapping[str, float]:
        """The cosines of some sessions or entries, of those that have a vector."""
        ...


def session_name(day: str, session: str) -> str:
    """How a session of a day is called among hits."""
    return f"{day} {session}"


def find_in_log(log: Log, text: str, *, limit: int, near: NearInLog | None = None) -> tuple[Found, Found]:
    """The sessions of a log that answer a text, in wider words than its own, and what was said that does; best first.

    Args:
        log: one scope's.
        text: a question, in any script.
        limit: sessions at most, and four times as many entries.
        near: vectors beside the question's; none searches by words alone.
    """
    asked = question(text)
    look = _Look(log, texts=bool(asked.identifiers))
    given = () if near is not None else None  # the shelves know what the question's vector is
    about, entries = _Sessions(look, near), _Entries(look, near)
    sessions = find(about, text, limit=limit, smooth=False, meaning=Meaning(vector=given, weight=WHOLE_VECTOR_WEIGHT), widen=True)
    said = find(entries, text, limit=limit * 4, smooth=False, meaning=Meaning(vector=given))
    return Found(hits=_telling(sessions, about.compared)), Found(hits=_telling(said, entries.compared))


def _telling(hits: tuple[PassageHit, ...], compared: Nearest) -> tuple[PassageHit, ...]:
    """The hits, where any holds a word of the question; else those alone that stand out in meaning: something is always nearest."""
    if any(hit.words or hit.identifiers for hit in hits):
        return hits
    return tuple(hit for hit in hits if hit.cosine is not None and compared.stands_out(hit.cosine))


class _Cosines:
    """Likeness of what is in a log (see `passages.Cosines`).

    Args:
        kind: sessions or entries.
        near: the vectors.
        ids: by row, of all rows known so far.
        row: gives a row to what is near; none where it is not there.
    """

    def __init__(
        self, kind: VectorKind, near: NearInLog, ids: Callable[[int], str], rows: Callable[[Sequence[str]], Mapping[str, int]]
    ) -> None:
        self._kind, self._near, self._id = kind, near, ids
        self.compared = near.nearest(kind, NEAREST)
        self._rows = rows([hit.id for hit in self.compared.hits])

    @property
    def lowest(self) -> float | None:
        return self.compared.lowest if self.compared.compared else None

    def nearest(self, most: int) -> Collection[int]:
        return [self._rows[hit.id] for hit in self.compared.hits if hit.id in self._rows][:most]

    def of(self, rows: Collection[int]) -> Mapping[int, float]:
        ids = {self._id(row): row for row in rows}
        return {ids[one]: cosine for one, cosine in self._near.cosines(self._kind, ids).items()}


class _Look:
    """One look at a log: nothing is asked of it twice."""

    def __init__(self, log: Log, *, texts: bool) -> None:
        self._log, self._texts = log, texts
        self._held: dict[str, int] = {}
        self._found: dict[tuple[str, ...], Sequence[Said]] = {}
        self._words: dict[str, Counter[str]] = {}
        self._stems: dict[str, str] = {}
        self._size: int | None = None

    def size(self) -> int:
        if self._size is None:
            self._size = self._log.size()
        return self._size

    def held_by(self, word: str) -> int:
        root = stem(word)
        if root not in self._held:
            self._held[root] = self._log.held_by(word)
        return self._held[root]

    def spelled(self, stems: Collection[str]) -> Mapping[str, str]:
        """The words of all that was read that have some stems, with their stems."""
        return {word: root for word, root in self._stems.items() if root in stems}

    def times(self, one: Said, wanted: Mapping[str, str]) -> dict[str, float]:
        """How often an entry holds each of some stems, given the words that have them."""
        words, found = self._words[one.id], dict[str, float]()
        for word in words.keys() & wanted.keys():
            found[wanted[word]] = found.get(wanted[word], 0.0) + words[word]
        return found

    def mean_words(self) -> float:
        """Words of an entry of those that were read."""
        read = [len(one.words) for some in self._found.values() for one in some if one.own]
        return max(sum(read) / len(read), 1.0) if read else 1.0

    def holding(self, words: Sequence[str], marks: Sequence[str]) -> Sequence[Said]:
        """Entries that hold the rarest of some words, as many of those as a database weighs in good time; else the newest with any."""
        exact = list(filter(None, (" ".join(search_words(shown(mark))) for mark in marks)))
        rare, weighed = list[str](), 0
        for word in sorted((one for one in words if 0 < self.held_by(one) <= COMMON), key=lambda one: (self.held_by(one), one)):
            if rare and weighed + self.held_by(word) > WEIGHED:
                break
            rare.append(word)
            weighed += self.held_by(word)
        asked = (*exact, *rare)
        found = self._read(asked, newest=False)
        return found or self._read(tuple(words), newest=True)

    def said(self, ids: Sequence[str]) -> Sequence[Said]:
        """Entries by their ids."""
        found = self._log.said(ids, texts=self._texts)
        self._know(found)
        return found

    def _know(self, said: Sequence[Said]) -> None:
        new = [one for one in said if one.id not in self._words]
        for one in new:
            self._words[one.id] = Counter(one.words)
        self._stems |= {word: stem(word) for word in set[str]().union(*(self._words[one.id] for one in new)).difference(self._stems)}

    def _read(self, phrases: tuple[str, ...], *, newest: bool) -> Sequence[Said]:
        if not phrases:
            return ()
        if phrases not in self._found:
            self._found[phrases] = self._log.holding(phrases, limit=READ, newest=newest, texts=self._texts)
            self._know(self._found[phrases])
        return self._found[phrases]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held(Indexed):
    """What is known of a session: the entries that were read. Its length is not; all count as equally long."""

    @property
    def length(self) -> float:
        return 1.0


class _Sessions:
    """Sessions by the entries of them that were read (see `passages.Shelf`)."""

    def __init__(self, look: _Look, near: NearInLog | None) -> None:
        self._look, self._near = look, near
        self._rows: dict[str, int] = {}
        self._names: list[str] = []
        self._said: dict[int, dict[str, Said]] = {}
        self.compared = Nearest()

    def size(self) -> tuple[int, float]:
        total = -(-self._look.size() // TURNS)
        return total, float(total)

    def held_by(self, word: str) -> int:
        held, (total, _) = self._look.held_by(word), self.size()
        return min(held, total) if held <= COMMON else max(total // 2, 1)

    def holders(self, words: Sequence[str], marks: Sequence[str], most: int) -> Sequence[int]:
        found: dict[int, None] = {}
        for one in self._look.holding(words, marks):
            row = self._row(one.session)
            self._said[row][one.id] = one
            found[row] = None
        return list(found)[:most]

    def beside(self, rows: Collection[int], reach: int) -> Collection[int]:
        return ()

    def take(self, rows: Collection[int]) -> Mapping[int, Indexed]:
        kept: dict[int, Indexed] = {}
        for row in sorted(rows):
            said = list(self._said[row].values())
            kept[row] = _Held(
                id=self._names[row],
                group="",
                place=0,
                said=tuple(chain.from_iterable(one.words for one in said if one.own)),
                aside=tuple(chain.from_iterable(one.words for one in said if not one.own)),
                marks=tuple(mark for one in said if one.text for mark in identifiers(one.text)),
            )
        return kept

    def counts(self, kept: Mapping[int, Indexed], stems: Collection[str]) -> Mapping[int, Mapping[str, float]]:
        wanted = self._look.spelled(stems)
        found: dict[int, Mapping[str, float]] = {}
        for row in kept:
            counted = dict[str, float]()
            for one in self._said[row].values():
                for root, times in self._look.times(one, wanted).items():
                    counted[root] = counted.get(root, 0.0) + (times if one.own else ASIDE_WEIGHT * times)
            found[row] = counted
        return found

    def cosines(self, model: str, vector: Sequence[float]) -> Cosines:
        if self._near is None:
            return AllCosines()
        found = _Cosines("session", self._near, self._names.__getitem__, lambda names: {name: self._row(name) for name in names})
        self.compared = found.compared
        return found

    def _row(self, name: str) -> int:
        row = self._rows.setdefault(name, len(self._names))
        if row == len(self._names):
            self._names.append(name)
            self._said[row] = {}
        return row


class _Entries:
    """What was said by whom a session is remembered for, entry by entry (see `passages.Shelf`)."""

    def __init__(self, look: _Look, near: NearInLog | None) -> None:
        self._look, self._near = look, near
        self._said: list[Said] = []
        self._rows: dict[str, int] = {}
        self.compared = Nearest()

    def size(self) -> tuple[int, float]:
        return self._look.size(), self._look.size() * self._look.mean_words()

    def held_by(self, word: str) -> int:
        return min(self._look.held_by(word), max(self._look.size() // 2, 1))

    def holders(self, words: Sequence[str], marks: Sequence[str], most: int) -> Sequence[int]:
        rows: list[int] = []
        for one in self._look.holding(words, marks):
            if one.own:
                rows.append(self._row(one))
        return rows[:most]

    def beside(self, rows: Collection[int], reach: int) -> Collection[int]:
        return ()

    def take(self, rows: Collection[int]) -> Mapping[int, Indexed]:
        return {
            row: Indexed(
                id=one.id, group=one.session, place=0, said=one.words, aside=(), marks=tuple(identifiers(one.text)) if one.text else ()
            )
            for row in sorted(rows)
            for one in (self._said[row],)
        }

    def counts(self, kept: Mapping[int, Indexed], stems: Collection[str]) -> Mapping[int, Mapping[str, float]]:
        wanted = self._look.spelled(stems)
        return {row: self._look.times(self._said[row], wanted) for row in kept}

    def cosines(self, model: str, vector: Sequence[float]) -> Cosines:
        if self._near is None:
            return AllCosines()
        found = _Cosines(
            "entry",
            self._near,
            lambda row: self._said[row].id,
            lambda ids: {one.id: self._row(one) for one in self._look.said(ids) if one.own},
        )
        self.compared = found.compared
        return found

    def _row(self, one: Said) -> int:
        row = self._rows.setdefault(one.id, len(self._said))
        if row == len(self._said):
            self._said.append(one)
        return row


class ListedLog:
    """A log that is held in memory (see `Log`)."""

    def __init__(self, said: Sequence[Said]) -> None:
        """`said` from the oldest to the newest, with texts."""
        self._said = said
        self._stems = [frozenset(map(stem, one.words)) for one in said]

    def size(self) -> int:
        """How many entries there are."""
        return len(self._said)

    def held_by(self, word: str) -> int:
        """How many hold a word or another with its stem."""
        root = stem(word)
        return sum(root in stems for stems in self._stems)

    def said(self, ids: Sequence[str], *, texts: bool) -> Sequence[Said]:
        """Entries by their ids."""
        wanted = set(ids)
        return [one if texts else replace(one, text="") for one in self._said if one.id in wanted]

    def holding(self, phrases: Sequence[str], *, limit: int, newest: bool, texts: bool) -> Sequence[Said]:
        """Entries that hold any of some words or phrases; those with most of them first, or the newest."""
        wanted = [frozenset(map(stem, phrase.split())) for phrase in phrases]
        held = Counter({place: sum(one <= stems for one in wanted) for place, stems in enumerate(self._stems)})
        order = sorted((place for place in held if held[place]), key=lambda place: (0 if newest else -held[place], -place))
        return [self._said[place] if texts else replace(self._said[place], text="") for place in order[:limit]]
