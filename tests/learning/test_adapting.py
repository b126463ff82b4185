"""Offline adaptation: epochs of new runs, the best by validation kept, and nothing of the history lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tenure import Add, Attempt, Instance, Outcome, Step, Task, Tenure, UserError, dumps
from tenure.learning.adapting import Adapted, Progress
from tenure.learning.practice import read_instances
from tenure.testing import CountingIds, RuleModel, SteppingClock

POINT = "amount must be a decimal number with a point"


@pytest.fixture(params=["memory://", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tenure]:
    url = request.param if request.param != "sqlite" else f"sqlite:///{tmp_path}/book.db"
    with Tenure.open(url, scope="test", clock=SteppingClock(), ids=CountingIds(), embedder="none") as opened:
        yield opened


def instance(number: int) -> Instance:
    return Instance(id=str(number), task=Task(text=f"Book invoice {number} over {number}.200,50", key=str(number)), expected="booked")


TRAIN = [instance(number) for number in range(1, 4)]
HELD = [instance(number) for number in range(11, 15)]


class Clerk:
    """Books at once where its context says how; else it learns from the tool's error, too late. Counts how often it acts."""

    def __init__(self) -> None:
        self.tasks: list[str] = []

    def act(self, task: str, context: str) -> Attempt:
        self.tasks.append(task)
        amount = task.rpartition(" ")[2]
        plain = amount.replace(".", "").replace(",", ".")
        steps = [] if POINT in context else [*self.called(amount, POINT)]
        return Attempt(answer="late" if steps else "booked", steps=(*steps, *self.called(plain, "")))

    @staticmethod
    def called(amount: str, error: str) -> tuple[Step, Step]:
        return (
            Step(kind="tool_call", name="book", arguments={"amount": amount}),
            Step(kind="tool_result", name="book", content="" if error else "booked", error=error),
        )


