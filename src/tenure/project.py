"""Where a person's database and scope are found: by what was named, by the environment, by the project around a folder.

Light: a hook of a coding agent asks this at every prompt, and loads nothing else of the settings.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from tenure.errors import SettingError


def database_url(given: str | None = None, *, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """Where the database is (see `find_database`)."""
    return find_database(given, folder=folder, environment=environment).url


def is_postgres(url: str) -> bool:
    """Whether an address is of a PostgreSQL database."""
    return url.startswith(("postgresql:", "postgres:", "postgresql+psycopg:"))


def without_password(url: str) -> str:
    """An address as it may be shown: what stands between the first colon of a login and the last @ is left out."""
    kind, mark, rest = url.partition("://")
    login, at, place = rest.rpartition("@")
    if not mark or kind == "sqlite":
        return url
    shown = re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1...", f"{login.partition(':')[0]}{at}{place}")
    return f"{kind}{mark}{shown}"


PROJECT_FILES = ("pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "Gemfile")
"""What makes a folder a project where no Git repository encloses it."""


class Place:
    """Where a database is. A plain class: `dataclasses` takes longer to load than all of this.

    Attributes:
        url: its address.
        why: what put it there: `--db`, `TENURE_DB`, `project` or `user`.
    """

    __slots__ = ("url", "why")

    def __init__(self, *, url: str, why: str) -> None:
        self.url, self.why = url, why


def find_database(given: str | None = None, *, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Place:
    """Where the database is: what was given, else TENURE_DB, else `.tenure/tenure.db` of the project, else the user's data folder.

    The project is the nearest folder upwards with `.tenure`; else the Git repository (for a linked worktree
    the main one, so that worktrees share what they learn); else the nearest folder with one of `PROJECT_FILES`.
    A home folder is none unless it has `.tenure`: a repository of settings there encloses everything.

    Args:
        given: an address such as `sqlite:///book.db`, or a file's path.
        folder: where to look for a project; none takes the working directory.
        environment: none takes the process's.

    Raises:
        SettingError: the place named, or the working directory, cannot be made out.
    """
    environment = os.environ if environment is None else environment
    named = given or environment.get("TENURE_DB", "")
    if named:
        return Place(url=named if "://" in named else f"sqlite:///{_without_tilde(named)}", why="--db" if given else "TENURE_DB")
    root = _project(_here(folder))
    if root is not None:
        return Place(url=f"sqlite:///{root / '.tenure' / 'tenure.db'}", why="project")
    return Place(url=f"sqlite:///{user_data_folder() / 'tenure.db'}", why="user")


def user_data_folder() -> Path:
    """Where Tenure keeps what belongs to a person and to no project.

    Raises:
        SettingError: the home folder is not known.
    """
    if sys.platform.startswith("linux") and "ANDROID_DATA" not in os.environ:
        # As platformdirs has it, which takes longer to load than a hook has to spare.
        given = os.environ.get("XDG_DATA_HOME", "").strip()
        folder = Path(given or os.path.expanduser("~/.local/share")) / "tenure"
    else:
        import platformdirs

        try:
            folder = Path(platformdirs.user_data_dir("tenure", appauthor=False))
        except RuntimeError:
            folder = Path("~")
    if not folder.is_absolute():  # `~` as it stands: a folder of that name would be made here
        raise SettingError("The home folder is not known. Set HOME or XDG_DATA_HOME, or name a database: --db or TENURE_DB.")
    return folder


def _project(here: Path) -> Path | None:
    """The folder whose `.tenure` holds the database; none outside of a project."""
    around = (here, *here.parents)
    chosen = next((place for place in around if (place / ".tenure").is_dir()), None)
    if chosen is not None:
        return chosen
    home = _home()
    inside = [place for place in around if place not in (home, place.parent)]
    repository = next((place for place in inside if (place / ".git").exists()), None)
    if repository is not None:
        common = _common_git(repository)
        return common.parent if common.name == ".git" else repository
    return next((place for place in inside if any((place / name).is_file() for name in PROJECT_FILES)), None)


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):  # an account without one
        return None


def _without_tilde(path: str) -> str:
    """A path with `~` as the home folder it stands for."""
    found = os.path.expanduser(path)
    if found.startswith("~"):
        raise SettingError(f"The home folder in '{path}' is not known. Write the whole path, or ./~... for a folder of that name.")
    return found


def _here(folder: Path | None) -> Path:
    """The folder to look in."""
    try:
        return (folder or Path.cwd()).resolve()
    except OSError as exc:
        raise SettingError("The working directory is gone or cannot be read. Go to another, or name --db and --scope.") from exc


def default_scope(given: str | None = None, *, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The scope: what was given, else TENURE_SCOPE, else `local/` and the project's stable name.

    A project is a Git repository, a folder with `.tenure`, or one with a file of `PROJECT_FILES`. Its name
    comes from the repository's identity (the address it was cloned from, else where it lies), so that
    worktrees share a scope and two folders of one name do not. Outside a project it is `local/default`.
    """
    environment = os.environ if environment is None else environment
    if given or environment.get("TENURE_SCOPE"):
        return given or environment["TENURE_SCOPE"]
    here = _here(folder)
    home = _home()
    for place in (here, *here.parents):
        # A repository of settings in the home folder encloses everything, and is no project (see `find_database`).
        if place not in (home, place.parent) and (place / ".git").exists():
            return f"local/{_project_name(place)}"
        if (place / ".tenure").is_dir():
            return f"local/{_stable_name(place.name, str(place))}"
    root = _project(here)
    return f"local/{_stable_name(root.name, str(root))}" if root is not None else "local/default"


