"""What a shared ledger would bring to a scope: which of its links are new, whether they hang together, and who has to be trusted for them.

Nothing is written here. A file whose chains are broken is refused as a whole, and the error names the line.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from tenure.errors import UnreadableInput
from tenure.governance.ledger import amended_to
from tenure.governance.ledger_lines import Link, is_id, made_at
from tenure.governance.ledger_tree import in_order
from tenure.learning.ledger_file import Entry, LedgerFile, portions
from tenure.ports import Reading

_DAY = 24 * 60 * 60 * 1_000
"""How far ids may be off, in milliseconds: clocks of machines differ, and zones are set wrongly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """What a file holds of one installation.

    Attributes:
        writer: its id.
        new: links that come in.
        known: links that are here already.
        left_out: links that wait until somebody trusts it.
        unknown: whether nothing of it was here before.
        forked: whether its chain went on in two ways: a copy of its database wrote too.
    """

    writer: str
    new: int = 0
    known: int = 0
    left_out: int = 0
    unknown: bool = False
    forked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """What comes of a file.

    Attributes:
        senders: by writer.
        order: digests of the new links that come in, each after the one that it follows, in the order of their deltas' ids.
        left_out: digests of new links that wait for trust.
        differing: links that stand here with another payload than in the file, by digest.
    """

    senders: tuple[Sender, ...]
    order: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()
    differing: Mapping[str, Link] = field(default_factory=dict[str, Link])


def look_at(reading: Reading, file: LedgerFile, *, trust: bool, now: int = 0) -> Arriving:
    """What a file brings.

    Args:
        reading: the scope.
        file: read and checked line by line.
        trust: whether installations of which nothing is here may bring something, and branches of chains that are.
        now: the present moment in milliseconds since 1970; 0 leaves ids of the future alone.

    Raises:
        UnreadableInput: a link hangs in the air, or was changed; the message names the line.
    """
    known, differing = _standing(reading, file)
    new = {digest for digest in file.links if digest not in known}
    _check_parents(reading, file, new)
    _check_times(reading, file, new, now)
    _check_vouched(reading, file)
    strange, forked = _strangers(reading, file, new)
    left_out = frozenset() if trust else _waiting(reading, file, new, strange)
    taken = new - left_out
    _check_amended(file, taken, {digest for digest, link in _standing_anew(reading, file, taken).items() if not link.genuine})
    places = ((file.links[one][0].writer, file.links[one][0].place, file.links[one][0].delta) for one in taken)
    return Arriving(
        senders=_told(reading, file, taken, left_out, forked),
        order=tuple(in_order(places)),
        left_out=left_out,
        differing=differing,
    )


def _standing(reading: Reading, file: LedgerFile) -> tuple[set[str], dict[str, Link]]:
    """Digests of the file's links that are here, and those of them that read otherwise here."""
    known: set[str] = set()
    differing: dict[str, Link] = {}
    named: defaultdict[str, list[str]] = defaultdict(list)
    for digest, entries in file.links.items():
        for entry in entries:
            named[entry.delta].append(digest)
    for some in portions(sorted(named)):
        for link in reading.links_of(some):
            entries = file.links.get(link.digest, [])
            if not entries:
                continue
            first = entries[0]
            if (first.writer, first.place.seq, first.place.previous) != (link.writer, link.seq, link.previous):
                raise _broken(file, first, f"it has the digest of link {link.seq} of writer {link.writer}, and stands elsewhere")
            known.add(link.digest)
            if any(entry.sealed != link.sealed for entry in entries):
                differing[link.digest] = link
    return known, differing


def _check_parents(reading: Reading, file: LedgerFile, new: Collection[str]) -> None:
    """That each new link follows one that is here or in the file."""
    wanted: defaultdict[str, set[int]] = defaultdict(set)
    for digest in sorted(new, key=lambda one: file.links[one][0].line):
        entry = file.links[digest][0]
        before = file.links.get(entry.place.previous, [None])[0]
        if entry.place.seq > 1 and before is None:
            wanted[entry.writer].add(entry.place.seq - 1)
        elif before is not None and (before.writer, before.place.seq) != (entry.writer, entry.place.seq - 1):
            raise _broken(file, entry, f"it says that it follows line {before.line}, which is link {before.place.seq} of {before.writer}")
    here = {writer: reading.digests_at(writer, numbers) for writer, numbers in wanted.items()}
    for digest in sorted(new, key=lambda one: file.links[one][0].line):
        entry = file.links[digest][0]
        if entry.place.seq == 1 or entry.place.previous in file.links:
            continue
        if entry.place.previous not in here[entry.writer].get(entry.place.seq - 1, ()):
            number = entry.place.seq - 1
            raise _broken(
                file,
                entry,
                f"link {number} of writer {entry.writer}, which it follows, is neither in the file nor here: a line was taken out",
            )


def _check_times(reading: Reading, file: LedgerFile, new: Collection[str], now: int) -> None:
    """That no new id is of before its writer's first, or of the future: the order of ids decides which delta counts."""
    firsts = {one.writer: made_at(one.delta) for entries in file.links.values() for one in entries if one.place.seq == 1}
    entries = sorted(file.links[one][0] for one in new)
    missing = {one.writer for one in entries} - set(firsts)
    if missing:
        known = (link for link in reading.links() if link.seq == 1 and link.writer in missing)
        firsts |= {link.writer: made_at(str(link.held["id"])) for link in known if is_id(str(link.held["id"]))}
    for one in entries:
        made = made_at(one.delta)
        if now and made > now + _DAY:
            late = "its writer's clock, or this machine's, is wrong, or the id was made up"
            raise _broken(file, one, f"the id {one.delta} of its delta is of more than a day from now: {late}")
        if made < firsts.get(one.writer, 0) - _DAY:
            raise _broken(
                file, one, f"the id {one.delta} of its delta is of more than a day before the first of writer {one.writer}: it was made up"
            )


