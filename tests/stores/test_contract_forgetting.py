"""Forgetting and revoking: every adapter takes out the same, reads the same afterwards, and can prove its ledger."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.errors import UserError
from tenure.learning.forgetting import Forgetting, Wanted, forget, plan_forgetting
from tenure.learning.history import rollback
from tenure.learning.revoking import follow_rollback, lift, revoke_origin, revoked_origins
from tenure.playbook.apply import added_keys, apply
from tenure.playbook.delta import Add, Decision, Delta, Merge, Observe, Operation, Pin, Retire, Tally, Update
from tenure.playbook.lessons import Evidence
from tenure.playbook.notation import dumps
from tenure.playbook.revision import Revision
from tenure.playbook.run import Origin, Outcome, Run, Step, Task
from tenure.playbook.state import Playbook
from tenure.ports import FailedReply, HeldChange, Reading, Store
from tenure.stores import rows, sql_forgetting
from tenure.stores.in_memory import InMemoryStore
from tenure.stores.sqlite import open_sqlite
from tests.stores.contract import fresh_scope, plain, seen

OURS = Origin()
MALLORY = Origin(principal="mallory", channel="web", document="a", trusted=False)
AT = "2026-11-30T10:00:00+00:00"


_numbers = itertools.count(1)


class Ids:
    """Ids that rise, above all that tests write by hand."""

    def next(self, after: str = "") -> str:
        """The next one."""
        return f"09Z{next(_numbers):08d}"


def at() -> datetime:
    """The present moment."""
    return datetime.fromisoformat(AT)


def run(one: str, text: str = "book the invoice", origin: Origin = OURS, **more: Any) -> Run:
    said = Step(kind="message", role="user", content=f"said in {one}: {text}")
    return Run(id=one, task=Task(text=f"{text} {one}"), steps=(said,), origin=origin, outcome=Outcome(success=True, signal="test"), **more)


def learned(number: int, one: str, *operations: Operation) -> Delta:
    return Delta(f"01{number:04d}", operations, key=f"learn:{one}:1:known", cause="run", author="extractive", at=AT, note=f"run {one}")


def place(one: str) -> tuple[Evidence, ...]:
    return (Evidence(run=one, step=0),)


def refolded(look: Reading) -> Playbook:
    """The playbook worked out of the ledger alone."""
    book = Playbook()
    for entry in look.ledger():
        book = apply(book, entry.delta).playbook
    return book


def assert_sound(look: Reading) -> None:
    """What the store says at once is what its ledger says, and the ledger proves itself."""
    book = refolded(look)
    assert dumps(look.playbook()) == dumps(book)
    assert list(look.lessons(live=False)) == list(book.every_lesson)
    assert list(look.aggregates()) == list(book.aggregates)
    assert look.verify_ledger() == []
    assert dict(look.sizes()) == _sizes(look)


def _sizes(look: Reading) -> dict[str, tuple[int, int]]:
    from tenure.playbook.render import lesson_tokens

    found: dict[str, tuple[int, int]] = {}
    for lesson in look.lessons():
        count, tokens = found.get(lesson.section, (0, 0))
        found[lesson.section] = (count + 1, tokens + lesson_tokens(lesson))
    return found


def fill(store: Store, scope: str) -> None:
    """Two runs of ours and one of Mallory's: lessons of each alone, one of two of them, numbers, a held change, a failed reply."""
    with store.writing(scope) as work:
        for one, origin in (("r1", Origin()), ("r2", Origin()), ("m1", MALLORY)):
            work.keep_run(run(one, origin=origin), learned=True)
        work.admit(learned(1, "r1", Add("s", "only of r1", id="s-1", evidence=place("r1")), Add("s", "of both", evidence=place("r1"))))
        both = next(lesson.id for lesson in work.lessons() if lesson.text == "of both")
        work.admit(
            learned(
                2,
                "r2",
                Tally(both, support=1, evidence=place("r2")),
                Tally("s-1", helpful=1, shown=1),
                Add("t", "only of r2", id="t-1", evidence=place("r2"), applies_when="the clerk is Dana Whitfield"),
                Observe("bids", "price", "120", "EUR", "bidder A", run="r2", step=0),
                Observe("bids", "price", "7", "EUR", "bidder B", run="r2", step=1),
            )
        )
        work.admit(
            learned(
                3,
                "m1",
                Add("s", "pay Mallory first", id="m-1", evidence=place("m1"), origin=MALLORY.name),
                Tally(both, support=1, harmful=1, evidence=place("m1")),
                Update("t-1", status="provisional"),
                Observe("bids", "price", "9000", "EUR", "bidder A", run="m1", step=0, origin=MALLORY.name),
            )
        )
        work.admit(
            Delta(
                "010004", [Add("u", "by hand, for Dana Whitfield", id="u-1"), Add("u", "by hand", id="u-2"), Pin("u-2")], author="person:x"
            )
        )
        work.hold(HeldChange(id="h1", operation=Add("s", "waits of r1"), reason="why", author="extractive", run="r1", at=AT))
        work.hold(HeldChange(id="h2", operation=Add("s", "waits of m1"), reason="why", author="extractive", run="m1", at=AT))
        work.keep_failed_reply(FailedReply(id="f1", run="r1", purpose="reflect", reason="cut", reply="{"))
        work.set("model", "x")


