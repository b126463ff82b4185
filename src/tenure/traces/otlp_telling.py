"""What was said in the spans of a trace, into a transcript: each thing once, however many spans repeat it.

Every call of a model carries the conversation so far. What of it is in the run already is found again and left out; what is new is
appended. The law that makes this safe: the pieces of a history are matched with what was said in its order, never out of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tenure.playbook.run import Run, Step
from tenure.traces.echo import without_injected
from tenure.traces.otlp_messages import Piece, PieceKind, ToolUse
from tenure.traces.tool_errors import shortened
from tenure.traces.transcript import PARENT_AGENT, TEXT_LIMIT, Transcript

_SPAN = re.compile(r"[0-9a-f]{16}")

Key = tuple[str, ...]


class Telling:
    """Puts the pieces of spans into a transcript.

    A call and its result are told by up to three spans: the model's answer, the tool's own span, and the history of the next call of a
    model. Their id joins them; a tool's span without one is joined to the first open call of the tool, that with equal arguments before
    others, and has its span's id where there is none.
    """

    def __init__(self, transcript: Transcript, *, masked: Callable[[str], str], kept: Run | None = None) -> None:
        """Starts with what is in the run already.

        Args:
            transcript: where steps go.
            masked: how texts were changed before they were kept.
            kept: the run so far, whose steps the transcript has.
        """
        self._transcript = transcript
        self._masked = masked
        self._forms: dict[str, str] = {}
        self._said: defaultdict[Key, list[int]] = defaultdict(list)  # places in the order of saying
        self._length = 0
        self._stamped: set[tuple[Key, str]] = set()
        self._calls: Counter[str] = Counter()  # by id, as are the next three
        self._results: Counter[str] = Counter()
        self._answered: Counter[str] = Counter()  # calls that a model's answer told
        self._used: Counter[str] = Counter()  # calls that a tool's own span stands for
        self._open: defaultdict[str, list[Piece]] = defaultdict(list)  # by tool: calls without a result
        self._unnamed: defaultdict[str, list[Piece]] = defaultdict(list)  # by tool: calls that have their span's id
        self._same: dict[str, str] = {}  # ids of calls that were told under their span's id
        self._spans: dict[str, str] = {}  # the call that a tool's span stands for
        for step in kept.steps if kept is not None else ():
            piece = _piece(step)
            self._note(piece, step.at)

    def history(self, pieces: Sequence[Piece], at: str, *, by_agent: bool) -> None:
        """Tells what a model was given, as far as it is new.

        Args:
            pieces: the conversation so far.
            at: when the call began.
            by_agent: whether another agent speaks in the user's place.
        """
        place, until = -1, self._length
        met: Counter[tuple[PieceKind, str]] = Counter()
        told = {"call": self._calls.copy(), "result": self._results.copy()}
        for piece in pieces:
            if piece.kind in told and piece.call_id:
                call_id = self._named(piece)
                met[piece.kind, call_id] += 1
                known = met[piece.kind, call_id] <= told[piece.kind][call_id]
            else:
                places = self._said.get(self._key(piece), [])
                found = bisect_right(places, place)
                known = found < len(places) and places[found] < until
                place = places[found] if known else place
            if not known:
                self._put(piece, at, by_agent=by_agent)

    def answer(self, pieces: Iterable[Piece], at: str) -> None:
        """Tells what a model answered. It is new, unless the run has it from the same moment, or a tool's own span told the call."""
        for piece in pieces:
            if (self._key(piece), at) in self._stamped:
                continue
            if piece.kind == "call" and piece.call_id:
                call_id = self._named(piece)
                self._answered[call_id] += 1
                if self._answered[call_id] <= self._calls[call_id]:
                    continue
            self._put(piece, at)

    def called(self, span: str, use: ToolUse, at: str, until: str) -> None:
        """Tells a tool's call, unless the model's answer told it.

        Args:
            span: id of the tool's span.
            use: what it tells.
            at: when it began.
            until: when it ended.
        """
        if until and (self._key(use.result), until) in self._stamped:
            self._spans[span] = ""  # the span was told before
            return
        call_id = use.call.call_id or (span if self._calls[span] else "")
        if not call_id:
            waiting = self._open[use.call.name]
            found = next((one for one in waiting if one.text == use.call.text), waiting[0] if waiting else None)
            if found is not None and not found.call_id:
                waiting.remove(found)
                self._spans[span] = ""
                return
            call_id = found.call_id if found is not None else span
        self._spans[span] = call_id
        self._used[call_id] += 1
        if self._used[call_id] <= self._calls[call_id]:
            self._close(use.call.name, call_id)
            return
        self._put(replace(use.call, call_id=call_id), at)
        self._close(use.call.name, call_id)
        if call_id == span and not _SPAN.fullmatch(span):
            self._unnamed[use.call.name].append(replace(use.call, call_id=call_id))

    def returned(self, span: str, use: ToolUse, at: str) -> None:
        """Tells a tool's result, unless the run has it."""
        call_id = self._spans.get(span, "")
        if (self._key(use.result), at) in self._stamped or (call_id and self._results[call_id] >= self._calls[call_id]):
            return
        self._put(replace(use.result, call_id=call_id), at, error=use.error)

    def failure(self, error: str, at: str) -> None:
        """Tells that a call of a model failed."""
        key = ("event", self._form(error))
        if (key, at) not in self._stamped:
            self._stamped.add((key, at))
            self._transcript.event("api_error", error, at)

    def _named(self, piece: Piece) -> str:
        """The id under which the run has a call: that of the tool's span, where that told it first without an id."""
        if piece.call_id not in self._same and not self._calls[piece.call_id] and piece.kind == "call":
            waiting = self._unnamed[piece.name]
            found = next((one for one in waiting if one.text == piece.text), None)
            if found is not None:
                waiting.remove(found)
                self._same[piece.call_id] = found.call_id
        return self._same.get(piece.call_id, piece.call_id)

    def _put(self, piece: Piece, at: str, *, by_agent: bool = False, error: str = "") -> None:
        self._note(piece, at)
        told = self._transcript
        if piece.kind == "system":
            told.system(piece.text, at)
        elif piece.kind == "person":
            told.person(piece.text, at, speaker=PARENT_AGENT if by_agent else None)
        elif piece.kind == "agent":
            told.agent(piece.text, at)
        elif piece.kind == "thought":
            told.thought(piece.text, at)
        elif piece.kind == "call":
            told.call(piece.name, piece.text, piece.call_id, at)
        else:
            told.result(piece.text, piece.call_id, name=piece.name, flag=piece.flag, error=error, at=at)

    def _note(self, piece: Piece, at: str) -> None:
        key = self._key(piece)
        self._stamped.add((key, at))
        self._said[key].append(self._length)
        self._length += 1
        if piece.kind == "call":
            self._calls[piece.call_id] += 1
            self._open[piece.name].append(piece)
            if _SPAN.fullmatch(piece.call_id):
                self._unnamed[piece.name].append(piece)
        elif piece.kind == "result":
            self._results[piece.call_id] += 1
            self._close(piece.name, piece.call_id)

    def _close(self, tool: str, call_id: str) -> None:
        waiting = self._open[tool]
        found = next((one for one in waiting if one.call_id == call_id), None)
        if found is not None:
            waiting.remove(found)

    def _key(self, piece: Piece) -> Key:
        if piece.kind == "call":
            return ("call", piece.name, self._form(piece.text))
        return (piece.kind, self._form(piece.text))

    def _form(self, text: str) -> str:
        """A text as the run has it, in short."""
        form = self._forms.get(text)
        if form is None:
            form = self._masked(shortened(without_injected(text), TEXT_LIMIT)).strip()
            self._forms[text] = form = form if len(form) <= 64 else hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()
        return form


def _piece(step: Step) -> Piece:
    """What a step of a run says."""
    if step.kind == "tool_call":
        text = json.dumps(dict(step.arguments), ensure_ascii=False, sort_keys=True) if step.arguments else step.content
        return Piece(kind="call", text=text, name=step.name, call_id=step.call_id)
    if step.kind == "tool_result":
        return Piece(kind="result", text=step.content, name=step.name, call_id=step.call_id)
    if step.kind == "thought":
        return Piece(kind="thought", text=step.content)
    roles: dict[str, PieceKind] = {"system": "system", "user": "person"}
    return Piece(kind=roles.get(step.role, "agent"), text=step.content)
