"""The learning loop against a real model on loopback: wiring and structured output, not quality.

Run by `make check-llm`. A model of 135 million parameters seldom writes the JSON it is asked for;
what is checked is that requests arrive, usage is counted as the server counts it, and each reply is
either read or kept verbatim.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tenure.errors import MalformedReply, SpendCapReached
from tenure.playbook.delta import Add
from tenure.playbook.lessons import Evidence
from tenure.ports import LanguageModel, Prompt, Reply
from tenure.providers.metering import Caps, InMemorySpendLedger, MeteredModel
from tenure.providers.models import PydanticAIModel, open_model
from tenure.roles.curate import curate_with, read_operations
from tenure.roles.generate import generate
from tenure.roles.reflect import reflect_with
from tenure.roles.reflection import Insight, Reflection
from tenure.roles.replies import read_json
from tests.evaluation.finer_questions import write_questions
from tests.llm.model_server import missing
from tests.roles.example_run import LESSONS, RUN

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=f"needs {' and '.join(missing())}: make check-llm installs them"),
    pytest.mark.timeout(900),  # a busy machine may need ten times what an idle one does
]


@dataclass(frozen=True)
class Server:
    """A running model server."""

    url: str

    def tokens_read(self) -> int:
        """Prompt tokens that the server says it got, from cache or not."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=30) as answer:
            metrics = answer.read().decode()
        found = re.search(r"^llamacpp:prompt_tokens_total (\S+)", metrics, re.MULTILINE)
        assert found is not None, metrics
        return int(float(found[1]))


class ShortReplies:
    """A model whose replies are cut early: a small one rambles up to any limit."""

    def __init__(self, model: LanguageModel, max_tokens: int) -> None:
        self._model, self._max_tokens = model, max_tokens

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, prompt: Prompt) -> Reply:
        return self._model.complete(replace(prompt, max_tokens=min(prompt.max_tokens, self._max_tokens)))


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    program = Path(__file__).with_name("model_server.py")
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, "the model server did not start"
            print(f"\nmodel server ready after {time.monotonic() - began:.1f} s")
            yield Server(url=json.loads(line)["url"])
        finally:
            process.stdin.close()  # the server's sign to stop
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
    print("model server stopped")


@pytest.fixture
def model(server: Server) -> Iterator[PydanticAIModel]:
    opened = open_model("openai:smollm2", base_url=f"{server.url}/v1", timeout_s=240, max_retries=1)
    yield opened
    opened.close()


def metered(model: PydanticAIModel, **caps: int) -> MeteredModel:
    return MeteredModel(model, Caps(**caps), InMemorySpendLedger(), scope="local/check", clock=SystemClock())  # type: ignore[arg-type]


@contextmanager
def told(what: str, model: MeteredModel) -> Iterator[None]:
    """Says how long a part took and what it used."""
    began = time.monotonic()
    yield
    used = model.total
    print(f"{what}: {time.monotonic() - began:.1f} s, {used.calls} calls, {used.input_tokens} tokens in, {used.output_tokens} out")


def test_a_request_reaches_the_server_and_is_counted_as_the_server_counts(server: Server, model: PydanticAIModel) -> None:
    before = server.tokens_read()
    reply = model.complete(Prompt(system="You are brief.", user="Name a colour.", purpose="generate", max_tokens=12))
    assert reply.text.strip()
    assert reply.finish_reason in ("stop", "length")
    assert reply.usage.calls == 1
    assert reply.usage.input_tokens == server.tokens_read() - before + reply.usage.cached_tokens > 10
    assert 0 < reply.usage.output_tokens <= 12
    assert reply.usage.cost_usd is None
    print(f"\n{reply.text!r} ({reply.finish_reason})")


def test_a_reply_at_the_token_limit_says_so(model: PydanticAIModel) -> None:
    reply = model.complete(Prompt(system="", user="Count from one to a hundred in words.", purpose="generate", max_tokens=8))
    assert (reply.finish_reason, reply.usage.output_tokens) == ("length", 8)


def test_operations_that_a_real_model_wrote_are_read(model: PydanticAIModel) -> None:
    # Copying is what so small a model can do; at temperature 0 it copies the same way every time.
    asked = 'Write this again, exactly:\n{"operations": [{"op": "ADD", "section": "sums", "text": "Check the total."}]}'
    reply = model.complete(Prompt(system="", user=asked, purpose="curate", max_tokens=64))
    print(f"\n{reply.text!r} ({reply.finish_reason})")
    operations, rejections = read_operations(read_json(reply, expects=("operations",), lists=True))
    assert (operations, rejections) == ((Add("sums", "Check the total."),), ())


def reflection_or_kept(model: MeteredModel) -> Reflection | MalformedReply:
    try:
        return reflect_with(model, RUN, LESSONS, rounds=1, max_tokens=192)
    except MalformedReply as exc:
        return exc


def test_reflection_is_read_or_kept(model: PydanticAIModel) -> None:
    meter = metered(model)
    with told("\nreflect", meter):
        found = reflection_or_kept(meter)
    if isinstance(found, MalformedReply):
        print(f"kept: {found.reason}: {found.reply[:160]!r}")
        assert found.reply
    else:
        print(f"read: {found}")
        assert all(0 <= place.step < len(RUN.steps) for insight in found.insights for place in insight.evidence)
    assert meter.usage()["reflect"].calls >= 1
    assert meter.total.input_tokens > 500


