"""What differs between two calls of one tool, and how argument values are told in a lesson."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tenure.roles.actions import key_name, leaves, words_of
from tenure.roles.texts import printable
from tenure.roles.vocabulary import STOP_WORDS

SHOWN_VALUE = 40
"""Longest argument value that a lesson repeats, in characters."""

SHOWN_COMMAND = 70
"""Longest command line that a lesson repeats, in characters; longer ones are cut."""

_SECRET = re.compile(r"(?i)pass(?:word|wd|phrase)?|secret|token|api_?key|authori[sz]ation|credential|cookie|(?:^|_)pin$|cvv")
_PLAIN = re.compile(r"[^\s,;:()'\"`…]+")
_WITH_DIGIT = re.compile(r"[^\W\d_]*[-_]?\d[\w-]*")
_NUMBER = re.compile(r"(?<![A-Za-z\d_.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?![A-Za-z\d_]|\.\d)")
_LABEL_END = re.compile(r"(?:[\s:=$€£¥]|\b(?:is|was|are|of|to|be|equals?|must|should|got|than)\b)+$", re.IGNORECASE)
_LABEL = re.compile(r"(?:[A-Za-z_]{2,} ){0,2}[A-Za-z_]{2,}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One place in which a later call differs from an earlier one.

    Attributes:
        kind: `changed`, `added` or `removed`.
        path: where, such as `payment_methods[].amount`.
        before: the earlier value; none if added.
        after: the later value; none if removed.
    """

    kind: Literal["changed", "added", "removed"]
    path: str
    before: Any = None
    after: Any = None


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """What the second arguments have otherwise than the first, in the order of the arguments."""
    return tuple(_compare("", before, after))


def _compare(path: str, a: Any, b: Any) -> list[Change]:
    if a == b:
        return []
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        found: list[Change] = []
        for key in [*a, *(key for key in b if key not in a)]:
            name = key_name(key)
            inner = f"{path}.{name}" if path else name
            if key not in b:
                found.append(Change(kind="removed", path=inner, before=a[key]))
            elif key not in a:
                found.append(Change(kind="added", path=inner, after=b[key]))
            else:
                found += _compare(inner, a[key], b[key])
        return found
    if _is_list(a) and _is_list(b):
        return _compare_lists(f"{path}[]", list(a), list(b))
    return [Change(kind="changed", path=path, before=a, after=b)]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _compare_lists(path: str, a: list[Any], b: list[Any]) -> list[Change]:
    """Elements are matched by what they share, so that one left out does not shift the rest."""
    only_a = [x for x in a[:200] if x not in b]
    only_b = [y for y in b[:200] if y not in a]
    if len(only_a) == len(only_b) == 1:
        return _compare(path, only_a[0], only_b[0])
    found: list[Change] = []
    for x in only_a:
        best = max(only_b, key=lambda y: _shared(x, y), default=None)
        if best is not None and _shared(x, best) > 0:
            only_b.remove(best)
            found += _compare(path, x, best)
        elif not isinstance(x, Mapping) and len(only_a) == len(only_b) == len(a) == len(b):
            found += _compare(path, x, only_b.pop(0))
        else:
            found.append(Change(kind="removed", path=path, before=x))
    return [*found, *(Change(kind="added", path=path, after=y) for y in only_b)]


def _shared(x: Any, y: Any) -> int:
    """How many scalar fields two records have in common."""
    if not isinstance(x, Mapping) or not isinstance(y, Mapping):
        return 0
    return sum(1 for key, value in x.items() if key in y and y[key] == value and not isinstance(value, bool | None))


def kept_share(before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    """Share of the earlier call's values that the later call has in the same place, 0 to 1."""
    was = [(path, repr(value)) for path, value in leaves(before)]
    now = {(path, repr(value)) for path, value in leaves(after)}
    return sum(pair in now for pair in was) / len(was) if was else 1.0


def words_alike(a: str, b: str) -> float:
    """Dice likeness of two command lines by their words, 0 to 1."""
    x, y = set(a.split()), set(b.split())
    return 2 * len(x & y) / (len(x) + len(y)) if x or y else 0.0


def shown(value: Any, path: str = "") -> str:
    """A value as a lesson tells it; empty if it is long, empty or secret, and better only named by its path."""
    if _SECRET.search(path.rsplit(".", 1)[-1]):
        return ""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, str):
        text = printable(value).replace("`", "'")
        if not text or len(text) > SHOWN_VALUE or "\n" in value:
            return ""
        return text if _PLAIN.fullmatch(text) else f"'{text}'"
    if isinstance(value, Mapping):
        told = [(key, shown(kept, str(key))) for key, kept in value.items()]
        text = " ".join(f"{key} {kept}" for key, kept in told)
        return text if all(kept for _, kept in told) and 0 < len(text) <= SHOWN_VALUE + 20 else ""
    text = json.dumps(value, ensure_ascii=False, default=str) if _is_list(value) else str(value)
    return printable(text) if len(text) <= SHOWN_VALUE else ""


