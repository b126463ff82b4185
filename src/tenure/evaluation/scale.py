"""Bench `scale`: what a playbook costs as it grows, on disk.

For each size a database is filled with made lessons (their words follow Zipf's law, as real ones do;
a few say the same in other words, a few differ in one figure) and measured in a process of its own,
so that memory is told per size. Nothing is warmed up but imports and SQLite's own page cache. Only the
commits are measured by turns, at one size after another in one process with all databases open:
what else a machine does, and the disk still writing what a size was filled with, then meet all alike.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from tenure.playbook.delta import Add, Operation, Retire, Tally, Update
from tenure.playbook.lessons import Lesson
from tenure.ranking import Estimate
from tenure.stores.sqlite import bare_commits_ms
from tenure.wiring import Tenure

SIZES = (1_000, 10_000, 100_000)
SECTIONS = 40
DIMENSION = 512
"""Of the default embedder's vectors."""

TIMES = 15
"""How often each thing is measured; the median is told."""

TURNS = 40
"""How often ten operations are committed at each size."""

WARM_TURNS = 3
"""Turns before those that count: a process's first commit compiles its statements."""

_FUNCTION_WORDS = "the of to a in for is on with by from when before after and or if it as at".split()
_SYLLABLES = "ba co di fer gu lan mi nor pe qui ra sto tel u ven wi xa yor zu men tra li sen do".split()


def run_scale(
    sizes: Sequence[int] = SIZES,
    *,
    seed: int = 0,
    out: Path | None = None,
    folder: Path | None = None,
    tell: Callable[[float, str], None] | None = None,
) -> dict[str, Any]:
    """Measure each size.

    Args:
        sizes: numbers of lessons.
        seed: of the made lessons.
        out: a folder for a plot of each figure, which needs two sizes or more; none draws none.
        folder: where the databases are put while they are measured; none takes a temporary one.
        tell: called before each size, with the share done and what is done.

    Returns:
        `bare_commit_ms` (one row with plain sqlite3 under the same settings), `peak_mb` (the most
        memory that any size took; none where the system does not tell), and `sizes`, by size as text:
        `apply_ms` (ten operations, committed, measured by turns), `context_ms`, `render_ms` (after a counter changed),
        `dedup_ms` (one new lesson), `refine_s`, `open_ms`, and beside them `build_s`, `peak_mb`,
        `lessons`, `file_mb`, and `processor`: of the first five, the time that the process itself took,
        which tells more where others use the machine. And `tokenizer`, where the extra `tokens` is installed: `counter` (its
        name), `context_ms` and `peak_mb` with it; all else counts by estimate, as the base install does.
        Also `load`: how many processes wanted a processor, before and after.
        And `vectors`: what one vector per lesson adds to memory and to the file at the largest size; `peak_mb` is without them
        and without a tokenizer.
    """
    before = _load()
    with tempfile.TemporaryDirectory(dir=folder) as where:
        bare = _median(bare_commits_ms(Path(where) / "bare.db"))
        found: dict[str, dict[str, Any]] = {}
        for place, size in enumerate(sizes):
            if tell is not None:  # what a size takes follows its lessons, more or less
                tell(sum(sizes[:place]) / max(1, sum(sizes)), f"measuring {size:,} lessons")
            found[str(size)] = _in_own_process("measure_size", size, seed, Path(where))
        for named, taken in _in_own_process("measure_commits", list(sizes), seed, Path(where)).items():
            found[named] = {**taken, **found[named], "processor": {**taken["processor"], **found[named]["processor"]}}
        vectors = _in_own_process("measure_vectors", max(sizes, default=0), DIMENSION, Path(where))
    peaks = [one["peak_mb"] for one in found.values() if one["peak_mb"] is not None]
    result = {
        "bare_commit_ms": bare,
        "peak_mb": max(peaks, default=None),
        "sizes": found,
        "apply_growth": _growth(found, "apply_ms"),
        "load": [before, _load()],
        "processors": os.cpu_count(),
        "vectors": vectors,
    }
    if out is not None:
        from tenure.evaluation.plots import draw_scale

        result["plots"] = [str(path) for path in draw_scale(result, out)]
        if not result["plots"]:
            result["note"] = "no plots: a line needs two sizes or more, such as --sizes 1000,10000"
    return result


