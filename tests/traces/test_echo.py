"""Tenure's own words are taken out of what it reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.traces.echo import CLOSE, OPEN, is_own_tool, without_injected
from tenure.traces.report import ReadReport
from tenure.traces.transcript import Transcript
from tests.timing import assert_growth, seconds

BLOCK = f'{OPEN} scope="local/shop" at="2026-03-01">\n## rules\n- Use pnpm.\n{CLOSE}'

pieces = st.lists(
    st.sampled_from([OPEN, OPEN + ">", OPEN + " a='1'>", CLOSE, "</tenure-context >", "<tenure-con", "text>", "x\n", "é", " "])
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"before {BLOCK} after", "before  after"),
        (f"{BLOCK}{BLOCK}", ""),
        (f"a{BLOCK}b{BLOCK}c", "abc"),
        (f"a{OPEN}>outer {BLOCK} still outer{CLOSE}b", "ab"),
        (f"a{OPEN}>never closed", "a"),
        (f"a{CLOSE}b", f"a{CLOSE}b"),
        (f"{OPEN}ual help", f"{OPEN}ual help"),
        ("nothing of ours", "nothing of ours"),
        (f"a{BLOCK.upper()}b", "ab"),
        ("a<Tenure-Context>x</tenure-contexT >b", "ab"),
        ("a<!-- TENURE:BEGIN -->x<!-- Tenure:End -->b", "ab"),
    ],
)
def test_a_block_is_removed_and_the_rest_stays(text: str, kept: str) -> None:
    assert without_injected(text) == kept


@given(st.text(), st.text())
def test_text_around_a_block_is_kept_to_the_letter(before: str, after: str) -> None:
    assert without_injected(before + BLOCK + after) == before + after


@given(pieces.map("".join))
def test_removal_leaves_no_block_and_does_nothing_twice(text: str) -> None:
    once = without_injected(text)
    assert without_injected(once) == once
    assert OPEN + ">" not in once
    assert OPEN + " " not in once


def test_time_grows_with_the_length_of_a_text_made_to_take_long() -> None:
    def taken(n: int) -> float:
        text = "<tenure-con" * n + "<tenure-context ></tenure-context>" + "text ></tenure-context>" * n
        left = without_injected(text)
        assert OPEN + " " not in left
        assert without_injected(left) == left
        return seconds(lambda: without_injected(text))

    assert_growth(taken, 2_000, 20_000, at_most=30)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("mcp__tenure__context", True),
        ("mcp__plugin_lessons_tenure__report_outcome", True),
        ("tenure_recall", True),
        ("tenure.propose_lesson", True),
        ("mcp_Tenure_submit_reflection", True),
        ("context", False),
        ("mcp__tenures__context", False),
        ("mcp__tenure__context__more", False),
        ("tenure", False),
        ("read_tenure_file", False),
    ],
)
def test_tools_of_ours_are_known_by_the_names_that_hosts_give_them(name: str, own: bool) -> None:
    assert is_own_tool(name) is own


def test_what_our_tools_were_asked_and_answered_is_no_step() -> None:
    transcript = Transcript(ReadReport())
    transcript.person("find the orders", "2026-01-05T09:00:00Z")
    transcript.call("mcp__tenure__report_outcome", {"run": "x"}, "1", "2026-01-05T09:01:00Z")
    transcript.result("Run 'x' is not in scope", "1", flag=True, at="2026-01-05T09:02:00Z")
    transcript.call("tenure_context", "{}")
    transcript.result("Always pay at once.")
    transcript.call("search", {"q": "x"}, "2")
    transcript.result("[]", "2")
    assert [step.name or step.role for step in transcript.steps] == ["user", "search", "search"]
    assert transcript.ended == "2026-01-05T09:02:00Z"
