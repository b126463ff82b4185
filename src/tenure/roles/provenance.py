"""Where a value came from, and which read-only tool shows what an error complains about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tenure.playbook.run import Run
from tenure.roles.actions import Action, key_name, words_of
from tenure.roles.differences import error_words, name_words, shown, singular
from tenure.roles.texts import tool_name

_STATE_ERROR = re.compile(
    r"(?i)\b(?:cannot|can't|can not|not allowed|already|only|non|must be|no longer|not eligible|closed|pending|delivered|cancel+ed)\b"
)
_STATE_FIELDS = ("status", "state", "phase")
_ABSENCE_ERROR = re.compile(
    r"(?i)\b(?:not found|no such|unknown|does(?: not|n't) exist|not exist|invalid|unrecogni[sz]ed|no \w+ with|not a valid|undefined)\b"
    r"|不存在|找不到|未找到|见つかりません|見つかりません|없습니다"
)
_ACTIONS_READ = 300  # calls of a run that are searched, the last ones
_FIELD = re.compile(r"[\w-]{1,40}")
_IDENTIFIER = re.compile(r"(?:^|_)(?:ids?|number|name|code|key)$|Id$")
_AMOUNT_ERROR = re.compile(
    r"(?i)\b(?:not enough|insufficient|exceeds?|exceeded|balance|limit|too (?:many|much|large|high|low)|at most|at least|available)\b"
)
_AMOUNT_FIELDS = ("balance", "amount", "available", "quantity", "stock", "remaining", "limit", "count")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A place in a run that gave, or shows, a value.

    Attributes:
        tool: the tool whose result holds it; empty if a person said it.
        field: where in the result, such as `payment_methods.*.amount`; empty if the result has no fields.
        step: index of the step.
    """

    tool: str
    field: str
    step: int


def is_distinctive(value: Any) -> bool:
    """Whether finding a value elsewhere means something: ids and figures do, `no`, `true` and 2 do not."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return abs(value) >= 10
    text = str(value)
    return 4 <= len(text) <= 200 and any(c.isdigit() or c in "@#/_." or c.isupper() for c in text)


def given_by(value: Any, actions: Iterable[Action], *, since: int = -1) -> Source | None:
    """The accepted result that gave a value, the nearest first; results after step `since` before all others.

    Args:
        value: what to look for.
        actions: the calls before the value was used, in order.
        since: a step, such as that of the error, after which a look-up was most likely made for this value.
    """
    if not is_distinctive(value):
        return None
    looked = [action for action in actions if action.accepted and not action.changes_state and _mentions(action.content, value)]
    after = [action for action in looked if action.result > since]
    for action in [*after, *reversed(looked)]:
        places = list(_places(action.content, value))
        if places or not _parsed(action.content):
            return Source(tool=action.tool, field=field_name(places[0][0]) if places else "", step=action.result)
    return None


def said_by_person(value: Any, run: Run, before: int) -> int:
    """Index of the last message before a step in which the user names a value; -1 if there is none."""
    if not is_distinctive(value):
        return -1
    for index in range(before - 1, -1, -1):
        step = run.steps[index]
        if step.kind == "message" and step.role == "user" and _mentions(step.content, value):
            return index
    return -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A look-up that shows beforehand what an error complains about.

    Attributes:
        score: how much its results speak of the error; more is better.
        source: the tool, the field to look at, and the step that made the look-up.
        paths: the arguments to be checked.
        of_value: whether the field stands in the record of the rejected value itself.
        run: id of the run that made it.
    """

    score: int
    source: Source
    paths: tuple[str, ...]
    of_value: bool
    run: str

    def told(self) -> str:
        """The check as a clause: `check amount of payment_id with get_user_details first`."""
        if self.of_value and self.source.field:
            what = f"{self.source.field.rsplit('.', 1)[-1]} of {_last_name(self.paths[0])}"
        else:
            what = self.source.field or " and ".join(self.paths)
        return f"check {what} with {tool_name(self.source.tool)} first"


def check_for(error: str, arguments: Sequence[tuple[str, Any]], runs: Iterable[tuple[str, Sequence[Action]]], *, tool: str) -> Check | None:
    """The look-up that shows beforehand what an error complains about, or none.

    Of all accepted read-only calls, the one that speaks most of it: its result holds the rejected value, as
    the key of a record best of all; it has a field of the argument's name, or takes an argument of that
    name; its name, or a field, is what the error says (`available_seats` for "not enough seats"; an amount
    for "balance is not enough"; a status for "cannot be cancelled"). A place that shows nothing but the
    value itself is a check only for errors that say it does not exist.

    Args:
        error: the error text.
        arguments: what it is about, as path and rejected value, the closest first.
        runs: run ids with the calls of those runs.
        tool: the tool that raised the error; it is no check of itself.
    """
    best: Check | None = None
    own = frozenset(_last_name(path) for path, _ in arguments)
    paths = tuple(dict.fromkeys(path for path, _ in arguments[:2]))
    said = error_words(error)
    for run_id, actions in runs:
        for action in actions[-_ACTIONS_READ:]:
            if not action.accepted or action.tool == tool or action.changes_state or action.command:
                continue
            named_like = bool(name_words(action.tool) & said) + any(_last_name(name) in own for name in action.arguments)
            for path, value in arguments[:2]:
                score, field, of_value = _speaks_of(error, _last_name(path), value, action.content, own)
                if not field and not _ABSENCE_ERROR.search(error) and named_like < 2:
                    continue
                score += named_like
                if score >= 2 and (best is None or score >= best.score):
                    source = Source(tool=action.tool, field=field, step=action.result)
                    best = Check(score=score, source=source, paths=paths, of_value=of_value, run=run_id)
    return best


