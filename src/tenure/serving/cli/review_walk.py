"""Walking through what waits, one change at a time, with single keys; and a person's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tenure.errors import UserError
from tenure.serving.cli.output import Terminal, counted, is_terminal, visible
from tenure.serving.cli.request import OK, Request, person
from tenure.serving.cli.review_screens import show_change

if TYPE_CHECKING:
    from tenure.learning.review import Ruling
    from tenure.ports import HeldChange

KEYS = "[a]pprove  [e]dit  [r]eject  [s]kip  [b]ack  [q]uit"
_MARK = "------ below this line nothing is read ------"
_WHEN = "Applies when:"


def walk(request: Request) -> int:
    """Show each change that waits and take a key for it; at the end, carry out what was decided as one delta."""
    from tenure.learning.review import Ruling, held_changes

    terminal = request.terminal
    with request.reading() as book, book.store.reading(book.scope) as reading:
        waiting = held_changes(reading)
        scope = book.scope
    if not waiting:
        terminal.say(f"Nothing waits for a review in scope {scope}.")
        return OK
    terminal.say(f"{counted(len(waiting), 'change')} to look at in scope {scope}. Nothing is written until the end.")
    rulings: dict[str, Ruling] = {}
    place = 0
    while 0 <= place < len(waiting):
        change = waiting[place]
        with request.reading() as book, book.store.reading(book.scope) as reading:
            terminal.say()
            terminal.heading(f"{place + 1:,} of {len(waiting):,}" + (f"  ({rulings[change.id].state})" if change.id in rulings else ""))
            show_change(terminal, reading, change)
        key = _key(terminal)
        if key == "q":
            break
        place = max(0, place - 1) if key == "b" else place + 1
        if key == "s":
            rulings.pop(change.id, None)
        elif key == "a":
            rulings[change.id] = Ruling(change=change, state="approved")
        elif key == "r":
            rulings[change.id] = Ruling(change=change, state="rejected", note=_line(terminal, "Why (Enter for no note): "))
        elif key == "e":
            ruling = _edited(terminal, change)
            if ruling is None:
                place -= 1  # asked again
            else:
                rulings[change.id] = ruling
    return _carry_out(request, list(rulings.values()), scope)


def _carry_out(request: Request, rulings: list[Ruling], scope: str) -> int:
    from tenure.learning.review import decide, held_changes
    from tenure.serving.cli.review import show_done, what_will_happen

    terminal = request.terminal
    if not rulings:
        terminal.say("Nothing was decided.")
        return OK
    terminal.say()
    if not _agreed(terminal, f"{what_will_happen(rulings)} [Y/n] "):
        terminal.say("Nothing was changed.")
        return OK
    with request.writing() as book, book.store.writing(book.scope) as work:
        open_now = {change.id for change in held_changes(work)}
        rulings = [one for one in rulings if one.change.id in open_now]
        done = decide(work, rulings, ids=book.ids, at=book.clock.now(), author=person())
    show_done(request, rulings, done, scope)
    return OK


def _agreed(terminal: Terminal, question: str) -> bool:
    """Whether the person agrees. A slip of the finger is asked again, so that it loses no walk; the end of input is a no."""
    terminal.ask(question)
    while line := sys.stdin.readline():
        answer = line.strip().lower()
        if answer in ("", "y", "yes"):
            return True
        if answer in ("n", "no", "q"):
            return False
        terminal.ask("Answer y or n [Y/n] ")
    return False


def _key(terminal: Terminal) -> str:
    """One of the keys; q at the end of input."""
    import typer

    terminal.ask(f"\n{KEYS}: ")
    while True:
        try:
            key = typer.getchar().lower()
        except (EOFError, KeyboardInterrupt):
            key = "q"
        if key in ("\x04", "\x1b", ""):
            key = "q"
        if key in ("\r", "\n", " "):
            key = "s"
        if key in tuple("aersbq"):
            terminal.say(key)
            return key


def _line(terminal: Terminal, question: str) -> str:
    terminal.ask(question)
    return sys.stdin.readline().strip()


def _edited(terminal: Terminal, change: HeldChange) -> Ruling | None:
    from tenure.learning.review import Ruling

    try:
        found = edited(change)
    except UserError as exc:
        terminal.warn(str(exc))
        return None
    if found is None:
        terminal.say("Nothing was changed in the editor.")
        return None
    return Ruling(change=change, state="edited", text=found[0], applies_when=found[1])


def edited(change: HeldChange) -> tuple[str, str] | None:
    """What a person makes of a change in their editor, as text and conditions; none if they left it as it was or emptied it.

    Hidden characters stand there as their escapes, so that nobody approves what they do not see.

    Raises:
        UserError: it has no text, nobody is there, or the editor cannot be run.
    """
    text = getattr(change.operation, "text", None)
    when = getattr(change.operation, "applies_when", None) or ""
    if text is None and not when:
        raise UserError(f"Change '{change.id}' has no text to edit. Approve it, or reject it.")
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise UserError('There is no terminal for an editor. Give the text: tenure review edit ID --text "..."')
    before = f"{visible(text or '')}\n\n{_WHEN} {visible(when)}\n"
    told = (
        f"{_MARK}\nSave and close to approve it in these words. Leave it as it is, or empty it, to change nothing.\n"
        f"It waits because: {visible(change.reason)}\n"
    )
    after = _in_editor(before + told).partition(_MARK)[0]
    if not after.strip() or after.strip() == before.strip():
        return None
    said, found, conditions = after.rpartition(_WHEN)
    return (said.strip(), " ".join(conditions.split())) if found else (after.strip(), "")


def _in_editor(text: str) -> str:
    """A text as a person leaves it in their editor."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    with tempfile.TemporaryDirectory(prefix="tenure-") as folder:
        path = Path(folder) / "lesson.txt"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
        try:
            code = subprocess.run([*shlex.split(command), str(path)], check=False).returncode  # the person's own editor
        except (OSError, ValueError) as exc:
            raise UserError(f"The editor '{command}' cannot be run: {exc}. Set EDITOR, or use --text.") from exc
        if code:
            raise UserError(f"The editor '{command}' ended with {code}. Nothing was changed.")
        return path.read_text(encoding="utf-8", errors="replace")
