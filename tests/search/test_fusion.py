"""One order from keywords, identifiers, vectors and neighbours."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.fusion import NEAR, RELATED_WEIGHT, VECTOR_WEIGHT, Candidate, fuse, rarities, related, shares

WEIGHTS = {"rate": 2.0, "invoice": 1.0, "unknown": 3.0}
CANDIDATES = st.lists(
    st.builds(
        lambda n, group, place, counts, marks, cosine: (n, group, place, counts, marks, cosine),
        st.integers(0, 99),
        st.sampled_from(["", "a", "b"]),
        st.integers(0, 5),
        st.dictionaries(st.sampled_from(["rate", "invoice", "other"]), st.floats(0, 5), max_size=3),
        st.integers(0, 2),
        st.none() | st.floats(-1, 1),
    ),
    max_size=8,
    unique_by=(lambda made: made[0], lambda made: (made[1], made[2])),
).map(
    lambda made: [
        Candidate(key=f"k{n}", group=group, place=place, counts=counts, length=10, identifiers=marks, cosine=cosine)
        for n, group, place, counts, marks, cosine in made
    ]
)


@given(CANDIDATES, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_how_candidates_come(candidates: list[Candidate], smooth: bool, dice: random.Random) -> None:
    shuffled = list(candidates)
    dice.shuffle(shuffled)
    one = fuse(candidates, WEIGHTS, mean_length=8, smooth=smooth)
    assert one == fuse(shuffled, WEIGHTS, mean_length=8, smooth=smooth)


@given(CANDIDATES, st.booleans())
def test_more_identifiers_always_come_first(candidates: list[Candidate], smooth: bool) -> None:
    marks = {one.key: one.identifiers for one in candidates}
    found = [marks[one.key] for one in fuse(candidates, WEIGHTS, mean_length=8, smooth=smooth)]
    assert found == sorted(found, reverse=True)


@given(CANDIDATES)
def test_a_share_is_below_one_and_every_score_above_zero(candidates: list[Candidate]) -> None:
    assert all(sum(shares(one, WEIGHTS, 8).values()) < 1 for one in candidates)
    assert all(one.score > 0 for one in fuse(candidates, WEIGHTS, mean_length=8, smooth=True))


@given(CANDIDATES)
def test_without_smoothing_neighbours_change_nothing(candidates: list[Candidate]) -> None:
    alone = [Candidate(key=one.key, counts=one.counts, length=10, identifiers=one.identifiers) for one in candidates]
    plain = [
        Candidate(key=one.key, group=one.group, place=one.place, counts=one.counts, length=10, identifiers=one.identifiers)
        for one in candidates
    ]
    scores = {one.key: one.score for one in fuse(alone, WEIGHTS, mean_length=8, smooth=True)}
    assert scores == {one.key: one.score for one in fuse(plain, WEIGHTS, mean_length=8, smooth=False)}


def test_a_neighbour_lends_a_share_and_another_group_none() -> None:
    holder = Candidate(key="h", group="a", place=3, counts={"rate": 1.0}, length=10)
    beside = Candidate(key="n", group="a", place=4, length=10)
    elsewhere = Candidate(key="e", group="b", place=3, length=10)
    found = {one.key: one for one in fuse([holder, beside, elsewhere], WEIGHTS, mean_length=10, smooth=True)}
    assert list(found) == ["h", "n"]
    assert found["n"].neighbours >= NEAR * found["h"].words > 0


def test_one_unimportant_word_leaves_the_decision_to_the_vectors() -> None:
    weights = {"common": 0.1, "rare": 5.0, "rarer": 6.0}
    near = Candidate(key="near", length=10, cosine=0.9)
    shared = Candidate(key="shared", counts={"common": 1.0}, length=10, cosine=0.1)
    assert [one.key for one in fuse([shared, near], weights, mean_length=10, smooth=False)] == ["near", "shared"]


def test_a_vector_never_outweighs_a_text_that_answers_the_question_word_for_word() -> None:
    answering = Candidate(key="words", counts={"rate": 3.0, "invoice": 3.0}, length=10, cosine=-0.2)
    near = Candidate(key="near", length=10, cosine=0.9)
    weights = {"rate": 2.0, "invoice": 1.0}
    assert fuse([near, answering], weights, mean_length=10, smooth=False)[0].key == "words"


def test_cosines_that_do_not_differ_stay_what_they_are() -> None:
    both = [Candidate(key=key, length=10, cosine=0.4) for key in "ab"]
    assert [one.vectors for one in fuse(both, WEIGHTS, mean_length=10, smooth=False)] == [pytest.approx(VECTOR_WEIGHT * 0.4)] * 2
    assert fuse([Candidate(key="a", length=10, cosine=-0.4)], WEIGHTS, mean_length=10, smooth=False) == []


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 50), max_size=5), st.integers(0, 50))
def test_the_rarer_a_word_the_more_it_weighs(held_by: dict[str, int], total: int) -> None:
    weights = rarities(held_by, total)
    assert all(weight > 0 for weight in weights.values())
    known = sorted((count, -weights[word]) for word, count in held_by.items() if count <= total)
    assert all(one[0] == other[0] or one[1] < other[1] for one, other in pairwise(known))


def test_the_score_of_one_word_is_its_saturated_share() -> None:
    (only,) = fuse([Candidate(key="k", counts={"rate": 1.0}, length=10)], {"rate": 2.0}, mean_length=10, smooth=False)
    assert only.score == pytest.approx(1 / 2.2)


TEXTS = st.lists(
    st.tuples(st.floats(0.01, 2), st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 5), max_size=6), st.floats(0, 30)), max_size=6
)


@given(TEXTS, st.dictionaries(st.sampled_from("abcd"), st.floats(0.1, 5)), st.integers(0, 6))
def test_related_words_are_some_of_those_offered_and_the_weightiest(
    texts: list[tuple[float, dict[str, int], float]], rarity: dict[str, float], most: int
) -> None:
    found = related(texts, rarity, mean_length=8, most=most)
    every = related(texts, rarity, mean_length=8, most=99)
    assert found.keys() <= rarity.keys()
    assert list(found) == list(every)[:most]
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert all(weight > 0 for weight in found.values())


def test_what_the_better_text_says_more_often_is_more_related() -> None:
    texts = [(1.0, {"harbour": 3.0, "mast": 1.0}, 8.0), (0.2, {"oven": 3.0}, 8.0)]
    assert list(related(texts, {"harbour": 1.0, "mast": 1.0, "oven": 1.0}, mean_length=8)) == ["harbour", "mast", "oven"]


@given(CANDIDATES, st.booleans())
def test_related_words_only_add(candidates: list[Candidate], smooth: bool) -> None:
    plain = {one.key: one.score for one in fuse(candidates, WEIGHTS, mean_length=8, smooth=smooth)}
    wide = {one.key: one for one in fuse(candidates, WEIGHTS, mean_length=8, smooth=smooth, related_weights={"other": 1.0})}
    assert all(wide[key].score >= score - 1e-9 for key, score in plain.items())
    assert all(0 <= one.related < RELATED_WEIGHT for one in wide.values())
