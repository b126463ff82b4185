"""`tenure export`: the playbook out, whole, without secrets, and back in unchanged."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Add, Delta, Playbook, Tenure, apply, dumps, loads
from tenure.governance.redaction import redact_operation
from tenure.learning.exchange import bring_in, written
from tenure.playbook.foreign import read_foreign
from tenure.playbook.notation import Form
from tests.serving.cli.conftest import LESSONS, Cli, write_operations
from tests.strategies import PIECES, texts


def test_the_exchange_text_is_what_people_read(cli: Cli, playbook: None, golden: Callable[[str, str], None]) -> None:
    golden("cli/export.txt", cli("export").steady)


def test_stdout_is_the_text_and_nothing_else(cli: Cli, playbook: None) -> None:
    assert cli("export").out == LESSONS
    assert cli("export", "-").out == LESSONS


@pytest.mark.parametrize("name", ["copy.txt", "copy.json"])
def test_an_export_imported_into_an_empty_database_gives_every_text_unchanged(cli: Cli, playbook: None, name: str) -> None:
    assert cli("export", name).code == 0
    assert cli("import", name, "--db", "other.db", "--json").json["added"] == 3
    kept = ("id", "section", "text", "applies_when")
    one, other = (cli("show", "--json", "--db", db).json["lessons"] for db in ("book.db", "other.db"))
    assert [[lesson[field] for field in kept] for lesson in one] == [[lesson[field] for field in kept] for lesson in other]


NASTY = [piece for piece in PIECES if piece.strip()] + [f"first{piece}last" for piece in PIECES]


def test_no_text_is_changed_on_the_way_out_and_in_again(cli: Cli, folder: Path) -> None:
    operations = [{"op": "ADD", "section": "s", "text": text, "id": f"s-{place}"} for place, text in enumerate(NASTY)]
    cli("apply", write_operations(folder, *operations))
    stored = {lesson["id"]: lesson["text"] for lesson in cli("show", "--json").json["lessons"]}
    assert len(stored) == len(NASTY)
    for form in ("ace", "json"):
        (folder / "copy").write_bytes(cli("export", "--form", form).out.encode("utf-8"))
        cli("import", "copy", "--db", f"{form}.db")
        assert {lesson["id"]: lesson["text"] for lesson in cli("show", "--json", "--db", f"{form}.db").json["lessons"]} == stored


@given(said=st.lists(texts(), min_size=1, max_size=4, unique=True), form=st.sampled_from(("ace", "json")))
def test_an_import_of_an_export_holds_the_same_texts_and_a_second_one_changes_nothing(said: list[str], form: Form) -> None:
    operations = [redact_operation(Add("s", text, id=f"s-{place}")) for place, text in enumerate(said)]
    stored = apply(Playbook(), Delta("01J00", operations)).playbook
    found = read_foreign(written(stored, form))
    with Tenure.open("memory://", scope="acme/finance") as book:
        for place in range(2):
            with book.store.writing(book.scope) as work:
                imported = bring_in(work, found, ids=book.ids, at=book.clock.now(), author="import:f")
            assert (imported.added, imported.merged, imported.skipped) == ((len(said), 0, 0) if place == 0 else (0, len(said), 0))
        assert [(lesson.id, lesson.text) for lesson in book.playbook.lessons] == [(lesson.id, lesson.text) for lesson in stored.lessons]


def test_json_holds_retired_lessons_as_well(cli: Cli, playbook: None, folder: Path) -> None:
    cli("apply", write_operations(folder, {"op": "RETIRE", "id": "inv-00002"}))
    cli("export", "copy.json")
    assert cli("export", "copy.json", "--json").json["lessons"] == 3
    cli("import", "copy.json", "--db", "other.db")
    found = {lesson["id"]: lesson["status"] for lesson in cli("show", "--all", "--json", "--db", "other.db").json["lessons"]}
    assert found["inv-00002"] == "retired"


def test_a_secret_that_older_rules_let_through_does_not_leave() -> None:
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    stored = apply(Playbook(), Delta("01J00", [Add("s", f"Log in with {secret}", applies_when=f"with {secret}", avoid=secret)])).playbook
    for form in ("ace", "json"):
        text = written(stored, form)
        assert secret not in text
        assert [lesson.text for lesson in loads(text).lessons] == ["Log in with [redacted:aws-key]"] or "redacted" in text


def test_a_playbook_without_secrets_leaves_byte_for_byte() -> None:
    stored = apply(Playbook(), Delta("01J00", [Add("s", "access_token=spotify_access_token names a variable")])).playbook
    assert written(stored, "json") == dumps(stored)


def test_a_folder_is_not_overwritten(cli: Cli, playbook: None, folder: Path) -> None:
    (folder / "out").mkdir()
    answer = cli("export", "out")
    assert (answer.code, "'out' is a folder" in answer.err) == (2, True)
    assert list((folder / "out").iterdir()) == []


def test_a_folder_that_is_not_there_is_a_mistake(cli: Cli, playbook: None) -> None:
    answer = cli("export", "nowhere/copy.txt")
    assert (answer.code, "does not exist" in answer.err) == (2, True)


def test_a_file_is_replaced_whole_and_keeps_its_rights_and_links(cli: Cli, playbook: None, folder: Path) -> None:
    (folder / "real.txt").write_text("old", encoding="utf-8")
    (folder / "real.txt").chmod(0o640)
    (folder / "link.txt").symlink_to("real.txt")
    assert cli("export", "link.txt").code == 0
    assert (folder / "link.txt").is_symlink()
    assert (folder / "real.txt").read_text(encoding="utf-8") == LESSONS
    assert stat.S_IMODE(os.stat(folder / "real.txt").st_mode) == 0o640
    assert sorted(path.name for path in folder.iterdir() if "new" in path.name) == []


def test_an_unknown_form_is_a_mistake(cli: Cli, playbook: None) -> None:
    answer = cli("export", "--form", "xml")
    assert (answer.code, answer.err) == (2, "error: There is no form 'xml'. Use ace, json or ledger.\n")


def test_a_pipe_or_device_is_written_to_and_not_replaced(cli: Cli, folder: Path) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert cli("export", str(pipe), "--form", "json").code == 0
        assert os.read(reader, 10) != b""
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_name_that_is_too_long_is_a_mistake(cli: Cli) -> None:
    answer = cli("export", "a" * 300)
    assert (answer.code, "too long" in answer.err) == (2, True)
