"""How each bench is run: from the options that were asked for to its result. Their modules are loaded when they are needed."""

from __future__ import annotations

import json
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


def recurrence(asked: Asked) -> dict[str, Any]:
    """Runs bench `recurrence`."""
    from tenure.evaluation.recurrence import BUDGET, run_recurrence

    assert asked.data is not None  # `needs_data` is checked by whoever runs it
    return run_recurrence(asked.data, budget=asked.budget or BUDGET, seed=asked.seed, tell=asked.tell)


def prompt_cache(asked: Asked) -> dict[str, Any]:
    """Runs bench `prompt-cache`."""
    from tenure.evaluation.prompt_cache import run_prompt_cache

    assert asked.data is not None
    return run_prompt_cache(asked.data, seed=asked.seed, core_tokens=asked.budget, tell=asked.tell)


def scale(asked: Asked) -> dict[str, Any]:
    """Runs bench `scale`."""
    from tenure.evaluation.scale import SIZES, run_scale

    return run_scale(asked.sizes or SIZES, seed=asked.seed, out=asked.out, tell=asked.tell)


def recall_locomo(asked: Asked) -> dict[str, Any]:
    """Runs bench `recall-locomo`."""
    from tenure.evaluation.recall_locomo import run_recall_locomo
    from tenure.providers.embedding import open_embedder

    assert asked.data is not None
    return run_recall_locomo(asked.data, embedder=open_embedder(asked.params.get("embedder")), tell=asked.tell)


def recall_memaware(asked: Asked) -> dict[str, Any]:
    """Runs bench `recall-memaware`."""
    from tenure.errors import UserError
    from tenure.evaluation.recall_memaware import run_recall_memaware
    from tenure.providers.embedding import open_embedder

    assert asked.data is not None
    if asked.questions is None:
        raise UserError(
            "Bench 'recall-memaware' needs a file of questions too: tenure bench run recall-memaware --data DIR --questions FILE"
        )
    return run_recall_memaware(
        asked.data, asked.questions, embedder=open_embedder(asked.params.get("embedder")), seed=asked.seed, tell=asked.tell
    )


def memory_tree(asked: Asked) -> dict[str, Any]:
    """Runs bench `memory-tree`."""
    from tenure.errors import UserError
    from tenure.evaluation.memory_tree import run_memory_tree
    from tenure.providers.embedding import open_embedder

    assert asked.data is not None
    if asked.questions is None:
        raise UserError("Bench 'memory-tree' needs a file of questions too: tenure bench run memory-tree --data DIR --questions FILE")
    return run_memory_tree(
        asked.data, asked.questions, embedder=open_embedder(asked.params.get("embedder")), seed=asked.seed, tell=asked.tell
    )


def memory_scale(asked: Asked) -> dict[str, Any]:
    """Runs bench `memory-scale`."""
    from tenure.evaluation.memory_scale import ENTRIES, run_memory_scale

    return run_memory_scale(asked.sizes[-1] if asked.sizes else ENTRIES, seed=asked.seed, tell=asked.tell)


def drift(asked: Asked) -> dict[str, Any]:
    """Runs bench `drift`."""
    from tenure.evaluation.drift import run_drift

    return run_drift(_object_of(asked, '{"changed": 0.6}'), seed=asked.seed)


def poison(asked: Asked) -> dict[str, Any]:
    """Runs bench `poison`."""
    from tenure.evaluation.poison import run_poison

    assert asked.data is not None
    given = (int(asked.params.get(name, default)) for name, default in (("records", "100"), ("names", "1"), ("target", "0")))
    records, names, target = given
    return run_poison(asked.data, records=records, names=names, seed=asked.seed, target=target)


def redaction(asked: Asked) -> dict[str, Any]:
    """Runs bench `redaction`."""
    from tenure.evaluation.redaction_bench import run_redaction

    return run_redaction(asked.data, seed=asked.seed)


def injection(asked: Asked) -> dict[str, Any]:
    """Runs bench `injection`."""
    from tenure.evaluation.injection import run_injection

    return run_injection(asked.data)


def retention(asked: Asked) -> dict[str, Any]:
    """Runs bench `retention`."""
    from tenure.evaluation.retention import run_retention

    assert asked.data is not None
    return run_retention(asked.data, out=asked.out, tell=asked.tell)


def collapse(asked: Asked) -> dict[str, Any]:
    """Runs bench `collapse`."""
    from tenure.evaluation.collapse import CAP, run_collapse

    assert asked.data is not None
    return run_collapse(asked.data, cap=asked.sizes[0] if asked.sizes else CAP, out=asked.out, tell=asked.tell)


def brevity(asked: Asked) -> dict[str, Any]:
    """Runs bench `brevity`."""
    from tenure.evaluation.collapse import CAPS, run_brevity

    assert asked.data is not None
    return run_brevity(asked.data, caps=asked.sizes or CAPS, out=asked.out, tell=asked.tell)


def self_labels(asked: Asked) -> dict[str, Any]:
    """Runs bench `self-labels`."""
    from tenure.evaluation.self_labels import run_self_labels

    assert asked.data is not None
    return run_self_labels(asked.data, seed=asked.seed)


def service(asked: Asked) -> dict[str, Any]:
    """Runs bench `service`."""
    from tenure.errors import UserError
    from tenure.evaluation.service_load import run_service

    known = {"tenants": int, "lessons": int, "seconds": float, "at_once": int, "url": str}
    given = _object_of(asked, '{"tenants": 100, "seconds": 5}')
    if set(given) - set(known):
        raise UserError(f"--params of bench service is a JSON object with some of: {', '.join(known)}.")
    try:
        options: dict[str, Any] = {name: known[name](value) for name, value in given.items()}
    except (TypeError, ValueError) as exc:
        raise UserError(f"--params of bench service: {exc}. It takes numbers, and an address as url.") from exc
    return run_service(**options, seed=asked.seed, tell=asked.tell)


def _object_of(asked: Asked, example: str) -> dict[str, Any]:
    """What stands in the file of `--params`; empty if none was named."""
    from tenure.errors import UserError

    path = asked.params.get("params")
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError) as exc:
        raise UserError(f"--params {path}: {exc}. It holds one JSON object, such as {example}") from exc
    if not isinstance(given, dict):
        raise UserError(f"--params {path}: it holds one JSON object, such as {example}, not {type(given).__name__}.")
    return given
