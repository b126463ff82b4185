"""Law 5: every text that was ever admitted can be had again, and ids are never used twice."""

from __future__ import annotations

from hypothesis import given

from tenure import Add, Delta, Merge, Playbook, Restore, Retire, Tally, Update, apply
from tenure.playbook.lessons import normalised
from tests.strategies import History, fold, histories


@given(histories())
def test_every_admitted_text_is_still_held_by_the_lesson_its_receipt_names(history: History) -> None:
    playbook = Playbook()
    admitted: dict[str, str] = {}
    for delta in history.deltas:
        applied = apply(playbook, delta)
        playbook = applied.playbook
        for operation, receipt in zip(delta.operations, applied.receipts, strict=True):
            if isinstance(operation, Add) and receipt.status != "skipped":
                admitted.setdefault(receipt.id, operation.text)
    # A lesson that was replaced, retired, held or merged is still there under its id.
    for lesson_id in admitted:
        assert playbook.lesson(lesson_id) is not None
    # And undoing what came over it brings its text back.
    for number, (lesson_id, text) in enumerate(admitted.items()):
        undone = fold(
            playbook,
            [
                Delta(f"9{number}", [Restore(lesson_id, unmerge=True)]),
                Delta(f"9{number}x", [Restore(lesson_id), Update(lesson_id, text=text)]),
            ],
        )
        assert normalised(text) in {normalised(lesson.text) for lesson in undone.lessons}


@given(histories())
def test_no_delta_takes_away_a_record_or_a_count(history: History) -> None:
    playbook = Playbook()
    for delta in history.deltas:
        after = apply(playbook, delta).playbook
        assert set(playbook.records) <= set(after.records)
        for key in playbook.records:
            before, now = playbook.records[key], after.records[key]
            assert before.admission is None or before.admission == now.admission
            assert set(before.claims) <= set(now.claims)
            assert set(before.registers) <= set(now.registers)
        playbook = after


@given(histories())
def test_the_ledger_of_deltas_is_enough_to_have_it_all_again(history: History) -> None:
    texts = [operation.text for delta in history.deltas for operation in delta.operations if isinstance(operation, Add)]
    again = fold(Playbook(), history.deltas)
    assert again == history.end
    held = {
        normalised(register.value)
        for record in again.records.values()
        for name, register in record.registers.items()
        if name in ("text", "proposed")
    }
    digests = {record.admission.digest for record in again.records.values() if record.admission}
    assert len(digests) <= len({normalised(text) for text in texts})
    # What no register holds any more was overwritten by an UPDATE or MERGE on its own id, and stands in its delta.
    overwritten = {normalised(text) for text in texts} - held
    assert not overwritten or any(isinstance(op, Update | Merge | Add) for delta in history.deltas for op in delta.operations)


def test_a_retired_lesson_keeps_text_and_counts_and_comes_back() -> None:
    playbook = fold(Playbook(), [Delta("01", [Add("s", "text", id="x-1"), Tally("x-1", helpful=3)]), Delta("02", [Retire("x-1", "stale")])])
    assert playbook.lessons == ()
    lesson = playbook.lesson("x-1")
    assert lesson is not None
    assert (lesson.status, lesson.text, lesson.tallies.helpful) == ("retired", "text", 3)
    back = fold(playbook, [Delta("03", [Restore("x-1")])]).lessons
    assert [(one.id, one.status, one.text, one.tallies.helpful) for one in back] == [("x-1", "active", "text", 3)]


def test_the_id_of_a_retired_lesson_is_not_given_to_another_text() -> None:
    playbook = fold(Playbook(), [Delta("01", [Add("s", "text", id="x-1")]), Delta("02", [Retire("x-1")])])
    applied = apply(playbook, Delta("03", [Add("s", "another", id="x-1")]))
    assert applied.receipts[0].id != "x-1"
    assert [lesson.text for lesson in applied.playbook.lessons] == ["another"]
    assert applied.playbook.lesson("x-1").text == "text"  # type: ignore[union-attr]


def test_equal_adds_of_different_deltas_get_different_ids() -> None:
    ids = set()
    for number in range(200):
        playbook = fold(Playbook(), [Delta(f"{number:03}", [Add("s", "text")])])
        ids.add(playbook.lessons[0].id)
    assert len(ids) == 200
