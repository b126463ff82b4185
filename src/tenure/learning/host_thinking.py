"""Reflection and revision by a model that somebody else asks: what `Tenure` offers for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from tenure.ports import Prompt

if TYPE_CHECKING:
    from tenure.learning.embedding import Vectors
    from tenure.learning.learned import Learned
    from tenure.learning.loop import Learner


class HostThinking(ABC):
    """What `Tenure` offers where the model that thinks belongs to somebody else."""

    scope: str

    @property
    @abstractmethod
    def learner(self) -> Learner:
        """What learns."""

    @property
    @abstractmethod
    def vectors(self) -> Vectors:
        """What makes the vectors of the scope."""

    def reflection_asked(self, run: str) -> Prompt:
        """What to ask a model of your own about a run that was learned from; give its answer to `reflect_submitted`.

        Raises:
            UserError: the run is not there, its outcome was not reported, or a model reflected on it.
        """
        return self.learner.reflection_asked(self.scope, run)

    def reflect_submitted(self, run: str, reply: str, *, model: str = "host") -> Learned:
        """Learn from what a model of your own says of a run, read and checked as that of any model; durable on return.

        Args:
            run: its id.
            reply: the answer to `reflection_asked`, as it came.
            model: who answered, as the log writes it.

        Raises:
            UserError: as for `reflection_asked`, or the reply cannot be read.
        """
        return self._with_vectors_of(self.learner.reflect_submitted(self.scope, run, reply, model=model))

    def revision_asked(self, lesson: str, run: str) -> Prompt:
        """What to ask a model of your own about a lesson that misled in a run; give its answer to `revise_submitted`.

        Raises:
            UserError: run or lesson are not there, or the run is not reason enough to revise the lesson.
        """
        return self.learner.revision_asked(self.scope, lesson, run)

    def revise_submitted(self, lesson: str, run: str, reply: str, *, model: str = "host") -> Learned:
        """Revise a lesson by what a model of your own says of it, under the same checks as any revision; durable on return.

        Raises:
            UserError: as for `revision_asked`, or the reply cannot be read.
        """
        return self._with_vectors_of(self.learner.revise_submitted(self.scope, lesson, run, reply, model=model))

    def _with_vectors_of(self, learned: Learned) -> Learned:
        return replace(learned, problems=(*learned.problems, *self.vectors.problems_of_embedding()))
