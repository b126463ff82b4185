"""What of earlier conversations is shown for a new request."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.learning.talks import Talk, choose_remembered, index_talks, remember
from tenure.ranking import estimate_tokens
from tenure.stores.search_in_memory import InMemorySearch

SCOPE = "local/talks"
PADDING = "This goes on about nothing in particular for a good while. " * 12
TALKS = [
    Talk(
        id="racket",
        day="2023-05-20",
        turns=(f"{PADDING}I bought a tennis racket downtown for 120 dollars. {PADDING}", "Thanks!"),
        replies=("Enjoy the court!",),
    ),
    Talk(id="orchids", day="2023-05-21", turns=("How do I water orchids?",), replies=("Once a week, from below, with rain water.",)),
    Talk(id="bread", day="2023-06-02", turns=("My loaf was flat again, 3 times in a row.",), replies=("Feed the starter more often.",)),
]


def asked(text: str, talks: list[Talk] = TALKS, budget: int = 1_000) -> list[tuple[str, str]]:
    turns, whole = InMemorySearch(), InMemorySearch()
    index_talks(turns, whole, SCOPE, talks)
    found, _ = remember(turns, whole, SCOPE, text, talk={talk.id: talk for talk in talks}.__getitem__)
    return [(one.talk, one.text) for one in choose_remembered(found, budget)]


def test_a_long_turn_is_cut_to_what_it_states() -> None:
    (talk, text), *_ = asked("which racket was it")
    assert talk == "racket"
    assert "racket downtown for 120" in text
    assert estimate_tokens(text) < 120


def test_a_talk_is_found_by_what_was_answered_and_shows_what_the_user_said() -> None:
    assert asked("rain water") == [("orchids", "How do I water orchids?")]
    assert asked("feeding a starter") == [("bread", "My loaf was flat again, 3 times in a row.")]


def test_nothing_is_shown_for_what_no_talk_was_about() -> None:
    assert asked("volcano eruptions") == []


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 200), st.sampled_from(["racket", "water orchids", "flat loaf racket", "天气", '"']))
def test_a_budget_is_never_passed_headings_counted(budget: int, text: str) -> None:
    turns, whole = InMemorySearch(), InMemorySearch()
    index_talks(turns, whole, SCOPE, TALKS)
    found, _ = remember(turns, whole, SCOPE, text, talk={talk.id: talk for talk in TALKS}.__getitem__)
    chosen = choose_remembered(found, budget)
    headings = {f"## {one.piece.under}\n" for one in chosen}
    assert sum(estimate_tokens(one.piece.text) for one in chosen) + sum(map(estimate_tokens, headings)) <= budget


@pytest.mark.parametrize("name", ["secret racket 2023", "0"])
def test_the_name_of_a_talk_is_neither_searched_nor_shown(name: str) -> None:
    renamed = [Talk(id=name, day="2023-05-21", turns=("How do I water orchids?",)), *TALKS[2:]]
    assert asked("secret racket", renamed) == []
    assert all(name not in text for _, text in asked("orchids", renamed))


def test_a_word_of_thanks_is_not_shown_and_a_short_turn_with_a_word_of_the_question_is() -> None:
    talks = [Talk(id="racket", day="2023-05-20", turns=("Which racket is good for clay?", "Thanks!", "Clay then."))]
    assert {text for _, text in asked("clay rackets", talks)} == {"Which racket is good for clay?", "Clay then."}


def test_turns_found_by_words_that_say_little_do_not_dilute_talks_found_by_others() -> None:
    assert asked("feeding a starter") == [("bread", "My loaf was flat again, 3 times in a row.")]
