"""Language models that answer from a script or a rule: for tests, demos and rehearsals. No network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from decimal import Decimal

from tenure.errors import UserError
from tenure.ports import Prompt, Reply, Usage
from tenure.ranking import estimate_tokens


class ScriptedModel:
    """Gives the replies it was given, in turn, and records what it was asked.

        model = ScriptedModel(['{"insights": []}', ModelError("the provider is down")])

    A text becomes a reply with estimated usage, a `Reply` is given as it is, an exception is raised.
    Safe to share between threads.

    Attributes:
        name: as the model's name is written in deltas.
        prompts: what it was asked, in order.
    """

    def __init__(self, replies: Sequence[str | Exception | Reply], *, name: str = "scripted:replies") -> None:
        self.name = name
        self.prompts: list[Prompt] = []
        self._replies = tuple(replies)
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many replies were not given yet."""
        return max(0, len(self._replies) - len(self.prompts))

    def complete(self, prompt: Prompt) -> Reply:
        """The next reply.

        Raises:
            UserError: there is none left. Not a `ModelError`, so that no code under test takes it
                for a provider that is down.
        """
        with self._lock:
            number = len(self.prompts)
            self.prompts.append(prompt)
        if number >= len(self._replies):
            raise UserError(
                f"ScriptedModel was given {len(self._replies)} replies and is asked for number {number + 1} (purpose '{prompt.purpose}'). "
                f"Give it one more, or look at .prompts for the call that was not meant."
            )
        reply = self._replies[number]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else reply_to(prompt, reply, model=self.name)

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """A script costs nothing."""
        return Decimal(0)


class RuleModel:
    """Answers each prompt by a function of it. As safe to share between threads as the function.

    model = RuleModel(lambda prompt: '{"operations": []}' if prompt.purpose == "curate" else "42")
    """

    def __init__(self, rule: Callable[[Prompt], str | Reply], *, name: str = "scripted:rule") -> None:
        self.name = name
        self._rule = rule

    def complete(self, prompt: Prompt) -> Reply:
        """What the rule says; a text becomes a reply with estimated usage."""
        reply = self._rule(prompt)
        return reply if isinstance(reply, Reply) else reply_to(prompt, reply, model=self.name)

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """A rule costs nothing."""
        return Decimal(0)


def reply_to(prompt: Prompt, text: str, *, model: str = "", finish_reason: str = "stop") -> Reply:
    """A reply with the usage that a provider would have counted, by estimate."""
    usage = Usage(calls=1, input_tokens=estimate_tokens(prompt.system) + estimate_tokens(prompt.user), output_tokens=estimate_tokens(text))
    return Reply(text=text, finish_reason=finish_reason, usage=usage, model=model)
