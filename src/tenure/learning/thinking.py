"""Reflection on a run, by plain code and, if there is one, by a model. No transaction is open meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tenure.errors import MalformedReply, ModelError, SpendCapReached
from tenure.governance.redaction import redact
from tenure.learning.kept_replies import kept_reply
from tenure.learning.revising import Revising
from tenure.playbook.lessons import Lesson
from tenure.playbook.run import Run
from tenure.ports import FailedReply, LanguageModel, Metered, Postponed, Prompt, Reply, Usage
from tenure.postponed import Limit
from tenure.roles.curate import Curation, curate_with
from tenure.roles.extract import extract
from tenure.roles.reflect import reflect_with
from tenure.roles.reflection import Insight, Reflection
from tenure.roles.taint import UntrustedText
from tenure.telemetry import span

_LIMITS: Mapping[str, Limit] = {"run": "run", "day": "day", "scope": "scope"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What reflection on a run gave, before anything is written.

    Attributes:
        plain: by plain code; curated inside the transaction, against the playbook as it is then.
        model: by the model; none without one, or if its reply could not be used.
        curation: the model's proposals; none where there are none.
        revising: what came of revising the lessons that the run used.
        failed: replies that could not be used, to be kept.
        problems: a sentence for each thing that went wrong.
        usage: of the model calls.
        postponed: why the model's part was left for later; none if it was done, or there is no model.
        unheard: whether the model's tags do not count, because the run holds text of strangers who could have asked for
            them: a page that says "that lesson misled you" must not cost a lesson its standing. The outcome alone counts then.
    """

    plain: Reflection
    model: Reflection | None = None
    curation: Curation | None = None
    revising: Revising = field(default_factory=Revising)
    failed: tuple[FailedReply, ...] = ()
    problems: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    postponed: Postponed | None = None
    unheard: bool = False

    @property
    def author(self) -> str:
        """Who the delta is by."""
        return self.plain.author if self.model is None else self.model.author

    @property
    def tags(self) -> dict[str, str]:
        """What each used lesson did, by id; the model's word where there is one."""
        return _tags(self.plain) if self.model is None or self.unheard else _tags(self.plain, self.model)

    @property
    def ignored(self) -> tuple[str, ...]:
        """A sentence for each lesson that a model's tag would have counted against, and does not."""
        tags = self.model.tags if self.model is not None and self.unheard else ()
        why = "the model says that it misled, but the run holds text of strangers who could have asked for that; only the outcome counts"
        return tuple(f"lesson '{tag.id}': {why}" for tag in tags if tag.tag == "harmful")


