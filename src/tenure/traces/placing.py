"""Which scope the runs of a log go to: one that was asked for, or that of the project in which the session ran."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Self

from tenure.project import default_scope, named_scope

Place = str | Callable[[str], str]
"""A scope for all runs, or what gives one for the working directory that a session recorded."""


class SessionScope(str):
    """A scope that knows which working directory it was found for.

    Two checkouts of one repository have one scope and may have two databases, so whoever chooses between databases needs the folder.

    Attributes:
        folder: as the log recorded it.
    """

    __slots__ = ("folder",)
    folder: str

    def __new__(cls, scope: str, folder: str) -> Self:
        """The scope, with its folder."""
        made = super().__new__(cls, scope)
        made.folder = folder
        return made


def scope_for(place: Place, folder: str = "") -> str:
    """The scope of a run.

    Args:
        place: where runs go.
        folder: the working directory that the log recorded; empty if it recorded none.
    """
    return place if isinstance(place, str) else place(folder)


class Projects:
    """Gives each recorded working directory the scope that Tenure has when it is called there.

    Attributes:
        folders: scope by recorded folder.
        vanished: those of them that are not there any more; their scope comes from the recorded path.
        standing: the folder on disk that gave the scope, by recorded folder: that very one, or what is left of it above.
    """

    def __init__(self) -> None:
        self.folders: dict[str, str] = {}
        self.vanished: list[str] = []
        self.standing: dict[str, Path] = {}

    def __call__(self, folder: str) -> str:
        """The scope of a folder; empty for no folder."""
        if not folder.strip():
            return ""
        if folder not in self.folders:
            self.folders[folder] = self._scope(folder)
        return SessionScope(self.folders[folder], folder)

    def _scope(self, folder: str) -> str:
        here = Path(folder)
        try:
            if here.is_absolute() and here.is_dir():
                found = default_scope(folder=here, environment={})
                self.standing[folder] = here
                return found
            if here.is_absolute():
                # A worktree or a subfolder can be gone while its project is still there.
                around = next((place for place in here.parents if place.is_dir()), None)
                found = default_scope(folder=around, environment={}) if around is not None and around != Path.home() else ""
                if around is not None and found and found != "local/default":
                    self.standing[folder] = around
                    return found
        except (
            OSError,
            RuntimeError,
        ):  # a place that may not be looked at, or an account without a home, says as little as one that is gone
            pass
        self.vanished.append(folder)
        windows = "\\" in folder and "/" not in folder
        # Windows takes small and capital letters for the same; editors write the letter of a drive either way.
        return named_scope(PureWindowsPath(folder).name, folder.lower()) if windows else named_scope(PurePosixPath(folder).name, folder)
