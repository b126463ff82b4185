"""What is printed: nothing that steers a terminal, JSON that any reader reads."""

from __future__ import annotations

import contextlib
import io
import json
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given

from tenure.serving.cli.output import Terminal, counted, local_time, money, one_line, visible
from tests.strategies import any_texts


@given(any_texts())
def test_visible_text_holds_no_character_that_is_not_seen(text: str) -> None:
    assert [c for c in visible(text) if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")] == []


@given(any_texts())
def test_visible_text_keeps_its_lines_and_is_seen_as_it_is_from_then_on(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert visible(text).count("\n") == text.count("\n")


@given(any_texts())
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert len(one_line(text, 10)) <= 10


@given(any_texts())
def test_a_json_document_reads_back_as_it_was_whatever_the_stream_can_hold(text: str) -> None:
    for encoding in ("utf-8", "ascii", "cp1252"):
        raw = io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding=encoding)
        with contextlib.redirect_stdout(stream):
            Terminal().document({"text": text})
        assert json.loads(raw.getvalue().decode(encoding)) == {"text": text}


def test_json_keeps_other_scripts_readable(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().document({"text": "多币种发票"})
    assert "多币种发票" in capsys.readouterr().out


def test_numbers_and_amounts_in_words() -> None:
    assert [counted(1, "lesson"), counted(1200, "lesson"), counted(2, "reply", "replies")] == ["1 lesson", "1,200 lessons", "2 replies"]
    assert [money(None), money(Decimal(0)), money(Decimal("0.0123")), money(Decimal("12.3"))] == [
        "cost unknown",
        "$0.00",
        "$0.0123",
        "$12.30",
    ]


def test_a_time_that_is_none_comes_back_as_text() -> None:
    assert [local_time(""), local_time("yesterday\x1b"), local_time("0001-01-01T00:00:00+14:00")] == [
        "",
        "yesterday\\x1b",
        "0001-01-01T00:00:00+14:00",
    ]
