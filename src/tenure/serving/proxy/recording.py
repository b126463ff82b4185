"""Recording what was said: each turn goes into the run of its conversation once the caller has the whole answer.

A request brings the past of its conversation along, so most of it was heard before. What was is told by counting: of steps
that say the same, as many are new as were not heard yet. Nothing is compared by place, for callers shorten and rewrite the past.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC

from tenure.errors import StoreBusy, UserError
from tenure.governance.redaction import redact_run
from tenure.learning.loop import why_unwanted
from tenure.logs import event
from tenure.playbook.run import MODEL_CALL, Origin, Outcome, Run, Step, Task
from tenure.ports import Conversation
from tenure.roles.generate import cited_ids
from tenure.serving.proxy.bodies import Body, Opening
from tenure.serving.proxy.conversations import used_again
from tenure.serving.proxy.replies import Reply, read_reply
from tenure.serving.proxy.transcripts import steps_of_reply, steps_of_request
from tenure.serving.service.engine import Engine
from tenure.serving.service.problems import Problem
from tenure.stores.scopes import tenant
from tenure.traces.report import ReadReport
from tenure.traces.tool_errors import shortened
from tenure.traces.transcript import TEXT_LIMIT, tool_origin

_log = logging.getLogger("tenure.proxy")

MOST_STEPS = 5_000
"""Of a run; what comes after them is left out, and the log says so."""

_REMEMBERED = 2_000
"""Runs of which it is remembered what was heard; of others it is read again."""

_TELLING_LENGTH = 40
"""Two conversations that open with fewer characters need not be about the same task."""

_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One request and what came back.

    Attributes:
        conversation: it belongs to.
        principal: who sent it.
        body: the request, as the caller sent it.
        opening: what it opens with.
        chained: whether it brings only what is new.
        raw: the answer as it was passed on, as far as it came; empty if there is none.
        encoding, streamed: of the answer.
        complete: whether all of it came.
        outcome: how the run ended, if the caller said so.
    """

    conversation: Conversation
    principal: str
    body: Body
    opening: Opening
    chained: bool = False
    raw: bytes = b""
    encoding: str = ""
    streamed: bool = False
    complete: bool = True
    outcome: Outcome | None = None


@dataclass(slots=True)
class _Heard:
    """What was heard of a run: digests of its steps as they came, how many steps are kept, tools by the ids of their calls, exposures."""

    steps: Counter[bytes]
    kept: int
    tools: Mapping[str, str]
    shown: tuple[object, ...] = ()


_KEPT = Step(kind="event")
"""Stands for a step that is kept already."""


