"""What an agent practises on: instances with answers, attempts at them, and what judges the attempts."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, cast

from tenure.errors import UnreadableInput, UserError
from tenure.learning.recall import Context
from tenure.playbook.run import Outcome, Signal, Step, Task
from tenure.ports import TaskAgent
from tenure.roles.answers import same_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One task to practise on.

    Attributes:
        id: unique in its file.
        task: what is asked; every attempt at it has the same key.
        expected: the right answer, for the scorer; empty if there is none. An agent never sees it.
        data: anything else the scorer or the agent's own tools may need, by name.
    """

    id: str
    task: Task
    expected: str = ""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What an agent made of a task. One that only answers gives the answer itself instead.

    Attributes:
        answer: its result, of any type; a playbook keeps it as text.
        steps: what it did on the way: tool calls, results, messages. Lessons come from them.
        cited: ids of the lessons it says it used.
        error: the exception that ended it, in words; empty if it came to its end.
    """

    answer: object = ""
    steps: Sequence[Step] = ()
    cited: Sequence[str] = ()
    error: str = ""


class Scorer(Protocol):
    """Says what an attempt is worth."""

    def score(self, instance: Instance, attempt: Attempt) -> Outcome | float | bool | None:
        """The outcome, a score from 0 to 1, or whether it succeeded; none if that cannot be said. Equal for equal attempts."""
        ...


AgentFunction = Callable[[str, str], object]
"""Takes the task and the context, and gives the answer or an `Attempt`; may be a coroutine function."""

ScorerFunction = Callable[[Instance, Attempt], Outcome | float | bool | None]
"""As `Scorer.score`."""


class Practice(Protocol):
    """An agent and what judges it, as adaptation uses them."""

    def attempt(self, instance: Instance, shown: Context) -> Attempt:
        """Let the agent act, given a context."""
        ...

    def judge(self, instance: Instance, attempt: Attempt) -> Outcome:
        """What the attempt is worth; without a score if that cannot be said. Called once for each attempt, before it is learned from."""
        ...


class AgentPractice:
    """A user's agent and scorer.

    Args:
        agent: an object with `act(task, context)`, or a function that takes these.
        scorer: an object with `score(instance, attempt)`, or a function that takes these; none compares the answer with what is expected.
    """

    def __init__(self, agent: TaskAgent | AgentFunction, scorer: Scorer | ScorerFunction | None = None) -> None:
        self._act = _function(agent, "act", "An agent", "(task, context)")
        self._score = _function(scorer, "score", "A scorer", "(instance, attempt)") if scorer is not None else answers_as_expected

    def attempt(self, instance: Instance, shown: Context) -> Attempt:
        """What the agent does; an exception of its own is an attempt that failed."""
        try:
            result = self._act(instance.task.text, shown.text)
            if inspect.isawaitable(result):
                result = asyncio.run(_awaited(result))
        except Exception as exc:  # noqa: BLE001  # whatever a user's agent may raise: it is what became of the attempt
            return Attempt(error=f"{type(exc).__name__}: {exc}")
        return result if isinstance(result, Attempt) else Attempt(answer=result)

    def judge(self, instance: Instance, attempt: Attempt) -> Outcome:
        """The scorer's word; an attempt that ended with an exception failed.

        Raises:
            UserError: the scorer raises, or gives no score.
        """
        if attempt.error:
            return Outcome(success=False, feedback=attempt.error, signal="environment", expected=instance.expected)
        try:
            said = self._score(instance, attempt)
        except UserError:
            raise
        except Exception as exc:
            raise UserError(f"The scorer raised {type(exc).__name__} on instance '{instance.id}': {exc}") from exc
        return _outcome(said, instance)


def answers_as_expected(instance: Instance, attempt: Attempt) -> bool | None:
    """Whether the answer is the expected one; white space at the ends, case and a closing full stop do not count. None without one."""
    return same_answer(str(attempt.answer), instance.expected) if instance.expected else None


def read_instances(path: Path) -> list[Instance]:
    """The instances of a file, in its order: JSON lines with `task` and, where it is known, `expected`.

    Args:
        path: each line is an object with `task` (a text, or `text`, `kind` and `key`), `expected`, `id`; its other keys are `data`.

    Raises:
        UnreadableInput: it cannot be read, holds no instance, or a line is of another form; the message names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise UnreadableInput(f"'{path}' cannot be read: {exc}") from exc
    found: dict[str, Instance] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        instance = _instance(line, f"{path}, line {number}", f"{number}")
        if instance.id in found:
            raise UnreadableInput(
                f"{path}, line {number}: the id '{instance.id}' stands on an earlier line too. Give each instance its own."
            )
        found[instance.id] = instance
    if not found:
        raise UnreadableInput(f"'{path}' holds no instance. {FORM}")
    return list(found.values())


FORM = 'Each line is one JSON object, such as {"task": "Book invoice 7", "expected": "booked"}'


def _instance(line: str, where: str, number: str) -> Instance:
    try:
        held = json.loads(line)
    except ValueError as exc:
        raise UnreadableInput(f"{where} is no JSON: {exc}. {FORM}") from exc
    task = held.get("task") if isinstance(held, dict) else None
    asked = task if isinstance(task, dict) else {"text": task}
    text = asked.get("text")
    if not isinstance(text, str) or not text.strip():
        raise UnreadableInput(f"{where} has no task, a text that is not empty. {FORM}")
    expected = held.get("expected", "")
    if not isinstance(expected, str | int | float):
        raise UnreadableInput(
            f"{where}: expected = {json.dumps(expected):.80}: it is a text or a number. Put other forms into a key of your own."
        )
    key = str(asked.get("key") or sha256(text.encode()).hexdigest()[:16])
    return Instance(
        id=str(held.get("id") or number),
        task=Task(text=text, kind=str(asked.get("kind") or ""), key=key),
        expected=json.dumps(expected) if isinstance(expected, bool) else str(expected),
        data={name: value for name, value in held.items() if name not in ("task", "expected", "id")},
    )


def _function(given: object, method: str, what: str, takes: str) -> Callable[..., Any]:
    found = getattr(given, method, None)
    if callable(found) and not inspect.isclass(given):
        return cast("Callable[..., Any]", found)
    if callable(given) and not inspect.isclass(given):
        return given
    raise UserError(f"{what} is a function {takes} or an object with {method}{takes}, not {given!r:.80}.")


async def _awaited(result: Any) -> object:
    return await result


def _outcome(said: object, instance: Instance) -> Outcome:
    if isinstance(said, Outcome):
        return said
    signal: Signal = "label" if instance.expected else "environment"
    if said is None:
        return Outcome(expected=instance.expected)
    if isinstance(said, bool):
        return Outcome(success=said, signal=signal, expected=instance.expected)
    if isinstance(said, int | float) and 0.0 <= said <= 1.0:
        return Outcome(score=float(said), signal=signal, expected=instance.expected)
    raise UserError(
        f"The scorer gave {said!r:.80} for instance '{instance.id}'. It gives an Outcome, a score from 0 to 1, true or false, or none."
    )
