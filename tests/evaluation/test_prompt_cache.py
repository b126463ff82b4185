"""Bench `prompt-cache`: what a growing playbook's prompts share, in a small made one and in the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenure.errors import UserError
from tenure.evaluation.prompt_cache import Reuse, run_prompt_cache

KEYS = {"steps", "reuse_mean", "reuse_sectioned", "rebuilds", "generations", "tail_share_max", "dead_share_max"}


def made(path: Path, lessons: int = 60) -> Path:
    lines = [f"## SECTION {number}" for number in range(3)]
    for number in range(lessons):
        place = next(at for at, line in enumerate(lines) if line == f"## SECTION {number % 3}") + 1
        lines.insert(place, f"[sec-{number:05}] Before step {number}, read the manual of part {number} and note what it says of limits.")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_stable_prompt_reuses_more_than_a_sectioned_one_and_keeps_its_tail_short(tmp_path: Path) -> None:
    found = run_prompt_cache(made(tmp_path / "book.txt"))
    assert found.keys() >= KEYS
    assert found["steps"] == 60
    assert found["reuse_mean"] > 0.9 > 2 * found["reuse_sectioned"]
    assert found["tail_share_max"] <= 0.25
    assert 5 <= found["generations"] <= found["rebuilds"] <= 30


def test_each_lesson_costs_one_reading_when_it_is_new_and_one_more_when_its_generation_is_closed(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tenure.evaluation.prompt_cache.UPDATES", 0.0)
    monkeypatch.setattr("tenure.evaluation.prompt_cache.RETIREMENTS", 0.0)
    lessons = 80
    found = run_prompt_cache(made(tmp_path / "book.txt", lessons))
    assert 1 - 4.4 / lessons <= found["reuse_mean"] <= 1 - 2 / lessons


def test_the_same_seed_gives_the_same_figures(tmp_path: Path) -> None:
    path = made(tmp_path / "book.txt", 20)
    first, again = run_prompt_cache(path, seed=3), run_prompt_cache(path, seed=3)
    assert {key: first[key] for key in KEYS} == {key: again[key] for key in KEYS}


def test_a_file_without_lessons_is_an_error_that_says_what_next(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("nothing here\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"[Nn]o lesson"):
        run_prompt_cache(path)


def test_reuse_counts_from_the_start_on_and_only_whole_lines() -> None:
    reuse = Reuse()
    for prompt in ("one\ntwo\n", "one\ntwo\nthree\n", "one\n2\nthree\n"):
        reuse.send(prompt)
    assert 0 < reuse.share < 0.6
    assert reuse.sent > 0


def test_the_real_playbook_reaches_what_is_asked(shared_data: Path) -> None:
    path = shared_data / "playbooks" / "appworld_online_trained_playbook.txt"
    if not path.exists():
        pytest.skip(f"needs {path.name}")
    found = run_prompt_cache(path)
    assert found["steps"] == 359
    assert found["reuse_mean"] >= 0.985
    assert found["tail_share_max"] <= 0.25
    assert found["reuse_sectioned"] < 0.4
