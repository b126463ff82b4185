"""Who gets credit for how a run went, as counts; and what the counts mean for a lesson's standing.

Counts come from outcomes and from what tools accepted or rejected, never from what a model says of
itself: a model's tag only decides *which* used lesson an honest outcome is counted for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tenure.playbook.delta import Operation, Retire, Tally, Update
from tenure.playbook.evidence import DEMOTE_AT, PROMOTE_BELOW, RETIRE_AT, TrackRecord, usefulness
from tenure.playbook.grading import LEAST_WRONG, PROMOTED, RETIRED, TRUSTED, Belief
from tenure.playbook.lessons import TALLY_NAMES, Lesson, Tallies
from tenure.playbook.run import Outcome, Run

LEAST_RELIABILITY = 0.5
"""Below this an outcome counts for no lesson."""

SUPPORT_TO_PROMOTE = 2
"""Independent runs with an honest outcome that make a provisional lesson active."""


def credit(run: Run, *, tags: Mapping[str, str] | None = None, seen_again: Mapping[str, bool] | None = None) -> tuple[Tally, ...]:
    """Counts for the lessons a run was shown, cited or denied.

    Args:
        run: with `shown`, `withheld`, `cited` and the outcome.
        tags: by lesson id, what a Reflector says it did: helpful, harmful or neutral. Counts only
            for used lessons, and only where it does not contradict an honest outcome.
        seen_again: by lesson id, for lessons about a tool error: whether the tool was called and
            the very error came again (true) or did not (false). A tool's answer is an honest signal
            even where the run as a whole has none.

    Returns:
        One count per lesson, sorted by id. A cited lesson helped in a success and misled in a
        failure; a lesson that was only shown is neutral, unless the tools say more.
    """
    tags, seen_again = tags or {}, seen_again or {}
    # Who is not trusted cannot vouch for an outcome, nor for what a tool answered.
    trusted = run.origin.trusted and run.outcome.honest and (run.outcome.reliability or 0.0) >= LEAST_RELIABILITY
    found: list[Tally] = []
    for lesson_id in sorted({*run.shown, *run.cited, *run.withheld}):
        cited, shown = lesson_id in run.cited, lesson_id in run.shown or lesson_id in run.cited
        again = seen_again.get(lesson_id) if run.origin.trusted else None
        verdict = _verdict(cited, shown, tags.get(lesson_id), again, run.outcome if trusted else None)
        found.append(
            Tally(
                lesson_id,
                helpful=int(verdict == "helpful"),
                harmful=int(verdict == "harmful"),
                neutral=int(verdict == "neutral"),
                shown=int(shown),
                cited=int(cited),
                withheld=int(not shown),
            )
        )
    return tuple(found)


def beyond(counts: Sequence[Tally], earlier: Sequence[Tally]) -> tuple[Tally, ...]:
    """What counts of a run add to those written when it was learned before, sorted by id: a run counts once however often it grew.

    A verdict that changed takes the earlier one back, by a count below 0.
    """
    before = {count.id: count.tallies for count in earlier}
    now = {count.id: count.tallies for count in counts}
    found = ((one, now.get(one, Tallies()) - before.get(one, Tallies())) for one in sorted({*now, *before}))
    return tuple(Tally(one, **{name: getattr(tallies, name) for name in TALLY_NAMES}) for one, tallies in found if tallies)


def _verdict(cited: bool, shown: bool, tag: str | None, seen_again: bool | None, outcome: Outcome | None) -> str:
    if not shown:
        return ""
    if seen_again is not None:
        # The lesson was there to prevent one thing; whether that thing came is all that counts.
        return ("harmful" if cited else "neutral") if seen_again else "helpful"
    if outcome is None or not outcome.known:
        return ""
    if tag in ("helpful", "harmful"):
        agrees = (tag == "helpful") == bool(outcome.success)
        return tag if agrees else "neutral"
    if not cited or tag == "neutral":
        return "neutral"
    return "helpful" if outcome.success else "harmful"


def standing(
    lessons: Iterable[Lesson],
    counts: Sequence[Tally],
    *,
    honest: bool,
    records: Mapping[str, TrackRecord] | None = None,
    beliefs: Mapping[str, Belief] | None = None,
) -> tuple[Operation, ...]:
    """Promotions and retirements that new counts call for.

    Args:
        lessons: the lessons counted for, as they stand before.
        counts: what is being added.
        honest: whether the run's outcome came from outside the model; without that nothing is promoted.
        records: by lesson id, what its runs amount to, this one included; a lesson without one is judged by its counts.
        beliefs: by lesson id, what its grades on kept cases amount to; a lesson that was graded enough is judged by them alone.

    Returns:
        `active` for a provisional lesson that two runs support or that is proven, unless it is in doubt; `provisional`
        for an active one that fell into doubt; retirement for one that is known to mislead (three harmful runs or
        more and interval below one half, or doubt beyond noise). What is pinned or a person wrote is left alone.
    """
    records, beliefs = records or {}, beliefs or {}
    added = {count.id: count.tallies for count in counts}
    found: list[Operation] = []
    for lesson in lessons:
        if lesson.id in beliefs and beliefs[lesson.id].decides:
            found += _standing_by_grades(lesson, beliefs[lesson.id])
            continue
        after = lesson.tallies + added.get(lesson.id, Tallies())
        posterior = usefulness(after)
        if lesson.status == "provisional" and honest and added.get(lesson.id):
            gained = added[lesson.id].support or added[lesson.id].helpful
            doubted = lesson.id in records and records[lesson.id].doubt > PROMOTE_BELOW
            if gained and not doubted and (after.support >= SUPPORT_TO_PROMOTE or posterior.proven):
                found.append(Update(lesson.id, status="active"))
        protected = lesson.pinned or lesson.author.startswith(("person", "import"))
        misled = added.get(lesson.id, Tallies()).harmful > 0
        if not misled or protected or not lesson.live:
            continue
        doubt = records[lesson.id].doubt if lesson.id in records else 0.0
        if after.harmful >= 3 and (posterior.upper < 0.5 or doubt >= RETIRE_AT):
            lately = f"; lately it misled {doubt:.0f} times more than it helped" if posterior.upper >= 0.5 else ""
            found.append(Retire(lesson.id, f"misled in {after.harmful} runs, helped in {after.helpful}{lately}"))
        elif lesson.status == "active" and doubt >= DEMOTE_AT:
            found.append(Update(lesson.id, status="provisional"))
    return tuple(found)


def _standing_by_grades(lesson: Lesson, belief: Belief) -> tuple[Operation, ...]:
    """What grades call for: they come from cases that can be looked at again, so they go before live counts."""
    protected = lesson.pinned or lesson.author.startswith(("person", "import"))
    if lesson.status == "provisional" and belief.value >= PROMOTED and belief.right >= SUPPORT_TO_PROMOTE:
        return (Update(lesson.id, status="active"),)
    if not lesson.live or protected:
        return ()
    if belief.value < RETIRED and belief.wrong >= LEAST_WRONG:
        told = f"would have been wrong in {belief.wrong} of {belief.graded} kept cases"
        return (Retire(lesson.id, f"{told}; it is right now with a probability of {belief.value:.2f}"),)
    if lesson.status == "active" and belief.value < TRUSTED:
        return (Update(lesson.id, status="provisional"),)
    return ()
