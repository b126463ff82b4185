"""Bench `retention`: what a memory that is rewritten whole keeps of what it wrote, and what Tenure keeps of the very same.

The recorded memory of a model is read step by step (see `cheatsheets`). The same items then go through Tenure as deltas: a
first wording is an ADD, another wording of the same item an UPDATE, and that a later sheet leaves an item out is no delta,
because nobody decided it. At the end the playbook is rendered into as many words as the recorded method was allowed, and each
question of the recording is asked again, with the stable core off: it is the same for every task, and recall is what is
measured here. Nothing acts on the memory here: this measures what is still there to be read.
"""

from __future__ import annotations

import hashlib
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from tenure.errors import UserError
from tenure.evaluation.bench_arms import arm_figures, share_by_quarter
from tenure.evaluation.cheatsheets import Item, SheetStep, Written, follow, read_recordings
from tenure.playbook.delta import Add, Operation, Update
from tenure.playbook.lessons import Evidence
from tenure.playbook.render import render
from tenure.playbook.run import Outcome, Run, Step, Task
from tenure.playbook.state import Playbook
from tenure.ranking import words
from tenure.testing import CountingIds, InMemoryStore, SteppingClock
from tenure.wiring import Tenure

WORDS = 2_500
"""Words of a prompt: the allowance of the recorded method."""

FOUND_WORDS = 1_000
"""Words of a context in which the question of an item's first step has to bring it up."""

TOKENS_A_WORD = 8
"""Most tokens of a word, by far: where the search for the largest budget ends."""

ENOUGH, TRIES = 0.94, 6
"""Share of the allowed words from which on a text is large enough, and how many budgets are tried for it."""

STEEP = 0.3
"""Share of its words that a sheet has to lose from one step to the next for the loss to be listed."""

MATCHED = (
    "an item is one written before if its name (first line of its description) is the same, or 0.6 of all words that either "
    "description has are in both; references and use counts are no part of it"
)
SECTION = "items"
_MARKED = re.compile(r"^  \| ", re.MULTILINE)


def run_retention(data: Path, *, out: Path | None = None, tell: Callable[[float, str], None] | None = None) -> dict[str, Any]:
    """Measure each recording, and all of them together.

    Args:
        data: a recording or a folder of them; see `cheatsheets.read_recordings`.
        out: a folder for a plot of items alive by step; none draws none.
        tell: called after each recording with the share done and what is done.

    Returns:
        `written, alive_overwrite, alive_tenure, found_tenure, recoverable_tenure, words`, and beside them `matched` (the rule),
        `ratio` (alive_tenure to alive_overwrite), `found_words`, and `by_recording` with the same and the curves of each.
        Counts are sums over recordings, `found_tenure` is a share of all items written, 0 to 1.

    Raises:
        UserError: there is no recording.
        UnreadableInput: a file holds none.
    """
    recordings = read_recordings(data)
    found: dict[str, dict[str, Any]] = {}
    for number, (name, steps) in enumerate(recordings.items(), 1):
        found[name] = measure_recording(steps)
        if tell is not None:
            tell(number / len(recordings), f"{number:,} of {len(recordings):,} recordings")
    total: dict[str, Any] = {figure: sum(one[figure] for one in found.values()) for figure in _COUNTS}
    hits = sum(one["found"] for one in found.values())
    result: dict[str, Any] = {
        **total,
        "found_tenure": _share(hits, total["written"]),
        "words": WORDS,
        "ratio": _share(total["alive_tenure"], total["alive_overwrite"]),
        "found_words": FOUND_WORDS,
        "recordings": len(found),
        "matched": MATCHED,
        "by_recording": found,
        "arms": _arms(list(found.values())),
    }
    if out is not None:
        from tenure.evaluation.plots import draw_lines

        result["plots"] = [
            str(
                draw_lines(
                    out / f"retention-{name}.svg",
                    title=f"items over steps: {name}",
                    across="step",
                    lines={
                        "written so far": one["written_by_step"],
                        "alive, rewritten whole": one["alive_by_step"],
                        f"alive in {WORDS:,} words, Tenure": one["tenure_by_step"],
                    },
                )
            )
            for name, one in found.items()
        ]
    return result


