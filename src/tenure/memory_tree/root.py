"""The root: the one short page of a memory that is always loaded, however long its history is.

Active projects, rules that people gave, topics that come back, and a history that goes from days into
weeks, months and years as it recedes. Each line says where to look. What has no room here is still in
the tree, and the last line says how much that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tenure.memory_tree.caps import Caps
from tenure.memory_tree.keywords import Keyword, as_text, pooled, rarer_first, shared_out, word_cost
from tenure.memory_tree.mirror_names import place_name
from tenure.memory_tree.nodes import DAY_WORDS, LEAST_WORDS, Line, Node
from tenure.memory_tree.periods import age, week_of
from tenure.memory_tree.topics import Topic, merge_topics, recurring, topic_line
from tenure.playbook.blocks import defused
from tenure.ranking import estimate_tokens

RARITY = 0.5
"""Power of a word's rarity among the lines of the history."""

TOPICS_SHARE = 0.4
"""Of the cap, for what writers named."""

RECURRING, RECURRING_DAYS, RECURRING_SHARE = 6, 4, 0.05
"""Topics that nobody named but that come back: how many, from how many days, and their share of the cap."""

SAID, SAID_SHORT = 240, 100
"""Characters of what a person said to keep, word for word on a line of the root; and where there is less room."""

SAID_SHARE = 4
"""What is word for word takes one part in so many of what is left for rules at most; those that come last have keywords."""

LEAST_LINE = 8
"""Keywords for which a line of the history must have room, else it stands for more days."""

STEPS = ((0.3, 0.45, "months"), (0.42, 0.6, "weeks"), (1.0, 1.0, "days"))
"""How far each step of refinement of the history may go: share of its tokens and of its lines, and into what it cuts."""

