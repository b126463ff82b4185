"""A person's instruction file held against the learned cases: a verdict for each rule, and a condition where one is due.

What speaks for or against a rule is, in this order: the runs of the lesson that says the same (an import of the
file, or a learned one); else the kept runs whose calls show that it was followed, which can be told only of a rule
that names tools, identifiers or quoted text. A rule about which nothing is known is *untested*, and says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tenure.errors import ModelError, SpendCapReached
from tenure.learning.observing import observations, uses
from tenure.playbook.evidence import DEMOTE_AT, Observation, track_record
from tenure.playbook.facts import facts, spaced
from tenure.playbook.lessons import Lesson, normalised
from tenure.playbook.likeness import compare
from tenure.playbook.revision import Use, beyond_noise
from tenure.playbook.rule_places import PlacedRule, place_rules, split_conditions
from tenure.playbook.run import Run
from tenure.playbook.wording import wording
from tenure.ports import LanguageModel, Reading
from tenure.roles.actions import actions_of
from tenure.roles.conditions import conditions_fit
from tenure.roles.narrow import narrow_by_contrast
from tenure.roles.revise import Rewrite, revise_with

RUNS_READ = 400
"""Newest kept runs that rules are held against."""

ALIKE_READ = 8
"""Lessons, the closest by words, that a rule is compared with."""

FAILURES = 3
"""Answers in a row that could not be used, after which a model is not asked about a file any more."""

LONGEST_ASKED = 2_000
"""Characters of a rule that a model is asked about. What is longer is a document, not a rule."""

RuleVerdict = Literal["confirmed", "too general", "outdated", "untested"]

_FORBIDS = re.compile(
    r"(?i)^\W*(?:never|avoid|don['’]?t|do not|must not|no )|(?<!\w)(?:never|do not|don['’]t|must not|instead of|rather than)(?!\w)"
    r"|禁止|不要|不得|しない|禁ず|하지 마"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRule:
    """One rule of a file with its verdict.

    Attributes:
        rule: the rule and where it stands.
        verdict: `confirmed`, `too general`, `outdated` or `untested`.
        reason: one sentence.
        condition: the proposed "apply only if"; empty if none is.
        lesson: id of the lesson that says the same, or that it disagrees with; empty if none.
        helped, failed: runs that followed it and succeeded, and that failed.
        grounded, leaked: shares of a model's proposed statements, 0 to 1 (see `grounding`).
    """

    rule: PlacedRule
    verdict: RuleVerdict
    reason: str
    condition: str = ""
    lesson: str = ""
    helped: int = 0
    failed: int = 0
    grounded: float = 1.0
    leaked: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCase:
    """A rule with all that is known of it, read from the store so that a model can be asked afterwards.

    Attributes:
        rule: it, and where it stands.
        lesson: the rule as a lesson, with the id of the one that says the same where there is one.
        uses: runs that followed it, newest first.
        helped, hurt: those of them that are kept, newest first.
        doubt: see `evidence.DEMOTE_AT`.
        known: a verdict that needs no cases; none if they decide.
        why_untested: why there may be no uses.
    """

    rule: PlacedRule
    lesson: Lesson
    uses: tuple[Use, ...] = ()
    helped: tuple[Run, ...] = field(default=(), repr=False)
    hurt: tuple[Run, ...] = field(default=(), repr=False)
    doubt: float = 0.0
    known: JudgedRule | None = None
    why_untested: str = ""


def read_rule_cases(reading: Reading, text: str) -> tuple[RuleCase, ...]:
    """The rules of an instruction file, each with its cases. Cost follows rules and kept runs (`RUNS_READ` at most)."""
    rules = place_rules(text)
    if not rules:
        return ()
    kept = [run for run in map(reading.run, reading.run_ids(limit=RUNS_READ)) if run is not None]
    followed = _Followed([run for run in kept if run.outcome.honest])
    return tuple(_case(reading, rule, followed) for rule in rules)


def judge_rules(
    cases: Sequence[RuleCase], *, model: LanguageModel | None = None, tell: Callable[[str], None] | None = None
) -> tuple[JudgedRule, ...]:
    """A verdict for each rule.

    Args:
        cases: as `read_rule_cases` gave them; no transaction is open any more.
        model: asked once for each rule that failed beyond noise; none takes plain contrast. It is not asked any more
            after a cap was reached, or after it failed `FAILURES` times in a row.
        tell: given a sentence where a model's answer could not be used.
    """
    asking = _Asking(model, tell or (lambda _: None))
    return tuple(one.known if one.known is not None else _judged(one, asking) for one in cases)


class _Asking:
    """A model that is asked until it is no use."""

    def __init__(self, model: LanguageModel | None, tell: Callable[[str], None]) -> None:
        self._model, self._tell, self._failures = model, tell, 0

    def rewrite(self, case: RuleCase) -> Rewrite | None:
        """What the model says of a rule; none if it is not asked or its answer could not be used."""
        if self._model is None or not case.hurt or not case.helped or len(case.lesson.text) > LONGEST_ASKED:
            return None
        try:
            found = revise_with(self._model, case.lesson, source=case.helped[-1], run=case.hurt[0])
        except ModelError as exc:
            self._failures += 1
            self._tell(f"rule {case.rule.number}: the model's answer could not be used: {exc}")
            if isinstance(exc, SpendCapReached) or self._failures >= FAILURES:
                self._model = None
                self._tell("The model is not asked about the rules that follow; they are judged by plain contrast between runs.")
            return None
        self._failures = 0
        return found


def _judged(case: RuleCase, asking: _Asking) -> JudgedRule:
    failed = sum(use.failed for use in case.uses)
    found = JudgedRule(
        rule=case.rule,
        verdict="untested",
        reason=case.why_untested or "no kept run shows that it was followed",
        lesson=case.lesson.id,
        helped=len(case.uses) - failed,
        failed=failed,
    )
    if not case.uses:
        return found
    if not beyond_noise(case.uses):
        if not found.helped:
            return replace(found, reason=f"it failed in {failed} of {len(case.uses)} runs, which chance explains as well")
        return replace(found, verdict="confirmed", reason=f"it helped in {found.helped} of {len(case.uses)} runs that followed it")
    rewrite = asking.rewrite(case)
    if rewrite is not None:
        new = rewrite.applies_when if rewrite.applies_when != case.lesson.applies_when and rewrite.taint != "untrusted" else ""
        if rewrite.verdict != "too general" or new:
            return replace(
                found,
                verdict=rewrite.verdict,
                reason=rewrite.basis or rewrite.why or f"it failed in {failed} of {len(case.uses)} runs that followed it",
                condition=new if rewrite.verdict == "too general" else "",
                grounded=round(rewrite.grounding.grounded, 4),
                leaked=round(rewrite.grounding.leaked, 4),
            )
    narrowed = narrow_by_contrast(case.lesson, source=case.helped[-1] if case.helped else None, helped=case.helped, hurt=case.hurt)
    if narrowed.condition:
        return replace(found, verdict="too general", reason=narrowed.reason, condition=narrowed.condition)
    told = f"it failed in {failed} of {len(case.uses)} runs that followed it, beyond chance"
    if case.doubt >= DEMOTE_AT or not found.helped:
        return replace(found, verdict="outdated", reason=f"{told}, and lately more than before" if found.helped else told)
    return replace(found, verdict="too general", reason=f"{told}; no condition is proposed: {narrowed.reason}")


def _case(reading: Reading, rule: PlacedRule, followed: _Followed) -> RuleCase:
    said, condition = split_conditions(rule.text)
    bare = Lesson(id="", section=rule.section, text=said, applies_when=condition, author="person")
    near = _near(reading, rule)
    same = [lesson for lesson in near if wording(lesson.text).key in (wording(said).key, wording(rule.text).key)]
    # Of several that say it, the one that was used most tells most.
    same.sort(key=lambda one: -(one.tallies.cited + one.tallies.support))
    for lesson in same:
        if lesson.applies_when and normalised(lesson.applies_when).casefold() not in normalised(rule.text).casefold():
            reason = f"lesson '{lesson.id}' says it under a condition that was learned"
            known = JudgedRule(rule=rule, verdict="too general", reason=reason, condition=lesson.applies_when, lesson=lesson.id)
            return RuleCase(rule=rule, lesson=lesson, known=known)
    for lesson in same[:1]:
        seen = observations(reading, lesson)
        used = tuple(use for use in uses(reading, seen) if _held_in(reading, condition, use))
        if used:
            return _with_runs(RuleCase(rule=rule, lesson=replace(lesson, text=said), uses=used, doubt=track_record(seen).doubt), reading)
    opposed = next(((one, found.reason) for one in near if (found := compare(bare, one)).relation == "conflict"), None)
    if opposed is not None and opposed[0].status == "active":
        reason = f"lesson '{opposed[0].id}' is {opposed[1]}"
        known = JudgedRule(rule=rule, verdict="outdated", reason=reason, lesson=opposed[0].id)
        return RuleCase(rule=rule, lesson=bare, known=known)
    runs, why = followed.by(said)
    # Where its own condition does not hold, a rule was not followed, whatever was called.
    runs = [run for run in runs if not condition or conditions_fit(condition, run, None) is not False]
    used = tuple(
        Use(run=run.id, effect="helped" if run.outcome.success else "misled", reliability=run.outcome.reliability or 0.0, at=run.ended)
        for run in runs
    )
    seen = tuple(
        Observation(run=use.run, effect="misled" if use.failed else "helped", exposure="cited", reliability=use.reliability) for use in used
    )
    lesson = replace(bare, id=same[0].id) if same else bare
    return RuleCase(
        rule=rule,
        lesson=lesson,
        uses=used,
        helped=tuple(run for run in runs if run.outcome.success),
        hurt=tuple(run for run in runs if not run.outcome.success),
        doubt=track_record(seen).doubt,
        why_untested=why,
    )


def _held_in(reading: Reading, condition: str, use: Use) -> bool:
    """Whether a rule's own condition held in a run that used it, as far as that can be told."""
    run = reading.run(use.run) if condition else None
    return run is None or conditions_fit(condition, run, None) is not False


