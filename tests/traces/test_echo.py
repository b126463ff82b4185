"""Tenure's own words are taken out of what it reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.traces.echo import CLOSE, OPEN, without_injected

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
