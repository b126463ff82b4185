"""What every command is given: where the playbook is, how to answer, and the ways to open and read what it needs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tenure.errors import UnreadableInput
from tenure.serving.cli.output import Terminal, is_terminal

if TYPE_CHECKING:
    from tenure.wiring import Tenure

OK, FAILED, MISUSED, IN_PART, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes; docs/reference/exit-codes.md explains them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for besides the command itself.

    Attributes:
        db, scope: as given; none takes the usual places.
        as_json: whether the result is for a program.
        colour: one of `output.COLOURS`.
    """

    db: str | None = None
    scope: str | None = None
    as_json: bool = False
    colour: str = "auto"

    @property
    def terminal(self) -> Terminal:
        """Where to print."""
        return Terminal(self.colour)

    def command(self, words: str) -> str:
        """A command to type next, with the database and scope of this one."""
        from tenure.project import without_password

        given = [f"--db {shlex.quote(without_password(self.db))}"] if self.db else []
        given += [f"--scope {shlex.quote(self.scope)}"] if self.scope else []
        return " ".join(["tenure", words, *given])

    @contextmanager
    def reading(self, *, tell: bool = True, names: bool = True, writes: str = "learn PATH") -> Iterator[Tenure]:
        """The playbook, to look at. A database that is not there is not made: it reads as an empty one.

        Args:
            tell: whether to say that it is not there.
            names: whether to take names out of texts if the scope asks for it; not where settings are changed and
                checked, which must work while the model for it is missing.
            writes: the command that would make it, as people would type it.
        """
        from tenure.project import database_url

        url = database_url(self.db)
        path = database_file(url)
        if path is not None and not is_there(path):
            if tell:
                self.terminal.warn(f"There is no database at {path} yet. The first command that writes makes it: {self.command(writes)}")
            url = "memory://"
        with self._opened(url, names) as book:
            yield book

    @contextmanager
    def writing(self, *, names: bool = True) -> Iterator[Tenure]:
        """The playbook, to change. The database is made if it is not there. For `names` see `reading`."""
        from tenure.project import database_url

        with self._telling_of_new(), self._opened(database_url(self.db), names) as book:
            yield book

    @contextmanager
    def learning(self, *, model: str | None, base_url: str | None) -> Iterator[Tenure]:
        """The playbook with the model that learning uses, if there is one."""
        from tenure.wiring import Tenure

        with self._telling_of_new(), Tenure.open(self.db, scope=self.scope, model=model, base_url=base_url) as book:
            yield book

    @contextmanager
    def _telling_of_new(self) -> Iterator[None]:
        """Say where a database lies that nobody named and that was made now, so that it is not looked for elsewhere."""
        from tenure.project import find_database

        place = find_database(self.db)
        path = database_file(place.url) if place.why in ("project", "user") else None
        new = path is not None and not is_there(path)
        yield
        if new and path is not None and is_there(path):
            kept = "; Git leaves it alone" if place.why == "project" and is_there(path.parent / ".gitignore") else ""
            self.terminal.say(f"Made the database {path}{kept}. Another place: --db or TENURE_DB.")

    @contextmanager
    def _opened(self, url: str, names: bool) -> Iterator[Tenure]:
        from tenure.opening import open_store, take_out_names
        from tenure.project import default_scope
        from tenure.wiring import Tenure, scoped

        # Without `Tenure.open`, which also opens the model: loading its library takes longer than the whole command.
        with Tenure(open_store(url), scoped(default_scope(self.scope))) as book:
            if names:
                take_out_names(book.settings())
            yield book


def database_file(url: str) -> Path | None:
    """The file of a SQLite address; none for other kinds and for databases in memory."""
    place = url.removeprefix("sqlite:///")
    return None if place == url or place in ("", ":memory:") else Path(place)


def is_there(path: Path) -> bool:
    """Whether there is something at a path; yes where that cannot be found out, so that opening it says why."""
    try:
        return path.exists()
    except OSError:
        return True


def person() -> str:
    """Who is at the command line, as an author of deltas."""
    import getpass

    try:
        return f"person:{getpass.getuser()}"
    except (KeyError, OSError, ImportError):  # a user without a name, as in some containers
        return "person:cli"


def existing(paths: Sequence[str]) -> list[Path]:
    """Paths that are all there.

    Raises:
        UnreadableInput: some are not; the message names them.
    """
    missing = [path for path in paths if not path or not is_there(Path(path))]
    if missing:
        named = ", ".join(f"'{path}'" for path in missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        raise UnreadableInput(
            f"Path {named} does not exist. Name one that does." if len(missing) == 1 else f"These paths do not exist: {named}."
        )
    return [Path(path) for path in paths]


def read_bytes(name: str, terminal: Terminal, *, what: str) -> bytes:
    """What a file holds, or stdin for `-`.

    Args:
        name: a path or `-`.
        terminal: to say that stdin is waited for.
        what: what is read, for messages.

    Raises:
        UnreadableInput: it is not there, or is no file.
    """
    try:
        if name != "-":
            return Path(name).read_bytes()
        if sys.stdin is None:  # closed by whoever started this
            return b""
        if is_terminal(sys.stdin):
            terminal.say(f"Reading the {what} from the terminal; end with Ctrl-D.")
        return sys.stdin.buffer.read()
    except FileNotFoundError as exc:
        raise UnreadableInput(f"File '{name}' does not exist. Name one that does, or - for stdin.") from exc
    except IsADirectoryError as exc:
        raise UnreadableInput(f"'{name}' is a folder. Name a file.") from exc
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the name
        raise UnreadableInput(f"File '{name}' cannot be read: {str(getattr(exc, 'strerror', None) or exc).lower()}.") from exc


def read_text(name: str, terminal: Terminal, *, what: str) -> str:
    """The text of a file, or of stdin for `-`. Arguments as for `read_bytes`.

    Raises:
        UnreadableInput: it is not there, no file, or no UTF-8 text.
    """
    raw = read_bytes(name, terminal, what=what)
    shown = "stdin" if name == "-" else f"File '{name}'"
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UnreadableInput(f"{shown} is UTF-16 text. Save it as UTF-8.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UnreadableInput(f"{shown} is not UTF-8 text: byte {raw[exc.start]:#04x} at place {exc.start}.") from exc
