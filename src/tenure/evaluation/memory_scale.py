"""Bench `memory-scale`: what a memory costs when it has ten years behind it.

Two databases are filled with made entries, one with the last month and one with ten years, and single
entries are written to both by turns, so that the machine's other work meets both alike.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from tenure.evaluation.scale import peak_mb
from tenure.learning.memory import Memory
from tenure.memory_tree.entries import Entry
from tenure.memory_tree.periods import stamp
from tenure.ranking import estimate_tokens
from tenure.stores.sqlite import open_sqlite
from tenure.system import UlidSource

ENTRIES = 1_000_000
DAYS, MONTH_DAYS = 3_650, 30
SESSIONS = 12
"""A day."""

AT_ONCE = 5_000
TURNS, QUESTIONS = 60, 15
_LAST = datetime(2026, 11, 30, 18, tzinfo=UTC)
_SYLLABLES = "ba co di fer gu lan mi nor pe qui ra sto tel u ven wi xa yor zu men tra li sen do".split()


class _Stopped:
    """A clock that stands at the end of the history, a little later at each look."""

    def __init__(self) -> None:
        self._now = _LAST

    def now(self) -> datetime:
        self._now += timedelta(milliseconds=1)
        return self._now


def run_memory_scale(
    entries: int = ENTRIES,
    *,
    days: int = DAYS,
    seed: int = 0,
    folder: Path | None = None,
    tell: Callable[[float, str], None] | None = None,
) -> dict[str, Any]:
    """Fill both databases and measure.

    Args:
        entries: in ten years; the month has as many a day.
        days: how many ten years have; fewer to see that it runs.
        seed: of the made texts.
        folder: where the databases are put; none takes a temporary one.
        tell: called now and then with the share done and what is done.

    Returns:
        `entries, append_ms_month, append_ms_decade, append_growth, append_wall_ms, recall_ms_month, recall_ms_decade,
        recall_wall_ms, compact_ms, rebuild_s, root_ms, root_tokens, peak_mb, fill_s, file_mb, nodes`, as the list of benches explains.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="tenure-memory-") as made:
            return run_memory_scale(entries, days=days, seed=seed, folder=Path(made), tell=tell)
    said = tell or (lambda _share, _said: None)
    per_day = max(1, entries // days)
    clock, scope = _Stopped(), "local/memory-scale"
    stores = {name: open_sqlite(f"sqlite:///{folder / name}.db") for name in ("month", "decade")}
    memories = {name: Memory(store, scope, clock=clock, ids=UlidSource()) for name, store in stores.items()}
    started, filled = time.process_time(), 0
    for name, length in (("month", MONTH_DAYS), ("decade", days)):
        batch: list[Entry] = []
        for entry in _history(length, per_day, random.Random(seed)):
            batch.append(entry)
            if len(batch) == AT_ONCE:
                with stores[name].writing(scope) as work:
                    filled += work.keep_entries(batch)
                batch = []
                said(0.5 * filled / (entries + per_day * MONTH_DAYS), f"{filled:,} entries kept")
        with stores[name].writing(scope) as work:
            filled += work.keep_entries(batch)
    fill_s = time.process_time() - started
    memories["month"].compact()
    said(0.5, "building the tree of ten years")
    started = time.process_time()
    built = memories["decade"].compact(all=True)
    rebuild_s = time.process_time() - started
    said(0.9, "writing single entries")
    appends: dict[str, list[tuple[float, float]]] = {name: [] for name in memories}
    for turn in range(TURNS):
        for name, memory in memories.items():
            wall, processor = time.perf_counter(), time.process_time()
            memory.log(f"Turn {turn}: the rate of the invoice date was used for order {turn}.", session="now", role="user")
            appends[name].append(((time.process_time() - processor) * 1_000, (time.perf_counter() - wall) * 1_000))
    started = time.process_time()
    memories["decade"].compact()
    compact_ms = (time.process_time() - started) * 1_000
    started = time.process_time()
    root = memories["decade"].root()
    root_ms = (time.process_time() - started) * 1_000
    said(0.95, "asking both")
    recalls: dict[str, list[tuple[float, float]]] = {name: [] for name in memories}
    for question in _questions(seed):
        for name, memory in memories.items():
            wall, processor = time.perf_counter(), time.process_time()
            memory.recall(question)
            recalls[name].append(((time.process_time() - processor) * 1_000, (time.perf_counter() - wall) * 1_000))
    for store in stores.values():
        store.close()
    own = {name: median(processor for processor, _ in some[5:]) for name, some in appends.items()}
    wall_ms = {name: median(wall for _, wall in some[5:]) for name, some in appends.items()}
    return {
        "entries": per_day * days,
        "append_ms_month": round(own["month"], 3),
        "append_ms_decade": round(own["decade"], 3),
        "append_growth": round(own["decade"] / own["month"], 3) if own["month"] else None,
        "append_wall_ms": {name: round(found, 3) for name, found in wall_ms.items()},
        **{f"recall_ms_{name}": round(median(processor for processor, _ in some), 1) for name, some in recalls.items()},
        "recall_wall_ms": {name: round(median(wall for _, wall in some), 1) for name, some in recalls.items()},
        "compact_ms": round(compact_ms, 1),
        "rebuild_s": round(rebuild_s, 1),
        "root_ms": round(root_ms, 1),
        "root_tokens": estimate_tokens(root),
        "peak_mb": peak_mb(),
        "fill_s": round(fill_s, 1),
        "file_mb": round((folder / "decade.db").stat().st_size / 1e6, 1),
        "nodes": len(built.built),
    }


def _vocabulary(dice: random.Random) -> list[str]:
    """Made words, the commonest first."""
    return ["".join(dice.choice(_SYLLABLES) for _ in range(dice.randint(2, 4))) for _ in range(8_000)]


def _questions(seed: int) -> list[str]:
    """Requests of three words, common and rare ones, as a person would put them."""
    words, dice = _vocabulary(random.Random(seed)), random.Random(seed + 1)
    return [
        f"Which number of {dice.choice(words)} did I take before {dice.choice(words[:200])} and {dice.choice(words)}?"
        for _ in range(QUESTIONS)
    ]


def _history(days: int, per_day: int, dice: random.Random) -> Iterator[Entry]:
    """Entries of some days up to the last, oldest first; words follow Zipf's law, and each session has a subject."""
    words = _vocabulary(dice)
    weights = [1 / (rank + 1) for rank in range(len(words))]
    drawn: Iterator[str] = iter(())
    for back in range(days - 1, -1, -1):
        first = (_LAST - timedelta(days=back)).replace(hour=8)
        subjects = [dice.sample(words, 4) for _ in range(SESSIONS)]
        for n in range(per_day):
            session = n * SESSIONS // per_day
            said: list[str] = []
            for _ in range(10):
                word = next(drawn, None)
                if word is None:
                    drawn = iter(dice.choices(words, weights, k=20_000))
                    word = next(drawn)
                said.append(word)
            subject = dice.choice(subjects[session])
            yield Entry(
                id=f"{back:05}:{n:06}",
                at=stamp(first + timedelta(seconds=n)),
                day=first.date().isoformat(),
                text=f"I took {subject} number {dice.randint(1, 400)}: {' '.join(said)}.",
                session=f"{back}-{session}",
                role="user" if n % 2 == 0 else "assistant",
            )