def _last_name(path: str) -> str:
    return path.rsplit(".", 1)[-1].removesuffix("[]")


def _speaks_of(error: str, argument: str, value: Any, content: str, own: frozenset[str]) -> tuple[int, str, bool]:
    """How much a result says about a rejected value, the field to look at, and whether it is of the value's own record."""
    result = _parsed(content)
    if result is None:
        return (2, "", False) if is_distinctive(value) and _mentions(content, value) else (0, "", False)
    best = (0, "", False)
    records = _records_holding(result, value) if is_distinctive(value) and _mentions(content, value) else []
    places = [(where, record, 3 if key else 1) for where, record, key in records[:1]]
    for where, record, held in [*places, ("", result, 0)]:
        fields = [name for name, _ in _fields(record, where)]
        score = held + any(singular(_last_name(name)) == singular(argument) for name in fields)
        named = _named_field(error, own, fields, record=held > 0)
        found = (score + 1 + named[0], field_name(named[1]), held > 1) if named else (score, "", False)
        best = max(best, found, key=lambda one: one[0])
    return best


def _named_field(error: str, own: frozenset[str], fields: Sequence[str], *, record: bool) -> tuple[int, str] | None:
    """The field that an error speaks of, and how plainly (1 or 2). Ids and names tell nothing that the call did not hold.

    An amount or a status is meant only in the record of the rejected value itself.
    """
    said = error_words(error)
    telling = [name for name in fields if (last := _last_name(name)) not in own and last != "*" and not _IDENTIFIER.search(last)]
    best = max(telling, key=lambda name: len(name_words(_last_name(name)) & said), default=None)
    if best is not None and (hits := len(name_words(_last_name(best)) & said)):
        return min(hits, 2), best
    for pattern, wanted in ((_AMOUNT_ERROR, _AMOUNT_FIELDS), (_STATE_ERROR, _STATE_FIELDS)):
        if record and pattern.search(error):
            for word in wanted:
                for name in telling:
                    if word in words_of(_last_name(name)):
                        return 1, name
    return None


def field_name(path: str) -> str:
    """A result's path as a lesson names it: no list marks, no ids, the last three names.

    Empty if a part is no name: what a tool wrote as a key can be any text, and a lesson does not repeat it.
    """
    parts = [part for part in path.replace("[]", "").split(".") if part not in ("", "*")]
    if len(parts) > 1 and parts[-1] == "id":
        parts.pop()
    return ".".join(parts[-3:]) if all(_FIELD.fullmatch(part) for part in parts) else ""


def _fields(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every field of a record with its path, those of inner records too."""
    if depth > 6:
        return
    if isinstance(value, Mapping):
        for key, kept in list(value.items())[:60]:
            name = key_name(key)
            inner = f"{path}.{name}" if path else name
            yield inner, kept
            yield from _fields(kept, inner, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for kept in value[:2]:  # records of one list have the same fields
            yield from _fields(kept, f"{path}[]" if path else path, depth + 1)


def _records_holding(value: Any, wanted: Any, path: str = "", depth: int = 0) -> list[tuple[str, Any, bool]]:
    """Records that hold a value, with their path; the last part says whether it is the record's own key or id."""
    found: list[tuple[str, Any, bool]] = []
    if depth > 8:
        return found
    if isinstance(value, Mapping):
        for key, kept in value.items():
            name = key_name(key)
            inner = f"{path}.{name}" if path else name
            if key == wanted and isinstance(kept, Mapping):
                found.insert(0, (inner, kept, True))
            elif _same(kept, wanted):
                found.append((path, value, str(key) == "id" or (depth == 0 and str(key).endswith("_id"))))
            else:
                found += _records_holding(kept, wanted, inner, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for kept in value[:200]:
            found += _records_holding(kept, wanted, f"{path}[]" if path else "", depth + 1)
    return sorted(found, key=lambda record: not record[2])


def _places(content: str, wanted: Any) -> Iterator[tuple[str, Any]]:
    """Paths of a result at which a value stands, as a key or as a field."""
    result = _parsed(content)
    stack: list[tuple[str, Any]] = [("", result)] if result is not None else []
    while stack:
        path, value = stack.pop(0)
        if isinstance(value, Mapping):
            for key, kept in value.items():
                name = key_name(key)
                inner = f"{path}.{name}" if path else name
                if key == wanted:
                    yield inner, kept
                stack.append((inner, kept))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            stack += [(f"{path}[]", kept) for kept in value[:200]]
        elif path and _same(value, wanted):
            yield path, value


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return False
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return value == wanted
    return isinstance(value, str) and isinstance(wanted, str) and value == wanted


def _mentions(text: str, value: Any) -> bool:
    told = shown(value) if isinstance(value, int | float) else str(value)
    if not told or told not in text:
        return False
    return bool(re.search(rf"(?<![A-Za-z\d_.]){re.escape(told)}(?![A-Za-z\d_]|\.\d)", text)) or not told[:1].isalnum()


def _parsed(content: str) -> Any:
    """A result's JSON, or none if it is no JSON object or list."""
    return _parsed_json(content) if content[:1] in ("{", "[") and len(content) <= 200_000 else None


@lru_cache(maxsize=64)
def _parsed_json(content: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
