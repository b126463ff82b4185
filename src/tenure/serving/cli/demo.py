"""`tenure demo`: the tour, week by week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, counted
from tenure.serving.cli.request import OK, Request
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.evaluation.demo import Tour, Week
    from tenure.playbook.lessons import Lesson
    from tenure.ports import LanguageModel


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(
        app,
        "demo",
        demo,
        "tenure demo",
        "tenure demo --model openai:gpt-4o-mini    # a real agent instead of the scripted one",
        store=False,
    )


def demo(
    request: Request,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="Let this model act instead of the scripted agent.")] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Address of an OpenAI-compatible server for the model.")
    ] = None,
    weeks: Annotated[int, typer.Option("--weeks", metavar="N", min=1, max=52, help="How many Mondays.")] = 12,
) -> int:
    """Take the tour: twelve weeks of one task, without and with lessons.

    A small finance desk in this process; no key, no network, nothing is kept. The agent is scripted and says so.
    """
    from tenure.evaluation.demo import run_demo
    from tenure.opening import open_store
    from tenure.wiring import Tenure

    terminal = request.terminal
    agent = _agent(model, base_url)
    if not request.as_json:
        _introduce(terminal, agent)
    with Tenure(open_store("memory://"), "local/demo") as book:
        tour = run_demo(book, weeks=weeks, model=agent, tell=None if request.as_json else _Teller(terminal).tell)
        with book.store.reading(book.scope) as reading:
            numbers = {run: number for number, run in enumerate(reversed(reading.run_ids()), 1)}
    if request.as_json:
        from tenure.serving.wire import lessons_json

        found = {
            "agent": tour.agent,
            "weeks": [asdict(week) for week in tour.weeks],
            "lessons": lessons_json(tour.lessons),
            "note": tour.note,
        }
        terminal.document(found)
        return OK
    _conclude(terminal, tour, numbers)
    return OK


def _agent(model: str | None, base_url: str | None) -> LanguageModel | None:
    if model is None:
        return None
    from tenure.providers.models import open_model

    return open_model(model, base_url=base_url)


def _introduce(terminal: Terminal, agent: LanguageModel | None) -> None:
    who = (
        f"The agent is the model {agent.name}."
        if agent is not None
        else "The agent is scripted: it obeys the lessons it reads, and knows nothing else."
    )
    terminal.text(
        "Every Monday the same task: total last week's open invoices in EUR, and post the total.\n"
        "The desk rejects wrong calls; the second one in a week locks it, and the close goes to manual work.\n"
        f"{who}\n"
        "It works three times each week: without a memory; with a note that is rewritten after each run;\n"
        "and with Tenure, which learns from its runs.\n\n"
        "         without   rewritten note   Tenure\n"
    )


class _Teller:
    """Tells the weeks as they come; lessons are named when the agent begins to follow others than the week before."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._followed: tuple[str, ...] = ()

    def tell(self, week: Week) -> None:
        """Print one week as a line."""
        cells = [
            self._terminal.verdict(went, "closed", "failed", width)
            for went, width in ((week.without, 10), (week.overwrite, 17), (week.tenure, 10))
        ]
        said = []
        if week.obeyed and week.obeyed != self._followed:
            said.append(f"followed {', '.join(week.obeyed)}")
        if week.added:
            said.append(f"learned {counted(week.added, 'lesson')}")
        self._followed = week.obeyed
        self._terminal.text(f"week {week.number:<2}  {''.join(cells)}{'; '.join(said)}".rstrip())


def _conclude(terminal: Terminal, tour: Tour, weeks: Mapping[str, int]) -> None:
    total = len(tour.weeks)
    won = [sum(getattr(week, name) for week in tour.weeks) for name in ("without", "overwrite", "tenure")]
    terminal.text(f"\nClosed: {won[0]} of {total} weeks without a memory, {won[1]} with the rewritten note, {won[2]} with Tenure.")
    for name, memory in (("overwrite", "The rewritten note"), ("tenure", "Tenure")):
        lost = _relapses([getattr(week, name) for week in tour.weeks])
        if lost:
            terminal.text(
                f"{memory} had it right, and lost it again in {'week' if len(lost) == 1 else 'weeks'} {', '.join(map(str, lost))}."
            )
    _show_recurring(terminal, tour)
    if tour.lessons:
        from tenure.playbook.lessons import short_ids

        ids = short_ids([lesson.id for lesson in tour.lessons])
        terminal.text("\nThe lessons that did it, with their evidence and counts:\n")
        rows: list[Sequence[Cell]] = [
            (
                ids[lesson.id],
                [(lesson.text, ""), (f"\n{_from(lesson, weeks)}", "dim")],
                f"{lesson.tallies.support:,}",
                f"{lesson.tallies.helpful:,}",
                f"{lesson.tallies.harmful:,}",
            )
            for lesson in tour.lessons
        ]
        columns = [Column(title="id", style="cyan"), Column(title="lesson", wraps=True), Column(title="runs", right=True)]
        terminal.table([*columns, Column(title="helped", right=True), Column(title="harmed", right=True)], rows)
    if tour.note:
        terminal.text("\nWhat the rewritten note says by now:\n")
        terminal.table([Column(title="", wraps=True)], [(tour.note,)], headed=False)
    terminal.say("\nNow with runs of your own: tenure learn PATH   (what is a run: tenure learn --help)")


def _show_recurring(terminal: Terminal, tour: Tour) -> None:
    """The rejections of the agent without a memory, as families: figures and names masked."""
    from tenure.roles.signatures import mask

    families = Counter(mask(error) for week in tour.weeks for error in week.errors)
    if families:
        terminal.text("\nWhat was rejected, again and again, without a memory:\n")
        rows: list[Sequence[Cell]] = [(f"{number:,} times", family) for family, number in families.most_common()]
        terminal.table([Column(title="", right=True), Column(title="", wraps=True)], rows, headed=False)


def _relapses(went: Sequence[bool]) -> list[int]:
    """Weeks that failed after an earlier one had gone well."""
    return [place + 1 for place, good in enumerate(went) if not good and any(went[:place])]


def _from(lesson: Lesson, weeks: Mapping[str, int]) -> str:
    """Where a lesson comes from, in weeks and steps."""
    places = [
        f"week {weeks[place.run]}{f', step {place.step}' if place.step >= 0 else ''}: {place.role}"
        for place in lesson.evidence[:4]
        if place.run in weeks
    ]
    more = f" and {len(lesson.evidence) - 4} more" if len(lesson.evidence) > 4 else ""
    return f"from {'; '.join(places)}{more}" if places else ""
