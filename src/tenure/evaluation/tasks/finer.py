"""The task `finer`: one XBRL tag for one number of a sentence from a filing, out of 139.

FiNER-139 (Loukas et al., ACL 2022) as questions in batches, in the form and from the files of ace-agent/ace (Apache-2.0).
Each entity is a question of its own. An input is described by the words around the entity. With noise, the label that
arms are told is replaced, with that probability, by one drawn uniformly from the options, once for each instance and
seed; scores go by the true label.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tenure.errors import UnreadableInput
from tenure.evaluation.harness.ports import Agent, Instance, Observation, Query, Response
from tenure.evaluation.harness.sample import Score, Scored, Unscorable
from tenure.evaluation.tasks.model_agent import ModelAgent
from tenure.evaluation.tasks.voting import VotingAgent
from tenure.ports import LanguageModel

AROUND = 8
"""Words on each side of an entity that describe it."""

ABOUT = (
    "You tag numbers in financial filings. For one number of a sentence, choose the US GAAP tag of XBRL that names what it reports. "
    "The answer is one of the tags below, spelled as it is there."
)

_QUESTION = re.compile(r"^\d+\. What is best tag for entity \"(?P<entity>.*?)\" in sentence: \"(?P<sentence>.*)\"\s*$", re.MULTILINE)
_OPTIONS = re.compile(r"tags options: ,?(?P<tags>[A-Za-z0-9,]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One question.

    Attributes:
        id: line of the file and place in it, both from 1.
        prompt: the question in words, without the options.
        text: the words around the entity.
        tag: the right one.
    """

    id: str
    prompt: str
    text: str
    tag: str


class Finer:
    """The stream of tags.

    Args:
        data: a file of questions in batches, JSON lines with `context` and `target`.
        seed: of orders, noise and guesses.
        noise: probability that a label is told wrongly, 0 to 1.
        instances: of each order; none takes all.
        train: instances of each order that stand outside the stream, for arms that learn before it.

    Raises:
        UnreadableInput: the file holds too few questions.
    """

    name = "finer"

    def __init__(self, data: Path, *, seed: int = 0, noise: float = 0.0, instances: int | None = None, train: int = 0) -> None:
        self._entities, self.options = read_entities(data)
        if train >= len(self._entities):
            raise UnreadableInput(f"{data} holds {len(self._entities)} questions, so {train} for training leave none to ask.")
        self._seed, self._noise, self._train = seed, noise, train
        self._instances = min(instances or len(self._entities), len(self._entities) - train)
        digest = hashlib.sha256(data.read_bytes()).hexdigest()[:16]
        self.about: Mapping[str, Any] = {
            "data": data.name,
            "data_sha256": digest,
            "seed": seed,
            "noise": noise,
            "instances": self._instances,
            "train": train,
            "options": len(self.options),
        }

    def stream(self, order: int) -> Sequence[Instance]:
        """The questions in one order: a shuffle of the file by seed and order."""
        return self._placed(self._shuffled(order)[self._train : self._train + self._instances])

    def training(self, order: int) -> Sequence[Instance]:
        """The first questions of the shuffle, which the stream leaves out."""
        return self._placed(self._shuffled(order)[: self._train])

    def agent(self, order: int, model: LanguageModel | None) -> Agent:
        """The transparent agent, or the model."""
        if model is None:
            return VotingAgent(f"finer:{self._seed}:guess")
        by_folded = {option.casefold(): option for option in self.options}

        def read(text: str) -> str | None:
            """A tag, of the options or not; none where it is no single word."""
            word = text.strip().strip("\"'`*.").removeprefix("us-gaap:").strip()
            return by_folded.get(word.casefold(), word) if word and len(word.split()) == 1 else None

        about = f"{ABOUT} The tags:\n{', '.join(self.options)}"
        return ModelAgent(model, about=about, read=read)

    def score(self, instance: Instance, response: Response) -> Score:
        """1 for the right tag, 0 for another."""
        if response.answer is None:
            return Unscorable(response.problem or "no answer")
        return Scored(float(response.answer == instance.truth))

    def observe(self, instance: Instance, response: Response, order: int) -> Observation:
        """The label, wrong with the probability of the noise, and whether the answer agrees with it."""
        label = self.label(instance)
        right = response.answer == label
        return Observation(text=f"{'Right' if right else 'Wrong'}: the tag is {label}.", label=label, score=float(right))

    def label(self, instance: Instance) -> str:
        """The label that arms are told; the same in every order."""
        drawn = Random(f"finer:{self._seed}:noise:{instance.query.id}")
        return drawn.choice(self.options) if drawn.random() < self._noise else instance.truth

    def _shuffled(self, order: int) -> list[Entity]:
        entities = list(self._entities)
        Random(f"finer:{self._seed}:order:{order}").shuffle(entities)
        return entities

    def _placed(self, entities: Sequence[Entity]) -> list[Instance]:
        return [
            Instance(query=Query(id=one.id, index=place, prompt=one.prompt, text=one.text, options=self.options), truth=one.tag)
            for place, one in enumerate(entities)
        ]


def read_entities(data: Path) -> tuple[list[Entity], tuple[str, ...]]:
    """The questions of a file in its order, and the options.

    Lines of another form, and batches with more or fewer answers than questions, are left out.

    Raises:
        UnreadableInput: it holds fewer than 20 questions, or no options.
    """
    try:
        lines = data.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        raise UnreadableInput(f"{data} cannot be read: {exc}") from exc
    found: list[Entity] = []
    options: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        try:
            held = json.loads(line)
            context, tags = str(held["context"]), [tag.strip() for tag in held["target"].split(",")]
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        questions = list(_QUESTION.finditer(context))
        named = _OPTIONS.search(context)
        if named is not None and not options:
            options = tuple(dict.fromkeys(filter(None, named["tags"].split(","))))
        if len(questions) == len(tags):
            found += [
                Entity(
                    id=f"{number}.{place}",
                    prompt=f'What is the best US GAAP tag for entity "{one["entity"]}" in the sentence: "{one["sentence"]}"?',
                    text=around(one["sentence"], one["entity"]),
                    tag=tag,
                )
                for place, (one, tag) in enumerate(zip(questions, tags, strict=True), 1)
            ]
    if len(found) < 20 or not options:
        raise UnreadableInput(
            f"{data} holds {len(found)} questions and {len(options)} options. Give a file of FiNER questions in batches, "
            "such as finer_val_batched_500_samples.jsonl of ace-agent/ace."
        )
    return found, options


def around(sentence: str, entity: str) -> str:
    """The words around an entity, without it; the sentence where it is not found."""
    before, found, after = sentence.partition(entity)
    return " ".join((*before.split()[-AROUND:], *after.split()[:AROUND])) if found else sentence
