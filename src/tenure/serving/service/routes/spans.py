"""Spans of agents, as OpenTelemetry's collectors send them: each trace becomes a run, or more of one."""

from __future__ import annotations

import threading
from typing import Annotated, Any

from fastapi import Body, Depends, Response

from tenure.serving.service.api import router, told
from tenure.serving.service.doing import Doing, May
from tenure.serving.service.reporting import keep_run
from tenure.traces.otlp import runs_of_request
from tenure.traces.report import ReadReport

ROUTER = router("runs")

_SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b173",
    "name": "invoke_agent desk",
    "startTimeUnixNano": "1772607600000000000",
    "endTimeUnixNano": "1772607605000000000",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}},
        {
            "key": "gen_ai.input.messages",
            "value": {"stringValue": '[{"role": "user", "parts": [{"type": "text", "content": "Refund order 4711."}]}]'},
        },
    ],
}
_REQUEST = {"resourceSpans": [{"scopeSpans": [{"spans": [_SPAN]}]}]}
_DONE = {"partialSuccess": {"rejectedSpans": 0, "errorMessage": ""}, "runs": ["otlp:5b8efff798038103d269b633813fc60c"]}

_LOCKS = [threading.Lock() for _ in range(64)]
"""One request at a time continues the runs of a scope; by the scope's hash."""


@ROUTER.post("/traces", summary="Report spans", responses=told("What could be read is on disk.", _DONE))
def report_spans(
    to: Annotated[Doing, Depends(May("report", "traces", once=True))],
    body: Annotated[
        dict[str, Any],
        Body(description="An export request of OTLP as JSON (`ExportTraceServiceRequest`); protobuf is not read.", examples=[_REQUEST]),
    ],
) -> Response:
    """Take spans by the GenAI conventions of OpenTelemetry, or by OpenInference: each trace becomes a run.

    Spans of a trace that come later continue its run; it ends when its root has come. Collectors send here with
    `encoding: json` and the key in a header. What is no span of an agent is left out; what cannot be read is counted.
    """
    report, named = ReadReport(), list[str]()

    def work() -> dict[str, Any]:
        with _LOCKS[hash(to.scope) % len(_LOCKS)], to.book.store.reading(to.scope) as look:
            for run in list(runs_of_request(body, scope=to.scope, report=report, kept=look.run, origin=to.origin)):
                keep_run(to, run)
                named.append(run.id)
        why = "; ".join(dict.fromkeys(one.reason for one in report.unreadable))
        return {"partialSuccess": {"rejectedSpans": report.count, "errorMessage": why[:500]}, "runs": named}

    return to.reply(work)
