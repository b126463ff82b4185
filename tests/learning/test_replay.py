"""Grading by replay: kept cases grade lessons, grades move them before live counts do, and go with the run they came from."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from tenure import Add, Lesson, Run, Tenure, Update
from tenure.learning.replay import MOST_CASES, forget_grades_by, noise_in, wording_of
from tenure.playbook.grading import Noise, read_grades
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Origin, Outcome, Task
from tenure.ports import Replay
from tenure.testing import RuleModel

CODE = "Use the tax code {}"


def case(number: int, answer: str, *, country: str = "DE", sort: str = "books", cited: tuple[str, ...] = (), signal: str = "label") -> Run:
    text = f"country={country}, sort={sort}, clerk=c{number % 3}"
    outcome = Outcome(success=True, signal=signal, expected=answer)  # type: ignore[arg-type]
    return Run(id=f"run-{number:03d}", task=Task(text=text), cited=cited, shown=cited, outcome=outcome)


@pytest.fixture
def book() -> Tenure:
    made = Tenure.open("memory://", scope="local/tax", embedder="none")
    made.learn(Run(id="first", task=Task(text="country=FR, sort=wine"), outcome=Outcome(success=True, signal="label", expected="V19")))
    return made


def teach(book: Tenure, answer: str, when: str, author: str = "model:m") -> str:
    made = Add("codes", CODE.format(answer), applies_when=when, status="provisional", author=author)
    return book.apply([made], author=author).receipts[0].id


def lesson(book: Tenure, one: str) -> Lesson:
    found = book.playbook.lesson(one)
    assert found is not None
    return found


def graded(book: Tenure, one: str) -> tuple[int, int]:
    with book.store.reading(book.scope) as look:
        belief = look.beliefs([one]).get(one)
    return (belief.right, belief.wrong) if belief is not None else (0, 0)


def test_a_lesson_nobody_used_is_graded_on_each_case_its_conditions_hold_in(book: Tenure) -> None:
    right, wrong = teach(book, "V7", "country=DE and sort=books"), teach(book, "V19", "country=DE and sort=books")
    other = book.apply([Add("codes", "In Austria take V7", applies_when="country=AT", author="model:m")]).receipts[0].id
    for number in range(3):
        book.learn(case(number, "V7"))
    book.learn(case(3, "V19", sort="wine"))
    assert (graded(book, right), graded(book, wrong), graded(book, other)) == ((3, 0), (0, 3), (0, 0))
    assert lesson(book, right).status == "active", "proven on kept cases, though no run was shown it"
    assert lesson(book, right).tallies.helpful == 0, "grades stand apart from live counts"
    assert lesson(book, wrong).status == "retired"


def test_a_rule_that_flips_is_demoted_by_its_grades_within_a_few_honest_failures(book: Tenure) -> None:
    one = teach(book, "V7", "country=DE and sort=books")
    for number in range(30):
        book.learn(case(number, "V7"))
    stood = []
    for number in range(30, 36):
        book.learn(case(number, "V19"))
        stood.append(lesson(book, one).status)
    assert stood[1] == "provisional", stood
    assert "retired" in stood[:5], stood


def test_a_proven_rule_survives_labels_that_lie_now_and_then(book: Tenure) -> None:
    one = teach(book, "V7", "country=DE and sort=books")
    for number in range(60):
        book.learn(case(number, "V19" if number % 5 == 4 else "V7"))
        assert number < 20 or lesson(book, one).status == "active", f"case {number}"
    with book.store.reading(book.scope) as look:
        assert 0.1 < noise_in(look).rate < 0.35


def test_grades_go_before_live_counts(book: Tenure) -> None:
    one = teach(book, "V7", "country=DE and sort=books")
    for number in range(4):
        book.learn(case(number, "V7"))
    failed = Outcome(success=False, signal="environment")
    for number in range(4, 12):  # runs that cite it and fail for reasons of their own, without a label
        book.learn(Run(id=f"run-{number:03d}", task=Task(text="country=DE, sort=books"), shown=(one,), cited=(one,), outcome=failed))
    assert lesson(book, one).tallies.harmful == 8
    assert lesson(book, one).status == "active"


@pytest.mark.parametrize(
    "strange", [Outcome(success=True, signal="judge", expected="V19"), Outcome(success=True, signal="self", expected="V19")]
)
def test_labels_of_a_judge_or_of_the_model_itself_grade_nothing(book: Tenure, strange: Outcome) -> None:
    one = teach(book, "V7", "country=DE and sort=books")
    for number in range(5):
        book.learn(Run(id=f"run-{number}", task=Task(text="country=DE, sort=books"), outcome=strange))
    assert graded(book, one) == (0, 0)


def test_labels_of_an_untrusted_origin_grade_nothing(book: Tenure) -> None:
    one = teach(book, "V7", "country=DE and sort=books")
    outcome = Outcome(success=True, signal="label", expected="V19")
    for number in range(5):
        stranger = Origin(principal=f"p{number}", channel="web", trusted=False)
        book.learn(Run(id=f"run-{number}", task=Task(text="country=DE, sort=books"), outcome=outcome, origin=stranger))
    assert graded(book, one) == (0, 0)


def test_a_lesson_with_new_words_is_graded_anew(book: Tenure) -> None:
    one = teach(book, "V19", "country=DE and sort=books")
    for number in range(2):
        book.learn(case(number, "V7"))
    assert graded(book, one) == (0, 2)
    book.apply([Update(one, text=CODE.format("V7"))])
    book.learn(case(2, "V7"))
    assert graded(book, one)[1] == 0
    with book.store.reading(book.scope) as look:
        assert {grade.wording for grade in look.grades([one])} == {wording_of(lesson(book, one))}
        assert look.noise() == pytest.approx(read_grades(look.grades([one])).evidence)


def test_what_a_run_said_goes_with_the_run_as_if_it_had_never_been(book: Tenure) -> None:
    one = teach(book, "V7", "country=DE and sort=books")
    for number in range(6):
        book.learn(case(number, "V19" if number == 4 else "V7"))
    with book.store.writing(book.scope) as work:
        forget_grades_by(work, ["run-004"])
        left = work.grades([one])
        assert [grade.run for grade in left] == [f"run-00{number}" for number in (0, 1, 2, 3, 5)]
        assert work.beliefs([one])[one] == read_grades(left).belief_in(noise_in(work))
        assert noise_in(work).evidence == pytest.approx(read_grades(left).evidence)
        forget_grades_by(work, [grade.run for grade in left])
        assert (work.grades([one]), work.beliefs([one])) == ([], {})
        assert noise_in(work).evidence == pytest.approx(Noise().evidence)


def test_a_lesson_without_conditions_is_graded_only_by_cases_that_named_it(book: Tenure) -> None:
    one = teach(book, "V7", "")
    book.learn(case(0, "V7"))
    assert graded(book, one) == (0, 0)
    book.learn(case(1, "V19", cited=(one,)))
    assert graded(book, one) == (0, 1)


def test_the_order_in_which_the_same_cases_grade_is_that_of_their_arrival_and_learning_one_again_adds_nothing(book: Tenure) -> None:
    one = teach(book, "V7", "country=DE and sort=books")
    for number in (3, 1, 2):
        book.learn(case(number, "V7"))
    book.learn(case(1, "V7"))
    with book.store.reading(book.scope) as look:
        assert [grade.run for grade in look.grades([one])] == ["run-003", "run-001", "run-002"]


@dataclass
class Longest:
    """A check of a user's own: a lesson is right where its text names the task's kind."""

    asked: int = 0
    name: str = "kind check"

    def would_be_right(self, lesson: Lesson, case: Run) -> bool | None:
        self.asked += 1
        return case.task.kind in lesson.text if case.task.kind else None


def test_a_check_of_a_users_own_grades_cases_without_labels(book: Tenure) -> None:
    check = Longest()
    assert isinstance(check, Replay)
    book.replay = check
    one = book.apply([Add("s", "sort the parcels by refund date", status="provisional", author="model:m")]).receipts[0].id
    for number in range(3):
        book.learn(Run(id=f"r{number}", task=Task(text="sort the parcels", kind="refund"), outcome=Outcome(success=True, signal="test")))
    assert graded(book, one) == (3, 0)
    with book.store.reading(book.scope) as look:
        assert {grade.source for grade in look.grades([one])} == {"kind check"}
    assert lesson(book, one).status == "active"
    book.replay = None
    assert book.learner.replaying.check is None


def test_a_new_lesson_is_graded_on_a_bounded_number_of_kept_cases(book: Tenure) -> None:
    for number in range(MOST_CASES + 20):
        book.learn(case(number, "V7"))
    one = teach(book, "V7", "country=DE and sort=books")
    with book.store.writing(book.scope) as work:
        book.learner.replaying.grade_lessons(work, [lesson(book, one)])
        assert 10 < len(work.grades([one])) <= MOST_CASES


def test_a_too_wide_lesson_is_narrowed_to_the_fields_of_its_source_that_decide_on_kept_cases(book: Tenure) -> None:
    answers = {("DE", "books"): "V7", ("DE", "wine"): "V19", ("AT", "books"): "V10", ("AT", "wine"): "V13"}
    places = list(answers) * 8
    for number, (country, sort) in enumerate(places):
        book.learn(case(number, answers[country, sort], country=country, sort=sort))
    made = Add(
        "codes", CODE.format("V7"), applies_when="country=DE", status="provisional", author="model:m", evidence=(Evidence(run="run-000"),)
    )
    one = book.apply([made], author="model:m").receipts[0].id
    failed = Outcome(success=False, signal="label", expected="V19")
    told = book.learn(Run(id="run-900", task=Task(text="country=DE, sort=wine, clerk=c1"), shown=(one,), cited=(one,), outcome=failed))
    after = lesson(book, one)
    assert after.applies_when == "country=DE and sort=books", told
    assert told.revised == 1
    assert after.verdict == "too general"
    assert graded(book, one)[1] == 0, "graded anew, as it reads now"


def test_a_revision_that_replay_shows_to_be_still_wrong_is_not_made_whatever_the_model_says() -> None:
    said = {"verdict": "too general", "text": "Use the tax code V7, always", "applies_when": "country=DE", "would_have_prevented": True}
    model = RuleModel(lambda prompt: json.dumps(said) if prompt.purpose == "revise" else '{"insights": [], "tags": []}')
    book = Tenure.open("memory://", scope="local/tax", embedder="none", model=model)
    book.learn(case(0, "V7"))
    book.learn(case(1, "V19", country="AT"))
    made = Add("codes", CODE.format("V7"), applies_when="country=DE", author="model:m", evidence=(Evidence(run="run-000"),))
    one = book.apply([made], author="model:m").receipts[0].id
    failed = Outcome(success=False, signal="label", expected="V19")
    told = book.learn(Run(id="run-900", task=Task(text="country=DE, sort=wine"), shown=(one,), cited=(one,), outcome=failed))
    assert lesson(book, one).text == CODE.format("V7")
    assert any("replayed on the run that failed, it is still wrong" in sentence for sentence in told.left), told.left


def test_a_lesson_a_model_writes_gets_the_conditions_that_kept_cases_find_in_its_source() -> None:
    answers = {("DE", "books"): "V7", ("DE", "wine"): "V19", ("AT", "books"): "V10", ("AT", "wine"): "V13"}
    silent = Tenure.open("memory://", scope="local/tax", embedder="none")
    for number, (country, sort) in enumerate(list(answers) * 8):
        silent.learn(case(number, answers[country, sort], country=country, sort=sort))
    with silent.store.writing(silent.scope) as work:
        source = case(901, "V7")
        work.keep_run(source, learned=False)
        proposed = Add("codes", CODE.format("V7"), applies_when="country=DE and clerk=c1")
        shaped = silent.learner.replaying.reshaped(work, proposed, source)
        assert isinstance(shaped, Add)
        assert shaped.applies_when == "country=DE and sort=books"
        told = replace(proposed, text="If country=DE then use V7")
        assert silent.learner.replaying.reshaped(work, told, source) == told, "what says its conditions in its text is left as it is"


def test_a_transaction_that_fails_teaches_nothing_of_fields_or_answers(book: Tenure) -> None:
    book.learn(case(0, "V7"))
    try:
        with book.store.writing(book.scope) as work:
            work.keep_run(case(1, "V99"), learned=False)
            assert "V99" in book.learner.replaying.shapes(work).foretell({"country": "DE"})
            raise RuntimeError("stop")
    except RuntimeError:
        pass
    with book.store.reading(book.scope) as look:
        assert "V99" not in book.learner.replaying.shapes(look).foretell({"country": "DE"})
