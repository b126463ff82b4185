"""Whatever stands around the JSON of a reply, it comes back; and a cut reply yields nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tenure.errors import MalformedReply
from tenure.ports import Reply
from tenure.roles.replies import LONGEST_REPLY, MOST_NESTED, read_json
from tests.timing import assert_within, seconds

NASTY = st.sampled_from(
    [
        "```json\n{}\n```",
        "<think>{}</think>",
        "</think>",
        '{"operations": []}',
        "line\nbreak\r\n",
        'quote " and \\ and \\"',
        "it's",
        "tab\tnul\x00",
        "é 漢字 😀 \u2028 \ufeff",
        "// no comment",
        "/* none */",
        "a, b]}",
        "NaN",
    ]
)
TEXTS = st.text(max_size=20) | NASTY
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12)
ANSWERS = st.fixed_dictionaries({"operations": VALUES, "why": TEXTS})
DRAFTS = st.dictionaries(st.sampled_from(["draft", "plan"]), VALUES, max_size=2)

# Prose has brackets too, but none that begins like an answer.
PROSE = st.sampled_from(
    ["", "Sure!", "Here is it {as asked} [1]:\n", "See [the notes] and {x, y}.\n\n", "It's 5 < 6, isn't it? ", "¡Claro! 以下です。\n"]
)
TAGS = st.sampled_from(["think", "thinking", "THINK", "reasoning"])


@st.composite
def thoughts(draw: st.DrawFn) -> str:
    """A block of thinking: prose, drafts of answers, broken JSON; now and then none."""
    tag, draft = draw(TAGS), draw(ANSWERS | DRAFTS)
    inside = draw(st.sampled_from(["hm", '{"operations": [', "{"])) + json.dumps(draft)
    assume("</" not in inside)
    return draw(st.sampled_from(["", f"<{tag}>{inside}</{tag}>\n"]))


def written(draw: st.DrawFn, value: Any) -> str:
    """A value as a model may write it: raw line breaks, trailing commas, Python's names and quotes, comments."""
    blank = draw(st.sampled_from(["", " ", "\n  ", "\ufeff", " // so\n", "/* so */"]))
    if isinstance(value, dict):
        members = [f"{text_written(draw, key)}{blank}:{blank}{written(draw, one)}" for key, one in value.items()]
        return "{" + blank + f",{blank}".join(members) + draw(st.sampled_from(["", ","] if members else [""])) + blank + "}"
    if isinstance(value, list):
        members = [written(draw, one) for one in value]
        return "[" + blank + f",{blank}".join(members) + draw(st.sampled_from(["", ","] if members else [""])) + blank + "]"
    if isinstance(value, str):
        return text_written(draw, value)
    if value is None or isinstance(value, bool):
        return draw(st.sampled_from([json.dumps(value), repr(value)] + (["NaN", "-Infinity"] if value is None else [])))
    return json.dumps(value)


def text_written(draw: st.DrawFn, text: str) -> str:
    style = draw(st.sampled_from(["json", "ascii", "raw", "single"]))
    if style in ("json", "ascii"):
        return json.dumps(text, ensure_ascii=style == "ascii")
    quote = '"' if style == "raw" else "'"
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, Any]:
    """A reply and the answer in it."""
    answer = draw(ANSWERS)
    before = draw(thoughts()) + draw(PROSE) + draw(st.sampled_from(["", '{"draft": 1}\n', "[1, 2]\n"]))
    body = written(draw, answer)
    if draw(st.booleans()):
        body = f"```{draw(st.sampled_from(['', 'json', 'JSON']))}\n{body}\n```"
    return draw(st.sampled_from(["", "\ufeff"])) + before + body + draw(
        st.sampled_from(["", "\nHope it helps!", "\n\nNote [2] {that}."])
    ), answer


def attempt(text: str, **options: Any) -> tuple[str, Any]:
    """What became of a reply: read, with the value, or kept, with the text that was kept."""
    try:
        return "read", read_json(Reply(text=text), **options)
    except MalformedReply as exc:
        return "kept", exc.reply


@given(replies())
def test_any_answer_comes_back_out_of_any_wrapping(reply: tuple[str, Any]) -> None:
    text, answer = reply
    assert read_json(Reply(text=text), expects=("operations",)) == answer


@given(replies(), st.data())
def test_a_cut_reply_yields_the_whole_answer_or_nothing(reply: tuple[str, Any], data: st.DataObject) -> None:
    text, answer = reply
    cut = text[: data.draw(st.integers(0, len(text)))]
    assert attempt(cut, expects=("operations",)) in (("read", answer), ("kept", cut))


