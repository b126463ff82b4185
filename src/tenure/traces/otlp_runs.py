"""The spans of one trace to a run: in the order of the tree that they make, with an outcome where the spans tell one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from tenure.playbook.run import HONEST_SIGNALS, RELIABILITY, Origin, Outcome, Run, Signal, Task
from tenure.traces.openai_chat import verdict
from tenure.traces.otlp_messages import Piece, ToolUse, answered, asked, tool_use
from tenure.traces.otlp_spans import Kind, Span
from tenure.traces.otlp_telling import Telling
from tenure.traces.otlp_values import iso
from tenure.traces.report import ReadReport
from tenure.traces.shapes import digest, number_of, text_at
from tenure.traces.tool_errors import shortened
from tenure.traces.transcript import Transcript

HOST = "otlp"

TELLING_LENGTH = 40
"""Two tasks with fewer characters ("Go on") need not be the same."""

_EVALUATION = "gen_ai.evaluation.result"
_SESSIONS = ("gen_ai.conversation.id", "session.id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an evaluation of a run says.

    Attributes:
        name: what was evaluated; empty if it does not say.
        success: true, false, or none if neither label nor score decides.
        score: 0 to 1; none if there is none in that range.
        said: label, score and explanation, for a person.
        signal: who judged, where the event says so in `tenure.signal`; else `judge`.
    """

    name: str
    success: bool | None
    score: float | None
    said: str
    signal: Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What is kept of a span until its trace is whole.

    Attributes:
        id, parent, kind, start, end: as in `Span`.
        asked, answered: what was said in it.
        tool: of a tool's span, its use.
        error: what went wrong, empty if nothing did; `failed` says whether the span's status is an error.
        silent: whether it is the call of a model whose messages were not recorded.
        facts: session, kind and key of the task, where it says them.
        verdicts: evaluations noted on it.
    """

    id: str
    parent: str
    kind: Kind
    start: int
    end: int
    failed: bool
    asked: tuple[Piece, ...] = ()
    answered: tuple[Piece, ...] = ()
    tool: ToolUse | None = None
    error: str = ""
    silent: bool = False
    facts: Mapping[str, str]
    verdicts: tuple[Verdict, ...] = ()


class Trace:
    """The spans of one trace as they are read. Equal pieces are held once, so that histories do not add up."""

    def __init__(self, report: ReadReport) -> None:
        self.size = 0
        self._report = report
        self._scenes: dict[str, Scene] = {}
        self._pieces: dict[Piece, Piece] = {}

    def add(self, span: Span) -> None:
        """Adds a span; one that was sent twice counts once."""
        if span.id in self._scenes:
            self._report.repaired("span that was sent twice")
            return
        said: tuple[Piece, ...] = ()
        answer: tuple[Piece, ...] = ()
        tool: ToolUse | None = None
        if span.kind in ("model", "agent"):
            said, answer = self._once(asked(span, self._report)), self._once(answered(span, self._report))
        elif span.kind == "tool":
            tool = tool_use(span, self._report)
            self.size += len(tool.call.text) + len(tool.result.text)
        elif span.kind == "other" and not span.ours:
            self._report.repaired("span without GenAI attributes left out")
        session = text_at(span.attributes, *_SESSIONS)
        facts = {"session": session, **{name: text_at(span.attributes, f"tenure.task.{name}") for name in ("kind", "key")}}
        self.size += 500 + sum(map(len, facts.values()))
        self._scenes[span.id] = Scene(
            id=span.id,
            parent=span.parent,
            kind=span.kind,
            start=span.start or span.end,
            end=span.end or span.start,
            failed=span.failed,
            asked=said,
            answered=answer,
            tool=tool,
            error=shortened(span.error, 4096),
            silent=span.kind == "model" and not said and not answer,
            facts=facts,
            verdicts=tuple(_verdicts(span)),
        )

    def run(
        self,
        trace: str,
        *,
        scope: str,
        kept: Run | None = None,
        masked: Callable[[str], str] = str,
        whole: bool = True,
        origin: Origin | None = None,
    ) -> Run | None:
        """The run that the spans make; none if nothing was said or done in them.

        Args:
            trace: its id.
            scope: the scope the run goes to.
            kept: the run as earlier spans of the trace made it; its steps stay as they are.
            masked: how texts were changed before they were kept.
            whole: whether no more spans of the trace are to come. If not, only a root without a parent says how the run ended.
            origin: who sent the spans; none is an import.
        """
        order = _ordered(self._scenes)
        root = _root(order, whole)
        transcript = Transcript(self._report)
        if kept is not None:
            transcript.resume(kept)
        telling = Telling(transcript, masked=masked, kept=kept)
        _tell(order, telling)
        silent = sum(scene.silent for scene in self._scenes.values())
        self._report.repaired("model call whose messages were not recorded", silent)
        verdicts = [one for scene, frame in order if not frame.ends for one in scene.verdicts]
        outcome = _outcome(root, verdicts, self._report)
        if not transcript.steps:
            return None
        facts = {name: next((one for scene, _ in order if (one := scene.facts[name])), "") for name in ("session", "kind", "key")}
        task = _task(facts, transcript)
        run = transcript.run(f"otlp:{trace}", host=HOST, scope=scope, session=facts["session"], task=task, outcome=outcome)
        times = [scene for scene, _ in order if scene.start]
        started = iso(min((scene.start for scene in times), default=0))
        over = whole or (root is not None and not root.parent)
        run = replace(
            run, started=started, ended=iso(max((scene.end for scene in times), default=0)) if over else "", origin=origin or run.origin
        )
        return run if kept is None else _continued(kept, run)

    def _once(self, pieces: Iterable[Piece]) -> tuple[Piece, ...]:
        found: list[Piece] = []
        for piece in pieces:
            if piece not in self._pieces:
                self.size += len(piece.text)
                self._pieces[piece] = piece
            found.append(self._pieces[piece])
        self.size += 8 * len(found)
        return tuple(found)


def _continued(kept: Run, run: Run) -> Run:
    task = kept.task if kept.task.text.strip() else run.task
    return replace(
        run,
        scope=kept.scope or run.scope,
        task=replace(task, kind=task.kind or run.task.kind, key=task.key or run.task.key),
        outcome=run.outcome if run.outcome.known else kept.outcome,
        session=kept.session or run.session,
        started=min(filter(None, (kept.started, run.started)), default=""),
        ended=run.ended or kept.ended,
        shown=kept.shown,
        withheld=kept.withheld,
        cited=kept.cited,
        draws=kept.draws,
    )


# -- the tree --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a span stands in the tree.

    Attributes:
        agents: frames of agents around it.
        inside_tool: whether a tool is around it: an agent there was asked by another.
        judged: whether it is part of an evaluation.
        model: whether another call of a model is around it.
        ends: whether this is where the span ends.
    """

    agents: int = 0
    inside_tool: bool = False
    judged: bool = False
    model: bool = False
    ends: bool = False


