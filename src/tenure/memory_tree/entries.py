"""Raw entries, and the rules of their types. Who writes sets the type, or a rule that is given; never who speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from tenure.errors import UserError

EntryType = Literal["user", "feedback", "project", "reference", "log"]

ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)
"""`user` (about the person) and `feedback` are never compressed away; `project` is when it is done; `reference` is shown as unverified,
with its age; `log` is all else, such as imported turns."""

KEPT: frozenset[EntryType] = frozenset(("user", "feedback"))
"""Types whose entries stay word for word."""

LONGEST_TOPIC = 80
"""Characters of a topic's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that was written down. It is permanent.

    Attributes:
        id: names it in its scope; entries of one moment are in the order of their ids.
        at: moment in UTC, ISO 8601 to the microsecond, so that texts sort as times.
        day: ISO date in the zone of the scope, as filed.
        text: verbatim, secrets redacted.
        type: one of `ENTRY_TYPES`.
        topic: what it is about, set by the writer; may be empty.
        session: groups entries, such as the turns of one conversation; may be empty.
        role: who speaks in it: `user`, `assistant` or another word; empty for notes. It never decides the type.
        done: of a project: whether its topic is finished with this entry.
        event: id of the host's event that it came from; an event counts once.
        origin: name of the origin of the text, such as `local/claude-code`; empty where who keeps the memory wrote it.
    """

    id: str
    at: str
    day: str
    text: str
    type: EntryType = "log"
    topic: str = ""
    session: str = ""
    role: str = ""
    done: bool = False
    event: str = ""
    origin: str = ""

    @property
    def order(self) -> tuple[str, str]:
        """What entries are sorted by: moment, then id."""
        return self.at, self.id


def checked_type(name: str) -> EntryType:
    """A type by its name.

    Raises:
        UserError: there is none of that name.
    """
    for known in ENTRY_TYPES:
        if name == known:
            return known
    raise UserError(f"'{name}' is no type of entry. There are {', '.join(ENTRY_TYPES)}.")


def checked_topic(name: str) -> str:
    """A topic's name on one line.

    Raises:
        UserError: it is longer than `LONGEST_TOPIC`.
    """
    topic = " ".join(name.split())
    if len(topic) > LONGEST_TOPIC:
        raise UserError(f"The topic '{topic[:30]}…' has {len(topic)} characters. A topic is a short name of {LONGEST_TOPIC} at most.")
    return topic


def one_line(text: str, longest: int = LONGEST_TOPIC) -> str:
    """A name on one line, cut to so many characters: what came from elsewhere never becomes structure."""
    name = " ".join(text.split())
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def topic_name(entry: Entry) -> str:
    """What an entry is filed under: its topic, or its type where it has none; empty for a mere log."""
    return entry.topic or ("" if entry.type == "log" else entry.type)


def without_half_characters(text: str) -> str:
    """A text with lone surrogates, which no file and no database can hold, as U+FFFD; the very same one if it has none."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def done_projects(entries: Sequence[Entry]) -> frozenset[str]:
    """Projects, in small letters, of which the last entry says that they are done."""
    last: dict[str, Entry] = {}
    for entry in sorted((one for one in entries if one.type == "project"), key=lambda one: one.order):
        last[topic_name(entry).casefold()] = entry
    return frozenset(name for name, entry in last.items() if entry.done)
