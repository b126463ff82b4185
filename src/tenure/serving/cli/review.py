"""Changes that wait for a person: `tenure review`, and its commands to list, show, approve, edit, reject and take back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import UserError
from tenure.serving.cli.output import counted, is_terminal, one_line
from tenure.serving.cli.request import OK, Request, person, read_text
from tenure.serving.cli.review_screens import effects, said, show_change, show_conflicts, show_decided, show_list, would_change
from tenure.serving.cli.verbs import add_group, add_verb

if TYPE_CHECKING:
    from tenure.learning.review import Decided, Ruling
    from tenure.ports import HeldChange, Reading

Id = Annotated[
    str, typer.Argument(metavar="ID", help="Its number in the list, its id, or as much of it as makes it unique.", show_default=False)
]
Named = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Its number in the list, its id, or as much of it as makes it unique.", show_default=False),
]
All = Annotated[bool, typer.Option("--all", help="Everything that waits.")]
Author = Annotated[str, typer.Option("--author", metavar="TEXT", help="Only what somebody proposed whose name holds this.")]
OfRun = Annotated[str, typer.Option("--run", metavar="ID", help="Only what came from runs whose id begins so.")]
Section = Annotated[str, typer.Option("--section", metavar="NAME", help="Only lessons of this section.")]
Reason = Annotated[
    str, typer.Option("--held-for", "--reason", metavar="TEXT", help="Only what waits for a reason or rule that holds this.")
]
HeldFor = Annotated[str, typer.Option("--held-for", metavar="TEXT", help="Only what waits for a reason or rule that holds this.")]
Why = Annotated[str, typer.Option("--reason", "--note", metavar="TEXT", help="Why, for those who read the log.")]
FromOrigin = Annotated[str, typer.Option("--origin", metavar="TEXT", help="Only words from an origin whose name holds this.")]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why, for those who read the log.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Only a terminal is asked at all.")]

CLOSED = ("approved", "edited", "rejected", "corroborated", "refused")
"""States of changes that wait no more."""


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    group = add_group(
        app,
        "review",
        "Look at changes that wait for a person, and decide.",
        "tenure review",
        "tenure review show 1",
        "tenure review approve 1 3",
        "tenure review reject --origin tips.example --reason spam",
        "tenure review undo",
        default=walk_or_list,
    )
    add_verb(
        group, "list", list_, "tenure review list", "tenure review list --origin web --held-for untrusted", "tenure review list --json"
    )
    add_verb(group, "show", show, "tenure review show 1")
    add_verb(
        group, "approve", approve, "tenure review approve 1 3", "tenure review approve --section mail", "tenure review approve --all --yes"
    )
    add_verb(
        group, "edit", edit, 'tenure review edit 2 --text "Answer in the language of the mail."', "tenure review edit 2    # in your editor"
    )
    add_verb(group, "reject", reject, 'tenure review reject 2 --reason "it names a customer"', "tenure review reject --run week-9")
    add_verb(group, "undo", undo, "tenure review undo", "tenure review undo 17", lenient=True)
    add_verb(group, "decided", decided, "tenure review decided", "tenure review decided --state refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a list is narrowed to; empty texts narrow nothing. Capitals do not matter."""

    author: str = ""
    run: str = ""
    section: str = ""
    reason: str = ""
    origin: str = ""

    @property
    def given(self) -> bool:
        """Whether it narrows anything."""
        return any((self.author, self.run, self.section, self.reason, self.origin))

    def takes(self, change: HeldChange, reading: Reading) -> bool:
        """Whether a change is among what is asked for."""
        holds = (
            (self.author, change.author),
            (self.reason, f"{change.reason}\n{change.rule}"),
            (self.origin, change.origin),
        )
        if any(part.casefold() not in whole.casefold() for part, whole in holds):
            return False
        if self.run and not change.run.startswith(self.run):
            return False
        return not self.section or _section_of(change, reading).casefold() == self.section.strip().casefold()