def _ordered(scenes: Mapping[str, Scene]) -> list[tuple[Scene, Frame]]:
    """Beginnings and ends of spans: a parent around its children, siblings by their start. A ring of parents is cut open."""
    first = sorted(scenes.values(), key=lambda scene: (scene.start, scene.end, scene.id))
    children: defaultdict[str, list[Scene]] = defaultdict(list)
    for scene in first:
        children[scene.parent if scene.parent in scenes and scene.parent != scene.id else ""].append(scene)
    told: list[tuple[Scene, Frame]] = []
    seen: set[str] = set()
    for start in (*children[""], *first):
        if start.id in seen:
            continue
        waiting = [(start, Frame())]
        while waiting:
            scene, frame = waiting.pop()
            told.append((scene, frame))
            if frame.ends:
                continue
            seen.add(scene.id)
            inner = Frame(
                agents=frame.agents + (scene.kind == "agent"),
                inside_tool=frame.inside_tool or scene.kind == "tool",
                judged=frame.judged or scene.kind == "judge",
                model=frame.model or (scene.kind == "model" and bool(scene.answered)),
            )
            waiting.append((scene, replace(frame, ends=True)))
            waiting.extend((child, inner) for child in reversed(children[scene.id]) if child.id not in seen)
    return told


def _root(order: Sequence[tuple[Scene, Frame]], whole: bool) -> Scene | None:
    """The span that stands for the whole run; none if it is not there, or cannot be told."""
    tops = [scene for scene, frame in order if not frame.ends and not scene.parent]
    if not tops and whole:
        inner = {scene.id for scene, _ in order}
        tops = [scene for scene, frame in order if not frame.ends and scene.parent not in inner and scene.kind == "agent"]
    return tops[0] if len(tops) == 1 else None


