"""`tenure revise FILE`: a person's instruction file held against the learned cases, as a diff to accept."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import UnreadableInput, UserError
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, Terminal, counted, one_line
from tenure.serving.cli.request import OK, Request, read_bytes
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.learning.rule_file import JudgedRule

_STYLES = {"confirmed": "green", "too general": "yellow", "outdated": "red", "untested": "dim"}


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(
        app,
        "revise",
        revise,
        "tenure revise AGENTS.md",
        "tenure revise CLAUDE.md --diff | less",
        "tenure revise AGENTS.md --write --only 2,5   # accept two of the conditions",
    )


def revise(
    request: Request,
    file: Annotated[str, typer.Argument(metavar="FILE", help="An instruction file with lists of rules; - for stdin.", show_default=False)],
    write: Annotated[bool, typer.Option("--write", help="Accept: put the proposed conditions into the file.")] = False,
    only: Annotated[str | None, typer.Option("--only", metavar="N,N", help="Propose conditions for these rules alone.")] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff and nothing else.")] = False,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Language model to ask, such as openai:gpt-4o-mini. Else none is.")
    ] = None,
) -> int:
    """Hold the rules of an instruction file against what runs have shown.

    Each rule of AGENTS.md, CLAUDE.md and the like gets a verdict: confirmed, too general, outdated or untested. One that is too general
    gets a line "Apply only if ...", shown as a diff. Nothing is written without --write, and then only those lines are added.
    """
    from tenure.learning.rule_file import judge_rules, read_rule_cases
    from tenure.playbook.rule_places import with_conditions

    terminal = request.terminal
    if write and file == "-":
        raise UserError("What comes from stdin cannot be written back. Name the file, or leave out --write.")
    chosen = _numbers(only)
    text = _decoded(read_bytes(file, terminal, what="rules"), file)
    with request.learning(model=model, base_url=None) if model else request.reading() as book:
        with book.store.reading(book.scope) as reading:
            cases = read_rule_cases(reading, text)
        judged = judge_rules(cases, model=book.model if model else None, tell=terminal.warn)
    unknown = sorted(chosen - {one.rule.number for one in judged}) if chosen is not None else []
    if unknown:
        raise UserError(
            f"There is no rule {unknown[0]} in {file}; it has {len(judged)}. See them: {request.command(f'revise {shlex.quote(file)}')}"
        )
    conditions = {one.rule.number: one.condition for one in judged if one.condition and (chosen is None or one.rule.number in chosen)}
    after = with_conditions(text, conditions)
    shown = unified(text, after, "stdin" if file == "-" else file)
    if write and after != text:
        from tenure.serving.cli.files import replace_file

        replace_file(Path(file), after)
    if request.as_json:
        terminal.document(
            {
                "file": file,
                "rules": [_rule_json(one) for one in judged],
                "diff": shown,
                "written": write and after != text,
                "scope": book.scope,
            }
        )
    elif diff:
        terminal.text(shown)
    else:
        _show(request, terminal, judged, shown, file, written=write and after != text)
    return OK


def unified(before: str, after: str, name: str) -> str:
    """The difference between two texts as a unified diff; empty if there is none. Line breaks stay as they are."""
    import difflib
    import re

    lines = [re.findall(r"[^\n]*\n|[^\n]+$", text) for text in (before, after)]
    found: list[str] = []
    for line in difflib.unified_diff(lines[0], lines[1], fromfile=name, tofile=name):
        found.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(found)


def _show(request: Request, terminal: Terminal, judged: Sequence[JudgedRule], shown: str, file: str, *, written: bool) -> None:
    if not judged:
        terminal.say(f"{file} has no list of rules. Rules are the entries of Markdown lists.")
        return
    rows: list[Sequence[Cell]] = [
        (
            str(one.rule.number),
            str(one.rule.first),
            [(one.verdict, _STYLES[one.verdict])],
            [(one_line(one.rule.text, 120), ""), (f"\n{one.reason}", "dim")],
        )
        for one in judged
    ]
    columns = [Column(title="rule", right=True), Column(title="line", right=True), Column(title="verdict")]
    terminal.table([*columns, Column(title="what it says, and why", wraps=True)], rows)
    if not shown:
        terminal.say("Nothing to change.")
        return
    terminal.text("\n")
    terminal.text(shown)
    proposed = [str(one.rule.number) for one in judged if one.condition]
    if written:
        terminal.say(f"Wrote {file}. Look at it before you commit it.")
    else:
        accept = request.command(f"revise {shlex.quote(file)} --write")
        some = f"   only some: --only {','.join(proposed[:2])}" if len(proposed) > 1 else ""
        terminal.say(f"{counted(len(proposed), 'condition')} proposed. Accept: {accept}{some}")


def _rule_json(one: JudgedRule) -> dict[str, Any]:
    return {
        "number": one.rule.number,
        "section": one.rule.section,
        "text": one.rule.text,
        "first_line": one.rule.first,
        "last_line": one.rule.last,
        "verdict": one.verdict,
        "reason": one.reason,
        "apply_only_if": one.condition,
        "lesson": one.lesson,
        "helped": one.helped,
        "failed": one.failed,
        "grounded": one.grounded,
        "leaked": one.leaked,
    }


def _numbers(given: str | None) -> set[int] | None:
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",") if part.strip()]
    wrong = [part for part in parts if not (part.isascii() and part.isdigit())]
    if wrong or not parts:
        raise UserError(f"--only takes numbers of rules, such as 2,5, not '{given}'.")
    return {int(part) for part in parts}


def _decoded(raw: bytes, file: str) -> str:
    """The text with its byte-order mark and line breaks as they are."""
    shown = "stdin" if file == "-" else f"File '{file}'"
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise UnreadableInput(f"{shown} is not UTF-8 text: byte {raw[exc.start]:#04x} at place {exc.start}. Save it as UTF-8.") from exc
