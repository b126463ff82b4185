"""Rollout logs of the Codex CLI: JSONL of {timestamp, type, payload}, or in the old form a header and plain items.

`response_item` records hold what the model saw; `event_msg` records mostly repeat it for the
screen and are read only for what they alone have.
Source: the protocol crate of openai/codex and its rollout writer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tenure.playbook.run import Run
from tenure.traces.openai_responses import called
from tenure.traces.placing import Place, scope_for
from tenure.traces.report import ReadReport
from tenure.traces.shapes import digest, list_at, map_at, moment, text_at, text_of
from tenure.traces.streaming import read_records
from tenure.traces.transcript import PARENT_AGENT, PERSON, Transcript

HOST = "codex"

_ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ITEMS = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    }
)
_BOOKKEEPING = frozenset(
    [
        "turn_context",
        "world_state",
        "token_usage_record",
        "security_risk_score",
        "retained_context",
        "realtime_item",
        "inter_agent_communication_metadata",
        "state",
    ]
)
_SILENT_ITEMS = frozenset(
    ["ghost_snapshot", "compaction", "compaction_summary", "tool_search_call", "tool_search_output", "image_generation_call"]
)
_MIRRORS = frozenset(
    [
        "user_message",
        "agent_message",
        "agent_message_delta",
        "agent_reasoning",
        "agent_reasoning_delta",
        "agent_reasoning_section_break",
        "agent_reasoning_raw_content",
        "token_count",
        "task_started",
        "task_complete",
        "turn_started",
        "turn_complete",
        "exec_command_begin",
        "exec_command_output_delta",
        "patch_apply_begin",
        "patch_apply_end",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "web_search_begin",
        "web_search_end",
        "context_compacted",
        "thread_rolled_back",
        "thread_name_updated",
        "entered_review_mode",
        "exited_review_mode",
        "item_started",
        "item_completed",
        "plan_update",
        "turn_diff",
        "view_image_tool_call",
        "undo_started",
        "undo_completed",
        "deprecation_notice",
        "background_event",
        "session_configured",
        "thread_goal_updated",
        "thread_settings_applied",
    ]
)

# What the host puts into the conversation in a person's place.
_SCAFFOLD = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|collaboration_mode|skill|skills|apps|plugins|"
    r"subagent_notification|user_shell_command|model_switch|personality_spec|INSTRUCTIONS|goal_context)\b"
    r"|# AGENTS\.md instructions)"
)
_ABORTED = re.compile(r"\s*<turn_aborted>")
_REFUSED = re.compile(r"(?:aborted by user|aborted\s*$|[^\n]{0,40}rejected by user)", re.IGNORECASE)

_EXIT_CODE = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d+)\s*$", re.MULTILINE)
_HEADER_LINE = re.compile(
    r"(?:Exit code:|Wall time:|Total output lines:|Chunk ID:|Process exited with code|Process running with|Original token count:|"
    r"Script (?:completed|failed))"
)
_FAILED = re.compile(
    r"(?:apply_patch verification failed|failed to parse function arguments|unsupported (?:custom tool )?call|"
    r"[a-z_]+ failed(?: for [^\n]{1,200})?:|err: |execution error:|tool call error:)",
    re.IGNORECASE,
)


def recognises(value: object) -> bool:
    """Whether a record is one of a rollout, in the new form or the old."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if isinstance(kind, str) and isinstance(value.get("payload"), dict):
        return kind in _ENVELOPES
    if _is_old_header(value) or "record_type" in value:
        return True
    if not isinstance(kind, str) or kind not in _ITEMS:
        return False
    return kind != "message" or (isinstance(value.get("role"), str) and isinstance(value.get("content"), list))


def read(path: Path, *, scope: Place, report: ReadReport) -> Iterator[Run]:
    """The run of a rollout; more than one if rollouts were joined in one file."""
    rollout = _Rollout(report)
    for _, record, _ in read_records(path, report):
        meta = map_at(record, "payload") if record.get("type") == "session_meta" else record if _is_old_header(record) else None
        if meta is None:
            rollout.add(record)
        elif rollout.belongs(meta):
            rollout.begin(meta, record)
        else:
            yield from rollout.runs(scope)
            rollout = _Rollout(report)
            rollout.begin(meta, record)
    yield from rollout.runs(scope)


