"""What may leave the process in a span, a metric or a line of the log: names that are listed here, with numbers, ids and fixed words.

A text of a lesson, a task or a run has no name here, so it cannot get out by any of them. An id that could be a text is told by its digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Literal

Value = str | int | float | bool
Form = Literal["number", "id", "scope", "word"]

FORMS: Mapping[str, Form] = {
    "added": "number",
    "attempt": "number",
    "bytes": "number",
    "cached_tokens": "number",
    "cases": "number",
    "count": "number",
    "deltas": "number",
    "depth": "number",
    "duration_s": "number",
    "evictions": "number",
    "held": "number",
    "input_tokens": "number",
    "lessons": "number",
    "merged": "number",
    "merges": "number",
    "output_tokens": "number",
    "port": "number",
    "promoted": "number",
    "refused": "number",
    "retired": "number",
    "revised": "number",
    "runs": "number",
    "skipped": "number",
    "status": "number",
    "steps": "number",
    "tokens": "number",
    "version": "number",
    "delta": "id",
    "job": "id",
    "key": "id",
    "lesson": "id",
    "request": "id",
    "run": "id",
    "worker": "id",
    "scope": "scope",
    "tenant": "scope",
    "by": "word",
    "error": "word",
    "method": "word",
    "model": "word",
    "outcome": "word",
    "provider": "word",
    "purpose": "word",
    "raised_at": "word",
    "queue": "word",
    "reason": "word",
    "role": "word",
    "route": "word",
}
"""How each named field is told: a number as it is, an id by `identifier`, a scope by the digest of its tenant, a word by `word`."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,79}")
_WORD = re.compile(r"[A-Za-z0-9_./:{}+@-]{1,120}")


def fields(given: Mapping[str, object]) -> dict[str, Value]:
    """The fields that may be told, as they may be told; others are left out."""
    told: dict[str, Value] = {}
    for name, value in given.items():
        form = FORMS.get(name)
        if form is None or value is None:
            continue
        if form == "number":
            if isinstance(value, int | float):
                told[name] = value
        elif form == "scope":
            told["tenant"] = tenant_digest(str(value))
        elif form == "id":
            told[name] = identifier(str(value))
        else:
            told[name] = word(str(value))
    return told


def identifier(text: str) -> str:
    """An id as it is if it is made like one; else its digest, for users may name their runs as they like."""
    return text if _ID.fullmatch(text) else _digest(text)


def word(text: str) -> str:
    """A word of the program's, or a model's name; what is no such word is told by its digest."""
    return text if _WORD.fullmatch(text) else _digest(text)


def tenant_digest(scope: str) -> str:
    """Twelve hexadecimal characters for the tenant of a scope: the same each time, so that lines can be put together, and no name."""
    return hashlib.sha256(scope.partition("/")[0].encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
