"""What Tenure needs from outside, as small protocols. Adapters are in `stores` and `providers`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Protocol, runtime_checkable

from tenure.governance.ledger_check import LedgerCheck as LedgerCheck
from tenure.keeping import FailedReply as FailedReply
from tenure.keeping import Forgetting as Forgetting
from tenure.keeping import LedgerEntry as LedgerEntry
from tenure.keeping import RunOutline as RunOutline
from tenure.keeping import Scrubbed as Scrubbed
from tenure.keeping import Sharing, TakingIn
from tenure.keeping import Traces as Traces
from tenure.memory_tree.keeping import MemoryReading, MemoryWriting
from tenure.passages import Found as Found
from tenure.passages import LogSearch
from tenure.passages import Passage as Passage
from tenure.passages import PassageHit as PassageHit
from tenure.passages import PassagesEmbedded as PassagesEmbedded
from tenure.passages import Search as Search
from tenure.playbook.delta import Delta, Receipt
from tenure.playbook.graded import Grades
from tenure.playbook.grading import Belief, Grade
from tenure.playbook.holdout import Draws
from tenure.playbook.lessons import Brief, Lesson
from tenure.playbook.observing import Figures
from tenure.playbook.render import Core
from tenure.playbook.run import Run
from tenure.playbook.state import Playbook
from tenure.postponed import Postponed as Postponed
from tenure.postponed import PostponedReading, PostponedWriting
from tenure.tenancy import BEGUN as BEGUN
from tenure.tenancy import AuditEntry as AuditEntry
from tenure.tenancy import Conversation as Conversation
from tenure.tenancy import KeptReply as KeptReply
from tenure.tenancy import TenantReading as TenantReading
from tenure.tenancy import TenantWriting as TenantWriting
from tenure.tenancy import WebSession as WebSession
from tenure.vectors import VECTOR_KINDS as VECTOR_KINDS
from tenure.vectors import Embedded as Embedded
from tenure.vectors import Embedder as Embedder
from tenure.vectors import Near as Near
from tenure.vectors import Nearest as Nearest
from tenure.vectors import Unembedded as Unembedded
from tenure.vectors import VectorKind as VectorKind
from tenure.waiting import Deciding, Waiting
from tenure.waiting import HeldChange as HeldChange
from tenure.workforce import WorkerSeen as WorkerSeen
from tenure.workforce import Workforce as Workforce


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment, in UTC, with its zone set."""
        ...


class IdSource(Protocol):
    """Makes delta and run ids."""

    def next(self, after: str = "") -> str:
        """A ULID greater than every one made before, and than `after`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What one model call is given.

    Attributes:
        system: stable instructions; first, so that providers can cache them.
        user: what differs from call to call.
        purpose: which role asks: `generate`, `reflect`, `revise`, `curate`, `summarise`.
        max_tokens: cap on the reply, in the model's tokens.
        within_s: seconds that the answer may take in all, waits and retries included; none is no limit.
    """

    system: str
    user: str
    purpose: str
    max_tokens: int = 2048
    within_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What model calls used. Sums with `+`.

    Attributes:
        calls: requests sent, retries included.
        input_tokens, output_tokens, cached_tokens: as the provider counts them; cached is part of input.
        cost_usd: price in US dollars; none if unknown for the model, which is not the same as 0.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: Decimal | None = field(default_factory=lambda: Decimal(0))

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=(self.cost_usd or Decimal(0)) + (other.cost_usd or Decimal(0)) if known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    Attributes:
        text: verbatim, lone surrogates replaced by U+FFFD.
        finish_reason: `stop`, `length` (cut off), `refused` or another word of the provider's.
        usage: of this call.
        model: the model's name as the provider gives it.
    """

    text: str
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""


@runtime_checkable
class LanguageModel(Protocol):
    """Answers a prompt with text. Never called inside a database transaction."""

    @property
    def name(self) -> str:
        """Provider and model, such as `openai:gpt-4o`."""
        ...

    def complete(self, prompt: Prompt) -> Reply:
        """The reply to a prompt.

        Raises:
            ModelError: the provider failed for good; the message names provider and reason.
            SpendCapReached: a cap would be passed; no call was made.
        """
        ...


@runtime_checkable
class Metered(Protocol):
    """A language model whose use is capped run by run."""

    def for_run(self, run: str, *, scope: str = "") -> LanguageModel:
        """The same model with its caps per run counted for this run, and those per day and scope for its scope (empty: its own)."""
        ...


@runtime_checkable
class Replay(Protocol):
    """A check that can be run again: whether following a lesson would have been right in a kept case.

    It is asked inside a transaction, for each new case and the lessons that may match it: it should answer in milliseconds,
    always alike, and reach for no network.
    """

    @property
    def name(self) -> str:
        """What it is, in a word or two; stands with its grades."""
        ...

    def would_be_right(self, lesson: Lesson, case: Run) -> bool | None:
        """Whether following the lesson would have been right there; none if that cannot be decided."""
        ...


class TaskAgent(Protocol):
    """Does a task, given the context text that recall chose."""

    def act(self, task: str, context: str) -> object:
        """The agent's own result for the task: an answer, or a `learning.practice.Attempt` that says how it came to it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What became of a delta in a store.

    Attributes:
        receipts: one per operation.
        version: its arrival number in the scope; none if it left no trace.
        warnings: what a person should know of their own words (see `learning.warning`); a store has none to give.
    """

    receipts: tuple[Receipt, ...]
    version: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A lesson that a search found.

    Attributes:
        lesson: the lesson.
        score: share of what was asked that it holds, rare words counting more; above 0 and below 1. Repeats and length count a little.
        scope: the scope it stands in.
        words, identifiers: of the question that it or a task it came from holds; identifiers exactly, in lower case.
    """

    lesson: Lesson
    score: float
    scope: str
    words: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseHit:
    """A kept run whose task resembles a question.

    Attributes:
        run: its id.
        score: share of what was asked that its task's input holds, as for lessons (see `Hit`).
        tools: names of the tools it called.
        words, identifiers: of the question that its task's input holds.
    """

    run: str
    score: float
    tools: frozenset[str]
    words: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()


