"""Codex: hooks, MCP server and instructions of a person or project.

Source: developers.openai.com/codex/hooks, /codex/config-reference and /codex/skills, and the schemas of hooks in the host's
repository, as stored copies showed them in 2026 (hooks page of 18 May). Timeouts are in seconds. `SessionEnd` came with version 0.145.0
(openai/codex#33895, read 30 November 2026): it has 3 s at most, and older versions leave out events that they do not know. There, and
where the host is killed, the end of a turn (`Stop`) is the last event, and a session is learned when it has been quiet for a while.
What `Stop` prints has to be JSON, or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tenure.connect.wanted import INSTRUCTIONS, Programs, Wanted, WantedFile, matcher_groups

HOST = "codex"

EVENTS = (
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt", 10),
    ("PreCompact", "pre-compact", 10),
    ("Stop", "turn-end", 10),
    ("SessionEnd", "session-end", 3),
)
"""The host's name of each event, ours, and seconds until the host gives the hook up."""


def wanted(root: Path, programs: Programs, *, user: bool, environment: Mapping[str, str]) -> Wanted:
    """What Codex's files should hold. Arguments as for `claude_code.wanted`."""
    given = environment.get("CODEX_HOME", "")
    folder = Path(given) if user and given else root / ".codex"
    # Strings of JSON are strings of TOML, but for characters written as two halves.
    command, arguments = (json.dumps(said, ensure_ascii=False) for said in (programs.tenure[0], [*programs.tenure[1:], "mcp"]))
    server = f"command = {command}\nargs = {arguments}\n"
    return Wanted(
        host=HOST,
        root=root,
        whose="user" if user else "project",
        files=(
            WantedFile(path=folder / "hooks.json", form="json", meaning="hooks", entries=matcher_groups(programs, HOST, EVENTS, {})),
            WantedFile(
                path=folder / "config.toml",
                form="toml",
                meaning="MCP server",
                table="mcp_servers.tenure",
                text=f"[mcp_servers.tenure]\n{server}",
            ),
            WantedFile(path=root / ".agents" / "skills" / "tenure" / "SKILL.md", form="whole", meaning="instructions", text=INSTRUCTIONS),
        ),
        next_steps=("Codex runs new hooks only once you trust them: type /hooks in a session, look at them, and trust them.",),
    )
