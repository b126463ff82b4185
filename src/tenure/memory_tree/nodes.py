"""Nodes: what a day, a week or a month comes down to. A copy while it is short, a summary dense with keywords above that.

A node follows from what lies below it and from nothing else: a day from its entries, a week from its
days, a month from the weeks that have a day in it. So the tree comes out the same whenever it is built,
in whatever order entries arrived, and a late entry changes the three or four nodes above it only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from hashlib import sha256
from typing import Literal

from tenure.memory_tree.caps import Caps
from tenure.memory_tree.entries import KEPT, Entry, done_projects, topic_name
from tenure.memory_tree.exclusions import NOTHING, LeftOut, exclude
from tenure.memory_tree.keywords import SAID_LESS, Keyword, as_text, keywords, pooled, rarer_first, shared_out
from tenure.memory_tree.mirror_names import place_name, shown_name
from tenure.memory_tree.periods import Period
from tenure.memory_tree.topics import SUBS, Topic, merge_topics, topic_line
from tenure.ranking import estimate_tokens

State = Literal["tentative", "fixed"]
Form = Literal["verbatim", "summary"]

SESSION_WORDS, DAY_WORDS, MONTH_WORDS = 20, 240, 160
"""Keywords of a session in its day's node, of a day in its week's, and of a day in its month's, at most."""

SESSION_TOKENS = 12
"""Tokens of keywords for each session of a day, on average: those that state more have more of them.

Few words of each let a reader on a budget open many days; the raw session says the rest."""

LEAST_WORDS = 3
"""Keywords that each line has before any has more."""

RARITY = 0.3
"""Power of a word's rarity among the sessions of a day: what all of them are about tells none apart."""

QUOTED_SHARE = 4
"""Entries that stay word for word take one part in so many of a node's cap at most; so do open projects and references."""

NAMED_SHARE = 10
"""The topics that a day's summary names take one part in so many of its cap at most."""

FILES_NAMED = 3
"""Files of knowledge that a day names where it has no room for what they hold."""

