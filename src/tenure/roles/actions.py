"""What an agent did: tool calls joined with their results, and whether a call changes anything.

**Read-only or state-changing.** The name decides, by its first verb: a tool that gets, lists, searches, reads, shows, thinks or
calculates is read-only (`get_order`, `mcp__git__git_log`, `WebSearch`); every other tool changes state, as a name that says nothing
must be taken to. A shell is judged by its command: `ls`, `git status`, `rg` read; `npm install` changes; of several commands one that
changes decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tenure.playbook.run import Run
from tenure.roles.texts import printable
from tenure.roles.vocabulary import (
    CHANGE_VERBS,
    PROGRAMS_WITH_SUBCOMMANDS,
    READ_PROGRAMS,
    READ_SUBCOMMANDS,
    READ_VERBS,
    SHELLS,
    WRAPPERS,
)

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")

_COMMAND_ARGUMENTS = ("command", "cmd", "commands", "script")
_SPLIT_COMMANDS = re.compile(r"\s*(?:&&|\|\||;|\||\n)\s*")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=\S*$")

_REMARKS = frozenset(("explanation", "thought", "justification"))
_COMMAND_REMARKS = _REMARKS | {"description", "reason", "timeout", "timeout_ms", "run_in_background"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One tool call with its result.

    Attributes:
        tool: the tool's name.
        call: index of the call's step; -1 where the log has only the result.
        result: index of the result's step; -1 where the log has none.
        arguments: as parsed; arguments that were no JSON object stand under the empty name.
        changes_state: whether the call can have changed anything, by the rule of this module.
        command: the command line of a shell call; empty for other tools.
        content: what an accepted call gave back.
        error: why it was rejected; empty if it was accepted or has no result.
    """

    tool: str
    call: int
    result: int
    arguments: Mapping[str, Any]
    changes_state: bool
    command: str = ""
    content: str = ""
    error: str = ""

    @property
    def accepted(self) -> bool:
        """Whether a result is there and is no rejection."""
        return self.result >= 0 and not self.error

    @property
    def step(self) -> int:
        """Index of the step to point at: the result's, else the call's."""
        return self.result if self.result >= 0 else self.call

    def same_call(self, other: Action) -> bool:
        """Whether the other call asked for the very same thing."""
        if self.tool != other.tool:
            return False
        return self.arguments == other.arguments or plain_arguments(self.arguments) == plain_arguments(other.arguments)


def actions_of(run: Run) -> tuple[Action, ...]:
    """The tool calls of a run in order, each with its result: by call id, else the first open call of that tool."""
    open_calls: dict[int, None] = {}
    results: dict[int, int] = {}
    found: list[tuple[int, int]] = []
    for index, step in enumerate(run.steps):
        if step.kind == "tool_call":
            open_calls[index] = None
            found.append((index, -1))
        elif step.kind == "tool_result":
            call = next((c for c in open_calls if _belongs(run, c, index)), -1)
            if call < 0:
                found.append((-1, index))
            else:
                del open_calls[call]
                results[call] = index
    return tuple(_joined(run, call, results.get(call, -1) if call >= 0 else result) for call, result in found)


def _belongs(run: Run, call: int, result: int) -> bool:
    asked, given = run.steps[call], run.steps[result]
    if asked.call_id and given.call_id:
        return asked.call_id == given.call_id
    return not given.name or asked.name == given.name


def _joined(run: Run, call: int, result: int) -> Action:
    asked = run.steps[call] if call >= 0 else None
    given = run.steps[result] if result >= 0 else None
    arguments: Mapping[str, Any] = {}
    if asked is not None:
        arguments = asked.arguments or ({"": asked.content} if asked.content else {})
    tool = asked.name if asked is not None and asked.name else given.name if given is not None else ""
    command = command_of(arguments) if "command" in arguments or is_shell(tool) else ""
    return Action(
        tool=tool,
        call=call,
        result=result,
        arguments=arguments,
        changes_state=shell_changes(command) if command else not is_read_only(tool),
        command=command,
        content=given.content if given is not None and not given.error else "",
        error=given.error if given is not None else "",
    )


