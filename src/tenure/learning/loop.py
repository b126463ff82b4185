"""The learning loop: a run comes in, its lessons and counts go out as one delta.

Everything about a run is kept, decided and written in one transaction, so that what is acknowledged
is on disk and the same run learned twice is learned once. Model calls happen before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tenure.errors import UserError
from tenure.governance.redaction import redact_run
from tenure.learning.admitting import Proposed, admit_operations, basis_of, join_known
from tenure.learning.corroborating import corroborate, statements_of
from tenure.learning.freshness import confirmations
from tenure.learning.holdouts import moves_by_lift
from tenure.learning.learned import Learned, Summary
from tenure.learning.observing import Recollection
from tenure.learning.patience import Patience
from tenure.learning.queueing import put_aside, put_held_lessons
from tenure.learning.replay import Replaying
from tenure.learning.revising import Revising, confirm, find_tested, revise_tested
from tenure.learning.revoking import is_revoked
from tenure.learning.submitted import Submitting
from tenure.learning.thinking import Thought, think
from tenure.learning.upkeep import refine_if_due, renew_prompt
from tenure.learning.voting import support_left
from tenure.playbook.credit import beyond, credit, standing
from tenure.playbook.delta import Add, Delta, Operation, Retire, Tally, Update
from tenure.playbook.evidence import Observation, TrackRecord, track_record
from tenure.playbook.lessons import Lesson
from tenure.playbook.run import Outcome, Run
from tenure.ports import Clock, IdSource, LanguageModel, Postponed, Reading, Replay, Store, Writing
from tenure.roles.actions import actions_of
from tenure.roles.curate import curate_plain
from tenure.roles.signatures import signature
from tenure.roles.taint import UntrustedText
from tenure.settings import Settings, read_settings
from tenure.telemetry import Spanning, count, span

RELATED_LESSONS = 8
"""How many of the playbook's lessons a model sees beside what it wants to add."""

TABLES_TOLD = 50
"""Tables of numbers whose names a model is told, so that a number joins the one it belongs to."""

EARLIER_RUNS = 8
"""How many earlier runs of the same task or kind a run is compared with."""


