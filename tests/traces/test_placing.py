"""Sessions go to the scope of the project in which they ran, whether its folder is still there or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure.project import default_scope
from tenure.traces import Projects, ReadReport, read_runs

SESSION = Path(__file__).parent / "data" / "claude-code.jsonl"


def _project(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


def test_a_folder_has_the_scope_that_tenure_has_there_also_from_below(tmp_path: Path) -> None:
    shop = _project(tmp_path / "shop")
    (shop / "src").mkdir()
    projects = Projects()
    assert projects(str(shop)) == projects(str(shop / "src")) == default_scope(folder=shop, environment={})
    assert projects.vanished == []


def test_a_scope_of_the_environment_is_that_of_the_caller_not_of_each_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENURE_SCOPE", "acme/mine")
    assert Projects()(str(_project(tmp_path / "shop"))).startswith("local/shop-")


def test_two_vanished_folders_of_one_name_have_two_scopes_and_are_listed() -> None:
    projects = Projects()
    one, other = projects("/nowhere/a/shop"), projects("/nowhere/b/shop")
    assert one.startswith("local/shop-")
    assert other.startswith("local/shop-")
    assert one != other
    assert projects("/nowhere/a/shop") == one
    assert projects.vanished == ["/nowhere/a/shop", "/nowhere/b/shop"]


def test_a_folder_that_is_gone_from_a_project_that_is_there_belongs_to_it(tmp_path: Path) -> None:
    shop = _project(tmp_path / "shop")
    projects = Projects()
    assert projects(str(shop / ".worktrees" / "fix" / "src")) == projects(str(shop))
    assert projects.vanished == []


def test_paths_of_other_systems_and_none_at_all_do_not_fail() -> None:
    projects = Projects()
    assert projects(r"C:\Users\ana\Shop").startswith("local/shop-")
    assert projects(r"c:\users\ana\Shop") == projects(r"C:\Users\ana\shop")
    assert projects("relative/place").startswith("local/place-")
    assert projects("/\x00").startswith("local/")
    assert projects("") == projects("  ") == ""


def test_a_session_takes_the_folder_that_it_recorded_unless_a_scope_is_given() -> None:
    projects = Projects()
    assert {run.scope for run in read_runs(SESSION, scope=projects, report=ReadReport())} == {projects("/srv/shop")}
    assert {run.scope for run in read_runs(SESSION, scope="acme/web", report=ReadReport())} == {"acme/web"}


def test_a_codex_session_does_so_too() -> None:
    projects = Projects()
    runs = list(read_runs(SESSION.with_name("codex.jsonl"), scope=projects, report=ReadReport()))
    assert projects.folders
    assert {run.scope for run in runs} == set(projects.folders.values())
