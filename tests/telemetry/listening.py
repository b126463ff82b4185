"""What telemetry tells, kept in memory for tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tenure import telemetry
from tenure.playbook.run import Outcome, Run, Step, Task
from tenure.ports import Prompt, Reply, Usage
from tenure.testing import RuleModel


class Listening:
    """Spans and metrics of this process."""

    def __init__(self) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()

    @property
    def spans(self) -> list[ReadableSpan]:
        """Spans that have ended, in the order of their beginning."""
        return sorted(
            self.exporter.get_finished_spans(), key=lambda span: (span.start_time or 0, span.context.span_id if span.context else 0)
        )

    def named(self, name: str) -> list[dict[str, Any]]:
        """The attributes of spans of a name."""
        return [dict(span.attributes or {}) for span in self.spans if span.name == name]

    def metrics(self) -> dict[str, list[tuple[dict[str, Any], float]]]:
        """Attributes and value (of a histogram the sum) of each series, by metric."""
        data = self.reader.get_metrics_data()
        found: dict[str, list[tuple[dict[str, Any], float]]] = {}
        for resource in data.resource_metrics if data is not None else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.data.data_points:
                        value = point.sum if hasattr(point, "sum") else point.value
                        found.setdefault(metric.name, []).append((dict(point.attributes or {}), value))
        return found

    def tree(self) -> str:
        """Spans with their attributes, a line each, below the span around them."""
        children: dict[int, list[ReadableSpan]] = {}
        for span in self.spans:
            children.setdefault(span.parent.span_id if span.parent is not None else 0, []).append(span)

        def lines(around: int, depth: int) -> Iterator[str]:
            for span in children.get(around, ()):
                told = " ".join(f"{name}={json.dumps(value)}" for name, value in sorted((span.attributes or {}).items()))
                yield f"{'  ' * depth}{span.name} [{span.kind.name.lower()}, {span.status.status_code.name.lower()}] {told}".rstrip()
                assert span.context is not None
                yield from lines(span.context.span_id, depth + 1)

        return "\n".join(lines(0, 0)) + "\n"


@contextmanager
def listening(*, prometheus: bool = False) -> Iterator[Listening]:
    """Telemetry switched on for a test."""
    made = Listening()
    telemetry.start(spans=[SimpleSpanProcessor(made.exporter)], readers=[made.reader], prometheus=prometheus)
    try:
        yield made
    finally:
        telemetry.stop()


def teaching(text: str, *, revised: str = "") -> RuleModel:
    """A model that draws one lesson from each run, and words lessons that misled anew."""

    def rule(prompt: Prompt) -> Reply:
        if prompt.purpose == "reflect":
            answer: dict[str, Any] = {"insights": [{"text": text, "steps": [0], "section": "ledger"}], "tags": []}
        elif prompt.purpose == "revise":
            answer = {"verdict": "too general", "text": revised, "applies_when": "always", "would_have_prevented": True}
        else:
            answer = {"operations": [{"op": "ADD", "section": "ledger", "text": text, "from": [0]}]}
        usage = Usage(calls=1, input_tokens=100, output_tokens=20, cached_tokens=40)
        return Reply(text=json.dumps(answer), usage=usage, model="of-a-rule")

    return RuleModel(rule, name="openai:gpt-4o-mini")


def run_about(text: str, *, name: str = "run-1", success: bool = True) -> Run:
    """A run whose task, steps and outcome hold a text; a tool refuses one call and takes the next."""
    refused, taken = {"page": f"{text} 1"}, {"page": f"{text} 2"}
    return Run(
        id=name,
        task=Task(text=f"Tidy the ledger: {text}", kind="tidy"),
        steps=(
            Step(kind="thought", content=f"I looked at the ledger, {text}."),
            Step(kind="tool_call", name="archive", arguments=refused, call_id="1"),
            Step(kind="tool_result", name="archive", error=f"no such page {text}", call_id="1"),
            Step(kind="tool_call", name="archive", arguments=taken, call_id="2"),
            Step(kind="tool_result", name="archive", content=f"archived {text}", call_id="2"),
        ),
        outcome=Outcome(success=success, signal="test", feedback=f"fine {text}"),
    )
