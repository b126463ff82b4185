"""What rejected tool calls teach: what was accepted instead, or what to check first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from tenure.governance.hidden_text import quote
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Run
from tenure.roles.accepted import Advice, advice_of, blamed_arguments
from tenure.roles.actions import Action, actions_of, is_shell, key_name, leaves, plain_arguments, words_of
from tenure.roles.differences import closeness, differences, kept_share, shown, shown_command, words_alike
from tenure.roles.figures import figure_rule
from tenure.roles.provenance import check_for, given_by, said_by_person
from tenure.roles.reflection import Insight
from tenure.roles.signatures import headline, mask, says_something, signature
from tenure.roles.texts import tool_name

REPEATS_KEPT = 4
"""Steps kept as evidence of one error's recurrence."""

MOST_ERRORS = 24
"""Error signatures of one run that become insights: those that were cured, then those that came most often."""

EARLIER_READ = 5
"""Other runs that are searched for a look-up, the latest ones."""

_CURES_TRIED = 12
_REFUSED_BY_PERSON = re.compile(
    r"(?i)\bthe user (?:doesn't|does not|didn't) want to|\brejected by (?:the )?user\b|\[request interrupted by user"
)
# A failing test says something of the work, not of the tool: running it again after a repair is the tool's proper use.
_TEST_VERDICT = re.compile(
    r"(?i)^(?:#|E|=+)? ?(?:AssertionError|FAILED?\b|FAILURES\b|Failures?:|# (?:of # )?(?:tests? )?(?:failed|failing))"
    r"|\b# failed\b|tests? failed\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Episode:
    """All rejections of one signature in a run, and the call that was accepted, if there is one.

    `later` is an accepted call of the tool on another errand: it cures nothing, but shows what passes.
    """

    about: str
    masked: str
    failures: tuple[Action, ...]
    failed: Action
    cure: Action | None = None
    later: Action | None = None


def learn_from_errors(run: Run, actions: Sequence[Action], *, earlier: Sequence[Run] = ()) -> tuple[Insight, ...]:
    """One insight per error signature of a run, cured ones first, `MOST_ERRORS` at most.

    Args:
        run: the run.
        actions: its tool calls, as `actions_of` joins them.
        earlier: other runs, for look-ups that this run did not make.
    """
    episodes = [episode for episode in _episodes(actions) if _teaches(run, episode)]
    episodes.sort(key=lambda episode: (episode.cure is None, -len(episode.failures)))
    found = [_insight(run, actions, episode, earlier) for episode in episodes[:MOST_ERRORS]]
    return tuple(sorted(found, key=lambda insight: insight.kind != "tool_rule"))


def _episodes(actions: Sequence[Action]) -> list[_Episode]:
    by_signature: dict[str, list[Action]] = {}
    for action in actions:
        if action.error and not _REFUSED_BY_PERSON.search(action.error[:2000]):
            by_signature.setdefault(signature(action.tool, action.error), []).append(action)
    episodes = []
    for about, failures in by_signature.items():
        masked = mask(failures[0].error)
        if not says_something(masked) or (failures[0].command and _TEST_VERDICT.search(masked)):
            continue
        failed, cure = _cured(actions, failures)
        passed = (a for a in actions if a.tool == failed.tool and a.accepted and a.step > failed.step and not a.command)
        later = next(passed, None)
        episodes.append(_Episode(about=about, masked=masked, failures=tuple(failures), failed=failed, cure=cure, later=later))
    return episodes


def _teaches(run: Run, episode: _Episode) -> bool:
    """Whether an uncured error is worth a lesson: a shell command that failed once on the way to success is not."""
    once = len(episode.failures) == 1
    return not (episode.cure is None and once and run.outcome.success is True and bool(episode.failed.command))


def _cured(actions: Sequence[Action], failures: Sequence[Action]) -> tuple[Action, Action | None]:
    """The rejected call closest to an accepted one, and that one; the last rejected call and none if there is none."""
    tool, first = failures[0].tool, failures[0].step
    tries = 0
    for candidate in actions:
        if candidate.step <= first or candidate.tool != tool or not candidate.accepted:
            continue
        failed = next(failure for failure in reversed(failures) if failure.step < candidate.step)
        if _is_cure(actions, failed, candidate):
            return failed, candidate
        tries += 1
        if tries >= _CURES_TRIED:
            break
    return failures[-1], None


def _is_cure(actions: Sequence[Action], failed: Action, accepted: Action) -> bool:
    """Whether an accepted call is another try at what was rejected, and not another errand."""
    if failed.same_call(accepted):
        return True
    if failed.command or accepted.command:
        return words_alike(failed.command, accepted.command) >= 0.5
    if kept_share(failed.arguments, accepted.arguments) >= 0.5:
        return True
    changes = [change for change in differences(failed.arguments, accepted.arguments) if change.kind == "changed"]
    if not changes or len(plain_arguments(failed.arguments)) > 400:
        return False
    return all(_is_retry(actions, failed, accepted, change.path, change.before, change.after) for change in changes)


def _is_retry(actions: Sequence[Action], failed: Action, accepted: Action, path: str, before: Any, after: Any) -> bool:
    """Whether a changed value stands for the same thing: alike in writing, or the right one found for what the error calls wrong."""
    if isinstance(before, str) and isinstance(after, str):
        if "/" in before or "/" in after:
            before, after = before.rstrip("/").rsplit("/", 1)[-1], after.rstrip("/").rsplit("/", 1)[-1]
        if SequenceMatcher(None, before[:80], after[:80], autojunk=False).ratio() >= 0.7:
            return True
    between = [action for action in actions if failed.step < action.step < accepted.step]
    return closeness(failed.error, path, before) > 0 and given_by(after, between) is not None


def _insight(run: Run, actions: Sequence[Action], episode: _Episode, earlier: Sequence[Run]) -> Insight:
    advice, evidence = _advice(run, actions, episode, earlier)
    spent = [Evidence(run=run.id, step=episode.failures[0].step, role="error")]
    spent += [Evidence(run=run.id, step=failure.step, role="repeat") for failure in episode.failures[1:][-REPEATS_KEPT:]]
    cured = advice.accepted
    return Insight(
        text=f"{_opening(episode)}: {advice.text}.",
        kind="tool_rule" if cured else "common_error",
        about=episode.about,
        evidence=(*spent, *evidence),
        basis="structure",
    )


def cured_subjects(run: Run) -> frozenset[str]:
    """The error signatures for which a run shows what the tool accepted."""
    return frozenset(insight.about for insight in learn_from_errors(run, actions_of(run)) if insight.kind == "tool_rule")


def _opening(episode: _Episode) -> str:
    """Tool and masked error: `book_room error "amount does not match #"`."""
    return f'{tool_name(episode.failed.tool)} error "{quote(episode.masked)}"'


def _advice(run: Run, actions: Sequence[Action], episode: _Episode, earlier: Sequence[Run]) -> tuple[Advice, tuple[Evidence, ...]]:
    failed, cure = episode.failed, episode.cure
    if cure is not None:
        advice = advice_of(run, actions, failed, cure, since=episode.failures[0].step)
        return advice, (*_sources(advice), Evidence(run=run.id, step=cure.step, role="cure"))
    other = _sibling(actions, failed)
    if other is not None:
        text = f"try {tool_name(other.tool)} ({_names(other)}) instead; accepted where this was refused"
        return Advice(text=text, accepted=True), (Evidence(run=run.id, step=other.step, role="cure"),)
    advice = _check(run, actions, episode, earlier)
    later = [Evidence(run=run.id, step=episode.later.step, role="cure")] if episode.later is not None and advice.accepted else []
    return advice, (*_sources(advice), *later)


def _sources(advice: Advice) -> tuple[Evidence, ...]:
    return tuple(Evidence(run=run, step=step, role="source") for run, step in advice.sources)


def _sibling(actions: Sequence[Action], failed: Action) -> Action | None:
    """A look-up of the same thing by another way that was accepted soon after: `find_user_id_by_name_zip` after `..._by_email`."""
    if failed.changes_state or is_shell(failed.tool):
        return None
    words = words_of(failed.tool)
    soon = [action for action in actions if action.step > failed.step][:4]
    for action in soon:
        own = words_of(action.tool)
        alike = next((n for n, (a, b) in enumerate(zip(words, own, strict=False)) if a != b), min(len(words), len(own)))
        if action.accepted and action.tool != failed.tool and alike >= 3 and not action.changes_state:
            return action
    return None


def _names(action: Action) -> str:
    """The first names of a call's arguments."""
    return ", ".join(filter(None, map(key_name, list(action.arguments)[:3])))


def _check(run: Run, actions: Sequence[Action], episode: _Episode, earlier: Sequence[Run]) -> Advice:
    """What to check first where nobody knows yet what is accepted."""
    failed, error = episode.failed, headline(episode.failed.error)
    times = sum(failure.same_call(failed) for failure in episode.failures)
    often = "" if times < 2 else " twice" if times == 2 else f" {times} times"
    if failed.command:
        return Advice(text=f"check the cause first; do not repeat `{shown_command(failed.command)}` unchanged (refused{often})")
    rule = figure_rule(failed.arguments, None, error)
    if rule is not None:
        return Advice(text=f"check first that {rule.told(often)}; do not resend it unchanged")
    blamed = blamed_arguments(error, failed)
    if not blamed:
        known = _names(failed)
        values = ((path, shown(value, path)) for path, value in leaves(failed.arguments))
        example = next((f"{path} {value} refused" for path, value in values if value), "refused")
        return Advice(text=f"check {known or 'the arguments'} first; do not resend it unchanged ({example}{often})")
    path, value = blamed[0]
    paths = " and ".join(dict.fromkeys(path for path, _ in blamed[:2]))
    told = " ".join(filter(None, (shown(value, path) for path, value in blamed[:2])))
    passed = _accepted_later(episode, path)
    example = f" ({told or 'it'} refused{often}{passed})"
    check = check_for(error, blamed, _looked_up(run, actions, earlier), tool=failed.tool)
    if check is not None:
        how = check.told()
    elif said_by_person(value, run, failed.step) >= 0:
        how = f"confirm {paths} with the user first"
    else:
        how = f"check {paths} first"
    return Advice(
        text=f"{how}; do not resend it unchanged{example}",
        accepted=bool(passed),
        sources=((check.run, check.source.step),) if check is not None else (),
    )


def _accepted_later(episode: _Episode, path: str) -> str:
    """What the blamed argument was in a later accepted call, to be told beside what was refused."""
    if episode.later is None:
        return ""
    value = next((value for at, value in leaves(episode.later.arguments) if at == path), None)
    told = shown(value, path) if value is not None else ""
    return f", {told} accepted" if told else ""


def _looked_up(run: Run, actions: Sequence[Action], earlier: Sequence[Run]) -> Iterator[tuple[str, Sequence[Action]]]:
    """The calls of other runs, then of this one, so that of equally good look-ups this run's counts."""
    for other in earlier[-EARLIER_READ:]:
        yield other.id, actions_of(other)
    yield run.id, actions
