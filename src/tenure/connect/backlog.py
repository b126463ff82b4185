"""Works off what hooks left: learns from each session that has ended or been quiet, and prepares what hooks show.

`python -m tenure.connect.backlog DATABASE` is started by a hook, alone and apart from it: one at a time for a database, at low
priority, silent, and it ends by itself. What it reads goes through the same readers, redaction and admission as `tenure learn`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenure.connect.hook import OFF, WITHOUT_LOG
from tenure.connect.locking import alone
from tenure.connect.spool import KEPT_DAYS, MOST_ATTEMPTS, QUIET_S, Spool, read_lines
from tenure.errors import TenureError

if TYPE_CHECKING:
    from tenure.playbook.run import Run
    from tenure.ports import Store
    from tenure.traces import ReadReport
    from tenure.wiring import Tenure

LONGEST_S = 900
"""Seconds after which no further session is begun; the next hook starts another process."""

MOST_CLEARED = 20_000
"""Lessons whose texts are looked through for secrets ahead of time, at most."""

PAUSE_S = 120
"""Seconds until a session that could not be learned from is tried again; doubled each time."""


def main() -> None:
    """Work off one database; nothing is printed."""
    os.environ[OFF] = "off"  # whatever learning starts is not watched
    with suppress(OSError):  # gone meanwhile: then there is nothing to hold on to either
        os.chdir(os.path.dirname(os.path.abspath(sys.argv[1])))  # the folder of the session may be removed while this works
    if hasattr(os, "nice"):
        with suppress(OSError):  # where the system does not let it, it works at the usual priority
            os.nice(10)
    work_off(Path(sys.argv[1]))


def work_off(database: Path, *, longest_s: float = LONGEST_S) -> int:
    """Learn from the sessions that are due; how many there were. Where another process is at it, none.

    Args:
        database: its file.
        longest_s: seconds after which no further session is begun.
    """
    spool, began, done = Spool(database), time.monotonic(), 0
    while _due(spool) and time.monotonic() - began < longest_s:
        with alone(spool.folder / "lock") as first:
            if not first:
                return done
            scopes: set[str] = set()
            for path, held in _due(spool):
                if time.monotonic() - began >= longest_s:
                    break
                if _learn_session(spool, path, held):
                    scopes.add(str(held.get("scope", "")))
                done += 1
            _remove_old(spool)
            for scope in sorted(scopes - {""}):
                _prepare(spool, scope)
        # Looked at once more after the lock is let go: a hook may have come meanwhile and found it taken.
    return done


def _due(spool: Spool) -> list[tuple[Path, dict[str, Any]]]:
    return [(path, held) for path, held in spool.sessions() if float(held.get("due", 0)) <= time.time()]


def _learn_session(spool: Spool, path: Path, held: Mapping[str, Any]) -> bool:
    """Learn from one session, or put it off; whether it was learned."""
    notes = _take_notes(path)
    try:
        said = _learn(spool.database, held, notes)
    except Exception as exc:  # noqa: BLE001  # one session that cannot be learned from must not stop the others, and nobody else is there to be told
        _put_off(spool, path, held, exc)
        return False
    _log(spool, f"{held.get('host')} session {held.get('session')}: {said}")
    if held.get("flush"):
        # Only its memory was written; it goes on, and is learned once it is quiet. A hook may have said more of it meanwhile.
        if _read(path) == held:
            kept = {name: value for name, value in held.items() if name != "flush"}
            _replace(path, {**kept, "due": float(held["at"]) + QUIET_S})
        return True
    if _read(path) == held:  # else the session went on meanwhile, and waits anew
        path.unlink(missing_ok=True)
    path.with_suffix(".taken.jsonl").unlink(missing_ok=True)
    return True


def _learn(database: Path, held: Mapping[str, Any], notes: Sequence[Mapping[str, Any]]) -> str:
    from tenure.serving.cli.output import counted
    from tenure.traces import ReadReport
    from tenure.wiring import Tenure

    with Tenure.open(f"sqlite:///{database}", scope=str(held["scope"])) as book:
        settings = book.settings()
        if not (settings.on("learn.enabled") and settings.on("hooks.learn")):
            return "learning is switched off; nothing was read"
        report, remembered = ReadReport(), 0
        if held.get("flush"):
            remembered = sum(flush(book, run) for run in _runs(held, notes, book.scope, report))
            return f"{counted(remembered, 'entry', 'entries')} written to memory before the host compacts"

        def each() -> Iterator[Run]:
            nonlocal remembered
            for run in _runs(held, notes, book.scope, report):
                yield _with_exposures(run, held, notes)
                remembered += flush(book, run)

        summary = book.learn_many(each())
        lost = f", {counted(report.count, 'place')} could not be read: {report.unreadable[0]}" if report.count else ""
        learned = f"{counted(summary.runs, 'run')}, {counted(summary.added, 'lesson')} added, {summary.merged} merged, {summary.held} held"
        return f"{learned}, {counted(remembered, 'entry', 'entries')} in memory{lost}"


def flush(book: Tenure, run: Run) -> int:
    """Write what was said in a session so far to the long-term memory, and bring its tree up to date; how many entries that added.

    What sub-agents were told is the agent's own business and is left out.
    """
    from tenure.learning.session_memory import remember_session
    from tenure.traces.echo import without_injected

    if run.task.kind == "sub-agent":
        return 0
    added = remember_session(book.memory, book.store, run, at=book.clock.now(), own_words=without_injected)
    if added:
        book.memory.compact()
    return added


def _runs(held: Mapping[str, Any], notes: Sequence[Mapping[str, Any]], scope: str, report: ReadReport) -> Iterator[Run]:
    from tenure.traces.reading import read_runs

    transcript = Path(str(held.get("transcript") or ""))
    if held.get("transcript") and transcript.is_file():
        # By content: a path that the host names can hold anything.
        yield from read_runs(transcript, scope=scope, report=report)
        # Claude Code keeps what its sub-agents did beside the session's log.
        for path in sorted((transcript.with_suffix("") / "subagents").glob("*.jsonl")):
            yield from read_runs(path, scope=scope, report=report)
        if report.runs:
            return
    if held["host"] in WITHOUT_LOG:
        run = run_of_notes(str(held["host"]), str(held["session"]), scope, notes)
        if run is not None:
            yield run


def run_of_notes(host: str, session: str, scope: str, notes: Sequence[Mapping[str, Any]]) -> Run | None:
    """A run made of what hooks told of a session; none if nobody asked anything or no tool was called.

    Args:
        host, session: whose it is.
        scope: where it goes.
        notes: lines of the spool.
    """
    from tenure.playbook.run import Origin, Run, Step, Task
    from tenure.traces.echo import without_injected

    steps: list[Step] = []
    prompts: list[str] = []
    seen: set[str] = set()
    for note in notes:
        if note.get("kind") == "prompt":
            said = without_injected(str(note.get("text", ""))).strip()
            if said:
                prompts.append(said)
                steps.append(Step(kind="message", role="user", content=said, origin=Origin(channel="host", trusted=True)))
        elif note.get("kind") == "tool" and note.get("name"):
            call = str(note.get("id") or f"call-{len(steps)}")
            if call in seen:
                continue
            seen.add(call)
            name, error = str(note["name"]), without_injected(str(note.get("error", "")))
            steps.append(
                Step(kind="tool_call", role="assistant", name=name, arguments=_arguments(str(note.get("arguments", ""))), call_id=call)
            )
            steps.append(
                Step(
                    kind="tool_result",
                    role="tool",
                    name=name,
                    content="" if error else without_injected(str(note.get("output", ""))),
                    error=error,
                    call_id=call,
                    origin=Origin(channel="tool", document=name, trusted=False),
                )
            )
    if not prompts or not seen:
        return None
    return Run(
        id=f"{host}:{session}",
        task=Task(text=prompts[0]),
        scope=scope,
        steps=tuple(steps),
        origin=Origin(channel=host),
        session=session,
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        held = json.loads(text)
    except ValueError:
        return {"text": text} if text else {}
    return held if isinstance(held, dict) else {"text": text}


def _with_exposures(run: Run, held: Mapping[str, Any], notes: Sequence[Mapping[str, Any]]) -> Run:
    """A session's run with what it was shown, and what chance left out of it."""
    from tenure.playbook.run import Draw

    if run.id != f"{held['host']}:{held['session']}":
        return run  # a sub-agent, which was shown nothing
    exposed = [note for note in notes if note.get("kind") == "shown"]
    shown = dict.fromkeys(str(one) for note in exposed for one in note.get("ids", ()))
    draws = {one["lesson"]: Draw(**one) for note in exposed for one in note.get("draws", ())}
    withheld = [one.lesson for one in draws.values() if one.withheld and one.lesson not in shown]
    return replace(
        run,
        shown=tuple(dict.fromkeys((*run.shown, *shown))),
        withheld=tuple(dict.fromkeys((*run.withheld, *withheld))),
        draws=(*run.draws, *draws.values()),
    )


