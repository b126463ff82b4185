"""The recall benches on small made data, and their targets on the real files where those are at hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tenure.errors import EmbeddingFailed, UserError
from tenure.evaluation.benches import BENCHES
from tenure.evaluation.recall_locomo import run_recall_locomo
from tenure.evaluation.recall_memaware import read_sessions, run_recall_memaware

LOCOMO = [
    {
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a greyhound from the shelter."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Lovely! What is she called?"},
                {"speaker": "Ann", "dia_id": "D1:3", "text": "Pepper.", "blip_caption": "a photo of a dog on a sofa"},
                *({"speaker": "Ben", "dia_id": f"D1:{n}", "text": f"Small talk number {n} about the weather."} for n in range(4, 30)),
            ],
        },
        "qa": [
            {"question": "What did Ann adopt from the shelter?", "answer": "greyhound", "evidence": ["D1:1"], "category": 4},
            {"question": "Which photo shows the sofa?", "answer": "dog", "evidence": ["D1:3; D1:1"], "category": 1},
            {"question": "Does Ben own a yacht?", "evidence": ["D1:2"], "category": 5},
            {"question": "What is life?", "answer": "42", "evidence": [], "category": 3},
            {"question": "What is a volcano?", "answer": "no", "evidence": ["D9:9"], "category": 2},
        ],
    }
]
DAY = """# 2023-05-20

## Session answer_secret_1
Session Date: 2023-05-20

User: I just bought a tennis racket downtown for 120 dollars.
Assistant: Congratulations!

User: is not the start of a turn here, because
it goes on in the next line.
Assistant: I see.

## Session other_2
Session Date: 2023-05-20

