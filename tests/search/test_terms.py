"""What a text is searched by: stems, words of any script, identifiers as they stand."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import ranking
from tenure.terms import LONGEST_QUESTION, LONGEST_STEMMED, folded, identifiers, question, search_words, shown, stem
from tests.timing import assert_growth, seconds

ENDINGS = ["", "s", "es", "ed", "ing", "ies", "y", "ational", "ization", "fulness", "ousness", "ability", "ibly", "ment", "ion", "ll", "e"]
WORDS = st.builds(lambda start, end: start + end, st.text("abcdeilnorstuvyz", max_size=8), st.sampled_from(ENDINGS))


def stems_of_sqlite(words: list[str]) -> dict[str, str]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(word, tokenize = 'porter unicode61')")
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
    connection.executemany("INSERT INTO t (rowid, word) VALUES (?, ?)", enumerate(words))
    found = dict(connection.execute("SELECT doc, term FROM v").fetchall())
    connection.close()
    return {word: found[number] for number, word in enumerate(words)}


@given(st.lists(WORDS.filter(bool), min_size=1, max_size=20, unique=True))
def test_stems_are_those_of_sqlite(words: list[str]) -> None:
    assert {word: stem(word) for word in words} == stems_of_sqlite(words)


def test_a_word_too_long_for_the_stemmer_stays_as_it_is() -> None:
    word = "a" * LONGEST_STEMMED + "ings"
    assert stem(word) == word == stems_of_sqlite([word])[word]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git commit --no-verify", ["--no-verify"]),
        ("tar -x", ["-x"]),
        ("C++, C# or F#?", ["c++", "c#", "f#"]),
        ("see ADR-0005.", ["adr-0005"]),
        ("run 3f2b8c1e-9a7d-4e21-8f00-aa12bb34cc56", ["3f2b8c1e-9a7d-4e21-8f00-aa12bb34cc56"]),
        ("set `max_retries` and __init__", ["max_retries", "__init__"]),
        ("in src/app.py and /etc/passwd, C:\\temp\\a.txt", ["src/app.py", "/etc/passwd", "c:\\temp\\a.txt"]),
        ("os.path.join(a)", ["os.path.join"]),
        ("PDF/A保存 用app_v2部署", ["pdf/a", "app_v2"]),
        ("call getUserName", ["getusername"]),
        ("version 1.2.3 on std::vector, issue #123", ["1.2.3", "std::vector", "#123"]),
    ],
)
def test_what_is_spelled_like_code_is_an_identifier(text: str, expected: list[str]) -> None:
    assert [shown(one) for one in identifiers(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "and/or",
        "self-care",
        "a 20-minute walk",
        "5-year-old",
        "mid-1990s",
        "3.14",
        "$50",
        "e.g. this",
        "U.S. law",
        "Yes! No?",
        "",
        "…",
        "—",
    ],
)
def test_ordinary_writing_holds_no_identifier(text: str) -> None:
    assert identifiers(text) == []


@given(st.text(max_size=60))
def test_no_ordinary_word_equals_an_identifier_with_a_sign(text: str) -> None:
    signed = {one for one in identifiers(text) if not one.isalnum()}
    assert signed.isdisjoint(search_words(text))
    assert all(not one.isspace() and one for one in identifiers(text))


def test_width_case_and_accents_do_not_matter() -> None:
    assert folded("ＡＤＲ Zürich ÉTÉ") == "adr zurich ete"
    assert folded("한국어") == "한국어"
    assert folded("が") == "が"


@given(st.text(max_size=80))
def test_a_question_is_made_of_the_texts_words_each_stem_once(text: str) -> None:
    asked = question(text)
    assert {*asked.words, *asked.others} <= set(search_words(text))
    assert len({stem(word) for word in asked.words}) == len(asked.words)
    assert bool(asked.words) == bool(search_words(text))


def test_words_that_say_nothing_are_left_out_unless_there_are_no_others() -> None:
    assert question("How do I deploy the worker?").words == ("deploy", "worker")
    assert question("what was it").words == ("what", "was", "it")
    assert question("help me deploy").others == ("help", "me")


def test_time_for_a_question_follows_its_length() -> None:
    def taken(count: int) -> float:
        text = " ".join(f"word{number}" for number in range(count))
        assert question(text).words == tuple(f"word{number}" for number in range(64))
        return seconds(lambda: question(text))

    assert_growth(taken, 2_500, 20_000, at_most=24)


def test_of_a_very_long_question_the_beginning_is_read_up_to_a_whole_word() -> None:
    text = "the " * ((LONGEST_QUESTION - 8) // 4) + "umbrella zebra"
    assert "zebra" not in question(text).words
    assert not {"umb", "umbrell", "zebr"} & set(question(text).words)
    assert question("汇" * LONGEST_QUESTION + "率").words == ("汇汇",)


@given(st.lists(st.sampled_from("count counting counts rows the how deploy deployed x 7 汇率".split()), max_size=12))
def test_a_question_keeps_the_first_word_of_each_stem_in_the_order_of_the_text(said: list[str]) -> None:
    asked = question(" ".join(said))
    spoken = [*asked.words, *asked.others]
    assert {stem(word) for word in spoken} <= {stem(word) for word in said}
    places = [said.index(word) for word in asked.words]
    assert places == sorted(places)


def test_characters_of_european_texts_are_read_alike_with_and_without_the_quick_way() -> None:
    quick = re.compile(ranking._PLAIN.pattern.removesuffix("*"))
    for one in map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x11000))):
        if quick.fullmatch(one):
            assert ranking._kind(one) == ("w" if one.isalnum() else " "), hex(ord(one))


def test_runs_of_cjk_become_pairs() -> None:
    assert question("汇率换算").words == ("汇率", "率换", "换算")
