"""Vectors of a scope: made where they are missing, in batches that stay, and asked for by recall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tenure import Add, Run, Step, Task, Tenure, Update
from tenure.errors import EmbeddingFailed
from tenure.fusion import VECTOR_WEIGHT
from tenure.learning.embedding import embed_missing
from tenure.learning.outlook import fused
from tenure.ports import Embedder, Near, Nearest
from tenure.testing import WordEmbedder, open_trial
from tests.learning.episodes import cured_run

CONTEXT = 5_000
MEANING = {"automobile": "car"}
"""What the embedder knows and keyword search does not."""


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a playbook, of each kind."""
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'book.db'}"


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder(384, synonyms=MEANING)


@pytest.fixture
def book(url: str, embedder: WordEmbedder) -> Iterator[Tenure]:
    """A playbook of twenty lessons, one of them about cars."""
    with open_trial(url=url, embedder=embedder) as opened:
        opened.apply(
            [Add("s", "wash the car on sunday", id="car-1"), *(Add("s", f"rule{n} about topic{n}", id=f"ctx-{n}") for n in range(19))]
        )
        yield opened


def swapped(book: Tenure, embedder: Embedder) -> Tenure:
    """The same playbook with another embedder."""
    return Tenure(book.store, book.scope, clock=book.clock, ids=book.ids, embedder=embedder)


def relevances(book: Tenure, task: str) -> dict[str, float]:
    return {why.id: why.relevance for why in book.context(task, budget=CONTEXT).why}


# -- the case "Embedder swapped" -------------------------------------------------------------------------


def test_another_embedder_compares_only_its_own_vectors_and_says_what_is_missing(book: Tenure, embedder: WordEmbedder) -> None:
    book.embed()
    assert relevances(book, "automobile")["car-1"] == pytest.approx(VECTOR_WEIGHT, abs=0.01)

    large = WordEmbedder(768, synonyms=MEANING)
    other = swapped(book, large)
    found = other.context("automobile", budget=CONTEXT)
    assert (found.search, large.embedded) == ("keywords", [])
    assert "vectors of words-768 yet" in found.notes[0]
    assert "tenure embed" in found.notes[0]
    assert other.context("topic3", budget=CONTEXT).lessons  # keyword search keeps working
    standing = other.vectors.standing()
    assert standing is not None
    assert (standing.embedded, standing.missing, standing.others) == (0, 20, 20)

    # Begun, interrupted, edited meanwhile, and gone on with.
    first = other.embed(most=7)
    assert first is not None
    assert (first.embedded, first.complete, first.dropped) == (7, False, 0)
    other.apply([Update("car-1", text="wash the car every friday")])
    rest = other.embed()
    assert rest is not None
    assert (rest.complete, rest.dropped) == (True, 19)  # the edited one had lost its vector already
    assert "wash the car every friday" in large.embedded
    assert relevances(other, "automobile")["car-1"] == pytest.approx(VECTOR_WEIGHT, abs=0.01)
    assert len(large.embedded) - large.embedded.count("automobile") in (20, 21)  # nothing twice but what was edited

    # Going back is a change too.
    assert swapped(book, embedder).context("automobile", budget=CONTEXT).search == "keywords"


def test_a_failing_embedder_is_stated_and_keyword_search_answers_alone(book: Tenure, embedder: WordEmbedder) -> None:
    book.embed()
    plain = {"ctx-3": relevances(swapped(book, WordEmbedder(8)), "topic3")["ctx-3"]}
    embedder.failing = "the server is down"
    found = book.context("topic3", budget=CONTEXT)
    assert found.search == "keywords"
    assert found.notes == ("Embedder 'words-384' gave no vectors: the server is down. Search goes on by keywords.",)
    assert {why.id: why.relevance for why in found.why if why.relevance} == plain  # and nothing arbitrary beside it
    done = book.embed()
    assert done is not None
    assert done.complete  # nothing was missing, so nothing was asked


def test_an_embedder_that_cannot_be_opened_is_stated(book: Tenure) -> None:
    broken = Tenure(book.store, book.scope, clock=book.clock, ids=book.ids, embedder="no-such-one")
    found = broken.context("topic3", budget=CONTEXT)
    assert "no embedder 'no-such-one'" in found.notes[0]
    assert found.lessons


# -- making vectors ------------------------------------------------------------------------------------------


class Flaky(WordEmbedder):
    """Fails once so many texts are done."""

    def __init__(self, after: int) -> None:
        super().__init__(32)
        self._after = after

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[tuple[float, ...] | None]:
        if len(self.embedded) + len(texts) > self._after:
            raise EmbeddingFailed(self.name, "out of quota")
        return super().embed(texts, query=query)


