"""One signature covers a family of errors, and no more."""

from __future__ import annotations

import itertools
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenure.roles.signatures import MASKED_LIMIT, error_subjects, headline, mask, says_something, signature
from tests.roles.told import call, gave, refused, told

numbers = st.one_of(
    st.integers(0, 10**9).map(str),
    st.decimals(0, 10**6, places=2).map(str),
    st.integers(1000, 10**9).map(lambda n: f"{n:,}"),
    st.integers(0, 10**6).map(lambda n: f"-{n}"),
)
uuids = st.uuids().map(str)
ids = st.one_of(
    uuids,
    st.integers(0, 2**64 - 1).map(lambda n: f"{n:016x}7"),
    st.tuples(st.text("abcdefghij_", min_size=1, max_size=12), st.integers(0, 10**7)).map(lambda p: f"{p[0]}{p[1]}"),
    st.tuples(st.text(string.ascii_uppercase, min_size=1, max_size=4), st.integers(0, 10**5)).map(lambda p: f"{p[0]}{p[1]}"),
    st.integers(0, 10**7).map(lambda n: f"#W{n}"),
).filter(lambda text: not text.startswith("_"))
dates = st.one_of(
    st.dates().map(str),
    st.datetimes().map(lambda at: at.replace(microsecond=0).isoformat()),
    st.datetimes().map(lambda at: f"{at:%B} {at.day}, {at.year:04}"),
    st.datetimes().map(lambda at: f"{at.day} {at:%b} {at.year:04}"),
)
FRAMES = [
    "Error: order {} not found",
    "amount does not match {}",
    "total is {}, but paid {}",
    "cannot book {} on the day given ({})",
    "Exit code 1\nvalue {} is out of range",
    '{{"error": {{"code": "bad_value", "message": "value {} is bad"}}}}',
    "余额不足，需要{}元",
    "주문 {} 을 찾을 수 없습니다",
]


@given(st.sampled_from(FRAMES), st.data())
def test_errors_that_differ_in_values_of_one_sort_share_a_signature(frame: str, data: st.DataObject) -> None:
    sort = data.draw(st.sampled_from([numbers, ids, dates, uuids]))
    one, other = (frame.format(*(data.draw(sort) for _ in range(2))) for _ in range(2))
    assert signature("t", one) == signature("t", other)


values = st.text(string.ascii_letters + " -", max_size=30).filter(lambda text: len(text.split()) < 4)  # four words are a sentence


@given(st.sampled_from(FRAMES), values, values)
def test_errors_that_differ_in_a_quoted_value_share_a_signature(frame: str, one: str, other: str) -> None:
    if frame.startswith("{{"):
        return
    first, second = (frame.format(f"'{text}'", f"'{text}'") for text in (one, other))
    assert mask(first) == mask(second)


alphabet = st.one_of(st.sampled_from("'\"`#.,:;-_/\\[]{}()%$@ \n\r\t\x00\x1b5aZé漢가«»“”『』"), st.characters())
nasty = st.text(alphabet=alphabet, max_size=200)


@given(nasty)
@example("'a 'b' c d e f'")
@example('{"message": "{\\"message\\": \\"x 5\\"}"}')
@example("Error: Error: exit code 1: x")
@example("it\"s 'x' \"")
def test_masking_twice_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) == once
    assert len(once) <= MASKED_LIMIT
    assert '"' not in once
    assert "\n" not in once


