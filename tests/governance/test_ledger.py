"""The hash chain: what was sealed comes back, what was forgotten is gone, and any change is found where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.governance.ledger import FORGOTTEN, FREE_TEXTS, Record, Sealed, canonical, chain, digest_of, seal, unseal, verify
from tests.strategies import any_texts

_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), any_texts(3))
_NAMES = st.one_of(st.sampled_from(["t", "v"]), any_texts(1))
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(_NAMES, inner, max_size=2)), max_leaves=4
)
_OPERATIONS = st.dictionaries(
    st.sampled_from(["op", "id", "ids", "section", "text", "applies_when", "avoid", "about", "reason", "kind", "evidence", "helpful"]),
    _VALUES,
    max_size=6,
)
_DELTAS = st.fixed_dictionaries(
    {"id": any_texts(1), "operations": st.lists(_OPERATIONS, max_size=4)},
    optional={
        "key": st.none() | any_texts(1),
        "scope": any_texts(1),
        "author": any_texts(1),
        "cause": any_texts(1),
        "at": any_texts(1),
        "note": any_texts(2),
    },
)


def _salts(seed: str = "salt") -> Callable[[int], str]:
    return lambda number: f"{seed}-{number:027d}"


def _texts(sealed: Sealed) -> dict[str, str]:
    return {one.digest: one.text for one in sealed.texts}


@given(_DELTAS)
def test_what_was_sealed_comes_back(delta: dict[str, Any]) -> None:
    sealed = seal(delta, _salts())
    assert unseal(sealed.payload, _texts(sealed)) == delta
    assert all(one.genuine for one in sealed.texts)


@given(_DELTAS)
def test_sealing_is_a_function_of_delta_and_salts(delta: dict[str, Any]) -> None:
    assert seal(delta, _salts()) == seal(dict(reversed(delta.items())), _salts()) or any(
        isinstance(delta.get(name), str) for name in FREE_TEXTS
    )
    assert seal(delta, _salts()).payload == canonical(json.loads(seal(delta, _salts()).payload))


@given(st.text(min_size=12), st.sampled_from(sorted(FREE_TEXTS - {"note"})))
def test_no_free_text_is_left_in_a_payload(text: str, field: str) -> None:
    secret = f"secret {text}"
    sealed = seal({"id": "d", "note": secret, "operations": [{"op": "ADD", field: secret}]}, _salts())
    assert json.dumps(secret)[1:-1] not in sealed.payload
    assert secret not in sealed.payload
    assert [one.text for one in sealed.texts] == [secret, secret]
    assert len({one.digest for one in sealed.texts}) == 2


def test_a_payload_is_ascii_on_one_line() -> None:
    payload = seal({"id": "d\n\ud800\u2028", "operations": []}, _salts()).payload
    assert payload.isascii()
    assert "\n" not in payload


@given(_DELTAS, st.data())
def test_a_forgotten_text_is_told_as_forgotten_and_the_rest_stays(delta: dict[str, Any], data: st.DataObject) -> None:
    sealed = seal(delta, _salts())
    gone = data.draw(st.sets(st.sampled_from([one.digest for one in sealed.texts]))) if sealed.texts else set()
    left = {digest: text for digest, text in _texts(sealed).items() if digest not in gone}
    told = seal(unseal(sealed.payload, left), _salts("other"))
    assert [one.text for one in told.texts] == [FORGOTTEN if one.digest in gone else one.text for one in sealed.texts]


def test_a_digest_does_not_tell_whether_a_guess_is_right() -> None:
    assert digest_of("0" * 32, "yes") != digest_of("1" * 32, "yes")


@pytest.mark.parametrize("salt", ["", "short", "x" * 15])
def test_a_salt_that_can_be_guessed_is_an_error(salt: str) -> None:
    with pytest.raises(ValueError, match="can be guessed"):
        seal({"id": "d", "note": "x", "operations": []}, lambda _: salt)


def test_what_json_has_no_form_for_is_an_error() -> None:
    with pytest.raises(ValueError, match="JSON"):
        seal({"id": float("nan"), "operations": []}, _salts())
    with pytest.raises(ValueError, match="object"):
        unseal("[]", {})


# ---- the chain --------------------------------------------------------------------------------------------


def _chain(count: int, seed: str = "") -> list[Record]:
    records: list[Record] = []
    previous = ""
    for seq in range(1, count + 1):
        payload = seal({"id": f"{seed}{seq}", "operations": [{"op": "ADD", "text": f"lesson {seq}"}]}, _salts()).payload
        digest = chain(previous, payload)
        records.append(Record(seq=seq, previous=previous, payload=payload, digest=digest))
        previous = digest
    return records


def _head(records: list[Record]) -> tuple[int, str]:
    return len(records), records[-1].digest if records else ""


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_an_untouched_chain_verifies(count: int) -> None:
    records = _chain(count)
    verdict = verify(iter(records), _head(records))
    assert (verdict.ok, verdict.broken_at, verdict.reason, verdict.checked) == (True, None, "", count)


def test_digests_are_what_other_programs_compute() -> None:
    """`printf '\\n{}' | sha256sum` and `printf abc | sha256sum`."""
    assert chain("", "{}") == "a062dd4952b935e430d409c4a5e5cd760e8781e3200d5c7e12a232dddba8a528"
    assert digest_of("ab", "c") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert chain("", "{}") != chain("{}", "")


_POSITIONS = st.integers(min_value=0, max_value=5)


@given(_POSITIONS, st.sampled_from(["seq", "previous", "payload", "digest"]), st.data())
def test_any_change_in_any_record_is_found_where_it_is(place: int, field: str, data: st.DataObject) -> None:
    records = _chain(6)
    held = getattr(records[place], field)
    if field == "seq":
        changed: Any = data.draw(st.integers().filter(lambda number: number != held))
    else:
        at = data.draw(st.integers(min_value=0, max_value=len(held)))
        changed = held[:at] + data.draw(st.sampled_from("0aZ{")) + held[at + 1 :]
        if changed == held:
            changed = held + "0"
    records[place] = replace(records[place], **{field: changed})
    verdict = verify(records, (6, _chain(6)[-1].digest))
    assert not verdict.ok
    assert verdict.broken_at is not None
    assert verdict.broken_at == place + 1
    assert verdict.reason


@given(_POSITIONS)
def test_a_rewritten_record_breaks_the_link_after_it(place: int) -> None:
    records = _chain(6)
    payload = records[place].payload.replace("ADD", "PIN")
    records[place] = replace(records[place], payload=payload, digest=chain(records[place].previous, payload))
    verdict = verify(records, _head(_chain(6)))
    assert not verdict.ok
    assert verdict.broken_at == min(place + 2, 6)


@given(_POSITIONS)
def test_a_removed_record_is_found(place: int) -> None:
    records = _chain(6)
    head = _head(records)
    del records[place]
    verdict = verify(records, head)
    assert (verdict.ok, verdict.broken_at) == (False, place + 1)
    assert "missing" in verdict.reason


@given(_POSITIONS)
def test_a_removed_record_is_found_though_the_rest_is_renumbered(place: int) -> None:
    records = _chain(6)
    head = _head(records)
    del records[place]
    verdict = verify([replace(record, seq=number) for number, record in enumerate(records, 1)], head)
    assert not verdict.ok
    assert verdict.broken_at == place + 1


@given(_POSITIONS, _POSITIONS)
def test_reordered_records_are_found(first: int, second: int) -> None:
    records = _chain(6)
    records[first], records[second] = records[second], records[first]
    assert verify(records, _head(_chain(6))).ok == (first == second)


@given(_POSITIONS)
def test_a_repeated_record_is_found(place: int) -> None:
    records = _chain(6)
    records.insert(place, records[place])
    assert not verify(records, _head(_chain(6))).ok


@pytest.mark.parametrize("kept", [0, 1, 5])
def test_a_cut_tail_is_found_by_the_head_row(kept: int) -> None:
    records = _chain(6)
    verdict = verify(records[:kept], _head(records))
    assert (verdict.ok, verdict.broken_at, verdict.checked) == (False, kept + 1, kept)
    assert "the head row counts 6" in verdict.reason


def test_records_beyond_the_head_row_are_found() -> None:
    records = _chain(6)
    verdict = verify(records, _head(records[:4]))
    assert (verdict.ok, verdict.broken_at) == (False, 5)


def test_another_chain_of_the_same_length_is_found() -> None:
    verdict = verify(_chain(6, "other"), _head(_chain(6)))
    assert (verdict.ok, verdict.broken_at) == (False, 6)


def test_forgetting_texts_keeps_the_chain() -> None:
    records = _chain(3)
    assert verify(records, _head(records)).ok
    assert unseal(records[1].payload, {})["operations"][0]["text"] == FORGOTTEN
    assert verify(records, _head(records)).ok
