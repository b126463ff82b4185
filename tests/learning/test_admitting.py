"""Learned lessons are held against what is there before they are admitted; what a person brings is not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest

from tenure import Add, Evidence, Outcome, Pin, Retire, Run, Step, Tally, Task, Tenure, Update, dumps
from tenure.learning.admitting import Proposed, admit_operations, join_known
from tenure.learning.learned import Learned
from tenure.learning.review import conflicts_in
from tenure.playbook.delta import Delta, Merge, Operation
from tenure.ports import Prompt
from tenure.testing import CountingIds, RuleModel, SteppingClock

LEARNED = "model:rule"


@pytest.fixture(params=["memory://", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: object) -> str:
    return str(request.param) if request.param != "sqlite" else f"sqlite:///{tmp_path}/book.db"


@pytest.fixture
def book(url: str) -> Iterator[Tenure]:
    with Tenure.open(url, scope="test", clock=SteppingClock(), ids=CountingIds()) as opened:
        yield opened


def joined(book: Tenure, *operations: Operation, run: str = "r9") -> Sequence[Operation]:
    """Put learned operations into the playbook the way the loop does; what became of them."""
    with book.store.writing(book.scope) as work:
        delta = book.ids.next(work.newest_delta_id())
        found = join_known(work, operations, delta=delta, run=run)
        work.admit(Delta(delta, found.operations, scope=work.scope, author=LEARNED, cause="run"))
    return found.operations


def learned(text: str, run: str = "r9", **rest: object) -> Add:
    return Add("s", text, author=LEARNED, status="provisional", evidence=(Evidence(run=run),), **rest)  # type: ignore[arg-type]


def test_what_a_lesson_says_already_becomes_support_for_it(book: Tenure) -> None:
    book.apply([Add("s", "Retry a failed call at most 3 times.", id="x-1", evidence=(Evidence(run="r1"),))])
    done = joined(book, learned("Please retry the failed call no more than three times."))
    assert done == (Tally("x-1", support=1, evidence=(Evidence(run="r9"),)),)
    (lesson,) = book.playbook.lessons
    assert (lesson.tallies.support, {place.run for place in lesson.evidence}) == (2, {"r1", "r9"})


def test_one_run_supports_a_lesson_once_however_often_it_says_the_same(book: Tenure) -> None:
    book.apply([Add("s", "Check the units before summing.", id="x-1", author=LEARNED)])
    said = (learned("Make sure to check the units before summing."), learned("Always check units before you sum."))
    joined(book, Tally("x-1", support=1, evidence=(Evidence(run="r9"),)), *said)
    joined(book, learned("Remember to check units before summing."))
    (lesson,) = book.playbook.lessons
    assert lesson.tallies.support == 1


def test_two_lessons_of_one_run_that_say_the_same_are_one(book: Tenure) -> None:
    places = (Evidence(run="r9", step=1), Evidence(run="r9", step=2))
    said = ("Check the units before summing.", "Make sure to check the units before summing.")
    joined(book, *(Add("s", text, author=LEARNED, evidence=(place,)) for text, place in zip(said, places, strict=True)))
    (lesson,) = book.playbook.lessons
    assert (lesson.text, {place.step for place in lesson.evidence}, lesson.tallies.support) == (said[0], {1, 2}, 1)


def test_a_text_that_says_more_stays_and_takes_in_the_other_with_its_evidence_and_counts(book: Tenure) -> None:
    book.apply([Add("s", "Check units before summing.", id="x-1", author=LEARNED, evidence=(Evidence(run="r1"),)), Tally("x-1", helpful=4)])
    joined(book, learned("Check units before summing. This prevents wrong totals."))
    (lesson,) = book.playbook.lessons
    assert lesson.text.endswith("This prevents wrong totals.")
    assert {place.run for place in lesson.evidence} == {"r1", "r9"}
    assert (lesson.tallies.helpful, lesson.tallies.support) == (4, 2)
    assert book.playbook.lesson("x-1") == lesson


@pytest.mark.parametrize("protection", [Add("s", "Check units before summing.", id="x-1", author="person:ann"), Pin("x-1")])
def test_what_is_pinned_or_a_persons_is_not_merged_into_what_was_learned(book: Tenure, protection: Operation) -> None:
    first = [protection] if isinstance(protection, Add) else [Add("s", "Check units before summing.", id="x-1", author=LEARNED), protection]
    book.apply(first)
    joined(book, learned("Check units before summing. This prevents wrong totals."))
    assert len(book.playbook.lessons) == 2


def test_support_does_not_go_to_a_lesson_that_the_same_delta_takes_away_or_rewrites(book: Tenure) -> None:
    for change in (Retire("x-1", "worse worded"), Update("x-1", text="Never retry.")):
        book.apply([Add("s", "Retry a failed call at most 3 times.", id="x-1", author=LEARNED)])
        done = joined(book, change, learned("Retry the failed call no more than 3 times."))
        assert isinstance(done[1], Add)
        assert any("no more than 3" in lesson.text for lesson in book.playbook.lessons)
        book.apply([Retire(lesson.id) for lesson in book.playbook.lessons])


def test_a_lesson_that_differs_in_a_fact_is_admitted_and_listed_for_review(book: Tenure) -> None:
    book.apply([Add("s", "Retry a failed call at most 3 times.", id="x-1")])
    with book.store.writing(book.scope) as work:
        delta = book.ids.next(work.newest_delta_id())
        found = join_known(work, [learned("Retry a failed call at most 5 times.")], delta=delta, run="r9")
        work.admit(Delta(delta, found.operations, scope=work.scope, author=LEARNED, cause="run"))
    (told,) = found.conflicts
    assert "'x-1'" in told
    assert "'5' against '3'" in told or "'3' against '5'" in told
    assert len(book.playbook.lessons) == 2
    with book.store.reading(book.scope) as reading:
        (conflict,) = conflicts_in(reading)
    assert "x-1" in conflict.ids
    assert conflict.ids[0] in told
    assert conflict.ids[1] in told


def test_what_waits_for_a_review_supports_nothing(book: Tenure) -> None:
    book.apply([Add("s", "Check the units.", id="x-1")])
    held = Add("s", "Please check units.", status="held", author=LEARNED, evidence=(Evidence(run="r9"),))
    assert joined(book, held) == (held,)
    assert book.playbook.lesson("x-1").tallies.support == 0  # type: ignore[union-attr]


def test_a_persons_own_lessons_are_joined_to_equal_texts_and_to_no_others(book: Tenure) -> None:
    book.apply([Add("s", "Check the units.", id="x-1")])
    book.apply([Add("s", "Please check the units."), Add("s", " Check the units. ")])
    assert sorted(lesson.text.strip() for lesson in book.playbook.lessons) == ["Check the units.", "Please check the units."]


def test_a_proposed_merge_of_lessons_that_differ_in_a_fact_waits_for_a_person(book: Tenure) -> None:
    book.apply([Add("s", f"Retry a failed call at most {count} times.", id=f"x-{count}", author=LEARNED) for count in (3, 5)])
    with book.store.reading(book.scope) as reading:
        found = admit_operations(reading, [Proposed(operation=Merge(("x-3",), "x-5"), basis="model", author=LEARNED)])
    assert found.passed == ()
    (wait,) = found.held
    assert "'3' against '5'" in wait.reason or "'5' against '3'" in wait.reason


# -- through the loop -------------------------------------------------------------------------------


def teaching(text: str) -> RuleModel:
    """A model that always draws the same lesson from a run."""

    def reply(prompt: Prompt) -> str:
        if prompt.purpose == "curate":
            return json.dumps({"operations": [{"op": "ADD", "section": "s", "text": text, "from": [0]}]})
        return json.dumps({"situation": "s", "root_cause": "c", "tags": [], "insights": [{"text": text, "steps": [0]}]})

    return RuleModel(reply)


def learn(url: str, text: str, run: str) -> Learned:
    with Tenure.open(url, scope="test", model=teaching(text)) as book:
        steps = (Step(kind="thought", content=f"I looked at {run}."),)
        return book.learn(Run(id=run, task=Task(text="sum the lines"), steps=steps, outcome=Outcome(success=True, signal="test")))


def test_a_run_that_teaches_what_is_known_says_so_and_is_one_delta(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/book.db"
    first = learn(url, "Check the units before summing.", "r1")
    second = learn(url, "Make sure to check the units before summing.", "r2")
    assert (first.added, second.added, second.merged) == (1, 0, 1)
    (receipt,) = second.receipts[:1]
    assert receipt.status == "merged"
    assert "says it already" in receipt.reason
    with Tenure.open(url, scope="test") as book:
        (lesson,) = book.playbook.lessons
        assert (lesson.tallies.support, lesson.status) == (2, "active")
        with book.store.reading(book.scope) as reading:
            assert f"{lesson.id} says it already" in reading.ledger()[0].delta.note or f"{lesson.id} says it already" in repr(
                reading.ledger()
            )
        before = dumps(book.playbook)
    assert learn(url, "Make sure to check the units before summing.", "r2").skipped == "already learned"
    with Tenure.open(url, scope="test") as book:
        assert dumps(book.playbook) == before


def test_a_run_that_contradicts_a_lesson_says_which_and_merges_nothing(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/book.db"
    learn(url, "Retry the call at most 3 times.", "r1")
    second = learn(url, "Retry the call at most 5 times.", "r2")
    assert (second.added, second.merged, len(second.conflicts)) == (1, 0, 1)


def test_a_large_scope_lists_the_conflicts_of_its_newest_lessons(book: Tenure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.learning.review.MOST_COMPARED", 2)
    book.apply([Add("s", "Retry a failed call at most 3 times.", id="x-1"), Add("s", "Ask before deleting.", id="x-2")])
    book.apply([Add("s", "Retry a failed call at most 5 times.", id="x-3"), Add("s", "Save before leaving.", id="x-4")])
    with book.store.reading(book.scope) as reading:
        assert [conflict.ids for conflict in conflicts_in(reading)] == [("x-1", "x-3")]
