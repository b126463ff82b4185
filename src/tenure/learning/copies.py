"""Copies of what is forgotten that stand outside the store, where nothing here reaches: they are named, for a person to see to."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.playbook.run import MODEL_CALL
from tenure.ports import Reading, Usage

LOOKED = 2_000
"""Runs that are looked at, at most, for whether they went through the proxy."""

_AT_ONCE = 50

PROXIED = (
    "what agents said to their models through the proxy: the provider may keep requests and answers in its logs, and as stored "
    "responses or conversations that a later request can go on from (previous_response_id). Delete them at the provider"
)


def copies_of_runs(reading: Reading, runs: Sequence[str]) -> tuple[str, ...]:
    """Where texts of runs may stand beside the store.

    Args:
        reading: where they are kept still.
        runs: their ids; `LOOKED` of them are read.
    """
    for start in range(0, min(len(runs), LOOKED), _AT_ONCE):
        for run in reading.runs(runs[start : min(start + _AT_ONCE, LOOKED)]).values():
            if any(step.kind == "event" and step.name == MODEL_CALL for step in run.steps):
                return (PROXIED,)
    return ()


def copies_of_calls(used: Usage) -> tuple[str, ...]:
    """Where texts of a scope may stand because models were asked about them.

    Args:
        used: what model calls for the scope used, ever.
    """
    if not used.calls:
        return ()
    asked = "1 request that Tenure" if used.calls == 1 else f"{used.calls:,} requests that Tenure"
    return (f"{asked} sent to models for this scope: the provider may keep them and their answers in its logs",)