class Learner(Submitting):
    """Learns runs into a store.

    Args:
        store: where they are kept.
        clock, ids: where time and ids come from.
        model: for richer reflection; none works without one. It should be metered.
        replay: a check that can be run again on kept cases; none leaves their labels.
        settings_of: the settings of a scope; none reads them from the store and the environment.
    """

    def __init__(
        self, store: Store, *, clock: Clock, ids: IdSource, model: LanguageModel | None = None, replay: Replay | None = None
    ) -> None:
        self._store, self._clock, self._ids, self._model = store, clock, ids, model
        self._recollection, self.replaying = Recollection(), Replaying(replay)
        self._patience = Patience()

    def close(self) -> None:
        """Release the model's connections, where it has some."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()

    def keep(self, run: Run) -> None:
        """Keep a run without learning from it; durable on return. Learn it later with `learn_kept`."""
        clean = redact_run(run)
        with self._store.writing(clean.scope) as work:
            unwanted = why_unwanted(work, clean)
            if unwanted:
                raise UserError(f"Run '{clean.id}' was not kept: {unwanted}.")
            work.keep_run(clean, learned=False)

    def keep_many(self, scope: str, runs: Sequence[Run]) -> tuple[str, ...]:
        """Keep runs of a scope without learning from them, in one transaction; why each was not kept, empty for those that were."""
        clean = [redact_run(replace(run, scope=scope)) for run in runs]
        refused: list[str] = []
        with self._store.writing(scope) as work:
            for run in clean:
                refused.append(why_unwanted(work, run))
                if not refused[-1]:
                    work.keep_run(run, learned=False)
        return tuple(refused)

    def learn_one(self, run: Run) -> Learned:
        """Learn from a run: keep it, credit the lessons it used, and write what it teaches; durable on return."""
        with span("tenure.learn", run=run.id, scope=run.scope, steps=len(run.steps)) as told:
            learned = self._learn_one(run)
            _tell(told, learned)
        if not learned.skipped:
            success = run.outcome.success
            count("tenure.runs.learned", outcome="unknown" if success is None else "success" if success else "failure")
            _count(learned)
        return learned

    def _learn_one(self, run: Run) -> Learned:
        clean = redact_run(run)
        with self._store.reading(clean.scope) as reading:
            settings = read_settings(reading.setting)
            if not settings.on("learn.enabled"):
                return Learned(run=clean.id, skipped="learning is switched off for this scope (learn.enabled)")
            unwanted = why_unwanted(reading, clean)
            if unwanted:
                return Learned(run=clean.id, skipped=unwanted)
            since = reading.learned_steps(clean.id)
            if not _adds_to(clean, reading, since):
                return Learned(run=clean.id, skipped="already learned")
            earlier = list(reversed(reading.runs_like(clean, limit=EARLIER_RUNS)))
            used = self._used(reading, clean)
        thought = self._think(clean, earlier, used, since or 0, settings)
        with self._store.writing(clean.scope) as work:
            # Looked at again under the lock: another process may have learned the same run meanwhile.
            learned = work.learned_steps(clean.id)
            if learned != since and not _adds_to(clean, work, learned):
                return Learned(run=clean.id, skipped="already learned", problems=thought.problems, usage=thought.usage)
            unwanted = why_unwanted(work, clean)  # it may have been forgotten while it was thought about
            if unwanted:
                return Learned(run=clean.id, skipped=unwanted, problems=thought.problems, usage=thought.usage)
            return self._write(work, clean, thought, used, settings)

    def learn_many(self, runs: Iterable[Run], *, tell: Callable[[Summary, Run], None] | None = None) -> Summary:
        """Learn from runs in their order. A Ctrl-C ends it after the run at hand; learned runs stay learned.

        Args:
            runs: read one at a time.
            tell: called after each run, for a progress display.
        """
        summary = Summary()
        try:
            for run in runs:
                summary = summary.plus(run, self.learn_one(run))
                if tell is not None:
                    tell(summary, run)
        except KeyboardInterrupt:
            summary = replace(summary, interrupted=True)
        return summary

    def learn_kept(self, scope: str, *, tell: Callable[[Summary, Run], None] | None = None) -> Summary:
        """Learn from the finished runs of a scope that were only kept so far, oldest first."""

        def waiting() -> Iterable[Run]:
            done: set[str] = set()
            while True:
                with self._store.reading(scope) as reading:
                    ids = [one for one in reading.unlearned(limit=100 + len(done)) if one not in done]
                if not ids:
                    return
                for run_id in ids:
                    done.add(run_id)
                    with self._store.reading(scope) as reading:
                        run = reading.run(run_id)
                    if run is not None:
                        yield run

        return self.learn_many(waiting(), tell=tell)

    def learn_postponed(self, scope: str, *, tell: Callable[[Summary, Run], None] | None = None) -> Summary:
        """Have the model reflect on the runs of a scope whose reflection was put off, oldest first; each once at most.

        It ends early where a cap per day or scope is reached, or the model failed for too many runs in a row. A run
        that the model failed on as often as `learn.attempts` says is given up: it is not tried again.

        Raises:
            UserError: there is no model.
        """
        if self._model is None:
            raise UserError(f"No model is set for scope '{scope}', so none can reflect. Set one: tenure config set model PROVIDER:MODEL")
        summary, done = Summary(), set[str]()
        try:
            while True:
                with self._store.reading(scope) as reading:
                    most = read_settings(reading.setting).whole("learn.attempts")
                    waiting = [one.run for one in reading.postponed(below=most, limit=100 + len(done)) if one.run not in done]
                for run_id in waiting:
                    done.add(run_id)
                    run, learned = self._reflect_later(scope, run_id)
                    if run is None:
                        continue
                    summary = summary.plus(run, learned)
                    if tell is not None:
                        tell(summary, run)
                    if learned.limit in ("day", "scope", "pause"):
                        return summary
                if not waiting:
                    return summary
        except KeyboardInterrupt:
            return replace(summary, interrupted=True)

    def _reflect_later(self, scope: str, run_id: str) -> tuple[Run | None, Learned]:
        """Reflect on a kept run with the model and write what it adds; what plain code learned of it is there already."""
        with self._store.reading(scope) as reading:
            settings = read_settings(reading.setting)
            run, put_off = reading.run(run_id), reading.postponed_run(run_id)
            used = self._used(reading, run) if run is not None else []
        if run is None:  # it was forgotten meanwhile
            with self._store.writing(scope) as work:
                work.drop_postponed(run_id)
        if run is None or put_off is None:
            return None, Learned(run=run_id)
        thought = self._think(run, (), used, 0, settings)
        thought = replace(thought, plain=replace(thought.plain, insights=()))
        with self._store.writing(scope) as work:
            if work.postponed_run(run_id) is None:
                return run, Learned(run=run_id, skipped="another process reflected on it", usage=thought.usage)
            learned = self._write(work, run, thought, used, settings, later=True)
        _count(learned)
        return run, learned

    def _think(self, run: Run, earlier: Sequence[Run], used: Sequence[Lesson], since: int, settings: Settings) -> Thought:
        """Reflect on a run, and note whether the model did what it was asked. No transaction is open."""
        thought = think(
            run,
            earlier=earlier,
            used=used,
            since=since,
            model=self._model,
            rounds=settings.whole("learn.rounds"),
            written=settings.whole("learn.lessons_by_model"),
            revise=lambda tags, model: self._revise(run, used, tags, model, settings.whole("revise.k")),
            related=lambda query: self._related(run.scope, query),
            tables=lambda: self._tables(run.scope),
            new_id=self._ids.next,
            at=self._clock.now().isoformat(),
            pause=self._patience.refusal() if self._model is not None else "",
        )
        if thought.postponed is not None and thought.postponed.limit == "model":
            self._patience.failed(thought.postponed.reason, settings.whole("spend.failures"))
        elif thought.model is not None and thought.postponed is None:
            self._patience.answered()
        return thought

    @staticmethod
    def _used(reading: Reading, run: Run) -> list[Lesson]:
        """The lessons that a run was shown or named."""
        # What it was shown may have been kept when it began, and how it ended is told by who does not know of that.
        known = reading.run(run.id)
        exposed = (*run.shown, *run.cited, *(() if known is None else (*known.shown, *known.cited)))
        return [lesson for lesson in map(reading.lesson, dict.fromkeys(exposed)) if lesson is not None]

    # -- writing: one transaction -------------------------------------------------------------------

    def _related(self, scope: str, text: str) -> Sequence[Lesson]:
        with self._store.reading(scope) as reading:
            return [hit.lesson for hit in reading.search(text, limit=RELATED_LESSONS) if hit.scope == scope]

    def _tables(self, scope: str) -> Sequence[tuple[str, str]]:
        """Tables of numbers that a model is told of."""
        with self._store.reading(scope) as reading:
            return sorted(reading.aggregate_names().values())[:TABLES_TOLD]

    def _revise(self, run: Run, used: Sequence[Lesson], tags: Mapping[str, str], model: LanguageModel | None, most: int) -> Revising:
        """Revise the lessons that a run used. The store is read, and closed again, before a model is asked."""
        with span("tenure.revise", run=run.id, lessons=len(used)) as told:
            revising = self._revise_used(run, used, tags, model, most)
            told.note(revised=len(revising.lessons))
        return revising

    def _revise_used(self, run: Run, used: Sequence[Lesson], tags: Mapping[str, str], model: LanguageModel | None, most: int) -> Revising:
        again = _seen_again(run, used)
        counts = credit(run, tags=tags, seen_again=again)
        with self._store.reading(run.scope) as reading:
            tested = (
                find_tested(
                    reading, run, used, counts, seen_again=again, most=most, recollection=self._recollection, replaying=self.replaying
                )
                if most
                else ()
            )
        revising = revise_tested(tested, run, model=model, new_id=self._ids.next, at=self._clock.now().isoformat())
        return replace(revising, proposals=(*confirm(used, counts, run), *revising.proposals))

    def _track_records(self, work: Writing, run: Run, touched: Sequence[Lesson], counts: Sequence[Tally]) -> dict[str, TrackRecord]:
        """What the runs of lessons amount to, this one included, for those that it can move and that misled in some run."""
        by_id = {count.id: count for count in counts}
        again = _seen_again(run, touched)
        found: dict[str, TrackRecord] = {}
        for lesson in touched:
            count = by_id.get(lesson.id)
            if count is None or not (count.harmful or (lesson.status == "provisional" and lesson.tallies.harmful)):
                continue
            reliability = 1.0 if lesson.id in again else run.outcome.reliability or 0.0
            effect: Literal["helped", "misled", "neutral"] = "misled" if count.harmful > 0 else "helped" if count.helpful > 0 else "neutral"
            now = Observation(run=run.id, effect=effect, exposure="cited" if count.cited else "shown", reliability=reliability)
            # This run may have been learned before, when it was shorter.
            past = (one for one in self._recollection.observations(work, lesson) if one.run != run.id)
            found[lesson.id] = track_record((now, *past))
        return found

    def _moves(
        self, work: Writing, run: Run, touched: Sequence[Lesson], counts: Sequence[Tally], graded: Sequence[Lesson]
    ) -> tuple[Operation, ...]:
        """Which lessons are promoted, demoted or retired now: by what kept cases say of them, else by their live record."""
        records = self._track_records(work, run, touched, counts)
        judged = {lesson.id: lesson for lesson in (*touched, *graded)}
        beliefs = work.beliefs(list(judged))
        return tuple(standing(judged.values(), counts, honest=run.outcome.honest and run.origin.trusted, records=records, beliefs=beliefs))

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
    ) -> Learned:
        """Write what a run taught. `later` is true for what a model adds to a run that was learned from: it was counted then.

        What is added is written once under a `name`, whoever adds it.
        """
        with span("tenure.admit", run=run.id, scope=run.scope) as told:
            learned = self._admit(work, run, thought, used, settings, later, name)
            _tell(told, learned)
        return learned

    def _admit(
        self, work: Writing, run: Run, thought: Thought, used: Sequence[Lesson], settings: Settings, later: bool, name: str
    ) -> Learned:
        kept = work.run(run.id)
        earlier = _as_learned(work, kept)
        if not later:
            work.keep_run(run, learned=True)
        whole = run if kept is None else work.run(run.id) or run
        self._recollection.remember(whole)
        put_off = _put_off(work, run, thought)
        for failed in (*thought.failed, *thought.revising.failed):
            work.keep_failed_reply(failed)
        problems = (*thought.problems, *thought.revising.problems)
        counts = () if later else credit(whole, tags=thought.tags, seen_again=_seen_again(whole, used))
        if earlier is not None and not later:
            counts = beyond(counts, credit(earlier, tags=thought.tags, seen_again=_seen_again(earlier, used)))
        with span("tenure.curate", run=run.id, by="code") as curating:
            proposals = list(_proposals(work, run, thought, settings.whole("learn.lessons_per_run"), self.replaying))
            curating.note(count=len(proposals))
        admission = admit_operations(work, proposals, trusted=run.origin.trusted)
        delta_id, at = self._ids.next(work.newest_delta_id()), self._clock.now()
        statements = statements_of(admission.passed, thought.plain.insights)
        heard = corroborate(work, run, said=statements, passed=admission.passed, used=used, delta=delta_id, at=at)
        joined = join_known(work, admission.passed, delta=delta_id, run=run.id)
        joined = replace(joined, operations=support_left(work, run, joined.operations, delta=delta_id))
        if not run.origin.trusted:  # it says the same, which supports nothing
            joined = replace(joined, operations=tuple(replace(op, support=0) if isinstance(op, Tally) else op for op in joined.operations))
        said = [operation for place, operation in enumerate(joined.operations) if place in joined.told and isinstance(operation, Tally)]
        support = [op for op in joined.operations if isinstance(op, Tally)]
        touched = [lesson for lesson in map(work.lesson, dict.fromkeys(op.id for op in (*counts, *support))) if lesson is not None]
        moved = _summed(counts, support)
        moves = self._moves(work, whole, touched, moved, () if later else self.replaying.grade_case(work, run, used))
        if not later:
            moves = (*moves, *moves_by_lift(work, whole, but=[op.id for op in moves if isinstance(op, Retire | Update)]))
        told = [op.id for op in joined.operations if isinstance(op, Update) and op.verdict is not None]
        confirmed = confirmations(touched, moved, settings.shelf_lives, run, at, but=told)
        operations: list[Operation] = [*counts, *joined.operations, *confirmed, *moves, *heard.operations]
        held, refused = put_aside(work, run, admission, ids=self._ids, at=at, batch=delta_id)
        work.amend(*heard.changes)
        if not operations and not refused:
            return Learned(
                run=run.id,
                held=held,
                left=(*thought.revising.left, *thought.ignored, *admission.left),
                problems=(*problems, *admission.refused),
                postponed=put_off.reason if put_off is not None else "",
                limit=put_off.limit if put_off is not None else "",
                usage=thought.usage,
                refused=len(admission.refused),
            )
        delta = Delta(
            delta_id,
            operations,
            key=f"{name if later else 'learn'}:{run.id}:{len(run.steps)}:{'known' if run.outcome.known else 'open'}",
            scope=run.scope,
            author=thought.author,
            cause="run",
            at=at,
            note="; ".join([f"run {run.id}", *(f"{operation.id} says it already" for operation in said), *heard.told]),
            decisions=(*heard.decisions, *refused),
        )
        admitted = work.admit(delta)
        receipts = list(admitted.receipts)
        for place, reason in joined.told.items():
            here = place + len(counts)
            if receipts[here].status == "applied":
                receipts[here] = replace(receipts[here], status="merged", reason=reason)
        reworded = [
            receipt.id
            for op, receipt in zip(operations, receipts, strict=True)
            if receipt.status == "applied"
            and (isinstance(op, Add) or (isinstance(op, Update) and (op.text is not None or op.applies_when is not None)))
        ]
        self.replaying.grade_lessons(work, filter(None, map(work.lesson, dict.fromkeys(reworded))))
        put_held_lessons(work, run, admission, operations, receipts, at=at)
        if any(isinstance(op, Retire) for op in moves):
            renew_prompt(work, "a lesson that misled was retired")
        refined = refine_if_due(work, settings, ids=self._ids, at=at) if admitted.version is not None else ""
        done = [(op, receipt) for op, receipt in zip(operations, receipts, strict=True) if receipt.status != "skipped"]
        return Learned(
            run=run.id,
            version=admitted.version,
            added=sum(isinstance(op, Add) and receipt.status == "applied" for op, receipt in done),
            merged=sum((isinstance(op, Tally) and op.support > 0) or receipt.status == "merged" for op, receipt in done) + joined.absorbed,
            held=held + sum(receipt.status == "held" for receipt in receipts),
            revised=len({op.id for op, _ in done if isinstance(op, Update) and (op.text is not None or op.applies_when is not None)}),
            promoted=sum(isinstance(op, Update) and op.status == "active" for op, _ in done),
            retired=sum(isinstance(op, Retire) for op, _ in done),
            released=heard.released,
            refined=refined,
            left=(*thought.revising.left, *thought.ignored, *admission.left),
            problems=(*problems, *admission.refused),
            postponed=put_off.reason if put_off is not None else "",
            limit=put_off.limit if put_off is not None else "",
            usage=thought.usage,
            refused=len(admission.refused),
            receipts=tuple(receipts),
            conflicts=joined.conflicts,
        )


def _tell(told: Spanning, learned: Learned) -> None:
    told.note(added=learned.added, merged=learned.merged, held=learned.held, refused=learned.refused, revised=learned.revised)
    told.note(promoted=learned.promoted, retired=learned.retired, version=learned.version, skipped=bool(learned.skipped))


def _count(learned: Learned) -> None:
    """Tell how many lessons a run brought; once it is on disk."""
    count("tenure.lessons.added", learned.added)
    count("tenure.lessons.held", learned.held)
    count("tenure.lessons.refused", learned.refused)


def why_unwanted(reading: Reading, run: Run) -> str:
    """Why a run may not be kept or learned here: it was forgotten, or its origin is revoked; empty if it may."""
    forgotten = reading.forgotten_at(run.id)
    if forgotten:
        return f"it was forgotten on {forgotten[:10]}; to let it be learned again: tenure forget --run '{run.id}' --allow-again"
    revoked = is_revoked(reading, run.origin)
    return f"its origin '{revoked}' is revoked; to lift that: tenure revoke '{revoked}' --lift" if revoked else ""


def _as_learned(reading: Reading, kept: Run | None) -> Run | None:
    """A kept run as it was when it was learned from; none if it never was."""
    if kept is None or reading.learned_steps(kept.id) is None:
        return None
    return replace(kept, outcome=Outcome()) if reading.verdict_waits(kept.id) else kept


def _put_off(work: Writing, run: Run, thought: Thought) -> Postponed | None:
    """Note that the model's part was put off, with the attempts so far; or, where a model did it, that it is done."""
    if thought.postponed is None:
        if thought.model is not None:
            work.drop_postponed(run.id)
        return None
    before = work.postponed_run(run.id)
    noted = replace(thought.postponed, attempts=thought.postponed.attempts + (before.attempts if before is not None else 0))
    if thought.postponed.attempts:
        work.drop_postponed(run.id)  # with the replies of the attempt before, so that they do not pile up
    work.postpone(noted)
    return noted


