"""Nodes: what a day, a week or a month comes down to. A copy while it is short, a summary dense with keywords above that.

A node follows from what lies below it and from nothing else: a day from its entries, a week from its
days, a month from the weeks that have a day in it. So the tree comes out the same whenever it is built,
in whatever order entries arrived, and a late entry changes the three or four nodes above it only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from tenure.errors import UserError
from tenure.memory_tree.entries import KEPT, Entry, open_projects
from tenure.memory_tree.exclusions import without_exclusions
from tenure.memory_tree.keywords import SAID_LESS, Keyword, as_text, keywords, pooled, rarer_first, shared_out
from tenure.memory_tree.periods import Kind, Period
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

LONGEST_NAMED = 40
"""Topics of a week or month that no writer named, at most; days hold all of theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How long nodes may be.

    Attributes:
        day_lines, week_lines, month_lines: from so many lines of raw text a node is a summary.
        node_tokens: of a summary.
        copy_tokens: of a copy; what is longer becomes a summary however few its lines are.
        root_tokens, root_lines: of the root.
    """

    day_lines: int = 200
    week_lines: int = 300
    month_lines: int = 500
    node_tokens: int = 1_500
    copy_tokens: int = 6_000
    root_tokens: int = 3_000
    root_lines: int = 100

    def __post_init__(self) -> None:
        for name in ("day_lines", "week_lines", "month_lines"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}. It is a number of lines from 1.")
        for name, least in (("node_tokens", 200), ("copy_tokens", 200), ("root_tokens", 400), ("root_lines", 20)):
            if getattr(self, name) < least:
                raise UserError(f"{name} is {getattr(self, name)}. Below {least} nothing can be said.")

    def lines(self, kind: Kind) -> int:
        """From how many lines a node of a kind is a summary."""
        return {"day": self.day_lines, "week": self.week_lines, "month": self.month_lines}[kind]


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


def sessions_of(entries: Sequence[Entry]) -> tuple[tuple[Entry, ...], ...]:
    """The sessions of a day in the order in which they began, each in order; entries without a session are one.

    The third is what nodes call `#3`.
    """
    found: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda one: one.order):
        found.setdefault(entry.session, []).append(entry)
    return tuple(map(tuple, found.values()))


def build_day(day: str, entries: Sequence[Entry], *, today: str, caps: Caps | None = None) -> Node:
    """The node of a day.

    Args:
        day: ISO date.
        entries: all of that day, in any order.
        today: ISO date in the same zone.
        caps: how long it may be.
    """
    caps = caps or Caps()
    period, sessions = Period("day", day), sessions_of(entries)
    plain = {entry.id: without_exclusions(entry.text).strip() for entry in entries}
    raw_lines = sum(entry.text.count("\n") + 1 for entry in entries)
    words = rarer_first({f"#{n}": _words_of(session, plain) for n, session in enumerate(sessions, 1)}, RARITY)
    lines = tuple(Line(f"#{n}", words[f"#{n}"], len(session)) for n, session in enumerate(sessions, 1))
    heading = f"# {day}: {_count(len(sessions), 'session')}, {_count(len(entries), 'entry', 'entries')}"
    copy = "\n".join([heading, *(line for n, session in enumerate(sessions, 1) for line in _copied(n, session, plain))])
    form: Form = "verbatim" if raw_lines < caps.day_lines and estimate_tokens(copy) <= caps.copy_tokens else "summary"
    return Node(
        period=period,
        state="fixed" if period.ended(today) else "tentative",
        form=form,
        text=copy if form == "verbatim" else _day_summary(heading, lines, entries, plain, caps),
        lines=lines,
        topics=_topics_of(day, sessions, lines),
        entries=len(entries),
        raw_lines=raw_lines,
        digest=_digest([field for entry in sorted(entries, key=lambda one: one.order) for field in _fields(entry)]),
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
    heading = f"# {period.key}: {_count(len(lines), 'day')}, {_count(entries, 'entry', 'entries')}"
    short = raw_lines < caps.lines(period.kind) and all(one.form == "verbatim" for one in days)
    copy = "\n".join([heading, *(f"#{one.text}".replace("\n## ", "\n### ") for one in days)]) if short else ""
    form: Form = "verbatim" if copy and estimate_tokens(copy) <= caps.copy_tokens else "summary"
    topics = merge_topics(topic for one in days for topic in one.topics)
    guessed = sorted((one for one in topics if not one.given), key=lambda one: (-len(one.days), one.name))[:LONGEST_NAMED]
    topics = tuple(one for one in topics if one.given or one in guessed)
    return Node(
        period=period,
        state="fixed" if period.ended(today) else "tentative",
        form=form,
        text=copy if form == "verbatim" else _summary(heading, lines, topics, period, caps),
        lines=tuple(lines),
        topics=topics,
        entries=entries,
        raw_lines=raw_lines,
        digest=_digest([one.digest for one in (*_sorted(weeks), *days)]),
    )


def _words_of(session: Sequence[Entry], plain: Mapping[str, str]) -> tuple[Keyword, ...]:
    own = [entry for entry in session if entry.role in ("user", "")] or session
    others = [plain[entry.id] for entry in session if entry.role not in ("user", "")] if own is not session else []
    titles = [entry.topic for entry in session if entry.topic]
    return keywords([*dict.fromkeys(titles), *(plain[entry.id] for entry in own)] if titles else [plain[entry.id] for entry in own], others)


def _copied(n: int, session: Sequence[Entry], plain: Mapping[str, str]) -> list[str]:
    """A session as a copy shows it. Text never becomes structure: further lines are indented."""
    name = f" {session[0].session}" if session[0].session else ""
    return [f"## #{n}{name}", *(_quoted(entry, plain[entry.id]) for entry in session)]


def _quoted(entry: Entry, text: str) -> str:
    marks: list[str] = [] if entry.type == "log" else [entry.type]
    if entry.type == "reference":
        marks.append("unverified")
    if entry.topic:
        marks.append(entry.topic)
    if entry.done:
        marks.append("done")
    who = f" {entry.role}" if entry.role else ""
    said = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\n  ")
    marked = f" ({', '.join(marks)})" if marks else ""
    return f"- {entry.at[11:16]}{who}{marked}: {said}"


def _day_summary(heading: str, lines: Sequence[Line], entries: Sequence[Entry], plain: Mapping[str, str], caps: Caps) -> str:
    ordered = sorted(entries, key=lambda one: one.order)
    running = open_projects(ordered)
    share = caps.node_tokens // QUOTED_SHARE
    kept = _quotes([one for one in ordered if one.type in KEPT], plain, share, "Kept word for word", "knowledge")
    others = [one for one in ordered if one.type == "reference" or (one.type == "project" and one.topic in running)]
    noted = _quotes(others, plain, share, "Projects and references", "the raw log")
    head = [heading, *kept, *noted]
    # The cap is for days of very many sessions; before that a session has its share and no more.
    cap = min(caps.node_tokens, estimate_tokens("\n".join(head)) + len(lines) * (SESSION_TOKENS + 5) + 8)
    return _with_lines(head, {line.where: line for line in lines}, cap, most=SESSION_WORDS, less=SAID_LESS)


def _quotes(entries: Sequence[Entry], plain: Mapping[str, str], budget: int, title: str, rest: str) -> list[str]:
    """Entries word for word while they fit, and how many more there are, and where."""
    if not entries:
        return []
    shown, left = [f"## {title}"], budget - 30
    for entry in entries:
        line = _quoted(entry, plain[entry.id])
        cost = estimate_tokens(f"{line}\n")
        if cost <= left:
            left -= cost
            shown.append(line)
    missing = len(entries) - len(shown) + 1
    return [*shown, f"- {missing} more in {rest}"] if missing else shown


def _summary(heading: str, lines: Sequence[Line], topics: Sequence[Topic], period: Period, caps: Caps) -> str:
    given = [one for one in topics if one.given]
    shown, left = list[str](), caps.node_tokens // QUOTED_SHARE - 20
    for topic in sorted(given, key=lambda one: (one.type == "log", one.done, -len(one.days), one.name)):
        line = topic_line(topic, period.bounds[1].isoformat())
        cost = estimate_tokens(f"{line}\n")
        if cost <= left:
            left -= cost
            shown.append(line)
    missing = len(given) - len(shown)
    if given:
        shown = ["## Topics", *shown, *([f"- {missing} more in the days"] if missing else [])]
    return _with_lines([heading, *shown], {line.where[5:]: line for line in lines}, caps.node_tokens, most=DAY_WORDS)


def _with_lines(head: Sequence[str], lines: Mapping[str, Line], cap: int, *, most: int, less: float = 1.0) -> str:
    """A head and a line of keywords for each thing below it, inside a cap of tokens."""
    left = cap - estimate_tokens("\n".join(head)) - 1
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
        text = "\n".join([*head, *(f"- {name}: {as_text(words[name])}".rstrip() for name in named), *rest])
        over = estimate_tokens(text) - cap
        if over <= 0 or left <= 0:
            return text
        # Words at the end of a line cost a little more than within one.
        left -= over


def _topics_of(day: str, sessions: Sequence[Sequence[Entry]], lines: Sequence[Line]) -> tuple[Topic, ...]:
    topics: list[Topic] = []
    for session, line in zip(sessions, lines, strict=True):
        subs = tuple(one.word for one in line.words)
        named = {entry.topic for entry in session if entry.topic}
        for name in named:
            newest = [entry for entry in session if entry.topic == name][-1]
            others = tuple(sub for sub in subs if sub.casefold() not in name.casefold())
            topics.append(Topic(name=name, type=newest.type, subs=others[:SUBS], days=(day,), done=newest.done, given=True))
        for kind in {entry.type for entry in session if entry.type != "log" and not entry.topic}:
            topics.append(Topic(name=kind, type=kind, subs=subs[:SUBS], days=(day,), given=True))
        if not named and subs:
            topics.append(Topic(name=subs[0], subs=subs[1 : SUBS + 1], days=(day,)))
    return merge_topics(topics)


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


def summary_key(node: Node, prompt_version: str) -> str:
    """What a model's summary of a node is kept under: the same input under the same prompt is never summarised again."""
    return _digest([node.digest, prompt_version])


def with_summary(node: Node, text: str, *, by: str, caps: Caps | None = None) -> Node:
    """A node with a model's summary in place of the extractive one, cut between lines to the node's cap.

    Args:
        node: a summary; a copy stays as it is.
        text: the model's; as long as the cap allows it is followed by the lines that name what lies below.
        by: model and version of the prompt.
        caps: of the tree.
    """
    if node.form == "verbatim" or not text.strip():
        return node
    cap = (caps or Caps()).node_tokens
    heading = node.text.split("\n", 1)[0]
    kept, left = [heading], cap // 2 - estimate_tokens(heading) - 1
    for line in text.strip().splitlines():
        cost = estimate_tokens(f"{line}\n")
        if cost > left:
            break
        left -= cost
        # A heading of the model's own would look like one of the node's.
        kept.append(f" {line}" if line.startswith("#") else line)
    names = {line.where if node.period.kind == "day" else line.where[5:]: line for line in node.lines}
    return replace(node, text=_with_lines(kept, names, cap, most=SESSION_WORDS), by=by)
