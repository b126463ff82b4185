"""Result files of tau-bench and its relatives: a JSON list (or JSON lines) of {task_id, trial, reward, info, traj}.

Only `traj` is needed; what else is missing is left empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tenure.playbook.run import Outcome, Run, Task
from tenure.traces.openai_chat import add_message
from tenure.traces.placing import Place, scope_for
from tenure.traces.report import ReadReport
from tenure.traces.shapes import digest, list_at, map_at, number_of, text_at
from tenure.traces.streaming import read_records
from tenure.traces.transcript import Transcript

HOST = "tau-bench"

_FULL_REWARD = 1.0 - 1e-6
_TOOL_OUTPUT = "API output: "  # how agents without native tool calls are given a result
_ACTION = "Action:"
_TALK = "respond"  # their action for speaking to the user
_HEADING = re.compile(r"^\s*#+\s*(.+)", re.MULTILINE)


def recognises(value: object) -> bool:
    """Whether a record is a tau-bench result."""
    return isinstance(value, dict) and "traj" in value


def read(path: Path, *, scope: Place, report: ReadReport) -> Iterator[Run]:
    """The runs in a result file, one for each element, in the order of the file."""
    for number, record, unit in read_records(path, report):
        if isinstance(record.get("traj"), list):
            yield _run(record, scope, report)
        else:
            report.lost(path, "has no list 'traj'", number=number, unit=unit)


def _run(record: Mapping[str, Any], scope: Place, report: ReadReport) -> Run:
    transcript = Transcript(report)
    pending = ""  # tool of the last action that was written as text
    for message in record["traj"]:
        if not isinstance(message, dict):
            report.unknown(HOST, "message that is no object")
        elif pending and _is_tool_output(message):
            transcript.result(message["content"][len(_TOOL_OUTPUT) :], name=pending)
            pending = ""
        else:
            add_message(transcript, message, report)
            pending = _written_action(transcript, message)
    info = map_at(record, "info")
    identity = digest(HOST, record.get("task_id"), record.get("trial"), record.get("reward"), record["traj"])
    if not record["traj"]:  # nothing else tells such runs apart
        identity = digest(HOST, record.get("task_id"), record.get("trial"), info)
    task = _task(record, info, transcript)
    session = f"task:{text_at(record, 'task_id')} trial:{text_at(record, 'trial')}"
    return transcript.run(
        f"tau:{identity}", host=HOST, scope=scope_for(scope), session=session, task=task, outcome=_outcome(record, info, report)
    )


def _task(record: Mapping[str, Any], info: Mapping[str, Any], transcript: Transcript) -> Task:
    instruction = text_at(map_at(info, "task"), "instruction") or text_at(record, "instruction")
    policy = next((step.content for step in transcript.steps if step.role == "system"), "")
    heading = _HEADING.search(policy)
    kind = re.sub(r"[^a-z0-9]+", "-", heading.group(1).lower()).strip("-")[:60] if heading else HOST
    number = text_at(record, "task_id")
    # The instruction is the same in every trial and differs between domains that number their tasks alike.
    known = instruction or policy
    key = f"tau:{digest(known)}:{number}" if known and number else ""
    return Task(text=transcript.task or instruction, kind=kind, key=key)


def _outcome(record: Mapping[str, Any], info: Mapping[str, Any], report: ReadReport) -> Outcome:
    crash = text_at(info, "error")
    if crash and not record["traj"]:
        # The harness books a crash of its own (a model API that failed) as reward 0; the agent did nothing.
        return Outcome(feedback=f"the run did not take place: {crash.splitlines()[0][:300]}")
    reward = number_of(record.get("reward"))
    if reward is None:
        reward = number_of(map_at(info, "reward_info").get("reward"))
    if reward is None:
        return Outcome()
    if not 0.0 <= reward <= 1.0:
        report.repaired("score outside 0 to 1 left undecided")
        return Outcome(feedback=f"reward {reward:g}")
    details = map_at(map_at(info, "reward_info"), "info")
    reasons = []
    if number_of(details.get("r_actions")) == 0:
        reasons.append("the end state of the database is not the expected one")
    if number_of(details.get("r_outputs")) == 0:
        missing = [name for name, told in map_at(details, "outputs").items() if not told]
        reasons.append("the user was not told what was asked for" + (f" ({len(missing)} answers missing)" if missing else ""))
    feedback = "; ".join([f"reward {reward:g}", *reasons])
    return Outcome(score=reward, success=reward >= _FULL_REWARD, feedback=feedback, signal="environment")


def _is_tool_output(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return message.get("role") == "user" and isinstance(content, str) and content.startswith(_TOOL_OUTPUT)


def _written_action(transcript: Transcript, message: Mapping[str, Any]) -> str:
    """Adds the call of an agent that writes its action as text, and returns the tool's name; empty if there is none."""
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, str) or _ACTION not in content or list_at(message, "tool_calls"):
        return ""
    try:
        action = json.loads(content.rsplit(_ACTION, 1)[1], strict=False)
    except (ValueError, RecursionError):
        return ""
    name = text_at(action, "name") if isinstance(action, dict) else ""
    if not name or name == _TALK:
        return ""
    transcript.call(name, action.get("arguments", action.get("kwargs")))
    return name
