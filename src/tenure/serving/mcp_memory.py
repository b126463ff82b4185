"""The tools of the memory tree for agents. Whoever has the tree hands it to `mcp.build_server`; without it there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Protocol

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from tenure.errors import TenureError
from tenure.governance.redaction import redact
from tenure.serving.agent_tools import LONGEST_FEEDBACK, LONGEST_NAME, LONGEST_TASK
from tenure.traces.echo import marked

if TYPE_CHECKING:
    from tenure.serving.mcp import TenureServer


class MemoryTools(Protocol):
    """The memory tree of one scope, as agents use it. Texts come back redacted and escaped; calls may come from any thread."""

    def checkpoint(self, request: str, analysis: str, decisions: str, outcome: str, references: str, event_id: str) -> str:
        """Write down what a task came to; what became of it, a sentence. The same event id twice is one entry.

        Raises:
            TenureError: it could not be written.
        """
        ...

    def recall(self, query: str, budget: int | None) -> str:
        """What memory holds for a query, with ages, within a budget of tokens; that there is nothing is said.

        Raises:
            TenureError: it could not be read.
        """
        ...

    def root(self) -> str:
        """The root of the tree."""
        ...


def add_memory_tools(server: TenureServer, memory: MemoryTools, *, writes: bool) -> None:
    """Register `recall` and the root, and `checkpoint` where something may be written."""

    @server.tool(
        title="Recall from memory", annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
    )
    def recall(
        query: Annotated[str, Field(description="What to look for.")],
        budget: Annotated[int | None, Field(description="Most tokens of the answer; leave it out for the usual.")] = None,
    ) -> str:
        """Look up what earlier sessions left in memory, with its age."""
        _bounded(query, "query", LONGEST_TASK)
        if not query.strip():
            raise ToolError("query is empty. Say what to look for.")
        if budget is not None and not 1 <= budget <= 1_000_000:
            raise ToolError(f"budget is {budget}; it is a number of tokens from 1 to 1,000,000.")
        return marked(_answered(lambda: memory.recall(query, budget)))

    @server.resource("tenure://memory/root", title="Memory", mime_type="text/markdown")
    def memory_root() -> str:
        """The root of memory: what is active, patterns, history, and topics with where to look."""
        return marked(_answered(memory.root))

    if not writes:
        return

    @server.tool(
        title="Write down a task",
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False),
    )
    def checkpoint(
        request: Annotated[str, Field(description="What was asked.")],
        analysis: Annotated[str, Field(description="What was found.")] = "",
        decisions: Annotated[str, Field(description="What was decided, and why.")] = "",
        outcome: Annotated[str, Field(description="What came of it.")] = "",
        references: Annotated[str, Field(description="Files, links and ids to look at again.")] = "",
        event_id: Annotated[str, Field(description="An id of this event; the same one twice is written once.")] = "",
    ) -> str:
        """Write down what a task came to, so that later sessions find it."""
        for name, value in (("request", request), ("analysis", analysis), ("decisions", decisions), ("outcome", outcome)):
            _bounded(value, name, LONGEST_FEEDBACK)
        _bounded(references, "references", LONGEST_FEEDBACK)
        _bounded(event_id, "event_id", LONGEST_NAME)
        if not request.strip():
            raise ToolError("request is empty. Say what was asked.")
        return _answered(lambda: memory.checkpoint(request, analysis, decisions, outcome, references, event_id))


def _bounded(value: str, name: str, most: int) -> None:
    if len(value) > most:
        raise ToolError(f"{name} has {len(value):,} characters; {most:,} is the most.")


def _answered(work: Callable[[], str]) -> str:
    try:
        return work()
    except TenureError as exc:
        raise ToolError(redact(str(exc)).text) from exc
