"""Benchmarks run, at small sizes: one that only runs before a release is broken by then."""

from __future__ import annotations

import math

import pytest

from benchmarks.run import as_markdown, benchmarks, conditions, load


@pytest.mark.parametrize("name", benchmarks())
def test_every_benchmark_gives_figures_and_says_what_they_are(name: str) -> None:
    module = load(benchmarks()[name])
    figures = module.measure(full=False)
    assert figures
    assert all(math.isfinite(value) for value in figures.values() if isinstance(value, float))
    assert (module.__doc__ or "").strip() in as_markdown(name, module, figures, conditions(name, module, full=False))
