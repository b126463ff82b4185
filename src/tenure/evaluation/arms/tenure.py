"""The engine itself as an arm: a real playbook in memory, taught run by run through the public interface.

What the shared transparent writer makes of a case enters as a Reflector's insight: a model that says just that answers
the engine's own prompts. Evidence, credit, grades on kept cases, revision, refine and recall are the engine's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tenure.evaluation.harness.ports import Item, Kit, Note, Observation, Query, Response
from tenure.evaluation.writer import LESSON_BESIDE_CASES, told_to_engine
from tenure.learning.recall import Context
from tenure.playbook.notation import dumps
from tenure.playbook.run import Outcome, Run, Step, Task
from tenure.ports import Prompt, Reply, Usage
from tenure.providers.scripted import RuleModel
from tenure.stores.in_memory import InMemoryStore
from tenure.testing import CountingIds, SteppingClock
from tenure.wiring import Tenure

SCOPE = "local/bench"

BOUNDS: Mapping[str, str] = {"context.tokens": "1000", "context.core_tokens": "0", "context.counter": "estimate", "learn.rounds": "1"}
"""Where a hundred answers are possible, lessons that are useful in general say nothing of the one asked for: all room goes to recall."""


SETTINGS: Mapping[str, Mapping[str, str]] = {
    "": {},
    "revision": {"revise.k": "0"},
    "grading": {},
    "cases": {},
    "reflector": {},
    "refine": {"refine.every": "0", "bounds.lessons_per_section": "1000000", "bounds.tokens": "1000000000"},
}
"""Settings of the scope for each ablation; what no setting does, the arm does."""


class TenureArm:
    """A playbook in memory.

    Args:
        kit: of the comparison.
        without: the part that is left out: one of `SETTINGS`; empty leaves out none.
    """

    def __init__(self, kit: Kit, *, without: str = "") -> None:
        self._kit, self._without = kit, without
        self.reset()

    def reset(self) -> None:
        """An empty playbook."""
        self._writing = _Writing()
        model = None if self._without == "reflector" else RuleModel(self._writing.reply, name="transparent:writer")
        self._book = Tenure(InMemoryStore(), SCOPE, clock=SteppingClock(), ids=CountingIds(), model=model, embedder="none")
        for name, value in {**BOUNDS, **SETTINGS[self._without]}.items():
            self._book.set(name, value)
        self._says: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._asked: tuple[Query, Response, Context, tuple[str, ...]] | None = None

    def respond(self, query: Query) -> Response:
        """Answer from the context that the engine gives for the query."""
        shown = self._book.context(query.text)
        items, ids = self._items(shown)
        acted = self._kit.agent.act(query, items)
        cited = tuple(dict.fromkeys(ids[place] for place in acted.used if ids[place]))
        response = Response(answer=acted.answer, memory=(shown.text,) if shown.text else (), used=acted.used, problem=acted.problem)
        self._asked = (query, response, shown, cited)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Report the run with its outcome; the engine learns from it."""
        assert self._asked is not None
        query, response, shown, cited = self._asked
        run_id = self._book.ids.next()
        graded = self._without != "grading"
        outcome = Outcome(
            score=observation.score,
            feedback=observation.text,
            signal="label" if observation.label is not None else "environment" if observation.score is not None else "none",
            expected=(observation.label or "") if graded else "",
        )
        run = Run(
            id=run_id,
            task=Task(text=query.text),
            steps=(
                Step(kind="message", role="user", content=query.prompt),
                Step(kind="message", role="assistant", content=response.answer or ""),
            ),
            shown=shown.lessons,
            cited=cited,
            outcome=outcome,
        )
        self._writing.note = self._kit.writer.lesson(query, response, observation)
        self._book.learn(run)
        if observation.label is not None:
            self._labels[run_id] = observation.label
        if self._writing.note is not None:
            self._says[self._writing.note.text] = self._writing.note.says

    def memory_tokens(self) -> int:
        """Of the live lessons."""
        with self._book.store.reading(SCOPE) as reading:
            return sum(tokens for _, tokens in reading.sizes().values())

    def leave(self, folder: Path, name: str) -> None:
        """Its playbook and its ledger."""
        (folder / f"{name}.playbook.json").write_text(dumps(self._book.playbook), encoding="utf-8")

    def _items(self, shown: Context) -> tuple[list[Item], list[str]]:
        """What the context holds, as the agent reads it, and the lesson that each item is; empty for what is none.

        Where the context says how the labels of similar cases divide, the cases themselves have had their say, and so have most
        of the cases that lessons came from.
        """
        answers = () if self._without == "cases" else shown.answers
        items = [Item(text=one.answer, says=one.answer, trust=one.share) for one in answers]
        ids = [""] * len(items)
        with self._book.store.reading(SCOPE) as reading:
            lessons = reading.named(shown.lessons)
        for why in shown.why:
            says = self._says.get(lessons[why.id].text, "") if why.id in lessons else ""
            trust = why.usefulness * (LESSON_BESIDE_CASES if answers else 1.0)
            items.append(Item(text=why.id, says=says, like=why.relevance, trust=trust))
            ids.append(why.id)
        for case in () if answers or self._without == "cases" else shown.why_cases:
            items.append(Item(text=case.run, says=self._labels.get(case.run, ""), like=case.relevance))
            ids.append("")
        return items, ids


class _Writing:
    """Answers the engine's prompts with what the shared writer made of the run at hand."""

    def __init__(self) -> None:
        self.note: Note | None = None

    def reply(self, prompt: Prompt) -> Reply:
        """The answer to one prompt. It costs no tokens: what answers reads the run, not the prompt."""
        return Reply(text=told_to_engine(prompt.purpose, self.note, steps=(0, 1)), usage=Usage(calls=1))
