"""What a tool accepted after it had rejected a call, told in one clause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tenure.playbook.run import Run
from tenure.roles.actions import Action, command_of, leaves
from tenure.roles.differences import SHOWN_VALUE, Change, changed_part, closeness, differences, names, shape, shown, shown_command
from tenure.roles.figures import count_rule, figure_rule
from tenure.roles.provenance import check_for, given_by, is_distinctive, said_by_person
from tenure.roles.signatures import headline
from tenure.roles.texts import printable, tool_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to do about an error.

    Attributes:
        text: a clause without its full stop.
        accepted: whether it states what the tool accepted.
        sources: run id and step of what it was learned from besides the error and its cure.
    """

    text: str
    accepted: bool = False
    sources: tuple[tuple[str, int], ...] = ()


def advice_of(run: Run, actions: Sequence[Action], failed: Action, cure: Action, *, since: int) -> Advice:
    """What was accepted instead of a rejected call, why it could be known, and the example.

    Args:
        run: the run.
        actions: its tool calls.
        failed: the rejected call closest before the cure.
        cure: the accepted call.
        since: step of the first rejection of this kind; what was looked up after it was looked up because of it.
    """
    between = [action for action in actions if failed.step < action.step < cure.step and action.accepted]
    text, *steps = _told(run, actions, failed, cure, between, since)
    return Advice(text=text, accepted=True, sources=tuple((run.id, step) for step in steps))


_Told = tuple[Any, ...]  # a clause, then the steps it rests on


def _told(run: Run, actions: Sequence[Action], failed: Action, cure: Action, between: Sequence[Action], since: int) -> _Told:
    if failed.same_call(cure) or not differences(failed.arguments, cure.arguments):
        return _after_steps(failed, between)
    if failed.command:
        return _other_command(failed, cure, between)
    error = headline(failed.error)
    rule = figure_rule(failed.arguments, cure.arguments, error)
    if rule is not None:
        return (f"make {rule.told()}",)
    counts = count_rule(failed.arguments, cure.arguments, error)
    if counts:
        return (counts,)
    changes = _deciding(error, failed, cure, actions)
    prepared = _prepared_by(failed, between)
    if prepared is not None and not any(all(_both(change)) for change in changes):
        tool, argument = prepared
        paths = " and ".join(dict.fromkeys(change.path for change in changes[:2]))
        return (f"call {tool_name(tool.tool)} on the same {argument} first; then another {paths} was accepted", tool.step)
    if changes[0].kind == "changed":
        return _changed(run, actions, failed, cure, changes, since)
    left_out = changes[0]
    named = [shown(value, path) for path, value in leaves(left_out.before, left_out.path) if names(error, value)]
    if left_out.kind == "removed" and named:
        yet = "; that run still failed" if run.outcome.success is False else ""
        return (f"leave out the {left_out.path} it names ({named[0] or 'it'} refused, accepted without{yet})",)
    return _with_check(run, actions, failed, error, _unlike(changes))


def _other_command(failed: Action, cure: Action, between: Sequence[Action]) -> _Told:
    """Another command was accepted, or the same one in another folder."""
    was, now = shown_command(failed.command), shown_command(cure.command)
    if was == now:
        if any(action.changes_state for action in between):
            return _after_steps(failed, between)
        was, now = (shown_command(command_of(action.arguments, whole=True)) for action in (failed, cure))
    return (f"`{was}` refused, `{now}` accepted",)


def _after_steps(failed: Action, between: Sequence[Action]) -> _Told:
    """The very same call was accepted later: after which steps?"""
    called = f"`{shown_command(failed.command)}`" if failed.command else "the same call"
    prepared = _prepared_by(failed, between)
    if prepared is not None:
        tool, argument = prepared
        return f"{called} was accepted after {tool_name(tool.tool)} on the same {argument}", tool.step
    changing = [action for action in between if action.changes_state and (action.command or action.tool != failed.tool)][-2:]
    if changing:
        steps = [f"`{shown_command(step.command)}`" if step.command else tool_name(step.tool) for step in changing]
        told = " and ".join(dict.fromkeys(steps))
        return f"{called} was accepted after {told}", *(step.step for step in changing)
    return (f"{called} was accepted when repeated; retry once before changing anything",)


def _prepared_by(failed: Action, between: Sequence[Action]) -> tuple[Action, str] | None:
    """A step before the cure that was about the same thing, and the argument they share."""
    own = {repr(value): path for path, value in leaves(failed.arguments) if is_distinctive(value)}
    for action in between:
        if action.tool == failed.tool or action.command:
            continue
        for _, value in leaves(action.arguments):
            if repr(value) in own:
                return action, own[repr(value)]
    return None