def think(
    run: Run,
    *,
    earlier: Sequence[Run],
    used: Sequence[Lesson],
    since: int,
    model: LanguageModel | None,
    rounds: int,
    written: int,
    revise: Callable[[Mapping[str, str], LanguageModel | None], Revising],
    related: Callable[[str], Sequence[Lesson]],
    tables: Callable[[], Sequence[tuple[str, str]]],
    new_id: Callable[[], str],
    at: str,
    pause: str = "",
) -> Thought:
    """Reflect on a run, revise the lessons it used, and curate what it teaches beside the revised ones.

    Args:
        run: already redacted.
        earlier: runs to compare it with.
        used: the lessons it was shown or named.
        since: steps that were learned from before.
        model: none works without one.
        rounds: refinement rounds of the model's reflection.
        written: new lessons that the model may write.
        revise: revises the used lessons, given what each is said to have done, by id, and the model that is asked.
        related: lessons that hold words of a text, for the Curator.
        tables: section and name of the tables of numbers that are there, for the Curator.
        new_id: names a failed reply.
        at: the present moment, ISO 8601.
        pause: why the model is not asked this time; empty asks it.
    """
    with span("tenure.reflect", run=run.id, by="code") as told:
        plain = extract(run, earlier=earlier, since=since)
        told.note(count=len(plain.insights))
    if model is None:
        return Thought(plain=plain, revising=revise(_tags(plain), None))
    if pause:
        put_off = Postponed(run=run.id, limit="pause", reason=redact(pause).text, at=at)
        return Thought(plain=plain, revising=revise(_tags(plain), None), postponed=put_off)
    counted = _Counted(model.for_run(run.id, scope=run.scope) if isinstance(model, Metered) else model)

    def failed(purpose: str, error: ModelError) -> Thought:
        reason = error.reason if isinstance(error, MalformedReply) else str(error)
        put_off = Postponed(
            run=run.id,
            limit=_LIMITS.get(error.period, "run") if isinstance(error, SpendCapReached) else "model",
            reason=f"{purpose}: {redact(reason).text}",
            attempts=1 if counted.usage.calls else 0,
            at=at,
        )
        # What a cap held back, or never came, is no reply: only why is kept.
        kept = (kept_reply(error, id_=new_id(), run=run.id, purpose=purpose, at=at),) if isinstance(error, MalformedReply) else ()
        problem = f"run {run.id}: the model's {purpose} step failed: {reason}"
        return Thought(plain=plain, failed=kept, problems=(problem,), usage=counted.usage, postponed=put_off)

    try:
        with span("tenure.reflect", run=run.id, by="model") as told:
            reflection = reflect_with(counted, run, used, rounds=rounds)
            told.note(count=len(reflection.insights))
    except ModelError as exc:
        return replace(failed("reflect", exc), revising=revise(_tags(plain), None))
    # A later round that could not be read ends the refinement; what it said is kept all the same.
    lost: tuple[FailedReply, ...] = ()
    if reflection.failed_reply:
        unread = MalformedReply("a refinement round could not be read", reply=reflection.failed_reply)
        lost = (kept_reply(unread, id_=new_id(), run=run.id, purpose="reflect", at=at),)
    unheard = bool(reflection.tags) and UntrustedText(run).has_carrier
    revising = revise(_tags(plain) if unheard else _tags(plain, reflection), counted)
    # A revision that alone was held back leaves something to do later too.
    held_back = failed("revise", revising.stopped).postponed if revising.stopped is not None else None
    if not reflection.insights and not reflection.figures:
        return Thought(
            plain=plain, model=reflection, revising=revising, failed=lost, usage=counted.usage, postponed=held_back, unheard=unheard
        )
    # What is new is written last, beside the revised lessons, so that it complements them.
    revised = {lesson.id: lesson for lesson in revising.lessons}
    others = [lesson for lesson in related(_said(reflection.insights)) if lesson.id not in revised]
    try:
        with span("tenure.curate", run=run.id, by="model", lessons=len(others)):
            curation = curate_with(
                counted,
                reflection,
                others,
                revised=revising.lessons,
                most=written,
                run=run,
                tables=tables() if reflection.figures else (),
            )
    except ModelError as exc:
        return replace(failed("curate", exc), model=reflection, revising=revising, unheard=unheard)
    if curation.failed_reply is not None:
        unread = MalformedReply(curation.failure, reply=curation.failed_reply)
        return replace(failed("curate", unread), model=reflection, curation=curation, revising=revising, unheard=unheard)
    return Thought(
        plain=plain,
        model=reflection,
        curation=curation,
        revising=revising,
        failed=lost,
        usage=counted.usage,
        postponed=held_back,
        unheard=unheard,
    )


def _tags(*reflections: Reflection) -> dict[str, str]:
    return {tag.id: tag.tag for reflection in reflections for tag in reflection.tags}


def _said(insights: Sequence[Insight]) -> str:
    return " ".join(f"{insight.text} {insight.applies_when}" for insight in insights)


class _Counted:
    """A model that adds up what its calls used."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.usage = Usage()

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, prompt: Prompt) -> Reply:
        try:
            reply = self._model.complete(prompt)
        except ModelError as exc:
            self.usage += Usage(calls=exc.calls)
            raise
        self.usage += reply.usage
        return reply
