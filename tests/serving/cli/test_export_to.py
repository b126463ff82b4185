"""`tenure export --to FILE`: lessons in a file that agents read by themselves; all else in it is left alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.serving.cli.conftest import Cli


def test_the_block_is_what_people_and_agents_read(cli: Cli, playbook: None, folder: Path, golden: Callable[[str, str], None]) -> None:
    Path("AGENTS.md").write_text("# House rules\n\n- Use tabs.\n")
    answer = cli("export", "--to", "AGENTS.md")
    golden("cli/export_to.txt", answer.steady + "\n" + Path("AGENTS.md").read_text())


def test_a_second_export_writes_nothing_and_a_new_lesson_changes_the_block_alone(cli: Cli, playbook: None, folder: Path) -> None:
    before = b"\xef\xbb\xbf# House rules\r\n\r\n- Use tabs.\xff\r\n"
    Path("CLAUDE.md").write_bytes(before)
    assert cli("export", "--to", "CLAUDE.md", "--json").json["change"] == "added"
    first, when = Path("CLAUDE.md").read_bytes(), os.stat("CLAUDE.md").st_mtime_ns
    assert first.startswith(before)
    assert b"\n" not in first.replace(b"\r\n", b"")
    assert cli("export", "--to", "CLAUDE.md", "--json").json["change"] == "unchanged"
    assert os.stat("CLAUDE.md").st_mtime_ns == when
    Path("more.md").write_text("- Say it in one line.\n")
    assert cli("import", "more.md").code == 0
    assert cli("export", "--to", "CLAUDE.md", "--json").json["change"] == "replaced"
    assert Path("CLAUDE.md").read_bytes().startswith(before)
    assert cli("export", "--to", "CLAUDE.md", "--remove", "--json").json["change"] == "removed"
    assert Path("CLAUDE.md").read_bytes() == before


def test_a_file_is_made_where_it_is_named_and_there_is_something_to_say(cli: Cli, playbook: None, folder: Path) -> None:
    assert cli("export", "--to", "AGENTS.md", "--scope", "acme/empty").code == 0
    assert not Path("AGENTS.md").exists()
    assert "which is new" in cli("export", "--to", "AGENTS.md").err
    assert Path("AGENTS.md").exists()


def test_an_edited_block_is_refused_and_the_file_kept(cli: Cli, playbook: None, folder: Path) -> None:
    cli("export", "--to", "AGENTS.md")
    edited = Path("AGENTS.md").read_text().replace("- [", "- * [", 1)
    Path("AGENTS.md").write_text(edited)
    answer = cli("export", "--to", "AGENTS.md")
    assert answer.code == 2
    assert "edited by hand" in answer.err
    assert "--force" in answer.err
    assert Path("AGENTS.md").read_text() == edited
    assert cli("export", "--to", "AGENTS.md", "--force").code == 0


def test_a_link_stays_a_link(cli: Cli, playbook: None, folder: Path) -> None:
    Path("AGENTS.md").write_text("# Rules\n")
    os.symlink("AGENTS.md", "CLAUDE.md")
    assert cli("export", "--to", "CLAUDE.md").code == 0
    assert os.path.islink("CLAUDE.md")
    assert "tenure:begin" in Path("AGENTS.md").read_text()


def test_what_does_not_go_together_is_said(cli: Cli, playbook: None, folder: Path) -> None:
    assert "Use one of the two" in cli("export", "x.txt", "--to", "AGENTS.md").err
    assert "--remove belongs to --to" in cli("export", "--remove").err
    assert "is a folder" in cli("export", "--to", ".").err
    Path("bad.md").write_text("<!-- tenure:end -->\n")
    assert "bad.md, line 1:" in cli("export", "--to", "bad.md").err
