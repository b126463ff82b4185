"""Which change wrote which words: nothing of the text is lost, and nobody is named for what another wrote."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenure.learning.history import Blame
from tenure.playbook.delta import Add, Delta, Operation, Update
from tenure.ports import LedgerEntry
from tenure.serving.cli.authorship import MOST_WORDS, text_by_version
from tests.strategies import texts


def change(version: int, operation: Operation) -> Blame:
    entry = LedgerEntry(version=version, delta=Delta(f"01J{version:02d}", [operation]), writer="w", digest="")
    return Blame(entry=entry, operations=(operation,))


def history(*written: str) -> list[Blame]:
    return [change(place, Add("s", text, id="s-1") if place == 1 else Update("s-1", text=text)) for place, text in enumerate(written, 1)]


@given(st.lists(texts(), min_size=1, max_size=4))
def test_the_pieces_joined_are_the_text_and_every_piece_has_an_author(written: list[str]) -> None:
    pieces = text_by_version(written[-1], history(*written))
    assert "".join(text for text, _ in pieces) == written[-1]
    assert all(version is not None for _, version in pieces)


@given(texts(), texts())
def test_a_text_that_came_back_belongs_to_whoever_wrote_it_first(first: str, second: str) -> None:
    if first.split() != second.split():
        assert {version for _, version in text_by_version(first, history(first, second, first))} == {1}


def test_only_the_words_that_changed_belong_to_the_change() -> None:
    written = history("sum the lines", "sum the net lines")
    assert text_by_version("sum the net lines", written) == [
        ("sum the ", 1),
        ("net ", 2),
        ("lines", 1),
    ]


def test_words_that_no_change_explains_have_no_author() -> None:
    assert text_by_version("something else", history("one thing")) == [("something else", None)]


def test_a_very_long_text_is_attributed_whole() -> None:
    long = "word " * (MOST_WORDS + 1)
    assert text_by_version(long, history("short", long)) == [(long, 2)]
