"""Reflections and revisions by a model that somebody else asked: the model of the host that an agent runs in.

It is given the very prompt that a model of ours would get, and its answer is read, held against the run, admitted and
written as that of a model of ours. It is trusted less in one respect: it has read more than the run, so what it says
stands by itself only as far as trusted texts of the run speak of it; the rest waits for a person (see design/mcp.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tenure.errors import MalformedReply, UserError
from tenure.governance.redaction import redact
from tenure.learning.kept_replies import kept_reply
from tenure.learning.learned import Learned
from tenure.learning.observing import Recollection
from tenure.learning.replay import Replaying
from tenure.learning.revising import Revising, Tested, find_tested, propose
from tenure.learning.thinking import Thought
from tenure.playbook.credit import credit
from tenure.playbook.lessons import Lesson
from tenure.playbook.revision import enough
from tenure.playbook.run import Run
from tenure.ports import Clock, IdSource, LanguageModel, Prompt, Reading, Reply, Store, Writing
from tenure.roles.curate import LONGEST_TEXT, Curation, curate_plain
from tenure.roles.reflect import reflect_with, reflection_prompt
from tenure.roles.reflection import Reflection
from tenure.roles.revise import revise_with, revision_prompt
from tenure.roles.taint import UntrustedText
from tenure.settings import Settings, read_settings


class SubmittedReply:
    """A model that has answered already: whatever it is asked, it gives the reply that was handed in.

    Args:
        text: the reply, as it came.
        name: of the model, as deltas write it.
    """

    def __init__(self, text: str, *, name: str) -> None:
        self._text, self.name = text, name

    def complete(self, prompt: Prompt) -> Reply:
        """The reply. It cost nothing here: the host paid for it."""
        return Reply(text=self._text, model=self.name)


class Submitting(ABC):
    """What a `Learner` does with the answers of a host's model."""

    _store: Store
    _clock: Clock
    _ids: IdSource
    _recollection: Recollection
    replaying: Replaying

    @staticmethod
    @abstractmethod
    def _used(reading: Reading, run: Run) -> list[Lesson]: ...

    @abstractmethod
    def _revise(self, run: Run, used: Sequence[Lesson], tags: Mapping[str, str], model: LanguageModel | None, most: int) -> Revising: ...

    @abstractmethod
    def _write(
        self,
        work: Writing,
        run: Run,
        thought: Thought,
        used: Sequence[Lesson],
        settings: Settings,
        *,
        later: bool = False,
        name: str = "reflect",
    ) -> Learned: ...

    def reflection_asked(self, scope: str, run_id: str) -> Prompt:
        """What to ask a model about a run that was learned from.

        Raises:
            UserError: the run is not there, its outcome was not reported, or a model reflected on it.
        """
        with self._store.reading(scope) as reading:
            run = _learned_run(reading, run_id)
            return reflection_prompt(run, self._used(reading, run))

    def reflect_submitted(self, scope: str, run_id: str, reply: str, *, model: str) -> Learned:
        """Take what a host's model says of a run; durable on return.

        Raises:
            UserError: as for `reflection_asked`, or the reply cannot be read; it is kept and nothing is learned.
        """
        with self._store.reading(scope) as reading:
            run = _learned_run(reading, run_id)
            used, settings = self._used(reading, run), read_settings(reading.setting)
        try:
            said = reflect_with(SubmittedReply(reply, name=model), run, used, rounds=0)
        except MalformedReply as exc:
            raise self._kept(scope, run_id, "reflect", exc) from exc
        most = settings.whole("learn.lessons_by_model")
        reflection = _doubted(replace(said, insights=said.insights[:most]), run)
        tags = {tag.id: tag.tag for tag in reflection.tags}
        curated = curate_plain(reflection, lambda _: None)
        thought = Thought(
            plain=Reflection(run=run.id),
            model=reflection,
            curation=Curation(operations=(*curated.operations, *reflection.figures), rejections=curated.rejections),
            revising=self._revise(run, used, tags, None, settings.whole("revise.k")),
        )
        with self._store.writing(scope) as work:
            _learned_run(work, run_id)  # another process may have taken an answer meanwhile
            learned = self._write(work, run, thought, used, settings, later=True)
        over = [
            f"a run gives at most {most} new lesson{'s' * (most != 1)} of a model (learn.lessons_by_model)" for _ in said.insights[most:]
        ]
        lost = tuple(f"not taken over: {why}" for why in (*said.dropped, *over, *(one.reason for one in curated.rejections)))
        return replace(learned, problems=(*learned.problems, *lost))

    def revision_asked(self, scope: str, lesson_id: str, run_id: str) -> Prompt:
        """What to ask a model about a lesson that a run used and that misled or did nothing.

        Raises:
            UserError: run or lesson are not there, or the run is not reason enough to revise the lesson.
        """
        with self._store.reading(scope) as reading:
            run, tested = self._in_doubt(reading, lesson_id, run_id)
        return revision_prompt(tested.lesson, source=tested.source, run=run)

    def revise_submitted(self, scope: str, lesson_id: str, run_id: str, reply: str, *, model: str) -> Learned:
        """Take what a host's model says of a used lesson; durable on return. What fails a check is in `left`.

        Raises:
            UserError: as for `revision_asked`, or the reply cannot be read; it is kept and nothing changes.
        """
        with self._store.reading(scope) as reading:
            run, tested = self._in_doubt(reading, lesson_id, run_id)
            settings = read_settings(reading.setting)
        lesson = tested.lesson
        try:
            rewrite = revise_with(SubmittedReply(reply, name=model), lesson, source=tested.source, run=run)
        except MalformedReply as exc:
            raise self._kept(scope, run_id, "revise", exc) from exc
        found = propose(tested, rewrite, run)
        if isinstance(found, str):
            return Learned(run=run_id, left=(f"lesson '{lesson.id}': {found}",))
        revising = Revising(proposals=(found[0],), before={lesson.id: (lesson.text, lesson.applies_when)})
        thought = Thought(plain=Reflection(run=run_id, author=rewrite.author), revising=revising)
        with self._store.writing(scope) as work:
            self._in_doubt(work, lesson_id, run_id)
            _drop_failed(work, run_id, "revise")
            return self._write(work, run, thought, [lesson], settings, later=True, name=_revision(lesson.id))

    def _in_doubt(self, reading: Reading, lesson_id: str, run_id: str) -> tuple[Run, Tested]:
        """The run, and the lesson with all that a revision needs."""
        run = _known_run(reading, run_id)
        used = self._used(reading, run)
        lesson = next((one for one in used if one.id == lesson_id), None)
        if lesson is None:
            given = ", ".join(one.id for one in used[:10]) or "none"
            raise UserError(f"Run '{run_id}' was not given the lesson '{lesson_id}'. It was given: {given}.")
        if len(lesson.text) > LONGEST_TEXT:
            raise UserError(f"Lesson '{lesson_id}' has {len(lesson.text):,} characters: a document, which a model could only cut short.")
        if _was_written(reading, run_id, _revision(lesson_id), of=lesson_id):
            raise UserError(f"Lesson '{lesson_id}' was held against run '{run_id}' before. One run revises a lesson once.")
        # That it misled is what a host says by asking; whether an honest outcome agrees, and often enough, is counted here.
        counts = credit(run, tags={lesson_id: "harmful"})
        tested = find_tested(
            reading, run, [lesson], counts, seen_again={}, most=1, recollection=self._recollection, replaying=self.replaying
        )
        if not tested:
            raise UserError(
                f"Run '{run_id}' does not speak against lesson '{lesson_id}'. That takes a failure reported with a signal other "
                "than the agent's own word (test, environment or human)."
            )
        if not enough(tested[0].uses):
            failures = sum(use.failed for use in tested[0].uses)
            raise UserError(
                f"Lesson '{lesson_id}' failed in {failures} of {len(tested[0].uses)} known uses, which noise may explain. "
                "It stays as it is."
            )
        return run, tested[0]

    def _kept(self, scope: str, run_id: str, purpose: str, error: MalformedReply) -> UserError:
        """The error to tell, once the reply is kept in place of the last one that could not be read."""
        kept = kept_reply(error, id_=self._ids.next(), run=run_id, purpose=purpose, at=self._clock.now().isoformat())
        with self._store.writing(scope) as work:
            _drop_failed(work, run_id, purpose)
            work.keep_failed_reply(kept)
        return UserError(
            f"The reply cannot be used: {redact(error.reason).text}. It was kept and nothing was learned; hand in a whole one."
        )