def _with_runs(case: RuleCase, reading: Reading) -> RuleCase:
    helped = (reading.run(use.run) for use in case.uses if not use.failed)
    hurt = (reading.run(use.run) for use in case.uses if use.failed)
    return replace(case, helped=tuple(run for run in helped if run is not None), hurt=tuple(run for run in hurt if run is not None))


def _near(reading: Reading, rule: PlacedRule) -> list[Lesson]:
    return [hit.lesson for hit in reading.search(rule.text, limit=ALIKE_READ)]


class _Followed:
    """Kept runs, newest first, ready to be asked which of them followed a rule."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = [(run, _done_in(run)) for run in runs]

    def by(self, text: str) -> tuple[list[Run], str]:
        """The runs whose calls hold every tool, identifier and quoted text of a rule; or why that cannot be told."""
        if _FORBIDS.search(text):
            return [], "it forbids something: that it was followed leaves no trace in a run"
        named = {spaced(fact.said) for fact in facts(text) if fact.kind in ("identifier", "quoted")}
        if not named:
            return [], "it names no tool, identifier or quoted text by which a run shows that it was followed"
        return [run for run, done in self._runs if all(f" {one} " in done or one in done for one in named)], ""


def _done_in(run: Run) -> str:
    """What a run did, as one folded text: the tools it called with their arguments."""
    parts = [f"{action.tool} {json.dumps(dict(action.arguments), ensure_ascii=False, default=str)}" for action in actions_of(run)]
    return spaced(" ".join(parts))
