"""Vectors for what has none yet, and the vector of a question.

Nothing is embedded inside a transaction. Each batch is committed for itself, so what an interrupt
leaves undone is all that the next call has to do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tenure.errors import EmbeddingFailed, UserError
from tenure.ports import VECTOR_KINDS, Embedded, Embedder, Reading, Store, VectorKind
from tenure.settings import Settings, read_settings
from tenure.vectors import CheckedEmbedder, checked

LOOKED_AHEAD = 20
"""Batches for which texts are looked up at once: what has a vector already is looked through each time."""

PORTION = 256
"""Texts of the memory that compacting and learning embed at once, the newest first: a second or so of the base embedder's time.
What is older than `RECENT_DAYS` or more than that is for the next time and for `tenure embed`."""

RECENT_DAYS = 30
"""Days with entries, the newest, in which a portion is looked for."""

OF_MEMORY: tuple[VectorKind, ...] = ("session", "entry")
OF_PLAYBOOK: tuple[VectorKind, ...] = ("lesson", "run")

BATCH = 64
"""Texts embedded and committed together: at 350 texts a second, a transaction every fifth of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """What became of a round of embedding.

    Attributes:
        model: the embedder's name.
        embedded: texts that got a vector now, or were found to have none.
        dropped: vectors of other models that were removed, once every text had one of this model.
        complete: whether nothing is left without one; false where only a part was looked at.
        failed: why it ended early; empty if it did not.
    """

    model: str
    embedded: int = 0
    dropped: int = 0
    complete: bool = False
    failed: str = ""


def embed_missing(
    store: Store,
    embedder: Embedder,
    scope: str,
    *,
    batch: int = BATCH,
    most: int | None = None,
    kinds: Collection[VectorKind] = VECTOR_KINDS,
    since: str = "",
    tell: Callable[[int], None] | None = None,
) -> Embedding:
    """Give a vector to every text of a scope that has none of this embedder: lessons, runs, and what is in its memory.

    What was edited since, or has a vector of another model or dimension only, counts as having none.
    When all have one, vectors of other models are removed; until then they stay, so that going back
    to the other model costs nothing.

    Args:
        store, scope: where.
        embedder: makes the vectors.
        batch: texts embedded and committed together.
        most: texts in all; none goes on to the end.
        kinds, since: which of them, as `Reading.unembedded` takes them.
        tell: called after each batch with the number done.

    Returns:
        What was done. A failing embedder ends it with a reason; nothing of what was committed is lost.
    """
    embedder = checked(embedder)
    done = 0
    passed: set[tuple[str, str, str]] = set()
    try:
        dimension = embedder.dimension or _ask_dimension(embedder)
        while most is None or done < most:
            with store.reading(scope) as reading:
                ahead = batch * LOOKED_AHEAD if most is None else min(batch * LOOKED_AHEAD, most - done)
                found = reading.unembedded(embedder.name, dimension=dimension, limit=ahead, kinds=kinds, since=since)
            new = [one for one in found if (one.kind, one.id, one.text_hash) not in passed]
            if not new:
                break
            for start in range(0, len(new), batch):
                waiting = new[start : start + batch]
                vectors = embedder.embed([one.text for one in waiting])
                made = [
                    Embedded(kind=one.kind, id=one.id, text_hash=one.text_hash, vector=vector)
                    for one, vector in zip(waiting, vectors, strict=True)
                ]
                with store.writing(scope) as work:
                    work.put_vectors(embedder.name, made)
                # What was edited meanwhile comes again under another hash; what can never be stored must not come for ever.
                passed |= {(one.kind, one.id, one.text_hash) for one in waiting}
                done += len(waiting)
                if tell is not None:
                    tell(done)
    except EmbeddingFailed as exc:
        return Embedding(model=embedder.name, embedded=done, failed=str(exc))
    if {*kinds} != {*VECTOR_KINDS} or since:
        return Embedding(model=embedder.name, embedded=done)
    return _finished(store, embedder.name, scope, dimension, done)


def _ask_dimension(embedder: Embedder) -> int:
    """The dimension of an embedder that learns it from its server."""
    embedder.embed(["dimension"])
    return embedder.dimension


def _finished(store: Store, model: str, scope: str, dimension: int, done: int) -> Embedding:
    with store.reading(scope) as reading:
        complete = not reading.unembedded(model, dimension=dimension, limit=1)
        others = any(one != model for one in reading.vector_counts())
    dropped = 0
    if complete and others:
        with store.writing(scope) as work:
            dropped = work.drop_vectors(but=model)
    return Embedding(model=model, embedded=done, dropped=dropped, complete=complete)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far the vectors of a scope are.

    Attributes:
        model: the embedder's name.
        embedded: texts that have a vector of it, of its dimension as far as that is known.
        missing: live lessons, kept runs, and entries and sessions of the memory that have none.
        others: vectors of other models, or of another dimension.
    """

    model: str
    embedded: int
    missing: int
    others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A task's text as a vector, or why there is none.

    Attributes:
        model: the embedder's name; empty if there is no embedder.
        vector: of length 1; none if there is no embedder, it failed, or the text says nothing to it.
        failed: why it failed, a sentence; empty if it did not.
    """

    model: str = ""
    vector: Sequence[float] | None = None
    failed: str = ""


