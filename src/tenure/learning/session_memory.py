"""What the long-term memory keeps of a session: what a person and the agent said to each other, one entry a turn.

Tool calls, thoughts and what hosts put into a conversation are left out, and so is what Tenure itself put there. Each entry is
known by its run and its place in it, so that the same session written down twice, or once more when it has grown, only adds
what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from hashlib import sha256
from zoneinfo import ZoneInfo

from tenure.errors import UserError
from tenure.learning.forgetting_memory import event_in
from tenure.learning.loop import why_unwanted
from tenure.learning.memory import Memory
from tenure.learning.mirror_keeping import ZONE
from tenure.memory_tree.entries import Entry
from tenure.memory_tree.periods import checked_moment, day_of, stamp
from tenure.playbook.run import Run
from tenure.ports import Store

TITLE = 60
"""Characters of a session's topic: the beginning of what was asked first."""

SPEAKERS = ("user", "assistant")


def remember_session(memory: Memory, store: Store, run: Run, *, at: datetime, own_words: Callable[[str], str]) -> int:
    """Write down what was said in a session so far; how many entries that added. Nodes are built by compacting.

    Args:
        memory: of the scope of the run.
        store: where it is kept.
        run: the session as its log reads now. One that was forgotten, or whose origin is revoked, leaves nothing.
        at: the present moment, for turns of which no log says when they were.
        own_words: a text without what Tenure itself put into it.
    """
    with store.reading(run.scope) as look:
        if why_unwanted(look, run):
            return 0
        zone = ZoneInfo(look.setting(ZONE) or "UTC")
    return memory.keep(list(turns_of(run, zone=zone, at=at, own_words=own_words)))


def turns_of(run: Run, *, zone: tzinfo, at: datetime, own_words: Callable[[str], str]) -> Iterator[Entry]:
    """The turns of a run as entries, in order.

    Args:
        run: a session.
        zone: in which days begin.
        at: when a turn was, where neither it nor one before it says so.
        own_words: see `remember_session`.
    """
    title = " ".join(own_words(run.task.text).split())
    topic = title if len(title) <= TITLE else f"{title[: TITLE - 1].rstrip()}…"
    moment = _moment(run.started) or at
    whose = sha256(run.id.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    for place, step in enumerate(run.steps):
        moment = _moment(step.at) or moment
        if step.kind != "message" or step.role not in SPEAKERS:
            continue
        text = own_words(step.content).strip()
        if not text:
            continue
        yield Entry(
            id=f"turn:{whose}:{place:07d}",  # turns of one moment are in the order of their ids
            at=stamp(moment),
            day=day_of(moment, zone),
            text=text,
            topic=topic,
            session=run.id,
            role=step.role,
            event=event_in(run.id, str(place)),
            origin=(step.origin or run.origin).name,
        )


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return checked_moment(found if found.tzinfo is not None else found.replace(tzinfo=UTC))
    except (ValueError, UserError):
        return None  # logs of hosts say it in many forms, or not at all, or of a year that cannot be
