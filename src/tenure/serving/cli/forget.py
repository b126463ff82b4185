"""`tenure forget` and `tenure revoke`: taking things out for good, or out of use."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import UserError
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, counted, is_terminal, one_line
from tenure.serving.cli.request import IN_PART, OK, Request, person
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.learning.forgetting import Forgetting
    from tenure.learning.revoking import Revocation
    from tenure.playbook.lessons import Lesson
    from tenure.wiring import Tenure

LISTED = 12
"""Lessons and runs that are named on the terminal; `--json` has all."""

_BEYOND = (
    "Not reached: files that `tenure export` or you wrote elsewhere, backups and snapshots of the disk, what models were sent. "
    "Runs that come later are not searched for a subject."
)

_NOUNS = {
    "runs": ("run", "gone whole"),
    "runs cleaned": ("run", "kept, without what names a subject"),
    "lessons": ("lesson", "gone"),
    "lessons weakened": ("lesson", "kept, because others bear it out; evidence and counts gone"),
    "lessons cleaned": ("lesson", "kept, with a condition, a reason or a name less"),
    "observations": ("number", "gone from the tables"),
    "held changes": ("held change", "gone"),
    "failed replies": ("failed reply", "gone"),
    "settings": ("setting", "gone"),
    "deltas": ("delta", "of the ledger with less in it"),
    "memory entries": ("memory entry", "gone; the days, weeks and months above are built anew"),
    "memory texts": ("memory text", "with lines less, or gone"),
}

_PLURALS = {"failed reply": "failed replies", "memory entry": "memory entries"}


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    add_verb(
        app,
        "forget",
        forget,
        "tenure forget --run 2026-03-15-a7 --dry-run",
        'tenure forget --subject "Dana Whitfield" --subject dana@example.com --everywhere',
        "tenure forget --origin mallory/web",
        "tenure forget --scope acme/old --all",
    )
    add_verb(
        app,
        "revoke",
        revoke,
        "tenure revoke                         # which origins there are",
        "tenure revoke mallory/web --dry-run",
        'tenure revoke mallory/web --reason "planted records"',
        "tenure revoke mallory/web --lift",
    )


def forget(
    request: Request,
    run: Annotated[list[str] | None, typer.Option("--run", metavar="ID", help="A run, with what rests on it alone.")] = None,
    subject: Annotated[
        list[str] | None, typer.Option("--subject", metavar="TEXT", help="A name, an address, a number: wherever a text names it.")
    ] = None,
    origin: Annotated[
        list[str] | None, typer.Option("--origin", metavar="NAME", help="All that came from an origin, such as mallory/web.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that the scope holds.")] = False,
    everywhere: Annotated[bool, typer.Option("--everywhere", help="In every scope of the tenant (with --subject, --origin).")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    allow_again: Annotated[bool, typer.Option("--allow-again", help="Let a forgotten --run be learned if it comes back.")] = False,
    finish: Annotated[bool, typer.Option("--finish", help="Only clean the files of what was forgotten before.")] = False,
) -> int:
    """Forget for good: a run, a subject, an origin or a whole scope.

    What goes is shown first. It goes from runs, lessons, tables, held changes, search, the prompt and the ledger, and from
    the bytes of the database files. A tombstone in the ledger says who did it, when and how much, and the ledger can still
    be verified. It cannot be undone. A lesson that rests on a forgotten run alone goes; one that others bear out stays
    without it. A lesson that names a subject goes; a run stays without it. A subject is found whatever its case, accents
    and blanks, and inside of words too. A forgotten run is not learned when it comes back, until --allow-again.
    """
    terminal = request.terminal
    if finish:
        return _finish(request)
    if allow_again:
        return _allow_again(request, run or [])
    if everywhere and (run or everything or not (subject or origin)):
        raise UserError("--everywhere goes with --subject or --origin. A run or --all is of one scope: name it with --scope")
    with request.reading() if dry_run else request.writing() as book:
        found = _look(book, run or [], subject or [], origin or [], everything=everything, everywhere=everywhere)
        if request.as_json and dry_run:
            terminal.document({"scopes": {scope: _told(one) for scope, one in found.items()}, "dry_run": True})
            return OK
        if not request.as_json:
            for scope, one in found.items():
                _show(terminal, one, scope)
        if not found:
            _say_nothing(request, book, everywhere=everywhere)
            return OK
        if dry_run:
            terminal.say("Nothing was changed. To forget it, run it again without --dry-run.")
            return OK
        if not _agreed(terminal, yes=yes):
            return OK
        done = _carry_out(book, terminal, run or [], subject or [], origin or [], everything=everything, everywhere=everywhere)
    scrubbed = next(iter(done.values())).scrubbed
    if request.as_json:
        terminal.document({"scopes": {scope: _told(one) for scope, one in done.items()}, "dry_run": False})
    else:
        from tenure.learning.forgetting import scrubbing_told

        versions = ", ".join(f"{one.version} of {scope}" for scope, one in done.items())
        terminal.say(f"Forgotten. The tombstone is version {versions}: {request.command('log')}")
        if scrubbed is not None:
            (terminal.say if scrubbed.done else terminal.warn)(scrubbing_told(scrubbed))
            for path in scrubbed.elsewhere:
                terminal.warn(f"{path} was set aside as damaged and was left as it is; it may hold it.")
        terminal.say(_BEYOND)
    return OK if scrubbed is None or (scrubbed.done and not scrubbed.elsewhere) else IN_PART


def revoke(
    request: Request,
    origin: Annotated[
        str | None, typer.Argument(metavar="ORIGIN", help="Such as mallory/web. Without it: which there are.", show_default=False)
    ] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the ledger.")] = "",
    lift: Annotated[bool, typer.Option("--lift", help="Let a revoked origin count again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be out of use.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> int:
    """Revoke an origin: nothing that rests on it alone is used.

    Lessons, runs, numbers and counts that rest on the origin alone are out of use at once, and nothing more is learned from
    it. A lesson that others bear out stays without its counts. Texts stay in the ledger, to be looked into. `--lift`
    undoes it, and so does a rollback past it. To have texts gone for good: tenure forget --origin.
    """
    terminal = request.terminal
    if origin is None:
        return _list_origins(request)
    if lift:
        with request.writing() as book:
            back = book.lift_revocation(origin, author=person())
        if request.as_json:
            terminal.document(_revocation(back) | {"lifted": True, "dry_run": False})
            return OK
        what = f"{counted(len(back.runs), 'run')} and {counted(len(back.lessons), 'lesson')} are back"
        terminal.say(f"Origin '{origin}' counts again: {what} (version {back.version}).")
        return OK
    with request.reading() if dry_run else request.writing() as book:
        plan = book.revoke_origin(origin, reason=reason, dry_run=True)
        if not request.as_json:
            _show_revocation(terminal, plan)
        if dry_run:
            if request.as_json:
                terminal.document(_revocation(plan) | {"lifted": False, "dry_run": True})
            else:
                terminal.say("Nothing was changed. To revoke it, run it again without --dry-run.")
            return OK
        if not yes and not terminal.confirm(f"Revoke origin '{origin}'?"):
            terminal.say("Nothing was changed.")
            return OK
        done = book.revoke_origin(origin, reason=reason, author=person())
    if request.as_json:
        terminal.document(_revocation(done) | {"lifted": False, "dry_run": False})
        return OK
    terminal.say(f"Revoked (version {done.version}). To undo it: {request.command(f'revoke {origin} --lift')}")
    return OK


# -- parts of forget ----------------------------------------------------------------------------------


def _look(
    book: Tenure, runs: Sequence[str], subjects: Sequence[str], origins: Sequence[str], *, everything: bool, everywhere: bool
) -> dict[str, Forgetting]:
    """What would go, by scope; scopes in which nothing would are left out."""
    if everywhere:
        return book.forget_everywhere(subjects=tuple(subjects), origins=tuple(origins), dry_run=True)
    told = book.forget(runs=tuple(runs), subjects=tuple(subjects), origins=tuple(origins), scope=everything, dry_run=True)
    return {} if told.nothing else {book.scope: told}


def _carry_out(
    book: Tenure,
    terminal: Terminal,
    runs: Sequence[str],
    subjects: Sequence[str],
    origins: Sequence[str],
    *,
    everything: bool,
    everywhere: bool,
) -> dict[str, Forgetting]:
    def tell(step: str) -> None:
        terminal.say(f"Cleaning the files: {step} ...")

    if everywhere:
        return book.forget_everywhere(subjects=tuple(subjects), origins=tuple(origins), author=person(), tell=tell)
    told = book.forget(runs=tuple(runs), subjects=tuple(subjects), origins=tuple(origins), scope=everything, author=person(), tell=tell)
    return {book.scope: told}


def _agreed(terminal: Terminal, *, yes: bool) -> bool:
    """Whether it may be done.

    Raises:
        UserError: nobody is there to ask, and `--yes` was not given.
    """
    if yes:
        return True
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise UserError(
            "Nothing was forgotten: it cannot be undone, and there is nobody to ask. Look at it with --dry-run, then add --yes."
        )
    if terminal.confirm("Forget this for good? It cannot be undone."):
        return True
    terminal.say("Nothing was forgotten.")
    return False


def _finish(request: Request) -> int:
    from tenure.learning.forgetting import scrubbing_told

    with request.writing() as book:
        scrubbed = book.scrub(lambda step: request.terminal.say(f"Cleaning the files: {step} ..."))
    if request.as_json:
        request.terminal.document(
            {
                "scrubbed": {
                    "done": scrubbed.done,
                    "reason": scrubbed.reason,
                    "elsewhere": list(scrubbed.elsewhere),
                    "beyond": list(scrubbed.beyond),
                }
            }
        )
    else:
        (request.terminal.say if scrubbed.done else request.terminal.warn)(scrubbing_told(scrubbed))
    return OK if scrubbed.done else IN_PART


def _allow_again(request: Request, runs: Sequence[str]) -> int:
    if not runs:
        raise UserError("Name the run: tenure forget --run ID --allow-again")
    with request.writing() as book:
        allowed = {run: book.allow_again(run) for run in runs}
    if request.as_json:
        request.terminal.document({"allowed": allowed})
        return OK
    for run, was in allowed.items():
        request.terminal.say(f"Run '{run}' can be learned again." if was else f"Run '{run}' was not forgotten here. Nothing was changed.")
    return OK


def _say_nothing(request: Request, book: Tenure, *, everywhere: bool) -> None:
    if request.as_json:
        request.terminal.document({"scopes": {}, "dry_run": False})
        return
    where = "any scope of this tenant" if everywhere else f"scope {book.scope}"
    more = "" if everywhere else " Other scopes were not looked at: --scope names one, --everywhere takes all."
    request.terminal.say(f"Nothing of it was found in {where}. Nothing was changed.{more}")


def _show(terminal: Terminal, found: Forgetting, scope: str) -> None:
    """Say what goes in a scope."""
    terminal.heading(f"Scope {scope}")
    facts: list[tuple[str, Cell]] = []
    for name, count in found.counts.items():
        noun, fate = _NOUNS[name]
        facts.append((counted(count, noun, _PLURALS.get(noun, "")), fate))
    terminal.facts(facts)
    if found.runs:
        terminal.text(f"\nRuns: {_some([one_line(run, 60) for run in found.runs])}\n")
    if found.cleaned_runs:
        terminal.text(f"\nRuns that are cleaned: {_some([one_line(run, 60) for run in found.cleaned_runs])}\n")
    _list(terminal, "Lessons that go", found.lessons)
    _list(terminal, "Lessons that stay without it", found.weakened)
    for copy in found.copies:
        terminal.text(f"\nNot reached: {copy}.\n")


def _list(terminal: Terminal, title: str, lessons: Sequence[Lesson]) -> None:
    if not lessons:
        return
    terminal.text(f"\n{title}:\n")
    rows: list[Sequence[Cell]] = [(lesson.id, one_line(lesson.text, 200), lesson.status) for lesson in lessons[:LISTED]]
    terminal.table([Column(title="id", style="cyan"), Column(title="lesson", wraps=True), Column(title="status")], rows, headed=False)
    if len(lessons) > LISTED:
        terminal.text(f"and {len(lessons) - LISTED} more; --json has all\n")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")


def _told(found: Forgetting) -> Mapping[str, Any]:
    """What goes, for programs. Texts of lessons stand in it only before they are forgotten."""
    scrubbed = found.scrubbed
    before = found.version is None
    return {
        "kind": found.kind,
        "runs": list(found.runs) if before else len(found.runs),
        "cleaned_runs": list(found.cleaned_runs),
        "lessons": [_brief(lesson) for lesson in found.lessons] if before else [lesson.id for lesson in found.lessons],
        "weakened": [lesson.id for lesson in found.weakened],
        "cleaned_lessons": list(found.cleaned_lessons),
        "observations": found.observations,
        "held": list(found.held),
        "failed_replies": list(found.failed),
        "settings": list(found.settings),
        "deltas": found.deltas,
        "memory_entries": list(found.entries),
        "memory_texts": list(found.texts) if before else len(found.texts),
        "version": found.version,
        "scrubbed": None
        if scrubbed is None
        else {"done": scrubbed.done, "reason": scrubbed.reason, "elsewhere": list(scrubbed.elsewhere), "beyond": list(scrubbed.beyond)},
        "copies": list(found.copies),
    }


def _brief(lesson: Lesson) -> Mapping[str, str]:
    return {"id": lesson.id, "text": lesson.text, "status": lesson.status}


# -- parts of revoke ----------------------------------------------------------------------------------


def _list_origins(request: Request) -> int:
    with request.reading() as book, book.store.reading(book.scope) as reading:
        origins, revoked = dict(reading.origins()), sorted(book.revoked_origins)
    if request.as_json:
        request.terminal.document({"origins": origins, "revoked": revoked, "scope": book.scope})
        return OK
    if not origins:
        request.terminal.say("No run was kept here yet, so there are no origins.")
        return OK
    from tenure.learning.resting import names_origin

    rows: list[Sequence[Cell]] = [
        (name, f"{count:,}", "revoked" if any(names_origin(name, one) for one in revoked) else "") for name, count in origins.items()
    ]
    request.terminal.table([Column(title="origin", wraps=True), Column(title="runs", right=True), Column(title="")], rows)
    return OK


def _show_revocation(terminal: Terminal, plan: Revocation) -> None:
    terminal.heading(f"Origin {plan.origin}")
    facts: list[tuple[str, Cell]] = [
        (counted(len(plan.runs), "run"), "no longer recalled, compared or learned from"),
        (
            counted(len(plan.lessons), "lesson"),
            "retired: it rests on this origin alone" if len(plan.lessons) == 1 else "retired: they rest on this origin alone",
        ),
        (counted(len(plan.weakened), "lesson"), "kept without the counts of this origin"),
        (counted(plan.observations, "number"), "no longer counted in tables"),
        (counted(len(plan.held), "held change"), "rejected"),
        (counted(len(plan.entries), "memory entry", "memory entries"), "set aside; no longer recalled, and no day rests on it"),
    ]
    terminal.facts([(name, fate) for name, fate in facts if not name.startswith("0 ")])
    _list(terminal, "Lessons that are retired", plan.lessons)
    _list(terminal, "Lessons that stay", plan.weakened)


def _revocation(plan: Revocation) -> dict[str, Any]:
    return {
        "origin": plan.origin,
        "names": list(plan.names),
        "runs": list(plan.runs),
        "lessons": [_brief(lesson) for lesson in plan.lessons],
        "weakened": [lesson.id for lesson in plan.weakened],
        "observations": plan.observations,
        "held": list(plan.held),
        "memory_entries": list(plan.entries),
        "version": plan.version,
    }
