"""The API's document: pinned, complete, and true of the app: generated requests by it meet no server error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenure.serving.service.app import build_app
from tenure.serving.service.engine import Engine
from tenure.stores.in_memory import InMemoryStore
from tenure.version import VERSION
from tenure.wiring import Tenure
from tests import postgres
from tests.serving.service import services

EXAMPLES = 3
"""Requests of each kind for each route; with `-m full` many more."""


def document() -> dict[str, Any]:
    return build_app(Engine(Tenure(InMemoryStore(), "local/x", embedder="none"))).openapi()


def test_the_document_reads_as_it_did(golden: Callable[[str, str], None]) -> None:
    text = json.dumps(document(), indent=1, ensure_ascii=False, sort_keys=True).replace(f'"{VERSION}"', '"VERSION"')
    golden("service/openapi.json", text + "\n")


def test_every_operation_has_a_summary_an_example_a_problem_and_a_key() -> None:
    made = document()
    for path, methods in made["paths"].items():
        for method, said in methods.items():
            where = f"{method} {path}"
            assert said["summary"], where
            assert {"4XX", "5XX"} <= set(said["responses"]), where
            good = [reply for status, reply in said["responses"].items() if status.startswith("2")]
            assert all("example" in one for reply in good for media, one in reply["content"].items() if media == "application/json"), where
            assert path in ("/healthz", "/readyz", "/metrics") or said["security"] == [{"key": []}, {"keyHeader": []}], where
    assert set(made["components"]["securitySchemes"]) == {"key", "keyHeader"}


@pytest.mark.parametrize("examples", [EXAMPLES, pytest.param(300, marks=[pytest.mark.full, pytest.mark.timeout(3_000)])])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_no_generated_request_meets_a_server_error(kind: str, examples: int, tmp_path: Path) -> None:
    import hypothesis
    import schemathesis
    from schemathesis import checks as _  # noqa: F401  # registers what a case is checked by
    from schemathesis.generation import GenerationMode

    @schemathesis.serializer("application/x-ndjson")
    def lines(ctx: Any, value: Any) -> Any:
        return str(value).encode("utf-8", "replace")

    if kind == "postgres" and postgres.MISSING:
        pytest.skip(postgres.MISSING)
    store = services.STORES[kind](tmp_path)
    with services.service(store, rate=0, failures=0) as service:
        service("POST", "/v1/runs", services.RUN)
        headers = {"authorization": f"Bearer {service.key()}"}
        schema = schemathesis.openapi.from_dict(document())
        asked = 0
        for found in schema.get_all_operations():
            operation = found.ok()  # type: ignore[union-attr]  # what cannot be read of our own document fails the test
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

                @hypothesis.settings(
                    max_examples=examples,
                    deadline=None,
                    database=None,
                    derandomize=True,
                    suppress_health_check=list(hypothesis.HealthCheck),
                    phases=[hypothesis.Phase.generate],
                )
                @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
                def send(case: Any) -> None:
                    nonlocal asked
                    sent = case.as_transport_kwargs(base_url="http://127.0.0.1", headers=headers)
                    sent.pop("cookies", None)
                    sent["content"] = sent.pop("data", None)
                    try:
                        reply = service.client.request(**{name: value for name, value in sent.items() if value is not None})
                    except (UnicodeError, ValueError, TypeError, httpx2.InvalidURL):  # what no client could send
                        return
                    asked += 1
                    assert reply.status_code < 500, (case.operation.label, sent, reply.text)
                    if reply.status_code >= 400:
                        assert reply.headers["content-type"] == "application/problem+json"

                try:
                    send()
                except hypothesis.errors.Unsatisfiable:  # there is no wrong request of a route without parameters
                    continue
        assert asked > 40 * examples
    store.close()