class Recorder:
    """Writes turns and outcomes into runs. Threads share it; turns of one run wait for each other.

    Args:
        engine: where runs are kept, and who is told when one can be learned from.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._heard: OrderedDict[tuple[str, str, str], _Heard] = OrderedDict()
        self._turn = threading.Lock()
        self._turns = [threading.Lock() for _ in range(64)]

    def record(self, turn: Turn) -> None:
        """Keep a turn; durable on return.

        Raises:
            StoreError: the database cannot be used.
        """
        one, now = turn.conversation, self._engine.clock.now().astimezone(UTC)
        report = ReadReport()
        asked = steps_of_request(turn.body, report)
        reply = read_reply(turn.body.form, turn.raw, encoding=turn.encoding, streamed=turn.streamed) if turn.raw else Reply()
        if not turn.complete:
            reply = replace(reply, ended=False)
        answered = steps_of_reply(turn.body.form, reply, report, at=now.isoformat()) if turn.raw else ()
        said = "\n".join(step.content for step in answered if step.kind == "message")
        run = Run(
            id=one.run,
            task=_task(turn.opening, turn.body),
            scope=one.scope,
            shown=one.shown,
            withheld=one.withheld,
            draws=one.draws,
            cited=cited_ids(said, one.shown),
            origin=Origin(principal=turn.principal, channel="api"),
            started=one.begun,
            outcome=turn.outcome or Outcome(),
            ended=now.isoformat() if turn.outcome is not None else "",
        )
        with self._turns[hash((one.scope, one.run)) % len(self._turns)]:
            self._keep(run, asked, answered, chained=turn.chained)
        named = reply.id if turn.body.form == "responses" else ""
        if named or turn.outcome is not None or used_again(one, now):
            with self._engine.store.changing_tenancy(tenant(one.scope)) as work:
                work.use_conversation(one.id, used=now.isoformat(), ended=now.isoformat() if turn.outcome is not None else "")
                if named:
                    work.name_reply(named, one.id, now.isoformat())
        if turn.outcome is not None:
            self._engine.arrived(one.scope, one.run)

    def end(self, conversation: Conversation, outcome: Outcome, principal: str) -> None:
        """Keep how a run ended; durable on return.

        Raises:
            Problem: 409, another outcome was learned from.
            UserError: the run was forgotten, or its origin is revoked.
            StoreError: the database cannot be used.
        """
        now = self._engine.clock.now().astimezone(UTC).isoformat()
        with self._engine.store.writing(conversation.scope) as work:
            kept = work.run(conversation.run) or Run(
                id=conversation.run,
                task=Task(text=""),
                scope=conversation.scope,
                shown=conversation.shown,
                withheld=conversation.withheld,
                draws=conversation.draws,
                origin=Origin(principal=principal, channel="api"),
                started=conversation.begun,
            )
            if kept.origin.name != Origin(principal=principal, channel="api").name:
                raise Problem(409, "run", f"A run '{kept.id[:80]}' of another origin is here. Its outcome is for whoever reported it.")
            if kept.outcome.known and work.learned_steps(kept.id) is not None:
                if (kept.outcome.success, kept.outcome.score) != (outcome.success, outcome.score):
                    raise Problem(
                        409,
                        "outcome",
                        f"Run '{kept.id[:80]}' was learned from with another outcome. It stays; report what is new as a new run.",
                    )
                return  # said again
            run = redact_run(replace(kept, outcome=outcome, ended=now))
            unwanted = why_unwanted(work, run)
            if unwanted:
                raise UserError(f"The outcome of run '{run.id}' was not kept: {unwanted}.")
            work.keep_run(run, learned=False)
        with self._engine.store.changing_tenancy(tenant(conversation.scope)) as tenancy:
            tenancy.use_conversation(conversation.id, used=now, ended=now)
        self._engine.arrived(conversation.scope, conversation.run)

    def _keep(self, run: Run, asked: Sequence[Step], answered: Sequence[Step], *, chained: bool) -> None:
        place = (run.scope, run.id, run.origin.principal)
        for _ in range(_TRIES):
            heard = self._remembered(place)
            if heard is None:
                with self._engine.store.reading(run.scope) as look:
                    kept = look.run(run.id)
                if kept is not None and kept.origin.name != run.origin.name:
                    said = f"turn not kept: a run {run.id[:80]} of another origin is there"
                    event(_log, "turn.refused", logging.WARNING, said=said, run=run.id, scope=run.scope, reason="another_origin")
                    return
                # Kept steps are without secrets, so what is held against them has to be as well.
                before = kept.steps if kept is not None else ()
                heard = _Heard(
                    Counter(map(_digest, before)), len(before), {one.call_id: one.name for one in before if one.kind == "tool_call"}
                )
                asked = redact_run(replace(run, steps=tuple(asked))).steps if before else asked
            exposed = (run.shown, run.withheld, run.draws)
            told = replace(run, shown=(), withheld=(), draws=()) if heard.shown == exposed else run  # once is enough
            new = [*_unheard(asked, heard.steps, chained=chained), *answered]
            room = max(0, MOST_STEPS - heard.kept)
            if len(new) > room:
                said = f"run {run.id[:80]} has {heard.kept} steps; {len(new) - room} more were left out"
                event(_log, "turn.cut", logging.WARNING, said=said, run=run.id, scope=run.scope, steps=heard.kept, skipped=len(new) - room)
            new = _named(new[:room], heard.tools)
            clean = redact_run(replace(told, steps=tuple(new)))
            with self._engine.store.writing(run.scope) as work:
                unwanted = why_unwanted(work, clean)
                if unwanted:
                    said = f"run {run.id[:80]} was not kept: {unwanted.partition(',')[0].partition(';')[0]}"
                    event(_log, "turn.refused", said=said, run=run.id, scope=run.scope, reason="unwanted")
                    return
                if work.steps_kept(run.id) != heard.kept:
                    self._forget(place)
                    continue  # another process wrote to it
                # Steps that are kept stay as they are, so those before the new ones need not be read for it.
                work.keep_run(replace(clean, steps=(*(_KEPT for _ in range(heard.kept)), *clean.steps)), learned=False)
            heard.steps.update(map(_digest, new))
            tools = {**heard.tools, **{one.call_id: one.name for one in new if one.kind == "tool_call"}}
            self._remember(place, _Heard(heard.steps, heard.kept + len(new), tools, exposed))
            return
        raise StoreBusy(f"Run '{run.id[:80]}' was written by others again and again. This turn was not kept.")

    def _remembered(self, place: tuple[str, str, str]) -> _Heard | None:
        with self._turn:
            return self._heard.get(place)

    def _forget(self, place: tuple[str, str, str]) -> None:
        with self._turn:
            self._heard.pop(place, None)

    def _remember(self, place: tuple[str, str, str], heard: _Heard) -> None:
        with self._turn:
            self._heard[place] = heard
            self._heard.move_to_end(place)
            while len(self._heard) > _REMEMBERED:
                self._heard.popitem(last=False)


def _unheard(asked: Iterable[Step], heard: Counter[bytes], *, chained: bool) -> list[Step]:
    """Steps of a request that were not heard before. Of one that brings only what is new, all but instructions that it repeats."""
    left = heard.copy()
    new: list[Step] = []
    for step in asked:
        digest = _digest(step)
        if left[digest] > 0 and (not chained or step.role == "system"):
            left[digest] -= 1
        else:
            new.append(step)
    return new


def _named(steps: Sequence[Step], tools: Mapping[str, str]) -> list[Step]:
    """Results with the names of the tools that were called in an earlier turn."""
    return [
        replace(step, name=tools[step.call_id], origin=tool_origin(tools[step.call_id]))
        if step.kind == "tool_result" and not step.name and step.call_id in tools
        else step
        for step in steps
    ]


def _digest(step: Step) -> bytes:
    """Of what a step says, without when and by whom."""
    if step.kind == "event" and step.name == MODEL_CALL:
        return b""
    said = [step.kind, step.role, "" if step.kind == "tool_result" else step.name, step.content, step.call_id, step.arguments]
    return hashlib.blake2b(json.dumps(said, sort_keys=True, default=str).encode(), digest_size=12).digest()


def _task(opening: Opening, body: Body) -> Task:
    text = shortened(opening.task, TEXT_LIMIT) if len(opening.task) > TEXT_LIMIT else opening.task
    telling = len(text) >= _TELLING_LENGTH and not opening.after
    return Task(text=text, key=f"{body.form}:{opening.told[:20]}" if telling else "")