def _section_of(change: HeldChange, reading: Reading) -> str:
    section = getattr(change.operation, "section", "")
    named = getattr(change.operation, "id", None) or getattr(change.operation, "into", None)
    if not section and named:
        lesson = reading.lesson(named)
        section = lesson.section if lesson is not None else ""
    return section or ""


def walk_or_list(request: Request) -> int:
    """Walk through what waits, where there is a person at a terminal; else list it."""
    if request.as_json or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return list_(request)
    from tenure.serving.cli.review_walk import walk

    return walk(request)


def list_(
    request: Request,
    author: Author = "",
    run: OfRun = "",
    section: Section = "",
    reason: Reason = "",
    origin: FromOrigin = "",
    number: Annotated[int, typer.Option("-n", "--number", metavar="N", min=0, help="How many at most; 0 for all.")] = 50,
    first: Annotated[int, typer.Option("--from", metavar="N", min=1, help="Begin at this number of the list.")] = 1,
) -> int:
    """List the changes that wait and the lessons that contradict."""
    from tenure.learning.review import conflicts_in, held_changes

    terminal = request.terminal
    asked = Filter(author=author, run=run, section=section, reason=reason, origin=origin)
    with request.reading() as book, book.store.reading(book.scope) as reading:
        held = held_changes(reading)
        chosen = [(place, change) for place, change in enumerate(held, 1) if asked.takes(change, reading)]
        found = () if asked.given else conflicts_in(reading)
        texts = {one: lesson.text for one, lesson in reading.named([one for conflict in found for one in conflict.ids]).items()}
        scope = book.scope
    if request.as_json:
        from tenure.serving.wire import held_json

        told = [{"ids": list(conflict.ids), "reason": conflict.reason} for conflict in found]
        terminal.document({"held": [held_json(change, place) for place, change in chosen], "conflicts": told, "scope": scope})
        return OK
    if found and first == 1:
        show_conflicts(terminal, found, texts)
        terminal.say("Decide by writing what holds (tenure apply) or retiring what does not. Nothing is merged by itself.")
    if not held and found:
        return OK
    if not chosen:
        narrowed = f" of the {counted(len(held), 'change')} that {'wait' if len(held) != 1 else 'waits'}" if held else ""
        terminal.say(f"Nothing{narrowed} is like that in scope {scope}." if held else f"Nothing waits for a review in scope {scope}.")
        return OK
    later = [(place, change) for place, change in chosen if place >= first]
    page = later[:number] if number else later
    show_list(terminal, page)
    if len(page) < len(later):
        after = later[len(page)][0]
        terminal.say(
            f"{len(page):,} of {counted(len(chosen), 'change')}. Go on: {request.command(f'review list --from {after}')}   All: -n 0"
        )
    terminal.say(
        f"Look at one: {request.command(f'review show {page[0][0] if page else 1}')}   Decide: tenure review approve|edit|reject NUMBER..."
    )
    return OK


def show(request: Request, id: Id) -> int:
    """Show one change that waits, and what it rests on.

    What it would change in the playbook as it is now, why it waits, whose words it may be, and the steps word for word.
    """
    from tenure.learning.review import find_held, held_changes

    terminal = request.terminal
    with request.reading() as book, book.store.reading(book.scope) as reading:
        waiting = held_changes(reading)
        change = find_held(reading, id, waiting=waiting)
        number = [one.id for one in waiting].index(change.id) + 1
        if request.as_json:
            from tenure.serving.wire import held_json

            lines = [
                {"mark": one.mark, "lesson": one.lesson, "field": one.field or "text", "text": one.text}
                for one in would_change(reading, change)
            ]
            terminal.document(
                {"held": [held_json(change, number)], "would_change": lines, "quotes": _quotes(reading, change), "scope": book.scope}
            )
            return OK
        show_change(terminal, reading, change)
    verbs = [verb for verb in ("approve", "edit", "reject") if verb != "edit" or getattr(change.operation, "text", None) is not None]
    decide = "   ".join(request.command(f"review {verb} {number}") for verb in verbs)
    terminal.say(f"\nDecide: {decide}")
    return OK


