"""A run reported through the API: what a caller may get wrong, and what becomes of the run then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tenure import Add, Run, Step, Task, Tenure, UserError
from tenure.errors import ScopeError, SettingError, StoreBusy, StoreError
from tenure.playbook.delta import Delta
from tenure.stores.in_memory import InMemoryStore
from tenure.system import UlidSource
from tenure.testing import open_trial


@pytest.fixture
def book() -> Iterator[Tenure]:
    with open_trial() as opened:
        yield opened


def kept(book: Tenure, run_id: str) -> Run:
    with book.store.reading(book.scope) as reading:
        found = reading.run(run_id)
    assert found is not None
    return found


def test_a_message_without_text_beside_a_tool_call_does_not_lose_the_run(book: Tenure) -> None:
    with book.run("t") as run:
        run.step("message", None)
        run.step("tool_call", name="convert", arguments={"a": float("nan"), "b": object(), "c": b"x"})
        run.finish(success=True)
    assert [step.content for step in kept(book, run.id).steps] == ["", ""]


@pytest.mark.parametrize(
    "given",
    [{"kind": "zork"}, {"content": 5}, {"name": 5}, {"error": ["no"]}, {"arguments": "x"}, {"arguments": [1]}, {"call_id": 7}],
    ids=str,
)
def test_a_step_of_the_wrong_kind_is_refused_where_it_is_reported(book: Tenure, given: dict[str, Any]) -> None:
    with book.run("t") as run:
        with pytest.raises(UserError):
            run.step(**{"kind": "message", **given})
        with pytest.raises(UserError):
            run.step(Step(**{"kind": "message", **given}))
        run.finish(success=True)
    assert kept(book, run.id).steps == ()


def test_a_step_after_the_end_is_refused_instead_of_lost(book: Tenure) -> None:
    with book.run("t") as run:
        run.finish(success=True)
        with pytest.raises(UserError, match="finished already"):
            run.step("message", "late")


@pytest.mark.parametrize(
    "given", [{"success": "yes"}, {"feedback": 5}, {"expected": 5}, {"score": 2.0}, {"outcome": "good"}, {"signal": "zork"}], ids=str
)
def test_a_report_that_cannot_be_understood_is_no_verdict(book: Tenure, given: dict[str, Any]) -> None:
    lesson = book.apply([Add("s", "a rule")]).receipts[0].id
    with pytest.raises((UserError, ValueError)), book.run("t") as run:
        run.finish(**given)
    assert not kept(book, run.id).outcome.known
    assert book.playbook.lesson(lesson).tallies.harmful == 0  # type: ignore[union-attr]


def test_a_report_can_be_mended(book: Tenure) -> None:
    with book.run("t") as run:
        with pytest.raises(UserError):
            run.finish(success="yes")  # type: ignore[arg-type]
        run.finish(success=True)
    assert kept(book, run.id).outcome.success is True


def test_a_verdict_of_an_array_library_is_a_verdict(book: Tenure) -> None:
    class Bool:
        """Equal to true, as numpy's own are, and no bool."""

        def __eq__(self, other: object) -> bool:
            return other is True

        def __hash__(self) -> int:
            return 1

    with book.run("t") as run:
        run.finish(success=Bool())  # type: ignore[arg-type]
    assert kept(book, run.id).outcome.success is True


def test_citations_that_name_nothing_are_left_out(book: Tenure) -> None:
    lesson = book.apply([Add("s", "a rule")]).receipts[0].id
    with book.run("t") as run:
        run.finish(success=True, cited=[None, 5, "", " ", f"[{lesson}]"])  # type: ignore[list-item]
    assert kept(book, run.id).cited == (lesson,)
    with book.run("t") as run:
        run.finish(success=True, cited=None)
    assert kept(book, run.id).cited == ()


class BusyOnce(InMemoryStore):
    """A store that another process holds when it is first written to."""

    busy = True

    def writing(self, scope: str) -> Any:
        if self.busy:
            self.busy = False
            raise StoreBusy("held by another process. Nothing was written; try again.")
        return super().writing(scope)


