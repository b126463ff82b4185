"""Records come out of damaged files, and what is lost is named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.traces.decoding import DEPTH_LIMIT, Limits, nested_too_deeply
from tenure.traces.report import ReadReport
from tenure.traces.streaming import read_records

Read = Callable[..., tuple[list[Any], ReadReport]]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), json_values, max_size=5)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def run(data: bytes, **options: Any) -> tuple[list[Any], ReadReport]:
        path = tmp_path / "file"
        path.write_bytes(data)
        report = ReadReport()
        return [record.value for record in read_records(path, report, **options)], report

    return run


def places(report: ReadReport) -> list[tuple[int, str]]:
    # What exactly the decoder says, in brackets, differs between versions of Python.
    return [(place.number, re.sub(r" \(.*\)", "", place.reason)) for place in report.unreadable]


same_function = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@same_function
@given(st.lists(objects, min_size=1), st.sampled_from(["\n", "\r\n", "\n\n"]), st.booleans(), st.booleans())
def test_lines_are_read_as_they_were_written(read: Read, values: list[Any], end: str, bom: bool, ascii_only: bool) -> None:
    text = "".join(json.dumps(value, ensure_ascii=ascii_only) + end for value in values)
    assert read(text.encode("utf-8-sig" if bom else "utf-8", "surrogatepass"))[0] == values


@same_function
@given(st.lists(objects, min_size=1), st.sampled_from([None, 0, 2]), st.booleans(), st.booleans())
def test_a_list_is_read_as_it_was_written(read: Read, values: list[Any], indent: int | None, bom: bool, ascii_only: bool) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only)
    got, report = read(text.encode("utf-8-sig" if bom else "utf-8"))
    assert got == values
    assert report.count == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(objects, min_size=1), st.integers(1, 40))
def test_a_list_does_not_depend_on_where_its_pieces_end(read: Read, values: list[Any], size: int) -> None:
    assert read(json.dumps(values, ensure_ascii=False).encode(), limits=Limits(chunk=size))[0] == values


@same_function
@given(st.lists(objects.filter(bool), min_size=1), st.data())
def test_a_truncated_list_gives_all_whole_elements_and_names_the_loss(read: Read, values: list[Any], data: st.DataObject) -> None:
    text = json.dumps(values).encode()
    cut = text[: data.draw(st.integers(2, len(text) - 1))]
    got, report = read(cut)
    assert got == values[: len(got)]
    whole = [place for place in range(len(values)) if len(json.dumps(values[: place + 1])) - 1 <= len(cut)]
    assert len(got) == len(whole)
    assert report.count == 1
    assert "ends" in report.unreadable[0].reason


@pytest.mark.parametrize(
    ("data", "values", "lost"),
    [
        (b'{"a":1}\n{"a":\n{"a":2}\n', [{"a": 1}, {"a": 2}], [(2, "not valid JSON")]),
        (b'garbage\n{"a":1}', [{"a": 1}], [(1, "not valid JSON")]),
        (b'{"a":1}\n{"a":', [{"a": 1}], [(2, "not valid JSON; the file ends inside it")]),
        (b'{"a":1}\n42\n"x"\n[1]\nnull\n', [{"a": 1}], [(n, "is valid JSON but not an object") for n in (2, 3, 4, 5)]),
        (b'[{"a":1}]\n{"a":2}\n', [{"a": 2}], [(1, "is valid JSON but not an object")]),
        (b'{"a":1}\n\n   \n{"a":2}\n', [{"a": 1}, {"a": 2}], []),
        (b'{"a":1}\n\xef\xbb\xbf{"a":2}\n', [{"a": 1}, {"a": 2}], []),
        (b'\x00\x00{"a":1}\n\x00\x00\n{"a":2}\n', [{"a": 1}, {"a": 2}], [(2, "holds only NUL bytes")]),
        (b'{"a":"x\x00y"}\n', [{"a": "xy"}], []),
        (b'{"a":"tab\there"}\n', [{"a": "tab\there"}], []),
        (b'{\n  "a": 1,\n  "b": [2]\n}\n', [{"a": 1, "b": [2]}], []),
        (b"{" * 5_000, [], [(1, "not valid JSON; the file ends inside it")]),
        (b'{"a":' + b"[" * 200 + b"]" * 200 + b'}\n{"a":1}', [{"a": 1}], [(1, "JSON nested too deeply")]),
        (b'{"a":' + b"[" * 100_000 + b'\n{"a":1}', [{"a": 1}], [(1, "JSON nested too deeply")]),
        (b'{"a":' + b"1" * 5_000 + b'}\n{"a":1}', [{"a": 1}], [(1, "JSON with a number too long to read")]),
        (b'{"a":NaN,"b":-Infinity}', [{"a": "NaN", "b": "-Infinity"}], []),
        (b"", [], [(0, "the file is empty")]),
        (b" \n\n", [], [(0, "the file is empty")]),
        (b"\x00\x00\x00", [], [(0, "the file is empty")]),
        ('{"a":1}'.encode("utf-16"), [], [(0, "is UTF-16 text; save it as UTF-8")]),
        (b'[{"a":1},{"a":,},{"a":3}]', [{"a": 1}, {"a": 3}], [(2, "not valid JSON")]),
        (b'[{"a":1},{"a":"cut \x00\x00 {"a":3},{"a":4}]', [{"a": 1}, {"a": 3}, {"a": 4}], [(2, "not valid JSON")]),
        (b'[{"b":x},{"b":1}]', [{"b": 1}], [(1, "not valid JSON")]),
        (b'[{"a":1}{"a":2}]', [{"a": 1}, {"a": 2}], []),
        (b'[{"a":1},7,"x"]', [{"a": 1}], [(2, "is valid JSON but not an object"), (3, "is valid JSON but not an object")]),
        (b'[{"a":1}] trailing', [{"a": 1}], [(0, "text after the end of the list was not read")]),
        (b'[{"a":1},', [{"a": 1}], [(2, "the file ends before its list is closed")]),
        (b'[{"a":1},{"a":"x', [{"a": 1}], [(2, "not valid JSON; the file ends inside it")]),
        (b"[]", [], []),
        (b"[2026-01-01] started\n" + b'{"a":1}\n', [{"a": 1}], [(1, "not valid JSON")]),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else "",
)
def test_what_is_broken_is_named_and_the_rest_goes_on(read: Read, data: bytes, values: list[Any], lost: list[tuple[int, str]]) -> None:
    got, report = read(data)
    assert got == values
    assert places(report) == lost


def test_invalid_utf_8_is_replaced_and_counted(read: Read) -> None:
    for data in (b'{"a":"caf\xe9"}\n', b'[{"a":"caf\xe9"}]'):
        got, report = read(data)
        assert got == [{"a": "caf\ufffd"}]
        assert sum(report.repairs.values()) == 1


def test_lone_surrogates_are_replaced_and_pairs_are_kept(read: Read) -> None:
    for form in ('{"a":"\\ud83d!","\\uDC00":["\\ud83d\\ude00"]}', '[{"a":"\\ud83d!","\\uDC00":["\\ud83d\\ude00"]}]'):
        assert read(form.encode())[0] == [{"a": "\ufffd!", "\ufffd": ["😀"]}]


def test_lists_of_lists_are_read_where_they_are_asked_for(read: Read) -> None:
    assert read(b'[[{"a":1}],{"b":2}]', lists=True)[0] == [[{"a": 1}], {"b": 2}]


def test_reasons_hold_nothing_of_the_file(read: Read) -> None:
    _, report = read(b'{"password": "hunter2" oops}\n[hunter2\n')
    assert "hunter2" not in report.summary()


@pytest.mark.parametrize("escape", [b'\\"', b"\\\\", b"\\u00e9", b"\\n", "é".encode(), "😀".encode(), b"x", b'\\\\\\"', b"\\\\\\\\u"])
@pytest.mark.parametrize("shift", range(7))
def test_a_long_line_is_read_with_its_long_strings_cut(read: Read, escape: bytes, shift: int) -> None:
    filler = b"y" * shift + escape * 600
    line = b'{"first":"' + filler + b'","short":"a\\"b","list":[1,{"second":"' + filler + b'"}]}\n'
    got, report = read(line + b'{"next":1}\n', limits=Limits(long_line=1024, string_kept=100, chunk=333))
    assert report.count == 0
    assert report.repairs["string cut in a long line"] == 2
    value, following = got
    assert following == {"next": 1}
    assert value["short"] == 'a"b'
    whole = json.loads(b'"' + filler + b'"')
    for cut in (value["first"], value["list"][1]["second"]):
        kept, mark, _ = cut.partition("\n[... ")
        assert mark
        assert whole.startswith(kept)
        assert len(kept) > 10


def test_a_line_that_stays_too_long_is_named(read: Read) -> None:
    got, report = read(b'{"a":[' + b"1," * 5_000 + b'1]}\n{"a":2}\n', limits=Limits(long_line=1024, record=4096))
    assert got == [{"a": 2}]
    assert [place.number for place in report.unreadable] == [1]


def test_an_element_that_is_too_long_is_named(read: Read) -> None:
    got, report = read(b'[{"a":1},{"a":"' + b"x" * 20_000 + b'"},{"a":3}]', limits=Limits(chunk=256, record=2048))
    assert got == [{"a": 1}, {"a": 3}]
    assert [place.number for place in report.unreadable] == [2]


def test_strings_stay_whole_where_they_must(read: Read) -> None:
    value = {"a": "x" * 5_000}
    assert read(
        json.dumps(value).encode() + b"\n" + b'{"b":1}', whole_strings=True, limits=Limits(long_line=1024, string_kept=100, chunk=333)
    )[0] == [value, {"b": 1}]


def test_deep_values_are_told_from_wide_ones() -> None:
    wide: Any = [[[1]] * 1000] * 3
    deep: Any = 1
    for _ in range(DEPTH_LIMIT + 1):
        deep = {"a": [deep]} if isinstance(deep, list) else [deep]
    assert not nested_too_deeply(wide)
    assert nested_too_deeply(deep)
