"""Bench `redaction`: how many secrets go, and how much of what goes was secret.

A secret counts as found if nothing of it is left that could be used: at most `TRACE` characters in a row. A mark
counts as right if it stands where a labelled secret was. Recall is found of labelled, precision is right of marks;
look-alikes, lines in which nothing is secret, add marks only where the redaction is wrong.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tenure.evaluation.redaction_lines import LabelledLine, labelled_lines, read_lines
from tenure.providers import secret_detection

TRACE = 4
"""Characters in a row of a secret that may be left, as in `ghp_` or the last four of a card."""

SHOWN = 20
_MARK = re.compile(r"\[redacted:[a-z0-9-]+\]")


def run_redaction(data: Path | None, *, seed: int = 0, redact: Callable[[str], str] | None = None) -> dict[str, Any]:
    """Measure a redaction on labelled lines.

    Args:
        data: a JSONL file as `redaction_lines.read_lines` documents; none: the built-in set.
        seed: of the fake secrets in the built-in set.
        redact: takes a text and gives it with `[redacted:KIND]` for each secret; none: what is applied at every write.

    Returns:
        `lines, secrets, lookalikes, found, marks, right, recall, precision, parts, kinds, missed, wrong,
        second_look, kb_per_second`.
        `missed` and `wrong` are examples, with letters and digits of secrets masked.
    """
    second_look = redact is None and secret_detection.is_installed()
    redact = redact or secret_detection.redact_text
    lines = read_lines(data) if data is not None else labelled_lines(seed)
    began = time.process_time()
    cleaned = [redact(line.text) for line in lines]
    seconds = time.process_time() - began
    parts: dict[str, Counter[str]] = {}
    kinds: dict[str, Counter[str]] = {}
    missed: list[dict[str, str]] = []
    wrong: list[dict[str, str]] = []
    for line, clean in zip(lines, cleaned, strict=True):
        part = parts.setdefault(line.part, Counter())
        part["lines"] += 1
        part["lookalikes"] += not line.secrets
        taken = _taken(line.text, clean)
        for secret in line.secrets:
            found = not _left(secret.value, clean, line.text)
            kind = kinds.setdefault(secret.kind, Counter())
            for counter in (part, kind):
                counter["secrets"] += 1
                counter["found"] += found
            if not found:
                missed.append({"kind": secret.kind, "line": _masked(line)})
        places = _places(line)
        for start, end in taken:
            right = any(start < stop and begin < end for begin, stop in places)
            part["marks"] += 1
            part["right"] += right
            if not right:
                wrong.append({"taken": line.text[start:end][:60], "line": _masked(line)})
    total: Counter[str] = sum(parts.values(), Counter())
    return {
        **_figures(total),
        "parts": {name: _figures(part) for name, part in sorted(parts.items())},
        "kinds": {name: {"secrets": kind["secrets"], "found": kind["found"]} for name, kind in sorted(kinds.items())},
        "missed": missed[:SHOWN],
        "wrong": wrong[:SHOWN],
        "second_look": second_look,
        "kb_per_second": round(sum(len(line.text) for line in lines) / 1000 / max(seconds, 1e-6)),
    }


def _figures(counts: Counter[str]) -> dict[str, Any]:
    figures: dict[str, Any] = {name: counts[name] for name in ("lines", "secrets", "lookalikes", "found", "marks", "right")}
    figures["recall"] = round(counts["found"] / counts["secrets"], 4) if counts["secrets"] else None
    figures["precision"] = round(counts["right"] / counts["marks"], 4) if counts["marks"] else None
    return figures


def _left(secret: str, clean: str, text: str) -> bool:
    """Whether more than `TRACE` characters in a row of a secret are left that the line does not hold elsewhere too.

    Of a short secret (a card code), half of its characters; of a key block, its two marks may stay. Of a mere word that the
    line holds more than once, as a login and as its password, one place at least must be gone.
    """
    if secret.isalpha() and text.count(secret) > 1:  # `login admin, password admin`: one of them is no secret
        return clean.count(secret) >= text.count(secret)
    body = re.sub(r"-----[A-Z ]+-----", "", secret)
    width = min(TRACE + 1, max(2, len(body) // 2 + 1))
    rest = text.replace(secret, "\x00")
    plain = _MARK.sub("\x00", clean)
    return any(
        (piece := body[at : at + width]) in plain and plain.count(piece) > rest.count(piece) for at in range(max(1, len(body) - width + 1))
    )


def _taken(text: str, clean: str) -> list[tuple[int, int]]:
    """Places of the text that marks stand for, start and end: what lies between the pieces that stayed, in order."""
    marks = [found for found in _MARK.finditer(clean) if found.group() not in text]
    taken: list[tuple[int, int]] = []
    at = behind = 0
    for number, found in enumerate(marks):
        at += found.start() - behind
        behind = found.end()
        follows = clean[behind : marks[number + 1].start()] if number + 1 < len(marks) else clean[behind:]
        last = number + 1 == len(marks)
        end = len(text) - len(follows) if last else text.find(follows, at + 1)
        end = max(end, at)
        taken.append((at, end))
        at = end
    return taken


def _places(line: LabelledLine) -> list[tuple[int, int]]:
    return [(found.start(), found.end()) for secret in line.secrets for found in re.finditer(re.escape(secret.value), line.text)]


def _masked(line: LabelledLine) -> str:
    text = line.text
    for secret in line.secrets:
        text = text.replace(secret.value, re.sub("[A-Za-z0-9]", "x", secret.value)[:24])
    return text[:200]


def summary_of(lines: Sequence[LabelledLine]) -> dict[str, int]:
    """How many lines, secrets, kinds and look-alikes a set has."""
    return {
        "lines": len(lines),
        "secrets": sum(len(line.secrets) for line in lines),
        "kinds": len({secret.kind for line in lines for secret in line.secrets}),
        "lookalikes": sum(not line.secrets for line in lines),
    }
