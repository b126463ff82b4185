"""Writes the pages of docs/reference that follow from the code: commands, settings, public names.

python docs/generate.py            writes them
python docs/generate.py --check    says which are out of date, and exits with 1 if any is
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"

NOTICE = "<!-- Written by docs/generate.py from the code: change the code, then run `make docs`. -->"


def main() -> int:
    """Write or check the pages; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; say what is out of date")
    check = parser.parse_args().check
    stale = []
    for name, write in PAGES.items():
        path, text = REFERENCE / name, write()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    if check and stale:
        print(f"Out of date: {', '.join(stale)}. Run: make docs", file=sys.stderr)
    return 1 if check and stale else 0


def cli_page() -> str:
    """docs/reference/cli.md: every command with its arguments and options."""
    commands = list(walk(command_tree(), "tenure"))
    parts = [
        "# Commands",
        NOTICE,
        "Results go to stdout, talk to stderr. Every command that prints results takes `--json`. "
        "Exit codes: [exit codes](exit-codes.md). Settings: [configuration](config.md).",
        "\n".join(f"- [`{path}`](#{_anchor(path)}): {_first_line(command.help)}" for path, command in commands if path != "tenure"),
    ]
    for path, command in commands:
        parts += [f"## {path}", *_command_parts(path, command)]
    return "\n\n".join(part for part in parts if part) + "\n"


def command_tree() -> Any:
    """The command line as a tree of click commands."""
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["tenure"]
    module = importlib.import_module(entry.partition(":")[0])
    from typer.main import get_command

    return get_command(module.app)


def walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """A command and all below it that are not hidden, each with its full name."""
    yield path, command
    if hasattr(command, "list_commands"):
        context = command.make_context("tenure", [], resilient_parsing=True)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if not below.hidden:
                yield from walk(below, f"{path} {name}")


# Explained once, for all commands that have them.
COMMON = frozenset({"--db", "--scope", "--json", "--color"})


def _command_parts(path: str, command: Any) -> list[str]:
    shown = [param for param in command.params if not getattr(param, "hidden", False) and "--help" not in param.opts]
    arguments = [param for param in shown if param.param_type_name == "argument"]
    usage = " ".join([path, *(_metavar(param) for param in arguments), *(["[OPTIONS]"] if len(shown) > len(arguments) else [])])
    if hasattr(command, "list_commands"):
        usage += " COMMAND ..."
    context = command.make_context(path, [], resilient_parsing=True)
    own = shown if path == "tenure" else [param for param in shown if not COMMON & set(param.opts)]
    common = [param.opts[0] for param in shown if param not in own]
    rows = [f"| `{_names(param, context)}` | {_meaning(param)} |" for param in own]
    table = "\n".join(["| argument or option | meaning |", "|---|---|", *rows]) if rows else ""
    also = f"Also {', '.join(f'`{name}`' for name in common)}, as for [`tenure`](#tenure)." if common else ""
    examples = f"```text\n{_plain_help(command.epilog)}\n```" if command.epilog else ""
    return [_plain_help(command.help), f"```text\n{usage}\n```", table, also, examples]


def _metavar(param: Any) -> str:
    name = (param.metavar or param.name).upper() + ("..." if param.nargs == -1 else "")
    return name if param.required else f"[{name}]"


def _names(param: Any, context: Any) -> str:
    if param.param_type_name == "argument":
        return _metavar(param)
    names = ", ".join([*param.opts, *param.secondary_opts])
    # Its own type is none of a flag's business: it is there or not.
    kind = "" if param.is_flag else (param.display_type_rich(context) or "")
    return f"{names} {kind.strip('<>').upper()}".strip().replace("|", "\\|")


def _meaning(param: Any) -> str:
    said = [_plain_help(getattr(param, "help", None)).replace("\n", " ").replace("|", "\\|")]
    default = param.default
    if default not in (None, False, "", (), []) and not callable(default) and not getattr(param, "required", False):
        said.append(f"Default: `{getattr(default, 'value', default)}`.")
    if getattr(param, "multiple", False):
        said.append("May be repeated.")
    if param.envvar:
        names = [param.envvar] if isinstance(param.envvar, str) else param.envvar
        said.append("Environment: " + ", ".join(f"`{name}`" for name in names) + ".")
    return " ".join(part for part in said if part)


