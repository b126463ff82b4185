"""The arms there are, by name: what each is, where it comes from, and what it can do without a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tenure.evaluation.harness.ports import Arm, Kit


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One arm.

    Attributes:
        name: as in `--arms`.
        about: what it does, in a few words.
        source: where it comes from.
        make: makes it; none where it has no form without a model.
        with_model: makes the form in which a model acts and writes; none where both forms are one.
        lacks: says what it cannot run without here, with a model; empty if nothing is missing.
        lessons: whether it keeps lessons, which the shared writer writes on keyless tasks.
        epochs: passes over the training instances before the stream; 0 learns from the stream alone.
        frozen: whether it learns nothing during the stream.
        why_not: why it has no transparent form; empty if it has one.
    """

    name: str
    about: str
    source: str
    make: Callable[[Kit], Arm] | None
    with_model: Callable[[Kit], Arm] | None = None
    lacks: Callable[[], str] = str
    lessons: bool = True
    epochs: int = 0
    frozen: bool = False
    why_not: str = ""

    def maker(self, *, with_model: bool) -> Callable[[Kit], Arm]:
        """What makes it: the form with a model, or the one without."""
        make = (self.with_model or self.make) if with_model else self.make
        assert make is not None, f"{self.name} has no such form"
        return make

    def reason(self, *, with_model: bool) -> str:
        """Why it cannot run; empty if it can."""
        if with_model:
            return self.lacks()
        return self.why_not if self.make is None else ""

    def shown(self, *, keyless: bool) -> str:
        """The name as reports have it: marked where the shared writer stands in for a model."""
        return f"{self.name} (transparent)" if keyless and self.lessons else self.name


def _no_memory(kit: Kit) -> Arm:
    from tenure.evaluation.arms.baselines import NoMemory

    return NoMemory(kit)


def _cases(most: int | None) -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.arms.baselines import Cases

        return Cases(kit, most=most)

    return make


def _overwrite(kit: Kit) -> Arm:
    from tenure.evaluation.arms.rewriting import Overwrite

    return Overwrite(kit)


def _sheet(*, labels: bool) -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.arms.rewriting import CumulativeSheet

        return CumulativeSheet(kit, labels=labels)

    return make


def _synthesis(kit: Kit) -> Arm:
    from tenure.evaluation.arms.rewriting import SynthesisedSheet

    return SynthesisedSheet(kit)


def _ace(*, labels: bool) -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.arms.ace import Ace

        return Ace(kit, labels=labels)

    return make


def _reasoning_bank(kit: Kit) -> Arm:
    from tenure.evaluation.arms.retrieving import ReasoningBank

    return ReasoningBank(kit)


def _reharness(k: int) -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.arms.retrieving import ReHarness

        return ReHarness(kit, k=k)

    return make


def _mem_zero(kit: Kit) -> Arm:
    from tenure.evaluation.arms.retrieving import MemZeroLike

    return MemZeroLike(kit)


def _tenure(without: str = "") -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.arms.tenure import TenureArm

        return TenureArm(kit, without=without)

    return make


def _overwrite_by_model(kit: Kit) -> Arm:
    from tenure.evaluation.model_arms.overwrite import OverwriteByModel

    return OverwriteByModel(kit)


def _sheet_by_model(*, labels: bool) -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.model_arms.cheatsheet import SheetByModel

        return SheetByModel(kit, labels=labels)

    return make


def _synthesis_by_model(kit: Kit) -> Arm:
    from tenure.evaluation.model_arms.cheatsheet import SynthesisedSheetByModel

    return SynthesisedSheetByModel(kit)


def _ace_by_model(*, labels: bool, rounds: int = 3) -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.model_arms.ace import AceByModel

        return AceByModel(kit, labels=labels, rounds=rounds)

    return make


def _reasoning_bank_by_model(*, judged: bool) -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.model_arms.reasoning_bank import ReasoningBankByModel

        return ReasoningBankByModel(kit, judged=judged)

    return make


def _reharness_by_model(k: int) -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.model_arms.reharness import ReHarnessByModel

        return ReHarnessByModel(kit, k=k)

    return make


def _mem_zero_by_model(kit: Kit) -> Arm:
    from tenure.evaluation.model_arms.mem_zero import MemZeroByModel

    return MemZeroByModel(kit)


def _gepa(kit: Kit) -> Arm:
    from tenure.evaluation.model_arms.gepa import GepaArm

    return GepaArm(kit)


def _gepa_lacks() -> str:
    from tenure.evaluation.model_arms.gepa import lacking

    return lacking()


def _tenure_by_model(without: str = "") -> Callable[[Kit], Arm]:
    def make(kit: Kit) -> Arm:
        from tenure.evaluation.model_arms.engine import TenureByModel

        return TenureByModel(kit, without=without)

    return make


_ACE = "arXiv 2510.04618, ace-agent/ace"
_SHEET = "arXiv 2504.07952, suzgunmirac/dynamic-cheatsheet"
_BENCH = "arXiv 2606.05661"
_HERMIT = "Hermit 0.2.0, infini-ai-lab.github.io/hermit"

