"""Telemetry by OpenTelemetry's SDK: spans and metrics, with the GenAI conventions for calls of models.

The conventions: https://opentelemetry.io/docs/specs/semconv/gen-ai/. Loaded only when telemetry is switched on.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from opentelemetry import context as contexts
from opentelemetry import metrics, trace
from opentelemetry.metrics import CallbackOptions, Histogram, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

from tenure.errors import MissingExtra, TenureError
from tenure.telemetry.attributes import Value, fields, word
from tenure.telemetry.port import LISTENER
from tenure.version import VERSION

TOKEN_BUCKETS = tuple(4.0**power for power in range(14))
SECOND_BUCKETS = tuple(0.01 * 2.0**power for power in range(14))
"""Bounds of the histograms, as the GenAI conventions advise."""

CONTEXT_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

MOST_MODELS = 100
"""Names of models that metrics tell apart; the others are `other`. A proxy's clients could name any."""

_PROVIDERS: Mapping[str, str] = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "grok": "x_ai",
    "mistral": "mistral_ai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}
"""Providers whose name in the conventions is another than ours."""

_NAMES: Mapping[str, str] = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "error": "error.type",
}
_METRIC_FIELDS = frozenset({"outcome", "queue"})
"""The only fields of ours that metrics have: tenants, scopes and ids would make a series each, and tell them to who reads metrics."""


class Recording:
    """Tells OpenTelemetry what the engine does."""

    def __init__(
        self, *, export: bool = False, prometheus: bool = False, spans: Sequence[SpanProcessor] = (), readers: Sequence[MetricReader] = ()
    ) -> None:
        """See `switching.start`."""
        self._own: list[TracerProvider | MeterProvider] = []
        self._registry: Any = None
        self._lock = threading.Lock()
        self._models: set[str] = set()
        self._input = self._cached = 0
        readers = [*readers, *([self._prometheus()] if prometheus else [])]
        resource = _resource()
        self._tracer = self._tracers(resource, export, spans).get_tracer("tenure", VERSION)
        meter = self._meters(resource, export, readers).get_meter("tenure", VERSION)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage", "{token}", "Tokens that a call of a model used", explicit_bucket_boundaries_advisory=TOKEN_BUCKETS
        )
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration", "s", "Length of a call of a model", explicit_bucket_boundaries_advisory=SECOND_BUCKETS
        )
        self._durations: dict[str, Histogram] = {
            "tenure.context.duration": meter.create_histogram(
                "tenure.context.duration", "s", "Time to a context for a task", explicit_bucket_boundaries_advisory=CONTEXT_BUCKETS
            )
        }
        self._counters = {
            name: meter.create_counter(name, unit, meaning)
            for name, unit, meaning in (
                ("tenure.runs.learned", "{run}", "Runs that were learned from"),
                ("tenure.lessons.added", "{lesson}", "Lessons that came into a playbook by learning"),
                ("tenure.lessons.held", "{lesson}", "Changes that wait for a person"),
                ("tenure.lessons.refused", "{lesson}", "Lessons that were not admitted"),
            )
        }
        meter.create_observable_gauge("tenure.queue.depth", [_depths], "{job}", "Jobs that wait")
        meter.create_observable_gauge(
            "tenure.cache.share", [self._shares], "1", "Share of the models' input tokens that came from the provider's cache"
        )

    def span(self, name: str, given: Mapping[str, object], duration: str = "") -> _Span:
        """A span of a step of the engine."""
        return _Span(self, name, given, duration)

    def model_call(self, model: str, given: Mapping[str, object]) -> _ModelCall:
        """A span of a call of a model."""
        return _ModelCall(self, model, given)

    def count(self, name: str, number: int, given: Mapping[str, object]) -> None:
        """Adds to a counter."""
        self._counters[name].add(number, {f"tenure.{one}": value for one, value in fields(given).items() if one in _METRIC_FIELDS})

    def exposition(self) -> tuple[str, str] | None:
        """The metrics as Prometheus reads them, and their content type; none if they were not asked for."""
        if self._registry is None:
            return None
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self._registry).decode(), CONTENT_TYPE_LATEST

    def stop(self) -> None:
        """Hands over what is left and ends the providers that were made here."""
        for provider in self._own:
            provider.shutdown()
        self._own.clear()

    def _prometheus(self) -> MetricReader:
        try:
            from opentelemetry.exporter.prometheus import PrometheusMetricReader
            from prometheus_client import CollectorRegistry
        except ModuleNotFoundError as exc:
            raise MissingExtra("Metrics for Prometheus", extra="telemetry") from exc

        self._registry = CollectorRegistry()
        return PrometheusMetricReader(scope_info_enabled=False, disable_target_info=True, registry=self._registry)

    def _tracers(self, resource: Resource, export: bool, spans: Sequence[SpanProcessor]) -> trace.TracerProvider:
        around = trace.get_tracer_provider()
        if export and not spans and isinstance(around, TracerProvider):
            return around
        made = TracerProvider(resource=resource)
        for processor in spans:
            made.add_span_processor(processor)
        if export and os.environ.get("OTEL_TRACES_EXPORTER", "otlp") != "none":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._own.append(made)
        return made

    def _meters(self, resource: Resource, export: bool, readers: Sequence[MetricReader]) -> metrics.MeterProvider:
        around = metrics.get_meter_provider()
        if export and not readers and isinstance(around, MeterProvider):
            return around
        if export and os.environ.get("OTEL_METRICS_EXPORTER", "otlp") != "none":
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

            readers = [*readers, PeriodicExportingMetricReader(OTLPMetricExporter())]
        made = MeterProvider(resource=resource, metric_readers=readers)
        self._own.append(made)
        return made

    def _called(self, named: dict[str, Value], used: Mapping[str, Value], seconds: float) -> None:
        """Records the metrics of a call of a model."""
        with self._lock:
            model = str(named["gen_ai.request.model"])
            if model not in self._models and len(self._models) >= MOST_MODELS:
                named = {**named, "gen_ai.request.model": "other"}
            else:
                self._models.add(model)
            inputs = int(used.get("input_tokens", 0))
            self._input += inputs
            self._cached += min(inputs, int(used.get("cached_tokens", 0)))
        failed = {"error.type": used["error"]} if "error" in used else {}
        self._seconds.record(seconds, {**named, **failed})
        for kind in ("input", "output"):
            if f"{kind}_tokens" in used:
                self._tokens.record(int(used[f"{kind}_tokens"]), {**named, "gen_ai.token.type": kind})

    def _shares(self, _: CallbackOptions) -> Iterable[Observation]:
        with self._lock:
            return [Observation(self._cached / self._input)] if self._input else []


