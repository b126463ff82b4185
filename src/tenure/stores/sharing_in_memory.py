"""The ledger of a scope that is held in memory: its links, those of other installations, and the playbook they make together."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rpds import HashTrieMap

from tenure.governance.ledger import amendments, chain, seal
from tenure.governance.ledger_lines import Link
from tenure.governance.ledger_tree import Place, branch_names
from tenure.playbook.delta import Delta
from tenure.playbook.delta_json import storable_delta
from tenure.playbook.folding import fold, folding_key
from tenure.playbook.lessons import Lesson
from tenure.playbook.state import Playbook
from tenure.ports import LedgerEntry
from tenure.stores.contents import Contents


def fresh_salt() -> str:
    """Randomness for a salt, 16 bytes as hex."""
    return os.urandom(16).hex()


def fresh_writer() -> str:
    """Randomness for the id of an installation."""
    return os.urandom(10).hex()


class SharedInMemory:
    """The part of a look at a scope that is shared (see `ports.Sharing`). Cost follows the ledger."""

    _now: Contents
    _writer: str

    def merged(self) -> int:
        """Up to this arrival number deltas count in the order of their ids."""
        return self._now.merged

    def own_writer(self) -> str:
        """What this store writes as."""
        return self._writer

    def writers(self) -> frozenset[str]:
        """Installations of which links stand here."""
        return frozenset(link.writer for link in self._now.links.values())

    def links(self) -> Iterator[Link]:
        """All links, by writer, number and digest."""
        yield from sorted(self._now.links.values(), key=lambda link: (link.writer, link.seq, link.digest))

    def links_of(self, deltas: Collection[str]) -> Sequence[Link]:
        """Links that hold deltas of these ids."""
        wanted = set(deltas)
        return [self._now.links[number] for number, entry in sorted(self._now.ledger.items()) if entry.delta.id in wanted]

    def digests_at(self, writer: str, numbers: Collection[int]) -> Mapping[int, frozenset[str]]:
        """Digests of the links that an installation's chain has at some numbers."""
        found: defaultdict[int, set[str]] = defaultdict(set)
        for link in self._now.links.values():
            if link.writer == writer and link.seq in numbers:
                found[link.seq].add(link.digest)
        return {seq: frozenset(digests) for seq, digests in found.items()}

    def followed(self, writer: str, digests: Collection[str]) -> frozenset[str]:
        """Those of some links of an installation after which another one stands here."""
        return frozenset(link.previous for link in self._now.links.values() if link.writer == writer and link.previous in digests)

    def vouched(self) -> Mapping[str, Mapping[int, str]]:
        """What tombstones say of links that were written anew."""
        order = sorted(self._now.links.items(), key=lambda one: (self._now.ledger[one[0]].delta.id, one[1].digest))
        return amendments((link.writer, link.seq, link.payload) for _, link in order)


