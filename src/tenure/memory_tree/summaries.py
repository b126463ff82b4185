"""A model's words in a node, beside what a node always has: what is kept word for word, topics, and the names of what lies below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from tenure.memory_tree.caps import Caps
from tenure.memory_tree.nodes import DAY_WORDS, SESSION_WORDS, Node, indented, named_lines, with_lines
from tenure.ranking import estimate_tokens

HEADING = "## Summary"

WORDS_SHARE, LINES_SHARE = 2, 4
"""The model's words take one part in so many of a node's cap at most, and leave one part in so many to the lines of keywords."""

_MARKS = re.compile(r"^(?:[-*#>]+\s*)+")


def summary_key(asked: str, prompt_version: str) -> str:
    """What a model's summary is kept under: the same input under the same prompt is never summarised again."""
    held = sha256()
    for part in (prompt_version, asked):
        raw = part.encode("utf-8", "surrogatepass")
        held.update(f"{len(raw)}:".encode() + raw)
    return held.hexdigest()


def room_for_words(node: Node, caps: Caps) -> int:
    """Tokens that a model's words may take in a node; below 20 there is no use in asking."""
    head = estimate_tokens(node.head or node.text.split("\n", 1)[0])
    return min(caps.node_tokens // WORDS_SHARE, caps.node_tokens - head - caps.node_tokens // LINES_SHARE) - 8


def with_summary(node: Node, said: Sequence[str], *, by: str, caps: Caps | None = None) -> Node:
    """A node with a model's words, cut between lines to their share of the cap.

    Args:
        node: an extractive summary; a copy stays as it is.
        said: lines of the model.
        by: model and version of the prompt.
        caps: of the tree.
    """
    caps = caps or Caps()
    kept, left = list[str](), room_for_words(node, caps)
    for line in filter(None, map(str.strip, said)):
        # Without the marks with which lines of the node's own begin, so that none of the model's can be taken for one of those.
        shown = f"* {indented(_MARKS.sub('', line))}"
        cost = estimate_tokens(f"{shown}\n")
        if cost > left:
            break
        left -= cost
        kept.append(shown)
    if node.form == "verbatim" or not kept:
        return node
    head = "\n".join([node.head or node.text.split("\n", 1)[0], HEADING, *kept])
    most = SESSION_WORDS if node.period.kind == "day" else DAY_WORDS
    return replace(node, text=with_lines(head, named_lines(node.period, node.lines), caps.node_tokens, most=most), by=by)