def scripted_scores(*means: float) -> Callable[[Instance, Attempt], float]:
    """A scorer whose means on the validation instances are these, pass by pass; training attempts get half."""
    calls = [0]

    def score(one: Instance, attempt: Attempt) -> float:
        if one in TRAIN:
            return 0.5
        calls[0] += 1
        return means[(calls[0] - 1) // len(HELD)]

    return score


def texts(book: Tenure) -> set[str]:
    return {lesson.text for lesson in book.playbook.lessons if lesson.live}


def test_an_agent_learns_in_an_epoch_what_it_then_does_right_on_instances_it_has_not_seen(book: Tenure) -> None:
    clerk = Clerk()
    found = book.adapt(clerk, TRAIN, validation=HELD)
    assert [epoch.score for epoch in found.epochs] == [0.0, 1.0]
    assert (found.best, found.score, found.stopped, found.taken_back) == (1, 1.0, "perfect", False)
    assert len(clerk.tasks) == len(HELD) + len(TRAIN) + len(HELD)
    assert POINT in book.context("Book invoice 99").text


def test_each_attempt_is_a_run_of_its_own_and_validation_leaves_none(book: Tenure) -> None:
    book.adapt(Clerk(), TRAIN, validation=HELD, scorer=scripted_scores(0.1, 0.2, 0.3, 0.4), epochs=3)
    with book.store.reading(book.scope) as reading:
        runs = [reading.run(run) for run in reading.run_ids()]
        unlearned = reading.unlearned()
    assert [run.task.text for run in runs if run is not None][::-1] == [one.task.text for one in TRAIN] * 3
    assert len({run.id for run in runs if run is not None}) == 9
    assert not unlearned


def test_what_came_after_the_best_epoch_is_taken_back_and_stays_in_the_ledger(book: Tenure) -> None:
    best: list[str] = []
    worse = [Add(section="notes", text="Never book anything at all on Mondays.")]

    def noting(now: Progress) -> None:
        if (now.epoch, now.part, now.done) == (2, "training", 0):
            best.append(dumps(book.playbook))

    found = book.adapt(Clerk(), TRAIN, validation=HELD, scorer=scripted_scores(0.2, 0.6, 0.4, 0.5, 0.9), epochs=5, tell=noting)
    assert (found.best, found.score, found.stopped) == (1, 0.6, "patience")
    assert [epoch.epoch for epoch in found.epochs] == [0, 1, 2, 3]
    assert found.taken_back
    with book.store.reading(book.scope) as reading:
        kept, now, before = reading.playbook(found.kept), reading.playbook(), reading.playbook(found.version - 1)
        newest = reading.ledger(newest_first=True, limit=1)[0]
        assert not reading.verify_ledger()
    assert dumps(kept) == best[0]
    # The counters of later epochs are taken back too, and what was taken back can be had again.
    assert {(one.id, one.text, one.status, one.tallies) for one in now.lessons} == {
        (one.id, one.text, one.status, one.tallies) for one in kept.lessons
    }
    assert before != now
    assert (newest.delta.cause, newest.delta.author) == ("rollback", "adapt")
    book.rollback(found.version - 1)
    assert [one.tallies for one in book.playbook.lessons] == [one.tallies for one in before.lessons]
    assert book.apply(worse).version is not None  # and the scope goes on


def test_where_no_epoch_is_better_the_playbook_stays_as_it_was(book: Tenure) -> None:
    book.apply([Add(section="notes", text="Ask for the invoice date first.")])
    before = texts(book)
    found = book.adapt(Clerk(), TRAIN, validation=HELD, scorer=scripted_scores(0.5, 0.5, 0.4))
    assert (found.best, found.stopped) == (0, "patience")
    assert texts(book) == before


def test_learning_goes_on_online_from_what_adaptation_left(book: Tenure) -> None:
    book.adapt(Clerk(), TRAIN, validation=HELD, scorer=scripted_scores(0.2, 0.6, 0.4, 0.5))
    lesson = next(iter(book.playbook.lessons))
    with book.run("Book invoice 50 over 9.100,00") as run:
        assert lesson.id in run.shown.lessons
        run.step("tool_call", name="book", arguments={"amount": "9100.00"})
        run.step("tool_result", name="book", content="booked")
        run.finish(success=True, cited=[lesson.id])
    after = book.playbook.lesson(lesson.id)
    assert after is not None
    assert after.tallies.helpful > lesson.tallies.helpful


def test_a_ctrl_c_keeps_the_best_so_far(book: Tenure) -> None:
    clerk = Clerk()

    def interrupted(task: str, context: str) -> Attempt:
        if len(clerk.tasks) == len(HELD) * 2 + len(TRAIN) + 1:  # the second instance of epoch 2
            raise KeyboardInterrupt
        return clerk.act(task, context)

    found = book.adapt(interrupted, TRAIN, validation=HELD, scorer=scripted_scores(0.2, 0.6))
    assert (found.best, found.score, found.stopped, found.taken_back) == (1, 0.6, "interrupted", True)
    with book.store.reading(book.scope) as reading:
        assert not reading.verify_ledger()
        assert [one.tallies for one in reading.playbook().lessons] == [one.tallies for one in reading.playbook(found.kept).lessons]


def test_what_others_changed_meanwhile_is_not_taken_back(book: Tenure) -> None:
    def tell(now: Progress) -> None:
        if (now.epoch, now.part, now.done) == (2, "training", 1):
            book.apply([Add(section="notes", text="A person adds this while the agent acts.")], author="person:ada")

    found = book.adapt(Clerk(), TRAIN, validation=HELD, scorer=scripted_scores(0.2, 0.6, 0.4, 0.5), tell=tell)
    assert "A person adds this while the agent acts." in texts(book)
    assert not found.taken_back
    assert any("person:ada" in problem and f"tenure diff {found.kept}" in problem for problem in found.problems)


def test_without_validation_the_last_epoch_is_kept(book: Tenure) -> None:
    found = book.adapt(Clerk(), TRAIN, epochs=2)
    assert [(epoch.epoch, epoch.score, epoch.runs) for epoch in found.epochs] == [(1, None, 3), (2, None, 3)]
    assert (found.best, found.kept, found.taken_back, found.stopped) == (2, found.version, False, "epochs")
    assert found.epochs[1].train_score == 1.0


def test_an_exception_of_the_agent_is_a_failed_run_and_is_told(book: Tenure) -> None:
    clerk = Clerk()

    def frail(task: str, context: str) -> Attempt:
        if task == TRAIN[0].task.text:
            raise ConnectionError("the ledger is down")
        return clerk.act(task, context)

    found = book.adapt(frail, TRAIN, epochs=1)
    with book.store.reading(book.scope) as reading:
        run = reading.run(reading.run_ids()[-1])
    assert run is not None
    assert run.outcome.success is False
    assert run.outcome.feedback == "ConnectionError: the ledger is down"
    assert found.problems == ("The agent raised an exception on 1 of 3 training instances. The first: ConnectionError: the ledger is down",)


def test_an_agent_that_always_raises_ends_it(book: Tenure) -> None:
    def broken(task: str, context: str) -> str:
        raise NameError("name 'clinet' is not defined")

    with pytest.raises(UserError, match=r"each of 4 validation instances\. The first: NameError: name 'clinet'"):
        book.adapt(broken, TRAIN, validation=HELD)


def test_an_error_on_the_way_keeps_the_best_so_far(book: Tenure) -> None:
    scores = scripted_scores(0.2, 0.6)

    def failing(one: Instance, attempt: Attempt) -> float:
        with book.store.reading(book.scope) as reading:
            if len(reading.run_ids()) > len(TRAIN) + 1:
                raise ZeroDivisionError("division by zero")
        return scores(one, attempt)

    with pytest.raises(UserError, match="The scorer raised ZeroDivisionError on instance '3'"):
        book.adapt(Clerk(), TRAIN, validation=HELD, scorer=failing)
    with book.store.reading(book.scope) as reading:
        assert reading.ledger(newest_first=True, limit=1)[0].delta.cause == "rollback"


def test_what_no_scorer_can_tell_is_in_no_mean(book: Tenure) -> None:
    def doubtful(one: Instance, attempt: Attempt) -> float | None:
        return None if one.id in ("11", "2") else 0.25

    found = book.adapt(Clerk(), TRAIN, validation=HELD, scorer=doubtful, epochs=1)
    assert [(epoch.score, epoch.unscored) for epoch in found.epochs] == [(0.25, 1), (0.25, 1)]
    assert found.epochs[1].train_score == 0.25


def test_a_spend_cap_ends_it_and_keeps_the_best(tmp_path: Path) -> None:
    model = RuleModel(lambda prompt: '{"insights": [], "tags": []}', name="scripted:idle")
    with Tenure.open(f"sqlite:///{tmp_path}/book.db", scope="test", model=model, embedder="none") as book:
        book.set("spend.calls_per_day", "4")
        found = book.adapt(Clerk(), TRAIN, validation=HELD, scorer=scripted_scores(0.2, 0.3, 0.4, 0.5), epochs=3)
        assert found.stopped == "spend"
        assert found.usage.calls <= 4
        assert any("spend cap is reached" in problem for problem in found.problems)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"epochs": 0}, "epochs = 0: it is a whole number from 1"),
        ({"patience": 0}, "patience = 0: it is a whole number from 1"),
        ({"scorer": lambda one, attempt: 7}, "The scorer gave 7 for instance '1'"),
        ({"scorer": "exact"}, "A scorer is a function"),
    ],
)
def test_a_mistake_is_named(book: Tenure, given: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        book.adapt(Clerk(), TRAIN, **given)  # type: ignore[arg-type]


def test_agents_may_be_coroutines_and_scorers_may_give_outcomes(book: Tenure) -> None:
    async def act(task: str, context: str) -> str:
        return "booked"

    def judged(one: Instance, attempt: Attempt) -> Outcome:
        return Outcome(success=attempt.answer == one.expected, signal="test", feedback="posted")

    found: Adapted = book.adapt(act, TRAIN, scorer=judged, epochs=1)
    assert found.epochs[0].train_score == 1.0


def test_the_same_task_in_both_files_is_told(book: Tenure) -> None:
    found = book.adapt(Clerk(), TRAIN, validation=[*HELD, TRAIN[0]], epochs=1)
    assert found.problems[0].startswith("1 validation tasks stand among the training tasks too")


def test_instances_are_read_from_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(
        '{"task": "Add 1 and 1", "expected": 2, "unit": "EUR"}\n\n'
        '{"id": "b", "task": {"text": "Add 2 and 2", "kind": "sum", "key": "k"}}\n',
        encoding="utf-8",
    )
    first, second = read_instances(path)
    assert (first.id, first.task.text, first.expected, first.data) == ("1", "Add 1 and 1", "2", {"unit": "EUR"})
    assert (second.id, second.task, second.expected) == ("b", Task(text="Add 2 and 2", kind="sum", key="k"), "")
    assert first.task.key


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no instance"),
        ('{"task": "a"}\nbroken', "line 2 is no JSON"),
        ('{"question": "a"}', "line 1 has no task"),
        ('["a"]', "line 1 has no task"),
        ('{"task": "  "}', "line 1 has no task"),
        ('{"task": "a", "expected": ["b"]}', "line 1: expected = "),
        ('{"id": 7, "task": "a"}\n{"id": "7", "task": "b"}', "line 2: the id '7' stands on an earlier line too"),
    ],
)
def test_a_line_of_another_form_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read_instances(path)
