"""What Tenure tells of its own work: nothing when off, and never a text."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the extra telemetry")

from tenure import Add, telemetry
from tenure.errors import ModelError, SettingError, StoreError, UserError
from tenure.playbook.refine import Bounds
from tenure.telemetry.attributes import FORMS, identifier, tenant_digest
from tenure.telemetry.recording import MOST_MODELS
from tenure.testing import RuleModel, ScriptedModel, open_trial
from tests.telemetry.listening import listening, run_about, teaching
from tests.timing import assert_within, seconds

SOURCE = Path(telemetry.__file__).parent.parent


def test_the_spans_of_one_learn(golden: Callable[[str, str], None]) -> None:
    with listening() as heard, open_trial("acme/desk", model=teaching("Archive a page before it is renumbered.")) as book:
        book.set("learn.rounds", "1")
        book.learn(run_about("of May"))
        golden("telemetry/learn.txt", heard.tree())


def test_a_revision_and_a_refinement_are_told() -> None:
    model = teaching("Archive a page before it is renumbered.", revised="Archive a page after it is renumbered, always.")
    with listening() as heard, open_trial("acme/desk", model=model) as book:
        (receipt,) = book.apply([Add("ledger", "Never archive a page.")]).receipts
        run = run_about("of May", success=False)
        book.learn(type(run)(**{**{name: getattr(run, name) for name in run.__slots__}, "shown": (receipt.id,), "cited": (receipt.id,)}))
        book.refine(Bounds(tokens=50))
    assert [one["tenure.lessons"] for one in heard.named("tenure.revise")] == [1]
    assert {"reflect", "revise", "curate"} == {one["tenure.purpose"] for one in heard.named("chat gpt-4o-mini")}
    assert heard.named("tenure.refine")[-1]["tenure.tenant"] == tenant_digest("acme/desk")


def test_metrics_follow_the_conventions_and_name_no_tenant() -> None:
    with listening() as heard, open_trial("acme/desk", model=teaching("Archive a page before it is renumbered.")) as book:
        book.set("learn.rounds", "1")
        learned = book.learn(run_about("of May"))
        book.context("Tidy the ledger")
        telemetry.watch_queue("learning", lambda: 7)
        telemetry.watch_queue("down", lambda: (_ for _ in ()).throw(StoreError("down")))
        found = heard.metrics()
    call = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o-mini"}
    calls = len(heard.named("chat gpt-4o-mini"))
    assert calls >= 2
    assert found["gen_ai.client.token.usage"] == [
        ({**call, "gen_ai.token.type": "input"}, 100 * calls),
        ({**call, "gen_ai.token.type": "output"}, 20 * calls),
    ]
    assert [attributes for attributes, _ in found["gen_ai.client.operation.duration"]] == [call]
    assert found["tenure.runs.learned"] == [({"tenure.outcome": "success"}, 1)]
    assert found["tenure.lessons.added"] == [({}, learned.added)]
    assert found["tenure.queue.depth"] == [({"tenure.queue": "learning"}, 7)]
    assert found["tenure.cache.share"] == [({}, 0.4)]
    assert found["tenure.context.duration"][0][1] > 0
    assert "acme" not in repr(found)
    assert tenant_digest("acme/desk") not in repr(found)


def test_a_call_that_fails_is_told_by_its_kind_alone() -> None:
    with listening() as heard, open_trial(model=ScriptedModel([ModelError("the word SECRET-WORD is not allowed")] * 9)) as book:
        book.learn(run_about("of May"))
        found = heard.metrics()
    (told,) = heard.named("chat replies")[:1]
    assert told["error.type"] == "ModelError"
    assert {attributes.get("error.type") for attributes, _ in found["gen_ai.client.operation.duration"]} == {"ModelError"}
    assert "SECRET-WORD" not in repr([(span.attributes, span.status.description, span.events) for span in heard.spans])


def test_names_of_models_that_a_client_makes_up_do_not_fill_the_metrics() -> None:
    with listening() as heard:
        for number in range(MOST_MODELS + 50):
            with telemetry.model_call(f"openai:made-up-{number}"):
                pass
        series = {attributes["gen_ai.request.model"] for attributes, _ in heard.metrics()["gen_ai.client.operation.duration"]}
    assert len(series) == MOST_MODELS + 1
    assert "other" in series


def test_prometheus_reads_the_metrics() -> None:
    assert telemetry.exposition() is None
    with listening(prometheus=True), open_trial("acme/desk") as book:
        book.learn(run_about("of May"))
        told = telemetry.exposition()
    assert told is not None
    text, kind = told
    assert kind.startswith("text/plain")
    assert 'tenure_runs_learned_total{tenure_outcome="success"} 1.0' in text
    assert "acme" not in text


def test_a_server_keeps_metrics_and_exports_only_where_an_endpoint_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, object]] = []
    monkeypatch.setattr("tenure.telemetry.switching.start", lambda **given: started.append(given))
    telemetry.start_serving({})
    telemetry.start_serving({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
    assert started == [{"export": False, "prometheus": True}, {"export": True, "prometheus": True}]


@pytest.mark.parametrize(
    ("environment", "on"),
    [
        ({}, False),
        ({"TENURE_TELEMETRY": "off", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, True),
        ({"TENURE_TELEMETRY": "on"}, True),
    ],
)
def test_the_environment_switches_it_on(environment: dict[str, str], on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, object]] = []
    monkeypatch.setattr("tenure.telemetry.switching.start", lambda **given: started.append(given))
    assert telemetry.start_if_asked(environment) is on
    assert started == ([{"export": True}] if on else [])


def test_a_word_that_is_neither_on_nor_off_is_refused() -> None:
    with pytest.raises(SettingError, match="must be on or off"):
        telemetry.start_if_asked({"TENURE_TELEMETRY": "maybe"})


def test_without_the_extra_it_is_an_error_only_where_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.telemetry.switching.is_installed", lambda: False)
    assert telemetry.start_if_asked({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}) is False
    with pytest.raises(UserError, match="extra 'telemetry'"):
        telemetry.start_if_asked({"TENURE_TELEMETRY": "on"})


def spans(count: int) -> None:
    for _ in range(count):
        with telemetry.span("tenure.recall", duration="tenure.context.duration", scope="acme/desk", run="r") as told:
            told.note(lessons=3, cases=2, tokens=500)


def test_off_it_loads_nothing_and_costs_next_to_nothing() -> None:
    code = "import sys, tenure.logs; print([name for name in sys.modules if name.startswith(('opentelemetry', 'prometheus'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    assert not telemetry.is_on()

    # 5 microseconds each; about half of one on a quiet machine. A context takes milliseconds.
    assert_within(10_000 * 5e-6, lambda: seconds(lambda: spans(10_000)))


def test_on_a_span_costs_a_small_part_of_a_context() -> None:
    with listening():
        assert_within(500 * 1e-3, lambda: seconds(lambda: spans(500)))  # a millisecond each


def test_every_field_that_code_names_is_on_the_list() -> None:
    strange: list[str] = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.keywords:
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name not in ("span", "model_call", "note", "event") or (name == "event" and not _is_log_event(node)):
                continue
            if name == "note" and node.args:
                continue  # an entry of the audit; what a span notes has names alone
            own = {"duration", "level"} if name == "span" else {"level", "said", "failure"} if name == "event" else set()
            strange += [f"{path.name}:{node.lineno} {one.arg}" for one in node.keywords if one.arg and one.arg not in {*FORMS, *own}]
    assert strange == []


def test_servers_and_workers_log_events_alone() -> None:
    """The log of a service tells of other records only where they stand in the source, which says nothing to whoever runs it."""
    others: list[str] = []
    for folder in ("serving/service", "serving/proxy", "serving/web", "workers"):
        for path in (SOURCE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "_log":
                    others.append(f"{path.name}:{node.lineno} {node.func.attr}")
    assert others == []


def _is_log_event(node: ast.Call) -> bool:
    return len(node.args) > 1 and isinstance(node.args[0], ast.Name | ast.Attribute) and "log" in ast.unparse(node.args[0]).lower()


def test_ids_that_could_be_texts_are_told_by_their_digest() -> None:
    assert identifier("otlp:0af7651916cd43dd") == "otlp:0af7651916cd43dd"
    assert identifier("Refund Ms Miller").startswith("sha256:")
    assert identifier("a" * 81).startswith("sha256:")
    assert identifier("ann@example.com").startswith("sha256:")


def test_a_rule_model_without_a_provider_has_one_name() -> None:
    with listening() as heard, telemetry.model_call(RuleModel(lambda _: "x", name="mine").name):
        pass
    assert heard.named("chat mine")[0]["gen_ai.provider.name"] == "mine"
