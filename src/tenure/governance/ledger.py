"""The hash chain of admitted deltas, with texts that can be forgotten.

A ledger record is a delta whose free texts are replaced by salted digests. The texts lie beside it in rows
of their own; forgetting one deletes its row with the salt, and the chain still verifies, because it never
held the text. Without its salt a digest says nothing about a text, not even whether a guess is right.

What stands in the payload itself (ids, names of origins and authors) cannot be taken out of it. A payload that has to lose
some of that is written anew, its link keeps the digest it had, and a later link, a *tombstone*, holds the digest of the new
payload under `amends`: so whoever changes it by hand is still found out. A payload begins with a salt of its own, which
the new one does not hold: without it the digest does not say whether a guess of what was there is right.

Pure functions: salts come in from outside. The store appends and reads; who may append is its affair.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

FREE_TEXTS = frozenset({"text", "applies_when", "avoid", "about", "reason", "note", "section"})
"""Fields of a delta and of its operations that hold what somebody wrote. All others are ids, fixed words and numbers."""

OPERATION_TEXTS = FREE_TEXTS | {"name", "key", "unit", "value", "mark", "revision"}
"""The same for operations alone: of an observation also what it is about and its value, of a revision what it quotes.

A delta has a `key` of its own, an id."""

FORGOTTEN = "[forgotten]"
"""What stands where a forgotten text was."""

SALT_LEAST = 16
"""Fewest characters of a salt: 64 bits as hexadecimal digits. Use 32 or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedText:
    """A free text that was taken out of a ledger record.

    Attributes:
        digest: SHA-256 of salt and text, 64 hexadecimal digits; what the record holds instead.
        salt: as it came from outside. Must be deleted together with the text.
        text: verbatim; may hold anything, lone surrogates too.
    """

    digest: str
    salt: str
    text: str

    @property
    def genuine(self) -> bool:
        """Whether the text is the one that was sealed."""
        return digest_of(self.salt, self.text) == self.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A delta as the ledger keeps it.

    Attributes:
        payload: canonical JSON (ASCII, sorted names, no blanks) with `{"t": digest}` in place of each free text.
        texts: what was taken out, in the order in which it stands in the delta.
    """

    payload: str
    texts: tuple[SealedText, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One link of a chain.

    Attributes:
        seq: its number, from 1, without gaps.
        previous: digest of the link before it; empty for the first.
        payload: as sealed.
        digest: `chain(previous, payload)`.
    """

    seq: int
    previous: str
    payload: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What `verify` found.

    Attributes:
        ok: whether every link holds and the chain ends where its head says.
        broken_at: number of the first broken link; none if there is none.
        reason: what is wrong with it, in one sentence; empty if nothing is.
        checked: how many links hold, counted from the first.
    """

    ok: bool
    broken_at: int | None = None
    reason: str = ""
    checked: int = 0


def digest_of(salt: str, text: str) -> str:
    """SHA-256 of salt and text, as 64 hexadecimal digits."""
    return hashlib.sha256((salt + text).encode("utf-8", "surrogatepass")).hexdigest()


def seal(delta: Mapping[str, Any], salt_of: Callable[[int], str]) -> Sealed:
    """Take the free texts out of a delta.

    Args:
        delta: its JSON object, with `operations` as a list of objects.
        salt_of: a fresh random salt for the text of this number, from 0.

    Raises:
        ValueError: a salt is shorter than `SALT_LEAST`, or the delta holds what JSON has no form for.
    """
    texts: list[SealedText] = []

    def sealed(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {"v": dict(value)}  # no text, but alike to what stands for one
        if not isinstance(value, str) or not value:
            return value
        salt = salt_of(len(texts))
        if len(salt) < SALT_LEAST:
            raise ValueError(f"A salt of {len(salt)} characters can be guessed; give at least {SALT_LEAST}.")
        texts.append(SealedText(digest=digest_of(salt, value), salt=salt, text=value))
        return {"t": texts[-1].digest}

    return Sealed(payload=canonical(_through_texts(delta, sealed)), texts=tuple(texts))


def unseal(payload: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """The delta that was sealed, with `FORGOTTEN` for each text that is no longer there.

    Args:
        payload: as `seal` made it.
        texts: texts by digest.

    Raises:
        ValueError: the payload is no JSON object.
    """

    def opened(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return value["v"] if "v" in value else texts.get(value.get("t", ""), FORGOTTEN)

    delta = json.loads(payload)
    if not isinstance(delta, dict):
        raise ValueError("A ledger record must be a JSON object.")
    return _through_texts(delta, opened)


def _through_texts(delta: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    changed = {name: change(value) if name in FREE_TEXTS else value for name, value in delta.items()}
    for part, texts in (("operations", OPERATION_TEXTS), ("decisions", FREE_TEXTS)):
        inner = delta.get(part)
        if isinstance(inner, list | tuple):
            changed[part] = [
                {name: change(value) if name in texts else value for name, value in one.items()} if isinstance(one, Mapping) else one
                for one in inner
            ]
    return changed


def canonical(value: Any) -> str:
    """The one JSON text of a value: ASCII, sorted names, no blanks.

    Raises:
        ValueError: it holds infinities or no-numbers, which JSON has no form for.
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def chain(previous: str, payload: str) -> str:
    """The digest of a link: SHA-256 over the digest before it (empty for the first link), a line end, and its payload."""
    return hashlib.sha256(f"{previous}\n{payload}".encode("utf-8", "surrogatepass")).hexdigest()


