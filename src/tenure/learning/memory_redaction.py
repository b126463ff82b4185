"""Redaction of what is written into a memory, and again of what is shown of it: texts, and names of all kinds.

Names are what entries are grouped and told apart by, so one that a secret was taken out of stays different from another: it has
four digits behind it that follow from what it was. There are no more of them, because a phone number or a short password can be
guessed from a longer digest by trying all there are; four fit one name in 65,536, which is too many to tell the right one. Where
two names with the same four would cost an entry, the digest of its text stands beside them: that text is kept anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from tenure.governance.redaction import redact, redact_all
from tenure.memory_tree.entries import Entry, without_half_characters
from tenure.memory_tree.nodes import Node
from tenure.memory_tree.topics import Topic

DIGITS = 4
"""Hexadecimal digits that stand for what was taken out of a name."""

_OF_A_TEXT = 12


def plain_name(name: str, clean: str | None = None, *, text: str = "") -> str:
    """A name of a session, event, role or entry without secrets; still another one than that of another secret, all but always.

    Args:
        name: as it came.
        clean: the same after redaction, where it was redacted already.
        text: of the entry that it names alone, without secrets; names of entries with different texts are then never the same.
    """
    found = redact(name).text if clean is None else clean
    if found == name:
        return name
    return f"{found}#{_digest(name)[:DIGITS]}" + (f".{_digest(text)[:_OF_A_TEXT]}" if text else "")


def _digest(said: str) -> str:
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def without_secrets(entries: Sequence[Entry]) -> list[Entry]:
    """Entries without secrets in any of their fields, in one pass for all of them."""
    entries = [_of_whole_characters(one) for one in entries]
    texts = redact_all([one.text for one in entries])
    names = sorted({name for one in entries for name in (one.id, one.session, one.role, one.event, one.topic, one.origin) if name})
    clean = dict(zip(names, redact_all(names), strict=True)) | {"": ""}

    def named(name: str, text: str = "") -> str:
        return plain_name(name, clean[name], text=text)

    def cleaned(one: Entry, text: str) -> Entry:
        if text == one.text and all(clean[name] == name for name in (one.id, one.session, one.role, one.event, one.topic, one.origin)):
            return one
        return replace(
            one,
            id=named(one.id, text),
            text=text,
            topic=clean[one.topic],
            session=named(one.session),
            role=clean[one.role],
            event=named(one.event, text),
            origin=clean[one.origin],
        )

    return [cleaned(one, text) for one, text in zip(entries, texts, strict=True)]


def shown_node(node: Node) -> Node:
    """A node as it may be shown: redacted once more, by the rules of today."""
    text = redact(node.text).text
    topics = shown_topics(node.topics)
    return node if text == node.text and topics == node.topics else replace(node, text=text, topics=topics)


def shown_topics(topics: Sequence[Topic]) -> tuple[Topic, ...]:
    """Topics as they may be shown."""
    clean = redact_all([name for one in topics for name in (one.name, *one.subs)])
    found, place = list[Topic](), 0
    for one in topics:
        own = clean[place : place + 1 + len(one.subs)]
        place += len(own)
        found.append(one if (one.name, *one.subs) == tuple(own) else replace(one, name=own[0], subs=tuple(own[1:])))
    return tuple(found)


def _of_whole_characters(entry: Entry) -> Entry:
    fields = (entry.id, entry.text, entry.topic, entry.session, entry.role, entry.event, entry.origin)
    whole = tuple(map(without_half_characters, fields))
    if whole == fields:
        return entry
    id_, text, topic, session, role, event, origin = whole
    return replace(entry, id=id_, text=text, topic=topic, session=session, role=role, event=event, origin=origin)
