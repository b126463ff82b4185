"""What the store in memory keeps beside its values says what they say, whatever came, went, failed or is looked at late."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.playbook.delta import Add, Delta, Retire, Update
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Run, Task
from tenure.stores.in_memory import InMemoryStore
from tenure.stores.memory_words import MemoryIndex, MemoryWords
from tenure.stores.weighing import Searched, weigh

WORDS = "ledger invoice lease bond coupon tenant rate share option tax refund rail parcel hook commit".split()
SCOPE = "local/index"


class EveryHolder(MemoryIndex):
    """Puts forward whatever holds a word, so that all of it is weighed exactly."""

    exact = False

    def holders(self, tokens: Sequence[str], marks: Sequence[str], most: int) -> Collection[int]:
        return super().holders(tokens, marks, 10**9)


def texts(drawn: Random, many: int) -> MemoryWords:
    held = MemoryWords()
    for place in range(many):
        said = " ".join(drawn.choice(WORDS) for _ in range(drawn.randint(1, 12)))
        held.put(f"n{place}", Searched(said=said, asked=" ".join(drawn.sample(WORDS, drawn.randint(0, 6)))))
    return held


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), limit=st.integers(1, 40), asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
def test_the_best_by_the_index_are_the_best_of_all(seed: int, limit: int, asked: list[str]) -> None:
    parts = [texts(Random(seed), 120), texts(Random(seed + 1), 60)]
    few = weigh(MemoryIndex(parts), " ".join(asked), limit=limit)
    every = weigh(EveryHolder(parts), " ".join(asked), limit=limit)
    assert few == every


def test_a_text_that_went_or_changed_leaves_no_word_behind() -> None:
    held = MemoryWords()
    held.put("a", Searched(said="ledger invoice", marks="x-1\ue000"))
    held.put("a", Searched(said="lease"))
    held.put("b", Searched(said="lease coupon"))
    held.drop("a")
    held.drop("a")
    assert set(held.holding) == {"leas", "coupon"}
    assert held.saying([["lease"], ["coupon", "lease"]]) == {"b"}
    assert not held.marked
    held.drop("b")
    assert [held.holding, held.names, held.lengths, held.saying([["lease"]])] == [{}, {}, {}, set()]


def found(store: InMemoryStore, text: str) -> tuple[list[str], list[str], list[str], dict[str, tuple[int, int]]]:
    with store.reading(SCOPE) as look:
        hits = [hit.lesson.id for hit in look.search(text, limit=50)]
        cases = [case.run for case in look.cases_like(text, limit=50)]
        return hits, cases, [lesson.id for lesson in look.sharing([[text]], limit=50)], dict(look.sizes())


def add(store: InMemoryStore, number: int, *operations: Add | Update | Retire, run: Run | None = None) -> None:
    with store.writing(SCOPE) as work:
        if run is not None:
            work.keep_run(run, learned=True)
        work.admit(Delta(f"{number:03}", operations))


def test_what_a_failed_transaction_wrote_is_not_found_and_an_older_look_stays_as_it_was() -> None:
    store = InMemoryStore()
    add(store, 1, Add("s", "pay the lease", id="one", evidence=(Evidence(run="r1"),)), run=Run(id="r1", task=Task(text="coupon due")))
    before = found(store, "lease")

    def failing() -> None:
        with store.writing(SCOPE) as work:
            work.keep_run(Run(id="r2", task=Task(text="lease due")), learned=True)
            work.admit(Delta("002", (Add("s", "read the lease", id="two"),)))
            assert [hit.lesson.id for hit in work.search("read lease", limit=5)] == ["two", "one"]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert found(store, "lease") == before
    with store.reading(SCOPE) as old:
        add(store, 3, Add("s", "end the lease", id="three"), Retire("one"))
        assert found(store, "lease")[0] == ["three"]
        assert [hit.lesson.id for hit in old.search("lease", limit=5)] == ["one"]
        assert [lesson.id for lesson in old.lessons()] == ["one"]
    assert found(store, "lease")[0] == ["three"]


def test_a_lesson_is_found_by_the_task_it_came_from_until_that_is_revoked_or_forgotten() -> None:
    store = InMemoryStore()
    add(store, 1, Add("s", "ask first", id="one", evidence=(Evidence(run="r1"),)), run=Run(id="r1", task=Task(text="coupon due")))
    assert found(store, "coupon")[:2] == (["one"], ["r1"])
    with store.writing(SCOPE) as work:
        work.keep_run(Run(id="r2", task=Task(text="coupon late")), learned=True)
    assert found(store, "coupon")[1] == ["r1", "r2"]
    with store.writing(SCOPE) as work:
        work.revoke_runs(["r1"], revoked=True)
    assert found(store, "coupon")[:2] == ([], ["r2"])
    store.scrub()
    assert found(store, "coupon")[:2] == ([], ["r2"])
