"""Backward revision: the lessons that a run used are held against the cases they came from. No transaction is open meanwhile.

A lesson that helped is confirmed by code. One that misled, or that was followed and did nothing, is put to the
Reviser (a model, or plain contrast between cases) if its recent uses are reason enough, and what comes back is
proposed only if it passes two checks: it would have prevented this failure, and it keeps the cases it used to help.

Source: ReHarness (2026); the rule for enough and the checks are ours, see design/revision.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tenure.errors import MalformedReply, ModelError
from tenure.learning.admitting import Proposed
from tenure.learning.kept_replies import kept_reply
from tenure.learning.observing import Recollection, uses
from tenure.learning.replay import Replaying
from tenure.playbook.delta import Tally, Update
from tenure.playbook.lessons import Lesson
from tenure.playbook.revision import Revision, Use, enough
from tenure.playbook.run import Run
from tenure.ports import FailedReply, LanguageModel, Reading
from tenure.roles.answers import applies
from tenure.roles.curate import LONGEST_TEXT
from tenure.roles.narrow import Narrowing, narrow_by_contrast, narrow_by_replay
from tenure.roles.revise import Rewrite, grounds_of, revise_with

CASES_KEPT = 12
"""Cases of each sort, the newest, that a revision is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revising:
    """What came of revising the lessons that a run used.

    Attributes:
        proposals: an UPDATE for each lesson that was confirmed, narrowed or found outdated.
        lessons: those whose words change, as they would read.
        before: text and conditions of the lessons that were looked at, by id, as they were then.
        left: a sentence for each lesson that stayed as it is although the run speaks against it.
        failed: replies that could not be used, to be kept.
        problems: a sentence for each thing that went wrong.
        stopped: why a model gave no reply: a cap, or a provider that failed; none if it always did.
    """

    proposals: tuple[Proposed, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    before: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    left: tuple[str, ...] = ()
    failed: tuple[FailedReply, ...] = ()
    problems: tuple[str, ...] = ()
    stopped: ModelError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A used lesson that a run speaks against, with all that a revision needs.

    Attributes:
        lesson: as the run used it.
        source: the run it came from; none if it is not kept.
        uses: its recent uses, newest first; the first is the run at hand.
        helped, hurt: kept cases of either sort, newest first, without the run at hand; after those that used it, those that graded it.
        replayed: what replay says the conditions should be; none where the cases have no fields.
        replay: whether following a lesson would have been right in a case, none if nothing can tell; none where nothing can be replayed.
    """

    lesson: Lesson
    source: Run | None = None
    uses: tuple[Use, ...] = ()
    helped: tuple[Run, ...] = field(default=(), repr=False)
    hurt: tuple[Run, ...] = field(default=(), repr=False)
    replayed: Narrowing | None = None
    replay: Callable[[Lesson, Run], bool | None] | None = field(default=None, repr=False)


def confirm(used: Sequence[Lesson], counts: Sequence[Tally], run: Run) -> tuple[Proposed, ...]:
    """An UPDATE of the verdict for each used lesson that helped and does not read `confirmed` yet. No model is asked."""
    helped = {count.id for count in counts if count.helpful > 0}
    return tuple(
        Proposed(
            operation=Update(
                lesson.id,
                verdict="confirmed",
                revision=Revision(verdict="confirmed", source=_first_run(lesson), run=run.id, author="code").to_text(),
            ),
            basis="structure",
            author="code",
        )
        for lesson in used
        if lesson.id in helped and lesson.live and lesson.verdict != "confirmed"
    )


def find_tested(
    reading: Reading,
    run: Run,
    used: Sequence[Lesson],
    counts: Sequence[Tally],
    *,
    seen_again: Mapping[str, bool],
    most: int,
    recollection: Recollection,
    replaying: Replaying,
) -> tuple[Tested, ...]:
    """The used lessons that a run speaks against, those that misled first, `most` at most; with their cases where they are enough."""
    by_id = {count.id: count for count in counts}
    effects: dict[str, Literal["misled", "idle"]] = {}
    for lesson in used:
        count = by_id.get(lesson.id)
        if count is None or not lesson.live:
            continue
        followed = lesson.id in run.cited and run.outcome.success is False
        if count.harmful:
            effects[lesson.id] = "misled"
        elif count.neutral and (followed or seen_again.get(lesson.id)):
            effects[lesson.id] = "idle"
    asked = sorted((lesson for lesson in used if lesson.id in effects), key=lambda one: (effects[one.id] == "idle", one.id))
    return tuple(
        _tested(reading, run, lesson, effects[lesson.id], seen_again.get(lesson.id), recollection, replaying) for lesson in asked[:most]
    )


def revise_tested(tested: Sequence[Tested], run: Run, *, model: LanguageModel | None, new_id: Callable[[], str], at: str) -> Revising:
    """Revise lessons that a run speaks against.

    Args:
        tested: each costs one call with a model, none where its uses are not reason enough.
        run: the one that tested them.
        model: none takes plain contrast between cases, which is also what is left when a reply cannot be used.
        new_id: names a failed reply.
        at: the present moment, ISO 8601.
    """
    done = Revising(before={one.lesson.id: (one.lesson.text, one.lesson.applies_when) for one in tested})
    for one in tested:
        if not enough(one.uses):
            failures = sum(use.failed for use in one.uses)
            said = f"{failures} failure{'s' * (failures != 1)} in {len(one.uses)} use{'s' * (len(one.uses) != 1)}"
            why = f"lesson '{one.lesson.id}': {said} {'is' if failures == 1 else 'are'} not enough to revise it"
            done = replace(done, left=(*done.left, why))
            continue
        rewrite: Rewrite | str
        if model is None or len(one.lesson.text) > LONGEST_TEXT:  # what is longer, by import, is a document: a model could only cut it
            rewrite = _by_contrast(one, run)
        else:
            try:
                rewrite = revise_with(model, one.lesson, source=one.source, run=run)
            except ModelError as exc:
                reason = exc.reason if isinstance(exc, MalformedReply) else str(exc)
                lost = (kept_reply(exc, id_=new_id(), run=run.id, purpose="revise", at=at),) if isinstance(exc, MalformedReply) else ()
                done = replace(
                    done,
                    failed=(*done.failed, *lost),
                    stopped=done.stopped if isinstance(exc, MalformedReply) else exc,
                    problems=(*done.problems, f"run {run.id}: the model's revise step failed for lesson '{one.lesson.id}': {reason}"),
                )
                rewrite = _by_contrast(one, run)
        found = rewrite if isinstance(rewrite, str) else propose(one, rewrite, run)
        if isinstance(found, str):
            done = replace(done, left=(*done.left, f"lesson '{one.lesson.id}': {found}"))
            continue
        proposal, lesson = found
        done = replace(done, proposals=(*done.proposals, proposal), lessons=(*done.lessons, lesson) if lesson is not None else done.lessons)
    return done


def propose(tested: Tested, rewrite: Rewrite, run: Run) -> tuple[Proposed, Lesson | None] | str:
    """The UPDATE for what a Reviser said, and the lesson as it would read; or why its words are not taken over.

    A verdict without new words is recorded as it is. New words have to pass both checks.
    """
    lesson = tested.lesson
    changed = (rewrite.text, rewrite.applies_when) != (lesson.text, lesson.applies_when)
    if rewrite.verdict == "confirmed":
        changed = False
    checks: tuple[str, ...] = ()
    if changed:
        prevents, keeps = would_have_prevented(tested, rewrite, run), keeps_what_helped(tested, rewrite)
        checks = (prevents[1], keeps[1])
        if not (prevents[0] and keeps[0]):
            if rewrite.verdict != "outdated":
                return "; ".join(text for good, text in (prevents, keeps) if not good)
            changed = False
    elif rewrite.verdict == "too general":
        return "nothing of the proposed text rests on its source"
    revision = Revision(
        verdict=rewrite.verdict,
        basis=rewrite.basis,
        source=tested.source.id if tested.source is not None else "",
        run=run.id,
        grounded=round(rewrite.grounding.grounded, 4),
        leaked=round(rewrite.grounding.leaked, 4),
        hypotheses=rewrite.grounding.hypotheses,
        dropped=rewrite.grounding.dropped,
        checks=checks,
        author=rewrite.author,
    )
    protected = lesson.pinned or lesson.author.startswith(("person", "import"))
    operation = Update(
        lesson.id,
        text=rewrite.text if changed and rewrite.text != lesson.text else None,
        applies_when=rewrite.applies_when if changed and rewrite.applies_when != lesson.applies_when else None,
        # What was right once has to be proven again.
        status="provisional" if rewrite.verdict == "outdated" and lesson.status == "active" and not protected else None,
        verdict=rewrite.verdict,
        evidence=rewrite.evidence,
        revision=revision.to_text(),
    )
    after = replace(lesson, text=rewrite.text, applies_when=rewrite.applies_when, verdict=rewrite.verdict) if changed else None
    return Proposed(operation=operation, basis=rewrite.taint, author=rewrite.author), after


def would_have_prevented(tested: Tested, rewrite: Rewrite, run: Run) -> tuple[bool, str]:
    """Whether a rewritten lesson would have prevented the failure: by its conditions, by replay, else by the Reviser's word."""
    after = replace(tested.lesson, text=rewrite.text, applies_when=rewrite.applies_when)
    if rewrite.applies_when != tested.lesson.applies_when and applies(after, run, tested.source) is False:
        return True, "its conditions do not hold in the run that failed"
    said = tested.replay(after, run) if tested.replay is not None else None
    if said is not None:
        found = (
            "replayed on the run that failed, it would have been right" if said else "replayed on the run that failed, it is still wrong"
        )
        return said, found
    if rewrite.prevents:
        return True, f"the Reviser says it would have prevented the failure: {rewrite.why}".rstrip(": ")
    return False, "it would not have prevented the failure"


def keeps_what_helped(tested: Tested, rewrite: Rewrite) -> tuple[bool, str]:
    """Whether the new conditions hold in every kept case that the lesson helped and its old conditions held in."""
    cases = {case.id: case for case in (*tested.helped, *([tested.source] if tested.source is not None else []))}
    if rewrite.applies_when == tested.lesson.applies_when:
        return True, "its conditions are as they were"
    after = replace(tested.lesson, text=rewrite.text, applies_when=rewrite.applies_when)
    before = [case for case in cases.values() if applies(tested.lesson, case, tested.source) is not False]
    if tested.replayed is not None and tested.replayed.condition == rewrite.applies_when:
        # Too wide a lesson was right now and then by chance: what counts is that it is right where it came from, and more often.
        before = [case for case in before if tested.source is not None and case.id == tested.source.id]
    lost = [case.id for case in before if applies(after, case, tested.source) is False]
    if not lost and tested.replay is not None:
        lost = [case.id for case in before if tested.replay(tested.lesson, case) and tested.replay(after, case) is False]
    if lost:
        return False, f"its new conditions shut out {len(lost)} of {len(before)} cases it helped, such as run {lost[0]}"
    return True, f"its new conditions hold in all {len(before)} kept cases it helped"


def _by_contrast(tested: Tested, run: Run) -> Rewrite | str:
    """The plain Reviser's proposal, or why it has none."""
    lesson = tested.lesson
    replayed = tested.replayed
    if replayed is not None and replayed.condition and tested.source is not None:
        return Rewrite(
            verdict="too general",
            text=lesson.text,
            applies_when=replayed.condition,
            basis=replayed.reason,
            grounding=grounds_of(lesson, source=tested.source, run=run).judge(replayed.condition),
            taint="structure" if run.origin.trusted and tested.source.origin.trusted else "untrusted",
            author="extractive",
        )
    good = [
        *tested.helped,
        *([tested.source] if tested.source is not None and tested.source.id not in {r.id for r in tested.helped} else []),
    ]
    found = narrow_by_contrast(lesson, source=tested.source, helped=good, hurt=(run, *tested.hurt))
    if not found.condition:
        return found.reason
    conditions = f"{lesson.applies_when.rstrip(' .;')}; and {found.condition}" if lesson.applies_when.strip() else found.condition
    return Rewrite(
        verdict="too general",
        text=lesson.text,
        applies_when=conditions,
        basis=found.reason,
        grounding=grounds_of(lesson, source=tested.source, run=run).judge(conditions),
        taint="structure" if run.origin.trusted and all(case.origin.trusted for case in good) else "untrusted",
        author="extractive",
    )


def _tested(
    reading: Reading,
    run: Run,
    lesson: Lesson,
    effect: Literal["misled", "idle"],
    seen_again: bool | None,
    recollection: Recollection,
    replaying: Replaying,
) -> Tested:
    # A tool's own answer is as good as an outcome can be.
    reliability = 1.0 if seen_again is not None else run.outcome.reliability or 0.0
    earlier = tuple(use for use in uses(reading, recollection.observations(reading, lesson)) if use.run != run.id)
    found = Tested(lesson=lesson, uses=(Use(run=run.id, effect=effect, reliability=reliability), *earlier))
    if not enough(found.uses):
        return found
    places = [place.run for place in lesson.evidence if place.run != run.id]
    source = next((kept for kept in map(reading.run, dict.fromkeys(places)) if kept is not None), None)
    helped_ids = dict.fromkeys([use.run for use in earlier if use.effect == "helped"] + places)
    hurt_ids = dict.fromkeys(use.run for use in earlier if use.failed)
    for grade in reversed(reading.grades([lesson.id])):
        if grade.run != run.id:
            (helped_ids if grade.right else hurt_ids).setdefault(grade.run)
    helped, hurt = _kept(reading, [one for one in helped_ids if one not in hurt_ids]), _kept(reading, list(hurt_ids))
    replayed = narrow_by_replay(lesson.applies_when, source.task.text, replaying.shapes(reading)) if source is not None else None
    return replace(found, source=source, helped=helped, hurt=hurt, replayed=replayed, replay=replaying.judge_in(reading))


def _kept(reading: Reading, ids: Sequence[str]) -> tuple[Run, ...]:
    found = (reading.run(one) for one in ids[:CASES_KEPT])
    return tuple(run for run in found if run is not None)


def _first_run(lesson: Lesson) -> str:
    return lesson.evidence[0].run if lesson.evidence else ""
