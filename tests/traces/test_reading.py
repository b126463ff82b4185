"""Files and trees are read whole, and what could not be read is named."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tenure.errors import UnreadableInput
from tenure.traces import ReadReport, read_runs, walk
from tenure.traces.report import DETAILS_KEPT

DATA = Path(__file__).resolve().parent / "data"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "logs"
    (top / "b").mkdir(parents=True)
    (top / ".claude" / "projects").mkdir(parents=True)
    (top / ".git").mkdir()
    shutil.copy(DATA / "tau-bench.json", top / "b" / "results.txt")
    shutil.copy(DATA / "codex.jsonl", top / "a.jsonl")
    shutil.copy(DATA / "claude-code.jsonl", top / ".claude" / "projects" / "s.jsonl")
    shutil.copy(DATA / "codex.jsonl", top / ".git" / "hidden.jsonl")
    (top / "README.md").write_text("# Logs\n")
    (top / "empty.jsonl").touch()
    (top / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    return top


def names(report: ReadReport, top: Path) -> list[tuple[str, str]]:
    return [(os.path.relpath(place.path, top), place.reason) for place in report.unreadable]


def test_a_tree_is_read_in_order_of_names_and_the_rest_is_named(tree: Path) -> None:
    report = ReadReport()
    found = [(path.relative_to(tree).as_posix(), run.id.split(":")[0]) for path, run in walk([tree], report=report)]
    assert found == [(".claude/projects/s.jsonl", "claude-code")] * 2 + [("a.jsonl", "codex")] + [("b/results.txt", "tau")] * 3
    none = "is in none of the formats tenure, tau-bench, codex, claude-code, otlp, openai-chat"
    assert names(report, tree) == [("README.md", none), ("empty.jsonl", "the file is empty"), ("picture.png", none)]
    assert (report.files, report.runs, report.count) == (3, 6, 3)


def test_loops_and_second_ways_to_a_file_are_seen(tree: Path) -> None:
    (tree / "b" / "up").symlink_to(tree, target_is_directory=True)
    (tree / "again.jsonl").symlink_to(tree / "a.jsonl")
    report = ReadReport()
    assert len(list(walk([tree, tree / "a.jsonl", tree / "b"], report=report))) == 6
    assert report.count == 3


def test_what_is_not_there_or_cannot_be_read_is_named(tree: Path) -> None:
    (tree / "b" / "gone.jsonl").symlink_to(tree / "nowhere")
    os.mkfifo(tree / "b" / "pipe")
    report = ReadReport()
    assert len(list(walk([tree / "missing", tree / "b"], report=report))) == 3
    assert names(report, tree) == [
        ("missing", "no such file or directory"),
        ("b/gone.jsonl", "no such file or directory"),
        ("b/pipe", "is not a regular file"),
    ]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_named(tree: Path) -> None:
    (tree / "a.jsonl").chmod(0)
    report = ReadReport()
    assert list(read_runs(tree / "a.jsonl", report=report)) == []
    assert names(report, tree) == [("a.jsonl", "permission denied")]


def test_a_directory_is_no_file(tree: Path) -> None:
    report = ReadReport()
    assert list(read_runs(tree, report=report)) == []
    assert report.unreadable[0].reason == "is a directory"


def test_names_that_are_no_text_are_read_and_can_be_printed(tmp_path: Path) -> None:
    path = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.jsonl"))
    try:
        path.write_bytes(b"{broken\n" + (DATA / "codex.jsonl").read_bytes())
    except OSError:
        pytest.skip("this file system takes only names that are text")
    report = ReadReport()
    assert len(list(walk([tmp_path], report=report))) == 1
    report.summary().encode()


@pytest.mark.parametrize("read", [read_runs, lambda path, **options: walk([path], **options)])
def test_an_unknown_format_is_the_callers_mistake(read: object, tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"'tau' is not known\. Use one of: tenure, tau-bench"):
        read(tmp_path, format="tau", report=ReadReport())  # type: ignore[operator]


def test_a_format_that_is_named_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('{"messages": []}\n{"steps": [], "task": "t"}\n')
    report = ReadReport()
    assert [run.task.text for run in read_runs(path, format="tenure", report=report)] == ["t"]
    assert report.count == 1


def test_the_scope_is_put_on_every_run(tree: Path) -> None:
    assert {run.scope for _, run in walk([tree], scope="acme/finance", report=ReadReport())} == {"acme/finance"}


def test_only_the_first_losses_are_kept_in_detail_and_all_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("{broken\n" * 500 + '{"task": "t", "steps": []}\n')
    report = ReadReport()
    assert len(list(read_runs(path, format="tenure", report=report))) == 1
    assert report.count == 500
    assert len(report.unreadable) == DETAILS_KEPT
    assert "and 490 more" in report.summary()


def test_a_hostile_log_cannot_fill_the_report(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f'{{"type": "kind-{n}-{"x" * 500}", "uuid": "u{n}"}}\n' for n in range(2_000)))
    report = ReadReport()
    list(read_runs(path, report=report))
    assert sum(report.unknown_kinds.values()) == 2_000
    assert len(report.unknown_kinds) <= 201
    assert max(map(len, report.unknown_kinds)) <= 80


def test_a_summary_reads_as_a_sentence() -> None:
    report = ReadReport(files=1, runs=1)
    assert report.summary() == "Read 1 run from 1 file."
    report.lost(Path("a.jsonl"), "not valid JSON", number=3, unit="line")
    report.repaired("image left out", 2)
    report.unknown("codex", "flux")
    assert report.summary() == (
        "Read 1 run from 1 file.\nCould not read 1 place:\n  a.jsonl, line 3: not valid JSON\n"
        "Mended or left out: image left out (2).\nUnknown record kinds: codex:flux (1)."
    )
