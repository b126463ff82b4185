"""The benches that `tenure bench` offers. A bench is a function from options to a JSON-like result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Tell = Callable[[float, str], None]
"""Takes the share of a measurement that is done, 0 to 1, and what is done in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a bench is asked to do; each reads what concerns it.

    Attributes:
        data: the file or folder to measure on, or none.
        questions: a second file, for benches whose questions stand apart from their data, or none.
        budget: tokens of each context; none takes the bench's own.
        seed: of random draws.
        sizes: sizes to measure; empty takes the bench's own.
        out: a folder for plots, or none.
        params: anything else, by name, as text.
        tell: called now and then with how far it is; none tells nobody.
    """

    data: Path | None = None
    questions: Path | None = None
    budget: int | None = None
    seed: int = 0
    sizes: tuple[int, ...] = ()
    out: Path | None = None
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    tell: Tell | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One thing that can be measured.

    Attributes:
        name: as in `tenure bench run NAME`.
        measures: what it measures, in one sentence.
        needs_data: whether `--data` must be given.
        figures: what each figure of the result means, by its name; those inside tables too.
        run: measures, and gives the result.
        takes_folder: whether the data is a folder.
        data: what the data is, as it stands after "needs"; empty if there is none.
        also: an option that it needs beside `--data`, as it is typed; empty if there is none.
    """

    name: str
    measures: str
    needs_data: bool
    figures: Mapping[str, str]
    run: Callable[[Asked], dict[str, Any]]
    takes_folder: bool = False
    data: str = ""
    also: str = ""

    @property
    def command(self) -> str:
        """What to type to run it, with what it needs."""
        given = f" --data {'DIR' if self.takes_folder else 'FILE'}" if self.needs_data else ""
        return f"tenure bench run {self.name}{given}{' ' + self.also if self.also else ''}"


def _recurrence(asked: Asked) -> dict[str, Any]:
    from tenure.evaluation.recurrence import BUDGET, run_recurrence

    assert asked.data is not None  # `needs_data` is checked by whoever runs it
    return run_recurrence(asked.data, budget=asked.budget or BUDGET, seed=asked.seed, tell=asked.tell)


def _prompt_cache(asked: Asked) -> dict[str, Any]:
    from tenure.evaluation.prompt_cache import run_prompt_cache

    assert asked.data is not None
    return run_prompt_cache(asked.data, seed=asked.seed, core_tokens=asked.budget, tell=asked.tell)


def _scale(asked: Asked) -> dict[str, Any]:
    from tenure.evaluation.scale import SIZES, run_scale

    return run_scale(asked.sizes or SIZES, seed=asked.seed, out=asked.out, tell=asked.tell)


def _recall_locomo(asked: Asked) -> dict[str, Any]:
    from tenure.evaluation.recall_locomo import run_recall_locomo
    from tenure.providers.embedding import open_embedder

    assert asked.data is not None
    return run_recall_locomo(asked.data, embedder=open_embedder(asked.params.get("embedder")), tell=asked.tell)


def _recall_memaware(asked: Asked) -> dict[str, Any]:
    from tenure.errors import UserError
    from tenure.evaluation.recall_memaware import run_recall_memaware
    from tenure.providers.embedding import open_embedder

    assert asked.data is not None
    if asked.questions is None:
        raise UserError(f"Bench 'recall-memaware' needs a file of questions too: {BENCHES['recall-memaware'].command}")
    return run_recall_memaware(
        asked.data, asked.questions, embedder=open_embedder(asked.params.get("embedder")), seed=asked.seed, tell=asked.tell
    )


