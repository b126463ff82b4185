"""A ledger as lines of text that two branches of a repository can put together: a line a link, and no line depends on another's place.

    {"digest":…,"ledger":1,"payload":{…},"previous":…,"seq":7,"texts":{DIGEST:[SALT,TEXT],…},"writer":…}

A line is canonical JSON, so the same link is the same line wherever it is written. `writer` is the installation that the
chain began with; where a copy of its database went on by itself, two links follow the same one, and each names it as `previous`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tenure.governance.ledger import BRANCH, SealedText, canonical, chain, payload_digest, unseal
from tenure.governance.ledger_check import sealed_texts
from tenure.playbook.delta import Delta
from tenure.playbook.delta_json import delta_from_json

FORM = 1
"""The form of the lines that this code writes, and the newest that it reads."""

_FIELDS = frozenset({"digest", "ledger", "payload", "previous", "seq", "texts", "writer"})
_DIGITS = frozenset("0123456789abcdef")
_ID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_LONGEST = {"author": 200, "key": 1_000}
_CONTROL = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link of a chain with the texts beside it.

    Attributes:
        writer: the installation that the chain began with.
        seq: number in the chain, from 1.
        previous: digest of the link before it; empty for the first.
        digest: of this link, as it was first written.
        payload: canonical JSON; another than the digest is of, where something was forgotten and a tombstone vouches for it.
        texts: those that the payload names, sorted by digest.
    """

    writer: str
    seq: int
    previous: str
    digest: str
    payload: str
    texts: tuple[SealedText, ...] = ()

    @property
    def genuine(self) -> bool:
        """Whether the payload is the one that was chained."""
        return chain(self.previous, self.payload) == self.digest

    @property
    def sealed(self) -> str:
        """Digest of the payload, as a tombstone names it."""
        return payload_digest(self.payload)

    @property
    def held(self) -> Mapping[str, Any]:
        """The payload as an object."""
        found: Mapping[str, Any] = json.loads(self.payload)
        return found

    @property
    def delta(self) -> Delta:
        """The delta that it holds.

        Raises:
            ValueError: an operation in it cannot be read.
        """
        return delta_from_json(unseal(self.payload, {one.digest: one.text for one in self.texts}))


def line_of(link: Link) -> str:
    """A link as a line, without its end."""
    held = json.loads(link.payload)
    return canonical(
        {
            "ledger": FORM,
            "writer": link.writer,
            "seq": link.seq,
            "previous": link.previous,
            "digest": link.digest,
            # What a much older version wrote in another form stays as it is: the chain is of its bytes.
            "payload": held if canonical(held) == link.payload else link.payload,
            "texts": {one.digest: [one.salt, one.text] for one in link.texts},
        }
    )


def is_ledger_line(line: str) -> bool:
    """Whether a line looks like one of a shared ledger."""
    if not line.lstrip().startswith("{"):
        return False
    try:
        held = json.loads(line)
    except ValueError:
        return False
    return isinstance(held, dict) and "ledger" in held and "digest" in held


class BadLine(ValueError):
    """A line that is no link, or not the one that was written; the message says what is wrong with it."""


def read_line(line: str) -> Link:
    """The link that a line holds. Whether the payload is the one that was chained is for the caller to ask (`Link.genuine`).

    Raises:
        BadLine: it cannot be read, or something in it was changed.
    """
    link = _parsed(line)
    try:
        link.delta  # noqa: B018  # what cannot be read back must not be stored
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise BadLine(f"its delta cannot be read: {exc}") from exc
    wanted = dict(sealed_texts(link.held))
    for one in link.texts:
        field = wanted.pop(one.digest, None)
        if field is None:
            raise BadLine("a text stands in it that its delta does not name: it was put in, or is another delta's")
        if not one.genuine:
            raise BadLine(f"its {field} was changed, or the salt beside it: the chain holds another digest")
    if wanted:
        raise BadLine(f"its {next(iter(wanted.values()))} was taken out, and no tombstone says that it was forgotten")
    return link