def _arms(recordings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Share of all items ever written that are alive, over recordings. Nothing is remembered without a memory, and nobody acts."""
    found: dict[str, Any] = {"none": arm_figures([0.0] * len(recordings), alone=0.0, tokens=0, calls=0, usd=0.0)}
    for arm, end, curve in (("overwrite", "alive_overwrite", "alive_by_step"), ("tenure", "alive_tenure", "tenure_by_step")):
        by_quarter = [share_by_quarter(list(zip(one[curve], one["written_by_step"], strict=True))) for one in recordings]
        means = [_mean([one for one in column if one is not None]) for column in zip(*by_quarter, strict=True)]
        scores = [one[end] / one["written"] for one in recordings if one["written"]]
        # What a recorded model cost is not on record.
        calls, usd = (0, 0.0) if arm == "tenure" else (None, None)
        found[arm] = arm_figures(scores, alone=0.0, by_quarter=means, calls=calls, usd=usd)
    return found


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


_COUNTS = ("written", "alive_overwrite", "alive_tenure", "recoverable_tenure")


def measure_recording(steps: Sequence[SheetStep]) -> dict[str, Any]:
    """The figures of one recording; see `run_retention`."""
    items = follow(steps)
    with Tenure(InMemoryStore(), "local/retention", clock=SteppingClock(), ids=CountingIds(), model=None, embedder="none") as book:
        alive_by_step, versions = replay(book, steps, items)
        prompt = rendered_within(book.playbook, WORDS)
        kept = recoverable(book, items, versions)
        book.set("context.core_tokens", "0")
        contexts = {at: context_within(book, steps[at].question, FOUND_WORDS) for at in {one.first for one in items}}
    found = sum(stands(one.present, contexts[one.first]) for one in items)
    lives = [one.seen for one in items]
    return {
        "written": len(items),
        "alive_overwrite": sum(one.last == len(steps) - 1 for one in items),
        "alive_tenure": sum(stands(one.present, prompt) for one in items),
        "found_tenure": _share(found, len(items)),
        "recoverable_tenure": kept,
        "found": found,
        "steps": len(steps),
        "wordings": sum(len(one.texts) for one in items),
        "prompt_words": len(prompt.split()),
        "sheet_words_most": max(step.size for step in steps),
        "sheet_words_end": steps[-1].size,
        "item_words_median": statistics.median(len(one.present.said.split()) for one in items),
        "life_median": statistics.median(lives),
        "lives": {str(life): count for life, count in sorted(Counter(lives).items())},
        "vocabulary_most": max(map(vocabulary, steps)),
        "vocabulary_end": vocabulary(steps[-1]),
        "losses": losses(steps),
        "words_by_step": [step.size for step in steps],
        "vocabulary_by_step": list(map(vocabulary, steps)),
        "written_by_step": list(accumulate(sum(one.first == at for one in items) for at in range(len(steps)))),
        "alive_by_step": [len(step.items) for step in steps],
        "tenure_by_step": alive_by_step,
    }


def replay(book: Tenure, steps: Sequence[SheetStep], items: Sequence[Written]) -> tuple[list[int], list[int]]:
    """Put a recording into a playbook: each step as a run, then what its sheet says anew as one delta.

    Returns:
        How many items stand whole in a prompt of `WORDS` words after each step, and the versions that its deltas became.
    """
    told = [0] * len(items)
    alive: list[int] = []
    versions: list[int] = []
    for at, step in enumerate(steps):
        run = f"step-{at + 1}"
        outcome = Outcome(success=step.right, signal="label", expected=step.target) if step.target else Outcome()
        book.learn(Run(id=run, task=Task(text=step.question or "-"), steps=(_answered(step.answer),), outcome=outcome))
        operations = list(_operations(at, step, items, told, Evidence(run=run)))
        if operations:
            admitted = book.apply(operations, author="model:recorded", cause="run")
            refused = [receipt.reason for receipt in admitted.receipts if receipt.status == "skipped"]
            if refused:
                raise UserError(f"Step {at + 1} of the recording cannot be replayed: {refused[0]}")
            versions.append(admitted.version or 0)  # none is for a delta that came twice
        prompt = rendered_within(book.playbook, WORDS)
        alive.append(sum(stands(one.texts[told[place]], prompt) for place, one in enumerate(items) if one.first <= at))
    return alive, versions


def _operations(at: int, step: SheetStep, items: Sequence[Written], told: list[int], evidence: Evidence) -> Iterator[Operation]:
    """What the sheet of a step says for the first time; `told`, the wording each item has come to, goes on with it."""
    here = {item.said for item in step.items}
    for place, one in enumerate(items):
        if one.first == at:
            yield Add(SECTION, one.texts[0].text, id=item_id(place), status="provisional", evidence=(evidence,))
        elif one.first < at and told[place] + 1 < len(one.texts) and one.texts[told[place] + 1].said in here:
            told[place] += 1
            yield Update(item_id(place), text=one.texts[told[place]].text, evidence=(evidence,))


def item_id(place: int) -> str:
    """The id under which an item is added: digits in the order of a digest, so that order by id is not order by age."""
    return f"item-{hashlib.sha256(str(place).encode()).hexdigest()[:12]}"


def rendered_within(playbook: Playbook, most: int) -> str:
    """The product's prompt of at most so many words: the largest core that has no more."""
    return _largest(lambda tokens: render(playbook, core_tokens=tokens).text, most)


def context_within(book: Tenure, task: str, most: int) -> str:
    """The product's context for a task, of at most so many words."""
    return _largest(lambda tokens: book.context(task or "-", budget=tokens).text, most)


def _largest(text_of: Callable[[int], str], most: int) -> str:
    """The text of about the largest budget in tokens that has no more words than allowed.

    Tokens of a word are those of the last try. It ends with `ENOUGH` of the words, or where more tokens give no more.
    """
    tokens, over, best = 2 * most, 0, ""
    for _ in range(TRIES):
        text = text_of(tokens)
        size = len(text.split())
        if size > most:
            over = tokens
            tokens = int(tokens * most * (1 + ENOUGH) / 2 / size)
            continue
        if len(best.split()) >= size and best:
            tokens = (tokens + (over or 2 * tokens)) // 2
            continue
        best = text
        if size >= ENOUGH * most or tokens >= TOKENS_A_WORD * most:
            break
        wider = min(int(tokens * most * (1 + ENOUGH) / 2 / max(1, size)), TOKENS_A_WORD * most)
        tokens = min(wider, (tokens + over) // 2) if over else wider
    return best


def stands(item: Item, prompt: str) -> bool:
    """Whether an item is in a prompt whole, word for word; the marks before a lesson's further lines are no words of it."""
    return f" {item.said} " in f" {' '.join(_MARKED.sub('', prompt).split())} "


def recoverable(book: Tenure, items: Sequence[Written], versions: Sequence[int]) -> int:
    """How many items can be got back from the store: the present wording in use, each earlier one in some version."""
    with book.store.reading(book.scope) as reading:
        now = {lesson.id: _words(lesson.text) for lesson in reading.lessons()}
        ever = {(lesson.id, _words(lesson.text)) for version in versions for lesson in reading.playbook(version).lessons}
    return sum(
        now.get(item_id(place)) == one.present.said and all((item_id(place), text.said) in ever for text in one.texts)
        for place, one in enumerate(items)
    )


def vocabulary(step: SheetStep) -> int:
    """Different words of a sheet."""
    return len(set(words(step.sheet)))


def losses(steps: Sequence[SheetStep]) -> list[str]:
    """Steps at which a sheet lost more than `STEEP` of its words, as `step 29: 689 to 329 words`."""
    pairs = enumerate(pairwise(steps), 2)
    return [f"step {at}: {one.size} to {two.size} words" for at, (one, two) in pairs if two.size < (1 - STEEP) * one.size]


def _answered(answer: str) -> Step:
    return Step(kind="message", role="assistant", content=answer)


def _words(text: str) -> str:
    return " ".join(text.split())


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 3) if whole else None