@pytest.mark.parametrize("size", [20_000, 1_000_000])
def test_a_huge_error_is_masked_by_its_ends(size: int) -> None:
    text = "Traceback (most recent call last):\n" + '  File "a.py", line 3\n' * (size // 22) + "KeyError: 'total'"
    assert mask(text) == "KeyError: '#'"


MASKED = {
    "Error: payment amount 305 does not match": "payment amount # does not match",
    "flight XY030 not available on date 2024-05-13": "flight # not available on date #",
    "user Alice not found": "user # not found",
    "passenger Mia Li is not on reservation QWERTY": "passenger # is not on reservation #",
    "no route from ABC to DEF on May 20, 2024": "no route from # to # on #",
    "card gift_card_5094406 is blocked for kim@example.org": "card # is blocked for #",
    "cannot open /var/lib/data/x.csv: permission denied": "cannot open #: permission denied",
    "cat: notes.txt: No such file or directory": "cat: #: No such file or directory",
    "GET https://example.org/a/b?c=1 failed with 503": "GET # failed with #",
    "KeyError: 'user_id'": "KeyError: '#'",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 not found": "commit # not found",
    "bad ids [1, 2, 3]": "bad ids [#]",
    "/bin/bash: line 1: pnpm: command not found": "pnpm: command not found",
    "'utf-8' codec can't decode byte 0xff in position 12": "'#' codec can't decode byte # in position #",
    "expected base64 data at 10:30 am": "expected base64 data at #",
    "Error: 找不到用户 “张三”": "找不到用户 '#'",
    "ユーザー「田中」が見つかりません": "ユーザー'#'が見つかりません",
    "2026年3月2日没有空位": "#没有空位",
    "Payment Not Accepted": "Payment Not Accepted",
    '{"detail": [{"loc": ["body", "amount"], "msg": "field required"}]}': "body.amount: field required",
    "Error code: 400 - {'error': {'message': \"Bad value 'x'\", 'type': 'bad_request'}}": "Error code: #: bad_request: Bad value '#'",
    "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://example.org/x": "npm ERR! # Not Found - GET #",
    "\x1b[31mError\x1b[0m: disk is full": "disk is full",
}


@pytest.mark.parametrize("error", MASKED)
def test_values_are_masked_and_words_stay(error: str) -> None:
    assert mask(error) == MASKED[error]


FAMILIES = [
    "Error: order not found",
    "Error: user not found",
    "Error: payment method not found",
    "Error: Payment Method Not Found",
    "Error: Order Not Found",
    "Error: not enough seats on flight XY1",
    "Error: flight XY1 not available on date 2024-05-13",
    "ModuleNotFoundError: No module named 'a'",
    "AttributeError: 'a' object has no attribute 'b'",
    "TypeError: f() missing 1 required positional argument: 'x'",
    "TypeError: f() got an unexpected keyword argument 'x'",
    "cat: a.txt: No such file or directory",
    "cat: a.txt: Permission denied",
    "npm: command not found",
    "pnpm: command not found",
    "String to replace not found in file.",
    "String to replace was found more than once in file.",
    '{"error": "not_found", "message": "no such invoice"}',
    '{"error": "not_found", "message": "no such customer"}',
    "{'error': 'balance too low'}",
    "{'error': 'limit reached'}",
    '"User is locked"',
    '"User is unknown"',
    "余额不足",
    "用户不存在",
    "ENOENT: no such file",
    "EACCES: permission denied",
]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(FAMILIES, 2)))
def test_families_stay_apart(one: str, other: str) -> None:
    assert mask(one) != mask(other)


def test_the_tool_is_part_of_the_signature() -> None:
    assert signature("book", "Error: amount does not match 5") == "tool-error:book:amount does not match #"
    assert signature("book", "x 1") != signature("pay", "x 1")


def test_the_headline_of_a_traceback_is_its_exception_and_of_a_shell_its_complaint() -> None:
    assert headline("Exit code 1\nTraceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'x'") == "KeyError: 'x'"
    assert headline("Exit code 2\nbuilding\nstep 1\nerror: linker not found\ndone") == "linker not found"
    assert headline("Exit code 2\nall quiet\nand over") == "all quiet"


@pytest.mark.parametrize("masked", ["", "#", "Exit code #", "error", "command failed", "- # -"])
def test_an_error_without_a_word_on_the_fault_says_nothing(masked: str) -> None:
    assert not says_something(masked)


@pytest.mark.parametrize("masked", ["order not found", "KeyError: '#'", "余额不足"])
def test_an_error_with_a_word_on_the_fault_says_something(masked: str) -> None:
    assert says_something(masked)


def test_the_subjects_of_a_run_are_its_rejected_calls() -> None:
    run = told(call("a"), refused("no 1"), call("a"), refused("no 2"), call("b"), gave("ok"))
    assert error_subjects(run) == {"tool-error:a:no #"}
