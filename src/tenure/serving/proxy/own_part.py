"""Tenure's own part of a request: who sent it, what is added, what is recorded. Synchronous; it runs in threads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC

from tenure.playbook.run import Outcome
from tenure.serving.proxy.bodies import Body, Form, Opening, extended, opening_of, read_body
from tenure.serving.proxy.conversations import Conversations, TakenUp
from tenure.serving.proxy.door import Admitted, Door
from tenure.serving.proxy.exchange import Asked, Heard
from tenure.serving.proxy.outcomes import outcome_of_body, outcome_of_header
from tenure.serving.proxy.recording import Recorder, Turn
from tenure.serving.service.engine import Engine
from tenure.serving.service.problems import Problem
from tenure.serving.service.readiness import check_ready
from tenure.stores.scopes import tenant

_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the headers of a request say of its run.

    Attributes:
        run: its name; empty goes by what the conversation opens with.
        outcome: how it ended; none if that is not said.
    """

    run: str = ""
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A conversation that a request belongs to.

    Attributes:
        body: the request as it came, taken apart.
        opening: what it opens with.
        up: the conversation, and what was added.
    """

    body: Body
    opening: Opening
    up: TakenUp


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What Tenure made of a request.

    Attributes:
        admitted: who sent it.
        content: the bytes to send.
        taken: its conversation; none if it could not be read.
        said: for the header x-tenure.
    """

    admitted: Admitted
    content: bytes
    taken: Taken | None = None
    said: str = "passed; not understood"


class OwnPart:
    """What Tenure does with requests. Threads share it.

    Args:
        engine: what recalls, and where conversations and runs are kept.
        door: who may come in.
    """

    def __init__(self, engine: Engine, door: Door) -> None:
        self._engine, self.door = engine, door
        self._conversations, self._recorder = Conversations(engine), Recorder(engine)

    def check_ready(self) -> None:
        """Ask the database for next to nothing (see `readiness.check_ready`)."""
        check_ready(self._engine.store)

    def said(self, asked: Asked) -> Said:
        """What the headers of a request say of its run.

        Raises:
            Problem: 400, they cannot be used.
        """
        headers = asked.by_name
        run, outcome = headers.get("x-tenure-run", "").strip(), headers.get("x-tenure-outcome", "").strip()
        if run and not _RUN.fullmatch(run):
            raise Problem(400, "run", "The header x-tenure-run is no name of a run: letters, digits and . _ : @ / + = - , at most 128.")
        return Said(run=run, outcome=outcome_of_header(outcome, self._now()) if outcome else None)

    def admit(self, asked: Asked) -> Admitted:
        """Who sends a request (see `Door.admit`)."""
        return self.door.admit(asked.by_name, asked.address)

    def prepare(self, asked: Asked, said: Said, form: Form, raw: bytes) -> Prepared:
        """A request with what is added to it.

        Raises:
            Problem: the caller may not come in.
            StoreError: the database cannot be used.
        """
        admitted = self.admit(asked)
        body = read_body(form, raw)
        if body is None:
            return Prepared(admitted=admitted, content=raw)
        opening = opening_of(body)
        up = self._conversations.take_up(admitted.scope, opening, said.run, principal=admitted.principal, ends=said.outcome is not None)
        content = extended(body, up.core, up.recall) if up.core or up.recall else raw
        return Prepared(
            admitted=admitted,
            content=content,
            taken=Taken(body=body, opening=opening, up=up),
            said="added" if len(content) > len(raw) else "nothing to add",
        )

    def record(self, prepared: Prepared, taken: Taken, said: Said, heard: Heard) -> None:
        """Keep what was said; durable on return.

        Raises:
            StoreError: the database cannot be used.
        """
        self._recorder.record(
            Turn(
                conversation=taken.up.conversation,
                principal=prepared.admitted.principal,
                body=taken.body,
                opening=taken.opening,
                chained=taken.up.chained,
                raw=bytes(heard.raw) if heard.status < 400 else b"",
                encoding=heard.encoding,
                streamed=heard.streamed,
                complete=heard.complete,
                outcome=said.outcome,
            )
        )
        self._conversations.tidy(taken.up.conversation.scope)

    def end(self, admitted: Admitted, run: str, raw: bytes) -> dict[str, str]:
        """Keep the outcome that the body of a request says of a run; durable on return.

        Raises:
            Problem: there is no such run, or the body cannot be used.
            UserError: the run was forgotten, or its origin is revoked.
            StoreError: the database cannot be used.
        """
        outcome = outcome_of_body(raw, self._now())
        with self._engine.store.tenancy(tenant(admitted.scope)) as look:
            conversation = look.conversation_of_run(run, admitted.scope)
        if conversation is None:
            raise Problem(
                404, "run", f"No run '{run[:80]}' is in scope '{admitted.scope}'. Its id stands in the header x-tenure-run of answers."
            )
        self._recorder.end(conversation, outcome, admitted.principal)
        return {"run": run, "scope": conversation.scope, "state": "kept"}

    def _now(self) -> str:
        return self._engine.clock.now().astimezone(UTC).isoformat()