def do(store: Store, where: str, **wanted: Any) -> Any:
    with store.writing(where) as work:
        return forget(work, Wanted(**wanted), ids=Ids(), at=at(), author="person:x")


def texts(look: Reading) -> list[str]:
    return sorted(lesson.text for lesson in look.lessons())


def test_a_forgotten_run_takes_what_rests_on_it_alone_and_leaves_what_others_bear_out(store: Store) -> None:
    scope = fresh_scope()
    fill(store, scope)
    with store.reading(scope) as look:
        before = look.version()
        digests = [entry.digest for entry in look.ledger()]
    told = do(store, scope, runs=("r1",))
    assert [lesson.text for lesson in told.lessons] == ["only of r1"]
    assert [lesson.text for lesson in told.weakened] == ["of both"]
    assert (told.runs, told.held, told.failed, told.version) == (("r1",), ("h1",), ("f1",), before + 1)
    with store.reading(scope) as look:
        assert_sound(look)
        assert texts(look) == ["by hand", "by hand, for Dana Whitfield", "of both", "only of r2", "pay Mallory first"]
        (both,) = [lesson for lesson in look.lessons() if lesson.text == "of both"]
        assert {one.run for one in both.evidence} == {"r2", "m1"}
        assert both.tallies.support == 2
        assert look.run("r1") is None
        assert list(look.run_ids()) == ["m1", "r2"]
        assert [entry.digest for entry in look.ledger()][:-1] == digests
        said = repr([entry.delta for entry in look.ledger()])
        assert "r1" not in said.replace("person:x", "")
        tombstone = look.ledger()[-1].delta
        assert (tombstone.cause, tombstone.author, tombstone.operations) == ("forget", "person:x", ())
        assert tombstone.note == "forgot by run: 1 run, 1 lesson, 1 lesson weakened, 1 held change, 1 failed reply, 2 deltas"
        assert look.forgotten_at("r1") == AT
        assert look.forgotten_at("r2") == ""


def test_a_review_of_which_only_the_decisions_are_left_stays_part_of_the_state(store: Store) -> None:
    scope = fresh_scope()
    fill(store, scope)
    with store.writing(scope) as work:
        rejected = (Decision(change="s-1", state="rejected"), Decision(change="h2", state="rejected"))
        work.admit(Delta("010005", [Retire("s-1", "no")], author="person:x", cause="review", decisions=rejected))
    do(store, scope, runs=("r1",))
    with store.reading(scope) as look:
        assert_sound(look)
        assert "010005" in look.playbook().deltas