def changed_part(change: Change) -> tuple[str, str]:
    """The words in which two longer texts differ, as a lesson tells them; empty texts if that says little.

    `SELECT * FROM invoice WHERE id = 7` and the same from `invoices` give `invoice` and `invoices`.
    """
    if not isinstance(change.before, str) or not isinstance(change.after, str):
        return "", ""
    before, after = change.before.split(), change.after.split()
    start = next((at for at, (x, y) in enumerate(zip(before, after, strict=False)) if x != y), min(len(before), len(after)))
    before, after = before[start:], after[start:]
    end = next(
        (at for at, (x, y) in enumerate(zip(reversed(before), reversed(after), strict=False)) if x != y), min(len(before), len(after))
    )
    was, now = " ".join(before[: len(before) - end]), " ".join(after[: len(after) - end])
    told = shown(was, change.path), shown(now, change.path)
    lost = (was and not told[0]) or (now and not told[1])
    return ("", "") if lost or not start + end else told


def shown_command(command: str) -> str:
    """A command line as a lesson tells it: its first line, cut if long."""
    line = printable(next((line for line in command.splitlines() if line.strip()), "")).replace("`", "'")
    line = re.sub(r"(?i)(\b\w*(?:token|secret|password|passwd|api_?key)\w*[= ])\S+", r"\1…", line)
    if len(line) > SHOWN_COMMAND:
        line = line[:SHOWN_COMMAND].rsplit(" ", 1)[0] + " …"
    return line


def shape(value: Any) -> str:
    """A string value with what has digits left open: `gift_card_7091239` is `gift_card_…`; empty if nothing is left."""
    if not isinstance(value, str) or not 0 < len(value) <= SHOWN_VALUE or " " in value:
        return ""
    open_form = re.sub(r"\d[\w-]*", "…", value)
    return open_form if re.match(r"[A-Za-z]{3}", open_form) else ""


def numbers_in(error: str) -> dict[float, str]:
    """The numbers an error names, each with the words before it: `total price is 305` gives `{305: "total price"}`."""
    found: dict[float, str] = {}
    for match in _NUMBER.finditer(error):
        value = float(match.group().replace(",", ""))
        before = _LABEL_END.sub("", error[max(0, match.start() - 60) : match.start()])
        label = _LABEL.search(before)
        words = [word for word in label.group().split() if word.lower() not in STOP_WORDS] if label else []
        found.setdefault(value, " ".join(words).lower())
    return found


def error_words(error: str) -> frozenset[str]:
    """The words of an error that can name an argument or a field, singular and lower case."""
    return frozenset(singular(word) for word in words_of(error) if len(word) > 2 and word not in STOP_WORDS)


def name_words(name: str) -> frozenset[str]:
    """The words of an argument name, a field or a value such as `gift_card_7091239`, singular and lower case."""
    return frozenset(singular(word) for word in words_of(name) if len(word) > 2)


def singular(word: str) -> str:
    """A word without a plural s."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def names(error: str, value: Any) -> bool:
    """Whether an error text names a value: as a whole word, or as a number."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return float(value) in numbers_in(error)
    text = str(value)
    return len(text) > 1 and bool(re.search(rf"(?<![A-Za-z\d_]){re.escape(text)}(?![A-Za-z\d_])", error)) if len(text) <= 200 else False


def closeness(error: str, path: str, value: Any) -> int:
    """How closely an error speaks of an argument: 3 it names the value, 2 words of the value, 1 words of the argument's name, else 0."""
    if names(error, value):
        return 3
    words = error_words(error)
    if isinstance(value, str) and len(value) <= 80 and _WITH_DIGIT.search(value) and words & (name_words(value) - {"http", "www", "com"}):
        return 2
    return 1 if words & name_words(path) else 0
