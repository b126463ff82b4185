"""Edits settings of other programs as text: what is put in or taken out is ours, every other byte stays.

Reads JSON as people write it: comments, commas after the last member, a byte order mark, any line break.
Nothing is written anew from a parsed value, because that would lose all of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tenure.errors import UserError


class BrokenSettings(UserError):
    """A settings file cannot be read, or has something else where ours has to go. Nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion:
    """A text put into another.

    Attributes:
        at: where it stands in the text that came of it, in characters.
        text: what was put in.
    """

    at: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value and where it stands.

    Attributes:
        kind: what it is.
        start, end: of the value, in characters.
        value: of a plain one.
        members: of an object: name, where the name starts, value.
        items: of a list.
        comma: whether a comma follows the last member or item.
    """

    kind: Literal["object", "list", "plain"]
    start: int
    end: int
    value: Any = None
    members: tuple[tuple[str, int, Node], ...] = ()
    items: tuple[Node, ...] = ()
    comma: bool = False

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Where each member or item starts and ends."""
        if self.kind == "object":
            return tuple((start, node.end) for _, start, node in self.members)
        return tuple((node.start, node.end) for node in self.items)

    def plain(self) -> Any:
        """The value without places; of members with one name the last counts, as in JSON."""
        if self.kind == "object":
            return {name: node.plain() for name, _, node in self.members}
        return [node.plain() for node in self.items] if self.kind == "list" else self.value

    def member(self, name: str) -> Node | None:
        """The value of a name; none if there is none."""
        return next((node for known, _, node in reversed(self.members) if known == name), None)


_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")
_DEEPEST = 200


def read_json(text: str, name: str) -> Node:
    """The value of a file, with the place of every part.

    Args:
        text: of the file; without anything but space and comments it reads as an empty object.
        name: of the file, for messages.

    Raises:
        BrokenSettings: it is no JSON; the message has line and column.
    """
    reader = _Reader(text, name)
    start = reader.skip(0)
    if start == len(text):
        return Node(kind="object", start=start, end=start)
    node = reader.value(start, 0)
    rest = reader.skip(node.end)
    if rest != len(text):
        reader.refuse(rest, "something follows the end of the settings")
    return node


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    name: str

    def refuse(self, at: int, why: str) -> None:
        raise BrokenSettings(f"{self.name}, {place_of(self.text, at)}: {why}. Mend the file, then run this again; nothing was written.")

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        end = found.end() if found else at
        if self.text.startswith("/*", end):
            self.refuse(end, "a comment has no end")
        return end

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            self.refuse(at, "it is nested too deep")
        first = self.text[at : at + 1]
        if first in ("{", "["):
            return self._held(at, depth, "}" if first == "{" else "]")
        found = (_STRING if first == '"' else _PLAIN).match(self.text, at)
        if not found:
            self.refuse(at, f"a value is expected, not {self.text[at : at + 12]!r}" if first else "the file ends where a value is expected")
            raise AssertionError
        try:
            return Node(kind="plain", start=at, end=found.end(), value=json.loads(found.group()))
        except ValueError:
            self.refuse(at, f"{found.group()[:20]!r} is no JSON value")
            raise

    def _held(self, at: int, depth: int, closing: str) -> Node:
        members: list[tuple[str, int, Node]] = []
        items: list[Node] = []
        place, comma = self.skip(at + 1), False
        while not self.text.startswith(closing, place):
            if (members or items) and not comma:
                self.refuse(place, f"a comma or {closing} is expected" if place < len(self.text) else f"{closing} is missing at the end")
            begin = place
            if closing == "}":
                name = self.value(place, depth + 1)
                if name.kind != "plain" or not isinstance(name.value, str):
                    self.refuse(place, "a name in quotes is expected")
                place = self.skip(name.end)
                if not self.text.startswith(":", place):
                    self.refuse(place, "a colon is expected")
                node = self.value(self.skip(place + 1), depth + 1)
                members.append((name.value, begin, node))
            else:
                node = self.value(place, depth + 1)
                items.append(node)
            place = self.skip(node.end)
            comma = self.text.startswith(",", place)
            if comma:
                place = self.skip(place + 1)
        kind: Literal["object", "list"] = "object" if closing == "}" else "list"
        return Node(kind=kind, start=at, end=place + 1, members=tuple(members), items=tuple(items), comma=comma)


def place_of(text: str, at: int) -> str:
    """Line and column of a place, both from 1."""
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n")
    return f"line {before.count(chr(10)) + 1}, column {at - max(text.rfind(chr(10), 0, at), text.rfind(chr(13), 0, at))}"


