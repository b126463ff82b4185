"""The harness: same stream for all arms, records that can be gone on from, figures that follow from samples."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tenure import UserError
from tenure.evaluation.arms.listed import ARMS
from tenure.evaluation.harness import runner
from tenure.evaluation.harness.comparison import compare
from tenure.evaluation.harness.metrics import by_parts, figures, gain, mean_score
from tenure.evaluation.harness.ports import Item, Kit, Observation, Query
from tenure.evaluation.harness.recording import JobRecord, RecordedModel, read_job
from tenure.evaluation.harness.sample import Sample, Scored, Unscorable
from tenure.evaluation.tasks.finer import Finer
from tenure.evaluation.tasks.voting import VotingAgent
from tenure.evaluation.writer import TransparentWriter
from tenure.ports import Prompt
from tenure.providers.scripted import ScriptedModel
from tests.evaluation.finer_questions import write_questions

KEYLESS = [name for name, one in ARMS.items() if one.make is not None and not one.epochs]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_questions(tmp_path_factory.mktemp("finer") / "questions.jsonl")


def sample(place: int, score: float | None, alone: float = 0.0) -> Sample:
    scored = Unscorable("no answer") if score is None else Scored(score)
    return Sample(id=str(place), index=place, score=scored, alone=Scored(alone), tokens=10, cached=4, memory=place)


# -- figures --------------------------------------------------------------------------------------


def test_what_could_not_be_scored_is_counted_and_in_no_mean() -> None:
    order = [sample(0, 1.0), sample(1, None), sample(2, 0.0)]
    assert mean_score(order) == 0.5
    assert figures([order])["unscorable"] == 1
    assert mean_score([sample(0, None)]) is None


def test_gain_is_normalised_by_the_headroom_of_the_reset_arm_after_averaging() -> None:
    order = [sample(0, 1.0, 0.0), sample(1, 1.0, 1.0), sample(2, 0.0, 0.0), sample(3, 1.0, 0.0)]
    assert gain(order) == pytest.approx((0.75 - 0.25) / (1 - 0.25))
    assert gain([sample(0, 1.0, 1.0)]) is None


def test_a_cache_that_no_provider_tells_of_is_unknown_and_what_models_wrote_is_not_read() -> None:
    told = Sample(id="1", index=0, score=Scored(1.0), alone=Scored(0.0), tokens=120, written=20, cached=50, calls=1, usd=0.25)
    assert figures([[told]])["cached_share"] == 0.5
    silent = Sample(id="1", index=0, score=Scored(1.0), alone=Scored(0.0), tokens=120, written=20, calls=1, usd=None)
    assert figures([[silent]])["cached_share"] is None
    assert figures([[told, silent]])["usd"] is None  # one price that is not known leaves the sum unknown
    assert figures([[sample(0, 1.0)]])["cached_share"] == 0.4
    assert (figures([[told, told]])["usd"], figures([[told, told]])["calls"]) == (0.5, 2.0)


def test_a_comparison_gives_every_figure_of_an_arm(questions: Path) -> None:
    found = compare("finer", data=questions, arms=["none", "similar-cases"], orders=3, options={"instances": 24}, workers=1)["arms"]
    told = {"score", "score_low", "score_high", "score_by_quarter", "gain", "gain_low", "gain_high", "tokens", "seconds"}
    assert told | {"rollouts", "calls", "usd", "cached_share"} <= found["similar-cases"].keys()
    assert found["none"] | {"seconds": 0} == found["none"] | {
        "gain": 0,
        "tokens": 0,
        "calls": 0,
        "usd": 0,
        "cached_share": None,
        "seconds": 0,
    }
    assert found["similar-cases"]["rollouts"] == 24
    assert found["similar-cases"]["score_low"] <= found["similar-cases"]["score"] <= found["similar-cases"]["score_high"]


def test_quarters_are_in_the_order_of_the_stream() -> None:
    assert by_parts([sample(place, float(place >= 4)) for place in range(8)], 4) == [0.0, 0.0, 1.0, 1.0]


def test_a_sample_comes_back_from_its_record_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a-0.jsonl"
    samples = [sample(0, 1.0), sample(1, None)]
    with JobRecord(path, {"task": "t"}) as record:
        for one in samples:
            record.put(one, ["text", "other"])
        record.end()
    assert read_job(path, {"task": "t"}) == samples


# -- records --------------------------------------------------------------------------------------


def test_texts_that_stay_are_recorded_once(tmp_path: Path) -> None:
    path = tmp_path / "a-0.jsonl"
    with JobRecord(path, {}) as record:
        record.put(sample(0, 1.0), ["one"])
        record.put(sample(1, 1.0), ["one", "two"])
        record.put(sample(2, 1.0), ["two"])
        record.end()
    lines = [json.loads(line) for line in path.read_text().splitlines()][1:-1]
    assert [line.get("texts", {}) for line in lines] == [{"0": "one"}, {"1": "two"}, {}]
    assert [(line["memory_kept"], line["memory_then"]) for line in lines] == [(0, [0]), (1, [1]), (0, [1])]


def test_a_record_without_its_end_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "a-0.jsonl"
    with JobRecord(path, {}) as record:
        record.put(sample(0, 1.0), [])
    assert read_job(path, {}) is None
    path.write_text(path.read_text()[:-9])
    assert read_job(path, {}) is None


def test_a_record_of_another_comparison_is_refused_with_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "a-0.jsonl"
    with JobRecord(path, {"noise": 0.1, "seed": 1}) as record:
        record.end()
    with pytest.raises(UserError, match="another noise"):
        read_job(path, {"noise": 0.2, "seed": 1})


def test_replies_on_record_are_not_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    prompts = [Prompt(system="s", user=user, purpose="generate") for user in ("one", "two", "three")]
    first = RecordedModel(ScriptedModel(["1", "2"]), path)
    assert [first.complete(prompt).text for prompt in prompts[:2]] == ["1", "2"]
    with path.open("a") as file:
        file.write('{"key": "cut o')  # as an interrupt leaves it
    again = RecordedModel(ScriptedModel(["3"]), path)
    assert [again.complete(prompt).text for prompt in prompts] == ["1", "2", "3"]
    assert again.usage.calls == 3
    assert len(path.read_text().splitlines()) == 3


def test_a_job_that_goes_another_way_drops_the_replies_it_does_not_reach(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    first = RecordedModel(ScriptedModel(["1", "2"]), path)
    for user in ("one", "two"):
        first.complete(Prompt(system="s", user=user, purpose="generate"))
    other = RecordedModel(ScriptedModel(["new"]), path)
    assert other.complete(Prompt(system="s", user="else", purpose="generate")).text == "new"
    assert len(path.read_text().splitlines()) == 1


# -- the runner -----------------------------------------------------------------------------------


def test_an_interrupted_comparison_goes_on_where_it_stopped(questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"instances": 40}
    whole = compare("finer", data=questions, arms=["none", "similar-cases"], orders=2, options=options, workers=1)
    done: list[str] = []
    real = runner.run_job

    def interrupted(job: runner.Job, **more: object) -> None:
        if len(done) == 3:
            job.path.write_text(json.dumps({"form": 1, "depends": job.depends}) + "\n")  # began, and was cut off
            raise KeyboardInterrupt
        done.append(job.path.name)
        real(job, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "run_job", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare("finer", data=questions, arms=["none", "similar-cases"], orders=2, options=options, out=tmp_path, workers=1)
    again: list[str] = []

    def counted(job: runner.Job, **more: object) -> None:
        again.append(job.path.name)
        real(job, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "run_job", counted)
    (tmp_path / "records" / "similar-cases-1.jsonl").unlink()
    found = compare("finer", data=questions, arms=["none", "similar-cases"], orders=2, options=options, out=tmp_path, workers=1)
    assert again == ["similar-cases-1.jsonl"]
    assert found["arms"]["similar-cases"]["scores"] == whole["arms"]["similar-cases"]["scores"]


def test_a_killed_comparison_does_again_only_what_was_not_done(questions: Path, tmp_path: Path) -> None:
    arms, options = ["none", "similar-cases", "full-history"], {"instances": 200}
    typed = [sys.executable, "-m", "tenure", "bench", "run", "finer", "--data", str(questions), "--arms", ",".join(arms)]
    typed += ["--orders", "3", "--instances", "200", "--workers", "1", "--out", str(tmp_path / "out"), "--json"]
    records = tmp_path / "out" / "records"

    def done() -> dict[str, int]:
        return {
            path.name: path.stat().st_mtime_ns for path in records.glob("*.jsonl") if path.read_text().endswith("}\n") and read_job(path)
        }

    running = subprocess.Popen(typed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while len(done()) < 4 and running.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        running.kill()
        running.wait()
    before = done()
    assert 0 < len(before) < len(arms) * 3, "it was to be killed in the midst"
    again = subprocess.run(typed, capture_output=True, text=True, check=True, timeout=120)
    assert before.items() <= done().items()  # what was done stands as it was
    whole = compare("finer", data=questions, arms=arms, orders=3, options=options, workers=1)
    told = json.loads(again.stdout)["arms"]
    assert {arm: told[arm]["scores"] for arm in arms} == {arm: whole["arms"][arm]["scores"] for arm in arms}


def test_processes_give_what_one_process_gives(questions: Path) -> None:
    options = {"instances": 30, "noise": 0.2}
    one = compare("finer", data=questions, arms=["similar-cases", "ace"], orders=2, options=options, workers=1)
    two = compare("finer", data=questions, arms=["similar-cases", "ace"], orders=2, options=options, workers=2)
    assert [one["arms"][arm]["scores"] for arm in one["arms"]] == [two["arms"][arm]["scores"] for arm in two["arms"]]


def test_arms_that_cannot_run_are_listed_with_the_reason(questions: Path) -> None:
    found = compare("finer", data=questions, arms=["none", "gepa", "ace-offline"], orders=1, options={"instances": 20}, workers=1)
    assert list(found["arms"]) == ["none"]
    assert set(found["skipped"]) == {"gepa", "ace-offline"}
    assert all(found["skipped"].values())


def test_an_offline_arm_learns_from_training_alone(questions: Path) -> None:
    options = {"instances": 60, "train": 100}
    found = compare("finer", data=questions, arms=["none", "ace-offline", "ace-warm"], orders=1, options=options, workers=1)
    first = found["arms"]["ace-offline"]["score_by_quarter"][0]
    assert first > found["arms"]["none"]["score"] + 0.3
    assert found["arms"]["ace-offline"]["alone"] < 0.3, "the reset twin has no training either"


# -- the task and the agent -----------------------------------------------------------------------


def test_every_order_asks_the_same_questions_in_another_sequence(questions: Path) -> None:
    task = Finer(questions)
    first, second = task.stream(0), task.stream(1)
    assert [one.query.id for one in first] != [one.query.id for one in second]
    assert sorted(one.query.id for one in first) == sorted(one.query.id for one in second)
    assert [one.query.index for one in first] == list(range(len(first)))
    assert first == task.stream(0)


def test_noise_changes_the_label_told_and_never_the_truth(questions: Path) -> None:
    clean, loud = Finer(questions), Finer(questions, noise=0.3)
    lies = [one for one in loud.stream(0) if loud.label(one) != one.truth]
    assert [one.truth for one in clean.stream(0)] == [one.truth for one in loud.stream(0)]
    assert 0.2 < len(lies) / len(loud.stream(0)) < 0.4
    assert {one.query.id for one in lies} == {one.query.id for one in loud.stream(1) if loud.label(one) != one.truth}


def test_training_and_stream_share_no_question(questions: Path) -> None:
    task = Finer(questions, train=50)
    assert not {one.query.id for one in task.training(0)} & {one.query.id for one in task.stream(0)}


def test_the_agent_follows_the_vote_of_what_it_is_handed() -> None:
    agent = VotingAgent("seed")
    query = Query(id="1", index=0, prompt="p", text="t", options=("x", "y", "z"))
    items = [Item(text="a", says="x", like=0.5), Item(text="b", says="y", like=0.3), Item(text="c", says="y", like=0.3)]
    found = agent.act(query, items)
    assert (found.answer, found.used) == ("y", (1, 2))
    assert agent.act(query, [Item(text="a", says="x", like=0.9, trust=0.0), items[1]]).answer == "y"
    assert agent.act(query, []).answer in query.options
    assert agent.act(query, []).answer == VotingAgent("seed").act(query, []).answer


# -- arms -----------------------------------------------------------------------------------------


def answered(kit: Kit, name: str, count: int = 12) -> Sequence[str | None]:
    """What an arm answers to a stream in which the colour decides."""
    make = ARMS[name].make
    assert make is not None
    arm = make(kit)
    found: list[str | None] = []
    for place in range(count):
        said = "crimson apple basket" if place % 2 else "yellow banana crate"
        query = Query(id=str(place), index=place, prompt=f"which? {said}", text=said, options=("red", "gold"))
        response = arm.respond(query)
        found.append(response.answer)
        label = "red" if place % 2 else "gold"
        arm.observe(Observation(text=f"it is {label}", label=label, score=float(response.answer == label)))
    return found


@pytest.mark.parametrize("name", [name for name in KEYLESS if name not in ("none", "tenure-no-reflector") and "unlabelled" not in name])
def test_every_arm_learns_what_two_kinds_of_input_are(name: str) -> None:
    kit = Kit(agent=VotingAgent("s"), writer=TransparentWriter())
    assert answered(kit, name)[6:] == ["gold", "red"] * 3


@pytest.mark.parametrize("name", KEYLESS)
def test_a_reset_arm_answers_as_one_that_was_just_made(name: str) -> None:
    make = ARMS[name].make
    assert make is not None
    kit = Kit(agent=VotingAgent("s"), writer=TransparentWriter())
    arm = make(kit)
    query = Query(id="q", index=0, prompt="which? crimson", text="crimson", options=("red", "gold", "blue"))
    fresh = arm.respond(query)
    arm.observe(Observation(text="it is gold", label="gold", score=0.0))
    arm.reset()
    assert arm.respond(query).answer == fresh.answer


def test_an_unlabelled_arm_writes_down_its_own_answer() -> None:
    kit = Kit(agent=VotingAgent("s"), writer=TransparentWriter())
    make = ARMS["ace-unlabelled"].make
    assert make is not None
    arm = make(kit)
    query = Query(id="q", index=0, prompt="which? crimson", text="crimson apple basket", options=("red", "gold", "blue"))
    said = arm.respond(query).answer
    arm.observe(Observation(text="", label="none of them", score=0.0))
    assert arm.respond(query).answer == said