def measure_size(size: int, seed: int, folder: Path) -> dict[str, Any]:
    """Fill a database with so many lessons and measure it; for a process of its own."""
    from tenure.learning.duplicates import duplicate_of
    from tenure.playbook.render import render_lessons

    dice = random.Random(f"{seed}/{size}")
    texts = Texts(dice)
    url = _url(folder, size)
    began = time.perf_counter()
    with Tenure.open(url, scope="local/scale") as book:
        ids = _fill(book, texts, size)
        built = time.perf_counter() - began
        book.set("context.counter", Estimate.name)
        for number in range(TIMES):  # what follows meets a playbook that was changed since it was filled
            book.apply(_ten_operations(number, ids, texts, dice))
        core = book.context(texts.lesson()).core
        contexts = [_taken(lambda: book.context(texts.question())) for _ in range(TIMES)]
        checks: list[Taken] = []
        for _ in range(TIMES):
            lesson = Lesson(id="new", section="s", kind="strategy", text=texts.lesson())
            with book.store.reading(book.scope) as reading:
                checks.append(_taken(lambda lesson=lesson, reading=reading: duplicate_of(lesson, reading)))  # type: ignore[misc]
        renders: list[Taken] = []
        for _ in range(TIMES):
            book.apply([Tally(dice.choice(ids), helpful=1)])
            if core is None:
                break
            with book.store.reading(book.scope) as reading:
                known = {line.id for line in (*core.lines, *core.tail)}
                renders.append(_taken(lambda: render_lessons(list(reading.named(known).values()), core)))  # noqa: B023
        refined = [_taken(lambda: book.refine(dry_run=True)) for _ in range(3 if size <= 10_000 else 1)]
        with book.store.reading(book.scope) as reading:
            lessons = reading.counts()["live"]
        peak = peak_mb()
        # A tokenizer's vocabulary takes more memory than most playbooks, so it comes when all else is measured.
        book.set("context.counter", None)
        counter = book.context(texts.lesson()).counted_by
        counted = [_taken(lambda: book.context(texts.question())) for _ in range(TIMES)] if counter != Estimate.name else []
        by_counter = {"counter": counter, "context_ms": _median([one.wall_ms for one in counted]), "peak_mb": peak_mb()}
    opened = [_taken(lambda: Tenure.open(url, scope="local/scale").close()) for _ in range(TIMES)]
    return {
        "context_ms": _median([one.wall_ms for one in contexts]),
        "render_ms": _median([one.wall_ms for one in renders]),
        "dedup_ms": _median([one.wall_ms for one in checks]),
        "refine_s": _median([one.wall_ms / 1000 for one in refined]),
        "open_ms": _median([one.wall_ms for one in opened]),
        "processor": {
            "context_ms": _median([one.processor_ms for one in contexts]),
            "render_ms": _median([one.processor_ms for one in renders]),
            "dedup_ms": _median([one.processor_ms for one in checks]),
            "refine_s": _median([one.processor_ms / 1000 for one in refined]),
        },
        "tokenizer": by_counter if counted else None,
        "build_s": round(built, 2),
        "peak_mb": peak,
        "lessons": lessons,
        "file_mb": round(sum(path.stat().st_size for path in folder.glob(f"scale-{size}.db*")) / 1e6, 1),
    }


def measure_commits(sizes: Sequence[int], seed: int, folder: Path) -> dict[str, Any]:
    """Commit ten operations at each size by turns, to the databases that `measure_size` left; for a process of its own.

    Returns:
        `apply_ms` and `processor` with the same, by size as text.
    """
    taken: dict[int, list[Taken]] = {size: [] for size in sizes}
    with ExitStack() as opened:
        books = {size: opened.enter_context(Tenure.open(_url(folder, size), scope="local/scale")) for size in sizes}
        dice = {size: random.Random(f"{seed}/{size}/turns") for size in sizes}
        texts = {size: Texts(dice[size]) for size in sizes}
        ids = {size: _ids(size) for size in sizes}
        for turn in range(TURNS + WARM_TURNS):
            for size, book in books.items():
                some = _ten_operations(TIMES + turn, ids[size], texts[size], dice[size])
                one = _taken(lambda book=book, some=some: book.apply(some))  # type: ignore[misc]
                taken[size] += [one] if turn >= WARM_TURNS else []
    return {
        str(size): {
            "apply_ms": _median([one.wall_ms for one in some]),
            "processor": {"apply_ms": _median([one.processor_ms for one in some])},
        }
        for size, some in taken.items()
    }


def measure_vectors(count: int, dimension: int, folder: Path) -> dict[str, Any]:
    """What vectors add to memory once a question has been asked by meaning; for a process of its own.

    Args:
        count: of lessons, a vector each.
        dimension: of a vector.
        folder: where the database is put.
    """
    from tenure.stores.sql_vectors import made_vectors, read_bytes

    database = folder / "vectors.db"
    made_vectors(database, count, dimension)
    before = peak_mb()
    held = read_bytes(database, dimension)
    after = peak_mb()
    return {
        "lessons": count,
        "dimension": dimension,
        "held_mb": round(held / 1e6, 1),
        "added_peak_mb": round(after - before, 1) if before is not None and after is not None else None,
        "file_mb": round(sum(path.stat().st_size for path in folder.glob("vectors.db*")) / 1e6, 1),
    }


