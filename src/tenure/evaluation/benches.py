"""The benches that `tenure bench` offers. A bench is a function from options to a JSON-like result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tenure.evaluation import bench_runs
from tenure.evaluation.bench_arms import MEANINGS
from tenure.evaluation.bench_runs import Asked

__all__ = ["BENCHES", "Asked", "Bench"]


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
        takes_file: whether it may be a file where a folder is taken too.
        data: what the data is, as it stands after "needs"; empty if there is none.
        also: an option that it needs beside `--data`, as it is typed; empty if there is none.
    """

    name: str
    measures: str
    needs_data: bool
    figures: Mapping[str, str]
    run: Callable[[Asked], dict[str, Any]]
    takes_folder: bool = False
    takes_file: bool = False
    data: str = ""
    also: str = ""

    @property
    def command(self) -> str:
        """What to type to run it, with what it needs."""
        given = (
            f" --data {'PATH' if self.takes_folder and self.takes_file else 'DIR' if self.takes_folder else 'FILE'}"
            if self.needs_data
            else ""
        )
        return f"tenure bench run {self.name}{given}{' ' + self.also if self.also else ''}"


_RECORDINGS = "recordings of a memory that is rewritten whole, one JSON object a step, or a folder of them"

BENCHES: Mapping[str, Bench] = {
    bench.name: bench
    for bench in (
        Bench(
            name="recurrence",
            measures="whether a tool error that came before meets a lesson about it before it comes again, within a small budget",
            needs_data=True,
            data="runs, in any form that learn reads",
            figures={
                "arms": MEANINGS["arms"],
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
            run=bench_runs.recurrence,
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
            run=bench_runs.prompt_cache,
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
            run=bench_runs.scale,
        ),
        Bench(
            name="redaction",
            measures="how many secrets are taken out of labelled lines, and how much of what is taken out was secret",
            needs_data=False,
            figures={
                "lines": "labelled lines",
                "secrets": "secrets in them",
                "lookalikes": "lines in which nothing is secret",
                "found": "secrets of which no more than four characters in a row are left",
                "marks": "places that were taken out",
                "right": "of them, those that stood where a secret was",
                "recall": "found of secrets, 0 to 1",
                "precision": "right of marks, 0 to 1",
                "parts": "the same by part of the set; of the built-in one, the held-out part was written before the rules were read",
                "kinds": "secrets and found by kind",
                "missed": "examples of what was left, masked",
                "wrong": "examples of what was taken out and no secret",
                "kb_per_second": "thousand characters a second of processor time; short lines are slower than long texts",
                "second_look": "whether detect-secrets is installed and took part",
            },
            run=bench_runs.redaction,
        ),
        Bench(
            name="injection",
            measures="whether what strangers plant in runs becomes a lesson that is shown, without a model and with one that obeys them",
            needs_data=False,
            figures={
                "arms": MEANINGS["arms"],
                "attacks": "attack runs; each is learned without a model and with one",
                "active_lessons": "lessons in use whose instruction comes from an attack",
                "held": "lessons of attacks that wait for a person",
                "refused": "lessons of attacks that admission refused for what they say",
                "refused_otherwise": "lessons of attacks that were refused for another reason, such as their length",
                "nothing": "attack runs, either way of learning, that left no lesson of the attack at all",
                "benign_total": "runs whose lesson is harmless and mentions the same words",
                "benign_blocked": "of them, those whose lesson was held or refused",
                "benign_learned": "of them, those whose lesson is in use",
                "families": "the same by family of attack",
                "without_model": "the same for learning without a model",
                "with_model": "the same for learning with a model that obeys the attack",
                "active": "examples of active lessons",
                "blocked": "examples of harmless lessons that were blocked",
                "seconds": "processor time for all of it",
            },
            run=bench_runs.injection,
        ),
        Bench(
            name="recall-locomo",
            measures="whether the turns of a long conversation that answer a question are among the first ten found",
            needs_data=True,
            data="conversations with questions, in LoCoMo's form",
            figures={
                "arms": MEANINGS["arms"],
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
            run=bench_runs.recall_locomo,
        ),
        Bench(
            name="memory-tree",
            measures="whether a reader who has only the memory tree reaches the session that matters, and what recall finds",
            needs_data=True,
            data="a folder of chats by day, in MemAware's form, and its questions",
            also="--questions FILE",
            figures={
                "arms": MEANINGS["arms"],
                "entries": "raw entries, one a turn",
                "build_seconds": "processor time for building the tree",
                "root_tokens": "tokens of the root",
                "reachable_by_fact": "share of questions whose session a walk opens in 10,000 tokens, led by the fact to recall",
                "reachable_by_fact_40k": "the same in 40,000 tokens",
                "reachable_by_question": "the same in 10,000 tokens, led by the question alone: what an agent has that only reads",
                "reachable_by_question_40k": "the same in 40,000 tokens",
                "reachable_shuffled": "led by the fact in 10,000 tokens, with what nodes say dealt to other names",
                "hit_3k": "share with an answer session in 3,000 tokens of the memory's recall, measured as in recall-memaware",
                "hit_10k": "the same in 10,000 tokens",
                "recall_ms": "recall of 3,000 tokens, median processor time",
                "tokens_mean": "tokens that a walk by fact reads until it is there, 10,000 at most",
                "halves": "the walks by fact for every second question, beginning with the first and with the second",
                "questions": "questions asked",
                "sessions": "sessions kept",
                "nodes": "days, weeks and months",
                "root_cap": "cap on the root",
                "embedder": "what made the vectors of recall; none: words alone",
                "note": "what recall had to do without",
            },
            run=bench_runs.memory_tree,
            takes_folder=True,
        ),
        Bench(
            name="memory-scale",
            measures="what a memory of ten years and a million entries costs on disk, beside one of a month",
            needs_data=False,
            figures={
                "entries": "raw entries in ten years",
                "append_ms_month": "one entry written down through all of the engine, processor time, with a month in the database",
                "append_ms_decade": "the same with ten years in it",
                "append_growth": "the second as a multiple of the first",
                "append_wall_ms": "both by the clock, with the disk's part",
                "recall_ms_month": "a question of the memory within 3,000 tokens, median processor time, with a month",
                "recall_ms_decade": "the same with ten years",
                "recall_wall_ms": "both by the clock",
                "compact_ms": "building what one entry changed in ten years, processor time",
                "rebuild_s": "building the whole tree of ten years from raw, processor time",
                "root_ms": "making the root of ten years, processor time",
                "root_tokens": "tokens of that root",
                "peak_mb": "most memory that the process took",
                "fill_s": "filling the database, processor time",
                "file_mb": "the database on disk",
                "nodes": "days, weeks and months of ten years",
            },
            run=bench_runs.memory_scale,
        ),
        Bench(
            name="recall-memaware",
            measures="whether what is recalled of past sessions within a budget comes from the session that matters",
            needs_data=True,
            data="a folder of chats by day, in MemAware's form, and its questions",
            also="--questions FILE",
            figures={
                "arms": MEANINGS["arms"],
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
            run=bench_runs.recall_memaware,
            takes_folder=True,
        ),
        Bench(
            name="drift",
            measures="which memory policy holds when hidden rules change and labels lie; see design/drift-bench.md",
            needs_data=False,
            figures={
                "arms": MEANINGS["arms"],
                "by_noise": "by share of wrong labels and arm: mean score with its 95 % interval, before and after the change, at the end",
                "best_rival": "by share of wrong labels: the best other arm, and tenure's score minus its own, paired by seed",
                "held_at_most_noise": "tenure's score at the most noise, as a share of its score without",
                "seeds": "one world each",
                "world": "its parameters; others with --params FILE",
                "seconds": "processor time for all of it",
            },
            run=bench_runs.drift,
        ),
        Bench(
            name="poison",
            measures="what an agent that does what its memory says makes of records that one attacker planted in it",
            needs_data=True,
            data="FiNER questions with their answers, one JSON object a line",
            figures={
                "arms": MEANINGS["arms"],
                "accuracy_clean": "share of entities tagged rightly, without the attacker",
                "hijack_clean": "share of the target's entities that get the attacker's tag all the same",
                "accuracy_poisoned": "share tagged rightly with the attacker's records, one vote per untrusted origin",
                "hijack_poisoned": "share of the target's entities that get the attacker's tag then",
                "accuracy_undefended": "the same if each record has a vote",
                "hijack_undefended": "the same if each record has a vote",
                "accuracy_after_revoke": "share tagged rightly once the attacker's origin is revoked",
                "hijack_after_revoke": "share of the target's entities that get the attacker's tag then",
                "kept": "entities kept as true cases",
                "asked": "entities asked",
                "targets": "of them with the target's tag",
                "records": "records planted",
                "names": "names the attacker used",
                "tag": "the target",
                "wrong_tag": "what the attacker wants in its place",
                "seconds": "processor time for all of it",
            },
            run=bench_runs.poison,
        ),
        Bench(
            name="retention",
            measures="what a recorded memory that is rewritten whole keeps of what it wrote, and what Tenure keeps of the same items",
            needs_data=True,
            data=_RECORDINGS,
            takes_folder=True,
            takes_file=True,
            figures={
                "arms": MEANINGS["arms"],
                "written": "distinct items ever written",
                "alive_overwrite": "of them in the last recorded sheet",
                "alive_tenure": "of them whole, word for word, in Tenure's rendered prompt of at most `words` words",
                "found_tenure": "share of them that the question of the step that first wrote them brings up within `found_words` words",
                "recoverable_tenure": "of them that can be got back from the store, every wording word for word",
                "words": "words of a prompt: the allowance of the recorded method",
                "found_words": "words of a context for a question",
                "ratio": "alive_tenure to alive_overwrite",
                "recordings": "recordings measured",
                "matched": "the rule by which items of different steps are one",
                "by_recording": "the same by recording, with life times and curves",
                "found": "items that their first question brings up",
                "steps": "steps recorded",
                "wordings": "different wordings of the items",
                "prompt_words": "words of Tenure's prompt",
                "sheet_words_most": "words of the largest recorded sheet",
                "sheet_words_end": "words of the last one",
                "item_words_median": "words of an item",
                "life_median": "sheets that hold an item, median",
                "lives": "items by how many sheets hold them",
                "vocabulary_most": "different words of the richest sheet",
                "vocabulary_end": "different words of the last one",
                "losses": "steps that lost more than 30 % of the words",
            },
            run=bench_runs.retention,
        ),
        Bench(
            name="collapse",
            measures="control: size and score over steps of a memory rewritten whole, recorded and by a summariser (--sizes CAP)",
            needs_data=True,
            data=_RECORDINGS,
            takes_folder=True,
            takes_file=True,
            figures={
                "words_most": "words of the largest recorded sheet, mean over recordings",
                "words_end": "words of the last one",
                "steepest_loss": "largest share of its words that a sheet lost in one step",
                "kept_recorded": "share of all statements ever written that the last recorded sheet has",
                "kept_summarised": "the same of a memory that summarises itself within `cap` words after each step",
                "kept_deltas": "the same of a playbook that takes them as deltas",
                "right_first": "share of right answers of the recorded model, first third",
                "right_last": "the same, last third; the questions differ",
                "cap": "words of the summarised memory",
                "recordings": "recordings measured",
                "by_recording": "the same by recording, with curves",
            },
            run=bench_runs.collapse,
        ),
        Bench(
            name="brevity",
            measures="control: whether a tighter cap takes specifics before ordinary words (--sizes CAPS)",
            needs_data=True,
            data=_RECORDINGS,
            takes_folder=True,
            takes_file=True,
            figures={
                "specifics_recorded": "share of figures and names in code ever written that the last recorded sheet has",
                "ordinary_recorded": "the same of ordinary words",
                "used": "share of the allowance of 2,500 words that the largest recorded sheet takes",
                "recordings": "recordings measured",
                "by_cap": "by cap in words, of a memory that summarises itself after each step",
                "specifics": "share of specifics still there",
                "ordinary": "share of ordinary words still there",
                "words": "words it takes",
            },
            run=bench_runs.brevity,
        ),
        Bench(
            name="self-labels",
            measures="control: what a memory loses that takes its own answers for labels",
            needs_data=True,
            data="FiNER questions with their answers, one JSON object a line",
            figures={
                "labels": "share answered rightly, told each label",
                "self_labels": "the same, keeping its own answers as if they were right",
                "frozen": "the same, keeping nothing after the start",
                "self_label_error": "share of the kept answers that are wrong",
                "loss": "frozen less self_labels",
                "labels_last_quarter": "labels, in the last quarter of the stream",
                "self_labels_last_quarter": "self_labels, alike",
                "frozen_last_quarter": "frozen, alike",
                "orders": "orders of the stream",
                "by_order": "the same by order",
                "seconds": "processor time for all of it",
            },
            run=bench_runs.self_labels,
        ),
        Bench(
            name="service",
            measures="how many contexts and reports a second a server takes, on PostgreSQL and on SQLite; some minutes",
            needs_data=False,
            figures={
                "context_rps": "contexts a second, of all callers together",
                "context_p50_ms": "time until a context was there, median",
                "context_p99_ms": "the same, of the slowest hundredth",
                "ingest_rps": "runs reported a second, each on disk before it was acknowledged",
                "ingest_p50_ms": "time until a run was acknowledged, median",
                "ingest_p99_ms": "the same, of the slowest hundredth",
                "errors": "requests that were refused or not answered",
                "lost": "runs that were acknowledged and are not in the database",
                "acknowledged": "runs that were acknowledged",
                "sqlite": "the same on SQLite",
                "tenants": "tenants, each with a key of its own",
                "lessons": "lessons of each tenant",
                "at_once": "callers at a time",
                "run_s": "seconds of contexts, and of reports",
                "processors": "processors that client, server and database share",
                "fill_s": "filling the database",
                "seconds": "time for all of it",
            },
            run=bench_runs.service,
        ),
    )
}
