"""Laws of every store: draws are counted by lesson and fate, with the score of the run as it stands now."""

from __future__ import annotations

from dataclasses import replace

from tenure import Outcome, Run, Task
from tenure.playbook.holdout import DrawCount
from tenure.playbook.run import Draw
from tenure.ports import Store
from tests.stores.contract import fresh_scope

WON, LOST = Outcome(success=True, signal="test"), Outcome(success=False, signal="test")


def drawn(run_id: str, outcome: Outcome, *draws: Draw) -> Run:
    return Run(id=run_id, task=Task(text="t"), draws=draws, outcome=outcome)


def keep(store: Store, scope: str, *runs: Run) -> None:
    for run in runs:
        with store.writing(scope) as work:
            work.keep_run(run, learned=False)


def count(**more: object) -> DrawCount:
    held: dict[str, object] = {"lesson": "a", "text": "", "reason": "holdout", "chance": 0.25, "withheld": False}
    return DrawCount(**{**held, **more})  # type: ignore[arg-type]


def test_runs_are_counted_by_lesson_text_reason_chance_and_fate(store: Store) -> None:
    scope, out, shown = fresh_scope(), Draw(lesson="a", withheld=True, chance=0.25), Draw(lesson="a", withheld=False, chance=0.25)
    other = Draw(lesson="b", withheld=True, chance=0.9, reason="release", text="0a")
    keep(store, scope, drawn("1", WON, shown, other), drawn("2", LOST, shown), drawn("3", LOST, out), drawn("4", WON, shown))
    with store.reading(scope) as look:
        everything = look.draw_counts()
        assert everything == [
            count(runs=3, judged=3, total=2.0),
            count(withheld=True, runs=1, judged=1, total=0.0),
            count(lesson="b", text="0a", reason="release", chance=0.9, withheld=True, runs=1, judged=1, total=1.0),
        ]
        assert look.draw_counts(["b", "c"]) == everything[2:]
        assert look.draw_counts([]) == []


def test_a_score_counts_once_it_is_honest_and_follows_a_later_report(store: Store) -> None:
    scope, out = fresh_scope(), Draw(lesson="a", withheld=True, chance=0.25)
    by_itself = Outcome(success=True, signal="self")
    keep(store, scope, drawn("1", Outcome(), out), drawn("2", by_itself, out))
    with store.reading(scope) as look:
        assert look.draw_counts() == [count(withheld=True, runs=2, judged=0, total=0.0)]
    keep(store, scope, drawn("1", replace(WON, score=0.75)))
    with store.reading(scope) as look:
        assert look.draw_counts() == [count(withheld=True, runs=2, judged=1, total=0.75)]


def test_the_first_draw_of_a_lesson_in_a_run_is_what_counts(store: Store) -> None:
    scope, out, shown = fresh_scope(), Draw(lesson="a", withheld=True, chance=0.25), Draw(lesson="a", withheld=False, chance=0.5)
    keep(store, scope, drawn("1", WON, out, shown), drawn("1", WON, shown))
    with store.reading(scope) as look:
        assert look.draw_counts() == [count(withheld=True, runs=1, judged=1, total=1.0)]


def test_draws_of_one_scope_are_not_those_of_another(store: Store) -> None:
    mine, other = fresh_scope(), fresh_scope()
    keep(store, mine, drawn("1", WON, Draw(lesson="a", withheld=True, chance=0.25)))
    with store.reading(other) as look:
        assert look.draw_counts() == []
