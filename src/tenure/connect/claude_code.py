"""Claude Code: hooks and instructions of a person or project, and the MCP server.

Source: code.claude.com/docs/en/hooks, /settings, /mcp and /skills, as stored copies showed them in November 2026. Timeouts are in
seconds. For the end of a session the host's own limit is 1.5 s; a timeout in a settings file raises it, up to 60 s.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tenure.connect.wanted import INSTRUCTIONS, Entry, Programs, Wanted, WantedFile, matcher_groups, mcp_server

HOST = "claude-code"

EVENTS = (
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt", 10),
    ("PostToolUseFailure", "tool-failure", 10),
    ("PreCompact", "pre-compact", 10),
    ("SessionEnd", "session-end", 10),
)
"""The host's name of each event, ours, and seconds until the host gives the hook up."""


def wanted(root: Path, programs: Programs, *, user: bool, environment: Mapping[str, str]) -> Wanted:
    """What Claude Code's files should hold.

    A project's hooks go to `settings.local.json`, the person's own settings: they hold a path of this machine. Git adds that file
    unless something has it ignored; Claude Code sees to that only for a file which it makes itself.

    Args:
        root: the project's folder, or the home folder.
        programs: how this installation is started.
        user: for all projects of the person.
        environment: of the process.
    """
    given = environment.get("CLAUDE_CONFIG_DIR", "")
    folder = (Path(given) if given else root / ".claude") if user else root / ".claude"
    servers = ((folder if given else root) / ".claude.json") if user else root / ".mcp.json"
    return Wanted(
        host=HOST,
        root=root,
        whose="user" if user else "project",
        files=(
            WantedFile(
                path=folder / ("settings.json" if user else "settings.local.json"),
                form="json",
                meaning="hooks",
                entries=matcher_groups(programs, HOST, EVENTS, {}),
            ),
            WantedFile(
                path=servers,
                form="json",
                meaning="MCP server",
                entries=(Entry(path=("mcpServers", "tenure"), value={"type": "stdio", **mcp_server(programs)}),),
            ),
            WantedFile(path=folder / "skills" / "tenure" / "SKILL.md", form="whole", meaning="instructions", text=INSTRUCTIONS),
        ),
        next_steps=(
            "Start a new session: hooks are read when one starts.",
            *(() if user else ("Claude Code asks once whether the project's MCP server may run; say yes.",)),
        ),
    )
