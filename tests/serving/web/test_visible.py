"""Laws of texts and figures as pages show them."""

from __future__ import annotations

import html
import re
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.run import Run, Task
from tenure.ports import RunOutline, Usage
from tenure.serving.web.charts import HEIGHT, WIDTH
from tenure.serving.web.figures import cache_by_day, cost_by_day, learning_curve, outcomes_by_day, share_of
from tenure.serving.web.visible import compared, holds_hidden, shown, with_marks, without_hidden
from tests.stores.contract import nasty_texts

ARRANGING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u2028\u0000\u0007\u001b\u0085"


@given(nasty_texts)
def test_a_shown_text_holds_no_markup_of_its_own_and_nothing_that_turns_it_around(text: str) -> None:
    page = str(shown(text))
    inside = page.removeprefix("<bdi>").removesuffix("</bdi>")
    assert re.sub(r'<span class="hidden-mark">U\+[0-9A-F]{4,6}</span>', "", inside).count("<") == 0
    assert not set(page) & set(ARRANGING)


@given(nasty_texts)
def test_what_is_marked_is_the_text_and_its_hidden_characters_by_their_numbers(text: str) -> None:
    marked = re.sub(r'<span class="hidden-mark">U\+([0-9A-F]+)</span>', lambda found: f"&#xE000;{found[1]}&#xE001;", str(with_marks(text)))
    back = re.sub("\ue000([0-9A-F]+)\ue001", lambda found: chr(int(found[1], 16)), html.unescape(marked))
    if "\ue000" not in text and "\r\n" not in text:
        assert back == text


@pytest.mark.parametrize("text", ["می‌خواهم", "👩‍👩‍👧", "क्‍ष", "שלום\u200f!", "日本語、\u3000全角", "tab\tand\nline"])
def test_what_a_script_or_an_emoji_needs_is_left_alone(text: str) -> None:
    assert str(shown(text)) == f"<bdi>{text}</bdi>"
    assert without_hidden(text) == text


@given(nasty_texts)
def test_a_text_to_be_edited_hides_nothing_and_lacks_nothing_else(text: str) -> None:
    clean = without_hidden(text)
    assert not set(clean) & set(ARRANGING)
    assert holds_hidden(text) is (clean != text)


@given(nasty_texts, nasty_texts)
def test_a_difference_reads_as_the_one_text_and_as_the_other(before: str, after: str) -> None:
    found = compared(before, after)
    assert "".join(one.text for one in found if one.kind != "new") == before
    assert "".join(one.text for one in found if one.kind != "gone") == after


@given(st.integers(0, 500), st.integers(1, 500))
def test_an_interval_holds_its_share_and_stays_within_0_and_1(successes: int, more: int) -> None:
    found = share_of(successes, successes + more - (1 if successes else 0) or 1)
    assert 0 <= found.lower <= found.mean <= found.upper <= 1


HEAD = Run(id="r", task=Task(text="t"))


def outlines(*successes: bool | None) -> list[RunOutline]:
    """Runs of one day, newest first."""
    ended = "2026-06-15T08:00:00+00:00"
    found = [RunOutline(id=f"r{place}", place=place, task="t", success=one, ended=ended, head=HEAD) for place, one in enumerate(successes)]
    return found[::-1]


@given(st.lists(st.sampled_from([True, False, None]), max_size=80))
def test_a_learning_curve_stays_in_its_frame_and_ends_with_the_newest_runs(ends: list[bool | None]) -> None:
    chart = learning_curve(outlines(*ends))
    decided = [one for one in ends if one is not None]
    numbers = [float(one) for one in re.findall(r"-?[\d.]+", f"{chart.line} {chart.band}")]
    assert all(0 <= one <= max(WIDTH, HEIGHT) for one in numbers)
    assert chart.empty is (not decided)
    if decided:
        window = min(20, max(3, len(decided) // 3), len(decided))
        newest = sum(decided[-window:]) / window
        assert chart.rows[-1][1] == f"{newest:.0%}"
        assert chart.rows[-1][0] == str(len(decided))


def test_days_are_counted_and_what_is_older_is_left_out() -> None:
    old = RunOutline(id="old", place=0, task="t", success=True, ended="2026-01-01T00:00:00+00:00", head=HEAD)
    chart = outcomes_by_day([*outlines(True, False, False, None), old], date(2026, 6, 15))
    assert chart.rows[-1] == ("2026-06-15", "1", "2", "1")
    assert sum(int(number) for row in chart.rows for number in row[1:]) == 4
    assert len(chart.bars) == 3


def test_a_price_that_is_not_known_is_not_shown_as_0() -> None:
    known = Usage(calls=1, input_tokens=100, output_tokens=20, cached_tokens=25, cost_usd=Decimal("0.5"))
    unknown = Usage(calls=1, input_tokens=300, output_tokens=80, cost_usd=None)
    assert cost_by_day({"2026-06-14": known, "2026-06-15": known}).rows[-1] == ("2026-06-15", "$0.5000")
    mixed = cost_by_day({"2026-06-14": known, "2026-06-15": unknown})
    assert (mixed.title, mixed.rows[-1]) == ("Tokens by day", ("2026-06-15", "380"))
    assert cache_by_day({"2026-06-14": known, "2026-06-15": Usage()}).rows == [("2026-06-14", "25%"), ("2026-06-15", "no calls")]
    assert cost_by_day({"2026-06-15": Usage()}).empty
