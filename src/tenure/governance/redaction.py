"""Takes secrets and personal data out of texts, values, runs and operations.

Applied at every write, at recall and at export. What goes is replaced by a mark that names its kind,
`[redacted:jwt]`, and the rest of the line stays. A second pass changes nothing. Texts without a hit come
back as the same object, so that callers can tell by identity that nothing was stored away.

The rules: `token_shapes`, `private_keys` and `address_secrets` (known by their own shape), `named_secrets` (known
by the name beside them) and `personal_data` (cards, accounts, mail addresses, phone numbers).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from tenure.governance.address_secrets import find_driver_passwords, find_url_secrets
from tenure.governance.command_secrets import find_on_command_lines
from tenure.governance.named_secrets import find_named
from tenure.governance.personal_data import find_emails, find_numbers, find_phones
from tenure.governance.private_keys import find_private_keys
from tenure.governance.searching import Span, ascii_image, with_line_ends
from tenure.governance.second_factors import find_second_factors
from tenure.governance.secret_fields import field_kind, is_secret
from tenure.governance.table_secrets import find_in_tables
from tenure.governance.token_shapes import find_tokens
from tenure.playbook.aggregates import exact
from tenure.playbook.delta import OPERATION_NAMES, Operation
from tenure.playbook.run import Origin, Run, Step

_NOTHING: Mapping[str, int] = MappingProxyType({})
_PASSES = 6
"""One pass can lay open what the next one finds, as a number that a token stood beside; two do nearly always."""

_SHORTEST = 4
_OF_NUMBERS = frozenset({"password", "card-code", "one-time-code", "pin"})
"""Kinds of which a number can be one."""

_ESCAPE = re.compile(r"[nrtbf](?=.)|u[0-9A-Fa-f]{4}", re.DOTALL)
_OperationT = TypeVar("_OperationT", bound=Operation)
_WholeT = TypeVar("_WholeT")
_Cleaner = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets.

    Attributes:
        text: with `[redacted:KIND]` for each; the very object that came in, if there was none.
        counts: how many of each kind were taken out.
    """

    text: str
    counts: Mapping[str, int] = field(default_factory=lambda: _NOTHING)


def mark(kind: str) -> str:
    """What stands in place of a secret of this kind."""
    return f"[redacted:{kind}]"


def redact(text: str) -> Redacted:
    """A text without keys, tokens, passwords, cards, mail addresses and phone numbers.

    Takes time in proportion to the length of the text, whatever it holds. Lone surrogates pass unharmed.
    """
    counts: dict[str, int] = {}
    for _ in range(_PASSES):
        spans = _merge(_find(text)) or _merge(_find_more(text))
        if not spans:
            break
        pieces: list[str] = []
        place = 0
        for start, end, kind in spans:
            pieces += (text[place:start], mark(kind))
            counts[kind] = counts.get(kind, 0) + 1
            place = end
        text = "".join((*pieces, text[place:]))
    return Redacted(text, counts) if counts else Redacted(text)


@lru_cache(maxsize=4_096)
def redact_excerpt(text: str) -> str:
    """`redact` of a short text that is shown again and again, such as a step of a case; remembered."""
    return redact(text).text


_finders: list[Callable[[str], Iterable[Span]]] = []


def add_finder(finder: Callable[[str], Iterable[Span]]) -> None:
    """Have every redaction in this process look a second time, at what the rules here leave.

    Called once, before texts are read, by whoever puts the engine together: so no place that redacts can forget it, and
    this package needs no library. Adding the same finder again changes nothing.

    Args:
        finder: gives start, end and kind of each secret it knows in a text; it must be quick where there is none.
    """
    if finder not in _finders:
        _finders.append(finder)
        redact_excerpt.cache_clear()


def _find_more(text: str) -> list[tuple[int, int, int, str]]:
    spans = [span for finder in _finders for span in finder(text)]
    return [(start, end, rank, kind) for rank, (start, end, kind) in enumerate(spans)]


def _find(text: str) -> list[tuple[int, int, int, str]]:
    """Places to redact as start, end, rank of the rule, kind."""
    if len(text) < _SHORTEST:
        return []
    image = ascii_image(text)
    lower = image.lower()
    lines = with_line_ends(text)
    spans = [
        *find_private_keys(text),
        *find_url_secrets(text),
        *find_tokens(image),
        *find_named(text, image, lower),
        *find_on_command_lines(lines),
        *find_in_tables(text, lower),
        *find_second_factors(lines, lower),
        *find_numbers(image),
        *find_emails(text),
        *find_driver_passwords(text),
        *find_phones(text, image, lower),
    ]
    return [(_behind_escape(text, start), end, rank, kind) for rank, (start, end, kind) in enumerate(spans)]