def put_in(text: str, path: Sequence[str], value: Any, *, name: str, item: bool) -> tuple[str, tuple[Insertion, ...]]:
    """A text with a member or an item more; what was there already stays byte for byte.

    Args:
        text: of the file, empty for a new one.
        path: names from the outermost object; objects that are missing are made.
        value: what stands at the path's end, or what is added to the list there.
        name: of the file, for messages.
        item: whether a list stands at the path's end.

    Raises:
        BrokenSettings: the file is no JSON, or has something else on the way or, for a member, at the end.
    """
    node = read_json(text, name)
    if not text[_SPACE.match(text).end() :] if _SPACE.match(text) else not text:  # type: ignore[union-attr]
        held = _nested(path, [value] if item else value)
        made = _written(held, "", "  ", _line_break(text))
        gap = "" if not text or text.endswith(("\n", "\r", "\ufeff")) else _line_break(text)
        return _inserted(text, [(len(text), gap + made + _line_break(text))])
    for depth, part in enumerate(path):
        if node.kind != "object":
            raise _other_kind(text, node, path[:depth], "an object", name)
        below = node.member(part)
        if below is None:
            rest = path[depth + 1 :]
            return _inserted(text, _added(text, node, _nested(rest, [value] if item else value), part))
        node = below
    if not item:
        raise _other_kind(text, node, path, "nothing yet", name)
    if node.kind != "list":
        raise _other_kind(text, node, path, "a list", name)
    return _inserted(text, _added(text, node, value, None))


def _other_kind(text: str, node: Node, path: Sequence[str], wanted: str, name: str) -> BrokenSettings:
    shown = ".".join(path) or "the whole"
    return BrokenSettings(
        f"{name}, {place_of(text, node.start)}: {shown} should be {wanted}, and is {text[node.start : node.start + 30]!r}. "
        "Mend it, then run this again; nothing was written."
    )


def _nested(path: Sequence[str], value: Any) -> Any:
    for part in reversed(path):
        value = {part: value}
    return value


def _inserted(text: str, places: Sequence[tuple[int, str]]) -> tuple[str, tuple[Insertion, ...]]:
    made: list[Insertion] = []
    parts: list[str] = []
    since, grown = 0, 0
    for at, new in places:
        parts += [text[since:at], new]
        made.append(Insertion(at=at + grown, text=new))
        since, grown = at, grown + len(new)
    return "".join([*parts, text[since:]]), tuple(made)


def _added(text: str, holder: Node, value: Any, member: str | None) -> list[tuple[int, str]]:
    """Where to put what, so that a member or item stands at the end of an object or list."""
    line_break, unit = _line_break(text), _indent_unit(text)
    outer = _indent_of(text, holder.start)
    said = f"{json.dumps(member, ensure_ascii=False)}: " if member is not None else ""
    spread = any(mark in text[holder.start : holder.end] for mark in "\r\n")
    parts = holder.parts
    if parts and not spread:
        end = parts[-1][1]
        packed = f"{said}{json.dumps(value, ensure_ascii=False)}"
        if holder.comma:
            comma = text.index(",", _skip(text, end))
            return [(comma + 1, f" {packed}")]
        return [(end, f", {packed}")]
    inner = _indent_of(text, parts[-1][0]) if parts and _starts_line(text, parts[-1][0]) else outer + unit
    written = line_break + inner + said + _written(value, inner, unit, line_break)
    if not parts:
        if spread:
            return [(_content_end(text, holder.start + 1, holder.end - 1), written)]
        return [(_content_end(text, holder.start + 1, holder.end - 1), written + line_break + outer)]
    place = _content_end(text, parts[-1][1], holder.end - 1)
    if holder.comma:
        return [(place, written)]
    end = parts[-1][1]
    return [(end, "," + written)] if place == end else [(end, ","), (place, written)]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _content_end(text: str, start: int, end: int) -> int:
    """The end of the last comma or comment before a closing mark, leaving space out."""
    place = start
    at = start
    while at < end:
        if text.startswith("//", at):
            found = re.compile(r"[^\r\n]*").match(text, at)
            at = place = found.end() if found else end
        elif text.startswith("/*", at):
            at = place = text.index("*/", at) + 2
        else:
            if not text[at].isspace():
                place = at + 1
            at += 1
    return min(place, end)


def _starts_line(text: str, at: int) -> bool:
    return not text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at].strip(" \t\ufeff")


