"""WordPiece: texts as the reference cuts them (numbers from the library `tokenizers` with the same vocabulary)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.providers.wordpiece import WordPiece

PIECES = WordPiece.bundled()
FIRST, UNKNOWN, LAST = 101, 100, 102


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        (
            "Convert each line at the invoice-date rate.",
            [10463, 2169, 2240, 2012, 1996, 1999, 6767, 6610, 1011, 3058, 3446, 1012],
        ),
        ("naïve Café ÉTÉ", [15743, 7668, 3802, 2063]),
        ("snake_case, C++ & ADR-0005!", [7488, 1035, 2553, 1010, 1039, 1009, 1009, 1004, 4748, 2099, 1011, 2199, 2629, 999]),
        ("多币种发票 and 日本語カナ", [100, 100, 100, 100, 100, 1998, 1864, 1876, 1950, 1700, 30241]),
        ("환불은 7일", [1469, 30012, 30021, 29996, 30014, 30022, 29999, 30017, 30021, 1021, 29999, 30019, 30022]),
        ("unaffable\tzzqx\u200b😀 x", [14477, 20961, 3468, 100, 1060]),
        ("a" * 101, [UNKNOWN]),
    ],
)
def test_texts_are_cut_as_the_reference_cuts_them(text: str, numbers: list[int]) -> None:
    assert PIECES.encode(text, longest=512) == [FIRST, *numbers, LAST]


@given(text=st.text(), longest=st.integers(2, 40))
def test_any_text_is_cut_within_its_length_and_between_the_marks(text: str, longest: int) -> None:
    found = PIECES.encode(text, longest=longest)
    assert 2 <= len(found) <= longest
    assert (found[0], found[-1]) == (FIRST, LAST)
    assert found[1:-1] == PIECES.encode(text, longest=100_000)[1:-1][: longest - 2]