def _plain_help(text: str | None) -> str:
    return (
        re.sub(r"\[/?(?:bold|dim|italic|cyan|green|red|yellow)\]", "", inspect.cleandoc(text or "")).replace("\f", "").replace("\b\n", "")
    )


def _first_line(text: str | None) -> str:
    return _plain_help(text).partition("\n")[0]


def _anchor(heading: str) -> str:
    return heading.replace(" ", "-")


def config_page() -> str:
    """docs/reference/config.md: every setting with its default and what overrides it."""
    from tenure.settings import SETTINGS

    rows = [
        f"| `{setting.name}` | {_code(setting.default)} | {setting.meaning} | {_code(setting.variable)} |" for setting in SETTINGS.values()
    ]
    return CONFIG.format(notice=NOTICE, rows="\n".join(rows))


CONFIG = """# Configuration

{notice}

Tenure works without any.

## Where things are

| | option | environment | otherwise |
|---|---|---|---|
| database | `--db URL` | `TENURE_DB` | `.tenure/tenure.db` of the project, else the user's data folder |
| scope | `--scope PATH` | `TENURE_SCOPE` | `local/` and the project's stable name; outside of a project `local/default` |
| telemetry | | `TENURE_TELEMETRY` (`on`, `off`) | on where an OTLP endpoint is named (`OTEL_EXPORTER_OTLP_ENDPOINT`)\
 and the extra `telemetry` is installed ([observability](../howto/observability.md)) |

The first command that writes makes the database. What stands further left wins.
A database is named by a URL such as `sqlite:///book.db` (relative) or `sqlite:////srv/book.db`
(absolute), or by a file's path. A project is the nearest folder upwards with `.tenure` in it, else the Git
repository, else a folder with `pyproject.toml`, `package.json` or the like; a home folder is none unless it has `.tenure`.
Worktrees of one repository share database and scope, clones of it the scope; two folders that only share a name do not.
A scope of one part belongs to the tenant `local`: `finance` means `local/finance`.

## Settings

Each holds for one scope. Where a variable is named, it wins over the scope's setting.

| name | default | meaning | environment |
|---|---|---|---|
{rows}

```console
$ tenure config
$ tenure config set bounds.lessons_per_section 300
```

## Variables that other software defines

| variable | meaning |
|---|---|
| `NO_COLOR` | no colours |
| `OPENAI_API_KEY` and those of other providers | read by the provider's own library; Tenure does not store them |
"""


def python_page() -> str:
    """docs/reference/python.md: every public name, from its docstring."""
    import tenure

    names = [name for name in tenure.__all__ if not name.startswith("_")]
    parts = [
        "# Python names",
        NOTICE,
        "Everything that `from tenure import ...` offers. How they play together: [reading a playbook from Python](../howto/python.md).",
        ", ".join(f"[`{name}`](#{name.lower()})" for name in names),
    ]
    for name in names:
        parts += [f"## {name}", *_name_parts(name, getattr(tenure, name))]
    for module, name in RETURNED:
        parts += [
            f"## {name}",
            "Callers get it from the names above, and need not import it.",
            *_name_parts(name, getattr(importlib.import_module(module), name)),
        ]
    parts += [
        "## Frameworks",
        "Adapters, which are imported from their own modules. How to use them: [with a framework](../howto/frameworks.md).",
    ]
    for module in FRAMEWORKS:
        package = importlib.import_module(module)
        parts += [f"### {module}", _docstring(package).partition("\n")[0]]
        for name in sorted(_own_functions(package)):
            parts += [f"#### {module.rpartition('.')[2]}.{name}", *_name_parts(name, getattr(package, name))]
    return "\n\n".join(part for part in parts if part) + "\n"


FRAMEWORKS = ("tenure.frameworks", "tenure.frameworks.openai", "tenure.frameworks.anthropic", "tenure.frameworks.pydantic_ai")


def _own_functions(module: Any) -> list[str]:
    """What a module offers: what it lists, else the functions that are its own."""
    own = (name for name, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__)
    return [name for name in getattr(module, "__all__", own) if not name.startswith("_")]