def _proposals(work: Writing, run: Run, thought: Thought, most: int, replaying: Replaying) -> Iterable[Proposed]:
    """Operations for what the run revises and teaches, each with whose words it is made of; new lessons are capped."""
    learned = list(_plain_proposals(work, run, thought, most))
    known = {one.operation.id for one in learned if isinstance(one.operation, Update) and one.operation.text is not None}
    revised: set[str] = set()
    for proposal in thought.revising.proposals:
        operation = proposal.operation
        # An accepted form that this very run showed says more than a revision; and what was changed meanwhile was not revised.
        if isinstance(operation, Update) and operation.id not in known and _as_it_was(work, thought.revising, operation):
            revised.add(operation.id)
            yield proposal
    yield from learned
    room = most
    proposed = thought.curation.operations if thought.curation is not None else ()
    outside = UntrustedText(run) if proposed else None
    for operation in proposed:
        if isinstance(operation, Update) and operation.id in revised:
            continue  # the revision rests on the source case
        # What waits for a person is capped as plain lessons are; of its own the Curator was allowed only so many.
        if isinstance(operation, Add) and operation.status == "held":
            if room <= 0:
                continue
            room -= 1
        basis, why = basis_of(operation, outside, work)
        shaped = replaying.reshaped(work, _from(operation, run), run)
        yield Proposed(operation=shaped, basis=basis, author=thought.author, why=why)


