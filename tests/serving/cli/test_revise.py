"""`tenure revise FILE`: a verdict for each rule of a person's file, and conditions as a diff to accept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serving.cli.conftest import Cli

RULES = (
    "\ufeff# Our rules 🧾\r\n"
    "\r\n"
    "Prose stays as it is.  \r\n"
    "- Call `convert` before you post.\r\n"
    "- Never use `rm -rf`.\r\n"
    "- Be kind.\r\n"
    "- Use `post_total` with the sum"
)
NAMES = "alpha beta gamma delta omega sigma kappa theta".split()


def run(name: str, text: str, tool: str, *, success: bool) -> dict[str, object]:
    """A run that called one tool."""
    return {
        "id": name,
        "task": {"text": text},
        "steps": [{"kind": "tool_call", "role": "assistant", "name": tool, "arguments": {"total": 1}}],
        "outcome": {"success": success, "signal": "test"},
    }


@pytest.fixture
def learned(cli: Cli, folder: Path) -> None:
    """Runs in which `convert` helped where there were several currencies, and `post_total` always."""
    runs = [run(f"g{place}", f"sum invoices in several currencies for {NAMES[place]}", "convert", success=True) for place in range(5)]
    runs += [run(f"b{place}", f"list open reminders for {NAMES[-1 - place]}", "convert", success=False) for place in range(4)]
    runs += [run(f"p{place}", f"close {NAMES[place]}", "post_total", success=True) for place in range(2)]
    (folder / "runs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in runs), encoding="utf-8")
    (folder / "AGENTS.md").write_bytes(RULES.encode())
    assert cli("learn", "runs.jsonl").code == 0


def test_what_a_person_reads(cli: Cli, learned: None, golden: Callable[[str, str], None]) -> None:
    golden("cli/revise.txt", cli("revise", "AGENTS.md").steady)


def test_each_rule_gets_a_verdict_and_nothing_is_written(cli: Cli, folder: Path, learned: None) -> None:
    found = cli("revise", "AGENTS.md", "--json").json
    assert [(one["number"], one["first_line"], one["verdict"], one["apply_only_if"]) for one in found["rules"]] == [
        (1, 4, "too general", 'the task says "sum" and "invoices"'),
        (2, 5, "untested", ""),
        (3, 6, "untested", ""),
        (4, 7, "confirmed", ""),
    ]
    assert found["written"] is False
    assert '+  - Apply only if the task says "sum" and "invoices".' in found["diff"]
    assert (folder / "AGENTS.md").read_bytes() == RULES.encode()


def test_accepting_adds_the_line_and_touches_no_other_byte(cli: Cli, folder: Path, learned: None) -> None:
    assert cli("revise", "AGENTS.md", "--write").code == 0
    line = '  - Apply only if the task says "sum" and "invoices".\r\n'
    after = (folder / "AGENTS.md").read_bytes().decode()
    assert after == RULES.replace("you post.\r\n", f"you post.\r\n{line}")
    again = cli("revise", "AGENTS.md", "--write", "--json").json
    assert (again["written"], again["diff"]) == (False, "")
    assert (folder / "AGENTS.md").read_bytes().decode() == after


def test_some_conditions_can_be_accepted_and_unknown_numbers_are_named(cli: Cli, folder: Path, learned: None) -> None:
    assert cli("revise", "AGENTS.md", "--only", "2", "--json").json["diff"] == ""
    missing = cli("revise", "AGENTS.md", "--only", "9")
    assert (missing.code, "There is no rule 9 in AGENTS.md" in missing.err) == (2, True)
    assert cli("revise", "AGENTS.md", "--only", "one").code == 2
    assert cli("revise", "-", "--write", input=RULES).code == 2


def test_the_diff_alone_can_be_applied(cli: Cli, folder: Path, learned: None) -> None:
    said = cli("revise", "AGENTS.md", "--diff").out
    assert said.startswith("--- AGENTS.md\n+++ AGENTS.md\n@@ ")


def test_an_imported_rule_is_judged_by_the_runs_that_named_it(cli: Cli, folder: Path) -> None:
    (folder / "AGENTS.md").write_text("- Put the smallest number first.\n", encoding="utf-8")
    cli("import", "AGENTS.md")
    (lesson,) = cli("show", "--json").json["lessons"]
    good = [run(f"g{place}", f"sort prices ascending for {NAMES[place]}", "fetch", success=True) for place in range(5)]
    bad = [run(f"b{place}", f"rank scores descending for {NAMES[-1 - place]}", "fetch", success=False) for place in range(4)]
    lines = [json.dumps({**one, "cited": [lesson["id"]]}) + "\n" for one in (*good, *bad)]
    (folder / "runs.jsonl").write_text("".join(lines), encoding="utf-8")
    cli("learn", "runs.jsonl")
    (rule,) = cli("revise", "AGENTS.md", "--json").json["rules"]
    assert (rule["verdict"], rule["lesson"], rule["helped"], rule["failed"]) == ("too general", lesson["id"], 5, 4)
    assert rule["apply_only_if"] == 'the task says "sort" and "prices"'


def test_a_file_that_is_no_utf_8_or_not_there_is_named(cli: Cli, folder: Path) -> None:
    (folder / "rules.md").write_bytes(b"- caf\xe9\n")
    assert "is not UTF-8 text: byte 0xe9" in cli("revise", "rules.md").err
    assert "does not exist" in cli("revise", "none.md").err
    (folder / "empty.md").write_bytes(b"")
    assert "has no list of rules" in cli("revise", "empty.md").err


def test_a_lesson_page_shows_its_revision_and_its_track_record(cli: Cli, folder: Path) -> None:
    (folder / "ops.json").write_text('[{"op": "ADD", "section": "s", "text": "Check totals."}]', encoding="utf-8")
    cli("apply", "ops.json")
    (lesson,) = cli("show", "--json").json["lessons"]
    (folder / "runs.jsonl").write_text(
        json.dumps({**run("r1", "close week 1", "post", success=True), "cited": [lesson["id"]]}), encoding="utf-8"
    )
    cli("learn", "runs.jsonl")
    page = cli("show", lesson["id"]).out
    assert "confirmed by code; tested by run r1" in page
    assert "1 run for it, 0 against" in page
    found = cli("show", lesson["id"], "--json").json
    assert found["lessons"][0]["revision"]["verdict"] == "confirmed"
    assert (found["track_record"]["support"], found["track_record"]["cited"]) == (1, 1)
    assert "confirmed by code" in cli("blame", lesson["id"]).out
    deltas = cli("blame", lesson["id"], "--json").json["deltas"]
    assert any(op.get("revision", {}).get("run") == "r1" for delta in deltas for op in delta["operations"])
