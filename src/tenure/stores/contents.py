"""What one scope of the store in memory holds: one immutable value whose maps share structure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from rpds import HashTrieMap

from tenure.governance.ledger_lines import Link
from tenure.playbook.delta import OPERATION_NAMES
from tenure.playbook.grading import Belief, Grade
from tenure.playbook.lessons import Lesson
from tenure.playbook.render import Core
from tenure.playbook.run import Run
from tenure.playbook.state import Playbook
from tenure.ports import FailedReply, HeldChange, LedgerEntry, Postponed, VectorKind
from tenure.stores.growth import finished
from tenure.stores.memory_in_memory import MemoryContents
from tenure.stores.vectors import is_own, lesson_text, run_text, text_hash
from tenure.tenancy import outdates_prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A run with its place in the order of arrival and the number of steps learned from (none: kept only).

    `verdict_learned` is false while a verdict that came after it was learned from is only kept.
    """

    run: Run
    place: int
    learned: int | None
    verdict_learned: bool = True
    revoked: bool = False

    @property
    def waiting(self) -> bool:
        """Whether it is finished and has steps that were not learned from."""
        learned = self.learned is not None and self.learned >= len(self.run.steps) and self.verdict_learned
        return not self.revoked and finished(self.run) and not learned


@dataclass(frozen=True, slots=True)
class VectorKey:
    """Whose vector it is, and which embedder made it."""

    kind: VectorKind
    id: str
    model: str


@dataclass(frozen=True, slots=True)
class Vector:
    """Packed numbers, and which text they are of."""

    packed: bytes
    text_hash: str


_NO_LESSONS: HashTrieMap[str, Lesson] = HashTrieMap()
_NO_LEDGER: HashTrieMap[int, LedgerEntry] = HashTrieMap()
_NO_TIPS: HashTrieMap[str, Link] = HashTrieMap()
_NO_LINKS: HashTrieMap[int, Link] = HashTrieMap()
_NO_VERSIONS: HashTrieMap[str, int] = HashTrieMap()
_NO_RUNS: HashTrieMap[str, Kept] = HashTrieMap()
_NO_POSTPONED: HashTrieMap[str, Postponed] = HashTrieMap()
_NO_VECTORS: HashTrieMap[VectorKey, Vector] = HashTrieMap()
_NO_GRADES: HashTrieMap[str, HashTrieMap[str, Grade]] = HashTrieMap()
_NO_BELIEFS: HashTrieMap[str, Belief] = HashTrieMap()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """All that one scope holds. Small maps are plain dicts, copied when they change, in order of arrival."""

    playbook: Playbook = field(default_factory=Playbook)
    lessons: HashTrieMap[str, Lesson] = _NO_LESSONS
    came: HashTrieMap[str, int] = _NO_VERSIONS
    ledger: HashTrieMap[int, LedgerEntry] = _NO_LEDGER
    versions: HashTrieMap[str, int] = _NO_VERSIONS
    newest_delta: str = ""
    runs: HashTrieMap[str, Kept] = _NO_RUNS
    vectors: HashTrieMap[VectorKey, Vector] = _NO_VECTORS
    held: Mapping[str, HeldChange] = field(default_factory=dict[str, HeldChange])
    failed: Mapping[str, FailedReply] = field(default_factory=dict[str, FailedReply])
    postponed: HashTrieMap[str, Postponed] = _NO_POSTPONED
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    cores: Mapping[int, Core] = field(default_factory=dict[int, Core])
    grades: HashTrieMap[str, HashTrieMap[str, Grade]] = _NO_GRADES
    beliefs: HashTrieMap[str, Belief] = _NO_BELIEFS
    noise: tuple[float, ...] = ()
    links: HashTrieMap[int, Link] = _NO_LINKS
    tips: HashTrieMap[str, Link] = _NO_TIPS
    imported: frozenset[int] = frozenset()
    merged: int = 0
    forgotten: Mapping[str, str] = field(default_factory=dict[str, str])
    memory: MemoryContents = field(default_factory=MemoryContents)

    def embedded_texts(self, kinds: Collection[VectorKind], *, since: str = "") -> dict[tuple[VectorKind, str], str]:
        """What is embedded, by kind and id: lessons, runs as they came, then sessions and entries of the newest day first."""
        found: dict[tuple[VectorKind, str], str] = {}
        if "lesson" in kinds:
            found |= {("lesson", one): lesson_text(lesson) for one, lesson in sorted(self.lessons.items()) if lesson.live}
        if "run" in kinds:
            found |= {("run", kept.run.id): run_text(kept.run) for kept in self.by_arrival(newest_first=False) if not kept.revoked}
        if "session" in kinds:
            found |= {("session", name): text for name, text in self.memory.session_texts(since=since).items()}
        if "entry" in kinds:
            found |= {("entry", one.id): one.text for one in self.memory.newest_first(since=since) if is_own(one.role)}
        return found

    def valid_vectors(self) -> Iterator[tuple[VectorKey, Vector]]:
        """Vectors whose texts are there as they were embedded."""
        texts = self.embedded_texts({key.kind for key in self.vectors})
        for key, vector in self.vectors.items():
            said = texts.get((key.kind, key.id))
            if said is not None and text_hash(said) == vector.text_hash:
                yield key, vector

    def by_arrival(self, *, newest_first: bool) -> list[Kept]:
        """Kept runs in the order in which they came."""
        return sorted(self.runs.values(), key=lambda kept: kept.place, reverse=newest_first)


def outdating(before: Contents, after: Contents) -> bool:
    """Whether what a transaction did makes the texts of conversations untenable."""
    new = (after.ledger[version].delta for version in after.ledger if version not in before.ledger)
    return after.merged != before.merged or any(
        outdates_prompts(delta.cause, [OPERATION_NAMES[type(op)] for op in delta.operations]) for delta in new
    )