def embed_question(embedder: Embedder | None, text: str) -> Question:
    """The vector of a task's text. A failure is stated in it, never raised: keyword search goes on."""
    if embedder is None or not text.strip():
        return Question(model=embedder.name if embedder is not None else "")
    embedder = checked(embedder)
    try:
        return Question(model=embedder.name, vector=embedder.embed([text], query=True)[0])
    except EmbeddingFailed as exc:
        return Question(model=embedder.name, failed=str(exc))


class Vectors:
    """The vectors of a scope: made where they are missing, and asked for with a question.

    Args:
        store: where they are kept.
        scopes: the scope, then those it inherits from.
        opened: gives the embedder by the settings of the scope, or none; looked at again each time. It is given the settings
            where they are at hand.
    """

    def __init__(self, store: Store, scopes: Sequence[str], opened: Callable[[Settings | None], Embedder | None]) -> None:
        self._store, self._scopes, self._open = store, tuple(scopes), opened
        self._checked: CheckedEmbedder | None = None  # kept: it may have learned its dimension from the first vectors
        self._seen = ("", 0)  # the model and dimension that have vectors here; not looked for again

    @property
    def embedder(self) -> Embedder | None:
        """What makes them; none for keyword search alone.

        Raises:
            UserError: it is named, and cannot be opened.
        """
        return self._opened()

    def _opened(self, settings: Settings | None = None) -> CheckedEmbedder | None:
        embedder, kept = self._open(settings), self._checked
        if kept is None or kept.embedder is not embedder:
            kept = self._checked = checked(embedder) if embedder is not None else None
        return kept

    def embed(self, *, most: int | None = None, tell: Callable[[int], None] | None = None) -> Embedding | None:
        """Make those that are missing (see `embed_missing`); none if there is no embedder."""
        embedder = self._opened()
        return None if embedder is None else embed_missing(self._store, embedder, self._scopes[0], most=most, tell=tell)

    def standing(self) -> Standing | None:
        """How far they are, without loading a model; none if there is no embedder.

        Raises:
            UserError: it is named, and cannot be opened.
        """
        embedder = self._opened()
        if embedder is None:
            return None
        with self._store.reading(self._scopes[0]) as reading:
            wanted, every = reading.embeddable(), sum(reading.vector_counts().values())
            have = reading.vector_counts(dimension=embedder.dimension).get(embedder.name, 0)
        missing = max(wanted - have, 0)
        return Standing(model=embedder.name, embedded=have, missing=missing, others=every - have)

    def problems_of_embedding(self) -> tuple[str, ...]:
        """Make those of lessons and runs that are missing, and a portion of the memory's; why it ended early, if it did, a sentence."""
        try:
            embedder = self._opened()
        except UserError as exc:
            return (str(exc),)
        if embedder is None:
            return ()
        done = embed_missing(self._store, embedder, self._scopes[0], kinds=OF_PLAYBOOK)
        return (done.failed,) if done.failed else self.problems_of_memory()

    def problems_of_memory(self) -> tuple[str, ...]:
        """Make a portion of the memory's vectors, of its newest days; why it ended early, if it did, a sentence."""
        try:
            embedder = self._opened()
        except UserError as exc:
            return (str(exc),)
        if embedder is None:
            return ()
        with self._store.reading(self._scopes[0]) as reading:
            days = reading.memory_days()[-RECENT_DAYS:]
        if not days:
            return ()
        done = embed_missing(self._store, embedder, self._scopes[0], most=PORTION, kinds=OF_MEMORY, since=days[0])
        return (done.failed,) if done.failed else ()

    def question(self, text: str) -> Question:
        """A task's text as a vector. No model is loaded for it while there is nothing to compare it with."""
        with self._store.reading(self._scopes[0]) as reading:
            found, embedder = self.looked_up(reading, read_settings(reading.setting))
        return found if embedder is None else self.ask(embedder, text)

    def looked_up(self, reading: Reading, settings: Settings) -> tuple[Question, CheckedEmbedder | None]:
        """What a question is where no model has to be asked for it, else the embedder that `ask` takes, outside of the transaction.

        Args:
            reading: the scope.
            settings: that apply to it.
        """
        try:
            embedder = self._opened(settings)
        except UserError as exc:
            return Question(failed=f"{exc} Search goes on by keywords."), None
        if embedder is None:
            return Question(), None
        model, dimension = embedder.name, embedder.dimension
        if self._seen == (model, dimension) or reading.has_vectors(model, dimension=dimension):
            return Question(), embedder
        if not reading.has_vectors(model):
            return Question(model=model), None
        others = f"The vectors of {model} here have another dimension than the {dimension:,} numbers that it makes now"
        return Question(model=model, failed=f"{others}, so search was by keywords. Make them anew: tenure embed"), None

    def ask(self, embedder: CheckedEmbedder, text: str) -> Question:
        """A task's text as a vector of the embedder that `looked_up` gave."""
        model, dimension = embedder.name, embedder.dimension
        asked = embed_question(embedder, text)
        self._seen = (model, dimension)
        return asked
