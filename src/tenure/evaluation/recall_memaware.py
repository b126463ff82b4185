"""Bench `recall-memaware`: does what is recalled within a token budget come from the session that matters?

Past chat sessions are indexed, a new request is asked, and pieces of sessions are packed into a
budget. Requests seldom use the words of the fact they need: the hard tier shares next to nothing
with it. Session ids and headings carry the answer in this data set, so sessions get neutral numbers
before anything is indexed. Source: MemAware (kevin-hs-sohn/memaware), on LongMemEval's sessions.
"""

from __future__ import annotations

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from tenure.errors import UnreadableInput, UserError
from tenure.evaluation.bench_arms import SimilarSessions, arm_figures
from tenure.evaluation.bench_files import Place, read_json, read_text
from tenure.excerpts import LEAST_TOKENS
from tenure.learning.talks import VECTOR_SHARE, Talk, choose_remembered, index_talks, remember, shown_line
from tenure.ports import Embedder
from tenure.ranking import estimate_tokens, words
from tenure.stores.search_in_memory import InMemorySearch

BUDGETS = {"3k": 3_000, "10k": 10_000}
TIERS = ("easy", "medium", "hard")

DEEPEST = 3
"""How many folders down day files are looked for."""

_WANTED = "Give a folder of day files such as 2023-05-20.md with '## Session' headings, or the folder that holds it."

