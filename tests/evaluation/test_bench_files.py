"""Wrong files never end a bench as a fault: each is a `UserError` that names the file, the place and what to give instead."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tenure.errors import UserError
from tenure.evaluation.prompt_cache import run_prompt_cache
from tenure.evaluation.recall_locomo import run_recall_locomo
from tenure.evaluation.recall_memaware import run_recall_memaware
from tenure.evaluation.recurrence import run_recurrence
from tests.evaluation.test_recall_benches import DAY

LOCOMO = [
    {
        "conversation": {
            "session_1_date_time": "8 May",
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "A greyhound.", "blip_caption": "a dog"}],
        },
        "qa": [{"question": "What dog?", "answer": "greyhound", "evidence": ["D1:1"], "category": 4}],
    }
]
QUESTIONS = [{"question": "What did my racket cost?", "answer": "120", "answer_session_ids": ["answer_secret_1"], "difficulty": "easy"}]
PLAYBOOK = {"operations": [{"type": "ADD", "section": "s", "content": "Read the manual first.", "bullet_id": "s-00001"}]}
RUNS = [
    {
        "task_id": 1,
        "reward": 0.0,
        "trial": 0,
        "info": {},
        "traj": [
            {"role": "user", "content": "Book it."},
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "book", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "name": "book", "content": "Error: no seat"},
        ],
    }
]
STRANGE: tuple[Any, ...] = (None, True, 0, -1.5, 10**5000, "", "text", "\ud800", "9" * 5000, [], [None], ["x"], {}, {"x": [1]})
"""What is put in the place of each value. Written as JSON, so as a bench reads it."""

RAW: dict[str, bytes] = {
    "empty": b"",
    "spaces": b" \n",
    "utf-16": json.dumps(LOCOMO).encode("utf-16"),
    "utf-16 text": "- Read the manual.\n".encode("utf-16"),
    "not utf-8": b'[{"question": "caf\xe9"}]',
    "binary": bytes(range(256)) * 8,
    "deep": b"[" * 100_000,
    "deep and closed": b"[" * 5_000 + b"]" * 5_000,
    "deep objects": b'{"a":' * 100_000,
    "cut off": json.dumps(LOCOMO).encode()[:-20],
    "two values": b"[] []",
    "a word": b"nothing",
    "not a number": b"[NaN]",
    "a number": b"1" * 5_000,
}


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "2023-05-20.md").write_text(DAY, encoding="utf-8")
    return tmp_path / "sessions"


@pytest.fixture
def benches(sessions: Path) -> dict[str, tuple[Any, Callable[[Path], Any]]]:
    """A small valid file for each bench, and how it is run."""
    return {
        "recall-locomo": (LOCOMO, run_recall_locomo),
        "recall-memaware": (QUESTIONS, lambda path: run_recall_memaware(sessions, path)),
        "prompt-cache": (PLAYBOOK, run_prompt_cache),
        "recurrence": (RUNS, run_recurrence),
    }


def refusal(run: Callable[[Path], Any], path: Path) -> str:
    """What a bench says of a file that it does not take; empty if it measured it. A fault goes on to the test."""
    try:
        assert run(path)
    except UserError as exc:
        return str(exc)
    return ""


NAMES = ("recall-locomo", "recall-memaware", "prompt-cache", "recurrence")


def mutants(value: Any) -> Iterator[Any]:
    """The value with one part dropped or replaced, each in turn."""
    yield from STRANGE
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(parts):
        less = deepcopy(value)
        del less[key]
        yield less
        for changed in mutants(part):
            other = deepcopy(value)
            other[key] = changed
            yield other


def written(value: Any) -> str:
    # Python writes no whole number of more than 4,300 digits, and other tools do.
    return json.dumps(value if value != 10**5000 else 0) if not isinstance(value, list | dict) else _long(json.dumps(_short(value)))


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(one) for one in value]
    if isinstance(value, dict):
        return {key: _short(one) for key, one in value.items()}
    return "LONG" if value == 10**5000 else value


def _long(text: str) -> str:
    return text.replace('"LONG"', "1" + "0" * 5000)


@pytest.mark.parametrize("name", NAMES)
def test_a_valid_file_is_measured(benches: dict[str, tuple[Any, Callable[[Path], Any]]], name: str, tmp_path: Path) -> None:
    valid, run = benches[name]
    path = tmp_path / "data.json"
    path.write_text(json.dumps(valid), encoding="utf-8")
    assert run(path)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_that_is_missing_or_of_another_type_is_no_fault(
    benches: dict[str, tuple[Any, Callable[[Path], Any]]], name: str, tmp_path: Path
) -> None:
    valid, run = benches[name]
    path = tmp_path / "data.json"
    refused = 0
    # Learning from runs takes longest. Every seventh of its mutants is tried: 15 belong to a place, so each value has its turn.
    for mutant in islice(mutants(valid), None, None, 7 if name == "recurrence" else 1):
        path.write_text(written(mutant), encoding="utf-8")
        said = refusal(run, path)
        refused += bool(said)
        assert not said or (str(path) in said and len(said) < 500), said
    assert refused or name == "recurrence"  # which says in `unreadable` what it left out


@pytest.mark.parametrize("kind", RAW)
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_none_is_named(benches: dict[str, tuple[Any, Callable[[Path], Any]]], name: str, kind: str, tmp_path: Path) -> None:
    _, run = benches[name]
    path = tmp_path / "data.json"
    path.write_bytes(RAW[kind])
    with pytest.raises(UserError, match=r"data\.json"):
        run(path)


@pytest.mark.parametrize("name", NAMES[:-1])
def test_a_folder_a_pipe_and_a_file_that_is_gone_are_named(
    benches: dict[str, tuple[Any, Callable[[Path], Any]]], name: str, tmp_path: Path
) -> None:
    _, run = benches[name]
    os.mkfifo(tmp_path / "pipe")
    for path, said in ((tmp_path, "is a folder"), (tmp_path / "pipe", "not a regular file"), (tmp_path / "gone", "no such file")):
        with pytest.raises(UserError, match=said):
            run(path)


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (("conversation", "session_1", 0, "dia_id"), None, "conversation 1, 'conversation', 'session_1', turn 1: it has no 'dia_id'"),
        (("conversation", "session_1"), "x", "conversation 1, 'conversation', 'session_1': a list is expected, not the text \"x\""),
        (("qa", 0, "question"), {}, "conversation 1, 'qa', question 1, 'question': text is expected, not an object"),
        (("conversation",), 7, "conversation 1, 'conversation': an object is expected, not the number 7"),
    ],
)
def test_the_message_says_where_what_and_what_next(tmp_path: Path, at: tuple[Any, ...], value: Any, said: str) -> None:
    changed: Any = deepcopy(LOCOMO)
    inside = changed[0]
    for key in at[:-1]:
        inside = inside[key]
    if value is None:
        del inside[at[-1]]
    else:
        inside[at[-1]] = value
    path = tmp_path / "l.json"
    path.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(UserError) as refused:
        run_recall_locomo(path)
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"'{path}', ")
    assert str(refused.value).endswith("Give a LoCoMo file: a list of conversations, each an object with 'conversation' and 'qa'.")


def test_day_files_of_any_bytes_are_no_fault(tmp_path: Path) -> None:
    questions = tmp_path / "q.json"
    questions.write_text(json.dumps(QUESTIONS), encoding="utf-8")
    day = tmp_path / "sessions" / "2023-05-20.md"
    day.parent.mkdir()
    good = DAY.encode()
    for raw in (
        b"",
        good[:70],
        good.replace(b"tennis", b"\xff\xfe\x00"),
        good.replace(b"\n", b"\r\n"),
        bytes(range(256)),
        b"## Session x\n",
    ):
        day.write_bytes(raw)
        said = refusal(lambda folder: run_recall_memaware(folder, questions), day.parent)
        assert not said or str(day.parent) in said
    day.write_bytes(DAY.encode("utf-16"))
    with pytest.raises(UserError, match=r"2023-05-20.md' is UTF-16 text. Save it as UTF-8"):
        run_recall_memaware(day.parent, questions)
    day.write_bytes(good)
    (day.parent / "odd-name.md").write_bytes(good)
    assert run_recall_memaware(day.parent, questions)["sessions"] == 4


def test_the_command_ends_as_for_other_wrong_input(tmp_path: Path, tenure_command: list[str]) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes(RAW["utf-16 text"])
    done = subprocess.run(
        [*tenure_command, "bench", "run", "prompt-cache", "--data", str(path)],
        capture_output=True,
        text=True,
        env={**os.environ},
        check=False,
    )
    assert (done.returncode, "UTF-16" in done.stderr, "fault in Tenure" in done.stderr) == (2, True, False)
