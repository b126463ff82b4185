"""Bench `recall-memaware`: does what is recalled within a token budget come from the session that matters?

Past chat sessions are indexed, a new request is asked, and pieces of sessions are packed into a
budget. Requests seldom use the words of the fact they need: the hard tier shares next to nothing
with it. Session ids and headings carry the answer in this data set, so sessions get neutral numbers
before anything is indexed. Source: MemAware (kevin-hs-sohn/memaware), on LongMemEval's sessions.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from tenure.errors import UserError
from tenure.excerpts import FACT_WEIGHT, LEAST_TOKENS, Piece, excerpt, facts, pack
from tenure.ports import Embedder, Passage
from tenure.ranking import estimate_tokens, words
from tenure.stores.search_in_memory import InMemorySearch
from tenure.terms import question, stem

BUDGETS = {"3k": 3_000, "10k": 10_000}
TIERS = ("easy", "medium", "hard")

SESSION_WEIGHT = 0.8
"""Share of the whole session's relevance in a turn's; the rest is the turn's own. What a talk was about tells more than one turn of it."""

VECTOR_SHARE = 0.5
"""Share of the vectors in a session's relevance: a whole session's text says enough for an embedder to vote on."""

LOOKED_AT = 300
"""How many sessions may be packed from."""

HEADING_TOKENS = estimate_tokens("## 2023-05\n")

_SESSION = re.compile(r"^## Session .*$", re.MULTILINE)
_TURN = re.compile(r"^(User|Assistant):[ \t]?", re.MULTILINE)
_SCOPE = "local/recall-memaware"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One past chat.

    Attributes:
        id: as in the file; only for judging what was recalled, never indexed or shown.
        day: ISO date.
        user, assistant: the turns of each, in order.
    """

    id: str
    day: str
    user: tuple[str, ...]
    assistant: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A piece of a session in a context; `whole` if it is one whole user turn."""

    session: int
    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class _Index:
    """The user's turns, and whole sessions."""

    turns: InMemorySearch
    sessions: InMemorySearch

    def put(self, sessions: Sequence[Session]) -> str:
        """Index the sessions under their numbers; what could not be done."""
        turns = [
            Passage(id=f"{number}:{place}", text=text, group=str(number), place=place)
            for number, session in enumerate(sessions)
            for place, text in enumerate(session.user)
        ]
        # What the assistant said is mostly general advice: it names the subject in other words, and is an aside.
        whole = [
            Passage(id=str(number), text="\n".join(session.user), aside="\n".join(session.assistant))
            for number, session in enumerate(sessions)
        ]
        return self.turns.put(_SCOPE, turns) or self.sessions.put(_SCOPE, whole)


def run_recall_memaware(data: Path, questions: Path, *, embedder: Embedder | None = None, seed: int = 0) -> dict[str, Any]:
    """Index the sessions, ask the questions, and see what the budgets hold.

    Args:
        data: a folder of day files (`2023-05-20.md`) with `## Session ID` and `User:` / `Assistant:` turns.
        questions: a JSON list with `question`, `answer`, `answer_session_ids`, `difficulty`.
        embedder: for search by meaning; none, keywords alone serve.
        seed: of the random control.

    Returns:
        For each budget (3,000 and 10,000 tokens, headings counted, estimated): `hit_*` (a session of
        the answer is among what was returned, with at least 60 tokens or one whole user turn of
        it), `string_*` (the answer's words stand in that order in one piece, in whatever session),
        `answered_*` (they do so in a session of the answer: `string_*` without luck) and `random_*`
        (hits of user turns drawn at random). All are shares of the questions; `by_tier` has them for
        each difficulty. Beside them `questions, sessions, embedder, note`.

    Raises:
        UserError: folder or file are not of that form.
    """
    sessions = read_sessions(data)
    asked = _questions(questions)
    index = _Index(InMemorySearch(embedder), InMemorySearch(embedder, vector_weight=VECTOR_SHARE))
    notes = dict.fromkeys((index.put(sessions),))
    dice = random.Random(seed)
    tallies: dict[str, list[dict[str, float]]] = defaultdict(list)
    for one in asked:
        wanted = {number for number, session in enumerate(sessions) if session.id in one["answer_session_ids"]}
        pieces, note = _pieces(index, sessions, str(one["question"]))
        notes[note] = None
        figures: dict[str, float] = {}
        for name, budget in BUDGETS.items():
            shown = [pieces[place] for place in pack([piece for piece, _ in pieces], budget, heading=HEADING_TOKENS)]
            recalled = [said for _, said in shown]
            figures[f"hit_{name}"] = _hit(recalled, wanted)
            figures[f"string_{name}"] = _says(recalled, one["answer"])
            figures[f"answered_{name}"] = _says([said for said in recalled if said.session in wanted], one["answer"])
            figures[f"random_{name}"] = _hit(_drawn(sessions, budget, dice), wanted)
        tallies[str(one.get("difficulty", ""))].append(figures)
    every = [figures for some in tallies.values() for figures in some]
    return {
        "questions": len(every),
        **_means(every),
        "by_tier": {tier: {"questions": len(tallies[tier]), **_means(tallies[tier])} for tier in _tiers(tallies)},
        "sessions": len(sessions),
        "embedder": embedder.name if embedder is not None else None,
        "note": "; ".join(note for note in notes if note),
    }


