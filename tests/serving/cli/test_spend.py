"""`tenure spend`, and how other commands tell what a model was not asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra 'models'")

from tests.providers.chat_server import chat_server, completion, failure
from tests.serving.cli.conftest import Cli


@pytest.fixture
def refused(cli: Cli, runs_file: str) -> None:
    """Two runs learned with a model that refuses."""
    with chat_server((200, completion(None, refusal="I cannot help with that."))) as server:
        assert cli("learn", runs_file, "--model", "openai:tiny", "--base-url", server.url).code == 0


def test_what_a_person_reads(cli: Cli, refused: None, golden: Callable[[str, str], None]) -> None:
    cli("config", "set", "spend.usd_per_day", "2.50")
    cli("config", "set", "spend.calls_per_scope", "100")
    golden("cli/spend.txt", cli("spend").steady + cli("status").steady)


def test_a_scope_without_a_model_has_spent_nothing(cli: Cli, runs_file: str) -> None:
    cli("learn", runs_file)
    found = cli("spend", "--json").json
    assert (found["today"]["calls"], found["ever"]["calls"], found["postponed"]) == (0, 0, [])
    assert found["left"]["tokens_per_day"] == 5_000_000
    assert found["left"]["calls_per_day"] is None
    assert "for a model" not in cli("status").out


def test_json_tells_caps_what_is_left_and_each_run_that_waits(cli: Cli, refused: None) -> None:
    cli("config", "set", "spend.calls_per_day", "1")
    found = cli("spend", "--json").json
    assert found["caps"]["calls_per_day"] == 1
    assert found["left"]["calls_per_day"] == 0
    assert [(one["run"], one["limit"], one["attempts"], one["given_up"]) for one in found["postponed"]] == [
        ("week-1", "model", 1, False),
        ("week-2", "model", 1, False),
    ]
    assert cli("status", "--json").json["postponed"] == 2
    assert cli("config", "--json").json["spending"]["today"]["calls"] == 2


def test_what_was_skipped_is_said_with_its_reason_and_made_up_for_later(cli: Cli, runs_file: str) -> None:
    cli("config", "set", "spend.tokens_per_day", "0")
    with chat_server((200, completion('{"insights": [], "tags": []}'))) as server:
        model = ("--model", "openai:tiny", "--base-url", server.url)
        first = cli("learn", runs_file, *model)
        assert first.code == 0
        assert "2 runs learned from without the model, because a cap per day was reached. Last: reflect: The cap of 0 tokens" in first.err
        assert "2 runs wait for a model. Make up for it: tenure learn --pending" in first.err
        assert "without model" in first.out
        assert server.bodies == []
        assert "2 runs wait for a model. Make up for it: tenure learn --pending --model NAME" in cli("learn", "--pending").err
        cli("config", "unset", "spend.tokens_per_day")
        later = cli("learn", "--pending", *model)
        assert later.code == 0
        assert len(server.bodies) == 4, "two rounds for each of two runs"
        assert cli("spend", "--json").json["postponed"] == []
        assert "for a model" not in cli("status").out + cli("doctor").out


def test_runs_that_were_given_up_are_told_apart(cli: Cli, runs_file: str) -> None:
    cli("config", "set", "learn.attempts", "1")
    cli("config", "set", "spend.retries", "0")
    with chat_server((500, failure("oops"))) as server:
        cli("learn", runs_file, "--model", "openai:tiny", "--base-url", server.url)
    said = cli("spend")
    assert "2 runs were given up after 1 attempt. To try again: tenure config set learn.attempts 4" in said.err
    assert "learn --pending" not in said.err
    assert "given up" in cli("status").out
