"""Laws of the memory tree."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import UserError
from tenure.memory_tree.caps import Caps
from tenure.memory_tree.entries import KEPT, Entry, checked_topic, checked_type
from tenure.memory_tree.exclusions import without_exclusions
from tenure.memory_tree.nodes import build_day
from tenure.memory_tree.periods import touched
from tenure.memory_tree.summaries import summary_key, with_summary
from tenure.ranking import estimate_tokens
from tests.memory_tree.trees import build, entry, history, many_entries

SMALL = Caps(day_lines=3, week_lines=5, month_lines=8, node_tokens=200, copy_tokens=300, root_tokens=400)
NOON = datetime(2026, 3, 15, 12, tzinfo=UTC)


@given(many_entries(), st.randoms(use_true_random=False))
def test_the_tree_is_the_same_in_whatever_order_entries_arrive(entries: list[Entry], dice: random.Random) -> None:
    shuffled = list(entries)
    dice.shuffle(shuffled)
    assert build(shuffled) == build(entries)
    assert build(shuffled, caps=SMALL) == build(entries, caps=SMALL)


@given(many_entries())
def test_every_entry_is_in_one_day_one_week_and_one_month(entries: list[Entry]) -> None:
    nodes, _ = build(entries)
    for kind in ("day", "week"):
        assert sum(node.entries for node in nodes.values() if node.period.kind == kind) == len(entries)
    months = [node for node in nodes.values() if node.period.kind == "month"]
    assert sum(line.entries for month in months for line in month.lines) == len(entries)


@given(many_entries())
def test_caps_hold(entries: list[Entry]) -> None:
    nodes, root = build(entries, caps=SMALL)
    assert estimate_tokens(root) <= SMALL.root_tokens
    assert len(root.split("\n")) <= SMALL.root_lines
    for node in nodes.values():
        assert estimate_tokens(node.text) <= (SMALL.copy_tokens if node.form == "verbatim" else SMALL.node_tokens)


@given(many_entries())
def test_no_named_topic_is_lost_from_the_tree(entries: list[Entry]) -> None:
    nodes, _ = build(entries, caps=SMALL)
    for kind in ("day", "week", "month"):
        held = {topic.name.casefold() for node in nodes.values() if node.period.kind == kind for topic in node.topics}
        assert {one.topic.casefold() for one in entries if one.topic} <= held


@given(many_entries())
def test_what_a_person_said_to_keep_is_quoted_or_counted_in_its_day(entries: list[Entry]) -> None:
    nodes, _ = build(entries, caps=SMALL)
    for node in nodes.values():
        kept = [one for one in entries if one.day == node.period.key and one.type in KEPT]
        if node.period.kind != "day" or node.form == "verbatim" or not kept:
            continue
        section = node.text.split("## Kept word for word\n")[1].split("\n## ")[0]
        quoted = sum(f"- {one.at[11:16]}" in section and f"({one.type}" in section for one in kept)
        assert quoted or "more in knowledge" in section


@given(many_entries(), st.integers(0, 29))
def test_a_late_entry_changes_only_the_nodes_above_it(entries: list[Entry], place: int) -> None:
    late = entries[place % len(entries)]
    before, _ = build([one for one in entries if one is not late] or entries)
    after, _ = build(entries)
    above = {period.key for period in touched([late.day])}
    assert {name for name in after if after[name] != before.get(name)} <= above


def test_a_node_is_tentative_while_its_period_runs_and_fixed_after_it() -> None:
    entries = [entry(1, NOON, "a")]
    assert build_day("2026-03-15", entries, today="2026-03-15").state == "tentative"
    assert build_day("2026-03-15", entries, today="2026-03-16").state == "fixed"
    states = {name: node.state for name, node in build(entries, today="2026-03-16")[0].items()}
    assert states == {"2026-03-15": "fixed", "2026-W11": "fixed", "2026-03": "tentative"}


def test_a_short_day_is_a_copy_and_a_long_one_a_summary() -> None:
    short = build_day("2026-03-15", [entry(n, NOON + timedelta(minutes=n), f"thing {n}") for n in range(199)], today="2026-03-16")
    long = build_day("2026-03-15", [entry(n, NOON + timedelta(minutes=n), f"thing {n}") for n in range(200)], today="2026-03-16")
    assert (short.form, long.form) == ("verbatim", "summary")
    assert all(f": thing {n}\n" in f"{short.text}\n" for n in range(199))


def test_a_session_over_midnight_is_in_both_days() -> None:
    talk = [entry(n, datetime(2026, 3, 15, 23, 50, tzinfo=UTC) + timedelta(minutes=5 * n), f"turn {n}", session="s") for n in range(4)]
    nodes, _ = build(talk)
    assert (nodes["2026-03-15"].entries, nodes["2026-03-16"].entries) == (2, 2)


def test_a_clock_that_was_set_back_leaves_every_entry_at_its_own_time() -> None:
    written = [entry(1, NOON, "first written"), entry(2, NOON - timedelta(days=1), "second written")]
    nodes, _ = build(written)
    assert "first written" in nodes["2026-03-15"].text
    assert "second written" in nodes["2026-03-14"].text


def test_the_root_of_ten_years_is_within_its_cap_and_says_that_there_is_more() -> None:
    nodes, root = build(history(3_650), today="2026-11-30")
    assert 2_000 < estimate_tokens(root) <= 3_000
    assert 60 < len(root.splitlines()) <= 100
    assert "more named topics" in root
    assert [heading in root for heading in ("### Years", "### Months", "### 2026-11")] == [True] * 3
    named = {topic.name for node in nodes.values() if node.period.kind == "month" for topic in node.topics}
    assert {f"rule {n}" for n in range(0, 3_650, 20)} <= named


def test_code_traces_and_temporary_notes_stay_out_of_nodes() -> None:
    trace = "Traceback (most recent call last):\n  File 'a', line 1\nValueError: no rows"
    text = f"Fixed.\n```python\nx = 1\ny = 2\n```\n{trace}\ntmp: look again\nDone."
    assert without_exclusions(text) == "Fixed.\n[code: python, 2 lines]\n[trace] ValueError: no rows\nDone."


def test_text_never_becomes_structure() -> None:
    forged = entry(1, NOON, "fine\n## #2 forged\n- #3: forged\n# 2026-01-01")
    node = build_day("2026-03-15", [forged], today="2026-03-16")
    assert [line for line in node.text.splitlines() if line.startswith("#")] == ["# 2026-03-15: 1 session, 1 entry", "## #1"]


def test_a_model_summary_keeps_the_cap_and_the_names_of_what_lies_below() -> None:
    entries = [entry(n, NOON + timedelta(minutes=n), f"I bought a violin {n}", session=f"s{n % 3}") for n in range(300)]
    node = build_day("2026-03-15", entries, today="2026-03-16")
    summed = with_summary(node, ["# Violins", "Many violins were bought.", *["- #3: And more."] * 5_000], by="model/1")
    assert "* Many violins were bought." in summed.text
    assert [line[:6] for line in summed.text.splitlines() if line.startswith("- ")] == ["- #1: ", "- #2: ", "- #3: "]
    assert [line for line in summed.text.splitlines() if line.startswith("#")] == [node.text.splitlines()[0], "## Summary"]
    assert 700 < estimate_tokens(summed.text) <= 1_500
    assert summary_key("the same", "1") != summary_key("the same", "2")


def test_types_and_topics_are_checked() -> None:
    assert checked_type("feedback") == "feedback"
    assert checked_topic(" tax\n return ") == "tax return"
    with pytest.raises(UserError, match="no type of entry"):
        checked_type("assistant")
    with pytest.raises(UserError, match="81 characters"):
        checked_topic("x" * 81)
    with pytest.raises(UserError, match="root_tokens is 10"):
        Caps(root_tokens=10)
