"""The engine itself as an arm, with a model: its own Reflector, Curator and Reviser, through the public interface.

The agent reads the context as the engine renders it, and cites lessons by their ids. Calls an instance: one to act; then as
many as the engine needs, which its setting `learn.rounds` bounds: one for a run that shows nothing new, a further one to
curate and one for each used lesson that misled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tenure.evaluation.arms.tenure import SCOPE, SETTINGS
from tenure.evaluation.harness.ports import Item, Kit, Observation, Query, Response
from tenure.learning.recall import Context
from tenure.playbook.notation import dumps
from tenure.playbook.render import lesson_block
from tenure.playbook.run import Outcome, Run, Step, Task
from tenure.roles.generate import cited_ids
from tenure.stores.in_memory import InMemoryStore
from tenure.testing import CountingIds, SteppingClock
from tenure.wiring import Tenure

ROUNDS = 1
"""Rounds of refinement of a reflection. The engine's own default is 5; other arms reflect once on a right answer."""

BOUNDS: Mapping[str, str] = {"context.counter": "estimate", "learn.rounds": str(ROUNDS)}


class TenureByModel:
    """A playbook in memory that learns with a model.

    Args:
        kit: of the comparison, with a model.
        without: the part that is left out, as in the transparent form; empty leaves out none.
    """

    def __init__(self, kit: Kit, *, without: str = "") -> None:
        self._kit, self._without = kit, without
        self.reset()

    def reset(self) -> None:
        """An empty playbook."""
        learns = None if self._without == "reflector" else self._kit.model
        self.book = Tenure(InMemoryStore(), SCOPE, clock=SteppingClock(), ids=CountingIds(), model=learns, embedder="none")
        for name, value in {**BOUNDS, **SETTINGS[self._without]}.items():
            self.book.set(name, value)
        self._asked: tuple[Query, Response, Context] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the context that the engine gives for the query."""
        shown = self.book.context(query.text)
        text = self._without_cases(shown) if self._without == "cases" else shown.text
        response = self._kit.agent.act(query, [Item(text=text)] if text.strip() else [])
        self._asked = (query, response, shown)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Report the run with its outcome; the engine learns from it."""
        assert self._asked is not None
        query, response, shown = self._asked
        cited = cited_ids(response.said, shown.lessons)
        if observation.run is not None:
            self.book.learn(replace(observation.run, scope=SCOPE, shown=shown.lessons, cited=cited))
            return
        honest = "label" if observation.label is not None else "environment"
        expected = observation.label if observation.label is not None and self._without != "grading" else ""
        outcome = Outcome(
            score=observation.score,
            feedback=observation.text,
            signal=honest if observation.score is not None else "none",  # type: ignore[arg-type]  # one of two words
            expected=expected,
        )
        steps = (
            Step(kind="message", role="user", content=query.prompt),
            Step(kind="message", role="assistant", content=response.said or response.answer or ""),
        )
        run = Run(id=self.book.ids.next(), task=Task(text=query.text), steps=steps, shown=shown.lessons, cited=cited, outcome=outcome)
        self.book.learn(run)

    def memory_tokens(self) -> int:
        """Of the live lessons."""
        with self.book.store.reading(SCOPE) as reading:
            return sum(tokens for _, tokens in reading.sizes().values())

    def leave(self, folder: Path, name: str) -> None:
        """Its playbook."""
        (folder / f"{name}.playbook.json").write_text(dumps(self.book.playbook), encoding="utf-8")

    def _without_cases(self, shown: Context) -> str:
        with self.book.store.reading(SCOPE) as reading:
            lessons = reading.named(shown.lessons)
        return "\n".join(lesson_block(lessons[name]) for name in shown.lessons if name in lessons)
