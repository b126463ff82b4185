"""Forgetting in the long-term memory: what came of a run, a subject, an origin or a scope is in no entry, node, text or file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tenure import Outcome, Run, Step, Task, Tenure, UserError
from tenure.learning.forgetting_memory import event_in
from tenure.learning.quoting import Quotations
from tenure.memory_tree.entries import Entry
from tenure.playbook.run import Origin
from tests.learning.test_forgetting import found_in_files

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECRETS = ("quetzall", "zanzibar", "vermicul")
RUN = "claude-code:s-quetzalline"


class Fixed:
    """A clock that stands still."""

    def now(self) -> datetime:
        return NOW


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "db").mkdir()
    return tmp_path / "db"


@pytest.fixture
def book(folder: Path) -> Tenure:
    return Tenure.open(f"sqlite:///{folder / 'book.db'}", scope="local/desk", embedder="none", clock=Fixed())


@pytest.fixture(params=["memory", "sqlite"])
def any_book(request: pytest.FixtureRequest, tmp_path: Path) -> Tenure:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'any.db'}"
    return Tenure.open(url, scope="local/desk", embedder="none", clock=Fixed())


def planted() -> Run:
    said = Step(kind="message", role="user", content="please reconcile the accounts of Quetzalline Vermicularon before the audit")
    return Run(
        id=RUN,
        task=Task(text="reconcile what Quetzalline owes"),
        steps=(said,),
        outcome=Outcome(success=True, signal="test", feedback="zanzibarium was booked on the fourth account"),
        origin=Origin(principal="mallory", channel="mail", trusted=False),
        started="2026-11-29T10:00:00+00:00",
        ended="2026-11-29T11:00:00+00:00",
        session="s-quetzalline",
    )


def entry(number: int, text: str, *, days: int = 1, **more: str) -> Entry:
    at = NOW - timedelta(days=days, minutes=-number)
    return Entry(id=f"e{number}", at=at.isoformat(timespec="microseconds"), day=at.date().isoformat(), text=text, **more)  # type: ignore[arg-type]


def fill(book: Tenure) -> None:
    book.keep(planted())
    book.memory.keep(
        [
            entry(1, "Quetzalline called", session="s-quetzalline"),
            entry(2, "zanzibarium it is", event=event_in(RUN, "3")),
            entry(3, "he said: reconcile the accounts of\nQuetzalline Vermicularon, before the audit!"),
            entry(4, "flour and water for the baker", session="other", topic="baking"),
            entry(5, "yeast for the baker", days=40, session="other", topic="baking"),
        ]
    )
    scratch = "# Notes\nreconcile the accounts of Quetzalline\nVermicularon before the audit\nbuy flour\n"
    book.memory.write("scratchpad", scratch)
    book.memory.write("plan", "zanzibarium was booked on the fourth account", name="audit")
    book.memory.compact()


def left(book: Tenure) -> set[str]:
    with book.store.reading(book.scope) as look:
        return {one.id for one in look.entries()}


def nodes(book: Tenure) -> list[object]:
    with book.store.reading(book.scope) as look:
        return [node for kind in ("day", "week", "month") for node in look.nodes(kind)]


def test_a_forgotten_run_takes_its_entries_their_quotations_and_all_that_was_built_of_them(folder: Path, book: Tenure) -> None:
    with book:
        fill(book)
        assert {one.split()[0] for one in found_in_files(folder, SECRETS)} == set(SECRETS)
        plan = book.forget(runs=RUN, dry_run=True)
        told = book.forget(runs=RUN)
        assert plan.entries == told.entries == ("e1", "e2", "e3")
        assert told.texts == ("plan/audit", "scratchpad")
        assert (told.counts["memory entries"], told.counts["memory texts"]) == (3, 2)
        assert told.scrubbed is not None
        assert told.scrubbed.done
        assert found_in_files(folder, SECRETS) == []
        assert book.memory.read("scratchpad") == "# Notes\nbuy flour\n"
        assert left(book) == {"e4", "e5"}
        assert "baking" in book.memory.root()
        assert book.memory.recall("Quetzalline zanzibarium").found == ()
        assert book.memory.recall("flour").found
        grown = nodes(book)
        book.memory.compact(all=True)
        assert nodes(book) == grown


@pytest.mark.parametrize("wanted", [{"subjects": ["quetzalline", "zanzibarium", "vermicularon"]}, {"scope": True}])
def test_no_byte_of_a_subject_or_a_scope_is_left_of_the_memory(folder: Path, book: Tenure, wanted: dict[str, object]) -> None:
    with book:
        fill(book)
        told = book.forget(**wanted)  # type: ignore[arg-type]
        assert told.scrubbed is not None
        assert told.scrubbed.done
        assert found_in_files(folder, SECRETS) == []
        assert left(book) == (set() if "scope" in wanted else {"e4", "e5"})
        if "scope" in wanted:
            assert nodes(book) == []
            with book.store.reading(book.scope) as look:
                assert look.memory_texts() == {}
                assert look.check_memory() == []


def test_an_origin_takes_its_entries_and_those_of_its_runs(any_book: Tenure) -> None:
    fill(any_book)
    any_book.memory.keep([entry(6, "pay them first", origin="mallory/mail/42 (untrusted)"), entry(7, "do not", origin="local/mail")])
    told = any_book.forget(origins="mallory")
    assert (told.runs, set(told.entries)) == ((RUN,), {"e1", "e2", "e3", "e6"})
    assert left(any_book) == {"e4", "e5", "e7"}


def test_a_session_that_was_never_kept_as_a_run_can_be_forgotten(any_book: Tenure) -> None:
    fill(any_book)
    assert any_book.forget(runs="other").entries == ("e5", "e4")
    with pytest.raises(UserError, match="has left nothing"):
        any_book.forget(runs="other-2")


def test_what_stays_is_what_was_said_before_in_other_runs_or_in_everybodys_words(any_book: Tenure) -> None:
    fill(any_book)
    quoted = "please reconcile the accounts of Quetzalline Vermicularon before the audit"
    any_book.keep(Run(id="r2", task=Task(text=quoted), started="2026-11-29T10:00:00+00:00"))
    any_book.memory.keep([entry(6, quoted, days=5), entry(7, quoted, event=event_in("r2", "1")), entry(8, "the accounts before the audit")])
    any_book.forget(runs=RUN)
    assert left(any_book) == {"e4", "e5", "e6", "e7", "e8"}


def test_a_session_goes_with_the_run_that_it_is_named_for_and_not_with_another(any_book: Tenure) -> None:
    fill(any_book)
    any_book.keep(Run(id="sub", task=Task(text="a sub-agent of it"), session="s-quetzalline"))
    assert "e1" not in any_book.forget(runs="sub").entries
    assert "e1" in any_book.forget(runs=RUN).entries


def test_everywhere_reaches_scopes_that_have_a_memory_alone(folder: Path, book: Tenure) -> None:
    with book:
        other = book.in_scope("local/notes")
        other.memory.log("Quetzalline likes tea")
        other.memory.compact()
        assert book.store.scopes() == ["local/notes"]
        assert list(book.forget_everywhere(subjects=["quetzalline"])) == ["local/notes"]
        assert found_in_files(folder, SECRETS) == []


def test_quotations_are_found_whatever_case_and_line_breaks_and_in_scripts_without_spaces() -> None:
    quoted = Quotations(["The quick brown fox jumps over the lazy dog at noon", "請求書は毎月末日にPDFで保存", "0 0 0 0 0 0 0 0"])
    assert quoted.stand_in("he wrote: quick BROWN fox,\njumps over the lazy.")
    assert quoted.stand_in("毎月末日にPDFで保存")
    assert not quoted.stand_in("a quick brown fox jumps over me")
    assert not quoted.stand_in("0 0 0 0 0 0 0 0")
    assert quoted.lines_in("a\nquick brown fox\njumps over the lazy dog\nb") == {1, 2}
    assert not Quotations(["yes, do that", ""])