def _check_vouched(reading: Reading, file: LedgerFile) -> None:
    """That a payload that is not the one that was chained is one that a tombstone vouches for."""
    odd = [entry for entries in file.links.values() for entry in entries if not entry.genuine]
    if not odd:
        return
    here = reading.vouched()
    by_file = file.vouched()
    every = _every_voucher(file)
    for entry in sorted(odd):
        said = {amended_to(vouched, entry.writer, entry.place.seq, entry.place.digest) for vouched in (here, by_file)}
        if entry.sealed not in said | every.get(entry.place.digest, set()):
            why = "what it says was changed, or its number, its digest or that of the link before it"
            raise _broken(file, entry, f"link {entry.place.seq} of writer {entry.writer} does not give its digest: {why}")


def _every_voucher(file: LedgerFile) -> dict[str, set[str]]:
    """All that tombstones of the file ever vouched for, by digest of the link: two installations may have forgotten apart."""

    found: defaultdict[str, set[str]] = defaultdict(set)
    for entries in file.links.values():
        for entry in entries:
            for one in json.loads(entry.tombstone)["amends"] if entry.tombstone else ():
                found[one[3] if len(one) > 3 else ""].add(one[2])
    return dict(found)


def _strangers(reading: Reading, file: LedgerFile, new: Collection[str]) -> tuple[set[str], set[str]]:
    """New links that nobody has let in yet, where a stranger's chain or branch begins; and writers whose chains fork."""
    writers, own = reading.writers(), reading.own_writer()
    children: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for digest in new:
        entry = file.links[digest][0]
        children[entry.writer, entry.place.previous].append(digest)
    parents: defaultdict[str, set[str]] = defaultdict(set)
    for writer, previous in children:
        parents[writer].add(previous)
    followed = {writer: reading.followed(writer, some) for writer, some in parents.items() if writer in writers}
    strange: set[str] = set()
    forked: set[str] = set()
    for (writer, previous), digests in children.items():
        parts = len(digests) > 1 or previous in followed.get(writer, ())
        if parts:
            forked.add(writer)
        if writer not in writers or parts or writer == own:
            strange.update(digests)
    return strange, forked


def _waiting(reading: Reading, file: LedgerFile, new: Collection[str], strange: Collection[str]) -> frozenset[str]:
    """New links that wait for trust: strangers', what follows them, and what only a stranger's tombstone vouches for."""
    left_out: set[str] = set()
    order = in_order((file.links[one][0].writer, file.links[one][0].place, file.links[one][0].delta) for one in new)
    here = reading.vouched()
    while True:
        before = len(left_out)
        vouched = file.vouched(but=left_out | set(strange))
        for digest in order:
            entries = file.links[digest]
            place, writer = entries[0].place, entries[0].writer
            sound = any(
                entry.genuine or entry.sealed in {amended_to(by, writer, place.seq, digest) for by in (here, vouched)} for entry in entries
            )
            if digest in strange or place.previous in left_out or not sound:
                left_out.add(digest)
        if len(left_out) == before:
            return frozenset(left_out)


def _standing_anew(reading: Reading, file: LedgerFile, taken: Collection[str]) -> dict[str, Link]:
    """Links that stand here and of which a tombstone that comes in speaks."""
    spoken_of = {one[3] for entry in _tombstones(file, taken) for one in json.loads(entry.tombstone)["amends"] if len(one) > 3}
    deltas = {entry.delta for digest in spoken_of for entry in file.links.get(digest, ())}
    return {link.digest: link for some in portions(sorted(deltas)) for link in reading.links_of(some) if link.digest in spoken_of}


def _tombstones(file: LedgerFile, taken: Collection[str]) -> list[Entry]:
    return [entry for digest in taken for entry in file.links[digest] if entry.tombstone]


def _check_amended(file: LedgerFile, taken: Collection[str], anew: Collection[str]) -> None:
    """That what a tombstone says was forgotten comes without it: the text alone, or the tombstone alone, would bring it back."""
    for entry in _tombstones(file, taken):
        for of, number, _, *link in json.loads(entry.tombstone)["amends"]:
            if link and link[0] not in anew and all(form.genuine for form in file.links.get(link[0], ())):
                raise _broken(
                    file,
                    entry,
                    f"it says that something was forgotten in link {number} of writer {of}, which the file has only as it was before, "
                    "or not at all: take that link's line from the newer export too",
                )


def _told(
    reading: Reading, file: LedgerFile, taken: Collection[str], left_out: Collection[str], forked: Collection[str]
) -> tuple[Sender, ...]:
    writers = reading.writers()
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for digest, entries in file.links.items():
        counts[entries[0].writer][0 if digest in taken else 2 if digest in left_out else 1] += 1
    return tuple(
        Sender(writer=writer, new=new, known=known, left_out=out, unknown=writer not in writers, forked=writer in forked)
        for writer, (new, known, out) in sorted(counts.items())
    )


def _broken(file: LedgerFile, entry: Entry, problem: str) -> UnreadableInput:
    return UnreadableInput(f"{file.name}, line {entry.line}: {problem}. Nothing was imported.")