class _Span:
    """A span under way."""

    def __init__(
        self, recording: Recording, name: str, given: Mapping[str, object], duration: str = "", kind: SpanKind = SpanKind.INTERNAL
    ):
        self._recording, self._name, self._duration, self._kind = recording, name, duration, kind
        self._told = fields(given)
        self._error = ""
        self._began = 0.0

    def note(self, **given: object) -> None:
        """Adds fields; others than those of the list are left out."""
        self._told |= fields(given)

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        self._span = self._recording._tracer.start_span(self._name, kind=self._kind, record_exception=False, set_status_on_exception=False)
        self._token = contexts.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        seconds = time.perf_counter() - self._began
        if kind is not None:
            self._told["error"] = kind.__name__  # and not its message, which may quote a text
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.set_attributes(self._attributes())
        self._span.end()
        contexts.detach(self._token)
        self._record(seconds)

    def _attributes(self) -> dict[str, Value | Sequence[str]]:
        return {_NAMES.get(name, f"tenure.{name}"): value for name, value in self._told.items()}

    def _record(self, seconds: float) -> None:
        if self._duration:
            self._recording._durations[self._duration].record(seconds)


class _ModelCall(_Span):
    """A span of a call of a model."""

    def __init__(self, recording: Recording, model: str, given: Mapping[str, object]) -> None:
        provider, _, name = model.partition(":")
        self._named: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": word(_PROVIDERS.get(provider, provider)),
            "gen_ai.request.model": word(name or provider),
        }
        super().__init__(recording, f"chat {self._named['gen_ai.request.model']}", given, kind=SpanKind.CLIENT)

    def _attributes(self) -> dict[str, Value | Sequence[str]]:
        told: dict[str, Value | Sequence[str]] = {**self._named, **super()._attributes()}
        if (reason := told.pop("tenure.reason", None)) is not None:
            told["gen_ai.response.finish_reasons"] = (str(reason),)
        return told

    def _record(self, seconds: float) -> None:
        self._recording._called(self._named, self._told, seconds)


def _resource() -> Resource:
    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return Resource.create({"service.version": VERSION} if named else {"service.name": "tenure", "service.version": VERSION})


def _depths(_: CallbackOptions) -> Iterable[Observation]:
    found: list[Observation] = []
    for name, depth in list(LISTENER.queues.items()):
        try:
            found.append(Observation(depth(), {"tenure.queue": word(name)}))
        except TenureError:  # a store that is down must not take other queues with it; a series that ends says so
            continue
    return found