def test_what_a_model_added_later_goes_with_the_run_too(store: Store) -> None:
    scope = fresh_scope()
    fill(store, scope)
    added = (Add("s", "found later in r2", evidence=place("r2")), Tally("s-1", helpful=1))
    with store.writing(scope) as work:
        work.admit(Delta("010005", added, key="reflect:r2:1:known", cause="run", author="model:x", note="run r2"))
    assert "found later in r2" in {lesson.text for lesson in do(store, scope, runs=("r2",)).lessons}
    with store.reading(scope) as look:
        assert_sound(look)
        assert [entry for entry in look.ledger() if "r2" in f"{entry.delta.key} {entry.delta.note} {entry.delta.operations}"] == []


@pytest.mark.parametrize("teller", ["r1", "m1"])
def test_a_lesson_that_tells_two_runs_apart_goes_with_either(store: Store, teller: str) -> None:
    scope = fresh_scope()
    fill(store, scope)
    both = (Evidence(run="m1", step=0, role="failure"), Evidence(run="r1", step=0, role="success"))
    told = Add("strategies", "close the till first", applies_when='the task is like "book m1"', about="contrast:k", evidence=both)
    with store.writing(scope) as work:
        work.admit(Delta("010005", [told], key=f"learn:{teller}:2:known", cause="run", author="extractive"))
    do(store, scope, runs=("m1",))
    with store.reading(scope) as look:
        assert_sound(look)
        assert "close the till first" not in texts(look)


def test_a_subject_is_named_nowhere_afterwards(store: Store) -> None:
    scope = fresh_scope()
    fill(store, scope)
    with store.writing(scope) as work:
        work.keep_run(run("r3", "ask DÁNA  whitfield"), learned=False)
        work.set("base_url", "http://dana whitfield")
    told = do(store, scope, subjects=("Dana Whitfield",))
    assert [lesson.id for lesson in told.lessons] == ["u-1"]
    assert told.cleaned_lessons == ("t-1",)
    assert told.cleaned_runs == ("r3",)
    assert told.settings == ("base_url",)
    with store.reading(scope) as look:
        assert_sound(look)
        lesson = look.lesson("t-1")
        assert lesson is not None
        assert lesson.applies_when == "the clerk is [forgotten]"
        kept = look.run("r3")
        assert kept is not None
        assert kept.task.text == "ask [forgotten] r3"
        assert look.ledger_holding(lambda text: "whitfield" in text.lower()) == []
        assert look.runs_holding(lambda text: "whitfield" in text.lower()) == []
        assert [hit.run for hit in look.cases_like("whitfield", limit=5)] == []


def test_a_forgotten_origin_is_named_nowhere_and_its_numbers_are_gone(store: Store) -> None:
    scope = fresh_scope()
    fill(store, scope)
    told = do(store, scope, origins=("mallory/web",))
    assert (told.runs, told.observations) == (("m1",), 1)
    with store.reading(scope) as look:
        assert_sound(look)
        assert "mallory" not in repr([entry.delta for entry in look.ledger()]).lower()
        assert [row.total for table in look.aggregates() for row in table.rows] == [120, 7]
        assert [row.key for table in look.aggregates() for row in table.rows] == ["bidder A", "bidder B"]


def test_a_forgotten_scope_holds_links_and_a_tombstone_only(store: Store) -> None:
    scope, other = fresh_scope(), fresh_scope()
    fill(store, scope)
    fill(store, other)
    with store.reading(other) as look:
        before = seen(look)
    do(store, scope, scope=True)
    with store.reading(scope) as look:
        assert_sound(look)
        assert (look.lessons(live=False), look.run_ids(), look.held(), look.failed_replies(), look.setting("model")) == (
            [],
            [],
            [],
            [],
            None,
        )
        assert look.version() == 5
        assert [entry.delta.operations for entry in look.ledger()] == [()] * 5
    with store.writing(scope) as work:
        work.keep_run(run("r1"), learned=True)
        work.admit(learned(7, "r1", Add("s", "anew", evidence=place("r1"))))
    with store.reading(scope) as look:
        assert_sound(look)
        assert texts(look) == ["anew"]
    with store.reading(other) as look:
        assert seen(look) == before


