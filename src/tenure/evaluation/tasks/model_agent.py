"""The agent that is a model: notes of a memory and a question in, an answer read from the reply.

It is the same for every arm, so that between two of them only the memory differs. The notes stand before the question, so that
a prefix cache can keep what stays. A reply in which no answer can be read is no wrong answer: it is said to be unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tenure.errors import MalformedReply
from tenure.evaluation.harness.ports import Item, Query, Response
from tenure.evaluation.model_arms.asking import instructions
from tenure.ports import LanguageModel, Prompt, Reply
from tenure.roles.asking import data_block
from tenure.roles.replies import read_json

MOST_TOKENS = 1_500
_LEAD = re.compile(r"^\W*(?:the\s+)?(?:final\s+)?answer\s*(?:is)?\s*[:=]?\s*", re.IGNORECASE)


class ModelAgent:
    """Answers by one call.

    Args:
        model: is asked.
        about: the task in words: what is asked, what an answer looks like. The same for each question.
        read: the answer that a text is; none if it is none.
        max_tokens: of a reply.
    """

    def __init__(self, model: LanguageModel, *, about: str, read: Callable[[str], str | None], max_tokens: int = MOST_TOKENS) -> None:
        self._model, self._about, self._read, self._max = model, about, read, max_tokens

    @property
    def name(self) -> str:
        """Of the model."""
        return self._model.name

    def act(self, query: Query, items: Sequence[Item]) -> Response:
        """Answer a query, the notes of the memory before it, each with its number."""
        notes = data_block({"note": number, "text": item.text} for number, item in enumerate(items, 1))
        parts = (["# Notes", notes] if items else []) + ["# Question", query.prompt]
        reply = self._model.complete(
            Prompt(
                system=f"{self._about}\n\n{instructions('act')}",
                user="\n\n".join(parts),
                purpose="generate",
                max_tokens=self._max,
            )
        )
        answer, used, problem = self._answer_of(reply, query.options)
        return Response(
            answer=answer,
            memory=tuple(item.text for item in items),
            used=tuple(place for place in used if place < len(items)),
            problem=problem,
            said=reply.text,
            unreadable=answer is None,
        )

    def _answer_of(self, reply: Reply, options: Sequence[str]) -> tuple[str | None, tuple[int, ...], str]:
        """The answer, the places of the notes it names, and why there is none.

        Without the form that was asked for, only a last line that can be nothing but an answer is taken for one.
        """
        try:
            found: dict[str, Any] = read_json(reply, expects=("answer",))
        except MalformedReply as exc:
            lines = [line.strip() for line in reply.text.splitlines() if line.strip()] if reply.finish_reason == "stop" else []
            answer = self._read(_LEAD.sub("", lines[-1])) if lines and "{" not in reply.text else None
            answer = answer if not options or answer in options else None
            return answer, (), "" if answer is not None else exc.reason
        value = found.get("answer")
        given = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
        answer = self._read(given)
        return answer, _places(found.get("used")), "" if answer is not None else f"'{given[:80]}' is no answer to this question"


def _places(value: Any) -> tuple[int, ...]:
    """Places, from 0, of the numbers that a list names, each once."""
    found = value if isinstance(value, list) else []
    numbers = (re.fullmatch(r"\D*(\d{1,6})\D*", str(one)) for one in found if isinstance(one, str | int) and not isinstance(one, bool))
    return tuple(dict.fromkeys(int(number[1]) - 1 for number in numbers if number is not None and int(number[1]) > 0))
