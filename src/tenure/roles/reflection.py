"""What a Reflector says of a run, whether a model or plain code wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tenure.playbook.delta import Observe
from tenure.playbook.lessons import Evidence

TagName = Literal["helpful", "harmful", "neutral"]
Basis = Literal["structure", "person", "model", "untrusted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """What a lesson that was used did in this run.

    Attributes:
        id: the lesson.
        tag: `helpful`, `harmful` or `neutral`.
        reason: one sentence.
    """

    id: str
    tag: TagName
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """Something to remember from a run: a lesson before it is one.

    Attributes:
        text: a statement that someone who never saw the run can act on.
        kind: one of `lessons.KINDS`. For an error, `tool_rule` says that the text states what was
            accepted instead, `common_error` that no accepted form is known yet.
        section: empty takes the section of the kind.
        applies_when, avoid, tool_order: see `Lesson`.
        about: what it is about, for machines; the same for every run that shows the same thing.
            Empty if only its text identifies it.
        evidence: the steps it rests on; never empty.
        basis: whose words the *instruction* is made of. `structure`: tool and argument names,
            acceptance and rejection. `person`: a person said it. `model`: a model concluded it.
            `untrusted`: it repeats free text from web, files, mail or a tool's payload.
    """

    text: str
    evidence: tuple[Evidence, ...]
    kind: str = "strategy"
    section: str = ""
    applies_when: str = ""
    avoid: str = ""
    tool_order: tuple[str, ...] = ()
    about: str = ""
    basis: Basis = "structure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """Tags for the lessons a run used, and what to remember from it.

    Attributes:
        run: the run's id.
        insights: in order of importance.
        tags: one per lesson the Reflector judged.
        situation, root_cause: what the run was about and why it went as it did; may be empty.
        author: `extractive` or `model:NAME`.
        rounds: refinement rounds a model took; 0 for plain code.
        dropped: what was said and not taken over, each with the reason.
        failed_reply: a later round's reply that could not be read, verbatim; the reflection is then
            that of the round before. Empty if every reply was read.
        figures: numbers worth keeping, each held against the run (see `observed.held_to_run`).
    """

    run: str
    insights: tuple[Insight, ...] = ()
    tags: tuple[Tag, ...] = ()
    situation: str = ""
    root_cause: str = ""
    author: str = "extractive"
    rounds: int = 0
    dropped: tuple[str, ...] = ()
    failed_reply: str = ""
    figures: tuple[Observe, ...] = ()
