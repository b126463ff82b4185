"""The command `tenure`: its verbs put together, and how errors become messages and exit codes.

Only what parsing needs is imported here; each command imports the engine when it runs, so that
`tenure --help` answers at once.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from tenure.errors import TenureError, UserError
from tenure.serving.cli import (
    bench,
    connect,
    context,
    demo,
    exchange,
    forget,
    history,
    holdouts,
    keys,
    learning,
    ledger,
    mcp,
    memory,
    migrate,
    playbook,
    proxy,
    review,
    revise,
    serve,
    settings,
    spend,
    vectors,
    worker,
)
from tenure.serving.cli.output import Terminal
from tenure.serving.cli.request import FAILED, INTERRUPTED, MISUSED, OK, Request
from tenure.serving.cli.verbs import Colour, Db, Json, Scope, VerbGroup, overlaid
from tenure.version import VERSION

GROUPS = {
    "Learn": ("demo", "learn", "context"),
    "Look": ("status", "show", "log", "diff", "blame", "holdouts", "spend", "ledger"),
    "Remember": ("memory",),
    "Change": ("apply", "import", "export", "refine", "review", "revise", "rollback", "revoke", "forget"),
    "Connect": ("connect", "disconnect", "mcp"),
    "Serve": ("serve", "proxy", "worker", "keys"),
    "Set up": ("config", "doctor", "migrate", "embed", "version", "bench"),
}
"""Commands as the help lists them."""


class CommandLine(VerbGroup):
    """The root of all commands: lists them by purpose, and turns every error into a message and an exit code."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by what one wants to do."""
        listed = {name for names in GROUPS.values() for name in names}
        groups = {**GROUPS, "More": tuple(name for name in self.commands if name not in listed)}
        widest = max(map(len, self.commands))
        for title, names in groups.items():
            rows = [(name.ljust(widest), self.commands[name].get_short_help_str(90)) for name in names if name in self.commands]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; ends the process with its exit code, or gives it if `standalone_mode` is off."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                # What a stream's encoding cannot hold is shown as an escape; printing must not end a command.
                stream.reconfigure(errors="backslashreplace")
        try:
            # Commands return their exit code; leaving early (--help, --version) gives one as well.
            code = super().main(args, prog_name, complete_var, standalone_mode=False, windows_expand_args=windows_expand_args, **extra)
            if sys.stdout is not None:
                sys.stdout.flush()
        except SystemExit as exc:
            if not isinstance(exc.__context__, BrokenPipeError):
                raise
            code = _code_of(exc.__context__)  # the library makes a failure of it where a command was still printing
        except (Exception, KeyboardInterrupt) as exc:  # noqa: BLE001  # the last line of defence: no error may show as a traceback
            code = _code_of(exc)
        if standalone_mode:
            sys.exit(code)
        return code


def _code_of(exc: BaseException) -> int:
    """Say what went wrong, and give the exit code for it."""
    terminal = Terminal()
    if os.environ.get("TENURE_DEBUG") and isinstance(exc, Exception):
        import traceback

        traceback.print_exception(exc)
    if isinstance(exc, BrokenPipeError):
        # The reader has seen enough. Python's own flush at exit must not stumble over that again.
        _let_go_of_stdout()
        return OK
    if isinstance(exc, OSError) and exc.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        # What could not be written stays in Python's buffer, whose flush at exit must not fail once more.
        _let_go_of_stdout()
        terminal.fail(f"What was to be printed or written could not be: {(exc.strerror or str(exc)).lower()}. Make room and run it again.")
        return FAILED
    if isinstance(exc, KeyboardInterrupt | typer.Abort):
        terminal.say("Interrupted.")
        return INTERRUPTED
    if isinstance(exc, TenureError):
        terminal.fail(str(exc))
        return MISUSED if isinstance(exc, UserError) else FAILED
    if isinstance(exc, typer.TyperException):
        terminal.fail(_usage_message(exc))
        return MISUSED
    terminal.fail(
        f"{type(exc).__name__}: {exc}\nThis is a fault in Tenure, not in what you typed. To see where, set TENURE_DEBUG=1 and run it again."
    )
    return FAILED


def _let_go_of_stdout() -> None:
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage_message(exc: typer.TyperException) -> str:
    """A mistake on the command line: what is wrong, and where to look."""
    said = exc.format_message().strip()
    if said and said[-1] not in ".?!":
        said += "."
    context = getattr(exc, "ctx", None)
    return f"{said} See: {context.command_path if context is not None else 'tenure'} --help"


app = typer.Typer(
    name="tenure",
    cls=CommandLine,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
    epilog='tenure demo\ntenure learn runs.jsonl\ntenure context "reconcile invoice 7"',
)


def _show_version(wanted: bool) -> None:
    if wanted:
        Terminal().text(f"tenure {VERSION}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    db: Db = None,
    scope: Scope = None,
    as_json: Json = False,
    colour: Colour = None,
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")] = False,
) -> int:
    """Agents that learn on the job: lessons from what runs really showed, graded, under your control."""
    context.obj = overlaid(Request(), {"db": db, "scope": scope, "as_json": as_json, "colour": colour})
    if context.invoked_subcommand is None:
        Terminal().text(context.get_help())
    return OK


for verbs in (demo, learning, context, playbook, exchange, history, holdouts, ledger, review, revise, forget):
    verbs.register(app)
for verbs in (settings, vectors, bench, spend, memory, connect, mcp, serve, proxy, worker, keys, migrate):
    verbs.register(app)


def main() -> None:
    """The entry point of the command `tenure`."""
    app()
