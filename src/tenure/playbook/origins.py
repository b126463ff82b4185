"""How many votes an origin has: persons and tests as many as they have runs, an untrusted origin one.

Filters do not stop planted records that look like all others. A cap on how often one origin can speak does: whoever
adds a hundred records has no more to say than with one. Names under one principal and channel are one origin.

And one vote takes the place of nobody else's: where trusted ones have voted, an untrusted origin alone changes no answer,
while two that agree, independent of each other, can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from tenure.playbook.run import Origin, Run

T = TypeVar("T")

Root = tuple[str, str]
"""Principal and channel: what makes names one origin."""


def root_of_trust(origin: Origin) -> Root:
    """The root that an origin's names hang from; its document does not count, for it can be chosen freely."""
    return (origin.principal, origin.channel)


def one_vote_each(hits: Iterable[T], origin_of: Callable[[T], Origin | None], *, revoked: Collection[Root] = ()) -> Iterator[T]:
    """The hits that may vote, in their order: of each untrusted origin the first, of trusted ones all, of revoked ones none.

    Lazy, so that a caller can stop at as many votes as it needs, and knows that it needs more hits when they run out.

    Args:
        hits: best first.
        origin_of: where a hit came from; none is unknown, and all of those are one untrusted origin.
        revoked: roots whose hits do not count at all.
    """
    spoken: set[Root | None] = set()
    for hit in hits:
        origin = origin_of(hit)
        root = root_of_trust(origin) if origin is not None else None
        if root in revoked:
            continue
        if origin is None or not origin.trusted:
            if root in spoken:
                continue
            spoken.add(root)
        yield hit


def independent(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The first run of each independent voice among some runs, in their order; a run of an untrusted origin is none.

    Runs of trusted origins count separately, but that what one principal and channel reports of one session, or of
    several attempts at the very same task, is one voice: it saw the same thing.
    """
    voices: list[Run] = []
    for run in runs:
        if run.origin.trusted and not any(_same_voice(run, other) for other in voices):
            voices.append(run)
    return tuple(voices)


def _same_voice(one: Run, other: Run) -> bool:
    if one.id == other.id:
        return True
    same_root = root_of_trust(one.origin) == root_of_trust(other.origin)
    same_event = (one.session and one.session == other.session) or (one.task.key and one.task.key == other.task.key)
    return same_root and bool(same_event)


def votes_among(hits: Iterable[T], origin_of: Callable[[T], Origin | None], *, trusted: int) -> tuple[list[T], bool]:
    """The votes to decide by: so many of trusted origins, and beside them those of untrusted ones that come before the last of these.

    Args:
        hits: best first.
        origin_of: where a hit came from; none is unknown.
        trusted: how many votes of trusted origins are wanted.

    Returns:
        The votes, best first, and whether there were as many trusted ones as wanted.
    """
    found: list[T] = []
    left = trusted
    for hit in one_vote_each(hits, origin_of):
        found.append(hit)
        origin = origin_of(hit)
        left -= origin is not None and origin.trusted
        if not left:
            return found, True
    return found, False


def elect(votes: Sequence[tuple[str, bool]]) -> str:
    """The answer with the most votes; of equals the one whose first vote came first. Empty if there are no votes.

    The trusted votes decide. Untrusted ones count where there are no others, and where two of them or more, each of an origin
    of its own, give an answer that has more votes with them than the trusted choice has.

    Args:
        votes: each with the answer, and whether its origin is trusted; best first, one of each untrusted origin.
    """
    ours = Counter(answer for answer, trusted in votes if trusted)
    theirs = Counter(answer for answer, trusted in votes if not trusted)
    chosen = max(ours or theirs, key=lambda answer: (ours or theirs)[answer], default="")
    if ours:
        rivals = [answer for answer in theirs if theirs[answer] > 1 and ours[answer] + theirs[answer] > ours[chosen] + theirs[chosen]]
        chosen = max(rivals, key=lambda answer: ours[answer] + theirs[answer], default=chosen)
    return chosen
