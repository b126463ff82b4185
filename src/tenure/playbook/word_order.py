"""What may stand in another order: a condition at either end of a plain sentence, and words of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenure.playbook.word_lists import (
    ASKING,
    CLAUSE_OPENERS,
    CONDITIONS,
    FINITE,
    LIST_OPENERS,
    MAY_HOLD_IT,
    PARTICIPLES,
    PRONOUNS,
    TIMES,
    WISHING,
)

MOVING = CONDITIONS | LIST_OPENERS
"""Words that begin what may stand in another order."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a normal form.

    Attributes:
        said: the word as it counts.
        fact: what kind of fact it is (see `FACTS`); empty for an ordinary word.
        mark: the mark that followed it, or an empty text.
        ordinary: whether it says what the statement is about: no fact, no function word, and written with spaces around.
        looked_into: whether there is more to it than itself: it is a fact, or written without spaces around.
        acts: whether what follows, or it itself, was written as a verb: "before you call", "before calling".
    """

    said: str
    fact: str = ""
    mark: str = ""
    ordinary: bool = False
    looked_into: bool = False
    acts: bool = False


def split_off(sentence: Sequence[Word]) -> tuple[list[Word], list[tuple[str, ...]]]:
    """A sentence without its condition and this, at whichever end it stands; with several, their places count.

    So does the place where the condition may belong to a part of the sentence: then it stays what it was.
    """
    main, front = list(sentence), tuple[str, ...]()
    if main and main[0].said in CONDITIONS:
        end = next((place for place, word in enumerate(main) if word.mark in (",", "，")), None)
        if end is not None and end + 1 < len(main):
            front = tuple(word.said for word in main[: end + 1])
            main = main[end + 1 :]
    start = next(
        (place for place in range(1, len(main) - 1) if main[place].said in CONDITIONS and main[place - 1].said not in _BINDS_CONDITION),
        None,
    )
    back = tuple(word.said for word in main[start:]) if start is not None else ()
    main = main[:start]
    if front and back:
        return main, [front, ("§then", *back)]
    opener, *rest = sentence[-len(back) :] if back else sentence[: len(front)] if front else sentence[:1]
    if back and any(word.mark in (",", "，") for word in sentence[-len(back) : -1]):
        back = ("§last", *back)  # "stop if it fails, log it"
    movable = not main or _is_whole(main, opener, rest)
    if back and any(said in CONDITIONS for said in back[1:]):
        movable = False
    clause = front or back
    return main, [clause if movable or back else ("§first", *clause)] if clause else []


MOST_IN_MAIN = 3
_OF_A_CLAUSE = FINITE | frozenset("i you he she we they".split())


def _is_whole(main: Sequence[Word], opener: Word, rest: Sequence[Word]) -> bool:
    """Whether a condition at the end of a clause can belong to nothing but the whole of it."""
    said = [word.said for word in main]
    if not MAY_HOLD_IT.isdisjoint(said) or not PARTICIPLES.isdisjoint(said[1:]):
        return False
    if any(one.endswith(("ed", "ing")) for one in said[1:]):  # "orders placed by Ann before Friday"
        return False
    # "The items users add if they cancel": more than three words that mean something, or a second verb, may hold a clause of their own.
    if sum(word.ordinary or word.fact != "" for word in main) > MOST_IN_MAIN or not _OF_A_CLAUSE.isdisjoint(said[1:]):
        return False
    if opener.said in CLAUSE_OPENERS:
        asks = any(one in ASKING and said[place + 1 : place + 2] != ["for"] for place, one in enumerate(said))
        return not asks and said[-1] not in TIMES
    return WISHING.isdisjoint(said) and (opener.acts or said[-1] in PRONOUNS or (len(rest) > 1 and rest[0].acts and not rest[0].mark))


_BINDS_CONDITION = frozenset(("only", "even", "except", "§not", "and", "or", "but", "than", "just", "right", "long", "soon"))


def sorted_lists(sentence: list[Word]) -> list[Word]:
    """Single words listed after "including" and its like, in one order."""
    done = list(sentence)
    for start, opener in enumerate(sentence):
        if opener.said not in LIST_OPENERS:
            continue
        places: list[int] = []
        place = start + 1
        while place < len(sentence):
            places.append(place)
            following = sentence[place + 1].said if place + 1 < len(sentence) else ""
            if following in ("and", "or") and place + 2 < len(sentence):
                # "Including tax and net total": its last word belongs to both or to one.
                ends = opener.said in ("both", "either") or place + 2 == len(sentence) - 1 or sentence[place + 2].mark
                places = [*places, place + 2] if ends else []
                break
            if sentence[place].mark not in (",", "、"):
                places = []
                break
            place += 1
        if len(places) > 1:
            for place, word in zip(places, sorted((sentence[one] for one in places), key=lambda word: word.said), strict=True):
                done[place] = Word(word.said, word.fact, sentence[place].mark)
    return done
