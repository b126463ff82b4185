"""Laws of every store: what recall reads to rank and to continue a prompt, without reading the whole playbook."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tenure import Add, Delta, Evidence, Merge, Pin, Restore, Retire, Run, Step, Tally, Task, Update
from tenure.playbook.render import brief_of, lesson_tokens
from tenure.ports import Store
from tests.stores.contract import fresh_scope

OPERATIONS = st.lists(
    st.one_of(
        st.builds(lambda n: Add("s" if n % 2 else "t", f"rule {n}"), st.integers(0, 5)),
        st.builds(lambda n: Add("s", f"imported {n}", id=f"ctx-{n}"), st.integers(0, 3)),
        st.builds(lambda n, k: Tally(f"ctx-{n}", helpful=k, harmful=1, support=k), st.integers(0, 3), st.integers(1, 3)),
        st.builds(lambda n: Update(f"ctx-{n}", text=f"changed {n}"), st.integers(0, 3)),
        st.builds(lambda n: Retire(f"ctx-{n}"), st.integers(0, 3)),
        st.builds(lambda n: Restore(f"ctx-{n}"), st.integers(0, 3)),
        st.builds(lambda n: Pin(f"ctx-{n}"), st.integers(0, 3)),
        st.builds(lambda a, b: Merge((f"ctx-{a}",), f"ctx-{b}"), st.integers(0, 3), st.integers(0, 3)),
    ),
    max_size=6,
)


@settings(max_examples=40, deadline=None)
@given(deltas=st.lists(OPERATIONS, max_size=5))
def test_briefs_say_what_the_lessons_say(store: Store, deltas: list[list[object]]) -> None:
    scope = fresh_scope()
    for number, operations in enumerate(deltas):
        with store.writing(scope) as work:
            work.admit(Delta(f"{number:03d}", operations, at="2026-01-05T08:00:00+00:00"))  # type: ignore[arg-type]
    with store.reading(scope) as look:
        for brief, lesson in zip(look.briefs(), look.lessons(), strict=True):
            whole = brief_of(lesson)
            assert (brief.id, brief.section, brief.pinned, brief.created, brief.updated, brief.tokens) == (
                whole.id,
                whole.section,
                whole.pinned,
                whole.created,
                whole.updated,
                whole.tokens,
            )
            for name in ("helpful", "harmful", "neutral", "support"):
                assert getattr(brief.tallies, name) == getattr(whole.tallies, name)


def test_named_gives_lessons_of_any_status_and_leaves_aliases_out(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.admit(Delta("01", [Add("s", "one", id="a-1"), Add("s", "two", id="a-2"), Add("s", "three", id="a-3")]))
        work.admit(Delta("02", [Retire("a-1"), Merge(("a-2",), "a-3")]))
    with store.reading(scope) as look:
        found = look.named(["a-1", "a-2", "a-3", "a-9"])
    assert {one: lesson.status for one, lesson in found.items()} == {"a-1": "retired", "a-3": "active"}


def test_since_gives_what_came_later_in_order_and_only_while_it_is_live(store: Store) -> None:
    scope = fresh_scope()
    for number in range(4):
        with store.writing(scope) as work:
            work.admit(Delta(f"0{number}", [Add("s", f"rule {number}", id=f"a-{9 - number}")]))
    with store.writing(scope) as work:
        work.admit(Delta("09", [Retire("a-8"), Update("a-9", text="old, but changed")]))
    with store.reading(scope) as look:
        assert [lesson.id for lesson in look.since(1)] == ["a-7", "a-6"]
        assert look.since(look.version()) == []


def test_near_finds_lessons_by_the_runs_they_rest_on_and_by_the_tools_whose_errors_they_are_about(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.admit(
            Delta(
                "01",
                [
                    Add("s", "rests on r1", id="a-1", evidence=(Evidence(run="r1", step=2),)),
                    Add("s", "about book", id="a-2", about="tool-error:book:no seats"),
                    Add("s", "about booking", id="a-3", about="tool-error:booking:no seats"),
                    Add("s", "neither", id="a-4"),
                    Add("s", "retired", id="a-5", about="tool-error:book:late"),
                ],
            )
        )
        work.admit(Delta("02", [Retire("a-5"), Tally("a-2", support=3)]))
    with store.reading(scope) as look:
        assert [lesson.id for lesson in look.near(["r1"], ["book"], limit=9)] == ["a-2", "a-1"]
        assert [lesson.id for lesson in look.near([], ["book", "booking"], limit=1)] == ["a-2"]
        assert look.near([], [], limit=9) == []
        assert [lesson.id for lesson in look.supported(limit=2)] == ["a-2", "a-1"]


def test_near_and_supported_inherit_from_parents_and_stay_inside_the_tenant(store: Store) -> None:
    parent = fresh_scope()
    child, stranger = f"{parent}/team", fresh_scope()
    for scope in (parent, stranger):
        with store.writing(scope) as work:
            work.admit(Delta("01", [Add("s", f"about book in {scope}", about="tool-error:book:no seats")]))
    with store.reading(child) as look:
        assert [lesson.text for lesson in look.near([], ["book"], limit=9)] == [f"about book in {parent}"]
        assert [lesson.text for lesson in look.supported(limit=9)] == [f"about book in {parent}"]


def test_cases_like_a_question_come_with_their_tools_best_first(store: Store) -> None:
    scope = fresh_scope()
    called = (Step(kind="tool_call", name="refund"), Step(kind="tool_result", name="refund"))
    with store.writing(scope) as work:
        work.keep_run(Run(id="r1", scope=scope, task=Task(text="refund the ticket to Rome"), steps=called), learned=False)
        work.keep_run(Run(id="r2", scope=scope, task=Task(text="book a hotel")), learned=False)
        work.keep_run(Run(id="r3", scope=scope, task=Task(text="refund")), learned=False)
    with store.reading(scope) as look:
        hits = look.cases_like("refund ticket", limit=9)
        assert [hit.run for hit in hits] == ["r1", "r3"]
        assert hits[0].tools == {"refund"}
        assert look.cases_like("", limit=9) == []
        assert [hit.run for hit in look.cases_like('"refund OR', limit=9)] == ["r3", "r1"]


def test_sharing_finds_lessons_that_hold_every_word_of_a_group(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.admit(
            Delta(
                "01",
                [
                    Add("s", "check units before summing", id="a-1"),
                    Add("s", "check units", id="a-2", applies_when="summing lines"),
                    Add("s", "check totals", id="a-3"),
                    Add("s", "多币种发票按开票日汇率换算", id="a-4"),
                    Add("s", "check units and retire", id="a-5"),
                ],
            )
        )
        work.admit(Delta("02", [Retire("a-5")]))
    with store.reading(scope) as look:
        assert [lesson.id for lesson in look.sharing([["check", "units"]], limit=9)] == ["a-1", "a-2"]
        assert [lesson.id for lesson in look.sharing([["units", "summing"], ["totals"]], limit=9)] == ["a-1", "a-2", "a-3"]
        assert [lesson.id for lesson in look.sharing([["汇率"]], limit=9)] == ["a-4"]
        assert look.sharing([["units", "nowhere"]], limit=9) == []
        assert look.sharing([], limit=9) == look.sharing([[]], limit=9) == look.sharing([['"', "("]], limit=9) == []
        assert [lesson.id for lesson in look.sharing([['OR "units']], limit=9)] == []
        assert len(look.sharing([["check"]], limit=2)) == 2
    with store.reading(f"{scope}/below") as look:
        assert look.sharing([["check"]], limit=9) == []


def test_tasks_of_runs_are_the_same_by_key_or_by_text(store: Store) -> None:
    scope = fresh_scope()
    tasks = {"r1": Task(text="sort  prices"), "r2": Task(text="sort prices"), "r3": Task(text="other", key="task:7")}
    with store.writing(scope) as work:
        for name, task in tasks.items():
            work.keep_run(Run(id=name, scope=scope, task=task), learned=False)
    with store.reading(scope) as look:
        assert look.tasks_of(["r1", "r2", "r3", "r4"]) == {"r1": "sort prices", "r2": "sort prices", "r3": "task:7"}
        assert look.tasks_of([]) == {}


@settings(max_examples=40, deadline=None)
@given(deltas=st.lists(OPERATIONS, max_size=5))
def test_sizes_say_what_the_live_lessons_say(store: Store, deltas: list[list[object]]) -> None:
    scope = fresh_scope()
    for number, operations in enumerate(deltas):
        with store.writing(scope) as work:
            work.admit(Delta(f"{number:03d}", operations, at="2026-01-05T08:00:00+00:00"))  # type: ignore[arg-type]
    counted: dict[str, tuple[int, int]] = {}
    with store.reading(scope) as look:
        for lesson in look.lessons():
            count, tokens = counted.get(lesson.section, (0, 0))
            counted[lesson.section] = (count + 1, tokens + lesson_tokens(lesson))
        assert look.sizes() == counted
