"""Amounts that must add up: sums over arguments that an error text compares with another figure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tenure.roles.actions import leaves
from tenure.roles.differences import numbers_in, shown

_COMPARES = re.compile(r"(?i)\b(?:add up|sum|total|match|equal|differ|expected|short of|mismatch)|合计|总额|总计|一致|合計|합계")

_COUNTS = re.compile(r"(?i)\b(?:number|length|count|same|match|equal|mismatch)\b|数量|長さ|개수")


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRule:
    """That an argument, summed over its list, must be a figure the tool knows.

    Attributes:
        path: such as `payment_methods[].amount`.
        refused: its sum in the rejected call.
        wanted: the figure the error names.
        label: what the error calls that figure: `total price`.
        times: how often the refused sum goes into the wanted figure, where a list has just as many elements.
        of: that list's name: `passengers`.
        accepted: whether a call with the wanted sum was accepted.
    """

    path: str
    refused: float
    wanted: float
    label: str
    times: int = 0
    of: str = ""
    accepted: bool = False

    def told(self, often: str = "") -> str:
        """The rule as part of a sentence: `payment_methods[].amount sums to the total price (…)`."""
        verb = ("sum" if "[]" in self.path else "be") if self.accepted else ("sums" if "[]" in self.path else "is")
        goal = f"the {self.label}" if self.label else "the figure it names"
        to = " to" if "[]" in self.path else ""
        refused, wanted = shown(self.refused), shown(self.wanted)
        product = f" = {refused} × {self.times} {self.of}" if self.times else ""
        end = "accepted" if self.accepted else "asked"
        return f"{self.path} {verb}{to} {goal} ({refused} refused{often}, {wanted}{product} {end})"


def figure_rule(failed: Mapping[str, Any], accepted: Mapping[str, Any] | None, error: str) -> FigureRule | None:
    """The figure that was wrong in a rejected call, or none if the error is about no figure.

    With an accepted call: a sum that differs between both and is now a figure the error names. Without:
    a sum that the error names beside exactly one other figure, where its words compare the two.
    """
    named = numbers_in(error)
    if not named:
        return None
    after = _sums(accepted) if accepted is not None else {}
    for path, refused in _sums(failed).items():
        if accepted is not None:
            wanted = after.get(path, refused)
            if wanted == refused or wanted not in named:
                continue
        else:
            others = [figure for figure in named if figure != refused]
            if refused not in named or len(others) != 1 or not _COMPARES.search(error):
                continue
            wanted = others[0]
        times, of = _multiple(failed, refused, wanted)
        return FigureRule(path=path, refused=refused, wanted=wanted, label=named[wanted], times=times, of=of, accepted=accepted is not None)
    return None


def count_rule(failed: Mapping[str, Any], accepted: Mapping[str, Any], error: str) -> str:
    """That two lists must be equally long, as a clause; empty if the error is not about that."""
    if not _COUNTS.search(error):
        return ""
    sizes = [(name, len(value), len(accepted[name])) for name, value in failed.items() if _is_list(value) and _is_list(accepted.get(name))]
    for place, (one, was_one, now_one) in enumerate(sizes):
        for other, was_other, now_other in sizes[place + 1 :]:
            if was_one != was_other and now_one == now_other:
                refused, taken = f"{was_one} and {was_other} refused", f"{now_one} and {now_other} accepted"
                return f"make {one}[] and {other}[] equally long ({refused}, {taken})"
    return ""


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _sums(arguments: Mapping[str, Any]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for path, value in leaves(arguments):
        if isinstance(value, int | float) and not isinstance(value, bool):
            sums[path] = sums.get(path, 0.0) + value
    return sums


def _multiple(arguments: Mapping[str, Any], refused: float, wanted: float) -> tuple[int, str]:
    if refused <= 0 or wanted <= refused or wanted % refused:
        return 0, ""
    times = int(wanted // refused)
    fitting = [name for name, value in arguments.items() if _is_list(value) and len(value) == times]
    return (times, fitting[0]) if len(fitting) == 1 else (0, "")
