"""What a recorded memory loses and Tenure keeps; how items of different sheets are told to be one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import UnreadableInput, UserError
from tenure.evaluation.benches import BENCHES, Asked
from tenure.evaluation.cheatsheets import follow, items_of, read_recording, read_recordings
from tenure.evaluation.retention import item_id, recoverable, replay, run_retention, stands
from tenure.playbook.delta import Retire
from tenure.testing import open_trial
from tests.evaluation.recordings import ITEMS, forgetful, item, write


def test_what_each_sheet_drops_is_kept_alive_found_and_recoverable(tmp_path: Path) -> None:
    found = run_retention(forgetful(tmp_path / "run.jsonl"), out=tmp_path / "plots")
    assert (found["written"], found["alive_overwrite"], found["alive_tenure"], found["recoverable_tenure"]) == (4, 1, 4, 4)
    assert found["found_tenure"] == 1.0
    assert found["words"] == 2_500
    assert found["by_recording"]["run"]["lives"] == {"1": 4}
    assert (tmp_path / "plots" / "retention-run.svg").read_text(encoding="utf-8").startswith("<svg")


def test_every_figure_says_what_it_is(tmp_path: Path) -> None:
    bench = BENCHES["retention"]
    found = bench.run(Asked(data=forgetful(tmp_path / "run.jsonl")))
    inner = {name for name in found["by_recording"]["run"] if not name.endswith("_by_step")}
    assert set(found) | inner <= set(bench.figures)


def test_an_item_that_is_reworded_or_counted_anew_stays_one(tmp_path: Path) -> None:
    name, example = ITEMS[0]
    sheets = [
        [item(name, example)],
        [item("Gear ratio (Reference: Q1, Q2)", example, 2)],
        [item(name, "Divide the teeth of the driven gear by those of the driver.")],
        [item("Gear ratio in trains (Reference: Q1)", example), item(*ITEMS[1])],
    ]
    steps = read_recording(write(tmp_path / "run.jsonl", sheets))
    items = follow(steps)
    assert [(one.first, one.last, one.seen, len(one.texts)) for one in items] == [(0, 2, 3, 2), (3, 3, 1, 1), (3, 3, 1, 1)]
    assert "Reference" not in items[0].present.text
    assert "Count" not in items[0].present.text


def test_an_earlier_wording_that_the_store_lost_is_told(tmp_path: Path) -> None:
    name, example = ITEMS[0]
    steps = read_recording(write(tmp_path / "run.jsonl", [[item(name, example)], [item(name, f"{example} Check it.")]]))
    items = follow(steps)
    with open_trial() as book:
        _, versions = replay(book, steps, items)
        assert recoverable(book, items, versions) == 1
        assert recoverable(book, items, versions[1:]) == 0
        book.apply([Retire(item_id(0))])
        assert recoverable(book, items, versions) == 0


def test_an_item_stands_in_a_prompt_only_whole() -> None:
    one = items_of(item("Name", "first line\nsecond line"))[0]
    assert stands(one, "- [a] Name\n  | first line\n  | second line\n")
    assert not stands(one, "- [a] Name\n  | first line\n")
    assert not stands(one, "- [a] Name\n  | first line\n  | second lines\n")


@given(st.text(max_size=200))
def test_any_sheet_is_cut_into_items(text: str) -> None:
    assert all(one.text.strip() for one in items_of(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{not json}\n", "line 1"),
        ('{"question": "q"}\n', "'sheet'"),
        ('{"question": "q", "sheet": "nothing"}\n', "no <memory_item>"),
        ("[1]\n", "an object is expected"),
    ],
)
def test_a_file_that_is_no_recording_is_named_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableInput, match=said):
        read_recordings(path)


def test_a_folder_without_recordings_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no \.jsonl file"):
        read_recordings(tmp_path)
