"""The command line as a whole: help, common options, mistakes, colours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from typer.main import get_command

from tenure.serving.cli.main import GROUPS, app
from tests.serving.cli.conftest import Cli


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, below in getattr(command, "commands", {}).items():
        yield (*path, name), below
        yield from commands(below, (*path, name))


ALL = dict(commands(get_command(app)))


def test_help_lists_every_command_under_a_purpose(cli: Cli, golden: Callable[[str, str], None]) -> None:
    answer = cli("--help")
    assert {path[0] for path in ALL} == {name for names in GROUPS.values() for name in names}
    assert cli().out == answer.out
    golden("cli/help.txt", answer.steady)


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_has_a_short_help_and_examples_that_begin_with_it(cli: Cli, path: tuple[str, ...]) -> None:
    answer = cli(*path, "--help")
    assert answer.code == 0
    first = answer.out.splitlines()[2].strip()
    assert first.endswith(".")
    assert len(first) <= 70
    examples = answer.out.partition("Examples:\n")[2].splitlines()
    assert examples
    assert any(f"tenure {' '.join(path)}" in example for example in examples)


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_that_prints_a_result_takes_json(path: tuple[str, ...]) -> None:
    assert "--json" in {option for param in ALL[path].params for option in param.opts}


def test_common_options_stand_before_or_after_the_command_and_after_wins(cli: Cli, playbook: None) -> None:
    before = cli("--json", "--scope", "acme/finance", "--db", "book.db", "show", TENURE_DB="", TENURE_SCOPE="")
    after = cli("show", "--json", "--scope", "acme/finance", "--db", "book.db", TENURE_DB="", TENURE_SCOPE="")
    assert before.json == after.json
    assert cli("--scope", "acme/none", "show", "--scope", "acme/finance", "--json").json == after.json
    assert cli("--scope", "acme/none", "review", "--scope", "acme/finance", "list", "--json").json["scope"] == "acme/finance"


def test_the_next_command_carries_the_database_and_scope_of_this_one(cli: Cli, runs_file: str) -> None:
    answer = cli("learn", runs_file, "--db", "my book.db", "--scope", "acme/x")
    assert "See what was learned: tenure show --db 'my book.db' --scope acme/x" in answer.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lern"], "No such command 'lern'. Did you mean 'learn', 'ledger'? See: tenure --help"),
        (["review", "aprove"], "No such command 'aprove'. Did you mean 'approve'? See: tenure review --help"),
        (["show", "--jso"], "See: tenure show --help"),
        (["apply"], "See: tenure apply --help"),
        (["show", "a", "b"], "See: tenure show --help"),
        (["show", "--color", "pink"], "'pink' is none of auto, always, never."),
        (["log", "-n", "many"], "See: tenure log --help"),
        (["show", "--db", "mysql://host/db"], "'mysql://host/db' is not a database address"),
        (["show", "--scope", "a//b"], "Scope 'a//b' has an empty part"),
        (["learn", ".", "--scope", "../x"], "Scope '../x'"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_that_says_what_next(cli: Cli, arguments: list[str], said: str) -> None:
    answer = cli(*arguments)
    assert (answer.code, answer.out) == (2, "")
    errors = [line for line in answer.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert said in answer.err
    assert "Traceback" not in answer.err


def test_a_failure_of_the_database_has_its_own_exit_code(cli: Cli) -> None:
    answer = cli("show", "--db", ".")
    assert answer.code in (1, 2)
    assert answer.err.startswith("error: ")


def test_colour_is_off_in_a_pipe_and_survives_one_on_demand(cli: Cli, playbook: None) -> None:
    escape = re.compile(r"\x1b\[[0-9;]*m")
    plain = cli("show").out
    assert not escape.search(plain)
    for answer in (
        cli("show", "--color", "always"),
        cli("--color", "always", "show"),
        cli("show", NO_COLOR="", FORCE_COLOR="1"),
        cli("show", "--color", "always", NO_COLOR="1"),
    ):
        assert escape.search(answer.out)
        stripped = "\n".join(line.rstrip() for line in escape.sub("", answer.out).splitlines())
        assert stripped == plain.rstrip("\n")
    for answer in (cli("show", NO_COLOR="1", FORCE_COLOR="1"), cli("show", "--color", "never", NO_COLOR="", FORCE_COLOR="1")):
        assert answer.out == plain


def test_json_is_never_coloured(cli: Cli, playbook: None) -> None:
    assert "\x1b" not in cli("show", "--json", "--color", "always").out


@pytest.mark.parametrize("width", ["40", "200"])
def test_texts_are_wrapped_to_the_width_and_never_cut(cli: Cli, playbook: None, width: str) -> None:
    out = cli("show", COLUMNS=width).out
    words = " ".join(out.split())
    for word in "Convert each line at the invoice-date rate before summing.".split():
        assert word in words
    assert "…" not in out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("tenure show inv", "inv-00001"),
        ("tenure config get context.t", "context.tokens"),
        ("tenure lea", "learn"),
        ("tenure export --form j", "json"),
    ],
)
def test_the_shell_completes_commands_ids_and_names(cli: Cli, playbook: None, typed: str, offered: str) -> None:
    words = typed.split(" ")
    answer = cli(_TENURE_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1))
    assert offered in answer.out.split()


def test_the_help_of_a_group_says_whole_sentences(cli: Cli) -> None:
    for path, command in ALL.items():
        if getattr(command, "commands", {}):
            assert "..." not in cli(*path, "--help").out.partition("Commands:")[2].partition("options:")[0]
