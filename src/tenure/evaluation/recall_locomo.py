"""Bench `recall-locomo`: do the dialogue turns that answer a question stand among the first ten found?

Each turn of a long conversation is one passage, with its speaker and the caption of its image, and
the session's date beside it. Questions are those whose answer is in the conversation (categories 1
to 4) and that name turns as evidence. Each of the ten results is one turn; neighbours may raise a
turn's score, they never count as hits. Source: LoCoMo (Maharana et al., 2024).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any

from tenure.errors import UserError
from tenure.evaluation.bench_arms import SimilarSessions, arm_figures
from tenure.evaluation.bench_files import Place, read_json
from tenure.ports import Embedder, Passage, Search
from tenure.ranking import estimate_tokens
from tenure.stores.search_in_memory import InMemorySearch

ANSWERABLE = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop"}
"""Categories whose questions have an answer, with their names; the file has the numbers. 5 asks for what was never said."""

_WANTED = "Give a LoCoMo file: a list of conversations, each an object with 'conversation' and 'qa'."

_SESSION = re.compile(r"session_(\d{1,9})")
_EVIDENCE = re.compile(r"D:?(\d{1,9}):(\d{1,9})")


def run_recall_locomo(
    data: Path, *, embedder: Embedder | None = None, search: Search | None = None, tell: Callable[[float, str], None] | None = None
) -> dict[str, Any]:
    """Index the turns of each conversation and ask its questions.

    Args:
        data: a LoCoMo file: a list of conversations with `conversation` and `qa`.
        embedder: for search by meaning; none, keywords alone serve.
        search: where to index; none takes memory.
        tell: called after each conversation is indexed, and after each of its questions, with the share done and what is done.

    Returns:
        `questions, recall_at_5, recall_at_10, mrr, p50_ms`, and beside them `by_category`
        (recall_at_10, by the names in `ANSWERABLE`), `turns`, `embedder` (its name or none), `left_out` (answerable questions
        without usable evidence), `note` and `arms`: `none`, `random` and `recent` (ten turns by chance, the last ten),
        `similar-sessions` (the turns of the sessions most like the question, from their start) and `tenure`, whose score is
        recall_at_10. Recall is the share of a question's evidence turns that
        were found, averaged over questions; mrr is over the first ten.

    Raises:
        UserError: the file is not of that form.
    """
    index = search or InMemorySearch(embedder)
    tallies: list[tuple[int, float, float, float]] = []
    times: list[float] = []
    plain: list[dict[str, float]] = []
    tokens: list[int] = []
    turns = left_out = 0
    notes: dict[str, None] = {}
    samples = _samples(data)
    for number, sample in enumerate(samples):
        scope = f"local/recall-locomo/{number}"
        passages = _turns(sample.field("conversation"))
        known = {passage.id for passage in passages}
        baselines = _Baselines(passages)
        notes[index.put(scope, passages)] = None
        turns += len(passages)
        questions = sample.field("qa", []).elements("question")
        for place, asked in enumerate(questions):
            if tell is not None:
                tell(
                    (number + place / len(questions)) / len(samples),
                    f"conversation {number + 1} of {len(samples)}, {len(tallies):,} questions asked",
                )
            category = asked.fields().get("category")
            if not isinstance(category, int) or category not in ANSWERABLE:
                continue
            wanted = _evidence(asked) & known
            if not wanted:
                left_out += 1
                continue
            question = asked.field("question").text()
            began = time.perf_counter()
            found = index.find(scope, question, limit=10, smooth=True)
            times.append((time.perf_counter() - began) * 1000)
            notes[found.note] = None
            ids = [hit.id for hit in found.hits]
            plain.append({arm: len(wanted & set(given)) / len(wanted) for arm, given in baselines.of(question).items()})
            tokens.append(baselines.tokens(ids))
            first = next((1 / place for place, one in enumerate(ids, 1) if one in wanted), 0.0)
            tallies.append((int(category), len(wanted & set(ids[:5])) / len(wanted), len(wanted & set(ids)) / len(wanted), first))
    if not tallies:
        raise UserError(f"{data} holds no answerable question with evidence. Give a LoCoMo file: a list of conversations with 'qa'.")
    return {
        "questions": len(tallies),
        "recall_at_5": round(fmean(tally[1] for tally in tallies), 4),
        "recall_at_10": round(fmean(tally[2] for tally in tallies), 4),
        "mrr": round(fmean(tally[3] for tally in tallies), 4),
        "p50_ms": round(median(times), 2),
        "by_category": {
            ANSWERABLE[category]: round(fmean(tally[2] for tally in tallies if tally[0] == category), 4)
            for category in sorted({tally[0] for tally in tallies})
        },
        "turns": turns,
        "left_out": left_out,
        "embedder": embedder.name if embedder is not None else None,
        "note": "; ".join(note for note in notes if note),
        "arms": {
            # Who remembers nothing finds nothing; nobody acts on what is found, and no model is asked.
            "none": arm_figures(0.0, alone=0.0, tokens=0, calls=0, usd=0.0),
            **{arm: arm_figures(fmean(one[arm] for one in plain), alone=0.0, calls=0, usd=0.0) for arm in plain[0]},
            "tenure": arm_figures(
                fmean(tally[2] for tally in tallies), alone=0.0, tokens=fmean(tokens), seconds=sum(times) / 1000, calls=0, usd=0.0
            ),
        },
    }


class _Baselines:
    """What plain policies hand over of one conversation: ten turns each."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._sessions: dict[str, list[Passage]] = {}
        for passage in passages:
            self._sessions.setdefault(passage.group, []).append(passage)
        self._costs = {passage.id: estimate_tokens(passage.text) for passage in passages}
        self._ids = [passage.id for passage in passages]
        self._similar = SimilarSessions({name: " ".join(one.text for one in said) for name, said in self._sessions.items()})

    def of(self, question: str) -> dict[str, list[str]]:
        """Ids of turns, by arm."""
        drawn = Random(f"recall-locomo:{question}").sample(self._ids, min(10, len(self._ids)))
        similar = [one.id for name in self._similar.best(question, 10) for one in self._sessions[name]]
        return {"random": drawn, "recent": self._ids[-10:], "similar-sessions": similar[:10]}

    def tokens(self, ids: Sequence[str]) -> int:
        """Of turns."""
        return sum(self._costs.get(one, 0) for one in ids)


def _samples(data: Path) -> list[Place]:
    found = read_json(data, wanted=_WANTED)
    return Place(data, found if isinstance(found, list) else [found], wanted=_WANTED).elements("conversation")


def _evidence(asked: Place) -> set[str]:
    """Ids of the turns that a question names; several may stand in one text."""
    named = asked.field("evidence", [])
    places = [named] if isinstance(named.value, str) else named.elements("place")
    return {f"D{int(a)}:{int(b)}" for place in places for a, b in _EVIDENCE.findall(place.text())}


def _turns(conversation: Place) -> list[Passage]:
    fields = conversation.fields()
    sessions = sorted((int(match[1]), key) for key in fields if (match := _SESSION.fullmatch(key)))
    passages: list[Passage] = []
    for number, key in sessions:
        day = conversation.field(f"{key}_date_time", "").text()
        for place, turn in enumerate(conversation.field(key).elements("turn")):
            caption = turn.field("blip_caption", "").text() if turn.fields().get("blip_caption") else ""
            passages.append(
                Passage(
                    id=turn.field("dia_id").text(),
                    text=f"{turn.field('speaker').text()}: {turn.field('text').text()}{f' [image: {caption}]' if caption else ''}",
                    aside=day,
                    group=f"session {number}",
                    place=place,
                )
            )
    return passages
