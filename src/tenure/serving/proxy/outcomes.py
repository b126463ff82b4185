"""How a run ended, as callers of the proxy say it: in a header, or in the body of a request of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from tenure.playbook.run import RELIABILITY, Outcome, Signal
from tenure.serving.service.problems import Problem
from tenure.traces.decoding import without_lone_surrogates
from tenure.traces.echo import without_injected

_WORDS = {"success": 1.0, "failure": 0.0}
_FIELDS = ("outcome", "success", "score", "feedback", "signal", "expected")
_LONGEST = 20_000


def outcome_of_header(said: str, at: str) -> Outcome:
    """The outcome that a header names.

    Args:
        said: `success`, `failure`, or a number from 0 to 1.
        at: the present moment, ISO 8601.

    Raises:
        Problem: 400, it is none of them.
    """
    return Outcome(score=_score(said.strip().lower(), "The header x-tenure-outcome"), signal="environment", at=at)


def outcome_of_body(raw: bytes, at: str) -> Outcome:
    """The outcome in the body of a request.

    Args:
        raw: JSON, such as `{"success": false, "feedback": "invoice 8 is not booked"}`.
        at: the present moment, ISO 8601.

    Raises:
        Problem: 422, it says nothing, contradicts itself, or a value is of the wrong kind.
    """
    try:
        value = without_lone_surrogates(json.loads(raw.decode("utf-8")))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Problem(422, "outcome", 'The body is no JSON object. Send such as {"success": false, "feedback": "invoice 8 is not booked"}')
    strange = sorted(set(value) - set(_FIELDS))
    if strange:
        raise Problem(422, "outcome", f"'{strange[0][:40]}' is no field of an outcome. Fields: {', '.join(_FIELDS)}.")
    scores = _scores(value)
    if len({score >= 0.5 for score in scores}) > 1:
        raise Problem(422, "outcome", "outcome, success and score contradict each other. Give one of them.")
    feedback, expected = (without_injected(_text(value, name)) for name in ("feedback", "expected"))
    if not scores and not feedback and not expected:
        raise Problem(422, "outcome", "It does not say how the run ended. Give success, a score from 0 to 1, or a feedback.")
    signal = value.get("signal") or ("environment" if scores else "none")
    if not isinstance(signal, str) or signal not in RELIABILITY:
        raise Problem(422, "outcome", f"signal is {json.dumps(signal)[:60]}; it is one of {', '.join(RELIABILITY)}.")
    score = next((one for one in scores if one not in (0.0, 1.0)), scores[0] if scores else None)
    return Outcome(score=score, feedback=feedback, expected=expected, signal=cast(Signal, signal), at=at)


def _scores(value: Mapping[str, Any]) -> list[float]:
    found: list[float] = []
    success, score, outcome = (value.get(name) for name in ("success", "score", "outcome"))
    if success is not None:
        if not isinstance(success, bool):
            raise Problem(422, "outcome", f"success is {json.dumps(success)[:60]}; it is true, false or null.")
        found.append(1.0 if success else 0.0)
    for name, said in (("score", score), ("outcome", outcome)):
        if said is not None:
            found.append(_score(said, name))
    return found


def _score(said: object, what: str) -> float:
    number = _WORDS.get(said) if isinstance(said, str) else None
    if number is None and isinstance(said, str | int | float) and not isinstance(said, bool):
        try:
            number = float(said)
        except (ValueError, OverflowError):
            number = None
    if number is None or not 0.0 <= number <= 1.0:
        raise Problem(400, "outcome", f"{what} is {json.dumps(said)[:60]}; it is success, failure, or a number from 0 to 1.")
    return number


def _text(value: Mapping[str, Any], name: str) -> str:
    said = value.get(name)
    if said is None:
        return ""
    if not isinstance(said, str):
        raise Problem(422, "outcome", f"{name} is {json.dumps(said)[:60]}; it is a text.")
    if len(said) > _LONGEST:
        raise Problem(422, "outcome", f"{name} has {len(said):,} characters; {_LONGEST:,} is the most.")
    return said
