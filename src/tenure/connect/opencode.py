"""OpenCode: a small plugin that calls the hook, the MCP server and instructions, of a person or project.

Source: opencode.ai/docs/plugins, /docs/config, /docs/mcp-servers and /docs/skills, as stored copies showed them in 2026 (the plugin
interface of version 1). Timeouts of MCP servers are in milliseconds; the hook's own is in the plugin.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tenure.connect.wanted import INSTRUCTIONS, Entry, Programs, Wanted, WantedFile

HOST = "opencode"

MCP_TIMEOUT_MS = 10_000
"""How long the host waits for the server's list of tools, in milliseconds."""

HOOK_TIMEOUT_MS = 5_000
"""How long the plugin waits for the hook, in milliseconds."""

PLUGIN = Path(__file__).with_name("opencode_plugin.js").read_text(encoding="utf-8")
"""The plugin; the command and the limit are put in."""


def wanted(root: Path, programs: Programs, *, user: bool, environment: Mapping[str, str]) -> Wanted:
    """What OpenCode's files should hold. Arguments as for `claude_code.wanted`."""
    config = Path(environment.get("XDG_CONFIG_HOME") or root / ".config") / "opencode" if user else root
    folder = config if user else root / ".opencode"
    named = next((config / name for name in ("opencode.jsonc", "opencode.json") if (config / name).exists()), config / "opencode.json")
    plugin = PLUGIN.replace("__HOOK__", json.dumps(list(programs.hook), ensure_ascii=False)).replace("__LIMIT__", str(HOOK_TIMEOUT_MS))
    server = {"type": "local", "command": [*programs.tenure, "mcp"], "enabled": True, "timeout": MCP_TIMEOUT_MS}
    return Wanted(
        host=HOST,
        root=root,
        whose="user" if user else "project",
        files=(
            WantedFile(path=folder / "plugins" / "tenure.js", form="whole", meaning="plugin", text=plugin),
            WantedFile(
                path=named,
                form="json",
                meaning="MCP server",
                first=(Entry(path=("$schema",), value="https://opencode.ai/config.json"),),
                entries=(Entry(path=("mcp", "tenure"), value=server),),
            ),
            WantedFile(path=folder / "skills" / "tenure" / "SKILL.md", form="whole", meaning="instructions", text=INSTRUCTIONS),
        ),
        next_steps=("Start OpenCode anew: plugins are read when it starts.",),
    )