def test_batches_that_were_committed_stay_when_a_later_one_fails(book: Tenure) -> None:
    flaky = Flaky(after=11)
    told: list[int] = []
    done = embed_missing(book.store, flaky, book.scope, batch=5, tell=told.append)
    assert (done.embedded, told, done.complete) == (10, [5, 10], False)
    assert "out of quota" in done.failed
    again = embed_missing(book.store, WordEmbedder(32), book.scope)
    assert (again.embedded, again.complete) == (10, True)


def test_a_kill_between_batches_loses_nothing(book: Tenure) -> None:
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    embedder = WordEmbedder(32)
    with pytest.raises(KeyboardInterrupt):
        embed_missing(book.store, embedder, book.scope, batch=4, tell=stop)
    assert embed_missing(book.store, embedder, book.scope, batch=4).embedded == 16
    assert len(embedder.embedded) == len(set(embedder.embedded)) == 20


def test_a_text_without_a_vector_is_asked_for_once(book: Tenure) -> None:
    book.apply([Add("s", "!!! ???", id="odd-1")])
    assert embed_missing(book.store, WordEmbedder(32), book.scope).embedded == 21
    silent = WordEmbedder(32)
    assert embed_missing(book.store, silent, book.scope).embedded == 0
    assert silent.embedded == []


def test_a_lesson_that_is_edited_while_the_model_works_is_embedded_as_it_is_now(book: Tenure) -> None:
    class Meddling(WordEmbedder):
        def embed(self, texts: Sequence[str], *, query: bool = False) -> list[tuple[float, ...] | None]:
            if not self.embedded:
                book.apply([Update("car-1", text="sell the car")])
            return super().embed(texts, query=query)

    meddling = Meddling(32)
    assert embed_missing(book.store, meddling, book.scope).complete
    assert meddling.embedded[-1] == "sell the car"


def test_learning_embeds_what_it_learned_and_the_runs(url: str) -> None:
    embedder = WordEmbedder(32)
    with open_trial(url=url, embedder=embedder) as book:
        learned = book.learn(cured_run(scope=book.scope))
        assert learned.problems == ()
        standing = book.vectors.standing()
        assert standing is not None
        assert (standing.missing, standing.embedded > 1) == (0, True)
        embedder.failing = "gone"
        failed = book.learn(cured_run("r2", invoice=8, scope=book.scope))
        assert failed.version is not None
        assert any("gone" in problem for problem in failed.problems)


# -- in recall ----------------------------------------------------------------------------------------------


def test_a_lesson_that_shares_no_word_with_the_task_is_recalled_by_meaning(url: str) -> None:
    embedder = WordEmbedder(512, synonyms=MEANING)
    with open_trial(url=url, embedder=embedder) as book:
        book.apply([Add("s", f"rule{n} about topic{n} and more words", id=f"ctx-{n:03}") for n in range(120)])
        book.apply([Add("s", "wash the car on every sunday of the month, then wax it", id="zzz-1")])
        assert "zzz-1" not in book.context("automobile", budget=300).lessons
        book.embed()
        found = book.context("automobile", budget=300)
        assert "zzz-1" in found.lessons[:2]  # the double may take another word for the same
        assert found.search == "keywords, and vectors of words-512 (121 lessons)"


def test_like_runs_are_found_by_meaning_too(url: str) -> None:
    embedder = WordEmbedder(512, synonyms=MEANING)
    with open_trial(url=url, embedder=embedder) as book:
        for number, text in enumerate(["polish the car", "count the trees", "feed the cat"]):
            step = Step(kind="tool_call", name=f"tool{number}")
            with book.store.writing(book.scope) as work:
                work.keep_run(Run(id=f"r{number}", task=Task(text=text), steps=(step,)), learned=True)
        book.embed()
        with book.store.reading(book.scope) as reading:
            (vector,) = embedder.embed(["automobile"])
            assert vector is not None
            (nearest, *_) = reading.nearest(vector, model=embedder.name, kind="run").hits
        assert (nearest.id, nearest.tools) == ("r0", frozenset({"tool0"}))


def test_words_alone_count_where_nothing_was_compared() -> None:
    assert fused({"a": 1.0, "b": 0.4}, Nearest()) == {"a": 1.0, "b": 0.4}
    same = Near(id="a", cosine=0.3, scope="t")
    assert fused({"b": 0.4}, Nearest(hits=(same,), lowest=0.3, compared=1)) == {"b": 0.4}


def test_a_vector_alone_never_outweighs_a_full_match_of_words() -> None:
    near = Nearest(hits=(Near(id="a", cosine=0.9, scope="t"), Near(id="b", cosine=0.1, scope="t")), lowest=0.1, compared=2)
    found = fused({"b": 1.0}, near)
    assert found["b"] == pytest.approx(1 - VECTOR_WEIGHT)
    assert found["a"] == pytest.approx(VECTOR_WEIGHT)
