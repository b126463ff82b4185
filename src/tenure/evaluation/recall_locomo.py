"""Bench `recall-locomo`: do the dialogue turns that answer a question stand among the first ten found?

Each turn of a long conversation is one passage, with its speaker and the caption of its image, and
the session's date beside it. Questions are those whose answer is in the conversation (categories 1
to 4) and that name turns as evidence. Each of the ten results is one turn; neighbours may raise a
turn's score, they never count as hits. Source: LoCoMo (Maharana et al., 2024).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from tenure.errors import UserError
from tenure.ports import Embedder, Passage, Search
from tenure.stores.search_in_memory import InMemorySearch

ANSWERABLE = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop"}
"""Categories whose questions have an answer, with their names; the file has the numbers. 5 asks for what was never said."""

_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


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
        passages = _turns(sample["conversation"])
        known = {passage.id for passage in passages}
        notes[index.put(scope, passages)] = None
        turns += len(passages)
        questions = sample.get("qa", ())
        for place, asked in enumerate(questions):
            if tell is not None:
                tell(
                    (number + place / len(questions)) / len(samples),
                    f"conversation {number + 1} of {len(samples)}, {len(tallies):,} questions asked",
                )
            if asked.get("category") not in ANSWERABLE:
                continue
            wanted = {f"D{int(a)}:{int(b)}" for place in asked.get("evidence", ()) for a, b in _EVIDENCE.findall(str(place))} & known
            if not wanted:
                left_out += 1
                continue
            began = time.perf_counter()
            found = index.find(scope, str(asked["question"]), limit=10, smooth=True)
            times.append((time.perf_counter() - began) * 1000)
            notes[found.note] = None
            ids = [hit.id for hit in found.hits]
            first = next((1 / place for place, one in enumerate(ids, 1) if one in wanted), 0.0)
            tallies.append((asked["category"], len(wanted & set(ids[:5])) / len(wanted), len(wanted & set(ids)) / len(wanted), first))
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


def _samples(data: Path) -> Sequence[Mapping[str, Any]]:
    try:
        found = json.loads(data.read_text(encoding="utf-8"))
    except (ValueError, OSError) as exc:
        raise UserError(f"{data} is not a JSON file: {exc}") from exc
    samples = found if isinstance(found, list) else [found]
    if not all(isinstance(sample, dict) and isinstance(sample.get("conversation"), dict) for sample in samples):
        raise UserError(f"{data} is not a LoCoMo file: a list of objects with 'conversation' and 'qa'.")
    return samples


def _turns(conversation: Mapping[str, Any]) -> list[Passage]:
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    passages: list[Passage] = []
    for number in numbers:
        for place, turn in enumerate(conversation[f"session_{number}"]):
            caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            passages.append(
                Passage(
                    id=str(turn["dia_id"]),
                    text=f"{turn['speaker']}: {turn['text']}{caption}",
                    aside=str(conversation.get(f"session_{number}_date_time", "")),
                    group=f"session {number}",
                    place=place,
                )
            )
    return passages
