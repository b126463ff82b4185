"""Grading by replay: which kept cases say of which lessons whether following them would have been right.

A new case grades the lessons whose conditions hold in it, used or not; a new lesson, or one with new words, is graded on
the kept cases that its conditions hold in. Both are bounded: `MOST_LESSONS` by a case, `MOST_CASES` by a lesson. What
grades a case is a check that a user registered (`ports.Replay`), else its label held against the answer that the lesson
states. Only labels of honest signals and trusted origins count. All is written in the transaction that learns the run.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tenure.playbook.delta import Add, Operation
from tenure.playbook.fields import Shapes, clauses_of, fields_of, shapes_of
from tenure.playbook.graded import Labelled
from tenure.playbook.grading import MOST_GRADES, UNGRADED, Filter, Grade, Noise, read_grades
from tenure.playbook.lessons import Lesson
from tenure.playbook.run import HONEST_SIGNALS, Run
from tenure.ports import Reading, Replay, Writing
from tenure.roles.answers import Labels, applies
from tenure.roles.narrow import narrow_by_replay

MOST_LESSONS = 40
"""Lessons that one case grades at most, beside those it used: those that its task resembles most."""

MOST_CASES = 60
"""Kept cases that one new lesson is graded on at most: those that resemble its conditions most."""

MOST_CAUGHT_UP = 3
"""Lessons that one case finds without a grade, and that are graded on earlier cases too."""

CASES_READ = 2_000
"""Newest labelled cases that say which fields matter and which answers there are; twice as many are held at most."""

MOST_LOOKED_UP = 60_000
"""Sets of fields with values that are held of a scope: of 1,400 cases with 6 fields, of 200 with 12."""

SCOPES_KEPT = 64


class Replaying:
    """Grades lessons of a store's scopes. Safe to share between threads.

    Args:
        check: a user's own; none leaves labels.
    """

    def __init__(self, check: Replay | None = None) -> None:
        self.check = check
        self._lock = threading.Lock()
        self._scopes: OrderedDict[str, _Cases] = OrderedDict()

    def grade_case(self, work: Writing, run: Run, used: Sequence[Lesson]) -> tuple[Lesson, ...]:
        """Grade the lessons whose conditions hold in a run that was just kept.

        Args:
            work: the transaction that keeps it.
            run: the run.
            used: lessons that it was shown or cited.

        Returns:
            The lessons that were graded, as they stand.
        """
        if not self._can_grade(run):
            return ()
        found = {hit.lesson.id: hit.lesson for hit in work.search(run.task.text, limit=MOST_LESSONS) if hit.scope == work.scope}
        found.update((lesson.id, lesson) for lesson in used if lesson.live)
        place = work.place_of(run.id) or 0
        labels = self._labels(work)
        grades = [
            grade
            for lesson in found.values()
            if (grade := self._grade(lesson, run, place, labels, cited=lesson.id in run.cited)) is not None
        ]
        graded = {grade.lesson for grade in grades}
        known = set(work.beliefs(list(graded)))
        keep_grades(work, grades)
        # Written by hand or imported: the kept cases say of it what they would have said of one that was learned.
        self.grade_lessons(work, [lesson for one, lesson in sorted(found.items()) if one in graded - known][:MOST_CAUGHT_UP])
        return tuple(lesson for one, lesson in sorted(found.items()) if one in graded)

    def grade_lessons(self, work: Writing, lessons: Iterable[Lesson]) -> None:
        """Grade lessons on the kept cases that their conditions hold in; grades of other words they had go.

        Args:
            work: the transaction that wrote them.
            lessons: new ones, and those that read otherwise than before.
        """
        known: _Cases | None = None
        for lesson in lessons:
            if any(grade.wording != wording_of(lesson) for grade in work.grades([lesson.id])):
                drop_grades_of(work, [lesson.id])
            known = known or self._cases(work)
            if lesson.live and (known.labelled or self.check is not None):
                keep_grades(work, [grade for grade in self._grades_of(work, lesson, known) if grade is not None])

    def _grades_of(self, work: Writing, lesson: Lesson, known: _Cases) -> Iterator[Grade | None]:
        """What kept cases say of a lesson: those it came from, then those that resemble its conditions most."""
        sources = dict.fromkeys(place.run for place in lesson.evidence)
        like = (case.run for case in work.cases_like(f"{lesson.applies_when} {lesson.text}", limit=MOST_CASES))
        ids = [one for one in dict.fromkeys([*sources, *like]) if one in known.labelled or self.check is not None]
        # Where a label is held against conditions of fields, the steps of a run say nothing, and need not be read.
        brief = self.check is None and bool(clauses_of(lesson.applies_when))
        labels = known.labels()
        for one in ids[:MOST_CASES]:
            case = known.labelled[one].as_run() if brief else work.run(one)
            if case is not None and self._can_grade(case):
                cited = case.id in sources or lesson.id in case.cited
                place = known.labelled[one].place if one in known.labelled else work.place_of(one) or 0
                yield self._grade(lesson, case, place, labels, cited=cited)

    def reshaped(self, reading: Reading, operation: Operation, run: Run) -> Operation:
        """A new lesson with the conditions that replay finds in its source case; as it is where replay has nothing to say.

        Args:
            reading: the scope, with the run.
            operation: what a model proposes.
            run: the lesson's source case.
        """
        if not isinstance(operation, Add) or not operation.applies_when or not fields_of(run.task.text) or fields_of(operation.text):
            return operation
        found = narrow_by_replay(operation.applies_when, run.task.text, self.shapes(reading)).condition
        return replace(operation, applies_when=found) if found else operation

    def shapes(self, reading: Reading) -> Shapes:
        """What the scope's labelled cases say of the fields of their tasks."""
        return self._cases(reading).shapes()

    def judge_in(self, reading: Reading) -> Callable[[Lesson, Run], bool | None]:
        """A function that says whether following a lesson would have been right in a case; none if nothing can tell.

        It can be asked after the look at the scope is over.
        """
        labels = self._labels(reading)
        return lambda lesson, case: self._judged(lesson, case, labels)[0] if self._can_grade(case) else None

    def _can_grade(self, run: Run) -> bool:
        labelled = bool(run.outcome.expected) and run.outcome.signal in HONEST_SIGNALS and run.origin.trusted
        return labelled or self.check is not None

    def _judged(self, lesson: Lesson, case: Run, labels: Labels) -> tuple[bool | None, str]:
        if self.check is not None:
            said = self.check.would_be_right(lesson, case)
            if said is not None:
                return bool(said), self.check.name
        if case.outcome.signal in HONEST_SIGNALS and case.origin.trusted:
            return labels.would_be_right(lesson, case), labels.name
        return None, ""

    def _grade(self, lesson: Lesson, case: Run, place: int, labels: Labels, *, cited: bool) -> Grade | None:
        fits = applies(lesson, case)
        # A lesson whose conditions cannot be told from a case speaks of those that named it, or that it came from.
        if fits is False or (fits is None and not cited and self.check is None):
            return None
        right, source = self._judged(lesson, case, labels)
        if right is None:
            return None
        reliability = (case.outcome.reliability or 0.0) if source == labels.name else 1.0
        return Grade(
            lesson=lesson.id, run=case.id, right=right, place=place, reliability=reliability, source=source, wording=wording_of(lesson)
        )

    def _labels(self, reading: Reading) -> Labels:
        return self._cases(reading).labels()

    def _cases(self, reading: Reading) -> _Cases:
        with self._lock:
            held = self._scopes.pop(reading.scope, None)
            if held is None or not held.still_true(reading):
                held = _Cases()
            held.catch_up(reading)
            self._scopes[reading.scope] = held
            while len(self._scopes) > SCOPES_KEPT:
                self._scopes.popitem(last=False)
            return held