def _known_run(reading: Reading, run_id: str) -> Run:
    from tenure.learning.loop import why_unwanted

    run = reading.run(run_id)
    if run is None:
        raise UserError(f"Run '{run_id}' is not in scope '{reading.scope}'.")
    unwanted = why_unwanted(reading, run)
    if unwanted:
        raise UserError(f"Run '{run_id}' teaches nothing: {unwanted}.")
    if reading.learned_steps(run_id) is None:
        raise UserError(f"Run '{run_id}' has no outcome yet. Report it first.")
    return run


def _learned_run(reading: Reading, run_id: str) -> Run:
    """A run that was learned from and that no model has reflected on."""
    run = _known_run(reading, run_id)
    if _was_written(reading, run_id, "reflect"):
        raise UserError(f"A model has reflected on run '{run_id}' already. One reflection a run is taken.")
    return run


def _was_written(reading: Reading, run_id: str, name: str, *, of: str = "") -> bool:
    """Whether a delta of this name was written for a run; `of` is a lesson that it changes."""
    return any((entry.delta.key or "").startswith(f"{name}:{run_id}:") for entry in reading.ledger_naming(list(filter(None, (run_id, of)))))


def _revision(lesson_id: str) -> str:
    return f"revise:{lesson_id}"


def _doubted(reflection: Reflection, run: Run) -> Reflection:
    """The reflection, with what trusted texts of the run do not speak of marked as perhaps a stranger's."""
    outside = UntrustedText(run)
    return replace(
        reflection,
        insights=tuple(
            replace(one, basis="untrusted")
            if outside.may_have_written("\n".join((one.text, one.applies_when, one.avoid)), read_more=True)
            else one
            for one in reflection.insights
        ),
    )


def _drop_failed(work: Writing, run_id: str, purpose: str) -> None:
    for failed in work.failed_replies():
        if failed.run == run_id and failed.purpose == purpose:
            work.drop_failed_reply(failed.id)