def read_sessions(folder: Path) -> list[Session]:
    """The sessions of a folder of day files, by day and place in the file.

    Raises:
        UserError: there are none.
    """
    found: list[Session] = []
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8", errors="replace")
        headings = list(_SESSION.finditer(text))
        for heading, following in zip(headings, [*headings[1:], None], strict=True):
            body = text[heading.end() : following.start() if following is not None else len(text)]
            marks = list(_TURN.finditer(body))
            turns: dict[str, list[str]] = {"User": [], "Assistant": []}
            for mark, after in zip(marks, [*marks[1:], None], strict=True):
                turns[mark[1]].append(body[mark.end() : after.start() if after is not None else len(body)].strip())
            found.append(
                Session(
                    id=heading[0].removeprefix("## Session ").strip(),
                    day=path.stem,
                    user=tuple(turns["User"]),
                    assistant=tuple(turns["Assistant"]),
                )
            )
    if not found:
        raise UserError(f"{folder} holds no sessions. Give a folder of day files such as 2023-05-20.md with '## Session' headings.")
    return found


def _questions(path: Path) -> list[Mapping[str, Any]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as exc:
        raise UserError(f"{path} is not a JSON file: {exc}") from exc
    needed = {"question", "answer", "answer_session_ids"}
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) and one.keys() >= needed for one in found):
        raise UserError(f"{path} is not a list of questions with 'question', 'answer' and 'answer_session_ids'.")
    return found


def _pieces(index: _Index, sessions: Sequence[Session], text: str) -> tuple[list[tuple[Piece, _Shown]], str]:
    """What may be shown for a request: of each likely session the turns that matter, long ones cut to what they state."""
    about = index.sessions.find(_SCOPE, text, limit=LOOKED_AT)
    said = index.turns.find(_SCOPE, text, limit=LOOKED_AT * 4, smooth=True)
    whole = _relative((int(hit.id), hit.score) for hit in about.hits)
    own = _relative((hit.id, hit.score) for hit in said.hits)
    stems = {stem(word) for word in question(text).words}
    pieces: list[tuple[Piece, _Shown]] = []
    for number in sorted({*whole, *(int(turn.partition(":")[0]) for turn in own)}):
        for place, turn in enumerate(sessions[number].user):
            relevance = SESSION_WEIGHT * whole.get(number, 0.0) + (1 - SESSION_WEIGHT) * own.get(f"{number}:{place}", 0.0)
            if not turn or not relevance:
                continue
            cut = excerpt(turn, stems)
            line = _line(sessions[number], cut)
            worth = relevance * (1 + FACT_WEIGHT * facts(cut))
            piece = Piece(source=str(number), text=line, worth=worth, cost=estimate_tokens(line), under=_month(sessions[number]))
            pieces.append((piece, _Shown(number, cut, cut == turn)))
    return pieces, about.note or said.note


def _line(session: Session, text: str) -> str:
    """A piece as a context shows it, under the heading of its month: the day, which is neutral, and what was said."""
    return f"- {session.day[len(_month(session)) + 1 :]}: {text}\n"


def _month(session: Session) -> str:
    return session.day[: len("2023-05")]


def _relative(scores: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    found = dict(scores)
    best = max(found.values(), default=1.0)
    return {key: score / best for key, score in found.items()}


def _drawn(sessions: Sequence[Session], budget: int, dice: random.Random) -> list[_Shown]:
    """User turns at random, as many as fit, for control."""
    turns = [(number, turn) for number, session in enumerate(sessions) for turn in session.user]
    # More than any budget holds; shuffling all of them for each question would take longer than the search.
    turns = dice.sample(turns, min(len(turns), budget // 8))
    left, shown = budget, list[_Shown]()
    for number, turn in turns:
        cost = estimate_tokens(_line(sessions[number], turn))  # without headings, in favour of the control
        if cost > left:
            break
        left -= cost
        shown.append(_Shown(number, turn, True))
    return shown


def _hit(shown: Sequence[_Shown], wanted: set[int]) -> float:
    tokens: dict[int, int] = defaultdict(int)
    for said in shown:
        tokens[said.session] += estimate_tokens(said.text)
    return float(any(said.session in wanted and (said.whole or tokens[said.session] >= LEAST_TOKENS) for said in shown))


def _says(shown: Sequence[_Shown], answer: object) -> float:
    wanted = words(str(answer))
    joined = f" {' '.join(wanted)} "
    return float(bool(wanted) and any(joined in f" {' '.join(words(said.text))} " for said in shown))


def _means(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: round(fmean(one[name] for one in figures), 4) for name in figures[0]} if figures else {}


def _tiers(tallies: Mapping[str, object]) -> list[str]:
    return [*TIERS, *sorted(set(tallies) - {*TIERS})]
