"""Recall in a memory by meaning: vectors are made in portions, what stands out is found by them alone, and they go with their texts."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tenure import Tenure
from tenure.learning import embedding
from tenure.memory_tree.entries import Entry
from tenure.stores.migrations import HEAD
from tenure.testing import WordEmbedder
from tests.learning.test_forgetting import found_in_files

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MEANING = {"automobile": "car", "vehicle": "car"}


class Fixed:
    """A clock that stands still."""

    def now(self) -> datetime:
        return NOW


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder(384, synonyms=MEANING)


@pytest.fixture(params=["memory", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path, embedder: WordEmbedder) -> Tenure:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'book.db'}"
    return Tenure.open(url, scope="local/desk", embedder=embedder, clock=Fixed())


def said(number: int, text: str, *, days: int = 1, session: str = "") -> Entry:
    at = NOW - timedelta(days=days, minutes=60 - number)
    day = at.date().isoformat()
    return Entry(
        id=f"e{number}", at=at.isoformat(timespec="microseconds"), day=day, text=text, session=session or f"s{number}", role="user"
    )


def fill(book: Tenure) -> None:
    book.memory.keep([*(said(n, f"topic{n} rule{n}") for n in range(20)), said(30, "wash car sunday", days=3)])


def test_what_shares_no_word_is_recalled_by_its_meaning_and_without_an_embedder_is_not(book: Tenure) -> None:
    fill(book)
    assert "Nothing in the memory holds any word" in book.memory.recall("automobile").note  # no vectors yet
    book.embed()
    found = book.memory.recall("automobile")
    assert ([one.text for one in found.found], found.note) == (["wash car sunday"], "")
    assert book.memory.recall("zebra").found == ()  # nothing stands out
    plain = Tenure(book.store, book.scope, clock=book.clock, ids=book.ids, embedder="none")
    assert plain.memory.recall("automobile").found == ()
    assert plain.memory.recall("car").found


def test_a_failing_embedder_is_said_and_words_serve(book: Tenure, embedder: WordEmbedder) -> None:
    fill(book)
    book.embed()
    embedder.failing = "the model is gone"
    found = book.memory.recall("car")
    assert [one.text for one in found.found] == ["wash car sunday"]
    assert "the model is gone" in found.note
    book.memory.log("something new")
    assert "the model is gone" in book.memory.compact().problems[0]


def test_compacting_embeds_a_portion_and_starting_a_session_waits_for_none(
    book: Tenure, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PORTION", 10)
    fill(book)
    book.memory.start()
    book.memory.flush("what would be lost")
    assert embedder.embedded == []
    book.memory.compact()
    assert len(embedder.embedded) == 10
    standing = book.vectors.standing()
    assert standing is not None
    assert (standing.embedded, standing.missing) == (10, 34)
    book.memory.compact()
    assert len(embedder.embedded) == 20
    done = book.embed()
    assert done is not None
    assert done.complete
    standing = book.vectors.standing()
    assert standing is not None
    assert (standing.embedded, standing.missing) == (44, 0)
    book.memory.compact()
    assert len(embedder.embedded) == 44


@pytest.mark.parametrize("wanted", [{"subjects": ["quetzalline"]}, {"scope": True}])
def test_nothing_of_what_is_forgotten_is_left_in_vectors(tmp_path: Path, embedder: WordEmbedder, wanted: dict[str, object]) -> None:
    folder = tmp_path / "db"
    folder.mkdir()
    with Tenure.open(f"sqlite:///{folder / 'book.db'}", scope="local/desk", embedder=embedder, clock=Fixed()) as book:
        fill(book)
        book.memory.keep([said(40, "quetzalline called about the car", session="s-quetzalline")])
        book.embed()
        assert "called about" in book.memory.recall("vehicle").text
        book.forget(**wanted)  # type: ignore[arg-type]
        assert found_in_files(folder, ("quetzall",)) == []
        assert "called about" not in book.memory.recall("vehicle").text
        with book.store.reading(book.scope) as look:
            left = sum(look.vector_counts().values())
        assert left == (0 if "scope" in wanted else 42)


def test_a_memory_of_an_earlier_schema_knows_its_sessions_and_persons(tmp_path: Path, embedder: WordEmbedder) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    with Tenure.open(url, scope="local/desk", embedder=embedder, clock=Fixed()) as book:
        fill(book)
        book.memory.keep(
            [Entry(id="told", at="2026-11-29T12:00:00.000000+00:00", day="2026-11-29", text="yes", session="s1", role="assistant")]
        )
    connection = sqlite3.connect(tmp_path / "book.db")
    before = connection.execute("SELECT id, session, own FROM memory_entries ORDER BY id").fetchall()
    connection.executescript(
        """
        DROP INDEX ix_memory_entries_day;
        ALTER TABLE memory_entries DROP COLUMN session;
        ALTER TABLE memory_entries DROP COLUMN own;
        CREATE INDEX ix_memory_entries_day ON memory_entries (tenant, scope, day, at, id);
        DROP TABLE api_keys;
        DROP TABLE audit;
        DROP TABLE kept_replies;
        DROP TABLE workers;
        DROP TABLE turns;
        DROP TABLE conversations;
        DROP TABLE conversation_replies;
        DROP TABLE prompt_generations;
        DROP TABLE web_sessions;
        ALTER TABLE runs DROP COLUMN verdict_learned;
        UPDATE alembic_version SET version_num = '0012';
        """
    )
    connection.close()
    with Tenure.open(url, scope="local/desk", embedder=embedder, clock=Fixed()) as book:
        assert book.memory.recall("wash car").found
    connection = sqlite3.connect(tmp_path / "book.db")
    assert connection.execute("SELECT id, session, own FROM memory_entries ORDER BY id").fetchall() == before
    assert {(session, own) for one, session, own in before if one in ("told", "e1")} == {("s1", 0), ("s1", 1)}
    assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
    connection.close()
