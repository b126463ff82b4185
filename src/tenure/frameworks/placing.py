"""Where in a request the lessons stand: the stable part behind the operator's own words, recall with the task.

Providers keep the beginning of a prompt in a cache. What is the same for every task comes first, therefore; what is chosen
for one task stands in front of the message that asks it, and at the very same place in every later request of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenure.active_run import ActiveRun
from tenure.frameworks.recording import plain, recording_of
from tenure.traces.echo import marked
from tenure.traces.shapes import digest

SOURCE = "earlier runs"
_ABSENT = ("Omit", "NotGiven")


def context_parts(run: ActiveRun) -> tuple[str, str]:
    """What the agent of a run is to be shown, in two texts, each between marks by which Tenure knows it again.

    The first is the same for every task until the playbook changes; put it where a prompt cache keeps it, such as at the
    end of the system prompt. The second is for this task; put it behind the first, such as in front of the task. Either is
    empty where there is nothing to show.

    Raises:
        UserError: the run has not begun.
    """
    return _shown(run.shown.stable), _shown(run.shown.for_task)


def given(value: object) -> bool:
    """Whether an argument of a client was given: neither none nor the client's own sign for nothing."""
    return value is not None and type(value).__name__ not in _ABSENT


def joined(*texts: str) -> str:
    """Texts as paragraphs, without the empty ones."""
    return "\n\n".join(filter(None, texts))


def place_of_task(run: ActiveRun, messages: Sequence[Any], asks: Callable[[Any], bool]) -> int | None:
    """Which message recall belongs in front of: where it stood before, else the last that asks; none if none does.

    Args:
        run: remembers the place.
        messages: of the request.
        asks: whether a message is one of a person that can take a text in front.
    """
    anchors = recording_of(run).anchors
    asking = {place: digest(plain(message)) for place, message in enumerate(messages) if asks(message)}
    for place, name in asking.items():
        if anchors.get(name) == place:
            return place
    moved = next((place for place, name in asking.items() if name in anchors), None)
    if moved is None and not asking:
        return None
    anchor = moved if moved is not None else max(asking)
    anchors[asking[anchor]] = anchor
    return anchor


def in_front(content: Any, text: str, kind: str) -> Any:
    """The content of a message with a text in front: another block where it has blocks, else a paragraph.

    Args:
        content: text, or a list of blocks.
        text: to be put in front.
        kind: what blocks of text are called.
    """
    return joined(text, content) if isinstance(content, str) else [{"type": kind, "text": text}, *content]


def role_of(message: Any) -> str:
    """Whose message it is; empty if it does not say."""
    role = message.get("role") if isinstance(message, dict) else getattr(message, "role", "")
    return role if isinstance(role, str) else ""


def content_of(message: Any) -> Any:
    """Its content as it is."""
    return message.get("content") if isinstance(message, dict) else getattr(message, "content", None)


def with_content(message: Any, content: Any) -> dict[str, Any]:
    """The message with another content; all else stays."""
    whole = message if isinstance(message, dict) else message.model_dump(exclude_unset=True)
    return {**whole, "content": content}


def _shown(text: str) -> str:
    return marked(text.strip("\n"), source=SOURCE) if text.strip() else ""
