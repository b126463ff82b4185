"""What a comparison is made of: arms that remember, tasks that ask, agents that act on what an arm hands them.

The interface of an arm is that of Continual Learning Bench (arXiv 2606.05661): `respond`, `observe`, `reset`. A system
written for one can be put behind the other by a class of a few lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from tenure.evaluation.harness.sample import Score
from tenure.playbook.run import Run
from tenure.ports import LanguageModel, Usage
from tenure.ranking import estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One instance as an arm sees it.

    Attributes:
        id: of the instance, the same in every order.
        index: its place in the stream, from 0.
        prompt: the whole question, as a model would read it.
        text: the input by which it resembles others: what memories search with.
        options: the answers there are; empty for a free answer.
        metadata: anything else of the instance that an arm may use, by name.
    """

    id: str
    index: int
    prompt: str
    text: str
    options: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a memory hands to the agent.

    Attributes:
        text: as it stands in the prompt.
        says: the answer that it speaks for; empty if it names none.
        like: how much what it came from resembles the question, 0 to 1.
        trust: how far the memory vouches for it, 0 to 1.
    """

    text: str
    says: str = ""
    like: float = 1.0
    trust: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What an agent answered.

    Attributes:
        answer: none if it gave none that can be read.
        memory: the texts that its memory put before it, in the order of the prompt.
        used: places of the items that it followed, in what it was handed.
        problem: why there is no answer; empty if there is one.
        attempts: how often the agent acted to come to it.
        said: the agent's reply, or what it did step by step, verbatim; empty where it is plain code.
        unreadable: whether there is a reply in which no answer can be read, which is no wrong answer.
        outcome: what the world it acted in says of it, for the task alone.
    """

    answer: str | None
    memory: tuple[str, ...] = ()
    used: tuple[int, ...] = ()
    problem: str = ""
    attempts: int = 1
    said: str = ""
    unreadable: bool = False
    outcome: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an arm is told after its response.

    Attributes:
        text: the feedback in words.
        label: the answer that is said to be right, which noise may have changed; none where the task tells none.
        score: of the response as the feedback has it, 0 to 1; none where it tells none.
        complete: whether the instance is over.
        run: the recorded run that the instance is, where it is one.
    """

    text: str
    label: str | None = None
    score: float | None = None
    complete: bool = True
    run: Run | None = None


class Arm(Protocol):
    """A system that answers a stream of queries and may remember."""

    def respond(self, query: Query) -> Response:
        """Answer one query."""
        ...

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Take in what came of the last response."""
        ...

    def reset(self) -> None:
        """Forget everything, as if it had just been made."""
        ...


@runtime_checkable
class Measured(Protocol):
    """An arm that can say how large its memory is."""

    def memory_tokens(self) -> int:
        """Tokens of all that it remembers, about."""
        ...


@runtime_checkable
class Trained(Protocol):
    """An arm that learns from a set before the stream, in a way of its own."""

    def train(self, queries: Sequence[Query]) -> None:
        """Learn from a training set; what comes of an answer to one of them, `Kit.feedback` says."""
        ...


@runtime_checkable
class Leaving(Protocol):
    """An arm that leaves files beside the records: its playbook, its ledger."""

    def leave(self, folder: Path, name: str) -> None:
        """Write what it has learned into a folder, as files whose names begin with a name."""
        ...


class Agent(Protocol):
    """Acts on what a memory hands it."""

    @property
    def name(self) -> str:
        """What it is, in a word or two."""
        ...

    def act(self, query: Query, items: Sequence[Item]) -> Response:
        """Answer a query, given what the memory hands over."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One instance with what only the task knows.

    Attributes:
        query: as arms see it, with the place it has in this order.
        truth: the right answer, by which it is scored.
    """

    query: Query
    truth: str


class Task(Protocol):
    """A stream of instances, an agent, and a scorer."""

    @property
    def name(self) -> str:
        """As in `tenure bench run NAME`."""
        ...

    @property
    def about(self) -> Mapping[str, Any]:
        """What its records depend on, for JSON: options, digest of the data."""
        ...

    def stream(self, order: int) -> Sequence[Instance]:
        """The instances in one order; equal for equal orders. Orders count from 0."""
        ...

    def training(self, order: int) -> Sequence[Instance]:
        """Instances outside the stream, for arms that learn before it; empty if there are none."""
        ...

    def agent(self, order: int, model: LanguageModel | None) -> Agent:
        """The agent that every arm has. Its draws, if any, follow from the order."""
        ...

    def score(self, instance: Instance, response: Response) -> Score:
        """What a response is worth, by the truth."""
        ...

    def observe(self, instance: Instance, response: Response, order: int) -> Observation:
        """What an arm is told of its response; equal for every arm that answered alike."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A lesson as a writer puts it down.

    Attributes:
        text: as it stands in a prompt.
        says: the answer that it speaks for; empty if it names none.
        when: the words by which it is found: of the inputs it rests on.
        sources: ids of the instances it rests on.
        at: index of the newest of them.
    """

    text: str
    says: str
    when: str
    sources: tuple[str, ...]
    at: int

    @property
    def tokens(self) -> int:
        """Of its text, estimated."""
        return estimate_tokens(self.text)


class Writer(Protocol):
    """Puts experience into words for arms that keep lessons: a model, or the shared transparent writer."""

    @property
    def name(self) -> str:
        """What it is, as reports name it."""
        ...

    def lesson(self, query: Query, response: Response, observation: Observation) -> Note | None:
        """The lesson of one instance; none where it teaches nothing."""
        ...

    def merge(self, notes: Sequence[Note]) -> Note:
        """One note that says what several with the same answer say."""
        ...

    def revise(self, note: Note, *, source: str, failed: str) -> Note:
        """A note rewritten by the input it came from, after it misled on another; the same note where nothing is to be changed."""
        ...

    def summarise(self, notes: Sequence[Note], most_words: int) -> tuple[Note, ...]:
        """Notes rewritten as a whole, within so many words; what has no room is gone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What an arm is made with: everything that must be the same for all arms of a comparison.

    Attributes:
        agent: acts for every arm.
        writer: writes for every arm that keeps lessons.
        seed: of the arm's own draws.
        window: tokens that a memory may put before the agent at most.
        model: for arms that ask one; none where all is transparent.
        usage: what the model calls of the arm used so far.
        feedback: what an arm is told of another answer to an instance that it was told of before, or that is a training instance;
            none where nobody can say.
    """

    agent: Agent
    writer: Writer
    seed: int = 0
    window: int = 100_000
    model: LanguageModel | None = None
    usage: Callable[[], Usage] = Usage
    feedback: Callable[[Query, Response], Observation] | None = None
