"""Spans of agents as OpenTelemetry exports them (OTLP/JSON): requests, one a line or in one document, or spans that stand alone.

A trace is a run. Spans of a trace may stand anywhere in a file, and may come in several requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tenure.governance.redaction import redact
from tenure.playbook.run import Origin, Run
from tenure.traces.decoding import nested_too_deeply, without_lone_surrogates
from tenure.traces.otlp_runs import HOST, Trace
from tenure.traces.otlp_spans import recognises, spans_of
from tenure.traces.placing import Place, scope_for
from tenure.traces.report import ReadReport
from tenure.traces.streaming import read_records

__all__ = ["HOST", "read", "recognises", "runs_of_request"]

_SMALL_FILE = 16 << 20
"""Bytes up to which a file is read once: all of its traces may be held together."""

MOST_HELD = 128 << 20
"""Characters of traces that are held until their last span was read; beyond, the one that rested longest is handed out as it is."""

_REQUEST = Path("request")


def read(path: Path, *, scope: Place, report: ReadReport, most_held: int = MOST_HELD) -> Iterator[Run]:
    """The runs in a file, one for each trace in which something was said or done, each when its last span was read.

    A large file is read twice, first only to see where each trace ends.
    """
    ends: dict[str, int] | None = None
    if path.stat().st_size > _SMALL_FILE:
        ends = {}
        for place, (_, record, _) in enumerate(read_records(path, ReadReport())):
            for span in spans_of(record, ReadReport(), HOST):
                if span is not None:
                    ends[span.trace] = place
    traces: dict[str, Trace] = {}  # the one that rested longest first
    gone: set[str] = set()
    for place, (number, record, unit) in enumerate(read_records(path, report)):
        touched: dict[str, None] = {}
        for span in spans_of(record, report, HOST):
            if span is None:
                report.lost(path, "a span without the id of a trace or its own", number=number, unit=unit)
            elif span.trace in gone:
                report.lost(path, "a span of a trace that was handed out before, because too much was held", number=number, unit=unit)
            else:
                trace = traces.pop(span.trace, None) or Trace(report)
                traces[span.trace] = trace
                trace.add(span)
                touched[span.trace] = None
        if ends is None:
            continue
        for name in [name for name in touched if ends.get(name, place) <= place]:
            yield from _finished(name, traces.pop(name), scope, report)
        while len(traces) > 1 and sum(trace.size for trace in traces.values()) > most_held:
            name = next(iter(traces))
            gone.add(name)
            yield from _finished(name, traces.pop(name), scope, report)
    for name in list(traces):
        yield from _finished(name, traces.pop(name), scope, report)


def runs_of_request(
    request: Mapping[str, Any],
    *,
    scope: str,
    report: ReadReport,
    kept: Callable[[str], Run | None] = lambda run: None,
    origin: Origin | None = None,
) -> Iterator[Run]:
    """The runs of a decoded export request (`ExportTraceServiceRequest` as JSON), one for each trace in it.

    A trace's spans come in several requests, for each is exported when it ends. A run that earlier ones made is continued: its steps stay
    as they are, what is new follows them, and an end or an outcome is set when the root has come. Whoever keeps runs lets one request at a
    time continue a run.

    Args:
        request: an object with `resourceSpans`.
        scope: the scope the runs go to.
        report: told what could not be used.
        kept: gives the run of an id (`otlp:` and the trace's) as it was kept, or none.
        origin: who sent the request; none is an import.
    """
    if nested_too_deeply(request):
        report.lost(_REQUEST, "JSON nested too deeply")
        return
    traces: dict[str, Trace] = {}
    for number, span in enumerate(spans_of(without_lone_surrogates(request), report, HOST), 1):
        if span is None:
            report.lost(_REQUEST, "a span without the id of a trace or its own", number=number, unit="element")
        else:
            traces.setdefault(span.trace, Trace(report)).add(span)
    for name, trace in traces.items():
        earlier = kept(f"{HOST}:{name}")
        run = trace.run(name, scope=scope, kept=earlier, masked=_redacted, whole=False, origin=origin)
        if run is not None:
            report.runs += 1
            yield run


def _finished(name: str, trace: Trace, scope: Place, report: ReadReport) -> Iterator[Run]:
    run = trace.run(name, scope=scope_for(scope))
    if run is None:
        report.repaired("trace in which no agent says or does anything left out")
    else:
        yield run


def _redacted(text: str) -> str:
    return redact(text).text
