"""Hidden characters are named, those that a script needs are not; quoting makes foreign text harmless."""

from __future__ import annotations

import base64
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.governance.hidden_text import decoded_texts, encoded_blob, hidden_characters, lone_surrogate, quote
from tests.strategies import any_texts


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a\u202eb", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("a\u2066b\u2069", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("a\u200bb", "U+200B ZERO WIDTH SPACE"),
        ("a\u200db", "U+200D ZERO WIDTH JOINER"),
        ("a\u200eb", "U+200E LEFT-TO-RIGHT MARK"),
        ("a\u2060b", "U+2060 WORD JOINER"),
        ("a\ufeffb", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("a\u00adb", "U+00AD SOFT HYPHEN"),
        ("a\x00b", "U+0000 control character"),
        ("a\x1bb", "U+001B control character"),
        ("a\x85b", "U+0085 control character"),
        ("a\u3164b", "U+3164 HANGUL FILLER"),
        ("a\U000e0041b", "U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("\u4e2d\ufe00\ufe01", "U+FE01 VARIATION SELECTOR-2"),
        ("a\U000e0100b", "U+E0100 VARIATION SELECTOR-17"),
    ],
)
def test_a_hidden_character_is_named(text: str, name: str) -> None:
    assert name in hidden_characters(text)


@pytest.mark.parametrize(
    "text",
    [
        "plain\twith tab\r\nand lines",
        "caf\u00e9, na\u00efve, \u4e2d\u6587, \ud55c\uad6d\uc5b4",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian: the non-joiner is spelling
        "\u0915\u094d\u200d\u0937",  # Hindi: the joiner shapes the letter
        "\u200f\u05e9\u05dc\u05d5\u05dd (abc)\u200f",  # Hebrew with marks around a bracket
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f 1\ufe0f\u20e3",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # the flag of England
        "\ufeffa file that starts with its byte order mark",
    ],
)
def test_characters_that_a_script_needs_are_not_hidden(text: str) -> None:
    assert hidden_characters(text) == ""


@given(any_texts())
def test_lone_surrogates_are_what_utf8_cannot_hold(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        assert lone_surrogate(text)
    else:
        assert not lone_surrogate(text)


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha512 " + "ab" * 64,
        "/usr/local/lib/python3/dist/packages/Tool7/Plugins/Readers/Formats/Archives/Zip64/Reader/Main",
        "DebtInstrumentBasisSpreadOnVariableRate1LongTermDebtAndCapitalLeaseObligationsCurrentMaturities1",
        "numbers 120, 130, 125, 118, 140, 133, 127, 119, 121, 122, 135, 129, 131",
        "https://host.example/a%20b%2Fc?d=e",
        "x" * 300,
    ],
)
def test_digests_paths_and_numbers_are_no_encoded_text(text: str) -> None:
    assert encoded_blob(text) == ""


@given(st.text(st.characters(codec="ascii", categories=["L"]), min_size=12, max_size=60))
def test_base64_and_hexadecimal_are_read(word: str) -> None:
    inner = f"say {word} now"
    assert ("base64", inner) in set(decoded_texts(f"note {base64.b64encode(inner.encode()).decode()} end"))
    assert ("hexadecimal", inner) in set(decoded_texts(f"note {inner.encode().hex()} end"))


@given(any_texts(12), st.integers(min_value=1, max_value=250))
def test_a_quoted_text_is_one_harmless_line_within_its_limit(text: str, limit: int) -> None:
    quoted = quote(text, limit)
    assert len(quoted) <= limit
    assert not any(c in quoted for c in '\n\r\t`"\u2028\u2029\x0b\x0c')
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in quoted)
    assert hidden_characters(quoted) == ""
    assert quoted == quoted.strip()


@given(any_texts(12), st.integers(min_value=1, max_value=250))
def test_quoting_twice_changes_nothing(text: str, limit: int) -> None:
    assert quote(quote(text, limit), limit) == quote(text, limit)


@given(st.text(st.characters(codec="utf-8", categories=["L", "N"]), max_size=100))
def test_letters_and_digits_are_quoted_as_they_are(text: str) -> None:
    assert quote(text) == text


def test_quoting_shortens_escapes_and_flattens() -> None:
    assert quote('Error:\n  `x` is "bad"\x1b[0m\u202e') == "Error: 'x' is 'bad'\\u001b[0m\\u202e"
    assert quote("word " * 100, limit=12) == "word word w\u2026"
    assert quote("a" * 10_000_000, limit=5) == "aaaa\u2026"
