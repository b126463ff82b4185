"""Whether a ledger is whole: a walk over its rows in the order of their versions, which names the first break.

The chain of a writer shows whether a delta was changed, taken out, put in or moved (see `ledger`); beside it stand
the texts, whose digests the chain holds, and the version, the id and the key of each delta, which rows keep apart.
All writers are walked at once, a row at a time, so memory does not grow with the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tenure.governance.ledger import BRANCH, FREE_TEXTS, OPERATION_TEXTS, amended_to, chain, digest_of, origin_of, payload_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A link that does not hold.

    Attributes:
        version: the arrival number of the delta in the scope; 0 where none can be named.
        delta: its id; empty for one that is gone.
        writer: the installation whose chain is broken; empty where that cannot be told.
        problem: what is wrong, in one sentence.
    """

    version: int
    delta: str
    writer: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCheck:
    """What a walk over a ledger found.

    Attributes:
        entries: deltas that were looked at.
        writers: how many links each writer's chain has, and the digest of the last, by writer.
        rewritten: deltas that were written anew because something in them was forgotten; tombstones vouch for them.
        broken: the first break of each writer, and of what belongs to none; by version.
    """

    entries: int
    writers: Mapping[str, tuple[int, str]]
    rewritten: int = 0
    broken: tuple[Broken, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the ledger is whole."""
        return not self.broken

    @property
    def first_broken(self) -> Broken | None:
        """The break with the lowest version."""
        return self.broken[0] if self.broken else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A delta as it stands in the ledger.

    Attributes:
        version: arrival number in the scope.
        writer, seq, previous, payload, digest: of its link (see `ledger.Record`).
        delta: id, as the row has it.
        key: the delta's key, as the row has it.
        effective: whether it changes the playbook; a tombstone does not, and nor does what it left empty.
        imported: whether another installation wrote it: then it counts versions of its own.
    """

    version: int
    writer: str
    seq: int
    previous: str
    payload: str
    digest: str
    delta: str
    key: str | None = None
    effective: bool = True
    imported: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """A text that was taken out of a delta.

    Attributes:
        version: of the delta.
        digest, salt, text: see `ledger.SealedText`.
    """

    version: int
    digest: str
    salt: str
    text: str


class Walk:
    """A walk over a ledger: `see` each row in the order of versions, then `end`.

    Args:
        heads: how many links each writer has and the digest of the last, as the head rows say.
        newest: the arrival number of the newest delta, as the scope says.
        amended: what tombstones say of links that were written anew (see `ledger.amendments`).
        merged: up to this version deltas of several installations were put in one order, in which some may change nothing.
    """

    def __init__(
        self,
        heads: Mapping[str, tuple[int, str]],
        newest: int,
        amended: Mapping[str, Mapping[int, str]] = MappingProxyType({}),
        *,
        merged: int = 0,
    ) -> None:
        self._heads, self._newest, self._amended, self._merged = dict(heads), newest, amended, merged
        self._counted: dict[str, int] = {}
        self._last: dict[str, tuple[int, str]] = {}
        self._where: dict[str, tuple[int, str]] = {}
        self._broken: dict[str, Broken] = {}
        self._missing: list[int] = []
        self._version = 0
        self._entries = 0
        self._rewritten = 0

    def see(self, row: Row, texts: Iterable[TextRow]) -> None:
        """Look at the next delta, with the texts that stand beside it."""
        self._entries += 1
        if row.version <= self._version:
            self._note(row, f"its version {row.version} is not above the one before it")
        elif row.version > self._version + 1 and len(self._missing) < 1000:
            self._missing += range(self._version + 1, min(row.version, self._version + 1000))
        self._version = max(self._version, row.version)
        seq, digest = self._last[row.writer] if row.writer in self._last else self._branching(row)
        problem = self._link_problem(row, seq, digest) or self._content_problem(row, texts)
        if problem and row.writer not in self._broken:
            gone = self._missing[0] if row.seq > seq + 1 and self._missing else 0
            if gone:
                self._missing.pop(0)
                self._broken[row.writer] = Broken(version=gone, delta="", writer=row.writer, problem=f"its row was taken out: {problem}")
            else:
                self._note(row, problem)
        self._last[row.writer] = (row.seq, row.digest)
        self._where[row.writer] = (row.version, row.delta)

    def end(self, *, strays: Sequence[int] = ()) -> LedgerCheck:
        """What the walk found, once all rows were seen.

        Args:
            strays: versions beside which texts stand, and of which there is no delta.
        """
        for writer in sorted({*self._heads, *self._last} - set(self._broken)):
            problem, version, delta = self._head_problem(writer)
            if problem:
                self._broken[writer] = Broken(version=version, delta=delta, writer=writer, problem=problem)
        named = {one.version for one in self._broken.values()}
        rest = [gone for gone in self._missing if gone not in named]
        if rest and not any(not one.delta for one in self._broken.values()):
            self._broken[""] = Broken(version=rest[0], delta="", writer="", problem=f"version {rest[0]} is missing: the next one follows")
        if not self._broken and self._version != self._newest:
            told = f"the scope counts {self._newest} versions, and the ledger ends with {self._version}"
            self._broken[""] = Broken(version=min(self._version, self._newest) + 1, delta="", writer="", problem=told)
        alone = [one for one in strays if one not in {each.version for each in self._broken.values()}]
        if alone and not self._broken:
            self._broken[""] = Broken(version=alone[0], delta="", writer="", problem="texts stand there without a delta: they were put in")
        broken = sorted(self._broken.values(), key=lambda one: (one.version, one.writer))
        return LedgerCheck(entries=self._entries, writers=dict(self._last), rewritten=self._rewritten, broken=tuple(broken))

    def _note(self, row: Row, problem: str) -> None:
        if row.writer not in self._broken:
            self._broken[row.writer] = Broken(version=row.version, delta=row.delta, writer=row.writer, problem=problem)

    def _branching(self, row: Row) -> tuple[int, str]:
        """Number and digest of the link that a chain begins after: none, or where a copy of a database went on by itself."""
        if BRANCH in row.writer:
            of = origin_of(row.writer)
            for writer, end in self._last.items():
                if origin_of(writer) == of and end == (row.seq - 1, row.previous):
                    return end
        return 0, ""

    def _link_problem(self, row: Row, seq: int, last: str) -> str:
        if row.seq > seq + 1:
            gone = f"link {seq + 1} is" if row.seq == seq + 2 else f"links {seq + 1} to {row.seq - 1} are"
            return f"{gone} missing before version {row.version}, which is link {row.seq}"
        if row.seq <= seq:
            return f"link {row.seq} stands where link {seq + 1} should: rows were moved"
        if row.previous != last:
            return "it does not follow from the link before it: one of the two was changed, put in or moved"
        anew = amended_to(self._amended, row.writer, row.seq, row.digest)
        if row.digest != chain(row.previous, row.payload):
            if anew != payload_digest(row.payload):
                return "the delta or its digest was changed"
            self._rewritten += 1
        return ""

    def _content_problem(self, row: Row, texts: Iterable[TextRow]) -> str:
        try:
            held = json.loads(row.payload)
        except ValueError:
            return "the delta is no JSON"
        if not isinstance(held, dict):
            return "the delta is no JSON object"
        version = self._version_in(row, held)
        for name, kept, what in (("id", row.delta, "id"), ("key", row.key, "key"), ("version", version, "version")):
            if name in held and held[name] != kept:
                return f"its row says another {what} than the delta itself: '{kept}' instead of '{str(held[name])[:60]}'"
        spoken_of = row.version <= self._merged or amended_to(self._amended, row.writer, row.seq, row.digest)
        if not row.effective and held.get("operations") and not spoken_of:
            return "its row says that it changes nothing, and it holds operations that nobody forgot"
        wanted = dict(sealed_texts(held))
        for one in texts:
            field = wanted.pop(one.digest, None)
            if field is None:
                return "a text stands beside it that the delta does not hold"
            if digest_of(one.salt, one.text) != one.digest:
                return f"its {field} was changed, or the salt beside it: the chain holds another digest"
        if wanted:
            # What is forgotten is written anew without the text, and a tombstone vouches for that.
            return f"its {next(iter(wanted.values()))} was taken out, and no tombstone says that it was forgotten"
        return ""

    def _version_in(self, row: Row, held: Mapping[str, Any]) -> int:
        """The version that a delta has to name: the row's, or, where another installation counted it, one above its last."""
        if not row.imported:
            return row.version
        before, said = self._counted.get(row.writer, 0), held.get("version")
        if not isinstance(said, int) or said <= before:
            return before + 1
        self._counted[row.writer] = said
        return said

    def _head_problem(self, writer: str) -> tuple[str, int, str]:
        """What is wrong at the end of a chain, with version and delta; empty if nothing is."""
        count, digest = self._last.get(writer, (0, ""))
        version, delta = self._where.get(writer, (0, ""))
        if writer not in self._heads:
            return "its head row is gone: where the chain ends cannot be proven", version, delta
        heads, head = self._heads[writer]
        if count < heads:
            gone = self._missing[0] if self._missing else max(self._version, version) + 1
            some = f"link {count + 1} is" if heads == count + 1 else f"links {count + 1} to {heads} are"
            return f"the end was cut off: {some} gone, and the head row counts {heads}", gone, ""
        if count > heads:
            return f"the head row counts {heads} links, and {count} are there: rows were put in, or the head was replaced", version, delta
        if digest != head:
            return "the head row names another digest than the last link has: one of the two was changed", version, delta
        return "", 0, ""


def sealed_texts(held: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Digest and field of each text that was taken out of a delta."""
    parts: list[tuple[Any, frozenset[str]]] = [(held, FREE_TEXTS)]
    parts += [(one, OPERATION_TEXTS) for one in held.get("operations") or ()]
    parts += [(one, FREE_TEXTS) for one in held.get("decisions") or ()]
    for part, names in parts:
        if isinstance(part, dict):
            for name in names:
                said = part.get(name)
                if isinstance(said, dict) and isinstance(said.get("t"), str):
                    yield said["t"], name.replace("_", " ")
