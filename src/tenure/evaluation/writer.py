"""The shared transparent writer: what every arm that keeps lessons has in place of a model on keyless tasks.

It writes down what happened and nothing else: the words by which a case is found, and the answer that is said to be
right. It merges, narrows and summarises by counting words. It is the same for all arms, so that between two of them only the memory policy
differs; reports name it and mark the arms as transparent.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from tenure.evaluation.harness.ports import Note, Observation, Query, Response

LESSON_BESIDE_CASES = 0.2
"""What a lesson counts for beside what all similar cases say: it tips what is nearly even, and no more."""

MOST_WORDS = 40
"""Words by which one note is found at most."""

FEWEST_WORDS = 3
"""Words below which a note says nothing of when it holds; a summary drops it whole instead."""

ANSWER_WORDS = 3
"""What a note costs beside the words by which it is found."""


_ANSWER = re.compile(r", the answer is (?P<says>.+)\.\s*\Z", re.DOTALL)


def said_by(text: str) -> str:
    """The answer that a note in the writer's form speaks for; empty where a text is none."""
    found = _ANSWER.search(text)
    return found["says"] if found is not None else ""


class TransparentWriter:
    """Writes notes by plain code."""

    name = "transparent writer"

    def lesson(self, query: Query, response: Response, observation: Observation) -> Note | None:
        """The input and its answer: the label if there is one, else what was answered, unless it is known to be wrong."""
        answer = observation.label
        if answer is None and response.answer is not None and observation.score != 0.0:
            answer = response.answer
        return self.note(answer, query.text, (query.id,), query.index) if answer else None

    def note(self, says: str, when: str, sources: tuple[str, ...], at: int) -> Note:
        """A note in the writer's form."""
        return Note(text=f'Where it reads like "{when}", the answer is {says}.', says=says, when=when, sources=sources, at=at)

    def merge(self, notes: Sequence[Note]) -> Note:
        """One note with the words that most of them have; of equals those of the newest."""
        return self._shortened(notes, MOST_WORDS)

    def revise(self, note: Note, *, source: str, failed: str) -> Note:
        """The note narrowed to words of its source case that the case it failed in has not; as it is where none is left."""
        there = {word.casefold() for word in failed.split()}
        kept = [word for word in note.when.split() if word in source.split() and word.casefold() not in there]
        return self.note(note.says, " ".join(kept), note.sources, note.at) if len(kept) >= FEWEST_WORDS else note

    def summarise(self, notes: Sequence[Note], most_words: int) -> tuple[Note, ...]:
        """One note an answer, the best supported first, each within an equal share of the words; what has no room is gone."""
        by_answer: defaultdict[str, list[Note]] = defaultdict(list)
        for note in notes:
            by_answer[note.says].append(note)
        ranked = sorted(by_answer.values(), key=lambda some: (-sum(len(note.sources) for note in some), -max(note.at for note in some)))
        ranked = ranked[: max(1, most_words // (FEWEST_WORDS + ANSWER_WORDS))]
        share = max(FEWEST_WORDS, min(MOST_WORDS, most_words // max(1, len(ranked)) - ANSWER_WORDS))
        return tuple(some[0] if len(some) == 1 and len(some[0].when.split()) <= share else self._shortened(some, share) for some in ranked)

    def _shortened(self, notes: Sequence[Note], most: int) -> Note:
        counted: Counter[str] = Counter()
        for note in sorted(notes, key=lambda one: -one.at):
            for word in dict.fromkeys(note.when.split()):
                counted[word] += len(note.sources)
        kept = [word for word, _ in counted.most_common(most)]
        sources = tuple(dict.fromkeys(source for note in notes for source in note.sources))
        return self.note(notes[-1].says, " ".join(kept), sources, max(note.at for note in notes))


def told_to_engine(purpose: str, note: Note | None, *, steps: Sequence[int]) -> str:
    """What stands for a model's reply to a prompt of the engine: the note that the writer made of the run at hand, if any.

    Args:
        purpose: of the prompt: `reflect`, `curate`, or a revision, which confirms, because the writer changes no lesson.
        note: of the run.
        steps: of the run that the note rests on.
    """
    said = {} if note is None else {"text": note.text, "applies_when": note.when, "kind": "domain_rule"}
    if purpose == "reflect":
        return json.dumps({"insights": [{**said, "steps": list(steps)}] if said else [], "tags": []})
    if purpose == "curate":
        return json.dumps({"operations": [{"op": "ADD", **said, "from": [0]}] if said else []})
    return json.dumps({"verdict": "confirmed"})
