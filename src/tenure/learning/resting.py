"""What rests on some runs alone, and what on others too: the same question for who forgets them and for who revokes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tenure.playbook.apply import added_keys
from tenure.playbook.delta import Add, Merge, Observe, Revoke, Update
from tenure.playbook.lessons import Lesson, normalised, section_name
from tenure.playbook.observing import observation_ids
from tenure.playbook.records import component, is_held_by, root_of
from tenure.playbook.removal import Gone, run_of, texts_of
from tenure.playbook.run import UNTRUSTED
from tenure.ports import LedgerEntry, Reading

OBSERVING = ("OBSERVE", "REVOKE")
"""Names under which operations on observations stand in the ledger."""


def names_origin(name: str, asked: str) -> bool:
    """Whether the name of an origin is the one asked for or lies below it: `mallory/web` has every document of that channel."""
    plain, wanted = name.removesuffix(UNTRUSTED), asked.strip().removesuffix(UNTRUSTED).rstrip("/")
    return bool(wanted) and (plain == wanted or plain.startswith(f"{wanted}/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """What hangs from some runs in a scope.

    Attributes:
        gone: what goes with them.
        entries: all deltas that this may change, by arrival number.
        lessons: the lessons that go, as they read now.
        weakened: lessons that stay, because they rest on others too.
    """

    gone: Gone
    entries: dict[int, LedgerEntry]
    lessons: tuple[Lesson, ...]
    weakened: tuple[Lesson, ...]


def find_resting(
    reading: Reading, gone: Gone, *, named: Collection[str] = (), holding: Iterable[LedgerEntry] = (), discounted: Collection[str] = ()
) -> Resting:
    """What hangs from the runs, subjects and origins of a `Gone`; that with all lessons and observations that go too.

    Args:
        reading: the scope.
        gone: runs, subjects and origins, and observations that go anyway.
        named: ids of lessons that go whatever they rest on.
        holding: deltas that name a subject or an origin.
        discounted: runs that bear nothing out any more, though they stay.
    """
    entries = {entry.version: entry for entry in (*holding, *reading.ledger_naming(gone.runs))}
    alone = _alone(reading, gone, entries.values(), gone.runs.union(discounted))
    dead = _with_names(reading, {*alone, *named}, gone)
    seen = set(gone.observations)
    for entry in entries.values():
        ids = observation_ids(entry.delta)
        for place, op in enumerate(entry.delta.operations):
            if isinstance(op, Observe) and place in ids and _goes(op, gone, of_gone=run_of(entry.delta) in gone.runs):
                seen.add(ids[place])
    if seen:
        entries |= {entry.version: entry for entry in reading.ledger_naming(OBSERVING)}
    entries |= {entry.version: entry for entry in reading.ledger_naming(dead)}
    whole = Gone(runs=gone.runs, lessons=frozenset(dead), observations=frozenset(seen), subjects=gone.subjects, origins=gone.origins)
    going = [lesson for lesson in map(reading.lesson, sorted(dead)) if lesson is not None and lesson.id in dead]
    touched = {root_of(reading, key) for key in _evidenced(entries.values(), gone.runs) if reading.record(key) is not None}
    staying = [lesson for lesson in map(reading.lesson, sorted(touched - dead)) if lesson is not None]
    return Resting(
        gone=whole,
        entries=entries,
        lessons=tuple({lesson.id: lesson for lesson in going}.values()),
        weakened=tuple({lesson.id: lesson for lesson in staying}.values()),
    )


def _goes(op: Observe, gone: Gone, *, of_gone: bool) -> bool:
    return of_gone or op.run in gone.runs or op.origin in gone.origins or any(map(gone.names, texts_of(op).values()))


def _evidenced(entries: Iterable[LedgerEntry], runs: Collection[str]) -> set[str]:
    """Records that have evidence from some runs, or were counted for by them."""
    found: set[str] = set()
    for entry in entries:
        made = added_keys(entry.delta)
        of_runs = run_of(entry.delta) in runs
        for place, op in enumerate(entry.delta.operations):
            if isinstance(op, Observe | Revoke | Merge):
                continue
            if of_runs or any(one.run in runs for one in getattr(op, "evidence", ())):
                found.add(made.get(place, op.id or ""))
    return found - {""}


def _alone(reading: Reading, gone: Gone, entries: Iterable[LedgerEntry], worthless: Collection[str]) -> set[str]:
    """Records whose text rests on the runs alone: no other run has evidence for it, and no person wrote it anew."""
    together: list[set[str]] = []
    candidates: set[str] = set()
    for entry in entries:
        made = added_keys(entry.delta)
        of_gone = run_of(entry.delta) in gone.runs
        alike: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for place, op in enumerate(entry.delta.operations):
            if not isinstance(op, Add) or place not in made:
                continue
            alike[section_name(op.section, op.kind or "strategy"), normalised(op.text)].add(made[place])
            rests = bool(op.evidence) and all(one.run in gone.runs for one in op.evidence)
            if of_gone or _compares(op, gone.runs) or rests or (op.origin in gone.origins and not op.evidence):
                candidates.add(made[place])
        together += [keys for keys in alike.values() if len(keys) > 1]
    kept = _resting_on_others(reading, candidates, worthless)
    alone = candidates - kept
    # Equal texts of one delta get their ids by their number: they go together or not at all.
    for keys in together:
        if keys & alone and not keys <= alone:
            alone -= keys
    for root in {root_of(reading, key) for key in alone if reading.record(key) is not None}:
        members = [key for key in component(reading, root) if (record := reading.record(key)) is not None and record.admission is not None]
        if not alone.issuperset(members):
            # Others rest on the lesson, so that its text stays; of what was merged into it only theirs does.
            alone -= {key for key in members if key == root or is_held_by(reading, key, root)}
    return alone


def _compares(add: Add, runs: Collection[str]) -> bool:
    """Whether a lesson tells two runs apart of which one is among these: without either of them nobody could say it."""
    compared = {place.run for place in add.evidence}
    return (add.about or "").startswith("contrast:") and len(compared) == 2 and not compared.isdisjoint(runs)


def _resting_on_others(reading: Reading, candidates: Collection[str], worthless: Collection[str]) -> set[str]:
    found: set[str] = set()
    names: dict[str, str] = {}
    entries = reading.ledger_naming(candidates)
    for entry in entries:
        made = added_keys(entry.delta)
        names |= {op.id: made[place] for place, op in enumerate(entry.delta.operations) if isinstance(op, Add) and op.id and place in made}
    for entry in entries:
        made = added_keys(entry.delta)
        learned_from = run_of(entry.delta)
        by_person = entry.delta.author.startswith("person")
        edited = by_person and any(one.state == "edited" for one in entry.delta.decisions)
        for place, op in enumerate(entry.delta.operations):
            if isinstance(op, Observe | Revoke | Merge):
                continue
            named = made.get(place, op.id or "")
            key = named if named in candidates else names.get(named, named)
            if key not in candidates:
                continue
            runs = {one.run for one in getattr(op, "evidence", ())} | ({learned_from} if isinstance(op, Add) and learned_from else set())
            if isinstance(op, Add) and (learned_from in worthless or _compares(op, worthless)):
                # Its words come of that run. Another one that it was compared with said none of them.
                runs = set[str]()
            rewritten = (isinstance(op, Update) and op.text is not None and by_person) or (isinstance(op, Add) and edited)
            if runs.difference(worthless) or rewritten:
                found.add(key)
    return found


def _with_names(reading: Reading, keys: Collection[str], gone: Gone) -> set[str]:
    """Records with the names they were imported under, and names with what holds them."""
    found = set(keys)
    for key in keys:
        record = reading.record(key)
        if record is None:
            continue
        found.update(claim.key for claim in record.claims if gone.names(key) or is_held_by(reading, claim.key, key))
        name = record.admission.name if record.admission is not None else ""
        owner = reading.record(name) if name else None
        if owner is not None and owner.admission is None and all(claim.key in found for claim in owner.claims):
            found.add(name)
    return found


def lessons_naming(entries: Sequence[LedgerEntry], gone: Gone) -> set[str]:
    """Ids of lessons whose text, section or id ever named a subject."""
    found: set[str] = set()
    for entry in entries:
        made = added_keys(entry.delta)
        for place, op in enumerate(entry.delta.operations):
            if isinstance(op, Observe | Revoke):
                continue
            if isinstance(op, Merge):
                found.update(one for one in (*op.ids, op.into) if gone.names(one))
                if op.text is not None and gone.names(op.text):
                    found.add(op.into)
                continue
            if op.id and gone.names(op.id):
                found.add(op.id)
            if any(map(gone.names, (getattr(op, "text", None) or "", getattr(op, "section", "")))):
                # An import that did not get the name it came with is another lesson than the one that holds it.
                found.add(made.get(place, "") if isinstance(op, Add) else op.id)
    return {one for one in found if one}