def _quotes(reading: Reading, change: HeldChange) -> list[dict[str, object]]:
    from tenure.serving.cli.review_screens import quoted, stranger_step

    places = [(place.run, place.step, place.role) for place in getattr(change.operation, "evidence", ())]
    source = reading.run(change.run) if change.run else None
    if (stranger := stranger_step(reading, source, change)) >= 0:
        places.append((change.run, stranger, "stranger"))
    return [{"run": run, "step": step, "role": role, "quote": quoted(reading.run(run), step)} for run, step, role in places]


def approve(
    request: Request,
    ids: Named = None,
    everything: All = False,
    author: Author = "",
    run: OfRun = "",
    section: Section = "",
    reason: Reason = "",
    origin: FromOrigin = "",
    note: Note = "",
    anyway: Annotated[bool, typer.Option("--anyway", help="Also what would be refused today; only for changes that you name.")] = False,
    yes: Yes = False,
) -> int:
    """Carry changes out.

    All that you name, or all that a filter takes. They become one delta of yours, which tenure review undo takes back. What
    admission would refuse today (hidden characters, orders to ignore instructions) is left open, unless you name it and
    say --anyway.
    """
    asked = Filter(author=author, run=run, section=section, reason=reason, origin=origin)
    if anyway and not ids:
        raise UserError("--anyway is for changes that you name one by one: what would be refused is looked at by itself.")
    return _decide(request, "approved", ids, everything, asked, note=note, anyway=anyway, yes=yes)


def reject(
    request: Request,
    ids: Named = None,
    everything: All = False,
    author: Author = "",
    run: OfRun = "",
    section: Section = "",
    held_for: HeldFor = "",
    origin: FromOrigin = "",
    note: Why = "",
    yes: Yes = False,
) -> int:
    """Close changes without carrying them out.

    All that you name, or all that a filter takes. A held lesson is retired and does not come back in the same words. Texts
    stay readable in the log.
    """
    asked = Filter(author=author, run=run, section=section, reason=held_for, origin=origin)
    return _decide(request, "rejected", ids, everything, asked, note=note, anyway=False, yes=yes)


def edit(
    request: Request,
    id: Id,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="What it is to say; - reads stdin. Without it your editor opens.")
    ] = None,
    applies_when: Annotated[
        str | None, typer.Option("--applies-when", metavar="TEXT", help="Under which conditions; an empty text means always.")
    ] = None,
    note: Note = "",
) -> int:
    """Approve a change in other words: yours.

    You are its author from then on. What a learned lesson could not say is done all the same, with a warning.
    """
    from tenure.learning.review import Ruling, find_held
    from tenure.learning.review import decide as carry_out

    terminal = request.terminal
    with request.reading() as book, book.store.reading(book.scope) as reading:
        change = find_held(reading, id)
    if text is None and applies_when is None:
        from tenure.serving.cli.review_walk import edited

        found = edited(change)
        if found is None:
            terminal.say("Nothing was changed.")
            return OK
        text, applies_when = found
    elif text == "-":
        text = read_text("-", terminal, what="text").strip("\n")
    if text is not None and not text.strip():
        raise UserError("The text is empty. To leave the lesson out: tenure review reject")
    with request.writing() as book, book.store.writing(book.scope) as work:
        ruling = Ruling(change=find_held(work, change.id), state="edited", text=text, applies_when=applies_when, note=note)
        done = carry_out(work, [ruling], ids=book.ids, at=book.clock.now(), author=person())
    show_done(request, [ruling], done, book.scope)
    return OK