_ACTIVE = ("project",)
_PATTERNS = ("user", "feedback")


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A line of the history: its heading, its name under it, and the days it stands for."""

    heading: str
    name: str
    days: tuple[str, ...]


def build_root(
    months: Sequence[Node],
    *,
    today: str,
    zone: str = "UTC",
    caps: Caps | None = None,
    kept: Callable[[str], Sequence[str]] = lambda _: (),
) -> str:
    """The root of a tree, under its cap.

    Args:
        months: nodes of all months, in any order.
        today: ISO date in the zone.
        zone: name of the zone in which days begin.
        caps: how long it may be.
        kept: gives what a person said to keep under a topic's name, word for word, oldest first.
    """
    caps = caps or Caps()
    months = sorted(months, key=lambda one: one.period)
    if not months:
        return f"# Memory\n\nNothing is kept yet (days in {zone})."
    days = {line.where: line for month in months for line in month.lines}
    topics = merge_topics(topic for month in months for topic in month.topics)
    entries = sum(line.entries for line in days.values())
    head = [f"# Memory: {min(days)} to {max(days)}, {entries:,} {'entry' if entries == 1 else 'entries'}, days in {zone}"]
    given, left_out = _given(topics, today, int(caps.root_tokens * TOPICS_SHARE), int(caps.root_lines * TOPICS_SHARE), kept)
    look = "open a day (2026-03-15), a week (2026-W11) or a month (2026-03), or recall by words."
    foot = f"More is in the tree than here{_more(left_out)}: {look}"
    spent = estimate_tokens("\n".join([*head, *given, foot])) + 12
    rows = caps.root_lines - len(head) - len(given) - 1
    history_rows = _rows(_stretches(tuple(sorted(days)), caps.root_tokens - spent, rows - 1)) + 1
    coming_back = _coming_back(
        topics, today, min(int(caps.root_tokens * RECURRING_SHARE), caps.root_tokens - spent - 200), rows - history_rows - 1
    )
    left = caps.root_tokens - spent - estimate_tokens("\n".join(coming_back)) - 2
    while True:
        text = "\n".join([*head, *given, *coming_back, *_history(days, today, left, rows - len(coming_back)), foot])
        over = estimate_tokens(text) - caps.root_tokens
        if over <= 0 or left <= 0:
            return text
        # Words at the end of a line cost a little more than within one.
        left -= over


def _more(left_out: Sequence[Topic]) -> str:
    """How many named topics had no room, and in which months they are listed."""
    if not left_out:
        return ""
    first, last = min(one.last for one in left_out)[:7], max(one.last for one in left_out)[:7]
    number = f"{len(left_out):,} more named {'topic' if len(left_out) == 1 else 'topics'}"
    return f", such as {number} in {first if first == last else f'{first} to {last}'} (list: memory topics)"


def _given(
    topics: Sequence[Topic], today: str, budget: int, rows: int, kept: Callable[[str], Sequence[str]]
) -> tuple[list[str], list[Topic]]:
    """Lines of what writers named, newest first, by heading; and what had no room."""
    groups: dict[str, list[Topic]] = {"Active": [], "Patterns": [], "Topics": []}
    for topic in topics:
        if topic.given:
            name = "Patterns" if topic.type in _PATTERNS else "Active" if topic.type in _ACTIVE and not topic.done else "Topics"
            groups[name].append(topic)
    lines, left, left_out = list[str](), budget, list[Topic]()
    for place, (name, group) in enumerate(groups.items()):
        share, shown = left // (len(groups) - place), list[str]()
        # One part for each group, and what one leaves over goes to those behind it.
        for topic in sorted(group, key=lambda one: (one.last, one.name), reverse=True):
            line = _kept_line(topic, today, share // SAID_SHARE, kept)
            cost = estimate_tokens(f"{line}\n")
            if cost <= share - 8 and len(lines) + len(shown) + 1 < rows:
                share -= cost
                left -= cost
                shown.append(line)
            else:
                left_out.append(topic)
        if shown:
            lines += [f"## {name}", *shown]
            left -= 6
    return lines, left_out


def _kept_line(topic: Topic, today: str, budget: int, kept: Callable[[str], Sequence[str]]) -> str:
    """The line of a topic: with what people said to keep in place of its keywords, if that has room.

    Keywords of a rule do not say whether it tells to do a thing or never to do it.
    """
    where = f"knowledge/{place_name(topic.name)}" if topic.type in _PATTERNS else ""
    said = kept(topic.name) if where and budget > 0 else ()
    for longest in (SAID, SAID_SHORT) if said else ():
        line = topic_line(topic, today, where=where, said=_newest(said, longest))
        if estimate_tokens(f"{line}\n") <= budget:
            return line
    return topic_line(topic, today, where=where)


def _newest(said: Sequence[str], longest: int) -> str:
    """The newest of some texts on one line, and those before it while all of them fit; `…` where there is more."""
    texts = [" ".join(defused(" ".join(text.split())).replace("<!--", "<! --").split()) for text in reversed(said)]
    texts = [text if text.endswith((".", "!", "?", "…", "。")) else f"{text}." for text in dict.fromkeys(filter(None, texts))]
    if not texts:
        return ""
    if len(texts[0]) > longest:
        cut = texts[0][: longest - 1]
        start, blank, _ = cut.rpartition(" ")
        return f"{start if blank and len(start) > longest // 2 else cut}…"
    found, n = texts[0], 1
    while n < len(texts) and len(found) + 1 + len(texts[n]) <= longest:
        found, n = f"{found} {texts[n]}", n + 1
    return found if n == len(texts) else f"{found} …"


def _coming_back(topics: Sequence[Topic], today: str, budget: int, rows: int) -> list[str]:
    lines, left = list[str](), budget - 8
    for topic in recurring(topics, least_days=RECURRING_DAYS, most=max(0, min(RECURRING, rows))):
        line = topic_line(topic, today)
        cost = estimate_tokens(f"{line}\n")
        if cost <= left:
            left -= cost
            lines.append(line)
    return ["## Coming back", *lines] if lines else []


def _history(days: Mapping[str, Line], today: str, budget: int, rows: int) -> list[str]:
    stretches = _stretches(tuple(sorted(days)), budget, rows - 1)
    head, left = "## History (log)", budget - 8
    headings = dict.fromkeys(one.heading for one in stretches)
    shown_headings = {heading: f"### {heading}{f' ({age(_last(stretches, heading), today)})'}" for heading in headings}
    left -= sum(estimate_tokens(f"{one}\n") for one in shown_headings.values())
    named: list[_Stretch] = []
    left -= 16 if sum(estimate_tokens(f"- {one.name}:\n") for one in stretches) > left else 0
    for stretch in reversed(stretches):
        cost = estimate_tokens(f"- {stretch.name}:\n")
        if cost > left:
            break
        left -= cost
        named.append(stretch)
    named.reverse()
    words: dict[str, Sequence[Keyword]] = {f"{one.heading}/{one.name}": _words(one, days) for one in named}
    shown = shared_out(rarer_first(words, RARITY), left, least=LEAST_WORDS, most=DAY_WORDS)
    lines, heading = [head], ""
    if len(named) < len(stretches):
        lines.append(f"- from {stretches[0].days[0]}: see its months")
    for one in named:
        if one.heading != heading:
            heading = one.heading
            lines.append(shown_headings[heading])
        lines.append(f"- {one.name}: {as_text(shown[f'{one.heading}/{one.name}'])}".rstrip())
    return lines


def _words(stretch: _Stretch, days: Mapping[str, Line]) -> tuple[Keyword, ...]:
    if len(stretch.days) == 1:
        return days[stretch.days[0]].words
    return pooled((days[day].words[:24] for day in stretch.days), most=64)


def _last(stretches: Sequence[_Stretch], heading: str) -> str:
    return max(one.days[-1] for one in stretches if one.heading == heading)


def _rows(stretches: Sequence[_Stretch]) -> int:
    return len(stretches) + len({one.heading for one in stretches})


def _stretches(days: Sequence[str], budget: int, rows: int) -> list[_Stretch]:
    """How the history is cut up: days of late, then weeks, months and years, as fine as there is room for, oldest first.

    Args:
        days: that have entries, in order.
        budget: tokens of the history.
        rows: lines of it, headings among them.
    """
    months = sorted({day[:7] for day in days})
    cost = LEAST_LINE * word_cost("theatre") + 8
    years = sorted({month[:4] for month in months})
    room = max(1, min(rows - 1, budget // cost))
    # Each month on the line of its year; where there are more years than lines, the oldest share the first.
    together = years[: len(years) - room + 1] if len(years) > room else []
    early = f"{together[0]} to {together[-1]}" if together else ""
    coarse = {month: early if month[:4] in together else month[:4] for month in months}
    spent = len(set(coarse.values())) * cost
    # Each step takes what is left to it only: the latest months first, so that what is near is fine.
    for share, of_rows, finer in STEPS:
        for month in reversed(months):
            own = [day for day in days if day[:7] == month]
            more = {"months": 1, "weeks": len(set(map(week_of, own))), "days": len(own)}[finer] * cost
            before, coarse[month] = coarse[month], finer
            if spent + more > budget * share or _rows(_cut(days, coarse)) > rows * of_rows:
                coarse[month] = before
                break
            spent += more
    return _cut(days, coarse)


def _cut(days: Sequence[str], coarse: Mapping[str, str]) -> list[_Stretch]:
    """The stretches that days make when each month is as coarse as it is said to be: `days`, `weeks`, `months`, or its year."""
    found: dict[tuple[str, str], list[str]] = {}
    for day in days:
        level, month = coarse[day[:7]], day[:7]
        if level == "days":
            name = (month, day[8:])
        elif level == "weeks":
            name = ("Weeks", week_of(day).key)
        elif level == "months":
            name = ("Months", month)
        else:
            name = ("Years", level)
        found.setdefault(name, []).append(day)
    return [_Stretch(heading, name, tuple(own)) for (heading, name), own in found.items()]
