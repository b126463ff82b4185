"""What models use is counted, and no cap is ever passed: not by one call, not by many at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import ModelError, SettingError, SpendCapReached
from tenure.ports import LanguageModel, Prompt, Reply, Usage
from tenure.providers.metering import Caps, InMemorySpendLedger, MeteredModel
from tenure.providers.scripted import RuleModel, ScriptedModel

PROMPT = Prompt(system="s" * 40, user="u" * 40, purpose="reflect", max_tokens=50)
DAY = date(2026, 3, 15)


class FixedClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 15, 23, 30, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


class PricedModel(RuleModel):
    """A rule that costs one cent a token."""

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        return Decimal(input_tokens + output_tokens) / 100


class UnpricedModel:
    """A model whose price nobody knows."""

    name = "own-server:small"

    def complete(self, prompt: Prompt) -> Reply:
        return Reply(text="ok", usage=Usage(calls=1, input_tokens=5, output_tokens=1, cost_usd=None))


def metered(
    model: LanguageModel | None = None,
    *,
    ledger: InMemorySpendLedger | None = None,
    clock: FixedClock | None = None,
    caps: Caps | None = None,
) -> MeteredModel:
    return MeteredModel(
        model or RuleModel(lambda _: "ok"), caps or Caps(), ledger or InMemorySpendLedger(), scope="a/b", clock=clock or FixedClock()
    )


def until_the_cap(model: MeteredModel, most: int = 50) -> int:
    """How many calls get through before a cap is reached."""
    for number in range(most):
        try:
            model.complete(PROMPT)
        except SpendCapReached:
            return number
    return most


def test_usage_adds_up_by_purpose_and_in_all() -> None:
    model = metered(
        ScriptedModel(
            [Reply(text="x", usage=Usage(calls=2, input_tokens=10, output_tokens=3, cached_tokens=4, cost_usd=Decimal("0.5")))] * 3
        )
    )
    for purpose in ("reflect", "reflect", "curate"):
        model.complete(Prompt(system="", user="", purpose=purpose))
    assert model.usage()["reflect"] == Usage(calls=4, input_tokens=20, output_tokens=6, cached_tokens=8, cost_usd=Decimal(1))
    assert model.usage()["curate"].calls == 2
    assert model.total.input_tokens == 30


def test_a_call_that_could_pass_a_cap_is_not_made() -> None:
    asked = ScriptedModel(["ok"] * 9)
    model = metered(asked, caps=Caps(tokens_per_run=60))
    with pytest.raises(SpendCapReached, match="cap of 60 tokens per run") as caught:
        model.complete(PROMPT)
    assert (asked.prompts, caught.value.what, caught.value.period) == ([], "tokens", "run")


def test_a_cap_of_nothing_lets_nothing_through() -> None:
    asked = ScriptedModel(["ok"])
    with pytest.raises(SpendCapReached):
        metered(asked, caps=Caps(calls_per_run=0)).complete(PROMPT)
    assert asked.prompts == []


def test_caps_count_what_was_used_not_what_was_feared() -> None:
    model = metered(caps=Caps(tokens_per_run=200))
    for _ in range(5):  # each may use 70 and uses some 20
        model.complete(PROMPT)
    assert until_the_cap(model) < 20
    assert model.total.input_tokens + model.total.output_tokens <= 200


def test_each_run_has_its_own_cap_and_all_share_the_days() -> None:
    model = metered(caps=Caps(calls_per_run=2, calls_per_day=5))
    for run in ("r1", "r2"):
        for _ in range(2):
            model.for_run(run).complete(PROMPT)
        with pytest.raises(SpendCapReached, match="per run"):
            model.for_run(run).complete(PROMPT)
    model.for_run("r3").complete(PROMPT)
    with pytest.raises(SpendCapReached, match="per day"):
        model.for_run("r3").complete(PROMPT)
    assert model.total.calls == 5


def test_a_new_day_begins_at_midnight_utc_and_the_scope_goes_on() -> None:
    clock, ledger = FixedClock(), InMemorySpendLedger()
    model = metered(ledger=ledger, clock=clock, caps=Caps(calls_per_day=1, calls_per_scope=2))
    model.complete(PROMPT)
    clock.moment += timedelta(hours=1)
    model.complete(PROMPT)
    clock.moment += timedelta(days=1)
    with pytest.raises(SpendCapReached, match="per scope"):
        model.complete(PROMPT)
    assert ledger.spent("a/b", DAY).calls == 1
    assert ledger.spent("a/b", None).calls == 2


def test_what_another_process_spent_counts() -> None:
    ledger = InMemorySpendLedger()
    ledger.record("a/b", DAY, Usage(calls=3))
    ledger.record("a/c", DAY, Usage(calls=90))
    model = metered(ledger=ledger, caps=Caps(calls_per_day=4))
    model.complete(PROMPT)
    with pytest.raises(SpendCapReached):
        model.complete(PROMPT)


def test_dollars_are_capped_before_they_are_spent() -> None:
    model = metered(
        PricedModel(lambda _: Reply(text="ok", usage=Usage(calls=1, input_tokens=20, output_tokens=1, cost_usd=None))),
        caps=Caps(usd_per_day=Decimal("1.00")),
    )
    assert until_the_cap(model) == 2  # 0.21 each, and the third could cost 0.70
    assert model.total.cost_usd == Decimal("0.42")


def test_a_cap_in_dollars_needs_a_known_price() -> None:
    with pytest.raises(SettingError, match=r"the price of 'own-server:small' is not known.*Cap tokens or calls"):
        metered(UnpricedModel(), caps=Caps(usd_per_run=Decimal(1)))
    assert metered(UnpricedModel(), caps=Caps(tokens_per_run=1000)).complete(PROMPT).text == "ok"


def test_earlier_calls_of_unknown_price_are_not_taken_for_free() -> None:
    ledger = InMemorySpendLedger()
    metered(UnpricedModel(), ledger=ledger).complete(PROMPT)
    assert ledger.spent("a/b", DAY).cost_usd is None
    with pytest.raises(SpendCapReached, match="unknown amount"):
        metered(PricedModel(lambda _: "ok"), ledger=ledger, caps=Caps(usd_per_day=Decimal(100))).complete(PROMPT)


def test_a_provider_that_does_not_count_is_counted_by_estimate() -> None:
    model = metered(RuleModel(lambda _: Reply(text="y" * 400)))
    model.complete(PROMPT)
    assert model.total.calls == 1
    assert model.total.input_tokens >= 20
    assert model.total.output_tokens >= 60


def test_a_failed_call_counts_its_requests_and_frees_what_was_set_aside() -> None:
    model = metered(ScriptedModel([ModelError("down", calls=4), ModelError("down"), "ok"]), caps=Caps(calls_per_run=6, tokens_per_run=80))
    for _ in range(2):
        with pytest.raises(ModelError, match="down"):
            model.complete(PROMPT)
    assert model.complete(PROMPT).text == "ok"
    assert model.total.calls == 6


@pytest.mark.parametrize("period", ["run", "day", "scope"])
def test_what_a_call_under_way_may_use_is_set_aside(period: str) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def rule(_: Prompt) -> Reply:
        inside.set()
        go_on.wait(60)
        return Reply(text="ok", usage=Usage(calls=1, input_tokens=20, output_tokens=1))

    model = metered(RuleModel(rule), caps=Caps(**{f"tokens_per_{period}": 139}))  # type: ignore[arg-type]  # each call may use 70
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(model.complete, PROMPT)
        assert inside.wait(60)
        with pytest.raises(SpendCapReached, match=f"per {period}"):
            model.complete(PROMPT)
        go_on.set()
        first.result(timeout=60)
    model.complete(PROMPT)  # it used 21 in the end
    assert model.total.calls == 2


@given(st.integers(1, 12), st.integers(0, 400))
def test_threads_that_ask_at_once_never_pass_a_cap_together(callers: int, cap: int) -> None:
    gate = threading.Barrier(callers)
    model = metered(
        RuleModel(lambda _: Reply(text="ok", usage=Usage(calls=1, input_tokens=20, output_tokens=50))), caps=Caps(tokens_per_day=cap)
    )

    def ask(_: int) -> bool:
        gate.wait()
        return until_the_cap(model, most=1) == 1

    with ThreadPoolExecutor(callers) as pool:
        let_through = sum(pool.map(ask, range(callers)))
    assert model.total.input_tokens + model.total.output_tokens == 70 * let_through <= cap
    if 70 * (let_through + 1) <= cap:
        model.complete(PROMPT)  # what fits is not locked out by what was refused meanwhile


@pytest.mark.parametrize("caps", [{"calls_per_day": -1}, {"usd_per_run": Decimal("-0.01")}, {"usd_per_day": Decimal("NaN")}])
def test_a_cap_below_nothing_is_refused(caps: dict[str, Decimal | int]) -> None:
    with pytest.raises(SettingError, match=r"spend\.\w+"):
        Caps(**caps)  # type: ignore[arg-type]


class Watch:
    """Time that passes only where it is let."""

    def __init__(self) -> None:
        self.now, self.waits = 0.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def elapsed(self) -> float:
        return self.now


def timed(replies: Sequence[str | Exception], watch: Watch, **caps: int) -> tuple[ScriptedModel, MeteredModel]:
    model, ledger = ScriptedModel(replies), InMemorySpendLedger()
    limits = Caps(**caps)  # type: ignore[arg-type]
    return model, MeteredModel(model, limits, ledger, scope="a/b", clock=FixedClock(), sleep=watch.sleep, elapsed=watch.elapsed)


def test_each_request_that_is_sent_again_is_booked_by_itself() -> None:
    watch = Watch()
    _, meter = timed([ModelError("busy", passing=True, calls=1)] * 2 + ["ok"], watch, retries=3, calls_per_run=3)
    assert meter.complete(PROMPT).usage.calls == 3
    assert (meter.total.calls, watch.waits) == (3, [1.0, 2.0])
    model, meter = timed([ModelError("busy", passing=True, calls=1)] * 9, watch, retries=8, calls_per_run=3)
    with pytest.raises(SpendCapReached) as caught:
        meter.complete(PROMPT)
    assert (len(model.prompts), caught.value.calls) == (3, 3)


def test_what_does_not_pass_is_not_sent_again_and_retries_end() -> None:
    watch = Watch()
    model, meter = timed([ModelError("no such model"), *[ModelError("busy", passing=True)] * 3], watch, retries=2)
    with pytest.raises(ModelError, match="no such model"):
        meter.complete(PROMPT)
    with pytest.raises(ModelError, match=r"busy \(after 3 attempts\)"):
        meter.complete(PROMPT)
    assert len(model.prompts) == 4


def test_the_time_of_a_run_is_bounded_with_its_waits_and_told_to_the_model() -> None:
    watch = Watch()
    model, meter = timed([ModelError("busy", passing=True, wait_s=30)] * 9, watch, retries=9, seconds_per_run=70, seconds_per_call=50)
    with pytest.raises(ModelError, match=r"may take 70 s together.*spend\.seconds_per_run"):
        meter.for_run("r").complete(PROMPT)
    assert watch.waits == [30, 30]
    assert [prompt.within_s for prompt in model.prompts] == [50, 40, 10]
    with pytest.raises(ModelError):
        meter.for_run("other").complete(PROMPT)
    assert model.prompts[3].within_s == 50, "another run has time of its own"


def test_a_request_that_was_never_answered_counts_as_all_it_may_have_used() -> None:
    _, meter = timed([ModelError("gone", unanswered=1), ModelError("refused", calls=1)], Watch())
    for expected in (50, 50):
        with pytest.raises(ModelError):
            meter.complete(PROMPT)
        assert meter.total.output_tokens == expected


@pytest.mark.parametrize("usage", [Usage(calls=1, input_tokens=-500, output_tokens=-9), Usage(calls=0), Usage(calls=1, input_tokens=20)])
def test_a_provider_that_counts_oddly_gives_nothing_back(usage: Usage) -> None:
    model = metered(ScriptedModel([Reply(text="y" * 400, usage=usage)]))
    model.complete(PROMPT)
    assert (model.total.calls, model.total.output_tokens >= 60, model.total.input_tokens >= 20) == (1, True, True)


def test_what_is_refused_leaves_no_trace_of_its_unknown_price() -> None:
    ledger = InMemorySpendLedger()
    model = metered(UnpricedModel(), ledger=ledger, caps=Caps(calls_per_day=0))
    with pytest.raises(SpendCapReached):
        model.complete(PROMPT)
    assert ledger.spent("a/b", None) == Usage()


def test_caps_that_are_changed_hold_from_the_next_call_on() -> None:
    allowed = [1]
    model = MeteredModel(
        RuleModel(lambda _: "ok"), lambda _: Caps(calls_per_day=allowed[0]), InMemorySpendLedger(), scope="a/b", clock=FixedClock()
    )
    assert until_the_cap(model) == 1
    allowed[0] = 3
    assert until_the_cap(model) == 2


@pytest.mark.parametrize(("hours", "day"), [(0, 16), (-1, 16), (-30, 14), (24, 17), (-24 * 40, 4)])
def test_a_clock_set_back_over_midnight_stays_in_the_day_that_began(hours: int, day: int) -> None:
    """The day that was booked last is the 16th, half an hour after midnight."""
    clock, ledger = FixedClock(), InMemorySpendLedger()
    clock.moment += timedelta(hours=1)
    model = metered(ledger=ledger, clock=clock)
    model.complete(PROMPT)
    clock.moment += timedelta(hours=hours)
    ledger_before = ledger.spent("a/b", None).calls
    model.complete(PROMPT)
    booked = [held for (_, held), usage in ledger._days.items() if usage.calls and (held.day != 16 or usage.calls == ledger_before + 1)]
    assert booked[-1].day == day
