"""The OpenAI client with a playbook: the first run fails, the second is shown what it taught.

python examples/openai_client.py [DATABASE]

With OPENAI_API_KEY set it asks a real model (OPENAI_MODEL names it); else a scripted one answers, without a network.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import httpx2
from invoices import POSTED, decide, post, tell
from openai import OpenAI

from tenure import Tenure
from tenure.active_run import ActiveRun
from tenure.frameworks.openai import create_completion

MODEL = os.environ.get("OPENAI_MODEL", "gpt-4o-mini")
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "post",
            "description": post.__doc__,
            "parameters": {
                "type": "object",
                "properties": {"invoice": {"type": "integer"}, "rate_on": {"type": "string"}},
                "required": ["invoice", "rate_on"],
            },
        },
    }
]


def work(client: OpenAI, run: ActiveRun, task: str) -> str:
    """An ordinary loop with a tool. Only `create_completion` is not the client's own."""
    messages: list[Any] = [{"role": "system", "content": "You are a clerk. Try once."}, {"role": "user", "content": task}]
    while True:
        reply = create_completion(client, run, model=MODEL, messages=messages, tools=TOOLS).choices[0].message
        if not reply.tool_calls:
            return reply.content or ""
        messages.append(reply)
        for call in reply.tool_calls:
            if call.type != "function":
                continue
            try:
                result = post(**json.loads(call.function.arguments))
            except ValueError as error:
                result = f"Error: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def answer_as_scripted(request: httpx2.Request) -> httpx2.Response:
    """The server's side of the scripted model."""
    messages = json.loads(request.content)["messages"]
    results = [message["content"] for message in messages if message["role"] == "tool"]
    decision = decide("\n".join(message["content"] or "" for message in messages), results)
    message: dict[str, Any] = {"role": "assistant", "content": decision if isinstance(decision, str) else None}
    if not isinstance(decision, str):
        message["tool_calls"] = [{"id": "call-1", "type": "function", "function": {"name": "post", "arguments": json.dumps(decision)}}]
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return httpx2.Response(200, json={"id": "1", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice]})


def main() -> None:
    """Post two invoices."""
    if os.environ.get("OPENAI_API_KEY"):
        client = OpenAI()
    else:
        client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(answer_as_scripted)))
    database = sys.argv[1] if len(sys.argv) > 1 else "memory://"
    with client, Tenure.open(database, scope="invoices") as book:
        for invoice in (7, 8):
            with book.run(f"post invoice {invoice}") as run:
                answer = work(client, run, run.task.text)
                run.finish(success=invoice in POSTED, feedback=answer)
            tell(run, answer, success=invoice in POSTED)


if __name__ == "__main__":
    main()
