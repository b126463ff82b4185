"""Caps hold and learning goes on whatever a provider does; what was skipped is told, and made up for later."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra 'models'")

from tenure import Tenure
from tenure.learning.learned import Summary
from tenure.playbook.run import Run
from tenure.ports import Prompt, Usage
from tenure.testing import RuleModel
from tests.learning.episodes import cured_run
from tests.providers.chat_server import ChatServer, chat_server, completion, failure

LESSON = "Pass the rate of the invoice date to convert."
REFLECTION = json.dumps({"tags": [], "insights": [{"text": LESSON, "kind": "tool_rule", "steps": [1, 3]}]})
CURATION = json.dumps({"operations": [{"op": "ADD", "text": LESSON, "kind": "tool_rule", "from": [0]}]})


class MovableClock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 15, 23, 30, tzinfo=UTC)

    def now(self) -> datetime:
        self.moment += timedelta(milliseconds=1)
        return self.moment


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as opened:
        opened.rule = lambda body: answers(CURATION if "You keep a playbook" in body["messages"][0]["content"] else REFLECTION)
        yield opened


def runs(number: int) -> list[Run]:
    return [cured_run(f"r{place}", invoice=place) for place in range(number)]


def asking(path: Path, server: ChatServer, clock: MovableClock | None = None, **settings: object) -> Tenure:
    """A playbook with a model at a server, and these settings of spending."""
    with Tenure.open(f"sqlite:///{path}/book.db", scope="test") as book:
        for name, value in {"retries": 0, "failures": 3, **settings}.items():
            book.set(f"spend.{name}", str(value))
    return Tenure.open(f"sqlite:///{path}/book.db", scope="test", model="openai:tiny", base_url=server.url, clock=clock)


def postponed(book: Tenure) -> list[tuple[str, str, int]]:
    with book.store.reading(book.scope) as reading:
        return [(one.run, one.limit, one.attempts) for one in reading.postponed()]


def answers(reply: str | None, finish: str = "stop", **more: Any) -> tuple[int, Any]:
    return 200, completion(reply, finish=finish, **more)


@pytest.mark.parametrize(
    "answer",
    [
        (429, failure("slow down")),
        (500, failure("oops")),
        (200, "<html>a login page</html>"),
        answers("I cannot help with that."),
        answers(""),
        answers(None, finish="content_filter"),
        answers(None, refusal="I will not."),
        answers('{"insights": [{"text": "' + "blah " * 400, finish="length"),
        answers('{"insights": [{"text": "' + "blah " * 20_000),
        answers('{"insights": oops}'),
    ],
    ids=["429", "500", "html", "words", "empty", "filtered", "refused", "cut", "babble", "malformed"],
)
def test_a_model_that_never_gives_anything_is_asked_for_a_few_runs_and_all_are_learned_without_it(
    tmp_path: Path, answer: tuple[int, Any]
) -> None:
    with chat_server(answer) as server, asking(tmp_path, server, retries=1, seconds_per_run=3) as book:
        learned = book.learn_many(runs(9))
        assert (learned.runs, learned.skipped, learned.postponed) == (9, 0, 9)
        assert (learned.added, learned.merged) == (1, 8), "plain code learned from every run"
        assert len(server.bodies) <= 6, "three runs, two requests each at most"
        assert [limit for _, limit, _ in postponed(book)] == ["model"] * 3 + ["pause"] * 6
        assert [attempts for *_, attempts in postponed(book)] == [1] * 3 + [0] * 6
        assert learned.why_postponed["pause"][0] == 6
        assert "in a row" in learned.why_postponed["pause"][1]
        assert book.store.spent(book.scope).calls == len(server.bodies)


@pytest.mark.parametrize("how", ["holds", "trickles", "cuts", "hangs up"])
def test_a_stuck_provider_costs_a_bounded_time_and_what_it_may_have_cost_is_counted(tmp_path: Path, server: ChatServer, how: str) -> None:
    if how == "holds":
        server.hold = threading.Event()
    else:
        server.misbehaves = how
    began = time.monotonic()
    with asking(tmp_path, server, retries=5, failures=1, seconds_per_run=2, seconds_per_call=1) as book:
        learned = book.learn_many(runs(4))
        spent = book.store.spent(book.scope)
    assert time.monotonic() - began < 60, "four runs with six calls each would hang for minutes"
    assert learned.postponed == 4
    assert len(server.bodies) <= 3
    assert spent.calls == len(server.bodies)
    assert spent.input_tokens > 0, "the provider may charge for what it never answered"


def test_a_provider_that_asks_to_wait_an_hour_is_not_waited_for(tmp_path: Path, server: ChatServer) -> None:
    server.rule = lambda _: (429, failure("slow down"))
    server.headers = {"Retry-After": "3600"}
    with asking(tmp_path, server, retries=3, failures=2) as book:
        learned = book.learn_many(runs(5))
    assert len(server.bodies) == 2
    assert "asks to wait 3600 s" in learned.problems[0]


def test_what_a_cap_of_the_day_held_back_is_made_up_for_the_next_day_and_counted_once(tmp_path: Path, server: ChatServer) -> None:
    clock = MovableClock()
    with asking(tmp_path, server, clock, calls_per_day=0) as book:
        first = book.learn_many(runs(2))
        before = {lesson.id: lesson.tallies for lesson in book.playbook.lessons}
        assert server.bodies == []
        assert [limit for _, limit, _ in postponed(book)] == ["day", "day"]
        assert first.why_postponed["day"][0] == 2
        again = book.learn_postponed()
        assert (again.runs, again.postponed, server.bodies) == (1, 1, []), "one was enough to see that the cap still holds"
        book.set("spend.calls_per_day", "50")
        clock.moment += timedelta(hours=1)
        later = book.learn_postponed()
        assert (later.runs, later.postponed, postponed(book)) == (2, 0, [])
        assert len(server.bodies) == 6, "two rounds of reflection and a curation for each"
        after = {lesson.id: lesson.tallies for lesson in book.playbook.lessons}
        assert {one: after[one] for one in before} == before, "no run supports a lesson twice"
        assert any(lesson.text == LESSON for lesson in book.playbook.lessons)
        assert book.learn_postponed().runs == 0
        assert book.learn_many(runs(2)).skipped == 2


def test_a_run_on_which_the_model_fails_is_given_up_after_some_attempts(tmp_path: Path, server: ChatServer) -> None:
    server.rule = lambda _: answers("no")
    with asking(tmp_path, server, failures=100) as book:
        book.set("learn.attempts", "2")
        book.learn_many(runs(3))
        assert (book.learn_postponed().runs, book.learn_postponed().runs, book.learn_postponed().runs) == (3, 0, 0)
        assert len(server.bodies) == 6
        assert [attempts for *_, attempts in postponed(book)] == [2, 2, 2]
        assert book.waits_for_model() == 0
        with book.store.reading(book.scope) as reading:
            assert len(reading.failed_replies()) == 3, "the reply of the last attempt is kept, not all of them"
        book.set("learn.attempts", "3")
        assert book.waits_for_model() == 3


def test_the_cap_of_a_run_that_is_reached_midway_leaves_its_plain_lessons_and_is_not_a_failure(tmp_path: Path, server: ChatServer) -> None:
    with asking(tmp_path, server, calls_per_run=1, failures=1) as book:
        learned = book.learn_many(runs(2))
        assert len(server.bodies) == 2
        assert [(limit, attempts) for _, limit, attempts in postponed(book)] == [("run", 1), ("run", 1)]
        assert "cap of 1 calls per run" in learned.why_postponed["run"][1]


def test_runs_of_another_scope_are_held_to_that_scopes_caps(tmp_path: Path, server: ChatServer) -> None:
    with asking(tmp_path, server) as book:
        with book.store.writing("local/other") as work:
            work.set("spend.calls_per_scope", "0")
        learned = book.learn_many([replace(run, scope="local/other") for run in runs(2)])
        assert (learned.postponed, server.bodies) == (2, [])
        book.learn(runs(1)[0])
        assert book.store.spent("local/other") == Usage()
        assert book.store.spent(book.scope).calls == len(server.bodies) > 0


def test_a_clock_that_is_set_back_over_midnight_opens_no_new_day(tmp_path: Path, server: ChatServer) -> None:
    clock = MovableClock()
    clock.moment += timedelta(hours=1)
    with asking(tmp_path, server, clock, calls_per_day=3) as book:
        book.learn(runs(1)[0])
        assert len(server.bodies) == 3
        clock.moment -= timedelta(hours=2)
        assert book.learn(runs(2)[1]).limit == "day"
        clock.moment += timedelta(days=1, hours=2)
        assert book.learn(runs(3)[2]).limit != "day"


WORKER = """
import sys
from tenure import Tenure
from tests.learning.episodes import cured_run
number, db, url = sys.argv[1:]
with Tenure.open(db, scope="test", model="openai:tiny", base_url=url) as book:
    print(book.scope, flush=True)
    sys.stdin.readline()
    learned = book.learn_many([cured_run(f"w{number}-{place}", invoice=place) for place in range(4)])
    assert learned.runs == 4, learned
