"""The algebra in memory: ten operations on playbooks of two sizes, the whole playbook as text and back, and as a prompt.

Lessons are about 150 characters long. `apply` changes a value and returns a new one; nothing is written to disk.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from functools import partial

from tenure import Add, Delta, Playbook, Retire, Tally, Update, apply, dumps, loads, render

SEED = 7
"""Of the made lessons."""

SUBJECTS = "invoice ledger account rate booking payment order contract report supplier customer balance entry currency".split()
VERBS = "check convert round sum compare reject approve post reverse match".split()


def measure(*, full: bool) -> dict[str, float]:
    """Times in milliseconds, by size."""
    chance = random.Random(7)
    figures: dict[str, float] = {}
    for size in (1_000, 100_000) if full else (200, 2_000):
        playbook, ids = grown(size, chance)
        figures[f"apply_10_operations_on_{size}_ms"] = median_ms(ten_operations(playbook, ids, chance), times=30)
        text = dumps(playbook)
        figures[f"dumps_{size}_ms"] = median_ms(partial(dumps, playbook), times=3)
        # `render` sorts lessons on first use and a value remembers that, so each call gets a value of its own.
        copies: list[Playbook] = []
        figures[f"loads_{size}_ms"] = median_ms(lambda text=text, copies=copies: copies.append(loads(text)), times=3)  # type: ignore[misc]
        figures[f"render_{size}_ms"] = median_ms(lambda copies=copies: render(copies.pop()), times=3)  # type: ignore[misc]
    return figures


def grown(size: int, chance: random.Random) -> tuple[Playbook, list[str]]:
    """A playbook of so many lessons, and their ids."""
    operations = [Add(section=chance.choice(SUBJECTS), text=sentence(chance, number), id=f"b-{number:06d}") for number in range(size)]
    return apply(Playbook(), Delta(delta_id(0), operations)).playbook, [f"b-{number:06d}" for number in range(size)]


def sentence(chance: random.Random, number: int) -> str:
    """A lesson's text, unlike every other."""
    words = " ".join(f"{chance.choice(VERBS)} the {chance.choice(SUBJECTS)}" for _ in range(6))
    return f"Before step {number}: {words}, and only then go on."


def ten_operations(playbook: Playbook, ids: list[str], chance: random.Random) -> Callable[[], object]:
    """A function that applies a fresh delta of ten mixed operations to the same playbook."""
    count = iter(range(1, 1_000_000))

    def once() -> object:
        number = next(count)
        some = chance.sample(ids, 8)
        return apply(
            playbook,
            Delta(
                delta_id(number),
                [
                    *(Add(section=chance.choice(SUBJECTS), text=f"New {number}: {sentence(chance, number)}") for _ in range(2)),
                    *(Tally(id=one, helpful=1) for one in some[:5]),
                    *(Update(id=one, text=sentence(chance, number)) for one in some[5:7]),
                    Retire(id=some[7]),
                ],
            ),
        )

    return once


def delta_id(number: int) -> str:
    """A ULID-like id that grows with the number."""
    return f"01JZX8D2H4{number:016d}"


def median_ms(do: Callable[[], object], *, times: int) -> float:
    """The median time of a call, in milliseconds of processor time."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        do()
        taken.append((time.process_time() - began) * 1000)
    return statistics.median(taken)
