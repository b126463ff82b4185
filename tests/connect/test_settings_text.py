"""What is put into settings and taken out again; all else stays byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.connect.settings_text import BrokenSettings, put_in, read_json, take_out, without_entries
from tenure.connect.toml_text import put_table, without_table

OURS = {"matcher": "", "hooks": [{"type": "command", "command": "/opt/bin/tenure-hook claude-code prompt", "timeout": 10}]}

names = st.text(st.characters(codec="utf-8"), max_size=6)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
groups = st.fixed_dictionaries({"hooks": st.lists(st.just({"type": "command", "command": "lint.sh"}), max_size=2)})
hooks = st.dictionaries(st.sampled_from(["SessionStart", "Stop", "Other"]), st.lists(groups, max_size=2), max_size=3)


@st.composite
def settings(draw: st.DrawFn) -> str:
    """A settings file as people and tools write them: comments, tabs, CRLF, a mark in front, commas at the end."""
    held = draw(st.dictionaries(names.filter(lambda name: name != "hooks"), values, max_size=3))
    if draw(st.booleans()):
        held["hooks"] = draw(hooks)
    text = json.dumps(held, indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()) and text.endswith("\n}"):
        text = text[:-2] + ',\n  // the end, with a } and a "\n}'
    if draw(st.booleans()):
        text = text.replace("{\n", "{ /* here, too */\n", 1)
    text += draw(st.sampled_from(["", "\n", "\n\n", " ", "\n// done"]))
    if draw(st.booleans()):
        text = text.replace("\n", draw(st.sampled_from(["\r\n", "\r"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


def ours(path: tuple[str | int, ...], value: Any) -> bool:
    return isinstance(value, dict) and "tenure-hook" in str(value.get("command", ""))


@given(settings(), st.sampled_from(["SessionStart", "New"]))
def test_what_was_put_in_is_taken_out_byte_for_byte(text: str, event: str) -> None:
    new, made = put_in(text, ("hooks", event), OURS, name="s.json", item=True)
    newer, more = put_in(new, ("mcpServers", "tenure"), {"command": "tenure"}, name="s.json", item=False)
    back = take_out(newer, more)
    assert back == new
    assert take_out(new, made) == text


@given(settings(), st.sampled_from(["SessionStart", "New"]))
def test_putting_in_adds_one_entry_and_changes_no_value(text: str, event: str) -> None:
    before = read_json(text, "s.json").plain()
    new, _ = put_in(text, ("hooks", event), OURS, name="s.json", item=True)
    after = read_json(new, "s.json").plain()
    assert after["hooks"][event].pop() == OURS
    before.setdefault("hooks", {}).setdefault(event, [])
    assert after == before


@given(settings(), st.sampled_from(["SessionStart", "New"]), values)
def test_what_others_added_since_stays_and_only_ours_goes(text: str, event: str, value: Any) -> None:
    new, _ = put_in(text, ("hooks", event), OURS, name="s.json", item=True)
    edited, _ = put_in(new, ("added-since",), value, name="s.json", item=False) if "added-since" not in text else (new, ())
    wanted = read_json(edited, "s.json").plain()
    wanted["hooks"][event].pop()
    left = read_json(without_entries(edited, ours, name="s.json", emptied=lambda path: path[-1:] != (event,)), "s.json").plain()
    assert left == wanted


@given(settings())
def test_settings_without_ours_are_left_as_they_are(text: str) -> None:
    assert without_entries(text, ours, name="s.json", emptied=lambda _: True) == text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": }', "line 1, column 7"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{\r\n  "a": 1,\r\n  "b": tru\r\n}', "line 3, column 8"),
        ('{"a": 1', "line 1, column 8"),
        ('{"a": 1} x', "line 1, column 10"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1 /* no end', "line 1, column 9"),
        ('{"hooks": []}', "line 1, column 11"),
        ('{"hooks": {"Stop": {}}}', "line 1, column 20"),
        ("[1]", "line 1, column 1"),
    ],
)
def test_settings_that_cannot_be_read_are_refused_with_file_and_place(text: str, place: str) -> None:
    with pytest.raises(BrokenSettings, match=rf"s\.json, {place}") as caught:
        put_in(text, ("hooks", "Stop"), OURS, name="s.json", item=True)
    assert "nothing was written" in str(caught.value)


def test_ours_goes_where_the_file_has_its_own_way_of_writing() -> None:
    text = '{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{"hooks": []} // theirs\r\n\t\t]\r\n\t}\r\n}\r\n'
    new, _ = put_in(text, ("hooks", "Stop"), {"hooks": []}, name="s.json", item=True)
    assert new == text.replace("[]} // theirs\r\n", '[]}, // theirs\r\n\t\t\t{\r\n\t\t\t\t"hooks": []\r\n\t\t\t}\r\n')


TOML = '[mcp_servers.tenure]\ncommand = "tenure"\nargs = ["mcp"]\n'


@pytest.mark.parametrize(
    "text", ["", "model = 'x'", "model = 'x'\r\n\r\n[a]\r\nb = 1\r\n", "\ufeff# note\n[mcp_servers.other]\ncommand = 'o'\n"]
)
def test_a_table_is_put_in_and_taken_out_byte_for_byte(text: str) -> None:
    new, made = put_table(text, TOML, name="c.toml")
    assert take_out(new, made) == text


@pytest.mark.parametrize("ending", ["", "[after]\nx = 1\n", "\n# of after\n[after]\nx = 1\n"])
def test_a_table_in_a_file_edited_since_goes_alone(ending: str) -> None:
    new, _ = put_table("model = 'x'\n", TOML, name="c.toml")
    edited = new.replace("[mcp", "[mcp") + "startup_timeout_sec = 20\n[mcp_servers.tenure.env]\nA = 'b'\n" + ending
    assert without_table(edited, "mcp_servers.tenure", name="c.toml") == "model = 'x'\n" + ending


def test_a_table_that_cannot_be_added_is_refused() -> None:
    with pytest.raises(BrokenSettings, match=r"c\.toml: \[mcp_servers\.tenure\] cannot be put at its end"):
        put_table("mcp_servers = {other = {command = 'o'}}\n", TOML, name="c.toml")
    with pytest.raises(BrokenSettings, match=r"c\.toml, line 2, column"):
        put_table("a = 1\nb = \n", TOML, name="c.toml")