class Reading(Figures, Draws, Grades, Traces, PostponedReading, Waiting, MemoryReading, LogSearch, Sharing, Protocol):
    """A consistent look at one scope (and, where said, at the scopes it inherits from)."""

    @property
    def scope(self) -> str:
        """The scope, such as `acme/finance/recon`."""
        ...

    def lessons(self, *, live: bool = True) -> Sequence[Lesson]:
        """The scope's lessons, sorted by id; with `live` only provisional and active ones."""
        ...

    def briefs(self) -> Sequence[Brief]:
        """What is needed to rank the scope's live lessons, sorted by id."""
        ...

    def named(self, ids: Collection[str]) -> Mapping[str, Lesson]:
        """The scope's lessons with these ids, whatever their status; aliases and unknown ids are left out."""
        ...

    def since(self, version: int) -> Sequence[Lesson]:
        """Live lessons that came after a version, in the order in which they came."""
        ...

    def near(self, runs: Collection[str], tools: Collection[str], *, limit: int) -> Sequence[Lesson]:
        """Live lessons of the scope and its parents that rest on these runs or are about errors of these tools, best supported first."""
        ...

    def supported(self, *, limit: int) -> Sequence[Lesson]:
        """Live lessons of the scope and its parents, those that most runs support first."""
        ...

    def sharing(self, groups: Sequence[Sequence[str]], *, limit: int) -> Sequence[Lesson]:
        """Live lessons of the scope, without its parents, that hold every word of at least one group, sorted by id.

        Words are matched as they are or by their stem, as the store does; never as query syntax.
        """
        ...

    def inherited(self) -> Sequence[tuple[str, Lesson]]:
        """Live lessons of the parent scopes, nearest first, each with its scope."""
        ...

    def lesson(self, lesson_id: str) -> Lesson | None:
        """The lesson an id stands for, through aliases."""
        ...

    def resolve(self, prefix: str) -> Sequence[str]:
        """Ids of lessons that begin with a text; the exact one alone where there is one. At most 10."""
        ...

    def about(self, subject: str) -> Lesson | None:
        """The lesson about a subject, live ones first, or none."""
        ...

    def search(self, text: str, *, limit: int) -> Sequence[Hit]:
        """Live lessons of the scope and its parents that hold a word or an identifier of a text, best first.

        Looked at are the lesson, its conditions, what to avoid, and the inputs of the tasks it came from,
        which count less. Those that hold an identifier of the text themselves come first. Never empty
        where a lesson holds a word of the text. Nothing in the text is query syntax.
        """
        ...

    def playbook(self, version: int | None = None) -> Playbook:
        """The whole playbook, now or as it was after a version. Cost follows its size."""
        ...

    def version(self) -> int:
        """Arrival number of the newest delta; 0 if there is none."""
        ...

    def version_of(self, delta_id: str) -> int | None:
        """Arrival number of a delta, or none."""
        ...

    def ledger(
        self, *, after: int = 0, until: int | None = None, newest_first: bool = False, limit: int | None = None
    ) -> Sequence[LedgerEntry]:
        """Deltas with their arrival numbers in a range (`after` excluded, `until` included)."""
        ...

    def newest_delta_id(self) -> str:
        """The greatest delta id of the scope; empty if there is none."""
        ...

    def verify_ledger(self) -> Sequence[str]:
        """What is wrong with the hash chains, a sentence each; empty if they are sound."""
        ...

    def run(self, run_id: str) -> Run | None:
        """A kept run, whole."""
        ...

    def runs(self, ids: Collection[str]) -> Mapping[str, Run]:
        """Kept runs, whole, by id in the order asked for; unknown ids are left out."""
        ...

    def steps_kept(self, run_id: str) -> int:
        """How many steps of a run are kept; 0 if it is not known."""
        ...

    def run_ids(self, *, limit: int | None = None) -> Sequence[str]:
        """Ids of kept runs, newest first."""
        ...

    def tasks_of(self, runs: Collection[str]) -> Mapping[str, str]:
        """What makes the tasks of kept runs the same, by run: the task's key, else its text; unknown runs are left out."""
        ...

    def learned_steps(self, run_id: str) -> int | None:
        """How many steps of a run were learned from; none if it was never learned, 0 if it had none to learn from."""
        ...

    def verdict_waits(self, run_id: str) -> bool:
        """Whether a run's outcome became known after it was learned from, and was only kept so far."""
        ...

    def runs_like(self, run: Run, *, limit: int = 8) -> Sequence[Run]:
        """Other kept runs of the same task, then successful ones of the same kind, newest first."""
        ...

    def cases_like(self, text: str, *, limit: int) -> Sequence[CaseHit]:
        """Kept runs of the scope whose task's input holds a word or an identifier of a text, best first, as `search` finds lessons."""
        ...

    def unembedded(
        self, model: str, *, dimension: int = 0, limit: int = 64, kinds: Collection[VectorKind] = VECTOR_KINDS, since: str = ""
    ) -> Sequence[Unembedded]:
        """What of the scope has no vector of a model; what was edited counts as without.

        Live lessons come first, then kept runs, then of the memory sessions and entries of persons, of the newest day first.

        Args:
            model: the embedder's name.
            dimension: the embedder's; vectors of another one count as missing. 0 takes any.
            limit: how many at most.
            kinds: which of them.
            since: ISO date; of the memory only what was said on that day or later. Empty takes all.
        """
        ...

    def embeddable(self) -> int:
        """How many texts of the scope are to have a vector: those that `unembedded` gives where there is none yet."""
        ...

    def nearest(self, vector: Sequence[float], *, model: str, kind: VectorKind = "lesson", limit: int = 100) -> Nearest:
        """Live lessons of the scope and its parents, or kept runs, sessions or entries of the scope, whose vectors are nearest to one.

        Only vectors of the same model and dimension are compared; every one of them is (exact search). Of a memory's sessions
        and entries a database may compare the newest alone, where there are very many.
        """
        ...

    def has_vectors(self, model: str, *, dimension: int = 0) -> bool:
        """Whether the scope or a parent has a vector of a model, or a text known to have none; with a dimension, one of that."""
        ...

    def vector_counts(self, *, dimension: int = 0) -> Mapping[str, int]:
        """How many texts of the scope have a vector, by model; with a dimension, of that one, or are known to have none."""
        ...

    def unlearned(self, *, limit: int = 100) -> Sequence[str]:
        """Ids of finished runs that were kept but not learned from, or not with the outcome that came later, oldest first."""
        ...

    def failed_replies(self) -> Sequence[FailedReply]:
        """Replies that wait to be tried again, oldest first."""
        ...

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Live lessons and their estimated tokens by section."""
        ...

    def core(self, size: int = 0) -> Core | None:
        """The core last shown in contexts of a size, or none.

        Args:
            size: the cap on it, in tokens; 0 for the one that the settings give.
        """
        ...

    def core_sizes(self) -> Sequence[int]:
        """Sizes of which a core is kept, that shown last at the end."""
        ...

    def setting(self, name: str) -> str | None:
        """A setting of the scope, or none."""
        ...

    def counts(self) -> Mapping[str, int]:
        """Sizes by name: runs, lessons, by status, live, deltas, open (held changes), failed_replies, memory_entries, memory_nodes."""
        ...


class Writing(Reading, Forgetting, PostponedWriting, Deciding, MemoryWriting, TakingIn, Protocol):
    """A transaction on one scope. Nothing is kept unless it ends without an error."""

    def admit(self, delta: Delta) -> Admitted:
        """Put a delta into the scope's playbook and ledger."""
        ...

    def keep_run(self, run: Run, *, learned: bool) -> None:
        """Keep a run, or more steps and the outcome of one that is kept; `learned` marks its steps as learned from."""
        ...

    def keep_failed_reply(self, failed: FailedReply) -> None:
        """Keep a reply that could not be used."""
        ...

    def drop_failed_reply(self, failed_id: str) -> None:
        """Forget a reply that has been dealt with."""
        ...

    def put_vectors(self, model: str, vectors: Sequence[Embedded]) -> int:
        """Store vectors of a model; how many were. One whose text has changed meanwhile, or is gone, is left out."""
        ...

    def drop_vectors(self, *, but: str) -> int:
        """Remove the vectors of all models but one; how many there were."""
        ...

    def put_grades(self, grades: Sequence[Grade]) -> None:
        """Keep grades of lessons; one of the same lesson and case is replaced."""
        ...

    def drop_grades(self, *, lessons: Collection[str] = (), runs: Collection[str] = ()) -> None:
        """Remove the grades of lessons, with what they amount to, and those by runs; what the others amount to is for the caller to say."""
        ...

    def put_beliefs(self, beliefs: Mapping[str, Belief]) -> None:
        """Keep what the grades of lessons amount to, by lesson id."""
        ...

    def keep_noise(self, evidence: Sequence[float]) -> None:
        """Keep what all grades of the scope say of its labels (see `grading.Noise`); an empty one forgets it."""
        ...

    def keep_core(self, core: Core, size: int = 0) -> None:
        """Keep the core that was shown in contexts of a size. Of many sizes, those shown longest ago are let go."""
        ...

    def set(self, name: str, value: str | None) -> None:
        """Set a setting of the scope; none removes it."""
        ...


