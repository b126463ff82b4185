"""Ledgers shared through files: what one installation wrote is taken in by another, and both read the same afterwards.

Links come in as they are, and all deltas of the scope count in the order of their ids. What a scope does not take as it
comes (a secret, a text that admission refuses today) is answered by a delta or a tombstone of its own, which the other side
takes in with the next exchange: so both still read the same. See design/sharing.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from tenure.errors import UnreadableInput
from tenure.governance.ledger import amended_to, seal
from tenure.governance.ledger_lines import Link, is_id, line_of, made_at
from tenure.governance.lessening import common, is_less, shortened_texts
from tenure.governance.redaction import redact, redact_operations
from tenure.learning.arriving import Arriving, Sender, look_at
from tenure.learning.ledger_file import Entry, LedgerFile
from tenure.learning.shared_admission import Before, hold_what_fails, standing, words
from tenure.learning.upkeep import raise_bounds
from tenure.playbook.delta import Add, Delta, Merge, Update
from tenure.playbook.delta_json import storable_delta
from tenure.playbook.render import Core
from tenure.ports import IdSource, Reading, Scrubbed, Store, Writing
from tenure.settings import read_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What became of a shared ledger.

    Attributes:
        senders: by writer: what is new, known, left out.
        came, went: ids of lessons that are in use now and were not, and the reverse.
        held: ids of lessons that wait for a review here, though they came in use.
        reasons: why, a sentence each.
        forgotten: deltas that hold less here now, because another installation forgot something.
        redacted: deltas that came with a secret in them, which was taken out.
        revoked: notes of deltas by which another installation revoked an origin: its later runs are not refused here by that.
        renamed: what this installation wrote as until now, if a copy of its database wrote too; empty otherwise.
        raised: which bounds were raised, one sentence; empty if they held.
        replaced, replaced_by: ids of lessons that were in use here and went or say something else now, because older deltas with
            their key or their id came in; and the installations that wrote those.
        scopes: other scopes for which deltas were written that came in.
        version: arrival number of the newest delta.
        scrubbed: whether the files hold nothing of what was forgotten; none if nothing was.
    """

    senders: tuple[Sender, ...]
    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    forgotten: int = 0
    redacted: int = 0
    revoked: tuple[str, ...] = ()
    renamed: str = ""
    raised: str = ""
    replaced: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    version: int = 0
    scrubbed: Scrubbed | None = None

    @property
    def new(self) -> int:
        """Links that came in."""
        return sum(one.new for one in self.senders)

    @property
    def known(self) -> int:
        """Links that were here already."""
        return sum(one.known for one in self.senders)

    @property
    def left_out(self) -> int:
        """Links that wait until somebody trusts their installations."""
        return sum(one.left_out for one in self.senders)


class _Undone(Exception):  # no error: it ends a trial
    """Leaves a transaction without a trace."""


def take_in(
    store: Store,
    scope: str,
    file: LedgerFile,
    *,
    ids: IdSource,
    now: Callable[[], datetime],
    trust: bool = False,
    dry_run: bool = False,
) -> Shared:
    """Take a shared ledger into a scope, whole or not at all.

    Args:
        store: where the scope lives.
        scope: it goes there, wherever it came from.
        file: read and checked.
        ids: for deltas that answer it.
        now: the clock.
        trust: let in installations of which nothing is here, and branches of chains that are.
        dry_run: say what would come of it; nothing is kept.

    Raises:
        UnreadableInput: a chain in it is broken.
    """
    found: list[Shared] = []
    try:
        with store.writing(scope) as work:
            found.append(_taken(work, file, ids=ids, at=now(), trust=trust))
            if dry_run:
                raise _Undone
    except _Undone:
        return found[0]
    shared = found[0]
    return replace(shared, scrubbed=store.scrub()) if shared.forgotten else shared


