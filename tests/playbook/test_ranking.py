"""Words of any script, token estimates, and choice under a budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.ranking import _ASCII_TOKEN, SAME_AGAIN, choose, choose_apart, estimate_tokens, overlap, words
from tests.strategies import any_texts


@given(any_texts(8), any_texts(8))
def test_the_estimate_of_a_whole_is_about_the_sum_of_its_parts(one: str, other: str) -> None:
    assert estimate_tokens(one) >= 0
    assert (estimate_tokens(one) == 0) <= (not one.strip() or not one.isascii())
    # Rounding of each part, and what the seam cuts or joins.
    assert abs(estimate_tokens(one + other) - estimate_tokens(one) - estimate_tokens(other)) <= 5


LINES = st.text(st.sampled_from("\n\r\t -.,;_|#x7A\x0b\x1c"), max_size=40) | st.sampled_from(
    ["- [les-1] Sum last.", "word", "  | on", "____"]
)


@given(st.lists(LINES, max_size=120).map("\n- ".join))
def test_the_tokens_of_a_long_list_are_those_of_its_items(text: str) -> None:
    """Long texts are counted by items, and short ones as they stand; the count must not tell."""
    assert estimate_tokens(text) == len(_ASCII_TOKEN.findall(text))


@pytest.mark.parametrize("ending", [".", "x", "7", "_", " ", ")", "....", "\r"])
def test_a_line_end_counts_as_the_whole_text_is_cut(ending: str) -> None:
    assert estimate_tokens(f"Sum last{ending}\n") == len(_ASCII_TOKEN.findall(f"Sum last{ending}\n"))


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("Convert each line at the invoice-date rate before summing.", 10, 14),
        ("120.50", 3, 3),
        ("2026-01-31", 4, 7),
        ("请求书", 3, 5),
        ("환불은", 3, 5),
        ("שלום", 1, 5),
        ("[x-1] helpful=9", 6, 9),
        ("\n" * 30, 1, 8),
        (" " * 30, 1, 8),
    ],
)
def test_estimates_are_of_the_size_that_tokenizers_count(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use docker部署worker", ["use", "docker", "部署", "worker"]),
        ("多币种发票", ["多币", "币种", "种发", "发票"]),
        ("換", ["換"]),
        ("請求書はPDF/Aで保存", ["請求", "求書", "書は", "pdf", "a", "で保", "保存"]),
        ("snake_case ADR-0005 src/app.py", ["snake", "case", "adr", "0005", "src", "app", "py"]),
        ("환불은 7일", ["환불", "불은", "7", "일"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("चालान की", ["चालान", "की"]),
        ("ทุกปี", ["ทุก", "กปี"]),
        ("co\u00adop\u200ber🚀ate", ["cooper", "ate"]),
        ("𠮷野家", ["𠮷野", "野家"]),
        ("…!? \x00", []),
    ],
)
def test_words_of_any_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


priced = st.lists(st.tuples(st.integers(0, 40), st.floats(-1, 5)), max_size=12)


@given(priced, st.integers(0, 100))
def test_a_choice_keeps_the_budget_and_leaves_out_only_what_no_longer_fits(parts: list[tuple[int, float]], budget: int) -> None:
    costs, worths = [cost for cost, _ in parts], [worth for _, worth in parts]
    taken = choose(costs, worths, budget)
    assert len(taken) == len(set(taken))
    assert sum(costs[place] for place in taken) <= budget
    assert all(worths[place] > 0 for place in taken)
    assert [worths[place] for place in taken] == sorted((worths[place] for place in taken), reverse=True)
    left = budget - sum(costs[place] for place in taken)
    assert all(costs[place] > left for place in range(len(parts)) if place not in taken and worths[place] > 0)


@given(st.lists(st.sampled_from("abcdef")), st.lists(st.sampled_from("abcdef")))
def test_overlap_is_a_symmetric_share(one: list[str], other: list[str]) -> None:
    assert overlap(one, other) == overlap(other, one)
    assert 0.0 <= overlap(one, other) <= 1.0
    assert overlap(one, one) == (1.0 if one else 0.0)


CHOICES = st.lists(
    st.tuples(st.integers(1, 50), st.floats(-1, 1), st.sampled_from("abcd"), st.sampled_from(["", "", "m", "n"])), max_size=12
)


@given(CHOICES, st.integers(0, 200))
def test_without_likeness_and_votes_choosing_apart_is_choosing(rows: list[tuple[int, float, str, str]], budget: int) -> None:
    costs, worths = [row[0] for row in rows], [row[1] for row in rows]
    assert choose_apart(costs, worths, budget, likeness=lambda one, other: 0.0) == choose(costs, worths, budget)


@given(CHOICES, st.integers(0, 200))
def test_each_choice_is_worth_most_beside_those_before_it(rows: list[tuple[int, float, str, str]], budget: int) -> None:
    costs, worths = [row[0] for row in rows], [row[1] for row in rows]
    votes = [frozenset({row[3]} - {""}) for row in rows]

    def like(one: int, other: int) -> float:
        return float(rows[one][2] == rows[other][2])

    chosen = choose_apart(costs, worths, budget, likeness=like, votes=votes)
    assert sum(costs[place] for place in chosen) <= budget
    spoken = [rows[place][3] for place in chosen if rows[place][3]]
    assert len(spoken) == len(set(spoken)), "an origin spoke twice"
    for number, place in enumerate(chosen):
        before = chosen[:number]
        left = budget - sum(costs[one] for one in before)
        said = {rows[one][3] for one in before}
        rest = (one for one in range(len(rows)) if one not in before and worths[one] > 0 and costs[one] <= left)
        free = [one for one in rest if not votes[one] or not votes[one] <= said]
        value = {one: worths[one] * (1 - SAME_AGAIN * max((like(one, b) for b in before), default=0.0)) for one in free}
        assert value[place] == max(value.values())