class Store(Protocol):
    """Where scopes live. Every adapter passes the contract suite in `tests/stores`."""

    @property
    def url(self) -> str:
        """Where it is, without secrets."""
        ...

    def reading(self, scope: str) -> AbstractContextManager[Reading]:
        """A consistent look at a scope.

        Raises:
            ScopeError: the scope is empty or malformed.
        """
        ...

    def writing(self, scope: str) -> AbstractContextManager[Writing]:
        """A transaction on a scope: durable when it ends, undone if an error leaves it.

        Raises:
            ScopeError: the scope is empty or malformed, or its name is new and not in the Unicode form NFC.
            StoreBusy: another writer held the database for longer than the wait allows.
        """
        ...

    def tenancy(self, tenant: str) -> AbstractContextManager[TenantReading]:
        """A consistent look at what a service keeps of a tenant.

        Raises:
            ScopeError: the tenant is empty, malformed, or a scope below one.
        """
        ...

    def changing_tenancy(self, tenant: str) -> AbstractContextManager[TenantWriting]:
        """A transaction on what a service keeps of a tenant: durable when it ends, undone if an error leaves it.

        Raises:
            ScopeError: the tenant is empty, malformed, or a scope below one.
            StoreBusy: another writer held the database for longer than the wait allows.
        """
        ...

    @property
    def workforce(self) -> Workforce:
        """Which workers are alive, for all tenants: it holds nothing of theirs."""
        ...

    def has_api_key(self, at: str) -> bool:
        """Whether any tenant has an API key that is valid at a moment (ISO 8601, UTC); a service that nobody could use need not start."""
        ...

    def scopes(self, tenant: str | None = None) -> Sequence[str]:
        """Scopes with a delta, a run or a memory, sorted.

        Args:
            tenant: whose; none names all of the database, which is for its operator: tenant after tenant where each is walled in.
        """
        ...

    def spent(self, scope: str, day: str | None = None) -> Usage:
        """What model calls for a scope used on a day (`2026-03-15`), or ever."""
        ...

    def add_spending(self, scope: str, day: str, usage: Usage) -> None:
        """Add to what model calls for a scope used on a day; durable on return."""
        ...

    def book_spending(self, scope: str, usage: Usage, decide: Callable[[Mapping[str, Usage]], str]) -> str:
        """Add to what a scope used on the day that `decide` names, unless it raises; durable on return.

        Args:
            scope: whose spending it is.
            usage: what is added.
            decide: is given what the scope used by day and names the day. No other spending of any process comes between.

        Returns:
            The day.
        """
        ...

    def scrub(self, tell: Callable[[str], None] | None = None) -> Scrubbed:
        """Leave no trace of what was taken out: no byte of it in free pages, in the text index or in a log.

        Cost follows the size of all scopes. What could not be done is left for the next time the store is opened.

        Args:
            tell: is told each step as it begins.
        """
        ...

    def close(self) -> None:
        """Release connections."""
        ...


class TokenCounter(Protocol):
    """Counts the tokens of a text, as a model's tokenizer does or by an estimate."""

    @property
    def name(self) -> str:
        """What counts, such as `o200k_base (tiktoken)` or `estimate`."""
        ...

    def __call__(self, text: str) -> int:
        """Tokens of a text, 0 or more."""
        ...
