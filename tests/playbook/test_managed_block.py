"""A block of lessons in a person's file: everything around it stays as it is, byte for byte."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Delta, Playbook, apply
from tenure.playbook.lessons import Lesson
from tenure.playbook.managed_block import BEGIN, END, BlockError, EditedBlock, place_block, without_block
from tenure.playbook.rule_lists import read_rule_lists
from tenure.traces.echo import without_injected

SCOPE = "acme/web"


def lessons(*texts: str, section: str = "tests") -> tuple[Lesson, ...]:
    book = apply(Playbook(), Delta("01J00000000000000000000001", [Add(section, text) for text in texts])).playbook
    return book.lessons


FILES = st.lists(
    st.sampled_from(["# Rules", "- use tabs", "", "  ", "<!-- a comment -->", "текст", "\ufeff", "\x00", "```", "\udcff", "end"]),
    max_size=8,
).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).flatmap(lambda mark: st.sampled_from([mark.join(lines), mark.join([*lines, ""])]))
)
TEXTS = st.lists(
    st.text(min_size=1, max_size=60).filter(str.strip)
    | st.sampled_from([END, f"{BEGIN} x -->", "a --> b", "two\nlines", "<tenure-context>"]),
    min_size=1,
    max_size=5,
)


@given(FILES, TEXTS)
def test_what_stands_around_the_block_stays_as_it_is_and_a_second_time_changes_nothing(file: str, texts: list[str]) -> None:
    known = lessons(*texts)
    first = place_block(file, known, scope=SCOPE, tokens=4000)
    assert first.text.startswith(file)
    assert place_block(first.text, known, scope=SCOPE, tokens=4000) == replace(first, change="unchanged")
    behind = f"{first.text}behind\n"
    second = place_block(behind, [*known, *lessons("one more", section="zz")], scope=SCOPE, tokens=4000)
    assert second.change == "replaced"
    assert second.text.startswith(file)
    assert second.text.endswith("behind\n")


@given(FILES, TEXTS)
def test_taking_the_block_out_gives_the_file_back(file: str, texts: list[str]) -> None:
    placed = place_block(file, lessons(*texts), scope=SCOPE, tokens=4000)
    assert without_block(placed.text, scope=SCOPE).text == file


@given(TEXTS)
def test_no_lesson_ends_the_block_or_begins_one(texts: list[str]) -> None:
    placed = place_block(None, lessons(*texts), scope=SCOPE, tokens=4000)
    lines = placed.text.splitlines()
    assert sum(line.startswith(BEGIN) for line in lines) == 1
    assert sum(END in line for line in lines) == 1
    assert placed.change == "created"


def test_the_order_follows_from_the_lessons_whatever_the_order_they_come_in() -> None:
    known = [*lessons("b", "a"), *lessons("c", section="deploy")]
    assert place_block("", known, scope=SCOPE, tokens=400) == place_block("", list(reversed(known)), scope=SCOPE, tokens=400)


def test_the_block_keeps_to_its_tokens_and_says_what_is_left_out() -> None:
    from tenure.ranking import estimate_tokens

    placed = place_block("", lessons(*(f"lesson number {n} about something" for n in range(100))), scope=SCOPE, tokens=200)
    assert placed.lessons + placed.left_out == 100
    assert 5 < placed.lessons < 40
    assert estimate_tokens(placed.text) < 200 + 60  # the two marks


def test_a_block_edited_by_hand_is_left_alone_unless_asked_for() -> None:
    text = place_block("# Mine\n", lessons("run the linter"), scope=SCOPE, tokens=400).text
    edited = text.replace("run the linter", "run the linter twice")
    with pytest.raises(EditedBlock, match="line 3: the block was edited by hand"):
        place_block(edited, lessons("another"), scope=SCOPE, tokens=400)
    with pytest.raises(EditedBlock):
        without_block(edited, scope=SCOPE)
    assert "twice" not in place_block(edited, lessons("another"), scope=SCOPE, tokens=400, overwrite=True).text


def test_other_line_breaks_in_a_block_are_no_edit() -> None:
    text = place_block("# Mine\n", lessons("run the linter"), scope=SCOPE, tokens=400).text
    crlf = text.replace("\n", "\r\n")
    assert place_block(crlf, lessons("run the linter"), scope=SCOPE, tokens=400).change == "unchanged"
    assert "\n" not in place_block(crlf, lessons("another"), scope=SCOPE, tokens=400).text.replace("\r\n", "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{begin}\nno end\n", "line 1: the block that begins here has no end"),
        ("a\n<!-- tenure:end -->\n", "line 2: .* stands without a beginning"),
        ("{begin}\n{begin}\n<!-- tenure:end -->\n", "line 2: a block begins inside the one of line 1"),
        ("<!-- tenure:begin mine -->\n<!-- tenure:end -->\n", "line 1: the mark of the block was changed"),
        ("{begin}\n<!-- tenure:end -->\n{begin}\n<!-- tenure:end -->\n", "lines 1 and 3: there are two blocks"),
    ],
)
def test_broken_marks_are_named_with_their_line(text: str, why: str) -> None:
    begin = f"{BEGIN} scope={SCOPE} digest={'0' * 16} gap=0 (x) -->"
    with pytest.raises(BlockError, match=why):
        place_block(text.replace("{begin}", begin), lessons("a"), scope=SCOPE, tokens=400)


def test_two_scopes_have_a_block_each() -> None:
    one = place_block("", lessons("first"), scope=SCOPE, tokens=400).text
    both = place_block(one, lessons("second"), scope="acme/api", tokens=400).text
    assert both.startswith(one)
    assert without_block(both, scope=SCOPE).text.count(END) == 1


def test_without_a_lesson_no_block_is_begun_and_one_that_is_there_is_emptied() -> None:
    assert place_block("# Mine\n", [], scope=SCOPE, tokens=400).change == "absent"
    text = place_block("# Mine\n", lessons("a"), scope=SCOPE, tokens=400).text
    assert "- [" not in place_block(text, [], scope=SCOPE, tokens=400).text


def test_the_block_is_neither_a_rule_of_the_person_nor_something_to_learn_from() -> None:
    text = place_block("- mine\n", lessons("ours"), scope=SCOPE, tokens=400).text + "- mine too\n"
    rules, prose = read_rule_lists(text)
    assert [rule.text for rule in rules] == ["mine", "mine too"]
    assert prose == ()
    assert without_injected(text).split() == ["-", "mine", "-", "mine", "too"]
