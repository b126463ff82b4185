"""Bench `prompt-cache`: how much of the prompts sent a prefix cache can reuse while a playbook grows.

A real playbook is replayed in the order of its ids: one lesson is added at each step, counters change,
now and then a lesson is revised or retired. After each step the stable part of the prompt is rendered
(core and tail, nothing for a single task). Reused is what a prompt has in common with the one before
it, from the first character on; shares are of tokens. Beside it the same playbook is rendered the way
the reference system does: counters in the text, new lessons inserted into their sections.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Sequence
from os.path import commonprefix
from pathlib import Path
from typing import Any

from tenure.errors import UnreadableInput, UserError
from tenure.evaluation.bench_files import read_text
from tenure.playbook.apply import apply
from tenure.playbook.delta import Add, Delta, Operation, Retire, Tally, Update
from tenure.playbook.foreign import read_foreign
from tenure.playbook.lessons import Lesson
from tenure.playbook.render import Core, dead_tokens, render_lessons
from tenure.playbook.state import Playbook
from tenure.ranking import estimate_tokens

UPDATES, RETIREMENTS = 0.02, 0.01
"""Chance at each step that a known lesson is revised, or retired."""

COUNTED = 3
"""Lessons whose counters change at each step."""

_NUMBER = re.compile(r"\d+")

_LONGEST_NUMBER = 1_000
"""Digits of an id's number that are looked at. Python reads no more than 4,300."""


def run_prompt_cache(
    data: Path, *, seed: int = 0, core_tokens: int | None = None, tell: Callable[[float, str], None] | None = None
) -> dict[str, Any]:
    """Replay a playbook and measure what its prompts share.

    Args:
        data: a playbook in any form that `tenure import` reads.
        seed: of the revisions, retirements and counts.
        core_tokens: cap on the core; none takes the size of the whole playbook.
        tell: called after each lesson with the share done and what is done.

    Returns:
        `steps`, `reuse_mean` (tokens sent that were an unchanged prefix, of all tokens sent),
        `reuse_sectioned` (the same with counters in the text and insertion into sections), `rebuilds`
        (changes of the core after the first one), `generations` (those of them that closed a generation
        behind bytes that stayed), `tail_share_max` (tail to core, tokens), and beside them `dead_share_max`
        (what a rebuild would save, to core, tokens), `reuse_step_mean` (mean of the shares of each step),
        `tokens_sent`, `tokens_sectioned`, `updates`, `retirements`, `core_tokens`, `seconds`.

    Raises:
        UserError: the file cannot be read, or holds no lessons.
    """
    text = read_text(data, wanted="Name a playbook in a form that tenure import reads.")
    try:
        adds = _in_id_order(read_foreign(text).operations)
    except UnreadableInput as exc:
        raise UnreadableInput(f"'{data}': {exc}") from exc
    if not adds:
        raise UserError(f"'{data}' holds no lessons. Name a playbook: tenure bench run prompt-cache --data PLAYBOOK.txt")
    cap = core_tokens or 2 * sum(estimate_tokens(f"{add.id} {add.text}") + 4 for add in adds)
    began = time.perf_counter()
    dice = random.Random(seed)
    playbook, shown = Playbook(), dict[str, Lesson]()
    core: Core | None = None
    stable, sectioned = Reuse(), Reuse()
    rebuilds = generations = updates = retirements = 0
    tail_share = dead_share = 0.0
    for number, add in enumerate(adds, 1):
        operations = [add, *_events(dice, shown)]
        updates += sum(isinstance(operation, Update) for operation in operations)
        retirements += sum(isinstance(operation, Retire) for operation in operations)
        playbook = apply(playbook, Delta(f"{number:06d}", operations, at=f"2026-01-01T00:00:00.{number:06d}+00:00")).playbook
        _follow(playbook, shown, operations)
        rendered = render_lessons([shown[one] for one in sorted(shown)], core, cap)
        rebuilds += bool(core is not None and (rendered.rebuilt or rendered.closed))
        generations += bool(rendered.closed)
        core = rendered.core
        dead_share = max(dead_share, dead_tokens(core) / rendered.core_tokens if rendered.core_tokens else 0.0)
        tail_share = max(tail_share, rendered.tail_tokens / rendered.core_tokens if rendered.core_tokens else 0.0)
        stable.send(rendered.text)
        if tell is not None:
            tell(number / len(adds), f"{number:,} of {len(adds):,} lessons")
        sectioned.send(_sectioned(list(shown.values())))
    return {
        "steps": len(adds),
        "reuse_mean": stable.share,
        "reuse_sectioned": sectioned.share,
        "rebuilds": rebuilds,
        "generations": generations,
        "tail_share_max": round(tail_share, 4),
        "dead_share_max": round(dead_share, 4),
        "reuse_step_mean": stable.step_mean,
        "tokens_sent": stable.sent,
        "tokens_sectioned": sectioned.sent,
        "updates": updates,
        "retirements": retirements,
        "core_tokens": cap,
        "seconds": round(time.perf_counter() - began, 2),
    }


