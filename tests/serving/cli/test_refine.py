"""`tenure refine`: merges and retirements with their reasons, as one delta that can be undone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serving.cli.conftest import Cli, write_operations


@pytest.fixture
def doubled(cli: Cli, folder: Path) -> None:
    """Two lessons of one text."""
    (folder / "two.txt").write_text("## a\n[a-1] helpful=2 harmful=0 :: Same.\n[a-2] helpful=0 harmful=0 :: Same.\n", encoding="utf-8")
    cli("import", "two.txt")


def test_what_a_person_reads(cli: Cli, doubled: None, golden: Callable[[str, str], None]) -> None:
    said = cli("refine", "--dry-run").steady + cli("refine").steady + cli("refine").steady
    golden("cli/refine.txt", re.sub(r"From \d+ to", "From NN to", said))  # how tokens are estimated is not for this file to say


def test_a_dry_run_writes_nothing_and_says_what_the_real_one_does(cli: Cli, doubled: None) -> None:
    dry = cli("refine", "--dry-run", "--json").json
    assert [(merge["ids"], merge["into"], bool(merge["reason"])) for merge in dry["merges"]] == [(["a-2"], "a-1", True)]
    assert (dry["evictions"], dry["version"]) == ([], None)
    assert cli("log", "--json").json["newest"] == 1
    real = cli("refine", "--json").json
    assert (real["merges"], real["version"]) == (dry["merges"], 2)


def test_it_can_be_undone(cli: Cli, doubled: None) -> None:
    cli("refine")
    assert [lesson["id"] for lesson in cli("show", "--json").json["lessons"]] == ["a-1"]
    cli("rollback", "-1")
    assert [lesson["id"] for lesson in cli("show", "--json").json["lessons"]] == ["a-1", "a-2"]


def test_what_a_person_wrote_is_never_evicted_and_that_is_said(cli: Cli, folder: Path) -> None:
    cli("apply", write_operations(folder, *({"op": "ADD", "section": "s", "text": f"Lesson {number}"} for number in range(4))))
    cli("config", "set", "bounds.lessons_per_section", "2")
    answer = cli("refine")
    assert "section 's' stays at 4 lessons: the rest is pinned, proven, imported or written by a person" in answer.err
    assert len(cli("show", "--json").json["lessons"]) == 4