def named_scope(name: str, identity: str) -> str:
    """The scope of a project that is not at hand: a name made safe, and a short digest of what tells it from others."""
    return f"local/{_stable_name(name, identity)}"


def _project_name(root: Path) -> str:
    git = _common_git(root)
    address = _origin_address(git)
    main = git.parent
    if address:
        return _stable_name(re.split(r"[/:]", address.rstrip("/").removesuffix(".git"))[-1], address)
    return _stable_name(main.name, str(main))


def _common_git(root: Path) -> Path:
    """The folder in which Git keeps a repository; worktrees have one together."""
    git = root / ".git"
    if not git.is_file():
        return git
    # A worktree or a submodule: the file names the real folder. Any archive can hold such a file, so that folder has to name
    # this one too; else the pointer would lead into the database of another project.
    try:
        pointed = git.read_text(encoding="utf-8", errors="replace").partition("gitdir:")[2].strip()
        real = (root / pointed).resolve()
        if not pointed or not _points_back(real, root):
            return git
        common = real / "commondir"
        return (real / common.read_text(encoding="utf-8").strip()).resolve() if common.is_file() else real
    except (OSError, ValueError):  # no path (it holds a NUL), or nothing that can be read
        return git


def _points_back(git: Path, root: Path) -> bool:
    """Whether Git's folder belongs to a work tree: `gitdir` of a worktree, or `core.worktree` of a submodule, names it."""
    back = git / "gitdir"
    if back.is_file():
        return (git / back.read_text(encoding="utf-8", errors="surrogateescape").strip()).resolve() == (root / ".git").resolve()
    for line in (git / "config").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        name, _, value = line.partition("=")
        if name.strip().lower() == "worktree":
            return (git / value.strip().strip('"')).resolve() == root.resolve()
    return False


def _origin_address(git: Path) -> str:
    """The address a repository was cloned from, the same for each way to reach it: without protocol, user, password and ending.

    Empty if there is none, or the configuration cannot be read: then the folder's place is the identity.
    """
    # Read by hand: `configparser` takes long to load, and Git's form is not quite its.
    try:
        lines = (git / "config").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    found, inside = "", False
    for line in map(str.strip, lines):
        if line.startswith("["):
            head, _, rest = line.partition("]")
            section, _, name = head[1:].partition(" ")
            inside = section.strip().lower() == "remote" and name.strip() == '"origin"'
        else:
            rest = line
        name, is_set, value = rest.partition("=")
        if inside and is_set and name.strip().lower() == "url":
            found = re.split(r"\s[#;]", value)[0].strip().strip('"')
            break
    if found.startswith("."):  # beside this repository: from elsewhere the same words mean another
        return str((git.parent / found).resolve()).removesuffix(".git")
    if "://" in found:
        return re.sub(r"^[a-z+]+://([^@/]*@)?", "", found).removesuffix(".git")
    # `git@host:group/name` is `host/group/name` by another protocol.
    return re.sub(r"^([^@/]+@)?([^/:@]{2,}):/*", r"\2/", found).removesuffix(".git")


def _stable_name(name: str, identity: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "project"
    return f"{slug[:40]}-{hashlib.sha256(identity.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"
