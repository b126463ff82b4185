"""`tenure bench`: what can be measured, and measuring it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tenure.evaluation.benches import BENCHES, Asked
from tenure.evaluation.tasks.listed import TASKS
from tests.evaluation.finer_questions import write_questions
from tests.providers.chat_server import chat_server, completion
from tests.serving.cli.conftest import Cli

RECURRENCE = {"runs", "errors", "recurrent", "covered", "coverage", "coverage_random", "actionable", "off_target", "held", "lessons"}


def test_every_bench_is_listed(cli: Cli) -> None:
    assert {bench["name"] for bench in cli("bench", "list", "--json").json["benches"]} == {*BENCHES, *TASKS}
    for name in BENCHES:
        assert name in cli("bench").out


def test_recurrence_gives_its_figures_and_leaves_the_database_alone(cli: Cli, runs_file: str, folder: Path) -> None:
    found = cli("bench", "run", "recurrence", "--data", runs_file, "--json").json
    assert found.keys() >= {*RECURRENCE, "context_tokens_mean", "seconds"}
    assert (found["runs"], found["errors"], found["recurrent"]) == (2, 2, 1)
    assert not (folder / "book.db").exists()
    assert found.keys() <= BENCHES["recurrence"].figures.keys(), "a figure without a meaning"
    assert "if lessons were drawn at random" in " ".join(cli("bench", "run", "recurrence", "--data", runs_file).out.split())


def test_mistakes_say_what_next(cli: Cli, folder: Path) -> None:
    assert "Did you mean 'recurrence'?" in cli("bench", "run", "recurence").err
    assert "tenure bench run recurrence --data FILE" in cli("bench", "run", "recurrence").err
    assert "does not exist" in cli("bench", "run", "recurrence", "--data", "nowhere").err
    assert "is a folder" in cli("bench", "run", "recurrence", "--data", ".").err
    assert {cli("bench", "run", *arguments).code for arguments in (["recurence"], ["recurrence"], ["recurrence", "--data", "."])} == {2}


def test_the_list_and_mistakes_say_for_each_bench_what_it_measures_on(cli: Cli, folder: Path) -> None:
    said = " ".join(cli("bench", "list").out.split())
    for word in ("runs", "playbook", "LoCoMo", "MemAware", "--questions FILE"):
        assert word in said
    assert "needs a playbook" in cli("bench", "run", "prompt-cache").err
    assert "--data DIR --questions FILE" in cli("bench", "run", "recall-memaware").err
    (folder / "x.json").write_text("[]")
    assert "is a file. Bench 'recall-memaware' needs a folder" in cli("bench", "run", "recall-memaware", "--data", "x.json").err
    assert "needs a file of questions too" in cli("bench", "run", "recall-memaware", "--data", ".").err
    assert "runs" not in cli("bench", "run", "prompt-cache", "--data", ".").err.replace("bench run", "")


def test_a_file_without_runs_is_an_error_and_one_without_tool_errors_gets_a_note(cli: Cli, folder: Path) -> None:
    (folder / "book.txt").write_text("## s\n[s-1] helpful=0 harmful=0 :: T\n")
    answer = cli("bench", "run", "recurrence", "--data", "book.txt")
    assert (answer.code, answer.out) == (2, "")
    assert "'book.txt' holds no runs that can be read" in answer.err
    (folder / "calm.jsonl").write_text('{"id": "r1", "task": {"text": ""}, "steps": [], "outcome": {"success": true}}\n')
    found = cli("bench", "run", "recurrence", "--data", "calm.jsonl", "--json")
    assert (found.code, found.json["runs"], "refused" in found.json["note"]) == (0, 1, True)


def test_figures_with_parts_are_tables_and_no_embedder_is_none(cli: Cli, folder: Path) -> None:
    from tests.evaluation.test_recall_benches import DAY, LOCOMO, QUESTIONS

    (folder / "l.json").write_text(json.dumps(LOCOMO))
    (folder / "days").mkdir()
    (folder / "days" / "2023-05-20.md").write_text(DAY)
    (folder / "q.json").write_text(json.dumps(QUESTIONS))
    locomo = cli("bench", "run", "recall-locomo", "--data", "l.json", "--embedder", "none").out
    assert "by_category: recall_at_10 by kind of question\n" in locomo
    assert any(line.split() == ["single-hop", "1.0"] for line in locomo.splitlines())
    assert any(line.split()[:2] == ["embedder", "none"] and "none to count" not in line for line in locomo.splitlines())
    memaware = cli("bench", "run", "recall-memaware", "--data", "days", "--questions", "q.json", "--embedder", "none").out
    assert any(line.split()[:5] == ["figure", "easy", "medium", "hard", "meaning"] for line in memaware.splitlines())
    assert "{" not in locomo + memaware


def test_a_bench_tells_how_far_it_is_up_to_the_end(folder: Path) -> None:
    from tests.evaluation.test_recall_benches import LOCOMO

    (folder / "l.json").write_text(json.dumps(LOCOMO))
    told: list[tuple[float, str]] = []
    BENCHES["recall-locomo"].run(
        Asked(data=folder / "l.json", params={"embedder": "none"}, tell=lambda share, said: told.append((share, said)))
    )
    assert all(0 <= share <= 1 for share, _ in told)
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert "conversation 1 of 1" in told[-1][1]


@pytest.mark.parametrize("name", list(BENCHES))
def test_every_bench_says_what_its_data_is(name: str) -> None:
    bench = BENCHES[name]
    assert bool(bench.data) == bench.needs_data
    assert bench.command.startswith(f"tenure bench run {name}")


def test_a_task_compares_arms_and_leaves_a_page_that_needs_nothing_else(cli: Cli, folder: Path) -> None:
    questions = str(write_questions(folder / "questions.jsonl"))
    options = ("--instances", "40", "--orders", "2", "--workers", "1", "--arms", "none,similar-cases,ace,gepa")
    found = cli("bench", "run", "finer", "--data", questions, *options, "--noise", "0.1", "--out", "results", "--json").json
    assert set(found["arms"]) == {"none", "similar-cases", "ace"}
    figures = "score score_low score_high score_by_quarter gain gain_low gain_high tokens seconds rollouts calls usd cached_share"
    assert set(figures.split()) <= set(found["arms"]["ace"])
    assert found["arms"]["similar-cases"]["score"] > found["arms"]["none"]["score"] + 0.2
    assert "--noise 0.1" in found["command"]
    page = Path(found["report"]).read_text(encoding="utf-8")
    assert "ace (transparent)" in page
    assert found["command"].replace("'", "&#x27;") in page
    assert found["said"] in page
    assert not re.search(r"(?:src|href)=|@import|url\(", page), "it needs nothing else"
    shown = cli("bench", "report", "results").out
    assert "ace (transparent)" in shown
    assert "gepa was skipped" in shown
    assert "measure the memory policy" in " ".join(shown.split())


def test_mistakes_with_tasks_say_what_to_do(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENURE_DATA", raising=False)
    questions = str(write_questions(folder / "questions.jsonl"))
    run = ("bench", "run", "finer", "--data", questions)
    assert "Did you mean 'similar-cases'?" in cli(*run, "--arms", "simlar-cases").err
    assert "TENURE_DATA is not set" in cli("bench", "run", "finer").err
    assert "does not take --budget" in cli(*run, "--budget", "3").err
    assert "Say how much it may cost in all: --max-usd 5" in cli(*run, "--model", "openai:x").err
    assert "--max-calls is about a model, and none is named" in cli(*run, "--max-calls", "5").err
    assert "--max-usd is -1" in cli(*run, "--model", "openai:x", "--max-usd", "-1").err
    assert "--dry-run says what a model would take, and none is named" in cli(*run, "--dry-run").err
    assert "needs a model: --model PROVIDER:MODEL" in cli("bench", "run", "tau-recurrence", "--data", questions).err
    assert "does not take --model: its arms are fixed" in cli("bench", "run", "drift", "--model", "openai:x").err
    assert "does not take --arms" in cli("bench", "run", "drift", "--arms", "none").err
    nothing = cli(*run, "--arms", "gepa")
    assert (nothing.code, "No arm is left to run. gepa: " in nothing.err) == (2, True)
    assert "holds no finished comparison" in cli("bench", "report", ".").err
    assert "0 questions" in cli("bench", "run", "finer", "--data", __file__).err


def test_what_a_model_would_take_is_told_before_anything_is_asked(cli: Cli, folder: Path) -> None:
    pytest.importorskip("genai_prices", reason="needs the extra models")
    questions = str(write_questions(folder / "questions.jsonl"))
    run = ("bench", "run", "finer", "--data", questions, "--model", "openai:gpt-4o-mini", "--instances", "3", "--orders", "2", "--dry-run")
    found = cli(*run, "--arms", "none,overwrite,ace-offline", "--json").json
    assert {arm: one["calls"] for arm, one in found["arms"].items()} == {"none": 6, "overwrite": 12}
    assert found["total"]["calls"] == 6 + 12 + 6
    assert found["total"]["usd"] > 0
    assert "--train N" in found["skipped"]["ace-offline"]
    said = " ".join(cli(*run, "--arms", "none").out.split())
    assert "2 orders of 3 instances with openai:gpt-4o-mini: $0.15 a million tokens in, $0.6 out." in said
    assert "Nothing was asked and nothing spent." in said
    unknown = (*run[:6], "opnai:gpt-4o", *run[7:])
    assert "There is no provider 'opnai'" in cli(*unknown).err
    assert "--max-usd 1 in place of --dry-run" in said
    unpriced = (*run[:6], "openai:own", *run[7:])
    assert "multiply the tokens by yours" in " ".join(cli(*unpriced, "--arms", "none").out.split())
    assert not list(folder.glob("bench-*")), "a rehearsal leaves nothing"


def test_a_task_asks_a_server_under_a_cap_and_keeps_what_was_paid_for(cli: Cli, folder: Path) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra models")
    questions = str(write_questions(folder / "questions.jsonl"))
    arms = ("--arms", "none,overwrite", "--instances", "3", "--orders", "1", "--workers", "1")
    with chat_server((200, completion('{"answer": "Goodwill"}'))) as server:
        run = ("bench", "run", "finer", "--data", questions, *arms, "--model", "openai:tiny", "--base-url", server.url)
        stopped = cli(*run, "--max-calls", "4")
        assert stopped.code == 2
        assert "none, order 1, stopped: the cap of 4 calls would be passed by the next call, 4 spent." in " ".join(stopped.err.split())
        found = cli(*run, "--max-calls", "50", "--json").json
        assert len(server.bodies) == 3 + 3 + 6
    assert found["spent"] == {"calls": 12, "tokens": 12 * 15, "usd": None}
    assert found["report"] == str(Path("bench-finer") / "report.html")
    shown = " ".join(cli("bench", "report", "bench-finer").out.split())
    assert "openai:tiny took 12 calls and 180 tokens in all, for a price that is not known." in shown
    assert "Over so few orders an interval says little" in shown
    assert "gain: score less that of the same arm reset" in shown
    assert "transparent" not in shown
