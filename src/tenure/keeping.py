"""What a store keeps beside lessons and runs, and how things are taken out of it again. Part of the ports, which give these names too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tenure.governance.ledger_lines import Link
from tenure.playbook.delta import Delta
from tenure.playbook.run import Run
from tenure.waiting import HeldChange


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One admitted delta in the ledger of a scope.

    Attributes:
        version: its arrival number in the scope, from 1.
        delta: as admitted; forgotten texts read `[forgotten]`.
        writer: the installation that wrote it.
        digest: of its link in the writer's chain, hex.
    """

    version: int
    delta: Delta
    writer: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedReply:
    """A model's reply that could not be used, kept verbatim so that it can be tried again.

    Attributes:
        id: names it.
        run: the run it was about.
        purpose: the role that asked.
        reason: why it could not be used.
        reply: verbatim, secrets redacted.
        at: ISO 8601.
    """

    id: str
    run: str
    purpose: str
    reason: str
    reply: str
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """What `Store.scrub` reached.

    Attributes:
        done: whether nothing that was taken out is left in the store's own files.
        reason: why it is not done, in a sentence; empty if it is.
        elsewhere: files beside the database that may hold what was taken out and were left as they are: copies that were set aside.
        beyond: where else it may still stand that a store cannot reach, such as a server's write-ahead log and backups.
    """

    done: bool
    reason: str = ""
    elsewhere: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutline:
    """A kept run in short, without its steps.

    Attributes:
        id, session, started, ended: of the run.
        place: in the order of arrival; later ones have greater numbers.
        task: text of the task, cut to `OUTLINE_TEXT` characters.
        kind: of the task.
        success: how it ended; none if undecided.
        score: 0 to 1; none if undecided.
        signal: who judged it.
        origin: name of who reported it.
        steps: how many it has.
        learned: how many of them were learned from; none if it was not learned from.
        shown, withheld, cited: how many lessons were.
        head: the run itself without its steps.
    """

    id: str
    place: int
    task: str
    head: Run
    kind: str = ""
    success: bool | None = None
    score: float | None = None
    signal: str = "none"
    origin: str = ""
    session: str = ""
    started: str = ""
    ended: str = ""
    steps: int = 0
    learned: int | None = None
    shown: int = 0
    withheld: int = 0
    cited: int = 0


OUTLINE_TEXT = 300


def outline_of(run: Run, *, place: int, steps: int, learned: int | None) -> RunOutline:
    """A run in short.

    Args:
        run: with or without its steps.
        place: in the order of arrival.
        steps, learned: how many it has, and how many of them were learned from.
    """
    outcome = run.outcome
    return RunOutline(
        id=run.id,
        place=place,
        task=run.task.text[:OUTLINE_TEXT],
        kind=run.task.kind,
        success=outcome.success,
        score=outcome.score,
        signal=outcome.signal,
        origin=run.origin.name,
        session=run.session,
        started=run.started,
        ended=run.ended,
        steps=steps,
        learned=learned,
        shown=len(run.shown),
        withheld=len(run.withheld),
        cited=len(run.cited),
        head=replace(run, steps=()) if run.steps else run,
    )


class Traces(Protocol):
    """What runs, origins and subjects have left in a scope, for those who take it out."""

    def outlines(self, *, before: int | None = None, limit: int = 100) -> Sequence[RunOutline]:
        """Kept runs in short, newest first; with `before` those that arrived before that place. Revoked ones are left out."""
        ...

    def forgotten_at(self, run_id: str) -> str:
        """When a run was forgotten, ISO 8601; empty if it was not."""
        ...

    def origins(self) -> Mapping[str, int]:
        """Names of the origins of kept runs, sorted, with the number of runs, revoked ones too."""
        ...

    def runs_from(self, origins: Collection[str]) -> Sequence[str]:
        """Ids of kept runs of origins with exactly these names, revoked ones too, oldest first."""
        ...

    def revoked_runs(self) -> Sequence[str]:
        """Ids of kept runs that are revoked, oldest first. No other method but `run` and those here tells of them."""
        ...

    def spoken_on(self, vote: str, lessons: Collection[str], *, but: str) -> frozenset[str]:
        """Which lessons an untrusted origin has spoken on: a run of it was shown or cited them, or gave rise to them.

        Args:
            vote: of the origin (see `Origin.vote`).
            lessons: ids to look for.
            but: id of a run that is left out.
        """
        ...

    def ledger_naming(self, ids: Collection[str]) -> Sequence[LedgerEntry]:
        """Deltas that name or make any of these (lessons, runs, observations), oldest first; there may be others among them."""
        ...

    def ledger_holding(self, stands_in: Callable[[str], bool]) -> Sequence[LedgerEntry]:
        """Deltas with a text of a kind, oldest first. Cost follows the ledger."""
        ...

    def runs_holding(self, stands_in: Callable[[str], bool]) -> Sequence[str]:
        """Ids of kept runs with a text of a kind, revoked ones too, oldest first. Cost follows all that is kept."""
        ...

    def runs_before(self, moment: str) -> Sequence[str]:
        """Ids of kept runs that ended, or began, before a moment (ISO 8601), revoked ones too, oldest first; of others it is not known."""
        ...

    def settings_kept(self) -> Mapping[str, str]:
        """All that is set for the scope, by name."""
        ...


