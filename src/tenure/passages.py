"""Passages: texts that can be found, what a search says of them, and the port that finds them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text that can be found, such as one turn of a conversation.

    Attributes:
        id: names it in its scope; putting it again replaces it.
        text: in any script.
        aside: who said it and when, say; its words count less, and it is not embedded.
        group, place: the order it stands in, such as a conversation and the turn's number. Passages without a group have no neighbours.
    """

    id: str
    text: str
    aside: str = ""
    group: str = ""
    place: int = 0


RELATED_SHOWN = 5
"""Related words that a hit's reason names at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagesEmbedded:
    """What became of a round of embedding passages.

    Attributes:
        model: the embedder's name; empty without one.
        embedded: passages that got a vector now, or were found to have none.
        missing: passages that still wait for one.
        dropped: vectors of other models that were removed, once every passage had one of this model.
        failed: why it ended early; empty if it did not.
    """

    model: str = ""
    embedded: int = 0
    missing: int = 0
    dropped: int = 0
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageHit:
    """A passage that a search found, and why.

    Attributes:
        id, group, place: the passage's.
        score: above 0; comparable within one search only.
        words: words of the question that it holds itself, in the question's order.
        related: words that it shares with the best hits, where the search was widened, the weightiest first.
        identifiers: identifiers of the question that it holds exactly, in lower case.
        cosine: likeness in meaning, -1 to 1; none where there is no vector.
        lent: share of the score that its neighbours lent it.
    """

    id: str
    group: str
    place: int
    score: float
    words: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    cosine: float | None = None
    lent: float = 0.0
    related: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """The reasons in one line."""
        reasons = [
            f"exactly {', '.join(self.identifiers)}" if self.identifiers else "",
            f"words {', '.join(self.words)}" if self.words else "",
            f"related {', '.join(self.related[:RELATED_SHOWN])}" if self.related else "",
            f"cosine {self.cosine:.2f}" if self.cosine is not None else "",
            f"neighbours {self.lent:.2f}" if self.lent else "",
        ]
        return "; ".join(reason for reason in reasons if reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found.

    Attributes:
        hits: best first.
        note: what the search had to do without, a sentence, such as a failing embedder; empty if nothing.
    """

    hits: tuple[PassageHit, ...] = ()
    note: str = ""


class LogSearch(Protocol):
    """Search over the raw log of one scope's memory."""

    def find_in_log(self, text: str, *, limit: int, model: str = "", vector: Sequence[float] | None = None) -> tuple[Found, Found]:
        """The sessions that answer a text, widened (see `Search.find`), and the entries of persons that do, best first.

        Args:
            text: a question, in any script.
            limit: sessions at most, and four times as many entries.
            model: whose vectors are compared.
            vector: the question's; none searches by words alone. What holds none of its words is found if it is near, where nothing
                holds any only if it stands out (see `Nearest.stands_out`).

        Returns:
            Sessions, each named by its day, a space and its own name (empty where entries have none); and entries by id, the
            session so named as their group.
        """
        ...


class Search(Protocol):
    """Finds passages inside a scope, by keywords and, with an embedder, by meaning. Every adapter passes `tests/stores/test_search.py`."""

    def put(self, scope: str, passages: Sequence[Passage]) -> str:
        """Make passages findable, in place of those with the same ids. Found by the next call.

        A text that is there already with a vector of this embedder is not embedded again; an edited one is.

        Returns:
            What could not be done, a sentence, such as vectors that the embedder did not give; empty if nothing.

        Raises:
            ScopeError: the scope is empty or malformed.
        """
        ...

    def remove(self, scope: str, ids: Collection[str]) -> int:
        """Take passages out; how many there were."""
        ...

    def embed_missing(self, scope: str, *, batch: int = 64, most: int | None = None) -> PassagesEmbedded:
        """Give a vector to every passage that has none of this embedder, such as after a change of model.

        Each batch is kept for itself: what an interrupt leaves undone is all that the next call has to
        do. Vectors of other models stay until all are made, and are never compared with this one's.

        Args:
            scope: the passages' own.
            batch: texts embedded and kept together.
            most: texts in all; none goes on to the end.
        """
        ...

    def find(self, scope: str, text: str, *, limit: int, smooth: bool = False, widen: bool = False) -> Found:
        """Passages of the scope that answer a text, best first.

        Those that hold an identifier of the text exactly come first. Never empty where a passage holds
        a word of the text. Nothing in the text is query syntax.

        Args:
            scope: the passages' own; another scope's are never found.
            text: a question, in any script.
            limit: how many hits at most.
            smooth: whether passages lend relevance to those beside them in their group. For turns and steps, not for lessons.
            widen: whether words that the best hits share are searched for too. For long texts asked in other words, such as
                whole conversations; it never takes a hit away.
        """
        ...

    def close(self) -> None:
        """Release what is held."""
        ...
