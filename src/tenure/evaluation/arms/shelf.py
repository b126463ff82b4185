"""Notes as arms keep them: looked up by likeness, in the order in which they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenure.evaluation.harness.ports import Item, Note
from tenure.evaluation.likeness import Likeness


class Shelf:
    """Notes under numbers that are never used twice."""

    def __init__(self) -> None:
        self._like = Likeness()
        self._notes: dict[str, Note] = {}
        self._made = 0

    def __len__(self) -> int:
        return len(self._notes)

    @property
    def notes(self) -> Mapping[str, Note]:
        """By name, the oldest first."""
        return self._notes

    def add(self, note: Note) -> str:
        """Keep a note; the name it gets."""
        self._made += 1
        name = f"n{self._made}"
        self._notes[name] = note
        self._like.put(name, note.when)
        return name

    def replace(self, name: str, note: Note) -> None:
        """A note reads as another from now on, in its old place."""
        if self._notes[name] != note:
            self._notes[name] = note
            self._like.put(name, note.when)

    def drop(self, name: str) -> None:
        """Let go of a note."""
        del self._notes[name]
        self._like.drop(name)

    def fill(self, notes: Sequence[Note]) -> None:
        """These notes and no others; those that read as before keep their names."""
        known = {note: name for name, note in self._notes.items()}
        for note, name in known.items():
            if note not in notes:
                self.drop(name)
        kept = set(self._notes.values())
        for note in notes:
            if note not in kept:
                self.add(note)

    def nearest(self, text: str, most: int) -> list[tuple[str, float]]:
        """Names of the notes most alike, best first."""
        return self._like.nearest(text, most)

    def items(self, text: str, names: Sequence[str] | None = None, trust: Mapping[str, float] | None = None) -> list[Item]:
        """Notes as they are handed to the agent.

        Args:
            text: of the question.
            names: which, in this order; none hands over all.
            trust: by name; 1 where a name is missing.
        """
        like = self._like.of(text)
        return [
            Item(
                text=self._notes[name].text,
                says=self._notes[name].says,
                like=like.get(name, 0.0),
                trust=(trust or {}).get(name, 1.0),
            )
            for name in (names if names is not None else self._notes)
        ]

    def tokens(self) -> int:
        """Of all notes."""
        return sum(note.tokens for note in self._notes.values())
