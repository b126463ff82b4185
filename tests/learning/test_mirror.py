"""The memory as a folder: out and in again, changed by people, and folders of Hipocampus. Over both stores."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure import Tenure, UserError
from tenure.memory_tree.entries import Entry
from tests.learning.test_memory import NOON, Told
from tests.memory_tree.trees import many_entries


@pytest.fixture
def clock() -> Told:
    return Told(NOON)


@pytest.fixture(params=["memory", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path, clock: Told) -> Tenure:
    return opened(tmp_path if request.param == "sqlite" else None, clock)


def opened(place: Path | None, clock: Told, name: str = "book.db") -> Tenure:
    url = "memory://" if place is None else f"sqlite:///{place / name}"
    return Tenure.open(url, scope="mine", clock=clock, embedder="none")


def state(book: Tenure) -> object:
    """All that a memory is: entries, nodes, texts, the root."""
    with book.store.reading(book.scope) as look:
        texts = {(layer, name): look.memory_file(layer, name) for layer in LAYERS for name in ("", *look.memory_files(layer))}
        return list(look.entries()), [look.nodes(kind) for kind in ("day", "week", "month")], texts, book.memory.root()


LAYERS = ("scratchpad", "working", "queue", "knowledge", "plan")


def entries(book: Tenure) -> list[Entry]:
    with book.store.reading(book.scope) as look:
        return list(look.entries())


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


TEXT = st.text(max_size=40).map(lambda text: text if text.strip() else "")
"""White space alone is nothing to keep: an import says so and leaves it out."""
NAMES = st.sampled_from(["release", "Release", "../x", "CON", "税", "a/b", "long " * 15])


@given(
    found=many_entries(),
    texts=st.dictionaries(st.tuples(st.sampled_from(["knowledge", "plan"]), NAMES), TEXT, max_size=4),
    loaded=st.dictionaries(st.sampled_from(["scratchpad", "working", "queue"]), TEXT, max_size=3),
    zone=st.sampled_from(["UTC", "Asia/Tokyo"]),
)
@settings(max_examples=15)
def test_a_memory_that_is_exported_and_imported_is_the_same_byte_for_byte(
    found: list[Entry], texts: dict[tuple[str, str], str], loaded: dict[str, str], zone: str
) -> None:
    clock = Told(datetime(2027, 2, 1, 12, tzinfo=UTC))
    with tempfile.TemporaryDirectory() as name, opened(None, clock) as one, opened(None, clock) as other:
        folder = Path(name)
        one.memory.set_zone(zone)
        one.memory.keep(found)
        for (layer, text_name), text in texts.items():
            one.memory.write(layer, text, name=text_name)
        for layer, text in loaded.items():
            one.memory.write(layer, text)
        one.memory.export(folder)
        before = files(folder)
        done = other.memory.import_folder(folder)
        assert state(other) == state(one)
        assert (done.new, done.known, done.left) == (len(found), 0, 0)
        assert done.zone == ("" if zone == "UTC" else zone)
        again = other.memory.import_folder(folder)
        assert (again.new, again.known, again.texts) == (0, len(found), 0)
        told = other.memory.export(folder)
        assert (told.written, told.removed, told.left) == ((), (), ())
        assert files(folder) == before


def test_an_export_where_nothing_changed_touches_nothing_and_one_entry_touches_what_holds_it(
    book: Tenure, clock: Told, tmp_path: Path
) -> None:
    folder = tmp_path / "mirror"
    book.memory.log("one", at=NOON - timedelta(days=40))
    book.memory.log("two")
    first = book.memory.export(folder)
    assert set(first.written) == {path for path in files(folder) if not path.startswith(".")}
    stamps = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    again = book.memory.export(folder)
    assert (again.written, again.unchanged) == ((), len(first.written))
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == stamps
    book.memory.log("three")
    days = ("2026-03-15.md", "ROOT.md", "daily/2026-03-15.md", "monthly/2026-03.md", "weekly/2026-W11.md")
    assert tuple(sorted(book.memory.export(folder).written)) == days


def test_lines_that_a_person_adds_become_entries_once_and_stand_in_the_next_export(book: Tenure, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    book.memory.log("We ship on Fridays.", type="feedback", topic="releases")
    book.memory.export(folder)
    day = folder / "2026-03-15.md"
    day.write_text(day.read_text() + "\n- Ada is back on Monday\n- Ada is back on Monday\n\nThe key is AKIAABCDEFGHIJKLMNOP.\n")
    left = book.memory.export(folder)
    assert left.left == (("2026-03-15.md", "was changed by hand: 3 entries more than the memory has. Import it first"),)
    assert "Ada" in day.read_text()
    assert [book.memory.import_folder(folder).new for _ in range(3)] == [3, 0, 0]
    assert [one.text for one in entries(book)][:3] == ["We ship on Fridays.", "Ada is back on Monday", "Ada is back on Monday"]
    assert "AKIA" not in entries(book)[3].text
    told = book.memory.export(folder)
    assert "2026-03-15.md" in told.written
    assert not told.left
    day.write_text(day.read_text() + "\nAda is back on Monday\n")
    assert [book.memory.import_folder(folder).new for _ in range(2)] == [1, 0]


def test_an_entry_that_a_person_rewrote_is_kept_beside_the_old_one_and_one_taken_out_stays(book: Tenure, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    book.memory.log("The rate is 3.", topic="rates")
    book.memory.log("Other.")
    book.memory.export(folder)
    day = folder / "2026-03-15.md"
    text = day.read_text().replace("The rate is 3.", "The rate is 4.")
    day.write_text(text[: text.rindex("## ")])
    done = book.memory.import_folder(folder)
    assert done.new == 1
    assert any("1 changed by hand" in note for note in done.files[0].notes)
    assert any("1 of this day not in the file" in note for note in done.files[0].notes)
    assert sorted((one.text, one.topic) for one in entries(book)) == [
        ("Other.", ""),
        ("The rate is 3.", "rates"),
        ("The rate is 4.", "rates"),
    ]
    assert book.memory.import_folder(folder).new == 0
    assert book.memory.export(folder).left == ()


def test_texts_changed_in_the_folder_come_in_and_those_changed_on_both_sides_lose_nothing(book: Tenure, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    book.memory.log("Never on Fridays.", type="feedback", topic="releases")
    book.memory.write("knowledge", "How we ship.", name="releases")
    book.memory.write("queue", "- one\n")
    book.memory.export(folder)
    (folder / "TASK-QUEUE.md").write_text("- one\n- two\n")
    knowledge = folder / "knowledge" / "releases.md"
    knowledge.write_text(knowledge.read_text().replace("How we ship.", "How we ship now."))
    assert {path for path, _ in book.memory.export(folder).left} == {"TASK-QUEUE.md", "knowledge/releases.md"}
    assert book.memory.import_folder(folder).texts == 2
    assert book.memory.read("queue") == "- one\n- two\n"
    assert book.memory.read("knowledge", name="releases") == "How we ship now.\n- 2026-03-15: Never on Fridays."
    assert book.memory.export(folder).left == ()
    (folder / "TASK-QUEUE.md").write_text("- theirs\n")
    book.memory.write("queue", "- ours\n")
    done = book.memory.import_folder(folder)
    assert (done.texts, done.new) == (0, 1)
    assert book.memory.read("queue") == "- ours\n"
    assert "theirs" in [one.text for one in entries(book)]
    assert book.memory.import_folder(folder, force=True).texts == 1
    assert book.memory.read("queue") == "- theirs\n"


def test_a_text_over_its_cap_is_kept_in_the_raw_log(book: Tenure, tmp_path: Path) -> None:
    (tmp_path / "m" / "daily").mkdir(parents=True)
    (tmp_path / "m" / "SCRATCHPAD.md").write_text("".join(f"- line {n}\n" for n in range(200)))
    done = book.memory.import_folder(tmp_path / "m")
    assert (done.new, done.texts) == (200, 0)
    assert "has 200 lines, scratchpad takes 150" in done.files[0].notes[0]
    assert book.memory.read("scratchpad") == ""


def test_files_that_the_export_did_not_write_are_never_touched(book: Tenure, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "2026-03-15.md").write_text("my own\n")
    (folder / "notes.md").write_text("mine too\n")
    book.memory.log("one")
    told = book.memory.export(folder)
    assert told.left == (("2026-03-15.md", "was not written by an export"),)
    assert (folder / "2026-03-15.md").read_text() == "my own\n"
    assert book.memory.export(folder, force=True).left == ()
    assert (folder / "notes.md").read_text() == "mine too\n"


def test_what_left_the_memory_leaves_the_folder_unless_a_person_changed_it(book: Tenure, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    book.memory.write("plan", "first", name="one")
    book.memory.write("plan", "second", name="two")
    book.memory.export(folder)
    (folder / "plans" / "two.md").write_text("changed")
    book.memory.write("plan", "", name="one")
    book.memory.write("plan", "", name="two")
    told = book.memory.export(folder)
    assert told.removed == ("plans/one.md",)
    assert told.left[0][0] == "plans/two.md"
    assert (folder / "plans" / "two.md").read_text() == "changed"


def test_the_root_in_the_folder_names_the_files_that_are_there(book: Tenure, tmp_path: Path) -> None:
    book.memory.log("ask before", type="feedback", topic="../../etc")
    book.memory.export(tmp_path / "m")
    root = (tmp_path / "m" / "ROOT.md").read_text()
    named = [word.rstrip(")") for word in root.split() if word.startswith("knowledge/")]
    assert named
    assert all((tmp_path / "m" / name).is_file() for name in named)
    assert ".." not in named[0]


def test_a_folder_of_another_scope_is_refused_and_no_file_is_written_through_a_link(book: Tenure, tmp_path: Path) -> None:
    folder, outside = tmp_path / "mirror", tmp_path / "outside.md"
    outside.write_text("private")
    book.memory.log("one")
    book.memory.export(folder)
    with pytest.raises(UserError, match="has the memory of scope 'local/mine'"):
        book.in_scope("other").memory.export(folder)
    (folder / "2026-03-15.md").unlink()
    (folder / "2026-03-15.md").symlink_to(outside)
    book.memory.log("two")
    assert "is a link" in book.memory.export(folder).left[0][1]
    assert outside.read_text() == "private"
    done = book.memory.import_folder(folder)
    assert done.left == 1
    assert all("private" not in one.text for one in entries(book))
    (folder / ".tenure-mirror.json").write_text("{")
    with pytest.raises(UserError, match="damaged"):
        book.memory.export(folder)


def test_an_export_that_was_cut_short_goes_on(book: Tenure, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    book.memory.log("one")
    book.memory.export(folder)
    kept = (folder / ".tenure-mirror.json").read_bytes()
    book.memory.log("two")
    book.memory.export(folder)
    # As after a crash between the files and the last word of the manifest: it knows both, the file before and the one after.
    said = kept.decode()
    for path, raw in files(folder).items():
        from tenure.learning.mirror_folder import digest_of

        said = said.replace(f'"{path}": [\n', f'"{path}": [\n   "{digest_of(raw)}",\n')
    (folder / ".tenure-mirror.json").write_text(said)
    book.memory.log("three")
    told = book.memory.export(folder)
    assert told.left == ()
    assert "2026-03-15.md" in told.written


@pytest.mark.parametrize(
    ("raw", "said", "text"),
    [
        (b"\xef\xbb\xbfa note\r\n\r\nanother\r\n", "byte order mark", "another"),
        ("caf\u00e9".encode("cp1252"), "Windows-1252", "café"),
        ("über".encode("utf-16"), "UTF-16", "über"),
        (b"", "", None),
        (b" \n\n", "", None),
        (b"\x81\x8d text", "Latin-1", None),
    ],
)
def test_odd_bytes_are_read_and_told(book: Tenure, tmp_path: Path, raw: bytes, said: str, text: str | None) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "2026-03-14.md").write_bytes(raw)
    done = book.memory.import_folder(tmp_path / "m")
    assert said in " ".join(done.files[0].notes)
    if text is not None:
        assert text in [one.text for one in entries(book)]
    if not raw.strip():
        assert done.files[0].did == "empty; nothing to keep"


def test_what_is_not_read_is_named_with_the_reason(book: Tenure, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    (folder / "knowledge").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "2026-03-14.md").write_text("fine\n")
    (folder / "2026-02-30.md").write_text("no such day\n")
    (folder / "2026-03-13.md").write_text("x" * 2_000)
    (folder / ".session-transcript-2026-03-14.jsonl").write_text("{}")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "2026-03-12.md").symlink_to("/etc/hostname")
    (folder / "knowledge" / "loop").symlink_to(folder)
    done = book.memory.import_folder(folder, largest=1_000)
    why = {one.path: one.notes[0] for one in done.files if one.did == "left"}
    assert done.left == len(why) == 6
    assert "more than 1,000" in why["2026-03-13.md"]
    assert "out of the folder" in why["2026-03-12.md"]
    assert "tenure learn" in why[".session-transcript-2026-03-14.jsonl"]
    assert "no Markdown" in why["picture.png"]
    assert "behind a link" in why["knowledge/loop"]
    assert "hidden folder" in why[".git"]
    assert sorted(one.text for one in entries(book)) == ["fine", "no such day"]


HIPOCAMPUS = {
    "README.md": "the project's own\n",
    "hipocampus.config.json": "{}",
    "MEMORY.md": "# Long-term memory\n\n## Core\n\n### Identity\n- Name: Ada\n\n### Rules & Preferences\n- short answers\n\n"
    "## Adaptive\n- learned X\n\n## Compaction Root\n\ncopy of the root\n",
    "USER.md": "# User\n\n## Profile\n- speaks German\n",
    "SCRATCHPAD.md": "# SCRATCHPAD\n\nhalf way through\n",
    "WORKING.md": "- task 1\n",
    "TASK-QUEUE.md": "- task 2\n",
    "SCRATCHPAD-WEB.md": "web state\n",
    "knowledge/law/civil.md": "§750 tort\n",
    "plans/move.md": "---\nowner: ada\n---\nstep 1\n",
    "memory/.compaction-state.json": "{}",
    "memory/ROOT.md": "---\ntype: root\nmonths-covered: [2026-01, 2026-03]\n---\n\n## 2026-03\n- shipping\n",
    "memory/2026-03-14.md": "# 2026-03-14\n\n## Session — 2026-03-14 10:11:12\n\n**User:** How do we ship?\n\n"
    "**Assistant:** On Fridays.\n\n## Decisions\n- NATS\n- not Kafka\n",
    "memory/2026-03-13-extra.md": "an extra note\n",
    "memory/daily/2026-03-14.md": "---\ntype: daily\nstatus: fixed\nsource-files: [memory/2026-03-14.md]\n---\n\ncopy of it\n",
    "memory/daily/2026-02-02.md": "---\ntype: daily\nstatus: fixed\n---\n\n## Topics\nonly the node is left\n",
    "memory/daily/2026-02-03.md": "---\ntype: daily\nstatus: needs-summarization\n---\n\nplaceholder\n",
    "memory/weekly/2026-W11.md": "---\ntype: weekly\nsource-files: [memory/daily/2026-03-14.md]\n---\n\ncopy of the week\n",
    "memory/weekly/2026-W10.md": "---\ntype: weekly\nsource-files: [memory/daily/2026-03-03.md]\n---\n\nthe week whose days are gone\n",
    "memory/monthly/2026-01.md": "---\ntype: monthly\nweeks: [2026-W02]\n---\n\nonly the month is left\n",
}


def _lay(folder: Path, held: dict[str, str]) -> Path:
    for path, text in held.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        os.utime(folder / path, (NOON.timestamp() - 86_400, NOON.timestamp() - 86_400))
    return folder


def test_a_folder_of_hipocampus_comes_in_without_losing_an_entry(book: Tenure, tmp_path: Path) -> None:
    folder = _lay(tmp_path / "project", HIPOCAMPUS)
    preview = book.memory.import_folder(folder, dry_run=True)
    assert (entries(book), preview.dry_run) == ([], True)
    done = book.memory.import_folder(folder)
    assert (done.new, done.texts, done.derived) == (preview.new, preview.texts, preview.derived) == (12, 6, 4)
    held = {(one.day, one.type, one.role, one.text) for one in entries(book)}
    assert held == {
        ("2026-03-14", "log", "user", "How do we ship?"),
        ("2026-03-14", "log", "assistant", "On Fridays."),
        ("2026-03-14", "log", "", "## Decisions\nNATS"),
        ("2026-03-14", "log", "", "not Kafka"),
        ("2026-03-13", "log", "", "an extra note"),
        ("2026-03-14", "user", "", "# Long-term memory\n## Core\n### Identity\nName: Ada"),
        ("2026-03-14", "feedback", "", "### Rules & Preferences\nshort answers"),
        ("2026-03-14", "log", "", "## Adaptive\nlearned X"),
        ("2026-03-14", "user", "", "# User\n## Profile\nspeaks German"),
        ("2026-02-02", "log", "", "## Topics\nonly the node is left"),
        ("2026-03-08", "log", "", "the week whose days are gone"),
        ("2026-01-31", "log", "", "only the month is left"),
    }
    assert entries(book)[0].day == "2026-01-31"
    assert book.memory.read("scratchpad") == HIPOCAMPUS["SCRATCHPAD.md"]
    assert book.memory.read("plan", name="move") == HIPOCAMPUS["plans/move.md"]
    assert book.memory.read("plan", name="scratchpad-web") == "web state\n"
    assert book.memory.read("knowledge", name="law/civil") == "§750 tort\n"
    again = book.memory.import_folder(folder)
    assert (again.new, again.known, again.texts) == (0, done.new, 0)
    # And from here on it is a memory like any other.
    shutil.rmtree(folder)
    mirror = tmp_path / "mirror"
    assert book.memory.export(mirror).left == ()
    with opened(None, Told(NOON)) as other:
        other.memory.import_folder(mirror)
        assert state(other) == state(book)


def test_a_folder_without_a_memory_is_refused_and_a_project_is_not_read_whole(book: Tenure, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no folder"):
        book.memory.import_folder(tmp_path / "none")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "README.md").write_text("not a memory")
    with pytest.raises(UserError, match="holds no memory"):
        book.memory.import_folder(tmp_path / "code")
    (tmp_path / "code" / "WORKING.md").write_text("- one\n")
    assert [one.path for one in book.memory.import_folder(tmp_path / "code").files] == ["WORKING.md"]


def test_what_was_forgotten_in_the_folder_does_not_come_back_by_an_unchanged_file(book: Tenure, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    book.memory.write("working", "- old\n")
    book.memory.export(folder)
    book.memory.write("working", "- new\n")
    done = book.memory.import_folder(folder)
    assert (done.texts, done.files[0].did) == (0, "older than the memory's; left")
    assert book.memory.read("working") == "- new\n"
