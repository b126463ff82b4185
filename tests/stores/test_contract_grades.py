"""Laws of every store: labelled cases in their order, grades that replace, go and come back as they were kept."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.learning.replay import forget_grades_by
from tenure.playbook.delta import Delta
from tenure.playbook.grading import Belief, Grade
from tenure.playbook.run import Draw, Origin, Outcome, Run, Task
from tenure.ports import Store
from tests.stores.contract import fresh_scope, full_texts

grades = st.builds(
    Grade,
    lesson=st.sampled_from(["a-1", "b-1"]),
    run=st.sampled_from(["r1", "r2", "r3"]),
    right=st.booleans(),
    place=st.integers(1, 5),
    reliability=st.floats(0, 1),
    source=st.sampled_from(["label", "test suite"]),
    wording=st.sampled_from(["", "w1"]),
)


def labelled(number: int, answer: str, **more: object) -> Run:
    outcome = Outcome(success=False, signal="label", expected=answer)
    return Run(id=f"r{number}", task=Task(text=f"task {number}"), outcome=outcome, **more)  # type: ignore[arg-type]


@given(kept=st.lists(st.lists(grades, max_size=4), max_size=4))
@settings(max_examples=40)
def test_of_grades_of_the_same_lesson_and_case_the_last_one_counts(store: Store, kept: list[list[Grade]]) -> None:
    scope = fresh_scope()
    every: dict[tuple[str, str], Grade] = {}
    for some in kept:
        with store.writing(scope) as work:
            work.put_grades(some)
        every.update({(one.lesson, one.run): one for one in some})
    with store.reading(scope) as look:
        found = list(look.grades(["a-1", "b-1", "no such"]))
        assert found == sorted(every.values(), key=lambda one: (one.place, one.run, one.lesson))
        assert list(look.grades(["b-1"])) == [one for one in found if one.lesson == "b-1"]
        assert look.grades([]) == []


def test_grades_go_with_their_lesson_or_with_their_run_and_never_with_others(store: Store) -> None:
    scope, other = fresh_scope(), fresh_scope()
    every = [Grade(lesson=lesson, run=run, right=True) for lesson in ("a-1", "b-1") for run in ("r1", "r2")]
    for one in (scope, other):
        with store.writing(one) as work:
            work.put_grades(every)
            work.put_beliefs({"a-1": Belief(value=0.1 + 0.2, right=2, wrong=0), "b-1": Belief(value=1.0, right=2, wrong=0)})
            work.keep_noise([0.1, -3.5])
    with store.writing(scope) as work:
        work.drop_grades(lessons=["a-1"])
        work.drop_grades(runs=["r2", "no such"])
    with store.reading(scope) as look:
        assert look.grades(["a-1", "b-1"]) == [Grade(lesson="b-1", run="r1", right=True)]
        assert look.beliefs(["a-1", "b-1"]) == {"b-1": Belief(value=1.0, right=2, wrong=0)}
        assert tuple(look.noise()) == (0.1, -3.5)
    with store.writing(scope) as work:
        work.put_beliefs({"b-1": Belief(value=0.25, right=1, wrong=3)})
        work.keep_noise([])
        assert look_values(work) == (0.25, ())
    with store.reading(other) as look:
        assert len(look.grades(["a-1", "b-1"])) == 4
        assert look.beliefs(["a-1"])["a-1"].value == 0.1 + 0.2


def look_values(look: object) -> tuple[float, tuple[float, ...]]:
    return look.beliefs(["b-1"])["b-1"].value, tuple(look.noise())  # type: ignore[attr-defined]


@given(answers=st.lists(full_texts, min_size=1, max_size=5))
@settings(max_examples=25)
def test_labelled_cases_come_in_the_order_of_arrival_and_keep_their_label_as_it_was(store: Store, answers: list[str]) -> None:
    scope = fresh_scope()
    for number, answer in enumerate(answers):
        with store.writing(scope) as work:
            work.keep_run(labelled(number, answer), learned=False)
            work.keep_run(Run(id=f"plain{number}", task=Task(text="no label")), learned=False)
    with store.reading(scope) as look:
        found = look.labelled(limit=10)
        assert look.labels_of([one.run for one in found] + ["plain0", "no such"]) == {one.run: one for one in found}
        assert look.labels_of([]) == {}
        assert [(one.run, one.text, one.answer, one.counts) for one in found] == [
            (f"r{number}", f"task {number}", answer, True) for number, answer in enumerate(answers)
        ]
        assert [one.place for one in found] == [look.place_of(one.run) for one in found]
        assert list(look.labelled(limit=2)) == list(found)[-2:]
        assert list(look.labelled(after=found[0].place, limit=10)) == list(found)[1:]
        assert look.place_of("no such") is None


def test_a_label_counts_only_from_an_honest_signal_and_a_trusted_origin_and_is_corrected_by_a_later_report(store: Store) -> None:
    scope = fresh_scope()
    stranger = labelled(1, "a", origin=Origin(channel="web", trusted=False))
    judged = replace(labelled(2, "a"), outcome=Outcome(success=True, signal="judge", expected="a"))
    with store.writing(scope) as work:
        for run in (stranger, judged, labelled(3, "a")):
            work.keep_run(run, learned=False)
        work.keep_run(labelled(3, "b"), learned=True)
    with store.reading(scope) as look:
        assert [(one.run, one.answer, one.counts) for one in look.labelled(limit=9)] == [
            ("r1", "a", False),
            ("r2", "a", False),
            ("r3", "b", True),
        ]


def test_a_transaction_that_fails_leaves_no_grade(store: Store) -> None:
    scope = fresh_scope()
    try:
        with store.writing(scope) as work:
            work.put_grades([Grade(lesson="a-1", run="r1", right=True)])
            work.put_beliefs({"a-1": Belief(value=1.0, right=1, wrong=0)})
            work.keep_noise([1.0])
            raise RuntimeError("stop")
    except RuntimeError:
        pass
    with store.reading(scope) as look:
        assert (list(look.grades(["a-1"])), dict(look.beliefs(["a-1"])), tuple(look.noise())) == ([], {}, ())


def test_a_revoked_case_labels_and_grades_nothing_and_a_forgotten_one_never_again(store: Store) -> None:
    scope = fresh_scope()
    draws = (Draw(lesson="a-1", text="digest", reason="holdout", chance=0.1, withheld=True),)
    with store.writing(scope) as work:
        for number in (1, 2):
            work.keep_run(labelled(number, f"answer {number}", draws=draws), learned=True)
        work.put_grades([Grade(lesson="a-1", run=run, right=True) for run in ("r1", "r2")])
        assert work.graded_by(["r2", "no such"]) == ["a-1"]

    def seen() -> tuple[list[str], list[int], list[str]]:
        with store.reading(scope) as look:
            runs = [one.run for one in look.labelled(limit=10)]
            return runs, [one.runs for one in look.draw_counts()], [one.run for one in look.grades(["a-1"])]

    assert seen() == (["r1", "r2"], [2], ["r1", "r2"])
    with store.writing(scope) as work:
        forget_grades_by(work, ["r2"])
        work.revoke_runs(["r2"], revoked=True)
    assert seen() == (["r1"], [1], ["r1"])
    with store.writing(scope) as work:
        work.revoke_runs(["r2"], revoked=False)
    assert seen()[:2] == (["r1", "r2"], [2])
    with store.writing(scope) as work:
        forget_grades_by(work, ["r1"])
        work.drop_runs(["r1"])
    assert seen() == (["r2"], [1], [])
    with store.writing(scope) as work:
        work.empty(Delta("01J0000000000000000000000Z", (), scope=scope, author="person:x", cause="forget"))
    assert seen() == ([], [], [])
