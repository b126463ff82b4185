"""One rule says for all formats what an error is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.traces.tool_errors import ERROR_LENGTH, error_text, shortened

TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    int("a")\n'

ERRORS = [
    ("Error: payment method not found", "Error: payment method not found"),
    ("error: unknown option", "error: unknown option"),
    ("  \n ERROR: no such table: invoice", "ERROR: no such table: invoice"),
    ("Error: 404 Not Found", "Error: 404 Not Found"),
    ("Error 404: no such page", "Error 404: no such page"),
    ("Error code: 429 - rate limited", "Error code: 429 - rate limited"),
    ("error[E0308]: mismatched types", "error[E0308]: mismatched types"),
    ("Error (not_found): order 7", "Error (not_found): order 7"),
    ("**Error:** bad date", "**Error:** bad date"),
    ("❌ Error: bad date", "❌ Error: bad date"),
    ("[ERROR] disk full", "[ERROR] disk full"),
    ("Error executing tool refund: no rights", "Error executing tool refund: no rights"),
    ("Error while reading the file", "Error while reading the file"),
    ("Error from server (NotFound): pods web not found", "Error from server (NotFound): pods web not found"),
    ("MCP error -32602: invalid arguments", "MCP error -32602: invalid arguments"),
    ("API Error: 500 overloaded", "API Error: 500 overloaded"),
    ("fatal error: foo.h: No such file", "fatal error: foo.h: No such file"),
    ("Error", "Error"),
    ("Unknown action fly_away", "Unknown action fly_away"),
    ("ValueError: bad date", "ValueError: bad date"),
    ("java.lang.NullPointerException: x is null", "java.lang.NullPointerException: x is null"),
    (TRACEBACK + "ValueError: invalid literal", "ValueError: invalid literal"),
    ("42 rows\n" + TRACEBACK + "app.errors.BadDate: 31.02.", "app.errors.BadDate: 31.02."),
    ("\n".join("  " + line for line in (TRACEBACK + "KeyError: 'a'").splitlines()), "KeyError: 'a'"),
    ('{"error": "amount must be positive"}', "amount must be positive"),
    ('{"error": {"code": 7, "message": "no such order"}, "data": null}', "no such order"),
    ('{"error": {"code": 7}}', '{"code": 7}'),
    ('{"error": true, "message": "no rights"}', "no rights"),
    ('{"error": 404, "message": "no such page"}', "no such page"),
    ('{"error": ["a", "b"]}', '["a", "b"]'),
    ('{"isError": true, "content": [{"type": "text", "text": "no such file"}]}', "no such file"),
    ('{"status": "error", "message": "locked"}', "locked"),
    ('{"success": false, "reason": "sold out"}', "sold out"),
    ("{'error': 'no such user'}", "no such user"),
    ("<tool_use_error>File has not been read yet.</tool_use_error>", "File has not been read yet."),
    ("<error>\nno such file\n</error>", "no such file"),
]

ACCEPTED = [
    "",
    "ok",
    "Found 2 files: error.py, errors.md",
    "The log says: Error: disk full",
    "12 passed, 0 errors",
    "errors: 0",
    "error: 0",
    "Error: none",
    "Error: 0\nWarnings: 2",
    "Error rate: 2 %",
    "Error budget remaining: 93 %",
    "Error handling was improved in version 2.",
    "Error-free run completed",
    "Errors are documented in chapter 3.",
    "MeanSquaredError: 0.12",
    "StandardError: 1.5e-3",
    "No error: all rows were written",
    "     1→Error: is what the form shows",
    "src/app.py:3: raise ValueError('x')",
    "ValueError is raised when the date is bad.",
    "2026-03-01 Traceback (most recent call last): was logged",
    "log:\n" + TRACEBACK + "ValueError: x\n2026-03-01 12:00 request served\n2026-03-01 12:01 request served",
    '{"error": null, "rows": 3}',
    '{"error": "", "rows": 3}',
    '{"error": "none"}',
    '{"error": false}',
    '{"error": 0}',
    '{"error": 0.02, "epoch": 3}',
    '{"error": []}',
    '{"errors": 0, "loan": "L7"}',
    '{"rows": [{"error": "in a row of a table"}]}',
    '{"success": true, "message": "done"}',
    '{"status": "ok", "message": "no error"}',
    '["error"]',
    "{not json, error: x}",
]


@pytest.mark.parametrize(("content", "said"), ERRORS)
def test_a_result_that_says_so_is_an_error(content: str, said: str) -> None:
    assert error_text(content) == said


@pytest.mark.parametrize("content", ACCEPTED)
def test_an_ordinary_result_with_the_word_in_it_is_accepted(content: str) -> None:
    assert error_text(content) == ""


@pytest.mark.parametrize("content", [content for content, _ in ERRORS] + ACCEPTED)
def test_the_hosts_own_word_comes_first(content: str) -> None:
    assert error_text(content, flag=False) == ""
    assert error_text(content, flag=True) != ""


def test_a_flagged_result_says_what_it_holds() -> None:
    assert error_text("Exit code 1\nno such file", flag=True) == "Exit code 1\nno such file"
    assert error_text("  ", flag=True) == "error without a message"


def test_a_long_error_keeps_its_start_and_its_end() -> None:
    said = error_text("Error: " + "x" * 100_000 + " at the very end")
    assert said.startswith("Error: xxx")
    assert said.endswith("at the very end")
    assert len(said) < ERROR_LENGTH + 100


@given(st.text(), st.sampled_from([None, True, False]))
def test_any_text_has_an_answer(content: str, flag: bool | None) -> None:
    assert isinstance(error_text(content, flag), str)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.dictionaries(st.sampled_from(["error", "message", "isError", "success", "content", "status"]), inner),
    )
)
def test_any_json_has_an_answer(value: object) -> None:
    assert isinstance(error_text(json.dumps(value)), str)


@pytest.mark.timeout(20)
def test_a_huge_result_is_judged_quickly() -> None:
    for content in (
        "Error" * 1_000_000,
        "{" * 1_000_000,
        '{"error":' * 100_000,
        " " * 5_000_000,
        "Traceback (most recent call last):\n" * 50_000,
    ):
        error_text(content)


@given(st.text(max_size=300), st.integers(2, 100))
def test_a_cut_says_how_much_is_gone(text: str, limit: int) -> None:
    cut = shortened(text, limit)
    if len(text) <= limit:
        assert cut == text
    else:
        half = limit // 2
        assert cut == f"{text[:half]}\n[... {len(text) - 2 * half} characters left out here by Tenure ...]\n{text[-half:]}"
