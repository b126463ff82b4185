"""The root of a long history: always short, and never silent about what it leaves out."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.memory_tree.caps import Caps
from tenure.memory_tree.entries import Entry
from tenure.memory_tree.nodes import build_day
from tenure.memory_tree.root import build_root
from tenure.ranking import estimate_tokens
from tests.memory_tree.trees import build, entry, history

FIRST = datetime(2016, 12, 1, 9, tzinfo=UTC)
NOON = datetime(2026, 3, 15, 12, tzinfo=UTC)
NAMES = st.one_of(
    st.text(min_size=1, max_size=500), st.sampled_from(["項目" * 250, "a" * 500, "x\n## Active\n- forged: (project)", "\u2028- a"])
)


def within(root: str, caps: Caps) -> bool:
    return estimate_tokens(root) <= caps.root_tokens and len(root.splitlines()) <= caps.root_lines


@given(
    st.lists(st.tuples(st.integers(0, 40_000), NAMES, st.sampled_from(["user", "feedback", "project", "reference", "log"])), max_size=40),
    st.builds(Caps, root_tokens=st.integers(400, 3_000), root_lines=st.integers(20, 100), node_tokens=st.integers(200, 1_500)),
)
@settings(max_examples=50)
def test_any_history_of_a_century_is_within_its_caps_and_names_its_first_and_last_day(
    drawn: list[tuple[int, str, str]], caps: Caps
) -> None:
    entries = [entry(n, datetime(1950, 1, 1, tzinfo=UTC) + timedelta(days=days), "said", topic=" ".join(name.split()), type=kind)
               for n, (days, name, kind) in enumerate(drawn)]  # fmt: skip
    nodes, root = build(entries, today="2070-01-01", caps=caps)
    assert within(root, caps)
    assert all(estimate_tokens(node.text) <= caps.node_tokens for node in nodes.values() if node.form == "summary")
    if not entries:
        return
    assert f"{min(one.day for one in entries)} to {max(one.day for one in entries)}" in root
    named = {(one.topic.casefold(), one.type if one.type not in ("user", "feedback") else "kept") for one in entries if one.topic}
    named |= {
        (one.type, "kept" if one.type in ("user", "feedback") else one.type) for one in entries if not one.topic and one.type != "log"
    }
    index = root.split("## History")[0]
    shown = len(re.findall(r"^- .*\((?:user|feedback|project|reference|log), ", index, re.MULTILINE))
    counted = re.search(r"([\d,]+) more named topics? in", root)
    assert shown + (int(counted[1].replace(",", "")) if counted else 0) == len(named)


@pytest.mark.parametrize("name", ["topic {n}", "項目{n}" * 60])
def test_five_thousand_topics_of_ten_years_are_all_in_the_tree_and_counted_in_the_root(name: str) -> None:
    entries: list[Entry] = [
        entry(
            n, FIRST + timedelta(hours=17 * n), f"We spoke of number {n}.", topic=name.format(n=n).strip(), type=("log", "project")[n % 2]
        )
        for n in range(5_000)
    ]
    nodes, root = build(entries, today="2026-11-30")
    assert within(root, Caps())
    for kind in ("day", "week", "month"):
        held = {topic.name for node in nodes.values() if node.period.kind == kind for topic in node.topics if topic.given}
        assert held == {one.topic for one in entries}
    shown = len(re.findall(r"^- .*\((?:log|project), ", root.split("## History")[0], re.MULTILINE))
    assert f"{5_000 - shown:,} more named topics in 2016-12 to 2026-" in root
    for node in nodes.values():
        if node.period.kind != "day" and node.form == "summary":
            listed = len(re.findall(r"^- .*\((?:log|project), ", node.text, re.MULTILINE))
            given = sum(topic.given for topic in node.topics)
            assert listed == given or f"- {given - listed} more in " in node.text


def test_a_long_day_names_its_topics_or_says_how_many_more_there_are() -> None:
    entries = [entry(n, NOON + timedelta(minutes=n), "kiln\n" * 9, topic=f"matter {n}", session=f"s{n}") for n in range(40)]
    node = build_day("2026-03-15", entries, today="2026-03-16")
    line = next(line for line in node.text.splitlines() if line.startswith("Topics: "))
    shown = line.count("matter ")
    assert 0 < shown < 40
    assert line.endswith(f"; {40 - shown} more in its list of topics")
    assert len([topic for topic in node.topics if topic.given]) == 40


def test_the_root_of_ten_years_names_every_year() -> None:
    _, root = build(history(3_650, last=date(2026, 11, 30)), today="2026-11-30")
    assert within(root, Caps())
    assert all(f"- {year}:" in root or f"{year}-" in root for year in range(2016, 2027))


def test_the_root_of_nothing_is_a_sentence() -> None:
    assert build_root([], today="2026-11-30") == "# Memory\n\nNothing is kept yet (days in UTC)."
