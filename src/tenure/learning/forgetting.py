"""Forgetting: what a run, a subject, an origin or a whole scope has left is found, shown, and taken out everywhere.

All that is taken out goes in one transaction, with a tombstone in the ledger; then the store is scrubbed, so that no byte of it
is left in its files. A process that dies before the first has forgotten nothing; after it, the next one that opens the
database scrubs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tenure.errors import UserError
from tenure.learning.copies import copies_of_runs
from tenure.learning.corroborating import with_too_few_voices
from tenure.learning.forgetting_memory import DERIVED, Remembered, origins_in, plan_memory, sessions_with, take_out
from tenure.learning.replay import forget_grades_by
from tenure.learning.resting import Resting, find_resting, lessons_naming, names_origin
from tenure.learning.revoking import SETTING as REVOCATIONS
from tenure.learning.revoking import revocations_of, without_origins
from tenure.learning.taking_back import reopen_held_again
from tenure.learning.upkeep import renew_prompt
from tenure.playbook.apply import added_keys
from tenure.playbook.delta import DECISIONS, Add, Delta, Merge, Observe, Operation, Revoke, Update
from tenure.playbook.lessons import Lesson
from tenure.playbook.removal import Gone, texts_of, without
from tenure.playbook.run import Origin, Run
from tenure.playbook.subject import FORGOTTEN, Subject, through_texts
from tenure.ports import FailedReply, HeldChange, IdSource, LedgerEntry, Reading, Scrubbed, Writing

_SINGULAR = {
    "runs": "run",
    "runs cleaned": "run cleaned",
    "lessons": "lesson",
    "lessons weakened": "lesson weakened",
    "lessons cleaned": "lesson cleaned",
    "observations": "observation",
    "held changes": "held change",
    "failed replies": "failed reply",
    "settings": "setting",
    "deltas": "delta",
    "memory entries": "memory entry",
    "memory texts": "memory text",
}

STATES = DECISIONS
"""States of a held change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be forgotten. At least one must be given; of several, all go.

    Attributes:
        runs: ids of runs.
        subjects: names, addresses, numbers: whatever texts may not name any more.
        origins: names of origins, such as `mallory/web`; documents below one go with it.
        scope: whether the whole scope goes.
    """

    runs: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    scope: bool = False

    @property
    def kind(self) -> str:
        """What kind of thing it is, without saying which."""
        given = (("scope", self.scope), ("run", self.runs), ("subject", self.subjects), ("origin", self.origins))
        return " and ".join(name for name, there in given if there)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """What would go, or went.

    Attributes:
        kind: `run`, `subject`, `origin` or `scope`.
        runs: ids of runs that go whole.
        cleaned_runs: runs that stay, without what named a subject.
        lessons: lessons that go, as they read.
        weakened: lessons that stay, because others than these runs bear them out; evidence and counts of these runs go.
        cleaned_lessons: ids of lessons that stay with a condition, a reason or a name less.
        observations: how many numbers go.
        held: ids of held changes that go, decided ones too.
        failed: ids of failed replies that go.
        settings: names of settings that go.
        deltas: how many deltas of the ledger hold less.
        entries: ids of memory entries that go; the nodes above them are built anew.
        texts: names of memory texts that lose lines or go, such as `scratchpad` or `knowledge/releases`.
        version: of the tombstone; none before it is done, or if there was nothing to forget.
        scrubbed: whether the files hold nothing of it any more; none before it is done.
        copies: where else texts of it may stand, outside the store and beyond its reach; sentences for a person to see to.
    """

    kind: str = ""
    runs: tuple[str, ...] = ()
    cleaned_runs: tuple[str, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    weakened: tuple[Lesson, ...] = ()
    cleaned_lessons: tuple[str, ...] = ()
    observations: int = 0
    held: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    deltas: int = 0
    entries: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    version: int | None = None
    scrubbed: Scrubbed | None = None
    copies: tuple[str, ...] = ()

    @property
    def counts(self) -> Mapping[str, int]:
        """How much goes, by name; what is 0 is left out."""
        every = {
            "runs": len(self.runs),
            "runs cleaned": len(self.cleaned_runs),
            "lessons": len(self.lessons),
            "lessons weakened": len(self.weakened),
            "lessons cleaned": len(self.cleaned_lessons),
            "observations": self.observations,
            "held changes": len(self.held),
            "failed replies": len(self.failed),
            "settings": len(self.settings),
            "deltas": self.deltas,
            "memory entries": len(self.entries),
            "memory texts": len(self.texts),
        }
        return {name: count for name, count in every.items() if count}

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to forget."""
        return not self.counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a forgetting changes, in full.

    Attributes:
        told: for people.
        changed: deltas with less in them, by arrival number.
        runs: runs with less in them.
        held: held changes with less in them.
        settings: settings with less in them; none removes one.
        gone: what goes.
        memory: what goes of the long-term memory.
    """

    told: Forgetting
    gone: Gone = field(default_factory=Gone)
    memory: Remembered = field(default_factory=Remembered)
    changed: Mapping[int, Delta] = field(default_factory=dict[int, Delta])
    runs: tuple[Run, ...] = ()
    held: tuple[HeldChange, ...] = ()
    settings: Mapping[str, str | None] = field(default_factory=dict[str, str | None])


def check(wanted: Wanted) -> tuple[Subject, ...]:
    """The subjects of what is wanted.

    Raises:
        UserError: nothing is named, or a name is empty or too short to look for.
    """
    if not wanted.kind:
        raise UserError("Nothing is named. Say what to forget: --run, --subject, --origin, or --all of the scope.")
    empty = next((what for what in (*wanted.runs, *wanted.origins) if not what.strip()), None)
    if empty is not None:
        raise UserError("An empty name was given. Name a run by its id, an origin such as mallory/web.")
    try:
        return tuple(map(Subject, wanted.subjects))
    except ValueError as exc:
        raise UserError(f"The subject {exc}. Write it out.") from exc


def plan_forgetting(reading: Reading, wanted: Wanted) -> Plan:
    """What would go, without touching it.

    Raises:
        UserError: nothing is named, or a run is not known here.
    """
    subjects = check(wanted)
    if wanted.scope:
        return _plan_scope(reading)
    named = Gone(subjects=subjects)
    holding: list[LedgerEntry] = []
    cleaned: list[Run] = []
    runs = set(_known(reading, wanted.runs))
    origins = frozenset[str]()
    if wanted.origins:
        written = reading.ledger_holding(lambda text: any(asked.strip() in text for asked in wanted.origins))
        every = {*reading.origins(), *origins_in(reading), *(one.origin for one in reading.observations())}
        every.update(getattr(op, "origin", "") for entry in written for op in entry.delta.operations)
        origins = frozenset(name for name in every if any(names_origin(name, asked) for asked in wanted.origins))
        runs.update(reading.runs_from(origins))
        holding += [entry for entry in written if any(getattr(op, "origin", "") in origins for op in entry.delta.operations)]
    if subjects:
        holding += reading.ledger_holding(named.names)
        runs.update(
            place.run
            for entry in holding
            for op in entry.delta.operations
            for place in getattr(op, "evidence", ())
            if named.names(place.run)
        )
        for run_id in reading.runs_holding(named.names):
            run = reading.run(run_id)
            if run is None or run_id in runs:
                continue
            if named.names(run_id):
                runs.add(run_id)
            elif (clean := _clean_run(run, named)) != run:
                cleaned.append(clean)
    gone = Gone(runs=frozenset(runs), subjects=subjects, origins=origins)
    resting = find_resting(reading, gone, named=lessons_naming(holding, named), holding=holding)
    changed = {
        version: less for version, entry in resting.entries.items() if (less := without(entry.delta, resting.gone)) is not entry.delta
    }
    for entry in revocations_of(reading, runs):
        # What a revocation took back was counted by the runs that go with it now.
        changed[entry.version] = Delta(
            entry.delta.id, (), scope=reading.scope, author=entry.delta.author, cause="revoke", at=entry.delta.at
        )
    held_gone, held_less = _held(reading, resting.gone)
    settings = _settings(reading, resting.gone)
    memory = plan_memory(reading, resting.gone, resting.lessons)
    going = tuple(run for run in sorted(runs) if reading.run(run) is not None or run in wanted.runs)
    return Plan(
        told=Forgetting(
            kind=wanted.kind,
            runs=going,
            cleaned_runs=tuple(run.id for run in cleaned),
            lessons=resting.lessons,
            weakened=resting.weakened,
            cleaned_lessons=_cleaned_lessons(reading, resting, changed),
            observations=len(resting.gone.observations),
            held=held_gone,
            failed=tuple(one.id for one in reading.failed_replies() if _failed_goes(one, resting.gone)),
            settings=tuple(settings),
            deltas=len(changed),
            entries=memory.entries,
            texts=_named(memory.texts),
            copies=copies_of_runs(reading, (*going, *(run.id for run in cleaned))),
        ),
        gone=resting.gone,
        memory=memory,
        changed=changed,
        runs=tuple(cleaned),
        held=held_less,
        settings=settings,
    )


def forget(work: Writing, wanted: Wanted, *, ids: IdSource, at: datetime, author: str) -> Forgetting:
    """Take out of a scope what is wanted, inside its transaction; the store has to be scrubbed after it.

    Args:
        work: a transaction on the scope.
        wanted: what goes.
        ids: for the tombstone.
        at: the present moment.
        author: who asked for it.

    Raises:
        UserError: nothing is named, or a run is not known here.
    """
    plan = plan_forgetting(work, wanted)
    told = plan.told
    if told.nothing:
        return told
    note = f"forgot by {told.kind}: " + ", ".join(
        f"{count:,} {_SINGULAR.get(name, name) if count == 1 else name}" for name, count in told.counts.items()
    )
    tombstone = Delta(
        ids.next(work.newest_delta_id()), (), scope=work.scope, author=plan.gone.clean(author), cause="forget", at=at, note=note
    )
    if wanted.scope:
        return replace(told, version=work.empty(tombstone))
    too_few = with_too_few_voices(work, plan.gone.runs)
    forget_grades_by(work, [*plan.gone.runs, *(run.id for run in plan.runs)])
    work.drop_runs(plan.gone.runs)
    for run in plan.runs:
        work.replace_run(run)
    version = work.rewrite(plan.changed, tombstone)
    work.remember_forgotten(plan.gone.runs, at.isoformat())
    work.drop_held(told.held)
    for change in plan.held:
        work.replace_held(change)
    _hold_again(work, too_few, tombstone, ids=ids)
    reopen_held_again(work, plan.gone.runs)
    for failed in told.failed:
        work.drop_failed_reply(failed)
    for name, value in plan.settings.items():
        work.set(name, value)
    _thin_cores(work, plan)
    take_out(work, plan.memory)
    return replace(told, version=version)


def _hold_again(work: Writing, too_few: Sequence[Update], tombstone: Delta, *, ids: IdSource) -> None:
    """Have lessons wait again that were brought into use by voices of which too few are left."""
    standing = ((op, work.lesson(op.id)) for op in too_few)
    held = [op for op, lesson in standing if lesson is not None and lesson.live]
    if held:
        note = "too few are left of those who had brought it into use"
        work.admit(replace(tombstone, id=ids.next(work.newest_delta_id()), operations=tuple(held), note=note))


def scrubbing_told(found: Scrubbed) -> str:
    """What became of the files, in a sentence."""
    if found.done and found.beyond:
        return f"No byte of it is left in the files of the tables. What no application reaches: {'; '.join(found.beyond)}."
    if found.done:
        return "No byte of it is left in the database, its text index or its log."
    left = f"It is gone from the database, but its bytes may still stand in its files: {found.reason}."
    if found.beyond:
        return f"{left} Run, when nothing else is at it: tenure forget --finish"
    return f"{left} The next command that opens the database ends this; or run: tenure forget --finish"


def _plan_scope(reading: Reading) -> Plan:
    held = [change.id for state in STATES for change in reading.held(state=state)]
    lessons, runs = tuple(reading.lessons(live=False)), tuple(reading.runs_from(reading.origins()))
    return Plan(
        told=Forgetting(
            kind="scope",
            runs=runs,
            lessons=lessons,
            observations=len(reading.observations()),
            held=tuple(held),
            failed=tuple(one.id for one in reading.failed_replies()),
            settings=tuple(reading.settings_kept()),
            deltas=sum(bool(entry.delta.operations) for entry in reading.ledger()),
            entries=tuple(one.id for one in reading.entries()),
            texts=_named(reading.memory_texts()),
            copies=copies_of_runs(reading, runs),
        ),
        gone=Gone(everything=True),
    )


def _known(reading: Reading, runs: Sequence[str]) -> Sequence[str]:
    """The runs, if all have left something here.

    Raises:
        UserError: one has not.
    """
    held = {change.run for state in STATES for change in reading.held(state=state)} if runs else set()
    held.update(sessions_with(reading, runs))
    for run in runs:
        named = reading.run(run) is not None or run in held
        if not named and not any(
            without(entry.delta, Gone(runs=frozenset({run}))) is not entry.delta for entry in reading.ledger_naming((run,))
        ):
            forgotten = reading.forgotten_at(run)
            if forgotten:
                raise UserError(f"Run '{run}' was forgotten on {forgotten[:10]}; nothing of it is left in scope '{reading.scope}'.")
            raise UserError(f"Run '{run}' has left nothing in scope '{reading.scope}'. Ids are in tenure log; other scopes: --scope")
    return runs


def _named(texts: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Names of texts of the memory, for people."""
    return tuple("/".join(filter(None, key)) for key in texts if not key[0].startswith(DERIVED))