def test_a_finish_that_the_store_refused_can_be_tried_again() -> None:
    book = Tenure(BusyOnce("memory://"), "local/trial")
    with book.run("t") as run:
        with pytest.raises(StoreError):
            run.finish(success=True)
        run.finish(success=True)
    assert kept(book, run.id).outcome.success is True


@pytest.mark.parametrize("operations", [Add("s", "x"), "x", None, [5], [Add]], ids=str)
def test_what_is_no_list_of_operations_is_named(book: Tenure, operations: Any) -> None:
    with pytest.raises(UserError, match=r"(?i)operation"):
        book.apply(operations)


def test_a_delta_for_another_scope_is_refused(book: Tenure) -> None:
    with pytest.raises(ScopeError, match="acme/web"):
        book.apply(Delta("01A", [Add("s", "x")], scope="acme/web"))
    assert book.apply(Delta("01B", [Add("s", "x")], scope="local/trial")).version == 1


@pytest.mark.parametrize("version", ["²", "--5", "-²", "+1", "\ud800", "1e3"])
def test_a_version_that_is_none_is_a_mistake_of_the_caller(book: Tenure, version: str) -> None:
    with pytest.raises(UserError):
        book.rollback(version)


@pytest.mark.parametrize(
    ("name", "value"),
    [("spend.usd_per_day", "NaN"), ("spend.usd_per_day", "Infinity"), ("model", "\ud800"), ("model", "a\nb"), ("", None)],
)
def test_a_setting_that_cannot_be_kept_is_refused(book: Tenure, name: str, value: str | None) -> None:
    with pytest.raises(SettingError):
        book.set(name, value)


@pytest.mark.parametrize(
    "after", ["", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "import-2024", "~~~", "\U0010ffff", "9" * 26]
)
def test_an_id_is_above_the_one_it_follows_whatever_that_is(after: str) -> None:
    source = UlidSource()
    ids = [after]
    for _ in range(4):
        ids.append(source.next(ids[-1]))
    assert ids == sorted(set(ids))
    assert len(ids[-1]) <= len(after) + 26


def test_many_async_runs_in_one_loop_are_all_kept(tmp_path: object) -> None:
    async def one(book: Tenure, number: int) -> None:
        async with book.run(f"task {number}") as run:
            run.step("message", "hello")
            await run.afinish(success=number % 2 == 0)

    async def every(book: Tenure) -> None:
        await asyncio.gather(*(one(book, number) for number in range(40)))

    with Tenure.open(f"sqlite:///{tmp_path}/book.db", scope="test") as book:
        asyncio.run(every(book))
        with book.store.reading(book.scope) as reading:
            assert reading.counts()["runs"] == 40


@pytest.mark.parametrize("score", [3, -0.1, float("nan"), "high"])
def test_a_score_outside_its_range_is_the_callers_to_mend(score: object) -> None:
    with Tenure.open("memory://", scope="local/x") as book, book.run("a task") as run:
        with pytest.raises(UserError, match="score"):
            run.finish(score=score)  # type: ignore[arg-type]
        run.finish(score=0.75)
        assert run.learned is not None


@pytest.mark.parametrize("task", ["", " \n"])
def test_an_empty_task_is_refused_by_context_and_does_not_stop_a_run(task: str) -> None:
    with Tenure.open("memory://", scope="local/x") as book:
        with pytest.raises(UserError, match="The task is empty"):
            book.context(task)
        with book.run(task) as run:
            run.finish(success=True)


def test_a_closed_playbook_says_so_and_can_be_closed_again() -> None:
    book = Tenure.open("memory://", scope="local/x")
    assert book.vectors is not None
    run = book.run("a task")
    book.close()
    book.close()
    for use in (
        lambda: book.context("a task"),
        lambda: book.apply([Add("s", "t")]),
        lambda: book.playbook,
        lambda: book.learn(Run(id="r", task=Task(text="t"))),
        book.embed,
        run.__enter__,
    ):
        with pytest.raises(StoreError, match=r"The playbook is closed\. .*Tenure\.open"):
            use()
