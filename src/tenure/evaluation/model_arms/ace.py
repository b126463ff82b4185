"""ACE, with a model (Zhang et al., ICLR 2026, arXiv 2510.04618; ace-agent/ace, Apache-2.0).

Generator, Reflector and Curator are calls of one model, as in the paper. The Generator sees the whole playbook with its
counters and names what it relied on. The Reflector sees the attempt, the feedback and what was relied on, and tags it; after a
wrong answer the Generator tries again with the reflection before it, up to a number of rounds or until it is right. The
Curator sees the playbook, its size and the last reflection, and adds; plain code appends under new ids and raises counters.
Only ADD exists in the reference code, removal of duplicates is off there by default, and so it is here. Its budget of tokens
is told to the Curator; beyond it what has the worst counters goes, as no original says how. Calls an instance: one to act,
one to reflect and one to curate; after a wrong answer up to two more for each further round.
"""

from __future__ import annotations

import re

from tenure.evaluation.harness.ports import Item, Kit, Observation, Query, Response
from tenure.evaluation.model_arms.asking import Asking, experience, listed, text_of, tokens_of

ROUNDS = 3
"""Rounds of reflection at most, the reference implementation's default; the paper has 5."""

WINDOW = 80_000
"""Tokens of the playbook, the reference implementation's budget."""

MOST_ADDED = 20
"""Operations of one reply that are read: beyond any that the source shows."""

RIGHT = 0.5
_PREFIX = re.compile(r"[^a-z]+")


class Entry:
    """One statement of the playbook with its counters."""

    def __init__(self, section: str, text: str) -> None:
        self.section, self.text = section, text
        self.helpful, self.harmful = 0, 0

    def shown(self, name: str) -> str:
        """As the Generator and the Curator read it."""
        return f"[{name}] helpful={self.helpful} harmful={self.harmful} :: {self.text}"


class AceByModel:
    """A playbook with counters, written by Reflector and Curator.

    Args:
        kit: of the comparison, with a model.
        labels: whether the Reflector is told the feedback; without, it has the attempt alone.
        rounds: of reflection after a wrong answer, 1 or more.
    """

    def __init__(self, kit: Kit, *, labels: bool = True, rounds: int = ROUNDS) -> None:
        self._kit, self._labels, self._rounds, self.asking = kit, labels, rounds, Asking(kit)
        self.reset()

    def reset(self) -> None:
        """An empty playbook."""
        self.playbook: dict[str, Entry] = {}
        self._made, self._step = 0, 0
        self._asked: tuple[Query, Response, list[str]] | None = None

    def respond(self, query: Query) -> Response:
        """Answer with the whole playbook before the agent."""
        response, used = self._generate(query, "")
        self._asked = (query, response, used)
        return response

    def observe(self, observation: Observation, next_query: Query | None = None) -> None:
        """Reflect, round by round; then curate once."""
        assert self._asked is not None
        query, response, used = self._asked
        told = observation if self._labels else Observation(text="")
        self._step += 1
        reflection = ""
        for number in range(1, self._rounds + 1):
            reflection = self._reflect(query, response, told, used) or reflection
            wrong = told.score is not None and told.score < RIGHT
            if not wrong or number == self._rounds or self._kit.feedback is None:
                break
            response, used = self._generate(query, reflection)
            told = self._kit.feedback(query, response)
            if told.score is not None and told.score >= RIGHT:
                break
        self._curate(query, reflection)

    def memory_tokens(self) -> int:
        """Of the playbook."""
        return tokens_of([entry.shown(name) for name, entry in self.playbook.items()])

    def _generate(self, query: Query, reflection: str) -> tuple[Response, list[str]]:
        names = list(self.playbook)
        items = [Item(text=self.playbook[name].shown(name)) for name in names]
        if reflection:
            items.append(Item(text=f"Reflection on the attempt before: {reflection}"))
        response = self._kit.agent.act(query, items)
        return response, [names[place] for place in response.used if place < len(names)]

    def _reflect(self, query: Query, response: Response, told: Observation, used: list[str]) -> str:
        """What the Reflector makes of an attempt, its tags counted; empty where it cannot be read."""
        relied = [self.playbook[name].shown(name) for name in used]
        parts = {"Attempt": [experience(query, response, told)], "Relied on": "\n".join(relied) or "Nothing."}
        found = self.asking.json("ace_reflect", parts, purpose="reflect", expects=("key_insight", "tags"), max_tokens=1500)
        if found is None:
            return ""
        for tag in listed(found.get("tags"), len(used)):
            entry = self.playbook.get(text_of(tag.get("id")).strip("[]"))
            if entry is not None and tag.get("tag") == "helpful":
                entry.helpful += 1
            elif entry is not None and tag.get("tag") == "harmful":
                entry.harmful += 1
        said = (text_of(found.get(key)) for key in ("error", "root_cause", "right_approach", "key_insight"))
        return " ".join(one for one in said if one)

    def _curate(self, query: Query, reflection: str) -> None:
        size = self.memory_tokens()
        parts = {
            "Budget": f"{WINDOW:,} tokens; the playbook has {size:,} in {len(self.playbook)} entries. This is step {self._step}.",
            "Playbook": self._by_section() or "Empty.",
            "Last reflection": reflection or "None that could be read.",
            "Question": query.prompt,
        }
        found = self.asking.json("ace_curate", parts, purpose="curate", expects=("operations",), max_tokens=2000)
        for operation in listed(found.get("operations") if found is not None else (), MOST_ADDED):
            text = text_of(operation.get("content"))
            if text and text_of(operation.get("type")).upper() == "ADD":
                section = text_of(operation.get("section")) or "others"
                self._made += 1
                self.playbook[f"{_PREFIX.sub('', section.lower())[:5] or 'entry'}-{self._made:05d}"] = Entry(section, text)
        while len(self.playbook) > 1 and self.memory_tokens() > WINDOW:
            del self.playbook[min(self.playbook, key=lambda name: self.playbook[name].helpful - self.playbook[name].harmful)]

    def _by_section(self) -> str:
        sections = dict.fromkeys(entry.section for entry in self.playbook.values())
        lines: list[str] = []
        for section in sections:
            lines.append(f"## {section}")
            lines += [entry.shown(name) for name, entry in self.playbook.items() if entry.section == section]
        return "\n".join(lines)
