"""ReHarness, with a model, as documented with Hermit 0.2.0 (infini-ai-lab.github.io/hermit, Apache-2.0).

One lesson a past instance. Forward read: the k whose instances are most like the question stand before the agent. Backward
revision: each of them is held against the instance it came from, and rewritten so that it would not have misled here; every
claim has to rest on its own source, the new instance is only a test. Forward write: one new lesson, shown the revised ones so
that it complements them. Its k and its prompts are not published. Calls an instance: one to act, one for each lesson that was
read, one to write.
"""

from __future__ import annotations

from typing import Any

from tenure.evaluation.harness.ports import Item, Kit, Observation, Query, Response
from tenure.evaluation.likeness import Likeness
from tenure.evaluation.model_arms.asking import Asking, experience, text_of, tokens_of

VERDICTS = ("confirmed", "too_general", "outdated")


class ReHarnessByModel:
    """Lessons that are revised by what came of them.

    Args:
        kit: of the comparison, with a model.
        k: how many are read, and revised.
    """

    def __init__(self, kit: Kit, *, k: int = 3) -> None:
        self._kit, self._k, self.asking = kit, k, Asking(kit)
        self.reset()

    def reset(self) -> None:
        """An empty bank."""
        self.lessons: dict[str, str] = {}
        self._sources: dict[str, dict[str, Any]] = {}
        self._like = Likeness()
        self._asked: tuple[Query, Response, list[str]] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the most similar lessons before the agent."""
        near = self._like.nearest(query.text, self._k)
        response = self._kit.agent.act(query, [Item(text=self.lessons[name], like=like) for name, like in near])
        self._asked = (query, response, [name for name, _ in near])
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Revise what was read, then write."""
        assert self._asked is not None
        query, response, names = self._asked
        now = experience(query, response, observation)
        for name in names:
            parts = {"Lesson": self.lessons[name], "Source case": [self._sources[name]], "New case, only a test": [now]}
            found = self.asking.json("reharness_revise", parts, purpose="revise", expects=("verdict", "lesson"), max_tokens=1000)
            revised = text_of(found.get("lesson")) if found is not None else ""
            if found is not None and revised and found.get("verdict") in VERDICTS[1:]:
                self.lessons[name] = revised
        beside = "\n".join(f"- {self.lessons[name]}" for name in names)
        parts = {"Case": [now], "Lessons that were read, as they stand now": beside or "None."}
        found = self.asking.json("reharness_write", parts, purpose="reflect", expects=("lesson",), max_tokens=1000)
        lesson = text_of(found.get("lesson")) if found is not None else ""
        if lesson:
            key = f"{query.id}@{query.index}"
            self.lessons[key], self._sources[key] = lesson, now
            self._like.put(key, query.text)

    def memory_tokens(self) -> int:
        """Of the lessons; the cases they rest on are kept beside them."""
        return tokens_of(list(self.lessons.values()))
