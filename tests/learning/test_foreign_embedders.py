"""Embedders of anyone's making: whatever they do wrong is said, and search goes on by keywords."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Tenure
from tenure.errors import EmbeddingFailed
from tenure.ports import Passage
from tenure.stores.search_in_memory import InMemorySearch
from tenure.stores.search_sqlite import SqliteSearch
from tenure.testing import WordEmbedder, open_trial
from tenure.vectors import checked, unit
from tests.learning.episodes import cured_run

SIZE = 16


class Unspeakable(Exception):
    """An error whose message cannot be made."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Foreign:
    """Gives what it is told to give."""

    name, dimension = "foreign", SIZE

    def __init__(self, give: Callable[[Sequence[str]], Any]) -> None:
        self.give = give

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        return self.give(texts)


def sound(texts: Sequence[str]) -> Any:
    return WordEmbedder(SIZE).embed(texts)


def raising(exc: Exception) -> Callable[[Sequence[str]], Any]:
    def give(texts: Sequence[str]) -> Any:
        raise exc

    return give


async def later(texts: Sequence[str]) -> Any:
    return sound(texts)


WRONG: dict[str, tuple[Callable[[Sequence[str]], Any], str]] = {
    "raises": (raising(RuntimeError("CUDA is gone")), "RuntimeError: CUDA is gone"),
    "raises what cannot be told": (raising(Unspeakable()), "Unspeakable"),
    "shows a key": (raising(ValueError("bad key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")), "ValueError: bad key"),
    "none": (lambda texts: None, "returned None"),
    "text": (lambda texts: "x" * len(texts), "returned str"),
    "too few": (lambda texts: sound(texts)[1:], "vectors came for"),
    "too many": (lambda texts: [*sound(texts), [1.0] * SIZE], "more than"),
    "without end": (lambda texts: iter(lambda: [1.0] * SIZE, None), "more than"),
    "words for numbers": (lambda texts: [["0.5"] * SIZE for _ in texts], "must be real number"),
    "text for vectors": (lambda texts: ["x" * SIZE for _ in texts], "a vector is str"),
    "bytes for vectors": (lambda texts: [b"x" * SIZE for _ in texts], "a vector is bytes"),
    "numbers for vectors": (lambda texts: [1.0 for _ in texts], "not iterable"),
    "short": (lambda texts: [[1.0, 0.0] for _ in texts], f"vectors of 2 numbers where {SIZE}"),
    "empty": (lambda texts: [[] for _ in texts], "vectors of 0 numbers"),
    "a number alone": (lambda texts: 7, "not iterable"),
    "async": (later, "async"),
}


