"""The ledger read back: `tenure log`, `diff`, `blame` and `rollback`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import UserError
from tenure.serving.cli import completion, figures
from tenure.serving.cli.elsewhere import next_step
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, counted, local_time, one_line
from tenure.serving.cli.request import OK, Request, person
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.learning.history import Blame, Difference, TableDifference
    from tenure.playbook.delta import Delta, Operation
    from tenure.ports import LedgerEntry, Reading

_MARKS = {
    "added": ("+", "green"),
    "restored": ("+", "green"),
    "changed": ("~", "yellow"),
    "counted": ("=", "dim"),
    "merged": (">", "yellow"),
    "retired": ("-", "red"),
    "removed": ("-", "red"),
}

_DECIDED = {"open": "held again", "refused": "refused outright"}
"""How decisions on held changes are counted in the log, where the state alone would not say it."""

_VERBS = {
    "ADD": ("lesson added", "lessons added"),
    "THERE": ("lesson already there", "lessons already there"),
    "HELD": ("lesson held", "lessons held"),
    "UPDATE": ("update", "updates"),
    "TALLY": ("count", "counts"),
    "MERGE": ("merge", "merges"),
    "RETIRE": ("retired", "retired"),
    "RESTORE": ("restored", "restored"),
    "PIN": ("pin", "pins"),
    "OBSERVE": ("observation", "observations"),
    "REVOKE": ("revocation", "revocations"),
}


def register(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    add_verb(app, "log", log, "tenure log", "tenure log -n 5", "tenure log -n 0 --json    # everything")
    add_verb(
        app,
        "diff",
        diff,
        "tenure diff 3          # from version 3 to now",
        "tenure diff 3 5",
        "tenure diff -1         # what the newest change did",
        lenient=True,
    )
    add_verb(app, "blame", blame, "tenure blame inv-7k2m9q")
    add_verb(app, "rollback", rollback, "tenure rollback 12", "tenure rollback -1      # undo the newest change", lenient=True)


def log(
    request: Request,
    number: Annotated[int, typer.Option("-n", "--number", metavar="N", min=0, help="How many, newest first; 0 for all.")] = 20,
) -> int:
    """List the changes, newest first.

    Each is a delta with an author and a cause; its version is what diff and rollback take.
    """
    terminal = request.terminal
    with request.reading() as book, book.store.reading(book.scope) as reading:
        entries = list(reading.ledger(newest_first=True, limit=number or None))
        newest = reading.version()
        instead = "" if entries else next_step(request, book, "log")
        repeated = {} if request.as_json else {entry.version: _repeated(reading, entry.delta) for entry in entries}
    if request.as_json:
        from tenure.serving.wire import entry_json

        terminal.document({"deltas": [entry_json(entry) for entry in entries], "newest": newest, "scope": book.scope})
        return OK
    if not entries:
        terminal.say(f"Nothing has changed in scope {book.scope} yet. {instead}")
        return OK
    rows: list[Sequence[Cell]] = [
        (
            str(entry.version),
            local_time(entry.delta.time),
            entry.delta.cause,
            one_line(entry.delta.author, 80),
            _what(entry, repeated[entry.version]),
        )
        for entry in entries
    ]
    columns = [
        Column(title="version", right=True, style="cyan"),
        Column(title="when"),
        Column(title="cause"),
        Column(title="by", wraps=True),
    ]
    terminal.table([*columns, Column(title="what", wraps=True)], rows)
    if len(entries) < newest:
        terminal.say(f"{newest - len(entries):,} earlier ones are not shown. See all: {request.command('log -n 0')}")
    return OK


def diff(
    request: Request,
    before: Annotated[
        str, typer.Argument(metavar="A", help="A version, a delta's id, or -N for N changes before the newest.", show_default=False)
    ],
    after: Annotated[str | None, typer.Argument(metavar="B", help="Likewise; without it, now.", show_default=False)] = None,
) -> int:
    """Show how lessons differ between two versions."""
    from tenure.learning.history import compare, compare_tables, find_version

    terminal = request.terminal
    _refuse_options(before, after)
    with request.reading() as book, book.store.reading(book.scope) as reading:
        first = find_version(reading, before)
        last = find_version(reading, after) if after is not None else reading.version()
        books = (reading.playbook(first), reading.playbook(last))
        found, numbers = compare(*books), compare_tables(*books)
    if request.as_json:
        from tenure.serving.wire import difference_json

        said = {"before": first, "after": last, "differences": [difference_json(one) for one in found], "scope": book.scope}
        terminal.document(said | figures.differences_json(numbers))
        return OK
    _show_differences(request, found)
    figures.show_differences(terminal, numbers)
    if not found and numbers:
        terminal.say(f"From version {first} to version {last}: {counted(len(numbers), 'table')} changed.")
    elif not found:
        terminal.say(f"Versions {first} and {last} read the same.")
    else:
        terminal.say(f"From version {first} to version {last}: {tally(found)}.")
    return OK


def blame(
    request: Request,
    id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A lesson, or as much of its id as makes it unique.",
            show_default=False,
            autocompletion=completion.lesson_ids,
        ),
    ],
) -> int:
    """Show who wrote a lesson, word by word.

    Then every change that touched it, oldest first.
    """
    from tenure.learning.history import blame as touched
    from tenure.learning.history import find_lesson
    from tenure.serving.cli.authorship import text_by_version
    from tenure.serving.cli.grades import grades_json, grades_told

    terminal = request.terminal
    with request.reading() as book, book.store.reading(book.scope) as reading:
        table = figures.find_table(reading, id)
        if table is not None:
            return figures.show_blame(request, reading, table, _touch)
        lesson = find_lesson(reading, id)
        found, grades = touched(reading, lesson.id), grades_json(reading, lesson.id)
        graded = grades_told(reading.beliefs([lesson.id]).get(lesson.id), reading.grades([lesson.id]))
    words = text_by_version(lesson.text, found)
    if request.as_json:
        from tenure.serving.wire import blame_json, lesson_json

        terminal.document(
            {
                "lesson": lesson_json(lesson),
                "words": [{"text": text, "version": version} for text, version in words],
                "deltas": [blame_json(one) for one in found],
                "grades": grades,
                "scope": book.scope,
            }
        )
        return OK
    authors = {one.entry.version: one.entry for one in found}
    rows: list[Sequence[Cell]] = []
    for text, version in words:
        entry = authors.get(version) if version is not None else None
        who = (str(version), local_time(entry.delta.time), one_line(entry.delta.author, 80)) if entry is not None else ("?", "", "")
        rows.append((*who, text.strip() or text))
    columns = [Column(title="version", right=True, style="cyan"), Column(title="when"), Column(title="by", wraps=True)]
    terminal.table([*columns, Column(title=f"text of {lesson.id}", wraps=True)], rows)
    terminal.text("\n")
    terminal.table([*columns, Column(title="what it did", wraps=True)], [_touch(one) for one in found])
    if graded:
        terminal.text(f"\nBy replay: {graded}.")
    terminal.say(f"Where it comes from: {request.command(f'show {lesson.id}')}")
    return OK


def rollback(
    request: Request,
    version: Annotated[
        str, typer.Argument(metavar="VERSION", help="A version, a delta's id, or -N for N changes before the newest.", show_default=False)
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Only a terminal is asked at all.")] = False,
) -> int:
    """Go back to an earlier version, by one more delta.

    The history stays: what came since is retired, not deleted, and a rollback can be rolled back.
    """
    from tenure.learning.history import find_version

    terminal = request.terminal
    _refuse_options(version, None)
    with request.writing() as book:
        with book.store.reading(book.scope) as reading:
            goal, newest = find_version(reading, version), reading.version()
            found, numbers = undone(reading, goal, book.ids.next(reading.newest_delta_id()))
        if not found and not numbers:
            if request.as_json:
                terminal.document({"version": None, "to": goal, "from": newest, "differences": [], "scope": book.scope})
            else:
                terminal.say(f"Version {goal} reads as it is now. Nothing to do.")
            return OK
        if not (yes or request.as_json):
            _show_differences(request, found)
            figures.show_differences(terminal, numbers)
            if not terminal.confirm(f"Go back from version {newest} to version {goal}: {tally(found, numbers)}?"):
                terminal.say("Nothing was changed.")
                return OK
        admitted = book.rollback(goal, author=person())
    if request.as_json:
        from tenure.serving.wire import difference_json

        differences = [difference_json(one) for one in found]
        said = {"version": admitted.version, "to": goal, "from": newest, "differences": differences, "scope": book.scope}
        terminal.document(said | figures.differences_json(numbers))
    else:
        terminal.say(f"Went back to version {goal}: {tally(found, numbers)}.")
        terminal.say(f"This is version {admitted.version}. Undo it: {request.command(f'rollback {newest}')}")
    return OK


def undone(reading: Reading, goal: int, id: str) -> tuple[tuple[Difference, ...], tuple[TableDifference, ...]]:
    """What going back to a version would change; nothing is written."""
    from tenure.learning.history import compare, compare_tables, undo
    from tenure.playbook.apply import apply
    from tenure.playbook.delta import Delta

    now = reading.playbook()
    after = apply(now, Delta(id, undo(reading.playbook(goal), now))).playbook
    return compare(now, after), compare_tables(now, after)


def _refuse_options(*given: str | None) -> None:
    """A dash begins a version here, so that a mistyped option has to be told apart by hand."""
    for one in given:
        if one is not None and one.startswith("-") and not one[1:].isdigit():
            raise UserError(
                f"There is no option or version '{one}'. Versions are numbers such as 12, -1, or the id of a delta. See: tenure log"
            )


def in_words(entry: LedgerEntry, repeated: Collection[int] = ()) -> str:
    """What a delta did, counted: `2 lessons added, 3 counts`.

    Args:
        entry: the delta.
        repeated: places of operations whose lesson was there already.
    """
    # The note of a review tells its decisions.
    decided = Counter(one.state for one in entry.delta.decisions if entry.delta.cause != "review")
    said = (_operations(entry.delta.operations, repeated), *(f"{number:,} {_DECIDED.get(one, one)}" for one, number in decided.items()))
    return ", ".join(filter(None, said))


def _what(entry: LedgerEntry, repeated: Collection[int]) -> Cell:
    return [(in_words(entry, repeated), ""), (f"  {one_line(entry.delta.note, 80)}" if entry.delta.note else "", "dim")]


def _repeated(reading: Reading, delta: Delta) -> set[int]:
    """Places of ADDs whose lesson was there already: the same text in the same section, or a delta that changed nothing."""
    from tenure.playbook.apply import added_keys
    from tenure.playbook.delta import Add
    from tenure.playbook.lessons import section_name, text_digest
    from tenure.playbook.records import group_key

    found: set[int] = set()
    for place, key in added_keys(delta).items():
        operation = delta.operations[place]
        if isinstance(operation, Add):
            section = section_name(operation.section, operation.kind or "strategy")
            members = reading.group(group_key(section, text_digest(operation.text)))
            # An imported one keeps its own id beside an equal text.
            if members and members[0].key != key and not any(one.imported and one.key == key for one in members):
                found.add(place)
    return found


def _operations(operations: Sequence[Operation], repeated: Collection[int]) -> str:
    from tenure.playbook.delta import OPERATION_NAMES, Add

    counts = Counter(
        "THERE"
        if place in repeated
        else "HELD"
        if isinstance(operation, Add) and operation.status == "held"
        else OPERATION_NAMES[type(operation)]
        for place, operation in enumerate(operations)
    )
    return ", ".join(
        counted(number, *_VERBS[name]) for name, number in sorted(counts.items(), key=lambda pair: list(_VERBS).index(pair[0]))
    )


def _show_differences(request: Request, found: Sequence[Difference]) -> None:
    rows = [_difference_row(one) for one in found if one.change != "counted"]
    if rows:
        columns = [Column(title=""), Column(title="lesson", style="cyan"), Column(title="change")]
        request.terminal.table([*columns, Column(title="text", wraps=True)], rows)


def _difference_row(one: Difference) -> Sequence[Cell]:
    mark, style = _MARKS.get(one.change, ("?", ""))
    return ([(mark, style)], one.id, one.change, _texts(one))


def _texts(one: Difference) -> Cell:
    before, after = one.before, one.after
    if before is None or after is None or one.change != "changed":
        lesson = after if after is not None else before
        return "" if lesson is None else lesson.text + (f"\nApplies when: {lesson.applies_when}" if lesson.applies_when else "")
    pieces: list[tuple[str, str]] = []
    for name, old, new in (
        ("", before.text, after.text),
        ("Applies when: ", before.applies_when, after.applies_when),
        ("Status: ", before.status, after.status),
        ("Pinned: ", "yes" if before.pinned else "no", "yes" if after.pinned else "no"),
        ("Merged from: ", ", ".join(before.merged), ", ".join(after.merged)),
    ):
        if old != new:
            pieces += [(f"- {name}{old}\n", "red")] if old else []
            pieces += [(f"+ {name}{new}\n", "green")] if new else []
    if not pieces:
        return after.text
    pieces[-1] = (pieces[-1][0].rstrip("\n"), pieces[-1][1])
    return pieces


def tally(found: Sequence[Difference], numbers: Sequence[TableDifference] = ()) -> str:
    """How many lessons differ in which way, and how many tables, in words."""
    counts = Counter(one.change for one in found)
    tables = [f"{counted(len(numbers), 'table')} changed"] if numbers else []
    return ", ".join([*(f"{counts[change]:,} {change}" for change in _MARKS if counts[change]), *tables])


def _touch(one: Blame) -> Sequence[Cell]:
    delta = one.entry.delta
    said = "\n".join(told(operation) for operation in one.operations)
    return (
        str(one.entry.version),
        local_time(delta.time),
        one_line(delta.author, 80),
        [(said, ""), (f"\n{why(delta)}", "dim")],
    )


def why(delta: Delta) -> str:
    """Cause and note of a delta; a note that names its cause stands alone."""
    note = one_line(delta.note, 80)
    return note if note.startswith(delta.cause) else f"{delta.cause}: {note}" if note else delta.cause


def told(operation: Operation) -> str:
    """An operation in one line."""
    from tenure.playbook.delta import OPERATION_NAMES, Add, Merge, Observe, Retire, Revoke, Tally, Update
    from tenure.playbook.lessons import TALLY_NAMES
    from tenure.playbook.revision import read_revision
    from tenure.serving.cli.tables import revision_told

    name = OPERATION_NAMES[type(operation)]
    if isinstance(operation, Add):
        return f"{name} {one_line(operation.text, 100)}"
    if isinstance(operation, Update):
        parts = [f"text: {one_line(operation.text, 100)}"] if operation.text is not None else []
        parts += [
            f"{field}: {getattr(operation, field)}"
            for field in ("applies_when", "status", "verdict")
            if getattr(operation, field) is not None
        ]
        revision = read_revision(operation.revision) if operation.revision is not None else None
        parts += [revision_told(revision)] if revision is not None else []
        return f"{name} {'; '.join(parts)}"
    if isinstance(operation, Tally):
        counts = [f"{getattr(operation, field):+d} {field}" for field in TALLY_NAMES if getattr(operation, field)]
        return f"{name} {', '.join(counts)}"
    if isinstance(operation, Merge):
        return f"{name} {', '.join(operation.ids)} into {operation.into}"
    if isinstance(operation, Retire):
        return f"{name} {operation.reason}".rstrip()
    if isinstance(operation, Observe | Revoke):
        return figures.told(operation)
    return name
