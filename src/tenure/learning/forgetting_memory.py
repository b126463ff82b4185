"""Forgetting in the long-term memory: which entries and texts came of what is forgotten, and taking them out.

An entry goes whole: it is one thing that was said. It goes if it was written in a run or session that is forgotten, came from an
origin that is, names a subject anywhere, or repeats the words of a run or lesson that goes. Texts of layers, such as the
scratchpad, lose the lines that do so. Nodes above what went are dropped and marked; the next compacting builds them of what is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tenure.learning.memory_redaction import plain_name
from tenure.learning.quoting import Quotations
from tenure.learning.resting import names_origin
from tenure.learning.revoked_memory import REVOKED, as_text, set_aside
from tenure.memory_tree.entries import KEPT, Entry
from tenure.memory_tree.periods import touched
from tenure.playbook.lessons import Lesson
from tenure.playbook.removal import Gone
from tenure.playbook.run import Run
from tenure.ports import Reading, Writing

DERIVED = "memory."
"""How the layers of texts begin that Tenure makes of entries, named by a period or a topic; no person writes them."""

BUILT = "memory.built"
"""The layer that says when the tree was built; it holds nothing of anybody's."""

EVENT_OF = "#"
"""Between the id of a run and the rest of an event that came from it (see `event_in`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What of a memory goes.

    Attributes:
        entries: ids of entries.
        days: on which these were filed, and others of which something is derived together with them.
        topics: what these were filed under, in small letters.
        texts: what is left of texts that lose lines, by layer and name; empty if nothing is.
    """

    entries: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])


def event_in(run: str, rest: str) -> str:
    """The event id of an entry that was made of a part of a run, so that it is known where it came from."""
    return f"{run}{EVENT_OF}{rest}"


def came_from(entry: Entry, runs: Collection[str]) -> str:
    """Which of some runs or sessions an entry was written in, by its session or event; empty if in none."""
    whose = (entry.session, entry.event, entry.event.rpartition(EVENT_OF)[0])
    return next((one for one in whose if one and one in runs), "")


def sessions_with(reading: Reading, runs: Iterable[str]) -> frozenset[str]:
    """Which of some runs have left entries in the memory."""
    wanted = {plain_name(run): run for run in runs}
    aside = (one for name in reading.memory_files(REVOKED) for one in set_aside(reading, name))
    return (
        frozenset(wanted[found] for entry in (*reading.entries(), *aside) if (found := came_from(entry, wanted))) if wanted else frozenset()
    )


def origins_in(reading: Reading) -> frozenset[str]:
    """Names of the origins of entries."""
    return frozenset((*(entry.origin for entry in reading.entries() if entry.origin), *reading.memory_files(REVOKED)))


def plan_memory(reading: Reading, gone: Gone, lessons: Sequence[Lesson] = ()) -> Remembered:
    """What of the memory goes with runs, subjects, origins and lessons that go. Cost follows all that is kept in it.

    Args:
        reading: before anything was taken out.
        gone: runs, subjects and origins.
        lessons: that go, as they read.
    """
    every = reading.entries()
    files = {key: text for key, text in reading.memory_texts().items() if key[0] not in (BUILT, REVOKED)}
    aside = {name: set_aside(reading, name) for name in reading.memory_files(REVOKED)}
    if not every and not files and not aside:
        return Remembered()
    going = [run for one in sorted(gone.runs) if (run := reading.run(one)) is not None]
    sessions = [run.session for run in going if run.session and not _others_in(reading, run, gone.runs)]
    names = frozenset(map(plain_name, (*gone.runs, *sessions)))
    quoted = Quotations([*_texts_of_runs(going), *(text for one in lessons for text in (one.text, one.applies_when, one.avoid))])
    since = min((run.started or run.ended for run in going), default="") if all(run.started or run.ended for run in going) else ""
    kept = frozenset(reading.run_ids()).difference(gone.runs) if quoted else frozenset[str]()

    def goes(entry: Entry) -> bool:
        if came_from(entry, names) or entry.origin in gone.origins:
            return True
        if gone.subjects and gone.names("\n".join((entry.text, entry.topic, entry.session, entry.role, entry.event, entry.origin))):
            return True
        # What others said in runs that stay is theirs, and what was said before it cannot repeat it.
        return bool(quoted) and entry.at[:10] >= since[:10] and not came_from(entry, kept) and quoted.stand_in(entry.text)

    entries = [entry for entry in every if goes(entry)]
    revoked = {name: [one for one in own if goes(one)] for name, own in aside.items()}
    topics = {_filed_under(one) for one in entries}
    days = {one.day for one in entries} | {one.day for one in every if one.type in KEPT and _filed_under(one) in topics}
    texts = {key: left for key, text in files.items() if (left := _less(key, text, gone, quoted)) != text}
    for name, going_there in revoked.items():
        if going_there:
            texts[(REVOKED, name)] = as_text([one for one in aside[name] if one not in going_there])
    out = (*entries, *(one for some in revoked.values() for one in some))
    return Remembered(entries=tuple(one.id for one in out), days=tuple(sorted(days)), topics=tuple(sorted(topics)), texts=texts)


def take_out(work: Writing, found: Remembered) -> None:
    """Take it out. Nodes that rest on it are dropped, and built of what is left when the memory is compacted."""
    work.drop_entries(found.entries)
    for (layer, name), text in found.texts.items():
        work.put_memory_file(layer, name, text)
    drop_derived(work, found.days, found.topics)


def drop_derived(work: Writing, days: Sequence[str], topics: Collection[str] = ()) -> None:
    """Drop what was made of some days and topics, models' summaries too: it is made anew of what is left."""
    above = touched(days)
    named = {*(period.key for period in above), *topics}
    for layer, name in work.memory_texts():
        if layer.startswith(DERIVED) and layer not in (BUILT, REVOKED) and name in named:
            work.put_memory_file(layer, name, "")
    for period in above:
        work.drop_node(period)
    work.mark_stale(above)


def of_origins(reading: Reading, asked: Collection[str]) -> frozenset[str]:
    """Names of origins of entries that lie at or below those that are asked for."""
    return frozenset(name for name in origins_in(reading) if any(names_origin(name, one) for one in asked))


def _filed_under(entry: Entry) -> str:
    return (entry.topic or entry.type).casefold()


def _others_in(reading: Reading, run: Run, going: Collection[str]) -> bool:
    """Whether a run is one of several kept ones of a session that is named for another: what was written in it is not this run's."""
    if run.id.endswith(f":{run.session}"):
        return False
    others = (reading.run(one) for one in reading.run_ids() if one not in going)
    return any(other is not None and other.session == run.session for other in others)


def _less(key: tuple[str, str], text: str, gone: Gone, quoted: Quotations) -> str:
    """A text without the lines that name a subject or quote what goes; nothing of it if its name does."""
    if gone.names(key[1]):
        return ""
    lines = text.splitlines(keepends=True)
    out = quoted.lines_in(text) if quoted else frozenset[int]()
    left = "".join(line for number, line in enumerate(lines) if number not in out and not gone.names(line))
    # A name over two lines is in neither of them.
    return gone.clean(left) if left.strip() else ""


def _texts_of_runs(runs: Iterable[Run]) -> Iterator[str]:
    for run in runs:
        yield from (run.task.text, run.outcome.feedback, run.outcome.expected)
        for step in run.steps:
            yield from (step.content, step.error)
            yield from _texts_in(step.arguments)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for held in value.values():
            yield from _texts_in(held)
    elif isinstance(value, list | tuple):
        for held in value:
            yield from _texts_in(held)