def _clean_run(run: Run, gone: Gone) -> Run:
    """A run without the subjects in any of its texts."""

    def clean(value: str) -> str:
        return gone.clean(value)

    def of(origin: Origin) -> Origin:
        return replace(origin, principal=clean(origin.principal), channel=clean(origin.channel), document=clean(origin.document))

    steps = tuple(
        replace(
            step,
            role=clean(step.role),
            name=clean(step.name),
            arguments=through_texts(step.arguments, clean),
            content=clean(step.content),
            error=clean(step.error),
            call_id=clean(step.call_id),
            origin=of(step.origin) if step.origin is not None else None,
        )
        for step in run.steps
    )
    shown, withheld, cited = (tuple(one for one in ids if not gone.names(one)) for ids in (run.shown, run.withheld, run.cited))
    return replace(
        run,
        task=replace(run.task, text=clean(run.task.text), kind=clean(run.task.kind), key=clean(run.task.key)),
        steps=steps,
        shown=shown,
        withheld=withheld,
        cited=cited,
        outcome=replace(run.outcome, feedback=clean(run.outcome.feedback), expected=clean(run.outcome.expected)),
        origin=of(run.origin),
        session=clean(run.session),
    )


def _cleaned_lessons(reading: Reading, resting: Resting, changed: Mapping[int, Delta]) -> tuple[str, ...]:
    """Lessons that stay, with a subject taken out of something beside their texts."""
    if not resting.gone.subjects:
        return ()
    found: set[str] = set()
    for version in changed:
        for op in resting.entries[version].delta.operations:
            if isinstance(op, Merge | Observe | Revoke) or not any(map(resting.gone.names, texts_of(op).values())):
                continue
            ids = [op.id] if op.id else _added(resting.entries[version].delta, op)
            found.update(lesson.id for lesson in map(reading.lesson, filter(None, ids)) if lesson is not None)
    return tuple(sorted(found - resting.gone.lessons))


