"""Spans become runs: each thing that was said once, however often spans repeat it and in however many requests they come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.governance.redaction import redact_run
from tenure.playbook.run import Origin, Run
from tenure.traces import ReadReport, otlp, read_runs
from tests.traces.logs import read_lines

TRACE = "0af7651916cd43dd8448eb211c80319c"
START = 1_772_607_600_000_000_000

Said = tuple[str, ...]


def value(plain: object) -> dict[str, Any]:
    """A plain value as OTLP/JSON has it."""
    if isinstance(plain, bool):
        return {"boolValue": plain}
    if isinstance(plain, int):
        return {"intValue": str(plain)}
    if isinstance(plain, float):
        return {"doubleValue": plain}
    if isinstance(plain, list):
        return {"arrayValue": {"values": [value(item) for item in plain]}}
    if isinstance(plain, dict):
        return {"kvlistValue": {"values": attributes(plain)}}
    return {"stringValue": plain}


def attributes(plain: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": value(one)} for name, one in plain.items()]


def span(number: int, parent: int, start: float, end: float, given: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": "span",
        "startTimeUnixNano": str(START + int(start * 1e9)),
        "endTimeUnixNano": str(START + int(end * 1e9)),
        "attributes": attributes(given),
        **fields,
    }


def request(spans: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def event(name: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "attributes": attributes(given)}


def message(said: Said) -> dict[str, Any]:
    kind, *rest = said
    if kind == "call":
        return {"role": "assistant", "parts": [{"type": "tool_call", "id": rest[0], "name": "look", "arguments": {"at": rest[1]}}]}
    if kind == "result":
        return {"role": "tool", "parts": [{"type": "tool_call_response", "id": rest[0], "response": rest[1]}]}
    return {"role": kind, "parts": [{"type": "text", "content": rest[0]}]}


def steps(run: Run) -> list[Said]:
    """What was said in a run."""
    found: list[Said] = []
    for step in run.steps:
        if step.kind == "tool_call":
            found.append(("call", step.call_id, str(step.arguments["at"])))
        elif step.kind == "tool_result":
            found.append(("result", step.call_id, step.content))
        else:
            found.append((step.role, step.content))
    return found


# A turn: what the user says, and the words of calls that the agent makes before it answers.
turns = st.lists(
    st.tuples(st.sampled_from(["ok", "go on", "why?"]), st.lists(st.sampled_from(["a", "b"]), max_size=3), st.sampled_from(["ok", "done"])),
    min_size=1,
    max_size=4,
)


def conversation(asked: Sequence[tuple[str, list[str], str]], *, own_spans: bool = True, window: int = 0) -> tuple[list[Said], list[Any]]:
    """What is said, and the spans that an instrumented agent writes of it, in the order in which they end."""
    said: list[Said] = [("system", "You look.")]
    spans: list[Any] = []
    numbers, clock = count(2), count(1)

    def call_model(answer: Said) -> None:
        shown = [said[0], *said[1:][-window:]] if window else said
        given = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps([message(one) for one in shown]),
            "gen_ai.output.messages": json.dumps([message(answer)]),
        }
        spans.append(span(next(numbers), 1, next(clock), next(clock), given))
        said.append(answer)

    for user, calls, answer in asked:
        said.append(("user", user))
        for place in calls:
            call_id = f"call-{len(said)}"
            call_model(("call", call_id, place))
            result = f"found at {place}"
            if own_spans:
                given: dict[str, Any] = {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "look",
                    "gen_ai.tool.call.id": call_id,
                }
                given |= {"gen_ai.tool.call.arguments": {"at": place}, "gen_ai.tool.call.result": result}
                spans.append(span(next(numbers), 1, next(clock), next(clock), given))
            said.append(("result", call_id, result))
        call_model(("assistant", answer))
    spans.append(span(1, 0, 0, next(clock), {"gen_ai.operation.name": "invoke_agent"}))
    return said, spans


def runs_of(requests: Iterable[Any]) -> dict[str, Run]:
    """Runs by id after requests that came one after the other."""
    kept: dict[str, Run] = {}
    for one in requests:
        for run in otlp.runs_of_request(one, scope="acme", report=ReadReport(), kept=kept.get):
            kept[run.id] = run
    return kept


def read_one(path: Path, spans: Iterable[Any]) -> Run:
    runs, report = read_lines(path, [request(spans)])
    assert report.count == 0
    assert len(runs) == 1
    return runs[0]


@given(turns, st.booleans(), st.sampled_from([0, 3]), st.randoms(use_true_random=False))
def test_each_thing_is_in_the_run_once_and_in_order(asked: Any, own_spans: bool, window: int, chance: Any) -> None:
    if window:  # of a conversation that is cut at its beginning, only texts that differ can be told apart
        asked = [(f"{user} {place}", calls, f"{answer} {place}") for place, (user, calls, answer) in enumerate(asked)]
    said, spans = conversation(asked, own_spans=own_spans, window=window)
    chance.shuffle(spans)  # where they stand in a file does not matter
    (run,) = otlp.runs_of_request(request(spans), scope="acme", report=ReadReport())
    assert steps(run) == said
    assert run.task.text == asked[0][0]


@given(turns, st.booleans(), st.lists(st.integers(1, 3), min_size=20, max_size=20), st.booleans())
def test_late_spans_continue_the_run_and_spans_sent_again_add_nothing(asked: Any, own_spans: bool, sizes: list[int], again: bool) -> None:
    said, spans = conversation(asked, own_spans=own_spans)
    requests = []
    while spans:
        size = sizes.pop() if sizes else 2
        requests.append(request(spans[:size]))
        spans = spans[size:]
    (run,) = runs_of([one for one in requests for _ in range(1 + again)]).values()
    assert steps(run) == said
    assert run.id == f"otlp:{TRACE}"
    assert run.ended


def test_a_run_has_no_end_before_its_root_has_come() -> None:
    _, spans = conversation([("go on", ["a"], "done")])
    (run,) = runs_of([request(spans[:-1])]).values()
    assert (run.ended, run.outcome.known) == ("", False)
    failed = {**spans[-1], "status": {"code": 2, "message": "gave up"}}
    (run,) = runs_of([request(spans[:-1]), request([failed])]).values()
    assert run.ended
    assert (run.outcome.success, run.outcome.signal, run.outcome.feedback) == (False, "environment", "gave up")


def test_a_run_that_was_redacted_when_it_was_kept_is_found_again() -> None:
    secret = "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    said, spans = conversation([(secret, ["a"], "done")])
    kept: dict[str, Run] = {}
    for one in spans:
        for run in otlp.runs_of_request(request([one]), scope="acme", report=ReadReport(), kept=kept.get):
            kept[run.id] = redact_run(run)
    (run,) = kept.values()
    assert len(run.steps) == len(said)
    assert "abcdefghij" not in repr(run)


TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
FAILED = {"status": {"code": 2, "message": "tool failed"}}
THROWN = {"events": [event("exception", {"exception.type": "app.NotFound", "exception.message": "no such order"})]}


@pytest.mark.parametrize(
    ("given", "fields", "error"),
    [
        ({}, {}, ""),
        ({"gen_ai.tool.call.result": "Error: no such order"}, {}, "Error: no such order"),
        ({"gen_ai.tool.call.result": "Error rate: 2 %"}, {}, ""),
        ({"gen_ai.tool.call.result": "x"}, FAILED, "tool failed"),
        ({}, FAILED | THROWN, "NotFound: no such order"),
        ({"gen_ai.tool.call.result": "no such order"}, FAILED | THROWN, "no such order"),
        ({"error.type": "timeout"}, {}, "timeout"),
        ({"error.type": "NotFound"}, THROWN, "NotFound: no such order"),
        ({}, {"status": {"code": "STATUS_CODE_ERROR"}}, "error without a message"),
        ({}, THROWN, ""),  # it was handled: the span says of itself that all is well
    ],
)
def test_a_tool_error_is_what_the_span_says_went_wrong(given: dict[str, Any], fields: dict[str, Any], error: str, tmp_path: Path) -> None:
    run = read_one(tmp_path / "log", [span(1, 0, 0, 1, TOOL | given, **fields)])
    assert [step.error for step in run.steps] == ["", error]
    assert run.steps[1].origin is not None
    assert not run.steps[1].origin.trusted


def judged(**fields: Any) -> dict[str, Any]:
    return event("gen_ai.evaluation.result", {f"gen_ai.evaluation.{name.replace('_', '.')}": one for name, one in fields.items()})


def signed(signal: str, **fields: Any) -> dict[str, Any]:
    made = judged(**fields)
    return {**made, "attributes": made["attributes"] + attributes({"tenure.signal": signal})}


ERROR = {"code": 2, "message": "gave up"}


@pytest.mark.parametrize(
    ("status", "events", "success", "score", "signal"),
    [
        ({}, [], None, None, "none"),
        ({"code": 1}, [], None, None, "none"),  # that nothing was thrown says nothing about the answer
        (ERROR, [], False, 0.0, "environment"),
        ({}, [judged(name="right", score_label="pass")], True, 1.0, "judge"),
        ({}, [judged(name="right", score_value=0.2)], False, 0.2, "judge"),
        ({}, [judged(name="right", score_value=0.9, score_label="fail")], False, 0.9, "judge"),
        ({}, [judged(name="right", score_value=7)], None, None, "none"),
        ({}, [judged(name="right", score_value=0.1), judged(name="right", score_value=0.9)], True, 0.9, "judge"),
        ({}, [judged(name="right", score_label="pass"), judged(name="kind", score_label="fail")], None, None, "none"),
        ({}, [signed("test", name="right", score_label="pass")], True, 1.0, "test"),
        ({}, [signed("rumour", name="right", score_label="pass")], True, 1.0, "judge"),
        (ERROR, [judged(name="right", score_label="pass")], False, 0.0, "environment"),
        (ERROR, [signed("human", name="right", score_label="pass")], True, 1.0, "human"),
        ({}, [signed("test", name="right", score_label="fail"), judged(name="kind", score_label="pass")], False, 0.0, "test"),
    ],
)
def test_an_outcome_is_only_what_a_root_or_an_evaluation_says(
    status: dict[str, Any], events: list[Any], success: bool | None, score: float | None, signal: str, tmp_path: Path
) -> None:
    _, spans = conversation([("go on", [], "done")])
    run = read_one(tmp_path / "log", [*spans[:-1], {**spans[-1], "status": status, "events": events}])
    assert (run.outcome.success, run.outcome.score, run.outcome.signal) == (success, score, signal)


def test_an_inner_error_is_no_outcome(tmp_path: Path) -> None:
    _, spans = conversation([("go on", ["a"], "done")])
    run = read_one(tmp_path / "log", [{**spans[0], "status": ERROR}, *spans[1:]])
    assert not run.outcome.known
    assert [step.name for step in run.steps if step.kind == "event"] == ["api_error"]


def test_parents_that_form_a_ring_or_are_not_there_lose_nothing(tmp_path: Path) -> None:
    said, spans = conversation([("go on", ["a", "b"], "done")])
    ids = [one["spanId"] for one in spans]
    ring = [{**one, "parentSpanId": parent} for one, parent in zip(spans, ids[1:] + ids[:1], strict=True)]
    assert sorted(steps(read_one(tmp_path / "log", ring))) == sorted(said)
    assert steps(read_one(tmp_path / "log", [{**one, "parentSpanId": "f" * 16} for one in spans])) == said


def test_spans_in_base64_and_of_the_old_names_are_the_same_run(tmp_path: Path) -> None:
    _, spans = conversation([("go on", ["a"], "done")])
    whole = read_one(tmp_path / "log", spans)
    old = {
        "resource_spans": [
            {"instrumentation_library_spans": [{"spans": [{**one, "traceId": "CvdlGRbNQ91ESOshHIAxnA=="} for one in spans]}]}
        ]
    }
    runs, _ = read_lines(tmp_path / "log", [old])
    assert len(runs) == 1
    other = read_one(tmp_path / "log", [{**one, "traceId": TRACE.upper()} for one in spans])
    assert (whole.id, other) == (f"otlp:{TRACE}", whole)


def test_a_document_over_many_lines_is_read(tmp_path: Path) -> None:
    said, spans = conversation([("go on", ["a"], "done")])
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(request(spans), indent=2))
    (run,) = read_runs(path, report=ReadReport())
    assert steps(run) == said


def test_what_cannot_be_used_is_counted(tmp_path: Path) -> None:
    _, spans = conversation([("go on", [], "done")])
    web = span(77, 0, 0, 1, {"http.request.method": "GET"})
    broken: list[Any] = [{**spans[0], "spanId": ""}, {"name": "no ids"}, 7, {**web, "traceId": "f" * 32}]
    runs, report = read_lines(
        tmp_path / "log", [request([*spans, *broken]), {"resourceLogs": []}, {"resourceSpans": ["x", {"scopeSpans": [7]}]}]
    )
    assert len(runs) == 1
    assert [place.reason for place in report.unreadable] == ["a span without the id of a trace or its own"] * 3
    assert report.unknown_kinds == {"otlp:resourceLogs": 1, "otlp:resource that is no object": 1, "otlp:scope that is no object": 1}
    assert report.repairs["trace in which no agent says or does anything left out"] == 1
    assert report.repairs["span without GenAI attributes left out"] == 1


def test_too_much_held_at_once_is_handed_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp, "_SMALL_FILE", 0)
    said, spans = conversation([("go on", ["a", "b"], "done")])
    traces = [[{**one, "traceId": f"{number:032x}"} for one in spans] for number in range(1, 4)]
    path = tmp_path / "log"
    path.write_text("".join(json.dumps(request([one])) + "\n" for row in zip(*traces, strict=True) for one in row))
    report = ReadReport()
    runs = list(otlp.read(path, scope="", report=report))
    assert [steps(run) for run in runs] == [said] * 3
    assert report.count == 0
    runs = list(otlp.read(path, scope="", report=report, most_held=3_000))
    assert len(runs) == 3
    assert report.count > 0
    assert "too much was held" in report.unreadable[0].reason


def test_who_sent_a_request_is_the_origin_of_its_runs() -> None:
    _, spans = conversation([("go on", [], "done")])
    sender = Origin(principal="key-1", channel="api")
    (run,) = otlp.runs_of_request(request(spans), scope="acme", report=ReadReport(), origin=sender)
    assert run.origin == sender
    report = ReadReport()
    deep: Any = "x"
    for _ in range(200):
        deep = {"arrayValue": {"values": [deep]}}
    assert list(otlp.runs_of_request({"resourceSpans": [deep]}, scope="acme", report=report)) == []
    assert report.count == 1


def test_context_that_tenure_put_in_is_not_learned_again(tmp_path: Path) -> None:
    text = "<tenure-context>\nAlways look twice.\n</tenure-context>\ngo on"
    given = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps([message(("user", text))])}
    given["gen_ai.output.messages"] = json.dumps([message(("call", "t1", "a"))])
    run = read_one(tmp_path / "log", [span(1, 0, 0, 1, given)])
    assert steps(run) == [("user", "go on"), ("call", "t1", "a")]


ATTRIBUTES = st.sampled_from([
    "gen_ai.operation.name", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.prompt",
    "gen_ai.completion", "gen_ai.prompt.0.role", "gen_ai.prompt.0", "gen_ai.completion.1.content", "gen_ai.tool.name", "tool.parameters",
    "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "openinference.span.kind", "input.value", "output.value", "events",
    "llm.input_messages.0.message.role", "llm.input_messages.0.message", "llm.input_messages.0.message.contents.0.message_content.text",
    "llm.output_messages.00.message.tool_calls.0.tool_call.function.arguments", "retrieval.documents.0.document", "traceloop.entity.input",
    "gen_ai.conversation.id", "error.type", "gen_ai.evaluation.score.value", "exception.message", "content", "message", "role", "body",
])  # fmt: skip
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["chat", "LLM", "TOOL", "AGENT", "execute_tool", "user", "tool", "[{}]",
                       '[{"role":"user","content":[[]]}]', '{"messages":[[{"role":7}]]}',
                       '[{"parts":[{"type":"tool_call"},{"type":[]},7]}]', "[", "-", "٣", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "stringValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue", "values", "role", "content", "parts", "type",
        "tool_calls", "function", "id", "name", "arguments", "message", "key", "value"]), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
ODD_ATTRIBUTES = st.lists(st.fixed_dictionaries({"key": ATTRIBUTES, "value": ODD | ODD.map(lambda one: {"stringValue": one})}), max_size=5)
ODD_SPANS = st.fixed_dictionaries(
    {"traceId": st.just(TRACE) | ODD, "spanId": st.sampled_from(["a" * 16, "b" * 16]) | ODD, "name": st.just("x") | ODD},
    optional={
        "parentSpanId": st.sampled_from(["a" * 16, "b" * 16, ""]) | ODD,
        "startTimeUnixNano": ODD | st.sampled_from(["1" * 20, 10**25, "9" * 19]),
        "endTimeUnixNano": ODD,
        "attributes": ODD_ATTRIBUTES | ODD,
        "status": ODD,
        "events": st.lists(
            st.fixed_dictionaries({
                "name": st.sampled_from(["gen_ai.choice", "gen_ai.user.message", "exception", "gen_ai.evaluation.result"]),
                "attributes": ODD_ATTRIBUTES | ODD,
            }) | ODD, max_size=3
        ) | ODD,
    },
)  # fmt: skip


@given(st.lists(ODD_SPANS, max_size=4), ODD)
def test_no_shape_of_a_span_stops_the_reader(spans: list[Any], rest: Any) -> None:
    requests: list[Any] = [request(spans), {"resourceSpans": rest}, {"resourceSpans": [{"scopeSpans": rest}]}, *spans]
    kept: dict[str, Run] = {}
    for one in requests:
        report = ReadReport()
        for run in otlp.runs_of_request(one, scope="acme", report=report, kept=kept.get):
            kept[run.id] = run
            json.dumps([dict(step.arguments) for step in run.steps])
            repr(run).encode()
        report.summary().encode()
