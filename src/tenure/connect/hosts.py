"""The hosts that Tenure can be connected to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from tenure.connect import claude_code, codex, cursor, opencode
from tenure.connect.wanted import Programs, Wanted
from tenure.errors import UserError

HOSTS: Mapping[str, Callable[..., Wanted]] = {
    claude_code.HOST: claude_code.wanted,
    codex.HOST: codex.wanted,
    opencode.HOST: opencode.wanted,
    cursor.HOST: cursor.wanted,
}
"""Each host by name, with what says what its files should hold."""


def wanted_for(host: str, folder: Path, *, user: bool, environment: Mapping[str, str] | None = None) -> Wanted:
    """What a host's files should hold.

    Args:
        host: one of `HOSTS`.
        folder: where the command was given; the project is the Git repository around it, else the folder itself.
        user: for all projects of the person.
        environment: none takes the process's.

    Raises:
        UserError: no such host, or the person's home folder is not known.
    """
    if host not in HOSTS:
        raise UserError(f"There is no host '{host}' that Tenure can be connected to. Use one of: {', '.join(HOSTS)}.")
    here = Path(os.path.realpath(folder))
    if user:
        try:
            root = Path(os.path.realpath(Path.home()))
        except RuntimeError as exc:
            raise UserError("The home folder is not known. Set HOME, or connect a project: leave out --user.") from exc
    else:
        root = next((one for one in (here, *here.parents) if (one / ".git").exists()), here)
    return HOSTS[host](root, Programs.here(), user=user, environment=os.environ if environment is None else environment)