def _added(delta: Delta, op: Operation) -> list[str]:
    return [key for place, key in added_keys(delta).items() if delta.operations[place] is op and isinstance(op, Add)]


def _held(reading: Reading, gone: Gone) -> tuple[tuple[str, ...], tuple[HeldChange, ...]]:
    """Held changes that go, and those that stay with less in them."""
    going: list[str] = []
    less: list[HeldChange] = []
    for change in (one for state in STATES for one in reading.held(state=state)):
        probe = Delta(change.id, (change.operation,), author=change.author, note=change.reason)
        kept = without(probe, gone)
        text_named = any(gone.names(text) for name, text in texts_of(change.operation).items() if name in ("text", "section", "id", "into"))
        if change.run in gone.runs or not kept.operations or text_named:
            going.append(change.id)
            continue
        (operation,) = kept.operations
        # Who decided, and on whose word, is told in texts that may name what goes.
        told = "" if _mentions(change.decided, gone) else gone.clean(change.decided)
        found = replace(
            change,
            operation=operation,
            author=kept.author,
            reason=kept.note,
            decided=told or (change.decided and FORGOTTEN),
            origin=FORGOTTEN if change.origin in gone.origins else gone.clean(change.origin),
            voices=tuple(one for one in change.voices if one not in gone.runs),
        )
        if found != change:
            less.append(found)
    return tuple(going), tuple(less)


