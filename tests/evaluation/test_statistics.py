"""Intervals and tests against published values, and their laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.evaluation.harness.statistics import interval, mcnemar, paired, sign_flips, t_below, t_quantile


@pytest.mark.parametrize(
    ("share", "freedom", "value"),
    # Tables of Student's t, such as NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
    [(0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 4, 2.776), (0.975, 9, 2.262), (0.975, 30, 2.042), (0.95, 7, 1.895), (0.995, 5, 4.032)],
)
def test_quantiles_of_t_are_those_of_the_tables(share: float, freedom: int, value: float) -> None:
    assert t_quantile(share, freedom) == pytest.approx(value, abs=6e-4)


@given(st.floats(-30, 30), st.integers(1, 200))
def test_t_is_symmetric_and_a_probability(value: float, freedom: int) -> None:
    assert 0 <= t_below(value, freedom) <= 1
    assert t_below(value, freedom) + t_below(-value, freedom) == pytest.approx(1, abs=1e-9)


def test_the_interval_of_five_values_is_the_one_worked_out_by_hand() -> None:
    found = interval([0.40, 0.42, 0.44, 0.46, 0.48])  # mean 0.44, spread 0.0316228, half = 2.776445 * 0.0316228 / sqrt(5)
    assert found.mean == pytest.approx(0.44)
    assert found.high == pytest.approx(0.44 + 0.039265, abs=1e-5)
    assert found.low == pytest.approx(0.44 - 0.039265, abs=1e-5)


def test_one_value_has_no_interval() -> None:
    assert interval([0.5]).low is None


def test_mcnemar_gives_the_probability_of_the_recorded_cheat_sheets() -> None:
    assert mcnemar(16, 5) == pytest.approx(0.0266, abs=5e-5)
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(5, 5) == 1.0


def test_sign_flips_of_five_equal_signs_are_as_rare_as_can_be() -> None:
    assert sign_flips([0.1, 0.2, 0.1, 0.3, 0.2]) == 2 / 2**5


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_sign_flips_do_not_depend_on_the_side(differences: list[float]) -> None:
    assert sign_flips(differences) == pytest.approx(sign_flips([-one for one in differences]))


def test_drawn_sign_flips_agree_with_the_exact_ones() -> None:
    differences = [0.1, -0.05, 0.2, 0.07, -0.02, 0.11, 0.03, 0.09, -0.08, 0.12, 0.01, 0.04, 0.05, -0.03]
    assert sign_flips([*differences, 0.0], seed=1) == pytest.approx(sign_flips(differences), abs=0.015)


def test_the_paired_test_is_the_one_of_the_textbook() -> None:
    found = paired([0.1, 0.2, 0.3, 0.4], [0.0, 0.15, 0.2, 0.35])  # t = 5.196 on 3 degrees of freedom
    assert found.difference.mean == pytest.approx(0.075)
    assert found.p_t == pytest.approx(0.01385, abs=5e-5)
    assert found.p_flips == 2 / 2**4