@given(st.lists(ANSWERS, min_size=2, max_size=3))
def test_of_several_answers_the_last_counts(answers: list[Any]) -> None:
    text = "\nNo, better:\n".join(json.dumps(one) for one in answers)
    assert read_json(Reply(text=text), expects=("operations",)) == answers[-1]


@given(st.text() | st.text(alphabet="{}[]\",:'\\ntrue1<think>/ "))
def test_any_text_gives_a_value_or_is_kept(text: str) -> None:
    what, found = attempt(text, lists=True)
    assert isinstance(found, dict | list) if what == "read" else found == text


@pytest.mark.parametrize("finish", ["length", "max_tokens", "refused", "content_filter", "error"])
def test_the_finish_reason_is_looked_at_before_the_text(finish: str) -> None:
    with pytest.raises(MalformedReply) as caught:
        read_json(Reply(text='{"operations": []}', finish_reason=finish))
    assert caught.value.reply == '{"operations": []}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("\ufeff \n", "empty"),
        ("I would rather not.", "no JSON object with 'operations'"),
        ('{"other": 1}', "no JSON object with 'operations'"),
        ('{"operations":[{"op":"ADD","section":"sql","text":"quo', "ends inside the JSON that begins at character 0"),
        ('<think>{"operations": []}', "ends inside its thinking"),
        ('{"operations": []}</think> so I answer', "no JSON object"),
        ('{"operations": [{"op": "ADD", "text": "he said "yes" twice"}]}', "has an error at character 48"),
        ("[" * 100_000, "has an error"),
        ('{"a":' * (MOST_NESTED + 1), "has an error"),
        ('{"operations": ' + "9" * 5000 + "}", "has an error"),
    ],
)
def test_the_reason_says_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(MalformedReply) as caught:
        read_json(Reply(text=text), expects=("operations",))
    assert reason in caught.value.reason
    assert caught.value.reply == text


def test_an_answer_quoted_inside_a_broken_one_is_not_the_answer() -> None:
    text = '{"operations": [{"op": "ADD", "text": "the page said "ok" {\\"operations\\": []} {"operations": [{"op": "RETIRE"}]}"}]}'
    with pytest.raises(MalformedReply, match="error at character"):
        read_json(Reply(text=text), expects=("operations",))


@pytest.mark.parametrize(
    ("written_as", "text"),
    [
        (r'"\d+ \( \_ \'"', "\\d+ \\( \\_ '"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\ud83d and \ude00"', "\ufffd and \ufffd"),
        ('"a\\\nb"', "a\nb"),
        (r'"\u12"', "\\u12"),
    ],
)
def test_escapes_that_json_does_not_have_are_kept_as_written(written_as: str, text: str) -> None:
    assert read_json(Reply(text=f'{{"text": {written_as}}}')) == {"text": text}


def test_a_list_of_objects_will_do_where_it_is_allowed() -> None:
    reply = Reply(text='[{"op": "ADD"}]')
    assert read_json(reply, expects=("operations",), lists=True) == [{"op": "ADD"}]
    with pytest.raises(MalformedReply):
        read_json(reply, expects=("operations",))


def test_an_object_with_the_key_goes_before_any_list() -> None:
    assert read_json(Reply(text='{"operations": [1]} changed: []'), expects=("operations",), lists=True) == {"operations": [1]}


def test_a_long_reply_is_read_in_linear_time() -> None:
    long = json.dumps({"operations": ["x" * 1000] * 700})
    assert len(read_json(Reply(text="[see] {x} " * 20_000 + long))["operations"]) == 700


@pytest.mark.parametrize("unit", ["[/* ", "{/* ", '{"a":/* ', "<think></think>", "[1 ", "{a ", "[", '["', "[tru", "//"])
def test_babble_of_the_longest_length_is_given_up_on_within_seconds(unit: str) -> None:
    def given_up_on() -> None:
        with pytest.raises(MalformedReply):
            read_json(Reply(text=unit * (LONGEST_REPLY // len(unit))), expects=("operations",))

    assert_within(10, lambda: seconds(given_up_on))


def test_a_reply_that_does_not_stop_is_not_read_at_all_and_its_length_is_told() -> None:
    with pytest.raises(MalformedReply, match=r"has 1,000,016 characters, more than the 1,000,000"):
        read_json(Reply(text='{"operations":[]}' + " " * (LONGEST_REPLY - 1)))
