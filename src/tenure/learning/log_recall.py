"""What of a memory's raw log is shown for a question: its sessions are talks, found and cut as any others (see `talks`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tenure.learning.embedding import Question
from tenure.learning.talks import Remembered, Talk, choose_remembered, weigh_talks
from tenure.memory_tree.entries import Entry
from tenure.passages import Found
from tenure.ports import Reading
from tenure.terms import indexed_words, question, stem

TOKENS_EACH, FEWEST, MOST = 25, 40, 300
"""Sessions that are read: one for so many tokens of the budget, no fewer and no more than these. A shown piece takes about as much."""

WORDS_ALONE = Question()

BY_ONE_ENTRY = 40
"""Sessions that are read besides for one entry that answers well, though they are about something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What the raw log holds for a question.

    Attributes:
        pieces: to show, best first; the talk of each is a day and a place such as `2026-03-15#3`.
        days: of the sessions that answer, best first, each once.
        note: what the search had to do without, a sentence; empty if nothing.
    """

    pieces: tuple[Remembered, ...] = ()
    days: tuple[str, ...] = ()
    note: str = ""


def recall_log(look: Reading, text: str, *, budget: int, meaning: Question = WORDS_ALONE) -> Log:
    """What of the raw log answers a question, within a budget of tokens.

    Args:
        look: at the scope.
        text: the question, in any script.
        budget: tokens of the pieces in all, their months' headings counted.
        meaning: the question's vector, for search by meaning beside that by words.
    """
    most = min(max(budget // TOKENS_EACH, FEWEST), MOST)
    about, said = look.find_in_log(text, limit=MOST, model=meaning.model, vector=meaning.vector)
    read = dict.fromkeys([*(hit.id for hit in about.hits[:most]), *(hit.group for hit in said.hits[:BY_ONE_ENTRY])])
    talks, shown_as = _talks(look, list(read))
    about = replace(about, hits=tuple(hit for hit in about.hits if hit.id in talks))
    said = replace(said, hits=tuple(hit for hit in said.hits if hit.group in talks))
    found, note = weigh_talks(about, said, text, talk=talks.__getitem__)
    marked = {hit.id for hit in (*about.hits, *said.hits) if hit.identifiers}
    stems = frozenset(map(stem, question(text).words))
    if meaning.vector is None:  # what is near in meaning need not share a word
        shares = _Shares(stems, marked)
        found = [one for one in found if shares.piece(talks[one.talk], one.place)]
    pieces = tuple(replace(one, talk=shown_as[one.talk]) for one in choose_remembered(found, budget))
    return Log(pieces=pieces, days=_days(about, said), note=note or meaning.failed)


class _Shares:
    """Whether pieces share a word or an identifier with a question, themselves or with the conversation that they are part of.

    Wider words than the question's own find and weigh sessions; by themselves they answer nothing. Notes of a day that belong to
    no session have nothing to do with each other, so each has to answer by itself.

    Args:
        stems: of the question's words.
        marked: ids of turns and talks that hold one of its identifiers.
    """

    def __init__(self, stems: frozenset[str], marked: Collection[str]) -> None:
        self._stems, self._marked = stems, marked
        self._talks: dict[str, bool] = {}

    def piece(self, talk: Talk, place: int) -> bool:
        loose = talk.id.partition(" ")[2] == ""
        if loose:
            return talk.turn_id(place) in self._marked or self._holds(talk.turns[place])
        if talk.id not in self._talks:
            marked = talk.id in self._marked or any(talk.turn_id(turn) in self._marked for turn in range(len(talk.turns)))
            self._talks[talk.id] = marked or any(map(self._holds, (*talk.turns, *talk.replies)))
        return self._talks[talk.id]

    def _holds(self, text: str) -> bool:
        return not self._stems.isdisjoint(map(stem, indexed_words(text)))


def as_talk(name: str, day: str, session: Sequence[Entry]) -> Talk:
    """A session as a talk: turns are what the person said, or all entries where nobody is told apart."""
    own = [one for one in session if one.role in ("user", "")] or list(session)
    kept = {one.id for one in own}
    return Talk(
        id=name,
        day=day,
        turns=tuple(one.text for one in own),
        replies=tuple(one.text for one in session if one.id not in kept),
        turn_ids=tuple(one.id for one in own),
    )


def _talks(look: Reading, names: Sequence[str]) -> tuple[dict[str, Talk], dict[str, str]]:
    """The sessions of some names as talks; and as they are shown, by day and place."""
    by_day: dict[str, list[str]] = {}
    for name in names:
        day, _, session = name.partition(" ")
        by_day.setdefault(day, []).append(session)
    talks: dict[str, Talk] = {}
    shown_as: dict[str, str] = {}
    for day, sessions in by_day.items():
        for place, entries in look.sessions_on(day, sessions).items():
            name = f"{day} {entries[0].session}"
            talks[name], shown_as[name] = as_talk(name, day, entries), f"{day}#{place}"
    return talks, shown_as


def _days(about: Found, said: Found) -> tuple[str, ...]:
    names = [*(hit.id for hit in about.hits), *(hit.group for hit in said.hits)]
    return tuple(dict.fromkeys(name.partition(" ")[0] for name in names))
