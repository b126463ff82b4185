"""What an agent sees: a stable core, then an append-only tail. Laid out so that prefix caches hold.

The core is grouped by section and stays byte-identical from call to call; what is new since goes into
the tail. A tail that has grown long is closed as a further generation of the core, behind the bytes that
are there; now and then the core is rebuilt as one group. No counters stand in either, so counting never
breaks a prefix.
Text never becomes structure: every further line of a lesson is marked, tags of our own are defused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from tenure.playbook.blocks import INTRODUCTION as INTRODUCTION
from tenure.playbook.blocks import defused as defused
from tenure.playbook.blocks import lesson_block as lesson_block
from tenure.playbook.blocks import short_ids
from tenure.playbook.evidence import age_in_days, usefulness
from tenure.playbook.lessons import Brief, Lesson
from tenure.playbook.state import Playbook
from tenure.ranking import estimate_tokens

CORE_TOKENS = 4000
TAIL_SHARE = 0.25
"""The tail is closed when it would pass this share of the core, or when what it corrects there would."""

DEAD_SHARE = 0.1
"""The core is rebuilt where, with the tail closed, what a rebuild saves (see `dead_tokens`) would pass this share of it."""


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
        left_out: ids of lessons that did not fit when the core was built. A store, which knows when
            each lesson came, leaves it empty and keeps `version` instead.
        version: arrival number of the newest delta when the core was built; 0 if that is not known.
        stale: why the next prompt has to be built anew at once; empty if it may go on.
        generations: where in `lines` each further generation begins; the first one begins at 0.
    """

    lines: tuple[Line, ...] = ()
    tail: tuple[Line, ...] = ()
    left_out: frozenset[str] = frozenset()
    version: int = 0
    stale: str = ""
    generations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A prompt's stable part.

    Attributes:
        text: the prompt text; empty for an empty playbook.
        core: to be handed to the next `render`.
        ids: lessons it shows, in order.
        core_tokens, tail_tokens: estimates.
        rebuilt: why the core was built anew; empty if its bytes are still there.
        closed: why the tail was closed, so that the core's bytes are there and a generation after them; empty if it was not.
    """

    text: str
    core: Core
    ids: tuple[str, ...] = ()
    core_tokens: int = 0
    tail_tokens: int = 0
    rebuilt: str = field(default="")
    closed: str = ""


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
    if core is not None and not rebuild:
        known = {line.id for line in (*core.lines, *core.tail)} | core.left_out
        new = [one for one in lessons if one.id not in known]
        went_on = continue_core(core, {lesson.id: lesson for lesson in lessons}, new, core_tokens)
        if isinstance(went_on, Rendered):
            return went_on
        rebuild = went_on
    chosen = set(choose_core([brief_of(lesson) for lesson in lessons], core_tokens, at=at))
    left_out = frozenset(lesson.id for lesson in lessons) - chosen
    return build_core([one for one in lessons if one.id in chosen], core, reason=rebuild or "first core", left_out=left_out)


def brief_of(lesson: Lesson) -> Brief:
    """What is needed to rank a lesson."""
    return Brief(
        id=lesson.id,
        section=lesson.section,
        pinned=lesson.pinned,
        created=lesson.created,
        updated=lesson.updated,
        tallies=lesson.tallies,
        tokens=lesson_tokens(lesson),
    )


def lesson_tokens(lesson: Lesson) -> int:
    """Estimated tokens of a lesson as a prompt shows it."""
    return _tokens(lesson_block(lesson)) + 1


def least_core() -> int:
    """Estimated tokens that a core without lessons takes: no cap up to this leaves room for one."""
    return estimate_tokens(INTRODUCTION)


def choose_core(briefs: Iterable[Brief], core_tokens: int, *, at: datetime | None = None) -> list[str]:
    """Ids of the lessons for a core: pinned ones, then by lower bound of usefulness, as far as the tokens go.

    Of lessons that are equally sure the shorter ones come first: more of what is known then finds room.
    """

    def rank(brief: Brief) -> tuple[bool, float, int, str]:
        return (not brief.pinned, -usefulness(brief.tallies, age_days=age_in_days(brief, at)).lower, brief.tokens, brief.id)

    chosen: list[str] = []
    headed: set[str] = set()
    room = core_tokens - least_core()
    for brief in sorted(briefs, key=rank):
        cost = brief.tokens + (0 if brief.section in headed else estimate_tokens(_heading(brief.section)))
        if cost <= room:
            chosen.append(brief.id)
            headed.add(brief.section)
            room -= cost
    return chosen


def build_core(
    lessons: Sequence[Lesson], before: Core | None, *, reason: str, left_out: frozenset[str] = frozenset(), version: int = 0
) -> Rendered:
    """A core of these lessons, grouped by section.

    Usefulness decides membership only: what was shown before keeps its order within its section,
    newcomers follow by age. Sections stand so that a cache can go on using what it has (see `_section_order`).

    Args:
        lessons: those chosen for it.
        before: what the last prompt showed.
        reason: why it is built.
        left_out, version: see `Core`.
    """
    places: dict[str, int] = {}
    for place, line in enumerate((*before.lines, *before.tail) if before is not None else ()):
        places.setdefault(line.id, place)
    ids = short_ids([*(lesson.id for lesson in lessons), *left_out])
    sections: dict[str, list[Line]] = {}
    for one in sorted(lessons, key=lambda one: (one.section, places.get(one.id, len(places)), one.created, one.id)):
        sections.setdefault(one.section, []).append(Line(id=one.id, section=one.section, text=lesson_block(one, ids[one.id])))
    lines = tuple(line for name in _section_order(sections, before) for line in sections[name])
    return _rendered(Core(lines=lines, left_out=left_out, version=version), reason)


def _section_order(sections: Mapping[str, Sequence[Line]], before: Core | None) -> list[str]:
    """The order of sections in a new core.

    What a cache has of the last prompt ends where the first section changed, after the lines which
    that section had. So sections keep their order up to that place; behind it they stand by size,
    because the first of them is what the next rebuild can spare. Where a small section has come to
    stand first, all of them are put in order of size, which costs one prompt.
    """
    sizes = {name: _size(lines) for name, lines in sections.items()}
    by_size = sorted(sections, key=lambda name: (-sizes[name], name))
    said: dict[str, list[str]] = {}
    for line in _first_generation(before) if before is not None else ():
        said.setdefault(line.section, []).append(line.text)
    kept: list[str] = []
    for name, texts in said.items():
        if name not in sections:
            break
        kept.append(name)
        if texts != [line.text for line in sections[name]]:
            break
    if kept and 2 * max(sizes[name] for name in kept) < sizes[by_size[0]]:
        kept = []
    return [*kept, *(name for name in by_size if name not in kept)]


def continue_core(core: Core, shown: Mapping[str, Lesson], new: Sequence[Lesson], core_tokens: int = CORE_TOKENS) -> Rendered | str:
    """The prompt that begins with the same bytes and says at its end what changed.

    Where the tail has grown too long, it is closed: its lessons become a further generation of the core.

    Args:
        core: what the last prompt showed.
        shown: its lessons as they are now, by id; one that is missing or not live no longer applies.
        new: live lessons that it does not know.
        core_tokens: cap on the core, in estimated tokens. Where a further generation would pass it,
            usefulness has to decide anew who is in.

    Returns:
        The prompt, or why the core has to be built anew.
    """
    if core.stale:
        return core.stale
    live = {one: lesson for one, lesson in shown.items() if lesson.live}
    appended = _with_tail(core, live, new)
    overdue = _overdue(appended)
    if not overdue:
        return _rendered(appended, "")
    closed = _close_generation(appended, {**live, **{lesson.id: lesson for lesson in new}})
    if not core.lines or dead_tokens(closed) > DEAD_SHARE * _size(closed.lines):
        return overdue
    if _cost(closed.lines) > core_tokens:
        return f"{overdue}, and the core would pass {core_tokens} tokens"
    return _rendered(closed, "", closed=overdue)


def without(rendered: Rendered, ids: Collection[str]) -> Rendered:
    """A prompt with some of its lessons left out. What it keeps for the next one is whole: the bytes come back."""
    core = rendered.core
    part = replace(
        core,
        lines=tuple(line for line in core.lines if line.id not in ids),
        tail=tuple(line for line in core.tail if line.id not in ids),
    )
    return replace(_rendered(part, rendered.rebuilt, closed=rendered.closed), core=core)


def _overdue(core: Core) -> str:
    """Why the tail has to be closed; empty if it can go on."""
    core_size, tail_size = _size(core.lines), _size(core.tail)
    if tail_size > TAIL_SHARE * core_size:
        return f"the tail of {tail_size} tokens passed a quarter of the core's {core_size}"
    corrected = _size(_corrected(core))
    if corrected > TAIL_SHARE * core_size:
        return f"corrections of {corrected} tokens passed a quarter of the core's {core_size}"
    return ""


def _corrected(core: Core) -> list[Line]:
    """Lines of the core on which the tail has a later word."""
    later = {line.id for line in core.tail}
    return [line for line in core.lines if line.id in later]


def dead_tokens(core: Core) -> int:
    """Estimated tokens that a rebuild saves: texts that no longer hold, the lines that correct them, headings said again."""
    corrected = _corrected(core)
    ids = {line.id for line in corrected}
    headed = _headings(core.lines)
    again = sum(_tokens(heading) for heading in headed) - sum(_tokens(heading) for heading in set(headed))
    return _size(corrected) + _size(line for line in core.tail if line.id in ids) + again


def _close_generation(core: Core, live: Mapping[str, Lesson]) -> Core:
    """The core with the tail's lessons as a further generation, as they are now.

    In the tail stays what corrects earlier generations, the last word on each lesson.
    """
    said = {line.id: line for line in core.lines}
    last = {line.id: line for line in core.tail}
    corrections = [line for line in core.tail if line.id in said and line is last[line.id]]
    ids = short_ids([*said, *last])
    sections: dict[str, list[Line]] = {}
    for one in last:
        if one not in said and one in live:
            lesson = live[one]
            sections.setdefault(lesson.section, []).append(Line(id=one, section=lesson.section, text=lesson_block(lesson, ids[one])))
    # It goes on under the heading with which the core ends. Its largest section stands last: the next generation is most likely to need it.
    goes_on = core.lines[-1].section if core.lines else ""
    order = sorted(sections, key=lambda name: (name != goes_on, _size(sections[name]), name))
    lines = tuple(line for name in order for line in sections[name])
    return replace(
        core,
        lines=(*core.lines, *lines),
        # Retired and brought back, or changed and changed back: the core says it already.
        tail=tuple(line for line in corrections if not line.section or _body(line.text) != _body(_replacing(said[line.id].text))),
        generations=(*core.generations, len(core.lines)) if lines else core.generations,
    )


def _first_generation(core: Core) -> tuple[Line, ...]:
    return core.lines[: core.generations[0]] if core.generations else core.lines


def _cost(lines: Sequence[Line]) -> int:
    """Estimated tokens of a core as `choose_core` counts them, with its headings."""
    return estimate_tokens(INTRODUCTION) + _size(lines) + len(lines) + sum(_tokens(heading) for heading in _headings(lines))


def _headings(lines: Sequence[Line]) -> list[str]:
    """The headings that stand above these lines, in order."""
    places = range(len(lines))
    return [_heading(lines[at].section) for at in places if not at or lines[at].section != lines[at - 1].section]


def _heading(section: str) -> str:
    return f"## {defused(section)}"


def _with_tail(core: Core, live: Mapping[str, Lesson], new: Sequence[Lesson]) -> Core:
    """The core with lines appended for what changed since it was last shown."""
    latest = {line.id: line for line in (*core.lines, *core.tail)}
    ids = short_ids([*latest, *(lesson.id for lesson in new)])
    tail = list(core.tail)
    for shown, line in latest.items():
        if shown not in live and line.section:
            tail.append(Line(id=shown, section="", text=f"- [{defused(ids[shown])}] no longer applies."))
    known = [live[shown] for shown in latest if shown in live]
    for lesson in sorted([*known, *new], key=lambda one: (one.created, one.id)):
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
    return sum(_tokens(line.text) for line in lines)


@lru_cache(maxsize=4096)
def _tokens(text: str) -> int:
    # The same lines come again in every prompt: they are counted once.
    return estimate_tokens(text)


def _rendered(core: Core, reason: str, *, closed: str = "") -> Rendered:
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
    return Rendered(
        text=text, core=core, ids=ids, core_tokens=_size(core.lines), tail_tokens=_size(core.tail), rebuilt=reason, closed=closed
    )
