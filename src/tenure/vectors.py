"""Search by meaning: what makes vectors, and what is said of them. Part of the ports, which give these names too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

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


VectorKind = Literal["lesson", "run"]
"""What a vector stands for: a live lesson with its conditions, or the input of a kept run's task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A text that has no vector of a model yet.

    Attributes:
        kind: what it is of.
        id: the lesson's or the run's.
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
        id: of a lesson or a run.
        cosine: -1 to 1.
        scope: where it stands.
        lesson: the lesson; none for a run.
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
