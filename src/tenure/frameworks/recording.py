"""The exchanges of an agent with its model, as steps of a run: each thing that was said once, however often it is sent again.

A client of a model is handed the whole conversation with every call. What stands in the run already is known by its text,
so only what is new becomes a step.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

from tenure.active_run import ActiveRun
from tenure.errors import UserError
from tenure.playbook.run import Step
from tenure.roles.generate import cited_ids
from tenure.traces.openai_chat import add_message
from tenure.traces.report import ReadReport
from tenure.traces.transcript import HOST, Transcript


class Recording:
    """What of a run's exchanges stands in its steps, and where in its conversations the lessons stand.

    Attributes:
        anchors: the messages in front of which recall was put, by digest, with their places.
        replies: ids of replies that the provider keeps, and that later requests may go on from.
    """

    def __init__(self) -> None:
        self.anchors: dict[str, int] = {}
        self.replies: set[str] = set()
        self._report = ReadReport()
        self._transcript = Transcript(self._report)
        self._places: dict[tuple[str, ...], list[int]] = {}
        self._count = 0
        self._told: set[str] = set()
        self._lock = RLock()

    def take(self, run: ActiveRun, add: Callable[[Transcript, ReadReport], None], *, new: bool = False) -> None:
        """Report what a conversation holds beyond the steps that the run has.

        Args:
            run: it is told.
            add: puts the conversation, or its next piece, into a transcript.
            new: whether all of it is new, as a reply is.
        """
        with self._lock:
            add(self._transcript, self._report)
            steps = list(self._transcript.steps)
            self._transcript.steps.clear()  # names of tools stay known: a result may come in a later piece than its call
            reached, before = 0, self._count
            for step in steps:
                signature = _signature(step)
                places = self._places.setdefault(signature, [])
                found = len(places) if new else bisect_left(places, reached)
                if found < len(places) and places[found] < before:  # what is said twice in one conversation is two steps
                    reached = places[found] + 1
                    continue
                places.append(self._count)
                self._count += 1
                report_step(run, step)
            for said in [*self._report.repairs, *(f"unknown: {kind}" for kind in self._report.unknown_kinds)]:
                if said not in self._told:
                    self._told.add(said)
                    run.step("event", said, name="not_kept", origin=HOST)


_RECORDINGS: WeakKeyDictionary[ActiveRun, Recording] = WeakKeyDictionary()
_FINDING = RLock()


def recording_of(run: ActiveRun) -> Recording:
    """The recording of a run; there is one for all its clients."""
    with _FINDING:
        return _RECORDINGS.setdefault(run, Recording())


def record_messages(run: ActiveRun, messages: Iterable[Any]) -> None:
    """Report a conversation so far as steps of a run. What was reported of it before is not reported again.

    Lessons that the agent's own messages name in square brackets, as they are shown, count as cited.

    Args:
        run: the run that is under way.
        messages: in the form of the OpenAI chat API or with Anthropic's content blocks, as dictionaries or as the
            clients' objects. A result of a tool counts as an error if its message has `is_error`, else if it reads like one.

    Raises:
        UserError: the run is finished, or one of them has no such form.
    """
    said = [message_of(one) for one in messages]
    recording_of(run).take(run, lambda transcript, report: _add_all(transcript, report, said))


def message_of(message: object) -> Mapping[str, Any]:
    """A message as a dictionary.

    Raises:
        UserError: it has no such form.
    """
    read = plain(message)
    if not isinstance(read, dict) or not isinstance(read.get("role"), str):
        raise UserError(f"{message!r:.80} is no message with a role. Give messages such as {{'role': 'user', 'content': '...'}}")
    return read


def plain(value: Any) -> Any:
    """A value of a client's library as JSON would have it; what is None is left out of the library's objects."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True, warnings=False)
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def report_step(run: ActiveRun, step: Step) -> None:
    """Report one step, with the present moment as its time, and the lessons that the agent names in it."""
    run.step(
        step.kind,
        step.content,
        role=step.role,
        name=step.name,
        arguments=dict(step.arguments),
        error=step.error,
        call_id=step.call_id,
        origin=step.origin,
    )
    if step.role == "assistant" and step.kind in ("message", "tool_call"):
        said = f"{step.content}\n{_json(step.arguments).replace(chr(34), '')}" if step.arguments else step.content
        run.cite(cited_ids(said, run.shown.lessons))


def _add_all(transcript: Transcript, report: ReadReport, messages: Sequence[Mapping[str, Any]]) -> None:
    for message in messages:
        add_message(transcript, message, report)


def _signature(step: Step) -> tuple[str, ...]:
    """What makes two steps the same: all but when, and the name of a result's tool, which may be known from its call alone."""
    name = "" if step.kind == "tool_result" and step.call_id else step.name
    return (step.kind, step.role, name, _json(step.arguments), step.content, step.error, step.call_id)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), sort_keys=True, ensure_ascii=False, default=str)