@pytest.fixture(params=["memory", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A playbook of ten lessons whose vectors a foreign embedder made while it was sound."""
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'book.db'}"
    with open_trial(url=url, embedder=Foreign(sound)) as opened:
        opened.apply([Add("s", f"rule{n} about topic{n}", id=f"ctx-{n}") for n in range(10)])
        opened.embed()
        yield opened


def behaving(book: Tenure, give: Callable[[Sequence[str]], Any]) -> Tenure:
    return Tenure(book.store, book.scope, clock=book.clock, ids=book.ids, embedder=Foreign(give))


@pytest.mark.parametrize("how", WRONG)
def test_whatever_an_embedder_does_wrong_is_said_and_keywords_answer(book: Tenure, how: str) -> None:
    give, said = WRONG[how]
    wrong = behaving(book, give)
    found = wrong.context("topic3", budget=5_000)
    assert ("ctx-3" in found.lessons, found.search) == (True, "keywords")
    assert any("gave no vectors" in note and said in note for note in found.notes)
    assert "sk-proj-abc" not in "".join(found.notes)
    with wrong.run("topic3") as run:
        kept = run.finish(True)
    assert kept is not None
    assert any(said in problem for problem in kept.problems)
    learned = wrong.learn(cured_run(scope=book.scope))
    assert learned.version is not None
    assert any(said in problem for problem in learned.problems)
    done = wrong.embed()
    assert done is not None
    assert (said in done.failed, done.complete) == (True, False)
    again = behaving(book, sound).embed()  # nothing was lost, and nothing wrong was stored
    assert again is not None
    assert again.complete


@pytest.mark.parametrize("how", WRONG)
def test_passages_are_found_by_keywords_whatever_the_embedder_does(how: str) -> None:
    give, said = WRONG[how]
    for index in (InMemorySearch(Foreign(give)), SqliteSearch(embedder=Foreign(give))):
        put = index.put("local/t", [Passage(id="p1", text="the red car"), Passage(id="p2", text="a blue boat")])
        found = index.find("local/t", "red car", limit=5)
        done = index.embed_missing("local/t")
        assert [hit.id for hit in found.hits] == ["p1"]
        assert (said in put, said in found.note, said in done.failed) == (True, True, True)
        index.close()


def test_a_name_and_a_dimension_that_cannot_be_read_do_no_harm() -> None:
    class Odd:
        @property
        def name(self) -> str:
            raise RuntimeError("no name")

        @property
        def dimension(self) -> int:
            raise RuntimeError("not loaded")

        def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
            return sound(texts)

    odd = checked(Odd())
    assert (odd.name, odd.dimension) == ("Odd", 0)
    odd.embed(["a"])
    assert odd.dimension == SIZE  # learned, and kept to from now on
    odd.embedder = Foreign(lambda texts: [[1.0] for _ in texts])
    odd.embedder.dimension = 0
    with pytest.raises(EmbeddingFailed, match="vectors of 1 numbers where 16"):
        odd.embed(["a"])
    with open_trial(embedder=Odd()) as book:
        book.apply([Add("s", "wash the car", id="ctx-1")])
        done = book.embed()
        assert done is not None
        assert (done.model, done.complete, book.context("car").search) == ("Odd", True, "keywords, and vectors of Odd (1 lesson)")


def test_what_is_no_embedder_at_all_is_said_too() -> None:
    with open_trial(embedder=object()) as book:  # type: ignore[arg-type]
        book.apply([Add("s", "wash the car", id="ctx-1")])
        done = book.embed()
        assert done is not None
        assert "no attribute 'embed'" in done.failed
        assert book.context("car").lessons == ("ctx-1",)


def test_an_interrupt_is_no_failure_of_the_embedder() -> None:
    def stop(texts: Sequence[str]) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checked(Foreign(stop)).embed(["a"])


# -- vectors that are none ----------------------------------------------------------------------------------


UNFIT: dict[str, list[float]] = {
    "nan": [nan] * SIZE,
    "one nan": [nan, *[0.1] * (SIZE - 1)],
    "inf": [inf] * SIZE,
    "whole": [10**400] * SIZE,
    "zero": [0.0] * SIZE,
}


@pytest.mark.parametrize("kind", UNFIT)
def test_a_vector_that_cannot_have_length_1_is_none_and_leaves_the_others_their_say(book: Tenure, kind: str) -> None:
    def give(texts: Sequence[str]) -> Any:
        return [UNFIT[kind] if "topic3" in text else vector for text, vector in zip(texts, sound(texts), strict=True)]

    with book.store.writing(book.scope) as work:
        work.drop_vectors(but="")
    odd = behaving(book, give)
    done = odd.embed()
    assert done is not None
    assert (done.embedded, done.complete) == (10, True)
    assert odd.embed().embedded == 0  # type: ignore[union-attr]  # not asked again
    found = odd.context("rule1 about topic1", budget=5_000)
    assert "9 lessons" in found.search
    with book.store.reading(book.scope) as reading:
        (vector,) = sound(["rule1 about topic1"])
        nearest = reading.nearest(vector, model="foreign", limit=10)
        assert (nearest.hits[0].id, len(nearest.hits)) == ("ctx-1", 9)
        assert not reading.nearest(UNFIT[kind], model="foreign").hits
    asked = odd.context("topic3", budget=5_000)  # the question's own vector is none
    assert ("ctx-3" in asked.lessons, asked.search) == (True, "keywords")


def test_a_large_vector_is_scaled_and_found() -> None:
    made = unit([3e200, 4e200])
    assert made is not None
    assert list(made) == pytest.approx([0.6, 0.8])
    with open_trial(embedder=Foreign(lambda texts: [[1e30 * number for number in vector] for vector in sound(texts)])) as book:
        book.apply([Add("s", f"rule{n} about topic{n}", id=f"ctx-{n}") for n in range(10)])
        book.embed()
        assert "10 lessons" in book.context("topic3", budget=5_000).search


@given(st.lists(st.floats() | st.integers(), min_size=1, max_size=8))
def test_a_vector_has_length_1_or_is_none(numbers: list[float]) -> None:
    made = unit(numbers)
    assert made is None or sum(number * number for number in made) == pytest.approx(1.0, abs=1e-5)


# -- another dimension under the same name ---------------------------------------------------------------------


def test_vectors_of_another_dimension_are_said_counted_as_missing_and_made_anew(book: Tenure) -> None:
    wider = Tenure(book.store, book.scope, clock=book.clock, ids=book.ids, embedder=WordEmbedder(32, name="foreign"))
    found = wider.context("topic3", budget=5_000)
    assert ("ctx-3" in found.lessons, found.search) == (True, "keywords")
    assert len(found.notes) == 1
    assert "another dimension than the 32 numbers" in found.notes[0]
    assert "tenure embed" in found.notes[0]
    standing = wider.vectors.standing()
    assert standing is not None
    assert (standing.embedded, standing.missing, standing.others) == (0, 10, 10)
    done = wider.embed()
    assert done is not None
    assert (done.embedded, done.complete) == (10, True)
    after = wider.context("topic3", budget=5_000)
    assert ("10 lessons" in after.search, after.notes) == (True, ())


def test_a_dimension_that_shows_only_with_the_questions_vector_is_said_too(book: Tenure) -> None:
    embedder = Foreign(WordEmbedder(32).embed)
    embedder.dimension = 0
    unsaid = Tenure(book.store, book.scope, clock=book.clock, ids=book.ids, embedder=embedder)
    first, second = unsaid.context("topic3", budget=5_000), unsaid.context("topic3", budget=5_000)
    assert "None of 10 lessons has a vector of foreign" in first.notes[0]
    assert "another dimension" in second.notes[0]
    standing = unsaid.vectors.standing()
    assert standing is not None
    assert standing.missing == 10
    assert unsaid.embed().complete  # type: ignore[union-attr]
    assert unsaid.context("topic3", budget=5_000).notes == ()