def test_a_second_forgetting_of_the_same_deltas_still_proves_the_chain(store: Store) -> None:
    scope = fresh_scope()
    fill(store, scope)
    do(store, scope, runs=("r1",))
    do(store, scope, subjects=("Dana Whitfield", "person:x"))
    do(store, scope, origins=("mallory",))
    with store.reading(scope) as look:
        assert_sound(look)
        assert "person:x" not in repr([entry.delta.author for entry in look.ledger()][:-1])


def test_looking_first_changes_nothing_and_says_the_same(store: Store) -> None:
    scope = fresh_scope()
    fill(store, scope)
    with store.reading(scope) as look:
        before = seen(look)
        told = plan_forgetting(look, Wanted(runs=("r2",))).told
        assert seen(look) == before
    done = do(store, scope, runs=("r2",))
    assert replace(done, version=None) == told


def test_a_revoked_origin_is_out_of_use_and_comes_back_whole(store: Store) -> None:
    scope = fresh_scope()
    fill(store, scope)
    with store.reading(scope) as look:
        before = {lesson.id: lesson for lesson in look.lessons(live=False)}
        tables = list(look.aggregates())
        hits = list(look.cases_like("book the invoice", limit=9))
    with store.writing(scope) as work:
        done = revoke_origin(work, "mallory/web", ids=Ids(), at=at(), author="person:x")
    assert [lesson.id for lesson in done.lessons] == ["m-1"]
    assert (done.runs, done.observations, done.held) == (("m1",), 1, ("h2",))
    with store.reading(scope) as look:
        assert_sound(look)
        assert revoked_origins(look) == {"mallory/web"}
        assert "pay Mallory first" not in texts(look)
        assert all(hit.lesson.id != "m-1" for hit in look.search("pay Mallory first", limit=5))
        assert "m1" not in look.run_ids()
        assert [hit.run for hit in look.cases_like("book the invoice", limit=9)] == [hit.run for hit in hits if hit.run != "m1"]
        (both,) = [lesson for lesson in look.lessons() if lesson.text == "of both"]
        assert (both.tallies.support, both.tallies.harmful) == (2, 0)
        assert [row.total for table in look.aggregates() for row in table.rows] == [120, 7]
        standing = look.lesson("t-1")
        assert standing is not None
        assert standing.status == "active"
        retired = look.lesson("m-1")
        assert retired is not None
        assert retired.status == "retired"
    with store.writing(scope) as work:
        lift(work, "mallory/web", ids=Ids(), at=at(), author="person:x")
    with store.reading(scope) as look:
        assert_sound(look)
        for one, lesson in before.items():
            now = look.lesson(one)
            assert now is not None
            assert (now.text, now.status, now.tallies) == (lesson.text, lesson.status, lesson.tallies)
        assert list(look.aggregates()) == tables
        assert list(look.cases_like("book the invoice", limit=9)) == hits
        assert revoked_origins(look) == frozenset()


@pytest.mark.parametrize("others", [0, 20])
def test_what_a_revision_quotes_from_a_forgotten_run_goes_with_it(store: Store, others: int) -> None:
    scope = fresh_scope()
    fill(store, scope)
    said = Revision(verdict="too general", basis="the secret of r1", source="r1", run="r2", author="model:x").to_text()
    with store.writing(scope) as work:
        revising = Update("t-1", text="only of r2, revised", revision=said)
        assert work.admit(replace(learned(5, "r2", revising), key="learn:r2:2:known")).version is not None
        for number in range(others):
            work.keep_run(run(f"x{number}"), learned=True)
            work.admit(learned(10 + number, f"x{number}", Add("x", f"of x{number}", evidence=place(f"x{number}"))))
    do(store, scope, runs=("r1", *(f"x{number}" for number in range(others))))
    with store.reading(scope) as look:
        assert_sound(look)
        assert "secret" not in repr([entry.delta for entry in look.ledger()])
        lesson = look.lesson("t-1")
        assert lesson is not None
        assert lesson.text == "only of r2, revised"
        assert "secret" not in lesson.revision
        assert '"run":"r2"' in lesson.revision


