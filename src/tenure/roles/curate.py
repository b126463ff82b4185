"""The Curator: turns a reflection into operations, by plain code or with a language model.

Either way the result is a proposal. Counters come from what runs showed, never from a model, and a
statement that repeats untrusted text becomes a lesson that is held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenure.errors import MalformedReply
from tenure.playbook.delta import OPERATION_NAMES, Add, Merge, Observe, Operation, Receipt, Retire, Tally, Update
from tenure.playbook.lessons import EVIDENCE_KEPT, KINDS, Evidence, Lesson
from tenure.playbook.likeness import compare
from tenure.playbook.operations_json import operation_from_json
from tenure.playbook.run import Run
from tenure.ports import LanguageModel, Prompt
from tenure.roles.asking import data_block, instructions, present
from tenure.roles.observed import MOST_FIGURES, held_to_run
from tenure.roles.reflection import Insight, Reflection
from tenure.roles.replies import read_json

LONGEST_TEXT = 2000
"""Characters of a learned lesson's text. What is longer is a document, not a lesson."""

MODEL_OPERATIONS: frozenset[type[Operation]] = frozenset({Add, Update, Merge, Retire, Observe})
"""What a model may propose. TALLY, PIN and RESTORE follow from outcomes and from persons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """What a Curator proposes for a playbook.

    Attributes:
        operations: for one delta; their order does not matter.
        rejections: what is not proposed, each with the reason and, where there is one, the lesson.
        failed_reply: a model's reply that could not be read, verbatim; none if it could. There are
            then no operations, and the same reflection can be curated again.
        failure: why it could not be read; empty if it could.
    """

    operations: tuple[Operation, ...] = ()
    rejections: tuple[Receipt, ...] = ()
    failed_reply: str | None = None
    failure: str = ""


def read_operations(value: object) -> tuple[tuple[Operation, ...], tuple[Receipt, ...]]:
    """The operations in a parsed reply, and a rejection for each that is none; a bad one never sinks the others.

    Args:
        value: `{"operations": [...]}`, a list of operations, or a single one.

    Returns:
        Well-typed operations, and skipped receipts whose reason names the operation by its place,
        counted from 0, and the field.
    """
    operations: list[Operation] = []
    rejections: list[Receipt] = []
    for place, obj in enumerate(_listed(value)):
        read = operation_from_json(obj)
        if isinstance(read, str):
            rejections.append(_rejected(place, read, obj))
        else:
            operations.append(read)
    return tuple(operations), tuple(rejections)


def curate_plain(
    reflection: Reflection,
    existing: Callable[[str], Lesson | None],
    *,
    status: str = "provisional",
    evidence_cap: int = EVIDENCE_KEPT,
) -> Curation:
    """The operations for a reflection, without a model.

    A lesson about the same thing gains one support and the evidence; if it knew no accepted form
    and the insight does, it gets the insight's text. Everything else is added. What was retired is
    added again only by an insight that knows more than the retired lesson did. The reflection's
    tags are not used here: they count through `playbook.credit`.

    Args:
        reflection: by plain code or a model.
        existing: the lesson about a subject (`Insight.about`): a live or held one if there is one, else
            a retired one, else none.
        status: of added lessons: `provisional` or `active`. What rests on untrusted text is held.
        evidence_cap: places a lesson takes from one run.
    """
    operations: list[Operation] = []
    rejections: list[Receipt] = []
    for insight in _one_per_subject(reflection.insights):
        problem = _unfit(insight.text)
        lesson = existing(insight.about) if insight.about else None
        if problem:
            rejections.append(Receipt("skipped", problem, lesson.id if lesson else ""))
        elif lesson is None:
            operations.append(_add(insight, reflection, status, evidence_cap))
        elif lesson.status == "retired":
            if _knows_more(insight, lesson):
                operations.append(_add(insight, reflection, status, evidence_cap))
            else:
                rejections.append(
                    Receipt("skipped", f"a lesson about '{insight.about}' was retired, and this one knows no more", lesson.id)
                )
        elif insight.basis == "untrusted" and lesson.status != "held":
            rejections.append(Receipt("skipped", f"what untrusted text says supports no lesson, not '{lesson.id}' either", lesson.id))
        else:
            operations.append(Tally(lesson.id, support=1, evidence=_places(insight, evidence_cap)))
            if not _knows_more(insight, lesson):
                continue
            kept = _protected(lesson, insight)
            if kept:
                rejections.append(Receipt("skipped", kept, lesson.id))
            else:
                operations.append(Update(lesson.id, text=insight.text, applies_when=insight.applies_when, kind=insight.kind))
    return Curation(operations=tuple(operations), rejections=tuple(rejections))


def curate_with(
    model: LanguageModel,
    reflection: Reflection,
    lessons: Sequence[Lesson] = (),
    *,
    revised: Sequence[Lesson] = (),
    most: int | None = None,
    run: Run | None = None,
    tables: Sequence[tuple[str, str]] = (),
    status: str = "provisional",
    evidence_cap: int = EVIDENCE_KEPT,
    max_tokens: int = 2048,
) -> Curation:
    """The operations a model proposes for a reflection: the forward write, which complements what was revised a moment ago.

    Args:
        model: is asked once, and not at all if there is nothing to ask about.
        reflection: its insights are numbered for the model. Those that repeat untrusted text are kept
            from it and become lessons that are held.
        lessons: the existing lessons closest to the insights. The model sees these and the revised ones and no others,
            and can change these and no others. What is too long to be a lesson is left out: it could only be cut.
        revised: lessons that this run had revised, as they read now. The model complements them and does not change them.
        most: new lessons that it may write; none is no limit.
        run: what numbers are held against; without it none is taken.
        tables: section and name of tables that are there, so that a number joins the one it belongs to.
        status: of added lessons: `provisional` or `active`.
        evidence_cap: places a lesson takes from one run.
        max_tokens: cap on the reply.

    Returns:
        A curation. A reply that cannot be read gives one without operations that keeps it verbatim.

    Raises:
        ModelError: the call failed.
    """
    own = [one for one in reflection.insights if one.basis != "untrusted"]
    # The Curator never reads what repeats untrusted text, so it cannot pass it on in its own words.
    doubtful = replace(reflection, insights=tuple(one for one in reflection.insights if one.basis == "untrusted"))
    plain = curate_plain(doubtful, lambda _: None, evidence_cap=evidence_cap)
    if not own and not reflection.figures:
        return plain
    shown = [lesson for lesson in lessons if _size(lesson) <= LONGEST_TEXT and lesson.id not in {one.id for one in revised}]
    prompt = Prompt(
        system=instructions("curate"),
        user=_request(own, shown, revised, most, reflection.figures, tables),
        purpose="curate",
        max_tokens=max_tokens,
    )
    try:
        value = read_json(model.complete(prompt), expects=("operations",), lists=True)
    except MalformedReply as exc:
        return Curation(failed_reply=exc.reply, failure=exc.reason)
    reviewer = _Reviewer(
        run=reflection.run,
        insights=own,
        shown={lesson.id: lesson for lesson in shown},
        revised={lesson.id: lesson for lesson in revised},
        most=most,
        source=run,
        status=status,
        evidence_cap=evidence_cap,
        author=f"model:{model.name}",
    )
    operations, rejections = list(plain.operations), list(plain.rejections)
    for place, obj in enumerate(_listed(value)):
        read = operation_from_json(_without_unknown_kind(obj))
        found = read if isinstance(read, str) else reviewer.review(read, obj)
        if isinstance(found, str):
            rejections.append(_rejected(place, found, obj))
        else:
            operations.append(found)
    return Curation(operations=tuple(operations), rejections=tuple(rejections))


def _listed(value: object) -> Sequence[object]:
    if isinstance(value, Mapping) and "operations" in value:
        value = value["operations"]
    return value if isinstance(value, list | tuple) else [value]


def _rejected(place: int, reason: str, obj: object) -> Receipt:
    named = obj.get("id") if isinstance(obj, Mapping) else None
    return Receipt("skipped", f"operation {place}: {reason}", named if isinstance(named, str) else "")


def _one_per_subject(insights: Sequence[Insight]) -> list[Insight]:
    """Insights about the same thing as one, the one that knows most with the evidence of all: a run supports a lesson once."""
    found: dict[str, Insight] = {}
    for number, insight in enumerate(insights):
        key = insight.about or f"\x00{number}"
        held = found.get(key)
        if held is None:
            found[key] = insight
            continue
        best = insight if (held.kind, insight.kind) == ("common_error", "tool_rule") else held
        evidence = (*best.evidence, *(place for place in (*held.evidence, *insight.evidence) if place not in best.evidence))
        found[key] = replace(best, evidence=tuple(dict.fromkeys(evidence)))
    return list(found.values())


def _unfit(text: str) -> str:
    if not text.strip():
        return "empty text"
    return f"the text has {len(text)} characters, more than a lesson's {LONGEST_TEXT}" if len(text) > LONGEST_TEXT else ""


def _knows_more(insight: Insight, lesson: Lesson) -> bool:
    """Whether an insight states an accepted form where the lesson knows none."""
    return lesson.kind == "common_error" and insight.kind == "tool_rule"


def _protected(lesson: Lesson, insight: Insight) -> str:
    """Why an insight may not overwrite a lesson, or an empty text."""
    if lesson.pinned:
        return f"lesson '{lesson.id}' is pinned, so its text stays"
    if lesson.author.startswith("person:"):
        return f"a person wrote lesson '{lesson.id}', so its text stays"
    if insight.basis == "untrusted":
        return f"the new text for lesson '{lesson.id}' repeats untrusted text"
    return ""


def _places(insight: Insight, cap: int) -> tuple[Evidence, ...]:
    return insight.evidence[:cap]


def _add(insight: Insight, reflection: Reflection, status: str, cap: int) -> Add:
    return Add(
        section=insight.section,
        text=insight.text,
        applies_when=insight.applies_when,
        kind=insight.kind,
        status="held" if insight.basis == "untrusted" else status,
        avoid=insight.avoid,
        tool_order=insight.tool_order,
        about=insight.about,
        evidence=_places(insight, cap),
        author=reflection.author,
    )


def _size(lesson: Lesson) -> int:
    """Characters of a lesson as a prompt shows it."""
    return len(lesson.text) + len(lesson.applies_when) + len(lesson.avoid)


def _request(
    insights: Sequence[Insight],
    lessons: Sequence[Lesson],
    revised: Sequence[Lesson] = (),
    most: int | None = None,
    figures: Sequence[Observe] = (),
    tables: Sequence[tuple[str, str]] = (),
) -> str:
    """The insights, the lessons revised because of the run, and the closest others, as a prompt shows them."""
    taught = [
        {"number": number}
        | present(
            text=one.text,
            kind=one.kind,
            section=one.section,
            applies_when=one.applies_when,
            avoid=one.avoid,
            tool_order=list(one.tool_order),
        )
        for number, one in enumerate(insights)
    ]
    known, changed = [_known(one) for one in lessons], [_known(one) for one in revised]
    parts = ["# What the run taught", data_block(taught) if taught else "Nothing but numbers."]
    if figures:
        shown = [present(section=one.section, name=one.name, key=one.key, value=one.value, unit=one.unit, step=one.step) for one in figures]
        parts += ["# Numbers that the run showed", data_block(shown)]
        there = data_block([present(section=section, name=name) for section, name in tables]) if tables else "None yet."
        parts += ["# Tables of numbers that are there", there]
    if changed:
        parts += ["# Lessons that were revised because of this run, as they read now", data_block(changed)]
    parts += ["# The closest existing lessons", data_block(known) if known else "None: nothing in the playbook is close."]
    if most is not None:
        parts.append(f"At most {most} `ADD`: what helps most next time and stands in no lesson above." if most else "No `ADD` this time.")
    return "\n\n".join(parts)


def _known(lesson: Lesson) -> dict[str, Any]:
    return present(
        id=lesson.id, section=lesson.section, kind=lesson.kind, text=lesson.text, applies_when=lesson.applies_when, avoid=lesson.avoid
    )


def _without_unknown_kind(obj: object) -> object:
    """An operation without a kind that we do not have: a model's slip there is no reason to lose the lesson."""
    if isinstance(obj, Mapping) and obj.get("kind") is not None and obj["kind"] not in KINDS:
        return {key: value for key, value in obj.items() if key != "kind"}
    return obj


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reviewer:
    """Holds a model's operations against what it was shown."""

    run: str
    insights: Sequence[Insight]
    shown: Mapping[str, Lesson]
    revised: Mapping[str, Lesson]
    most: int | None
    source: Run | None
    status: str
    evidence_cap: int
    author: str
    subjects: set[str] = field(default_factory=set)
    added: list[str] = field(default_factory=list[str])
    observed: list[Observe] = field(default_factory=list[Observe])

    def review(self, op: Operation, obj: object) -> Operation | str:
        """The operation as it may stand, or why it may not."""
        if type(op) not in MODEL_OPERATIONS:
            return f"a model may not propose {OPERATION_NAMES[type(op)]}; counts, pins and restorations come from outcomes and persons"
        if isinstance(op, Observe):
            return self._observed(op)
        text = getattr(op, "text", None)
        if text is not None and (problem := _unfit(text)):
            return f"its field 'text' cannot stay: {problem}"
        basis = self._basis(obj)
        if isinstance(op, Add):
            return self._added(op, basis)
        problem = self._out_of_reach(op)
        if problem:
            return problem
        if isinstance(op, Retire) and not op.reason.strip():
            return "its field 'reason' is missing"
        if isinstance(op, Update):
            # Standing, verdict and subject are not the model's to set.
            return replace(op, status=None, verdict=None, about=None, evidence=self._evidence(basis))
        return op

    def _observed(self, op: Observe) -> Observe | str:
        if self.source is None:
            return "there is no run to hold its number against"
        if len(self.observed) >= MOST_FIGURES:
            return f"a run gives at most {MOST_FIGURES} numbers of a model, and this is one more"
        held = held_to_run(op, self.source)
        if isinstance(held, Observe):
            self.observed.append(held)
        return held

    def _out_of_reach(self, op: Operation) -> str:
        """Why a model may not touch the lessons an operation names, or an empty text."""
        named = sorted({*op.ids, op.into}) if isinstance(op, Merge) else [getattr(op, "id", "")]
        for id_ in named:
            if id_ in self.revised:
                return f"lesson '{id_}' was revised a moment ago, by its source case"
            if id_ not in self.shown:
                return f"lesson '{id_[:80]}' is not among those the Curator was shown"
            if self.shown[id_].pinned:
                return f"lesson '{id_}' is pinned"
        if isinstance(op, Update) and op.text is None and op.applies_when is None:
            return "nothing to change: it has neither 'text' nor 'applies_when'"
        return ""

    def _added(self, op: Add, basis: Sequence[Insight]) -> Add | str:
        if self.most is not None and len(self.added) >= self.most:
            return f"a run gives at most {self.most} new {'lesson' if self.most == 1 else 'lessons'} of a model, and this is one more"
        new = Lesson(id="", section=op.section, text=op.text, applies_when=op.applies_when, avoid=op.avoid)
        twin = next((one.id for one in self.revised.values() if compare(one, new).relation == "same"), None)
        if twin is not None:
            return f"lesson '{twin}', which was revised a moment ago, says it already"
        self.added.append(op.text)
        only = basis[0] if len(basis) == 1 else None
        about = only.about if only else ""
        if about in self.subjects or any(lesson.about == about for lesson in (*self.shown.values(), *self.revised.values())):
            about = ""  # one lesson a subject
        self.subjects.add(about)
        return replace(
            op,
            id=None,
            kind=op.kind or (only.kind if only else None),
            status=self.status,
            avoid=op.avoid or (only.avoid if only else ""),
            tool_order=op.tool_order or (only.tool_order if only else ()),
            about=about,
            evidence=self._evidence(basis),
            origin="",
            author=self.author,
        )

    def _basis(self, obj: object) -> list[Insight]:
        """The insights that an operation says it rests on."""
        named: Any = obj.get("from") if isinstance(obj, Mapping) else None
        numbers = named if isinstance(named, list) else [named]
        valid = {one for one in numbers if isinstance(one, int) and not isinstance(one, bool) and 0 <= one < len(self.insights)}
        return [self.insights[number] for number in sorted(valid)]

    def _evidence(self, basis: Sequence[Insight]) -> tuple[Evidence, ...]:
        """The places of the insights; the run as a whole where the model did not say which."""
        places = dict.fromkeys(place for insight in basis for place in insight.evidence)
        return tuple(places)[: self.evidence_cap] or (Evidence(run=self.run),)
