"""The OpenAI Agents SDK with a playbook: the first run fails, the second is shown what it taught.

python examples/openai_agents_sdk.py [DATABASE]

The lessons are the end of the agent's instructions; hooks report what the model was asked and what it answered.
With OPENAI_API_KEY set it asks a real model; else a scripted one answers, without a network.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, RunHooks, Runner, Usage, function_tool, set_tracing_disabled
from invoices import POSTED, decide, post, tell
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from tenure import Tenure
from tenure.active_run import ActiveRun
from tenure.frameworks import context_parts
from tenure.frameworks.openai import record_items, record_response


class Recorder(RunHooks[None]):
    """Hooks that report an agent's work as steps of a run."""

    def __init__(self, run: ActiveRun) -> None:
        self._run = run

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: str | None, input_items: list[Any]) -> None:
        """What the model is asked, results of tools among it. What was reported before is not reported again."""
        record_items(self._run, [{"role": "system", "content": system_prompt or ""}, *input_items])

    async def on_llm_end(self, context: Any, agent: Any, response: ModelResponse) -> None:
        """What it answered."""
        record_response(self._run, {"output": response.output})

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        """Another agent goes on."""
        self._run.step("event", f"{from_agent.name} hands over to {to_agent.name}", name="handoff")


def instructions(run: ActiveRun) -> str:
    """The agent's instructions with the lessons behind them: what stays first, what is for this task last."""
    return "\n\n".join(filter(None, ("You are a clerk. Try once.", *context_parts(run))))


class ScriptedModel(Model):
    """The scripted model."""

    async def get_response(self, system_instructions: str | None, input: str | list[Any], *_: Any, **__: Any) -> ModelResponse:
        """Its answer to what it was told."""
        items = [{"role": "user", "content": input}] if isinstance(input, str) else input
        results = [item["output"] for item in items if item.get("type") == "function_call_output"]
        decision = decide("\n".join([system_instructions or "", *(str(item.get("content", "")) for item in items)]), results)
        output: Any = ResponseFunctionToolCall(type="function_call", call_id="call-1", name="post", arguments=json.dumps(decision))
        if isinstance(decision, str):
            text = ResponseOutputText(type="output_text", text=decision, annotations=[])
            output = ResponseOutputMessage(id="msg-1", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Streams are not scripted."""
        raise NotImplementedError


@function_tool(name_override="post", failure_error_function=lambda _, error: f"Error: {error}")
def post_invoice(invoice: int, rate_on: str) -> str:
    """Post an invoice, at the rate of `payment_date` or `invoice_date`."""
    return post(invoice, rate_on)


async def main() -> None:
    """Post two invoices."""
    scripted = not os.environ.get("OPENAI_API_KEY")
    if scripted:
        set_tracing_disabled(True)
    async with Tenure.open(sys.argv[1] if len(sys.argv) > 1 else "memory://", scope="invoices") as book:
        for invoice in (7, 8):
            async with book.run(f"post invoice {invoice}") as run:
                model = ScriptedModel() if scripted else None
                agent = Agent[None](name="clerk", instructions=instructions(run), tools=[post_invoice], model=model)
                result = await Runner.run(agent, run.task.text, hooks=Recorder(run))
                await run.afinish(success=invoice in POSTED, feedback=result.final_output)
            tell(run, result.final_output, success=invoice in POSTED)


if __name__ == "__main__":
    asyncio.run(main())
