"""Laws of every store: how single lessons and short lists of them are read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tenure.playbook.delta import Add, Delta, Merge, Restore, Retire, Tally, Update
from tenure.playbook.lessons import Evidence
from tenure.ports import Store
from tests.stores.contract import NASTY, delta_lists, fresh_scope, keep_operations

# -- one lesson ---------------------------------------------------------------------------------------


def test_an_id_leads_to_its_lesson_through_aliases(store: Store) -> None:
    scope = fresh_scope()
    keep_operations(store, scope, Add("s", "one", id="ctx-1"), Add("s", "two", id="ctx-2"), Add("s", "three", id="ctx-3"))
    keep_operations(store, scope, Merge(["ctx-1"], into="ctx-2"), Merge(["ctx-2"], into="ctx-3"), delta="01B")
    with store.reading(scope) as look:
        read = [look.lesson(one) for one in ("ctx-1", "ctx-2", "ctx-3")]
        assert {one.id for one in read if one} == {"ctx-3"}
        assert None not in read
        assert [one.id for one in look.lessons()] == ["ctx-3"]
        assert look.lesson("ctx-4") is None
    keep_operations(store, scope, Restore("ctx-1", unmerge=True), delta="01C")
    with store.reading(scope) as look:
        assert [one.id for one in look.lessons()] == ["ctx-1", "ctx-3"]


def test_lessons_of_every_status_are_kept_and_live_ones_told_apart(store: Store) -> None:
    scope = fresh_scope()
    texts = [Add("s", status, id=f"ctx-{status}", status=status) for status in ("active", "provisional", "held")]
    keep_operations(store, scope, *texts, Add("s", "retired", id="ctx-retired"))
    keep_operations(store, scope, Retire("ctx-retired", reason="old"), delta="01B")
    with store.reading(scope) as look:
        assert [one.text for one in look.lessons()] == ["active", "provisional"]
        assert {one.id: one.status for one in look.lessons(live=False)} == {
            f"ctx-{one}": one for one in ("active", "provisional", "held", "retired")
        }
        assert look.lesson("ctx-retired") is not None


def test_an_id_can_be_shortened(store: Store) -> None:
    scope = fresh_scope()
    keep_operations(
        store, scope, *(Add("s", f"text {one}", id=one) for one in ("inv-a", "inv-ab", "inv-b", "INV-c", "in_x", "in%x", "other"))
    )
    with store.reading(scope) as look:
        assert look.resolve("inv-a") == ["inv-a"]  # the exact one alone
        assert look.resolve("inv-") == ["inv-a", "inv-ab", "inv-b"]
        assert look.resolve("o") == ["other"]
        assert look.resolve("in_") == ["in_x"]
        assert look.resolve("in%") == ["in%x"]
        assert look.resolve("nobody") == look.resolve("%") == look.resolve("") == []


def test_a_shortened_id_gives_ten_candidates_at_most(store: Store) -> None:
    scope = fresh_scope()
    keep_operations(store, scope, *(Add("s", f"text {number}", id=f"ctx-{number:02}") for number in range(30)))
    with store.reading(scope) as look:
        assert look.resolve("ctx-") == [f"ctx-{number:02}" for number in range(10)]


@pytest.mark.parametrize("piece", NASTY, ids=ascii)
def test_a_shortened_id_is_a_text_and_no_pattern(store: Store, piece: str) -> None:
    scope = fresh_scope()
    keep_operations(store, scope, Add("s", "text", id="ctx-1"))
    with store.reading(scope) as look:
        assert look.resolve(piece) == []
        assert look.lesson(piece) is None
        assert look.about(piece) is None


def test_the_lesson_about_a_subject_is_a_live_one_where_there_is_one(store: Store) -> None:
    scope = fresh_scope()
    adds = [Add("s", f"text {number}", id=f"ctx-{number}", about="tool-error:book:amount #") for number in range(3)]
    keep_operations(store, scope, *adds, Add("s", "no subject"))
    keep_operations(store, scope, Retire("ctx-0"), delta="01B")
    with store.reading(scope) as look:
        chosen = look.about("tool-error:book:amount #")
        assert chosen is not None
        assert chosen.id == "ctx-1"
        assert look.about("tool-error:book") is None
        assert look.about("") is None
    keep_operations(store, scope, Retire("ctx-1"), Retire("ctx-2"), delta="01C")
    with store.reading(scope) as look:
        chosen = look.about("tool-error:book:amount #")
        assert chosen is not None
        assert chosen.status == "retired"


def test_a_subject_moves_with_an_update(store: Store) -> None:
    scope = fresh_scope()
    keep_operations(store, scope, Add("s", "text", id="ctx-1", about="before"))
    keep_operations(store, scope, Update("ctx-1", about="after"), delta="01B")
    with store.reading(scope) as look:
        assert look.about("before") is None
        assert look.about("after") == look.lesson("ctx-1")


# -- short lists (see also test_contract_ranking.py) ----------------------------------------------------


def test_lessons_are_fetched_by_name(store: Store) -> None:
    scope = fresh_scope()
    keep_operations(store, scope, *(Add("s", f"text {number}", id=f"ctx-{number}") for number in range(1500)))
    keep_operations(store, scope, Retire("ctx-1"), Merge(["ctx-2"], into="ctx-3"), delta="01B")
    with store.reading(scope) as look:
        found = look.named(["ctx-1", "ctx-2", "ctx-3", "nobody", *NASTY])
        assert dict(found) == {"ctx-1": look.lesson("ctx-1"), "ctx-3": look.lesson("ctx-3")}
        assert dict(look.named([])) == {}
        # Any number of names, whatever a database takes in one statement.
        assert len(look.named([f"ctx-{number}" for number in range(100_000)])) == 1499


@given(deltas=delta_lists())
@settings(max_examples=40)
def test_new_lessons_are_those_that_were_not_there(store: Store, deltas: list[Delta]) -> None:
    scope = fresh_scope()
    with store.writing(scope) as transaction:
        for delta in deltas:
            transaction.admit(delta)
    with store.reading(scope) as look:
        there = [{lesson.id for lesson in look.playbook(version).every_lesson} for version in range(look.version() + 1)]
        live = {lesson.id for lesson in look.lessons()}
        for version in range(look.version() + 1):
            new = {lesson.id for lesson in look.since(version)}
            always = set.intersection(*there[version:])
            # What was an alias in between may be called new or not.
            assert live - there[version] <= new <= live - always


def test_lessons_near_a_case_rest_on_it_or_are_about_its_tools(store: Store) -> None:
    tenant = fresh_scope().partition("/")[0]
    above, scope = f"{tenant}/finance", f"{tenant}/finance/recon"

    def resting(*runs: str) -> tuple[Evidence, ...]:
        return tuple(Evidence(run=run, step=number) for number, run in enumerate(runs))

    adds = [
        Add("s", "rests on r1", id="by-run", evidence=resting("r1", "r2")),
        Add("s", "rests on another", id="other-run", evidence=resting("r3")),
        Add("s", "about book", id="by-tool", about="tool-error:book:amount"),
        Add("s", "about booking", id="other-tool", about="tool-error:booking:amount"),
        Add("s", "about BOOK", id="case", about="tool-error:BOOK:amount"),
        Add("s", "both", id="both", about="tool-error:book:date", evidence=resting("r1")),
        Add("s", "held", id="held", about="tool-error:book:date", status="held"),
        Add("s", "retired", id="retired", about="tool-error:book:date"),
        Add("s", "merged away", id="alias", evidence=resting("r1")),
        Add("s", "what it was merged into", id="target"),
    ]
    keep_operations(store, scope, *adds)
    keep_operations(store, scope, Retire("retired"), Tally("by-tool", support=5), Merge(["alias"], into="target"), delta="01B")
    keep_operations(
        store,
        above,
        Add("s", "about book, above", id="above", about="tool-error:book:x", evidence=resting("r9")),
        Tally("above", support=1),
    )
    with store.reading(scope) as look:

        def near(runs: list[str], tools: list[str], limit: int = 20) -> list[str]:
            return [lesson.id for lesson in look.near(runs, tools, limit=limit)]

        # Best supported first: by-tool 5, above 2, then 1 each by id.
        assert near(["r1"], ["book"]) == ["by-tool", "above", "both", "by-run", "target"]
        assert near(["r1"], []) == ["both", "by-run", "target"]
        assert near(["r2", "r3", "gone"], []) == ["by-run", "other-run"]
        assert near([], ["book"]) == ["by-tool", "above", "both"]
        assert near(["r1"], ["book"], limit=2) == ["by-tool", "above"]
        assert near([], []) == near(["gone"], ["%", "_", "", "boo"]) == near(["r1"], ["book"], limit=0) == []
