"""`tenure bench run memory-tree`: shares of questions whose session is reached or recalled; times are processor time.

Beside all days and questions stand parts of them and other calendars, walks alone (`parts`): the choices in the tree were made
with all days and questions at hand, so a figure that held in the whole only would fall here. `even_days` and `odd_days` leave
every second day out, `april`, `may` and `june` are months alone, `backwards` turns the order of the days around, `moved` begins
45 days later, `thinned` puts three days between two, `dealt` deals the days to other dates by chance. Fewer sessions are easier
to tell apart; the figures of parts are to be held against each other. Recall is by words and by the embedder that is installed;
`words` has its hits by words alone, `recall_memaware` and its `words` those of that bench.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from benchmarks.streams import data
from tenure.evaluation.memory_tree import run_memory_tree
from tenure.evaluation.recall_memaware import Session, run_recall_memaware
from tenure.providers.embedding import open_embedder

SEED = (0, 1)
"""Of the shuffled control, and of the days that are dealt to other names."""

Redated = Callable[[Sequence[Session]], Sequence[Session]]

KEYS = ("sessions", "questions", "root_tokens", "reachable_by_fact", "reachable_by_fact_40k", "reachable_by_question", "reachable_shuffled")


def measure(*, full: bool) -> dict[str, Any]:
    """The bench's figures; those of parts and of other calendars in groups."""
    sessions, questions = data("memaware/sessions"), data("memaware/questions*.json")
    if sessions is None or questions is None:
        return {"skipped": "sessions and questions are not at hand (TENURE_DATA)"}
    if not full:
        return _small(sessions, questions)
    embedder = open_embedder()
    found = run_memory_tree(sessions, questions, embedder=embedder)
    found["words"] = _hits(run_memory_tree(sessions, questions))
    found["recall_memaware"] = _hits(run_recall_memaware(sessions, questions, embedder=embedder))
    found["recall_memaware"]["words"] = _hits(run_recall_memaware(sessions, questions))
    found["parts"] = {
        name: {key: value for key, value in run_memory_tree(sessions, questions, recall=False, redated=redated).items() if key in KEYS}
        for name, redated in PARTS.items()
    }
    return found


def _hits(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("hit_3k", "hit_10k")}


def _small(sessions: Path, questions: Path) -> dict[str, Any]:
    """The first days with a question that they answer."""
    with tempfile.TemporaryDirectory() as folder:
        days, few = Path(folder) / "sessions", Path(folder) / "questions.json"
        days.mkdir()
        for day in sorted(sessions.glob("*.md"))[:3]:
            (days / day.name).write_bytes(day.read_bytes())
        few.write_text(json.dumps(json.loads(questions.read_text(encoding="utf-8"))[:5]), encoding="utf-8")
        return run_memory_tree(days, few)


def _every_second(start: int) -> Redated:
    def left(sessions: Sequence[Session]) -> Sequence[Session]:
        days = set(sorted({one.day for one in sessions})[start::2])
        return [one for one in sessions if one.day in days]

    return left


def _month(month: str) -> Redated:
    return lambda sessions: [one for one in sessions if one.day[5:7] == month]


def _on(days_of: Callable[[list[date]], Mapping[date, date]]) -> Redated:
    """Sessions on other days, in the order of those."""

    def moved(sessions: Sequence[Session]) -> Sequence[Session]:
        to = days_of(sorted({date.fromisoformat(one.day) for one in sessions}))
        return sorted((replace(one, day=to[date.fromisoformat(one.day)].isoformat()) for one in sessions), key=lambda one: one.day)

    return moved


def _dealt(days: list[date]) -> Mapping[date, date]:
    return dict(zip(days, random.Random(1).sample(days, len(days)), strict=True))


PARTS: Mapping[str, Redated] = {
    "even_days": _every_second(0),
    "odd_days": _every_second(1),
    "april": _month("04"),
    "may": _month("05"),
    "june": _month("06"),
    "backwards": _on(lambda days: {day: days[-1] - (day - days[0]) for day in days}),
    "moved": _on(lambda days: {day: day + timedelta(days=45) for day in days}),
    "thinned": _on(lambda days: {day: days[0] + 3 * (day - days[0]) for day in days}),
    "dealt": _on(_dealt),
}