def _parsed(line: str) -> Link:
    if line.startswith(_MARKERS):
        raise BadLine(
            "it is a conflict marker of a merge. Take both sides: delete the markers, and keep every other line; "
            "or let Git do so: *.ledger.jsonl merge=union in .gitattributes"
        )
    try:
        held = json.loads(line)
    except ValueError as exc:
        whole = line.rstrip().endswith("}")
        raise BadLine("it is no JSON" if whole else "it is cut off in the middle: half of it is missing") from exc
    except RecursionError as exc:
        raise BadLine("it is nested too deeply") from exc
    if not isinstance(held, dict) or "ledger" not in held:
        raise BadLine("it is no link of a ledger")
    if held["ledger"] != FORM:
        raise BadLine(f"it has form {str(held['ledger'])[:20]} of ledger lines, and this Tenure reads form {FORM}: install a newer one")
    odd = sorted(set(held) ^ _FIELDS)
    if odd:
        raise BadLine(f"it {'lacks' if odd[0] in _FIELDS else 'has'} the field '{odd[0][:40]}', which {_told(odd[0])}")
    writer, seq, previous, digest = held["writer"], held["seq"], held["previous"], held["digest"]
    if not isinstance(writer, str) or not writer.isascii() or not writer.isalnum() or len(writer) > 64 or BRANCH in writer:
        raise BadLine(f"its writer {str(writer)[:40]!r} is no id of an installation")
    if isinstance(seq, bool) or not isinstance(seq, int) or not 1 <= seq < 1 << 53:
        raise BadLine(f"its number {str(seq)[:40]!r} is none from 1 on")
    if not _is_digest(digest) or not (previous == "" or _is_digest(previous)):
        raise BadLine("its digest, or that of the link before it, is no digest: 64 hexadecimal digits")
    if (seq == 1) != (previous == ""):
        raise BadLine(f"it is link {seq}, and {'names a link before it' if previous else 'names none before it'}: its number was changed")
    payload = held["payload"]
    try:
        payload = payload if isinstance(payload, str) else canonical(payload)
        inner = json.loads(payload)
    except (ValueError, RecursionError) as exc:
        raise BadLine("its payload has no JSON form") from exc
    if not isinstance(inner, dict) or not isinstance(inner.get("id"), str) or not inner["id"]:
        raise BadLine("its payload is no delta: it has no id")
    if not isinstance(inner.get("key"), str | None) or not isinstance(inner.get("operations"), list):
        raise BadLine("its payload is no delta: its key or its operations are of another kind")
    _check_names(inner)
    if not _are_amendments(inner.get("amends", [])):
        raise BadLine("its payload is no tombstone: what it says of other links cannot be read")
    return Link(writer=writer, seq=seq, previous=previous, digest=digest, payload=payload, texts=_texts(held["texts"]))


def _texts(held: object) -> tuple[SealedText, ...]:
    found: list[SealedText] = []
    for digest, pair in held.items() if isinstance(held, dict) else ():
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(one, str) for one in pair):
            raise BadLine("one of its texts is no pair of salt and text")
        found.append(SealedText(digest=digest, salt=pair[0], text=pair[1]))
    if not isinstance(held, dict):
        raise BadLine("its texts are no object of digest, salt and text")
    return tuple(sorted(found, key=lambda one: one.digest))


def is_id(delta: str) -> bool:
    """Whether the id of a delta is one that a line may have."""
    return _ID.fullmatch(delta) is not None


def made_at(delta: str) -> int:
    """When the id of a delta was made, in milliseconds since 1970; for the ids that lines may have (ULIDs)."""
    return sum("0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(sign) << 5 * place for place, sign in enumerate(reversed(delta[:10])))


def _check_names(inner: Mapping[str, Any]) -> None:
    """That id, author and key of a delta are what can stand in a ledger, in a table and in the order of all ids."""
    if not is_id(inner["id"]):
        raise BadLine(f"the id {_named(inner['id'])} of its delta is no ULID: 26 digits and capital letters, as Tenure gives them")
    for name, most in _LONGEST.items():
        said = inner.get(name) or ""
        # A form from before texts were sealed has the author as it is; later ones name its digest.
        if not isinstance(said, str):
            continue
        if len(said) > most:
            raise BadLine(f"the {name} {_named(said)} of its delta has {len(said):,} characters, and may have {most:,}")
        if any(unicodedata.category(sign) in _CONTROL for sign in said):
            raise BadLine(f"the {name} {_named(said)} of its delta holds characters that nobody sees")


def _named(value: str) -> str:
    return ascii(value if len(value) <= 40 else value[:40] + "...")


def _are_amendments(held: object) -> bool:
    return isinstance(held, list) and all(
        isinstance(one, list)
        and len(one) in (3, 4)
        and type(one[1]) is int
        and 0 < one[1] < 1 << 53
        and all(isinstance(part, str) for place, part in enumerate(one) if place != 1)
        for one in held
    )


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and _DIGITS.issuperset(value)


def _told(field: str) -> str:
    return "every link has: the line was changed" if field in _FIELDS else "no link has: the line was changed"
