"""Two agents for the desk: a scripted clerk that obeys what it reads, and one driven by a model.

The clerk is transparent: it has habits, and for each habit it looks in the text it was given for a
sentence that names the tool and the accepted value. It learns nothing by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenure.errors import MalformedReply
from tenure.evaluation.demo.desk import TOOLS, Desk
from tenure.playbook.run import Step
from tenure.ports import LanguageModel, Prompt
from tenure.roles.replies import read_json

MODEL_STEPS = 16
"""Tool calls a model may make in one week."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """What the clerk does unless its notes say otherwise.

    Attributes:
        tool, argument: where the choice is made.
        usual: the value it uses by habit; always rejected.
        accepted: the value that is accepted, as a note may state it.
        note: what a note must contain, besides the tool's name, to change the habit.
    """

    tool: str
    argument: str
    usual: str
    accepted: str
    note: re.Pattern[str]


HABITS = (
    Habit(tool="list_invoices", argument="rows", usual="all", accepted="open", note=re.compile(r"\bopen\b")),
    Habit(tool="convert_invoice", argument="rate_on", usual="payment_date", accepted="invoice_date", note=re.compile(r"\binvoice_date\b")),
    Habit(tool="post_total", argument="posting_date", usual="monday", accepted="period_end", note=re.compile(r"\bended on\b")),
)


@dataclass(slots=True)
class Work:
    """What an agent did in one week.

    Attributes:
        steps: calls and results, in order.
        obeyed: ids of the notes it followed.
    """

    steps: list[Step] = field(default_factory=list[Step])
    obeyed: list[str] = field(default_factory=list[str])


def work_week(desk: Desk, notes: str, *, tell: Callable[[Step], object] | None = None) -> Work:
    """The scripted clerk does the week's task.

    Args:
        desk: the week's desk.
        notes: what it was given to read; each note in one paragraph, with its id in brackets if it has one.
        tell: called with each step.
    """
    work = Work()

    def call(tool: str, **arguments: Any) -> tuple[str, str]:
        return _record(desk, work, tool, arguments, tell)

    def choose(habit: Habit) -> str:
        found = _note_on(habit, notes)
        if found is not None and found[0] and found[0] not in work.obeyed:
            work.obeyed.append(found[0])
        return habit.accepted if found is not None else habit.usual

    def insist(habit: Habit, fixed: Mapping[str, Any]) -> str:
        """Try by habit or note; after a rejection try the other way, as a person would."""
        first = choose(habit)
        result, error = call(habit.tool, **fixed, **{habit.argument: _value(desk, first)})
        if error and not desk.locked and first == habit.usual:
            result, error = call(habit.tool, **fixed, **{habit.argument: _value(desk, habit.accepted)})
        return "" if error else result

    listed, converted, posting = HABITS
    numbers = insist(listed, {})
    if not numbers:
        return work
    total, way = 0.0, choose(converted)
    for number in numbers.split(", "):
        amount, error = call("convert_invoice", invoice=number, rate_on=way)
        if error and not desk.locked and way == converted.usual:
            way = converted.accepted
            amount, error = call("convert_invoice", invoice=number, rate_on=way)
        if error:
            return work
        total += float(amount)
    insist(posting, {"week": desk.week, "total": f"{total:.2f}"})
    return work


def _value(desk: Desk, said: str) -> str:
    return {"monday": str(desk.monday), "period_end": str(desk.period_end)}.get(said, said)


def _note_on(habit: Habit, notes: str) -> tuple[str, str] | None:
    """The first note that names the tool and the accepted way: its id and text.

    Where notes have ids, those are all the clerk obeys: what is only told of earlier runs is no rule.
    """
    lessons = re.findall(r"^- \[([^\]]+)\] (.*(?:\n  .*)*)", notes, re.MULTILINE)
    for lesson_id, note in lessons or [("", notes)]:
        if habit.tool in note and habit.note.search(note):
            return lesson_id, note
    return None


def model_week(desk: Desk, notes: str, model: LanguageModel, *, tell: Callable[[Step], object] | None = None) -> Work:
    """An agent driven by a language model does the week's task: one JSON tool call a reply."""
    work = Work()
    system = (
        "You do a task by calling tools, one at a time. Answer with one JSON object and nothing else: "
        '{"tool": "...", "arguments": {...}, "used": ["ids of notes you followed"]}. '
        'When the task is done answer {"done": true}.\n\nTools:\n' + TOOLS
    )
    log: list[str] = []
    for _ in range(MODEL_STEPS):
        user = f"{notes}\n\nTask: {desk.task}\nToday is {desk.monday}.\n\nSo far:\n" + ("\n".join(log) or "nothing")
        reply = model.complete(Prompt(system=system, user=user, purpose="generate", max_tokens=400))
        try:
            said = read_json(reply, expects=("tool", "done"))
        except MalformedReply as exc:
            log.append(f"(your reply could not be read: {exc.reason})")
            continue
        if said.get("done") or desk.posted is not None or desk.locked:
            break
        work.obeyed.extend(one for one in said.get("used", ()) if isinstance(one, str))
        arguments = said.get("arguments") if isinstance(said.get("arguments"), dict) else {}
        result, error = _record(desk, work, str(said.get("tool", "")), arguments, tell)
        log.append(f"{said.get('tool')}({json.dumps(arguments)}) -> {'Error: ' + error if error else result}")
    return work


def _record(desk: Desk, work: Work, tool: str, arguments: Mapping[str, Any], tell: Callable[[Step], object] | None) -> tuple[str, str]:
    result, error = desk.call(tool, arguments)
    made = [
        Step(kind="tool_call", role="assistant", name=tool, arguments=dict(arguments)),
        Step(kind="tool_result", role="tool", name=tool, content=f"Error: {error}" if error else result, error=error),
    ]
    work.steps.extend(made)
    if tell is not None:
        for step in made:
            tell(step)
    return result, error
