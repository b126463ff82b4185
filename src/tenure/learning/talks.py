"""Earlier conversations: what of them is shown for a new request, within a budget.

A request seldom uses the words of what it needs from an earlier talk. So a talk is found as a whole,
by what it was about, in wider words than the request's; then the turns of it that state something
are cut to a few sentences, so that many talks fit. Nothing here opens a database: the two searches
are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenure.excerpts import FACT_WEIGHT, LEAST_COST, Piece, excerpt, facts, pack
from tenure.fusion import WHOLE_VECTOR_WEIGHT
from tenure.ports import Found, Passage, Search
from tenure.ranking import estimate_tokens
from tenure.terms import indexed_words, question, shown, stem

TALK_WEIGHT = 0.8
"""Share of the whole talk's relevance in a turn's; the rest is the turn's own. What a talk was about tells more than one turn of it."""

BEST_TURN = 0.1
"""What the best turn of a talk adds to the relevance of the whole talk, the best talk's being 1."""

VECTOR_SHARE = WHOLE_VECTOR_WEIGHT
"""Vector weight for the search over whole talks."""

LOOKED_AT = 300
"""How many talks may be shown from."""

HEADING_TOKENS = estimate_tokens("## 2023-05\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One earlier conversation.

    Attributes:
        id: names it in its scope.
        day: ISO date.
        turns: what the user said, in order.
        replies: what was answered, in order. Searched, never shown.
        turn_ids: under which each turn is searched; without them `ID:PLACE`.
    """

    id: str
    day: str
    turns: tuple[str, ...]
    replies: tuple[str, ...] = ()
    turn_ids: tuple[str, ...] = ()

    def turn_id(self, place: int) -> str:
        """Under which a turn is searched."""
        return self.turn_ids[place] if self.turn_ids else f"{self.id}:{place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A piece of a talk that may be shown.

    Attributes:
        talk: its id.
        place: of the turn.
        text: the turn, or the sentences of it that matter.
        whole: whether it is the whole turn.
        piece: how it goes into a budget; its text is the line that is shown, its heading the month.
    """

    talk: str
    place: int
    text: str
    whole: bool
    piece: Piece


def index_talks(turns: Search, whole: Search, scope: str, talks: Sequence[Talk]) -> str:
    """Make talks findable, in place of those with the same ids.

    Args:
        turns: search over what the user said, turn by turn.
        whole: another search, over whole talks; give it `VECTOR_SHARE`.
        scope: the talks' own.
        talks: to index.

    Returns:
        What could not be done, a sentence; empty if nothing.
    """
    said = [
        Passage(id=talk.turn_id(place), text=text, group=talk.id, place=place) for talk in talks for place, text in enumerate(talk.turns)
    ]
    # What was answered is mostly general advice: it names the subject in other words, and is an aside.
    about = [Passage(id=talk.id, text="\n".join(talk.turns), aside="\n".join(talk.replies)) for talk in talks]
    return turns.put(scope, said) or whole.put(scope, about)


def remember(turns: Search, whole: Search, scope: str, text: str, *, talk: Callable[[str], Talk]) -> tuple[list[Remembered], str]:
    """What may be shown for a request: of each likely talk the turns that matter, long ones cut to what they state.

    Args:
        turns, whole, scope: as they were indexed.
        text: the request, in any script.
        talk: gives a talk by its id.

    Returns:
        The pieces, talk by talk, for `choose_remembered`; and what the search had to do without, a sentence.
    """
    about = whole.find(scope, text, limit=LOOKED_AT, widen=True)
    said = turns.find(scope, text, limit=LOOKED_AT * 4, smooth=True)
    return weigh_talks(about, said, text, talk=talk)


def weigh_talks(about: Found, said: Found, text: str, *, talk: Callable[[str], Talk]) -> tuple[list[Remembered], str]:
    """What may be shown of talks that searches found: the same for conversations and for the sessions of a memory.

    Args:
        about: talks found as wholes, by id.
        said: turns found, the talk's id as their group.
        text: the request.
        talk: gives a talk by its id.

    Returns:
        The pieces and the note of `remember`.
    """
    asked = question(text).words
    if _holds_any(about, asked) and not _holds_any(said, asked):
        said = Found(note=said.note)  # its turns were found by the words that say little; the talks were not
    of_talk = _relative((hit.id, hit.score) for hit in about.hits)
    of_turn = _relative((hit.id, hit.score) for hit in said.hits)
    of_group = _relative((hit.group, hit.score) for hit in reversed(said.hits))  # the best hit comes last and stays
    of_talk = _relative((name, of_talk.get(name, 0.0) + BEST_TURN * of_group.get(name, 0.0)) for name in {*of_talk, *of_group})
    stems = frozenset(map(stem, asked))
    near = not any(hit.words or hit.identifiers for hit in (*about.hits, *said.hits))  # then what is there stands out in meaning
    found: list[Remembered] = []
    for name in sorted({*of_talk, *(hit.group for hit in said.hits)}):
        one = talk(name)
        for place, turn in enumerate(one.turns):
            relevance = TALK_WEIGHT * of_talk.get(name, 0.0) + (1 - TALK_WEIGHT) * of_turn.get(one.turn_id(place), 0.0)
            says_something = (near and one.turn_id(place) in of_turn) or not _says_nothing(turn, stems)
            if turn and relevance and says_something:
                found.append(_remembered(one, place, excerpt(turn, stems), relevance))
    return found, about.note or said.note


def choose_remembered(found: Sequence[Remembered], budget: int) -> list[Remembered]:
    """What of the pieces is shown within a budget of tokens, headings counted, best first."""
    return [found[place] for place in pack([one.piece for one in found], budget, heading=HEADING_TOKENS)]


def shown_line(day: str, text: str) -> str:
    """A piece as a context shows it under the heading of its month."""
    return f"- {day[len('2023-05-') :]}: {text}\n"


def _remembered(talk: Talk, place: int, cut: str, relevance: float) -> Remembered:
    month, line = talk.day[: len("2023-05")], shown_line(talk.day, cut)
    cost, stated = _measured(line, cut)
    piece = Piece(source=talk.id, text=line, worth=relevance * (1 + FACT_WEIGHT * stated), cost=cost, under=month)
    return Remembered(talk=talk.id, place=place, text=cut, whole=cut == talk.turns[place], piece=piece)


@lru_cache(maxsize=1 << 14)
def _measured(line: str, cut: str) -> tuple[int, int]:
    """Tokens of a line, and how much it states."""
    return estimate_tokens(line), facts(cut)


@lru_cache(maxsize=1 << 14)
def _short_stems(turn: str) -> frozenset[str] | None:
    """Stems of a turn too short to say much by itself that states nothing; none of any other turn."""
    if len(turn) > 8 * LEAST_COST or estimate_tokens(turn) >= LEAST_COST or facts(turn):
        return None
    return frozenset(stem(word) for word in indexed_words(turn))


def _says_nothing(turn: str, stems: frozenset[str]) -> bool:
    """Whether a turn is a word of thanks or the like: short, without a fact and without a word of the question."""
    held = _short_stems(turn)
    return held is not None and held.isdisjoint(stems)


def _holds_any(found: Found, asked: Sequence[str]) -> bool:
    wanted = frozenset(map(shown, asked))
    return any(not wanted.isdisjoint(hit.words) or hit.identifiers for hit in found.hits)


def _relative(scores: Iterable[tuple[str, float]]) -> dict[str, float]:
    found = dict(scores)
    best = max(found.values(), default=1.0)
    return {key: score / best for key, score in found.items()}