# -- files of the spool ----------------------------------------------------------------------------------


def _take_notes(path: Path) -> list[dict[str, Any]]:
    """A session's notes, set apart from those that hooks go on writing."""
    fresh, new, taken = path.with_suffix(".jsonl"), path.with_suffix(".new.jsonl"), path.with_suffix(".taken.jsonl")
    if not new.exists() and fresh.exists():
        os.replace(fresh, new)
    if new.exists():
        with taken.open("ab") as stream:
            stream.write(new.read_bytes())
            stream.flush()
            os.fsync(stream.fileno())
        new.unlink()
    return read_lines(taken)


def _read(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # it went meanwhile
    return held if isinstance(held, dict) else {}


def _put_off(spool: Spool, path: Path, held: Mapping[str, Any], exc: Exception) -> None:
    tries = int(held.get("attempts", 0)) + 1
    why = str(exc) if isinstance(exc, TenureError) else "".join(traceback.format_exception(exc))
    _log(spool, f"{held.get('host')} session {held.get('session')}: attempt {tries} failed: {why}")
    if tries >= MOST_ATTEMPTS:
        os.replace(path, path.with_suffix(".failed"))
        return
    if _read(path) == held:
        _replace(path, {**held, "attempts": tries, "due": time.time() + PAUSE_S * 2**tries})


def _replace(path: Path, held: Mapping[str, Any]) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(json.dumps(held), encoding="utf-8")
    os.replace(new, path)


def _remove_old(spool: Spool) -> None:
    """Remove notes of sessions that never ended, and sessions that were set aside long ago."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for path in spool.folder.iterdir():
        if path.suffix in (".jsonl", ".failed") and path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


def _log(spool: Spool, said: str) -> None:
    """Add a line to the log, which says what was learned lately and why something was not; it begins anew when it is long."""
    from tenure.governance.redaction import redact

    log = spool.folder / "log"
    with log.open("w" if log.exists() and log.stat().st_size > 1 << 18 else "a", encoding="utf-8", errors="replace") as stream:
        stream.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {redact(said).text}\n")


# -- what hooks show -------------------------------------------------------------------------------------


def _prepare(spool: Spool, scope: str) -> None:
    """Make the core of a scope, and the list of texts in which the present rules find no secret."""
    from tenure.wiring import Tenure

    try:
        with Tenure.open(f"sqlite:///{spool.database}", scope=scope) as book:
            book.recalled("", None)
            write_cleared(spool, book.store)
    except TenureError as exc:
        _log(spool, f"scope {scope} could not be prepared: {exc}")


def write_cleared(spool: Spool, store: Store) -> None:
    """Keep digests of the lessons' texts that redaction leaves as they are: hooks need not look through them again."""
    from tenure.governance.redaction import redact
    from tenure.playbook.blocks import lesson_block
    from tenure.version import VERSION

    found: list[str] = []
    for scope in store.scopes():
        with store.reading(scope) as reading:
            for lesson in reading.lessons()[: MOST_CLEARED - len(found)]:
                block = lesson_block(lesson)
                if redact(block).text == block:
                    found.append(hashlib.sha256(block.partition("] ")[2].encode("utf-8", "surrogatepass")).hexdigest()[:24])
    spool.clear(VERSION, set(found))


if __name__ == "__main__":
    main()
