"""Law 6: cost follows the delta, not the playbook; and what a delta does is local to what it asks for."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from hypothesis import given

from tenure import Add, Delta, Merge, Pin, Playbook, Restore, Retire, Tally, Update, apply
from tenure.playbook.aggregates import Observed
from tenure.playbook.apply import fold_in
from tenure.playbook.effects import lessons_after
from tenure.playbook.observing import Shown
from tenure.playbook.records import Member, Record, read_lesson, root_of
from tests.strategies import History, fold, histories
from tests.timing import assert_growth, seconds


class CountingView:
    """A view that counts what it is asked, and remembers the answers."""

    def __init__(self, playbook: Playbook) -> None:
        self._playbook = playbook
        self.asked = 0
        self.records: dict[str, Record | None] = {}
        self.groups: dict[str, tuple[Member, ...]] = {}
        self.pointers: dict[str, frozenset[str]] = {}
        self.held: dict[str, bool] = {}
        self.owners: dict[str, str | None] = {}

    def record(self, key: str) -> Record | None:
        self.asked += 1
        return self.records.setdefault(key, self._playbook.record(key))

    def group(self, group: str) -> tuple[Member, ...]:
        self.asked += 1
        return self.groups.setdefault(group, self._playbook.group(group))

    def pointing(self, key: str) -> Iterable[str]:
        self.asked += 1
        return self.pointers.setdefault(key, frozenset(self._playbook.pointing(key)))

    def holds(self, delta_id: str) -> bool:
        self.asked += 1
        return self.held.setdefault(delta_id, self._playbook.holds(delta_id))

    def key_owner(self, key: str) -> str | None:
        self.asked += 1
        return self.owners.setdefault(key, self._playbook.key_owner(key))

    def observed(self, observation: str) -> Observed | None:
        return None

    def shown(self, aggregate: str) -> Shown | None:
        return None

    def other_unit(self, aggregate: str, unit: str) -> str | None:
        return None


class OnlyWhatWasAsked:
    """A view that has what another was asked for, and nothing else: as a store has that fetches rows one by one."""

    def __init__(self, seen: CountingView) -> None:
        self._seen = seen

    def record(self, key: str) -> Record | None:
        return self._seen.records[key]

    def group(self, group: str) -> tuple[Member, ...]:
        return self._seen.groups[group]

    def pointing(self, key: str) -> Iterable[str]:
        return self._seen.pointers[key]

    def holds(self, delta_id: str) -> bool:
        return self._seen.held[delta_id]

    def key_owner(self, key: str) -> str | None:
        return self._seen.owners[key]

    def observed(self, observation: str) -> Observed | None:
        return None

    def shown(self, aggregate: str) -> Shown | None:
        return None

    def other_unit(self, aggregate: str, unit: str) -> str | None:
        return None


@functools.cache
def playbook_of(size: int) -> Playbook:
    """A playbook of so many lessons in twenty sections; of the first thousand every tenth is merged into its neighbour."""
    made = [Add(f"section {place % 20}", f"lesson number {place}", id=f"x-{place:06}" if place < 1_000 else None) for place in range(size)]
    merges = [Merge([f"x-{place + 1:06}"], f"x-{place:06}") for place in range(0, 999, 10)]
    return fold(Playbook(), [Delta("01", made), Delta("02", merges)])


TEN = Delta(
    "03",
    [
        Add("section 1", "a new text"),
        Add("section 1", "lesson number 21"),
        Add("section 1", "another new text", id="y-1"),
        Add("section 2", "a text for an id that is taken", id="x-000005"),
        Update("x-000011", text="through an alias"),
        Tally("x-000003", helpful=1),
        Merge(["x-000004"], "x-000007"),
        Retire("x-000008"),
        Restore("x-000021", unmerge=True),
        Pin("x-000009"),
    ],
    key="run-1",
)


def test_ten_operations_ask_as_much_of_a_small_playbook_as_of_a_large_one() -> None:
    asked = []
    for size in (1_000, 50_000):
        view = CountingView(playbook_of(size))
        assert {receipt.status for receipt in fold_in(view, TEN).receipts} == {"applied", "merged"}
        asked.append(view.asked)
    assert asked[0] == asked[1]
    assert asked[0] < 100


def test_ten_operations_take_about_as_long_on_a_large_playbook() -> None:
    def taken(size: int) -> float:
        playbook = playbook_of(size)
        return seconds(lambda: [apply(playbook, TEN) for _ in range(10)])

    assert_growth(taken, 1_000, 50_000, at_most=3, floor=0.001)


def test_reading_one_lesson_takes_about_as_long_on_a_large_playbook() -> None:
    asked = []
    for size in (1_000, 50_000):
        view = CountingView(playbook_of(size))
        for lesson in lessons_after(view, fold_in(view, TEN)).values():
            assert lesson is None or lesson.text
        asked.append(view.asked)
    assert asked[0] == asked[1]


@given(histories())
def test_a_view_that_serves_only_what_is_asked_gives_the_same_change(history: History) -> None:
    playbook = history.start
    for delta in history.later:
        seen = CountingView(playbook)
        change = fold_in(seen, delta)
        assert fold_in(OnlyWhatWasAsked(seen), delta) == change
        assert fold_in(playbook, delta) == change
        playbook = apply(playbook, delta).playbook


@given(histories())
def test_the_lessons_a_change_touches_are_those_that_read_differently_afterwards(history: History) -> None:
    playbook = history.start
    for delta in history.later:
        before = {lesson.id: lesson for lesson in playbook.every_lesson}
        touched = lessons_after(playbook, fold_in(playbook, delta))
        playbook = apply(playbook, delta).playbook
        now = {lesson.id: lesson for lesson in playbook.every_lesson}
        assert {key: lesson for key, lesson in touched.items() if lesson is not None}.items() <= now.items()
        assert {key for key, lesson in touched.items() if lesson is None}.isdisjoint(now)
        assert {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)} <= touched.keys()


def same_text(times: int) -> Playbook:
    """One lesson, admitted again and again by different deltas."""
    return fold(Playbook(), [Delta(f"{place:04}", [Add("s", "the same text")]) for place in range(times)])


def test_a_text_that_was_added_many_times_costs_no_more_to_add_again() -> None:
    asked = []
    for times in (10, 500):
        view = CountingView(same_text(times))
        assert fold_in(view, Delta("9", [Add("s", "the same text"), Add("s", "another")])).receipts[0].status == "merged"
        asked.append(view.asked)
    assert asked[0] == asked[1]


def test_reading_a_lesson_asks_in_proportion_to_its_records() -> None:
    asked = []
    for times in (100, 200):
        view = CountingView(same_text(times))
        assert len(read_lesson(view, root_of(view, same_text(1).lessons[0].id)).merged) == times - 1
        asked.append(view.asked)
    assert asked[1] <= 2 * asked[0]
