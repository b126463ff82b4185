"""How commands are put on the command line: common options, examples in the help, groups of commands.

`--db`, `--scope`, `--json` and `--color` may stand before a command or after it; after it wins.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from tenure.serving.cli import completion
from tenure.serving.cli.output import COLOURS
from tenure.serving.cli.request import OK, Request

Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="Database: sqlite:///book.db, a file, postgresql://... Else TENURE_DB, the project's, the user's.",
        show_default=False,
    ),
]
Scope = Annotated[
    str | None,
    typer.Option("--scope", metavar="PATH", help="Scope, such as acme/finance. Else TENURE_SCOPE, the project's name.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.", show_default=False)]
Colour = Annotated[
    str | None,
    typer.Option("--color", metavar="WHEN", autocompletion=completion.colours, help=f"Colours: {', '.join(COLOURS)}.", show_default=False),
]

_WITH_STORE: dict[str, Any] = {"db": Db, "scope": Scope, "as_json": Json, "colour": Colour}
_WITHOUT: dict[str, Any] = {"as_json": Json, "colour": Colour}

_COMMON = frozenset({*_WITH_STORE, "help", "version", "install_completion", "show_completion"})

_LONGEST_SENTENCE = 200
"""Characters of a command's first sentence in the help of its group; it is wrapped, and cut only beyond that."""

_SETTINGS = {"help_option_names": ["--help", "-h"], "max_content_width": 100}


class PlainValues:
    """Reads the values of a parameter: texts, whole numbers in a range, switches.

    Typer reads them through pydantic, whose loading takes as long as all else that a small command
    does. Parameters of other types are left to it.

    Args:
        kind: `str`, `int` or `bool`.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of a parameter, as its type.

        Raises:
            BadParameter: it is no number, or one outside the range.
        """
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if self._kind is not int:
            return value
        try:
            number = int(value)
        except ValueError as exc:
            raise typer.BadParameter(f"'{value}' is not a whole number.", ctx=ctx, param=param) from exc
        if (param.min is not None and number < param.min) or (param.max is not None and number > param.max):
            span = f"{param.min} to {param.max}" if param.max is not None else f"{param.min} or more"
            raise typer.BadParameter(f"{number} is out of range; it must be {span}.", ctx=ctx, param=param)
        return number


def read_plainly(params: list[Any]) -> list[Any]:
    """The same parameters; their texts, numbers and switches are read by `PlainValues`."""
    for param in params:
        annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
        kind = annotation if annotation in (str, int, bool) else str if annotation == list[str] else None
        # What is not there in another version of typer is left alone: then typer reads the values itself.
        if kind is not None and getattr(param, "_runtime_param", param) is None:
            param._runtime_param = PlainValues(kind)
    return params


class Verb(TyperCommand):
    """A command whose help names its own options before the common ones, and ends with examples."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options, the one for help included."""
        return read_plainly(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options and common options."""
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they are."""
        write_examples(self.epilog, formatter)


class VerbGroup(TyperGroup):
    """A command with commands below it; its help is laid out as that of a `Verb`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options, the one for help included."""
        return read_plainly(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands below, then the options."""
        self.format_commands(ctx, formatter)
        write_options(self, ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands below, each with what it does in a whole sentence, however narrow the terminal."""
        rows = [(name, self.commands[name].get_short_help_str(_LONGEST_SENTENCE)) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they are."""
        write_examples(self.epilog, formatter)


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """List what a command takes: arguments, its own options, then those that all have."""
    found: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Common options": []}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is None:
            continue
        name, meaning = record
        if param.param_type_name == "argument":
            # What type an argument has is said by its name and meaning.
            found["Arguments"].append((re.sub(r" <.*>$", "", name), re.sub(r"  \[.*\]$", "", meaning)))
        else:
            found["Common options" if param.name in _COMMON else "Options"].append((name, meaning))
    for title, rows in found.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def write_examples(examples: str | None, formatter: Any) -> None:
    """Put examples, one a line, at the end of a help text."""
    if examples:
        with formatter.section("Examples"):
            for line in examples.split("\n"):
                formatter.write(f"  {line}\n")


def overlaid(request: Request, given: dict[str, Any]) -> Request:
    """A request with what was given later in its place.

    Raises:
        BadParameter: there is no such way to colour.
    """
    colour = given.get("colour")
    if colour is not None and colour not in COLOURS:
        raise typer.BadParameter(f"'{colour}' is none of {', '.join(COLOURS)}.", param_hint="--color")
    return replace(
        request,
        db=given.get("db") or request.db,
        scope=given.get("scope") or request.scope,
        as_json=given.get("as_json") or request.as_json,
        colour=colour or request.colour,
    )


def add_verb(app: typer.Typer, name: str, function: Callable[..., int], *examples: str, store: bool = True, lenient: bool = False) -> None:
    """Put a function on the command line. Its first argument is the `Request`; its docstring is the help.

    Args:
        app: the root or a group.
        name: what is typed.
        function: returns the exit code.
        examples: what to type, with a comment behind `#` where one helps.
        store: whether it has `--db` and `--scope`.
        lenient: whether an argument may begin with a dash, such as `-1` for the version before.
    """
    settings = {**_SETTINGS, "ignore_unknown_options": lenient}
    command = _requested(function, _WITH_STORE if store else _WITHOUT)
    app.command(name, cls=Verb, epilog="\n".join(examples), help=inspect.getdoc(function), context_settings=settings)(command)


def add_group(app: typer.Typer, name: str, help: str, *examples: str, default: Callable[[Request], int], store: bool = True) -> typer.Typer:
    """Put a command with commands below it on the command line, and get it to add to.

    Args:
        app: the root.
        name: what is typed.
        help: what it is for.
        examples: as for `add_verb`.
        default: what it does without a command below.
        store: as for `add_verb`.
    """
    group = typer.Typer(cls=VerbGroup, rich_markup_mode=None, help=help, epilog="\n".join(examples), context_settings=_SETTINGS)

    def without_command(context: typer.Context, request: Request) -> int:
        context.find_root().obj = request
        return default(request) if context.invoked_subcommand is None else OK

    options = _WITH_STORE if store else _WITHOUT

    def callback(context: typer.Context, **given: Any) -> int:
        return without_command(context, overlaid(_request_of(context), given))

    _declare(callback, [], options)
    group.callback(invoke_without_command=True)(callback)
    app.add_typer(group, name=name)
    return group


def _requested(function: Callable[..., int], options: dict[str, Any]) -> Callable[..., int]:
    def command(context: typer.Context, **given: Any) -> int:
        own = {name: given.pop(name) for name in options}
        return function(overlaid(_request_of(context), own), **given)

    hints = get_type_hints(function, include_extras=True)
    kept = [one.replace(annotation=hints[one.name]) for one in list(inspect.signature(function).parameters.values())[1:]]
    _declare(command, kept, options)
    return command


def _declare(command: Callable[..., int], parameters: Sequence[inspect.Parameter], options: dict[str, Any]) -> None:
    """Give a function the signature that the command line is built from."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    own = [one.replace(kind=keyword) for one in parameters]
    added = [
        inspect.Parameter(name, keyword, default=False if name == "as_json" else None, annotation=kind) for name, kind in options.items()
    ]
    signature = inspect.Signature([context, *own, *added], return_annotation=int)
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}


def _request_of(context: typer.Context) -> Request:
    found = context.find_root().obj
    return found if isinstance(found, Request) else Request()
