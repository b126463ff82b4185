"""`tenure context`: what an agent would be shown; stdout holds the text for the prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.serving.cli.conftest import Cli


def test_json_has_the_promised_keys(cli: Cli, playbook: None) -> None:
    found = cli("context", "reconcile invoice 7", "--json").json
    assert found.keys() >= {"text", "tokens", "lessons", "cases", "parts", "why"}
    assert set(found["lessons"]) == {"inv-00001", "inv-00002", "jp-00001"}
    assert found["cases"] == []
    assert [why["id"] for why in found["why"]] == found["lessons"]


def test_stdout_is_the_text_and_nothing_else(cli: Cli, playbook: None) -> None:
    answer = cli("context", "reconcile invoice 7")
    assert answer.out == cli("context", "reconcile invoice 7", "--json").json["text"]
    assert (answer.err, answer.code) == ("", 0)


def test_what_a_person_reads_with_reasons_and_bill(cli: Cli, playbook: None, golden: Callable[[str, str], None]) -> None:
    said = cli("context", "reconcile invoice 7 in two currencies", "--explain", "--bill").steady
    text, _, rest = said.partition("\n\n")
    # How relevance and tokens are reckoned is not for this file to say.
    golden("cli/context.txt", f"{text}\n\n" + re.sub(r"\d\.\d\d| +\d+$", " N", rest, flags=re.MULTILINE))


def test_the_parts_add_up_to_about_the_whole(cli: Cli, playbook: None, runs: None) -> None:
    found = cli("context", "close the books for week 3", "--json").json
    assert abs(sum(found["parts"].values()) - found["tokens"]) <= 0.2 * found["tokens"] + 20


def test_the_budget_is_kept(cli: Cli, playbook: None) -> None:
    assert cli("context", "reconcile invoice 7", "--budget", "60", "--json").json["tokens"] <= 60


def test_kept_runs_are_named_as_cases(cli: Cli, runs: None) -> None:
    assert sorted(cli("context", "close the books", "--json").json["cases"]) == ["week-1", "week-2"]


def test_a_kept_run_shows_the_errors_of_its_steps_once(cli: Cli, folder: Path) -> None:
    told = [
        {"kind": "tool_result", "name": "book", "error": "no point"},
        {"kind": "tool_result", "name": "book", "error": "x", "content": "x y"},
    ]
    (folder / "told.jsonl").write_text(json.dumps({"id": "t1", "task": "book it", "steps": told}), encoding="utf-8")
    cli("learn", "told.jsonl")
    shown = cli("context", "book it").out
    assert "  | book: error: no point\n" in shown
    assert "  | book: x y\n" in shown


def test_a_dash_reads_the_task_from_stdin(cli: Cli, playbook: None) -> None:
    assert cli("context", "-", input="reconcile invoice 7").out == cli("context", "reconcile invoice 7").out


def test_an_empty_playbook_says_what_to_do_and_makes_no_database(cli: Cli) -> None:
    answer = cli("context", "anything")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.endswith("There is nothing to show for this task yet. Learn from runs: tenure learn PATH\n")


def test_a_budget_too_small_for_anything_does_not_read_as_an_empty_playbook(cli: Cli, playbook: None) -> None:
    answer = cli("context", "reconcile invoice 7", "--budget", "1")
    assert (answer.code, answer.out) == (0, "")
    assert "Nothing fits" in answer.err
    assert "--budget" in answer.err


def test_an_empty_task_and_a_budget_of_nothing_are_mistakes(cli: Cli, playbook: None) -> None:
    assert cli("context", " ").code == 2
    assert cli("context", "x", "--budget", "0").code == 2
