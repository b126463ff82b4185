"""Summaries of the memory by a model: kept under what they were made from, and made when the tree is already there.

A summary is kept under the hash of what the model was shown and of the version of the prompt, one for each period. So building the
tree again asks for nothing that was answered before, and what changed below a node takes its summary away at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from heapq import heapify, heappop, heappush
from typing import Any

from tenure.errors import MalformedReply, ModelError, SpendCapReached
from tenure.governance.redaction import redact
from tenure.learning.memory_settings import MemorySettings
from tenure.memory_tree.nodes import Node
from tenure.memory_tree.periods import Kind, Period, month_of, months_of, week_of, weeks_of
from tenure.memory_tree.summaries import room_for_words, summary_key, with_summary
from tenure.ports import IdSource, LanguageModel, Metered, Prompt, Reading, Store, Writing
from tenure.roles.summarise import PROMPT_VERSION, day_shown, nodes_shown, summarise_with, summary_prompt

SUMMARIES = "memory.summaries"
"""Layer of the summaries that models wrote, named by the period."""

WAITING = "memory.waiting"
"""Layer that names the periods whose summary a model has still to write."""

LEAST_ROOM = 40
"""Tokens below which a model is not asked: what is kept word for word fills the node."""

_KINDS: tuple[Kind, ...] = ("day", "week", "month")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a model wrote for a period, or why it could not.

    Attributes:
        key: of what it was shown (see `summary_key`).
        lines: empty if its replies could not be used.
        by: model and version of the prompt.
        failed: why the last reply could not be used.
        attempts: replies that could not be used.
    """

    key: str
    lines: tuple[str, ...] = ()
    by: str = ""
    failed: str = ""
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class _Asked:
    key: str
    prompt: Prompt
    shown: Sequence[dict[str, Any]]
    room: int


class Summaries:
    """The models' summaries of a memory.

    Args:
        look: at the memory.
        settings: of it.
        wants: whether what no model has written is to wait for one.
    """

    def __init__(self, look: Reading, settings: MemorySettings, *, wants: bool = False) -> None:
        self._look, self._settings, self._wants = look, settings, wants
        self._names: dict[str, set[str]] = {}

    @property
    def in_use(self) -> bool:
        """Whether there is anything to do for a model at all."""
        return self._wants or bool(self._of(SUMMARIES)) or bool(self._of(WAITING))

    def waiting(self) -> list[Period]:
        """What a model has still to write: days, then weeks, then months."""
        found = [Period(_kind(name), name) for name in self._look.memory_files(WAITING)]
        return sorted(found, key=_order)

    def written(self, period: Period) -> Written | None:
        """What is kept for a period."""
        text = self._look.memory_file(SUMMARIES, period.key) if period.key in self._of(SUMMARIES) else ""
        if not text:
            return None
        said = json.loads(text)
        return Written(**{**said, "lines": tuple(said["lines"])})

    def eligible(self, node: Node) -> bool:
        """Whether a model is to write a node's summary."""
        mode = self._settings.summaries
        return node.form == "summary" and mode != "extractive" and (mode == "always" or node.state == "fixed")

    def asked(self, node: Node) -> _Asked:
        """What a model is asked for a node, and the key of it."""
        shown, room = self._shown(node), room_for_words(node, self._settings.caps)
        prompt = summary_prompt(node.period, shown, room=room)
        return _Asked(summary_key(prompt.user, PROMPT_VERSION), prompt, shown, room)

    def applied(self, work: Writing, node: Node) -> Node:
        """A node as it was just built, with the model's summary if one was written for just this; what is out of date is removed."""
        kept = self.written(node.period)
        if not self.eligible(node):
            # A node that only runs again, because the clock was set back, has its summary again when it is over.
            self._put(work, WAITING, node.period, "")
            return node
        if kept is None and not self._wants:
            return node
        asked = self.asked(node)
        if kept is not None and kept.key != asked.key:
            self.drop(work, node.period)
            kept = None
        if kept is not None and kept.lines:
            self._put(work, WAITING, node.period, "")
            return with_summary(node, kept.lines, by=kept.by, caps=self._settings.caps)
        waits = self._wants and asked.room >= LEAST_ROOM and (kept is None or kept.attempts < self._settings.attempts)
        self._put(work, WAITING, node.period, "1" if waits else "")
        return node

    def keep(self, work: Writing, period: Period, written: Written) -> None:
        """Keep what a model wrote, in place of what was there."""
        self._put(work, SUMMARIES, period, json.dumps(asdict(written), ensure_ascii=False))
        waits = not written.lines and written.attempts < self._settings.attempts
        self._put(work, WAITING, period, "1" if waits else "")

    def drop(self, work: Writing, period: Period) -> None:
        """Remove what a model wrote for a period."""
        self._put(work, SUMMARIES, period, "")
        self._put(work, WAITING, period, "")

    def _of(self, layer: str) -> set[str]:
        if layer not in self._names:
            self._names[layer] = set(self._look.memory_files(layer))
        return self._names[layer]

    def _put(self, work: Writing, layer: str, period: Period, text: str) -> None:
        """Write a text of a period; nothing is done where none is to take the place of none."""
        names = self._of(layer)
        if not text and period.key not in names:
            return
        work.put_memory_file(layer, period.key, text)
        (names.add if text else names.discard)(period.key)

    def _shown(self, node: Node) -> list[dict[str, Any]]:
        period = node.period
        if period.kind == "day":
            return day_shown(period.key, self._look.entries(day=period.key), closed=node.closed)
        if period.kind == "week":
            return nodes_shown(self._nodes(Period("day", day) for day in period.days))
        own = set(period.days)
        # Of a week over two months only this month's days are shown.
        below = [part for week in weeks_of(period) for part in ([week] if own.issuperset(week.days) else _days(week, own))]
        return nodes_shown(self._nodes(below))

    def _nodes(self, periods: Any) -> list[Node]:
        return [node for period in periods if (node := self._look.node(period)) is not None]


