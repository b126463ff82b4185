"""Backward revision in the loop: what a used lesson's failures lead to, with a model and without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tenure import Add, Lesson, Outcome, Run, Step, Task, Tenure, dumps, loads
from tenure.errors import ModelError
from tenure.learning.observing import Recollection, observations
from tenure.playbook.lessons import Evidence
from tenure.playbook.revision import Revision, read_revision
from tenure.ports import Prompt
from tenure.testing import CountingIds, RuleModel, SteppingClock

FAILED, PASSED = Outcome(success=False, signal="test"), Outcome(success=True, signal="test")
NAMES = "alpha beta gamma delta omega sigma kappa theta iota".split()
TEXT = "Put the smallest number first."


@pytest.fixture(params=["memory://", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: object) -> str:
    return request.param if request.param != "sqlite" else f"sqlite:///{tmp_path}/book.db"


@pytest.fixture
def book(url: str) -> Iterator[Tenure]:
    with Tenure.open(url, scope="test", clock=SteppingClock(), ids=CountingIds()) as opened:
        yield opened


def opened(url: str, model: RuleModel) -> Tenure:
    return Tenure.open(url, scope="test", clock=SteppingClock(), ids=CountingIds(), model=model)


def case(name: str, text: str, *, cited: tuple[str, ...] = (), outcome: Outcome = PASSED) -> Run:
    return Run(
        id=name,
        scope="local/test",
        task=Task(text=text),
        steps=(Step(kind="message", role="user", content=text),),
        cited=cited,
        outcome=outcome,
    )


def seeded(book: Tenure, *, author: str = "extractive", **more: Any) -> str:
    """A lesson from a source case, and its id."""
    book.learn(case("source", "sort prices ascending for source"))
    added = Add("order", TEXT, evidence=(Evidence(run="source"),), author=author, **more)
    return book.apply([added], author=author).receipts[0].id


def worked(book: Tenure, lesson: str, number: int) -> None:
    for place in range(number):
        book.learn(case(f"good{place}", f"sort prices ascending for {NAMES[place]}", cited=(lesson,)))


def failing(lesson: str, place: int = 0, outcome: Outcome = FAILED) -> Run:
    return case(f"bad{place}", f"rank scores descending for {NAMES[-1 - place]}", cited=(lesson,), outcome=outcome)


def lesson_of(book: Tenure, lesson_id: str) -> Lesson:
    found = book.playbook.lesson(lesson_id)
    assert found is not None
    return found


def revision_of(book: Tenure, lesson_id: str) -> Revision:
    found = read_revision(lesson_of(book, lesson_id).revision)
    assert found is not None
    return found


def answers(**revision: Any) -> RuleModel:
    """A model that reflects on nothing and answers a revision with these values."""
    said = {
        "verdict": "too general",
        "text": TEXT,
        "applies_when": "the task sorts prices ascending",
        "would_have_prevented": True,
    } | revision

    def rule(prompt: Prompt) -> str:
        return json.dumps(said) if prompt.purpose == "revise" else '{"insights": [], "tags": []}'

    return RuleModel(rule)


# -- by code -------------------------------------------------------------------------------------------


def test_a_used_lesson_that_helped_is_confirmed_by_code_once(book: Tenure) -> None:
    lesson = seeded(book)
    worked(book, lesson, 1)
    assert lesson_of(book, lesson).verdict == "confirmed"
    found = revision_of(book, lesson)
    assert (found.verdict, found.source, found.run, found.author) == ("confirmed", "source", "good0", "code")
    worked(book, lesson, 3)
    assert revision_of(book, lesson).run == "good0"


def test_the_plain_reviser_narrows_a_lesson_that_failed_where_its_cases_differ(book: Tenure) -> None:
    lesson = seeded(book)
    worked(book, lesson, 3)
    for place in range(4):
        learned = book.learn(failing(lesson, place))
        if learned.revised:
            break
    after, found = lesson_of(book, lesson), revision_of(book, lesson)
    assert after.text == TEXT
    assert after.applies_when == 'the task says "sort" and "prices"'
    assert (after.verdict, found.verdict, found.author, found.source) == ("too general", "too general", "extractive", "source")
    assert (found.grounded, found.leaked) == (1.0, 0.0)
    assert found.checks == ("its conditions do not hold in the run that failed", "its new conditions hold in all 4 kept cases it helped")
    words = set(f"{after.text} {after.applies_when}".lower().replace('"', " ").split())
    assert not words & {"rank", "scores", "descending", "biggest"}


def test_without_a_contrast_a_lesson_is_left_alone_and_it_is_said_why(book: Tenure) -> None:
    lesson = seeded(book)
    learned = book.learn(failing(lesson))
    assert learned.revised == 0
    assert "too few for a contrast" in learned.left[0]
    assert (lesson_of(book, lesson).applies_when, lesson_of(book, lesson).verdict) == ("", "")


def test_one_noisy_failure_revises_nothing(book: Tenure) -> None:
    lesson = seeded(book)
    worked(book, lesson, 4)
    learned = book.learn(failing(lesson, outcome=replace(FAILED, reliability=0.6)))
    assert learned.left == (f"lesson '{lesson}': 1 failure in 5 uses is not enough to revise it",)


def test_revision_can_be_switched_off(book: Tenure) -> None:
    book.set("revise.k", "0")
    lesson = seeded(book)
    assert book.learn(failing(lesson)).left == ()


def test_a_lesson_that_a_person_wrote_waits_for_a_person(book: Tenure) -> None:
    lesson = seeded(book, author="person:ann")
    worked(book, lesson, 4)
    held = sum(book.learn(failing(lesson, place)).held for place in range(4))
    assert held >= 1
    assert lesson_of(book, lesson).applies_when == ""
    with book.store.reading(book.scope) as reading:
        assert any(getattr(change.operation, "applies_when", None) for change in reading.held())


def test_a_revision_survives_export_and_rollback(book: Tenure) -> None:
    lesson = seeded(book)
    with book.store.reading(book.scope) as reading:
        before = reading.version()
    worked(book, lesson, 1)
    assert loads(dumps(book.playbook)).lesson(lesson) == lesson_of(book, lesson)
    book.rollback(before)
    assert lesson_of(book, lesson).revision == ""


# -- with a model --------------------------------------------------------------------------------------


def test_a_model_sees_the_source_and_the_run_and_its_words_are_held_to_the_source(url: str) -> None:
    model = answers(
        text=f"{TEXT} For scores, put the biggest first.", basis="The task says ascending.", steps=[0], why="it would have stayed away"
    )
    with opened(url, model) as book:
        lesson = seeded(book)
        learned = book.learn(failing(lesson))
        after, found = lesson_of(book, lesson), revision_of(book, lesson)
    assert learned.revised == 1
    assert (after.text, after.applies_when, after.verdict) == (TEXT, "the task sorts prices ascending", "too general")
    assert (found.grounded, found.leaked, found.dropped) == (0.6667, 0.3333, 1)
    assert (found.basis, found.source, found.run) == ("The task says ascending.", "source", "bad0")
    assert Evidence(run="source", step=0) in after.evidence


def test_calls_are_one_reflection_k_revisions_and_one_curation(url: str) -> None:
    asked: list[str] = []
    insight = {"text": "Ask for the order first.", "steps": [0], "applies_when": "sorting"}

    def rule(prompt: Prompt) -> str:
        asked.append(prompt.purpose)
        if prompt.purpose == "reflect":
            return json.dumps({"insights": [insight], "tags": []})
        return '{"verdict": "confirmed"}' if prompt.purpose == "revise" else '{"operations": []}'

    with opened(url, RuleModel(rule)) as book:
        book.set("revise.k", "2")
        book.set("learn.rounds", "1")
        lessons = [seeded(book)] + [book.apply([Add("s", f"rule {place}")]).receipts[0].id for place in range(3)]
        asked.clear()
        book.learn(replace(failing(lessons[0]), cited=tuple(lessons)))
    assert asked == ["reflect", "reflect", "revise", "revise", "curate"]


def test_the_forward_write_sees_the_revised_lessons(url: str) -> None:
    shown: list[str] = []

    def rule(prompt: Prompt) -> str:
        if prompt.purpose == "reflect":
            taught = {"text": "Put the biggest number first.", "steps": [0], "applies_when": "descending"}
            return json.dumps({"insights": [taught] if "rank scores" in prompt.user else [], "tags": []})
        if prompt.purpose == "revise":
            return json.dumps(
                {"verdict": "too general", "text": TEXT, "applies_when": "sorting prices ascending", "would_have_prevented": True}
            )
        shown.append(prompt.user)
        add = {"op": "ADD", "section": "order", "text": "Put the biggest number first.", "applies_when": "descending", "from": [0]}
        return json.dumps({"operations": [add]})

    with opened(url, RuleModel(rule)) as book:
        lesson = seeded(book)
        shown.clear()
        learned = book.learn(failing(lesson))
    assert "sorting prices ascending" in shown[0]
    assert (learned.revised, learned.added) == (1, 1)


@pytest.mark.parametrize("reply", ["{", '{"verdict": "maybe"}'])
def test_a_reply_that_cannot_be_used_is_kept_and_the_rest_goes_on(url: str, reply: str) -> None:
    def rule(prompt: Prompt) -> str:
        return reply if prompt.purpose == "revise" else '{"insights": [], "tags": []}'

    with opened(url, RuleModel(rule)) as book:
        lesson = seeded(book)
        learned = book.learn(failing(lesson))
        with book.store.reading(book.scope) as reading:
            (kept,) = reading.failed_replies()
    assert (kept.purpose, kept.run) == ("revise", "bad0")
    assert kept.reply == reply
    assert any("revise step failed" in problem for problem in learned.problems)
    assert learned.version is not None


def test_a_revision_for_which_the_provider_was_down_is_made_up_for_later(url: str) -> None:
    def rule(prompt: Prompt) -> str:
        if prompt.purpose == "revise":
            raise ModelError("the provider is down", calls=1)
        return '{"insights": [], "tags": []}'

    with opened(url, RuleModel(rule)) as book:
        lesson = seeded(book)
        learned = book.learn(failing(lesson))
        with book.store.reading(book.scope) as reading:
            assert [(one.run, one.limit, one.attempts) for one in reading.postponed()] == [("bad0", "model", 1)]
            assert not reading.failed_replies(), "there was no reply to keep"
    assert learned.postponed == "revise: the provider is down"


def test_new_words_that_would_not_have_prevented_the_failure_are_not_taken(url: str) -> None:
    model = answers(text="Put the smallest number first, always.", applies_when="", would_have_prevented=False)
    with opened(url, model) as book:
        lesson = seeded(book)
        learned = book.learn(failing(lesson))
        assert (learned.revised, lesson_of(book, lesson).text) == (0, TEXT)
    assert "would not have prevented" in learned.left[0]


def test_new_words_that_lose_a_case_it_helped_are_not_taken(url: str) -> None:
    model = answers(applies_when='the task says "source"')
    with opened(url, model) as book:
        lesson = seeded(book)
        worked(book, lesson, 1)
        learned = book.learn(failing(lesson))
        assert lesson_of(book, lesson).applies_when == ""
    assert "shut out 1 of 2 cases it helped, such as run good0" in learned.left[0]


def test_an_outdated_lesson_has_to_be_proven_again(url: str) -> None:
    with opened(url, answers(verdict="outdated", text="", applies_when="")) as book:
        lesson = seeded(book)
        book.learn(failing(lesson))
        after = lesson_of(book, lesson)
    assert (after.verdict, after.status, after.text) == ("outdated", "provisional", TEXT)


# -- evidence ------------------------------------------------------------------------------------------


def test_observations_are_read_back_run_by_run_with_their_exposure(book: Tenure) -> None:
    lesson = seeded(book)
    worked(book, lesson, 1)
    book.learn(failing(lesson, outcome=replace(FAILED, reliability=0.8)))
    book.learn(replace(case("quiet", "sort prices"), cited=(), withheld=(lesson,)))
    with book.store.reading(book.scope) as reading:
        seen = observations(reading, lesson_of(book, lesson))
    assert [(one.run, one.effect, one.exposure, one.reliability) for one in seen] == [
        ("quiet", "", "withheld", 1.0),
        ("bad0", "misled", "cited", 0.8),
        ("good0", "helped", "cited", 1.0),
    ]


def test_a_fact_that_flips_is_demoted_within_five_honest_failures_and_comes_back_when_it_holds_again(book: Tenure) -> None:
    book.set("revise.k", "0")
    lesson = seeded(book)
    for place in range(30):
        book.learn(case(f"good{place}", f"sort prices number {place}", cited=(lesson,)))
    states = []
    for place in range(8):
        book.learn(case(f"bad{place}", f"sort prices once more {place}", cited=(lesson,), outcome=FAILED))
        states.append(lesson_of(book, lesson).status)
    assert states == ["active"] * 4 + ["provisional"] * 3 + ["retired"]


def test_a_demoted_lesson_is_not_promoted_by_one_lucky_run(book: Tenure) -> None:
    book.set("revise.k", "0")
    lesson = seeded(book)
    for place in range(20):
        book.learn(case(f"good{place}", f"sort prices number {place}", cited=(lesson,)))
    for place in range(5):
        book.learn(case(f"bad{place}", f"sort prices once more {place}", cited=(lesson,), outcome=FAILED))
    states = []
    for place in range(4):
        book.learn(case(f"back{place}", f"sort prices again {place}", cited=(lesson,)))
        states.append(lesson_of(book, lesson).status)
    assert states == ["provisional", "provisional", "active", "active"]


def test_what_was_rolled_back_is_no_observation_any_more(book: Tenure) -> None:
    lesson = seeded(book)
    worked(book, lesson, 1)
    with book.store.reading(book.scope) as reading:
        before = reading.version()
    book.learn(failing(lesson))
    book.rollback(before)
    book.learn(failing(lesson, 1))
    with book.store.reading(book.scope) as reading:
        assert [one.run for one in observations(reading, lesson_of(book, lesson))] == ["bad1", "good0"]


def test_observations_kept_between_runs_are_those_read_afresh(book: Tenure) -> None:
    lesson = seeded(book)
    kept = Recollection()
    for place in range(6):
        book.learn(failing(lesson, place) if place % 3 == 2 else case(f"g{place}", "sort prices", cited=(lesson,)))
        with book.store.reading(book.scope) as reading:
            assert kept.observations(reading, lesson_of(book, lesson)) == observations(reading, lesson_of(book, lesson))


# -- the forward write ---------------------------------------------------------------------------------

ORDER, UPWARDS = "Put the biggest number first.", "the task sorts prices ascending"


def forward(*operations: dict[str, Any], asked: list[Prompt] | None = None) -> RuleModel:
    """A model that revises the used lesson and then writes these operations."""

    def rule(prompt: Prompt) -> str:
        if asked is not None:
            asked.append(prompt)
        if prompt.purpose == "reflect":
            taught = [{"text": one, "steps": [0], "applies_when": "descending"} for one in (ORDER, "Ask which order is wanted.")]
            return json.dumps({"insights": taught if "rank scores" in prompt.user else [], "tags": []})
        if prompt.purpose == "revise":
            return json.dumps({"verdict": "too general", "text": TEXT, "applies_when": UPWARDS, "would_have_prevented": True})
        return json.dumps({"operations": list(operations)})

    return RuleModel(rule)


def add(text: str, **more: Any) -> dict[str, Any]:
    return {"op": "ADD", "section": "order", "text": text, "from": [0], **more}


def test_a_run_costs_its_reflection_k_revisions_and_one_forward_write_that_is_shown_the_revised(url: str) -> None:
    asked: list[Prompt] = []
    with opened(url, forward(add(ORDER, applies_when="descending"), asked=asked)) as book:
        book.set("learn.rounds", "1")
        lesson = seeded(book)
        asked.clear()
        learned = book.learn(failing(lesson))
    assert [prompt.purpose for prompt in asked] == ["reflect", "reflect", "revise", "curate"]
    head, _, rest = asked[-1].user.partition("# Lessons that were revised because of this run, as they read now")
    revised, _, others = rest.partition("# The closest existing lessons")
    assert lesson in revised
    assert UPWARDS in revised
    assert lesson not in head + others, "it is shown once, and as it reads now"
    assert "At most 1 `ADD`" in others
    assert UPWARDS not in asked[0].user, "reflection came before the revision"
    assert (learned.revised, learned.added) == (1, 1)


def test_a_model_writes_one_new_lesson_from_a_run_unless_more_are_asked_for(url: str) -> None:
    both = (add(ORDER, applies_when="descending"), add("Ask which order is wanted.", **{"from": [1]}))
    with opened(url, forward(*both)) as book:
        lesson = seeded(book)
        assert book.learn(failing(lesson, 0)).added == 1
        book.set("learn.lessons_by_model", "0")
        assert book.learn(failing(lesson, 1)).added == 0
        book.set("learn.lessons_by_model", "2")
        assert book.learn(failing(lesson, 2)).added == 1, "the first is there already"


def test_a_new_lesson_does_not_say_again_what_a_revised_one_says_nor_change_it(url: str) -> None:
    lesson = ""

    def rule(prompt: Prompt) -> str:
        again = add(TEXT, applies_when=UPWARDS)
        update = {"op": "UPDATE", "id": lesson, "text": "Put any number first.", "from": [0]}
        return forward(again, update, add(ORDER, applies_when="descending")).complete(prompt).text

    with opened(url, RuleModel(rule)) as book:
        lesson = seeded(book)
        learned = book.learn(failing(lesson))
        assert (learned.revised, learned.added) == (1, 1)
        assert lesson_of(book, lesson).text == TEXT
        assert lesson_of(book, lesson).applies_when == UPWARDS
        assert sorted(one.text for one in book.playbook.lessons if one.live) == sorted([TEXT, ORDER])
