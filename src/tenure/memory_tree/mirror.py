"""The memory as Markdown files that agents and people read with file tools: what stands in each of them.

Text never becomes structure: each line of an entry stands behind `> `, and what the entry is beside its text stands as
JSON in a comment on its heading. So any text comes back byte for byte, also through an editor that changes line ends.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from hashlib import sha256

from tenure.memory_tree.entries import Entry
from tenure.memory_tree.frontmatter import Value, write_frontmatter
from tenure.memory_tree.nodes import Node
from tenure.memory_tree.periods import Kind
from tenure.ranking import estimate_tokens

FOLDERS: Mapping[Kind, str] = {"day": "daily", "week": "weekly", "month": "monthly"}
"""Folders of the nodes."""

LAYER_FILES: Mapping[str, str] = {"scratchpad": "SCRATCHPAD.md", "working": "WORKING.md", "queue": "TASK-QUEUE.md"}
"""Files of the texts that are always loaded. They hold the text and nothing else."""

NAMED_FOLDERS: Mapping[str, str] = {"knowledge": "knowledge", "plan": "plans"}
"""Folders of named texts."""

ROOT_FILE = "ROOT.md"

KEPT_MARK = "<!-- tenure: kept word for word from the raw log; written anew by each export -->"
"""Below this line a file of knowledge quotes entries. What stands above it is its own text."""

KEYWORDS, TOPICS = 24, 40
"""Keywords and topics in the frontmatter of a node, at most."""

_DEFAULTS = {one.name: one.default for one in fields(Entry) if one.default is not MISSING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """An entry as a file quotes it.

    Attributes:
        entry: it, with the text that stands in the file.
        intact: whether that is the text that was written there.
    """

    entry: Entry
    intact: bool


def day_file(day: str, entries: Sequence[Entry]) -> str:
    """The raw log of a day: a heading for each entry, and below it the text, line by line behind `> `.

    Args:
        day: ISO date.
        entries: all of that day, in any order.
    """
    ordered = sorted(entries, key=lambda one: one.order)
    head = write_frontmatter({"type": "raw", "period": day, "times": "UTC", "entries": len(ordered)})
    return "\n".join([f"{head}# {day}", *map(_entry_block, ordered), ""])


def node_file(node: Node) -> str:
    """A node below frontmatter that says what it is without being read whole."""
    period = node.period
    given = sorted((one for one in node.topics if one.given), key=lambda one: (-len(one.days), one.name))
    values: dict[str, Value] = {"type": FOLDERS[period.kind], "status": node.state, "period": period.key}
    if period.kind == "day":
        values |= {"source": f"../{period.key}.md", "sessions": len(node.lines)}
    else:
        first, last = period.bounds
        values |= {"first": first.isoformat(), "last": last.isoformat(), "days": [line.where for line in node.lines]}
    values |= {
        "entries": node.entries,
        "lines": node.raw_lines,
        "form": node.form,
        "by": node.by,
        "topics": [one.name for one in given][:TOPICS],
        "keywords": _spread(node)[:KEYWORDS],
        "digest": node.digest,
    }
    return f"{write_frontmatter(values)}{node.text}\n"


def root_file(root: str, *, zone: str, entries: int, months: Sequence[str]) -> str:
    """The root below frontmatter."""
    values: dict[str, Value] = {
        "type": "root",
        "status": "tentative",
        "zone": zone,
        "entries": entries,
        "months": list(months),
        "tokens": estimate_tokens(root),
    }
    return f"{write_frontmatter(values)}{root}\n"


def named_file(layer: str, name: str, text: str, kept: Sequence[Entry] = ()) -> str:
    """A text of knowledge or a plan, with the entries that stay word for word in its topic.

    Args:
        layer: `knowledge` or `plan`.
        name: of the text.
        text: comes back byte for byte, unless it has line ends other than `\\n`.
        kept: entries of its topic of the types `user` and `feedback`.
    """
    head = write_frontmatter({"type": layer, "name": name, "kept": len(kept)})
    if not kept and KEPT_MARK not in text:
        return f"{head}{text}"
    quoted = (f"- {one.day}: " + one.text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\n  ") for one in kept)
    return "\n".join([f"{head}{text}", KEPT_MARK, *quoted, ""])


def split_kept(body: str) -> tuple[str, tuple[str, ...]]:
    """The own text of a file of knowledge, and the lines below its mark."""
    text, mark, below = body.rpartition(f"\n{KEPT_MARK}\n")
    return (text, tuple(filter(str.strip, below.split("\n")))) if mark else (body, ())


def escaped(text: str) -> str:
    """A text without characters that end lines elsewhere or cannot be seen: `\\` and those stand as escapes."""
    return "".join(_escape(c) if c == "\\" or _hidden(c) else c for c in text)


def unescaped(text: str) -> str:
    """What `escaped` was given. A `\\` that begins no escape stays."""
    parts, place = list[str](), 0
    while (found := text.find("\\", place)) >= 0:
        parts.append(text[place:found])
        mark = text[found + 1 : found + 2]
        number = text[found + 2 : found + 6]
        if mark == "u" and len(number) == 4 and all(c in "0123456789abcdef" for c in number):
            parts.append(chr(int(number, 16)))
            place = found + 6
        else:
            parts.append("\\")
            place = found + (2 if mark == "\\" else 1)
    return "".join([*parts, text[place:]])


def text_digest(text: str) -> str:
    """What tells whether a text is the one that was written, hex."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _entry_block(entry: Entry) -> str:
    hidden = any(map(_hidden, entry.text))
    shown = escaped(entry.text) if hidden else entry.text
    said: dict[str, object] = {"id": entry.id, "at": entry.at}
    said |= {name: getattr(entry, name) for name, default in _DEFAULTS.items() if getattr(entry, name) != default}
    if hidden:
        said["escaped"] = True
    said["digest"] = text_digest(shown)[:16]
    # With `<` and `>` as escapes nothing in it ends the comment.
    comment = json.dumps(said).replace("<", "\\u003c").replace(">", "\\u003e")
    quoted = "\n".join(f"> {line}" if line else ">" for line in shown.split("\n"))
    return f"\n## {_title(entry)} <!-- tenure: {comment} -->\n{quoted}"


def _title(entry: Entry) -> str:
    marks = [entry.type if entry.type != "log" else "", "unverified" if entry.type == "reference" else ""]
    marks += [entry.topic, "done" if entry.done else "", f"session {entry.session}" if entry.session else ""]
    marked = ", ".join(filter(None, map(_plain, marks)))
    return " ".join(filter(None, (entry.at[11:16], _plain(entry.role), f"({marked})" if marked else "")))


def _plain(text: str) -> str:
    """A name on one line of a heading."""
    return " ".join("".join(" " if _hidden(c) else c for c in text).replace("<!--", "<! --").split())


def _spread(node: Node) -> list[str]:
    """Keywords of a node, those of each thing below it in turn."""
    found: dict[str, None] = {}
    for place in range(KEYWORDS):
        for line in node.lines:
            if place < len(line.words):
                found.setdefault(line.words[place].word)
        if len(found) >= KEYWORDS:
            break
    return list(found)


def _hidden(character: str) -> bool:
    return character not in "\n\t" and (character == "\ufeff" or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"))


def _escape(character: str) -> str:
    return "\\\\" if character == "\\" else f"\\u{ord(character):04x}"