User: How do I water orchids?
Assistant: Once a week, from below.
"""
QUESTIONS = [
    {"question": "What did my racket cost?", "answer": "120", "answer_session_ids": ["answer_secret_1"], "difficulty": "easy"},
    {"question": "Which volcano erupted?", "answer": "none was named", "answer_session_ids": ["gone"], "difficulty": "hard"},
    {"question": "secret answer_secret_1", "answer": "secret", "answer_session_ids": ["answer_secret_1"], "difficulty": "medium"},
]


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture
def memaware(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "sessions").mkdir()
    write(tmp_path / "sessions" / "2023-05-20.md", DAY)
    write(tmp_path / "sessions" / "_mapping.json", {})
    return tmp_path / "sessions", write(tmp_path / "questions.json", QUESTIONS)


def test_only_answerable_questions_with_known_evidence_are_asked(tmp_path: Path) -> None:
    found = run_recall_locomo(write(tmp_path / "l.json", LOCOMO))
    assert (found["questions"], found["left_out"], found["turns"]) == (2, 2, 29)
    assert found.keys() >= {"questions", "recall_at_5", "recall_at_10", "mrr", "p50_ms"}
    assert found["by_category"].keys() == {"multi-hop", "single-hop"}


def test_recall_counts_each_evidence_turn_and_mrr_the_first(tmp_path: Path) -> None:
    found = run_recall_locomo(write(tmp_path / "l.json", LOCOMO))
    assert (found["recall_at_5"], found["recall_at_10"], found["mrr"]) == (1.0, 1.0, 1.0)
    elsewhere = json.loads(json.dumps(LOCOMO))
    elsewhere[0]["qa"][0]["evidence"] = ["D1:1", "D1:29"]
    assert run_recall_locomo(write(tmp_path / "l.json", elsewhere))["recall_at_10"] == 0.75


def test_a_failing_embedder_is_stated_in_the_result(tmp_path: Path) -> None:
    class Down:
        name, dimension = "down", 3

        def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float] | None]:
            raise EmbeddingFailed(self.name, "no server")

    found = run_recall_locomo(write(tmp_path / "l.json", LOCOMO), embedder=Down())
    assert (found["embedder"], found["recall_at_10"]) == ("down", 1.0)
    assert "no server" in found["note"]


def test_ids_and_headings_of_sessions_are_neither_indexed_nor_shown(memaware: tuple[Path, Path]) -> None:
    found = run_recall_memaware(*memaware)
    assert found["by_tier"]["medium"]["hit_10k"] == 0.0
    assert found["by_tier"]["medium"]["string_10k"] == 0.0


def test_a_whole_user_turn_of_the_answers_session_is_a_hit(memaware: tuple[Path, Path]) -> None:
    found = run_recall_memaware(*memaware)
    assert (found["questions"], found["sessions"]) == (3, 2)
    easy = found["by_tier"]["easy"]
    assert [easy[key] for key in ("questions", "hit_3k", "hit_10k", "string_3k", "answered_3k")] == [1, 1.0, 1.0, 1.0, 1.0]
    assert found["by_tier"]["hard"]["hit_10k"] == 0.0
    assert found["hit_3k"] == pytest.approx(1 / 3, abs=1e-3)
    assert found.keys() <= BENCHES["recall-memaware"].figures.keys(), "a figure without a meaning"
    keys = {f"{name}_{budget}" for name in ("hit", "string", "random") for budget in ("3k", "10k")}
    assert found.keys() >= keys
    assert all(tier.keys() >= keys for tier in found["by_tier"].values())


def test_a_turn_goes_on_over_lines_and_the_date_line_is_none(memaware: tuple[Path, Path]) -> None:
    first, second = read_sessions(memaware[0])
    assert first.day == "2023-05-20"
    assert first.user[1].endswith("it goes on in the next line.")
    assert (len(first.user), len(first.assistant), len(second.user)) == (2, 2, 1)
    assert not any("Session Date" in turn for turn in (*first.user, *second.user))


def test_a_session_without_turns_and_a_file_without_sessions_are_read_over(memaware: tuple[Path, Path]) -> None:
    write(memaware[0] / "notes.md", "# Notes on the data")
    write(memaware[0] / "2023-05-22.md", "## Session empty\nSession Date: 2023-05-22\n")
    assert [len(session.user) for session in read_sessions(memaware[0])] == [2, 1, 0]
    assert run_recall_memaware(*memaware)["sessions"] == 3


def test_the_same_seed_gives_the_same_figures(memaware: tuple[Path, Path]) -> None:
    assert run_recall_memaware(*memaware, seed=1) == run_recall_memaware(*memaware, seed=1)


@pytest.mark.parametrize("text", ["not json", "[1]", '{"a": 1}', "[]"])
def test_files_of_another_form_are_named(tmp_path: Path, memaware: tuple[Path, Path], text: str) -> None:
    other = write(tmp_path / "other.json", text)
    with pytest.raises(UserError, match=r"other\.json"):
        run_recall_locomo(other)
    with pytest.raises(UserError, match=r"other\.json"):
        run_recall_memaware(memaware[0], other)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no sessions"):
        run_recall_memaware(tmp_path / "empty", memaware[1])
    with pytest.raises(UserError, match="not a folder"):
        run_recall_memaware(other, memaware[1])


def test_the_folder_of_day_files_may_lie_below_the_one_that_is_named(tmp_path: Path, memaware: tuple[Path, Path]) -> None:
    write(tmp_path / "README.md", "# About the data")
    assert read_sessions(tmp_path) == read_sessions(memaware[0])
    deeper = tmp_path / "a" / "b"
    deeper.mkdir(parents=True)
    memaware[0].rename(deeper / "sessions")
    assert len(read_sessions(tmp_path)) == 2


def test_several_folders_of_day_files_are_named_and_none_is_guessed(tmp_path: Path, memaware: tuple[Path, Path]) -> None:
    (tmp_path / "more").mkdir()
    write(tmp_path / "more" / "2023-05-21.md", DAY)
    with pytest.raises(UserError, match=r"2 folders.*more.*sessions"):
        read_sessions(tmp_path)
    assert len(read_sessions(memaware[0])) == 2


def test_the_control_fills_the_budget_with_whole_turns_at_random(memaware: tuple[Path, Path]) -> None:
    (memaware[0] / "2023-05-21.md").write_text(
        "".join(f"## Session s{n}\n\nUser: {'word ' * 400}\n\nUser: Turn {n} says little.\nAssistant: Yes.\n\n" for n in range(60)),
        encoding="utf-8",
    )
    shares = [run_recall_memaware(*memaware, seed=seed)["by_tier"]["easy"]["random_3k"] for seed in range(12)]
    assert 0 < sum(shares) < 12


def test_the_embedder_that_was_used_is_reported(memaware: tuple[Path, Path]) -> None:
    class Nothing:
        name, dimension = "nothing", 3

        def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float] | None]:
            return [None] * len(texts)

    assert run_recall_memaware(*memaware)["embedder"] is None
    assert run_recall_memaware(*memaware, embedder=Nothing())["embedder"] == "nothing"


def test_locomo_without_vectors_reaches_its_target(shared_data: Path) -> None:
    files = sorted((shared_data / "locomo").glob("*.json"))
    if not files:
        pytest.skip("needs the LoCoMo file")
    assert run_recall_locomo(files[0])["recall_at_10"] >= 0.68


def test_memaware_without_vectors_stays_above_its_targets_on_a_part_of_the_questions(shared_data: Path, tmp_path: Path) -> None:
    questions = shared_data / "memaware" / "questions-dev.json"
    if not questions.is_file():
        pytest.skip("needs the MemAware files")
    every = json.loads(questions.read_text(encoding="utf-8"))
    found = run_recall_memaware(shared_data / "memaware", write(tmp_path / "some.json", every[::12]))
    # Of 36 questions a share is known to about 0.08 only: this guards against breakage, the bench measures.
    assert found["hit_3k"] >= 0.45
    assert found["hit_10k"] >= 0.60
    assert found["string_3k"] >= 0.15
    assert found["hit_3k"] > 3 * found["random_3k"]