class Reuse:
    """Counts what each prompt shares with the one before it, from its start on."""

    def __init__(self) -> None:
        self._before = ""
        self.sent = self._reused = 0
        self._shares: list[float] = []

    def send(self, prompt: str) -> None:
        """Count a prompt."""
        # By lines: a cache holds whole blocks of tokens, and a line is far less than one.
        common = len(commonprefix([self._before, prompt]))  # noqa: RUF071  # characters are what is asked for
        lines = prompt[:common].rpartition("\n")[0]
        tokens, reused = _tokens(prompt), _tokens(lines)
        self.sent += tokens
        self._reused += reused
        if self._before:
            self._shares.append(reused / max(1, tokens))
        self._before = prompt

    @property
    def share(self) -> float:
        """Reused tokens of all sent, 0 to 1."""
        return round(self._reused / max(1, self.sent), 4)

    @property
    def step_mean(self) -> float:
        """Mean over the steps of what each reused, 0 to 1."""
        return round(sum(self._shares) / max(1, len(self._shares)), 4)


_known: dict[str, int] = {}


def _tokens(text: str) -> int:
    """Estimated tokens, line by line: prompts of two steps have nearly all lines in common."""
    total = 0
    for line in text.split("\n"):
        if line not in _known:
            _known[line] = estimate_tokens(line) + 1
        total += _known[line]
    return total


def _in_id_order(operations: Sequence[Operation]) -> list[Add]:
    """In the order in which they were learned: ids of the reference system count up over all sections."""

    def place(add: Add) -> tuple[int, str]:
        numbers = _NUMBER.findall(add.id or "")
        return (int(numbers[-1][:_LONGEST_NUMBER]) if numbers else 0, add.id or "")

    return sorted((one for one in operations if isinstance(one, Add)), key=place)


def _events(dice: random.Random, shown: dict[str, Lesson]) -> list[Operation]:
    known = sorted(shown)
    if not known:
        return []
    counted = dice.sample(known, min(COUNTED, len(known)))
    events: list[Operation] = [Tally(one, helpful=1, shown=1) for one in counted]
    if dice.random() < UPDATES:
        one = dice.choice(known)
        events.append(Update(one, text=f"{shown[one].text} This held in {dice.randint(2, 99)} later cases."))
    if dice.random() < RETIREMENTS:
        events.append(Retire(dice.choice(known), "replayed"))
    return events


def _follow(playbook: Playbook, shown: dict[str, Lesson], operations: Sequence[Operation]) -> None:
    """Read again what the operations touched, not the whole playbook."""
    for operation in operations:
        lesson = playbook.lesson(getattr(operation, "id", "") or "")
        if lesson is not None and lesson.live:
            shown[lesson.id] = lesson
        elif lesson is not None:
            shown.pop(lesson.id, None)


def _sectioned(lessons: Sequence[Lesson]) -> str:
    sections: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        sections.setdefault(lesson.section, []).append(lesson)
    lines: list[str] = []
    for name, inside in sections.items():
        lines.append(f"## {name}")
        for one in inside:
            lines.append(f"[{one.id}] helpful={one.tallies.helpful} harmful={one.tallies.harmful} :: {one.text}")
    return "\n".join(lines) + "\n"
