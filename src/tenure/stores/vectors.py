"""Vectors in a store: what is embedded, how numbers are kept, and exact search over them.

A scope rarely holds more than 10,000 lessons, and comparing a question with all of them takes a
millisecond: no index, nothing approximate, nothing to rebuild. With numpy a block of vectors is one
matrix; without it, plain Python does the same about a hundred times slower.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from importlib.util import find_spec
from itertools import chain
from math import isfinite, sqrt
from operator import mul
from typing import Any

from tenure.playbook.lessons import Lesson
from tenure.playbook.run import Run
from tenure.ports import Near, Nearest
from tenure.vectors import unit

HASH_CHARACTERS = 32
"""Hexadecimal digits of a text's hash that are kept: 128 bits."""


_NOT_COMPARED = -9.0
"""Stands for the cosine of a vector that has none; below all others."""

ROWS_AT_ONCE = 256
"""Rows in one product. Larger ones are shared among threads, which wait for each other on a busy machine: 16 ms instead of 2."""


def lesson_text(lesson: Lesson) -> str:
    """What of a lesson is embedded: the statement, then its conditions."""
    return f"{lesson.text}\n{lesson.applies_when}" if lesson.applies_when else lesson.text


def run_text(run: Run) -> str:
    """What of a run is embedded: the input of its task."""
    return run.task.text


SESSION_CHARACTERS = 2_000
"""Characters of a session that are embedded: as many as embedders look at. A long one then keeps its vector while it grows."""


def is_own(role: str) -> bool:
    """Whether an entry of a role is of whom the memory is about: a person, or nobody told apart; not an answer."""
    return role in ("user", "")


def session_text(said: Iterable[tuple[bool, str]]) -> str:
    """What of a session is embedded: what its persons said, or all where nobody is told apart.

    Args:
        said: of each entry, in order, whether it is of a person (see `is_own`), and its text.
    """
    entries = list(said)
    own = [text for mine, text in entries if mine] or [text for _, text in entries]
    return "\n".join(own)[:SESSION_CHARACTERS]


