"""A store in memory: the whole port in values, for tests, benches and trials. Nothing outlives the process.

Everything a scope holds is one immutable value whose maps share structure, so a look at it costs
nothing and stays consistent, and a transaction is a new value that takes the old one's place.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from rpds import HashTrieMap

from tenure.errors import StoreBusy
from tenure.playbook.apply import fold_in, put_in
from tenure.playbook.delta import Delta
from tenure.playbook.effects import lessons_after
from tenure.playbook.folding import fold
from tenure.playbook.lessons import STATUSES, Brief, Lesson, normalised
from tenure.playbook.records import Member, Record
from tenure.playbook.render import Core, brief_of
from tenure.playbook.run import Run
from tenure.playbook.state import Playbook
from tenure.ports import (
    VECTOR_KINDS,
    Admitted,
    CaseHit,
    Embedded,
    FailedReply,
    Hit,
    LedgerEntry,
    Near,
    Nearest,
    Scrubbed,
    Unembedded,
    Usage,
    VectorKind,
)
from tenure.stores.codec import with_core
from tenure.stores.contents import Contents, Kept, Vector, VectorKey, outdating
from tenure.stores.draws_in_memory import DrawsInMemory
from tenure.stores.figures_in_memory import FiguresInMemory
from tenure.stores.grades_in_memory import GradesInMemory, GradingInMemory
from tenure.stores.growth import grown, told_before, tools_called
from tenure.stores.index_in_memory import Indexes, ScopeIndex
from tenure.stores.memory_in_memory import MemoryContents, MemoryInMemory, MemoryKeptInMemory
from tenure.stores.memory_words import MemoryIndex
from tenure.stores.new_names import check_new
from tenure.stores.postponed_in_memory import PostponedInMemory, PostponingInMemory
from tenure.stores.removal_in_memory import ForgettingInMemory, TracesInMemory
from tenure.stores.scopes import check_scope, check_tenant, parents
from tenure.stores.scopes import tenant as tenant_of
from tenure.stores.sharing_in_memory import SharedInMemory, TakingInMemory, fresh_writer, in_folding_order
from tenure.stores.tenancy_in_memory import TenancyInMemory, TenantContents
from tenure.stores.vectors import Block, best, nearest_of, pack, text_hash, unpack
from tenure.stores.waiting_in_memory import DecidingInMemory, WaitingInMemory
from tenure.stores.weighing import weigh
from tenure.stores.workforce_in_memory import WorkforceInMemory

WAIT_S = 60.0
"""How long a writer waits for another before it gives up, in seconds."""

_PREFERENCE = {"active": 0, "provisional": 1, "held": 2, "retired": 3}


_NOTHING = Contents()


class InMemoryReading(
    FiguresInMemory, DrawsInMemory, GradesInMemory, TracesInMemory, PostponedInMemory, SharedInMemory, WaitingInMemory, MemoryInMemory
):
    """A look at one scope as it was when it began (see `ports.Reading`)."""

    def __init__(self, scope: str, everything: HashTrieMap[str, Contents], writer: str, indexes: Indexes) -> None:
        self._scope, self._writer, self._indexes = scope, writer, indexes
        self._now = everything.get(scope, _NOTHING)
        self._above = tuple((parent, everything.get(parent, _NOTHING)) for parent in parents(scope))

    @property
    def scope(self) -> str:
        """The scope."""
        return self._scope

    @property
    def _book(self) -> Playbook:
        return self._now.playbook

    @property
    def _memory(self) -> MemoryContents:
        return self._now.memory

    def _vectors_of(self, model: str) -> Mapping[tuple[VectorKind, str], bytes]:
        return {(key.kind, key.id): kept.packed for key, kept in self._now.valid_vectors() if key.model == model}

    @property
    def _books_above(self) -> list[tuple[str, Playbook]]:
        return [(scope, contents.playbook) for scope, contents in self._above]

    @property
    def _all(self) -> tuple[tuple[str, Contents], ...]:
        """The scope and its parents as they are here, nearest first."""
        return ((self._scope, self._now), *self._above)

    @contextmanager
    def _index(self) -> Iterator[ScopeIndex]:
        with self._indexes.of([(self._scope, self._now)]) as (index,):
            yield index

    # -- records: the view that the algebra works on ----------------------------------------------

    def record(self, key: str) -> Record | None:
        """The record under an id."""
        return self._now.playbook.record(key)

    def group(self, group: str) -> tuple[Member, ...]:
        """The members of a group of equal texts."""
        return self._now.playbook.group(group)

    def pointing(self, key: str) -> Iterable[str]:
        """Keys of records whose pointer register names this id."""
        return self._now.playbook.pointing(key)

    def holds(self, delta_id: str) -> bool:
        """Whether a delta is part of the state."""
        return self._now.playbook.holds(delta_id)

    def key_owner(self, key: str) -> str | None:
        """Id of the delta that holds a delta key."""
        return self._now.playbook.key_owner(key)

    # -- lessons ---------------------------------------------------------------------------------

    def lessons(self, *, live: bool = True) -> Sequence[Lesson]:
        """The scope's lessons, sorted by id."""
        if not live:
            return _sorted(self._now, live=False)
        with self._index() as index:
            return index.live()

    def briefs(self) -> Sequence[Brief]:
        """What is needed to rank the scope's live lessons, sorted by id."""
        return [brief_of(lesson) for lesson in self.lessons()]

    def named(self, ids: Collection[str]) -> Mapping[str, Lesson]:
        """The scope's lessons with these ids, whatever their status."""
        return {one: self._now.lessons[one] for one in ids if one in self._now.lessons}

    def since(self, version: int) -> Sequence[Lesson]:
        """Live lessons that came after a version, in the order in which they came."""
        came = self._now.came
        new = [lesson for lesson in self._now.lessons.values() if lesson.live and came[lesson.id] > version]
        return sorted(new, key=lambda lesson: (came[lesson.id], lesson.id))

    def supported(self, *, limit: int) -> Sequence[Lesson]:
        """Live lessons of the scope and its parents, those that most runs support first."""
        with self._indexes.of(self._all) as indexes:
            best = [lesson for index in indexes for lesson in index.supported()[: max(limit, 0)]]
        return sorted(best, key=lambda lesson: (-lesson.tallies.support, lesson.id))[: max(limit, 0)]

    def near(self, runs: Collection[str], tools: Collection[str], *, limit: int) -> Sequence[Lesson]:
        """Live lessons that rest on these runs or are about errors of these tools, best supported first."""
        prefixes = tuple(f"tool-error:{tool}:" for tool in tools)
        with self._indexes.of(self._all) as indexes:
            rest = [list(index.resting_on(runs)) for index in indexes]
            about = [[lesson for lesson in index.live() if lesson.about.startswith(prefixes)] if prefixes else [] for index in indexes]
        found = [lesson for mine in zip(rest, about, strict=True) for lesson in {one.id: one for part in mine for one in part}.values()]
        return sorted(found, key=lambda lesson: (-lesson.tallies.support, lesson.id))[: max(limit, 0)]

    def sharing(self, groups: Sequence[Sequence[str]], *, limit: int) -> Sequence[Lesson]:
        """Live lessons of the scope that hold every word of at least one group of words."""
        with self._index() as index:
            return [self._now.lessons[one] for one in sorted(index.lessons.saying(groups))[: max(limit, 0)]]

    def inherited(self) -> Sequence[tuple[str, Lesson]]:
        """Live lessons of the parent scopes, nearest first."""
        return [(scope, lesson) for scope, contents in self._above for lesson in _sorted(contents, live=True)]

    def lesson(self, lesson_id: str) -> Lesson | None:
        """The lesson an id stands for, through aliases."""
        return self._now.lessons.get(lesson_id) or self._now.playbook.lesson(lesson_id)

    def resolve(self, prefix: str) -> Sequence[str]:
        """Ids of lessons that begin with a text; a known id, be it an alias, alone. An empty text begins none."""
        if prefix in self._now.playbook.records:
            return [prefix]
        return sorted(one for one in self._now.lessons if one.startswith(prefix))[:10] if prefix else []

    def about(self, subject: str) -> Lesson | None:
        """The lesson about a subject, live ones first."""
        found = (lesson for lesson in self._now.lessons.values() if subject and lesson.about == subject)
        return min(found, key=lambda lesson: (_PREFERENCE[lesson.status], lesson.id), default=None)

    def search(self, text: str, *, limit: int) -> Sequence[Hit]:
        """Live lessons of the scope and its parents that hold a word or an identifier of a text, best first."""
        with self._indexes.of(self._all) as indexes:
            index = MemoryIndex([one.lessons for one in indexes])
            found = [(one, *index.named(one.row)) for one in weigh(index, text, limit=limit)]
        return [
            Hit(lesson=contents.lessons[name], score=one.score, scope=scope, words=one.words, identifiers=one.identifiers)
            for one, place, name in found
            for scope, contents in (self._all[place],)
        ]

    def playbook(self, version: int | None = None) -> Playbook:
        """The whole playbook, now or as it was after a version."""
        if version is None or version >= self.version():
            return self._now.playbook
        return fold(entry.delta for entry in in_folding_order(self._now, version)).playbook

    # -- the ledger --------------------------------------------------------------------------------

    def version(self) -> int:
        """Arrival number of the newest delta."""
        return len(self._now.ledger)

    def version_of(self, delta_id: str) -> int | None:
        """Arrival number of a delta."""
        return self._now.versions.get(delta_id)

    def ledger(
        self, *, after: int = 0, until: int | None = None, newest_first: bool = False, limit: int | None = None
    ) -> Sequence[LedgerEntry]:
        """Deltas with their arrival numbers in a range."""
        last = self.version() if until is None else min(until, self.version())
        numbers = range(max(after, 0) + 1, last + 1)
        return [self._now.ledger[number] for number in (numbers[::-1] if newest_first else numbers)[:limit]]

    def newest_delta_id(self) -> str:
        """The greatest delta id of the scope."""
        return self._now.newest_delta

    # -- runs ----------------------------------------------------------------------------------------

    def run(self, run_id: str) -> Run | None:
        """A kept run, whole."""
        kept = self._now.runs.get(run_id)
        return None if kept is None else kept.run

    def runs(self, ids: Collection[str]) -> Mapping[str, Run]:
        """Kept runs, whole, by id."""
        return {one: kept.run for one in ids if (kept := self._now.runs.get(one)) is not None}

    def steps_kept(self, run_id: str) -> int:
        """How many steps of a run are kept."""
        kept = self._now.runs.get(run_id)
        return len(kept.run.steps) if kept is not None else 0

    def run_ids(self, *, limit: int | None = None) -> Sequence[str]:
        """Ids of kept runs, newest first."""
        return [kept.run.id for kept in self._now.by_arrival(newest_first=True) if not kept.revoked][:limit]

    def tasks_of(self, runs: Collection[str]) -> Mapping[str, str]:
        """What makes the tasks of kept runs the same, by run: the task's key, else its text."""
        kept = {one: self._now.runs[one].run.task for one in runs if one in self._now.runs}
        return {one: task.key or normalised(task.text) for one, task in kept.items()}

    def learned_steps(self, run_id: str) -> int | None:
        """How many steps of a run were learned from; none if it was never learned, 0 if it had none to learn from."""
        kept = self._now.runs.get(run_id)
        return None if kept is None else kept.learned

    def runs_like(self, run: Run, *, limit: int = 8) -> Sequence[Run]:
        """Other kept runs of the same task, then successful ones of the same kind, newest first."""
        key, kind = run.task.key, run.task.kind
        if not key and not kind:
            return []
        others = [kept.run for kept in self._now.by_arrival(newest_first=True) if kept.run.id != run.id and not kept.revoked]
        same = [one for one in others if key and one.task.key == key]
        akin = [one for one in others if kind and one.task.kind == kind and one.outcome.success and not (key and one.task.key == key)]
        return (same + akin)[: max(limit, 0)]

    def cases_like(self, text: str, *, limit: int) -> Sequence[CaseHit]:
        """Kept runs whose task's input holds a word or an identifier of a text, best first."""
        with self._index() as held:
            index = MemoryIndex([held.tasks])
            found = [(one, index.named(one.row)[1]) for one in weigh(index, text, limit=limit)]
        return [
            CaseHit(run=run, score=one.score, tools=tools_called(self._now.runs[run].run), words=one.words, identifiers=one.identifiers)
            for one, run in found
        ]

    def unembedded(
        self, model: str, *, dimension: int = 0, limit: int = 64, kinds: Collection[VectorKind] = VECTOR_KINDS, since: str = ""
    ) -> Sequence[Unembedded]:
        """What of the scope has no vector of a model. Cost follows the number of all."""
        there = {
            (key.kind, key.id)
            for key, vector in self._now.valid_vectors()
            if key.model == model and (not dimension or len(vector.packed) in (0, 4 * dimension))
        }
        texts = self._now.embedded_texts(kinds, since=since)
        found = [Unembedded(kind=kind, id=one, text=text, text_hash=text_hash(text)) for (kind, one), text in texts.items()]
        return [one for one in found if (one.kind, one.id) not in there][: max(limit, 0)]

    def embeddable(self) -> int:
        """How many texts of the scope are to have a vector."""
        return len(self._now.embedded_texts(VECTOR_KINDS))

    def nearest(self, vector: Sequence[float], *, model: str, kind: VectorKind = "lesson", limit: int = 100) -> Nearest:
        """What of the scope, and of lessons of its parents, is nearest to a vector."""
        question = pack(vector)
        if not question or limit < 1:
            return Nearest()
        there = [
            (contents, Near(id=key.id, cosine=0.0, scope=scope), kept.packed)
            for scope, contents in ((self._scope, self._now), *(self._above if kind == "lesson" else ()))
            for key, kept in sorted(contents.valid_vectors(), key=lambda pair: pair[0].id)
            if (key.kind, key.model, len(kept.packed)) == (kind, model, len(question))
        ]
        block = Block(range(len(there)), b"".join(packed for _, _, packed in there), len(vector))
        compared = best([block], unpack(question), most=limit)
        hits: list[Near] = []
        for place, cosine in compared.found:
            contents, near, _ = there[place]
            if kind == "lesson":
                hits.append(replace(near, cosine=cosine, lesson=contents.lessons[near.id]))
            elif kind != "run":
                hits.append(replace(near, cosine=cosine))
            else:
                hits.append(replace(near, cosine=cosine, tools=tools_called(contents.runs[near.id].run)))
        return nearest_of(sorted(hits, key=lambda near: (-near.cosine, near.id)), [compared], compared=compared.count)

    def has_vectors(self, model: str, *, dimension: int = 0) -> bool:
        """Whether the scope or a parent has a vector of a model."""
        sizes = (0, 4 * dimension)
        every = (one for _, contents in self._all for one in contents.valid_vectors())
        return any(key.model == model and (not dimension or len(vector.packed) in sizes) for key, vector in every)

    def vector_counts(self, *, dimension: int = 0) -> Mapping[str, int]:
        """How many texts of the scope have a vector, by model; with a dimension, of that one, or are known to have none."""
        sizes = (0, 4 * dimension)
        mine = (key.model for key, vector in self._now.valid_vectors() if not dimension or len(vector.packed) in sizes)
        return dict(sorted(Counter(mine).items()))

    def verdict_waits(self, run_id: str) -> bool:
        """Whether its verdict came after it was learned from, and was only kept so far."""
        kept = self._now.runs.get(run_id)
        return kept is not None and not kept.verdict_learned

    def unlearned(self, *, limit: int = 100) -> Sequence[str]:
        """Ids of finished runs that were kept but not learned from, oldest first."""
        return [kept.run.id for kept in self._now.by_arrival(newest_first=False) if kept.waiting][: max(limit, 0)]

    # -- the rest ------------------------------------------------------------------------------------

    def failed_replies(self) -> Sequence[FailedReply]:
        """Replies that wait to be tried again, oldest first."""
        return list(self._now.failed.values())

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Live lessons and their estimated tokens by section."""
        with self._index() as index:
            return index.sizes()

    def core(self, size: int = 0) -> Core | None:
        """The core last shown in contexts of a size."""
        return self._now.cores.get(size)

    def core_sizes(self) -> Sequence[int]:
        """Sizes of which a core is kept, that shown last at the end."""
        return list(self._now.cores)

    def setting(self, name: str) -> str | None:
        """A setting of the scope."""
        return self._now.settings.get(name)

    def counts(self) -> Mapping[str, int]:
        """Sizes by name."""
        by_status = Counter(lesson.status for lesson in self._now.lessons.values())
        return {
            "runs": len(self._now.runs),
            "lessons": len(self._now.lessons),
            "live": by_status["provisional"] + by_status["active"],
            **{status: by_status[status] for status in STATUSES},
            "deltas": self.version(),
            "open": len(self.held()),
            "failed_replies": len(self._now.failed),
            "memory_entries": len(self._memory.entries),
            "memory_nodes": len(self._memory.nodes),
        }


class InMemoryWriting(
    GradingInMemory, TakingInMemory, ForgettingInMemory, PostponingInMemory, MemoryKeptInMemory, InMemoryReading, DecidingInMemory
):
    """A transaction on one scope (see `ports.Writing`)."""

    @property
    def writer(self) -> str:
        """What the store writes as from now on."""
        return self._writer

    @property
    def contents(self) -> Contents:
        """What the scope holds when the transaction ends here."""
        return self._now

    def _keep_memory(self, memory: MemoryContents) -> None:
        fewer = len(memory.entries) < len(self._now.memory.entries)
        self._now = replace(self._now, memory=memory)
        if fewer:
            self._drop_vectors()

    def admit(self, delta: Delta) -> Admitted:
        """Put a delta into the scope's playbook and ledger."""
        delta = replace(delta, scope=self._scope)
        change = fold_in(self, delta)
        if not change.effective:
            return Admitted(receipts=change.receipts)
        lessons = self._now.lessons
        version, came = self.version() + 1, self._now.came
        changed = lessons_after(self, change)
        for lesson_id, lesson in changed.items():
            came = came if lesson is None or lesson_id in lessons else came.insert(lesson_id, version)
            lessons = lessons.discard(lesson_id) if lesson is None else lessons.insert(lesson_id, lesson)
        before = self._now
        self._now = replace(before, playbook=put_in(before.playbook, delta, change), lessons=lessons, came=came)
        with self._indexes.held(self._scope) as index:
            index.step(before, self._now, lessons=[one for one in changed if before.lessons.get(one) is not lessons.get(one)])
        return Admitted(receipts=change.receipts, version=self._append(delta))

    def keep_run(self, run: Run, *, learned: bool) -> None:
        """Keep a run, or more steps and the outcome of one that is kept."""
        run = replace(run, scope=self._scope)
        before = self._now.runs.get(run.id)
        if before is not None:
            run = grown(before.run, run)
        with self._index() as index:
            place = before.place if before is not None else index.last_place() + 1
        read = len(run.steps) if learned else before.learned if before is not None else None
        told = learned or before is None or before.learned is None or told_before(before.verdict_learned, before.run, run)
        revoked = before is not None and before.revoked
        was, kept = self._now, Kept(run=run, place=place, learned=read, verdict_learned=told, revoked=revoked)
        self._now = replace(was, runs=was.runs.insert(run.id, kept))
        with self._indexes.held(self._scope) as index:
            index.step(was, self._now, runs=[run.id])

    def keep_failed_reply(self, failed: FailedReply) -> None:
        """Keep a reply that could not be used."""
        self._now = replace(self._now, failed={**self._now.failed, failed.id: failed})

    def drop_failed_reply(self, failed_id: str) -> None:
        """Forget a reply that has been dealt with."""
        self._now = replace(self._now, failed={one: failed for one, failed in self._now.failed.items() if one != failed_id})

    def put_vectors(self, model: str, vectors: Sequence[Embedded]) -> int:
        """Store vectors of a model whose texts are still the ones they were made from; how many were."""
        kept = self._now.vectors
        stored = 0
        texts = self._now.embedded_texts({one.kind for one in vectors})
        for one in vectors:
            said = texts.get((one.kind, one.id))
            if said is not None and text_hash(said) == one.text_hash:
                kept = kept.insert(VectorKey(one.kind, one.id, model), Vector(pack(one.vector), one.text_hash))
                stored += 1
        self._now = replace(self._now, vectors=kept)
        return stored

    def drop_vectors(self, *, but: str) -> int:
        """Remove the vectors of all models but one; how many there were."""
        kept = self._now.vectors
        dropped = sum(1 for key, _ in self._now.valid_vectors() if key.model != but)
        for key in [key for key in kept if key.model != but]:
            kept = kept.remove(key)
        self._now = replace(self._now, vectors=kept)
        return dropped

    def keep_core(self, core: Core, size: int = 0) -> None:
        """Keep the core that was shown in contexts of a size."""
        self._now = replace(self._now, cores=with_core(self._now.cores, core, size))

    def set(self, name: str, value: str | None) -> None:
        """Set a setting of the scope; none removes it."""
        settings = {one: said for one, said in self._now.settings.items() if one != name}
        self._now = replace(self._now, settings=settings if value is None else {**settings, name: value})


