"""Runs as they are reported over HTTP: kept before anything is answered, then learned from by whoever does that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tenure.playbook.run import Run
from tenure.ports import Reading
from tenure.serving.agent_steps import cited_lessons, plain_name
from tenure.serving.service.bodies import EndBody
from tenure.serving.service.doing import Doing
from tenure.serving.service.problems import Problem


def keep_run(to: Doing, run: Run) -> None:
    """Keep a run that is reported whole, or more of one that began here; durable on return.

    Raises:
        Problem: 409, a run of this id came from elsewhere; 422, its origin is revoked, or it was forgotten.
    """
    (problem,) = keep_runs(to, [run])
    if problem is not None:
        raise problem


def keep_runs(to: Doing, runs: Sequence[Run]) -> list[Problem | None]:
    """Keep several runs in one transaction, durable on return; what is wrong with each, none for those that were kept."""
    problems: list[Problem | None] = [None] * len(runs)
    taken: list[tuple[int, Run]] = []
    with to.book.store.reading(to.scope) as look:
        for place, run in enumerate(runs):
            kept = look.run(run.id)
            if kept is not None and kept.origin.name != run.origin.name:
                problems[place] = Problem(409, "run", f"A run '{run.id[:80]}' of another origin is here. Give yours another id.")
            else:
                taken.append((place, run))
    refused = to.book.keep_many([run for _, run in taken]) if taken else ()
    for (place, run), why in zip(taken, refused, strict=True):
        if why:
            problems[place] = Problem(422, "run", f"Run '{run.id[:80]}' was not kept: {why}.")
        elif run.ended:
            to.engine.arrived(to.scope, run.id)
    return problems


def end_run(to: Doing, name: str, end: EndBody) -> tuple[Run, tuple[str, ...], bool]:
    """Keep how a run ended; durable on return.

    Returns:
        The run, names that it cites and that are no lessons, and whether it was known before.

    Raises:
        Problem: 404, there is no such run; 409, another outcome was learned from.
    """
    at = to.engine.clock.now().isoformat()
    outcome = end.outcome(at)
    with to.book.store.reading(to.scope) as look:
        kept, learned = look.run(name), look.learned_steps(name) is not None
        names = {plain_name(one) for one in end.cited}
        known = look.named([one for one in names if one])
    if kept is None:
        raise unknown_run(name, to.scope)
    cited, unknown = cited_lessons(kept, end.cited, known)
    if learned and kept.outcome.known:
        if (kept.outcome.success, kept.outcome.score) != (outcome.success, outcome.score):
            raise Problem(
                409, "outcome", f"Run '{name[:80]}' was learned from with another outcome. It stays; report what is new as a new run."
            )
        return kept, unknown, True
    run = replace(
        kept,
        steps=tuple(step.step(kept.origin.principal) for step in end.steps) or kept.steps,
        cited=tuple(dict.fromkeys((*kept.cited, *cited))),
        outcome=outcome,
        ended=at,
    )
    to.book.keep(run)
    to.engine.arrived(to.scope, run.id)
    return run, unknown, False


def unknown_run(name: str, scope: str) -> Problem:
    """That there is no such run."""
    return Problem(404, "run", f"There is no run '{name[:80]}' in scope '{scope}'. Runs: GET /v1/runs")


def state_of(look: Reading, run: Run, *, learns: bool) -> str:
    """Where a run stands: `unfinished`, `waiting` to be learned from, `learned`, or `kept` where learning is off."""
    if not run.ended:
        return "unfinished"
    learned = look.learned_steps(run.id)
    if learned is not None and learned >= len(run.steps):
        return "learned"
    return "waiting" if learns else "kept"


def not_lessons(names: Iterable[str]) -> Sequence[str]:
    """Names that stand for no lesson, as they are told back."""
    return [name[:80] for name in names][:50]
