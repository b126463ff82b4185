"""The Reflector that asks a language model: one run in, a reflection out.

The model sees the run as data, the lessons the agent was given, and nothing else of the playbook.
What it says is taken over only as far as it can be held against the run: tags of lessons that were
used, insights that cite steps which it was shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tenure.errors import MalformedReply, ModelError, SettingError
from tenure.playbook.delta import Observe
from tenure.playbook.lessons import KINDS, Evidence, Lesson, normalised
from tenure.playbook.operations_json import operation_from_json
from tenure.playbook.run import Run
from tenure.ports import LanguageModel, Prompt
from tenure.ranking import estimate_tokens
from tenure.roles.asking import data_block, data_line, instructions, present
from tenure.roles.observed import MOST_FIGURES, held_to_run
from tenure.roles.reflection import Insight, Reflection, Tag, TagName
from tenure.roles.replies import read_json
from tenure.roles.taint import UntrustedText
from tenure.roles.transcript import Transcript, shortened, transcribe

MOST_ROUNDS = 5
MOST_INSIGHTS = 10
"""More than the prompt allows, so that only a model that lost itself is cut."""

_KEYS = ("insights", "tags", "root_cause", "situation", "figures")
_TAG_NAMES: dict[str, TagName] = {"helpful": "helpful", "harmful": "harmful", "neutral": "neutral"}
_LONGEST_FEEDBACK = 4000
_LONGEST_LESSON = 2000
_MOST_SAID = 6000

MOST_LESSON_TOKENS = 8000
"""Tokens of the lessons that a run was given, as shown to the model: a playbook may be larger than its window."""


def reflect_with(
    model: LanguageModel,
    run: Run,
    used: Sequence[Lesson] = (),
    *,
    rounds: int = MOST_ROUNDS,
    budget_tokens: int = 8000,
    max_tokens: int = 2048,
) -> Reflection:
    """What a model says of a run, refined until it changes nothing more.

    A later round that fails (an unreadable reply, a spent cap, a provider that is down) ends the
    refinement; the reflection of the round before it stands, and says so in `dropped`.

    Args:
        model: is asked once, and once more for each round of refinement.
        run: with its outcome, if it is known; the expected answer of a label is shown.
        used: the lessons that the run was shown or named.
        rounds: refinement rounds, 0 to `MOST_ROUNDS`.
        budget_tokens: cap on the steps as shown to the model.
        max_tokens: cap on each reply.

    Raises:
        MalformedReply: the first reply cannot be read; it is kept verbatim on the error.
        ModelError: the first call failed.
        SettingError: `rounds` is out of range.
    """
    if not 0 <= rounds <= MOST_ROUNDS:
        raise SettingError(f"Reflection takes 0 to {MOST_ROUNDS} refinement rounds, not {rounds}.")
    steps = transcribe(run, budget_tokens=budget_tokens)
    reader = _Reader(
        run=run, used={lesson.id: lesson for lesson in used}, steps=steps, untrusted=UntrustedText(run), author=f"model:{model.name}"
    )
    prompt = _prompt(run, used, steps, max_tokens)
    reflection = reader.read(read := _object(model, prompt))
    seen = {_substance(reflection)}
    for number in range(1, rounds + 1):
        try:
            read = _object(model, replace(prompt, user=f"{prompt.user}\n\n{_for_refinement(read, reflection)}"))
            better = reader.read(read)
        except MalformedReply as exc:
            return replace(
                reflection, rounds=number, failed_reply=exc.reply, dropped=(*reflection.dropped, f"round {number}: {exc.reason}")
            )
        except ModelError as exc:
            return replace(reflection, dropped=(*reflection.dropped, f"round {number}: {exc}"))
        reflection = replace(better, rounds=number)
        if _substance(reflection) in seen:
            break
        seen.add(_substance(reflection))
    return reflection


def reflection_prompt(run: Run, used: Sequence[Lesson] = (), *, budget_tokens: int = 8000, max_tokens: int = 2048) -> Prompt:
    """What `reflect_with` asks first, for a model that is asked by somebody else. Arguments as there."""
    return _prompt(run, used, transcribe(run, budget_tokens=budget_tokens), max_tokens)


def _prompt(run: Run, used: Sequence[Lesson], steps: Transcript, max_tokens: int) -> Prompt:
    return Prompt(system=instructions("reflect"), user=_record(run, used, steps), purpose="reflect", max_tokens=max_tokens)


def _object(model: LanguageModel, prompt: Prompt) -> dict[str, Any]:
    reply = model.complete(prompt)
    value: dict[str, Any] = read_json(reply, expects=_KEYS)
    for key in ("insights", "tags", "figures"):
        if not isinstance(value.get(key) or [], list):
            raise MalformedReply(f"its '{key}' is not a list", reply=reply.text)
    return value


def _record(run: Run, used: Sequence[Lesson], steps: Transcript) -> str:
    """The run, its outcome and the lessons it was given, as a prompt shows them."""
    outcome = run.outcome
    said = present(
        success=outcome.success,
        score=outcome.score,
        signal=outcome.signal if outcome.signal != "none" else "",
        feedback=shortened(outcome.feedback, _LONGEST_FEEDBACK),
        expected_answer=shortened(outcome.expected, _LONGEST_FEEDBACK),
    )
    given = _given(run, used)
    parts = [
        "# The record",
        "## Task",
        data_block([present(task=shortened(run.task.text, _LONGEST_FEEDBACK), kind=run.task.kind)]),
        "## Lessons the agent was given",
        data_block(given) if given else "None, so there is nothing to tag.",
        "## Steps",
        data_block(steps.lines) if steps.lines else "None were recorded.",
        "## Outcome",
        data_block([said]) if said else "Not known. Claim neither success nor failure.",
    ]
    return "\n\n".join(parts)


def _given(run: Run, used: Sequence[Lesson]) -> list[str]:
    """The lessons that a run was given, a line each in their order; those it named come before others where not all have room."""
    lines = [
        data_line(
            present(
                id=lesson.id,
                text=shortened(lesson.text, _LONGEST_LESSON),
                applies_when=shortened(lesson.applies_when, _LONGEST_LESSON),
                avoid=shortened(lesson.avoid, _LONGEST_LESSON),
                named_by_the_agent=lesson.id in run.cited or None,
            )
        )
        for lesson in used
    ]
    room, chosen = MOST_LESSON_TOKENS, set[int]()
    for place in sorted(range(len(lines)), key=lambda place: (used[place].id not in run.cited, place)):
        cost = estimate_tokens(lines[place])
        if cost <= room:
            chosen.add(place)
            room -= cost
    left = len(lines) - len(chosen)
    more = [data_line({"left_out": f"{left} lessons that the agent was given, for want of room"})] if left else []
    return [line for place, line in enumerate(lines) if place in chosen] + more


def _for_refinement(read: dict[str, Any], reflection: Reflection) -> str:
    """What the model said, what of it was not taken over, and the request to look again."""
    said = {key: read[key] for key in _KEYS if key in read}
    if estimate_tokens(data_line(said)) > _MOST_SAID:  # of an answer that went on and on, what could be used is enough
        said = {"insights": [present(text=one.text, applies_when=one.applies_when) for one in reflection.insights]}
    if reflection.dropped:
        said["not_accepted"] = list(reflection.dropped)
    return "\n\n".join(("# Your reflection so far", data_block([said]), instructions("refine_reflection")))


def _substance(reflection: Reflection) -> str:
    """What of a reflection becomes lessons and counts, in a form in which rewrapped texts are equal."""
    insights = [
        [
            one.kind,
            one.section,
            *map(normalised, (one.text, one.applies_when, one.avoid)),
            one.tool_order,
            [place.step for place in one.evidence],
        ]
        for one in reflection.insights
    ]
    figures = sorted((one.section, one.name, one.key, one.unit, one.value, one.step) for one in reflection.figures)
    return json.dumps([insights, sorted((tag.id, tag.tag) for tag in reflection.tags), figures])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads a model's answer against the run it is about."""

    run: Run
    used: dict[str, Lesson]
    steps: Transcript
    untrusted: UntrustedText
    author: str

    def read(self, value: dict[str, Any]) -> Reflection:
        dropped: list[str] = []
        insights: list[Insight] = []
        for number, said in enumerate(value.get("insights") or []):
            found = self._insight(said) if len(insights) < MOST_INSIGHTS else f"there are {MOST_INSIGHTS} already"
            if isinstance(found, Insight):
                insights.append(found)
            else:
                dropped.append(f"insight {number}: {found}")
        figures: list[Observe] = []
        for number, said in enumerate(value.get("figures") or []):
            figure = self._figure(said) if len(figures) < MOST_FIGURES else f"there are {MOST_FIGURES} already"
            if isinstance(figure, Observe):
                figures.append(figure)
            else:
                dropped.append(f"figure {number}: {figure}")
        tags: dict[str, Tag] = {}
        for number, said in enumerate(value.get("tags") or []):
            tag = self._tag(said)
            if isinstance(tag, Tag):
                tags.setdefault(tag.id, tag)
            else:
                dropped.append(f"tag {number}: {tag}")
        return Reflection(
            run=self.run.id,
            insights=tuple(insights),
            tags=tuple(tags.values()),
            situation=_text(value.get("situation")),
            root_cause=_text(value.get("root_cause")),
            author=self.author,
            dropped=tuple(dropped),
            figures=tuple(figures),
        )

    def _tag(self, said: object) -> Tag | str:
        if not isinstance(said, dict) or not isinstance(said.get("id"), str):
            return "it is not an object with an 'id'"
        id_ = said["id"].strip().strip("[]")
        if id_ not in self.used:
            return f"lesson '{id_[:80]}' was not given to the agent"
        name = _TAG_NAMES.get(_text(said.get("tag")).lower())
        return Tag(id=id_, tag=name, reason=_text(said.get("reason"))) if name else f"'tag' is not one of {', '.join(_TAG_NAMES)}"

    def _figure(self, said: object) -> Observe | str:
        read = operation_from_json({**said, "op": "OBSERVE"}) if isinstance(said, dict) else "it is no object"
        return held_to_run(read, self.run) if isinstance(read, Observe) else str(read)

    def _insight(self, said: object) -> Insight | str:
        if not isinstance(said, dict) or not isinstance(said.get("text"), str) or not said["text"].strip():
            return "it has no 'text'"
        cited = _step_numbers(said.get("steps"))
        evidence = tuple(self._place(index) for index in sorted(cited & self.steps.shown))
        if not evidence:
            return "it cites no step that was shown" if cited else "it cites no step"
        kind = _text(said.get("kind")).lower().replace(" ", "_").replace("-", "_")
        tools = {step.name for step in self.run.steps if step.kind == "tool_call"}
        order = [name for name in said.get("tool_order") or [] if name in tools] if isinstance(said.get("tool_order"), list) else []
        found = Insight(
            text=said["text"].strip(),
            evidence=evidence,
            kind=kind if kind in KINDS else "strategy",
            section=_text(said.get("section")),
            applies_when=_text(said.get("applies_when")),
            avoid=_text(said.get("avoid")),
            tool_order=tuple(order) if len(order) > 1 else (),
        )
        instruction = "\n".join((found.text, found.applies_when, found.avoid))
        return replace(found, basis="untrusted" if self.untrusted.may_have_written(instruction) else "model")

    def _place(self, index: int) -> Evidence:
        return Evidence(run=self.run.id, step=index, role="error" if self.run.steps[index].error else "source")


def _step_numbers(said: object) -> set[int]:
    """The numbers in a list of steps; a model may write `3`, `"3"` or `"step 3"`."""
    numbers: set[int] = set()
    for one in said if isinstance(said, list) else [said]:
        if isinstance(one, int) and not isinstance(one, bool):
            numbers.add(one)
        elif isinstance(one, str) and (digits := one.lower().removeprefix("step").strip(" #:[]")).isdecimal() and len(digits) < 10:
            numbers.add(int(digits))
    return numbers


def _text(said: object) -> str:
    """A text field of an answer; a list of texts is joined, anything else is empty."""
    if isinstance(said, list) and all(isinstance(one, str) for one in said):
        return "; ".join(one.strip() for one in said if one.strip())
    return said.strip() if isinstance(said, str) else ""
