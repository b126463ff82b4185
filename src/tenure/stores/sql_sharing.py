"""Links of other installations in a SQL database: read to be shared, put in, and folded with what is here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from tenure.governance.ledger import origin_of
from tenure.governance.ledger_lines import Link
from tenure.governance.ledger_tree import Place, branch_names
from tenure.playbook.delta import Delta
from tenure.playbook.folding import fold, folding_key
from tenure.playbook.notation import record_to_json
from tenure.playbook.observing import Noted
from tenure.playbook.state import Playbook
from tenure.ports import LedgerEntry
from tenure.stores import codec, rows, sql_conversations, sql_observations
from tenure.stores.prepared import change, fetch_among, put
from tenure.stores.sql_forgetting import SqlForgetting
from tenure.stores.sql_lessons import portions

_AT_ONCE = 500


class SqlTakingIn(SqlForgetting):
    """The part of a transaction that takes links in (see `ports.TakingIn`)."""

    _version: int

    def put_links(self, new: Iterable[Link], anew: Sequence[Link] = ()) -> None:
        """Put links in as they are, and fold all deltas of the scope in the order of their ids."""
        touched: set[str] = set()
        waiting = iter(new)
        while some := list(islice(waiting, _AT_ONCE)):
            self._put_rows(some)
            touched.update(link.writer for link in some)
        for writer in sorted(touched):
            self._name_branches(writer)
        if self.own_writer() in touched:
            # A copy of this database wrote it. Two that write as one could not be told apart.
            self._connection.execute(update(rows.installation).values(writer=os.urandom(10).hex()))
        if anew:
            self._put_anew(anew)
        self._connection.execute(
            update(rows.scopes).where(rows.scopes.c.n == self._scope_row).values(version=self._version, merged=self._version)
        )
        self._fold_anew(self._version)
        # What others forgot or edited comes this way too.
        sql_conversations.outdate(self._connection, self._wall["tenant"])

    def vouch(self, tombstone: Delta, anew: Sequence[Link]) -> int:
        """Set a tombstone that vouches for payloads."""
        amends = [(link.writer, link.seq, link.sealed, link.digest) for link in anew]
        return self._append(tombstone, amends=amends, effective=False)

    def _put_rows(self, links: Sequence[Link]) -> None:
        now = self._dialect.now()
        found: list[dict[str, object]] = []
        texts: list[dict[str, object]] = []
        for link in links:
            self._version += 1
            held = link.held
            found.append(
                {
                    **self._wall,
                    "version": self._version,
                    # Until branches are named: a name of its own, for two may have one number.
                    "writer": f"{link.writer}~{link.digest}",
                    "seq": link.seq,
                    "delta_id": held["id"],
                    "delta_key": held.get("key"),
                    "payload": link.payload,
                    "previous": link.previous,
                    "digest": link.digest,
                    "recorded": now,
                    "effective": True,
                    "imported": True,
                }
            )
            texts += [
                {**self._wall, "digest": one.digest, "version": self._version, "salt": one.salt, "text": one.text} for one in link.texts
            ]
        put(self._connection, rows.ledger, found)
        put(self._connection, rows.ledger_texts, texts)
        self._named = None

    def _name_branches(self, writer: str) -> None:
        """Have each link stand in the branch that it belongs to, and each branch have a head."""
        t, h = rows.ledger, rows.ledger_heads
        mine = (t.c.writer >= writer, t.c.writer < f"{writer}\x7f")
        wanted = select(t.c.version, t.c.writer, t.c.seq, t.c.previous, t.c.digest).where(self._mine(t), *mine)
        found = [row for row in self._connection.execute(wanted).all() if origin_of(row.writer) == writer]
        names = branch_names(writer, (Place(row.seq, row.previous, row.digest) for row in found))
        moved = [
            {**self._where, "where_version": row.version, "moved": names[row.digest]} for row in found if names[row.digest] != row.writer
        ]
        change(self._connection, _MOVE, moved)
        heads: dict[str, tuple[int, str]] = {}
        for row in found:
            heads[names[row.digest]] = max(heads.get(names[row.digest], (0, "")), (row.seq, row.digest))
        for branch in self._of(writer):
            self._connection.execute(delete(h).where(self._mine(h, writer=branch)))
        new = [{**self._wall, "writer": name, "count": count, "digest": digest} for name, (count, digest) in sorted(heads.items())]
        self._connection.execute(insert(h), new)

    def _put_anew(self, links: Sequence[Link]) -> None:
        """Write payloads and texts of links that are here anew, with less in them."""
        t, s = rows.ledger, rows.ledger_texts
        self._named = None
        by_digest = {link.digest: link for link in links}
        for some in portions(sorted({str(link.held["id"]) for link in links})):
            for version, digest in fetch_among(self._connection, (t.c.version, t.c.digest), self._wall, "delta_id", some):
                link = by_digest.get(digest)
                if link is None:
                    continue
                self._connection.execute(delete(s).where(self._mine(s, version=version)))
                values = {"payload": link.payload, "delta_key": link.held.get("key")}
                self._connection.execute(update(t).where(self._mine(t, version=version)).values(**values))
                texts = [{**self._wall, "digest": one.digest, "version": version, "salt": one.salt, "text": one.text} for one in link.texts]
                put(self._connection, s, texts)
        self._mark_unscrubbed()

    # -- folding anew --------------------------------------------------------------------------------

    def _in_order(self, merged: int) -> Iterator[LedgerEntry]:
        """All deltas in the order in which they count, a portion at a time."""
        t = rows.ledger
        found = self._connection.execute(select(t.c.version, t.c.delta_id, t.c.digest).where(self._mine(t))).all()
        order = sorted(found, key=lambda row: folding_key(row.version, row.delta_id, row.digest, merged))
        for some in portions([row.version for row in order]):
            entries = {entry.version: entry for entry in self._entries(some)}
            yield from (entries[version] for version in some)

    def _fold_anew(self, merged: int) -> None:
        """Work the playbook out of the whole ledger, and write what reads otherwise than the rows do. Cost follows the ledger."""
        versions: list[int] = []

        def deltas() -> Iterator[Delta]:
            for entry in self._in_order(merged):
                versions.append(entry.version)
                yield entry.delta

        folded = fold(deltas())
        self._mark_effective(dict(zip(versions, folded.effective, strict=True)))
        self._write_records(folded.playbook)
        # A lesson that comes with these links came with the newest of them.
        self._version -= 1
        self._write_lessons(folded.playbook)
        self._version += 1
        self._write_observations(folded.playbook)

    def _mark_effective(self, now: Mapping[int, bool]) -> None:
        t = rows.ledger
        was = self._connection.execute(select(t.c.version, t.c.effective).where(self._mine(t))).all()
        for effective in (True, False):
            changed = [version for version, before in was if now[version] is effective and bool(before) is not effective]
            for some in portions(changed):
                self._connection.execute(update(t).where(self._mine(t), t.c.version.in_(some)).values(effective=effective))

    def _write_records(self, book: Playbook) -> None:
        t = rows.records
        was = {str(key): str(body) for key, body in self._connection.execute(select(t.c.key, t.c.body).where(self._mine(t)))}
        gone = sorted(set(was) - set(book.records.keys()))
        for some in portions(gone):
            self._connection.execute(delete(t).where(self._mine(t), t.c.key.in_(some)))
        self._let_go()
        self._put_records({key: record for key, record in book.records.items() if was.get(key) != record_to_json(record)})
        self._let_go()

    def _write_lessons(self, book: Playbook) -> None:
        t = rows.lessons
        was = {str(one): str(body) for one, body in self._connection.execute(select(t.c.id, t.c.body).where(self._mine(t)))}
        now = {lesson.id: codec.lesson_to_json(lesson) for lesson in book.every_lesson}
        self._reread([one for one in sorted({*was, *now}) if was.get(one) != now.get(one)])

    def _write_observations(self, book: Playbook) -> None:
        held = book.observations
        if held == sql_observations.everything(self._connection, self._wall):
            return
        for table in (rows.observations, rows.aggregates, rows.sums):
            self._connection.execute(delete(table).where(self._mine(table)))
        noted = Noted(observations=dict(held.by_id.items()), shown=dict(held.shown.items()))
        if noted.observations or noted.shown:
            sql_observations.put_noted(self._connection, self._wall, noted)


def _move() -> Any:
    """A link's row put into another branch."""
    t = rows.ledger
    mine = [t.c[name] == bindparam(f"where_{name}") for name in ("tenant", "scope", "version")]
    return update(t).where(*mine).values(writer=bindparam("moved"))


_MOVE = _move()
