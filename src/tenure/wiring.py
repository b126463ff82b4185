"""The engine put together: `Tenure` joins a store, a clock, ids and, if there is one, a model."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from tenure.active_run import ActiveRun
from tenure.errors import ChangedMeanwhile, ScopeError, StoreError, UserError
from tenure.governance.redaction import redact, redact_operations
from tenure.learning.adapting import Adapting
from tenure.learning.embedding import Embedding, Question, Vectors
from tenure.learning.exchanging import LedgerSharing
from tenure.learning.figures import FigureKeeping
from tenure.learning.history import compare, find_version
from tenure.learning.history import rollback as roll_back
from tenure.learning.holdouts import HoldingOut
from tenure.learning.host_thinking import HostThinking
from tenure.learning.recall import Context, recall, stable_part
from tenure.learning.removing import Removal
from tenure.learning.revoking import follow_rollback
from tenure.learning.rulings import ReviewKeeping
from tenure.learning.upkeep import carry_out, raise_bounds
from tenure.learning.warning import warnings_of
from tenure.opening import open_counter, open_embedder, open_model, open_store, take_out_names
from tenure.playbook.delta import OPERATION_NAMES, Delta, Operation, Receipt
from tenure.playbook.refine import Bounds, Plan, plan_refinement
from tenure.playbook.run import Run, Task, as_task
from tenure.playbook.state import Playbook
from tenure.ports import Admitted, Clock, Embedder, IdSource, LanguageModel, Reading, Replay, Store
from tenure.project import database_url, default_scope
from tenure.providers import secret_detection
from tenure.reported import positive
from tenure.settings import Settings, checked, read_settings
from tenure.stores.scopes import parents
from tenure.system import SystemClock, UlidSource
from tenure.telemetry import span, start_if_asked
from tenure.threads import in_thread

if TYPE_CHECKING:
    from tenure.learning.learned import Learned, Summary
    from tenure.learning.loop import Learner
    from tenure.learning.memory import Memory


class Tenure(Adapting, FigureKeeping, HoldingOut, HostThinking, LedgerSharing, Removal, ReviewKeeping):
    """A playbook that learns from runs.

        book = Tenure.open("sqlite:///book.db", scope="finance")
        with book.run("reconcile invoice 7") as run:
            answer = my_agent(run.context)
            run.finish(success=answer.ok, feedback=answer.message, cited=answer.lessons)

    Safe to share between threads. Every method with a result has a twin for async callers whose
    name begins with `a`; `run` serves both `with` and `async with`.
    """

    def __init__(
        self,
        store: Store,
        scope: str,
        *,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        model: LanguageModel | None = None,
        embedder: str | Embedder | None = None,
        replay: Replay | None = None,
    ) -> None:
        secret_detection.install()
        self._store, self.scope, self._closed = store, scope, False
        self.clock: Clock = clock or SystemClock()
        self.ids: IdSource = ids or UlidSource()
        self._model, self._embedder, self._replay = model, embedder, replay

    @property
    def model(self) -> LanguageModel | None:
        """The language model that learning uses; none without one."""
        return self._model

    @property
    def store(self) -> Store:
        """Where all of it is kept.

        Raises:
            StoreError: the playbook is closed.
        """
        if self._closed:
            raise StoreError("The playbook is closed. Use it inside its `with` block, or open it again: Tenure.open(...)")
        return self._store

    @functools.cached_property
    def learner(self) -> Learner:
        """What learns. Its parts are loaded when it is first asked for: who only looks at a playbook needs none of them."""
        from tenure.learning.loop import Learner

        return Learner(self.store, clock=self.clock, ids=self.ids, model=self._model, replay=self._replay)

    @property
    def replay(self) -> Replay | None:
        """The check that says of a kept case and a lesson whether following it would have been right; none leaves labels."""
        return self._replay

    @replay.setter
    def replay(self, check: Replay | None) -> None:
        self._replay = check
        if "learner" in self.__dict__:
            self.learner.replaying.check = check

    @functools.cached_property
    def memory(self) -> Memory:
        """The long-term memory of the scope: raw entries, and the tree above them."""
        from tenure.learning.memory import Memory

        return Memory(self.store, self.scope, clock=self.clock, ids=self.ids, model=self._model, playbook=self.stable, vectors=self.vectors)

    def check_memory(self) -> tuple[str, ...]:
        """What is wrong with the long-term memory of the scope, a sentence each; empty if it is sound."""
        from tenure.learning.memory_check import check_memory
        from tenure.stores.in_memory import InMemoryStore

        return check_memory(self.store, self.scope, clock=self.clock, ids=self.ids, fresh=InMemoryStore)

    def _compact_memory(self, scope: str) -> None:
        self.of_tenant(scope).memory.compact()

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        scope: str | None = None,
        model: str | LanguageModel | None = None,
        base_url: str | None = None,
        embedder: str | Embedder | None = None,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        replay: Replay | None = None,
    ) -> Tenure:
        """Open a playbook; its database is made if it is not there.

        Args:
            url: `sqlite:///book.db`, a file's path, or `memory://`; none takes TENURE_DB, else
                `.tenure/tenure.db` of the project, else the user's data folder.
            scope: such as `finance` or `acme/finance/recon`; a name without a tenant belongs to
                the tenant `local`. None takes TENURE_SCOPE, else the project's stable name.
            model: a name such as `openai:gpt-4o-mini`, or an object that answers prompts; none
                takes the scope's setting or TENURE_MODEL, and works without a model if there is none.
            base_url: address of an OpenAI-compatible server for the model.
            embedder: what makes vectors: a name such as `use-multilingual-v3` or
                `openai:text-embedding-3-small`, an object, or `none` for keyword search alone; none
                takes the scope's setting or TENURE_EMBEDDER, else the bundled one where the extra
                `vectors` is installed.
            clock, ids: for tests; none takes the system's.
            replay: a check of your own that can be run again on kept cases (see `ports.Replay`); labels need none.

        Raises:
            StoreError: the database cannot be opened; the message says why and what to do.
            ScopeError: the scope is malformed.
            MissingExtra: a model, an embedder or telemetry was asked for and its extra is not installed.
        """
        start_if_asked()
        clock = clock or SystemClock()
        store = open_store(database_url(url), clock)
        named = scoped(default_scope(scope))
        try:
            with store.reading(named) as reading:
                settings = read_settings(reading.setting)
            take_out_names(settings)
            opened = open_model(model, base_url, settings, store, named, clock)
            if isinstance(embedder, str):
                open_embedder(embedder, settings)
        except BaseException:
            store.close()
            raise
        return cls(store, named, clock=clock, ids=ids, model=opened, embedder=embedder, replay=replay)

    # -- acting ------------------------------------------------------------------------------------

    def context(self, task: str | Task, *, budget: int | None = None, run: str = "") -> Context:
        """What an agent should be shown for a task.

        Args:
            task: the input, in any script.
            budget: tokens in all; none takes the setting `context.tokens`.
            run: id of the run it is for. With hold-outs on, what is left out of it goes by this; give the `Run` the same id, and
                `shown`, `withheld` and `draws` of the context. Empty holds nothing out.

        Raises:
            UserError: the task is empty, or the budget is below 1.
            StoreError: the playbook is closed, or its database cannot be read.
        """
        if not as_task(task).text.strip():
            raise UserError("The task is empty. Say what the agent is asked to do: book.context(task)")
        return self.recalled(task, budget, run)

    def recalled(self, task: str | Task, budget: int | None, run: str = "", *, explain: bool = True) -> Context:
        """`context`, also for a task without words: a run of one, such as a picture alone, goes on with what holds in general.

        Args:
            task, budget, run: as for `context`.
            explain: whether to say why each lesson is there (`Context.why`), which costs about a tenth of the time.
        """
        with span("tenure.recall", duration="tenure.context.duration", scope=self.scope, run=run or None) as told:
            found = self._recalled(task, budget, run, explain=explain)
            told.note(lessons=len(found.lessons), cases=len(found.cases), tokens=found.tokens)
        return found

    def _recalled(self, task: str | Task, budget: int | None, run: str, *, explain: bool) -> Context:
        text = as_task(task).text

        def found_in(reading: Reading, question: Question) -> tuple[Context, bool]:
            found = recall(
                reading,
                text,
                question=question,
                budget=settings.whole("context.tokens") if budget is None else positive(budget, "budget"),
                core_tokens=settings.whole("context.core_tokens"),
                at=self.clock.now(),
                count=open_counter(settings),
                drawing=self._drawing(settings, run, text),
                lives=settings.shelf_lives,
                explain=explain,
            )
            return found, found.core is not None and found.core != reading.core(found.core_size)

        with self.store.reading(self.scope) as reading:
            settings = read_settings(reading.setting)
            question, embedder = self.vectors.looked_up(reading, settings)
            if embedder is None:
                found, changed = found_in(reading, question)
        if embedder is not None:
            question = self.vectors.ask(embedder, text)
            with self.store.reading(self.scope) as reading:
                found, changed = found_in(reading, question)
        if found.core is not None and changed:
            with self.store.writing(self.scope) as work:
                work.keep_core(found.core, found.core_size)
        return found

    def stable(self, budget: int | None = None) -> str:
        """The stable part of the playbook, as every context begins with it: core and tail, redacted. The same bytes until it changes.

        Args:
            budget: tokens of it at most; none takes what a context has for it, by `context.tokens` and `context.core_tokens`.
        """
        with self.store.reading(self.scope) as reading:
            settings = read_settings(reading.setting)
            whole = settings.whole("context.tokens") if budget is None else positive(budget, "budget")
            core_tokens = settings.whole("context.core_tokens")
            drawing = self._drawing(settings, "", "")
            found, _, size = stable_part(reading, whole, core_tokens, self.clock.now(), open_counter(settings), drawing)
            changed = found is not None and found.core != reading.core(size)
        if found is None:
            return ""
        if changed:
            with self.store.writing(self.scope) as work:
                work.keep_core(found.core, size)
        return redact(found.text).text

    def run(self, task: str | Task, *, budget: int | None = None, kind: str = "", session: str = "") -> ActiveRun:
        """A run to be reported as it happens; use it with `with` or `async with`.

        Args:
            task: the input; a `Task` can carry a kind and a key.
            budget: tokens of the context.
            kind: a name for tasks of this sort.
            session: the host's id of the session.
        """
        asked = as_task(task)
        return ActiveRun(self, replace(asked, kind=kind or asked.kind), budget=budget, session=session)

    def in_scope(self, scope: str) -> Tenure:
        """The same store looked at in another scope. It closes with this one; it need not be closed itself."""
        return self.of_tenant(scoped(scope))

    def of_tenant(self, scope: str) -> Tenure:
        """`in_scope` for a scope with its tenant: a name of one part is a tenant's own scope here, and not one of `local`."""
        return Tenure(self.store, scope, clock=self.clock, ids=self.ids, model=self._model, embedder=self._embedder)

    def _named(self, scope: str) -> str:
        """The scope that a run or a delta names; this one where it names none, or just this."""
        return self.scope if scope in ("", self.scope) else scoped(scope)

    # -- vectors -------------------------------------------------------------------------------------

    @functools.cached_property
    def vectors(self) -> Vectors:
        """What makes the vectors of the scope, by its embedder. A model is loaded at its first text."""

        def opened(settings: Settings | None) -> Embedder | None:
            if self._embedder is not None and not isinstance(self._embedder, str):
                return self._embedder
            return open_embedder(self._embedder, settings or self.settings())

        return Vectors(self.store, (self.scope, *parents(self.scope)), opened)

    def embed(self, *, most: int | None = None, tell: Callable[[int], None] | None = None) -> Embedding | None:
        """Make the vectors that are missing: of new and edited lessons, of new runs, of the memory, and of all after a change.

        Learning does it after each run, of the memory a portion; changes by hand leave it to the next run, or to this. It goes
        on where an interrupt ended it.

        Args:
            most: texts in all; none goes on to the end.
            tell: called after each batch with the number done.

        Returns:
            What was done, and why it ended early if it did; none if there is no embedder.

        Raises:
            UserError: the embedder is named, and cannot be opened.
        """
        return self.vectors.embed(most=most, tell=tell)

    # -- learning ----------------------------------------------------------------------------------

    def learn(self, run: Run) -> Learned:
        """Learn from a finished run; durable on return. A run learned before adds nothing."""
        learned = self.learner.learn_one(replace(run, scope=self._named(run.scope)))
        return learned if learned.skipped else replace(learned, problems=(*learned.problems, *self.vectors.problems_of_embedding()))

    def keep(self, run: Run) -> None:
        """Keep a run without learning from it; durable on return. Learn it later with `learn_kept`."""
        self.learner.keep(replace(run, scope=self._named(run.scope)))

    def keep_many(self, runs: Sequence[Run]) -> tuple[str, ...]:
        """Keep runs of this scope in one transaction, durable on return; why each was not kept, empty for those that were."""
        return self.learner.keep_many(self.scope, runs)

    def learn_many(self, runs: Iterable[Run], *, tell: Callable[[Summary, Run], None] | None = None) -> Summary:
        """Learn from runs in their order; a Ctrl-C ends it after the run at hand.

        Args:
            runs: read one at a time.
            tell: called after each run.
        """
        named = (replace(run, scope=self._named(run.scope)) for run in runs)
        return self._with_vectors(self.learner.learn_many(named, tell=tell))

    def learn_kept(self, *, tell: Callable[[Summary, Run], None] | None = None) -> Summary:
        """Learn from runs that were finished with `learn=False`."""
        return self._with_vectors(self.learner.learn_kept(self.scope, tell=tell))

    def learn_postponed(self, *, tell: Callable[[Summary, Run], None] | None = None) -> Summary:
        """Have the model reflect on runs for which it could not be asked before, or failed: a cap was reached, say.

        Each is tried once, and given up after as many attempts as `learn.attempts` says. It ends early where a cap per
        day or scope is reached, or the model fails for too many runs in a row.

        Raises:
            UserError: there is no model.
        """
        return self._with_vectors(self.learner.learn_postponed(self.scope, tell=tell))

    def waits_for_model(self) -> int:
        """Runs that `learn_postponed` would try, 10,000 at most."""
        with self.store.reading(self.scope) as reading:
            return len(reading.postponed(below=read_settings(reading.setting).whole("learn.attempts"), limit=10_000))

    def _with_vectors(self, summary: Summary) -> Summary:
        if summary.interrupted or summary.runs == summary.skipped:
            return summary
        return replace(summary, problems=(*summary.problems, *self.vectors.problems_of_embedding())[:20])

    # -- the playbook --------------------------------------------------------------------------------

    @property
    def playbook(self) -> Playbook:
        """The whole playbook as it is now: a value, which later changes leave alone."""
        with self.store.reading(self.scope) as reading:
            return reading.playbook()

    def apply(
        self,
        operations: Sequence[Operation] | Delta,
        *,
        author: str = "person:api",
        cause: str = "hand",
        note: str = "",
        expects: int | None = None,
    ) -> Admitted:
        """Change the playbook by hand: all operations in one delta, on disk on return.

        Args:
            operations: such as `[Add(section="s", text="...")]`, or a whole delta with an id of its own.
            author: who asked for it.
            cause: see `Delta`.
            note: for people reading the log.
            expects: the version that this was meant for; none takes any.

        Returns:
            A receipt per operation, the version the delta became, and warnings of texts that a learned lesson could not have.
            Bounds of the scope are raised to what it stores.

        Raises:
            UserError: an operation stands where a list of them should, or something in the list is none.
            ScopeError: the delta names another scope.
            ChangedMeanwhile: the newest version is another than expected; nothing was changed.
        """
        asked: object = operations.operations if isinstance(operations, Delta) else operations
        if not isinstance(asked, Sequence) or isinstance(asked, str):
            raise UserError(f"Operations are a list, not {type(asked).__name__}. Write: book.apply([Add(...)])")
        strange = next((op for op in asked if type(op) not in OPERATION_NAMES), None)
        if strange is not None:
            raise UserError(f"{type(strange).__name__} is not an operation. Use {', '.join(kind.__name__ for kind in OPERATION_NAMES)}.")
        if isinstance(operations, Delta) and self._named(operations.scope) != self.scope:
            raise ScopeError(f"Delta '{operations.id}' is for scope '{operations.scope}', not '{self.scope}'. Open that one to apply it.")
        with self.store.writing(self.scope) as work:
            if expects is not None and work.version() != expects:
                raise ChangedMeanwhile(expects, scope=self.scope, newest=work.version())
            settings = read_settings(work.setting)
            if isinstance(operations, Delta):
                delta = replace(operations, operations=redact_operations(operations.operations))
            else:
                made = redact_operations(operations)
                delta = Delta(
                    self.ids.next(work.newest_delta_id()),
                    made,
                    scope=self.scope,
                    author=author,
                    cause=cause,
                    at=self.clock.now(),
                    note=note,
                )
            admitted = work.admit(delta)
            raise_bounds(work, settings)
        return replace(admitted, warnings=warnings_of(delta.operations))

    def refine(self, bounds: Bounds | None = None, *, dry_run: bool = False) -> tuple[Plan, tuple[Receipt, ...]]:
        """Merge duplicates and keep the bounds now.

        Args:
            bounds: none takes the scope's settings.
            dry_run: only say what would be done.
        """
        at = self.clock.now()
        if dry_run:
            with self.store.reading(self.scope) as reading:
                return plan_refinement(
                    reading.lessons(), bounds or read_settings(reading.setting).bounds, at=at, tasks=reading.tasks_of
                ), ()
        with span("tenure.refine", scope=self.scope) as told, self.store.writing(self.scope) as work:
            plan = plan_refinement(work.lessons(), bounds or read_settings(work.setting).bounds, at=at, tasks=work.tasks_of)
            told.note(merges=len(plan.merges), evictions=len(plan.evictions))
            receipts = carry_out(work, plan, ids=self.ids, at=at).receipts if plan.operations else ()
        return plan, receipts

    def rollback(self, version: int | str, *, author: str = "person:api", expects: int | None = None) -> Admitted:
        """Go back to an earlier version, by a delta that can be undone itself.

        Args:
            version: an arrival number, a delta id, or `-N` for N deltas before the newest.
            author: who asked for it.
            expects: as for `apply`.

        Raises:
            UnknownVersion: there is no such version.
            ChangedMeanwhile: the newest version is another than expected; nothing was changed.
        """
        with self.store.writing(self.scope) as work:
            if expects is not None and work.version() != expects:
                raise ChangedMeanwhile(expects, scope=self.scope, newest=work.version())
            goal = find_version(work, str(version))
            admitted = roll_back(work, goal, ids=self.ids, at=self.clock.now(), author=author)
            follow_rollback(work, goal)
            raise_bounds(work, read_settings(work.setting))
        return admitted

    def diff(self, before: int | str, after: int | str | None = None) -> Any:
        """How lessons differ between two versions; none for `after` is the newest."""
        with self.store.reading(self.scope) as reading:
            later = reading.version() if after is None else find_version(reading, str(after))
            return compare(reading.playbook(find_version(reading, str(before))), reading.playbook(later))

    def settings(self) -> Settings:
        """The settings that apply to the scope."""
        with self.store.reading(self.scope) as reading:
            return read_settings(reading.setting)

    def set(self, name: str, value: str | None) -> None:
        """Set a setting of the scope; none goes back to the default.

        Raises:
            SettingError: no such setting, or the value is outside its range.
        """
        checked(name, value if value is not None else read_settings(lambda _: None, {}).values.get(name, ""))
        with self.store.writing(self.scope) as work:
            work.set(name, value)

    def close(self) -> None:
        """Release the database, and the model's connections if there is one; what is asked of the playbook after it raises `StoreError`."""
        if self._closed:
            return
        self._store.close()
        if self._model is not None:
            self.learner.close()
        self._closed = True
        for part in ("learner", "vectors"):  # they hold the store, which would open its file again
            self.__dict__.pop(part, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    acontext = in_thread(context)
    alearn = in_thread(learn)
    alearn_many = in_thread(learn_many)
    alearn_kept = in_thread(learn_kept)
    alearn_postponed = in_thread(learn_postponed)
    aembed = in_thread(embed)
    aadapt = in_thread(Adapting.adapt)
    aapply = in_thread(apply)
    arefine = in_thread(refine)
    arollback = in_thread(rollback)
    aobserve = in_thread(FigureKeeping.observe)
    arevoke = in_thread(FigureKeeping.revoke)
    aholdouts = in_thread(HoldingOut.holdouts)
    areflect_submitted = in_thread(HostThinking.reflect_submitted)
    arevise_submitted = in_thread(HostThinking.revise_submitted)
    aforget = in_thread(Removal.forget)
    arevoke_origin = in_thread(Removal.revoke_origin)
    alift_revocation = in_thread(Removal.lift_revocation)
    aheld = in_thread(ReviewKeeping.held)
    aapprove = in_thread(ReviewKeeping.approve)
    areject = in_thread(ReviewKeeping.reject)
    aundo_review = in_thread(ReviewKeeping.undo_review)
    acheck_ledger = in_thread(ReviewKeeping.check_ledger)


def scoped(name: str) -> str:
    """A scope with its tenant: a name of one part belongs to the tenant `local`."""
    return name if "/" in name else f"local/{name}"
