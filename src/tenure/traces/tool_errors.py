"""Whether a tool result is an error, and what it says. One rule for all formats, so that they agree."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tenure.traces.decoding import nested_too_deeply

ERROR_LENGTH = 4096
"""Longest error text kept on a step, in characters; `Step.content` has the result itself."""

_HEAD = 400
"""An error says so in its first words: what comes later cannot make a result an error."""

_JSON_LENGTH = 1 << 20

# "Error: 0" and "error: none" are good news; "MeanSquaredError: 0.12" is a measurement.
_NOTHING = r"(?!\s*(?:none|null|nil|false|no|n/a|ok|[-+]?\d[\d.,eE+-]*\s*%?)\s*(?:[\n,;]|$))"

_ADJECTIVE = (
    r"(?:(?:an?|the|mcp|api|tool|https?|runtime|validation|server|client|syntax|internal|fatal|type|value|key|network|"
    r"timeout|connection|parse|parser|compile|build|unexpected|unknown|permission|auth|authentication|authorization|"
    r"database|sql|io|system|command|execution|request|critical|unhandled|uncaught|import|name|input|argument)\s+){0,2}"
)

_CODE = r"(?:\s*(?:\[[^\]\n]{1,40}\]|\([^)\n]{1,40}\)|#?-?\d{1,6}|code\s*:?\s*-?\d{1,6}))?"

_VERB = (
    r"(?:executing|calling|running|invoking|reading|writing|opening|parsing|loading|fetching|creating|updating|deleting|"
    r"connecting|editing|searching|getting|sending|accessing|applying|finding|saving|occurred|during|while|when|in|from|at|on)"
)

_SAYS_ERROR = re.compile(
    r"[\W_]{0,8}(?:"
    rf"{_ADJECTIVE}error{_CODE}\W{{0,3}}:\W{{0,3}}{_NOTHING}\S"  # Error: ..., [ERROR]: ..., MCP error -32602: ...
    rf"|{_ADJECTIVE}error\s+{_VERB}\b"  # Error executing tool ...
    r"|\[error\]\s*\S"  # [ERROR] ...
    r"|error\s+code\s*:?\s*-?\d{2,}"  # Error code: 404 - ...
    r"|error\s*[.!]?\s*(?:\n|$)"  # Error
    r"|<error>"
    r"|unknown\s+(?:action|tool|function|command)\b"
    r")",
    re.IGNORECASE,
)

# ValueError: ..., java.lang.NullPointerException: ...
_EXCEPTION = re.compile(rf"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\s*:{_NOTHING}\s*\S")

_TRACEBACK = re.compile(r"^[ \t]*Traceback \(most recent call last\):", re.MULTILINE)
_RAISED = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?::|$)")
_WRAPPED = re.compile(r"\s*<(tool_use_error|error)>(.*?)</\1>\s*", re.DOTALL)
_REPR = re.compile(r"\{\s*'error'\s*:\s*(['\"])(?P<said>.+?)\1\s*[,}]", re.DOTALL)
_NO_ERROR = frozenset({"", "none", "null", "false", "no", "0", "ok"})


def error_text(content: str, flag: bool | None = None) -> str:
    """What a tool result says went wrong; empty if it was accepted.

    The host's word comes first: `flag` true makes the result an error whatever it says, false makes
    it accepted whatever it says. Without a flag the text decides. It is an error if it

    - *starts* with "Error:" or one of its forms, in any case and behind decoration: "Error executing
      tool x", "MCP error -32602: ...", "[ERROR] ...", "Error code: 404", "Unknown tool";
    - starts with the name of an exception and a colon: "ValueError: bad date";
    - is a traceback, or ends in one that nothing follows;
    - is a JSON object with an "error" that is not empty, with "isError": true, with "status": "error",
      or with "success": false beside a message.

    A result that merely holds the word (a search hit, a log, "Error rate: 2 %", "errors: 0",
    `{"error": null}`) is no error.

    Args:
        content: the result's text.
        flag: the host's own mark: true, false, or none where the format has no such mark.

    Returns:
        The message, at most `ERROR_LENGTH` characters, without wrappers; for a traceback its last line.
    """
    if flag is False:
        return ""
    said = _said(content)
    if said:
        return shortened(said, ERROR_LENGTH)
    if flag:
        wrapped = _WRAPPED.fullmatch(content)
        return shortened((wrapped.group(2) if wrapped else content).strip(), ERROR_LENGTH) or "error without a message"
    return ""


def shortened(text: str, limit: int) -> str:
    """The text, or its start and end around a mark that says how much was left out. At most `limit` characters and the mark."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out here by Tenure ...]\n{text[-half:]}"


def _said(content: str) -> str:
    text = content.strip()
    if text.startswith("<") and (wrapped := _WRAPPED.fullmatch(text)):
        return wrapped.group(2).strip() or "error without a message"
    if text.startswith("{"):
        return _json_error(text)
    head = text[:_HEAD]
    traceback = _traceback_error(content)  # with its indentation
    if traceback:
        return traceback
    if _SAYS_ERROR.match(head) or _EXCEPTION.match(head):
        return text
    return ""


def _traceback_error(text: str) -> str:
    """The last line of a traceback that the text starts with or ends in; a log with one in its middle is no error."""
    found = list(_TRACEBACK.finditer(text)) if "Traceback (most recent call last):" in text else []
    if not found:
        return ""
    last = found[-1]
    margin = len(last.group()) - len(last.group().lstrip())
    lines = text[last.end() :].splitlines()
    for place, line in enumerate(lines):
        # What is indented belongs to the traceback; the first line at its own margin is the exception.
        if line.strip() and len(line) - len(line.lstrip()) <= margin:
            starts = not text[: found[0].start()].strip()
            ends = not "".join(lines[place + 1 :]).strip()
            return line.strip() if _RAISED.match(line.strip()) and (starts or ends) else ""
    return ""


def _json_error(text: str) -> str:
    if len(text) > _JSON_LENGTH or ("rror" not in text and "uccess" not in text):
        return ""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        found = _REPR.match(text)
        return found.group("said").strip() if found else ""
    return _object_error(value) if isinstance(value, dict) and not nested_too_deeply(value) else ""


def _object_error(value: Mapping[str, Any]) -> str:
    error = value.get("error")
    message = next((value[key] for key in ("message", "detail", "reason", "content") if isinstance(value.get(key), str)), "")
    if isinstance(error, str):
        return "" if error.strip().lower() in _NO_ERROR else error.strip()
    if isinstance(error, dict) and error:
        inner = error.get("message") or error.get("detail")
        return inner.strip() if isinstance(inner, str) and inner.strip() else json.dumps(error, ensure_ascii=False)
    if isinstance(error, list) and error:
        return json.dumps(error, ensure_ascii=False)
    if not message and isinstance(value.get("content"), list):  # a result of the Model Context Protocol
        message = "\n".join(str(block["text"]) for block in value["content"] if isinstance(block, dict) and "text" in block)
    flagged = (
        error is True
        or (isinstance(error, int) and bool(error))  # a code; a float would be a measurement
        or value.get("isError") is True
        or value.get("is_error") is True
        or str(value.get("status", "")).lower() == "error"
    )
    if flagged:
        return message.strip() or json.dumps(value, ensure_ascii=False)
    return message.strip() if value.get("success") is False else ""
