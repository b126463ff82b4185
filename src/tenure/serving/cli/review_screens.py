"""What a person reads of changes that wait: the list, one change with its diff and evidence, conflicts, what was decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tenure.serving.cli.contrast import contrasted
from tenure.serving.cli.figures import told
from tenure.serving.cli.layout import Column, Piece
from tenure.serving.cli.output import Cell, Terminal, counted, local_time, one_line

if TYPE_CHECKING:
    from tenure.playbook.delta import Operation
    from tenure.playbook.lessons import Evidence
    from tenure.playbook.likeness import Conflict
    from tenure.playbook.run import Run
    from tenure.ports import HeldChange, Reading

SHOWN_TEXTS = 4
"""Lessons of one conflict that are shown with their texts."""

LONGEST_QUOTE = 600
"""Characters of a step that are quoted."""

_EFFECTS = {
    "ADD": ("lesson comes into use", "lessons come into use"),
    "UPDATE": ("lesson gets another text or standing", "lessons get another text or standing"),
    "RETIRE": ("lesson is taken out of use", "lessons are taken out of use"),
    "MERGE": ("merge is carried out", "merges are carried out"),
    "RESTORE": ("lesson comes into use", "lessons come into use"),
    "PIN": ("pin is set or taken away", "pins are set or taken away"),
    "OBSERVE": ("number is added", "numbers are added"),
    "REVOKE": ("revocation is carried out", "revocations are carried out"),
}


def show_list(terminal: Terminal, numbered: Sequence[tuple[int, HeldChange]]) -> None:
    """A table of changes, each with its number in the whole list."""
    rows: list[Sequence[Cell]] = [
        (
            str(number),
            one_line(change.id, 40),
            [(said(change.operation), ""), (f"\n{one_line(change.reason, 300)}", "yellow")],
            one_line(change.author, 24),
            local_time(change.at),
        )
        for number, change in numbered
    ]
    columns = [Column(title="", right=True, style="cyan"), Column(title="id"), Column(title="change, and why it waits", wraps=True)]
    terminal.table([*columns, Column(title="by"), Column(title="when")], rows)


def show_decided(terminal: Terminal, changes: Sequence[tuple[HeldChange, int | None]]) -> None:
    """A table of changes that wait no more, each with the version that decided it."""
    styles = {"approved": "green", "edited": "green", "corroborated": "green", "rejected": "red", "refused": "red"}
    rows: list[Sequence[Cell]] = [
        (
            str(version) if version is not None else "",
            [(change.state, styles.get(change.state, ""))],
            one_line(change.id, 40),
            [(said(change.operation), ""), (f"\n{one_line(change.decided, 300)}", "dim"), (_why_refused(change), "yellow")],
        )
        for change, version in changes
    ]
    columns = [Column(title="version", right=True, style="cyan", optional=True), Column(title="became"), Column(title="id")]
    terminal.table([*columns, Column(title="change, and who decided", wraps=True)], rows)


def _why_refused(change: HeldChange) -> str:
    return f"\n{change.rule}: {one_line(change.reason, 300)}" if change.state == "refused" else ""


def show_conflicts(terminal: Terminal, found: Sequence[Conflict], texts: Mapping[str, str]) -> None:
    """A table of lessons that are alike in wording and differ in a fact."""
    rows: list[Sequence[Cell]] = []
    for conflict in found:
        first, *others = [one for one in conflict.ids[:SHOWN_TEXTS] if one in texts] or conflict.ids[:1]
        for one in (first, *others):
            rows.append((one, contrasted(texts.get(one, ""), texts.get(others[0] if others and one == first else first, ""))))
        more = (
            f"and {len(conflict.ids) - SHOWN_TEXTS} more: {', '.join(conflict.ids[SHOWN_TEXTS:])}\n"
            if len(conflict.ids) > SHOWN_TEXTS
            else ""
        )
        rows.append(("", [(more, "dim"), (conflict.reason, "yellow")]))
    terminal.table([Column(title="conflict", style="cyan"), Column(title="texts, cut to where they differ, and in what", wraps=True)], rows)


def show_change(terminal: Terminal, reading: Reading, change: HeldChange) -> None:
    """One change: why it waits, what it would change, and what it rests on."""
    from tenure.learning.review import refusal_of

    facts: list[tuple[str, Cell]] = [
        ("id", change.id),
        ("operation", _name(change.operation)),
        ("why it waits", [(change.reason, "yellow")]),
        ("by", change.author),
    ]
    optional = [
        ("when", local_time(change.at)),
        ("words from", change.origin),
        ("said too by", ", ".join(f"run {one}" for one in change.voices)),
        ("reason given", getattr(change.operation, "reason", "")),
    ]
    facts += [(name, value) for name, value in optional if value]
    refused = refusal_of(change)
    if refused:
        facts.append(("careful", [(f"{refused}. It would be refused from a run today; to approve it all the same: --anyway", "red")]))
    terminal.facts(facts)
    terminal.text("\n")
    rows = [
        (one.mark, one.lesson, [(f"{one.field}: " if one.field else "", "dim"), (one.text, one.style)])
        for one in would_change(reading, change)
    ]
    columns = [Column(title=""), Column(title="lesson", style="cyan"), Column(title="what it would change", wraps=True)]
    terminal.table(columns, rows)
    _show_evidence(terminal, reading, change)


class Line:
    """One line of what a change would do: a mark (+, -, ~), the lesson, and the text that comes or goes."""

    __slots__ = ("field", "lesson", "mark", "style", "text")

    def __init__(self, mark: str, lesson: str, text: str, field: str = "") -> None:
        self.mark, self.lesson, self.text, self.field = mark, lesson, text, field
        self.style = {"+": "green", "-": "red"}.get(mark, "")


def would_change(reading: Reading, change: HeldChange) -> list[Line]:
    """What a change would do to the playbook as it is now."""
    from tenure.playbook.delta import Add, Merge, Retire, Update

    op = change.operation
    if isinstance(op, Add):
        said = [("text", op.text), ("applies when", op.applies_when), ("avoid", op.avoid), ("order of tools", ", ".join(op.tool_order))]
        return [Line("+", op.section or "its section", text, "" if name == "text" else name) for name, text in said if text]
    if isinstance(op, Merge):
        into = reading.lesson(op.into)
        gone = [Line("-", one, lesson.text) for one in op.ids if (lesson := reading.lesson(one)) is not None and one != op.into]
        if into is None:
            return [*gone, Line("~", op.into, "(this lesson is not there)")]
        kept = [Line("~", op.into, into.text, "stays")] if op.text is None else [Line("-", op.into, into.text), Line("+", op.into, op.text)]
        return [*gone, *kept]
    named = getattr(op, "id", "")
    lesson = reading.lesson(named) if named else None
    if named and lesson is None:
        return [Line("~", named, "(this lesson is not there, so it would change nothing)")]
    if isinstance(op, Retire) and lesson is not None:
        return [Line("-", lesson.id, lesson.text)]
    if isinstance(op, Update) and lesson is not None:
        lines: list[Line] = []
        for name, before, after in (
            ("", lesson.text, op.text),
            ("applies when", lesson.applies_when, op.applies_when),
            ("status", lesson.status, op.status),
            ("kind", lesson.kind, op.kind),
        ):
            if after is not None and after != before:
                lines += [Line("-", lesson.id, before, name)] if before else []
                lines += [Line("+", lesson.id, after or "(none: it would hold always)", name)]
        return lines or [Line("~", lesson.id, "nothing: it reads like that already")]
    return [Line("~", named, told_shortly(op))]


def told_shortly(operation: Operation) -> str:
    """An operation that is neither a text nor a removal, in a few words."""
    from tenure.playbook.delta import Observe, Pin, Restore, Revoke

    if isinstance(operation, Pin):
        return "it would be pinned" if operation.pinned else "its pin would be taken away"
    if isinstance(operation, Restore):
        return "it would be its own lesson again" if operation.unmerge else "it would come back into use"
    return told(operation) if isinstance(operation, Observe | Revoke) else _name(operation)


def _show_evidence(terminal: Terminal, reading: Reading, change: HeldChange) -> None:
    """The steps it rests on, word for word, and the words of a stranger that it may come from."""
    places: tuple[Evidence, ...] = getattr(change.operation, "evidence", ())
    ids = list(dict.fromkeys([*(place.run for place in places), *([change.run] if change.run else [])]))
    runs = {one: reading.run(one) for one in ids}
    rows: list[Sequence[Cell]] = []
    source = runs.get(change.run)
    stranger = stranger_step(reading, source, change)
    for place in places:
        if place.run == change.run and place.step == stranger >= 0:
            rows.append(
                (one_line(place.run, 40), str(place.step), [(f"{place.role}, a stranger's words", "red")], quoted(source, stranger))
            )
            continue
        rows.append(
            (one_line(place.run, 40), str(place.step) if place.step >= 0 else "", place.role, quoted(runs.get(place.run), place.step))
        )
    if stranger >= 0 and all((place.run, place.step) != (change.run, stranger) for place in places):
        rows.append((one_line(change.run, 40), str(stranger), [("a stranger's words", "red")], quoted(source, stranger)))
    if rows:
        terminal.text("\n")
        columns = [Column(title="evidence: run"), Column(title="step", right=True, optional=True), Column(title="shows")]
        terminal.table([*columns, Column(title="what stands there, word for word", wraps=True)], rows)
    if change.run:
        task = one_line(source.task.text, 300) if source is not None else "(this run is not kept here)"
        terminal.text("\n")
        terminal.facts([("run", change.run), ("task", task), *([("reported by", source.origin.name)] if source is not None else [])])


def stranger_step(reading: Reading, run: Run | None, change: HeldChange) -> int:
    """Index of the step whose untrusted words a change may come from; -1 if there is none, or the run is not kept."""
    if run is None:
        return -1
    from tenure.learning import queueing

    return queueing.stranger_step(reading, run, change.operation)


def quoted(run: Run | None, step: int) -> str:
    """What stands in a step, on one line; that it is not kept, if it is not."""
    if run is None:
        return "(this run is not kept here)"
    if not 0 <= step < len(run.steps):
        return one_line(f"(the run as a whole) {run.task.text}", LONGEST_QUOTE)
    one = run.steps[step]
    held = f"{one.name}({', '.join(f'{name}={value!r}' for name, value in one.arguments.items())})" if one.kind == "tool_call" else ""
    text = one.error if one.error and one.error not in one.content else ""
    return one_line(" ".join(filter(None, (held, text, one.content))) or f"({one.kind})", LONGEST_QUOTE)


def said(operation: Operation, *, in_words: str | None = None) -> str:
    """What an operation would do, in one line; `in_words` stands for its text where a person wrote another."""
    from tenure.playbook.delta import Add, Merge, Observe, Revoke

    name = _name(operation)
    if isinstance(operation, Observe | Revoke):
        return told(operation)
    if isinstance(operation, Add):
        return f"{name} to {one_line(operation.section or 'its section', 40)}: {one_line(in_words or operation.text, 200)}"
    if isinstance(operation, Merge):
        return f"{name} {', '.join(operation.ids)} into {operation.into}"
    text = in_words or getattr(operation, "text", None)
    return f"{name} {operation.id}" + (f": {one_line(text, 200)}" if text else "")


def effects(operations: Sequence[Operation]) -> str:
    """What some operations do together, in words: `3 lessons come into use, 1 lesson is taken out of use`."""
    found = Counter(map(_name, operations))
    return ", ".join(counted(found[name], *words) for name, words in _EFFECTS.items() if found[name])


def pieces_of(lines: Sequence[Line]) -> list[Piece]:
    """Lines of a diff as pieces, for a screen that is no table."""
    return [(f"{line.mark} {line.text}\n", line.style) for line in lines]


def _name(operation: Operation) -> str:
    from tenure.playbook.delta import OPERATION_NAMES

    return OPERATION_NAMES[type(operation)]
