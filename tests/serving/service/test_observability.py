"""Spans that become runs, metrics for the operator alone, and a log without texts."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tenure import telemetry
from tenure.logs import configure_logs
from tests.serving.service.services import RUN, Service

TRACE = "5b8efff798038103d269b633813fc60c"


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def span(name: str, number: int, parent: str = "", **attributes: str) -> dict[str, Any]:
    told = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    start = 1772607600000000000 + number * 1_000_000_000
    made = {"traceId": TRACE, "spanId": f"eee19b7ec3c1b17{number}", "name": name, "startTimeUnixNano": str(start)}
    return {**made, "endTimeUnixNano": str(start + 500_000_000), "attributes": told, **({"parentSpanId": parent} if parent else {})}


TOOL = span(
    "execute_tool refund", 1, "eee19b7ec3c1b170", gen_ai__operation__name="execute_tool", gen_ai__tool__name="refund"
)  # fmt: skip
ROOT = span(
    "invoke_agent desk",
    0,
    gen_ai__operation__name="invoke_agent",
    gen_ai__input__messages='[{"role": "user", "parts": [{"type": "text", "content": "Refund order 4711."}]}]',
)


def test_spans_become_a_run_that_later_ones_continue(service: Service) -> None:
    scope = "spans/desk"
    first = service("POST", "/v1/traces", request(TOOL), scope=scope, role="reporter")
    assert first.status_code == 200, first.text
    assert first.json() == {"partialSuccess": {"rejectedSpans": 0, "errorMessage": ""}, "runs": [f"otlp:{TRACE}"]}
    assert service("GET", f"/v1/runs/otlp:{TRACE}", scope=scope).json()["state"] == "unfinished"
    service("POST", "/v1/traces", request(ROOT), scope=scope, role="reporter")
    run = service("GET", f"/v1/runs/otlp:{TRACE}", scope=scope).json()
    assert (run["task"]["text"], bool(run["ended"])) == ("Refund order 4711.", True)
    again = service("POST", "/v1/traces", request(TOOL, ROOT), scope=scope, role="reporter")
    assert again.status_code == 200, again.text
    assert service("GET", f"/v1/runs/otlp:{TRACE}", scope=scope).json()["steps"] == run["steps"], "sent again they add nothing"


def test_spans_that_cannot_be_read_are_counted(service: Service) -> None:
    reply = service("POST", "/v1/traces", {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}, 7]}]}]}, scope="spans/odd")
    assert reply.status_code == 200, reply.text
    assert reply.json()["partialSuccess"]["rejectedSpans"] >= 1
    assert reply.json()["runs"] == []
    protobuf = service("POST", "/v1/traces", content=b"\n\x00", headers={"content-type": "application/x-protobuf"})
    assert protobuf.status_code == 415


@pytest.fixture
def kept() -> Iterator[None]:
    pytest.importorskip("opentelemetry.sdk")
    telemetry.start_serving({})
    yield
    telemetry.stop()


def test_metrics_are_for_whoever_shows_the_token(service: Service, kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    service("POST", "/v1/context", {"task": "sum the lines"}, scope="metrics/desk")
    assert service.client.get("/metrics").status_code == 403, "not from this machine, and no token is set"
    monkeypatch.setenv("TENURE_METRICS_TOKEN", "s3cret-for-prometheus")
    assert service.client.get("/metrics", headers={"authorization": "Bearer wrong"}).status_code == 403
    assert service("GET", "/metrics").status_code == 403, "an API key is no metrics token"
    reply = service.client.get("/metrics", headers={"authorization": "Bearer s3cret-for-prometheus"})
    assert reply.status_code == 200
    assert "tenure_context_duration_seconds_count" in reply.text
    assert "metrics/desk" not in reply.text


def test_a_server_that_keeps_no_metrics_says_so(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENURE_METRICS_TOKEN", "t")
    reply = service.client.get("/metrics", headers={"authorization": "Bearer t"})
    assert (reply.status_code, "--metrics" in reply.json()["detail"]) == (404, True)


def test_the_log_names_requests_and_holds_no_text(service: Service) -> None:
    lines = io.StringIO()
    loggers = [logging.getLogger(name) for name in ("tenure", "tenure.service")]
    before = [(logger, list(logger.handlers), logger.propagate, logger.level) for logger in loggers]
    try:
        configure_logs("debug", lines)
        service("POST", "/v1/runs", {**RUN, "id": "ACQUISITION-OF-GLOBEX", "task": {"text": "SECRETTASK"}}, scope="logtenant/desk")
        service("GET", "/v1/lessons?search=SECRETSEARCH", scope="logtenant/desk")
        service("POST", "/v1/runs", {"task": "SECRETBROKEN", "steps": 7}, scope="logtenant/desk")
    finally:
        for logger, handlers, propagate, level in before:
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    done = [one for one in told if one["event"] == "request.done"]
    assert [(one["method"], one["route"], one["status"]) for one in done[:3]] == [
        ("POST", "/v1/runs", 202),
        ("GET", "/v1/lessons", 200),
        ("POST", "/v1/runs", 422),
    ]
    assert all(one["duration_s"] > 0 and one["request"] for one in done)
    assert "SECRET" not in lines.getvalue()
    assert "logtenant" not in lines.getvalue(), "a tenant is told by its digest"
