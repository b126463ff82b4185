"""What runs teach beside one another: the first deciding difference, and the sequence that successes share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from tenure.governance.hidden_text import quote
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Run
from tenure.roles.actions import Action, actions_of, is_shell, leaves
from tenure.roles.differences import Change, differences, shown, shown_command
from tenure.roles.provenance import is_distinctive
from tenure.roles.reflection import Insight
from tenure.roles.texts import tool_name

TASK_QUOTE = 60
"""Most characters of a task's text that a lesson repeats."""

SEQUENCE_RUNS = 3
"""Successful runs that must share a sequence before it is a lesson."""

SEQUENCE_TOOLS = 3
"""Tools that make a sequence, the last one included: one look before one change is no order worth a lesson."""

_SEQUENCE_READ = 12  # successful runs that are compared, the latest ones
_PROSE = 60  # a string argument longer than this is talk: two runs always differ in it
_MUTTERING = frozenset(("think", "thought", "calculate", "calculator", "todowrite", "todo_write", "update_plan", "wait", "sleep"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    text: str
    failed: int
    succeeded: int


def learn_from_contrast(run: Run, actions: Sequence[Action], earlier: Sequence[Run]) -> tuple[Insight, ...]:
    """The first difference that decided between a failed and a successful run of the very same task.

    Compared are the calls that changed something and were accepted, in order; where both runs changed
    nothing, the look-ups that only the successful one made. Of several runs to compare with, the one
    whose calls are most like this run's is taken, the latest of equals.

    Args:
        run: a run whose outcome is known.
        actions: its tool calls.
        earlier: other runs; those with another task key are passed over.
    """
    if not run.task.key or not run.outcome.known:
        return ()
    others = [
        other
        for other in earlier
        if other.task.key == run.task.key and other.id != run.id and other.outcome.known and other.outcome.success != run.outcome.success
    ]
    if not others:
        return ()
    own = [_form(action) for action in _deciding(actions)]
    candidates = [(other, actions_of(other)) for other in others[-8:]]
    other, theirs = max(reversed(candidates), key=lambda pair: _likeness(own, [_form(action) for action in _deciding(pair[1])]))
    failed, succeeded = (run, other) if run.outcome.success is False else (other, run)
    difference = _difference(*((actions, theirs) if failed is run else (theirs, actions)))
    if difference is None:
        return ()
    task = _quoted_task(run)
    return (
        Insight(
            text=difference.text,
            kind="strategy",
            applies_when=f'the task is like "{task}"' if task else "",
            about=f"contrast:{run.task.key}",
            evidence=(
                Evidence(run=failed.id, step=difference.failed, role="failure"),
                Evidence(run=succeeded.id, step=difference.succeeded, role="success"),
            ),
            basis="structure",
        ),
    )


def _deciding(actions: Sequence[Action]) -> list[Action]:
    return [action for action in actions if action.changes_state and action.accepted]


def _form(action: Action) -> tuple[str, str]:
    return action.tool, json.dumps(_telling(action.arguments), sort_keys=True, default=str)


def _telling(value: Any) -> Any:
    """Arguments without prose."""
    if isinstance(value, Mapping):
        return {key: _telling(kept) for key, kept in value.items() if not _is_prose(kept)}
    if isinstance(value, list | tuple):
        return [_telling(kept) for kept in value if not _is_prose(kept)]
    return value


def _is_prose(value: Any) -> bool:
    return isinstance(value, str) and (len(value) > _PROSE or value.count(" ") > 5)


def _likeness(a: Sequence[object], b: Sequence[object]) -> float:
    return SequenceMatcher(None, a, b, autojunk=False).ratio() if len(a) * len(b) < 40_000 else 0.0


def _difference(failed: Sequence[Action], succeeded: Sequence[Action]) -> _Difference | None:
    """The first change that only one of a failed and a successful run made; else their order; else the look-ups."""
    bad, good = _deciding(failed), _deciding(succeeded)
    only_bad, only_good = _without(bad, good), _without(good, bad)
    if not only_bad and not only_good:
        return _difference_in_order(bad, good) or _difference_in_lookups(failed, succeeded)
    wrong, right = next(iter(only_bad), None), next(iter(only_good), None)
    if wrong is not None:  # compared with the same tool's call in the other run, if there is one
        right = next((action for action in only_good if action.tool == wrong.tool), right)
    if wrong is not None and (right is None or (right.tool != wrong.tool and any(action.tool == right.tool for action in only_bad))):
        return _Difference(text=_told_excess(wrong, (*failed, *succeeded)), failed=wrong.step, succeeded=-1)
    text = _told(wrong, right, good) if right is not None else ""
    return _Difference(text=text, failed=wrong.step if wrong else -1, succeeded=right.step if right else -1) if text else None


def _without(these: Sequence[Action], those: Sequence[Action]) -> list[Action]:
    """The changes that have no equal among the others'."""
    forms = {_form(action) for action in those}
    apart = [action for action in these if _form(action) not in forms]
    if len(apart) * len(those) > 400:
        return apart
    return [action for action in apart if not any(_says_the_same(action, other) for other in those)]


def _says_the_same(action: Action, other: Action) -> bool:
    """Whether two calls differ only in how many fields they give of a listed record: the tool knows the rest."""
    if action.tool != other.tool or action.command:
        return False
    changes = differences(_telling(action.arguments), _telling(other.arguments))
    return all(change.kind != "changed" and "[]." in change.path for change in changes)


def _told(wrong: Action | None, right: Action, good: Sequence[Action]) -> str:
    """The difference where the successful run changed something that the failed one did not."""
    if wrong is not None and wrong.tool == right.tool and not wrong.command:
        changes = [change for change in differences(_telling(wrong.arguments), _telling(right.arguments)) if _can_show(change)]
        if not changes:
            return ""
        first = min(changes, key=lambda change: change.kind != "changed")
        return f"Call {_name(right)} {_told_change(first)}: here a failed and a successful run first differed."
    if wrong is None or any(action.tool == wrong.tool for action in good):
        return f"Also call {_name(right)}{_example(right)}: the successful run did, the failed one did not."
    return f"Call {_name(right)}{_example(right)}, not {_name(wrong)}{_example(wrong)}: the successful run did so, the failed one did not."


def _told_excess(wrong: Action, actions: Sequence[Action]) -> str:
    """The difference where only the failed run changed something: it may not have been allowed to."""
    own = {repr(value) for _, value in leaves(wrong.arguments) if is_distinctive(value)}
    looks = (
        action.tool
        for action in actions
        if action.accepted and not action.changes_state and any(repr(value) in own for _, value in leaves(action.arguments))
    )
    look = next(looks, "")
    how = f" with {tool_name(look)}" if look else ""
    return f"Check{how} whether {_name(wrong)}{_example(wrong)} is allowed: the run that called it failed, one without it succeeded."


def _told_change(change: Change) -> str:
    was, now = shown(change.before, change.path), shown(change.after, change.path)
    if change.kind == "added":
        return f"with {change.path} {now}"
    if change.kind == "removed":
        return f"without {change.path} {was}"
    return f"with {change.path} {now}, not {was}"


def _can_show(change: Change) -> bool:
    return bool(
        (change.kind == "added" or shown(change.before, change.path)) and (change.kind == "removed" or shown(change.after, change.path))
    )


def _difference_in_order(bad: Sequence[Action], good: Sequence[Action]) -> _Difference | None:
    """Where two runs that made the same changes made them in another order."""
    for wrong, right in zip(bad, good, strict=False):
        if wrong.tool != right.tool:
            text = f"Call {_name(right)} before {_name(wrong)}: the successful run did, the failed one did it the other way round."
            return _Difference(text=text, failed=wrong.step, succeeded=right.step)
    return None


def _difference_in_lookups(failed: Sequence[Action], succeeded: Sequence[Action]) -> _Difference | None:
    tried = {action.tool for action in failed}
    for action in succeeded:
        if action.accepted and action.tool not in tried and action.tool.lower() not in _MUTTERING and not action.command:
            text = f"Call {_name(action)}{_example(action)} before answering: the successful run did, the failed one did not."
            return _Difference(text=text, failed=-1, succeeded=action.step)
    return None


def _name(action: Action) -> str:
    return f"`{shown_command(action.command)}`" if action.command else tool_name(action.tool)


def _example(action: Action) -> str:
    """The first two arguments that can be shown, in brackets."""
    if action.command:
        return ""
    told = [f"{path} {text}" for path, value in leaves(_telling(action.arguments)) if "[]" not in path and (text := shown(value, path))]
    return f" ({', '.join(told[:2])})" if told else ""


def _quoted_task(run: Run) -> str:
    return quote(run.task.text, limit=TASK_QUOTE)


# --- sequences -------------------------------------------------------------------------------------


def learn_from_sequences(run: Run, actions: Sequence[Action], earlier: Sequence[Run]) -> tuple[Insight, ...]:
    """The order of tools that at least `SEQUENCE_RUNS` successful runs of a kind share, this one among them.

    Of a kind are runs with the same task kind that end their changes with the same tool. The sequence
    is what all of them have in common, in order, up to that tool, `SEQUENCE_TOOLS` at least.

    Args:
        run: a successful run.
        actions: its tool calls.
        earlier: other runs, of which the successful ones of the same kind count.
    """
    goal = _goal(run, actions)
    if run.outcome.success is not True or not goal:
        return ()
    peers = [(run, _tools_to(actions, goal))]
    for other in reversed(earlier):
        if len(peers) < _SEQUENCE_READ and other.outcome.success is True and other.task.kind == run.task.kind and other.id != run.id:
            theirs = actions_of(other)
            if _goal(other, theirs) == goal:
                peers.append((other, _tools_to(theirs, goal)))
    if len(peers) < SEQUENCE_RUNS:
        return ()
    shared = peers[0][1]
    for _, tools in peers[1:]:
        shared = _common(shared, tools)
    if len(shared) < SEQUENCE_TOOLS or shared[-1] != goal:
        return ()
    first = ", then ".join(map(tool_name, shared[:-1]))
    kind = run.task.kind
    return (
        Insight(
            text=f"Call {first} before {tool_name(goal)}, as the successful runs did.",
            kind="strategy",
            tool_order=shared,
            about=f"sequence:{kind}/{goal}" if kind else f"sequence:{goal}",
            evidence=tuple(Evidence(run=peer.id, step=-1, role="success") for peer, _ in peers[:8]),
            basis="structure",
        ),
    )


def _goal(run: Run, actions: Sequence[Action]) -> str:
    """The tool of a run's last accepted change; shells and editors, which are in every run, are no goal."""
    return next((action.tool for action in reversed(actions) if action.changes_state and action.accepted and not _is_everyday(action)), "")


def _is_everyday(action: Action) -> bool:
    return bool(action.command) or is_shell(action.tool) or action.tool.lower() in ("edit", "write", "multiedit", "apply_patch", "task")


def _tools_to(actions: Sequence[Action], goal: str) -> tuple[str, ...]:
    """The accepted tools up to the last call of the goal, repeats left out."""
    tools: list[str] = []
    for action in actions:
        if action.accepted and action.tool.lower() not in _MUTTERING and (not tools or tools[-1] != action.tool):
            tools.append(action.tool)
    while tools and tools[-1] != goal:
        tools.pop()
    return tuple(tools)


@lru_cache(maxsize=512)
def _common(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    """Longest common subsequence, the earliest in `a` of equally long ones."""
    a, b = a[-60:], b[-60:]
    best: list[list[tuple[str, ...]]] = [[()] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            if a[i] == b[j]:
                best[i][j] = (a[i], *best[i + 1][j + 1])
            else:
                best[i][j] = max(best[i + 1][j], best[i][j + 1], key=len)
    return best[0][0]
