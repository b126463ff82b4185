"""Laws of compacting: whatever happened in whatever order, the tree is the one that the raw log gives at once."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tenure import Tenure
from tenure.memory_tree.entries import Entry
from tenure.memory_tree.periods import touched
from tenure.memory_tree.topics import merge_topics
from tenure.ports import Prompt
from tenure.providers.scripted import RuleModel
from tests.learning.test_memory import Told
from tests.memory_tree.trees import entry, many_entries

LAST = datetime(2027, 2, 1, tzinfo=UTC)
FIRST = datetime(2026, 12, 20, tzinfo=UTC)
ZONES = ("UTC", "Asia/Tokyo", "America/Los_Angeles", "Australia/Lord_Howe")
SMALL = {
    "memory.day_lines": "3",
    "memory.week_lines": "6",
    "memory.month_lines": "9",
    "memory.node_tokens": "250",
    "memory.copy_tokens": "300",
    "memory.root_tokens": "400",
}


def opened(clock: Told, *, model: RuleModel | None = None) -> Tenure:
    """A small tree in memory, so that few entries make copies and summaries of every kind."""
    book = Tenure.open("memory://", scope="mine", clock=clock, embedder="none", model=model)
    for name, value in SMALL.items():
        book.set(name, value)
    return book


def tree(book: Tenure) -> dict[str, object]:
    """All that a memory derives from its entries."""
    with book.store.reading(book.scope) as look:
        nodes = {node.period.key: node for kind in ("day", "week", "month") for node in look.nodes(kind)}
        kept = {name: look.memory_file("memory.kept", name) for name in look.memory_files("memory.kept")}
        return {"nodes": nodes, "kept": kept, "stale": list(look.stale_periods()), "root": book.memory.root()}


def entries_of(book: Tenure) -> list[Entry]:
    """The raw log."""
    with book.store.reading(book.scope) as look:
        return list(look.entries())


def all_done(book: Tenure) -> None:
    """Compact until no summary waits for the model."""
    for _ in range(9):
        if not book.memory.compact().waiting:
            return
    raise AssertionError("summaries wait for ever")


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 12)),
        st.tuples(st.just("clock"), st.integers(-3, 9)),
        st.tuples(st.just("compact"), st.just(0)),
        st.tuples(st.just("zone"), st.integers(0, len(ZONES) - 1)),
        st.tuples(st.just("lines"), st.integers(1, 6)),
    ),
    max_size=14,
)


def live(book: Tenure, clock: Told, entries: list[Entry], steps: list[tuple[str, int]]) -> None:
    """Entries arrive in their order, with compactings, a clock that goes on and back, and changed settings between them."""
    waiting = list(entries)
    for what, how in steps:
        if what == "write":
            book.memory.keep([waiting.pop() for _ in range(min(how, len(waiting)))])
        elif what == "clock":
            clock.moment += timedelta(days=how)
        elif what == "compact":
            book.memory.compact()
        elif what == "zone":
            book.memory.set_zone(ZONES[how])
        else:
            book.set("memory.day_lines", str(how))
    book.memory.keep(waiting)
    clock.moment = LAST


@given(many_entries(), STEPS)
@settings(max_examples=40)
def test_a_tree_that_grew_is_byte_for_byte_the_one_that_is_built_at_once(entries: list[Entry], steps: list[tuple[str, int]]) -> None:
    clock = Told(FIRST)
    book = opened(clock)
    live(book, clock, entries, steps)
    book.memory.compact()
    grown = tree(book)
    assert grown["stale"] == []
    book.memory.compact(all=True)
    assert tree(book) == grown
    fresh = opened(Told(LAST))
    for name in ("memory.zone", "memory.day_lines"):
        fresh.set(name, book.settings().text(name))
    fresh.memory.keep(entries_of(book)[::-1])
    fresh.memory.compact()
    assert tree(fresh) == grown


def repeats(prompt: Prompt) -> str:
    """A model that repeats words of what it is shown."""
    shown = re.findall(r'"text": "([^"\\]{4,40})', prompt.user)
    return json.dumps({"lines": [one.strip() for one in shown if one.strip()][:3] or ["nothing much"]})


@given(many_entries(), STEPS)
@settings(max_examples=25)
def test_with_a_model_too_and_building_again_asks_it_for_nothing(entries: list[Entry], steps: list[tuple[str, int]]) -> None:
    clock, calls = Told(FIRST), list[str]()

    def answer(prompt: Prompt) -> str:
        calls.append(prompt.user)
        return repeats(prompt)

    book = opened(clock, model=RuleModel(answer))
    live(book, clock, entries, steps)
    all_done(book)
    grown, before = tree(book), len(calls)
    assert book.memory.compact(all=True).by_model == 0
    assert len(calls) == before
    assert tree(book) == grown


@given(many_entries(), st.integers(0, 29))
@settings(max_examples=25)
def test_a_late_entry_opens_its_chain_and_only_a_finished_project_opens_more(entries: list[Entry], place: int) -> None:
    book, late = opened(Told(LAST)), entries[place % len(entries)]
    book.memory.keep([one for one in entries if one is not late])
    book.memory.compact()
    book.memory.keep([late])
    built = book.memory.compact().built
    own = {period.key for period in touched([late.day])}
    assert own & {one.period.key for one in tree(book)["nodes"].values()} <= set(built)  # type: ignore[attr-defined]
    if late.type != "project":
        assert set(built) <= own


@given(many_entries())
@settings(max_examples=25)
def test_every_topic_is_found_in_its_day_week_and_month_and_what_is_kept_is_in_its_file_word_for_word(entries: list[Entry]) -> None:
    book = opened(Told(LAST))
    book.memory.keep(entries)
    book.memory.compact()
    named = {one.name.casefold() for one in book.memory.topics()}
    for one in entries_of(book):
        name = (one.topic or ("" if one.type == "log" else one.type)).casefold()
        if not name:
            continue
        assert name in named
        for period in touched([one.day]):
            node = book.memory.node(period.key)
            if node is not None and one.day in period.days:
                topic = next(topic for topic in node.topics if topic.name.casefold() == name and topic.given)
                assert one.day in {day for topic in node.topics if topic.name.casefold() == name for day in topic.days}, topic
        if one.type in ("user", "feedback") and one.text:
            assert "\n  ".join(one.text.splitlines()) in book.memory.read("knowledge", name=name)


def test_all_topics_of_all_nodes_are_those_of_the_root_or_counted_there() -> None:
    book = opened(Told(LAST))
    book.memory.keep([entry(n, FIRST + timedelta(hours=n), "x", topic=f"topic {n}") for n in range(300)])
    book.memory.compact()
    root = book.memory.root()
    shown = sum(line.startswith("- topic ") for line in root.splitlines())
    with book.store.reading(book.scope) as look:
        topics = merge_topics(one for month in look.nodes("month") for one in month.topics if one.given)
    assert len(topics) == 300
    assert f"{300 - shown} more named topics in 2026-12" in root