def undo(
    request: Request,
    batch: Annotated[
        str | None,
        typer.Argument(metavar="VERSION", help="The batch, as tenure log numbers it; without it, the newest.", show_default=False),
    ] = None,
    yes: Yes = False,
) -> int:
    """Take back one batch of a review in one step; its changes wait again.

    What others changed since stays, and is named. To go back to an earlier state as a whole: tenure rollback
    """
    from tenure.learning.taking_back import find_batch, undo_review

    terminal = request.terminal
    with request.writing() as book:
        with book.store.reading(book.scope) as reading:
            entry = find_batch(reading, batch or "")
        told = one_line(entry.delta.note, 160)
        if not (yes or request.as_json) and not terminal.confirm(f"Take back version {entry.version} ({told})?"):
            terminal.say("Nothing was changed.")
            return OK
        with book.store.writing(book.scope) as work:
            done = undo_review(work, str(entry.version), ids=book.ids, at=book.clock.now(), author=person())
    if request.as_json:
        terminal.document(
            {
                "batch": done.batch,
                "taken_back": done.at_version,
                "version": done.version,
                "reopened": list(done.reopened),
                "left": list(done.left),
                "scope": book.scope,
            }
        )
        return OK
    for sentence in done.left:
        terminal.warn(sentence)
    again = f"{counted(len(done.reopened), 'change')} {'wait' if len(done.reopened) != 1 else 'waits'} again"
    terminal.say(f"Took back version {done.at_version} ({told}), as version {done.version}: {again}. See: {request.command('review list')}")
    return OK


def decided(
    request: Request,
    state: Annotated[str, typer.Option("--state", metavar="STATE", help=f"Only {', '.join(CLOSED)}.")] = "",
    number: Annotated[int, typer.Option("-n", "--number", metavar="N", min=0, help="How many, newest first; 0 for all.")] = 20,
) -> int:
    """List what was decided, newest first.

    By whom, when and why. Also what was refused outright.
    """
    if state and state not in CLOSED:
        raise UserError(f"There is no state '{state}'. Use one of: {', '.join(CLOSED)}.")
    terminal = request.terminal
    with request.reading() as book, book.store.reading(book.scope) as reading:
        found = [change for one in CLOSED if one == (state or one) for change in reading.held(state=one)]
        found.sort(key=lambda change: (change.batch, change.at, change.id), reverse=True)
        some = found[:number] if number else found
        versions = {one: reading.version_of(one) for one in {change.batch for change in some} - {""}}
    if request.as_json:
        from tenure.serving.wire import held_json

        told = [{**held_json(change, 0), "version": versions.get(change.batch)} for change in some]
        terminal.document({"decided": told, "scope": book.scope})
        return OK
    if not found:
        terminal.say(f"Nothing was decided in scope {book.scope} yet.")
        return OK
    show_decided(terminal, [(change, versions.get(change.batch)) for change in some])
    if len(some) < len(found):
        terminal.say(f"{len(found) - len(some):,} earlier ones are not shown. See all: {request.command('review decided -n 0')}")
    return OK


# -- a batch -------------------------------------------------------------------------------------------


def _decide(
    request: Request, state: str, ids: Sequence[str] | None, everything: bool, asked: Filter, *, note: str, anyway: bool, yes: bool
) -> int:
    from tenure.learning.review import Ruling
    from tenure.learning.review import decide as carry_out

    terminal = request.terminal
    with request.writing() as book:
        with book.store.reading(book.scope) as reading:
            changes = _chosen(reading, ids, everything, asked)
        rulings = [Ruling(change=change, state=state, note=note) for change in changes]
        if not changes:
            if request.as_json:
                terminal.document({state: [], "receipts": [], "version": None, "scope": book.scope})
            else:
                waits = "Nothing waits that is like that" if asked.given else "Nothing waits for a review"
                terminal.say(f"{waits} in scope {book.scope}.")
            return OK
        if len(changes) > 1 and not (yes or request.as_json):
            show_list(terminal, list(enumerate(changes[:10], 1)))
            if len(changes) > 10:
                terminal.say(f"and {len(changes) - 10:,} more")
            if not terminal.confirm(what_will_happen(rulings)):
                terminal.say("Nothing was changed.")
                return OK
        with book.store.writing(book.scope) as work:
            # What somebody decided while the question stood is left as it is.
            open_now = {change.id for change in _waiting(work)}
            rulings = [one for one in rulings if one.change.id in open_now]
            done = carry_out(work, rulings, ids=book.ids, at=book.clock.now(), author=person(), anyway=anyway)
    show_done(request, rulings, done, book.scope)
    return OK


