"""What a host reports of a run, as the plain values it should be; anything else is a `UserError` that says what it was."""

from __future__ import annotations

from tenure.errors import UserError


def positive(number: int, what: str) -> int:
    """A number of tokens that is 1 or more.

    Raises:
        UserError: it is less.
    """
    if number < 1:
        raise UserError(f"{what} = {number}: it must be 1 or more tokens.")
    return number


def text_of(value: object, what: str) -> str:
    """A text that was reported; none is no text.

    Raises:
        UserError: it is anything else.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UserError(f"{what} = {value!r:.80}: it is a text, not {type(value).__name__}. Write str(...) or json.dumps(...).")
    return value


def score_of(score: object) -> float | None:
    """A score as a plain number; libraries of arrays have numbers of their own.

    Raises:
        UserError: it is no number.
    """
    if score is None or isinstance(score, float):
        return score
    try:
        return float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError) as exc:
        raise UserError(f"score = {score!r:.80}: it is a number from 0 to 1, or None.") from exc


def verdict_of(success: object) -> bool | None:
    """A verdict as a plain bool; a comparison in an array library gives one of its own.

    Raises:
        UserError: it is no verdict.
    """
    if success is None or isinstance(success, bool):
        return success
    for plain in (True, False):
        if success == plain:
            return plain
    raise UserError(f"success = {success!r:.80}: it is True, False or None.")