BENCHES: Mapping[str, Bench] = {
    bench.name: bench
    for bench in (
        Bench(
            name="recurrence",
            measures="whether a tool error that came before meets a lesson about it before it comes again, within a small budget",
            needs_data=True,
            data="runs, in any form that learn reads",
            figures={
                "runs": "runs in the file",
                "errors": "tool errors in them",
                "recurrent": "errors that an earlier run had too",
                "covered": "recurrent errors with a lesson about them in the context",
                "coverage": "covered of recurrent, 0 to 1",
                "coverage_random": "the same, if lessons were drawn at random within the budget",
                "actionable": "share of lessons that state a cure or a check",
                "off_target": "share of lessons shown, in runs where an error came again, that are about none of its errors",
                "held": "changes that wait for a review",
                "lessons": "lessons in use at the end",
                "context_tokens_mean": "tokens of a context, on average",
                "seconds": "time for all of it",
                "signatures": "different errors",
                "all_fit": "share of recurrent errors at which all lessons fitted the budget",
                "unreadable": "places in the file that could not be read",
                "note": "why a figure counts nothing",
            },
            run=_recurrence,
        ),
        Bench(
            name="prompt-cache",
            measures="how much of the prompts sent a prefix cache can reuse while a playbook grows",
            needs_data=True,
            data="a playbook, in any form that import reads",
            figures={
                "steps": "prompts sent after the first",
                "reuse_mean": "share of all tokens sent that were an unchanged prefix of the prompt before, 0 to 1",
                "reuse_sectioned": "the same with counters in the text and new lessons put into their sections",
                "rebuilds": "how often the core changed",
                "generations": "how often of these it only grew, behind the bytes that were there",
                "tail_share_max": "the longest tail, as a share of the core",
                "dead_share_max": "the most that a rebuild would have saved (dead texts, corrections, headings said again), to the core",
                "reuse_step_mean": "the share of a step, averaged over steps",
                "tokens_sent": "tokens of all prompts",
                "tokens_sectioned": "the same, laid out by section",
                "updates": "lessons changed on the way",
                "retirements": "lessons retired on the way",
                "core_tokens": "cap on the core",
                "seconds": "time for all of it",
            },
            run=_prompt_cache,
        ),
        Bench(
            name="scale",
            measures="what a playbook of 1,000, 10,000 and 100,000 lessons costs on disk",
            needs_data=False,
            figures={
                "bare_commit_ms": "one row committed by sqlite3 alone, with the same settings",
                "peak_mb": "most memory taken; tokens are counted by estimate unless a tokenizer is named",
                "sizes": "by number of lessons: medians of each step, by the clock and as processor time",
                "apply_ms": "ten operations, committed",
                "context_ms": "the context for a task",
                "render_ms": "the stable part of a prompt, after a counter changed",
                "dedup_ms": "a look for what says the same as one new lesson",
                "refine_s": "what refine would merge and retire, worked out",
                "open_ms": "opening the database",
                "processor": "the same, as processor time of the process itself",
                "tokenizer": "with a tokenizer instead of an estimate, where the extra tokens is installed",
                "counter": "which tokenizer",
                "build_s": "filling the database",
                "lessons": "lessons in use",
                "file_mb": "the database on disk",
                "dimension": "numbers in a vector",
                "held_mb": "the vectors themselves",
                "added_peak_mb": "what they add to the most memory taken",
                "plots": "files that were drawn",
                "note": "what was left out, and why",
                "apply_growth": "apply at the largest size, as a multiple of apply at the smallest",
                "load": "other work on the machine, before and after",
                "processors": "processors of the machine",
                "vectors": "what a vector per lesson adds at the largest size; peak_mb is without them and without a tokenizer",
            },
            run=_scale,
        ),
        Bench(
            name="recall-locomo",
            measures="whether the turns of a long conversation that answer a question are among the first ten found",
            needs_data=True,
            data="conversations with questions, in LoCoMo's form",
            figures={
                "questions": "questions with an answer in the conversation",
                "recall_at_5": "share of a question's evidence turns among the first five, averaged",
                "recall_at_10": "the same among the first ten",
                "mrr": "mean of 1 / rank of the first evidence turn",
                "p50_ms": "median time of a search",
                "by_category": "recall_at_10 by kind of question",
                "turns": "turns searched",
                "left_out": "questions without an answer, not asked",
                "embedder": "what made the vectors; none: keywords alone",
                "note": "what went wrong on the way",
            },
            run=_recall_locomo,
        ),
        Bench(
            name="recall-memaware",
            measures="whether what is recalled of past sessions within a budget comes from the session that matters",
            needs_data=True,
            data="a folder of chats by day, in MemAware's form, and its questions",
            also="--questions FILE",
            figures={
                "questions": "questions asked",
                "hit_3k": "share with an answer session in 3,000 tokens",
                "hit_10k": "share with an answer session in 10,000 tokens",
                "string_3k": "share with the words of the answer in 3,000 tokens",
                "string_10k": "share with the words of the answer in 10,000 tokens",
                "answered_3k": "share with the words of the answer, in a session of the answer, in 3,000 tokens",
                "answered_10k": "the same in 10,000 tokens",
                "random_3k": "hit_3k of random turns",
                "random_10k": "hit_10k of random turns",
                "by_tier": "the same by difficulty",
                "sessions": "sessions searched",
                "embedder": "what made the vectors; none: keywords alone",
                "note": "what went wrong on the way",
            },
            run=_recall_memaware,
            takes_folder=True,
        ),
    )
}