def _taken(work: Writing, file: LedgerFile, *, ids: IdSource, at: datetime, trust: bool) -> Shared:
    made = ids.next()
    arriving = look_at(work, file, trust=trust, now=made_at(made) if is_id(made) else 0)
    newest = work.version()
    before = standing(work)
    own = work.own_writer()
    settled = _Settled(work, file, arriving)
    anew = settled.standing()
    if not arriving.order and not anew:
        _lay_out(work)
        return Shared(senders=arriving.senders, version=work.version())
    came: list[Delta] = []
    writers: list[str] = []

    def links() -> Iterator[Link]:
        for digest in arriving.order:
            link = settled.chosen(digest)
            came.append(link.delta)
            writers.append(link.writer)
            yield link

    work.put_links(links(), anew)
    _vouch(work, settled, ids=ids, at=at, name=file.name)
    held = hold_what_fails(work, came, before, shortened=settled.shortened, ids=ids, at=at, name=file.name)
    _close(work, came)
    if anew:
        work.drop_cores()
    _lay_out(work)
    _prove(work, file, newest)
    replaced = _replaced(work, list(zip(writers, came, strict=True)), before, forgot=bool(anew))
    raised = raise_bounds(work, read_settings(work.setting))
    now_live = {lesson.id for lesson in work.lessons()}
    return Shared(
        senders=arriving.senders,
        came=tuple(sorted(now_live - before.live)),
        went=tuple(sorted(before.live - now_live)),
        held=tuple(held),
        reasons=tuple(f"{'figure' if one.startswith('obs-') else 'lesson'} '{one}': {why.reason}" for one, why in held.items()),
        forgotten=len(anew),
        redacted=settled.redacted,
        revoked=tuple(delta.note for delta in came if delta.cause == "revoke"),
        renamed=own if work.own_writer() != own else "",
        raised=raised,
        replaced=tuple(sorted(replaced)),
        replaced_by=tuple(sorted({one for some in replaced.values() for one in some})),
        scopes=tuple(sorted({one.scope for one in came} - {"", work.scope})),
        version=work.version(),
    )


class _Settled:
    """Which payload a link has, where it came in several: the one that says what all of them say."""

    def __init__(self, work: Writing, file: LedgerFile, arriving: Arriving) -> None:
        self._file, self._differing = file, arriving.differing
        self._here, self._there = work.vouched(), file.vouched(but=arriving.left_out)
        self.amended: dict[str, Link] = {}
        self.redacted = 0
        self.shortened: set[str] = set()

    def standing(self) -> list[Link]:
        """Links that stand here and have to hold less now."""
        found: list[Link] = []
        for digest, ours in self._differing.items():
            theirs = self._let_in(digest)
            now = self._least(digest, [ours, *theirs], {self._file.link(entry).sealed: entry for entry in self._file.links[digest]})
            if now.sealed != ours.sealed:
                self.shortened.update(shortened_texts(now.delta, ours.delta))
                found.append(now)
        return found

    def chosen(self, digest: str) -> Link:
        """A new link as it comes in: without secrets."""
        lines = {entry.sealed: entry for entry in self._file.links[digest]}
        link = self._least(digest, self._let_in(digest), lines)
        clean = without_secrets(link.delta)
        if clean is link.delta or clean == link.delta:
            return link
        self.redacted += 1
        return self._anew(link, clean)

    def _let_in(self, digest: str) -> list[Link]:
        """The forms of a link in the file that count: as chained, or as a tombstone that is let in says."""
        return [self._file.link(entry) for entry in self._file.links[digest] if entry.genuine or self._is_vouched(entry)]

    def _is_vouched(self, entry: Entry) -> bool:
        said = (amended_to(by, entry.writer, entry.place.seq, entry.place.digest) for by in (self._here, self._there))
        return entry.sealed in said

    def _least(self, digest: str, forms: Sequence[Link], lines: Mapping[str, Entry]) -> Link:
        found = self._least_of(digest, forms, lines)
        if not found.genuine:
            self.amended[digest] = found
        return found

    def _least_of(self, digest: str, forms: Sequence[Link], lines: Mapping[str, Entry]) -> Link:
        if len(forms) == 1:
            return forms[0]
        whole = next((form for form in forms if form.genuine), None)
        for form in forms if whole is not None else ():
            if form.sealed in lines and whole is not None and not is_less(form.delta, whole.delta):
                raise UnreadableInput(
                    f"{self._file.name}, line {lines[form.sealed].line}: link {form.seq} of writer {form.writer} says something else "
                    "than was admitted, and not only less: a tombstone vouches for it, and may only take out. Nothing was imported."
                )
        goal = reduce(common, (form.delta for form in forms))
        fitting = [form for form in forms if form.delta == goal]
        if not fitting:
            return self._anew(forms[0], goal)
        place = fitting[0]
        latest = {amended_to(by, place.writer, place.seq, digest) for by in (self._there, self._here)}
        return min(fitting, key=lambda form: (form.sealed not in latest, form.genuine, form.sealed))

    def _anew(self, link: Link, delta: Delta) -> Link:
        kept = {name: link.held[name] for name in ("version", "amends") if link.held.get(name)}
        sealed = seal(storable_delta(delta) | kept, lambda _: secrets.token_hex(16))
        made = replace(link, payload=sealed.payload, texts=tuple(sorted(sealed.texts, key=lambda one: one.digest)))
        self.amended[link.digest] = made
        return made


def without_secrets(delta: Delta) -> Delta:
    """A delta as redaction leaves it today; an equal one if there was nothing to take out."""
    note = redact(delta.note).text if delta.note else ""
    decisions = tuple(replace(one, note=redact(one.note).text) if one.note else one for one in delta.decisions)
    key = None if delta.key and _without_keys(delta.key) != delta.key else delta.key
    operations = redact_operations(delta.operations)
    return replace(delta, operations=operations, note=note, decisions=decisions, key=key, author=_without_keys(delta.author))