def _indent_of(text: str, at: int) -> str:
    """The white space with which the line of a place begins."""
    line = text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_unit(text: str) -> str:
    found = re.search(r"[\r\n]([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _line_break(text: str) -> str:
    found = re.search(r"\r\n|\n|\r", text)
    return found.group() if found else "\n"


def _written(value: Any, indent: str, unit: str, line_break: str) -> str:
    shown = json.dumps(value, ensure_ascii=False, indent=unit)
    return shown.replace("\n", line_break + indent)


def take_out(text: str, made: Sequence[Insertion]) -> str | None:
    """The text as it was before something was put in; none if that does not stand there any more."""
    for one in reversed(made):
        if text[one.at : one.at + len(one.text)] != one.text:
            return None
        text = text[: one.at] + text[one.at + len(one.text) :]
    return text


def cut_out(text: str, made: Sequence[Insertion]) -> str | None:
    """The text without something that was put in, which an edit before it may have moved; none if it is not found as it was put in."""
    if not made:
        return text
    longest = max(made, key=lambda one: len(one.text))
    if text.count(longest.text) != 1:
        return None
    moved = text.index(longest.text) - longest.at
    return take_out(text, [Insertion(at=one.at + moved, text=one.text) for one in made])


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One of our entries in a settings file.

    Attributes:
        path: names and places from the outermost object to it.
        holders: what holds it, from the outermost.
        place: its number in the last holder.
    """

    path: tuple[str | int, ...]
    holders: tuple[Node, ...] = field(repr=False)
    place: int = 0


def entries(node: Node, is_ours: Callable[[tuple[str | int, ...], Any], bool]) -> Iterator[Found]:
    """Members and items for which a question is answered with yes; what stands inside one of them is not asked for."""
    yield from _entries(node, is_ours, (), ())


def _entries(
    node: Node, is_ours: Callable[[tuple[str | int, ...], Any], bool], path: tuple[str | int, ...], holders: tuple[Node, ...]
) -> Iterator[Found]:
    below: list[tuple[str | int, Node]] = [(name, one) for name, _, one in node.members]
    below += enumerate(node.items)
    for place, (name, one) in enumerate(below):
        inner = (*path, name)
        if is_ours(inner, one.plain()):
            yield Found(path=inner, holders=(*holders, node), place=place)
        else:
            yield from _entries(one, is_ours, inner, (*holders, node))


def without_entries(
    text: str, is_ours: Callable[[tuple[str | int, ...], Any], bool], *, name: str, emptied: Callable[[tuple[str | int, ...]], bool]
) -> str:
    """A text without our entries, and without what holds nothing once they are gone.

    Args:
        text: of the file.
        is_ours: whether a value at a path is ours.
        name: of the file, for messages.
        emptied: whether the object or list at a path goes with its last entry.

    Raises:
        BrokenSettings: the file is no JSON.
    """
    while True:
        root = read_json(text, name)
        found = next(entries(root, is_ours), None)
        if found is None:
            return text
        depth = len(found.holders) - 1
        place = found.place
        # Up to what stays: a holder goes with its last entry, if it was made for ours.
        while depth > 0 and _is_bare(found.holders[depth], found.path[depth]) and emptied(found.path[:depth]):
            holder = found.holders[depth]
            depth -= 1
            above = found.holders[depth]
            place = next(at for at, (_, end) in enumerate(above.parts) if end == holder.end)
        text = _without_part(text, found.holders[depth], place)


def _is_bare(holder: Node, name: str | int) -> bool:
    """Whether a holder says nothing of its own: it has this one entry, or beside it a matcher as ours has one."""
    if holder.kind == "list":
        return len(holder.items) == 1
    others = {known for known, _, _ in holder.members} - {name}
    return not others or (name == "hooks" and others <= {"matcher"})


def _without_part(text: str, holder: Node, place: int) -> str:
    """A text without one member or item, its comma, and the line it stood on if that has nothing else."""
    parts = holder.parts
    start, end = parts[place]
    after = _skip_space(text, end)
    if text.startswith(",", after):
        end = after + 1
    elif place:
        before = parts[place - 1][1]
        comma = text.index(",", _skip(text, before))
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    if _starts_line(text, start):
        line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        if text[line - 2 : line] == "\r\n":
            line -= 1
        rest = re.compile(r"[ \t]*(?=[\r\n])").match(text, end)
        return text[: max(line - 1, 0)] + text[rest.end() if rest else end :]
    if text.startswith(" ", end) and place == 0:
        end += 1
    elif text[start - 1 : start] == " " and text[start - 2 : start - 1] != ",":
        start -= 1
    return text[:start] + text[end:]


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
