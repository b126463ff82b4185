"""What of many conversations goes into a budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenure.excerpts import LEAST_TOKENS, Piece, excerpt, facts, pack
from tenure.ranking import estimate_tokens
from tests.timing import assert_within, seconds

PIECES = st.lists(
    st.builds(
        lambda source, under, worth, cost: Piece(source=source, under=under, text="", worth=worth, cost=cost),
        st.sampled_from("abc"),
        st.sampled_from("xy"),
        st.floats(0, 1),
        st.integers(1, 50),
    ),
    max_size=10,
)


@given(PIECES, st.integers(0, 120), st.integers(0, 10))
def test_a_budget_is_never_passed(pieces: list[Piece], budget: int, heading: int) -> None:
    chosen = pack(pieces, budget, heading=heading)
    headings = {pieces[place].under for place in chosen}
    assert sum(pieces[place].cost for place in chosen) + heading * len(headings) <= budget
    assert len(set(chosen)) == len(chosen)
    assert all(pieces[place].worth > 0 for place in chosen)


def test_another_source_comes_before_more_of_the_same() -> None:
    pieces = [
        Piece(source="a", text="", worth=1.0, cost=10),
        Piece(source="a", text="", worth=0.9, cost=10),
        Piece(source="b", text="", worth=0.5, cost=10),
    ]
    assert pack(pieces, 20) == [0, 2]


def test_of_equal_worth_the_shorter_goes_first() -> None:
    assert pack([Piece(source="a", text="", worth=1.0, cost=80), Piece(source="b", text="", worth=1.0, cost=40)], 80) == [1]


def test_a_word_of_thanks_is_not_worth_more_for_being_short() -> None:
    assert pack([Piece(source="a", text="", worth=1.0, cost=4), Piece(source="b", text="", worth=1.1, cost=15)], 15) == [1]


@given(st.text(max_size=900), st.sets(st.sampled_from(["rate", "invoic"])))
def test_an_excerpt_is_part_of_the_text_and_long_enough(text: str, stems: set[str]) -> None:
    cut = excerpt(text, stems)
    assert cut.strip() in text
    assert estimate_tokens(cut) >= min(estimate_tokens(text.strip()), LEAST_TOKENS) - 10


def test_an_excerpt_holds_what_was_asked_and_stated() -> None:
    padding = "This sentence is about nothing in particular and goes on for a while without a fact. " * 8
    text = f"{padding}I bought the tennis racket downtown for 120 dollars last week. {padding}"
    cut = excerpt(text, {"racket"})
    assert "racket downtown for 120" in cut
    assert estimate_tokens(cut) < estimate_tokens(text) / 2


def test_a_very_long_text_is_cut_where_the_question_is_and_not_weighed_whole() -> None:
    filler = "Nothing of note was said here today. " * 60_000
    text = f"{filler}We paid the zebra farm 1,200 dollars for the fence. {filler}"
    found = excerpt(text, {"zebra", "fenc"})
    assert "zebra farm 1,200" in found
    assert found in text
    assert_within(3, lambda: seconds(lambda: excerpt(text, {"zebra", "fenc"})))  # 8 seconds and more where each sentence is weighed


def test_figures_and_what_one_did_are_facts_and_questions_are_not() -> None:
    assert facts("I just bought 2 lamps and 3 chairs last week") == 4
    assert facts("Can you recommend a lamp?") == 0