def _behind_escape(text: str, start: int) -> int:
    """The place itself, or behind the escape that it would cut: in `\\nbob@...`, the letter `n` belongs to the line end."""
    if start and text[start - 1] == "\\" and (_ESCAPE.match(text, start)):
        slashes = start - len(text[max(0, start - 8) : start].rstrip("\\")) - max(0, start - 8)
        if slashes % 2:
            return start + (5 if text[start] == "u" else 1)
    return start


def _merge(found: list[tuple[int, int, int, str]]) -> list[Span]:
    """Places in order, those that overlap as one, under the kind of the rule that came first."""
    merged: list[tuple[int, int, int, str]] = []
    for start, end, rank, kind in sorted(found):
        if merged and start < merged[-1][1]:
            first = merged[-1]
            named = min((first[2], first[3]), (rank, kind))
            merged[-1] = (first[0], max(first[1], end), *named)
        else:
            merged.append((start, end, rank, kind))
    return [(start, end, kind) for start, end, _, kind in merged]


_BETWEEN = "\n\x00\n"
"""Stands between texts that are searched as one. No rule reaches over it; `redact_all` checks that."""


def redact_all(texts: Sequence[str]) -> list[str]:
    """Each of several texts as `redact` gives it, in a small part of the time for many short ones."""
    clean = list(texts)
    joined = _BETWEEN.join(texts)
    hit = _texts_with(_merge(_find(joined)), texts)
    for number in hit:
        clean[number] = redact(texts[number]).text
    if _finders:
        for number in _texts_with(_merge(_find_more(_BETWEEN.join(clean) if hit else joined)), clean):
            clean[number] = redact(clean[number]).text
    return clean


def _texts_with(spans: Sequence[Span], texts: Sequence[str]) -> set[int]:
    """Which of several joined texts hold one of these places."""
    hit: set[int] = set()
    if not spans:
        return hit
    starts: list[int] = []
    place = 0
    for text in texts:
        starts.append(place)
        place += len(text) + len(_BETWEEN)
    for start, end, _ in spans:
        hit.update(range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)))
    return hit


def redact_value(value: Any) -> Any:
    """A JSON-like value (objects, lists, texts, numbers) without secrets.

    Names of fields stay, unless a name itself is a secret (a mail address that keys an object). The value
    of a field whose name speaks of a secret goes if it looks like one, also a number or one in
    `{"name": "DB_PASSWORD", "value": "..."}`. Returns the same object if nothing was found; else lists for
    tuples. Depth is not bounded.
    """
    return _clean(value, _copy)


def _clean(whole: _WholeT, through: Callable[[_WholeT, _Cleaner], _WholeT]) -> _WholeT:
    """A value with all its texts redacted as one batch: a first walk collects them, a second puts them back.

    Args:
        whole: the value.
        through: passes each text of it through a function, always in the same order, and returns the value
            itself if nothing changed by that.
    """
    texts: list[str] = []

    def collect(text: str) -> str:
        texts.append(text)
        return text

    kept = through(whole, collect)
    clean = redact_all(texts)
    if kept is whole and all(new is old for new, old in zip(clean, texts, strict=True)):
        return whole
    given = iter(clean)
    return through(whole, lambda _: next(given))


def _copy(value: Any, clean: _Cleaner) -> Any:
    """A JSON-like value with each text, names of fields too, passed through `clean`."""
    root: list[Any] = [None]
    changed = False
    pending: list[tuple[Any, str, Any, Any]] = [(value, "", root, 0)]
    while pending:
        item, kind, parent, slot = pending.pop()
        if isinstance(item, str):
            kept = clean(item)
            whole = kind not in ("", "authorization", "cookie")  # of these two, the text rules keep scheme and names
            if (whole or (kind and kept is item)) and is_secret(item, kind, data=True):
                kept = mark(kind)
            changed = changed or kept is not item
            parent[slot] = kept
        elif isinstance(item, Mapping):
            copy: dict[Any, Any] = {}
            parent[slot] = copy
            named = _named_value_kind(item)
            for key, inner in item.items():
                name = clean(key) if isinstance(key, str) else key
                changed = changed or name is not key
                while name in copy:
                    name = f"{name}#"
                copy[name] = None  # holds the place, so that fields keep their order
                sort = field_kind(key) if isinstance(key, str) else ""
                pending.append((inner, sort or ((named or kind) if key == "value" else ""), copy, name))
        elif isinstance(item, list | tuple):
            rows: list[Any] = [None] * len(item)
            parent[slot] = rows
            pending.extend((inner, kind, rows, place) for place, inner in enumerate(item))
        elif kind in _OF_NUMBERS and isinstance(item, int) and not isinstance(item, bool) and is_secret(str(item), kind):
            parent[slot] = mark(kind)
            changed = True
        else:
            parent[slot] = item
    return root[0] if changed else value