def _tell(order: Sequence[tuple[Scene, Frame]], telling: Telling) -> None:
    spoken = _spoken(order)
    for scene, frame in order:
        if frame.judged or frame.model or scene.kind in ("judge", "other"):
            continue
        at = iso(scene.end if frame.ends else scene.start)
        by_agent = frame.inside_tool or frame.agents > (1 if scene.kind == "model" else 0)
        if scene.tool is not None:
            if frame.ends:
                telling.returned(scene.id, scene.tool, at)
            else:
                telling.called(scene.id, scene.tool, at, iso(scene.end))
        elif scene.kind == "model" or (scene.kind == "agent" and not frame.agents and scene.id not in spoken):
            if frame.ends:
                telling.answer(scene.answered, at)
                if scene.error and scene.kind == "model":
                    telling.failure(scene.error, at)
            else:
                telling.history(scene.asked, at, by_agent=by_agent)


def _spoken(order: Sequence[tuple[Scene, Frame]]) -> set[str]:
    """Frames of agents in which a call of a model tells what was said: what they say themselves is said there."""
    spoken: set[str] = set()
    around: list[str] = []
    for scene, frame in order:
        if frame.ends:
            around.pop()
            continue
        around.append(scene.id)
        if scene.kind == "model" and (scene.asked or scene.answered):
            spoken.update(around)
    return spoken


# -- how it ended ----------------------------------------------------------------------------------


def _task(facts: Mapping[str, str], transcript: Transcript) -> Task:
    key = facts["key"]
    if not key and len(transcript.task) >= TELLING_LENGTH:
        opening = next((step.content for step in transcript.steps if step.role == "system"), "")
        key = f"otlp:{digest(opening, transcript.task)}"
    return Task(text=transcript.task, kind=facts["kind"], key=key)


def _verdicts(span: Span) -> Iterator[Verdict]:
    for event in span.events:
        if event.name != _EVALUATION:
            continue
        given = event.attributes
        name, label = text_at(given, "gen_ai.evaluation.name"), text_at(given, "gen_ai.evaluation.score.label")
        number = number_of(given.get("gen_ai.evaluation.score.value"))
        score = number if number is not None and 0.0 <= number <= 1.0 else None
        success = verdict(label)
        signal = text_at(given, "tenure.signal")
        parts = (name, label, f"score {number:g}" if number is not None else "", text_at(given, "gen_ai.evaluation.explanation"))
        yield Verdict(
            name=name,
            success=success if success is not None else score >= 0.5 if score is not None else None,
            score=score,
            said=": ".join(filter(None, parts)),
            signal=cast(Signal, signal) if signal in RELIABILITY else "judge",
        )


def _outcome(root: Scene | None, verdicts: Sequence[Verdict], report: ReadReport) -> Outcome:
    """How the run ended: by an evaluation that comes from outside the model, by the root's error, or by another evaluation.

    Of evaluations with one name the last counts. Where several do not agree, nobody knows.
    """
    last = {verdict.name: verdict for verdict in verdicts}
    said = shortened("; ".join(verdict.said for verdict in last.values() if verdict.said), 4096)
    decided = [verdict for verdict in last.values() if verdict.success is not None]
    honest = [verdict for verdict in decided if verdict.signal in HONEST_SIGNALS]
    at = iso(root.end) if root is not None else ""
    if not honest and root is not None and root.failed:
        return Outcome(success=False, feedback="; ".join(filter(None, (root.error, said))), signal="environment", at=at)
    decided = honest or decided
    if not decided:
        return Outcome(feedback=said, at=at if said else "")
    if len({verdict.success for verdict in decided}) > 1:
        report.repaired("outcome left undecided, for evaluations do not agree")
        return Outcome(feedback=said, at=at)
    scores = [verdict.score for verdict in decided if verdict.score is not None]
    signal = min((verdict.signal for verdict in decided), key=lambda signal: RELIABILITY[signal])
    score = sum(scores) / len(scores) if len(scores) == len(decided) else None
    return Outcome(success=decided[0].success, score=score, feedback=said, signal=signal, at=at)
