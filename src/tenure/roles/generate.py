"""The built-in Generator: does a task with the lessons it is shown, and names those it used."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from tenure.ports import LanguageModel, Prompt
from tenure.roles.asking import instructions

_SHOWN = re.compile(r"^[ \t]*(?:[-*][ \t]+)?\[([^\s\[\]]{1,200})\]", re.MULTILINE)
_CITED = re.compile(r"\[([^\[\]\n]{1,400})\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the Generator made of a task.

    Attributes:
        text: the model's reply, verbatim.
        cited: ids of shown lessons that the reply names, in the order of their first mention.
        finish_reason: `length` if the reply was cut off; see `ports.Reply`.
    """

    text: str
    cited: tuple[str, ...] = ()
    finish_reason: str = "stop"


def generate(model: LanguageModel, task: str, context: str = "", *, shown: Collection[str] = (), max_tokens: int = 2048) -> Answer:
    """A model's answer to a task, given the context text that recall chose.

    Args:
        model: is asked once.
        task: in the words it was given in.
        context: lessons with their ids in square brackets, as `render` writes them.
        shown: full ids of the lessons in the context, so that shortened ids can be told; without
            them, the ids are those at the beginnings of lines of the context.
        max_tokens: cap on the reply.

    Raises:
        ModelError: the call failed.
    """
    parts = ["# Lessons", context.strip(), "# Task", task] if context.strip() else ["# Task", task]
    reply = model.complete(Prompt(system=instructions("generate"), user="\n\n".join(parts), purpose="generate", max_tokens=max_tokens))
    known = dict.fromkeys(shown) if shown else dict.fromkeys(_SHOWN.findall(context))
    return Answer(text=reply.text, cited=cited_ids(reply.text, tuple(known)), finish_reason=reply.finish_reason)


def cited_ids(text: str, shown: Collection[str]) -> tuple[str, ...]:
    """The shown ids that a text names in square brackets, alone or several with commas.

    A shortened id counts if it is the beginning of exactly one shown id and longer than its section part.
    """
    found: dict[str, None] = {}
    for group in _CITED.findall(text):
        for named in re.split(r"[,;\s]+", group):
            if named in shown:
                found[named] = None
            elif "-" in named.strip("-"):
                fitting = [one for one in shown if one.startswith(named)]
                if len(fitting) == 1:
                    found[fitting[0]] = None
    return tuple(found)