class _Cases:
    """A copy of what a scope's labelled cases say, and no more: it can be thrown away at any time."""

    def __init__(self) -> None:
        self.labelled: dict[str, Labelled] = {}
        self._shapes, self._folded = Shapes(), 0
        self._waiting: list[Labelled] = []
        self._answers: dict[str, None] = {}
        self._last: Labelled | None = None
        self._labels = Labels(())

    def still_true(self, reading: Reading) -> bool:
        """Whether the newest case it read is still there: what a failed transaction had kept is not. And whether it is not too large."""
        there = self._last is None or reading.place_of(self._last.run) == self._last.place
        return there and len(self.labelled) < 2 * CASES_READ and self._folded < 2 * MOST_LOOKED_UP

    def catch_up(self, reading: Reading) -> None:
        """Read the cases that came since."""
        fresh = False
        for case in reading.labelled(after=self._last.place if self._last is not None else 0, limit=CASES_READ):
            self._last = case
            if not case.counts:
                continue
            fresh = fresh or case.answer not in self._answers
            self._answers[case.answer] = None
            self.labelled[case.run] = case
            self._waiting.append(case)
        if fresh:
            self._labels = Labels(tuple(self._answers))

    def shapes(self) -> Shapes:
        """What they say of fields; worked out when it is first asked for, of the newest ones where there are many fields."""
        sizes = [shapes_of(fields_of(case.text)) for case in self._waiting]
        while sum(sizes) > MOST_LOOKED_UP:
            self._waiting, sizes = self._waiting[len(sizes) // 2 :], sizes[len(sizes) // 2 :]
        for case, size in zip(self._waiting, sizes, strict=True):
            if size:
                self._shapes.add(fields_of(case.text), case.answer)
        self._folded += sum(sizes)
        self._waiting = []
        return self._shapes

    def labels(self) -> Labels:
        """The built-in check, by the answers known so far."""
        return self._labels


def wording_of(lesson: Lesson) -> str:
    """Short digest of what of a lesson is graded: its text and its conditions."""
    said = f"{lesson.text}\x1f{lesson.applies_when}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def keep_grades(work: Writing, grades: Sequence[Grade]) -> None:
    """Keep grades, and what they and those before them amount to."""
    new: defaultdict[str, list[Grade]] = defaultdict(list)
    for grade in grades:
        new[grade.lesson].append(grade)
    if not new:
        return
    before: defaultdict[str, dict[str, Grade]] = defaultdict(dict)
    held = work.grades(list(new))
    stale = {grade.lesson for grade in held if grade.wording != new[grade.lesson][0].wording}
    if stale:  # a person gave it other words
        drop_grades_of(work, sorted(stale))
    for grade in held:
        if grade.lesson not in stale:
            before[grade.lesson][grade.run] = grade
    noise, filters = noise_in(work), dict[str, Filter]()
    for lesson, some in new.items():
        was = read_grades(before[lesson].values())
        filters[lesson] = _read_on(was, before[lesson], some)
        noise = noise.changed(was, filters[lesson])
    work.put_grades(grades)
    work.keep_noise(noise.evidence)
    work.put_beliefs({lesson: found.belief_in(noise) for lesson, found in filters.items()})


def _read_on(was: Filter, before: Mapping[str, Grade], new: Sequence[Grade]) -> Filter:
    """The filter with new grades; those that come after all others go on from where it stood."""
    last = max((grade.place for grade in before.values()), default=0)
    if len(new) == 1 and new[0].place > last and len(before) < MOST_GRADES:
        return was.after(new[0].right, new[0].reliability)
    return read_grades({**before, **{grade.run: grade for grade in new}}.values())


def drop_grades_of(work: Writing, lessons: Sequence[str]) -> None:
    """Remove all grades of lessons, and what they said of the scope's labels."""
    mine: defaultdict[str, list[Grade]] = defaultdict(list)
    for grade in work.grades(lessons):
        mine[grade.lesson].append(grade)
    noise = noise_in(work)
    for grades in mine.values():
        noise = noise.changed(read_grades(grades), UNGRADED)
    work.drop_grades(lessons=lessons)
    work.keep_noise(noise.evidence)


def forget_grades_by(work: Writing, runs: Sequence[str]) -> None:
    """Remove what runs said of lessons, and say anew what is left amounts to; for when runs are forgotten or revoked."""
    gone = set(runs)
    every: defaultdict[str, list[Grade]] = defaultdict(list)
    for grade in work.grades(work.graded_by(runs)):
        every[grade.lesson].append(grade)
    noise, left = noise_in(work), dict[str, Filter]()
    for lesson, grades in every.items():
        rest = [grade for grade in grades if grade.run not in gone]
        if len(rest) < len(grades):
            left[lesson] = read_grades(rest)
            noise = noise.changed(read_grades(grades), left[lesson])
    work.drop_grades(runs=runs, lessons=[lesson for lesson, found in left.items() if not found.graded])
    work.keep_noise(noise.evidence)
    work.put_beliefs({lesson: found.belief_in(noise) for lesson, found in left.items() if found.graded})


def noise_in(reading: Reading) -> Noise:
    """What the grades of a scope say of its labels so far."""
    evidence = tuple(reading.noise())
    return Noise(evidence) if len(evidence) == len(Noise().evidence) else Noise()
