"""Benches `collapse` and `brevity`: the failures of a memory that is rewritten whole, as controls that must reproduce.

Collapse is read from two sources. The recorded sheets of a model: their size after each step, and how often the model was
right. And the same items given to a memory that, after each step, summarises all it holds together with what is new, within
a cap on words, by the extractive summariser of `summarising`: nothing in it says that it must lose anything but the cap.

Brevity is the same memory under caps that get tighter: what goes first, the specifics (figures, formulas, names in code) or
the ordinary words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

from tenure.evaluation.cheatsheets import SheetStep, Written, follow, read_recordings
from tenure.evaluation.plots import draw_lines
from tenure.evaluation.retention import losses, vocabulary
from tenure.evaluation.summarising import statements_of, summarise
from tenure.playbook.apply import apply
from tenure.playbook.delta import Add, Delta
from tenure.playbook.state import Playbook
from tenure.ranking import STOP_WORDS, words
from tenure.terms import identifiers

CAP = 500
"""Words of the summarised memory in the bench `collapse`: a fifth of what the recorded method may use, so that it bites in 30 steps."""

CAPS = (2_500, 1_000, 500, 250)
"""Words of the summarised memory in the bench `brevity`."""

WINDOW = 10
"""Steps over which the share of right answers is told."""

Tell = Callable[[float, str], None]


def run_collapse(data: Path, *, cap: int = CAP, out: Path | None = None, tell: Tell | None = None) -> dict[str, Any]:
    """Size and score over steps, of recorded sheets and of a memory that summarises itself.

    Args:
        data: a recording or a folder of them; see `cheatsheets.read_recordings`.
        cap: words of the summarised memory.
        out: a folder for plots; none draws none.
        tell: called after each recording with the share done and what is done.

    Returns:
        Means over recordings: `words_most, words_end, steepest_loss` of the recorded sheets; `kept_recorded,
        kept_summarised, kept_deltas`, the shares of all statements ever written that are there at the end, 0 to 1;
        `right_first, right_last`, the shares of right answers in the first and last third; and `by_recording` with the curves.

    Raises:
        UserError: there is no recording.
        UnreadableInput: a file holds none.
    """
    found: dict[str, dict[str, Any]] = {}
    recordings = read_recordings(data)
    for number, (name, steps) in enumerate(recordings.items(), 1):
        found[name] = _collapse(steps, cap)
        if out is not None:
            lines = {
                f"words of a summary under {cap:,}": found[name]["summary_words_by_step"],
                "words recorded": found[name]["words_by_step"],
            }
            draw_lines(out / f"collapse-size-{name}.svg", title=f"words over steps: {name}", across="step", lines=lines)
            kept = {
                "summarised": found[name]["summary_kept_by_step"],
                "recorded": found[name]["kept_by_step"],
                "deltas": found[name]["deltas_kept_by_step"],
            }
            draw_lines(out / f"collapse-kept-{name}.svg", title=f"share still there: {name}", across="step", lines=kept)
        if tell is not None:
            tell(number / len(recordings), f"{number:,} of {len(recordings):,} recordings")
    means = ("words_most", "words_end", "steepest_loss", "kept_recorded", "kept_summarised", "kept_deltas", "right_first", "right_last")
    result: dict[str, Any] = {figure: round(mean(one[figure] for one in found.values()), 3) for figure in means}
    return {**result, "cap": cap, "recordings": len(found), "by_recording": found}


def _collapse(steps: Sequence[SheetStep], cap: int) -> dict[str, Any]:
    items = follow(steps)
    memories = summarised(steps, items, cap)
    written = _written(steps, items)
    recorded = [_share_kept(written[at], statements_of(" \n".join(item.text for item in step.items))) for at, step in enumerate(steps)]
    summary = [_share_kept(written[at], memory) for at, memory in enumerate(memories)]
    deltas = [_share_kept(written[at], memory) for at, memory in enumerate(_as_deltas(steps, items))]
    sizes = [step.size for step in steps]
    third = max(1, len(steps) // 3)
    return {
        "words_most": max(sizes),
        "words_end": sizes[-1],
        "steepest_loss": round(max((1 - two / one for one, two in pairwise(sizes) if one), default=0.0), 3),
        "losses": losses(steps),
        "kept_recorded": recorded[-1],
        "kept_summarised": summary[-1],
        "kept_deltas": deltas[-1],
        "right_first": round(mean(step.right for step in steps[:third]), 3),
        "right_last": round(mean(step.right for step in steps[-third:]), 3),
        "words_by_step": sizes,
        "vocabulary_by_step": list(map(vocabulary, steps)),
        "right_by_step": [round(mean(step.right for step in steps[max(0, at - WINDOW + 1) : at + 1]), 3) for at in range(len(steps))],
        "kept_by_step": recorded,
        "summary_words_by_step": [sum(len(one.split()) for one in memory) for memory in memories],
        "summary_kept_by_step": summary,
        "deltas_kept_by_step": deltas,
    }


def summarised(steps: Sequence[SheetStep], items: Sequence[Written], cap: int) -> list[list[str]]:
    """The memory after each step: all it held and the first wordings of what is new, summarised within the cap."""
    memory: list[str] = []
    found: list[list[str]] = []
    for at in range(len(steps)):
        new = [statement for one in items if one.first == at for statement in statements_of(one.texts[0].text)]
        memory = summarise(list(dict.fromkeys([*memory, *new])), cap)
        found.append(memory)
    return found


def _as_deltas(steps: Sequence[SheetStep], items: Sequence[Written]) -> list[list[str]]:
    """The statements in a playbook after each step, which takes the same items as deltas; it knows no cap, a prompt of it does."""
    book = Playbook()
    found: list[list[str]] = []
    for at in range(len(steps)):
        new = [Add("items", one.texts[0].text) for one in items if one.first == at]
        book = apply(book, Delta(f"{at:06d}", new)).playbook
        found.append([statement for lesson in book.lessons for statement in statements_of(lesson.text)])
    return found


def run_brevity(data: Path, *, caps: Sequence[int] = CAPS, out: Path | None = None, tell: Tell | None = None) -> dict[str, Any]:
    """What tighter caps take first.

    Args:
        data: as for `run_collapse`.
        caps: words of the summarised memory, the loosest first.
        out, tell: as for `run_collapse`.

    Returns:
        `specifics_recorded` and `ordinary_recorded`, the shares of specifics and of ordinary words ever written that the last
        recorded sheet has; `by_cap` with the same of the summarised memory; and `used`, how much of the allowance of
        2,500 words the largest recorded sheet takes. Shares are means over recordings, 0 to 1.
    """
    recordings = read_recordings(data)
    recorded: list[tuple[float, float]] = []
    by_cap: dict[int, list[tuple[float, float, float]]] = {cap: [] for cap in caps}
    used: list[float] = []
    for number, steps in enumerate(recordings.values(), 1):
        items = follow(steps)
        every = "\n".join(text.text for one in items for text in one.texts)
        recorded.append(_left(every, "\n".join(item.text for item in steps[-1].items)))
        used.append(max(step.size for step in steps) / CAPS[0])
        said = "\n".join(one.texts[0].text for one in items)
        for cap in caps:
            memory = summarised(steps, items, cap)[-1]
            by_cap[cap].append((*_left(said, "\n".join(memory)), float(sum(len(one.split()) for one in memory))))
        if tell is not None:
            tell(number / len(recordings), f"{number:,} of {len(recordings):,} recordings")
    names = ("specifics", "ordinary", "words")
    capped = {str(cap): {name: round(mean(one[at] for one in some), 3) for at, name in enumerate(names)} for cap, some in by_cap.items()}
    result: dict[str, Any] = {
        "specifics_recorded": round(mean(one for one, _ in recorded), 3),
        "ordinary_recorded": round(mean(one for _, one in recorded), 3),
        "used": round(mean(used), 3),
        "recordings": len(recordings),
        "by_cap": capped,
    }
    if out is not None:
        lines = {name: [capped[str(cap)][name] for cap in caps] for name in names[:2]}
        across = f"caps of {', '.join(f'{cap:,}' for cap in caps)} words"
        result["plots"] = [str(draw_lines(out / "brevity.svg", title="share still there under tighter caps", across=across, lines=lines))]
    return result


def specifics_of(text: str) -> frozenset[str]:
    """What in a text names one thing and no other: words with a digit, and names as they stand in code or formulas."""
    return frozenset(word for word in words(text) if any(c.isdigit() for c in word) and len(word) > 1) | frozenset(identifiers(text))


def _left(every: str, now: str) -> tuple[float, float]:
    """Shares of the specifics and of the ordinary words of a text that another still has."""
    specific = specifics_of(every)
    ordinary = frozenset(word for word in words(every) if word not in STOP_WORDS and word.isalpha())
    return _share(specific, specifics_of(now)), _share(ordinary, frozenset(words(now)))


def _written(steps: Sequence[SheetStep], items: Sequence[Written]) -> list[frozenset[str]]:
    """Statements of the first wordings of all items written up to each step."""
    by_step: Mapping[int, list[str]] = {at: [] for at in range(len(steps))}
    for one in items:
        by_step[one.first].extend(statements_of(one.texts[0].text))
    found: list[frozenset[str]] = []
    so_far: set[str] = set()
    for at in range(len(steps)):
        so_far.update(by_step[at])
        found.append(frozenset(so_far))
    return found


def _share_kept(written: Collection[str], memory: Sequence[str]) -> float:
    return _share(frozenset(written), frozenset(memory))


def _share(every: frozenset[str], now: frozenset[str]) -> float:
    return round(len(every & now) / len(every), 3) if every else 0.0