ARMS: Mapping[str, Listed] = {
    one.name: one
    for one in (
        Listed(name="none", about="the agent without memory", source=_BENCH, make=_no_memory, lessons=False),
        Listed(name="full-history", about="all past cases that fit the window", source=_BENCH, make=_cases(None), lessons=False),
        Listed(name="similar-cases", about="the 3 most similar past cases", source=_HERMIT, make=_cases(3), lessons=False),
        Listed(name="similar-cases-20", about="the 20 most similar past cases", source=_HERMIT, make=_cases(20), lessons=False),
        Listed(
            name="overwrite",
            about="one summary, replaced after each case",
            source=f"{_ACE}, section 2.2",
            make=_overwrite,
            with_model=_overwrite_by_model,
        ),
        Listed(
            name="dynamic-cheatsheet",
            about="a sheet rewritten after each case",
            source=_SHEET,
            make=_sheet(labels=True),
            with_model=_sheet_by_model(labels=True),
        ),
        Listed(
            name="dynamic-cheatsheet-unlabelled",
            about="the same, told no labels",
            source=_SHEET,
            make=_sheet(labels=False),
            with_model=_sheet_by_model(labels=False),
        ),
        Listed(
            name="dynamic-cheatsheet-rs",
            about="a fresh sheet from similar past cases for each question",
            source=_SHEET,
            make=_synthesis,
            with_model=_synthesis_by_model,
        ),
        Listed(
            name="ace",
            about="a playbook with counters, learned online",
            source=_ACE,
            make=_ace(labels=True),
            with_model=_ace_by_model(labels=True),
        ),
        Listed(
            name="ace-unlabelled",
            about="the same, told no labels",
            source=_ACE,
            make=_ace(labels=False),
            with_model=_ace_by_model(labels=False),
        ),
        Listed(
            name="ace-offline",
            about="learned from training instances once, then frozen",
            source=_ACE,
            make=_ace(labels=True),
            with_model=_ace_by_model(labels=True),
            epochs=1,
            frozen=True,
        ),
        Listed(
            name="ace-offline-unlabelled",
            about="the same, told no labels",
            source=_ACE,
            make=_ace(labels=False),
            with_model=_ace_by_model(labels=False),
            epochs=1,
            frozen=True,
        ),
        Listed(
            name="ace-offline-5",
            about="learned from training instances in 5 epochs, then frozen",
            source=_ACE,
            make=_ace(labels=True),
            with_model=_ace_by_model(labels=True),
            epochs=5,
            frozen=True,
        ),
        Listed(
            name="ace-warm",
            about="learned from training instances, then online",
            source=_ACE,
            make=_ace(labels=True),
            with_model=_ace_by_model(labels=True),
            epochs=1,
        ),
        Listed(
            name="ace-rounds-1",
            about="ace with one round of reflection",
            source=_ACE,
            make=None,
            with_model=_ace_by_model(labels=True, rounds=1),
            why_not="rounds of reflection are a model's",
        ),
        Listed(
            name="ace-rounds-5",
            about="ace with up to 5 rounds of reflection, as in the paper",
            source=_ACE,
            make=None,
            with_model=_ace_by_model(labels=True, rounds=5),
            why_not="rounds of reflection are a model's",
        ),
        Listed(
            name="reasoning-bank",
            about="items of the most similar past task",
            source="arXiv 2509.25140, google-research/reasoning-bank",
            make=_reasoning_bank,
            with_model=_reasoning_bank_by_model(judged=False),
        ),
        Listed(
            name="reasoning-bank-judged",
            about="the same, a judge in place of the labels",
            source="arXiv 2509.25140, google-research/reasoning-bank",
            make=None,
            with_model=_reasoning_bank_by_model(judged=True),
            why_not="its judge is a model",
        ),
        Listed(
            name="reharness",
            about="the 3 most similar lessons, revised by what came of them",
            source=_HERMIT,
            make=_reharness(3),
            with_model=_reharness_by_model(3),
        ),
        Listed(name="reharness-1", about="the same with 1 lesson", source=_HERMIT, make=_reharness(1), with_model=_reharness_by_model(1)),
        Listed(name="reharness-5", about="the same with 5 lessons", source=_HERMIT, make=_reharness(5), with_model=_reharness_by_model(5)),
        Listed(
            name="reharness-10", about="the same with 10 lessons", source=_HERMIT, make=_reharness(10), with_model=_reharness_by_model(10)
        ),
        Listed(
            name="mem0-like",
            about="facts added, updated, deleted or left alone",
            source="arXiv 2504.19413",
            make=_mem_zero,
            with_model=_mem_zero_by_model,
        ),
        Listed(
            name="gepa",
            about="prompt evolution by reflection",
            source="arXiv 2507.19457, the package gepa",
            make=None,
            with_model=_gepa,
            lacks=_gepa_lacks,
            epochs=1,
            frozen=True,
            why_not="it evolves a prompt by a model's reflections, which plain code cannot stand in for",
        ),
        Listed(name="tenure", about="this engine", source="tenure", make=_tenure(), with_model=_tenure_by_model()),
        Listed(
            name="tenure-no-revision",
            about="without revision of used lessons",
            source="tenure",
            make=_tenure("revision"),
            with_model=_tenure_by_model("revision"),
        ),
        Listed(
            name="tenure-no-grading",
            about="without grades on kept cases",
            source="tenure",
            make=_tenure("grading"),
            with_model=_tenure_by_model("grading"),
        ),
        Listed(
            name="tenure-no-cases",
            about="without cases in the context",
            source="tenure",
            make=_tenure("cases"),
            with_model=_tenure_by_model("cases"),
        ),
        Listed(
            name="tenure-no-reflector",
            about="without lessons from a Reflector",
            source="tenure",
            make=_tenure("reflector"),
            with_model=_tenure_by_model("reflector"),
        ),
        Listed(
            name="tenure-no-refine", about="without refine", source="tenure", make=_tenure("refine"), with_model=_tenure_by_model("refine")
        ),
    )
}
