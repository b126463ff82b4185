"""Spans out of a record of OTLP/JSON: a whole export request, or a span that stands alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tenure.traces.otlp_values import attributes_of, nanoseconds, span_id
from tenure.traces.report import ReadReport
from tenure.traces.shapes import list_at, map_at, text_at

Kind = Literal["model", "tool", "agent", "judge", "other"]

REQUEST_KEYS = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
_OTHER_SIGNALS = ("resourceLogs", "resourceMetrics", "resource_logs", "resource_metrics")

_OPENINFERENCE: Mapping[str, Kind] = {
    "llm": "model",
    "tool": "tool",
    "retriever": "tool",
    "agent": "agent",
    "chain": "agent",
    "evaluator": "judge",
}
_OPERATIONS: Mapping[str, Kind] = {
    "chat": "model",
    "text_completion": "model",
    "generate_content": "model",
    "execute_tool": "tool",
    "retrieval": "tool",
    "invoke_agent": "agent",
    "invoke_workflow": "agent",
    "create_agent": "other",
    "embeddings": "other",
}
_TRACELOOP: Mapping[str, Kind] = {"workflow": "agent", "agent": "agent", "task": "agent", "tool": "tool"}
_OWN_MARKS = ("gen_ai.", "llm.", "openinference.", "traceloop.", "tool.", "retrieval.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that a span notes.

    Attributes:
        name: such as `exception` or `gen_ai.user.message`.
        attributes: by name.
    """

    name: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span as it was written.

    Attributes:
        trace, id, parent: hexadecimal; the parent is empty for a root.
        name: as the instrumentation gave it.
        kind: `model` (a call of a model), `tool`, `agent` (an agent, or another frame around calls), `judge` (an evaluation of the run,
            no part of it), or `other`.
        start, end: nanoseconds since 1970; 0 if unknown.
        failed: whether its status is an error.
        message: what the status says.
        attributes, events: what it carries.
    """

    trace: str
    id: str
    parent: str = ""
    name: str = ""
    kind: Kind = "other"
    start: int = 0
    end: int = 0
    failed: bool = False
    message: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    events: tuple[Event, ...] = ()

    @property
    def error(self) -> str:
        """What went wrong: the exception's message, else the status's, else the kind of error; empty if nothing did."""
        thrown = next((event.attributes for event in reversed(self.events) if event.name == "exception"), {})
        kind = text_at(self.attributes, "error.type")
        if not self.failed and not kind:
            return ""  # an exception that was handled is none of the result
        told = text_at(thrown, "exception.message")
        named = text_at(thrown, "exception.type")
        if told and named and named.rpartition(".")[2] not in told:
            told = f"{named.rpartition('.')[2]}: {told}"
        return told or self.message or named or kind or "error without a message"

    @property
    def ours(self) -> bool:
        """Whether it has an attribute or an event of one of the conventions."""
        return any(name.startswith(_OWN_MARKS) for name in self.attributes) or any(
            event.name.startswith("gen_ai.") for event in self.events
        )


def recognises(value: object) -> bool:
    """Whether a record is an export request, or a span that stands alone."""
    if not isinstance(value, dict):
        return False
    if any(isinstance(value.get(key), list) for key in REQUEST_KEYS):
        return True
    return _is_span(value)


def spans_of(record: Mapping[str, Any], report: ReadReport, host: str) -> Iterator[Span | None]:
    """The spans in a record; none for each one without a usable id, so that the caller can name its place.

    Args:
        record: an export request or a span.
        report: told what is of no use.
        host: the format's name in the report.
    """
    groups = next((record[key] for key in REQUEST_KEYS if isinstance(record.get(key), list)), None)
    if groups is None:
        if _is_span(record):
            yield _span(record, report)
        else:
            signal = next((key for key in _OTHER_SIGNALS if key in record), "")
            report.unknown(host, signal or "record without spans")
        return
    for group in groups:
        if not isinstance(group, dict):
            report.unknown(host, "resource that is no object")
            continue
        scopes = next((group[key] for key in _SCOPES if isinstance(group.get(key), list)), ())
        for scope in scopes:
            if not isinstance(scope, dict):
                report.unknown(host, "scope that is no object")
                continue
            for span in list_at(scope, "spans"):
                yield _span(span, report) if isinstance(span, dict) else None


def _is_span(value: Mapping[str, Any]) -> bool:
    context = map_at(value, "context")
    trace = value.get("traceId") or value.get("trace_id") or context.get("trace_id")
    span = value.get("spanId") or value.get("span_id") or context.get("span_id")
    return isinstance(trace, str) and isinstance(span, str) and isinstance(value.get("name"), str)


def _span(value: Mapping[str, Any], report: ReadReport) -> Span | None:
    context = map_at(value, "context")
    trace = span_id(value.get("traceId") or value.get("trace_id") or context.get("trace_id"))
    own = span_id(value.get("spanId") or value.get("span_id") or context.get("span_id"))
    if not trace or not own:
        return None
    attributes = attributes_of(value.get("attributes"), report)
    failed, message = _status(value)
    name = text_at(value, "name")
    return Span(
        trace=trace,
        id=own,
        parent=span_id(value.get("parentSpanId") or value.get("parent_span_id") or value.get("parent_id")),
        name=name,
        kind=_kind(value, attributes),
        start=nanoseconds(value.get("startTimeUnixNano") or value.get("start_time_unix_nano") or value.get("start_time")),
        end=nanoseconds(value.get("endTimeUnixNano") or value.get("end_time_unix_nano") or value.get("end_time")),
        failed=failed,
        message=message,
        attributes=attributes,
        events=tuple(
            Event(name=text_at(event, "name"), attributes=attributes_of(event.get("attributes"), report))
            for event in list_at(value, "events")
            if isinstance(event, dict)
        ),
    )


def _status(value: Mapping[str, Any]) -> tuple[bool, str]:
    status = map_at(value, "status")
    code = status.get("code", status.get("status_code", value.get("status_code")))
    failed = code == 2 or (isinstance(code, str) and code.upper().removeprefix("STATUSCODE.").removeprefix("STATUS_CODE_") == "ERROR")
    return failed, text_at(status, "message", "description") or text_at(value, "status_message")


def _kind(value: Mapping[str, Any], attributes: Mapping[str, Any]) -> Kind:
    named = text_at(attributes, "openinference.span.kind") or text_at(value, "span_kind")
    if named.lower() in _OPENINFERENCE:
        return _OPENINFERENCE[named.lower()]
    operation = text_at(attributes, "gen_ai.operation.name").lower()
    if operation in _OPERATIONS:
        return _OPERATIONS[operation]
    frame = text_at(attributes, "traceloop.span.kind").lower()
    if frame in _TRACELOOP:
        return _TRACELOOP[frame]
    if "gen_ai.tool.name" in attributes or "gen_ai.tool.call.id" in attributes:
        return "tool"
    if "gen_ai.request.model" in attributes or "llm.model_name" in attributes or "llm.request.type" in attributes:
        return "model" if text_at(attributes, "llm.request.type") not in ("embedding", "rerank") else "other"
    return "agent" if "gen_ai.agent.name" in attributes else "other"