def test_curation_is_read_or_kept(model: PydanticAIModel) -> None:
    meter = metered(model)
    insight = Insight(
        text="Pass `amount` to refund as a number.", evidence=(Evidence(run="run-1", step=2),), kind="tool_rule", basis="model"
    )
    with told("\ncurate", meter):
        curation = curate_with(meter, Reflection(run="run-1", insights=(insight,)), LESSONS, max_tokens=192)
    if curation.failed_reply is not None:
        print(f"kept: {curation.failure}: {curation.failed_reply[:160]!r}")
        assert (curation.operations, bool(curation.failure)) == ((), True)
    else:
        print(f"read: {curation}")
    assert meter.usage()["curate"].calls == 1


def test_a_task_is_answered(model: PydanticAIModel) -> None:
    answer = generate(model, "Say hello.", "Lessons.\n- [gre-aaaaaa] Greet by name.\n", max_tokens=24)
    assert answer.text
    assert set(answer.cited) <= {"gre-aaaaaa"}


def test_a_cap_stops_the_next_call_before_the_server_sees_it(server: Server, model: PydanticAIModel) -> None:
    meter = metered(model, calls_per_run=1)
    prompt = Prompt(system="", user="Hi.", purpose="generate", max_tokens=4)
    meter.complete(prompt)
    before = server.tokens_read()
    with pytest.raises(SpendCapReached):
        meter.complete(prompt)
    assert server.tokens_read() == before


def test_the_whole_loop_learns_with_this_model(model: PydanticAIModel) -> None:
    from tenure import Tenure

    began = time.monotonic()
    with Tenure.open("memory://", scope="check", model=ShortReplies(model, 128)) as book:
        book.set("learn.rounds", "1")
        with book.run(RUN.task) as run:
            for step in RUN.steps:
                run.step(step)
            learned = run.finish(success=True, feedback="refunded 12.50")
        spent = book.store.spent(book.scope)
        assert spent.calls >= 1
        assert spent.input_tokens > 500
        lessons = book.playbook.lessons
    print(f"\nloop: {time.monotonic() - began:.1f} s, {learned}\nlessons: {[lesson.text for lesson in lessons]}")
    assert lessons, "plain reflection learns from this run, whatever the model says"


# -- comparisons of memories ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "arms"),
    [
        ("finer", ("none", "reharness", "tenure")),
        ("formula", ("none", "overwrite", "dynamic-cheatsheet", "ace-rounds-1", "reasoning-bank", "reharness", "mem0-like", "tenure")),
        ("tau-recurrence", ("none", "reharness", "tenure")),
    ],
)
def test_memories_are_compared_with_this_model(task: str, arms: tuple[str, ...], model: PydanticAIModel, tmp_path: Path) -> None:
    from tenure.evaluation.harness.comparison import compare
    from tenure.evaluation.harness.spending import Spending

    # Whatever the model says, each arm makes its calls: those that follow from what it says are bounded.
    least = {"none": 1, "overwrite": 2, "dynamic-cheatsheet": 2, "ace-rounds-1": 3, "reasoning-bank": 2, "reharness": 2, "mem0-like": 2}
    acts = 0 if task == "tau-recurrence" else 1
    began = time.monotonic()
    found = compare(
        task,
        data=bench_data(task, tmp_path),
        arms=arms,
        orders=1,
        options={"instances": 2},
        spending=Spending(model=model.name, calls=200),
        model=ShortReplies(model, 48),
        out=tmp_path / "out",
    )
    print(f"\n{task}: {time.monotonic() - began:.1f} s, {found['spent']}")
    for arm, figures in found["arms"].items():
        print(f"{arm}: {figures['calls']} calls, {figures['tokens']} tokens, {figures['unscorable']} of 2 unscorable")
    assert not found["skipped"]
    for arm in found["arms"].keys() & least.keys():
        assert found["arms"][arm]["calls"] >= 2 * (least[arm] - 1 + acts), arm
    assert found["arms"]["tenure"]["calls"] >= 2 * acts + 1
    assert found["spent"]["calls"] >= sum(figures["calls"] for figures in found["arms"].values())
    assert found["spent"]["usd"] is None
    assert (tmp_path / "out" / "report.html").is_file()


def test_a_comparison_by_name_and_address_keeps_its_cap(server: Server, tmp_path: Path) -> None:
    from tenure.errors import UserError
    from tenure.evaluation.harness.comparison import compare
    from tenure.evaluation.harness.spending import Spending

    spending = Spending(model="openai:smollm2", base_url=f"{server.url}/v1", calls=1)
    with pytest.raises(UserError, match="the cap of 1 calls would be passed by the next call, 1 spent"):
        compare(
            "formula", data=bench_data("formula", tmp_path), arms=["none"], orders=1, spending=spending, out=tmp_path / "out", workers=1
        )


def bench_data(task: str, folder: Path) -> Path:
    """A small file of questions or runs."""
    if task == "finer":
        return write_questions(folder / "finer.jsonl", batches=6)
    if task == "formula":
        asked = (
            "Use formula Working Capital to answer the question. It is assets less debts. Question: Assets are {}, debts are {}. Answer:"
        )
        lines = [json.dumps({"context": asked.format(place + 9, place), "target": "9.0"}) for place in range(24)]
    else:
        steps = [
            {"kind": "tool_call", "name": "book", "call_id": "a", "arguments": {"amount": "88,00"}},
            {"kind": "tool_result", "name": "book", "call_id": "a", "error": "amount must be a decimal number with a point"},
        ]
        outcome = {"success": False, "signal": "test"}
        lines = [json.dumps({"id": f"r{n}", "task": {"text": f"Book invoice {n}"}, "steps": steps, "outcome": outcome}) for n in range(2)]
    path = folder / f"{task}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
