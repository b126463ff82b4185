"""Requests to providers as the proxy reads them: what they open with, and where in them something can be added.

Three forms of API are known. What is added stands in messages and blocks of its own, so that whatever the caller wrote stays
as it is: the stable part behind the caller's own instructions, what was recalled for the task before the first message of the
user. Both places come before all that grows, so that every later request begins with the bytes of this one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tenure.serving.proxy.cache_marks import own_mark
from tenure.serving.proxy.json_places import Insertion, Member, elements, members, put_in, root
from tenure.traces.decoding import without_lone_surrogates

Form = Literal["chat", "responses", "messages"]
"""OpenAI's chat completions and responses, and Anthropic's messages; many other servers speak one of them."""

_INSTRUCTING = ("system", "developer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A request that could be read.

    Attributes:
        form: of its API.
        text: as it came.
        value: what it says.
        places: where its members stand, by name.
    """

    form: Form
    text: str
    value: Mapping[str, Any]
    places: Mapping[str, Member]

    @property
    def turns(self) -> Sequence[Any]:
        """Its messages or items; an input that is one text is none."""
        found = self.value.get("input" if self.form == "responses" else "messages")
        return found if isinstance(found, list) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a conversation is told by.

    Attributes:
        told: digest of the caller's instructions and the first message of the user.
        task: the text of that message; empty if it has none.
        begins: whether nothing was answered yet, so that a run may begin here.
        after: id of the reply that it goes on from, or of the conversation that the provider keeps; empty if it brings its own past.
    """

    told: str
    task: str
    begins: bool
    after: str


def form_of(method: str, path: str) -> Form | None:
    """The form of a request that something can be added to; none for all others."""
    if method != "POST":
        return None
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    return "messages" if path.endswith("/v1/messages") else None


def read_body(form: Form, raw: bytes) -> Body | None:
    """A request taken apart, or none if it is not what its form says: then the provider says what is wrong with it."""
    try:
        text = raw.decode("utf-8")
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    places: dict[str, Member] = {}
    for member in members(text, root(text)):
        if member.name in places:
            return None  # which of two counts is the provider's affair
        places[member.name] = member
    body = Body(form=form, text=text, value=value, places=places)
    whole = value.get("input") if form == "responses" else None
    return body if body.turns or (isinstance(whole, str) and whole) else None


def opening_of(body: Body) -> Opening:
    """What the conversation of a request is told by."""
    value = body.value
    first = _first_of_user(body)
    asked: object = None if first is None else _content(body.turns[first])
    if body.form == "responses" and isinstance(value.get("input"), str):
        asked = value["input"]
    led = [_content(turn) for turn in body.turns[: _leading(body)]]
    system = [value.get("instructions") if body.form == "responses" else value.get("system"), *led]
    return Opening(
        told=_digest([*map(_said, system), _said(asked)]),
        task=_words(asked),
        begins=not any(_answers(turn) for turn in body.turns),
        after=_after(value) if body.form == "responses" else "",
    )


def extended(body: Body, core: str, recall: str) -> bytes:
    """The request with texts added; every byte of it is there, in its order.

    Args:
        body: the request.
        core: the stable part; empty adds none.
        recall: what was recalled for the task; empty adds none, and neither does a request without a message of the user.
    """
    new = {"chat": _in_chat, "responses": _in_responses, "messages": _in_messages}[body.form](body, core, recall)
    return put_in(body.text, new).encode("utf-8")


def _in_chat(body: Body, core: str, recall: str) -> list[Insertion]:
    return _in_list(body, "messages", core, recall)


def _in_responses(body: Body, core: str, recall: str) -> list[Insertion]:
    if not isinstance(body.value.get("input"), str):
        return _in_list(body, "input", core, recall, type="message")
    place = body.places["input"]
    own = [_message("developer", core, type="message")] if core else []
    own += [_message("user", recall, type="message")] if recall else []
    if not own:
        return []
    before = "".join(f"{one}," for one in own)
    return [Insertion(place.start, f'[{before}{{"type":"message","role":"user","content":'), Insertion(place.end, "}]")]


def _in_messages(body: Body, core: str, recall: str) -> list[Insertion]:
    return [*(_in_system(body, core) if core else ()), *_in_list(body, "messages", "", recall)]


def _in_system(body: Body, core: str) -> list[Insertion]:
    """A further block of the system prompt, which stays what it was before it, its marks for caches too."""
    mark = own_mark(body.value)
    block = _json({"type": "text", "text": core, **({"cache_control": mark} if mark else {})})
    place, system = body.places.get("system"), body.value.get("system")
    if place is None:
        return [Insertion(max(one.end for one in body.places.values()), f',"system":[{block}]')]
    if isinstance(system, list):
        return [Insertion(place.end - 1, f",{block}" if system else block)]
    if not isinstance(system, str):
        return []  # what the provider makes of that is its affair
    if not system:
        return [Insertion(place.start + 1, _json(core)[1:-1])]  # an empty block is an error, an empty text is none
    return [Insertion(place.start, '[{"type":"text","text":'), Insertion(place.end, f"}},{block}]")]


def _in_list(body: Body, name: str, core: str, recall: str, **more: str) -> list[Insertion]:
    """Messages of our own beside those of the caller: behind the leading instructions, and before the first of the user."""
    leading, first = _leading(body), _first_of_user(body)
    new: list[Insertion] = []
    for number, (start, end) in enumerate(elements(body.text, body.places[name].start)):
        if core and number == 0 and not leading:
            new.append(Insertion(start, f"{_message(_INSTRUCTING[body.form == 'responses'], core, **more)},"))
        if recall and number == first:
            new.append(Insertion(start, f"{_message('user', recall, **more)},"))
        if core and number == leading - 1:
            new.append(Insertion(end, f",{_message(str(body.turns[number]['role']), core, **more)}"))
        if number >= max(leading - 1, first or 0):
            break
    return new


def _message(role: str, text: str, **more: str) -> str:
    return _json({**more, "role": role, "content": text})


def _json(value: object) -> str:
    return json.dumps(without_lone_surrogates(value), ensure_ascii=False, separators=(",", ":"))


def _leading(body: Body) -> int:
    """How many messages stand at the front that instruct."""
    count = 0
    for turn in body.turns:
        if not (isinstance(turn, dict) and turn.get("role") in _INSTRUCTING):
            break
        count += 1
    return count


def _first_of_user(body: Body) -> int | None:
    """The first message of the user that says something; results of tools are none."""
    for number, turn in enumerate(body.turns):
        if isinstance(turn, dict) and turn.get("role") == "user" and _speaks(turn.get("content")):
            return number
    return None


def _speaks(content: object) -> bool:
    if isinstance(content, list):
        return any(not (isinstance(block, dict) and block.get("type") == "tool_result") for block in content)
    return isinstance(content, str)


def _answers(turn: object) -> bool:
    """Whether a message or item comes of an answer of the model."""
    if not isinstance(turn, dict):
        return False
    if "role" in turn:
        return turn["role"] not in ("user", *_INSTRUCTING)
    return True


def _after(value: Mapping[str, Any]) -> str:
    before, kept = value.get("previous_response_id"), value.get("conversation")
    if isinstance(before, str) and before:
        return before
    kept = kept.get("id") if isinstance(kept, dict) else kept
    return kept if isinstance(kept, str) else ""


def _content(turn: object) -> object:
    return turn.get("content") if isinstance(turn, dict) else None


def _said(content: object) -> list[Any]:
    """What a content says, without the marks for caches, which wander from message to message; a text and a list of it are the same."""
    if content is None:
        return []
    blocks = content if isinstance(content, list) else [content]
    found: list[Any] = []
    for block in blocks:
        if isinstance(block, dict):
            text = block.get("text")
            found.append(text if isinstance(text, str) else {name: value for name, value in block.items() if name != "cache_control"})
        else:
            found.append(block)
    return found


def _words(content: object) -> str:
    return str(without_lone_surrogates("\n".join(one for one in _said(content) if isinstance(one, str))))


def _digest(value: object) -> str:
    form = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(form.encode("ascii")).hexdigest()
