"""The Summariser that asks a language model: one day, week or month of a memory, in few lines.

What it answers is held against what it was shown: lines with a number, name or quotation that does not stand there are
thrown away, and where more than half go, nothing of the reply is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tenure.errors import MalformedReply
from tenure.memory_tree.entries import Entry
from tenure.memory_tree.exclusions import exclude
from tenure.memory_tree.nodes import Node, sessions_of
from tenure.memory_tree.periods import Period
from tenure.playbook.grounding import Grounds
from tenure.ports import LanguageModel, Prompt, Reply
from tenure.ranking import estimate_tokens
from tenure.roles.asking import data_block, data_line, instructions, present
from tenure.roles.replies import read_json
from tenure.roles.transcript import shortened

PROMPT_VERSION = "1"
"""Of `prompts/summarise.md` and of what stands around the data. It goes up when either changes: summaries are then made anew."""

SHOWN_TOKENS = 12_000
"""Tokens of entries or of lower summaries that a model is shown for one node."""

LONGEST, SHORTEST = 4_000, 120
"""Characters of an entry as it is shown: as many as there is room for."""

GROUNDED = 0.5
"""Share of the lines that must rest on the data."""

MOST_LINES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarised:
    """What a model said of a period.

    Attributes:
        lines: those that rest on the data.
        dropped: how many do not, and were thrown away.
    """

    lines: tuple[str, ...]
    dropped: int = 0


def day_shown(day: str, entries: Sequence[Entry], *, closed: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The entries of a day as a prompt shows them, without what is excluded from nodes."""
    shown: list[dict[str, Any]] = []
    for n, session in enumerate(sessions_of(entries), 1):
        for entry in session:
            text = exclude(entry.text)[0].strip()
            if text:
                done = entry.type == "project" and (entry.topic or entry.type).casefold() in closed
                shown.append(
                    present(
                        session=f"#{n}",
                        who=entry.role,
                        type="" if entry.type == "log" else entry.type,
                        topic=entry.topic,
                        done=True if done else None,
                        text=text,
                    )
                )
    return shown


def nodes_shown(nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """Lower nodes as a prompt shows them, in order."""
    return [{"period": one.period.key, "text": one.text} for one in sorted(nodes, key=lambda one: one.period)]


def summary_prompt(period: Period, shown: Sequence[dict[str, Any]], *, room: int) -> Prompt:
    """What `summarise_with` asks.

    Args:
        period: which is summarised.
        shown: see `day_shown` and `nodes_shown`.
        room: tokens that the lines may take together.
    """
    lines, left_out = _fitted(shown)
    what = "Its entries, in order" if period.kind == "day" else "Its days or weeks, in order"
    parts = [
        f"# The {period.kind} {period.key}",
        f"Your lines may take {room} tokens together, about {room * 3 // 4} words.",
        f"{what}:" if not left_out else f"{what}; {left_out} of them had no room and are left out:",
        data_block(lines),
    ]
    return Prompt(system=instructions("summarise"), user="\n\n".join(parts), purpose="summarise", max_tokens=2 * room + 200)


def summarise_with(model: LanguageModel, prompt: Prompt, shown: Sequence[dict[str, Any]]) -> Summarised:
    """The lines of a model that rest on what it was shown.

    Raises:
        MalformedReply: the reply cannot be read, or most of it rests on nothing; it is kept verbatim on the error.
        ModelError: the call failed.
    """
    reply = model.complete(prompt)
    said = [" ".join(line.split()) for line in _lines(reply)]
    grounds = Grounds(source=[str(value) for one in shown for value in one.values()], old=(), current=())
    kept = [line for line in said if all(one.supported for one in grounds.judge(line).judged)]
    if not kept or len(kept) < GROUNDED * len(said):
        raise MalformedReply(
            f"{len(said) - len(kept)} of its {len(said)} lines name a number, name or quotation that the data does not have",
            reply=reply.text,
        )
    return Summarised(lines=tuple(kept), dropped=len(said) - len(kept))


def _lines(reply: Reply) -> list[str]:
    value = read_json(reply, expects=("lines",)).get("lines")
    lines = [line for line in value if isinstance(line, str) and line.strip()] if isinstance(value, list) else []
    if not lines:
        raise MalformedReply("its 'lines' are no list of texts", reply=reply.text)
    return lines[:MOST_LINES]


def _fitted(shown: Sequence[dict[str, Any]]) -> tuple[list[str], int]:
    """Lines within `SHOWN_TOKENS`: texts are shortened alike until they fit, and then the middle ones go. And how many went."""
    longest = LONGEST
    while True:
        lines = [data_line({**one, "text": shortened(str(one["text"]), longest)}) for one in shown]
        costs = [estimate_tokens(f"{line}\n") for line in lines]
        if sum(costs) <= SHOWN_TOKENS:
            return lines, 0
        if longest <= SHORTEST:
            break
        longest = max(SHORTEST, longest // 2)
    first, last, left = 0, len(lines), SHOWN_TOKENS
    while first < last:
        place = first if first <= len(lines) - last else last - 1
        if costs[place] > left:
            break
        left -= costs[place]
        first, last = (first + 1, last) if place == first else (first, last - 1)
    return [*lines[:first], *lines[last:]], last - first
