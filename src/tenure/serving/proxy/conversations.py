"""What is added to the requests of a conversation: made when it begins, kept, and the same in every turn."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tenure.errors import StoreBusy
from tenure.ports import Conversation
from tenure.serving.proxy.bodies import Opening
from tenure.serving.service.engine import Engine
from tenure.stores.scopes import tenant
from tenure.traces.echo import marked

IDLE = timedelta(minutes=10)
"""A request that opens a conversation anew begins a run of its own when the last one rested for this long; sooner, it is a retry."""

KEPT_FOR = timedelta(days=30)
"""Conversations that were not used for this long are let go; the next request of one makes what is added anew."""

QUESTION = 8_000
"""Characters of a task that lessons are sought by: its beginning and its end. A request may hold a whole book."""

PATIENCE_S = 0.5
"""Seconds that a recall waits for the one before it. They are work for the processor, and threads of Python share one: of two at
once both end when the second would have ended alone. One that takes this long waits for the database, and keeps nobody."""

_TRIES = 3

REPLACES = (
    "What stood between such marks earlier in this conversation no longer holds: something of it was corrected or taken out. "
    "Do not follow it any more. What holds now:"
)
"""Before texts that take the place of those in a past that the provider keeps, which nobody can change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenUp:
    """A conversation, and what is added to the request at hand.

    Attributes:
        conversation: as it is kept.
        core, recall: the texts to add; empty where the provider has them already.
        chained: whether the request goes on from a past that the provider keeps, and brings only what is new.
    """

    conversation: Conversation
    core: str = ""
    recall: str = ""
    chained: bool = False


class Conversations:
    """Conversations of all tenants. Threads share it.

    Args:
        engine: what recalls, and where conversations are kept.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tidied: dict[str, datetime] = {}
        self._recalling = threading.Lock()

    def take_up(self, scope: str, opening: Opening, run: str = "", *, principal: str = "", ends: bool = False) -> TakenUp:
        """What is added to a request; durable on return where it is new.

        Args:
            scope: whose lessons are shown.
            opening: what the request opens with.
            run: the caller's own name for the run; empty goes by the opening.
            principal: who calls: two that open alike have a run each.
            ends: whether the run ends with this request, so that the next one of the same opening begins another.

        Raises:
            StoreError: the database cannot be used.
        """
        taken = self._taken_up(scope, opening, run, principal)
        if ends and not taken.conversation.ended:
            now = self._engine.clock.now().astimezone(UTC).isoformat()
            with self._engine.store.changing_tenancy(tenant(scope)) as work:
                work.use_conversation(taken.conversation.id, used=now, ended=now)
        return taken

    def _taken_up(self, scope: str, opening: Opening, run: str, principal: str) -> TakenUp:
        store, whose = self._engine.store, tenant(scope)
        for _ in range(_TRIES):
            now = self._engine.clock.now().astimezone(UTC)
            with store.tenancy(whose) as look:
                seen = self._find(look.conversation_of_reply(opening.after) if opening.after and not run else None, scope)
                name = seen.id if seen is not None else conversation_id(scope, opening, run, principal)
                seen = seen or self._find(look.conversation(name), scope)
                generation = look.prompt_generation()
            kept = None if seen is not None and not run and begins_anew(opening, seen, now) else seen
            chained = bool(opening.after) and kept is not None
            if kept is not None and kept.generation == generation:
                return _added(kept, chained=chained)
            made = self._made(name, scope, opening, kept, run, generation, now)
            with store.changing_tenancy(whose) as work:
                again = work.conversation(name)
                if again != seen and again is not None and again.generation == work.prompt_generation():
                    return _added(again, chained=chained)  # another request was first
                if work.keep_conversation(made):
                    return _replacing(made) if chained else _added(made, chained=False)
        raise StoreBusy("What is added to a conversation went out of date again and again while it was made. Nothing was added.")

    def tidy(self, scope: str) -> int:
        """Let go of the tenant's conversations that nobody uses any more, if that was not done today; how many there were."""
        whose, now = tenant(scope), self._engine.clock.now().astimezone(UTC)
        if now - self._tidied.get(whose, now - timedelta(days=2)) < timedelta(days=1):
            return 0
        self._tidied[whose] = now
        with self._engine.store.changing_tenancy(whose) as work:
            return work.drop_conversations(before=(now - KEPT_FOR).isoformat())

    def _made(
        self, name: str, scope: str, opening: Opening, kept: Conversation | None, run: str, generation: int, now: datetime
    ) -> Conversation:
        book = self._engine.book(scope)
        named = kept.run if kept is not None else run or self._engine.ids.next()
        task = opening.task
        if opening.after and kept is not None:
            with self._engine.store.reading(scope) as reading:
                before = reading.run(kept.run)
            task = before.task.text if before is not None else task
        alone = self._recalling.acquire(timeout=PATIENCE_S)
        try:
            found = book.recalled(question_of(task), None, named, explain=False)
        finally:
            if alone:
                self._recalling.release()
        core, recall = found.stable, found.for_task
        return Conversation(
            id=name,
            scope=scope,
            run=named,
            core=marked(core) if core.strip() else "",
            recall=marked(recall) if recall.strip() else "",
            shown=found.lessons,
            withheld=tuple(one.id for one in found.withheld),
            draws=found.draws,
            generation=generation,
            begun=kept.begun if kept is not None else now.isoformat(),
            used=now.isoformat(),
            ended=kept.ended if kept is not None else "",
        )

    @staticmethod
    def _find(found: Conversation | None, scope: str) -> Conversation | None:
        """A conversation, if it is one of this scope: ids of replies come from providers, and two tenants may share one."""
        return found if found is not None and found.scope == scope else None


def conversation_id(scope: str, opening: Opening, run: str, principal: str = "") -> str:
    """The name under which a conversation is kept. It says nothing of its texts."""
    told = ("run", run) if run else ("after", opening.after) if opening.after else ("opening", principal, opening.told)
    return hashlib.sha256("\0".join((scope, *told)).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def begins_anew(opening: Opening, kept: Conversation, now: datetime) -> bool:
    """Whether a request begins a further run of a conversation that was had before, word for word."""
    if not opening.begins or opening.after:
        return False
    return bool(kept.ended) or now - datetime.fromisoformat(kept.used) > IDLE


def question_of(task: str) -> str:
    """What of a task lessons are sought by."""
    return task if len(task) <= QUESTION else f"{task[: QUESTION * 3 // 4]}\n{task[-QUESTION // 4 :]}"


def _added(conversation: Conversation, *, chained: bool) -> TakenUp:
    if chained:
        return TakenUp(conversation=conversation, chained=True)
    return TakenUp(conversation=conversation, core=conversation.core, recall=conversation.recall)


def _replacing(conversation: Conversation) -> TakenUp:
    """For a past that the provider keeps: it holds the earlier texts, and what comes now has to say so."""
    return TakenUp(
        conversation=conversation,
        core="\n".join(filter(None, (marked(REPLACES), conversation.core))),
        recall=conversation.recall,
        chained=True,
    )


def used_again(conversation: Conversation, now: datetime) -> bool:
    """Whether it is worth a write to note that a conversation was used now."""
    return now - datetime.fromisoformat(conversation.used) > timedelta(minutes=1)