NOTHING_AMENDED: Mapping[int, str] = MappingProxyType({})


def payload_digest(payload: str) -> str:
    """SHA-256 of a payload, as a tombstone names it."""
    return hashlib.sha256(payload.encode("utf-8", "surrogatepass")).hexdigest()


def amendments(payloads: Iterable[tuple[str, int, str]]) -> dict[str, dict[int, str]]:
    """What tombstones say of links whose payload was written anew: by digest of the link, or by writer, and number, the payload's digest.

    Args:
        payloads: writer, number and payload of links, in the order of their deltas' ids; those that hold no `amends` may be left
            out. A link can only vouch for others of its writer that came before it, and for those of other writers. Of what
            several say of one link the last counts.
    """
    found: dict[str, dict[int, str]] = {}
    for writer, seq, payload in payloads:
        held = json.loads(payload).get("amends", ()) if "amends" in payload else ()
        for one in held if isinstance(held, list) else ():
            of, number, digest, *link = one
            if origin_of(of) != origin_of(writer) or number < seq:
                # Without the link's own digest, as older ledgers have it, all branches of a writer are meant.
                found.setdefault(link[0] if link else origin_of(of), {})[number] = digest
    return found


def amended_to(amended: Mapping[str, Mapping[int, str]], writer: str, seq: int, digest: str) -> str:
    """The digest of the payload that tombstones give a link; empty if none speaks of it.

    Args:
        amended: see `amendments`.
        writer, seq, digest: of the link.
    """
    return amended.get(digest, {}).get(seq) or amended.get(origin_of(writer), {}).get(seq, "")


BRANCH = "~"
"""Between the id of an installation and what names a branch of its chain, where a copy of its database went on by itself."""


def origin_of(writer: str) -> str:
    """The installation that a chain began with, whichever branch of it this is."""
    return writer.partition(BRANCH)[0]


def verify(records: Iterable[Record], head: tuple[int, str], amended: Mapping[int, str] = NOTHING_AMENDED) -> Verdict:
    """Whether a chain is whole: nothing changed, removed, put in, reordered or cut off at either end.

    Args:
        records: all links of one writer, ordered by number. Read once, so they may be streamed.
        head: how many links there are and the digest of the last (empty for none), as the head row says.
        amended: by number of the link, the digest of the payload that a later link says it has now (see `amendments`).
    """
    last, count = "", 0
    for record in records:
        expected = count + 1
        reason = _fault(record, expected, last, amended.get(record.seq, ""))
        if reason:
            return Verdict(ok=False, broken_at=expected, reason=reason, checked=count)
        last, count = record.digest, expected
    heads, digest = head
    if count < heads:
        missing = f"link {count + 1} is" if heads == count + 1 else f"links {count + 1} to {heads} are"
        return Verdict(ok=False, broken_at=count + 1, reason=f"{missing} missing at the end: the head row counts {heads}", checked=count)
    if count > heads:
        return Verdict(ok=False, broken_at=heads + 1, reason=f"the head row counts {heads}, and {count} links are there", checked=heads)
    if digest != last:
        return Verdict(
            ok=False,
            broken_at=max(count, 1),
            reason=("the head row names another digest than the last link has"),
            checked=max(0, count - 1),
        )
    return Verdict(ok=True, checked=count)


def _fault(record: Record, expected: int, last: str, amended: str) -> str:
    """What is wrong with a link, in one sentence; empty if nothing is."""
    if record.seq > expected:
        missing = f"link {expected} is" if record.seq == expected + 1 else f"links {expected} to {record.seq - 1} are"
        return f"{missing} missing: link {record.seq} follows"
    if record.seq < expected:
        return f"link {record.seq} stands where link {expected} should"
    if record.previous != last:
        return "it does not follow from the link before it: one of the two was changed, put in or moved"
    if record.digest != chain(record.previous, record.payload) and amended != payload_digest(record.payload):
        return "its payload or its digest was changed"
    return ""
