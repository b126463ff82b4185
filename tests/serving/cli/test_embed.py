"""`tenure embed`, and what the other commands say of vectors."""

from __future__ import annotations

import pytest

from tenure.providers.embedding import DEFAULT, LOCAL
from tests.serving.cli.conftest import Cli

needs_vectors = pytest.mark.skipif(not LOCAL[DEFAULT].installed, reason="needs the extra vectors")
WITH = {"TENURE_EMBEDDER": DEFAULT}


def test_without_an_embedder_it_says_how_to_have_one(cli: Cli, playbook: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOCAL[DEFAULT], "modules", ("no_such_module",))
    answer = cli("embed", TENURE_EMBEDDER="")
    assert (answer.code, "tenure[vectors]" in answer.err) == (0, True)
    assert cli("embed", "--json").json["embedding"] is None
    assert cli("status", "--json").json["vectors"] is None


def test_an_unknown_embedder_is_a_mistake_for_embed_and_wrong_for_doctor_but_context_answers(cli: Cli, playbook: None) -> None:
    unknown = {"TENURE_EMBEDDER": "bert"}
    assert "no embedder 'bert'" in cli("embed", **unknown).err
    assert cli("embed", **unknown).code == 2
    checked = cli("doctor", "--json", **unknown)
    assert (checked.code, checked.json["embedder"]["source"]) == (1, "TENURE_EMBEDDER")
    found = cli("context", "currency", "--json", **unknown).json
    assert (found["search"], "no embedder 'bert'" in found["notes"][0], bool(found["lessons"])) == ("keywords", True, True)
    assert cli("status", **unknown).code == 0


@needs_vectors
def test_what_is_missing_is_offered_made_and_then_used(cli: Cli, playbook: None) -> None:
    assert "3 texts without one. Make them: tenure embed" in cli("status", **WITH).out
    assert "tenure embed" in cli("doctor", **WITH).out
    assert "Make them: tenure embed" in cli("context", "currency", **WITH).err
    assert cli("embed", "--limit", "1", "--json", **WITH).json["embedding"]["complete"] is False
    answer = cli("embed", **WITH)
    assert (answer.code, f"2 texts embedded with {DEFAULT}." in answer.err) == (0, True)
    assert cli("embed", **WITH).err.startswith("0 texts embedded")
    assert cli("status", "--json", **WITH).json["vectors"] == {"model": DEFAULT, "embedded": 3, "missing": 0, "others": 0}
    assert cli("doctor", "--json", **WITH).json["embedder"]["name"] == DEFAULT
    explained = cli("context", "how do I save an invoice", "--explain", **WITH)
    assert f"keywords, and vectors of {DEFAULT} (3 lessons)" in explained.out


@needs_vectors
def test_learning_embeds(cli: Cli, runs_file: str) -> None:
    assert cli("learn", runs_file, **WITH).code == 0
    assert cli("status", "--json", **WITH).json["vectors"]["missing"] == 0


@needs_vectors
def test_an_embedder_that_was_turned_off_is_not_to_be_installed_but_turned_on(cli: Cli, playbook: None) -> None:
    answer = cli("embed", TENURE_EMBEDDER="none")
    assert (answer.code, "pip" in answer.err) == (0, False)
    assert "It is turned off (by TENURE_EMBEDDER). To have one: unset TENURE_EMBEDDER" in answer.err
    cli("config", "set", "embedder", "none", TENURE_EMBEDDER="")
    assert "(by a setting of this scope). To have one: tenure config unset embedder" in cli("embed", TENURE_EMBEDDER="").err
    assert "tenure config unset embedder" in cli("doctor", TENURE_EMBEDDER="").out
