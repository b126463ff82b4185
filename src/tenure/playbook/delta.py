"""Operations, deltas and receipts: the only way to change a playbook.

Every field has a plain JSON type, so a delta can be written by hand, by a model, or by code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from tenure.playbook.aggregates import exact
from tenure.playbook.lessons import Evidence, Tallies

Cause = Literal["run", "review", "refine", "import", "rollback", "hand", "forget", "revoke"]
ReceiptStatus = Literal["applied", "merged", "held", "skipped"]

CAUSES: tuple[str, ...] = ("run", "review", "refine", "import", "rollback", "hand", "forget", "revoke")


@dataclass(frozen=True, slots=True)
class Add:
    """A new lesson. An equal text in the same section becomes one lesson with more evidence.

    Attributes:
        section: created if it is new; empty takes the section of the kind.
        text: the statement; must hold more than white space.
        id: an id to keep, as for imports; none derives one.
        applies_when: conditions of applicability.
        kind: one of `lessons.KINDS`; none means `strategy`.
        status: `active`, `provisional` or `held`.
        avoid, tool_order, about, origin, author: see `Lesson`.
        evidence: the places it rests on; also counted as one support.
    """

    section: str
    text: str
    id: str | None = None
    applies_when: str = ""
    kind: str | None = None
    status: str = "active"
    avoid: str = ""
    tool_order: tuple[str, ...] = ()
    about: str = ""
    evidence: tuple[Evidence, ...] = ()
    origin: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Update:
    """New text, conditions or standing for a lesson. What is none stays as it is.

    Attributes:
        id: the lesson.
        text: must hold more than white space where given.
        applies_when: an empty text removes the conditions.
        status: `active` promotes, `provisional` demotes, `held` takes it out of use until a review.
        verdict: see `Lesson`.
        kind, about, revision: see `Lesson`.
        evidence: further places it rests on.
    """

    id: str
    text: str | None = None
    applies_when: str | None = None
    status: str | None = None
    verdict: str | None = None
    kind: str | None = None
    about: str | None = None
    evidence: tuple[Evidence, ...] = ()
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts to add to a lesson. Negative counts take back what was counted before.

    Attributes:
        id: the lesson.
        helpful, harmful, neutral, shown, withheld, cited, support: see `Tallies`.
        evidence: further places it rests on.
    """

    id: str
    helpful: int = 0
    harmful: int = 0
    neutral: int = 0
    shown: int = 0
    withheld: int = 0
    cited: int = 0
    support: int = 0
    evidence: tuple[Evidence, ...] = ()

    @property
    def tallies(self) -> Tallies:
        """The counts as one value."""
        return Tallies(
            helpful=self.helpful,
            harmful=self.harmful,
            neutral=self.neutral,
            shown=self.shown,
            cited=self.cited,
            withheld=self.withheld,
            support=self.support,
        )


@dataclass(frozen=True, slots=True)
class Merge:
    """Several lessons become one: the others point to it from now on.

    Attributes:
        ids: the lessons that become aliases; `into` itself may be among them.
        into: the lesson that stays.
        text: its new text; none leaves it.
        reason: why they are one.
    """

    ids: Sequence[str]
    into: str
    text: str | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        # What is no list stays as it is: `apply` says so in a receipt.
        if isinstance(self.ids, str):
            object.__setattr__(self, "ids", (self.ids,))
        elif isinstance(self.ids, Iterable):
            object.__setattr__(self, "ids", tuple(self.ids))


