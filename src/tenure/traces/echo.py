"""What Tenure itself put in front of an agent, and its removal: the marks around its texts, the names of its tools.

Whoever shows a context to an agent wraps it in these marks; every reader removes what stands
between them, so that Tenure never learns from its own words. A block in an instruction file has the
marks of `playbook.managed_block`; hosts put such files in front of the agent too.
"""

from __future__ import annotations

import re

from tenure.playbook.blocks import CLOSE as CLOSE
from tenure.playbook.blocks import OPEN as OPEN
from tenure.playbook.managed_block import END

AGENT_TOOLS = (
    "context", "report_outcome", "propose_lesson", "review_list", "submit_reflection", "submit_revision", "checkpoint", "recall",
)  # fmt: skip
"""The tools that Tenure's MCP server gives to agents."""

# Hosts put the name of the server before that of the tool: `mcp__tenure__context`, `tenure_context`, `tenure.context`.
_OWN_TOOL = re.compile(rf"(?:.*[_.:/-])?tenure[_.:/-]+(?:{'|'.join(AGENT_TOOLS)})", re.IGNORECASE)

_OWN_MARK = re.compile(r"<(?=/?tenure-context)|<!--(?= tenure:)", re.IGNORECASE)
_TAG = re.compile(r"<tenure-context(?=[\s>/])|</tenure-context\s*>|<!-- tenure:begin\b|<!-- tenure:end -->", re.IGNORECASE)


def is_own_tool(name: str) -> bool:
    """Whether a tool, as a host names it, is one of Tenure's own: what it answers teaches nothing about the task."""
    return _OWN_TOOL.fullmatch(name[:200]) is not None


def marked(text: str, *, run: str = "", source: str = "") -> str:
    """A text between the marks of what Tenure shows to agents, so that no reader of logs learns from it; it cannot end them itself.

    Args:
        text: what is shown.
        run: the run it is for; named in the opening mark where it is given.
        source: where it comes from, in words for the model; likewise.
    """
    said = "".join(f' {name}="{value}"' for name, value in (("run", run), ("from", source)) if value)
    inside = _OWN_MARK.sub(lambda found: found.group().replace("<", "&lt;"), text)
    return f"{OPEN}{said}>\n{inside.rstrip(chr(10))}\n{CLOSE}"


MOST_ROUNDS = 8
"""How often a text is gone through. Removing a block can join two halves of a tag; nobody does that by chance, let alone so often."""


def without_injected(text: str) -> str:
    """The text without the blocks that Tenure put into it; all else stays as it is.

    A block that is never closed (a host cut the text) is removed up to the end: losing a little
    of a log is better than learning from an echo. For the same reason, a text in which removing
    blocks makes new ones more than `MOST_ROUNDS` times is kept up to the first of them.
    Time grows with the text's length, whatever is in it.
    """
    for _ in range(MOST_ROUNDS):
        shorter = _without_blocks(text)
        if shorter == text:
            return text
        text = shorter
    opened = next((tag for tag in _TAG.finditer(text) if _opens(tag)), None)
    return text if opened is None else text[: opened.start()]


def _opens(tag: re.Match[str]) -> bool:
    return not tag.group().startswith("</") and tag.group().lower() != END


def _without_blocks(text: str) -> str:
    kept: list[str] = []
    depth, since = 0, 0
    for tag in _TAG.finditer(text):
        if not _opens(tag):
            if depth == 0:
                continue  # a closing tag alone is somebody's text
            depth -= 1
            if depth == 0:
                since = tag.end()
        else:
            if depth == 0:
                kept.append(text[since : tag.start()])
            depth += 1
    if depth == 0:
        kept.append(text[since:])
    return "".join(kept)
