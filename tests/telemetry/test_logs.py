"""The log says what happened, when, and to whose request, and no text that anybody wrote."""

from __future__ import annotations

import ast
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the extra telemetry")

from tenure import Add, telemetry
from tenure.errors import StoreError
from tenure.logs import configure_logs, event, in_request
from tenure.telemetry.attributes import tenant_digest
from tenure.testing import open_trial
from tests.telemetry.listening import listening, run_about, teaching

MARK = "ZANZIBAR"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The log at DEBUG, of all loggers; they are as they were afterwards."""
    names = ("", "tenure")
    before = {
        name: (logging.getLogger(name).handlers[:], logging.getLogger(name).level, logging.getLogger(name).propagate) for name in names
    }
    stream = io.StringIO()
    configure_logs("debug", stream, loggers=("", "tenure"))
    yield stream
    for name, (handlers, level, propagate) in before.items():
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def read(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_failure_is_told_by_its_kind_and_place(lines: io.StringIO) -> None:
    try:
        raise ValueError(MARK)
    except ValueError as exc:
        event(logging.getLogger("tenure.service"), "job.failed", logging.WARNING, said=f"a job failed: {MARK}", failure=exc, run="r1")
    (line,) = read(lines)
    assert (line["event"], line["error"], line["run"]) == ("job.failed", "ValueError", "r1")
    assert line["raised_at"].startswith("test_logs:")
    assert MARK not in lines.getvalue()


def test_why_a_database_could_not_be_used_is_told_in_a_word(lines: io.StringIO) -> None:
    failure = StoreError(f"Database {MARK} cannot be reached")
    failure.reason = "unreachable"
    event(logging.getLogger("tenure.service"), "store.failed", logging.ERROR, failure=failure)
    (line,) = read(lines)
    assert (line["error"], line["reason"], MARK in lines.getvalue()) == ("StoreError", "unreachable", False)


def test_a_log_that_is_no_json_has_the_sentence(caplog: pytest.LogCaptureFixture) -> None:
    event(logging.getLogger("sentences"), "job.failed", logging.WARNING, said="a job failed", run="r1")
    assert caplog.messages == ["a job failed"]


def test_a_line_has_time_level_name_and_fields(lines: io.StringIO) -> None:
    with in_request("req-1", tenant="acme/desk"):
        event(logging.getLogger("tenure.service"), "request.done", status=200, duration_s=0.25, route="/v1/runs/{id}", method="GET")
    event(logging.getLogger("tenure.service"), "worker.stopped", logging.WARNING, worker="w-1")
    first, second = read(lines)
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "info",
        "logger": "tenure.service",
        "event": "request.done",
        "request": "req-1",
        "tenant": tenant_digest("acme"),
        "status": 200,
        "duration_s": 0.25,
        "route": "/v1/runs/{id}",
        "method": "GET",
    }
    assert (second["level"], second["event"], second["worker"]) == ("warning", "worker.stopped", "w-1")
    assert "request" not in second


def test_messages_of_others_and_fields_off_the_list_are_not_told(lines: io.StringIO) -> None:
    logger = logging.getLogger("tenure.other")
    logger.warning("the task was %s", MARK)
    event(logger, "run.kept", text=MARK, task=MARK, run=f"{MARK} of May", status=MARK, reason=f"because {MARK}")
    try:
        raise ValueError(MARK)
    except ValueError:
        logger.exception("failed with %s", MARK)
    logging.getLogger("some.library").debug(MARK, stack_info=True)
    assert MARK not in lines.getvalue()
    told, kept, failed, library = read(lines)
    assert (told["event"], told["at"].partition(":")[0]) == ("log", "test_logs")
    assert (kept["left_out"], kept["run"][:7], "status" in kept) == (2, "sha256:", False)
    assert (failed["error"], failed["raised_at"].partition(":")[0]) == ("ValueError", "test_logs")
    assert library["logger"] == "some.library"


def test_an_event_has_a_name_of_the_programs() -> None:
    with pytest.raises(ValueError, match="lower case"):
        event(logging.getLogger("tenure"), f"learned {MARK}")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_no_text_of_a_lesson_or_a_task_is_in_any_line_span_or_metric(lines: io.StringIO) -> None:
    model = teaching(f"Archive a {MARK} page before it is renumbered.", revised=f"Archive {MARK} pages after that.")
    with listening(prometheus=True) as heard, open_trial(f"acme/{MARK.lower()}", model=model) as book:
        (receipt,) = book.apply([Add("ledger", f"Never archive a {MARK} page.")]).receipts
        for number in range(3):
            run = run_about(f"{MARK} of May", name=f"{MARK} run {number}", success=bool(number))
            fields = {name: getattr(run, name) for name in run.__slots__}
            book.learn(type(run)(**{**fields, "shown": (receipt.id,), "cited": (receipt.id,)}))
            found = book.context(f"Tidy the ledger of {MARK}", run=f"{MARK} run {number}")
            assert MARK in found.text
        book.refine()
        spans = [(span.name, dict(span.attributes or {}), span.status.description, span.events) for span in heard.spans]
        told = repr(spans) + repr(heard.metrics()) + str(telemetry.exposition())
    assert len(spans) > 15
    assert MARK.lower() not in (told + lines.getvalue()).lower()


SERVED = ("serving/service", "serving/web", "serving/proxy", "workers")


def test_what_serves_logs_events_by_name() -> None:
    """A line that is no event says in JSON only where it stood."""
    source = Path(__file__).resolve().parents[2] / "src/tenure"
    sentences = [
        f"{path.relative_to(source)}:{node.lineno}"
        for folder in SERVED
        for path in sorted((source / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("debug", "info", "warning", "error", "exception", "critical", "log")
        and ast.unparse(node.func.value) == "_log"
    ]
    assert sentences == []


def test_an_error_is_told_by_its_kind_and_place_in_a_plain_log_too(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError(f"{MARK} owes 5")
    except ValueError as exc:
        event(logging.getLogger("tenure.service"), "request.failed", logging.ERROR, failure=exc, run=f"{MARK} owes")
    (record,) = caplog.records
    assert record.getMessage().startswith("request.failed error=ValueError ")
    assert " raised_at=test_logs:" in record.getMessage()
    assert MARK not in caplog.text