class Texts:
    """Makes lessons whose words are as unevenly common as those of real ones.

    Args:
        dice: the source of chance.
        words: size of the vocabulary.
    """

    def __init__(self, dice: random.Random, words: int = 8_000) -> None:
        self._dice = dice
        spelled = random.Random("spelling")
        known = dict.fromkeys("".join(spelled.choice(_SYLLABLES) for _ in range(spelled.randint(2, 4))) for _ in range(3 * words))
        self._words = list(known)[:words]
        self._weights: list[float] = []
        total = 0.0
        for rank in range(1, len(self._words) + 1):
            total += 1.0 / (rank + 5)
            self._weights.append(total)
        self._said: list[str] = []

    def lesson(self) -> str:
        """A text of 12 to 40 words; one in fifty says an earlier one again, or differs from it in a figure."""
        if self._said and self._dice.random() < 0.02:
            earlier = self._dice.choice(self._said)
            if self._dice.random() < 0.5:
                return f"Please {earlier[0].lower()}{earlier[1:]}"
            return f"{earlier.rpartition(' ')[0]} {self._dice.randint(10, 99)}."
        chosen = self._dice.choices(self._words, cum_weights=self._weights, k=self._dice.randint(8, 26))
        parts = [part for word in chosen for part in ((self._dice.choice(_FUNCTION_WORDS), word) if self._dice.random() < 0.4 else (word,))]
        text = f"{' '.join(parts).capitalize()} {self._dice.randint(2, 9)}."
        if len(self._said) < 2_000:
            self._said.append(text)
        return text

    def question(self) -> str:
        """What a task might ask: words of the same vocabulary."""
        return " ".join(self._dice.choices(self._words, cum_weights=self._weights, k=12))


def _url(folder: Path, size: int) -> str:
    return f"sqlite:///{folder / f'scale-{size}.db'}"


def _ids(size: int) -> list[str]:
    """Ids of the lessons that a database was filled with."""
    return [f"b-{n:06d}" for n in range(size)]


def _fill(book: Tenure, texts: Texts, size: int) -> list[str]:
    ids = _ids(size)
    portion = 1_000
    for start in range(0, size, portion):
        some = [
            Add(f"section {n % SECTIONS:02d}", texts.lesson(), id=ids[n], status="provisional", author="extractive")
            for n in range(start, min(size, start + portion))
        ]
        book.apply([*some, *(Tally(one.id or "", helpful=n % 7, harmful=n % 3) for n, one in enumerate(some))])
    return ids


def _ten_operations(number: int, ids: Sequence[str], texts: Texts, dice: random.Random) -> list[Operation]:
    some = dice.sample(list(ids), 8)
    return [
        *(Add(f"section {dice.randrange(SECTIONS):02d}", f"{texts.lesson()} New {number}.{place}.") for place in range(2)),
        *(Tally(one, helpful=1) for one in some[:5]),
        *(Update(one, text=f"{texts.lesson()} Again {number}.") for one in some[5:7]),
        Retire(some[7], "measured"),
    ]


def _in_own_process(measure: str, size: int | list[int], second: int, folder: Path) -> dict[str, Any]:
    code = (
        f"import json, sys; from pathlib import Path; from tenure.evaluation.scale import {measure}; "
        f"print(json.dumps({measure}(json.loads(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(size), str(second), str(folder)], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _growth(found: dict[str, dict[str, Any]], figure: str) -> float | None:
    """What the largest size costs, as a multiple of the smallest."""
    sizes = sorted(found, key=int)
    return round(found[sizes[-1]][figure] / found[sizes[0]][figure], 2) if len(sizes) > 1 and found[sizes[0]][figure] else None


class Taken(NamedTuple):
    """How long a call took: on the wall clock, and of the processor in this process; milliseconds."""

    wall_ms: float
    processor_ms: float


def _taken(do: Callable[[], object]) -> Taken:
    wall, processor = time.perf_counter(), time.process_time()
    do()
    return Taken((time.perf_counter() - wall) * 1000, (time.process_time() - processor) * 1000)


def _median(values: Sequence[float]) -> float:
    return round(statistics.median(values), 3) if values else 0.0


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):  # Windows has none
        return None


def peak_mb() -> float | None:
    """The most memory that this process has taken, in MB; none where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (1e6 if sys.platform == "darwin" else 1e3), 1)
