"""MCP over HTTP as bare requests: a session, and calls of tools in it."""

from __future__ import annotations

import json
from typing import Any

from tests.serving.service.services import Service

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
VERSION = "2025-06-18"


def post(service: Service, key: str, body: object, session: str = "", **headers: str) -> Any:
    """A message to the server."""
    sent = {**ACCEPT, "authorization": f"Bearer {key}", "mcp-protocol-version": VERSION, **headers}
    if session:
        sent["mcp-session-id"] = session
    return service.client.post("/mcp", content=json.dumps(body).encode(), headers=sent)


def initialise(service: Service, key: str, **headers: str) -> str:
    """A new session; its id."""
    asked = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    reply = post(service, key, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}, **headers)
    assert reply.status_code == 200, reply.text
    session = str(reply.headers["mcp-session-id"])
    assert post(service, key, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session, **headers).status_code == 202
    return session


def ask(
    service: Service, key: str, session: str, method: str, params: dict[str, Any], *, expect: int = 200, **headers: str
) -> dict[str, Any]:
    """The result of a request; empty where another status than 200 is expected."""
    reply = post(service, key, {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}, session, **headers)
    assert reply.status_code == expect, reply.text
    if expect != 200:
        return {}
    texts = [line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: ")] or [reply.text]
    said = next(one for one in map(json.loads, filter(None, texts)) if "id" in one)
    found: dict[str, Any] = said.get("result") or {"isError": True, **said.get("error", {})}
    return found


def call_tool(service: Service, key: str, session: str, name: str, arguments: dict[str, Any], *, expect: int = 200) -> dict[str, Any]:
    """What a tool answers."""
    return ask(service, key, session, "tools/call", {"name": name, "arguments": arguments}, expect=expect)
