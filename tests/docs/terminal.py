"""Terminal examples: commands, what they print, and when two printouts are the same."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_MARKER = "\x1etenure-docs-status "

# What differs from run to run. Both sides are masked, so the page shows real-looking values.
_MASKS = (
    (re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"), "<ulid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?"), "<time>"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "<digest>"),
    # Derived ids only, in full or shortened; ids with a 0 or 1 in them were imported, and are the same every time.
    (re.compile(r"\b[a-z][a-z0-9]{0,3}-[a-z2-7]{4,13}\b"), "<lesson>"),
    (re.compile(r"\bperson:[\w.-]+"), "person:<name>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s)\b"), "<duration>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:kB|KB|MB|KiB|MiB)\b"), "<size>"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of a terminal example.

    Attributes:
        text: what is typed, without the prompt; may be several lines.
        expected: what the page shows below it; empty if the page shows nothing.
    """

    text: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command's exit code and all it printed, stdout and stderr in the order of printing."""

    command: Command
    status: int
    output: str


def commands_in(code: str, *, language: str) -> list[Command]:
    """The commands of an example: in `console` each follows `$ `, `bash` is a script and shows no output."""
    if language != "console":
        return [Command(text=code.strip("\n"), expected="")]
    found: list[tuple[list[str], list[str]]] = []
    for line in code.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif found and not found[-1][1] and (line.startswith("> ") or found[-1][0][-1].endswith("\\")):
            found[-1][0].append(line.removeprefix("> "))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            raise ValueError(f"A console example starts with a command ('$ ...'), not with: {line}")
    return [Command(text="\n".join(typed), expected="\n".join(printed).strip("\n")) for typed, printed in found]


def run_commands(commands: list[Command], *, folder: Path, environment: Mapping[str, str], timeout_s: float = 120) -> list[Ran]:
    """Run the commands in one shell, so that `cd` and variables last for the example. Stops at no failure."""
    script = "".join(f"{command.text}\nprintf '%s%s\\n' '{_MARKER}' $?\n" for command in commands)
    shell = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout_s,
        check=False,
    )
    text = shell.stdout.decode("utf-8", "replace")
    parts = re.split(re.escape(_MARKER) + r"(\d+)\n", text)
    ran = [
        Ran(command=command, output=parts[2 * i], status=int(parts[2 * i + 1]))
        for i, command in enumerate(commands)
        if 2 * i + 1 < len(parts)
    ]
    if len(ran) < len(commands):
        raise RuntimeError(f"The shell ended before this command: {commands[len(ran)].text}\n{parts[-1]}")
    return ran


def masked(text: str, *, folder: Path | None = None) -> str:
    """A printout without what differs from run to run: ids, digests, times, durations, sizes, the folder."""
    if folder is not None:
        text = text.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "").replace(str(folder), ".")
    for pattern, word in _MASKS:
        text = pattern.sub(word, text)
    # How wide a column is follows from the values that were masked.
    lines = [re.sub(r"(?<=\S) {2,}|^ {3,}", "  ", re.sub(r"[─━]{3,}", "───", line)).rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip("\n")


def agrees(expected: str, actual: str, *, folder: Path | None = None) -> bool:
    """Whether a printout is what the page shows. `...` in a line stands for anything; a line `...` for any lines."""
    pattern = ""
    for line in masked(expected).split("\n"):
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r"[^\n]*?".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, masked(actual, folder=folder) + "\n") is not None
