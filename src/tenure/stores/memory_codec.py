"""Entries and nodes as JSON, the same in every database."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from tenure.memory_tree.entries import Entry
from tenure.memory_tree.exclusions import LeftOut
from tenure.memory_tree.keywords import Keyword
from tenure.memory_tree.nodes import Line, Node
from tenure.memory_tree.periods import Period
from tenure.memory_tree.topics import Topic


def entry_body(entry: Entry) -> str:
    """An entry as JSON."""
    return json.dumps(asdict(entry), ensure_ascii=False, separators=(",", ":"))


def entry_of(body: str) -> Entry:
    """The entry that a JSON text holds."""
    return Entry(**json.loads(body))


def node_body(node: Node) -> str:
    """A node as JSON."""
    said: dict[str, Any] = {
        "state": node.state,
        "form": node.form,
        "text": node.text,
        "lines": [[line.where, line.entries, [[one.word, one.weight] for one in line.words]] for line in node.lines],
        "topics": [asdict(topic) for topic in node.topics],
        "entries": node.entries,
        "raw_lines": node.raw_lines,
        "digest": node.digest,
        "by": node.by,
        "head": node.head,
        "left_out": asdict(node.left_out),
        "closed": node.closed,
    }
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def node_of(period: Period, body: str) -> Node:
    """The node of a period that a JSON text holds."""
    said = json.loads(body)
    lines = tuple(
        Line(where, tuple(Keyword(word, weight) for word, weight in words), entries) for where, entries, words in said.pop("lines")
    )
    topics = tuple(map(_topic, said.pop("topics")))
    left_out, closed = LeftOut(**said.pop("left_out", {})), tuple(said.pop("closed", ()))
    return Node(period=period, lines=lines, topics=topics, left_out=left_out, closed=closed, **said)


def topics_of(topics: str) -> list[Topic]:
    """The topics of a node, from that part of its JSON text."""
    return [_topic(one) for one in json.loads(topics)]


def _topic(one: dict[str, Any]) -> Topic:
    return Topic(**{**one, "subs": tuple(one["subs"]), "days": tuple(one["days"])})
