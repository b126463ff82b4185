"""An agent of pydantic-ai with a playbook: the first run fails, the second is shown what it taught.

python examples/pydantic_ai_agent.py [DATABASE]

With MODEL set, such as MODEL=openai:gpt-4o-mini and its key, it asks that model; else a scripted one answers, without a network.
"""

from __future__ import annotations

import asyncio
import os
import sys

from invoices import POSTED, decide, post, tell
from pydantic_ai import Agent, ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tenure import Tenure
from tenure.frameworks.pydantic_ai import arun_agent


def answer_as_scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """The scripted model."""
    parts = [part for message in messages for part in message.parts]
    results = [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]
    asked = "\n".join(str(part.content) for part in parts if isinstance(part, UserPromptPart))
    decision = decide(f"{info.instructions}\n{asked}", results)
    return ModelResponse(parts=[TextPart(decision) if isinstance(decision, str) else ToolCallPart("post", decision)])


agent = Agent(os.environ.get("MODEL") or FunctionModel(answer_as_scripted), instructions="You are a clerk. Try once.")


@agent.tool_plain(name="post")
def post_invoice(invoice: int, rate_on: str) -> str:
    """Post an invoice, at the rate of `payment_date` or `invoice_date`."""
    try:
        return post(invoice, rate_on)
    except ValueError as error:
        raise ToolFailed(str(error)) from error


async def main() -> None:
    """Post two invoices."""
    async with Tenure.open(sys.argv[1] if len(sys.argv) > 1 else "memory://", scope="invoices") as book:
        for invoice in (7, 8):
            async with book.run(f"post invoice {invoice}") as run:
                result = await arun_agent(agent, run, run.task.text)
                await run.afinish(success=invoice in POSTED, feedback=result.output)
            tell(run, result.output, success=invoice in POSTED)


if __name__ == "__main__":
    asyncio.run(main())
