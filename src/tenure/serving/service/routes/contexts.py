"""Context: what an agent should know for a task."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Response

from tenure.serving.agent_tools import AgentTools
from tenure.serving.service.api import router, told
from tenure.serving.service.bodies import ContextBody
from tenure.serving.service.doing import CHANNEL, Doing, May

ROUTER = router("context")

_EXAMPLE = {
    "run": "01K5ZQ3V7M8N9P0Q1R2S3T4V5W",
    "text": '<tenure-context run="01K5ZQ3V7M8N9P0Q1R2S3T4V5W">\n...\n</tenure-context>',
    "tokens": 312,
    "lessons": ["01K5ZQ0A1B2C3D4E5F6G7H8J9K"],
    "notes": ["This is run 01K5ZQ3V7M8N9P0Q1R2S3T4V5W. Report how it ended: POST /v1/runs/01K5ZQ3V7M8N9P0Q1R2S3T4V5W/outcome"],
}


@ROUTER.post("/context", summary="What to know for a task", responses=told("The text for the prompt, and the run it is for.", _EXAMPLE))
def make_context(to: Annotated[Doing, Depends(May("read", "context", once=True))], body: ContextBody) -> Response:
    """The lessons and similar cases for a task, within a budget of tokens.

    What is shown is kept under the run's id, and what is reported of the run tells these lessons. A key that may not report is
    shown the same, and nothing is kept: `run` is empty then.
    """
    writes = to.caller.key.allows("report")

    def reported(run: str) -> str:
        return f"This is run {run}. Report how it ended: POST /v1/runs/{run}/outcome"

    tools = AgentTools(to.book, principal=to.origin.principal, channel=CHANNEL, writes=writes, how_to_report=reported)
    return to.reply(lambda: tools.context(body.task, body.budget).data)
