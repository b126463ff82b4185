"""A playbook as text: the complete canonical JSON, and the ACE-compatible exchange text.

All laws hold for the JSON. The exchange text carries what people and other tools read: live
lessons by section, with counts, conditions and every text in full.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Literal

from rpds import HashTrieMap

from tenure.errors import UnreadableInput
from tenure.playbook.apply import apply
from tenure.playbook.delta import Delta
from tenure.playbook.exchange import read_exchange, unread_lines, write_exchange
from tenure.playbook.lessons import TALLY_NAMES, Evidence, Tallies
from tenure.playbook.observations import NO_OBSERVATIONS, Observations, observations_from_json, observations_to_json
from tenure.playbook.records import Admission, Claim, Member, Place, Record, Register, Stamp
from tenure.playbook.state import Playbook
from tenure.playbook.wellformed import storable

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
    inner = f"\n{records}\n" if records else ""
    numbers = observations_to_json(playbook.observations)
    return f'{{"tenure":"{FORMAT}","deltas":{held},"records":[{inner}]{numbers}}}\n'


def loads(text: str) -> Playbook:
    """The playbook that a text made by `dumps` holds; the form is told from the text.

    An exchange text becomes one delta, with an id below every ULID, so that whatever is applied
    afterwards is later. Playbooks of other tools are read by `foreign.read_foreign`.

    Raises:
        UnreadableInput: the text is neither form, with the place where reading stopped.
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _from_exchange(text)
    try:
        held = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as exc:
        raise UnreadableInput(f"This is not a playbook: {exc}. Playbooks are written by: tenure export --form json") from exc
    if not isinstance(held, dict) or held.get("tenure") != FORMAT:
        raise UnreadableInput(f"This JSON is not a playbook of format {FORMAT}. To read other forms use: tenure import FILE")
    try:
        numbers = observations_from_json(held)
        records = (_checked(record_from_json(entry)) for entry in held["records"])
        playbook = assemble(records, _checked_deltas(held["deltas"]), numbers)
        _ = playbook.every_lesson, playbook.aggregates
    except (KeyError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as exc:
        raise UnreadableInput(f"This playbook is damaged: {type(exc).__name__}: {exc}") from exc
    return playbook


def _from_exchange(text: str) -> Playbook:
    operations = read_exchange(text)
    unread = unread_lines(text)
    if unread and not operations:
        raise UnreadableInput(
            f"This is not a playbook: line {unread[0][0]} is {unread[0][1][:80]!r}. To read other forms use: tenure import FILE"
        )
    # The id follows from the text, so that no id derived from an earlier reading comes again for another lesson.
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    applied = apply(Playbook(), Delta(f"0-{digest}", operations, author="import"))
    lost = next((receipt for receipt in applied.receipts if receipt.status == "skipped"), None)
    if lost is not None:
        raise UnreadableInput(
            f"This playbook is damaged: lesson '{lost.id}': {lost.reason}. To read what is sound in it use: tenure import FILE"
        )
    return applied.playbook


def assemble(records: Iterable[Record], deltas: Mapping[str, str], observations: Observations = NO_OBSERVATIONS) -> Playbook:
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
        observations=observations,
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


def _checked(record: Record) -> Record:
    """The record, if its fields have the types they must have.

    Raises:
        TypeError: one has not.
    """
    texts: list[object] = [record.key]
    numbers: list[object] = [getattr(record.tallies, name) for name in TALLY_NAMES]
    admission = record.admission
    if admission is not None:
        texts += [getattr(admission, name) for name in ("delta", "section", "digest")]
        texts += [getattr(admission, name) for name in _ADMISSION_DEFAULTS if name != "tool_order"]
        texts += admission.tool_order
    for claim in record.claims:
        texts += claim
    for name, register in record.registers.items():
        texts += [register.stamp.delta, register.at]
        numbers.append(register.stamp.rank)
        if name in ("proven", "pinned"):
            numbers.append(int(register.value is True))
        elif not (name == "pointer" and register.value is None):
            texts.append(register.value)
    for place in record.evidence:
        texts += [place.delta, place.evidence.run, place.evidence.role]
        numbers.append(place.evidence.step)
    wrong = [value for value in texts if not isinstance(value, str) or not storable(value)]
    wrong += [value for value in numbers if type(value) is not int]
    if wrong:
        raise TypeError(f"record '{record.key}' holds {wrong[0]!r} where that cannot be")
    if admission is None and not record.claims:
        raise TypeError(f"record '{record.key}' says nothing of how it came to be")
    return record


def _checked_deltas(deltas: object) -> Mapping[str, str]:
    if not isinstance(deltas, dict) or not all(isinstance(key, str) for key in deltas.values()):
        raise TypeError("its list of deltas is not ids with their keys")
    return deltas


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
