"""Bench `recall-locomo`: do the dialogue turns that answer a question stand among the first ten found?

Each turn of a long conversation is one passage, with its speaker and the caption of its image, and
the session's date beside it. Questions are those whose answer is in the conversation (categories 1
to 4) and that name turns as evidence. Each of the ten results is one turn; neighbours may raise a
turn's score, they never count as hits. Source: LoCoMo (Maharana et al., 2024).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median
from typing import Any

from tenure.errors import UserError
from tenure.evaluation.bench_files import Place, read_json
from tenure.ports import Embedder, Passage, Search
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
        without usable evidence) and `note`. Recall is the share of a question's evidence turns that
        were found, averaged over questions; mrr is over the first ten.

    Raises:
        UserError: the file is not of that form.
    """
    index = search or InMemorySearch(embedder)
    tallies: list[tuple[int, float, float, float]] = []
    times: list[float] = []
    turns = left_out = 0
    notes: dict[str, None] = {}
    samples = _samples(data)
    for number, sample in enumerate(samples):
        scope = f"local/recall-locomo/{number}"
        passages = _turns(sample.field("conversation"))
        known = {passage.id for passage in passages}
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
    }


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