def _mentions(text: str, gone: Gone) -> bool:
    return any(one in text for one in (*gone.runs, *gone.origins))


def _failed_goes(failed: FailedReply, gone: Gone) -> bool:
    return failed.run in gone.runs or any(map(gone.names, (failed.run, failed.reply, failed.reason)))


def _settings(reading: Reading, gone: Gone) -> dict[str, str | None]:
    """Settings that name a subject go; of the list of revoked origins only those that do, or that are forgotten themselves."""
    found: dict[str, str | None] = {}
    for name, value in reading.settings_kept().items():
        if name == REVOCATIONS:
            left = without_origins(value, gone)
            if left != value:
                found[name] = left
        elif gone.names(value):
            found[name] = None
    return found


def _thin_cores(work: Writing, plan: Plan) -> None:
    """Have prompts made anew, at once; until then the lines of what changed are in none."""
    changed = {*plan.gone.lessons, *(lesson.id for lesson in (*plan.told.lessons, *plan.told.weakened)), *plan.told.cleaned_lessons}
    cores = {size: core for size in work.core_sizes() if (core := work.core(size)) is not None}
    work.drop_cores()
    for size, core in cores.items():
        lines, tail = (
            tuple(line for line in some if line.id not in changed and not plan.gone.names(f"{line.section}\n{line.text}"))
            for some in (core.lines, core.tail)
        )
        work.keep_core(replace(core, lines=lines, tail=tail, left_out=core.left_out - changed), size)
    renew_prompt(work, "something was forgotten")