class Forgetting(Protocol):
    """What takes things out of a scope. What is taken out is nowhere once the store was scrubbed (see `Store.scrub`)."""

    def rewrite(self, changed: Mapping[int, Delta], tombstone: Delta) -> int:
        """Put other deltas in the place of some: the scope then reads as if those had been admitted. The chain still verifies.

        Args:
            changed: by arrival number; ids stay.
            tombstone: a delta without operations that says who did it and how much, but not what went.

        Returns:
            The tombstone's arrival number.
        """
        ...

    def empty(self, tombstone: Delta) -> int:
        """Take out all that the scope holds but the links of its chain, which hold nothing then; the tombstone's arrival number."""
        ...

    def drop_runs(self, ids: Collection[str]) -> int:
        """Take kept runs out, with all that was kept of them; how many there were."""
        ...

    def replace_run(self, run: Run) -> None:
        """Put a run in the place of the kept one with its id, as it is: nothing of the kept one stays."""
        ...

    def revoke_runs(self, ids: Collection[str], *, revoked: bool) -> int:
        """Have kept runs no longer recalled, compared or learned from, or again; how many changed."""
        ...

    def remember_forgotten(self, runs: Collection[str], at: str) -> None:
        """Know these runs again if they come back, without keeping which they were."""
        ...

    def allow_again(self, run_id: str) -> bool:
        """Let a forgotten run be kept and learned again if it comes back; whether it had been forgotten."""
        ...

    def drop_held(self, ids: Collection[str]) -> int:
        """Take held changes out, whatever their state; how many there were."""
        ...

    def replace_held(self, change: HeldChange) -> None:
        """Put a held change in the place of the one with its id."""
        ...

    def drop_cores(self) -> None:
        """Take out the cores that were shown in contexts."""
        ...


class Sharing(Protocol):
    """The part of a look at a scope that is shared with other installations: the links of its ledger."""

    def merged(self) -> int:
        """Up to this arrival number deltas count in the order of their ids, later ones as they came; 0 before anything was shared."""
        ...

    def own_writer(self) -> str:
        """What this installation writes as from now on."""
        ...

    def writers(self) -> frozenset[str]:
        """Installations of which links stand here, whatever branches their chains have."""
        ...

    def links(self) -> Iterator[Link]:
        """All links, by writer, number and digest. Read a portion at a time."""
        ...

    def links_of(self, deltas: Collection[str]) -> Sequence[Link]:
        """Links that hold deltas of these ids."""
        ...

    def digests_at(self, writer: str, numbers: Collection[int]) -> Mapping[int, frozenset[str]]:
        """Digests of the links that an installation's chain has at some numbers; more than one where it has branches."""
        ...

    def followed(self, writer: str, digests: Collection[str]) -> frozenset[str]:
        """Those of some links of an installation after which another one stands here."""
        ...

    def vouched(self) -> Mapping[str, Mapping[int, str]]:
        """What tombstones say of links that were written anew (see `ledger.amendments`)."""
        ...


class TakingIn(Protocol):
    """What brings links of other installations into a scope."""

    def put_links(self, new: Iterable[Link], anew: Sequence[Link] = ()) -> None:
        """Put links in as they are, and have all deltas of the scope count in the order of their ids from now on.

        If one of them continues a chain of this installation itself, a copy of the database wrote it: from now on this one
        writes as another. Where two links follow the same one, each begins a branch, named the same everywhere.

        Args:
            new: links that are not here; each after the one that it follows.
            anew: links that are here, with less in them.
        """
        ...

    def vouch(self, tombstone: Delta, anew: Sequence[Link]) -> int:
        """Set a tombstone that vouches for the payloads which some links have now; its arrival number."""
        ...
