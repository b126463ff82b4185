"""Where `tenure learn` brings runs: into the database at hand, or into that of the project in which a session ran.

Hooks and commands inside a project read the database that `find_database` gives there. So its sessions go to that one, where
Tenure is in use there: a database, a `.tenure` folder, or a connected agent. All others go to the database at hand. What a log
records chooses between databases that are in use; it never has one made where nobody asked for it.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tenure.errors import StoreError, TenureError, UserError
from tenure.serving.cli.request import Request, database_file, is_there

if TYPE_CHECKING:
    from types import TracebackType

    from tenure.learning.learned import Summary
    from tenure.playbook.run import Run
    from tenure.ports import Reading
    from tenure.traces import Projects
    from tenure.wiring import Tenure

NAMED_FILES = 3
"""Files that a command to type next names one by one."""


@dataclass(frozen=True, slots=True, order=True)
class Destination:
    """Where runs go.

    Attributes:
        database: its address.
        scope: in that database.
    """

    database: str
    scope: str

    @property
    def shown(self) -> str:
        """The database as a person knows it: the path of its file, else its address."""
        from tenure.project import without_password

        path = database_file(self.database)
        return without_password(self.database) if path is None else str(path)


@dataclass(slots=True, kw_only=True)
class Arrivals:
    """What came to one destination.

    Attributes:
        version: of the scope before.
        runs: how many came, those that were learned before included.
        folders: recorded working directories.
    """

    version: int = 0
    runs: int = 0
    folders: set[str] = field(default_factory=set[str])


@dataclass(slots=True, kw_only=True)
class NotLearned:
    """Runs that were left because their project's database could not take them.

    Attributes:
        reason: why, a sentence.
        runs: how many.
        sessions: the host's ids, in the order of reading; of runs without one their own.
    """

    reason: str
    runs: int = 0
    sessions: dict[str, None] = field(default_factory=dict[str, None])


class Destinations:
    """The databases that one command learns into; close it, as a context, before the one at hand.

    Args:
        request: what was asked for.
        book: the playbook at hand; for a dry run its copy.
        sizes: bytes of each file.
        projects: gives sessions their scope; none where a database or a scope was named, which then takes everything.
        model, base_url: as for `Tenure.open`.
        dry_run: learn into copies.

    Attributes:
        at_hand: the playbook's own database and scope.
        arrivals: what came where.
        not_learned: what was left, by where it should have gone.
        done: bytes of the files that are done.
        total: of all of them; none if there is one alone.
    """

    def __init__(
        self,
        request: Request,
        book: Tenure,
        sizes: Mapping[Path, int],
        projects: Projects | None,
        *,
        model: str | None,
        base_url: str | None,
        dry_run: bool,
    ) -> None:
        from tenure.project import find_database

        self._request, self._sizes, self._projects = request, sizes, projects
        self._model, self._base_url, self._dry_run = model, base_url, dry_run
        self.at_hand = Destination(find_database(request.db).url, book.scope)
        self._books: dict[str, Tenure] = {self.at_hand.database: book}
        self._broken: dict[str, str] = {}
        self._databases: dict[str, str] = {}
        self._without: dict[str, Path] = {}
        self._asked_for = _connected_databases(request) if projects is not None else frozenset[str]()
        self._owners: dict[Path, set[Path | None]] = {}
        self._now, self.done = Path(), 0
        self.total = sum(sizes.values()) if len(sizes) > 1 else None
        self.arrivals: dict[Destination, Arrivals] = {}
        self.not_learned: dict[Destination, NotLearned] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def looking_at(self, destination: Destination) -> AbstractContextManager[Reading]:
        """A look at where something came to."""
        return self._books[destination.database].store.reading(destination.scope)

    # -- learning ----------------------------------------------------------------------------------

    def learn(self, runs: Iterable[tuple[Path, Run]], *, tell: Callable[[Summary, Run], None]) -> Summary:
        """Learn each run where it belongs; a Ctrl-C ends it after the run at hand.

        A project's database that cannot be used is noted, and what belongs to it is left. Trouble with the one at hand ends it all.

        Args:
            runs: each with its file.
            tell: called after each run that was learned.
        """
        from tenure.learning.learned import Summary

        summary = Summary()
        try:
            for file, run in runs:
                self._at(file)
                destination = self._destination(file, run)
                with self._guarded(destination, run):
                    arrived = self._arrived(destination)
                    placed = replace(run, scope=destination.scope)
                    summary = summary.plus(placed, self._books[destination.database].learner.learn_one(placed))
                    arrived.runs += 1
                    arrived.folders |= {_folder_of(run)} - {""}
                    tell(summary, placed)
        except KeyboardInterrupt:
            return replace(summary, interrupted=True)
        if summary.runs == summary.skipped:
            return summary
        return replace(summary, problems=(*summary.problems, *self._books[self.at_hand.database].vectors.problems_of_embedding())[:20])

    def count(self, run: Run) -> None:
        """Count a run of the database at hand that was learned by another way than `learn`."""
        self.arrivals.setdefault(Destination(self.at_hand.database, run.scope), Arrivals()).runs += 1

    def embed(self) -> None:
        """Make the vectors that are missing where runs came to, other than in the scope at hand."""
        for destination in [one for one in self.arrivals if one != self.at_hand]:
            with self._guarded(destination, None):
                self._books[destination.database].in_scope(destination.scope).embed()

    @contextmanager
    def _guarded(self, destination: Destination, run: Run | None) -> Iterator[None]:
        """Leave a run, and note why, if its project's database cannot take it."""
        try:
            yield
        except (TenureError, OSError) as exc:
            if destination.database == self.at_hand.database:
                raise
            if isinstance(exc, StoreError):
                self._broken.setdefault(destination.database, str(exc))
            left = self.not_learned.setdefault(destination, NotLearned(reason=str(exc)))
            if run is not None:
                left.runs += 1
                left.sessions[run.session or run.id] = None

    def _at(self, file: Path) -> None:
        if file != self._now:
            self.done += self._sizes.get(self._now, 0)
            self._now = file

    def _arrived(self, destination: Destination) -> Arrivals:
        """What came to a destination so far; its database is opened for the first."""
        from tenure.settings import read_settings

        if destination.database in self._broken:
            raise StoreError(self._broken[destination.database])
        if destination in self.arrivals:
            return self.arrivals[destination]
        if destination.database not in self._books:
            self._books[destination.database] = self._stack.enter_context(self._opened(destination))
        with self._books[destination.database].store.reading(destination.scope) as reading:
            if destination.database != self.at_hand.database and not read_settings(reading.setting).on("learn.enabled"):
                raise UserError(f"Learning is switched off there for scope '{destination.scope}' (learn.enabled).")
            version = reading.version()
        return self.arrivals.setdefault(destination, Arrivals(version=version))

    def _opened(self, destination: Destination) -> Tenure:
        """A project's playbook; for a dry run a copy. Nothing is set aside, and in a dry run nothing changed."""
        from tenure.opening import open_store
        from tenure.stores.sqlite import look_at
        from tenure.wiring import Tenure

        path = database_file(destination.database)
        there = path is not None and is_there(path)
        copy = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tenure-"))) / "copy.db" if self._dry_run else None
        if path is not None and there:
            look_at(path, copy=copy)
        if self._dry_run:
            return Tenure(open_store(f"sqlite:///{copy}"), destination.scope)
        book = Tenure.open(destination.database, scope=destination.scope, model=self._model, base_url=self._base_url)
        if not there:
            self._request.terminal.say(f"Made the database {path}: Tenure is in use in that project.")
        return book

    # -- which database ------------------------------------------------------------------------------

    def _destination(self, file: Path, run: Run) -> Destination:
        folder = _folder_of(run)
        database = self._database(folder)
        root = self._without.get(folder) or (Path(database) if database != self.at_hand.database else None)
        self._owners.setdefault(file, set()).add(root)
        return Destination(database, _scoped(run.scope) if run.scope else self.at_hand.scope)

    def _database(self, folder: str) -> str:
        """The address of the database that sessions of a recorded folder go to."""
        if folder not in self._databases:
            self._databases[folder] = self._found(folder)
        return self._databases[folder]

    def _found(self, folder: str) -> str:
        from tenure.project import find_database

        standing = self._projects.standing.get(folder) if self._projects is not None else None
        if standing is None:
            return self.at_hand.database
        try:
            place = find_database(folder=standing, environment={})
        except (UserError, OSError):  # no home folder, or a place that may not be looked at: nothing is in use there for this person
            return self.at_hand.database
        path = database_file(place.url)
        if path is None or _same(path, database_file(self.at_hand.database)):
            return self.at_hand.database
        if is_there(path) or (place.why == "project" and is_there(path.parent)) or place.url in self._asked_for:
            return place.url
        self._without[folder] = path.parent.parent if place.why == "project" else standing
        return self.at_hand.database

    # -- what to type next ---------------------------------------------------------------------------

    def commands(self, destination: Destination, *, format: str | None = None) -> list[str]:
        """Commands that bring what came to the database at hand to the projects that it is of and that have none of their own.

        The sessions once more, where the files of the project can be named; else the lessons, unless it is a dry run.
        """
        if destination.database != self.at_hand.database or destination not in self.arrivals:
            return []
        roots = {self._without[folder] for folder in self.arrivals[destination].folders if folder in self._without}
        said = [self._command(destination.scope, root, format) for root in sorted(roots)]
        return [one for one in said if one]

    def _command(self, scope: str, root: Path, format: str | None) -> str:
        there = f"cd {shlex.quote(str(root))}"
        named = self._files_of(root)
        if named:
            form = f" --format {shlex.quote(format)}" if format else ""
            return f"{there} && tenure learn{form} {' '.join(shlex.quote(str(one)) for one in named)}"
        if self._dry_run:
            return ""
        return f"tenure export --form json --scope {shlex.quote(scope)} | ({there} && tenure import -)"

    def _files_of(self, root: Path) -> Sequence[Path]:
        """Files or the one folder that hold sessions of this project, and of no other; none if that cannot be said."""
        mine = sorted(Path(os.path.abspath(file)) for file, owners in self._owners.items() if owners == {root})
        shared = any(root in owners and len(owners) > 1 for owners in self._owners.values())
        if shared or not mine or any(file.parent.name.startswith("tenure-") for file in mine):  # the latter came on stdin
            return []
        if len(mine) == 1:
            return mine
        top = Path(os.path.commonpath([file.parent for file in mine]))
        others = (Path(os.path.abspath(file)) for file, owners in self._owners.items() if owners != {root})
        if not any(file.is_relative_to(top) for file in others):
            return [top]
        return mine if len(mine) <= NAMED_FILES else []


def _folder_of(run: Run) -> str:
    from tenure.traces import SessionScope

    return run.scope.folder if isinstance(run.scope, SessionScope) else ""


def _scoped(scope: str) -> str:
    from tenure.wiring import scoped

    return scoped(str(scope))


def _same(one: Path, other: Path | None) -> bool:
    return other is not None and os.path.realpath(one) == os.path.realpath(other)


def _connected_databases(request: Request) -> frozenset[str]:
    """Addresses of the databases of projects that an agent is connected in, also where no session made one yet."""
    from tenure.connect.journal import Journal, journal_path
    from tenure.project import find_database

    try:
        roots = [one.root for one in Journal(journal_path()).all() if one.whose == "project"]
        return frozenset(find_database(folder=root, environment={}).url for root in roots if os.path.isdir(root))
    except UserError as exc:
        request.terminal.warn(f"{exc} Projects that are connected and have no database yet are taken for unconnected.")
        return frozenset()
