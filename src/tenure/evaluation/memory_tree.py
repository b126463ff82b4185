"""Bench `memory-tree`: how far a reader gets who has only the tree, and what the memory's own recall finds.

Turns are kept in a memory on disk, as an import keeps them, and compacted without a model. Then a reader that
has no index walks the tree from the root, once led by the fact to recall and once by the request alone (see
`memory_walk`). With the words of the nodes shuffled the same walk must get nowhere: what it reaches, it reaches
by what the nodes say. Recall answers the requests from the same memory, by the same measure as `recall-memaware`.
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from typing import Any

from tenure.evaluation.bench_arms import arm_figures
from tenure.evaluation.bench_files import Place, read_json
from tenure.evaluation.memory_walk import Tree, looked_for, walk
from tenure.evaluation.recall_memaware import BUDGETS, Baselines, Session, Shown, hit, read_sessions
from tenure.learning.embedding import Vectors
from tenure.learning.memory import Memory
from tenure.memory_tree.caps import Caps
from tenure.memory_tree.entries import Entry
from tenure.memory_tree.nodes import sessions_of
from tenure.memory_tree.periods import Kind
from tenure.ports import Embedder, Store
from tenure.ranking import estimate_tokens
from tenure.stores.sqlite import open_sqlite
from tenure.system import UlidSource

KINDS: tuple[Kind, ...] = ("day", "week", "month")
SCOPE = "local/memory-tree"

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
    recall: bool = True,
    redated: Callable[[Sequence[Session]], Sequence[Session]] | None = None,
    tell: Callable[[float, str], None] | None = None,
) -> dict[str, Any]:
    """Keep a folder of chats in a memory, and for each question walk its tree and ask it.

    Args:
        data: a folder of day files, as for `recall-memaware`.
        questions: a JSON list with `question`, `should_recall` (the fact), `answer_session_ids`.
        embedder: for the memory's search by meaning; none, it searches by words alone.
        seed: of the shuffled control.
        recall: whether to ask the memory too; without, the walks alone are measured.
        redated: gives some of the sessions, or other days to them; questions that are left without a session are not asked.
        tell: called now and then with the share done and what is done.

    Returns:
        `entries, build_seconds` (processor time), `root_tokens`; `reachable_by_fact` (share of
        questions of which any answer session was opened within 10,000 tokens of reading, led by the fact),
        `reachable_by_fact_40k`, `reachable_by_question` and `reachable_by_question_40k` (led by the request alone),
        `reachable_shuffled` (by the fact, 10,000 tokens); `hit_3k, hit_10k` of `Memory.recall` as in `recall-memaware`;
        `recall_ms` (median processor time for 3,000 tokens); `tokens_mean` (tokens that a walk by fact read until it
        opened an answer session, or its 10,000); `halves` (the first two for every second question); `embedder, note`; and
        `arms`, all within 10,000 tokens: `none`, `recent` and `similar-sessions` as in `recall-memaware`, `walk-shuffled`,
        `walk` (by the request) and `tenure` (recall), whose score is the share of questions with an answer session.

    Raises:
        UserError: folder or file are not of that form.
    """
    sessions = read_sessions(data)
    asked = _questions(questions)
    if redated is not None:
        sessions = list(redated(sessions))
        left = {one.id for one in sessions}
        asked = [one for one in asked if one.sessions & left]
    with tempfile.TemporaryDirectory() as folder:
        store = open_sqlite(f"sqlite:///{folder}/memory.db")
        try:
            return _measure(store, sessions, asked, random.Random(seed), recall, embedder, tell or (lambda _share, _said: None))
        finally:
            store.close()


def _measure(
    store: Store,
    sessions: Sequence[Session],
    asked: Sequence[_Asked],
    dice: random.Random,
    recall: bool,
    embedder: Embedder | None,
    tell: Callable[[float, str], None],
) -> dict[str, Any]:
    entries = as_entries(sessions)
    days = sorted({entry.day for entry in entries})
    vectors = Vectors(store, (SCOPE,), lambda _: embedder)
    memory = Memory(store, SCOPE, clock=_DayAfter(days[-1]), ids=UlidSource(), vectors=vectors)
    tell(0.0, f"keeping {len(entries):,} entries")
    memory.keep(entries)
    started = time.process_time()
    memory.compact(all=True, ask=False)
    build_seconds = time.process_time() - started
    if recall and embedder is not None:
        tell(0.0, "making vectors")
    made = vectors.embed() if recall else None
    notes = dict.fromkeys([made.failed if made is not None else ""])
    tree, numbers, turns = _read(store, memory, days)
    names: dict[str, set[str]] = defaultdict(set)
    for name, number in numbers.items():
        names[sessions[number].id].add(name)
    shuffled = _shuffled(tree, dice)
    reached: dict[str, list[float]] = defaultdict(list)
    baselines: dict[str, list[float]] = defaultdict(list)
    plain = Baselines(sessions)
    spent: dict[str, list[float]] = defaultdict(list)
    for number, one in enumerate(asked, 1):
        wanted = frozenset(name for session in one.sessions for name in names.get(session, ()))
        by_fact, by_question = walk(tree, looked_for(one.fact, SPEAKER), FAR), walk(tree, looked_for(one.question), FAR)
        reached["reachable_by_fact"].append(by_fact.reached(wanted, NEAR))
        reached["reachable_by_fact_40k"].append(by_fact.reached(wanted, FAR))
        reached["reachable_by_question"].append(by_question.reached(wanted, NEAR))
        reached["reachable_by_question_40k"].append(by_question.reached(wanted, FAR))
        for arm, given in plain.of(one.question, NEAR).items():
            baselines[arm].append(hit(given, {numbers[name] for name in wanted}))
        reached["reachable_shuffled"].append(walk(shuffled, looked_for(one.fact, SPEAKER), NEAR).reached(wanted, NEAR))
        spent["tokens"].append(next((tokens for name, tokens in by_fact.opened if name in wanted and tokens <= NEAR), NEAR))
        for name, budget in BUDGETS.items() if recall else ():
            began = time.process_time()
            recalled = memory.recall(one.question, budget=budget)
            found, notes[recalled.note] = recalled.found, None
            spent[f"recall_{name}"].append((time.process_time() - began) * 1_000)
            shown = [Shown(numbers[piece.where], piece.text, piece.text in turns[piece.where]) for piece in found]
            reached[f"hit_{name}"].append(hit(shown, {numbers[name] for name in wanted}))
        if number % 20 == 0:
            tell(number / len(asked), f"{number:,} of {len(asked):,} questions")
    return {
        "entries": len(entries),
        "build_seconds": round(build_seconds, 2),
        "root_tokens": estimate_tokens(tree.root),
        **{name: round(fmean(some), 4) for name, some in reached.items()},
        "tokens_mean": round(fmean(spent["tokens"])),
        **({"recall_ms": round(median(spent["recall_3k"]), 1)} if recall else {}),
        "halves": {
            f"{name}_{half}": round(fmean(reached[name][start::2]), 4)
            for name in ("reachable_by_fact", "reachable_by_fact_40k")
            for start, half in enumerate(("odd", "even"))
            if len(asked) > 1
        },
        "questions": len(asked),
        "sessions": len(sessions),
        "nodes": len(tree.nodes),
        "root_cap": Caps().root_tokens,
        "embedder": embedder.name if recall and embedder is not None else None,
        "note": "; ".join(note for note in notes if note),
        "arms": _arms(reached, baselines, spent),
    }


def _arms(reached: Mapping[str, Sequence[float]], baselines: Mapping[str, Sequence[float]], spent: Mapping[str, Sequence[float]]) -> Any:
    """Figures by arm. Who remembers nothing reaches nothing; nobody acts on what is read, and no model is asked."""
    scores: dict[str, float | None] = {
        "none": 0.0,
        **{arm: fmean(hits) for arm, hits in baselines.items()},
        "walk-shuffled": fmean(reached["reachable_shuffled"]),
        "walk": fmean(reached["reachable_by_question"]),
        "tenure": fmean(reached["hit_10k"]) if "hit_10k" in reached else None,
    }
    seconds = sum(spent["recall_10k"]) / 1_000 if "recall_10k" in spent else None
    return {
        arm: arm_figures(score, alone=0.0, seconds=seconds if arm == "tenure" else None, calls=0, usd=0.0) for arm, score in scores.items()
    }


class _DayAfter:
    """A clock that stands at noon of the day after the last one of the chats: all of them are over."""

    def __init__(self, day: str) -> None:
        self._now = datetime.fromisoformat(f"{day}T12:00:00+00:00") + timedelta(days=1)

    def now(self) -> datetime:
        return self._now


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


def _read(store: Store, memory: Memory, days: Sequence[str]) -> tuple[Tree, dict[str, int], dict[str, frozenset[str]]]:
    """The tree as it was kept; and by the names under which they can be opened the numbers of sessions, and what persons said in them."""
    turns: dict[str, frozenset[str]] = {}
    costs: dict[str, int] = {}
    numbers: dict[str, int] = {}
    with store.reading(SCOPE) as look:
        for day in days:
            for place, session in enumerate(sessions_of(look.entries(day=day)), 1):
                name = f"{day}#{place}"
                own = [one.text for one in session if one.role == "user"]
                # What a person said in it; the longest costs are cut to one turn by the walk.
                turns[name], costs[name] = frozenset(own), sum(estimate_tokens(f"{text}\n") for text in own)
                numbers[name] = int(session[0].session)
        nodes = {node.period.key: node.text for kind in KINDS for node in look.nodes(kind)}
    return Tree(root=memory.root(), nodes=nodes, session_tokens=costs), numbers, turns


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