def words_of(name: str) -> tuple[str, ...]:
    """The words of an identifier, lower case: `getUserDetails` and `get_user_details` alike."""
    return tuple(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=1024)
def is_read_only(tool: str) -> bool:
    """Whether a tool only looks, by its name."""
    own = tool.rsplit("__", 1)[-1].rsplit(".", 1)[-1]
    for word in words_of(own):
        if word in READ_VERBS:
            return True
        if word in CHANGE_VERBS:
            return False
    return False


@lru_cache(maxsize=1024)
def is_shell(tool: str) -> bool:
    """Whether a tool runs command lines."""
    own = tool.rsplit("__", 1)[-1].lower()
    if own in SHELLS:
        return True
    words = set(words_of(own))
    return bool(words & {"command", "shell", "bash", "terminal", "cmd"}) and bool(words & {"run", "execute", "exec"})


def command_of(arguments: Mapping[str, Any], *, whole: bool = False) -> str:
    """The command line among the arguments of a shell call, without the shell that runs it and, unless `whole`, a leading `cd`."""
    line = _command_line(arguments)
    return line if whole else re.sub(r"^\s*cd\s+\S+\s*(?:&&|;)\s*", "", line).strip()


def _command_line(arguments: Mapping[str, Any]) -> str:
    for name in _COMMAND_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, Sequence) and value and all(isinstance(part, str) for part in value):
            parts = list(value)
            if len(parts) > 2 and parts[0].rsplit("/", 1)[-1] in SHELLS and parts[1].startswith("-"):
                parts = parts[2:]
            return " ".join(parts)
    return ""


def shell_changes(command: str) -> bool:
    """Whether a command line can change anything."""
    if re.search(r"(?<![0-9&])>{1,2}(?!\s*(?:/dev/null|&))", command):
        return True
    return any(_changes(part.split()) for part in _SPLIT_COMMANDS.split(command) if part)


def _changes(words: list[str]) -> bool:
    while words and (words[0] in WRAPPERS or _ASSIGNMENT.match(words[0])):
        words = words[1:]
    if not words:
        return False
    program = words[0].rsplit("/", 1)[-1]
    if program in PROGRAMS_WITH_SUBCOMMANDS:
        return next((word for word in words[1:] if not word.startswith("-")), words[-1]) not in READ_SUBCOMMANDS
    return program not in READ_PROGRAMS and not (len(words) == 2 and words[1] in ("--version", "--help", "-V", "-h"))


def plain_arguments(arguments: Mapping[str, Any]) -> str:
    """Arguments without remarks, in a form in which equal calls are equal."""
    told = {name: value for name, value in arguments.items() if name not in remarks(arguments)}
    return json.dumps(told, sort_keys=True, ensure_ascii=False, default=str)


def remarks(arguments: Mapping[str, Any]) -> frozenset[str]:
    """Names of arguments in which an agent talks about a call, which do not say what it does."""
    return _COMMAND_REMARKS if "command" in arguments or "cmd" in arguments else _REMARKS


def leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every scalar in a JSON value with its path: `payment_methods[].amount`; keys that are ids read `*`."""
    if isinstance(value, Mapping) and depth < 12:
        for key, kept in value.items():
            if depth == 0 and key in remarks(value):
                continue
            name = key_name(key)
            yield from leaves(kept, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes) and depth < 12:
        for kept in value[:200]:
            yield from leaves(kept, f"{path}[]", depth + 1)
    elif isinstance(value, str | int | float | bool) or value is None:
        yield path, value


def key_name(key: object) -> str:
    """A key as it stands in a path: `*` for an id, else on one line and short."""
    name = str(key)
    return "*" if is_id(name) else name if name.isidentifier() else printable(name).replace("`", "'")[:40]


def is_id(name: str) -> bool:
    """Whether a key is an id rather than a name: it has digits, as `gift_card_7091239` has, and is no `address1`."""
    digits = sum(c.isdigit() for c in name)
    return digits >= 3 or (digits > 0 and name.isupper()) or (digits > 0 and digits * 2 >= len(name))
