"""The controls of rewriting: they lose by their cap and nothing else, and the summariser writes nothing of its own."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tenure.evaluation.benches import BENCHES, Asked
from tenure.evaluation.collapse import run_brevity, run_collapse, specifics_of
from tenure.evaluation.summarising import statements_of, summarise
from tests.evaluation.recordings import forgetful

STATEMENTS = st.lists(
    st.lists(st.sampled_from("gear rope arm the spring 12 k_0 force".split()), min_size=1, max_size=6).map(" ".join), max_size=12
)


@given(STATEMENTS, st.integers(0, 40))
def test_a_summary_is_a_part_of_what_was_said_in_its_order_within_the_cap(statements: list[str], cap: int) -> None:
    kept = summarise(statements, cap)
    assert sum(len(one.split()) for one in kept) <= cap or not statements
    rest = iter(statements)
    assert all(one in rest for one in kept)


@given(STATEMENTS)
def test_what_fits_is_kept_whole(statements: list[str]) -> None:
    assert summarise(statements, sum(len(one.split()) for one in statements)) == statements


def test_of_what_does_not_fit_the_frequent_is_kept() -> None:
    assert summarise(["gears turn gears", "one odd remark", "gears mesh"], 5) == ["gears turn gears", "gears mesh"]


def test_statements_are_lines_and_sentences() -> None:
    assert statements_of("One is so. Two is 0.5 m.\nThree") == ["One is so.", "Two is 0.5 m.", "Three"]


def test_rewriting_loses_by_the_cap_alone_and_deltas_keep_all(tmp_path: Path) -> None:
    path = forgetful(tmp_path / "run.jsonl")
    tight, loose = run_collapse(path, cap=30), run_collapse(path, cap=10_000)
    assert tight["kept_summarised"] < 1.0 == loose["kept_summarised"]
    assert tight["kept_deltas"] == 1.0
    assert tight["kept_recorded"] < 0.5
    curve = tight["by_recording"]["run"]["summary_words_by_step"]
    assert max(curve) <= 30 < sum(curve)


def test_tighter_caps_keep_less(tmp_path: Path) -> None:
    found = run_brevity(forgetful(tmp_path / "run.jsonl"), caps=(1_000, 20), out=tmp_path)
    assert found["by_cap"]["1000"]["specifics"] == 1.0 > found["by_cap"]["20"]["specifics"]
    assert (tmp_path / "brevity.svg").exists()


def test_specifics_are_figures_and_names_in_code() -> None:
    assert specifics_of("Use k_0 with 0.25 and 12 teeth") >= {"12", "25"}
    assert not specifics_of("Use it with care")


def test_every_figure_says_what_it_is(tmp_path: Path) -> None:
    path = forgetful(tmp_path / "run.jsonl")
    for name in ("collapse", "brevity"):
        found = BENCHES[name].run(Asked(data=path))
        assert set(found) <= set(BENCHES[name].figures)
