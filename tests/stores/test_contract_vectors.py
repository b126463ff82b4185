"""Laws of every store: vectors of lessons and runs, and what is nearest to a question's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure import Add, Delta, Restore, Retire, Run, Step, Tally, Task, Update
from tenure.ports import Embedded, Store
from tests.stores.contract import fresh_scope

NUMBERS = st.integers(-4, 4).map(float)
VECTORS = st.lists(NUMBERS, min_size=3, max_size=3).filter(any)


def unit(vector: Sequence[float]) -> list[float]:
    length = sqrt(sum(number * number for number in vector))
    return [number / length for number in vector]


def write(store: Store, scope: str, delta: str, *operations: object) -> None:
    with store.writing(scope) as work:
        work.admit(Delta(delta, operations, scope=scope))  # type: ignore[arg-type]


def keep(store: Store, scope: str, run_id: str, text: str, *tools: str) -> None:
    steps = tuple(Step(kind="tool_call", name=tool) for tool in tools)
    with store.writing(scope) as work:
        work.keep_run(Run(id=run_id, task=Task(text=text), steps=steps), learned=False)


def put(store: Store, scope: str, model: str, vectors: Mapping[str, Sequence[float] | None]) -> int:
    """Store vectors for what waits under these ids."""
    with store.reading(scope) as look:
        waiting = look.unembedded(model, limit=1_000)
    made = [Embedded(kind=one.kind, id=one.id, text_hash=one.text_hash, vector=vectors[one.id]) for one in waiting if one.id in vectors]
    with store.writing(scope) as work:
        return work.put_vectors(model, made)


def waiting(store: Store, scope: str, model: str, *, dimension: int = 0, limit: int = 1_000) -> list[tuple[str, str, str]]:
    with store.reading(scope) as look:
        return [(one.kind, one.id, one.text) for one in look.unembedded(model, dimension=dimension, limit=limit)]


def near(store: Store, scope: str, vector: Sequence[float], model: str = "m", **more: object) -> list[str]:
    with store.reading(scope) as look:
        return [hit.id for hit in look.nearest(unit(vector), model=model, **more).hits]  # type: ignore[arg-type]


def test_what_waits_is_live_lessons_with_their_conditions_then_runs_by_their_task(store: Store) -> None:
    scope = fresh_scope()
    write(
        store,
        scope,
        "01A",
        Add("s", "sum last", id="ctx-1", applies_when="two currencies"),
        Add("s", "held one", id="ctx-2", status="held"),
    )
    keep(store, scope, "r1", "reconcile invoice 7")
    assert waiting(store, scope, "m") == [("lesson", "ctx-1", "sum last\ntwo currencies"), ("run", "r1", "reconcile invoice 7")]
    assert waiting(store, scope, "m", limit=1) == [("lesson", "ctx-1", "sum last\ntwo currencies")]


def test_what_has_a_vector_waits_no_more_and_none_counts_as_one(store: Store) -> None:
    scope = fresh_scope()
    write(store, scope, "01A", Add("s", "first", id="ctx-1"), Add("s", "second", id="ctx-2"))
    assert put(store, scope, "m", {"ctx-1": [1.0, 0.0], "ctx-2": None}) == 2
    assert waiting(store, scope, "m") == []
    assert near(store, scope, [1.0, 0.0]) == ["ctx-1"]


def test_whether_there_are_vectors_is_told_of_the_scope_and_its_parents_by_model_and_dimension(store: Store) -> None:
    scope = fresh_scope()
    write(store, scope, "01A", Add("s", "first", id="ctx-1"), Add("s", "second", id="ctx-2"))
    put(store, scope, "m", {"ctx-1": [1.0, 0.0]})
    put(store, scope, "empty", {"ctx-1": None})
    for here in (scope, f"{scope}/team"):
        with store.reading(here) as look:
            assert (look.has_vectors("m"), look.has_vectors("m", dimension=2), look.has_vectors("m", dimension=3)) == (True, True, False)
            assert (look.has_vectors("empty", dimension=3), look.has_vectors("other")) == (True, False)
    with store.reading(fresh_scope()) as look:
        assert not look.has_vectors("m")


def test_an_edited_lesson_waits_again_and_is_not_found_by_its_old_text(store: Store) -> None:
    scope = fresh_scope()
    write(store, scope, "01A", Add("s", "first", id="ctx-1"), Add("s", "second", id="ctx-2"))
    put(store, scope, "m", {"ctx-1": [1.0, 0.0], "ctx-2": [0.0, 1.0]})
    write(store, scope, "01B", Update("ctx-1", text="first, edited"))
    assert waiting(store, scope, "m") == [("lesson", "ctx-1", "first, edited")]
    assert near(store, scope, [1.0, 0.0]) == ["ctx-2"]
    put(store, scope, "m", {"ctx-1": [1.0, 0.0]})
    write(store, scope, "01C", Update("ctx-1", applies_when="on Sundays"))
    assert waiting(store, scope, "m") == [("lesson", "ctx-1", "first, edited\non Sundays")]


def test_counts_leave_vectors_alone(store: Store) -> None:
    scope = fresh_scope()
    write(store, scope, "01A", Add("s", "first", id="ctx-1"))
    put(store, scope, "m", {"ctx-1": [1.0, 0.0]})
    write(store, scope, "01B", Tally("ctx-1", helpful=1))
    assert (waiting(store, scope, "m"), near(store, scope, [1.0, 0.0])) == ([], ["ctx-1"])


def test_a_retired_lesson_is_not_found_and_a_restored_one_can_be_again(store: Store) -> None:
    scope = fresh_scope()
    write(store, scope, "01A", Add("s", "first", id="ctx-1"))
    put(store, scope, "m", {"ctx-1": [1.0, 0.0]})
    assert near(store, scope, [1.0, 0.0]) == ["ctx-1"]
    write(store, scope, "01B", Retire("ctx-1"))
    assert (near(store, scope, [1.0, 0.0]), waiting(store, scope, "m")) == ([], [])
    write(store, scope, "01C", Restore("ctx-1"))
    put(store, scope, "m", {"ctx-1": [1.0, 0.0]})
    assert near(store, scope, [1.0, 0.0]) == ["ctx-1"]


def test_a_vector_whose_text_changed_meanwhile_is_not_stored(store: Store) -> None:
    scope = fresh_scope()
    write(store, scope, "01A", Add("s", "first", id="ctx-1"))
    with store.reading(scope) as look:
        (one,) = look.unembedded("m")
    write(store, scope, "01B", Update("ctx-1", text="edited while the model was at work"))
    with store.writing(scope) as work:
        assert work.put_vectors("m", [Embedded(kind="lesson", id="ctx-1", text_hash=one.text_hash, vector=[1.0])]) == 0
        assert work.put_vectors("m", [Embedded(kind="lesson", id="ctx-9", text_hash=one.text_hash, vector=[1.0])]) == 0
    assert (near(store, scope, [1.0]), len(waiting(store, scope, "m"))) == ([], 1)


def test_models_and_dimensions_are_never_mixed(store: Store) -> None:
    scope = fresh_scope()
    write(store, scope, "01A", *(Add("s", f"rule {number}", id=f"ctx-{number}") for number in range(4)))
    put(store, scope, "small", {"ctx-0": [1.0, 0.0], "ctx-1": [0.0, 1.0]})
    put(store, scope, "large", {"ctx-1": [1.0, 0.0], "ctx-2": [1.0, 0.0, 0.0]})
    assert near(store, scope, [1.0, 0.0], "small") == ["ctx-0", "ctx-1"]
    assert near(store, scope, [1.0, 0.0], "large") == ["ctx-1"]
    assert near(store, scope, [1.0, 0.0, 0.0], "large") == ["ctx-2"]
    assert near(store, scope, [1.0, 0.0], "unknown") == []
    assert [one for _, one, _ in waiting(store, scope, "large", dimension=3)] == ["ctx-0", "ctx-1", "ctx-3"]
    with store.reading(scope) as look:
        assert dict(look.vector_counts()) == {"large": 2, "small": 2}
        assert dict(look.vector_counts(dimension=3)) == {"large": 1}
        assert dict(look.vector_counts(dimension=2)) == {"large": 1, "small": 2}
    with store.writing(scope) as work:
        assert work.drop_vectors(but="large") == 2
    assert (near(store, scope, [1.0, 0.0], "small"), near(store, scope, [1.0, 0.0], "large")) == ([], ["ctx-1"])


def test_lessons_are_found_in_parent_scopes_and_runs_in_their_own_only(store: Store) -> None:
    parent = fresh_scope()
    scope, sister = f"{parent}/desk", f"{parent}/other"
    for one, number in ((parent, 1), (scope, 2), (sister, 3)):
        write(store, one, "01A", Add("s", f"rule {number}", id=f"ctx-{number}"))
        keep(store, one, f"r{number}", f"task {number}", "book", "pay")
        put(store, one, "m", {f"ctx-{number}": [1.0, float(number)], f"r{number}": [1.0, float(number)]})
    with store.reading(scope) as look:
        lessons = look.nearest(unit([1.0, 1.0]), model="m")
        runs = look.nearest(unit([1.0, 1.0]), model="m", kind="run")
    assert [(hit.id, hit.scope, hit.lesson.text if hit.lesson else "") for hit in lessons.hits] == [
        ("ctx-1", parent, "rule 1"),
        ("ctx-2", scope, "rule 2"),
    ]
    assert [(hit.id, hit.scope, hit.tools) for hit in runs.hits] == [("r2", scope, frozenset({"book", "pay"}))]
    assert (lessons.compared, runs.compared) == (2, 1)


def test_another_tenants_vectors_never_come_back(store: Store) -> None:
    mine, theirs = fresh_scope(), fresh_scope()
    for scope in (mine, theirs):
        write(store, scope, "01A", Add("s", f"rule of {scope}", id="ctx-1"))
    put(store, theirs, "m", {"ctx-1": [1.0, 0.0]})
    with store.reading(mine) as look:
        assert (look.nearest([1.0, 0.0], model="m").compared, dict(look.vector_counts())) == (0, {})


def test_a_transaction_sees_its_own_vectors_and_what_is_undone_leaves_none(store: Store) -> None:
    scope = fresh_scope()
    write(store, scope, "01A", Add("s", "first", id="ctx-1"), Add("s", "second", id="ctx-2"))
    put(store, scope, "m", {"ctx-2": [0.0, 1.0]})
    with store.reading(scope) as look:
        (one,) = look.unembedded("m")

    def undone() -> None:
        with store.writing(scope) as work:
            work.put_vectors("m", [Embedded(kind="lesson", id="ctx-1", text_hash=one.text_hash, vector=[1.0, 0.0])])
            assert [hit.id for hit in work.nearest([1.0, 0.0], model="m").hits] == ["ctx-1", "ctx-2"]
            raise InterruptedError

    with pytest.raises(InterruptedError):
        undone()
    assert near(store, scope, [1.0, 0.0]) == ["ctx-2"]
    # The next vector must not be taken for the one that was undone.
    put(store, scope, "m", {"ctx-1": [0.0, -1.0]})
    with store.reading(scope) as look:
        found = look.nearest([0.0, -1.0], model="m")
    assert [(hit.id, round(hit.cosine, 6)) for hit in found.hits] == [("ctx-1", 1.0), ("ctx-2", -1.0)]
    assert round(found.lowest, 6) == -1.0


@settings(max_examples=40, deadline=None)
@given(
    first=st.lists(VECTORS, min_size=1, max_size=8),
    second=st.lists(VECTORS, max_size=8),
    question=VECTORS,
    limit=st.integers(0, 6),
    gone=st.integers(0, 3),
)
def test_the_nearest_are_those_of_the_greatest_cosine_whatever_came_and_went(
    store: Store, first: list[list[float]], second: list[list[float]], question: list[float], limit: int, gone: int
) -> None:
    scope = fresh_scope()
    vectors = {f"ctx-{number}": vector for number, vector in enumerate([*first, *second])}
    write(store, scope, "01A", *(Add("s", f"rule {one}", id=one) for one in vectors))
    names = list(vectors)
    put(store, scope, "m", {one: vectors[one] for one in names[: len(first)]})
    near(store, scope, question)  # what it keeps in memory must not be what it answers later
    put(store, scope, "m", vectors)
    retired = names[:gone]
    for number, one in enumerate(retired):
        write(store, scope, f"01B{number}", Retire(one))
    asked = unit(question)
    cosines = {one: sum(a * b for a, b in zip(asked, unit(vector), strict=True)) for one, vector in vectors.items() if one not in retired}
    with store.reading(scope) as look:
        found = look.nearest(question, model="m", limit=limit)
    assert len(found.hits) == min(limit, len(cosines))
    assert [hit.cosine for hit in found.hits] == pytest.approx(sorted(cosines.values(), reverse=True)[: len(found.hits)], abs=1e-5)
    assert [hit.cosine for hit in found.hits] == pytest.approx([cosines[hit.id] for hit in found.hits], abs=1e-5)


@pytest.mark.parametrize("vector", [[0.0, 0.0], []])
def test_a_vector_of_nothing_is_near_nothing(store: Store, vector: list[float]) -> None:
    scope = fresh_scope()
    write(store, scope, "01A", Add("s", "first", id="ctx-1"))
    put(store, scope, "m", {"ctx-1": [1.0, 0.0]})
    with store.reading(scope) as look:
        assert look.nearest(vector, model="m").hits == ()
