"""The bench of redaction counts what is left and what is wrongly taken; the built-in set holds no secret as it is stored."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from tenure.errors import UserError
from tenure.evaluation.redaction_bench import run_redaction, summary_of
from tenure.evaluation.redaction_lines import KINDS, labelled_lines, read_lines
from tenure.governance.redaction import redact


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_own_rules_alone_reach_the_target(seed: int) -> None:
    result = run_redaction(None, seed=seed, redact=lambda text: redact(text).text)
    for figures in (result, *result["parts"].values()):
        assert figures["recall"] >= 0.98, result["missed"]
        assert figures["precision"] >= 0.98, result["wrong"]


def test_the_set_is_as_large_as_it_says() -> None:
    summary = summary_of(labelled_lines())
    assert summary["lines"] >= 1_500
    assert summary["kinds"] >= 25
    assert summary["lookalikes"] >= 100
    assert summary["kinds"] == len(KINDS)
    later = [line for line in labelled_lines() if line.part != "known"]
    assert len(later) * 3 >= summary["lines"] * 2
    assert {line.part for line in later} == {"held-out", "fresh-1", "fresh-2", "fresh-3"}


def test_nothing_in_the_stored_set_looks_like_a_secret() -> None:
    stored = files("tenure.evaluation").joinpath("sets/redaction.txt").read_text(encoding="utf-8")
    for line in stored.splitlines():
        bare = re.sub(r"<<[a-z0-9-]+>>|\(\([a-z0-9-]+\)\)", "x", line)
        assert redact(bare).text == bare


def test_the_same_seed_gives_the_same_lines_and_another_seed_others() -> None:
    assert labelled_lines(3) == labelled_lines(3) != labelled_lines(4)


def test_a_redaction_that_does_nothing_finds_nothing() -> None:
    result = run_redaction(None, redact=lambda text: text)
    assert (result["recall"], result["precision"]) == (0, None)


def test_a_redaction_that_takes_everything_is_not_precise(tmp_path: Path) -> None:
    result = run_redaction(None, redact=lambda text: "[redacted:all]")
    assert result["recall"] == 1
    assert result["precision"] < 0.7


def test_a_password_that_is_also_the_login_is_found_if_one_of_the_two_is_gone(tmp_path: Path) -> None:
    data = tmp_path / "lines.jsonl"
    data.write_text(json.dumps({"text": "user: admin, password: admin", "secrets": ["admin"]}), encoding="utf-8")
    assert run_redaction(data, redact=lambda text: text.replace("password: admin", "password: [redacted:password]"))["found"] == 1
    assert run_redaction(data, redact=lambda text: text)["found"] == 0


def test_half_a_secret_is_a_secret(tmp_path: Path) -> None:
    data = tmp_path / "lines.jsonl"
    data.write_text(json.dumps({"text": "key is abcdefghijklmnop now", "secrets": ["abcdefghijklmnop"]}), encoding="utf-8")
    assert run_redaction(data, redact=lambda text: text.replace("abcdefgh", "[redacted:key]"))["found"] == 0
    assert run_redaction(data, redact=lambda text: text.replace("abcdefghijkl", "[redacted:key]"))["found"] == 1


def test_a_file_of_lines_is_read_and_a_malformed_one_named(tmp_path: Path) -> None:
    data = tmp_path / "lines.jsonl"
    rows = [{"text": "pw abc1 here", "secrets": [{"value": "abc1", "kind": "password"}], "part": "a"}, {"text": "plain"}]
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    first, second = read_lines(data)
    assert (first.secrets[0].kind, first.part, second.secrets) == ("password", "a", ())
    data.write_text('{"text": "a"}\n{"text": "b", "secrets": ["c"]}', encoding="utf-8")
    with pytest.raises(UserError, match="line 2"):
        read_lines(data)
