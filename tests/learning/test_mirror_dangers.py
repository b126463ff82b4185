"""Folders that somebody else prepared: an export touches nothing outside, an import lets nothing in that breaks a memory."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tenure import Tenure, UserError
from tenure.learning.session_memory import turns_of
from tenure.memory_tree.entries import Entry
from tenure.playbook.run import Run, Step, Task
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


SECRET = "sk-ant-api03-" + "Zq8vN3xK1mT7wR5yB2cD9fG4hJ6kL0pA" * 2
DAY = "2026-03-15"


def day_with(folder: Path, text: str = "> We ship on Fridays.", day: str = DAY, **said: object) -> Path:
    """The folder, with the file of a day in which one heading says so."""
    folder.mkdir(exist_ok=True)
    comment = json.dumps({"id": "one", "at": f"{DAY}T10:00:00+00:00"} | said)
    (folder / f"{day}.md").write_text(f"---\ntype: raw\n---\n# {day}\n\n## 10:00 <!-- tenure: {comment} -->\n{text}\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("field", ["id", "topic", "session", "role", "event", "origin"])
def test_no_field_of_an_imported_entry_brings_a_secret_in(book: Tenure, tmp_path: Path, field: str) -> None:
    folder = day_with(tmp_path / "in", **{field: f"key {SECRET}"})
    book.memory.import_folder(folder)
    assert SECRET not in repr(entries(book))
    book.memory.export(tmp_path / "out")
    assert SECRET not in "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert book.memory.import_folder(folder).new == 0


def test_what_an_import_tells_of_a_file_holds_no_secret(book: Tenure, tmp_path: Path) -> None:
    folder = day_with(tmp_path / "in", topic=f"key {SECRET}", at="never")
    (folder / "plans").mkdir()
    (folder / f"plans/{SECRET}.md").write_text("Move it.", encoding="utf-8")
    done = book.memory.import_folder(folder)
    assert "no moment" in repr(done)
    assert SECRET[:40] not in repr(done)


@pytest.mark.parametrize("moment", ["9999-12-31T10:00:00+00:00", "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59+00:00"])
def test_a_moment_that_cannot_be_filed_is_told_and_its_text_stays(book: Tenure, tmp_path: Path, moment: str) -> None:
    done = book.memory.import_folder(day_with(tmp_path / "in", at=moment))
    assert "outside of the years 1970 to 2199" in repr(done.files)
    assert [one.day for one in entries(book) if "We ship on Fridays." in one.text] == [DAY]
    assert DAY in book.memory.start().text
    with pytest.raises(UserError, match="1970 to 2199"):
        book.memory.log("Later.", at=datetime.fromisoformat(moment))
    with pytest.raises(UserError, match="1970 to 2199"):
        book.memory.keep([Entry(id="far", at=moment, day=moment[:10], text="Later.")])


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("day", [DAY, "9999-12-31"])
def test_entries_that_were_kept_before_moments_were_checked_are_stepped_over(book: Tenure, zone: str, day: str) -> None:
    book.memory.log("We ship on Fridays.")
    book.memory.set_zone(zone)
    with book.store.writing(book.scope) as work:
        work.keep_entries([Entry(id="far", at="9999-12-31T20:00:00.000000+00:00", day=day, text="Later.")])
    assert any(day in one for one in book.memory.compact(all=True).problems)
    assert "2026" in book.memory.start().text
    assert "Later." in book.memory.recall("later").text


def test_half_characters_of_a_file_stop_nothing(book: Tenure, tmp_path: Path) -> None:
    folder = day_with(tmp_path / "in", "> half \\ud800 of one", topic="a\ud800b", escaped=True)
    book.memory.import_folder(folder)
    (kept,) = entries(book)
    assert (kept.topic, kept.text) == ("a\ufffdb", "half \ufffd of one")


def test_an_entry_comes_in_as_any_other_is_kept(book: Tenure, tmp_path: Path) -> None:
    book.memory.import_folder(day_with(tmp_path / "in", at=f"{DAY}T10:00:00+09:00", topic="long  " * 60, origin="web/page"))
    (kept,) = entries(book)
    assert (kept.at, kept.origin) == (f"{DAY}T01:00:00.000000+00:00", "web/page")
    assert len(kept.topic) <= 80
    book.memory.export(tmp_path / "out")
    other = opened(None, Told(NOON))
    other.memory.import_folder(tmp_path / "out")
    assert entries(other) == [kept]


def test_a_turn_of_a_session_of_no_possible_year_is_filed_by_the_one_before() -> None:
    run = Run(
        id="r", task=Task(text="Ship it."), steps=(Step(kind="message", content="Ship it.", role="user", at="9999-12-31T23:59:59-05:00"),)
    )
    (kept,) = turns_of(run, zone=UTC, at=NOON, own_words=str)
    assert kept.day == NOON.date().isoformat()
