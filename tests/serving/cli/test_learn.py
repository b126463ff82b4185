"""`tenure learn`: runs in, lessons out; what cannot be read is counted and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serving.cli.conftest import RUNS, Cli

FIXED = {"runs", "successes", "failures", "skipped", "added", "merged", "held", "unreadable"}


def test_json_has_the_promised_keys(cli: Cli, runs_file: str) -> None:
    found = cli("learn", runs_file, "--json").json
    assert found.keys() >= FIXED
    assert {name: found[name] for name in FIXED} == {
        "runs": 2,
        "successes": 1,
        "failures": 1,
        "skipped": 0,
        "added": 1,
        "merged": 1,
        "held": 0,
        "unreadable": 0,
    }


def test_what_a_person_reads(cli: Cli, runs_file: str, golden: Callable[[str, str], None]) -> None:
    golden("cli/learn.txt", cli("learn", runs_file).steady)


def test_the_same_file_learned_twice_adds_nothing(cli: Cli, runs: None, runs_file: str, golden: Callable[[str, str], None]) -> None:
    again = cli("learn", runs_file)
    assert cli("log", "--json").json["newest"] == 2
    golden("cli/learn-again.txt", again.steady)


def test_unreadable_lines_are_counted_and_named_and_the_rest_is_learned(cli: Cli, folder: Path, golden: Callable[[str, str], None]) -> None:
    lines = [json.dumps(RUNS[0]), "this line is broken", json.dumps(RUNS[1]), '{"id": "cut", "task": "x", "st']
    (folder / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    answer = cli("learn", "log.jsonl")
    assert answer.code == 0
    golden("cli/learn-unreadable.txt", answer.steady)
    found = cli("learn", "log.jsonl", "--json").json
    assert (found["runs"], found["skipped"], found["unreadable"]) == (2, 2, 2)
    assert [place.partition(": ")[0] for place in found["unreadable_places"]] == ["log.jsonl, line 2", "log.jsonl, line 4"]


def test_strict_tells_by_the_exit_code_that_something_could_not_be_read(cli: Cli, folder: Path) -> None:
    (folder / "log.jsonl").write_text(json.dumps(RUNS[0]) + "\nbroken\n", encoding="utf-8")
    assert cli("learn", "log.jsonl", "--strict").code == 3


def test_a_path_that_does_not_exist_is_a_mistake_and_nothing_is_learned(cli: Cli, runs_file: str, folder: Path) -> None:
    answer = cli("learn", runs_file, "nowhere.jsonl")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "error: Path 'nowhere.jsonl' does not exist. Name one that does.\n"
    assert not (folder / "book.db").exists()


@pytest.mark.parametrize("made", ["prose", "folder", "empty"])
def test_input_without_runs_says_which_forms_are_known(cli: Cli, folder: Path, made: str) -> None:
    if made == "folder":
        (folder / "input").mkdir()
    else:
        (folder / "input").write_text("Dear diary" if made == "prose" else "", encoding="utf-8")
    answer = cli("learn", "input")
    assert answer.code == 2
    assert "No runs were found in 'input'. Known forms: tenure, tau-bench, codex, claude-code, otlp, openai-chat." in answer.err


def test_json_stands_on_stdout_also_if_there_was_nothing_to_learn(cli: Cli, folder: Path) -> None:
    (folder / "input").write_text("Dear diary", encoding="utf-8")
    answer = cli("learn", "input", "--json")
    assert answer.code == 2
    assert (answer.json["runs"], answer.json["unreadable"]) == (0, 1)


def test_an_unknown_form_is_a_mistake(cli: Cli, runs_file: str) -> None:
    answer = cli("learn", runs_file, "--format", "word")
    assert (answer.code, "Run format 'word' is not known. Use one of: tenure" in answer.err) == (2, True)


def test_nothing_named_is_a_mistake(cli: Cli) -> None:
    answer = cli("learn")
    assert (answer.code, "Name the files or folders" in answer.err) == (2, True)


def test_a_folder_tree_is_read_and_each_file_once(cli: Cli, folder: Path) -> None:
    (folder / "logs" / "deep").mkdir(parents=True)
    (folder / "logs" / "a.jsonl").write_text(json.dumps(RUNS[0]), encoding="utf-8")
    (folder / "logs" / "deep" / "b.jsonl").write_text(json.dumps(RUNS[1]), encoding="utf-8")
    found = cli("learn", "logs", "logs/a.jsonl", "--json").json
    assert (found["runs"], found["files"]) == (2, 2)


def test_a_dash_reads_stdin_and_calls_it_so(cli: Cli) -> None:
    found = cli("learn", "-", "--json", input=f"{json.dumps(RUNS[0])}\nbroken\n").json
    assert found["runs"] == 1
    assert found["unreadable_places"][0].startswith("stdin, line 2: ")


def test_a_dry_run_shows_what_would_be_learned_and_writes_nothing(cli: Cli, folder: Path, runs_file: str) -> None:
    dry = cli("learn", runs_file, "--dry-run", "--json").json
    assert (dry["dry_run"], dry["added"], [lesson["section"] for lesson in dry["new_lessons"]]) == (True, 1, ["tool rules"])
    assert not (folder / "book.db").exists()
    real = cli("learn", runs_file, "--json").json
    assert {name: real[name] for name in FIXED} == {name: dry[name] for name in FIXED}


def test_a_dry_run_knows_what_was_learned_before(cli: Cli, runs: None, runs_file: str) -> None:
    dry = cli("learn", runs_file, "--dry-run", "--json").json
    assert (dry["runs"], dry["skipped"], dry["added"]) == (2, 2, 0)
    assert cli("log", "--json").json["newest"] == 2


def test_a_run_goes_to_the_scope_it_names_and_that_is_said(cli: Cli, folder: Path) -> None:
    (folder / "runs.jsonl").write_text(json.dumps({**RUNS[0], "scope": "acme/other"}), encoding="utf-8")
    answer = cli("learn", "runs.jsonl", TENURE_SCOPE="")
    assert "1 run went to another scope: the one it names, or its project's. See: tenure show --scope acme/other" in answer.err
    assert len(cli("show", "--scope", "acme/other", "--json").json["lessons"]) == 1


def test_a_scope_that_is_asked_for_beats_that_of_the_runs(cli: Cli, folder: Path) -> None:
    (folder / "runs.jsonl").write_text(json.dumps({**RUNS[0], "scope": "acme/other"}), encoding="utf-8")
    assert cli("learn", "runs.jsonl", "--scope", "acme/mine", "--json").json["scopes"] == {"acme/mine": 1}


def test_pending_learns_the_runs_that_were_only_kept(cli: Cli) -> None:
    from tenure import Tenure

    with Tenure.open("sqlite:///book.db", scope="acme/finance") as book, book.run("Close the books for week 3") as run:
        run.step("tool_call", name="book", arguments={"amount": "1,5"}, call_id="1")
        run.step("tool_result", name="book", error="amount must be a decimal number with a point", call_id="1")
        run.step("tool_call", name="book", arguments={"amount": "1.5"}, call_id="2")
        run.step("tool_result", name="book", content="booked", call_id="2")
        run.finish(success=True, learn=False)
    assert cli("status", "--json").json["pending"] == 1
    found = cli("learn", "--pending", "--json").json
    assert (found["runs"], found["added"]) == (1, 1)
    assert cli("status", "--json").json["pending"] == 0


def test_learning_that_is_switched_off_says_how_to_switch_it_on(cli: Cli, runs_file: str) -> None:
    assert cli("config", "set", "learn.enabled", "off").code == 0
    answer = cli("learn", runs_file)
    assert (answer.code, "tenure config set learn.enabled on" in answer.err) == (2, True)


def test_a_model_without_a_provider_is_a_mistake(cli: Cli, runs_file: str) -> None:
    answer = cli("learn", runs_file, "--model", "nothing")
    assert (answer.code, answer.out, "Write PROVIDER:MODEL" in answer.err) == (2, "", True)


def test_real_runs_of_an_airline_agent_are_read_whole(cli: Cli, shared_data: Path) -> None:
    found = cli("learn", str(shared_data / "tau-airline" / "gpt-4o-airline-trials-0-1.json"), "--json").json
    assert (found["runs"], found["successes"], found["failures"], found["unreadable"]) == (100, 43, 57, 0)
    assert 0 < found["added"] <= 60


@pytest.mark.parametrize("path", ["", "a" * 300])
def test_a_path_that_cannot_be_is_a_mistake(cli: Cli, folder: Path, path: str) -> None:
    (folder / "runs.jsonl").write_text("{}")
    answer = cli("learn", path)
    assert (answer.code, "fault in Tenure" in answer.err) == (2, False)


SESSION = Path(__file__).parents[2] / "traces" / "data" / "claude-code.jsonl"


def _tree(folder: Path) -> None:
    """Two sessions of two projects: one whose folder is there, one whose folder is gone."""
    (folder / "api" / ".git").mkdir(parents=True)
    (folder / "sessions" / "a").mkdir(parents=True)
    text = SESSION.read_text(encoding="utf-8")
    (folder / "sessions" / "a" / "1.jsonl").write_text(text, encoding="utf-8")
    other = text.replace("/srv/shop", str(folder / "api")).replace("5f0c1c1e", "6f0c1c1e")
    (folder / "sessions" / "2.jsonl").write_text(other, encoding="utf-8")


def test_each_project_learns_from_its_own_sessions(cli: Cli, folder: Path) -> None:
    _tree(folder)
    found = cli("learn", "sessions", "--json", TENURE_SCOPE="").json
    by_scope = {one["scope"]: one for one in found["projects"]}
    assert [scope.split("-")[0] for scope in sorted(by_scope)] == ["local/api", "local/shop"]
    assert all(one["runs"] == 2 and one["new_lessons"] == 3 and sum(one["kinds"].values()) == 3 for one in by_scope.values())
    assert found["vanished_folders"] == ["/srv/shop"]
    (api,) = [scope for scope in by_scope if scope.startswith("local/api")]
    assert len(cli("show", "--json", "--scope", api).json["lessons"]) == 3
    again = cli("learn", "sessions", "--json", TENURE_SCOPE="").json
    assert again["skipped"] == again["runs"] == 4
    said = cli("learn", "sessions", TENURE_SCOPE="")
    assert "All of it was learned before." in said.err
    assert "/srv/shop" not in said.out + said.err  # nothing is new, of no project
    assert cli("learn", "sessions", "--json", "--scope", "acme/all").json["projects"][0]["scope"] == "acme/all"


def test_a_dry_run_shows_the_best_lessons_with_what_shows_them(cli: Cli, folder: Path) -> None:
    _tree(folder)
    answer = cli("learn", "sessions", "--dry-run", TENURE_SCOPE="")
    assert "6 new lessons" in answer.out
    assert "step 20: Exit code 1 ERR_PNPM_NO_SCRIPT" in " ".join(answer.out.split())
    assert "/srv/shop  ->  local/shop-" in answer.err
    assert cli("show", "--json", "--scope", "local/x").json["lessons"] == []