class InMemoryStore:
    """A store in memory (see `ports.Store`). Threads may share it.

    Args:
        url: what it calls itself.
        wait_s: how long a writer waits for another, in seconds.
    """

    def __init__(self, url: str = "memory://", *, wait_s: float = WAIT_S) -> None:
        self._url, self._wait_s = url, wait_s
        self._turn = threading.Lock()
        self._writer = fresh_writer()
        self._indexes = Indexes()
        self._everything: HashTrieMap[str, Contents] = HashTrieMap()
        self._spending: HashTrieMap[tuple[str, str], Usage] = HashTrieMap()
        self._tenancies: HashTrieMap[str, TenantContents] = HashTrieMap()
        self._workforce = WorkforceInMemory()

    @property
    def url(self) -> str:
        """Where it is."""
        return self._url

    @contextmanager
    def reading(self, scope: str) -> Iterator[InMemoryReading]:
        """A consistent look at a scope; writers do not disturb it, and it disturbs none."""
        yield InMemoryReading(check_scope(scope), self._everything, self._writer, self._indexes)

    @contextmanager
    def writing(self, scope: str) -> Iterator[InMemoryWriting]:
        """A transaction on a scope: there for all others when it ends, gone if an error leaves it."""
        check_new(self, scope)
        with self._my_turn():
            transaction = InMemoryWriting(scope, self._everything, self._writer, self._indexes)
            yield transaction
            if outdating(self._everything.get(scope, Contents()), transaction.contents):
                whose = tenant_of(scope)
                gone = scope if not len(transaction.contents.runs) and not len(transaction.contents.lessons) else ""
                self._tenancies = self._tenancies.insert(whose, self._tenancies.get(whose, TenantContents()).outdated(gone))
            self._writer = transaction.writer
            self._everything = self._everything.insert(scope, transaction.contents)

    @contextmanager
    def tenancy(self, tenant: str) -> Iterator[TenancyInMemory]:
        """A consistent look at what a service keeps of a tenant."""
        yield TenancyInMemory(check_tenant(tenant), self._tenancies.get(tenant, TenantContents()))

    @contextmanager
    def changing_tenancy(self, tenant: str) -> Iterator[TenancyInMemory]:
        """A transaction on what a service keeps of a tenant."""
        check_new(self, check_tenant(tenant))
        with self._my_turn():
            transaction = TenancyInMemory(tenant, self._tenancies.get(tenant, TenantContents()))
            yield transaction
            self._tenancies = self._tenancies.insert(tenant, transaction.contents)

    @property
    def workforce(self) -> WorkforceInMemory:
        """Which workers are alive: threads of this process."""
        return self._workforce

    def has_api_key(self, at: str) -> bool:
        """Whether any tenant has an API key that is valid at a moment."""
        return any(key.state(at) == "valid" for contents in self._tenancies.values() for key in contents.keys.values())

    def scopes(self, tenant: str | None = None) -> Sequence[str]:
        """Scopes with a delta, a run or a memory, sorted; of one tenant, or of all."""
        held = {scope for scope, contents in self._everything.items() if len(contents.ledger) or len(contents.runs) or contents.memory}
        return sorted(scope for scope in held if tenant in (None, scope.partition("/")[0]))

    def spent(self, scope: str, day: str | None = None) -> Usage:
        """What model calls for a scope used on a day, or ever."""
        check_scope(scope)
        return sum((usage for (one, at), usage in self._spending.items() if one == scope and day in (None, at)), Usage())

    def add_spending(self, scope: str, day: str, usage: Usage) -> None:
        """Add to what model calls for a scope used on a day."""
        with self._my_turn():
            self._spending = self._spending.insert((check_scope(scope), day), self.spent(scope, day) + usage)

    def book_spending(self, scope: str, usage: Usage, decide: Callable[[Mapping[str, Usage]], str]) -> str:
        """Add to what a scope used on the day that `decide` names, unless it raises."""
        check_scope(scope)
        with self._my_turn():
            day = decide({at: used for (one, at), used in self._spending.items() if one == scope})
            self._spending = self._spending.insert((scope, day), self.spent(scope, day) + usage)
        return day

    def scrub(self, tell: Callable[[str], None] | None = None) -> Scrubbed:
        """Let go of what indexes hold; what nobody holds any more is gone."""
        self._indexes.clear()
        return Scrubbed(done=True)

    def close(self) -> None:
        """Nothing to release: what it holds goes with the object."""

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=self._wait_s):
            raise StoreBusy(f"Store {self._url} was held by another writer for {self._wait_s:g} s. Nothing was written; try again.")
        try:
            yield
        finally:
            self._turn.release()


def _sorted(contents: Contents, *, live: bool) -> list[Lesson]:
    return sorted((lesson for lesson in contents.lessons.values() if lesson.live or not live), key=lambda lesson: lesson.id)
