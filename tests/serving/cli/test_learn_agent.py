"""`tenure learn --agent` and `--task`: an agent practises, the best playbook is kept, and mistakes are named."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.evaluation.finer_questions import write_questions
from tests.serving.cli.conftest import Cli

AGENT = """
from tenure import Attempt, Step

ERROR = "amount must be a decimal number with a point"


def act(task, context):
    amount = task.rpartition(" ")[2]
    plain = amount.replace(".", "").replace(",", ".")
    tried = [plain] if ERROR in context else [amount, plain]
    steps = []
    for value in tried:
        steps.append(Step(kind="tool_call", name="book", arguments={"amount": value}))
        error = ERROR if "," in value else ""
        steps.append(Step(kind="tool_result", name="book", content="" if error else "booked", error=error))
    return Attempt(answer="at once" if len(tried) == 1 else "late", steps=steps)


def both():
    return act, lambda instance, attempt: 0.5


class Clerk:
    def act(self, task, context):
        return act(task, context)

    def score(self, instance, attempt):
        return 0.25


def broken():
    raise OSError("no such account")


NUMBER = 7
"""


@pytest.fixture
def practice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """An agent in the working folder, and options for it. Its module is a new one for each test."""
    monkeypatch.delitem(sys.modules, "clerk_agent", raising=False)
    (folder / "clerk_agent.py").write_text(AGENT, encoding="utf-8")
    for name, numbers in (("train", range(1, 4)), ("held", range(11, 14))):
        lines = (json.dumps({"task": f"Book invoice {number} over {number}.200,50", "expected": "at once"}) for number in numbers)
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return ("learn", "--agent", "clerk_agent:act", "--train", "train.jsonl")


def test_what_a_person_reads(cli: Cli, practice: tuple[str, ...], golden: Callable[[str, str], None]) -> None:
    golden("cli/learn-agent.txt", cli(*practice, "--validation", "held.jsonl", "--epochs", "3").steady)


def test_json_has_epochs_and_the_best(cli: Cli, practice: tuple[str, ...]) -> None:
    found = cli(*practice, "--validation", "held.jsonl", "--json").json
    assert [epoch["score"] for epoch in found["epochs"]] == [0.0, 1.0]
    assert (found["best_epoch"], found["best_score"], found["start_score"], found["stopped"]) == (1, 1.0, 0.0, "perfect")
    assert (found["runs"], found["lessons"], found["interrupted"], found["dry_run"]) == (3, 1, False, False)
    assert cli("show", "--json").json["lessons"]


def test_a_dry_run_writes_nothing(cli: Cli, practice: tuple[str, ...], folder: Path) -> None:
    found = cli(*practice, "--validation", "held.jsonl", "--dry-run", "--json").json
    assert (found["best_score"], found["dry_run"]) == (1.0, True)
    assert not (folder / "book.db").exists()


def test_without_validation_the_last_epoch_is_kept_and_that_is_said(cli: Cli, practice: tuple[str, ...]) -> None:
    answer = cli(*practice, "--epochs", "2")
    assert answer.code == 0
    assert "validation" not in answer.out
    assert "Without --validation there is nothing to choose by" in answer.err


@pytest.mark.parametrize(("name", "score"), [("clerk_agent:both", 0.5), ("clerk_agent:Clerk", 0.25), ("clerk_agent.py:act", 0.0)])
def test_an_agent_may_be_made_and_bring_its_scorer(cli: Cli, practice: tuple[str, ...], name: str, score: float) -> None:
    found = cli(
        "learn", "--agent", name, "--train", "train.jsonl", "--validation", "held.jsonl", "--epochs", "1", "--scope", "x", "--json"
    ).json
    assert found["start_score"] == score


def test_what_is_taken_back_can_be_had_again_by_the_command_that_is_named(cli: Cli, practice: tuple[str, ...], folder: Path) -> None:
    (folder / "falling.py").write_text(
        "SCORES = iter([0.1] * 3 + [0.6] * 3 + [0.4] * 3)\n"
        "def score(instance, attempt):\n"
        "    return next(SCORES) if int(instance.task.text.split()[2]) > 10 else 0.5\n",
        encoding="utf-8",
    )
    answer = cli(*practice, "--validation", "held.jsonl", "--scorer", "falling.py:score", "--epochs", "2")
    assert "What came after version 3 was taken back, as version 7. To have it again: tenure rollback 6" in answer.err
    assert cli("rollback", "6").code == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--epochs", "3"), "--epochs needs an agent"),
        (("runs.jsonl", "--epochs", "3"), "--epochs needs an agent"),
        (("runs.jsonl", "--train", "train.jsonl"), "--train needs an agent that acts"),
        (("--agent", "clerk_agent:act"), "Name a file of instances: --train FILE"),
        (("--agent", "clerk_agent:act", "--task", "finer", "--train", "train.jsonl"), "Name one of them"),
        (("--agent", "clerk_agent", "--train", "train.jsonl"), "write MODULE:FUNCTION"),
        (("--agent", "nowhere:act", "--train", "train.jsonl"), "there is no module 'nowhere'"),
        (("--agent", "clerk_agent:nothing", "--train", "train.jsonl"), "'clerk_agent' has no 'nothing'"),
        (("--agent", "clerk_agent:NUMBER", "--train", "train.jsonl"), "is no agent: it has to be a function (task, context)"),
        (("--agent", "clerk_agent:broken", "--train", "train.jsonl"), "raised OSError: no such account"),
        (("--agent", "clerk_agent:act", "--train", "missing.jsonl"), "Path 'missing.jsonl' does not exist"),
        (("--agent", "clerk_agent:act", "--train", "train.jsonl", "--patience", "1"), "--validation FILE"),
        (("--agent", "clerk_agent:act", "--train", "train.jsonl", "runs.jsonl"), "makes its own runs"),
        (("--agent", "clerk_agent:act", "--train", "bare.jsonl"), "there is no scorer. Name one"),
        (("--task", "chess", "--train", "train.jsonl"), "There is no task 'chess' to practise. There are: finer, formula"),
        (("--task", "finer", "--train", "train.jsonl"), "holds 0 questions"),
        (("--task", "finer", "--train", "train.jsonl", "--model", "openai:x"), "Leave --model out"),
    ],
)
def test_a_mistake_is_named(cli: Cli, practice: tuple[str, ...], folder: Path, args: tuple[str, ...], said: str) -> None:
    (folder / "bare.jsonl").write_text('{"task": "Book invoice 1"}\n', encoding="utf-8")
    (folder / "runs.jsonl").write_text("{}\n", encoding="utf-8")
    answer = cli("learn", *args)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_a_keyless_task_is_practised_and_says_what_its_numbers_are(cli: Cli, folder: Path) -> None:
    write_questions(folder / "train.jsonl", batches=10, seed=1)
    write_questions(folder / "held.jsonl", batches=6, seed=2)
    answer = cli(
        "learn", "--task", "finer", "--train", "train.jsonl", "--validation", "held.jsonl", "--epochs", "1", TENURE_EMBEDDER="none"
    )
    assert answer.code == 0, answer.err
    assert "A transparent agent does what its memory hands it" in answer.out
    found = cli("learn", "--task", "finer", "--train", "train.jsonl", "--epochs", "1", "--json", TENURE_EMBEDDER="none").json
    # A second command goes on with what the first left: it answers what it was told then.
    assert found["epochs"][0]["train_score"] > 0.9
    assert found["usage"]["calls"] == 0 or found["usage"]["cost_usd"] == 0


def test_ctrl_c_ends_it_with_the_best_so_far_on_disk(practice: tuple[str, ...], folder: Path) -> None:
    (folder / "slow.py").write_text(
        "import clerk_agent, pathlib, time\n"
        "def act(task, context):\n"
        "    with open('acted', 'a') as log:\n"
        "        log.write('.')\n"
        "    if len(pathlib.Path('acted').read_text()) > 10:\n"
        "        time.sleep(100)\n"
        "    return clerk_agent.act(task, context)\n"
        "def score(instance, attempt):\n"
        "    return 0.5\n",
        encoding="utf-8",
    )
    # A job in the background ignores Ctrl-C, and so would its child.
    program = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); runpy.run_module('tenure', run_name='__main__')"
    )
    args = ["learn", "--agent", "slow:act", "--scorer", "slow:score", "--train", "train.jsonl", "--validation", "held.jsonl", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *args],
        cwd=folder,
        env=os.environ | {"TENURE_EMBEDDER": "none"},
        stdout=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while (not (folder / "acted").exists() or len((folder / "acted").read_text()) <= 10) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=90)
    found = json.loads(out)
    assert (process.returncode, found["stopped"], found["best_epoch"]) == (130, "interrupted", 0)
    checked = subprocess.run([sys.executable, "-m", "tenure", "ledger", "verify"], cwd=folder, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
