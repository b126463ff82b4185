"""Forgetting and revoking: what `Tenure` offers for taking things out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from tenure.learning.copies import copies_of_calls
from tenure.learning.forgetting import Forgetting, Wanted, check, forget, plan_forgetting
from tenure.learning.retention import Retention, is_set, plan_retention, retain
from tenure.learning.revoking import Revocation, lift, plan_revocation, revoke_origin, revoked_origins
from tenure.ports import Clock, IdSource, Scrubbed, Store
from tenure.settings import read_settings

ALL = "9999"
"""After every moment."""


class Removal(ABC):
    """Taking things out of a scope: for good (`forget`), or out of use (`revoke_origin`)."""

    scope: str
    clock: Clock
    ids: IdSource

    @property
    @abstractmethod
    def store(self) -> Store:
        """Where all of it is kept."""

    @abstractmethod
    def _compact_memory(self, scope: str) -> None:
        """Build the nodes of a memory that went with what they rested on."""

    def forget(
        self,
        *,
        runs: str | tuple[str, ...] | list[str] = (),
        subjects: str | tuple[str, ...] | list[str] = (),
        origins: str | tuple[str, ...] | list[str] = (),
        scope: bool = False,
        dry_run: bool = False,
        author: str = "person:api",
        tell: Callable[[str], None] | None = None,
    ) -> Forgetting:
        """Forget for good what runs, a subject or an origin left in this scope, or all of it; gone from the files on return.

        Texts cannot be brought back, not by a rollback either. A tombstone in the ledger says who did it, when and how
        much, and the chain still verifies. A run that was forgotten is not learned again when it comes back, until
        `allow_again`.

        Args:
            runs: ids of runs.
            subjects: names, addresses, numbers; found whatever the case, accents and blanks, as parts of words too. A lesson that
                names one goes; a run stays without it.
            origins: such as `mallory/web`; documents below one go with it.
            scope: all that this scope holds.
            dry_run: only say what would go.
            author: who asked for it.
            tell: is told each step of cleaning the files as it begins.

        Raises:
            UserError: nothing is named, or a run has left nothing here.
        """
        wanted = Wanted(runs=_several(runs), subjects=_several(subjects), origins=_several(origins), scope=scope)
        if dry_run:
            with self.store.reading(self.scope) as reading:
                return self._with_copies(plan_forgetting(reading, wanted).told, self.scope)
        with self.store.writing(self.scope) as work:
            done = forget(work, wanted, ids=self.ids, at=self.clock.now(), author=author)
        done = self._with_copies(done, self.scope)
        self._let_go()
        if done.entries and not scope:
            self._compact_memory(self.scope)
        return replace(done, scrubbed=self.store.scrub(tell)) if done.version is not None else done

    def forget_everywhere(
        self,
        *,
        subjects: str | tuple[str, ...] | list[str] = (),
        origins: str | tuple[str, ...] | list[str] = (),
        dry_run: bool = False,
        author: str = "person:api",
        tell: Callable[[str], None] | None = None,
    ) -> dict[str, Forgetting]:
        """`forget` in every scope of this tenant; what was found, by scope. Each scope is one transaction, and the files are cleaned once.

        Args:
            subjects, origins, dry_run, author, tell: as for `forget`.

        Raises:
            UserError: nothing is named.
        """
        wanted = Wanted(subjects=_several(subjects), origins=_several(origins))
        check(wanted)
        tenant = self.scope.partition("/")[0]
        scopes = list(self.store.scopes(tenant))
        found: dict[str, Forgetting] = {}
        for scope in scopes:
            if dry_run:
                with self.store.reading(scope) as reading:
                    found[scope] = plan_forgetting(reading, wanted).told
            else:
                with self.store.writing(scope) as work:
                    found[scope] = forget(work, wanted, ids=self.ids, at=self.clock.now(), author=author)
        found = {scope: self._with_copies(told, scope) for scope, told in found.items() if not told.nothing}
        if dry_run or not found:
            return found
        self._let_go()
        for scope, told in found.items():
            if told.entries:
                self._compact_memory(scope)
        scrubbed = self.store.scrub(tell)
        return {scope: replace(told, scrubbed=scrubbed) for scope, told in found.items()}

    def scrub(self, tell: Callable[[str], None] | None = None) -> Scrubbed:
        """Clean the files of what was forgotten, where another process was in the way of it."""
        return self.store.scrub(tell)

    def _with_copies(self, told: Forgetting, scope: str) -> Forgetting:
        """What is told of it, with the copies that calls of models have left."""
        return told if told.nothing else replace(told, copies=(*told.copies, *copies_of_calls(self.store.spent(scope))))

    def allow_again(self, run: str) -> bool:
        """Let a forgotten run be kept and learned if it comes back; whether it had been forgotten."""
        with self.store.writing(self.scope) as work:
            return work.allow_again(run)

    def retain(self, *, dry_run: bool = False, author: str = "person:api") -> Retention:
        """Take out what is older than this scope keeps it (settings `retention.*`); by default that is nothing. Refine does it once a day.

        Args:
            dry_run: only say what would go.
            author: who asked for it.
        """
        at = self.clock.now()
        if dry_run:
            with self.store.reading(self.scope) as reading:
                return plan_retention(reading, read_settings(reading.setting), at=at)
        with self.store.writing(self.scope) as work:
            settings = read_settings(work.setting)
            if not is_set(settings):
                return Retention()
            done = retain(work, settings, ids=self.ids, at=at, author=author)
        if done.version is not None:
            self._let_go()
            if done.entries:
                self._compact_memory(self.scope)
            self.store.scrub()
        return done

    def revoke_origin(self, origin: str, *, reason: str = "", dry_run: bool = False, author: str = "person:api") -> Revocation:
        """Take out of use, at once, what rests on an origin alone: lessons, runs, numbers and counts.

        Texts stay in the ledger, to be looked into. `lift_revocation` undoes it, and so does a rollback past it.

        Args:
            origin: such as `mallory/web`, with every document below it.
            reason: why, for people.
            dry_run: only say what would go.
            author: who asked for it.

        Raises:
            UserError: no such origin has left anything here, or it is revoked already.
        """
        if dry_run:
            with self.store.reading(self.scope) as reading:
                return plan_revocation(reading, origin.strip(), reason=reason)
        with self.store.writing(self.scope) as work:
            done = revoke_origin(work, origin, ids=self.ids, at=self.clock.now(), author=author, reason=reason)
        self._let_go()
        if done.entries:
            self._compact_memory(self.scope)
        return done

    def lift_revocation(self, origin: str, *, author: str = "person:api") -> Revocation:
        """Let a revoked origin count again.

        Raises:
            UserError: it is not revoked.
        """
        with self.store.writing(self.scope) as work:
            done = lift(work, origin, ids=self.ids, at=self.clock.now(), author=author)
        self._let_go()
        if done.entries:
            self._compact_memory(self.scope)
        return done

    @property
    def revoked_origins(self) -> frozenset[str]:
        """Names of the origins that are revoked in this scope."""
        with self.store.reading(self.scope) as reading:
            return revoked_origins(reading)

    def _let_go(self) -> None:
        """What learning remembers of runs is read anew: some of it is gone. So are replies of a service that may tell of it."""
        self.__dict__.pop("learner", None)
        with self.store.changing_tenancy(self.scope.partition("/")[0]) as work:
            work.drop_replies(before=ALL)


def _several(named: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (named,) if isinstance(named, str) else tuple(named)
