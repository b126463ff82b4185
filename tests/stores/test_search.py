"""Laws of every search over passages (`ports.Search`). A new adapter is one line in `OPEN`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.errors import EmbeddingFailed, ScopeError
from tenure.ports import Embedder, Passage, Search
from tenure.stores.search_in_memory import InMemorySearch
from tenure.stores.search_sqlite import SqliteSearch
from tenure.terms import search_words, stem

OPEN: dict[str, Callable[[Embedder | None], Search]] = {
    "in_memory": InMemorySearch,
    "sqlite": lambda embedder: SqliteSearch(":memory:", embedder),
}
TEXTS = st.text(max_size=60) | st.text("abc \"*():^-+/_.NEAROT'\x00汇率換환불é", max_size=40)
MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Colours:
    """An embedder that knows three colours, for tests."""

    def __init__(self, name: str = "colours", failing: bool = False) -> None:
        self.name, self.dimension, self.failing = name, 3, failing

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float] | None]:
        if self.failing:
            raise EmbeddingFailed(self.name, "the server is down")
        known = (("red", "scarlet"), ("green", "emerald"), ("blue", "azure"))
        return [[float(any(word in text for word in words)) for words in known] for text in texts]


@pytest.fixture(params=sorted(OPEN))
def opened(request: pytest.FixtureRequest) -> Callable[[Embedder | None], Search]:
    return OPEN[request.param]


@pytest.fixture
def search(opened: Callable[[Embedder | None], Search]) -> Iterator[Search]:
    made = opened(None)
    yield made
    made.close()


def put(search: Search, *texts: str, scope: str = "acme/a", group: str = "") -> None:
    search.put(scope, [Passage(id=f"p{place}", text=text, group=group, place=place) for place, text in enumerate(texts)])


def ids(search: Search, text: str, *, scope: str = "acme/a", limit: int = 10, smooth: bool = False) -> list[str]:
    return [hit.id for hit in search.find(scope, text, limit=limit, smooth=smooth).hits]


@MANY
@given(texts=st.lists(TEXTS, max_size=5), asked=TEXTS)
def test_any_text_is_a_question_and_whoever_holds_its_words_is_found(search: Search, texts: list[str], asked: str) -> None:
    scope = "acme/any"
    search.remove(scope, [f"p{place}" for place in range(5)])
    put(search, *texts, scope=scope)
    found = ids(search, asked, scope=scope)
    wanted = {stem(word) for word in search_words(asked)}
    holders = [place for place, text in enumerate(texts) if wanted & {stem(word) for word in search_words(text)}]
    assert found or not holders


@MANY
@given(texts=st.lists(TEXTS, max_size=5), asked=TEXTS, smooth=st.booleans())
def test_all_adapters_find_the_same_in_the_same_order(texts: list[str], asked: str, smooth: bool) -> None:
    answers = []
    for name in sorted(OPEN):
        made = OPEN[name](None)
        put(made, *texts, group="g")
        answers.append(
            [(hit.id, round(hit.score, 9), hit.words, hit.identifiers) for hit in made.find("acme/a", asked, limit=10, smooth=smooth).hits]
        )
        made.close()
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "asked",
    [
        *('"', '""', "'", "worker*", "NEAR(deploy worker)", "said : deploy", "wall:wall1 deploy", "deploy AND", "NOT deploy", "(deploy"),
        *("^deploy", "-deploy", "{said} : deploy", "deploy\x00", "deploy\ud800"),
    ],
)
def test_nothing_in_a_question_is_syntax(search: Search, asked: str) -> None:
    put(search, "deploy the worker", "water the plants")
    found = ids(search, asked)
    assert found == (["p0"] if "deploy" in asked or "worker" in asked else [])


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("多币种发票按开票日汇率换算后再求和", "汇率"),
        ("請求書はPDF/Aで保存", "PDF/A保存"),
        ("환불은 7일 이내", "환불"),
        ("用docker部署worker", "docker 部署"),
        ("Zürich im Sommer", "zurich"),
        ("running the migrations", "migrate run"),
        ("𞤀𞤣𞤤𞤢𞤥 letters", "𞤀𞤣𞤤𞤢𞤥"),
        ("the who", "the"),
    ],
)
def test_the_words_are_found_in_any_script(search: Search, stored: str, asked: str) -> None:
    put(search, "something else entirely", stored, "another unrelated thing")
    assert ids(search, asked)[:1] == ["p1"]


@pytest.mark.parametrize(
    "identifier",
    [
        "--no-verify",
        "C++",
        "ADR-0005",
        "3f2b8c1e-9a7d-4e21-8f00-aa12bb34cc56",
        "max_retry_count",
        "src/tenure/app.py",
        "os.path.join",
        ".env",
    ],
)
def test_an_exact_identifier_ranks_first(search: Search, identifier: str) -> None:
    parts = " ".join(search_words(identifier)) or "c"
    put(
        search,
        f"{parts} {parts} {parts} is how we use it",
        f"we never use {identifier} here, whatever else is said about it in this long text",
    )
    (first, *_) = search.find("acme/a", f"how do we use {identifier}?", limit=5).hits
    assert (first.id, first.identifiers) == ("p1", (identifier.lower(),))
    assert identifier.lower() in first.why


def test_words_that_say_little_are_used_where_there_is_nothing_better(search: Search) -> None:
    put(search, "ask for help")
    assert ids(search, "help me deploy") == ["p0"]


def test_another_scope_never_comes_back_nor_weighs(search: Search) -> None:
    put(search, "the secret rate", "rates of others", scope="acme/a")
    put(search, "our rate", scope="acme/b")
    before = search.find("acme/b", "rate", limit=10)
    assert [hit.id for hit in before.hits] == ["p0"]
    put(search, *["rate"] * 20, scope="acme/a")
    put(search, *["rate"] * 20, scope="other/b")
    assert search.find("acme/b", "rate", limit=10) == before
    for scope in ("acme", "acme/b/c", "acme/ab"):
        assert ids(search, "rate", scope=scope) == []
    assert search.remove("acme/c", ["p0"]) == 0
    assert ids(search, "rate", scope="acme/b") == ["p0"]


@pytest.mark.parametrize("scope", ["", "/", "a//b", None])
def test_a_missing_scope_is_an_error_and_never_all(search: Search, scope: str) -> None:
    with pytest.raises(ScopeError):
        search.find(scope, "rate", limit=1)
    with pytest.raises(ScopeError):
        search.put(scope, [])
    with pytest.raises(ScopeError):
        search.remove(scope, [])


def test_what_was_put_is_found_at_once_and_what_was_removed_is_not(search: Search) -> None:
    put(search, "old words")
    put(search, "new text")
    assert (ids(search, "old"), ids(search, "new")) == ([], ["p0"])
    assert search.remove("acme/a", ["p0", "p9", "p0"]) == 1
    assert ids(search, "new") == []


def test_neighbours_raise_each_other_inside_a_group_only(search: Search) -> None:
    search.put(
        "acme/a",
        [
            Passage(id="question", text="Where did you buy the racket?", group="g", place=1),
            Passage(id="answer", text="At the shop downtown.", group="g", place=2),
            Passage(id="elsewhere", text="At the mall.", group="h", place=2),
            Passage(id="alone", text="At the beach."),
        ],
    )
    hits = search.find("acme/a", "racket", limit=10, smooth=True).hits
    assert [(hit.id, hit.words) for hit in hits] == [("question", ("racket",)), ("answer", ())]
    assert hits[1].lent > 0
    assert ids(search, "racket") == ["question"]


def test_an_aside_counts_and_counts_less(search: Search) -> None:
    search.put("acme/a", [Passage(id="aside", text="we met", aside="Monday"), Passage(id="said", text="met Monday")])
    assert ids(search, "Monday") == ["said", "aside"]


def test_equal_passages_come_in_the_order_of_their_names(search: Search) -> None:
    search.put("acme/a", [Passage(id=name, text="same words") for name in ("c", "a", "b")])
    assert ids(search, "words") == ["a", "b", "c"]
    assert ids(search, "words", limit=2) == ["a", "b"]
    assert ids(search, "words", limit=0) == []


def test_meaning_finds_what_words_do_not_and_says_so(opened: Callable[[Embedder | None], Search]) -> None:
    search = opened(Colours())
    put(search, "a scarlet coat", "an emerald ring", "nothing at all")
    found = search.find("acme/a", "red", limit=1)
    assert [hit.id for hit in found.hits] == ["p0"]
    assert found.hits[0].cosine == pytest.approx(1.0)
    assert "cosine 1.00" in found.hits[0].why
    search.close()


def test_a_failing_embedder_is_stated_and_keywords_go_on(opened: Callable[[Embedder | None], Search]) -> None:
    embedder = Colours()
    search = opened(embedder)
    put(search, "a scarlet coat", "a red hat")
    embedder.failing = True
    found = search.find("acme/a", "red", limit=5)
    assert [hit.id for hit in found.hits] == ["p1"]
    assert "the server is down" in found.note
    assert "the server is down" in search.put("acme/a", [Passage(id="p9", text="red ink")])
    assert {hit.id for hit in search.find("acme/a", "red", limit=5).hits} == {"p1", "p9"}
    search.close()


def test_vectors_of_another_model_are_never_compared(opened: Callable[[Embedder | None], Search]) -> None:
    embedder = Colours()
    search = opened(embedder)
    put(search, "a scarlet coat")
    embedder.name = "other colours"
    assert search.find("acme/a", "red", limit=5).hits == ()
    search.close()


def test_a_file_keeps_what_was_put(tmp_path: Path) -> None:
    path = str(tmp_path / "passages.db")
    first = SqliteSearch(path, Colours())
    put(first, "a scarlet coat", "docs/adr/ADR-0005.md")
    first.close()
    again = SqliteSearch(path, Colours())
    assert ids(again, "red")[:1] == ["p0"]
    assert ids(again, "ADR 0005")[:1] == ["p1"]
    again.close()
