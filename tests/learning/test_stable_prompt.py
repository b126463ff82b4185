"""What a prefix cache sees of the product: prompts of one scope begin with the same bytes while its playbook grows."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import commonprefix

import pytest

from tenure import Add, Pin, Restore, Retire, Tally, Tenure, Update
from tenure.evaluation.prompt_cache import Reuse
from tenure.learning.upkeep import renew_prompt
from tenure.playbook.render import TAIL_SHARE, Core
from tenure.testing import CountingIds, SteppingClock
from tests.learning.episodes import cured_run

WORDS = "red green blue amber olive coral ivory slate plum teal rust lime navy rose sand mint".split()


@pytest.fixture(params=["memory://", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: object) -> Iterator[Tenure]:
    url = request.param if request.param != "sqlite" else f"sqlite:///{tmp_path}/book.db"
    with Tenure.open(url, scope="test", clock=SteppingClock(), ids=CountingIds()) as opened:
        yield opened


def lesson(number: int) -> Add:
    colour, shape = WORDS[number % 16], WORDS[number // 16 % 16]
    return Add(
        f"section {number % 3}", f"Before step {colour} {shape}, read the manual of part {number} and note its limits.", id=f"x-{number:03}"
    )


def stable(book: Tenure, task: str = "step red") -> tuple[str, Core]:
    """Core and tail as the agent is sent them, and the core that was kept."""
    found = book.context(task)
    assert found.core is not None
    with book.store.reading(book.scope) as reading:
        assert reading.core() == found.core
    last = (found.core.tail or found.core.lines)[-1].text
    end = found.text.index(last) + len(last)
    return found.text[:end], found.core


def grown(book: Tenure, size: int) -> None:
    book.apply([lesson(number) for number in range(size)])


def test_while_a_playbook_grows_and_its_counts_change_prompts_share_their_beginning(book: Tenure) -> None:
    book.set("context.tokens", "8000")
    reuse, rebuilds, changes = Reuse(), 0, 0
    before, core_before = "", Core()
    for number in range(60):
        book.apply([lesson(number), *(Tally(f"x-{one:03}", helpful=1, shown=1) for one in range(max(0, number - 2), number))])
        now, core = stable(book, f"step {WORDS[number % 16]}")
        same_core = core.lines == core_before.lines
        rebuilt = core.lines[: len(core_before.lines)] != core_before.lines
        changes, rebuilds = changes + (not same_core), rebuilds + rebuilt
        if same_core:
            assert now.startswith(before), "while the core stays a prompt goes on where the one before ended"
        elif not rebuilt:
            assert now.startswith(before.partition("\n## since then")[0]), "a generation stands behind the bytes that were there"
        assert sum(len(line.text) for line in core.tail) <= 1.2 * TAIL_SHARE * sum(len(line.text) for line in core.lines)
        assert "helpful" not in now
        reuse.send(now)
        before, core_before = now, core
    assert rebuilds <= 2, "where a heading weighs as much as a lesson, those said again are soon too many"
    assert 10 <= changes <= 20
    # Of so small a playbook each new lesson is a large part; the bench measures a real one.
    assert reuse.share >= 0.9


def test_neither_counts_nor_another_task_change_a_byte_of_it(book: Tenure) -> None:
    grown(book, 30)
    first, _ = stable(book)
    book.apply([Tally(f"x-{number:03}", helpful=5, harmful=1, shown=9) for number in range(30)])
    assert stable(book, "something else with blue and teal")[0] == first
    book.apply([Pin("x-004")])
    assert stable(book)[0] == first


def test_an_edit_is_appended_as_replacing_and_the_core_stays(book: Tenure) -> None:
    grown(book, 30)
    first, core = stable(book)
    book.apply([Update("x-003", text="Read the manual of part 3 twice.")])
    now, after = stable(book)
    assert after.lines == core.lines
    assert now.startswith(first)
    assert "(replaces the earlier text) Read the manual of part 3 twice." in now[len(first) :]


def test_an_ordinary_retirement_is_a_line_at_the_end_and_a_return_another(book: Tenure) -> None:
    grown(book, 30)
    first, core = stable(book)
    book.apply([Retire("x-003", "not needed")])
    now, after = stable(book)
    assert after.lines == core.lines
    assert now.startswith(first)
    assert "no longer applies" in now[len(first) :]
    book.apply([Restore("x-003")])
    again, last = stable(book)
    assert last.lines == core.lines
    assert again.startswith(now)
    assert "part 3 and" in again[len(now) :]


def test_a_lesson_that_a_closed_generation_left_out_is_told_when_it_comes_back(book: Tenure) -> None:
    book.set("context.tokens", "8000")
    grown(book, 30)
    first, core = stable(book)
    book.apply([lesson(30), lesson(31)])
    stable(book)
    book.apply([Retire("x-031", "not needed"), *(lesson(number) for number in range(32, 42))])
    now, closed = stable(book)
    assert closed.generations == (len(core.lines),)
    assert now.startswith(first)
    assert "[x-031]" not in now
    book.apply([Restore("x-031")])
    again, _ = stable(book)
    assert again.startswith(now)
    assert "- [x-031] " in again[len(now) :]


def test_refine_has_the_core_built_anew_without_what_went(book: Tenure) -> None:
    grown(book, 30)
    book.apply([Add("section 9", "Before step red red, read the manual of part 0 and note its limits.", id="y-1")])
    first, _ = stable(book)
    assert "[y-1]" in first
    book.refine()
    now, core = stable(book)
    assert "[y-1]" not in now
    assert core.tail == ()
    assert "no longer applies" not in now
    # What was there keeps its order, so that the cache keeps the most of it.
    assert len(commonprefix([first, now])) > 0.9 * len(now)  # noqa: RUF071  # characters are what is asked for
    assert stable(book)[0] == now


def test_a_lesson_that_misled_leaves_the_core_at_once(book: Tenure) -> None:
    grown(book, 30)
    book.learn(cured_run("r1"))
    (misleading,) = [one for one in book.playbook.lessons if one.author == "extractive"]
    assert misleading.text in stable(book)[0]
    book.apply([Tally(misleading.id, harmful=9)])
    book.learn(cured_run("r2", shown=(misleading.id,), cited=(misleading.id,)))
    assert book.playbook.lesson(misleading.id).status == "retired"  # type: ignore[union-attr]
    now, core = stable(book)
    assert misleading.text not in now
    assert core.tail == ()


@pytest.mark.parametrize("budget", [6_000, 2_000, 1_200])
def test_an_explicit_budget_has_a_core_of_its_own_that_counts_do_not_move(book: Tenure, budget: int) -> None:
    grown(book, 60)
    book.set("context.core_tokens", "600")
    first = book.context("step red", budget=budget)
    assert first.core is not None
    for number in range(12):
        book.apply([Tally(f"x-{(7 * number + one) % 60:03}", helpful=3, shown=3) for one in range(5)])
        book.context("step red")  # one of the settings' size in between
        again = book.context("step red", budget=budget)
        assert again.core is not None
        assert again.core.lines == first.core.lines


def test_what_must_not_wait_renews_the_cores_of_every_size(book: Tenure) -> None:
    grown(book, 60)
    before = {budget: book.context("step red", budget=budget).core_size for budget in (1_200, 1_500, 8_000)}
    assert len(set(before.values())) > 1
    with book.store.writing(book.scope) as work:
        renew_prompt(work, "a lesson was revoked")
        assert all(core is not None and core.stale for core in map(work.core, before.values()))
