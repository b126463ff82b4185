"""What `tenure learn` brought to the scopes of several projects: counts by project, and a preview of the best lessons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, counted, one_line

if TYPE_CHECKING:
    from tenure.playbook.lessons import Lesson
    from tenure.playbook.run import Run
    from tenure.wiring import Tenure

BEST = 10
"""Lessons that a preview shows."""

QUOTED = 160
"""Characters of a step that a preview quotes."""


class Places:
    """Where reading has come to: how many bytes are done, and how each scope stood before it was learned into.

    Attributes:
        done: bytes of the files that are done.
        versions: version of each scope before its first run.
        runs: runs by scope.
    """

    def __init__(self, book: Tenure, sizes: Mapping[Path, int]) -> None:
        self._book, self._sizes, self._now = book, sizes, Path()
        self.done = 0
        self.versions: dict[str, int] = {}
        self.runs: Counter[str] = Counter()

    def at(self, file: Path, run: Run) -> Run:
        """The run, noting the file it comes from and how its scope stands."""
        from tenure.wiring import scoped

        if file != self._now:
            self.done += self._sizes.get(self._now, 0)
            self._now = file
        scope = scoped(run.scope) if run.scope else self._book.scope
        if scope not in self.versions:
            with self._book.store.reading(scope) as reading:
                self.versions[scope] = reading.version()
        return run


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLesson:
    """A lesson that was learned just now.

    Attributes:
        scope: where it stands.
        lesson: the lesson.
        quote: what the step that shows it says, and in which session; empty if the run is not kept.
    """

    scope: str
    lesson: Lesson
    quote: str = ""


def new_in(book: Tenure, versions: Mapping[str, int]) -> list[NewLesson]:
    """Lessons that came to these scopes since, those that most runs support first."""
    found: list[NewLesson] = []
    for scope, version in versions.items():
        with book.store.reading(scope) as reading:
            found += [NewLesson(scope=scope, lesson=lesson) for lesson in reading.since(version)]
    return sorted(found, key=lambda one: (-one.lesson.tallies.support, -one.lesson.tallies.helpful, one.scope, one.lesson.id))


def with_evidence(book: Tenure, new: Sequence[NewLesson]) -> list[NewLesson]:
    """The same lessons with the step that shows each."""
    return [replace(one, quote=_quote(book, one)) for one in new]


def _quote(book: Tenure, new: NewLesson) -> str:
    with book.store.reading(new.scope) as reading:
        for place in new.lesson.evidence:
            run = reading.run(place.run)
            if run is None or not 0 <= place.step < len(run.steps):
                continue
            step = run.steps[place.step]
            said = one_line(step.error or step.content or (f"{step.name} {dict(step.arguments)}" if step.name else ""), QUOTED)
            if said:
                return f"{run.session or run.id}, step {place.step + 1}: {said}"
    return ""


def embed_elsewhere(book: Tenure, scopes: Mapping[str, int]) -> None:
    """Make the vectors that are missing in scopes other than the one that was opened."""
    for scope in scopes:
        if scope != book.scope:
            book.in_scope(scope).embed()


def show_projects(terminal: Terminal, runs: Mapping[str, int], new: Sequence[NewLesson], vanished: Mapping[str, str]) -> None:
    """Print what each scope got: runs, new lessons, and of which kind they are."""
    kinds: dict[str, Counter[str]] = {scope: Counter() for scope in runs}
    for one in new:
        kinds.setdefault(one.scope, Counter())[one.lesson.kind] += 1
    rows: list[Sequence[Cell]] = [
        (
            scope,
            f"{count:,}",
            f"{sum(kinds[scope].values()):,}",
            ", ".join(f"{kind_said(kind)} {n:,}" for kind, n in kinds[scope].most_common()),
        )
        for scope, count in sorted(runs.items(), key=lambda item: (-item[1], item[0]))
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
    gone = [folder for folder, scope in vanished.items() if scope in runs]
    if gone:
        are = "is" if len(gone) == 1 else "are"
        terminal.say(f"{counted(len(gone), 'folder')} of these sessions {are} not there any more; the scope comes from the recorded path:")
        for folder in gone[:BEST]:
            terminal.say(f"  {one_line(folder, 200)}  ->  {vanished[folder]}")
        if len(gone) > BEST:
            terminal.say(f"  and {len(gone) - BEST:,} more (--json has all)")


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
        rows.append((f"{max(1, one.lesson.tallies.support):,}", [*said, *([(f"\n{one.scope}", "cyan")] if scopes else [])]))
    terminal.table([Column(title="runs", right=True), Column(title="lesson, and what shows it", wraps=True)], rows)


def kind_said(kind: str) -> str:
    """A kind of lesson in words."""
    return kind.replace("_", " ")


def projects_json(runs: Mapping[str, int], new: Sequence[NewLesson], folders: Mapping[str, str], vanished: Sequence[str]) -> dict[str, Any]:
    """What each scope got, as JSON values."""
    kinds: dict[str, Counter[str]] = {scope: Counter() for scope in runs}
    for one in new:
        kinds.setdefault(one.scope, Counter())[one.lesson.kind] += 1
    return {
        "projects": [
            {
                "scope": scope,
                "runs": count,
                "new_lessons": sum(kinds[scope].values()),
                "kinds": dict(kinds[scope]),
                "folders": sorted(folder for folder, where in folders.items() if where == scope),
            }
            for scope, count in runs.items()
        ],
        "vanished_folders": list(vanished),
    }