def ask_for_summaries(
    store: Store,
    scope: str,
    model: LanguageModel,
    settings: MemorySettings,
    *,
    today: str,
    ids: IdSource,
    rebuild: Callable[[Writing, Period], None],
) -> tuple[int, tuple[str, ...]]:
    """Have a model write the summaries that wait for it: days first, since weeks are made from them, and so on.

    Each is durable before the next is asked for. It ends where a cap is reached or the model cannot be reached; what is left waits.

    Args:
        store, scope: whose memory it is.
        model: is asked once for each; caps of spending hold as for a run.
        settings: of the memory.
        today: ISO date in its zone.
        ids: of the engine.
        rebuild: builds the node of a period again.

    Returns:
        How many were written, and a sentence for each thing that went wrong.
    """
    asked_of = model.for_run(f"memory:{ids.next()}", scope=scope) if isinstance(model, Metered) else model
    with store.reading(scope) as look:
        queue = [_order(one) for one in Summaries(look, settings).waiting()]
    heapify(queue)
    seen, blocked, written, problems = set[tuple[int, str]](), set[Period](), 0, list[str]()
    while queue:
        place = heappop(queue)
        if place in seen:
            continue
        seen.add(place)
        period = Period(_KINDS[place[0]], place[1])
        if any(period in _above(below) for below in blocked):
            blocked.add(period)
            continue
        with store.reading(scope) as look:
            node, summaries = look.node(period), Summaries(look, settings)
            asked = summaries.asked(node) if node is not None and summaries.eligible(node) else None
            kept = summaries.written(period)
        if node is None or asked is None or (kept is not None and kept.key == asked.key and kept.lines):
            with store.writing(scope) as work:
                work.put_memory_file(WAITING, period.key, "")
            continue
        try:
            found, problem = _answer(asked_of, asked, kept, name=f"{model.name}, prompt {PROMPT_VERSION}")
        except ModelError as exc:
            problems.append(_stopped(exc))
            break
        problems += [f"{period.key}: {problem}"] if problem else []
        with store.writing(scope) as work:
            summaries = Summaries(work, settings, wants=True)
            now = work.node(period)
            if now is None or not summaries.eligible(now) or summaries.asked(now).key != asked.key:
                continue  # entries arrived meanwhile: the next compacting sees to it
            summaries.keep(work, period, found)
            if found.lines:
                written += 1
                work.keep_node(with_summary(now, found.lines, by=found.by, caps=settings.caps))
                for above in _above(period):
                    over = work.node(above)
                    if over is not None and summaries.eligible(over):
                        rebuild(work, above)
                        heappush(queue, _order(above))
            elif found.attempts < settings.attempts:
                blocked.add(period)
    return written, tuple(problems)


def _answer(model: LanguageModel, asked: _Asked, kept: Written | None, *, name: str) -> tuple[Written, str]:
    """What a model answered, and a sentence on what of it could not be used; empty if all could.

    Raises:
        ModelError: the call failed, so that there is no answer.
    """
    try:
        said = summarise_with(model, asked.prompt, asked.shown)
    except MalformedReply as exc:
        reason, tried = redact(exc.reason).text, kept.attempts if kept is not None and kept.key == asked.key else 0
        failed = Written(key=asked.key, failed=reason, attempts=tried + 1)
        return failed, f"the model's summary could not be used, the extractive one stands: {reason}."
    found = Written(key=asked.key, lines=tuple(redact(line).text for line in said.lines), by=name)
    return found, f"{said.dropped} of the model's lines named what the memory does not have, and were left out." if said.dropped else ""


def _stopped(error: ModelError) -> str:
    if isinstance(error, SpendCapReached):
        return (
            f"The cap of {error.cap} {error.what} per {error.period} is reached; the model writes the rest at the next: "
            f"tenure memory compact. Raise it: tenure config set spend.{error.what}_per_{error.period} N"
        )
    return f"The model could not be asked, the extractive summaries stand until the next compacting: {redact(str(error)).text}"


def _above(period: Period) -> tuple[Period, ...]:
    if period.kind == "day":
        return week_of(period.key), month_of(period.key)
    return months_of(period) if period.kind == "week" else ()


def _days(week: Period, own: set[str]) -> list[Period]:
    return [Period("day", day) for day in week.days if day in own]


def _kind(name: str) -> Kind:
    return "week" if "W" in name else "day" if len(name) == len("2026-03-15") else "month"


def _order(period: Period) -> tuple[int, str]:
    return _KINDS.index(period.kind), period.key
