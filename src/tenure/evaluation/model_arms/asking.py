"""How arms put things to their model: instructions from files, experience as data, and replies that may be unreadable.

What an arm is for is in `prompts`, in words of our own; which calls it makes, with what in them, follows the source that the
arm names. A reply that cannot be read changes nothing in the arm's memory. It is counted, and stands verbatim in the record
of calls, as every reply does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from tenure.errors import MalformedReply
from tenure.evaluation.harness.ports import Kit, Observation, Query, Response
from tenure.ports import LanguageModel, Prompt, Reply
from tenure.ranking import estimate_tokens
from tenure.roles.asking import data_block, present
from tenure.roles.replies import read_json
from tenure.roles.transcript import shortened

MOST_SAID = 24_000
"""Characters of what an agent said that a writer is shown, both ends of a longer one."""


@cache
def instructions(name: str) -> str:
    """The text of `prompts/<name>.md`, without the line break at its end."""
    return (resources.files("tenure.evaluation.model_arms") / "prompts" / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


class Asking:
    """Asks an arm's model.

    Args:
        kit: of the comparison, with a model.

    Attributes:
        unread: why replies were not taken over, in the order in which they came.
    """

    def __init__(self, kit: Kit) -> None:
        assert kit.model is not None, "an arm of this kind is made with a model"
        self._model: LanguageModel = kit.model
        self.unread: list[str] = []

    def text(self, name: str, parts: Mapping[str, Any], *, purpose: str, max_tokens: int) -> str | None:
        """The reply as it is; none where it was cut off, refused or empty.

        Args:
            name: of the instructions.
            parts: what is shown, by heading. A text stands as it is; anything else as lines of JSON.
            purpose: as in `Prompt`.
            max_tokens: of the reply.
        """
        reply = self._complete(name, parts, purpose, max_tokens)
        if reply.finish_reason != "stop" or not reply.text.strip():
            self.unread.append(f"{purpose}: {'it is empty' if reply.finish_reason == 'stop' else f'it ended with {reply.finish_reason}'}")
            return None
        return reply.text.strip()

    def json(
        self, name: str, parts: Mapping[str, Any], *, purpose: str, expects: Collection[str], max_tokens: int
    ) -> Mapping[str, Any] | None:
        """The object that the reply holds; none where it holds none with an expected key. Arguments as for `text`."""
        reply = self._complete(name, parts, purpose, max_tokens)
        try:
            found: Mapping[str, Any] = read_json(reply, expects=expects)
        except MalformedReply as exc:
            self.unread.append(f"{purpose}: {exc.reason}")
            return None
        return found

    def _complete(self, name: str, parts: Mapping[str, Any], purpose: str, max_tokens: int) -> Reply:
        told = (f"# {heading}\n\n{value if isinstance(value, str) else data_block(value)}" for heading, value in parts.items())
        return self._model.complete(Prompt(system=instructions(name), user="\n\n".join(told), purpose=purpose, max_tokens=max_tokens))


def experience(query: Query, response: Response, observation: Observation) -> dict[str, Any]:
    """One answered instance as a writer is shown it: question, what the agent said, and what it was told."""
    return present(
        question=shortened(query.prompt, MOST_SAID),
        said=shortened(response.said, MOST_SAID),
        answer=response.answer,
        problem=response.problem,
        feedback=shortened(observation.text, MOST_SAID),
        right_answer=observation.label,
        score=observation.score,
    )


def case_text(query: Query, response: Response, observation: Observation) -> str:
    """One answered instance as a later agent reads it: the question with the answer that is said to be right, else what came of it."""
    if observation.label is not None:
        return f"Question: {query.prompt}\nAnswer: {observation.label}"
    lines = [f"Question: {query.prompt}"]
    lines += [f"Done:\n{shortened(response.said, MOST_SAID)}"] if response.said else []
    lines += [f"Answered: {response.answer}"] if response.answer is not None else []
    lines += [f"What came of it: {shortened(observation.text, MOST_SAID)}"] if observation.text else []
    return "\n".join(lines)


def listed(value: Any, most: int) -> Sequence[Mapping[str, Any]]:
    """The objects of a list in a reply, at most so many; anything else in it is left out."""
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)][:most]


def texts_of(value: Any, most: int) -> list[str]:
    """The texts of a list in a reply, at most so many; empty ones and anything else are left out."""
    found = value if isinstance(value, list) else []
    return [one.strip() for one in found if isinstance(one, str) and one.strip()][:most]


def text_of(value: Any) -> str:
    """A text in a reply, trimmed; empty for anything else."""
    return value.strip() if isinstance(value, str) else ""


def tokens_of(texts: Collection[str]) -> int:
    """Tokens of texts, estimated."""
    return sum(map(estimate_tokens, texts))