def _without_keys(name: str) -> str:
    """Who wrote something, or its key, without secrets; a mail address may be what somebody goes by."""
    clean = redact(name) if name else None
    return name if clean is None or not set(clean.counts) - {"email", "phone"} else clean.text


def _vouch(work: Writing, settled: _Settled, *, ids: IdSource, at: datetime, name: str) -> None:
    """Set a tombstone for payloads for which no other that counts vouches."""
    vouched = work.vouched()
    links = [link for _, link in sorted(settled.amended.items()) if amended_to(vouched, link.writer, link.seq, link.digest) != link.sealed]
    if not links:
        return
    count = f"{len(links):,} {'delta' if len(links) == 1 else 'deltas'}"
    note = f"took out of {count} of {name} what is redacted here, or was forgotten in several places"
    tombstone = Delta(ids.next(work.newest_delta_id()), (), scope=work.scope, author="import", cause="forget", at=at, note=note)
    work.vouch(tombstone, links)


# -- what follows from it -------------------------------------------------------------------------------


def _prove(work: Writing, file: LedgerFile, newest: int) -> None:
    """That the ledger can be proven with what came in.

    Raises:
        UnreadableInput: it cannot; what was whole before stays so.
    """
    for broken in work.check_ledger().broken:
        if broken.version > newest:
            lines = [one.line for entries in file.links.values() for one in entries if one.delta == broken.delta]
            where = f", line {min(lines)}" if lines else ""
            raise UnreadableInput(f"{file.name}{where}: {broken.problem}. Nothing was imported.")


def _replaced(work: Writing, came: Sequence[tuple[str, Delta]], before: Before, *, forgot: bool) -> dict[str, set[str]]:
    """Lessons that were in use and gave way to older deltas, and whose those are, by lesson."""
    by_name: dict[str, set[str]] = {}
    by_key: set[str] = set()
    spoken_of: set[str] = set()
    for writer, delta in came:
        by_key |= {writer} if delta.key else set()
        for operation in delta.operations:
            if isinstance(operation, Add) and operation.id in before.live:
                by_name.setdefault(operation.id, set()).add(writer)
            elif isinstance(operation, Update):
                spoken_of.add(operation.id)
            elif isinstance(operation, Merge):
                spoken_of.add(operation.into)
    found: dict[str, set[str]] = {}
    for one in before.live:
        now = work.lesson(one)
        if now is None and (by_key or one in by_name or not forgot):
            found[one] = by_name.get(one) or by_key or {writer for writer, _ in came}
        elif now is not None and now.id == one and one in by_name and one not in spoken_of and words(now) != words(before.lessons[one]):
            found[one] = by_name[one]
    return found


def _close(work: Writing, came: Sequence[Delta]) -> None:
    """Have what was decided elsewhere wait here no more."""
    for delta in came:
        for one in delta.decisions:
            if one.state != "open":
                work.decide(one.change, state=one.state, decided=f"{delta.author} at {delta.time}" + (f": {one.note}" if one.note else ""))


def _lay_out(work: Writing) -> None:
    """Have the next prompt laid out from nothing: where prompts went on from different ones, equal playbooks read differently."""
    for size in work.core_sizes():
        work.keep_core(Core(stale="a ledger was taken in"), size)


# -- writing it ----------------------------------------------------------------------------------------


def shared_lines(reading: Reading, *, tell: Callable[[int], None] | None = None) -> Iterator[str]:
    """The scope's ledger as lines, by writer and number."""
    for number, link in enumerate(reading.links(), 1):
        yield line_of(link)
        if tell is not None:
            tell(number)


def take_secrets_out(work: Writing, *, ids: IdSource, at: datetime, author: str) -> int:
    """Take out of the ledger what redaction takes out today and did not when it was written; how many deltas held some."""
    changed = {entry.version: clean for entry in work.ledger() if (clean := without_secrets(entry.delta)) != entry.delta}
    if changed:
        count = f"{len(changed):,} {'delta' if len(changed) == 1 else 'deltas'}"
        note = f"took out of {count} what redaction takes out today"
        tombstone = Delta(ids.next(work.newest_delta_id()), (), scope=work.scope, author=author, cause="forget", at=at, note=note)
        work.rewrite(changed, tombstone)
        work.drop_cores()
    return len(changed)


def holds_secrets(reading: Reading) -> bool:
    """Whether redaction would take something out of the ledger today."""
    after = 0
    while entries := reading.ledger(after=after, limit=1_000):
        if any(without_secrets(entry.delta) != entry.delta for entry in entries):
            return True
        after = entries[-1].version
    return False
