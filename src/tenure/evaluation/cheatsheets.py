"""Recordings of a memory that is rewritten whole at every step: the sheet after each, cut into its items.

A recording is a file of JSON lines with `question`, `target`, `answer` and `sheet`, one per step. A sheet holds items between
`<memory_item>` tags, each with a description and an example. Its own bookkeeping is no part of what an item says: references
such as `(Reference: Q1, Q7)` and use counts such as `** Count: 3` are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenure.errors import UnreadableInput, UserError
from tenure.evaluation.bench_files import Place, read_text
from tenure.ranking import words
from tenure.traces.decoding import DECODER, nested_too_deeply, reason_of, without_lone_surrogates

WANTED = "Name a recording: JSON lines with 'question', 'target', 'answer' and 'sheet', one per step, or a folder of such files."

LEAST_ALIKE = 0.6
"""Share of the words of two descriptions, of all that either has, from which on they are one item reworded."""

_ITEM = re.compile(r"<memory_item>(.*?)(?=</memory_item>|<memory_item>|\Z)", re.DOTALL)
_PARTS = re.compile(r"<description>(?P<description>.*?)(?:</description>|(?=<example>)|\Z)", re.DOTALL)
_TAG = re.compile(r"</?(?:description|example|memory_item)>")
_BOOKKEEPING = re.compile(
    r"\(\s*References?\s*:[^)]*\)|\*\*\s*Count\s*:?\s*\d*\s*\**|^\s*Count\s*:\s*\d+\s*$", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of a sheet.

    Attributes:
        name: the first line of its description, its words in lower case.
        description: what it says, without the example.
        text: description and example, as they stand in the sheet.
    """

    name: str
    description: str
    text: str

    @property
    def said(self) -> str:
        """Its words in order, one space apart: the form in which it is looked for in a prompt."""
        return " ".join(self.text.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetStep:
    """One step of a recording.

    Attributes:
        question: what was asked.
        target: the right answer.
        answer: what the recorded model said.
        sheet: the memory after it, whole.
        items: the items in it, in order.
    """

    question: str
    target: str
    answer: str
    sheet: str
    items: tuple[Item, ...]

    @property
    def right(self) -> bool:
        """Whether the answer is the target, spaces and case aside."""
        return self.answer.strip().casefold() == self.target.strip().casefold()

    @property
    def size(self) -> int:
        """Words of the sheet."""
        return len(self.sheet.split())


@dataclass(slots=True, kw_only=True)
class Written:
    """One distinct item over a recording.

    Attributes:
        first: place of the step that first wrote it, from 0.
        last: place of the last step whose sheet holds it.
        seen: how many sheets hold it.
        texts: what it said, in order, each wording once; the last is its present one.
    """

    first: int
    last: int
    seen: int
    texts: list[Item]

    @property
    def present(self) -> Item:
        """What it says now."""
        return self.texts[-1]


def read_recordings(path: Path) -> dict[str, list[SheetStep]]:
    """The recordings in a file, or in the JSON lines files of a folder, by file name without its ending.

    Raises:
        UserError: the folder holds none.
        UnreadableInput: a file cannot be read, or a line is no step; the message names both.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"'{path}' holds no .jsonl file. {WANTED}")
    return {file.stem: read_recording(file) for file in files}


def read_recording(path: Path) -> list[SheetStep]:
    """The steps of one recording, in the order of the file. Raises as `read_recordings` does."""
    found: list[SheetStep] = []
    for number, line in enumerate(read_text(path, wanted=WANTED).split("\n"), 1):
        if line.strip():
            found.append(_step(path, line, number))
    if not any(step.items for step in found):
        raise UnreadableInput(f"'{path}' holds {len(found)} steps and no <memory_item> in any sheet. {WANTED}")
    return found


def _step(path: Path, line: str, number: int) -> SheetStep:
    where = f"line {number}"
    try:
        held: Any = DECODER.decode(line)
    except (ValueError, RecursionError) as exc:
        raise UnreadableInput(f"'{path}', {where} cannot be read: {reason_of(exc)}. {WANTED}") from exc
    if nested_too_deeply(held):
        raise UnreadableInput(f"'{path}', {where} cannot be read: JSON nested too deeply. {WANTED}")
    place = Place(path, without_lone_surrogates(held), wanted=WANTED, where=where)
    sheet = place.field("sheet").text()
    return SheetStep(
        question=place.field("question").text(),
        target=place.field("target", "").text(),
        answer=place.field("answer", "").text(),
        sheet=sheet,
        items=items_of(sheet),
    )


def items_of(sheet: str) -> tuple[Item, ...]:
    """The items of a sheet, in order; one that was cut off at the end counts as far as it goes. Equal texts count once."""
    found: dict[str, Item] = {}
    for block in _ITEM.findall(sheet):
        parts = _PARTS.search(block)
        description = _plain(parts["description"] if parts is not None else block)
        text = _plain(block)
        if description.strip():
            name = " ".join(words(description.strip().split("\n", 1)[0]))
            item = Item(name=name, description=description, text=text)
            found.setdefault(item.said, item)
    return tuple(found.values())


def follow(steps: Sequence[SheetStep]) -> list[Written]:
    """The distinct items of a recording, in the order in which they were first written.

    The rule by which an item of a sheet is one that was written before: it has the same name (the first line of its
    description, words only), or the words of both descriptions are the same to `LEAST_ALIKE` of all words that either has.
    Within a sheet each earlier item is matched once, the most alike first.
    """
    known: list[Written] = []
    vocabulary: list[frozenset[str]] = []
    for at, step in enumerate(steps):
        said = [frozenset(words(item.description)) for item in step.items]
        pairs = sorted(
            (-likeness, earlier, place)
            for place, item in enumerate(step.items)
            for earlier, one in enumerate(known)
            if (likeness := _alike(item, said[place], one.present, vocabulary[earlier])) >= LEAST_ALIKE
        )
        matched: dict[int, int] = {}
        for _, earlier, place in pairs:
            if place not in matched and earlier not in matched.values():
                matched[place] = earlier
        for place, item in enumerate(step.items):
            if place not in matched:
                known.append(Written(first=at, last=at, seen=1, texts=[item]))
                vocabulary.append(said[place])
                continue
            one = known[matched[place]]
            one.last, one.seen = at, one.seen + 1
            vocabulary[matched[place]] = said[place]
            if item.said != one.present.said:
                one.texts.append(item)
    return known


def _alike(item: Item, said: frozenset[str], other: Item, others: frozenset[str]) -> float:
    """How far two items are the same: 2 for equal texts, 1 and more for equal names, else the share of words they have in common."""
    share = len(said & others) / max(1, len(said | others))
    if item.said == other.said:
        return 2.0
    return 1.0 + share / 2 if item.name and item.name == other.name else share


def _plain(text: str) -> str:
    """A text without tags and bookkeeping, its lines as they stand."""
    lines = (line.rstrip() for line in _TAG.sub("", _BOOKKEEPING.sub("", text)).strip().split("\n"))
    return "\n".join(line for line in lines if line)