class _Rollout:
    """The records of one session."""

    def __init__(self, report: ReadReport) -> None:
        self._report = report
        self._transcript = Transcript(report)
        self._id = ""
        self._anchor = ""  # stands in for a missing id, and does not change when the session grows
        self._parent = ""
        self._folder = ""
        self._exit_codes: dict[str, int] = {}
        self._seen: set[str] = set()
        self._typed = ""  # the first thing a person typed, as the screen log has it

    def belongs(self, meta: Mapping[str, Any]) -> bool:
        """Whether a header is of this session: its first, its own again, or the copied one of the session it was forked from."""
        return not self._id or not self._transcript.steps or text_at(meta, "id") in (self._id, self._parent)

    def begin(self, meta: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        """Takes the header of the session; those after the first are copies and say nothing new."""
        if self._id:
            return
        self._id = text_at(meta, "id", "session_id")
        self._parent = text_at(meta, "forked_from_id")
        self._folder = text_at(meta, "cwd")
        source = meta.get("source")
        if isinstance(source, dict) and not {"subagent", "sub_agent", "subAgent"}.isdisjoint(source):
            self._transcript = Transcript(self._report, speaker=PARENT_AGENT)
        self._transcript.seen_at(moment(meta.get("timestamp")) or moment(record.get("timestamp")))

    def add(self, record: Mapping[str, Any]) -> None:
        self._anchor = self._anchor or digest(HOST, record)
        at = self._transcript.seen_at(moment(record.get("timestamp")))
        kind = text_at(record, "type")
        payload = map_at(record, "payload")
        if kind == "response_item":
            self._item(payload, at)
        elif kind == "event_msg":
            self._event(payload, at)
        elif kind == "compacted":
            self._transcript.event("compaction", text_at(payload, "message"), at)
        elif kind == "inter_agent_communication":
            self._transcript.event("agent_message", text_of(payload.get("content", payload.get("message")), self._report), at)
        elif not payload and kind in _ITEMS | _SILENT_ITEMS:
            self._item(record, at)
        elif kind not in _BOOKKEEPING and "record_type" not in record:
            self._report.unknown(HOST, kind or "record without a type")

    def runs(self, scope: Place) -> Iterator[Run]:
        transcript = self._transcript
        if all(step.kind == "event" or step.role == "system" for step in transcript.steps):
            return
        transcript.task = transcript.task or self._typed
        yield transcript.run(f"{HOST}:{self._id or self._anchor}", host=HOST, scope=scope_for(scope, self._folder), session=self._id)

    def _item(self, item: Mapping[str, Any], at: str) -> None:
        kind = text_at(item, "type")
        call_id = text_at(item, "call_id") or text_at(item, "id")
        if kind == "message":
            self._message(item, at)
        elif kind == "reasoning":
            blocks = [*list_at(item, "summary"), *list_at(item, "content")]
            self._transcript.thought(text_of(blocks, self._report), at)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call"):
            if self._is_new(kind, call_id, item):
                name, arguments = called(item)
                self._transcript.call(name, arguments, call_id, at)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            if self._is_new(kind, call_id, item):
                self._output(item.get("output"), call_id, at)
        elif kind not in _SILENT_ITEMS:
            self._report.unknown(HOST, f"response_item {kind}")

    def _is_new(self, kind: str, call_id: str, item: Mapping[str, Any]) -> bool:
        if not call_id:
            return True
        # The content belongs to the identity: hosts were seen to use a call id again.
        identity = digest(kind, call_id, {key: value for key, value in item.items() if key not in ("id", "status")})
        if identity in self._seen:
            self._report.repaired("record that was there twice")
            return False
        self._seen.add(identity)
        return True

    def _message(self, item: Mapping[str, Any], at: str) -> None:
        role = item.get("role")
        text = text_of(item.get("content"), self._report)
        if role == "assistant":
            self._transcript.agent(text, at)
        elif role != "user":
            self._transcript.system(text, at)
        elif _ABORTED.match(text):
            self._transcript.event("interrupted", text, at, role="user", origin=PERSON)
        elif _SCAFFOLD.match(text):
            self._transcript.event("injected", text, at)
        else:
            self._transcript.person(text, at)

    def _output(self, output: object, call_id: str, at: str) -> None:
        text, flag, code = _unwrapped(output, self._report)
        if code is None:
            code = self._exit_codes.get(call_id)
        if code is None and _REFUSED.match(text):
            # A person said no: that is a correction, not an error of the tool.
            self._transcript.event("refused", text, at, role="user", call_id=call_id, origin=PERSON)
            return
        if code is not None:
            flag = code != 0
        elif flag is None and _FAILED.match(text):
            flag = True
        error = f"Exit code {code}\n{text}".strip() if code else ""
        self._transcript.result(text, call_id, flag=flag, error=error, at=at)

    def _event(self, event: Mapping[str, Any], at: str) -> None:
        kind = text_at(event, "type")
        if kind == "turn_aborted":
            self._transcript.event("interrupted", text_at(event, "reason"), at, role="user", origin=PERSON)
        elif kind in ("error", "stream_error", "warning"):
            self._transcript.event(kind, text_at(event, "message"), at)
        elif kind == "exec_command_end":
            code = event.get("exit_code")
            if isinstance(code, int):
                self._exit_codes[text_at(event, "call_id")] = code
        elif kind == "user_message":
            text = text_at(event, "message")
            if text and not self._typed and not _SCAFFOLD.match(text):
                self._typed = text
        elif kind not in _MIRRORS:
            self._report.unknown(HOST, f"event_msg {kind}")


def _unwrapped(output: object, report: ReadReport) -> tuple[str, bool | None, int | None]:
    """A tool's output without the host's wrapping, the host's word on it (true for an error), and an exit code."""
    flag: bool | None = None
    if isinstance(output, dict) and "content" in output:
        success = output.get("success")
        flag = not success if isinstance(success, bool) else None
        output = output["content"]
    text = text_of(output, report)
    if text.startswith("{") and '"output"' in text:
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and isinstance(value.get("output"), str):
            code = map_at(value, "metadata").get("exit_code")
            return value["output"], flag, code if isinstance(code, int) else None
    if _HEADER_LINE.match(text):
        # Only the header counts: a program may print "Exit code: 1" itself.
        header, mark, body = text.partition("\nOutput:\n")
        if not mark and text.endswith("\nOutput:"):
            header, body = text.removesuffix("\nOutput:"), ""
        code_line = _EXIT_CODE.search(header)
        return (body if mark or text.endswith("\nOutput:") else text), flag, int(code_line.group(1)) if code_line else None
    return text, flag, None


def _is_old_header(record: Mapping[str, Any]) -> bool:
    if not {"type", "messages", "role"}.isdisjoint(record):
        return False
    return "id" in record and "timestamp" in record and ("instructions" in record or "git" in record)
