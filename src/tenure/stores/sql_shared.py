"""Links of a ledger in a SQL database, read to be shared with other installations."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, select

from tenure.governance.ledger import SealedText, amendments, origin_of
from tenure.governance.ledger_lines import Link
from tenure.stores import rows
from tenure.stores.expressions import holds_at
from tenure.stores.prepared import fetch_among

_AT_ONCE = 500

_Value = TypeVar("_Value")


class SqlShared:
    """The part of a look at a scope that is shared (see `ports.Sharing`)."""

    _connection: Connection
    _wall: Mapping[str, str]

    @abstractmethod
    def _mine(self, table: Any, **columns: object) -> Any: ...

    @abstractmethod
    def _tuples(self, *columns: Any, **where: object) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def _one(self, column: Any, **where: object) -> Any: ...

    def merged(self) -> int:
        """Up to this arrival number deltas count in the order of their ids."""
        return int(self._one(rows.scopes.c.merged) or 0)

    def own_writer(self) -> str:
        """What this installation writes as."""
        return str(self._connection.execute(select(rows.installation.c.writer)).scalar_one())

    def writers(self) -> frozenset[str]:
        """Installations of which links stand here."""
        return frozenset(origin_of(name) for name in self._branches())

    def _branches(self) -> list[str]:
        return [str(writer) for (writer,) in self._tuples(rows.ledger_heads.c.writer)]

    def links(self) -> Iterator[Link]:
        """All links, by writer, number and digest."""
        t = rows.ledger
        found = self._connection.execute(select(t.c.writer, t.c.seq, t.c.digest, t.c.version).where(self._mine(t))).all()
        order = sorted((origin_of(writer), seq, digest, version) for writer, seq, digest, version in found)
        for some in _portions([version for *_, version in order]):
            links = self._links_at(some)
            yield from (links[version] for version in some)

    def links_of(self, deltas: Collection[str]) -> Sequence[Link]:
        """Links that hold deltas of these ids."""
        t = rows.ledger
        found: list[Link] = []
        for some in _portions(sorted(set(deltas))):
            versions = [version for (version,) in fetch_among(self._connection, (t.c.version,), self._wall, "delta_id", some)]
            for near in _portions(versions):
                found += self._links_at(near).values()
        return found

    def _links_at(self, versions: Sequence[int]) -> dict[int, Link]:
        t, s = rows.ledger, rows.ledger_texts
        if not versions:
            return {}
        texts: defaultdict[int, list[SealedText]] = defaultdict(list)
        for version, digest, salt, text in fetch_among(
            self._connection, (s.c.version, s.c.digest, s.c.salt, s.c.text), self._wall, "version", versions
        ):
            texts[version].append(SealedText(digest=digest, salt=salt, text=text))
        columns = (t.c.version, t.c.writer, t.c.seq, t.c.previous, t.c.digest, t.c.payload)
        return {
            version: Link(
                writer=origin_of(writer),
                seq=seq,
                previous=previous,
                digest=digest,
                payload=payload,
                texts=tuple(sorted(texts[version], key=lambda one: one.digest)),
            )
            for version, writer, seq, previous, digest, payload in fetch_among(self._connection, columns, self._wall, "version", versions)
        }

    def digests_at(self, writer: str, numbers: Collection[int]) -> Mapping[int, frozenset[str]]:
        """Digests of the links that an installation's chain has at some numbers."""
        t = rows.ledger
        found: defaultdict[int, set[str]] = defaultdict(set)
        for branch in self._of(writer):
            for some in _portions(sorted(numbers)):
                here = select(t.c.seq, t.c.digest).where(self._mine(t, writer=branch), t.c.seq.in_(some))
                for seq, digest in self._connection.execute(here):
                    found[seq].add(digest)
        return {seq: frozenset(digests) for seq, digests in found.items()}

    def followed(self, writer: str, digests: Collection[str]) -> frozenset[str]:
        """Those of some links of an installation after which another one stands here."""
        t = rows.ledger
        wanted, found = set(digests), set[str]()
        for branch in self._of(writer):
            named = select(t.c.previous).where(self._mine(t, writer=branch))
            found.update(one for one in self._connection.execute(named).scalars() if one in wanted)
        return frozenset(found)

    def _of(self, writer: str) -> list[str]:
        return [branch for branch in self._branches() if origin_of(branch) == writer]

    def vouched(self) -> Mapping[str, Mapping[int, str]]:
        """What tombstones say of links that were written anew."""
        t = rows.ledger
        wanted = select(t.c.writer, t.c.seq, t.c.payload).where(self._mine(t), holds_at(t.c.payload, '"amends"') > 0)
        found = self._connection.execute(wanted.order_by(t.c.delta_id, t.c.digest))
        return amendments((writer, seq, payload) for writer, seq, payload in found)


def _portions(values: Sequence[_Value]) -> Iterator[Sequence[_Value]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
