"""The turns of a proxied conversation as steps of a run, read as the logs of such conversations are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tenure.playbook.run import MODEL_CALL, Step
from tenure.serving.proxy.bodies import Body, Form
from tenure.serving.proxy.replies import Reply
from tenure.traces.decoding import without_lone_surrogates
from tenure.traces.openai_chat import ROLES, add_message
from tenure.traces.report import ReadReport
from tenure.traces.shapes import text_of
from tenure.traces.transcript import Transcript

CUT_OFF = "reply_cut_off"
"""Name of the event that says that a reply ended early: the caller went away, or the provider."""


def steps_of_request(body: Body, report: ReadReport) -> Sequence[Step]:
    """What a request says, in order."""
    transcript = Transcript(report)
    system = body.value.get("instructions" if body.form == "responses" else "system")
    if body.form != "chat" and system:
        transcript.system(text_of(system, report))
    whole = body.value.get("input") if body.form == "responses" else None
    if isinstance(whole, str):
        transcript.person(whole)
    for turn in body.turns:
        _add(transcript, body.form, turn, report)
    return _storable(transcript.steps)


def steps_of_reply(form: Form, reply: Reply, report: ReadReport, *, at: str) -> Sequence[Step]:
    """What a reply says, and that it was given.

    Args:
        form: of the request.
        reply: the answer.
        report: told what is cut or left out.
        at: when it was given; ISO 8601.
    """
    transcript = Transcript(report)
    for item in reply.said:
        _add(transcript, form, item, report)
    if reply.model or reply.usage:
        transcript.event(MODEL_CALL, json.dumps({"model": reply.model, **reply.usage}, ensure_ascii=False), at)
    if not reply.ended:
        transcript.event(CUT_OFF, at=at)
    return _storable(transcript.steps)


def _storable(steps: Sequence[Step]) -> Sequence[Step]:
    """Steps without half characters, which no request that shows them later could hold."""

    def whole(text: str) -> str:
        return str(without_lone_surrogates(text))

    return [
        replace(
            step,
            name=whole(step.name),
            content=whole(step.content),
            error=whole(step.error),
            call_id=whole(step.call_id),
            arguments=without_lone_surrogates(step.arguments),
        )
        for step in steps
    ]


def _add(transcript: Transcript, form: Form, item: object, report: ReadReport) -> None:
    if not isinstance(item, dict):
        report.unknown("proxy", "item that is no object")
    elif form == "responses" and item.get("type", "message") != "message":
        _add_item(transcript, item, report)
    elif isinstance(item.get("role"), str) and item["role"] in ROLES:
        add_message(transcript, item, report)
    else:
        report.unknown("proxy", "message without a known role")


def _add_item(transcript: Transcript, item: Mapping[str, Any], report: ReadReport) -> None:
    """One item of the responses API that is no message."""
    kind = str(item.get("type", ""))
    call = str(item.get("call_id") or item.get("id") or "")
    if kind == "reasoning":
        transcript.thought(text_of(item.get("content") or item.get("summary"), report))
    elif kind.endswith("_output"):
        transcript.result(item.get("output"), call)
    elif kind in ("function_call", "custom_tool_call"):
        transcript.call(str(item.get("name", "")), item.get("arguments", item.get("input")), call)
    elif kind == "item_reference":
        report.unknown("proxy", "reference to an item that the provider keeps")
    elif kind.endswith("_call"):
        told = {name: value for name, value in item.items() if name in ("action", "arguments", "name", "queries", "code", "status")}
        transcript.call(kind.removesuffix("_call"), told, call)
    else:
        report.unknown("proxy", f"item of type {kind[:40]}")
