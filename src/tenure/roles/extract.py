"""Reflection without a model: what a run itself shows, from the structure of its steps.

Nothing is guessed: every insight points at the steps it rests on, and its words are tool names,
argument names, masked error texts, short values, and a person's own sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenure.playbook.run import Run
from tenure.roles.actions import Action, actions_of
from tenure.roles.contrast import learn_from_contrast, learn_from_sequences
from tenure.roles.corrections import learn_from_person
from tenure.roles.error_statements import LONGEST_ERROR, is_directive
from tenure.roles.reflection import Insight, Reflection
from tenure.roles.signatures import headline, mask, signature
from tenure.roles.tool_errors import learn_from_errors

__all__ = ["extract", "mask", "signature"]


def extract(run: Run, *, earlier: Sequence[Run] = (), since: int = 0) -> Reflection:
    """What is to be remembered from a run, without a model.

    In order of importance: a person's corrections; rejected calls with what was accepted instead;
    rejected calls with what to check first; the first deciding difference to a run of the same task
    that ended the other way; the tool sequence that successful runs of the kind share.

    Args:
        run: the run; an unknown outcome gives errors and corrections only.
        earlier: other runs, oldest first: of the same task, and recent successful ones of the kind.
        since: index of the first step not yet learned from. What rests on earlier steps alone is left out.

    Returns:
        The reflection; equal for equal arguments. It has no tags: what a lesson did in a run is for
        credit to say.
    """
    actions = actions_of(run)
    others = [other for other in earlier if other.id != run.id]
    insights = (
        *learn_from_person(run, actions),
        *learn_from_errors(run, actions, earlier=others),
        *learn_from_contrast(run, actions, others),
        *learn_from_sequences(run, actions, others),
    )
    return Reflection(
        run=run.id,
        insights=tuple(_with_basis(run, insight) for insight in insights if _last_step(run, insight) >= since),
        root_cause=_root_cause(run, actions),
    )


def _with_basis(run: Run, insight: Insight) -> Insight:
    """An insight as untrusted, if an error that it quotes tells what to do beyond the call: then it passes on an instruction.

    Of a long error, such as a traceback with what was printed before it, only the line that is quoted counts.
    What a person said counts as a person's only where the one who reports the run is trusted.
    """
    if insight.basis == "person" and not run.origin.trusted:
        return replace(insight, basis="untrusted")
    if insight.basis != "structure":
        return insight
    errors = {run.steps[place.step].error for place in insight.evidence if place.run == run.id and 0 <= place.step < len(run.steps)}
    quoted = (error if len(error) <= LONGEST_ERROR else headline(error) for error in errors if error)
    return replace(insight, basis="untrusted") if any(map(is_directive, quoted)) else insight


def _last_step(run: Run, insight: Insight) -> int:
    """The last step of the run that an insight rests on; what rests on the run as a whole rests on its end."""
    steps = [place.step for place in insight.evidence if place.run == run.id]
    if insight.about.startswith(("contrast:", "sequence:")) or -1 in steps:
        return len(run.steps) - 1
    return max(steps, default=len(run.steps) - 1)


def _root_cause(run: Run, actions: Sequence[Action]) -> str:
    """For a failed run, the last rejection after which the tool accepted nothing more."""
    if run.outcome.success is not False:
        return ""
    accepted: set[str] = set()
    for action in reversed(actions):
        if action.accepted:
            accepted.add(action.tool)
        elif action.error and action.tool not in accepted:
            return f'{action.tool} was rejected to the end: "{mask(action.error)}"'
    return ""