def text_hash(text: str) -> str:
    """Names a text, so that a vector is known to be of it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARACTERS]


def pack(vector: Sequence[float] | None) -> bytes:
    """A vector as it is stored: little-endian single precision, length 1; nothing for none, a zero vector and one with NaN."""
    numbers = unit(vector) if vector is not None else None
    return _little_endian(numbers).tobytes() if numbers is not None else b""


def unpack(packed: bytes) -> array[float]:
    """The numbers of a stored vector."""
    return _little_endian(array("f", packed))


def _little_endian(numbers: array[float]) -> array[float]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class Block:
    """Vectors of one model and dimension with what they stand for, compared all at once.

    Args:
        rows: a number for each vector, such as its row in the database.
        data: the vectors, packed, one after another.
        dimension: numbers in each.

    Memory is that of the numbers: 2 KB for a vector of 512, and 8 bytes for its row.
    """

    def __init__(self, rows: Iterable[int], data: bytes | bytearray, dimension: int) -> None:
        self.rows, self.dimension = array("q", rows), dimension
        self._data = data
        self._matrix: Any = None
        self._numbers = array("f")
        if find_spec("numpy") is not None:
            import numpy as np

            self._matrix = np.frombuffer(data, dtype="<f4").reshape(len(self.rows), dimension)
        else:
            self._numbers = _little_endian(array("f", bytes(data)))

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> Block:
        """The vectors of some blocks as one."""
        return cls(chain.from_iterable(block.rows for block in blocks), b"".join(block._data for block in blocks), blocks[0].dimension)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Memory of the numbers."""
        return len(self.rows) * self.dimension * 4

    def cosines(self, vector: Sequence[float]) -> Any:
        """The cosine of each row with a vector of length 1, in order."""
        if self._matrix is not None:
            import numpy as np

            asked, found = np.asarray(vector, dtype=np.float32), np.empty(len(self.rows), dtype=np.float32)
            for start in range(0, len(found), ROWS_AT_ONCE):
                np.dot(self._matrix[start : start + ROWS_AT_ONCE], asked, out=found[start : start + ROWS_AT_ONCE])
            return found
        size, numbers = self.dimension, self._numbers
        return [sum(map(mul, vector, numbers[start : start + size])) for start in range(0, len(numbers), size)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a vector's comparison with all others gave.

    Attributes:
        found: the nearest rows with their cosines, best first.
        lowest: the least cosine of all; 1 if there was nothing.
        count: how many were compared.
        total, squares: the sum of all cosines, and of their squares.
    """

    found: tuple[tuple[int, float], ...] = ()
    lowest: float = 1.0
    count: int = 0
    total: float = 0.0
    squares: float = 0.0


def best(blocks: Sequence[Block], vector: Sequence[float], *, most: int, gone: Collection[int] = ()) -> Compared:
    """The rows nearest to a vector, and how the cosines of all lie.

    Args:
        blocks: vectors of the same dimension as the vector.
        vector: of length 1.
        most: how many rows to give.
        gone: rows that are no longer there.
    """
    found: list[tuple[int, float]] = []
    lowest, count, total, squares = 1.0, 0, 0.0, 0.0
    for block in blocks:
        if not len(block):
            continue
        cosines, sound = _sound(block.cosines(vector))
        if not len(sound):
            continue
        count += len(sound)
        if isinstance(sound, list):
            lowest, total, squares = min(lowest, *sound), total + sum(sound), squares + sum(one * one for one in sound)
        else:
            lowest, total, squares = min(lowest, float(sound.min())), total + float(sound.sum()), squares + float(sound @ sound)
        for place in _top(cosines, most + len(gone)):
            if block.rows[place] not in gone and cosines[place] > _NOT_COMPARED:
                found.append((block.rows[place], max(-1.0, min(1.0, float(cosines[place])))))
    found.sort(key=lambda hit: (-hit[1], hit[0]))
    return Compared(found=tuple(found[:most]), lowest=lowest, count=count, total=total, squares=squares)


def _sound(cosines: Any) -> tuple[Any, Any]:
    """Cosines with those that are no number put last, and the others alone: an older Tenure stored vectors with NaN as they came."""
    if isinstance(cosines, list):
        sound = [one for one in cosines if isfinite(one)]
        return (cosines if len(sound) == len(cosines) else [one if isfinite(one) else _NOT_COMPARED for one in cosines]), sound
    import numpy as np

    fit = np.isfinite(cosines)
    return (cosines, cosines) if fit.all() else (np.where(fit, cosines, _NOT_COMPARED), cosines[fit])


def nearest_of(hits: Sequence[Near], some: Sequence[Compared], *, compared: int) -> Nearest:
    """What comparisons in one or more scopes gave, as one.

    Args:
        hits: the nearest, best first.
        some: the comparisons.
        compared: how many vectors are still there.
    """
    count = sum(one.count for one in some)
    if not count:
        return Nearest()
    mean = sum(one.total for one in some) / count
    variance = max(0.0, sum(one.squares for one in some) / count - mean * mean)
    return Nearest(
        hits=tuple(hits), lowest=min(one.lowest for one in some if one.count), compared=compared, mean=mean, deviation=sqrt(variance)
    )


def _top(cosines: Any, most: int) -> Iterator[int]:
    if isinstance(cosines, list):
        yield from nlargest(most, range(len(cosines)), key=cosines.__getitem__)
        return
    if most >= len(cosines):
        yield from range(len(cosines))
        return
    import numpy as np

    least = np.partition(cosines, -most)[-most]
    places = np.flatnonzero(cosines >= least)  # equal ones too, so that which of them is taken does not depend on the machine
    yield from (int(place) for place in places[np.argsort(-cosines[places], kind="stable")][:most])