# Values that callers meet without importing them.
RETURNED = (("tenure.wiring", "ActiveRun"), ("tenure.learning.recall", "Context"))


def _name_parts(name: str, value: Any) -> list[str]:
    parts = [] if inspect.isclass(value) and issubclass(value, Exception) else [_signature(name, value)]
    parts.append(_docstring(value))
    if inspect.isclass(value):
        for key, member in vars(value).items():
            plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if key.startswith("_") or not (inspect.isfunction(plain) or isinstance(plain, property)):
                continue
            heading = f"### {name}.{key}"
            parts += [heading, "" if isinstance(plain, property) else _signature(f"{name}.{key}", plain), _docstring(plain)]
    return parts


def _signature(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    words: list[str] = []
    star = False
    for param in signature.parameters.values():
        if param.name in ("self", "cls"):
            continue
        if param.kind is param.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        star = star or param.kind is param.VAR_POSITIONAL
        mark = "*" if param.kind is param.VAR_POSITIONAL else "**" if param.kind is param.VAR_KEYWORD else ""
        kind = "" if param.annotation is param.empty else f": {_type(param.annotation)}"
        default = "" if param.default is param.empty else f" = {_default(param.default)}"
        words.append(f"{mark}{param.name}{kind}{default}")
    returned = (
        "" if signature.return_annotation is signature.empty or inspect.isclass(value) else f" -> {_type(signature.return_annotation)}"
    )
    line = f"{name}({', '.join(words)}){returned}"
    if len(line) > 100:
        line = f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){returned}"
    return f"```text\n{line}\n```"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _default(value: Any) -> str:
    text = repr(value)
    return "..." if text.startswith("<") or ("(" in text and not text.startswith("(")) else text


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _docstring(value: Any) -> str:
    """A Google docstring as Markdown: each section becomes a list."""
    lines = (inspect.getdoc(value) or "").split("\n")
    parts: list[str] = []
    inside = False
    for line in lines:
        section = re.fullmatch(r"(Attributes|Args|Returns|Raises|Yields):", line)
        field = re.fullmatch(r"    (\w\S*(?:, \w+)*): (.+)", line) if inside else None
        # A section ends where the indentation does.
        inside = bool(section) or (inside and (not line or line.startswith("    ")))
        if section:
            title = {"Args": "Arguments", "Attributes": "Fields"}.get(section[1], section[1])
            parts.append(f"{title}:\n")
        elif field:
            parts.append("- " + ", ".join(f"`{name}`" for name in re.split(r",\s*", field[1])) + f": {field[2]}")
        elif inside and line:
            parts.append(f"  {line.strip()}" if line.startswith("     ") else line.strip())
        else:
            parts.append(line)
    return "\n".join(parts)


def http_page() -> str:
    """docs/reference/http.md: every operation of the REST API, and who may use it."""
    from tenure.serving.service.app import build_app
    from tenure.serving.service.engine import Engine
    from tenure.wiring import Tenure

    with Tenure.open("memory://", scope="local/docs", embedder="none") as book:
        document = build_app(Engine(book)).openapi()
    parts = [
        "# REST API",
        NOTICE,
        "What a running server says of itself at `/openapi.json`, in short: each operation, what a key must be allowed for it "
        "([roles](../howto/serve.md#make-a-key)), and what it does. Requests and replies are JSON; errors are problem details "
        "(RFC 9457) with `type`, `title`, `status`, `detail` and the id of the request. Lists come in pages: send `next` of one "
        "as `after`. A POST with an `Idempotency-Key` is done once.",
    ]
    by_tag: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            act = str(said.get("x-tenure-act", "")) or "no key"
            told = " ".join(str(said.get("description") or said.get("summary", "")).split("\n\n")[0].split())
            by_tag.setdefault(said["tags"][0], []).append(f"| `{method.upper()} {path}` | {act} | {told} |")
    for tag, lines in by_tag.items():
        parts += [f"## {tag.capitalize()}", "| operation | needs | what it does |\n|---|---|---|\n" + "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


PAGES: dict[str, Callable[[], str]] = {"cli.md": cli_page, "config.md": config_page, "http.md": http_page, "python.md": python_page}

if __name__ == "__main__":
    sys.exit(main())
