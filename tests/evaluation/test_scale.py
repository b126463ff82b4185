"""Bench `scale`: it measures what it says, at sizes that a test can wait for."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tenure.evaluation.benches import BENCHES, Asked
from tenure.evaluation.plots import MARGIN, WIDTH, log_plot
from tenure.evaluation.scale import Texts

FIGURES = {"apply_ms", "context_ms", "render_ms", "dedup_ms", "refine_s", "open_ms"}


def test_every_figure_is_there_for_every_size_with_a_plot(tmp_path: Path) -> None:
    found = BENCHES["scale"].run(Asked(sizes=(60, 120), out=tmp_path / "plots"))
    assert found.keys() >= {"bare_commit_ms", "peak_mb", "sizes", "load"}
    assert set(found["sizes"]) == {"60", "120"}
    for size in found["sizes"].values():
        assert size.keys() >= FIGURES
        assert all(size[figure] > 0 for figure in FIGURES)
    assert found["vectors"]["lessons"] == 120
    assert found["vectors"]["held_mb"] == round(120 * 512 * 4 / 1e6, 1)
    drawn = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert [f"scale-{name}.svg" for name in ("apply", "context", "dedup", "open", "peak", "refine", "render")] == drawn


def test_a_plot_is_well_formed_whatever_its_title() -> None:
    for points in ([(10.0, 1.0)], [(1_000.0, 0.2), (100_000.0, 250.0)]):
        root = ElementTree.fromstring(log_plot("a < b & c", "lessons", points))
        assert root.tag.endswith("svg")


def test_a_plot_tells_large_values_whole_and_keeps_points_off_the_frame() -> None:
    root = ElementTree.fromstring(log_plot("refine (s)", "lessons", [(1_000.0, 0.1234), (100_000.0, 1234.5)]))
    said = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "1,234" in said
    assert "0.123" in said
    centres = [float(element.attrib["cx"]) for element in root.iter() if element.tag.endswith("circle")]
    assert centres[0] > MARGIN + 20
    assert centres[-1] < WIDTH - MARGIN - 20


def test_made_lessons_are_the_same_for_the_same_dice_and_mostly_differ() -> None:
    first, again = (Texts(random.Random(1)) for _ in range(2))
    some = [first.lesson() for _ in range(300)]
    assert some == [again.lesson() for _ in range(300)]
    assert len(set(some)) > 290


def test_a_single_size_is_not_plotted_and_the_result_says_why(tmp_path: Path) -> None:
    found = BENCHES["scale"].run(Asked(sizes=(40,), out=tmp_path / "plots"))
    assert (found["plots"], "two sizes or more" in found["note"]) == ([], True)
    assert not (tmp_path / "plots").exists()
