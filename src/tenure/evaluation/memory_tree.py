"""Bench `memory-tree`: how far a reader gets who has only the tree, and whether recall finds as much as before.

The tree is built from raw turns without a model. Then a reader that has no index walks it from the root,
once led by the fact to recall and once by the request alone (see `memory_walk`). With the words of the
nodes shuffled the same walk must get nowhere: what it reaches, it reaches by what the nodes say.
"""

from __future__ import annotations

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from tenure.evaluation.bench_files import Place, read_json
from tenure.evaluation.memory_walk import Tree, looked_for, walk
from tenure.evaluation.recall_memaware import BUDGETS, Session, read_sessions, run_recall_memaware
from tenure.memory_tree.caps import Caps
from tenure.memory_tree.entries import Entry
from tenure.memory_tree.nodes import Node, build_day, build_month, build_week, sessions_of
from tenure.memory_tree.periods import Period, month_of, week_of, weeks_of
from tenure.memory_tree.root import build_root
from tenure.ports import Embedder
from tenure.ranking import estimate_tokens

NEAR, FAR = 10_000, 40_000
"""Tokens that a walk may read."""

SPEAKER = ("user", "previous", "previously")
"""Words of the facts about whom they are of: no part of what is looked for."""

_WANTED = "Give a JSON list of objects with 'question', 'should_recall' and 'answer_session_ids'."
_CHILD = re.compile(r"^(- (?:#\d+|[\d-]+|\d{4}-W\d{2}):)(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    question: str
    fact: str
    sessions: frozenset[str]


def run_memory_tree(
    data: Path,
    questions: Path,
    *,
    embedder: Embedder | None = None,
    seed: int = 0,
    caps: Caps | None = None,
    tell: Callable[[float, str], None] | None = None,
) -> dict[str, Any]:
    """Build the tree of a folder of chats and walk it for each question.

    Args:
        data: a folder of day files, as for `recall-memaware`.
        questions: a JSON list with `question`, `should_recall` (the fact), `answer_session_ids`.
        embedder: for the hits of recall; the walk is by words alone.
        seed: of the shuffled control.
        caps: of the tree; the default ones if none.
        tell: called now and then with the share done and what is done.

    Returns:
        `entries, build_seconds` (processor time), `root_tokens`; `reachable_by_fact` (share of
        questions of which any answer session was opened within 10,000 tokens of reading, led by the fact),
        `reachable_by_fact_40k`, `reachable_by_question`, `reachable_shuffled` (by the fact, 10,000 tokens);
        `hit_3k, hit_10k` of recall as in `recall-memaware`; `tokens_mean` (tokens that a walk by fact read until it
        opened an answer session, or its 10,000).

    Raises:
        UserError: folder or file are not of that form.
    """
    caps = caps or Caps()
    sessions, asked = read_sessions(data), _questions(questions)
    entries = as_entries(sessions)
    started = time.process_time()
    tree, names = _build(entries, caps)
    build_seconds = time.process_time() - started
    of_id: dict[str, set[str]] = defaultdict(set)
    for number, session in enumerate(sessions):
        of_id[session.id] |= names.get(str(number), set())
    shuffled = _shuffled(tree, random.Random(seed))
    reached: dict[str, list[float]] = defaultdict(list)
    read: list[int] = []
    for number, one in enumerate(asked, 1):
        wanted = frozenset(name for session in one.sessions for name in of_id.get(session, ()))
        fact = looked_for(one.fact, SPEAKER)
        found = walk(tree, fact, FAR)
        reached["reachable_by_fact"].append(found.reached(wanted, NEAR))
        reached["reachable_by_fact_40k"].append(found.reached(wanted, FAR))
        reached["reachable_by_question"].append(walk(tree, looked_for(one.question), NEAR).reached(wanted, NEAR))
        reached["reachable_shuffled"].append(walk(shuffled, fact, NEAR).reached(wanted, NEAR))
        read.append(next((tokens for name, tokens in found.opened if name in wanted and tokens <= NEAR), min(found.tokens, NEAR)))
        if tell is not None and number % 20 == 0:
            tell(0.5 * number / len(asked), f"{number:,} of {len(asked):,} walks")
    hits = run_recall_memaware(
        data, questions, embedder=embedder, seed=seed, tell=None if tell is None else lambda share, said: tell(0.5 + share / 2, said)
    )
    return {
        "entries": len(entries),
        "build_seconds": round(build_seconds, 2),
        "root_tokens": estimate_tokens(tree.root),
        **{name: round(fmean(some), 4) for name, some in reached.items()},
        **{f"hit_{name}": hits[f"hit_{name}"] for name in BUDGETS},
        "tokens_mean": round(fmean(read)),
        "questions": len(asked),
        "nodes": len(tree.nodes),
        "root_cap": caps.root_tokens,
        "embedder": hits["embedder"],
        "note": hits["note"],
    }


def as_entries(sessions: Sequence[Session]) -> list[Entry]:
    """Chats as raw entries of type `log`, one a turn, under neutral names: ids in the data tell the answers."""
    entries: list[Entry] = []
    for number, session in enumerate(sessions):
        turns = [
            (role, said[place])
            for place in range(max(len(session.user), len(session.assistant)))
            for role, said in (("user", session.user), ("assistant", session.assistant))
            if place < len(said)
        ]
        entries += [
            Entry(
                id=f"{number:06}:{place:04}",
                at=f"{session.day}T12:00:00.000000+00:00",
                day=session.day,
                text=text,
                session=str(number),
                role=role,
            )
            for place, (role, text) in enumerate(turns)
        ]
    return entries


def _build(entries: Sequence[Entry], caps: Caps) -> tuple[Tree, Mapping[str, set[str]]]:
    """The tree, and under which names a session can be opened, by session."""
    by_day: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_day[entry.day].append(entry)
    today = (date.fromisoformat(max(by_day)) + timedelta(days=1)).isoformat()
    days = {day: build_day(day, some, today=today, caps=caps) for day, some in sorted(by_day.items())}
    of_week: dict[Period, list[Node]] = defaultdict(list)
    for day, node in days.items():
        of_week[week_of(day)].append(node)
    weeks = {week: build_week(week, some, today=today, caps=caps) for week, some in of_week.items()}
    months = [
        build_month(month, [weeks[week] for week in weeks_of(month) if week in weeks], [*days.values()], today=today, caps=caps)
        for month in sorted({month_of(day) for day in days})
    ]
    costs: dict[str, int] = {}
    names: dict[str, set[str]] = defaultdict(set)
    for day, some in by_day.items():
        for place, session in enumerate(sessions_of(some), 1):
            # What a person said in it; the longest costs are cut to one turn by the walk.
            costs[f"{day}#{place}"] = sum(estimate_tokens(f"{one.text}\n") for one in session if one.role == "user")
            names[session[0].session].add(f"{day}#{place}")
    nodes = {node.period.key: node.text for node in (*days.values(), *weeks.values(), *months)}
    return Tree(root=build_root(months, today=today, caps=caps), nodes=nodes, session_tokens=costs), names


def _shuffled(tree: Tree, dice: random.Random) -> Tree:
    """The same tree with what is said of each child standing beside another one's name, root and nodes each among themselves."""

    def deal(texts: Mapping[str, str]) -> dict[str, str]:
        said = [match[2] for text in texts.values() for match in _CHILD.finditer(text)]
        dice.shuffle(said)
        left = iter(said)
        return {name: _CHILD.sub(lambda match: match[1] + next(left), text) for name, text in texts.items()}

    return replace(tree, root=deal({"": tree.root})[""], nodes=deal(tree.nodes))


def _questions(path: Path) -> list[_Asked]:
    found = Place(path, read_json(path, wanted=_WANTED), wanted=_WANTED)
    asked = [
        _Asked(
            question=one.field("question").text(),
            fact=one.field("should_recall").text(),
            sessions=frozenset(named.text() for named in one.field("answer_session_ids").elements("id")),
        )
        for one in found.elements("question")
    ]
    if not asked:
        raise found.wrong("it holds no question")
    return asked
