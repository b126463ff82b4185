"""Folders that somebody else prepared: an export touches nothing outside, an import lets nothing in that breaks a memory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tenure import Tenure, UserError
from tests.learning.test_memory import NOON, Told
from tests.learning.test_mirror import entries, opened


@pytest.fixture(params=["memory", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Tenure:
    return opened(tmp_path if request.param == "sqlite" else None, Told(NOON))


def manifest_with(folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    said = {"form": 1, "scope": "mine", "zone": "UTC", "files": {name: ["0" * 64]}, "texts": {}, "names": {}}
    (folder / ".tenure-mirror.json").write_text(json.dumps(said), encoding="utf-8")


@pytest.mark.parametrize("name", ["../victim.txt", "{absolute}", "a/../../victim.txt", "..\\victim.txt", "C:victim.txt", ""])
@pytest.mark.parametrize("force", [False, True])
def test_a_manifest_never_makes_an_export_reach_out_of_its_folder(book: Tenure, tmp_path: Path, name: str, force: bool) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("mine", encoding="utf-8")
    folder = tmp_path / "mirror"
    manifest_with(folder, name.format(absolute=victim))
    book.memory.log("We ship on Fridays.")
    with pytest.raises(UserError, match="no file below the folder"):
        book.memory.export(folder, force=force)
    assert victim.read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_what_is_no_file_in_place_of_one_is_left_and_told(book: Tenure, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    book.memory.log("We ship on Fridays.")
    book.memory.export(folder)
    day = next(folder.glob("20*.md"))
    day.unlink()
    os.mkfifo(day)
    assert [path for path, why in book.memory.export(folder).left if "is no file" in why] == [day.name]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_in_place_of_a_file_that_left_the_memory_is_left_and_told(book: Tenure, tmp_path: Path) -> None:
    folder, victim = tmp_path / "mirror", tmp_path / "victim.md"
    victim.write_text("mine", encoding="utf-8")
    book.memory.log("We ship on Fridays.")
    book.memory.write("plan", "Move it.", name="move")
    book.memory.export(folder)
    book.memory.write("plan", "", name="move")
    (folder / "plans/move.md").unlink()
    (folder / "plans/move.md").symlink_to(victim)
    done = book.memory.export(folder, force=True)
    assert [path for path, why in done.left if "is a link" in why] == ["plans/move.md"]
    assert victim.read_text(encoding="utf-8") == "mine"
    assert entries(book)
