"""The Reviser that asks a language model: one used lesson, the case it came from, and the run that tested it.

What it answers is held against the source by code: statements that only the current run supports are left out,
those that nothing supports are marked as hypotheses. The model's word alone never changes a lesson: whether a
revision is made is decided by `playbook.revision.enough` and by the checks before commit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tenure.errors import MalformedReply
from tenure.playbook.grounding import Grounding, Grounds
from tenure.playbook.lessons import Evidence, Lesson, normalised
from tenure.playbook.revision import Verdict
from tenure.playbook.run import Origin, Run, Step
from tenure.ports import LanguageModel, Prompt
from tenure.roles.asking import data_block, instructions, present
from tenure.roles.conditions import case_texts, lesson_texts, tools_of
from tenure.roles.reflection import Basis
from tenure.roles.replies import read_json
from tenure.roles.taint import UntrustedText
from tenure.roles.transcript import shortened, transcribe

_KEYS = ("verdict", "text", "applies_when", "basis")
_VERDICTS: dict[str, Verdict] = {"confirmed": "confirmed", "too general": "too general", "outdated": "outdated"}
_LONGEST = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """What a Reviser proposes for a lesson, after the source-only rule.

    Attributes:
        verdict: `confirmed`, `too general` or `outdated`.
        text, applies_when: as they may stand; equal to the lesson's where nothing changes.
        basis: what in the source case shows it; empty if that is not in the source.
        evidence: the steps of the source case it rests on.
        grounding: the proposed statements of text and conditions.
        prevents: whether the Reviser holds that it would have prevented the failure.
        why: what the agent would have done differently, in the Reviser's words.
        taint: whose words it is made of (see `Insight.basis`).
        author: `extractive` or `model:NAME`.
    """

    verdict: Verdict
    text: str
    applies_when: str
    basis: str = ""
    evidence: tuple[Evidence, ...] = ()
    grounding: Grounding = field(default_factory=Grounding)
    prevents: bool = False
    why: str = ""
    taint: Basis = "model"
    author: str = ""


def revise_with(
    model: LanguageModel, lesson: Lesson, *, source: Run | None, run: Run, budget_tokens: int = 8_000, max_tokens: int = 1_024
) -> Rewrite:
    """What a model says of a used lesson.

    Args:
        model: is asked once.
        lesson: as the run used it.
        source: the case it came from; none if it is not kept, and then the old lesson is all there is to rest on.
        run: the one that tested it, with its outcome.
        budget_tokens: cap on the steps of both runs as shown to the model.
        max_tokens: cap on the reply.

    Raises:
        MalformedReply: the reply cannot be read; it is kept verbatim on the error.
        ModelError: the call failed.
    """
    reply = model.complete(revision_prompt(lesson, source=source, run=run, budget_tokens=budget_tokens, max_tokens=max_tokens))
    value: dict[str, Any] = read_json(reply, expects=_KEYS)
    verdict = _VERDICTS.get(_text(value.get("verdict")).lower().replace("_", " ").replace("-", " "))
    if verdict is None:
        raise MalformedReply(f"its 'verdict' is not one of {', '.join(_VERDICTS)}", reply=reply.text)
    return replace(_held_to_source(value, verdict, lesson, source, run), author=f"model:{model.name}")


def revision_prompt(lesson: Lesson, *, source: Run | None, run: Run, budget_tokens: int = 8_000, max_tokens: int = 1_024) -> Prompt:
    """What `revise_with` asks, for a model that is asked by somebody else. Arguments as there."""
    return Prompt(
        system=instructions("revise"), user=_record(lesson, source, run, budget_tokens // 2), purpose="revise", max_tokens=max_tokens
    )


def grounds_of(lesson: Lesson, *, source: Run | None, run: Run) -> Grounds:
    """What a revision of a lesson may rest on, and the run that it is only tested on."""
    tools = tools_of(run) | (tools_of(source) if source is not None else frozenset())
    return Grounds(source=case_texts(source) if source is not None else (), old=lesson_texts(lesson), current=case_texts(run), tools=tools)


def _held_to_source(value: dict[str, Any], verdict: Verdict, lesson: Lesson, source: Run | None, run: Run) -> Rewrite:
    grounds = grounds_of(lesson, source=source, run=run)
    said = Rewrite(
        verdict=verdict,
        text=lesson.text,
        applies_when=lesson.applies_when,
        basis=_supported(_text(value.get("basis")), grounds),
        evidence=_places(value.get("steps"), source),
        prevents=value.get("would_have_prevented") is True,
        why=_text(value.get("why")),
    )
    if verdict == "confirmed":
        return said
    text, conditions = grounds.judge(_text(value.get("text"))), grounds.judge(_text(value.get("applies_when")))
    rewritten = replace(
        said,
        # What is left of nothing is no lesson, and conditions are never taken away by leaving them out.
        text=text.text or lesson.text,
        applies_when=conditions.text or lesson.applies_when,
        grounding=text + conditions,
    )
    new = "\n".join((rewritten.text, rewritten.applies_when))
    # What the old lesson says was admitted once. What is new rests on the source case, in which a stranger may have spoken.
    old = normalised("\n".join(lesson_texts(lesson)))
    added = "\n".join(one.statement.text for one in (*text.judged, *conditions.judged) if normalised(one.statement.text) not in old)
    changed = (rewritten.text, rewritten.applies_when) != (lesson.text, lesson.applies_when)
    tainted = any(UntrustedText(one).is_repeated_in(new) for one in (run, source) if one is not None)
    if changed and not tainted:
        tainted = bool(UntrustedText(_read_together(lesson, source, run)).may_have_written(new))
        tainted = tainted or (source is not None and bool(UntrustedText(source).may_have_written(added)))
    return replace(rewritten, taint="untrusted" if tainted else "model")


def _read_together(lesson: Lesson, source: Run | None, run: Run) -> Run:
    """Both runs and the old lesson as one run, because a reviser reads them together: whoever wrote in either may speak through it."""
    said = "\n".join(filter(None, (lesson.text, lesson.applies_when, lesson.avoid)))
    steps = [Step(kind="message", role="system", content=said, origin=Origin())]
    for one in (source, run) if source is not None else (run,):
        task = Step(kind="message", role="user", content=one.task.text)
        steps += [
            step if step.origin is not None or one.origin.trusted else replace(step, origin=one.origin) for step in (task, *one.steps)
        ]
    return replace(run, steps=tuple(steps), origin=Origin())


def _supported(basis: str, grounds: Grounds) -> str:
    """A basis without what the source does not hold."""
    return " ".join(one.statement.text for one in grounds.judge(basis).judged if one.supported)


def _places(said: object, source: Run | None) -> tuple[Evidence, ...]:
    if source is None or not isinstance(said, list):
        return ()
    steps = sorted({one for one in said if isinstance(one, int) and not isinstance(one, bool) and 0 <= one < len(source.steps)})
    return tuple(Evidence(run=source.id, step=step) for step in steps)


def _record(lesson: Lesson, source: Run | None, run: Run, budget: int) -> str:
    """The lesson and both runs, as a prompt shows them."""
    shown = present(
        text=lesson.text, applies_when=lesson.applies_when, avoid=lesson.avoid, tool_order=list(lesson.tool_order), kind=lesson.kind
    )
    parts = ["# The lesson", data_block([shown]), "# The source case"]
    parts += _case(source, budget) if source is not None else ["It is not kept. The old lesson is all that a new text can rest on."]
    parts += ["# The run that tested it", *_case(run, budget)]
    return "\n\n".join(parts)


def _case(run: Run, budget: int) -> list[str]:
    steps = transcribe(run, budget_tokens=budget)
    outcome = present(
        success=run.outcome.success,
        score=run.outcome.score,
        signal=run.outcome.signal if run.outcome.signal != "none" else "",
        feedback=shortened(run.outcome.feedback, _LONGEST),
        expected_answer=shortened(run.outcome.expected, _LONGEST),
    )
    return [
        "## Task",
        data_block([present(task=shortened(run.task.text, _LONGEST), kind=run.task.kind)]),
        "## Steps",
        data_block(steps.lines) if steps.lines else "None were recorded.",
        "## Outcome",
        data_block([outcome]) if outcome else "Not known.",
    ]


def _text(said: object) -> str:
    return said.strip() if isinstance(said, str) else ""
