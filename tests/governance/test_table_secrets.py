"""A column named for a secret holds secrets; other columns, other tables and prose stay."""

from __future__ import annotations

import pytest

from tenure.governance.redaction import redact
from tests.timing import assert_growth, seconds

TABLES = (
    "| user | password |\n|------|----------|\n| ana | Kx82!plumb |\n| bo | tr0ub4dor |",
    "user,password\nana,Kx82!plumb\nbo,tr0ub4dor\n",
    "user\tpassword\nana\tKx82!plumb\nbo\ttr0ub4dor",
    " user | password \n------+----------\n ana  | Kx82!plumb\n bo   | tr0ub4dor\n",
)


@pytest.mark.parametrize("table", TABLES)
def test_values_below_the_name_of_a_secret_go_and_the_rest_stays(table: str) -> None:
    clean = redact(table).text
    assert "Kx82" not in clean
    assert "tr0ub4dor" not in clean
    assert "ana" in clean
    assert "bo" in clean
    assert redact(clean).text == clean


@pytest.mark.parametrize(
    "text",
    [
        "user,password_policy\nana,strict2024\n",
        "max_tokens,next_page_token\n4096,abc123def456\n",
        "Enter a name, a password\nand a number, abc1234567\n",
        "| key | value |\n|-----|-------|\n| retries | 5a7b9c1d |",
        "user,password\nana\nKx82 is a street, number 9\n",
        "user,password",
    ],
)
def test_what_is_no_table_of_secrets_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("unit", ["|password|token|\n", "a,password\n", "secret,secret\n", "u:p@tcp(", "password\tx\n"])
def test_time_grows_with_length_only(unit: str) -> None:
    def taken(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        return seconds(lambda: redact(text))

    assert_growth(taken, 40_000, 160_000, at_most=10)