_WANTED_QUESTIONS = "Give a JSON list of objects with 'question', 'answer' and 'answer_session_ids'."

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    question: str
    answer: str
    sessions: frozenset[str]
    difficulty: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A piece of a session in a context, the session by its number; `whole` if it is one whole user turn."""

    session: int
    text: str
    whole: bool


def run_recall_memaware(
    data: Path,
    questions: Path,
    *,
    embedder: Embedder | None = None,
    seed: int = 0,
    tell: Callable[[float, str], None] | None = None,
) -> dict[str, Any]:
    """Index the sessions, ask the questions, and see what the budgets hold.

    Args:
        data: a folder of day files (`2023-05-20.md`) with `## Session ID` and `User:` / `Assistant:` turns, or one that holds it.
        questions: a JSON list with `question`, `answer`, `answer_session_ids`, `difficulty`.
        embedder: for search by meaning; none, keywords alone serve.
        seed: of the random control.
        tell: called before the sessions are indexed, and after each question, with the share done and what is done.

    Returns:
        For each budget (3,000 and 10,000 tokens, headings counted, estimated): `hit_*` (a session of
        the answer is among what was returned, with at least 60 tokens or one whole user turn of
        it), `string_*` (the answer's words stand in that order in one piece, in whatever session),
        `answered_*` (they do so in a session of the answer: `string_*` without luck) and `random_*`
        (hits of user turns drawn at random). All are shares of the questions; `by_tier` has them for
        each difficulty. Beside them `questions, sessions, embedder, note` and `arms`: `none`, `random`, `recent` (the newest
        sessions), `similar-sessions` (whole ones, those most like the request by their words) and `tenure`, whose score is
        `hit_3k`.

    Raises:
        UserError: folder or file are not of that form.
    """
    try:
        sessions = read_sessions(data)
    except OSError as exc:
        raise UnreadableInput(
            f"'{exc.filename or data}' cannot be read: {(exc.strerror or type(exc).__name__).lower()}. {_WANTED}"
        ) from exc
    asked = _questions(questions)
    talks = {str(number): Talk(id=str(number), day=one.day, turns=one.user, replies=one.assistant) for number, one in enumerate(sessions)}
    turns, whole = InMemorySearch(embedder), InMemorySearch(embedder, vector_weight=VECTOR_SHARE)
    if tell is not None:
        tell(0.0, f"indexing {len(sessions):,} sessions")
    notes = dict.fromkeys((index_talks(turns, whole, _SCOPE, list(talks.values())),))
    dice = random.Random(seed)
    plain = Baselines(sessions)
    tallies: dict[str, list[dict[str, float]]] = defaultdict(list)
    arms: dict[str, list[float]] = defaultdict(list)
    taken, tokens = 0.0, list[int]()
    for number, one in enumerate(asked, 1):
        began = time.perf_counter()
        wanted = {place for place, session in enumerate(sessions) if session.id in one.sessions}
        found, note = remember(turns, whole, _SCOPE, one.question, talk=talks.__getitem__)
        taken += time.perf_counter() - began
        notes[note] = None
        for arm, given in plain.of(one.question, BUDGETS["3k"]).items():
            arms[arm].append(hit(given, wanted))
        figures: dict[str, float] = {}
        for name, budget in BUDGETS.items():
            recalled = [Shown(int(said.talk), said.text, said.whole) for said in choose_remembered(found, budget)]
            figures[f"hit_{name}"] = hit(recalled, wanted)
            tokens += [sum(_cost(said.text) for said in recalled)] if name == "3k" else []
            figures[f"string_{name}"] = _says(recalled, one.answer)
            figures[f"answered_{name}"] = _says([said for said in recalled if said.session in wanted], one.answer)
            figures[f"random_{name}"] = hit(_drawn(sessions, budget, dice), wanted)
        tallies[one.difficulty].append(figures)
        if tell is not None:
            tell(number / len(asked), f"{number:,} of {len(asked):,} questions")
    every = [figures for some in tallies.values() for figures in some]
    return {
        "questions": len(every),
        **_means(every),
        "by_tier": {tier: {"questions": len(tallies[tier]), **_means(tallies[tier])} for tier in _tiers(tallies)},
        "sessions": len(sessions),
        "embedder": embedder.name if embedder is not None else None,
        "note": "; ".join(note for note in notes if note),
        "arms": {
            # Who remembers nothing hands over nothing; nobody acts on what is recalled, and no model is asked.
            "none": arm_figures(0.0, alone=0.0, tokens=0, calls=0, usd=0.0),
            "random": arm_figures(fmean(one["random_3k"] for one in every), alone=0.0, calls=0, usd=0.0),
            **{arm: arm_figures(fmean(hits), alone=0.0, calls=0, usd=0.0) for arm, hits in arms.items()},
            "tenure": arm_figures(fmean(one["hit_3k"] for one in every), alone=0.0, tokens=fmean(tokens), seconds=taken, calls=0, usd=0.0),
        },
    }


class Baselines:
    """What plain policies hand over within a budget: whole user turns, session by session, each turn that still fits.

    Args:
        sessions: oldest first.
    """

    def __init__(self, sessions: Sequence[Session]) -> None:
        self._sessions = sessions
        self._similar = SimilarSessions({str(number): " ".join(session.user) for number, session in enumerate(sessions)})

    def of(self, question: str, budget: int) -> dict[str, list[Shown]]:
        """What each hands over for a request, by arm. Headings cost nothing, in their favour."""
        similar = map(int, self._similar.best(question, len(self._sessions)))
        return {"recent": self._packed(reversed(range(len(self._sessions))), budget), "similar-sessions": self._packed(similar, budget)}

    def _packed(self, numbers: Iterable[int], budget: int) -> list[Shown]:
        left, shown = budget, list[Shown]()
        for number in numbers:
            if left < LEAST_TOKENS:
                break
            for turn in self._sessions[number].user:
                cost = _cost(shown_line(self._sessions[number].day, turn))
                if cost <= left:
                    left -= cost
                    shown.append(Shown(number, turn, True))
        return shown


def read_sessions(folder: Path) -> list[Session]:
    """The sessions of a folder of day files, by day and place in the file; else those of the one folder below it that has any.

    Raises:
        UserError: there are none, or several folders have some.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder. {_WANTED}")
    found = _sessions_in(folder)
    if found:
        return found
    below = sorted(
        path
        for depth in range(1, DEEPEST + 1)
        for path in folder.glob("/".join("*" * depth))
        if path.is_dir() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    holding = {path: sessions for path in below if (sessions := _sessions_in(path))}
    if not holding:
        raise UserError(f"{folder} holds no sessions, nor does a folder in it. {_WANTED}")
    if len(holding) > 1:
        raise UserError(f"{len(holding)} folders in {folder} hold sessions: {', '.join(map(str, holding))}. Name one of them.")
    return next(iter(holding.values()))


def _sessions_in(folder: Path) -> list[Session]:
    found: list[Session] = []
    for path in sorted(path for path in folder.glob("*.md") if path.is_file()):
        text = read_text(path, wanted=_WANTED, replacing=True)
        headings = list(_SESSION.finditer(text))
        for heading, following in zip(headings, [*headings[1:], None][: len(headings)], strict=True):
            body = text[heading.end() : following.start() if following is not None else len(text)]
            marks = list(_TURN.finditer(body))
            turns: dict[str, list[str]] = {"User": [], "Assistant": []}
            for mark, after in zip(marks, [*marks[1:], None][: len(marks)], strict=True):
                turns[mark[1]].append(body[mark.end() : after.start() if after is not None else len(body)].strip())
            found.append(
                Session(
                    id=heading[0].removeprefix("## Session ").strip(),
                    day=path.stem,
                    user=tuple(turns["User"]),
                    assistant=tuple(turns["Assistant"]),
                )
            )
    return found


def _questions(path: Path) -> list[_Asked]:
    found = Place(path, read_json(path, wanted=_WANTED_QUESTIONS), wanted=_WANTED_QUESTIONS)
    asked = [
        _Asked(
            question=one.field("question").text(),
            answer=_text(one.field("answer")),
            sessions=frozenset(named.text() for named in one.field("answer_session_ids").elements("id")),
            difficulty=_text(one.field("difficulty", "")),
        )
        for one in found.elements("question")
    ]
    if not asked:
        raise found.wrong("it holds no question")
    return asked


def _text(place: Place) -> str:
    """A value as text; none and a list as they are written."""
    return str(place.value) if isinstance(place.value, bool | list) or place.value is None else place.text()


def _drawn(sessions: Sequence[Session], budget: int, dice: random.Random) -> list[Shown]:
    """User turns at random, as many as fit, for control."""
    turns = [(number, turn) for number, session in enumerate(sessions) for turn in session.user]
    # More than any budget holds; shuffling all of them for each question would take longer than the search.
    turns = dice.sample(turns, min(len(turns), budget // 8))
    left, shown = budget, list[Shown]()
    for number, turn in turns:
        cost = _cost(shown_line(sessions[number].day, turn))  # without headings, in favour of the control
        if cost <= left:
            left -= cost
            shown.append(Shown(number, turn, True))
    return shown


@lru_cache(maxsize=1 << 16)
def _cost(text: str) -> int:
    return estimate_tokens(text)


@lru_cache(maxsize=1 << 16)
def _spelled(text: str) -> str:
    return f" {' '.join(words(text))} "


def hit(shown: Sequence[Shown], wanted: set[int]) -> float:
    """1 if any of some sessions is shown, with `LEAST_TOKENS` or one whole user turn of it; else 0."""
    tokens: dict[int, int] = defaultdict(int)
    for said in shown:
        tokens[said.session] += _cost(said.text)
    return float(any(said.session in wanted and (said.whole or tokens[said.session] >= LEAST_TOKENS) for said in shown))


def _says(shown: Sequence[Shown], answer: str) -> float:
    wanted = _spelled(answer)
    return float(bool(wanted.strip()) and any(wanted in _spelled(said.text) for said in shown))


def _means(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: round(fmean(one[name] for one in figures), 4) for name in figures[0]} if figures else {}


def _tiers(tallies: Mapping[str, object]) -> list[str]:
    return [*TIERS, *sorted(set(tallies) - {*TIERS})]
