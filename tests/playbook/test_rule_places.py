"""Where the rules of an instruction file stand, and that a condition put to one leaves every other byte alone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.rule_lists import read_rule_lists
from tenure.playbook.rule_places import APPLY, place_rules, split_conditions, with_conditions

PIECES = (
    "# Rules", "- Sort 🧾 first", "* second rule", "1. numbered", "  - nested entry", "\t- tabbed", "  goes on here", "prose", "", "  ",
    "```", "- [ ] a box", "- 请按开票日换算", "-", "---", "<!-- a comment -->", "- Sort 🧾 first",
    "2) two  ", "\u2028- odd",
)  # fmt: skip
documents = st.tuples(
    st.sampled_from(("", "\ufeff")),
    st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(("\n", "\n", "\r\n", "\r"))), max_size=12),
    st.sampled_from(("", "- last without a break", "prose")),
).map(lambda parts: parts[0] + "".join(line + end for line, end in parts[1]) + parts[2])


@given(documents)
def test_every_placed_rule_is_one_of_the_rules_in_order(text: str) -> None:
    placed = place_rules(text)
    rules, _ = read_rule_lists(text.removeprefix("\ufeff"))
    assert [rule.number for rule in placed] == sorted({rule.number for rule in placed})
    assert all(rules[rule.number - 1].text == rule.text for rule in placed)
    assert all(a.last < b.first for a, b in pairwise(placed))


@given(documents, st.sets(st.integers(1, 8)))
def test_conditions_only_add_lines_and_every_byte_that_was_there_stays(text: str, chosen: set[int]) -> None:
    after = with_conditions(text, dict.fromkeys(chosen, "the task says “sum”"))
    count = after.count(f"{APPLY}the task says “sum”.")
    assert count == len({rule.number for rule in place_rules(text)} & chosen)
    # What was there is there in its order.
    remaining = iter(after)
    assert all(char in remaining for char in text)
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert (after[-1:] in ("\n", "\r")) == (text[-1:] in ("\n", "\r")) or not count
    if not count:
        assert after == text


@given(documents, st.sets(st.integers(1, 8)))
def test_a_condition_becomes_part_of_its_rule_and_is_not_put_there_twice(text: str, chosen: set[int]) -> None:
    conditions = dict.fromkeys(chosen, "the task says sum")
    once = with_conditions(text, conditions)
    assert with_conditions(once, conditions) == once
    before, after = place_rules(text), place_rules(once)
    assert [rule.number for rule in before] == [rule.number for rule in after]
    for old, new in zip(before, after, strict=True):
        assert (f"{APPLY}the task says sum." in new.text) == (old.number in chosen)


@pytest.mark.parametrize(
    ("text", "number", "after"),
    [
        ("- a\r\n- b\r\n", 1, "- a\r\n  - Apply only if x.\r\n- b\r\n"),
        ("- a\n- b", 2, "- a\n- b\n  - Apply only if x."),
        ("\ufeff1. a\n   - deep\n\nprose\n", 1, "\ufeff1. a\n   - deep\n   - Apply only if x.\n\nprose\n"),
        ("\t* a\n", 1, "\t* a\n\t  * Apply only if x.\n"),
        ("- a 🧾\r- b", 1, "- a 🧾\r  - Apply only if x.\r- b"),
        ("- a\n  ```\n  - code\n  ```\n- b\n", 1, "- a\n  ```\n  - code\n  ```\n  - Apply only if x.\n- b\n"),
    ],
)
def test_the_line_stands_below_the_rule_in_the_files_own_manner(text: str, number: int, after: str) -> None:
    assert with_conditions(text, {number: "x."}) == after


@pytest.mark.parametrize(
    ("rule", "body", "condition"),
    [
        ("Call it.\n- Apply only if the task says x.", "Call it.", "the task says x"),
        ("Call it.\n- a detail\n  * Apply only if x.\n- Apply only if y", "Call it.\n- a detail", "x; and y"),
        ("Apply only if it rains.", "", "it rains"),
        ("Call it. Apply only if x.", "Call it. Apply only if x.", ""),
    ],
)
def test_a_rule_is_told_apart_from_its_conditions(rule: str, body: str, condition: str) -> None:
    assert split_conditions(rule) == (body, condition)
