"""What `tenure learn` brought to the scopes of several projects: counts by project, and a preview of the best lessons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, counted, one_line

if TYPE_CHECKING:
    from tenure.playbook.lessons import Lesson
    from tenure.serving.cli.destinations import Destination, Destinations
    from tenure.traces import Projects

BEST = 10
"""Lessons that a preview shows."""

QUOTED = 160
"""Characters of a step that a preview quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLesson:
    """A lesson that was learned just now.

    Attributes:
        at: where it stands.
        lesson: the lesson.
        quote: what the step that shows it says, and in which session; empty if the run is not kept.
    """

    at: Destination
    lesson: Lesson
    quote: str = ""


def new_in(places: Destinations) -> list[NewLesson]:
    """Lessons that came to where runs went since, those that most runs support first."""
    found: list[NewLesson] = []
    for at, arrived in places.arrivals.items():
        with places.looking_at(at) as reading:
            found += [NewLesson(at=at, lesson=lesson) for lesson in reading.since(arrived.version)]
    return sorted(found, key=lambda one: (-one.lesson.tallies.support, -one.lesson.tallies.helpful, one.at.scope, one.lesson.id))


def with_evidence(places: Destinations, new: Sequence[NewLesson]) -> list[NewLesson]:
    """The same lessons with the step that shows each."""
    return [replace(one, quote=_quote(places, one)) for one in new]


def _quote(places: Destinations, new: NewLesson) -> str:
    with places.looking_at(new.at) as reading:
        for place in new.lesson.evidence:
            run = reading.run(place.run)
            if run is None or not 0 <= place.step < len(run.steps):
                continue
            step = run.steps[place.step]
            said = one_line(step.error or step.content or (f"{step.name} {dict(step.arguments)}" if step.name else ""), QUOTED)
            if said:
                return f"{run.session or run.id}, step {place.step + 1}: {said}"
    return ""


def show_projects(terminal: Terminal, places: Destinations, new: Sequence[NewLesson], projects: Projects) -> None:
    """Print what each scope got: runs, new lessons, and of which kind they are."""
    kinds = _kinds(places, new)
    rows: list[Sequence[Cell]] = [
        (
            at.scope,
            f"{arrived.runs:,}",
            f"{sum(kinds[at].values()):,}",
            ", ".join(f"{kind_said(kind)} {n:,}" for kind, n in kinds[at].most_common()),
        )
        for at, arrived in sorted(places.arrivals.items(), key=lambda item: (-item[1].runs, item[0].scope, item[0].database))
    ]
    terminal.text("\n")
    terminal.table(
        [
            Column(title="scope", style="cyan"),
            Column(title="runs", right=True),
            Column(title="new", right=True),
            Column(title="of kind", wraps=True),
        ],
        rows,
    )
    scopes = {at.scope for at in places.arrivals}
    gone = [folder for folder in projects.vanished if projects.folders[folder] in scopes]
    if gone:
        are = "is" if len(gone) == 1 else "are"
        terminal.say(f"{counted(len(gone), 'folder')} of these sessions {are} not there any more; the scope comes from the recorded path:")
        _listed(terminal, [f"{one_line(folder, 200)}  ->  {projects.folders[folder]}" for folder in gone])


def show_databases(terminal: Terminal, places: Destinations, *, format: str | None, dry_run: bool) -> None:
    """Say which runs went to databases of their projects, and how to bring the others' to projects that have none."""
    own = sorted(at for at in places.arrivals if at.database != places.at_hand.database)
    if own:
        would = "These would go to the database of their project" if dry_run else "These went to the database of their project"
        terminal.say(f"{would}, where its hooks and commands look:")
        _listed(terminal, [f"{at.scope}  ->  {at.shown}" for at in own])
    without = [at for at in sorted(places.arrivals) if places.commands(at, format=format)]
    if without:
        commands = [command for at in without for command in places.commands(at, format=format)]
        where = "would be" if dry_run else "are"
        terminal.say(
            f"{counted(len(commands), 'project')} without a database of {'its' if len(commands) == 1 else 'their'} own: lessons {where} in "
            f"{places.at_hand.shown}, where hooks and commands inside the project do not look. To bring them there:"
        )
        _listed(terminal, commands)


def tell_not_learned(terminal: Terminal, places: Destinations) -> None:
    """Name the sessions that were left because the database of their project could not take them, and why."""
    for at, left in sorted(places.not_learned.items(), key=lambda item: item[0]):
        if not left.runs:  # all was learned, and its vectors are missing
            terminal.warn(f"No vectors were made in the database of {at.scope}: {left.reason}")
            continue
        terminal.warn(
            f"{counted(left.runs, 'run')} of {at.scope} left, because the database of that project cannot take them: {left.reason}"
        )
        _listed(terminal, [f"session {one_line(session, 200)}" for session in left.sessions])
    if places.not_learned:
        terminal.say("The same command learns them once that is mended. All into one database: --db.")


def _listed(terminal: Terminal, lines: Sequence[str]) -> None:
    for line in lines[:BEST]:
        terminal.say(f"  {line}")
    if len(lines) > BEST:
        terminal.say(f"  and {len(lines) - BEST:,} more (--json has all)")


def _kinds(places: Destinations, new: Sequence[NewLesson]) -> dict[Destination, Counter[str]]:
    kinds: dict[Destination, Counter[str]] = {at: Counter() for at in places.arrivals}
    for one in new:
        kinds[one.at][one.lesson.kind] += 1
    return kinds


def show_best(terminal: Terminal, new: Sequence[NewLesson], left: int, *, scopes: bool) -> None:
    """Print a preview: the best of the new lessons, each with the step that shows it.

    Args:
        terminal: where to.
        new: the best ones, with their evidence.
        left: how many more there are.
        scopes: whether to name the scope of each.
    """
    if not new:
        return
    terminal.text("\n")
    terminal.heading(f"The best {counted(len(new), 'lesson')} of {len(new) + left:,}" if left else counted(len(new), "new lesson"))
    rows: list[Sequence[Cell]] = []
    for one in new:
        said: list[tuple[str, str]] = [(one.lesson.text, "")]
        if one.lesson.applies_when:
            said.append((f"\nApplies when: {one.lesson.applies_when}", ""))
        if one.quote:
            said.append((f"\n{one.quote}", "dim"))
        rows.append((f"{max(1, one.lesson.tallies.support):,}", [*said, *([(f"\n{one.at.scope}", "cyan")] if scopes else [])]))
    terminal.table([Column(title="runs", right=True), Column(title="lesson, and what shows it", wraps=True)], rows)


def kind_said(kind: str) -> str:
    """A kind of lesson in words."""
    return kind.replace("_", " ")


def projects_json(places: Destinations, new: Sequence[NewLesson], projects: Projects, *, format: str | None) -> dict[str, Any]:
    """What each scope got and in which database, and what was left, as JSON values."""
    kinds = _kinds(places, new)
    return {
        "projects": [
            {
                "scope": at.scope,
                "database": at.shown,
                "runs": arrived.runs,
                "new_lessons": sum(kinds[at].values()),
                "kinds": dict(kinds[at]),
                "folders": sorted(arrived.folders),
                "to_bring_there": places.commands(at, format=format),
            }
            for at, arrived in places.arrivals.items()
        ],
        "not_learned": [
            {"scope": at.scope, "database": at.shown, "runs": left.runs, "sessions": list(left.sessions), "reason": left.reason}
            for at, left in places.not_learned.items()
        ],
        "vanished_folders": list(projects.vanished),
    }
