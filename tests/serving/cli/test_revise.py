"""`tenure revise FILE`: a verdict for each rule of a person's file, and conditions as a diff to accept."""

from __future__ import annotations

import json
import shutil
import subprocess
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
    assert (again["rules"][0]["verdict"], again["rules"][0]["helped"], again["rules"][0]["failed"]) == ("confirmed", 5, 0)
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


REALISTIC = """---
name: house rules
- not: a rule
---
# Working here \N{RECEIPT}

Prose stays as it is.\t

<!-- - Call `convert` in a comment
- still a comment -->
## Posting

| tool | - when |
|---|---|
| `convert` | - always |

1. Call `convert` before you post.
\t- a nested detail, with a tab
   ```sh
   - and then look at it   # code, no rule
   ```

* Use `post_total` with the sum
  that goes on here.

```
- Call `convert` in a block of code
```
- [ ] Call `convert` twice.  \n\tAnd look at what it says.
- 请用 `convert` 换算。
- Be kind."""

WRITTEN = {
    "plain": REALISTIC + "\n",
    "no final newline": REALISTIC,
    "crlf": REALISTIC.replace("\n", "\r\n") + "\r\n",
    "mark": "\ufeff" + REALISTIC.removeprefix("---\nname: house rules\n- not: a rule\n---\n"),
    "trailing lines": REALISTIC + "\n\n \n\t\n",
    "ends with a rule": REALISTIC.removesuffix("\n- Be kind."),
}


def added(before: bytes, after: bytes) -> list[bytes]:
    """Lines that were put in; every line that was there is there in its order, byte for byte."""
    end = b"\r\n" if b"\r\n" in before else b"\n"
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    found: list[bytes] = []
    for line in new:
        if old and (line == old[0] or (len(old) == 1 and line == old[0] + end)):
            old.pop(0)
        else:
            found.append(line)
    assert old == []
    return found


@pytest.mark.parametrize("form", WRITTEN)
def test_realistic_files_keep_every_byte_and_a_second_run_proposes_nothing(cli: Cli, folder: Path, learned: None, form: str) -> None:
    before = WRITTEN[form].encode()
    (folder / "AGENTS.md").write_bytes(before)
    proposed = [one for one in cli("revise", "AGENTS.md", "--json").json["rules"] if one["apply_only_if"]]
    assert len(proposed) == 3, "the rule, the box and the one in Chinese; none of comment, table, code and front matter"
    assert cli("revise", "AGENTS.md", "--write").code == 0
    after = (folder / "AGENTS.md").read_bytes()
    lines = added(before, after)
    assert len(lines) == 3
    assert all(b"Apply only if the task says" in line for line in lines)
    again = cli("revise", "AGENTS.md", "--write", "--json").json
    assert (again["diff"], again["written"]) == ("", False)
    assert (folder / "AGENTS.md").read_bytes() == after


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("tool", [("patch", "--binary", "-p0", "-i"), ("git", "apply", "--whitespace=nowarn", "-p0")], ids=["patch", "git"])
def test_the_diff_applies_to_what_write_would_have_written(cli: Cli, folder: Path, learned: None, form: str, tool: tuple[str, ...]) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"{tool[0]} is not installed")
    (folder / "AGENTS.md").write_bytes(WRITTEN[form].encode())
    said = cli("revise", "AGENTS.md", "--json").json["diff"]  # typer's runner changes line breaks of what is printed
    (folder / "rules.diff").write_bytes(said.encode())
    subprocess.run([*tool, "rules.diff"], cwd=folder, check=True, capture_output=True)
    applied = (folder / "AGENTS.md").read_bytes()
    (folder / "AGENTS.md").write_bytes(WRITTEN[form].encode())
    cli("revise", "AGENTS.md", "--write")
    assert (folder / "AGENTS.md").read_bytes() == applied


def test_a_model_that_fails_is_asked_about_a_few_rules_only(cli: Cli, folder: Path, learned: None) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra 'models'")
    from tests.providers.chat_server import chat_server, completion

    rules = "".join(f"- Call `convert` before you post number {place}.\n" for place in range(9))
    (folder / "AGENTS.md").write_text(rules, encoding="utf-8")
    with chat_server((200, completion("I cannot help with that."))) as server:
        said = cli("revise", "AGENTS.md", "--model", "openai:tiny", TENURE_BASE_URL=server.url)
    assert said.code == 0
    assert len(server.bodies) == 3
    assert "The model is not asked about the rules that follow" in said.err
    assert said.out.count("too general") == 9, "plain contrast judged them all"
