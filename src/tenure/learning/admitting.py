"""Which proposed operations pass, wait for a person, or are refused, with the reason; and which say what is there already.

Likeness short of equality is decided here, before `apply`, and only for what was learned: what a person
or an import brings is joined by `apply` to an equal text and to no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tenure.governance.admission import admit
from tenure.learning.corroborating import was_tainted
from tenure.learning.duplicates import conflicts_of, duplicate_of
from tenure.playbook.delta import Add, Merge, Observe, Operation, Retire, Tally, Update
from tenure.playbook.lessons import Lesson, lesson_id, normalised, section_name, text_digest
from tenure.playbook.likeness import compare, read
from tenure.playbook.records import group_key, root_of
from tenure.playbook.refine import learned
from tenure.ports import Reading
from tenure.roles.taint import UntrustedText


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """An operation before admission.

    Attributes:
        operation: what would be done.
        basis: whose words it is made of (see `roles.reflection.Insight`).
        author: who proposes it.
        why: why the words may be a stranger's, in a few words; empty if they are not, or if the basis says it.
    """

    operation: Operation
    basis: str
    author: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A proposed operation that was held or refused.

    Attributes:
        proposal: as it was proposed.
        reason: why, in a sentence.
        rule: of `governance.admission.RULES`; empty for a merge of lessons that differ in a fact.
    """

    proposal: Proposed
    reason: str
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What admission decided.

    Attributes:
        passed: for the delta; an ADD that has to wait is among them, with status `held`.
        held: other operations that have to wait, each with the reason.
        waiting: why an ADD has to wait, for those that do.
        refusals: operations that were refused, each with the reason.
        left: a sentence for each ADD that is left out because a person rejected the same text.
    """

    passed: tuple[Operation, ...]
    held: tuple[Wait, ...] = ()
    waiting: Mapping[Add, Wait] = field(default_factory=dict[Add, Wait])
    refusals: tuple[Wait, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def refused(self) -> tuple[str, ...]:
        """A sentence for each operation that was refused."""
        return tuple(f"refused a lesson by {one.proposal.author}: {one.reason}" for one in self.refusals)


def admit_operations(reading: Reading, proposals: Iterable[Proposed], *, trusted: bool = True) -> Admission:
    """Decide on learned operations, in their order.

    Args:
        reading: the playbook as it is.
        proposals: what a run proposes.
        trusted: whether the run's origin is. What another one says in the words of a held lesson waits with it.
    """
    passed: list[Operation] = []
    held: list[Wait] = []
    waiting: dict[Add, Wait] = {}
    refusals: list[Wait] = []
    left: list[str] = []
    for proposal in proposals:
        operation = proposal.operation
        decision = admit(operation, author_trusted=False, basis=proposal.basis, protected=_protected(reading, operation))
        there = _of_this_text(reading, operation) if isinstance(operation, Add) and decision.action != "refuse" else None
        if decision.action == "refuse":
            refusals.append(Wait(proposal=proposal, reason=decision.reason, rule=decision.rule))
        elif there is not None and there.status == "retired" and _was_rejected(reading, there):
            left.append(f"lesson '{there.id}' was rejected in review: the same text does not come back by itself")
        elif isinstance(operation, Add) and (
            decision.action == "hold" or (there is not None and there.status == "held" and not (trusted and was_tainted(reading, there)))
        ):
            waits = replace(operation, status="held")
            reason = decision.reason or f"it says what '{there.id if there is not None else ''}' says, which waits for a person"
            why = f" ({proposal.why})" if proposal.why else ""
            waiting[waits] = Wait(proposal=proposal, reason=f"{reason}{why}", rule=decision.rule or "untrusted-source")
            passed.append(waits)
        elif decision.action == "hold":
            why = f" ({proposal.why})" if proposal.why else ""
            held.append(Wait(proposal=proposal, reason=f"{decision.reason}{why}", rule=decision.rule))
        elif isinstance(operation, Merge) and (reason := _differing(reading, operation)):
            held.append(Wait(proposal=proposal, reason=reason))
        else:
            passed.append(operation)
    return Admission(passed=tuple(passed), held=tuple(held), waiting=waiting, refusals=tuple(refusals), left=tuple(left))


def _of_this_text(reading: Reading, add: Add) -> Lesson | None:
    """The lesson that an ADD would become one with, because its text is the same."""
    members = reading.group(group_key(section_name(add.section, add.kind or "strategy"), text_digest(add.text)))
    return reading.lesson(root_of(reading, members[0].key)) if members else None


def _was_rejected(reading: Reading, lesson: Lesson) -> bool:
    change = reading.held_change(lesson.id)
    return change is not None and change.state == "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Operations after a look at what the playbook says already.

    Attributes:
        operations: what goes into the delta.
        told: by place among the operations, why one is support for a lesson instead of an ADD.
        absorbed: how many lessons are none of their own any more without standing in `told`: those merged into
            a new one that says more, and ADDs that say what another of the same run does.
        conflicts: a sentence for each new lesson that is alike in wording to one that is there and differs in a
            fact. Both stay; the review list shows them.
    """

    operations: tuple[Operation, ...]
    told: Mapping[int, str]
    absorbed: int = 0
    conflicts: tuple[str, ...] = ()


