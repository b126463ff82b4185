"""Cursor: hooks, MCP server and instructions of a person or project.

Source: cursor.com/docs/agent/hooks, /docs/context/mcp and /docs/context/skills, as stored copies showed them in 2026. Timeouts are in
seconds. A hook before a prompt can only let it pass or stop it: lessons for a task come through the MCP server, those that hold in
general at the start of a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tenure.connect.wanted import INSTRUCTIONS, Entry, Programs, Wanted, WantedFile, mcp_server

HOST = "cursor"

EVENTS = (
    ("sessionStart", "session-start", 10),
    ("beforeSubmitPrompt", "prompt", 10),
    ("postToolUseFailure", "tool-failure", 10),
    ("preCompact", "pre-compact", 10),
    ("sessionEnd", "session-end", 10),
)
"""The host's name of each event, ours, and seconds until the host gives the hook up."""


def wanted(root: Path, programs: Programs, *, user: bool, environment: Mapping[str, str]) -> Wanted:
    """What Cursor's files should hold. Arguments as for `claude_code.wanted`."""
    folder = root / ".cursor"
    return Wanted(
        host=HOST,
        root=root,
        whose="user" if user else "project",
        files=(
            WantedFile(
                path=folder / "hooks.json",
                form="json",
                meaning="hooks",
                first=(Entry(path=("version",), value=1),),
                entries=tuple(
                    Entry(path=("hooks", named), value={"command": programs.hook_line(HOST, event), "timeout": seconds}, item=True)
                    for named, event, seconds in EVENTS
                ),
            ),
            WantedFile(
                path=folder / "mcp.json",
                form="json",
                meaning="MCP server",
                entries=(Entry(path=("mcpServers", "tenure"), value=mcp_server(programs)),),
            ),
            WantedFile(path=folder / "skills" / "tenure" / "SKILL.md", form="whole", meaning="instructions", text=INSTRUCTIONS),
        ),
        next_steps=("Start a new session in Cursor. If it also reads Claude Code's hooks, connect one of the two.",),
    )