@dataclass(frozen=True, slots=True)
class Retire:
    """Take a lesson out of use. Its text and counts stay, and it can be restored."""

    id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring a lesson back into use, or, with `unmerge`, undo its being merged into another.

    Attributes:
        id: the lesson.
        unmerge: clear its alias pointer; its status stays as it is.
        status: what it becomes without `unmerge`: `active`, or `provisional` if it is not proven.
    """

    id: str
    unmerge: bool = False
    status: str = "active"


@dataclass(frozen=True, slots=True)
class Pin:
    """Protect a lesson from refine, or stop protecting it."""

    id: str
    pinned: bool = True


@dataclass(frozen=True, slots=True)
class Observe:
    """A number for an aggregate, or, without a value, the columns an aggregate shows.

    The same section, name, key, run, step and mark are one observation, however often it is told; the
    latest delta's value counts.

    Attributes:
        section: where the aggregate stands; empty takes `figures`.
        name: of the aggregate.
        value: an exact decimal: a text such as `1200.50`, or a number; empty only with `show`.
        unit: of the value; values of different units never meet in one row.
        key: the row; empty for an aggregate without keys.
        show: the columns, such as `count`, `mean`, `last 3`; empty leaves them.
        run, step: where it was observed.
        mark: a name for this observation, so that a later one corrects it; empty takes value and unit, and
            outside of runs each telling counts.
        origin: name of the origin it came from.
        at: when it was observed, ISO 8601; empty takes the delta's time.
    """

    section: str
    name: str
    value: str = ""
    unit: str = ""
    key: str = ""
    show: tuple[str, ...] = ()
    run: str = ""
    step: int = -1
    mark: str = ""
    origin: str = ""
    at: str = ""

    def __post_init__(self) -> None:
        given: object = self.value
        if given != "":
            # What is no number stays as it is: `apply` says so in a receipt.
            try:
                object.__setattr__(self, "value", exact(given))
            except ValueError:
                object.__setattr__(self, "value", given if isinstance(given, str) else repr(given))


@dataclass(frozen=True, slots=True)
class Revoke:
    """Take observations out of their aggregates, or put them back. They stay, and every figure is worked out anew.

    Attributes:
        ids: the observations.
        revoked: false puts them back.
        reason: why.
    """

    ids: Sequence[str]
    revoked: bool = True
    reason: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.ids, str):
            object.__setattr__(self, "ids", (self.ids,))
        elif isinstance(self.ids, Iterable):
            object.__setattr__(self, "ids", tuple(self.ids))


Operation = Add | Update | Tally | Merge | Retire | Restore | Pin | Observe | Revoke

OPERATIONS: dict[str, type[Operation]] = {
    "ADD": Add,
    "UPDATE": Update,
    "TALLY": Tally,
    "MERGE": Merge,
    "RETIRE": Retire,
    "RESTORE": Restore,
    "PIN": Pin,
    "OBSERVE": Observe,
    "REVOKE": Revoke,
}
"""The operations by the name they have in files and replies."""

OPERATION_NAMES: dict[type[Operation], str] = {kind: name for name, kind in OPERATIONS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What became of a change that was held, or of one that was refused, as the ledger keeps it.

    The delta it stands in says who decided, and when.

    Attributes:
        change: id of the held change.
        state: `approved`, `edited`, `rejected`, `corroborated` (trusted runs say the same), `refused` (never offered for
            review) or `open` (it waits again).
        note: why, for people.
    """

    change: str
    state: str
    note: str = ""


DECISIONS: tuple[str, ...] = ("approved", "edited", "rejected", "corroborated", "refused", "open")
"""What can be decided of a held change."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A list of operations with an author and a cause.

    Attributes:
        id: unique; a ULID greater than any its author has seen, so that later deltas win.
        operations: their order within a delta does not matter.
        key: a second identity, derived from what was learned from; of deltas that share one, the
            first admitted counts.
        scope: the playbook it belongs to; `apply` does not look at it.
        author: `person:NAME`, `extractive`, `model:NAME`, `import:FILE`, `refine`.
        cause: one of `CAUSES`.
        at: when it was made; a datetime with zone, or none.
        note: for people reading the log.
        decisions: what was decided of held changes; a delta may hold nothing else.
    """

    id: str
    operations: Sequence[Operation] = ()
    key: str | None = None
    scope: str = ""
    author: str = ""
    cause: str = "import"
    at: datetime | str | None = None
    note: str = field(default="", kw_only=True)
    decisions: Sequence[Decision] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "operations", tuple(self.operations))
        object.__setattr__(self, "decisions", tuple(self.decisions))

    @property
    def time(self) -> str:
        """`at` as ISO 8601, or empty."""
        if self.at is None:
            return ""
        return self.at if isinstance(self.at, str) else self.at.isoformat()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one operation.

    Attributes:
        status: `applied`, `merged` (an ADD whose text was there), `held` (waits for a review) or
            `skipped` (left no trace).
        reason: why, where there is something to say; never empty when skipped, merged or held.
        id: the lesson it concerns, where there is one.
    """

    status: str
    reason: str = ""
    id: str = ""
