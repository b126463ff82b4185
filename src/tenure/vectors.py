"""Search by meaning: what makes vectors, and what is said of them. Part of the ports, which give these names too."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import iscoroutine
from itertools import islice
from math import hypot, isfinite
from operator import index
from typing import Any, Literal, Protocol

from tenure.errors import EmbeddingFailed
from tenure.playbook.lessons import Lesson

FEWEST_COMPARED = 8
"""From how many vectors on it can be told whether one stands out."""

DEVIATIONS = 2.0
"""How far above the mean a cosine stands out, in standard deviations: about one in forty does among texts without a relation."""


class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how near they are in meaning. Never called inside a database transaction."""

    @property
    def name(self) -> str:
        """The model, such as `use-multilingual-v3` or `openai:text-embedding-3-small`; vectors are stored under it."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 while that is not known, as before the first call to a server."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float] | None]:
        """One vector per text, of length 1; none for a text that says nothing to the model.

        Args:
            texts: in any script and of any length; adapters cut and clean them.
            query: whether they are questions; some models tell questions from what is searched.

        Raises:
            EmbeddingFailed: no vectors could be made; the message says why. Search goes on by keywords.
        """
        ...


def unit(vector: Sequence[float]) -> array[float] | None:
    """The vector scaled to length 1, in single precision; none for a zero vector and for one that has no finite length.

    Raises:
        TypeError: something in it is no number.
    """
    try:
        length = hypot(*vector)
    except OverflowError:  # a whole number that no float holds
        return None
    if not length or not isfinite(length):
        return None
    return array("f", vector if abs(length - 1.0) < 1e-6 else [number / length for number in vector])


class CheckedEmbedder:
    """Any embedder, with the promises of `Embedder` kept: whatever it does wrong is an `EmbeddingFailed` with a reason.

    A vector that cannot have length 1, such as one with NaN in it, is none.

    Args:
        embedder: an object of anyone's making.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder, self._learned = embedder, 0

    @property
    def name(self) -> str:
        """Its name, as a database can keep it; without a usable one, that of its class."""
        try:
            name: Any = self.embedder.name
        except Exception:  # noqa: BLE001  # what raises has no name, and search must go on
            name = ""
        usable = isinstance(name, str) and name.strip()
        return name.encode("utf-8", "replace").decode().replace("\x00", "?") if usable else type(self.embedder).__name__

    @property
    def dimension(self) -> int:
        """Numbers in a vector: as it says, else as its first vectors had; 0 before."""
        try:
            said = index(self.embedder.dimension)
        except Exception:  # noqa: BLE001  # what is no number is not known, and is learned from the first vectors
            said = 0
        return said if said > 0 else self._learned

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[array[float] | None]:
        """One vector per text (see `Embedder`).

        Raises:
            EmbeddingFailed: it raised, or gave what are no vectors of its dimension, one per text.
        """
        try:
            given: Any = self.embedder.embed(texts, query=query)
            if iscoroutine(given):
                given.close()
                raise EmbeddingFailed(self.name, "its 'embed' is async; give one that returns the vectors")
            # One more than asked for is enough to see that there are too many.
            some = islice(_several(given, "'embed' returned"), len(texts) + 1)
            made = [vector if vector is None else list(_several(vector, "a vector is")) for vector in some]
            if len(made) != len(texts):
                more = "more than " if len(made) > len(texts) else ""
                count = len(texts) if more else len(made)
                raise EmbeddingFailed(self.name, f"{more}{count} vectors came for {len(texts)} texts")
            sizes = {len(vector) for vector in made if vector is not None}
            wanted = self.dimension
            if 0 in sizes or len(sizes | ({wanted} if wanted else set())) > 1:
                found = ", ".join(map(str, sorted(sizes)))
                raise EmbeddingFailed(self.name, f"it made vectors of {found} numbers where {wanted or 'one size'} was expected")
            units = [None if vector is None else unit(vector) for vector in made]
        except EmbeddingFailed:
            raise
        except Exception as exc:  # embedders have errors of their own, and none may end a search
            raise EmbeddingFailed(self.name, _reason(exc)) from exc
        self._learned = self._learned or max(sizes, default=0)
        return units


def checked(embedder: Embedder) -> CheckedEmbedder:
    """An embedder as all are called: through a check of what it gives."""
    return embedder if isinstance(embedder, CheckedEmbedder) else CheckedEmbedder(embedder)


def _several(given: Any, what: str) -> Any:
    if given is None or isinstance(given, str | bytes | bytearray | dict):
        raise TypeError(f"{what} {'None' if given is None else type(given).__name__}, where a list is expected")
    return given


def _reason(exc: Exception) -> str:
    """An error in a line, without what must not be shown: a library may put its key into its message."""
    from tenure.governance.redaction import redact

    try:
        said = " ".join(str(exc).split())
    except Exception:  # noqa: BLE001  # an error that cannot even be told still has a name
        said = ""
    said = redact(said[:2_000]).text
    return f"{type(exc).__name__}: {said[:300]}{'…' if len(said) > 300 else ''}" if said else type(exc).__name__


VectorKind = Literal["lesson", "run", "session", "entry"]
"""What a vector stands for: a live lesson with its conditions, the input of a kept run's task, or of the memory's raw log a whole
session (what persons said in it) or an entry of a person."""

VECTOR_KINDS: tuple[VectorKind, ...] = ("lesson", "run", "session", "entry")
"""In the order in which they are made: a whole session says more for an entry than the entry itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A text that has no vector of a model yet.

    Attributes:
        kind: what it is of.
        id: the lesson's, the run's or the entry's; of a session its day, a space and its name.
        text: what is to be embedded.
        text_hash: of the text; a vector is stored only while its text is still this one.
    """

    kind: VectorKind
    id: str
    text: str
    text_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A vector to be stored.

    Attributes:
        kind, id, text_hash: as in the `Unembedded` it was made for.
        vector: none where the model has none for the text; then it is not asked again.
    """

    kind: VectorKind
    id: str
    text_hash: str
    vector: Sequence[float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """What stands near a vector.

    Attributes:
        id: of what is near (see `Unembedded`).
        cosine: -1 to 1.
        scope: where it stands.
        lesson: the lesson; none for anything else.
        tools: names of the tools that the run called.
    """

    id: str
    cosine: float
    scope: str
    lesson: Lesson | None = None
    tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """What a vector was compared with, and what is nearest to it.

    Attributes:
        hits: nearest first.
        lowest: the least cosine of all that were compared; 0 if there was nothing.
        compared: how many vectors were compared.
        mean, deviation: of the cosines of all: embedders differ in what they give to texts that have nothing in common.
    """

    hits: tuple[Near, ...] = ()
    lowest: float = 0.0
    compared: int = 0
    mean: float = 0.0
    deviation: float = 0.0

    def stands_out(self, cosine: float) -> bool:
        """Whether a cosine is clearly above those of most that were compared; never where too few were to tell."""
        return self.compared >= FEWEST_COMPARED and cosine >= self.mean + DEVIATIONS * self.deviation
