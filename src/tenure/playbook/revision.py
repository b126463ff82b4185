"""When a used lesson may be revised, and what is recorded of a revision.

**The rule for enough.** A failure proves a lesson wrong only as far as outcomes can be believed. Suppose
that the lesson is right, and that each failure it was used in is noise. With outcomes of reliability r, a
right lesson sees a failure with probability e = max(1 - r, `LEAST_NOISE`). The failures are enough when at
least as many in as many uses would come by such noise with a probability of `CHANCE` at most: a binomial
tail, over the recent uses (the newest `USES_READ`), with the noise of the least reliable failure among them.

So one failure with r = 1 (a test, a label) is enough for a lesson that has no record, for it came unexplained;
one with r = 0.6 (a judge) never is, and neither is one after six successes: that much goes wrong by itself.
Whatever the record, enough honest failures in a row are enough.

**Before commit** a revision passes two checks, and is not made if it fails one: would it have prevented
this failure, and does it keep the cases in which the lesson helped?
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import comb
from typing import Literal

Verdict = Literal["confirmed", "too general", "outdated"]

VERDICTS: tuple[Verdict, ...] = ("confirmed", "too general", "outdated")

LEAST_NOISE = 0.05
"""Share of failures that come by themselves even where outcomes are certain: a flaky tool, a fault elsewhere in the run."""

CHANCE = 0.1
"""Probability that noise alone explains the failures, at which they are enough."""

USES_READ = 40
"""Newest uses of a lesson that count: what was long ago says little of what holds now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One run that used a lesson, and what came of it.

    Attributes:
        run: its id.
        effect: `helped`, `misled`, or `idle`: it was followed, the run failed, and it made no difference.
        reliability: of the outcome, 0 to 1.
        at: ISO 8601; empty if unknown.
    """

    run: str
    effect: Literal["helped", "misled", "idle"]
    reliability: float = 1.0
    at: str = ""

    @property
    def failed(self) -> bool:
        """Whether it speaks against the lesson."""
        return self.effect != "helped"


def explained_by_noise(failures: int, uses: int, noise: float) -> float:
    """Probability of at least so many failures in so many uses if each comes by noise alone, 0 to 1.

    Args:
        failures: 0 to `uses`.
        uses: of the lesson.
        noise: probability of a failure, 0 to 1.
    """
    if failures <= 0:
        return 1.0
    return min(1.0, sum(comb(uses, k) * noise**k * (1 - noise) ** (uses - k) for k in range(failures, uses + 1)))


def enough(uses: Sequence[Use]) -> bool:
    """Whether a lesson's recent uses are reason enough to revise it (see the module).

    Args:
        uses: newest first; the first is the one that raised the question, and none is enough if it did not fail.
    """
    return bool(uses) and uses[0].failed and beyond_noise(uses)


def beyond_noise(uses: Sequence[Use]) -> bool:
    """Whether so many failures among a lesson's recent uses are more than noise explains (see the module).

    Args:
        uses: newest first.
    """
    recent = uses[:USES_READ]
    failures = [use for use in recent if use.failed]
    if not failures:
        return False
    noise = max(LEAST_NOISE, 1.0 - min(use.reliability for use in failures))
    return explained_by_noise(len(failures), len(recent), noise) <= CHANCE + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What is recorded of the last revision of a lesson.

    Attributes:
        verdict: `confirmed`, `too general` or `outdated`.
        basis: what in the source case the verdict rests on, one or two sentences.
        source: id of the run that the lesson came from; empty if none is kept.
        run: id of the run that tested it.
        grounded: share of the proposed statements that source and old lesson support, 0 to 1.
        leaked: share of the proposed statements that held what occurs only in the current run, 0 to 1.
        hypotheses, dropped: statements that were kept with a mark, and that were left out.
        checks: what the two checks before commit found, a sentence each.
        author: `code`, `extractive`, `model:NAME` or `person:NAME`.
    """

    verdict: Verdict
    basis: str = ""
    source: str = ""
    run: str = ""
    grounded: float = 1.0
    leaked: float = 0.0
    hypotheses: int = 0
    dropped: int = 0
    checks: tuple[str, ...] = ()
    author: str = ""

    def to_text(self) -> str:
        """It as one line of JSON, as lessons and operations hold it."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read_revision(text: str) -> Revision | None:
    """The revision that `Revision.to_text` wrote; none for any other text."""
    try:
        held = json.loads(text)
        if not isinstance(held, dict) or held.get("verdict") not in VERDICTS:
            return None
        return Revision(**{**held, "checks": tuple(held.get("checks", ()))})
    except (ValueError, TypeError, RecursionError):
        return None