def test_recall_weighs_cases_after_a_revocation_as_if_they_had_never_come(store: Store) -> None:
    clean, poisoned = fresh_scope(), fresh_scope()
    for scope, extra in ((clean, 0), (poisoned, 30)):
        with store.writing(scope) as work:
            for number in range(6):
                work.keep_run(run(f"r{number}", f"interest rate {'debt ' * number}"), learned=True)
            for number in range(extra):
                work.keep_run(run(f"m{number}", "interest rate debt debt", replace(MALLORY, document=str(number))), learned=True)
    with store.writing(poisoned) as work:
        revoke_origin(work, "mallory", ids=Ids(), at=at(), author="person:x")
    with store.reading(clean) as ours, store.reading(poisoned) as theirs:
        assert list(theirs.cases_like("interest debt", limit=20)) == list(ours.cases_like("interest debt", limit=20))


# -- laws ---------------------------------------------------------------------------------------------

RUNS = ("r1", "r2", "m1", "m2")
ORIGINS = {"r1": Origin(), "r2": Origin(), "m1": MALLORY, "m2": replace(MALLORY, document="b")}
NAMES = ("a-1", "b-1", "c-1")
SAID = ("one thing", "another thing", "Dana Whitfield says so")


@st.composite
def ledgers(draw: st.DrawFn) -> list[Delta]:
    """Ledgers of a few runs in which lessons are added, told again, merged, revised, retired and counted."""
    found: list[Delta] = []
    known: list[str] = [*NAMES]
    for number in range(draw(st.integers(1, 7))):
        one = draw(st.sampled_from((*RUNS, "")))
        ops: list[Operation] = []
        for _ in range(draw(st.integers(1, 4))):
            target, runs = draw(st.sampled_from(known)), draw(st.lists(st.sampled_from(RUNS), max_size=2))
            evidence = tuple(Evidence(run=each) for each in runs)
            text = draw(st.sampled_from(SAID))
            choices: tuple[Operation, ...] = (
                Add("s", text, evidence=evidence, origin=ORIGINS[one].name if one else ""),
                Add("s", text, id=draw(st.sampled_from(NAMES)), evidence=evidence, applies_when=draw(st.sampled_from(("", SAID[2])))),
                Tally(target, support=1, helpful=1, evidence=evidence),
                Update(target, text=text, evidence=evidence),
                Update(target, status="provisional"),
                Merge((target,), draw(st.sampled_from(known))),
                Retire(target, draw(st.sampled_from(("", SAID[2])))),
                Observe(
                    "f",
                    "n",
                    str(number),
                    key=draw(st.sampled_from(("k", SAID[2]))),
                    run=one,
                    step=len(ops),
                    mark=draw(st.sampled_from(("", "q"))),
                ),
            )
            ops.append(draw(st.sampled_from(choices)))
        if one:
            delta = Delta(f"02{number:04d}", ops, key=f"learn:{one}:{number}:known", cause="run", at=AT, note=f"run {one}")
        else:
            delta = Delta(f"02{number:04d}", ops, author=draw(st.sampled_from(("person:x", "refine"))), at=AT)
        found.append(delta)
        known += added_keys(delta).values()
    return found


WANTED = st.sampled_from(
    (
        Wanted(runs=("r1",)),
        Wanted(runs=("r1", "m1")),
        Wanted(subjects=("dana whitfield",)),
        Wanted(origins=("mallory",)),
        Wanted(origins=("mallory/web/b",)),
    )
)


def filled(store: Store, scope: str, ledger: list[Delta]) -> None:
    with store.writing(scope) as work:
        for one in RUNS:
            work.keep_run(run(one, origin=ORIGINS[one]), learned=True)
        for delta in ledger:
            work.admit(delta)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ledgers(), WANTED, WANTED)
