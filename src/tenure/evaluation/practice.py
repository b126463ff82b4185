"""A keyless task as something to practise on: its transparent agent acts on what a real playbook gives it.

The shared transparent writer stands in for a Reflector, as in comparisons (see `arms.tenure`); answers and labels are
read from the playbook itself, so that a later process goes on with what an earlier one learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tenure.errors import UserError
from tenure.evaluation.harness.ports import Agent, Item, Note, Query, Response
from tenure.evaluation.harness.ports import Instance as Asked
from tenure.evaluation.harness.ports import Task as Bench
from tenure.evaluation.harness.sample import Scored
from tenure.evaluation.tasks.listed import TASKS, open_task
from tenure.evaluation.tasks.voting import VotingAgent
from tenure.evaluation.writer import LESSON_BESIDE_CASES, TransparentWriter, said_by, told_to_engine
from tenure.learning.practice import Attempt, Instance
from tenure.learning.recall import Context
from tenure.playbook.lessons import Lesson
from tenure.playbook.run import Outcome, Run, Task
from tenure.ports import Prompt, Store
from tenure.providers.scripted import RuleModel

PRACTISABLE = tuple(name for name, listed in TASKS.items() if listed.keyless)
"""Tasks that an agent of plain code can practise."""


class TaskPractice:
    """A keyless task.

    Args:
        name: of the task.
        train: its file of training instances.
        validation: its file of instances to choose by; none has none.
        seed: of the order and of the agent's guesses.

    Raises:
        UserError: there is no such task, or a file cannot be read.
    """

    def __init__(self, name: str, train: Path, validation: Path | None = None, *, seed: int = 0) -> None:
        if name not in PRACTISABLE:
            raise UserError(f"There is no task '{name}' to practise. There are: {', '.join(PRACTISABLE)}. Another: --agent MODULE:FUNCTION")
        self._asked: dict[str, tuple[Bench, Asked]] = {}
        self._writer = TransparentWriter()
        self._note: Note | None = None
        self.model = RuleModel(self._reply, name="transparent:writer")
        self._store: Store | None = None
        self._scope = ""
        opened = open_task(name, {"data": str(train), "seed": seed})
        self._agent: Agent = opened.agent(0, None)
        self.train = self._instances(opened, "train")
        self.validation = self._instances(open_task(name, {"data": str(validation), "seed": seed}), "validation") if validation else ()

    def reads(self, store: Store, scope: str) -> TaskPractice:
        """The same, acting on the playbook of a scope."""
        self._store, self._scope = store, scope
        return self

    def attempt(self, instance: Instance, shown: Context) -> Attempt:
        """Let the transparent agent act on the lessons and cases of a context."""
        _, asked = self._asked[instance.id]
        items, ids = self._items(shown)
        response = self._agent.act(asked.query, items)
        cited = tuple(dict.fromkeys(ids[place] for place in response.used if ids[place]))
        return Attempt(answer=response.answer or "", cited=cited)

    def judge(self, instance: Instance, attempt: Attempt) -> Outcome:
        """The task's score by its label, which the writer is told too."""
        task, asked = self._asked[instance.id]
        response = Response(answer=str(attempt.answer) or None)
        score, observed = task.score(asked, response), task.observe(asked, response, 0)
        self._note = self._writer.lesson(asked.query, response, observed)
        return Outcome(
            score=score.value if isinstance(score, Scored) else 0.0 if response.answer is None else None,
            feedback=observed.text,
            signal="label",
            expected=observed.label or "",
        )

    def _instances(self, task: Bench, part: str) -> tuple[Instance, ...]:
        found: list[Instance] = []
        for asked in task.stream(0):
            name = f"{part} {asked.query.id}"
            self._asked[name] = (task, asked)
            found.append(Instance(id=name, task=Task(text=asked.query.text, kind=task.name, key=_key(asked.query)), expected=asked.truth))
        return tuple(found)

    def _items(self, shown: Context) -> tuple[list[Item], list[str]]:
        """What the context holds, as the agent reads it, and the lesson that each item is; empty for what is none.

        Where the context says how the labels of similar cases divide, an agent that votes leaves the cases themselves out.
        """
        assert self._store is not None, "reads() says which playbook"
        with self._store.reading(self._scope) as reading:
            lessons: Mapping[str, Lesson] = reading.named(shown.lessons)
            runs: Sequence[tuple[float, Run]] = [
                (case.relevance, run) for case in shown.why_cases for run in (reading.run(case.run),) if run is not None
            ]
        votes = isinstance(self._agent, VotingAgent)
        answers = shown.answers if votes else ()
        items = [Item(text=one.answer, says=one.answer, trust=one.share) for one in answers]
        ids = [""] * len(items)
        for why in shown.why:
            text = lessons[why.id].text if why.id in lessons else ""
            items.append(
                Item(text=text, says=said_by(text), like=why.relevance, trust=why.usefulness * (LESSON_BESIDE_CASES if answers else 1.0))
            )
            ids.append(why.id)
        for like, run in () if answers else runs:
            items.append(Item(text=f"{run.task.text} -> {run.outcome.expected}", says=run.outcome.expected, like=like))
            ids.append("")
        return items, ids

    def _reply(self, prompt: Prompt) -> str:
        """The answer to a prompt of the engine, in the form that its role reads: what the writer made of the run at hand."""
        return told_to_engine(prompt.purpose, self._note, steps=(0,))


def _key(query: Query) -> str:
    """Equal for equal questions, whichever file they stand in."""
    from hashlib import sha256

    return sha256(query.text.encode()).hexdigest()[:16]