def _plain_proposals(work: Writing, run: Run, thought: Thought, most: int) -> Iterable[Proposed]:
    room = most
    for insight in thought.plain.insights:
        told = "an error that it quotes says more than what was wrong with a call" if run.origin.trusted else "its origin is not trusted"
        why = told if insight.basis == "untrusted" else ""
        existing = work.about if insight.basis == "untrusted" else _in_the_open(work)
        curation = curate_plain(replace(thought.plain, insights=(insight,)), existing, status="provisional")
        for operation in curation.operations:
            if isinstance(operation, Add):
                if room <= 0:
                    continue
                room -= 1
            yield Proposed(operation=_from(operation, run), basis=insight.basis, author=thought.plain.author, why=why)


def _in_the_open(work: Writing) -> Callable[[str], Lesson | None]:
    """Lessons by subject, without held ones: what strangers had written down first does not swallow what trusted runs show."""

    def find(subject: str) -> Lesson | None:
        lesson = work.about(subject)
        return None if lesson is not None and lesson.status == "held" else lesson

    return find


def _as_it_was(work: Writing, revising: Revising, operation: Update) -> bool:
    """Whether the lesson still reads as it did when it was revised."""
    lesson = work.lesson(operation.id)
    if lesson is None or not lesson.live:
        return False
    before = revising.before.get(operation.id)
    return before is None or (lesson.text, lesson.applies_when) == before


