"""What a host's files should hold: values that the modules of the hosts make and `installing` carries out."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of ours in a file of settings.

    Attributes:
        path: names from the outermost object.
        value: what stands there.
        item: whether it is one of a list there; else it stands there alone.
    """

    path: tuple[str, ...]
    value: Any
    item: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFile:
    """A file and what of ours it should hold.

    Attributes:
        path: of the file.
        form: `json` (with comments or not), `toml`, or `whole` for a file that is all ours.
        meaning: what it is for, in a few words.
        entries: for `json`.
        table: for `toml`, the name of the table.
        text: of the table or of the whole file.
        first: members that the file gets if it is new.
    """

    path: Path
    form: Literal["json", "toml", "whole"]
    meaning: str
    entries: tuple[Entry, ...] = ()
    table: str = ""
    text: str = ""
    first: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """All that a host needs to work with Tenure in one place.

    Attributes:
        host: its name on the command line.
        root: the project's folder; the home folder for a person's own settings.
        whose: `project` or `user`.
        files: in the order in which they are written.
        next_steps: what the person still has to do, a sentence each.
    """

    host: str
    root: Path
    whose: Literal["project", "user"]
    files: tuple[WantedFile, ...]
    next_steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """How this installation is started.

    Attributes:
        hook: words of the command `tenure-hook`.
        tenure: words of the command `tenure`.
    """

    hook: tuple[str, ...]
    tenure: tuple[str, ...]

    @classmethod
    def here(cls) -> Programs:
        """The commands beside this Python; through it where they are not there. Whole paths: hosts start without a person's PATH.

        With -P, because a hook's working directory is a project, and what lies in it is nothing to import.
        """
        return cls(hook=_found("tenure-hook", "tenure.connect.hook"), tenure=_found("tenure", "tenure"))

    def hook_line(self, host: str, event: str) -> str:
        """A command line for a shell."""
        words = (*self.hook, host, event)
        if os.name == "nt":
            return " ".join(f'"{word}"' if " " in word else word for word in words)
        return shlex.join(words)


def _found(name: str, module: str) -> tuple[str, ...]:
    beside = Path(sys.executable).parent
    found = shutil.which(name, path=str(beside)) or shutil.which(name)
    return (os.path.abspath(found),) if found else (sys.executable, "-P", "-m", module)


def is_hook_command(command: object) -> bool:
    """Whether a command line is one of ours."""
    return isinstance(command, str) and ("tenure-hook" in command or "tenure.connect.hook" in command)


def matcher_groups(programs: Programs, host: str, events: Sequence[tuple[str, str, int]], matchers: Mapping[str, str]) -> tuple[Entry, ...]:
    """Hooks in the form that Claude Code and Codex share: groups with a matcher, each with commands; timeouts in seconds.

    Args:
        programs: how this installation is started.
        host: its name.
        events: the host's name of each, ours, and seconds.
        matchers: by the host's name, where one is needed.
    """
    return tuple(
        Entry(
            path=("hooks", named),
            value={
                **({"matcher": matchers[named]} if named in matchers else {}),
                "hooks": [{"type": "command", "command": programs.hook_line(host, event), "timeout": seconds}],
            },
            item=True,
        )
        for named, event, seconds in events
    )


def mcp_server(programs: Programs) -> dict[str, Any]:
    """The server's entry in the form that most hosts share."""
    return {"command": programs.tenure[0], "args": [*programs.tenure[1:], "mcp"]}


INSTRUCTIONS = Path(__file__).with_name("instructions.md").read_text(encoding="utf-8")
"""For agents, with a head that tells a host when to load them."""
