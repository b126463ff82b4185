"""`tenure-hook HOST EVENT`: what a coding agent runs at the start of a session, at a prompt, after a failed tool, and at the end.

Reads the event as JSON on stdin, prints what the host accepts or nothing, and ends with 0 within a few seconds whatever happens:
a hook that fails would stop or disturb somebody's work. It loads the standard library and a few light modules alone; learning is
left to a process of its own (`backlog`). It never answers an event in a way that makes the agent go on.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence

TYPE_CHECKING = False  # without `typing`: see `tenure/__init__.py`
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tenure.connect.spool import Spool
    from tenure.stores.quick import QuickBook, QuickLesson

LIMIT_S: Mapping[str, float] = {"session-end": 2.5}
"""Seconds after which the hook ends, done or not, by event: below what hosts wait (Codex gives the end of a session 3 s)."""

USUAL_LIMIT_S = 8.0
"""The same for all other events."""

MOST_INPUT = 32 << 20
"""Bytes of an event that are read; what is larger is let go."""

CONTEXT_CHARACTERS: Mapping[str, int] = {"claude-code": 9_500, "codex": 9_000, "cursor": 9_500, "opencode": 16_000}
"""The longest text each host puts before the agent whole, less some room. Claude Code and Codex write longer ones to a file."""

RECALL_CHARACTERS, MOST_RECALLED = 4_000, 6
"""The longest text at a prompt, and the most lessons."""

NOTED_CHARACTERS = 2_000
"""Of a prompt, an output or an error that are kept where a host has no log to read."""

WITHOUT_LOG = ("cursor", "opencode")
"""Hosts whose sessions are learned from what their hooks tell."""

OFF = "TENURE_HOOK"
"""Environment variable; `off` makes every hook silent. The process that learns sets it, so that it never watches itself."""


class Event:
    """What a host told: its fields under the names that hosts have for them."""

    def __init__(self, host: str, kind: str, told: Mapping[str, Any]) -> None:
        self.host, self.kind, self.told = host, kind, told
        self.session = self.text("session_id", "conversation_id", "sessionID")
        roots = told.get("workspace_roots")
        first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
        self.folder = self.text("cwd") or first
        self.transcript = self.text("transcript_path")
        self.prompt = self.text("prompt")

    def text(self, *names: str) -> str:
        """The first of some fields that holds a text; empty if none does."""
        return next((value for value in map(self.told.get, names) if isinstance(value, str) and value), "")


def main() -> None:
    """The entry point of the command `tenure-hook`."""
    import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations of it, which takes time
    import _thread

    # A host that calls the hook off is told of no failure. Windows ends processes without asking them.
    _signal.signal(_signal.SIGTERM, lambda _number, _frame: os._exit(0))
    # However it comes about, a hook that hangs holds up a person.
    _thread.start_new_thread(_end_after, (LIMIT_S.get(sys.argv[2] if len(sys.argv) > 2 else "", USUAL_LIMIT_S),))
    try:
        answer = answer_to(sys.argv[1:], sys.stdin.buffer if sys.stdin is not None else None)
        if answer and sys.stdout is not None:
            sys.stdout.buffer.write(answer.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
    except BaseException as exc:  # noqa: BLE001  # the host must see 0 and nothing it does not accept, whatever went wrong
        _tell(exc)
    # At once: what is left in buffers of a closed pipe must not change the exit code.
    os._exit(0)


def _end_after(seconds: float) -> None:
    time.sleep(seconds)
    os._exit(0)


def _tell(exc: BaseException) -> None:
    """Say what went wrong to who looks for it; hosts show stderr to nobody when a hook ends with 0."""
    if os.environ.get("TENURE_DEBUG") and sys.stderr is not None:
        sys.stderr.write(f"tenure-hook: {type(exc).__name__}: {exc}\n")


def answer_to(words: Sequence[str], stdin: Any) -> str:
    """What to print for an event; empty for nothing.

    Args:
        words: host and event.
        stdin: what the host wrote, as bytes; none if it is closed.
    """
    if os.environ.get(OFF, "").lower() == "off":
        return ""
    if set(words) & {"-h", "--help"} or (not words and stdin is not None and stdin.isatty()):
        return USAGE
    if len(words) < 2 or words[0] not in CONTEXT_CHARACTERS or words[1] not in _HANDLERS:
        _note_unread(f"'{' '.join(words)[:80]}' is no host and event; tenure-hook --help lists them")
        return ""
    raw = stdin.read(MOST_INPUT + 1) if stdin is not None and not stdin.isatty() else b""
    try:
        told = json.loads(raw.decode("utf-8-sig", "replace")) if 0 < len(raw.strip()) <= MOST_INPUT else None
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        _note_unread(f"{words[0]} {words[1]}: no JSON object on stdin, but {len(raw)} bytes of something else")
        return ""
    event = Event(words[0], words[1], told)
    if not event.session:
        _note_unread(f"{words[0]} {words[1]}: the event names no session")
        return ""
    return _HANDLERS[event.kind](event, _Place(event))


def _note_unread(why: str) -> None:
    """Leave a line in the log of the project around the working directory: nobody is told of it otherwise."""
    place = _Place(Event("", "", {}))
    _try(place.spool, lambda one: one.log(f"A call of tenure-hook could not be read: {_clean(why)}"))


class _Place:
    """Where an event belongs: database, scope, and what is switched on there."""

    def __init__(self, event: Event) -> None:
        from pathlib import Path

        from tenure.project import default_scope, find_database

        folder = Path(event.folder) if event.folder and os.path.isdir(event.folder) else None
        named = default_scope(folder=folder)
        self.scope = named if "/" in named else f"local/{named}"
        url = find_database(folder=folder).url
        self.database: Path | None = Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite:///") else None
        self.book: QuickBook | None = None
        self.settings: dict[str, str] = {}
        if self.database is None:
            return
        from tenure.known import is_known
        from tenure.stores.quick import QuickBook, Unreadable

        made = None
        try:
            self.book = QuickBook(str(self.database), self.scope)
            self.settings, made = self.book.settings(), self.book.made()
        except Unreadable as exc:
            self.book = None
            _tell(exc)
        if not is_known(self.database, made):
            # It came with the project, and may be anybody's: `tenure doctor` says how to have it used.
            self.database = self.book = None
            self.settings = {}

    def on(self, name: str) -> bool:
        return self.settings.get(name, "on") == "on"

    @property
    def recalls(self) -> bool:
        return self.book is not None and self.on("hooks.recall")

    @property
    def spool(self) -> Spool | None:
        """Where to leave what is to be learned; none if nothing is."""
        if self.database is None or not (self.on("hooks.learn") and self.on("learn.enabled")):
            return None
        from tenure.connect.spool import Spool
        from tenure.errors import SettingError

        try:
            return Spool(self.database)
        except SettingError as exc:  # no home folder is known, so there is no place to leave anything
            _tell(exc)
            return None


def may_use(database: Path) -> bool:
    """Whether the process that learns may use a database (see `tenure.known`): it may be another by now."""
    from tenure.known import belongs_to_a_project, is_known
    from tenure.stores.quick import Unreadable, made_at

    made = None
    if belongs_to_a_project(database):
        try:
            made = made_at(str(database))
        except Unreadable as exc:  # not there yet, or broken: then the record of its place decides, and learning says what is wrong
            _tell(exc)
    return is_known(database, made)


# -- events ------------------------------------------------------------------------------------------


def _session_start(event: Event, place: _Place) -> str:
    spool = place.spool
    shown = _shown_before(event, spool)
    if event.text("source") in ("compact", "clear"):
        shown = set()
        _try(spool, lambda one: one.note(event.host, event.session, {"kind": "reset"}))
    _start_learning(place, spool)
    if not place.recalls or place.book is None:
        return ""
    lessons = [one for one in place.book.stable() if one.id not in shown]
    return _said(event, place, lessons, CONTEXT_CHARACTERS[event.host], headings=True)


def _prompt(event: Event, place: _Place) -> str:
    if not event.prompt.strip():
        return ""
    if event.host in WITHOUT_LOG:
        _try(place.spool, lambda one: one.note(event.host, event.session, {"kind": "prompt", "text": _clean(event.prompt)}))
    if event.host == "cursor" or not place.recalls or place.book is None:
        return ""  # Cursor's hook before a prompt can put nothing before the agent
    shown = _shown_before(event, place.spool)
    lessons = place.book.like(event.prompt, most=MOST_RECALLED, without=shown)
    return _said(event, place, lessons, RECALL_CHARACTERS, headings=False)


def _tool_failure(event: Event, place: _Place) -> str:
    if event.host in WITHOUT_LOG:
        _try(place.spool, lambda one: _note_tool(one, event, {**event.told, "error": event.text("error", "error_message") or "failed"}))
    _wait(event, place, now=False)
    return ""


def _pre_compact(event: Event, place: _Place) -> str:
    # What was said is written to the long-term memory by the process that learns (see `backlog.flush`). The session goes on.
    _try(place.spool, lambda one: one.note(event.host, event.session, {"kind": "flush"}))
    _wait(event, place, now=True, flush=True)
    _start_learning(place, place.spool)
    return ""


def _turn_end(event: Event, place: _Place) -> str:
    _note_tools(event, place)
    _wait(event, place, now=False)
    _start_learning(place, place.spool)
    return ""


def _session_end(event: Event, place: _Place) -> str:
    _note_tools(event, place)
    _wait(event, place, now=True)
    _start_learning(place, place.spool)
    return ""


_HANDLERS: Mapping[str, Callable[[Event, _Place], str]] = {
    "session-start": _session_start,
    "prompt": _prompt,
    "tool-failure": _tool_failure,
    "pre-compact": _pre_compact,
    "turn-end": _turn_end,
    "session-end": _session_end,
}


USAGE = f"""Usage: tenure-hook HOST EVENT

