"""The marks around text that Tenure itself put in front of an agent, and their removal.

Whoever shows a context to an agent wraps it in these marks; every reader removes what stands
between them, so that Tenure never learns from its own words. A block in an instruction file has the
marks of `playbook.managed_block`; hosts put such files in front of the agent too.
"""

from __future__ import annotations

import re

from tenure.playbook.blocks import CLOSE as CLOSE
from tenure.playbook.blocks import OPEN as OPEN
from tenure.playbook.managed_block import BEGIN, END

_TAG = re.compile(r"<tenure-context(?=[\s>/])|</tenure-context\s*>|<!-- tenure:begin\b|<!-- tenure:end -->")


def without_injected(text: str) -> str:
    """The text without the blocks that Tenure put into it; all else stays as it is.

    A block that is never closed (a host cut the text) is removed up to the end: losing a little
    of a log is better than learning from an echo.
    """
    while OPEN in text or BEGIN in text:  # again, because removing a block can join two halves of a tag
        shorter = _without_blocks(text)
        if shorter == text:
            break
        text = shorter
    return text


def _without_blocks(text: str) -> str:
    kept: list[str] = []
    depth, since = 0, 0
    for tag in _TAG.finditer(text):
        if tag.group().startswith("</") or tag.group() == END:
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