def join_known(reading: Reading, operations: Sequence[Operation], *, delta: str, run: str) -> Joined:
    """Turn learned ADDs that say what a live lesson says into support for that lesson.

    Where the new text has all that the old one says and more, it is added and the old one merged into it, unless
    that is pinned or a person's. An equal text in the same section is left to `apply`, and one that waits for a
    review stands for itself. Lookups go through the store's index: cost does not follow the playbook.

    Args:
        reading: the playbook as it is.
        operations: admitted ones of one run.
        delta: id of the delta they will be in; new lessons get their ids from it.
        run: its id; a run supports a lesson once, however often it says the same.
    """
    changed = {one for operation in operations for one in _altered(operation)}
    supported = {operation.id for operation in operations if isinstance(operation, Tally) and operation.support > 0}
    done: list[Operation] = []
    told: dict[int, str] = {}
    conflicts: list[str] = []
    new: list[tuple[int, Lesson]] = []
    absorbed = 0
    for operation in operations:
        if not isinstance(operation, Add) or operation.status == "held" or not operation.text.strip():
            done.append(operation)
            continue
        section = section_name(operation.section, operation.kind or "strategy")
        lesson = _lesson(operation, section, lesson_id(delta, section, operation.text, 0))
        # Of one run: of two that say the same the first stays; one that says more stands for itself until refine.
        twin = next((place for place, one in new if (a := compare(one, lesson)).relation == "same" and a.keeps != lesson.id), None)
        if twin is not None:
            first = done[twin]
            assert isinstance(first, Add)
            places = tuple(dict.fromkeys((*first.evidence, *operation.evidence)))
            done[twin] = replace(first, evidence=places)
            absorbed += 1
            continue
        found = duplicate_of(lesson, reading, tasks=reading.tasks_of)
        there = found.lesson if found is not None else None
        if found is None or there is None or there.id in changed or _left_to_apply(there, lesson):
            conflicts += [
                f"'{lesson.id}' and '{other.lesson.id}': {other.likeness.reason}"
                for other in conflicts_of(lesson, reading)
                if other.lesson.id not in changed
            ]
            new.append((len(done), lesson))
            done.append(operation)
        elif found.likeness.keeps == lesson.id:
            new.append((len(done), lesson))
            done.append(operation)
            if learned(there) and not there.pinned:
                done.append(Merge((there.id,), lesson.id, reason=found.likeness.reason))
                changed.add(there.id)
                absorbed += 1
        else:
            again = there.id in supported or any(place.run == run for place in there.evidence)
            supported.add(there.id)
            told[len(done)] = f"'{there.id}' says it already: {found.likeness.reason}"
            done.append(Tally(there.id, support=0 if again else 1, evidence=operation.evidence))
    return Joined(operations=tuple(done), told=told, absorbed=absorbed, conflicts=tuple(conflicts))


