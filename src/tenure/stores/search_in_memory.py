"""Search over passages in memory: for tests, for benches and for what lives no longer than the process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from tenure.fusion import VECTOR_WEIGHT
from tenure.ports import Embedder, Found, Passage
from tenure.stores.passages import Indexed, Meaning, count_stems, embed, find, indexed, storable
from tenure.stores.scopes import check_scope
from tenure.stores.vectors import Block, unpack
from tenure.terms import stem


class _Shelf:
    """One scope. Rows are numbers in the order of arrival."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.kept: dict[int, Indexed] = {}
        self.by_word: defaultdict[str, dict[int, float]] = defaultdict(dict)
        self.by_mark: defaultdict[str, set[int]] = defaultdict(set)
        self.by_place: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        self.vectors: dict[int, tuple[str, bytes]] = {}
        self.length = 0.0
        self.last = 0

    def put(self, passage: Passage, model: str, vector: bytes) -> None:
        """Keep a passage in place of the one with its id."""
        one = indexed(passage)
        self.remove(one.id)
        self.last += 1
        row = self.last
        self.rows[one.id], self.kept[row] = row, one
        self.length += one.length
        for root, count in count_stems(one).items():
            self.by_word[root][row] = count
        for mark in one.marks:
            self.by_mark[mark].add(row)
        self.by_place[one.group, one.place].add(row)
        if vector:
            self.vectors[row] = (model, vector)

    def remove(self, passage_id: str) -> bool:
        """Take a passage out; whether it was there."""
        row = self.rows.pop(passage_id, None)
        if row is None:
            return False
        one = self.kept.pop(row)
        self.length -= one.length
        for word in {*one.said, *one.aside}:
            self.by_word[stem(word)].pop(row, None)
        for mark in one.marks:
            self.by_mark[mark].discard(row)
        self.by_place[one.group, one.place].discard(row)
        self.vectors.pop(row, None)
        return True

    def size(self) -> tuple[int, float]:
        """How many there are, and the sum of their lengths."""
        return len(self.kept), self.length

    def held_by(self, word: str) -> int:
        """How many hold a word or another with its stem."""
        return len(self.by_word.get(stem(word), ()))

    def holders(self, words: Sequence[str], marks: Sequence[str], most: int) -> Sequence[int]:
        """Rows that hold a word or a mark. All of them: memory has no need to choose."""
        found = set[int]().union(*(self.by_word.get(stem(word), {}) for word in words))
        return sorted(found.union(*(self.by_mark.get(mark, set()) for mark in marks)))

    def beside(self, rows: Collection[int], reach: int) -> Collection[int]:
        """Rows that stand near these in their groups."""
        near = set[int]()
        for row in rows:
            one = self.kept[row]
            for step in range(-reach, reach + 1) if one.group else ():
                near |= self.by_place.get((one.group, one.place + step), set())
        return near.difference(rows)

    def take(self, rows: Collection[int]) -> Mapping[int, Indexed]:
        """The passages in rows."""
        return {row: self.kept[row] for row in sorted(rows)}

    def counts(self, kept: Mapping[int, Indexed], stems: Collection[str]) -> Mapping[int, Mapping[str, float]]:
        """How often each of these passages holds each stem."""
        found: dict[int, dict[str, float]] = {row: {} for row in kept}
        for root in stems:
            for row, count in self.by_word.get(root, {}).items():
                if row in found:
                    found[row][root] = count
        return found

    def cosines(self, model: str, vector: Sequence[float]) -> Mapping[int, float]:
        """Likeness of every row that has a vector of this model."""
        size = 4 * len(vector)
        mine = {row: packed for row, (name, packed) in self.vectors.items() if name == model and len(packed) == size}
        if not mine:
            return {}
        block = Block(mine, b"".join(mine.values()), len(vector))
        return dict(zip(mine, map(float, block.cosines(vector)), strict=True))


class InMemorySearch:
    """Passages in memory (see `ports.Search`).

    Args:
        embedder: for search by meaning; none, keywords alone serve.
        vector_weight: share of the vector arm, 0 to 1. More than the default pays for long texts and a good embedder.
    """

    def __init__(self, embedder: Embedder | None = None, *, vector_weight: float = VECTOR_WEIGHT) -> None:
        self._embedder, self._vector_weight = embedder, vector_weight
        self._shelves: dict[str, _Shelf] = {}

    def put(self, scope: str, passages: Sequence[Passage]) -> str:
        """Make passages findable, in place of those with the same ids."""
        shelf = self._shelves.setdefault(check_scope(scope), _Shelf())
        vectors, note = embed(self._embedder, [passage.text for passage in passages])
        model = self._embedder.name if self._embedder is not None else ""
        for passage, vector in zip(passages, vectors, strict=True):
            shelf.put(passage, model, vector)
        return note

    def remove(self, scope: str, ids: Collection[str]) -> int:
        """Take passages out; how many there were."""
        shelf = self._shelves.get(check_scope(scope))
        return sum(shelf.remove(one) for one in set(map(storable, ids))) if shelf is not None else 0

    def find(self, scope: str, text: str, *, limit: int, smooth: bool = False) -> Found:
        """Passages of the scope that answer a text, best first."""
        shelf = self._shelves.get(check_scope(scope))
        if shelf is None:
            return Found()
        (packed,), note = embed(self._embedder, [text], query=True)
        model = self._embedder.name if self._embedder is not None else ""
        meaning = Meaning(model=model, vector=unpack(packed) if packed else None, weight=self._vector_weight)
        hits = find(shelf, text, limit=limit, smooth=smooth, meaning=meaning)
        return Found(hits=hits, note=note)

    def close(self) -> None:
        """Forget everything."""
        self._shelves.clear()