class TakingInMemory(SharedInMemory):
    """The part of a transaction that appends to the ledger, and takes links in (see `ports.TakingIn`)."""

    _scope: str

    def _append(self, delta: Delta, *, amends: Sequence[Link] = ()) -> int:
        delta, version = replace(delta, scope=self._scope), len(self._now.ledger) + 1
        last = self._now.tips.get(self._writer)
        said = {**storable_delta(delta), "version": version, "salt": fresh_salt()}
        if amends:
            said["amends"] = [[link.writer, link.seq, link.sealed, link.digest] for link in amends]
        sealed = seal(said, lambda _: fresh_salt())
        previous = last.digest if last is not None else ""
        link = Link(
            writer=self._writer,
            seq=last.seq + 1 if last is not None else 1,
            previous=previous,
            digest=chain(previous, sealed.payload),
            payload=sealed.payload,
            texts=tuple(sorted(sealed.texts, key=lambda one: one.digest)),
        )
        self._put_entry(version, link, delta, self._writer)
        return version

    def _put_entry(self, version: int, link: Link, delta: Delta, writer: str) -> None:
        now = self._now
        self._now = replace(
            now,
            links=now.links.insert(version, link),
            tips=now.tips.insert(writer, link),
            ledger=now.ledger.insert(version, LedgerEntry(version=version, delta=delta, writer=writer, digest=link.digest)),
            versions=now.versions if delta.id in now.versions else now.versions.insert(delta.id, version),
            newest_delta=max(now.newest_delta, delta.id),
        )

    def _seal_anew(self, version: int, delta: Delta) -> Link:
        """Write the payload of a link anew, with less in it; the link as it is now."""
        link = self._now.links[version]
        kept = {name: link.held[name] for name in ("version", "amends") if link.held.get(name)}
        sealed = seal(storable_delta(delta) | kept, lambda _: fresh_salt())
        now = replace(link, payload=sealed.payload, texts=tuple(sorted(sealed.texts, key=lambda one: one.digest)))
        entry = replace(self._now.ledger[version], delta=delta)
        self._now = replace(self._now, links=self._now.links.insert(version, now), ledger=self._now.ledger.insert(version, entry))
        return now

    def put_links(self, new: Iterable[Link], anew: Sequence[Link] = ()) -> None:
        """Put links in as they are, and fold all deltas of the scope in the order of their ids."""
        touched: set[str] = set()
        for link in new:
            version = len(self._now.ledger) + 1
            self._put_entry(version, link, link.delta, link.writer)
            self._now = replace(self._now, imported=self._now.imported | {version})
            touched.add(link.writer)
        for writer in touched:
            self._name_branches(writer)
        if self._writer in touched:
            self._writer = fresh_writer()
        places = {link.digest: number for number, link in self._now.links.items()} if anew else {}
        for link in anew:
            number = places[link.digest]
            entry = replace(self._now.ledger[number], delta=link.delta)
            self._now = replace(self._now, links=self._now.links.insert(number, link), ledger=self._now.ledger.insert(number, entry))
        self._now = replace(self._now, merged=len(self._now.ledger))
        self._fold_anew()

    def vouch(self, tombstone: Delta, anew: Sequence[Link]) -> int:
        """Set a tombstone that vouches for payloads."""
        return self._append(tombstone, amends=anew)

    def _name_branches(self, writer: str) -> None:
        mine = [(number, link) for number, link in self._now.links.items() if link.writer == writer]
        names = branch_names(writer, (Place(link.seq, link.previous, link.digest) for _, link in mine))
        ledger, tips = self._now.ledger, self._now.tips.discard(writer)
        for number, link in sorted(mine, key=lambda one: one[1].seq):
            ledger = ledger.insert(number, replace(ledger[number], writer=names[link.digest]))
            tips = tips.insert(names[link.digest], link)
        self._now = replace(self._now, ledger=ledger, tips=tips)

    def _fold_anew(self) -> None:
        """Work the playbook out of the whole ledger."""
        book = fold(entry.delta for entry in in_folding_order(self._now, len(self._now.ledger))).playbook
        lessons: HashTrieMap[str, Lesson] = HashTrieMap({lesson.id: lesson for lesson in book.every_lesson})
        came = HashTrieMap({one: self._now.came.get(one, self._version_of_first(book, one)) for one in lessons})
        self._now = replace(self._now, playbook=book, lessons=lessons, came=came)
        self._now = replace(self._now, vectors=HashTrieMap(dict(self._now.valid_vectors())))

    def _version_of_first(self, book: Playbook, lesson_id: str) -> int:
        """When a lesson came that was part of another: as its record's delta did."""
        record = book.record(lesson_id)
        found = record if record is None or record.admission is not None or not record.claims else book.record(record.claims[0].key)
        admission = found.admission if found is not None else None
        return self._now.versions.get(admission.delta, 0) if admission is not None else 0


def in_folding_order(now: Contents, until: int) -> list[LedgerEntry]:
    """The deltas up to an arrival number, in the order in which they count."""
    entries = [entry for number, entry in now.ledger.items() if number <= until]
    return sorted(entries, key=lambda entry: folding_key(entry.version, entry.delta.id, entry.digest, now.merged))