def basis_of(operation: Operation, outside: UntrustedText | None, reading: Reading) -> tuple[str, str]:
    """Whose words a model's operation is made of, its own or perhaps a stranger's, and why a stranger's.

    The Curator is shown no insight that may be a stranger's, and its words are looked at all the same: it is a model.
    So is what it takes away: a page that says "forget the rule about refunds" needs no word in the playbook.
    """
    if outside is None:
        return "model", ""
    if isinstance(operation, Observe):
        # A key is what the run calls a thing, so it may be a stranger's word; it may not be a stranger's sentence.
        words = "\n".join((operation.section, operation.name, operation.key, operation.unit))
        return ("untrusted", "it repeats a stranger's sentence") if outside.is_repeated_in(words) else ("model", "")
    said = (getattr(operation, name, None) for name in ("text", "applies_when", "avoid"))
    why = outside.may_have_written("\n".join(text for text in said if text))
    if not why and outside.has_carrier and (gone := _takes_away(operation, reading)):
        why = f"it {gone}, and the run holds text of strangers, who could have asked for it"
    return ("untrusted", why) if why else ("model", "")


MOST_WORDS_LOST = 1 / 3
"""Share of a lesson's ordinary words that another text may lack and still be the same lesson, said otherwise."""


def _takes_away(operation: Operation, reading: Reading) -> str:
    """What an operation takes from the playbook, in words; empty if it only adds."""
    if isinstance(operation, Retire):
        return "takes a lesson out of use"
    if isinstance(operation, Update):
        lesson = reading.lesson(operation.id)
        if lesson is None or (operation.text is None and operation.applies_when is None):
            return ""
        if operation.applies_when is not None and normalised(operation.applies_when) != normalised(lesson.applies_when):
            return "changes when a lesson applies"
        return "takes words from a lesson" if operation.text is not None and _loses(lesson, lesson.with_text(operation.text)) else ""
    if isinstance(operation, Merge):
        into = reading.lesson(operation.into)
        others = [
            lesson for lesson in map(reading.lesson, operation.ids) if lesson is not None and into is not None and lesson.id != into.id
        ]
        if into is None or any(compare(into, other).relation != "same" for other in others):
            return "makes one of lessons that do not say the same"
        return "takes words from a lesson" if operation.text is not None and _loses(into, into.with_text(operation.text)) else ""
    return ""


def _loses(before: Lesson, after: Lesson) -> bool:
    """Whether a new text lacks a fact of the old one, or many of its words."""
    old, new = read(before), read(after)
    if any(
        Counter(old.facts(kind)) - Counter(new.facts(kind))
        for kind in ("number", "name", "negation", "comparison", "quantity", "condition")
    ):
        return True
    words = set(old.skeleton)
    return len(words - set(new.skeleton)) > MOST_WORDS_LOST * len(words)


def _protected(reading: Reading, operation: Operation) -> bool:
    """Whether an operation would change or remove what is pinned or what a person wrote."""
    if isinstance(operation, Merge):
        ids = [*operation.ids, *([operation.into] if operation.text is not None else [])]
    elif isinstance(operation, Retire) or (
        isinstance(operation, Update) and (operation.text is not None or operation.applies_when is not None)
    ):
        ids = [operation.id]
    else:
        return False
    lessons = [lesson for lesson in map(reading.lesson, ids) if lesson is not None]
    return any(lesson.pinned or lesson.author.startswith(("person", "import")) for lesson in lessons)


def _differing(reading: Reading, merge: Merge) -> str:
    """Why a proposed merge has to wait: of the lessons it would make one, two differ in a fact."""
    into = reading.lesson(merge.into)
    for other in map(reading.lesson, merge.ids) if into is not None else ():
        if into is not None and other is not None and other.id != into.id:
            said = compare(into, other)
            if said.relation == "conflict":
                return f"it would make one of '{into.id}' and '{other.id}': {said.reason}"
    return ""


def _altered(operation: Operation) -> Sequence[str]:
    """Lessons that an operation takes away or gives another text."""
    if isinstance(operation, Merge):
        return (*operation.ids, *([operation.into] if operation.text is not None else []))
    if isinstance(operation, Retire) or (isinstance(operation, Update) and (operation.text, operation.applies_when) != (None, None)):
        return (operation.id,)
    return ()


def _left_to_apply(there: Lesson, new: Lesson) -> bool:
    return there.section == new.section and normalised(there.text) == normalised(new.text)


def _lesson(add: Add, section: str, id_: str) -> Lesson:
    return Lesson(
        id=id_,
        section=section,
        kind=add.kind or "strategy",
        text=add.text,
        applies_when=add.applies_when,
        avoid=add.avoid,
        tool_order=tuple(add.tool_order),
        about=add.about,
        evidence=tuple(add.evidence),
        author=add.author,
    )
