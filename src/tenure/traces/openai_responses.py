"""Items of the OpenAI Responses API: messages, reasoning, calls of tools and what they gave back, as steps of a run.

The same items stand in requests, in replies, and in logs that keep them. Tools that the provider runs itself (search of
files or of the web, a code interpreter, a remote MCP server) have call and result in one item.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenure.traces.openai_chat import add_message
from tenure.traces.report import ReadReport
from tenure.traces.shapes import list_at, map_at, text_at, text_of
from tenure.traces.transcript import Transcript

HOST = "openai-responses"

_SILENT = frozenset(
    [
        "item_reference",
        "compaction",
        "compaction_summary",
        "compaction_trigger",
        "mcp_list_tools",
        "tool_search_call",
        "tool_search_output",
        "additional_tools",
        "configuration_update",
    ]
)
"""Housekeeping: nothing in them was said, done or found out."""

_ARGUMENTS = ("arguments", "input", "queries", "code", "action", "actions", "operation", "prompt", "revised_prompt")
_RESULTS = ("output", "outputs", "results", "error")


def add_item(transcript: Transcript, item: Mapping[str, Any], report: ReadReport) -> None:
    """Adds one item to a transcript; kinds that are not known are reported and left out."""
    kind = text_at(item, "type")
    call_id = text_at(item, "call_id", "id")
    if kind in ("message", "") and "role" in item:
        add_message(transcript, item, report)
    elif kind == "reasoning":
        transcript.thought(text_of([*list_at(item, "summary"), *list_at(item, "content")], report))
    elif kind.endswith("_call"):
        transcript.call(*called(item), call_id)
        if any(item.get(name) is not None for name in _RESULTS):
            _add_result(transcript, item, call_id)
    elif kind.endswith("_call_output"):
        _add_result(transcript, item, call_id)
    elif kind == "mcp_approval_request":
        transcript.event("approval_asked", text_at(item, "name"), call_id=call_id)
    elif kind == "mcp_approval_response":
        transcript.event("approved" if item.get("approve") else "refused", text_at(item, "reason"), role="user", call_id=call_id)
    elif kind not in _SILENT:
        report.unknown(HOST, kind or "item without a type")


def called(item: Mapping[str, Any]) -> tuple[str, object]:
    """Name and arguments of a call, also of one of the provider's own tools, which are named by their kind."""
    kind = text_at(item, "type")
    action = map_at(item, "action")
    if kind == "local_shell_call":
        return "shell", {key: value for key, value in action.items() if key in ("command", "workdir", "working_directory")}
    if kind == "web_search_call":
        return "web_search", {key: value for key, value in action.items() if key != "type"}
    arguments = next((item[key] for key in _ARGUMENTS if item.get(key) is not None), None)
    if isinstance(arguments, list):
        arguments = {"queries": arguments} if "queries" in item else {"actions": arguments}
    if kind == "code_interpreter_call":
        arguments = {"code": arguments}  # plain text would be taken for JSON
    return text_at(item, "name") or kind.removesuffix("_call"), arguments


def _add_result(transcript: Transcript, item: Mapping[str, Any], call_id: str) -> None:
    error = item.get("error")
    said = text_at(error, "message") if isinstance(error, dict) else error if isinstance(error, str) else ""
    failed = True if item.get("status") == "failed" or error else None
    found = next((item[key] for key in _RESULTS if item.get(key) is not None), "")
    transcript.result(found, call_id, flag=failed, error=said)
