"""One attacker has one vote, whatever the number of records and names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import UserError
from tenure.evaluation.benches import BENCHES, Asked
from tenure.evaluation.poison import read_entities, run_poison
from tenure.playbook.origins import elect, one_vote_each, votes_among
from tenure.playbook.run import Origin

ORIGINS = st.one_of(
    st.none(),
    st.builds(
        Origin,
        principal=st.sampled_from(["ann", "mallory"]),
        channel=st.sampled_from(["api", "web"]),
        document=st.sampled_from(["", "a", "b"]),
        trusted=st.booleans(),
    ),
)


@given(st.lists(ORIGINS, max_size=12))
def test_trusted_hits_all_vote_and_an_untrusted_origin_once(origins: list[Origin | None]) -> None:
    hits = list(enumerate(origins))
    kept = list(one_vote_each(hits, lambda hit: hit[1]))
    assert kept == sorted(kept, key=lambda hit: hit[0])
    assert {place for place, one in hits if one is not None and one.trusted} <= {place for place, _ in kept}
    roots = [(one.principal, one.channel) if one is not None else None for _, one in kept if one is None or not one.trusted]
    assert len(roots) == len(set(roots))
    left = one_vote_each(hits, lambda hit: hit[1], revoked=[("mallory", "web")])
    assert all(one is None or (one.principal, one.channel) != ("mallory", "web") for _, one in left)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=9))
def test_the_most_votes_win_trusted_ones_first_and_the_earliest_of_equals(votes: list[tuple[str, bool]]) -> None:
    chosen = elect(votes)
    ours = [answer for answer, trusted in votes if trusted]
    theirs = [answer for answer, trusted in votes if not trusted]
    assert bool(chosen) is bool(votes)
    if ours and max(map(theirs.count, theirs), default=0) < 2:
        assert chosen == max(dict.fromkeys(ours), key=ours.count)
    if not ours and theirs:
        assert chosen == max(dict.fromkeys(theirs), key=theirs.count)


@given(st.lists(st.tuples(st.sampled_from("abc"), ORIGINS), max_size=12), st.integers(0, 12), st.sampled_from("abc"))
def test_one_untrusted_origin_changes_no_answer_that_trusted_ones_give(
    hits: list[tuple[str, Origin | None]], place: int, said: str
) -> None:
    trusted = [hit for hit in hits if hit[1] is not None and hit[1].trusted]
    one = Origin(principal="eve", channel="mail", trusted=False)
    with_one = [*trusted[:place], *[(said, one)] * 5, *trusted[place:]]

    def answer(some: list[tuple[str, Origin | None]]) -> str:
        votes, _ = votes_among(some, lambda hit: hit[1], trusted=3)
        return elect([(tag, origin is not None and origin.trusted) for tag, origin in votes])

    if trusted:
        assert answer(with_one) == answer(list(trusted))


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Entities of two tags, each told by its words, a few of them blurred."""
    path = tmp_path / "finer.jsonl"
    lines = []
    for place in range(60):
        tag, words = (
            ("Debt", "the notes bear interest at a rate of") if place % 3 else ("Shares", "the board granted options over shares of")
        )
        text = f'1. What is best tag for entity "{place}.5" in sentence: "In year w{place % 7} {words} {place}.5 % of x{place % 5} .?"'
        lines.append(json.dumps({"context": f"Options: Debt,Shares.\n{text}\nOutput US GAAP tags:", "target": tag}))
    path.write_text("\n".join([*lines, "not json", "{}"]), encoding="utf-8")
    return path


@pytest.mark.parametrize("names", [1, 20])
def test_a_flood_of_records_counts_as_one(questions: Path, names: int) -> None:
    found = run_poison(questions, records=100, names=names)
    assert found["hijack_undefended"] > 0.9
    assert found["hijack_poisoned"] == found["hijack_clean"]
    assert found["accuracy_poisoned"] == found["accuracy_clean"] == found["accuracy_after_revoke"] == 1.0
    assert found["hijack_after_revoke"] == found["hijack_clean"]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("target", [0, 1])
def test_after_the_origin_is_revoked_all_figures_are_those_without_it(questions: Path, seed: int, target: int) -> None:
    found = run_poison(questions, records=40, names=3, seed=seed, target=target)
    for figure in ("accuracy", "hijack"):
        assert found[f"{figure}_after_revoke"] == found[f"{figure}_clean"]


def test_figures_are_those_the_bench_names(questions: Path) -> None:
    found = BENCHES["poison"].run(Asked(data=questions, params={"records": "3"}))
    assert set(found) == set(BENCHES["poison"].figures)
    assert (found["records"], found["names"], found["kept"] + found["asked"]) == (3, 1, 60)


def test_what_is_no_question_is_left_out_and_a_file_of_others_refused(questions: Path, tmp_path: Path) -> None:
    assert len(read_entities(questions)) == 60
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(UserError, match="0 entities"):
        read_entities(tmp_path / "other.jsonl")
