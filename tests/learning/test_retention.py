"""Retention: nothing goes by default; what is set goes with a report; what a live lesson needs stays, or its going is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tenure import Add, Evidence, Outcome, Retire, Run, Task, Tenure
from tenure.errors import SettingError
from tenure.memory_tree.entries import Entry, EntryType
from tenure.playbook.delta import Delta
from tenure.ports import FailedReply, HeldChange

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Fixed:
    """A clock that stands still."""

    def __init__(self, at: datetime = NOW) -> None:
        self.at = at

    def now(self) -> datetime:
        """The moment it stands at."""
        return self.at


@pytest.fixture(params=["memory", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Tenure:
    """Runs of each age, one of which a live lesson rests on; a retired lesson; a held change; a failed reply."""
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'book.db'}"
    book = Tenure.open(url, scope="local/kept", embedder="none", clock=Fixed())
    for days in (1, 100, 200, 300):
        at = (NOW - timedelta(days=days)).isoformat()
        book.learn(Run(id=f"r{days}", task=Task(text=f"task {days}"), outcome=Outcome(success=True, signal="test"), ended=at))
    book.learn(Run(id="undated", task=Task(text="no date")))
    old = NOW - timedelta(days=400)
    book.apply(Delta("01A", [Add("s", "lasting", id="s-1", evidence=(Evidence(run="r300"),)), Add("s", "gone by", id="s-2")], at=old))
    book.apply(Delta("01B", [Retire("s-2", "why not")], at=old))
    with book.store.writing(book.scope) as work:
        for days in (10, 400):
            at = (NOW - timedelta(days=days)).isoformat()
            work.hold(HeldChange(id=f"h{days}", operation=Add("s", "t"), reason="r", author="x", at=at))
            work.keep_failed_reply(FailedReply(id=f"f{days}", run="r1", purpose="p", reason="r", reply="{", at=at))
    return book


def ids(book: Tenure) -> set[str]:
    with book.store.reading(book.scope) as look:
        return set(look.run_ids())


def test_nothing_goes_by_default(book: Tenure) -> None:
    assert book.retain().nothing
    assert ids(book) == {"r1", "r100", "r200", "r300", "undated"}


def test_old_runs_go_but_one_that_a_live_lesson_rests_on_stays_and_is_told(book: Tenure) -> None:
    book.set("retention.raw", "180d")
    looked = book.retain(dry_run=True)
    assert (looked.runs, looked.needed, looked.version) == (("r200",), ("r300",), None)
    assert len(ids(book)) == 5
    done = book.retain()
    assert done.version is not None
    assert done.told() == "past their retention: 1 run; 1 older runs stay, because live lessons rest on them (retention.evidence)"
    assert ids(book) == {"r1", "r100", "r300", "undated"}
    assert "was forgotten" in book.learn(Run(id="r200", task=Task(text="task 200"))).skipped
    book.set("retention.evidence", "go")
    again = book.retain()
    assert (again.runs, again.bereft) == (("r300",), ("s-1",))
    assert book.playbook.lesson("s-1") is not None


def test_held_changes_failed_replies_and_retired_lessons_have_their_own_periods(book: Tenure) -> None:
    for name in ("held", "failed", "retired"):
        book.set(f"retention.{name}", "1y")
    done = book.retain()
    assert (done.runs, done.held, done.failed, done.lessons) == ((), ("h400",), ("f400",), ("s-2",))
    with book.store.reading(book.scope) as look:
        assert [change.id for change in look.held()] == ["h10"]
        assert look.lesson("s-2") is None
        assert look.verify_ledger() == []
        assert "gone by" not in repr([entry.delta for entry in look.ledger()])


def test_learning_carries_it_out_once_a_day_and_says_so(book: Tenure) -> None:
    book.set("retention.raw", "6m")
    first = book.learn(Run(id="new-1", task=Task(text="t"), outcome=Outcome(success=True, signal="test"), shown=("s-1",)))
    assert "past their retention: 1 run" in first.refined
    book.set("retention.raw", "1w")
    assert book.learn(Run(id="new-2", task=Task(text="t"), outcome=Outcome(success=True, signal="test"), shown=("s-1",))).refined == ""
    book.clock.at = NOW + timedelta(days=1)  # type: ignore[attr-defined]
    later = book.learn(Run(id="new-3", task=Task(text="t"), outcome=Outcome(success=True, signal="test"), shown=("s-1",)))
    assert "past their retention: 1 run" in later.refined
    assert "r100" not in ids(book)


@pytest.mark.parametrize("wrong", ["180", "d", "0d", "-3d", "3 days", "1h"])
def test_a_period_is_a_number_with_a_unit(book: Tenure, wrong: str) -> None:
    with pytest.raises(SettingError, match="such as 180d"):
        book.set("retention.raw", wrong)


def entry(days: int, type: EntryType = "log") -> Entry:
    at = NOW - timedelta(days=days)
    name = f"e{days}{'' if type == 'log' else type}"
    day = at.date().isoformat()
    return Entry(id=name, at=at.isoformat(timespec="microseconds"), day=day, text=f"said {days} days ago {type}", type=type)


def test_old_entries_of_the_memory_go_with_their_nodes_and_what_a_person_said_to_keep_stays_and_is_told(book: Tenure) -> None:
    entries = [entry(1), entry(200), entry(400), entry(400, type="project"), entry(500, type="feedback"), entry(600, type="user")]
    book.memory.keep(entries)
    book.memory.compact()
    assert book.retain().nothing
    book.set("retention.memory", "365d")
    plan = book.retain(dry_run=True)
    done = book.retain()
    assert plan.entries == done.entries == ("e400", "e400project")
    assert done.told_to_keep == ("e600user", "e500feedback")
    assert done.told() == (
        "past their retention: 2 memory entries; 2 older entries stay, because a person said to keep them (retention.evidence)"
    )
    with book.store.reading(book.scope) as look:
        assert {one.id for one in look.entries()} == {"e1", "e200", "e500feedback", "e600user"}
        assert (NOW - timedelta(days=400)).date().isoformat() not in {one.period.key for one in look.nodes("day")}
        assert len(look.nodes("day")) == 4
        assert look.stale_periods() == []
    assert book.memory.recall("said 400 days ago project").found != ()
    assert "400" not in repr(book.memory.recall("said 400 days ago project").found)
    book.set("retention.evidence", "go")
    assert set(book.retain().entries) == {"e500feedback", "e600user"}
