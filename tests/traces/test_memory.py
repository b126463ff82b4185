"""Large files are read in memory that does not grow with them, and at a useful speed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tenure.traces import ReadReport, read_runs
from tests.timing import assert_within, seconds

pytest.importorskip("resource", reason="needs a system that tells how much memory a process used")

DATA = Path(__file__).resolve().parent / "data"
MIB = 1 << 20

READ = """
import json, resource, sys
from pathlib import Path
from tenure.traces import ReadReport, read_runs
list(read_runs(Path(sys.argv[2]), report=ReadReport()))  # all code is loaded
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
report = ReadReport()
steps = longest = 0
for run in read_runs(Path(sys.argv[1]), report=report):
    steps += len(run.steps)
    longest = max([longest, *(len(step.content) for step in run.steps)])
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps({"grown_mib": grown * unit / 2**20, "runs": report.runs, "steps": steps, "longest": longest, "lost": report.count}))
"""


def read_apart(path: Path, small: Path) -> dict[str, float]:
    """What a process of its own found in a file, and by how many MiB its peak of memory grew."""
    done = subprocess.run([sys.executable, "-c", READ, str(path), str(small)], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def written(path: Path, pieces: Iterable[str], size: int) -> int:
    """Writes pieces until the file has `size` bytes; how many were written."""
    count = 0
    with path.open("w", encoding="utf-8") as stream:
        for piece in pieces:
            stream.write(piece)
            count += 1
            if stream.tell() > size:
                break
    return count


def forever(make: Callable[[int], str]) -> Iterable[str]:
    number = 0
    while True:
        yield make(number)
        number += 1


def session_line(session: str, number: int, content: object, kind: str = "user") -> str:
    message = {"role": kind, "content": content}
    return json.dumps({"type": kind, "sessionId": session, "uuid": f"{session}-{number}", "isSidechain": False, "message": message}) + "\n"


def test_a_list_of_60_mib_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    record = json.loads((DATA / "tau-bench.json").read_text())[0]
    record["traj"][0]["content"] *= 500

    def element(number: int) -> str:
        return ("[" if number == 0 else ",") + json.dumps({**record, "trial": number}, indent=1)

    count = written(path, forever(element), 60 * MIB)
    found = read_apart(path, DATA / "tau-bench.json")
    assert found["runs"] == count
    assert found["lost"] == 1  # the list was never closed
    assert found["grown_mib"] < 24


def test_lines_of_60_mib_are_streamed(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    record = json.loads((DATA / "openai-chat.jsonl").read_text().splitlines()[0])
    record["messages"][0]["content"] *= 1_000
    count = written(path, forever(lambda number: json.dumps({**record, "reward": number % 2}) + "\n"), 60 * MIB)
    found = read_apart(path, DATA / "openai-chat.jsonl")
    assert (found["runs"], found["lost"]) == (count, 0)
    assert found["grown_mib"] < 24


def test_spans_of_many_traces_in_60_mib_are_not_all_held(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    said = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "word " * 8_000}]}])

    def line(number: int) -> str:
        attributes = [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]
        attributes += [{"key": "gen_ai.input.messages", "value": {"stringValue": said}}]
        ids = {"traceId": f"{number // 50 * 8 + number % 8 + 1:032x}", "spanId": f"{number + 1:016x}", "parentSpanId": "f" * 16}
        return json.dumps({**ids, "name": "chat", "startTimeUnixNano": str(10**18 + number), "attributes": attributes}) + "\n"

    count = written(path, forever(line), 60 * MIB)
    found = read_apart(path, DATA / "otlp-genai.jsonl")
    assert (found["runs"], found["lost"]) == (len({number // 50 * 8 + number % 8 for number in range(count)}), 0)
    assert found["steps"] == found["runs"]  # the history that every span repeats is there once
    assert found["grown_mib"] < 24


def test_a_session_of_60_mib_is_held_with_its_payloads_cut(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    payload = "a line of a build log\n" * 50_000

    def line(number: int) -> str:
        if number % 2:
            return session_line("s1", number, [{"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": payload}])
        return session_line(
            "s1", number, [{"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "make"}}], "assistant"
        )

    count = written(path, forever(line), 60 * MIB)
    found = read_apart(path, DATA / "claude-code.jsonl")
    assert (found["runs"], found["steps"], found["lost"]) == (1, count, 0)
    assert 65_536 < found["longest"] < 65_700
    assert found["grown_mib"] < 40


def test_sessions_joined_in_one_file_are_not_all_held(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    count = written(path, forever(lambda number: session_line(f"s{number // 100}", number, "word " * 4_000)), 60 * MIB)
    found = read_apart(path, DATA / "claude-code.jsonl")
    assert (found["runs"], found["steps"]) == (-(-count // 100), count)
    assert found["grown_mib"] < 24


def test_a_line_of_100_mib_is_cut_and_its_neighbours_are_read(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        stream.write(session_line("s1", 1, "first"))
        before, after = session_line("s1", 2, [{"type": "tool_result", "tool_use_id": "t1", "content": "HERE"}]).split("HERE")
        stream.write(before)
        for _ in range(100):
            stream.write('a \\"quoted\\" line\\n' * (MIB // 18))
        stream.write(after)
        stream.write(session_line("s1", 3, "last"))
    found = read_apart(path, DATA / "claude-code.jsonl")
    assert (found["runs"], found["steps"], found["lost"]) == (1, 3, 0)
    assert 65_536 < found["longest"] < 65_700
    assert found["grown_mib"] < 40


def test_real_results_are_read_fast_enough(shared_data: Path) -> None:
    path = shared_data / "tau-airline" / "gpt-4o-airline-trials-0-1.json"
    if not path.exists():
        pytest.skip(f"needs {path.name}")
    report = ReadReport()
    runs = list(read_runs(path, report=report))
    assert len(runs) == 100
    assert sum(run.outcome.success is True for run in runs) == 43
    assert sum(run.outcome.success is False for run in runs) == 57
    assert len({run.id for run in runs}) == 100
    assert len({run.task.key for run in runs}) == 50
    assert all(run.task.text and run.steps[0].role == "system" for run in runs)
    assert report.count == 0
    assert_within(0.2, lambda: seconds(lambda: list(read_runs(path, report=ReadReport()))))  # 500 runs a second
