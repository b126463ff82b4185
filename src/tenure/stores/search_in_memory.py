"""Search over passages in memory: for tests, for benches and for what lives no longer than the process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from tenure.fusion import VECTOR_WEIGHT
from tenure.ports import Embedder, Found, Passage, PassagesEmbedded
from tenure.stores.passages import (
    AllCosines,
    Indexed,
    Meaning,
    count_stems,
    embed,
    embed_in_batches,
    find,
    indexed,
    missing_note,
    model_of,
    storable,
)
from tenure.stores.scopes import check_scope
from tenure.stores.vectors import Block, unpack
from tenure.terms import stem
from tenure.vectors import checked


class _Shelf:
    """One scope. Rows are numbers in the order of arrival."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.kept: dict[int, Indexed] = {}
        self.by_word: defaultdict[str, dict[int, float]] = defaultdict(dict)
        self.by_mark: defaultdict[str, set[int]] = defaultdict(set)
        self.by_place: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        self.texts: dict[int, str] = {}
        self.vectors: dict[tuple[str, int], dict[int, bytes]] = {}  # by model and dimension; no bytes: the text has no vector
        self.block: tuple[str, Block] | None = None  # the vectors last compared, until one changes
        self.length = 0.0
        self.last = 0

    def text_of(self, passage_id: str) -> str | None:
        """The text kept under an id."""
        row = self.rows.get(storable(passage_id))
        return None if row is None else self.texts[row]

    def has_vector(self, passage_id: str, model: tuple[str, int]) -> bool:
        """Whether a model was asked for this passage's vector."""
        return self.rows.get(storable(passage_id), 0) in self.vectors.get(model, {})

    def put(self, passage: Passage) -> int:
        """Keep a passage in place of the one with its id, with its vectors if the text is the same; its row."""
        one = indexed(passage)
        before = self.rows.get(one.id)
        same = before is not None and self.texts[before] == passage.text
        kept = {model: own[before] for model, own in self.vectors.items() if before in own} if same and before is not None else {}
        self.remove(one.id)
        self.last += 1
        row = self.last
        self.rows[one.id], self.kept[row], self.texts[row] = row, one, passage.text
        self.length += one.length
        for root, count in count_stems(one).items():
            self.by_word[root][row] = count
        for mark in one.marks:
            self.by_mark[mark].add(row)
        self.by_place[one.group, one.place].add(row)
        for model, vector in kept.items():
            self.keep_vector(row, model, vector)
        return row

    def keep_vector(self, row: int, model: tuple[str, int], vector: bytes) -> None:
        """Keep a model's vector of a passage; no bytes say that it has none."""
        self.vectors.setdefault(model, {})[row] = vector
        self.block = None

    def unembedded(self, model: tuple[str, int]) -> list[int]:
        """Rows that a model was not asked for."""
        return sorted(self.kept.keys() - self.vectors.get(model, {}).keys())

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
        del self.texts[row]
        for own in self.vectors.values():
            own.pop(row, None)
        self.block = None
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

    def cosines(self, model: str, vector: Sequence[float]) -> AllCosines:
        """How like every row is that has a vector of this model."""
        if self.block is None or self.block[0] != model or self.block[1].dimension != len(vector):
            size = 4 * len(vector)
            mine = {row: packed for row, packed in self.vectors.get((model, len(vector)), {}).items() if len(packed) == size}
            self.block = (model, Block(mine, b"".join(mine.values()), len(vector)))
        block = self.block[1]
        return AllCosines(dict(zip(block.rows, map(float, block.cosines(vector)), strict=True)) if len(block) else {})


class InMemorySearch:
    """Passages in memory (see `ports.Search`).

    Args:
        embedder: for search by meaning; none, keywords alone serve.
        vector_weight: share of the vector arm, 0 to 1. More than the default pays for long texts and a good embedder.
    """

    def __init__(self, embedder: Embedder | None = None, *, vector_weight: float = VECTOR_WEIGHT) -> None:
        self._embedder, self._vector_weight = checked(embedder) if embedder is not None else None, vector_weight
        self._shelves: dict[str, _Shelf] = {}

    def put(self, scope: str, passages: Sequence[Passage]) -> str:
        """Make passages findable, in place of those with the same ids."""
        shelf = self._shelves.setdefault(check_scope(scope), _Shelf())
        model = model_of(self._embedder)
        new = [one for one in passages if shelf.text_of(one.id) != one.text or not shelf.has_vector(one.id, model)]
        vectors, note = embed(self._embedder, [one.text for one in new])
        made = {one.text: vector for one, vector in zip(new, vectors, strict=True)}
        for passage in passages:
            row = shelf.put(passage)
            if model[0] and not note and passage.text in made:
                shelf.keep_vector(row, model_of(self._embedder), made[passage.text])
        return note

    def embed_missing(self, scope: str, *, batch: int = 64, most: int | None = None) -> PassagesEmbedded:
        """Give a vector to every passage that has none of this embedder."""
        shelf, embedder = self._shelves.get(check_scope(scope), _Shelf()), self._embedder
        if embedder is None:
            return PassagesEmbedded()

        def waiting(size: int) -> list[tuple[int, str]]:
            return [(row, shelf.texts[row]) for row in shelf.unembedded(model_of(embedder))[:size]]

        def keep(made: Sequence[tuple[int, str, bytes]]) -> None:
            for row, text, vector in made:
                if shelf.texts.get(row) == text:
                    shelf.keep_vector(row, model_of(embedder), vector)

        done, failed = embed_in_batches(embedder, waiting, keep, batch=batch, most=most)
        missing, others = len(shelf.unembedded(model_of(embedder))), [model for model in shelf.vectors if model != model_of(embedder)]
        dropped = sum(len(shelf.vectors.pop(model)) for model in others) if not missing else 0
        return PassagesEmbedded(model=embedder.name, embedded=done, missing=missing, dropped=dropped, failed=failed)

    def remove(self, scope: str, ids: Collection[str]) -> int:
        """Take passages out; how many there were."""
        shelf = self._shelves.get(check_scope(scope))
        return sum(shelf.remove(one) for one in set(map(storable, ids))) if shelf is not None else 0

    def find(self, scope: str, text: str, *, limit: int, smooth: bool = False, widen: bool = False) -> Found:
        """Passages of the scope that answer a text, best first."""
        shelf = self._shelves.get(check_scope(scope))
        if shelf is None:
            return Found()
        (packed,), note = embed(self._embedder, [text], query=True)
        model = model_of(self._embedder)
        meaning = Meaning(model=model[0], vector=unpack(packed) if packed else None, weight=self._vector_weight)
        hits = find(shelf, text, limit=limit, smooth=smooth, meaning=meaning, widen=widen)
        missing = len(shelf.kept) - len(shelf.vectors.get(model, ())) if model[0] else 0
        return Found(hits=hits, note=note or missing_note(missing, len(shelf.kept), model[0]))

    def close(self) -> None:
        """Forget everything."""
        self._shelves.clear()