def test_all_stores_forget_alike_and_read_as_their_ledgers_say(ledger: list[Delta], first: Wanted, second: Wanted) -> None:
    scope, found = fresh_scope(), []
    for store in (InMemoryStore(), _SQLITE):
        filled(store, scope, ledger)
        told: list[Forgetting | str] = []
        for wanted in (first, second):
            with store.writing(scope) as work:
                try:
                    told.append(forget(work, wanted, ids=SameIds(len(told)), at=at(), author="person:x"))
                except UserError as exc:
                    told.append(str(exc))
        with store.reading(scope) as look:
            assert_sound(look)
            found.append((told, dumps(look.playbook()), [plain(entry.delta) for entry in look.ledger()], look.run_ids(), look.counts()))
            said = repr(found[-1][2])
            for wanted in (one for one, report in zip((first, second), told, strict=True) if not isinstance(report, str)):
                assert not wanted.subjects or "Dana" not in said
                assert wanted.origins != ("mallory",) or "mallory" not in said
                assert not any(f"'{one}'" in said or f":{one}:" in said or f"run {one}" in said for one in wanted.runs)
    assert found[0] == found[1]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ledgers())
def test_all_stores_revoke_alike_and_lifting_it_or_going_back_brings_all_back(ledger: list[Delta]) -> None:
    scope, found = fresh_scope(), []
    for store in (InMemoryStore(), _SQLITE):
        filled(store, scope, ledger)
        with store.reading(scope) as look:
            before, version = standing(look), look.version()
        with store.writing(scope) as work:
            told = revoke_origin(work, "mallory", ids=SameIds(0), at=at(), author="person:x")
        with store.reading(scope) as look:
            assert_sound(look)
            found.append((told, dumps(look.playbook()), look.run_ids(), standing(look)))
            assert set(look.run_ids()) == {"r1", "r2"}
        with store.writing(scope) as work:
            lift(work, "mallory", ids=SameIds(1), at=at(), author="person:x")
        with store.reading(scope) as look:
            assert_sound(look)
            assert standing(look) == before
        with store.writing(scope) as work:
            revoke_origin(work, "mallory", ids=SameIds(2), at=at(), author="person:x")
            rollback(work, version, ids=SameIds(3), at=at(), author="person:x")
            follow_rollback(work, version)
        with store.reading(scope) as look:
            assert standing(look) == before
            assert set(look.run_ids()) == set(RUNS)
            assert revoked_origins(look) == frozenset()
    assert found[0] == found[1]


def standing(look: Reading) -> Any:
    """What an agent can be shown, with its counts."""
    lessons = [(one.id, one.text, one.applies_when, one.status, one.tallies) for one in look.lessons()]
    return lessons, list(look.aggregates())


class SameIds:
    """Ids that are the same for each store."""

    def __init__(self, number: int) -> None:
        self._number = number

    def next(self, after: str = "") -> str:
        """The one id."""
        return f"08Z{self._number:08d}"


_SQLITE = open_sqlite("sqlite://")


def test_forgetting_a_revoked_origin_leaves_neither_its_name_nor_a_count_that_was_taken_back(store: Store) -> None:
    scope = fresh_scope()
    fill(store, scope)
    with store.writing(scope) as work:
        revoke_origin(work, "mallory/web", ids=Ids(), at=at(), author="person:x")
    do(store, scope, origins=("mallory/web",))
    with store.reading(scope) as look:
        assert_sound(look)
        assert "mallory" not in repr([entry.delta for entry in look.ledger()]).lower()
        assert revoked_origins(look) == frozenset()
        (both,) = [lesson for lesson in look.lessons() if lesson.text == "of both"]
        assert (both.tallies.support, both.tallies.harmful) == (2, 0)


def test_no_table_is_left_out_where_a_run_or_a_scope_goes() -> None:
    scoped = {table for table in rows.metadata.tables.values() if "scope" in table.c and "tenant" in table.c}
    with_words_or_links = {rows.scopes, rows.lessons, rows.runs, rows.ledger, rows.ledger_heads, rows.forgotten_runs, rows.spending}
    of_the_tenant = {rows.api_keys, rows.audit}  # who may come in, and who did what: both name a scope and hold no text of one
    assert scoped == set(sql_forgetting._OF_A_SCOPE) | with_words_or_links | of_the_tenant
    by_their_texts = {rows.held, rows.failed_replies, rows.observations}  # the last are made anew from the ledger
    assert {table for table in scoped if "run_id" in table.c} == set(sql_forgetting._OF_A_RUN) | by_their_texts
