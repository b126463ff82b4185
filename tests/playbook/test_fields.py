"""Fields of cases: read as they stand, and weighed by what they foretell."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.fields import MOST_FIELDS, Shapes, clauses, clauses_of, fields_of, holds
from tenure.roles.narrow import SURE

names = st.sampled_from(["country", "sort", "line.item", "f0", "vat_rate"])
values = st.sampled_from(["DE", "7%", "two words", "v-1", "汇率", "0.5"])


@given(st.dictionaries(names, values, min_size=1))
def test_what_is_written_as_conditions_is_read_back(fields: dict[str, str]) -> None:
    written = clauses(fields, sorted(fields))
    assert dict(clauses_of(written)) == fields
    assert holds(clauses_of(written), fields)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("country=DE, sort=books", {"country": "DE", "sort": "books"}),
        ("country: DE\nsort: books", {"country": "DE", "sort": "books"}),
        ('{"country": "DE", "sort": "two words"}', {"country": "DE", "sort": "two words"}),
        ("reconcile invoice 7 of ACME", {}),
        ("see https://example.org/a=b", {}),
        ("", {}),
        (", ".join(f"f{number}=v" for number in range(MOST_FIELDS + 1)), {}),
    ],
)
def test_fields_are_read_off_a_task(text: str, found: dict[str, str]) -> None:
    assert dict(fields_of(text)) == found


@pytest.mark.parametrize(
    "conditions", ["the invoice has lines in several currencies", "country=DE unless sort=wine", "country=DE country=AT", "x"]
)
def test_conditions_that_say_more_than_fields_are_not_taken_for_fields(conditions: str) -> None:
    assert dict(clauses_of(conditions)) == {}


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert len(fields_of(text)) <= MOST_FIELDS
    assert isinstance(dict(clauses_of(text)), dict)


def taught(decides: tuple[str, ...], cases: int, noise: float = 0.0, seed: int = 0) -> Shapes:
    drawn, shapes = Random(f"fields {decides} {seed}"), Shapes()
    rule: dict[tuple[str, ...], str] = {}
    for _ in range(cases):
        fields = {name: f"v{drawn.randrange(4)}" for name in ("a", "b", "c", "d")}
        answer = rule.setdefault(tuple(fields[name] for name in decides), f"x{drawn.randrange(5)}")
        shapes.add(fields, f"x{drawn.randrange(5)}" if drawn.random() < noise else answer)
    return shapes


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("decides", [("a",), ("b", "d"), ("a", "b", "c")])
def test_the_fields_that_decide_are_found(decides: tuple[str, ...], noise: float) -> None:
    shape, weight = taught(decides, 600, noise).best({"a": "v1", "b": "v2", "c": "v0", "d": "v3"})
    assert shape == decides
    assert weight > 0.9


@pytest.mark.parametrize("seed", range(8))
def test_where_answers_are_chance_no_field_is_said_to_decide(seed: int) -> None:
    drawn, shapes = Random(f"chance {seed}"), Shapes()
    for _ in range(300):
        shapes.add({name: f"v{drawn.randrange(3)}" for name in ("a", "b", "c")}, f"x{drawn.randrange(4)}")
    assert shapes.best({"a": "v0", "b": "v0", "c": "v0"})[1] < SURE


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), max_size=25))
def test_what_is_foretold_is_a_distribution(cases: list[tuple[int, int, int]]) -> None:
    shapes = Shapes()
    for one, other, answer in cases:
        shapes.add({"a": str(one), "b": str(other)}, str(answer))
    asked = {"a": "0", "b": "1"}
    assert sum(shapes.weights(asked).values()) == pytest.approx(1.0)
    foretold = shapes.foretell(asked)
    assert sum(foretold.values()) == pytest.approx(1.0 if cases else 0.0, abs=1e-3)
