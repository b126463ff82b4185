"""What an agent sees: a stable core, then an append-only tail. Laid out so that prefix caches hold.

The core is grouped by section and stays byte-identical from call to call until it is rebuilt; what
is new since goes into the tail. No counters stand in either, so counting never breaks a prefix.
Text never becomes structure: every further line of a lesson is marked, tags of our own are defused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tenure.playbook.evidence import age_in_days, usefulness
from tenure.playbook.lessons import Lesson, short_ids
from tenure.playbook.state import Playbook
from tenure.ranking import estimate_tokens

CORE_TOKENS = 4000
TAIL_SHARE = 0.25
"""The core is rebuilt when the tail would pass this share of it."""

INTRODUCTION = "Lessons from earlier runs. Follow those whose conditions hold; name the ids you used."

# Made visible: control characters, direction overrides, and characters that are there but show nothing (among them
# the tag characters that can carry a hidden text). Joiners stay: Persian, Hindi and many emoji are written with them.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
_OWN_TAG = re.compile(r"<(?=\s*/?\s*tenure)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One lesson as it stands in a prompt.

    Attributes:
        id: the lesson.
        section: the section it stands under.
        text: its lines, without the closing line break.
    """

    id: str
    section: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """What a prompt showed, so that the next one can begin with the same bytes.

    Attributes:
        lines: the core, in order.
        tail: lines appended since, in order; a retirement has an empty section.
        left_out: ids of lessons that did not fit when the core was built.
    """

    lines: tuple[Line, ...] = ()
    tail: tuple[Line, ...] = ()
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A prompt's stable part.

    Attributes:
        text: the prompt text; empty for an empty playbook.
        core: to be handed to the next `render`.
        ids: lessons it shows, in order.
        core_tokens, tail_tokens: estimates.
        rebuilt: why the core was built anew; empty if it stayed.
    """

    text: str
    core: Core
    ids: tuple[str, ...] = ()
    core_tokens: int = 0
    tail_tokens: int = 0
    rebuilt: str = field(default="")


def render(
    playbook: Playbook, core: Core | None = None, core_tokens: int = CORE_TOKENS, *, at: datetime | None = None, rebuild: str = ""
) -> Rendered:
    """The stable part of a prompt.

    Args:
        playbook: the lessons.
        core: what the last prompt showed; none builds a core.
        core_tokens: cap on the core, in estimated tokens; the whole playbook if that is smaller.
        at: the present moment, for the fading of old counts when a core is built.
        rebuild: a reason to build the core anew at once, such as a forgotten lesson.
    """
    return render_lessons(playbook.lessons, core, core_tokens, at=at, rebuild=rebuild)


def render_lessons(
    lessons: Sequence[Lesson], core: Core | None = None, core_tokens: int = CORE_TOKENS, *, at: datetime | None = None, rebuild: str = ""
) -> Rendered:
    """`render` for live lessons that were read from a store."""
    if core is None or rebuild:
        return _build(lessons, core, core_tokens, at, rebuild or "first core")
    appended = _with_tail(lessons, core)
    core_size, tail_size = _size(appended.lines), _size(appended.tail)
    if tail_size > TAIL_SHARE * core_size:
        return _build(lessons, core, core_tokens, at, f"the tail of {tail_size} tokens passed a quarter of the core's {core_size}")
    return _rendered(appended, "")


def lesson_block(lesson: Lesson, shown_id: str | None = None) -> str:
    """One lesson as a prompt shows it, without counters, further lines marked by `|`.

    Args:
        lesson: the lesson.
        shown_id: its id as shown; none shows it whole.
    """
    parts = [f"- [{defused(shown_id or lesson.id)}] {defused(lesson.text)}"]
    if lesson.applies_when:
        parts.append(f"  Applies when: {defused(lesson.applies_when)}")
    if lesson.avoid:
        parts.append(f"  Avoid: {defused(lesson.avoid)}")
    return "\n".join(parts)


def defused(text: str) -> str:
    """A text that cannot be taken for structure: further lines marked, control characters visible, own tags broken."""
    plain = text.strip().replace("\r\n", "\n").replace("\r", "\n")
    plain = _CONTROL.sub(_visible, plain)
    return _OWN_TAG.sub("‹", plain).replace("\n", "\n  | ")


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _build(lessons: Sequence[Lesson], core: Core | None, core_tokens: int, at: datetime | None, reason: str) -> Rendered:
    def rank(lesson: Lesson) -> tuple[bool, float, str]:
        return (not lesson.pinned, -usefulness(lesson.tallies, age_days=age_in_days(lesson, at)).lower, lesson.id)

    ids = short_ids([lesson.id for lesson in lessons])
    chosen: list[tuple[Lesson, Line]] = []
    left_out: set[str] = set()
    headed: set[str] = set()
    room = core_tokens - estimate_tokens(INTRODUCTION)
    for lesson in sorted(lessons, key=rank):
        line = Line(id=lesson.id, section=lesson.section, text=lesson_block(lesson, ids[lesson.id]))
        cost = estimate_tokens(line.text) + (0 if lesson.section in headed else estimate_tokens(_heading(lesson.section)))
        if cost <= room:
            chosen.append((lesson, line))
            headed.add(lesson.section)
            room -= cost
        else:
            left_out.add(lesson.id)
    before: dict[str, int] = {}
    for place, line in enumerate((*core.lines, *core.tail) if core is not None else ()):
        before.setdefault(line.id, place)
    # Usefulness decides membership only: what was shown before keeps its order, newcomers follow by age.
    chosen.sort(key=lambda pair: (pair[0].section, before.get(pair[0].id, len(before)), pair[0].created, pair[0].id))
    return _rendered(Core(lines=tuple(line for _, line in chosen), left_out=frozenset(left_out)), reason)


def _heading(section: str) -> str:
    return f"## {defused(section)}"


def _with_tail(lessons: Sequence[Lesson], core: Core) -> Core:
    """The core with lines appended for what changed since it was last shown."""
    latest = {line.id: line for line in (*core.lines, *core.tail)}
    live = {lesson.id: lesson for lesson in lessons}
    ids = short_ids([*live, *latest])
    tail = list(core.tail)
    for shown, line in latest.items():
        if shown not in live and line.section:
            tail.append(Line(id=shown, section="", text=f"- [{defused(ids[shown])}] no longer applies."))
    for lesson in sorted(lessons, key=lambda one: (one.created, one.id)):
        if lesson.id in core.left_out:
            continue
        block, said = lesson_block(lesson, ids[lesson.id]), latest.get(lesson.id)
        if said is None:
            tail.append(Line(id=lesson.id, section=lesson.section, text=block))
        # The id it is shown under may get longer over time; that alone is nothing to say.
        elif _body(said.text) not in (_body(block), _body(_replacing(block))):
            tail.append(Line(id=lesson.id, section=lesson.section, text=_replacing(block)))
    return replace(core, tail=tuple(tail))


def _body(block: str) -> str:
    """A block without the id it is shown under."""
    return block.partition("] ")[2]


def _replacing(block: str) -> str:
    return block.replace("] ", "] (replaces the earlier text) ", 1)


def _size(lines: Iterable[Line]) -> int:
    return sum(estimate_tokens(line.text) for line in lines)


def _rendered(core: Core, reason: str) -> Rendered:
    parts: list[str] = []
    section = None
    for line in core.lines:
        if line.section != section:
            parts.append(_heading(line.section))
            section = line.section
        parts.append(line.text)
    if core.tail:
        parts.append("## since then")
        parts.extend(line.text for line in core.tail)
    text = "\n".join([INTRODUCTION, *parts]) + "\n" if parts else ""
    latest = {line.id: line.section for line in (*core.lines, *core.tail)}
    ids = tuple(lesson_id for lesson_id, section in latest.items() if section)
    return Rendered(text=text, core=core, ids=ids, core_tokens=_size(core.lines), tail_tokens=_size(core.tail), rebuilt=reason)