def _deciding(error: str, failed: Action, cure: Action, actions: Sequence[Action]) -> list[Change]:
    """Of all differences between a rejected and an accepted call, those that the error is about.

    A change that was made at once, when the error was got past, decides before one made later; one
    that the error names decides before one that it does not.
    """
    changes = list(differences(failed.arguments, cure.arguments))
    following = next((action for action in actions if action.step > failed.step and action.tool == failed.tool), cure)
    if following is not cure:
        at_once = {change.path for change in differences(failed.arguments, following.arguments)}
        changes = [change for change in changes if change.path in at_once] or changes
    ranks = [_closeness(error, change) for change in changes]
    kept = [change for change, rank in zip(changes, ranks, strict=True) if rank == max(ranks)]
    lists = {change.path for change in kept if change.kind == "added"}
    kept += [change for change in changes if change.kind == "changed" and change not in kept and change.path.rpartition(".")[0] in lists]
    return sorted(kept, key=lambda change: ("changed", "removed", "added").index(change.kind))


def _closeness(error: str, change: Change) -> int:
    inner = [(path, value) for value in (change.before, change.after) for path, value in leaves(value, change.path)]
    return max((closeness(error, path, value) for path, value in inner), default=0)


def _changed(run: Run, actions: Sequence[Action], failed: Action, cure: Action, changes: Sequence[Change], since: int) -> _Told:
    """The clause for a changed argument: how to know the accepted value, else its form, else just what it was."""
    error, change = headline(failed.error), changes[0]
    path = change.path
    was, now = _both(change)
    example = f"{was} refused, {now} accepted" if was and now else f"{now} was accepted" if now else "it was accepted"
    added = next((other for other in changes if other.kind == "added"), None)
    if added is not None:
        extra = " ".join(filter(None, (shown(value, where) for where, value in leaves(added.after, added.path))))
        example += f" with {added.path} {extra} added" if 0 < len(extra) <= SHOWN_VALUE else ""
    affix = _affix(change.before, change.after)
    if affix:
        return (f"write {path} with '{affix}' {'in front' if change.after.startswith(affix) else 'at the end'} ({example})",)
    if now and names(error, change.after):
        return (f"use the {path} that it names ({example})",)
    source = given_by(change.after, [action for action in actions if action.step < cure.step], since=since)
    if source is not None and (source.step > since or not _is_known(change.before, actions)):
        field = f" {source.field}" if source.field else ""
        return f"take {path} from {tool_name(source.tool)}{field} ({example})", source.step
    said = said_by_person(change.after, run, cure.step) if source is None else -1
    if said > failed.step:
        return f"ask the user for {path} ({example})", said
    old, new = shape(change.before), shape(change.after)
    if old != new and "…" in old and len(changes) == 1:
        return _with_check(run, actions, failed, error, f"{path} {old} refused, {now} accepted")
    return _with_check(run, actions, failed, error, _unlike(changes))


def _both(change: Change) -> tuple[str, str]:
    """A change's values as they are shown; neither, where they would look the same."""
    was, now = shown(change.before, change.path), shown(change.after, change.path)
    return ("", "") if was == now else (was, now)


def _unlike(changes: Sequence[Change]) -> str:
    """What differed, told plainly, for at most two changes."""
    told = []
    for change in changes[:2]:
        was, now = _both(change)
        if change.kind == "added":
            told.append(f"it was accepted with {change.path}{f' {now}' if now else ''} added")
        elif change.kind == "removed":
            told.append(f"it was accepted without {change.path}{f' {was}' if was else ''}")
        elif was and now:
            told.append(f"{change.path} {was} refused, {now} accepted")
        elif any(part := changed_part(change)):
            told.append(f"in {change.path}, {part[0] or 'nothing'} refused, {part[1] or 'nothing'} in its place accepted")
        else:
            told.append(f"another {change.path} was accepted")
    return ", ".join(dict.fromkeys(told))


def _with_check(run: Run, actions: Sequence[Action], failed: Action, error: str, told: str) -> _Told:
    """The clause, with the look-up that shows the fault beforehand, where a result has a field for it."""
    check = check_for(error, blamed_arguments(error, failed), [(run.id, actions)], tool=failed.tool)
    if check is None or not check.source.field:
        return (told,)
    named = check.of_value and told.startswith(f"{check.paths[0]} ")
    return f"{check.told()}; {told.removeprefix(f'{check.paths[0]} ') if named else told}", check.source.step


def blamed_arguments(error: str, failed: Action) -> list[tuple[str, Any]]:
    """The arguments an error speaks of, as path and value: those whose value it names, else those it names in words."""
    ranked = [(closeness(error, path, value), path, value) for path, value in leaves(failed.arguments)]
    best = max((rank for rank, _, _ in ranked), default=0)
    return [(path, value) for rank, path, value in ranked if rank == best] if best else []


def _affix(before: Any, after: Any) -> str:
    """What was put before or after a value to make it right: `#` for `W123` and `#W123`."""
    if not isinstance(before, str) or not isinstance(after, str) or len(before) < 3 or not 0 < len(after) - len(before) <= 6:
        return ""
    added = after.removesuffix(before) if after.endswith(before) else after.removeprefix(before) if after.startswith(before) else ""
    return printable(added) if added and not added.isalnum() else ""


def _is_known(value: Any, actions: Sequence[Action]) -> bool:
    """Whether a look-up showed a value, so that the rejection was not for its being unknown."""
    return given_by(value, actions) is not None
