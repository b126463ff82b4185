"""A playbook as text: the complete canonical JSON, and the ACE-compatible exchange text.

All laws hold for the JSON. The exchange text carries what people and other tools read: live
lessons by section, with counts, conditions and every text in full.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Literal

from rpds import HashTrieMap

from tenure.errors import UnreadableInput
from tenure.playbook.apply import apply
from tenure.playbook.delta import Delta
from tenure.playbook.exchange import read_exchange, write_exchange
from tenure.playbook.lessons import TALLY_NAMES, Evidence, Tallies
from tenure.playbook.records import Admission, Claim, Member, Place, Record, Register, Stamp
from tenure.playbook.state import Playbook

FORMAT = "playbook/1"

Form = Literal["json", "ace"]

_ADMISSION_DEFAULTS: Mapping[str, Any] = {f.name: f.default for f in fields(Admission) if f.name not in ("delta", "section", "digest")}


def dumps(playbook: Playbook, form: Form = "json") -> str:
    """A playbook as text.

    Args:
        playbook: the value to write.
        form: `json`, complete and canonical (equal playbooks give equal bytes), one record a line;
            or `ace`, the exchange text.
    """
    if form == "ace":
        return write_exchange(playbook.lessons)
    if form != "json":
        raise UnreadableInput(f"Playbook form '{form}' is not known. Use json or ace.")
    records = ",\n".join(record_to_json(playbook.records[key]) for key in sorted(playbook.records))
    held = _compact({key: playbook.deltas[key] for key in sorted(playbook.deltas)})
    return f'{{"tenure":"{FORMAT}","deltas":{held},"records":[\n{records}\n]}}\n' if records else f'{{"tenure":"{FORMAT}","deltas":{held},"records":[]}}\n'


def loads(text: str) -> Playbook:
    """The playbook that a text made by `dumps` holds; the form is told from the text.

    Raises:
        UnreadableInput: the text is neither form, with the place where reading stopped.
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        operations = read_exchange(text)
        return apply(Playbook(), Delta("0", operations, author="import")).playbook
    try:
        held = json.loads(text.lstrip("\ufeff"))
    except ValueError as exc:
        raise UnreadableInput(f"This is not a playbook: {exc}. Playbooks are written by: tenure export --form json") from exc
    if not isinstance(held, dict) or held.get("tenure") != FORMAT:
        raise UnreadableInput(f"This JSON is not a playbook of format {FORMAT}. To read other forms use: tenure import FILE")
    try:
        return assemble((record_from_json(entry) for entry in held["records"]), held["deltas"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as exc:
        raise UnreadableInput(f"This playbook is damaged: {type(exc).__name__}: {exc}") from exc


def assemble(records: Iterable[Record], deltas: Mapping[str, str]) -> Playbook:
    """A playbook from its records and the ids (with keys) of its deltas; the indexes are worked out."""
    by_key: dict[str, Record] = {}
    groups: defaultdict[str, list[Member]] = defaultdict(list)
    pointers: defaultdict[str, set[str]] = defaultdict(set)
    for record in records:
        by_key[record.key] = record
        if record.admission is not None:
            groups[record.admission.group].append(Member(record.admission.delta, record.key, bool(record.admission.name)))
        pointer = record.registers.get("pointer")
        if pointer is not None and pointer.value:
            pointers[pointer.value].add(record.key)
    return Playbook(
        records=HashTrieMap(by_key),
        groups=HashTrieMap({group: tuple(sorted(members)) for group, members in groups.items()}),
        pointers=HashTrieMap({key: frozenset(sources) for key, sources in pointers.items()}),
        deltas=HashTrieMap(dict(deltas)),
        keys=HashTrieMap({key: delta for delta, key in deltas.items() if key}),
    )


def record_to_json(record: Record) -> str:
    """One record as canonical JSON: keys sorted, defaults left out."""
    out: dict[str, Any] = {"key": record.key}
    admission = record.admission
    if admission is not None:
        said: dict[str, Any] = {"delta": admission.delta, "section": admission.section, "digest": admission.digest}
        for name, default in _ADMISSION_DEFAULTS.items():
            value = getattr(admission, name)
            if value != default:
                said[name] = list(value) if name == "tool_order" else value
        out["admission"] = said
    if record.claims:
        out["claims"] = [list(claim) for claim in record.claims]
    if record.registers:
        out["registers"] = {name: [r.stamp.delta, r.stamp.rank, r.value, r.at] for name, r in record.registers.items()}
    if record.tallies:
        out["tallies"] = {name: value for name in TALLY_NAMES if (value := getattr(record.tallies, name))}
    if record.evidence:
        out["evidence"] = [[place.delta, place.evidence.run, place.evidence.step, place.evidence.role] for place in record.evidence]
    return _compact(out)


def record_from_json(held: Mapping[str, Any] | str) -> Record:
    """The record that `record_to_json` wrote.

    Raises:
        KeyError, TypeError, ValueError: the JSON is not a record.
    """
    entry: Mapping[str, Any] = json.loads(held) if isinstance(held, str) else held
    said = entry.get("admission")
    admission = None
    if said is not None:
        admission = Admission(**{**said, "tool_order": tuple(said.get("tool_order", ()))})
    return Record(
        key=entry["key"],
        admission=admission,
        claims=tuple(Claim(*claim) for claim in entry.get("claims", ())),
        registers={name: Register(Stamp(r[0], r[1]), r[2], r[3]) for name, r in entry.get("registers", {}).items()},
        tallies=Tallies(**entry.get("tallies", {})),
        evidence=tuple(Place(delta, Evidence(run=run, step=step, role=role)) for delta, run, step, role in entry.get("evidence", ())),
    )


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