def _named_value_kind(item: Mapping[Any, Any]) -> str:
    """The kind of secret that `value` is, in an object that says name and value apart."""
    if "value" not in item:
        return ""
    name = item.get("name", item.get("key", item.get("keyName")))
    return field_kind(name) if isinstance(name, str) else ""


def redact_step(step: Step) -> Step:
    """A step without secrets in its content, error, arguments and origin. The same object if there were none."""
    return _clean(step, _through_step)


def redact_run(run: Run) -> Run:
    """A run without secrets in its task, steps, outcome and origin. The same object if there were none.

    A task's key that holds one becomes empty, which means "cannot be matched": two different keys must not become equal.
    """
    return _clean(run, _through_run)


def _through_step(step: Step, clean: _Cleaner) -> Step:
    content, error = clean(step.content), clean(step.error)
    arguments = _copy(step.arguments, clean) if step.arguments else step.arguments
    origin = _through_origin(step.origin, clean) if step.origin is not None else None
    if content is step.content and error is step.error and arguments is step.arguments and origin is step.origin:
        return step
    return replace(step, content=content, error=error, arguments=arguments, origin=origin)


def _through_run(run: Run, clean: _Cleaner) -> Run:
    task, outcome = run.task, run.outcome
    text, kind, key = clean(task.text), clean(task.kind), clean(task.key)
    if text is not task.text or kind is not task.kind or key is not task.key:
        task = replace(task, text=text, kind=kind, key=key if key is task.key else "")
    steps = tuple(_through_step(step, clean) for step in run.steps)
    if all(new is old for new, old in zip(steps, run.steps, strict=True)):
        steps = run.steps
    feedback, expected = clean(outcome.feedback), clean(outcome.expected)
    if feedback is not outcome.feedback or expected is not outcome.expected:
        outcome = replace(outcome, feedback=feedback, expected=expected)
    origin = _through_origin(run.origin, clean)
    if task is run.task and steps is run.steps and outcome is run.outcome and origin is run.origin:
        return run
    return replace(run, task=task, steps=steps, outcome=outcome, origin=origin)


def _through_origin(origin: Origin, clean: _Cleaner) -> Origin:
    document = clean(origin.document)
    return origin if document is origin.document else replace(origin, document=document)


_KEPT_FIELDS = frozenset({"id", "ids", "into", "kind", "status", "verdict", "author"})
"""Fields of operations that are no free text: ids, fixed words, and who proposed it, which the ledger must know."""

_FREE_FIELDS: Mapping[type, tuple[str, ...]] = {
    kind: tuple(each.name for each in fields(kind) if each.name not in _KEPT_FIELDS) for kind in OPERATION_NAMES
}


def redact_operation(operation: _OperationT) -> _OperationT:
    """An operation without secrets in its texts. The same object if there were none."""
    return _clean(operation, _through_operation)


def redact_operations(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """Each of several operations as `redact_operation` gives it, their texts searched as one batch."""
    return _clean(tuple(operations), lambda whole, clean: tuple(_through_operation(one, clean) for one in whole))


def _is_number(held: object) -> bool:
    """Whether a value is an exact number: one of many digits can look like a telephone, and must not change."""
    try:
        return exact(held) == held
    except ValueError:
        return False


def _through_operation(operation: _OperationT, clean: _Cleaner) -> _OperationT:
    changes: dict[str, Any] = {}
    for name in _FREE_FIELDS[type(operation)]:
        held = getattr(operation, name)
        if name == "value" and _is_number(held):
            continue
        if isinstance(held, str):
            kept: str | tuple[str, ...] = clean(held)
        elif isinstance(held, tuple) and held and all(isinstance(part, str) for part in held):
            parts = tuple(clean(part) for part in held)
            kept = held if all(new is old for new, old in zip(parts, held, strict=True)) else parts
        else:
            continue
        if kept is not held:
            changes[name] = kept
    return replace(operation, **changes) if changes else operation