def _waiting(reading: Reading) -> Sequence[HeldChange]:
    from tenure.learning.review import held_changes

    return held_changes(reading)


def what_will_happen(rulings: Sequence[Ruling]) -> str:
    """What carrying out some rulings does, as a question."""
    parts: list[str] = []
    approved = [one.change.operation for one in rulings if one.state != "rejected"]
    rejected = sum(one.state == "rejected" for one in rulings)
    if approved:
        parts.append(f"Approve {counted(len(approved), 'change')}: {effects(approved)}")
    if rejected:
        gone = "nothing of it comes into use, and a held lesson does not come back in the same words"
        parts.append(f"{'reject' if parts else 'Reject'} {counted(rejected, 'change')}: {gone}")
    return f"{'; '.join(parts)}. All of it is one version, which one step takes back (tenure review undo). Go on?"


def show_done(request: Request, rulings: Sequence[Ruling], done: Decided, scope: str) -> None:
    """Say what came of a batch."""
    terminal = request.terminal
    pairs = list(zip(rulings, done.receipts, strict=True))
    stopped = [(one, receipt) for one, receipt in pairs if receipt.status == "skipped" and receipt.reason.startswith("left open")]
    left_open = {one.change.id for one, _ in stopped}
    carried = [one for one, _ in pairs if one.change.id not in left_open]
    by_state = {state: [one.change.id for one in carried if one.state == state] for state in ("approved", "edited", "rejected")}
    if request.as_json:
        from tenure.playbook.delta import OPERATION_NAMES
        from tenure.serving.wire import receipt_json

        receipts = [receipt_json(receipt, OPERATION_NAMES[type(one.change.operation)]) for one, receipt in pairs]
        states = {state: found for state, found in by_state.items() if found or any(one.state == state for one in rulings)}
        left = [{"id": one.change.id, "reason": receipt.reason} for one, receipt in stopped]
        told = {
            "receipts": receipts,
            "left_open": left,
            "warnings": list(done.warnings),
            "version": done.version,
            "batch": done.batch or None,
        }
        terminal.document({**states, **told, "scope": scope})
        return
    for one, receipt in pairs[:20]:
        why = f" ({receipt.reason})" if receipt.reason and receipt.reason != "closed" else ""
        word = one.state if receipt.status != "skipped" else receipt.status
        terminal.say(f"{word}: {said(one.change.operation, in_words=one.text if word == 'edited' else None)}{why}")
    if len(pairs) > 20:
        terminal.say(f"and {len(pairs) - 20:,} more")
    for warning in done.warnings:
        terminal.warn(warning)
    if stopped:
        terminal.warn(
            f"Left {counted(len(stopped), 'change')} open that would be refused today. Look: {request.command('review list')}. "
            "To approve one all the same: tenure review approve ID --anyway"
        )
    parts = [f"{state} {counted(len(found), 'change')}" for state, found in by_state.items() if found]
    if parts:
        undo = request.command("review undo")
        sentence = " and ".join(parts)
        if not by_state["approved"] and not by_state["edited"]:
            terminal.say(f"This is version {done.version}. Undo it: {undo}")
            terminal.say(f"{sentence[0].upper()}{sentence[1:]}.")
        else:
            terminal.say(f"{sentence[0].upper()}{sentence[1:]}, as version {done.version}. Undo it: {undo}")


def _chosen(reading: Reading, ids: Sequence[str] | None, everything: bool, asked: Filter) -> list[HeldChange]:
    from tenure.learning.review import find_held

    waiting = _waiting(reading)
    if ids and (everything or asked.given):
        raise UserError("Name the changes, or use --all or a filter, not both.")
    if everything or asked.given:
        return [change for change in waiting if asked.takes(change, reading)]
    if not ids:
        raise UserError("Name the changes, or use --all or a filter such as --origin. See them with their numbers: tenure review list")
    # All are looked up before any is decided, so that numbers mean what the list showed.
    return list({change.id: change for change in [find_held(reading, one, waiting=waiting) for one in ids]}.values())
