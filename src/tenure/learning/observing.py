"""What single runs said of a lesson, read back from the ledger: who was shown it, whom it helped, whom it misled."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Literal

from tenure.playbook.delta import Tally
from tenure.playbook.evidence import Observation
from tenure.playbook.lessons import Lesson, Tallies
from tenure.playbook.removal import run_of
from tenure.playbook.revision import USES_READ, Use
from tenure.playbook.run import Run
from tenure.ports import Reading

LOOK_BACK = 400
"""Newest deltas that are looked through at first: what is further back says little of what holds now."""

_BACK_TO = re.compile(r"back to version ([0-9]{1,18})")

SCOPES_KEPT = 64
RUNS_KEPT = 10_000

Exposure = Literal["cited", "shown", "withheld", "absent"]
Effect = Literal["helped", "misled", "neutral", ""]


class Recollection:
    """What the newest runs said of each lesson, kept between runs: each delta of a ledger is read once. Safe to share between threads.

    A copy of what the ledger says, and no more: it can be thrown away at any time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scopes: OrderedDict[str, _Scope] = OrderedDict()
        self._reliability: OrderedDict[tuple[str, str], float] = OrderedDict()

    def observations(self, reading: Reading, lesson: Lesson) -> tuple[Observation, ...]:
        """What the newest runs said of a lesson, newest first: `USES_READ` with a verdict at most, and as many without.

        Args:
            reading: of the lesson's scope.
            lesson: it, with the ids that were merged into it.
        """
        with self._lock:
            held = self._scopes.pop(reading.scope, None) or _Scope()
            self._scopes[reading.scope] = held
            while len(self._scopes) > SCOPES_KEPT:
                self._scopes.popitem(last=False)
            held.catch_up(reading)
            # A run that grew, or whose outcome came later, wrote several deltas: it is one observation, the newest delta first.
            seen: dict[str, list[_Seen]] = {}
            every = [one for name in (lesson.id, *lesson.merged) for one in (*held.judged.get(name, ()), *held.others.get(name, ()))]
            for one in sorted(every, key=lambda one: -one.version):
                seen.setdefault(one.run, []).append(one)
            return tuple(self._observed(reading, found) for found in seen.values())

    def remember(self, run: Run) -> None:
        """Keep how reliable a run's verdicts are, so that it need not be read again to know."""
        with self._lock:
            self._remember(run.scope, run.id, run)

    def _remember(self, scope: str, run_id: str, run: Run | None) -> float:
        # A verdict without an honest outcome came from a tool's own answer, which does not err.
        found = run.outcome.reliability or 0.0 if run is not None and run.outcome.honest else 1.0
        self._reliability[scope, run_id] = found
        while len(self._reliability) > RUNS_KEPT:
            self._reliability.popitem(last=False)
        return found

    def _observed(self, reading: Reading, seen: list[_Seen]) -> Observation:
        total = seen[0].tallies
        for one in seen[1:]:
            total += one.tallies
        effect, run = _effect(total), seen[0].run
        reliability = 1.0
        if effect in ("helped", "misled"):
            known = self._reliability.get((reading.scope, run))
            reliability = known if known is not None else self._remember(reading.scope, run, reading.run(run))
        exposure: Exposure = "cited" if total.cited > 0 else "shown" if total.shown > 0 else "withheld" if total.withheld > 0 else "absent"
        right = True if total.support > 0 else None
        return Observation(run=run, effect=effect, exposure=exposure, right=right, reliability=reliability, at=seen[0].at)


def observations(reading: Reading, lesson: Lesson) -> tuple[Observation, ...]:
    """What the newest runs said of one lesson, newest first (see `Recollection`)."""
    return Recollection().observations(reading, lesson)


@dataclass(frozen=True, slots=True)
class _Seen:
    version: int
    run: str
    at: str
    tallies: Tallies


def _effect(tallies: Tallies) -> Effect:
    return "helped" if tallies.helpful > 0 else "misled" if tallies.harmful > 0 else "neutral" if tallies.neutral > 0 else ""


class _Scope:
    """The newest counts of each lesson of one scope, oldest first; those with a verdict apart, lest the others crowd them out."""

    def __init__(self) -> None:
        self.version = 0
        self.judged: dict[str, deque[_Seen]] = {}
        self.others: dict[str, deque[_Seen]] = {}

    def catch_up(self, reading: Reading) -> None:
        """Read the deltas that came since."""
        newest = reading.version()
        if newest < self.version:  # another database under the same name
            self.version, self.judged, self.others = 0, {}, {}
        begin = max(self.version, newest - LOOK_BACK)
        entries = reading.ledger(after=begin, until=newest) if newest > begin else ()
        if self.version and any(entry.delta.cause in ("forget", "revoke", "rollback") for entry in entries):
            # What runs said is no longer there, or no longer counts.
            self.version, self.judged, self.others = 0, {}, {}
            entries = reading.ledger(after=max(0, newest - LOOK_BACK), until=newest)
        revoked = frozenset(reading.revoked_runs()) if entries else frozenset()
        for entry in entries:
            undone = _BACK_TO.fullmatch(entry.delta.note) if entry.delta.cause == "rollback" else None
            if undone is not None:
                self._forget_after(int(undone[1]))
            run = run_of(entry.delta)
            run = "" if run in revoked else run
            counts: dict[str, Tallies] = {}
            for op in entry.delta.operations if run else ():
                if isinstance(op, Tally):
                    counts[op.id] = counts[op.id] + op.tallies if op.id in counts else op.tallies
            for lesson_id, tallies in counts.items():
                kept = self.judged if _effect(tallies) in ("helped", "misled") else self.others
                kept.setdefault(lesson_id, deque(maxlen=USES_READ)).append(_Seen(entry.version, run, entry.delta.time, tallies))
        self.version = newest

    def _forget_after(self, version: int) -> None:
        """A rollback took the counts of later deltas back."""
        for kept in (self.judged, self.others):
            for lesson_id, seen in list(kept.items()):
                kept[lesson_id] = deque((one for one in seen if one.version <= version), maxlen=USES_READ)


def uses(reading: Reading, seen: tuple[Observation, ...]) -> tuple[Use, ...]:
    """The observations in which a lesson was followed and something came of it, newest first."""
    found: list[Use] = []
    for one in seen:
        if one.effect in ("helped", "misled"):
            effect: Literal["helped", "misled"] = "helped" if one.effect == "helped" else "misled"
            found.append(Use(run=one.run, effect=effect, reliability=one.reliability, at=one.at))
        elif one.effect == "neutral" and one.exposure == "cited":
            run = reading.run(one.run)
            if run is not None and run.outcome.success is False:
                found.append(Use(run=one.run, effect="idle", reliability=one.reliability, at=one.at))
    return tuple(found)
