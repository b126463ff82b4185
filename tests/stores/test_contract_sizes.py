"""Laws of every store: what recall reads is the same whether a playbook is small, so that a look reads it whole, or large."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tenure.playbook.delta import Add, Delta, Retire, Tally
from tenure.playbook.lessons import Evidence, Lesson
from tenure.playbook.run import Run, Task
from tenure.ports import Reading, Store
from tenure.stores.in_memory import InMemoryStore
from tenure.stores.postgres_words import FEW as FEW_HOLDERS
from tenure.stores.sql_lessons import SMALL
from tenure.stores.sqlite_words import FEW as FEW_TEXTS
from tests.stores.contract import fresh_scope

SIZES = {"small": 40, "large": SMALL + 60}
WORDS = "invoice rate refund ticket hotel seat ledger table month order parcel customs".split()
QUESTIONS = ("refund the ticket", "which invoice rate per month?", "src/app3.py and the ledger", "nothing of this", "")


def test_the_sizes_lie_on_both_sides_of_every_bound() -> None:
    assert SIZES["small"] < min(SMALL, FEW_TEXTS)
    assert SIZES["large"] > max(SMALL, FEW_TEXTS)
    assert SIZES["large"] * len(WORDS) * 2 > FEW_HOLDERS


def fill(store: Store, scope: str, size: int) -> list[str]:
    """Lessons of which some are retired, some rest on runs or are about errors of tools, and some stand in the parent; their ids."""
    dice = random.Random(size)
    ids = [f"les-{number:04}" for number in range(size)]

    def said(number: int) -> str:
        return " ".join([*dice.choices(WORDS, k=dice.randint(2, 5)), f"src/app{number % 9}.py" if number % 7 == 0 else f"n{number}"])

    runs = [f"run-{number}" for number in range(size // 4)]
    added = [
        Add(
            f"s{number % 3}",
            said(number),
            id=one,
            evidence=(Evidence(run=runs[number % len(runs)]),) if number % 5 == 0 else (),
            about=f"tool-error:{dice.choice(WORDS)}:{number}" if number % 6 == 0 else "",
        )
        for number, one in enumerate(ids)
    ]
    counts = [Tally(one, support=dice.randint(1, 5)) for one in ids[::3]]
    with store.writing(scope) as work:
        for one in runs:
            work.keep_run(Run(id=one, task=Task(text=" ".join(dice.choices(WORDS, k=4)))), learned=False)
        work.admit(Delta("01", added[: size // 2], scope=scope))
        work.admit(Delta("02", [*added[size // 2 :], *counts], scope=scope))
        work.admit(Delta("03", [Retire(one) for one in ids[::11]], scope=scope))
    with store.writing(scope.rpartition("/")[0]) as work:
        work.admit(Delta("01", [Add("s0", f"parent says {word}", about=f"tool-error:{word}:late") for word in WORDS[:4]]))
    return ids


def seen(look: Reading, ids: Sequence[str]) -> dict[str, object]:
    """What recall reads of a scope."""

    def named(lessons: Sequence[Lesson]) -> list[str]:
        return [lesson.text for lesson in lessons]

    runs = list(look.run_ids(limit=6))
    return {
        "many named": dict(look.named(ids)),
        "few named": dict(look.named([*ids[:3], "les-none"])),
        "since": named(look.since(1)),
        "live": list(look.lessons()),
        "supported": named(look.supported(limit=30)),
        "near runs": named(look.near(runs, (), limit=20)),
        "near tools": named(look.near((), WORDS[:3], limit=20)),
        "near both": named(look.near(runs, WORDS[2:5], limit=9)),
        "found": [
            [(hit.lesson.text, hit.scope, hit.score, hit.words, hit.identifiers) for hit in look.search(q, limit=50)] for q in QUESTIONS
        ],
        "cases": [[(hit.run, hit.score, hit.words) for hit in look.cases_like(q, limit=20)] for q in QUESTIONS],
        "runs": dict(look.runs([*runs, "run-none"])),
        "newest": runs,
        "beliefs": dict(look.beliefs(ids)),
    }


@pytest.mark.parametrize("size", SIZES)
def test_what_recall_reads_is_what_the_store_in_memory_reads(store: Store, size: str) -> None:
    scope, plain = f"{fresh_scope()}/team", InMemoryStore()
    ids = fill(store, scope, SIZES[size])
    fill(plain, scope, SIZES[size])
    with store.reading(scope) as look, plain.reading(scope) as wanted:
        assert seen(look, ids) == seen(wanted, ids)
        assert seen(look, ids) == seen(wanted, ids), "what a look has read before makes no difference"


@pytest.mark.parametrize("size", SIZES)
def test_a_writer_sees_at_once_what_it_wrote_and_a_later_look_too(store: Store, size: str) -> None:
    scope = f"{fresh_scope()}/team"
    ids = fill(store, scope, SIZES[size])
    with store.writing(scope) as work:
        assert set(work.named(ids)) == set(ids)
        assert not [hit for hit in work.search("zebra", limit=5) if "zebra" in hit.lesson.text]
        work.admit(Delta("09", [Add("s0", "zebra crossing", id="les-zebra"), Retire(ids[1])], scope=scope))
        assert work.named([*ids, "les-zebra"])["les-zebra"].text == "zebra crossing"
        assert [hit.lesson.id for hit in work.search("zebra", limit=5)] == ["les-zebra"]
        assert [lesson.id for lesson in work.since(3)] == ["les-zebra"]
    with store.reading(scope) as look:
        found = look.named([*ids, "les-zebra"])
        assert found["les-zebra"].live
        assert not found[ids[1]].live
        assert ids[1] not in {lesson.id for lesson in look.lessons()}
