"""Laws of every store: runs, held changes, failed replies, cores, settings, spending, sizes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.errors import UnstorableValue
from tenure.playbook.delta import Add, Delta, Operation, Retire
from tenure.playbook.render import Core, Line, lesson_tokens
from tenure.playbook.run import Outcome, Run, Step, Task
from tenure.ports import FailedReply, HeldChange, Reading, Store, Usage
from tenure.stores.codec import CORES_KEPT, cores_from_json
from tests.memory_tree.trees import build, entry
from tests.stores.contract import NASTY, cores, delta_lists, fresh_scope, look_at, nasty_texts, runs, usages

# -- runs ---------------------------------------------------------------------------------------------


def keep(store: Store, scope: str, *kept: Run, learned: bool = False) -> None:
    for run in kept:
        with store.writing(scope) as transaction:
            transaction.keep_run(run, learned=learned)


def session(id: str = "r1", *, steps: int = 0, **fields: object) -> Run:
    """A run with so many steps."""
    said = tuple(Step(kind="message", role="user", content=f"step {number}") for number in range(steps))
    return replace(Run(id=id, task=Task(text="reconcile")), steps=said, **fields)  # type: ignore[arg-type]


def read(store: Store, scope: str, run_id: str = "r1") -> Run:
    with store.reading(scope) as look:
        found = look.run(run_id)
    assert found is not None
    return found


def looked(store: Store, scope: str, ask: Callable[[Reading], object]) -> object:
    with store.reading(scope) as look:
        return ask(look)


LOOK_UPS: dict[str, Callable[[Store, str], object]] = {
    "run": lambda store, scope: looked(store, scope, lambda look: look.run("r\ud800")),
    "lesson": lambda store, scope: looked(store, scope, lambda look: look.lesson("l\ud800")),
    "version": lambda store, scope: looked(store, scope, lambda look: list(look.ledger(after=10**25))),
    "limit": lambda store, scope: looked(store, scope, lambda look: list(look.ledger(limit=2**70))),
    "id": lambda store, scope: keep(store, scope, session("r\ud800")),
}


@pytest.mark.parametrize("asked", LOOK_UPS)
def test_a_value_that_cannot_be_kept_is_the_callers_affair_and_no_failure_of_the_database(store: Store, asked: str) -> None:
    """A store that can keep it may; otherwise the caller is told, and the database goes on."""
    scope = fresh_scope()
    with suppress(UnstorableValue):
        LOOK_UPS[asked](store, scope)
    keep(store, scope, session("r\x00"))
    assert read(store, scope, "r\x00").id == "r\x00"


def test_runs_in_short_come_newest_first_and_in_pages(store: Store) -> None:
    scope = fresh_scope()
    ended = replace(session("r2", steps=3, shown=("a", "b"), cited=("a",), ended="2026-03-15T10:00:00+00:00"), outcome=Outcome(score=0.75))
    keep(store, scope, session("r1", steps=1), ended, session("r3"))
    keep(store, scope, replace(session("r4"), task=Task(text="x" * 500, kind="mail")), learned=True)
    with store.writing(scope) as work:
        work.revoke_runs(["r3"], revoked=True)
    with store.reading(scope) as look:
        found = look.outlines()
        assert [one.id for one in found] == ["r4", "r2", "r1"]
        assert [one.id for one in look.outlines(limit=1)] == ["r4"]
        assert look.outlines(before=found[0].place, limit=1) == [found[1]]
        assert look.outlines(before=found[2].place) == []
        assert (found[0].task, found[0].kind, found[0].learned) == ("x" * 300, "mail", 0)
        two = found[1]
        assert (two.steps, two.learned, two.shown, two.cited, two.success, two.score) == (3, None, 2, 1, True, 0.75)
        assert two.ended == "2026-03-15T10:00:00+00:00"


def waiting(store: Store, scope: str) -> list[str]:
    with store.reading(scope) as look:
        return list(look.unlearned())


@given(run=runs, learned=st.booleans())
@settings(max_examples=60)
def test_a_run_comes_back_as_it_was(store: Store, run: Run, learned: bool) -> None:
    scope = fresh_scope()
    run = replace(run, scope=scope)
    keep(store, scope, run, learned=learned)
    with store.reading(scope) as look:
        assert look.run(run.id) == run
        assert look.run_ids() == [run.id]
        assert look.learned_steps(run.id) == (len(run.steps) if learned else None)


def test_a_run_belongs_to_the_scope_it_is_kept_in(store: Store) -> None:
    scope = fresh_scope()
    keep(store, scope, session(scope=""))
    assert read(store, scope).scope == scope


def test_half_a_character_in_a_log_does_not_lose_the_run(store: Store) -> None:
    scope = fresh_scope()
    cut = Step(kind="tool_result", name="bash", content="cut in half: \ud83d", arguments={"path \ud800": "\udfff"})
    keep(store, scope, replace(session(steps=2), steps=(cut, *session(steps=1).steps), task=Task(text="sort \ud83d")))
    run = read(store, scope)
    assert len(run.steps) == 2
    assert run.steps[0].content.startswith("cut in half: ")
    assert run.steps[1] == session(steps=1).steps[0]


def test_a_long_run_is_kept_whole(store: Store) -> None:
    scope = fresh_scope()
    run = session(steps=3000, scope=scope)
    run = replace(run, steps=(*run.steps, Step(kind="tool_result", content="x" * 1_000_000)))
    keep(store, scope, run)
    assert read(store, scope) == run


def test_runs_are_listed_newest_first(store: Store) -> None:
    scope = fresh_scope()
    keep(store, scope, *(session(name) for name in ("b", "c", "a")))
    with store.reading(scope) as look:
        assert look.run_ids() == ["a", "c", "b"]
        assert look.run_ids(limit=2) == ["a", "c"]
        assert look.run_ids(limit=0) == []


def test_a_run_that_is_not_kept_is_none(store: Store) -> None:
    with store.reading(fresh_scope()) as look:
        assert look.run("r1") is None
        assert look.learned_steps("r1") is None


def test_a_session_that_grew_adds_what_is_new(store: Store) -> None:
    scope = fresh_scope()
    keep(store, scope, session(steps=2, shown=("a", "b"), cited=("a",), started="2026-03-15T10:00:00Z"), learned=True)
    grown = session(
        steps=5,
        shown=("b", "c"),
        withheld=("w",),
        cited=("c",),
        ended="2026-03-15T11:00:00Z",
        outcome=Outcome(success=False, signal="test", feedback="no"),
    )
    keep(store, scope, grown)
    run = read(store, scope)
    assert run.steps == session(steps=5).steps
    assert (run.shown, run.withheld, run.cited) == (("a", "b", "c"), ("w",), ("a", "c"))
    assert (run.outcome, run.started, run.ended) == (grown.outcome, "2026-03-15T10:00:00Z", "2026-03-15T11:00:00Z")
    with store.reading(scope) as look:
        assert look.learned_steps("r1") == 2
        assert look.counts()["runs"] == 1
    keep(store, scope, grown, learned=True)
    with store.reading(scope) as look:
        assert look.learned_steps("r1") == 5


def test_a_shorter_report_takes_nothing_away(store: Store) -> None:
    scope = fresh_scope()
    whole = session(
        steps=4, shown=("a",), ended="2026-03-15T11:00:00Z", outcome=Outcome(success=True, signal="test"), scope=scope, session="s1"
    )
    keep(store, scope, whole, learned=True)
    keep(store, scope, session(steps=1))
    assert read(store, scope) == whole
    with store.reading(scope) as look:
        assert look.learned_steps("r1") == 4
    assert waiting(store, scope) == []


def test_kept_steps_stay_as_they_were(store: Store) -> None:
    """Lessons point at steps by their place, so a place never changes what it holds."""
    scope = fresh_scope()
    keep(store, scope, session(steps=2))
    rewritten = replace(session(steps=3), steps=tuple(replace(step, content="rewritten") for step in session(steps=3).steps))
    keep(store, scope, rewritten)
    assert [step.content for step in read(store, scope).steps] == ["step 0", "step 1", "rewritten"]


def test_a_known_outcome_gives_way_to_a_known_one_only(store: Store) -> None:
    scope = fresh_scope()
    keep(store, scope, session(outcome=Outcome(success=False, signal="self")))
    keep(store, scope, session(outcome=Outcome(feedback="still looking")))
    assert read(store, scope).outcome.success is False
    keep(store, scope, session(outcome=Outcome(success=True, signal="human")))
    assert read(store, scope).outcome == Outcome(success=True, signal="human")


def test_a_verdict_that_comes_after_a_run_was_learned_from_waits_too(store: Store) -> None:
    scope = fresh_scope()
    keep(store, scope, session("early", steps=2), session("told", steps=2, outcome=Outcome(success=True)), learned=True)
    assert waiting(store, scope) == []
    late = session("early", steps=2, outcome=Outcome(success=False, feedback="it bounced", signal="human"))
    keep(store, scope, late, replace(late, id="told"))
    assert waiting(store, scope) == ["early"], "a verdict in place of another was told before"
    keep(store, scope, session("early", steps=2))
    with store.reading(scope) as look:
        assert (look.verdict_waits("early"), look.verdict_waits("told"), look.verdict_waits("unknown")) == (True, False, False)
    keep(store, scope, late, learned=True)
    assert waiting(store, scope) == []
    with store.reading(scope) as look:
        assert not look.verdict_waits("early")


def test_runs_wait_to_be_learned_from_when_they_are_over(store: Store) -> None:
    scope = fresh_scope()
    ended: dict[str, Any] = {"ended": "2026-03-15T11:00:00Z"}
    keep(
        store,
        scope,
        session("running", steps=1),
        session("ended", steps=1, **ended),
        session("judged", steps=1, outcome=Outcome(success=False)),
    )
    keep(store, scope, session("learned", steps=1, **ended), session("nothing in it", **ended), learned=True)
    assert waiting(store, scope) == ["ended", "judged"]
    with store.reading(scope) as look:
        assert look.unlearned(limit=1) == ["ended"]
    keep(store, scope, session("running", steps=1, **ended))
    assert waiting(store, scope) == ["running", "ended", "judged"]
    keep(store, scope, session("ended", steps=1, **ended), learned=True)
    assert waiting(store, scope) == ["running", "judged"]
    # The same report again changes nothing; one that has more to say does.
    keep(store, scope, session("ended", steps=1, **ended))
    assert waiting(store, scope) == ["running", "judged"]
    keep(store, scope, session("ended", steps=3, **ended))
    assert waiting(store, scope) == ["running", "ended", "judged"]


def test_like_runs_are_those_of_the_task_then_successes_of_its_kind(store: Store) -> None:
    scope = fresh_scope()
    won, lost = Outcome(success=True, signal="test"), Outcome(success=False, signal="test")

    def attempt(id: str, key: str, kind: str, outcome: Outcome) -> Run:
        return session(id, steps=1, task=Task(text="t", key=key, kind=kind), outcome=outcome, scope=scope)

    kept = [
        attempt("kind won old", "k2", "sorting", won),
        attempt("same lost", "k1", "sorting", lost),
        attempt("kind lost", "k3", "sorting", lost),
        attempt("same won", "k1", "sorting", won),
        attempt("kind won", "k4", "sorting", won),
        attempt("unrelated", "", "", won),
        attempt("open", "k5", "sorting", Outcome()),
    ]
    keep(store, scope, *kept)
    this = attempt("same won", "k1", "sorting", won)
    with store.reading(scope) as look:

        def like(run: Run, limit: int = 8) -> list[str]:
            return [one.id for one in look.runs_like(run, limit=limit)]

        assert like(this) == ["same lost", "kind won", "kind won old"]
        assert like(replace(this, id="new")) == ["same won", "same lost", "kind won", "kind won old"]
        assert like(replace(this, id="new"), limit=3) == ["same won", "same lost", "kind won"]
        assert like(replace(this, task=Task(text="t"))) == []
        assert look.runs_like(this)[0] == kept[1]


def test_cases_are_found_by_what_was_asked(store: Store) -> None:
    scope = fresh_scope()
    tools = (Step(kind="tool_call", name="book"), Step(kind="tool_result", name="look_up"), Step(kind="tool_call", name="refund"))
    asked = {"one": "refund the umbrella of order 17", "two": "refund the umbrella", "three": "cancel the flight", "cjk": "汇率换算"}
    keep(
        store, scope, *(replace(session(name), task=Task(text=text), steps=tools if name == "one" else ()) for name, text in asked.items())
    )

    def cases(question: str, limit: int = 9) -> list[str]:
        with store.reading(scope) as look:
            hits = look.cases_like(question, limit=limit)
        assert all(hit.score > 0 for hit in hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert all(hit.tools == (frozenset({"book", "refund"}) if hit.run == "one" else frozenset()) for hit in hits)
        return [hit.run for hit in hits]

    assert cases("order 17 with an umbrella") == ["one", "two"]
    assert set(cases("umbrella")) == {"one", "two"}
    assert cases("汇率") == ["cjk"]
    assert cases("zebra") == cases("umbrella", limit=0) == cases("") == []
    assert len(cases("umbrella", limit=1)) == 1


def test_a_grown_case_is_one_case_with_the_tools_of_all_its_steps(store: Store) -> None:
    scope = fresh_scope()
    calls = tuple(Step(kind="tool_call", name=name) for name in ("book", "refund"))
    for length in (1, 2, 1):
        keep(store, scope, replace(session(), task=Task(text="refund the umbrella"), steps=calls[:length]))
    with store.reading(scope) as look:
        assert [(hit.run, hit.tools) for hit in look.cases_like("umbrella", limit=9)] == [("r1", frozenset({"book", "refund"}))]


# -- held changes -------------------------------------------------------------------------------------


def held(id: str, **fields: str) -> HeldChange:
    return replace(HeldChange(id=id, operation=Add("s", f"text of {id}"), reason="from the web", author="extractive"), **fields)  # type: ignore[arg-type]


def queue(store: Store, scope: str, state: str = "open") -> list[str]:
    with store.reading(scope) as look:
        return [change.id for change in look.held(state=state)]


@given(deltas=delta_lists(most=3), reason=nasty_texts)
@settings(max_examples=40)
def test_a_held_change_comes_back_as_it_was(store: Store, deltas: list[Delta], reason: str) -> None:
    scope = fresh_scope()
    operations: list[Operation] = [op for delta in deltas for op in delta.operations]
    changes = [
        HeldChange(id=f"h{number:03}", operation=op, reason=reason, author=reason, run=reason, at="2026-03-15")
        for number, op in enumerate(operations)
    ]
    with store.writing(scope) as transaction:
        for change in changes:
            transaction.hold(change)
    with store.reading(scope) as look:
        assert list(look.held()) == changes


def test_held_changes_wait_oldest_first_until_they_are_decided(store: Store) -> None:
    scope = fresh_scope()
    for name in ("01A", "01B", "01C"):  # ids are ULIDs: later ones are greater
        with store.writing(scope) as transaction:
            transaction.hold(held(name))
    assert queue(store, scope) == ["01A", "01B", "01C"]
    with store.writing(scope) as transaction:
        transaction.decide("01B", state="approved", decided="jo, 2026-03-15")
        transaction.decide("01A", state="rejected", decided="jo, 2026-03-16")
    assert (queue(store, scope), queue(store, scope, "approved"), queue(store, scope, "rejected")) == (["01C"], ["01B"], ["01A"])
    with store.reading(scope) as look:
        (approved,) = look.held(state="approved")
        assert approved == replace(held("01B"), state="approved", decided="jo, 2026-03-15")
        assert look.counts()["open"] == 1


def test_what_was_decided_stays_decided(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as transaction:
        transaction.hold(held("h1"))
        transaction.hold(held("h2"))
        transaction.decide("h1", state="rejected", decided="jo")
    with store.writing(scope) as transaction:
        # The same run learned again proposes the same things again.
        transaction.hold(held("h1"))
        transaction.hold(held("h2"))
    assert (queue(store, scope), queue(store, scope, "rejected")) == (["h2"], ["h1"])
    with store.writing(scope) as transaction:
        transaction.decide("h1", state="approved", decided="somebody else")
    assert queue(store, scope, "approved") == []


def test_deciding_about_what_is_not_there_changes_nothing(store: Store) -> None:
    scope = fresh_scope()
    before = look_at(store, scope)
    with store.writing(scope) as transaction:
        transaction.decide("h404", state="approved", decided="jo")
    assert look_at(store, scope) == before


# -- failed replies -----------------------------------------------------------------------------------


def test_failed_replies_are_kept_word_for_word_oldest_first(store: Store) -> None:
    scope = fresh_scope()
    failed = [
        FailedReply(id=f"01{number}", run="r1", purpose="curate", reason=piece, reply=f"Sure! {piece} ```", at="2026-03-15")
        for number, piece in enumerate(NASTY[:9])
    ]
    for one in failed:
        with store.writing(scope) as transaction:
            transaction.keep_failed_reply(one)
    with store.reading(scope) as look:
        assert list(look.failed_replies()) == failed
        assert look.counts()["failed_replies"] == 9


def test_a_failed_reply_goes_when_it_was_dealt_with(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as transaction:
        for name in ("a", "b"):
            transaction.keep_failed_reply(FailedReply(id=name, run="r1", purpose="reflect", reason="cut", reply="{"))
        transaction.keep_failed_reply(FailedReply(id="a", run="r1", purpose="reflect", reason="cut again", reply="{{"))
    with store.reading(scope) as look:
        assert [(one.id, one.reason) for one in look.failed_replies()] == [("a", "cut again"), ("b", "cut")]
    with store.writing(scope) as transaction:
        transaction.drop_failed_reply("a")
        transaction.drop_failed_reply("nobody")
    with store.reading(scope) as look:
        assert [one.id for one in look.failed_replies()] == ["b"]


# -- core and settings --------------------------------------------------------------------------------


@given(core=cores)
@settings(max_examples=40)
def test_a_core_comes_back_byte_for_byte(store: Store, core: Core) -> None:
    scope = fresh_scope()
    with store.reading(scope) as look:
        assert look.core() is None
    with store.writing(scope) as transaction:
        transaction.keep_core(Core(lines=(Line(id="x", section="s", text="earlier"),)))
        transaction.keep_core(core)
    with store.reading(scope) as look:
        assert look.core() == core


def test_contexts_of_different_sizes_have_a_core_each_and_that_of_the_settings_is_never_let_go(store: Store) -> None:
    scope = fresh_scope()
    named = {size: Core(lines=(Line(id=f"x{size}", section="s", text="said"),)) for size in range(0, 1_000, 100)}
    for size, core in named.items():
        with store.writing(scope) as transaction:
            transaction.keep_core(core, size)
    with store.reading(scope) as look:
        assert look.core_sizes() == [0, *range(1_000 - 100 * (CORES_KEPT - 1), 1_000, 100)]
        assert all(look.core(size) == named[size] for size in look.core_sizes())
        assert look.core(100) is None


def test_a_core_kept_before_there_were_generations_is_read_as_one() -> None:
    core = cores_from_json(
        '{"lines": [["x", "s", "- [x] text"]], "tail": [["y", "", "- [y] no longer applies."]], "left_out": [], "version": 7}'
    )[0]
    assert core == Core(
        lines=(Line(id="x", section="s", text="- [x] text"),), tail=(Line(id="y", section="", text="- [y] no longer applies."),), version=7
    )
    assert core.generations == ()


@given(values=st.dictionaries(nasty_texts, nasty_texts, max_size=4))
@settings(max_examples=40)
def test_a_setting_comes_back_as_it_was_until_it_is_removed(store: Store, values: dict[str, str]) -> None:
    scope = fresh_scope()
    with store.writing(scope) as transaction:
        for name, value in values.items():
            transaction.set(name, "earlier")
            transaction.set(name, value)
    with store.reading(scope) as look:
        assert {name: look.setting(name) for name in values} == values
        assert look.setting("another name") is None
    with store.writing(scope) as transaction:
        for name in values:
            transaction.set(name, None)
            transaction.set(name, None)
    with store.reading(scope) as look:
        assert [look.setting(name) for name in values] == [None] * len(values)


# -- spending -----------------------------------------------------------------------------------------


@given(spent=st.lists(usages, max_size=5))
@settings(max_examples=40)
def test_spending_adds_up(store: Store, spent: list[Usage]) -> None:
    scope, other = fresh_scope(), fresh_scope()
    store.add_spending(other, "2026-03-15", Usage(calls=100, cost_usd=Decimal(9)))
    store.add_spending(scope, "2026-03-14", Usage(calls=200))
    for usage in spent:
        store.add_spending(scope, "2026-03-15", usage)
    assert store.spent(scope, "2026-03-15") == sum(spent, Usage())
    assert store.spent(scope, "2026-03-14") == Usage(calls=200)
    assert store.spent(scope, "2026-03-13") == Usage()
    assert store.spent(scope) == sum(spent, Usage(calls=200))
    assert store.spent(other) == Usage(calls=100, cost_usd=Decimal(9))


def test_many_small_prices_are_a_price(store: Store) -> None:
    """A call for less than a millionth of a dollar is not free, or a cap would never be reached."""
    scope = fresh_scope()
    for _ in range(50):
        store.add_spending(scope, "2026-03-15", Usage(calls=1, input_tokens=20, cost_usd=Decimal("0.0000004")))
    assert store.spent(scope, "2026-03-15").cost_usd == Decimal("0.00002")


# -- sizes --------------------------------------------------------------------------------------------


def test_sizes_count_what_is_there(store: Store) -> None:
    scope = fresh_scope()
    by_status = ("live", "provisional", "active", "held", "retired")
    names = ("runs", "lessons", *by_status, "deltas", "open", "failed_replies", "memory_entries", "memory_nodes")
    with store.reading(scope) as look:
        assert dict(look.counts()) == dict.fromkeys(names, 0)
    with store.writing(scope) as transaction:
        adds = [
            Add("s", f"{status} {n}", id=f"{status}-{n}", status=status)
            for status, count in (("active", 3), ("provisional", 2), ("held", 1))
            for n in range(count)
        ]
        transaction.admit(Delta("01A", adds))
        transaction.admit(Delta("01B", [Retire("active-0")]))
        transaction.admit(Delta("01C", []))
        transaction.keep_run(session(), learned=True)
        transaction.hold(held("h1"))
        transaction.hold(held("h2"))
        transaction.decide("h2", state="approved", decided="jo")
        transaction.keep_failed_reply(FailedReply(id="f", run="r1", purpose="reflect", reason="cut", reply="{"))
        said = [entry(n, datetime(2026, 3, 15, 12, tzinfo=UTC), f"said {n}") for n in range(3)]
        transaction.keep_entries(said)
        for node in build(said)[0].values():
            transaction.keep_node(node)
    expected = {
        "runs": 1,
        "lessons": 6,
        "live": 4,
        "provisional": 2,
        "active": 2,
        "held": 1,
        "retired": 1,
        "deltas": 2,
        "open": 1,
        "failed_replies": 1,
        "memory_entries": 3,
        "memory_nodes": 3,
    }
    with store.reading(scope) as look:
        assert dict(look.counts()) == expected


def test_sections_are_measured_by_their_live_lessons(store: Store) -> None:
    scope = fresh_scope()
    with store.reading(scope) as look:
        assert dict(look.sizes()) == {}
    with store.writing(scope) as transaction:
        adds = [
            Add("dates", "a short text", id="d1"),
            Add("dates", "a much longer text about the dates of invoices", id="d2"),
            Add("sums", "add", id="s1"),
        ]
        transaction.admit(Delta("01A", [*adds, Add("sums", "held", status="held"), Add("gone", "old", id="g1")]))
        transaction.admit(Delta("01B", [Retire("g1")]))
        expected = {
            "dates": (2, sum(lesson_tokens(one) for one in transaction.lessons() if one.section == "dates")),
            "sums": (1, lesson_tokens(transaction.lessons()[-1])),
        }
        assert dict(transaction.sizes()) == expected
    with store.reading(scope) as look:
        assert dict(look.sizes()) == expected


@given(deltas=delta_lists())
@settings(max_examples=40)
def test_sizes_agree_with_the_playbook(store: Store, deltas: list[Delta]) -> None:
    scope = fresh_scope()
    with store.writing(scope) as transaction:
        for delta in deltas:
            transaction.admit(delta)
    with store.reading(scope) as look:
        counts, book = look.counts(), look.playbook()
        assert counts["lessons"] == len(book.every_lesson)
        assert counts["live"] == len(book.lessons)
        assert {status: counts[status] for status in ("held", "retired")} == {
            status: sum(one.status == status for one in book.every_lesson) for status in ("held", "retired")
        }
        assert counts["deltas"] == look.version() == len(look.ledger())
