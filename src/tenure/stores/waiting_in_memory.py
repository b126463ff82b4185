"""Changes that wait in a scope that is held in memory, and the proof of its ledger."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from tenure.governance.ledger_check import LedgerCheck, Row, TextRow, Walk
from tenure.playbook.lessons import Lesson
from tenure.playbook.statements import proposal_key, statement_key
from tenure.ports import HeldChange
from tenure.stores.contents import Contents
from tenure.stores.index_in_memory import ScopeIndex


class WaitingInMemory:
    """The part of a look at a scope that concerns changes that wait (see `ports.Waiting`). Cost follows their number."""

    _now: Contents
    _index: Callable[[], AbstractContextManager[ScopeIndex]]

    def held(self, *, state: str = "open") -> Sequence[HeldChange]:
        """Held changes in a state, oldest first."""
        found = (change for change in self._now.held.values() if change.state == state)
        return sorted(found, key=lambda change: (change.at, change.id))

    def held_change(self, change: str) -> HeldChange | None:
        """The held change of an id, whatever its state."""
        return self._now.held.get(change)

    def held_named(self, ids: Collection[str]) -> Mapping[str, HeldChange]:
        """The held changes of some ids, whatever their states."""
        return {one: self._now.held[one] for one in ids if one in self._now.held}

    def held_lessons(self) -> Sequence[Lesson]:
        """Lessons that stand in the playbook as held, sorted by id."""
        with self._index() as index:
            return index.held()

    def held_saying(self, keys: Collection[str]) -> Sequence[str]:
        """Ids of held lessons and of open changes that say what a key stands for, sorted."""
        wanted = set(keys) - {""}
        if not wanted:
            return []
        found = {lesson.id for lesson in self.held_lessons() if statement_key(lesson) in wanted}
        # What a lesson says is asked of the lesson, whatever became of its place in the queue.
        queued = (change for change in self.held() if self._now.playbook.record(change.id) is None)
        return sorted(found | {change.id for change in queued if proposal_key(change.operation) in wanted})

    @abstractmethod
    def vouched(self) -> Mapping[str, Mapping[int, str]]:
        """See `ports.Sharing`."""

    def check_ledger(self, *, tell: Callable[[int], None] | None = None) -> LedgerCheck:
        """Whether the hash chains are whole, though in memory only code can alter them."""
        now = self._now
        heads: dict[str, tuple[int, str]] = {}
        for number, link in now.links.items():
            writer = now.ledger[number].writer
            heads[writer] = max(heads.get(writer, (0, "")), (link.seq, link.digest))
        walk = Walk(heads, len(now.ledger), self.vouched(), merged=now.merged)
        for number in range(1, len(now.ledger) + 1):
            link, entry = now.links[number], now.ledger[number]
            walk.see(
                Row(
                    version=number,
                    writer=entry.writer,
                    seq=link.seq,
                    previous=link.previous,
                    payload=link.payload,
                    digest=link.digest,
                    delta=entry.delta.id,
                    key=entry.delta.key,
                    imported=number in now.imported,
                ),
                [TextRow(version=number, digest=one.digest, salt=one.salt, text=one.text) for one in link.texts],
            )
        if tell is not None:
            tell(len(now.ledger))
        return walk.end()

    def verify_ledger(self) -> Sequence[str]:
        """What is wrong with the hash chain, in a sentence; empty if it is sound."""
        return [f"writer {one.writer}, version {one.version}: {one.problem}" for one in self.check_ledger().broken]


class DecidingInMemory(WaitingInMemory):
    """The part of a transaction that concerns changes that wait (see `ports.Deciding`)."""

    def hold(self, waits: HeldChange) -> None:
        """Put an operation into the review queue. What is there under its id stays: the same run learned again re-opens nothing."""
        if waits.id not in self._now.held:
            self.amend(waits)

    def decide(self, held_id: str, *, state: str, decided: str) -> None:
        """Close a held change; one that is closed, or not there, stays as it is."""
        change = self._now.held.get(held_id)
        if change is not None and change.state == "open":
            self.amend(replace(change, state=state, decided=decided))

    def amend(self, *changes: HeldChange) -> None:
        """Write held changes anew, or for the first time."""
        self._now = replace(self._now, held={**self._now.held, **{change.id: change for change in changes}})