LONGEST_NAMED = 40
"""Topics of a week or month that no writer named, at most; days hold all of theirs."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a node says of one thing below it.

    Attributes:
        where: `#3`, the third session of the day; or a day such as `2026-03-15`.
        words: that stand for it, the weightiest first.
        entries: raw entries in it.
    """

    where: str
    words: tuple[Keyword, ...]
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A day, week or month of the tree.

    Attributes:
        period: which.
        state: `tentative` while it runs, `fixed` when it is over.
        form: `verbatim` or `summary`.
        text: what is read.
        lines: what is carried upwards: of a day its sessions, of a week or month its days.
        topics: all that a writer named, with type, days and where to look; and some that nobody named.
        entries, raw_lines: how much raw text it stands for.
        digest: of all that it follows from, hex.
        by: `extractive`, or the model and version of the prompt.
        head: of a summary, what stands before its lines: heading, what is kept word for word, topics.
        left_out: what of the entries is excluded from it.
        closed: of a day's summary, the projects that are done by now, in small letters; nothing of them is quoted.
    """

    period: Period
    state: State
    form: Form
    text: str
    lines: tuple[Line, ...]
    topics: tuple[Topic, ...]
    entries: int
    raw_lines: int
    digest: str
    by: str = "extractive"
    head: str = ""
    left_out: LeftOut = NOTHING
    closed: tuple[str, ...] = ()


def sessions_of(entries: Sequence[Entry]) -> tuple[tuple[Entry, ...], ...]:
    """The sessions of a day in the order in which they began, each in order; entries without a session are one.

    The third is what nodes call `#3`.
    """
    found: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda one: one.order):
        found.setdefault(entry.session, []).append(entry)
    return tuple(map(tuple, found.values()))


def build_day(
    day: str,
    entries: Sequence[Entry],
    *,
    today: str,
    caps: Caps | None = None,
    zone: tzinfo = UTC,
    closed: Collection[str] | None = None,
) -> Node:
    """The node of a day.

    Args:
        day: ISO date.
        entries: all of that day, in any order.
        today: ISO date in the same zone.
        caps: how long it may be.
        zone: in which times are shown.
        closed: projects that are done by now, in small letters; none goes by what the day itself says.
    """
    caps = caps or Caps()
    period, sessions, ordered = Period("day", day), sessions_of(entries), sorted(entries, key=lambda one: one.order)
    plain, left_out = dict[str, str](), NOTHING
    for entry in ordered:
        plain[entry.id], some = _plain(entry)
        left_out += some
    raw_lines = sum(entry.text.count("\n") + 1 for entry in entries)
    words = rarer_first({f"#{n}": _words_of(session, plain) for n, session in enumerate(sessions, 1)}, RARITY)
    lines = tuple(Line(f"#{n}", words[f"#{n}"], len(session)) for n, session in enumerate(sessions, 1))
    topics = _topics_of(day, sessions, lines, plain)
    heading = _heading(day, _count(len(sessions), "session"), len(entries), left_out)
    copy = "\n".join([heading, *(line for n, session in enumerate(sessions, 1) for line in _copied(n, session, plain, zone))])
    form: Form = "verbatim" if raw_lines < caps.day_lines and estimate_tokens(copy) <= caps.copy_tokens else "summary"
    over = done_projects(ordered) if closed is None else frozenset(closed)
    gone = tuple(sorted({one.name.casefold() for one in topics if one.sort == "project"} & over)) if form == "summary" else ()
    head = "" if form == "verbatim" else "\n".join(_day_head(heading, ordered, topics, plain, gone, caps, zone))
    return Node(
        period=period,
        state="fixed" if period.ended(today) else "tentative",
        form=form,
        text=copy if form == "verbatim" else _day_summary(head, lines, caps),
        lines=lines,
        topics=topics,
        entries=len(entries),
        raw_lines=raw_lines,
        digest=_digest([*(field for entry in ordered for field in _fields(entry)), *gone]),
        head=head,
        left_out=left_out,
        closed=gone,
    )


def build_week(week: Period, days: Sequence[Node], *, today: str, caps: Caps | None = None) -> Node:
    """The node of a week from the nodes of its days, in any order."""
    lines = tuple(_day_line(one) for one in _sorted(days))
    return _above(week, days, lines, today, caps or Caps())


def build_month(month: Period, weeks: Sequence[Node], days: Sequence[Node] = (), *, today: str, caps: Caps | None = None) -> Node:
    """The node of a month.

    Args:
        month: which.
        weeks: nodes of the weeks that have a day in it. Of a week over two months only this month's days count.
        days: nodes of its days, for a copy; they are used while the month is short.
        today: ISO date.
        caps: how long it may be.
    """
    own = frozenset(month.days)
    lines = tuple(
        Line(line.where, line.words[:MONTH_WORDS], line.entries) for week in _sorted(weeks) for line in week.lines if line.where in own
    )
    return _above(month, [one for one in days if one.period.key in own], lines, today, caps or Caps(), weeks=weeks)


def _above(period: Period, days: Sequence[Node], lines: Sequence[Line], today: str, caps: Caps, *, weeks: Sequence[Node] = ()) -> Node:
    days = _sorted(days)
    raw_lines, entries = sum(one.raw_lines for one in days), sum(one.entries for one in days)
    left_out = sum((one.left_out for one in days), NOTHING)
    heading = _heading(period.key, _count(len(lines), "day"), entries, left_out)
    short = raw_lines < caps.lines(period.kind) and all(one.form == "verbatim" for one in days)
    copy = "\n".join([heading, *(f"#{one.text}".replace("\n## ", "\n### ") for one in days)]) if short else ""
    form: Form = "verbatim" if copy and estimate_tokens(copy) <= caps.copy_tokens else "summary"
    topics = merge_topics(topic for one in days for topic in one.topics)
    guessed = sorted((one for one in topics if not one.given), key=lambda one: (-len(one.days), one.name))[:LONGEST_NAMED]
    topics = tuple(one for one in topics if one.given or one in guessed)
    head = "" if form == "verbatim" else "\n".join(_head(heading, topics, period, caps))
    return Node(
        period=period,
        state="fixed" if period.ended(today) else "tentative",
        form=form,
        text=copy if form == "verbatim" else with_lines(head, named_lines(period, lines), caps.node_tokens, most=DAY_WORDS),
        lines=tuple(lines),
        topics=topics,
        entries=entries,
        raw_lines=raw_lines,
        digest=_digest([one.digest for one in (*_sorted(weeks), *days)]),
        head=head,
        left_out=left_out,
    )


def _heading(name: str, parts: str, entries: int, left_out: LeftOut) -> str:
    said = f"# {name}: {parts}, {_count(entries, 'entry', 'entries')}"
    return f"{said}; left out {left_out}" if str(left_out) else said


def _plain(entry: Entry) -> tuple[str, LeftOut]:
    """An entry as nodes show it: word for word what a person said to keep, the others without what is excluded."""
    if entry.type in KEPT:
        return entry.text.strip(), NOTHING
    text, left_out = exclude(entry.text)
    return text.strip(), left_out


def _words_of(session: Sequence[Entry], plain: Mapping[str, str]) -> tuple[Keyword, ...]:
    own = [entry for entry in session if entry.role in ("user", "")] or session
    others = [plain[entry.id] for entry in session if entry.role not in ("user", "")] if own is not session else []
    titles = [entry.topic for entry in session if entry.topic]
    return keywords([*dict.fromkeys(titles), *(plain[entry.id] for entry in own)] if titles else [plain[entry.id] for entry in own], others)


def _copied(n: int, session: Sequence[Entry], plain: Mapping[str, str], zone: tzinfo) -> list[str]:
    """A session as a copy shows it. Text never becomes structure: further lines are indented."""
    name = shown_name(session[0].session)
    # What is a temporary note as a whole is counted in the heading, and has no line.
    shown = [_quoted(entry, plain[entry.id], zone) for entry in session if plain[entry.id] or not entry.text.strip()]
    return [f"## #{n} {name}".rstrip(), *shown]


def _quoted(entry: Entry, text: str, zone: tzinfo) -> str:
    marks: list[str] = [] if entry.type == "log" else [entry.type]
    if entry.type == "reference":
        marks.append("unverified")
    if entry.topic:
        marks.append(shown_name(entry.topic))
    if entry.done:
        marks.append("done")
    who = f" {shown_name(entry.role)}" if entry.role else ""
    said = indented(text)
    marked = f" ({', '.join(marks)})" if marks else ""
    return f"- {clock_time(entry.at, zone)}{who}{marked}: {said}"


def indented(text: str) -> str:
    """A text whose further lines are indented, whatever ends them, so that none of them can be taken for structure."""
    return "\n  ".join(text.splitlines())


def clock_time(at: str, zone: tzinfo) -> str:
    """Hours and minutes of a moment in a zone, `23:50`."""
    try:
        return at[11:16] if zone is UTC else datetime.fromisoformat(at).astimezone(zone).strftime("%H:%M")
    except (ValueError, OverflowError):  # kept before moments were checked
        return at[11:16]


def _day_head(
    heading: str,
    ordered: Sequence[Entry],
    topics: Sequence[Topic],
    plain: Mapping[str, str],
    closed: Collection[str],
    caps: Caps,
    zone: tzinfo,
) -> list[str]:
    share = caps.node_tokens // QUOTED_SHARE
    kept = [one for one in ordered if one.type in KEPT]
    files = tuple(dict.fromkeys(f"knowledge/{place_name(topic_name(one))}" for one in kept))
    others = [
        one
        for one in ordered
        if one.type == "reference" or (one.type == "project" and topic_name(one).casefold() not in closed and plain[one.id])
    ]
    return [
        heading,
        *_quotes(kept, plain, share, "Kept word for word", "knowledge", zone, files=files),
        *_quotes(others, plain, share, "Projects and references", "the raw log", zone),
        *_named([one for one in topics if one.given], caps.node_tokens // NAMED_SHARE),
    ]


def _day_summary(head: str, lines: Sequence[Line], caps: Caps) -> str:
    # The cap is for days of very many sessions; before that a session has its share and no more.
    cap = min(caps.node_tokens, estimate_tokens(head) + len(lines) * (SESSION_TOKENS + 5) + 8)
    return with_lines(head, {line.where: line for line in lines}, cap, most=SESSION_WORDS, less=SAID_LESS)


def _quotes(
    entries: Sequence[Entry], plain: Mapping[str, str], budget: int, title: str, rest: str, zone: tzinfo, *, files: Sequence[str] = ()
) -> list[str]:
    """Entries word for word while they fit, and how many more there are, and where."""
    if not entries:
        return []
    shown, left = [f"## {title}"], budget - 30
    missing: list[Entry] = []
    for entry in entries:
        line = _quoted(entry, plain[entry.id], zone)
        cost = estimate_tokens(f"{line}\n")
        if cost <= left:
            left -= cost
            shown.append(line)
        else:
            missing.append(entry)
    if not missing:
        return shown
    wanted = {f"knowledge/{place_name(topic_name(one))}" for one in missing}
    named = [one for one in files if one in wanted]
    look = ", ".join(named) if named and len(named) <= FILES_NAMED and estimate_tokens(", ".join(named)) <= left + 20 else rest
    return [*shown, f"- {len(missing)} more in {look}"]


def _named(topics: Sequence[Topic], budget: int) -> list[str]:
    """The names of topics on one line while they fit, and how many more there are."""
    if not topics:
        return []
    shown, left = list[str](), budget - 16
    for name in dict.fromkeys(shown_name(one.name) for one in topics):
        cost = estimate_tokens(f"{name}; ")
        if cost <= left:
            left -= cost
            shown.append(name)
    more = len({one.name for one in topics}) - len(shown)
    rest = [f"{more} more in its list of topics"] if more > 0 else []
    return [f"Topics: {'; '.join([*shown, *rest])}"]


def _head(heading: str, topics: Sequence[Topic], period: Period, caps: Caps) -> list[str]:
    given = [one for one in topics if one.given]
    shown, left = list[str](), caps.node_tokens // QUOTED_SHARE - 20
    for topic in sorted(given, key=lambda one: (one.sort == "log", one.done, -len(one.days), one.key)):
        line = topic_line(topic, period.bounds[1].isoformat())
        cost = estimate_tokens(f"{line}\n")
        if cost <= left:
            left -= cost
            shown.append(line)
    missing = len(given) - len(shown)
    rest = [f"- {missing} more in {'the days' if shown else 'its list of topics, and in the days'}"] if missing else []
    return [heading, *(["## Topics", *shown, *rest] if given else [])]


def named_lines(period: Period, lines: Sequence[Line]) -> dict[str, Line]:
    """What a node says of the things below it, by the name that its text has for each: `#3` in a day, `03-15` in a week or month."""
    return {line.where if period.kind == "day" else line.where[5:]: line for line in lines}


def with_lines(head: str, lines: Mapping[str, Line], cap: int, *, most: int, less: float = 1.0) -> str:
    """A head and a line of keywords for each thing below it, inside a cap of tokens."""
    left = cap - estimate_tokens(head) - 1
    named, cut = dict[str, Line](), 0
    for name, line in lines.items():
        cost = estimate_tokens(f"- {name}:\n")
        if cost > left - 12 and len(named) < len(lines):
            cut = len(lines) - len(named)
            break
        left -= cost
        named[name] = line
    rest = [f"- {cut} more up to {list(lines)[-1]}"] if cut else []
    left -= 12 if cut else 0
    while True:
        words = shared_out({name: line.words for name, line in named.items()}, max(left, 0), least=LEAST_WORDS, most=most, less=less)
        text = "\n".join([head, *(f"- {name}: {as_text(words[name])}".rstrip() for name in named), *rest])
        over = estimate_tokens(text) - cap
        if over <= 0 or left <= 0:
            return text
        # Words at the end of a line cost a little more than within one.
        left -= over


def _topics_of(day: str, sessions: Sequence[Sequence[Entry]], lines: Sequence[Line], plain: Mapping[str, str]) -> tuple[Topic, ...]:
    topics: list[Topic] = []
    for session, line in zip(sessions, lines, strict=True):
        named: dict[tuple[str, str], list[Entry]] = {}
        for entry in session:
            if topic_name(entry):
                named.setdefault((topic_name(entry), entry.type), []).append(entry)
        topics += [_topic(entries, day, plain) for entries in named.values()]
        if not any(entry.topic for entry in session) and line.words:
            name, *subs = (one.word for one in line.words)
            topics.append(Topic(name=name, subs=tuple(subs[:SUBS]), days=(day,), at=session[-1].at))
    return merge_topics(topics)


def _topic(entries: Sequence[Entry], day: str, plain: Mapping[str, str]) -> Topic:
    """The topic of entries of one type, in order, with the words of these alone: a session may be about much else."""
    newest = entries[-1]
    name, done = topic_name(newest), newest.done and newest.type == "project"
    words = (one.word for one in keywords([plain[entry.id] for entry in entries], most=3 * SUBS))
    subs = tuple(word for word in words if word.casefold() not in name.casefold())[:SUBS]
    return Topic(name=name, type=newest.type, subs=subs, days=(day,), done=done, given=True, at=newest.at)


def _day_line(node: Node) -> Line:
    """What a week carries of a day: the best words of all its sessions."""
    return Line(node.period.key, pooled((line.words for line in node.lines), most=DAY_WORDS), node.entries)


def _sorted(nodes: Sequence[Node]) -> list[Node]:
    return sorted(nodes, key=lambda one: one.period)


def _fields(entry: Entry) -> tuple[str, ...]:
    return entry.id, entry.at, entry.type, entry.topic, entry.session, entry.role, str(entry.done), entry.text


def _digest(parts: Sequence[str]) -> str:
    held = sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        held.update(f"{len(raw)}:".encode() + raw)
    return held.hexdigest()


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