"""


@pytest.mark.parametrize("cap", ["calls_per_day", "tokens_per_scope"])
def test_processes_that_learn_at_once_never_pass_a_cap_together(tmp_path: Path, server: ChatServer, cap: str) -> None:
    limit = 7 if cap == "calls_per_day" else 14_000
    honest = server.rule
    assert honest is not None
    server.rule = lambda body: (200, honest(body)[1] | {"usage": {"prompt_tokens": 1500, "completion_tokens": 300, "total_tokens": 1800}})
    with asking(tmp_path, server) as book:
        book.set(f"spend.{cap}", str(limit))
    url = f"sqlite:///{tmp_path}/book.db"
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(number), url, server.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for number in range(2)
    ]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    for worker in workers:
        worker.communicate("go\n", timeout=120)
        assert worker.returncode == 0
    with Tenure.open(url, scope="test") as book:
        spent = book.store.spent(book.scope)
        assert spent.calls == len(server.bodies)
        assert (spent.calls if cap == "calls_per_day" else spent.input_tokens + spent.output_tokens) <= limit
        assert len(server.bodies) >= 4, "the cap left room for some"
        with book.store.reading(book.scope) as reading:
            assert reading.counts()["runs"] == 8
            assert reading.postponed()


def test_a_process_that_is_killed_during_a_call_leaves_all_it_might_have_used_booked(tmp_path: Path, server: ChatServer) -> None:
    with asking(tmp_path, server):
        pass
    server.hold = threading.Event()
    url = f"sqlite:///{tmp_path}/book.db"
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, "0", url, server.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()
    deadline = time.monotonic() + 120
    while not server.bodies and time.monotonic() < deadline:
        time.sleep(0.02)
    worker.kill()
    worker.communicate()
    with Tenure.open(url, scope="test") as book:
        spent = book.store.spent(book.scope)
    assert spent.calls == 1
    assert spent.output_tokens == server.bodies[0]["max_tokens"]


def test_a_run_larger_than_any_window_is_asked_about_in_a_prompt_of_bounded_size() -> None:
    prompts: list[Prompt] = []

    def rule(prompt: Prompt) -> str:
        prompts.append(prompt)
        return REFLECTION if prompt.purpose == "reflect" else CURATION

    big = cured_run("big")
    step = replace(big.steps[3], content="a line of a log 0123456789\n" * 200_000)
    with Tenure.open("memory://", scope="test", model=RuleModel(rule)) as book:
        book.learn(replace(big, steps=(*big.steps[:3], step, *big.steps * 2_000)))
    assert prompts
    assert max(len(prompt.user) for prompt in prompts) < 60_000


def test_the_summary_of_many_runs_tells_each_limit_once() -> None:
    summary = Summary()
    with Tenure.open("memory://", scope="test", model=RuleModel(lambda _: "no")) as book:
        for run in runs(3):
            summary = summary.plus(run, book.learn(run))
    assert {limit: count for limit, (count, _) in summary.why_postponed.items()} == {"model": 3}