def _from(operation: Operation, run: Run) -> Operation:
    return replace(operation, origin=run.origin.name) if isinstance(operation, Add) and not operation.origin else operation


def _adds_to(run: Run, reading: Reading, learned: int | None) -> bool:
    """Whether a run brings something that was not learned: more steps, or a first verdict."""
    kept = reading.run(run.id) if learned is not None else None
    if learned is None or kept is None:
        return True
    verdict = run.outcome.known and (not kept.outcome.known or reading.verdict_waits(run.id))
    return len(run.steps) > learned or verdict or learned < len(kept.steps)


def _summed(counts: Sequence[Tally], support: Sequence[Tally]) -> list[Tally]:
    total: dict[str, Tally] = {}
    for one in (*counts, *support):
        before = total.get(one.id)
        t = one.tallies + before.tallies if before is not None else one.tallies
        total[one.id] = Tally(
            one.id,
            helpful=t.helpful,
            harmful=t.harmful,
            neutral=t.neutral,
            shown=t.shown,
            withheld=t.withheld,
            cited=t.cited,
            support=t.support,
        )
    return list(total.values())


def _seen_again(run: Run, used: Sequence[Lesson]) -> dict[str, bool]:
    """For used lessons about a tool error: whether the error came again, where the tool was called at all."""
    actions = actions_of(run)
    called = {action.tool for action in actions}
    errors = {signature(action.tool, action.error) for action in actions if action.error}
    about_errors = ((lesson, lesson.about.split(":", 2)) for lesson in used if lesson.about.startswith("tool-error:"))
    return {lesson.id: lesson.about in errors for lesson, (_, tool, *_rest) in about_errors if tool in called}