A coding agent runs this, with the event as JSON on stdin; `tenure connect HOST` sets it up. It prints what the host puts before
the agent, or nothing, and ends with 0 whatever happens. Set TENURE_DEBUG=1 to be told on stderr what went wrong.

HOST   {", ".join(CONTEXT_CHARACTERS)}
EVENT  {", ".join(_HANDLERS)}
"""
"""For a person who asks, or who calls it by hand without words."""


# -- what is shown -------------------------------------------------------------------------------------


def _said(event: Event, place: _Place, lessons: Sequence[QuickLesson], room: int, *, headings: bool) -> str:
    """An answer with as many lessons as there is room for, and a note that they were shown."""
    assert place.book is not None
    if not lessons:
        return ""
    from tenure.playbook.blocks import CLOSE, INTRODUCTION, OPEN, defused

    withheld: list[str] = []
    draws: list[Any] = []
    if place.settings.get("holdout.enabled") == "on" or place.settings.get("release.gradual") == "on":
        # Chance decides by the id of the run; that takes the engine, and is off unless it was asked for.
        from tenure.connect.drawing import draw

        withheld, draws = draw(place.database, place.scope, f"{event.host}:{event.session}", event.prompt, [one.id for one in lessons])
        lessons = [one for one in lessons if one.id not in withheld]
    opening = f'{OPEN} from="earlier runs">\n{INTRODUCTION}\n'
    left = room - len(opening) - len(CLOSE)
    parts: list[str] = []
    ids: list[str] = []
    section = None
    for lesson, block in zip(lessons, _redacted(place, place.book.blocks(lessons)), strict=True):
        heading = f"## {defused(lesson.section)}\n" if headings and lesson.section != section else ""
        if len(heading) + len(block) + 1 > left:
            continue
        left -= len(heading) + len(block) + 1
        parts.append(f"{heading}{block}\n")
        ids.append(lesson.id)
        section = lesson.section
    if not ids and not withheld:
        return ""
    shown = {"kind": "shown", "ids": ids, "withheld": withheld, "draws": draws}
    _try(place.spool, lambda one: one.note(event.host, event.session, shown))
    return _answer(event, f"{opening}{''.join(parts)}{CLOSE}") if ids else ""


def _answer(event: Event, text: str) -> str:
    """The text in the form that the host accepts for the event."""
    if event.host == "cursor":
        return json.dumps({"additional_context": text})
    if event.host == "opencode":
        return json.dumps({"context": text})
    named = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}[event.kind]
    return json.dumps({"hookSpecificOutput": {"hookEventName": named, "additionalContext": text}})


def _redacted(place: _Place, blocks: Sequence[str]) -> list[str]:
    """Blocks without secrets. Those that the present rules found nothing in before are known by digest, and cost nothing."""
    import hashlib

    from tenure.connect.spool import folder_of
    from tenure.errors import SettingError
    from tenure.version import VERSION

    cleared: set[str] = set()
    if place.database is not None:
        try:
            with open(folder_of(place.database) / "cleared", encoding="ascii") as stream:
                first, *rest = stream.read().split("\n")
            cleared = set(rest) if first == VERSION else set()
        except (OSError, ValueError, SettingError):
            cleared = set()  # nothing was cleared yet, or the file is none of ours
    found: list[str] = []
    fresh: list[str] = []
    for block in blocks:
        # The id a lesson is shown under may get longer; what it says counts.
        digest = hashlib.sha256(block.partition("] ")[2].encode("utf-8", "surrogatepass")).hexdigest()[:24]
        if digest in cleared:
            found.append(block)
            continue
        found.append(_clean(block))
        if found[-1] == block:
            fresh.append(digest)
    if fresh:
        _try(place.spool, lambda one: one.clear(VERSION, cleared.union(fresh)))
    return found


def _clean(text: str) -> str:
    """A text without secrets, by the own rules."""
    from tenure.governance.redaction import redact

    return redact(text).text


def _shown_before(event: Event, spool: Spool | None) -> set[str]:
    """Ids of lessons that the session was shown and still has before it."""
    shown: set[str] = set()
    try:
        notes = spool.notes(event.host, event.session) if spool is not None else []
    except OSError as exc:
        _tell(exc)
        return shown
    for entry in notes:
        if entry.get("kind") == "reset":
            shown = set()
        elif entry.get("kind") == "shown":
            shown.update(map(str, entry.get("ids", ())))
    return shown


# -- what is left for learning ---------------------------------------------------------------------------


def _note_tools(event: Event, place: _Place) -> None:
    tools = event.told.get("tools")
    for tool in tools if isinstance(tools, list) and event.host in WITHOUT_LOG else ():
        if isinstance(tool, dict):
            _try(place.spool, lambda one, tool=tool: _note_tool(one, event, tool))  # type: ignore[misc]


def _note_tool(spool: Spool, event: Event, told: Mapping[str, Any]) -> None:
    """Keep a tool call and its result, redacted and cut."""

    def cut(*names: str) -> str:
        value = next((told[name] for name in names if told.get(name)), "")
        return _clean((value if isinstance(value, str) else json.dumps(value))[: 2 * NOTED_CHARACTERS])[:NOTED_CHARACTERS]

    spool.note(
        event.host,
        event.session,
        {
            "kind": "tool",
            "id": str(told.get("id") or told.get("tool_use_id") or ""),
            "name": cut("name", "tool_name"),
            "arguments": cut("arguments", "tool_input"),
            "output": cut("output", "tool_output"),
            "error": cut("error"),
        },
    )


def _wait(event: Event, place: _Place, *, now: bool, flush: bool = False) -> None:
    told: dict[str, Any] = {"scope": place.scope, "transcript": event.transcript, "folder": event.folder}
    if flush:
        told["flush"] = True
    _try(place.spool, lambda one: one.waits(event.host, event.session, told, now=now))


def _try(spool: Spool | None, write: Callable[[Spool], None]) -> None:
    """Leave something for learning, if learning is on; a folder that cannot be written is no reason to answer nothing."""
    if spool is None:
        return
    try:
        write(spool)
    except OSError as exc:
        _tell(exc)


def _start_learning(place: _Place, spool: Spool | None) -> None:
    """Have one process work off what waits and is due. It outlives this one, and ends by itself."""
    if spool is None or place.database is None or not any(held["due"] <= time.time() for _, held in spool.sessions()):
        return
    # -P: the working directory is a project, and what lies in it is nothing to import.
    command = [sys.executable, "-P", "-m", "tenure.connect.backlog", str(place.database)]
    environment = {**os.environ, OFF: "off"}
    try:
        _start_apart(command, environment)
    except OSError as exc:
        _tell(exc)


def _start_apart(command: list[str], environment: Mapping[str, str]) -> None:
    """Start a process that no longer belongs to this one: a session of its own, no stream of ours."""
    try:
        # Without `subprocess`, whose import takes longer than all that is done here.
        streams = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        os.posix_spawn(command[0], command, environment, file_actions=streams, setsid=True)
    except (AttributeError, NotImplementedError):  # Windows has none of it, an older system no `setsid`
        import subprocess

        apart: dict[str, Any] = {"start_new_session": True} if os.name != "nt" else {"creationflags": 0x00000008 | 0x00000200 | 0x00004000}
        none = subprocess.DEVNULL
        subprocess.Popen(command, stdin=none, stdout=none, stderr=none, env=environment, close_fds=True, **apart)


if __name__ == "__main__":
    main()
