"""The Anthropic client with a playbook: the first run fails, the second is shown what it taught.

python examples/anthropic_client.py [DATABASE]

With ANTHROPIC_API_KEY set it asks a real model (ANTHROPIC_MODEL names it); else a scripted one answers, without a network.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import httpx2
from anthropic import Anthropic
from invoices import POSTED, decide, post, tell

from tenure import Tenure
from tenure.active_run import ActiveRun
from tenure.frameworks.anthropic import create_message

MODEL = os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-4-5")
SCHEMA = {
    "type": "object",
    "properties": {"invoice": {"type": "integer"}, "rate_on": {"type": "string"}},
    "required": ["invoice", "rate_on"],
}
TOOLS = [{"name": "post", "description": post.__doc__, "input_schema": SCHEMA}]


def work(client: Anthropic, run: ActiveRun, task: str) -> str:
    """An ordinary loop with a tool. Only `create_message` is not the client's own."""
    messages: list[Any] = [{"role": "user", "content": task}]
    while True:
        reply = create_message(
            client, run, model=MODEL, max_tokens=1024, system="You are a clerk. Try once.", messages=messages, tools=TOOLS
        )
        if reply.stop_reason != "tool_use":
            return "".join(block.text for block in reply.content if block.type == "text")
        messages.append({"role": "assistant", "content": reply.content})
        results: list[dict[str, Any]] = []
        for block in reply.content:
            if block.type == "tool_use":
                arguments: Any = block.input
                try:
                    result, failed = post(**arguments), False
                except ValueError as error:
                    result, failed = str(error), True
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": result, "is_error": failed})
        messages.append({"role": "user", "content": results})


def answer_as_scripted(request: httpx2.Request) -> httpx2.Response:
    """The server's side of the scripted model."""
    sent = json.loads(request.content)
    system = sent["system"] if isinstance(sent["system"], list) else [{"text": sent["system"]}]
    contents = [message["content"] for message in sent["messages"]]
    blocks = [block for content in contents for block in (content if isinstance(content, list) else [{"text": content}])]
    results = [block["content"] for block in blocks if block.get("type") == "tool_result"]
    decision = decide("\n".join(block.get("text", "") for block in (*system, *blocks)), results)
    block = {"type": "text", "text": decision}
    if not isinstance(decision, str):
        block = {"type": "tool_use", "id": "call-1", "name": "post", "input": decision}
    message = {"id": "1", "type": "message", "role": "assistant", "model": MODEL, "content": [block], "stop_sequence": None}
    usage = {"input_tokens": 0, "output_tokens": 0}
    return httpx2.Response(200, json={**message, "stop_reason": "end_turn" if isinstance(decision, str) else "tool_use", "usage": usage})


def main() -> None:
    """Post two invoices."""
    if os.environ.get("ANTHROPIC_API_KEY"):
        client = Anthropic()
    else:
        client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(answer_as_scripted)))
    database = sys.argv[1] if len(sys.argv) > 1 else "memory://"
    with client, Tenure.open(database, scope="invoices") as book:
        for invoice in (7, 8):
            with book.run(f"post invoice {invoice}") as run:
                answer = work(client, run, run.task.text)
                run.finish(success=invoice in POSTED, feedback=answer)
            tell(run, answer, success=invoice in POSTED)


if __name__ == "__main__":
    main()
