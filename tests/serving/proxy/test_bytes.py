"""What is not ours stays as it was, byte by byte: requests with anything in them, answers of any kind."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.playbook.delta import Add
from tenure.serving.proxy.bodies import Form, extended, opening_of, read_body
from tenure.serving.proxy.json_places import Insertion, elements, members, put_in, root
from tenure.stores.in_memory import InMemoryStore
from tests.serving.proxy.servers import Answer, Running, running

CORE = '<tenure-context>\nA "core" \\ with é\n</tenure-context>'
RECALL = "<tenure-context>\nrecalled\n</tenure-context>"

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
CONTENTS = TEXTS | st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}, optional={"more": VALUES}), min_size=1, max_size=2
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool"]), "content": CONTENTS}, optional={"x": VALUES}
    ),
    min_size=1,
    max_size=5,
)  # fmt: skip


@st.composite
def written(draw: Any, value: Any) -> str:
    """A value as somebody wrote it: with blanks, with or without escapes, with numbers nobody would write."""
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 0, 2])))
    return cast(str, draw(st.sampled_from(["", " ", "\r\n\t"]))) + text.replace(
        '"a-number"', draw(st.sampled_from(["1E400", "-0.0", "1.10", "10000000000000000000000001"]))
    )


@st.composite
def requests(draw: Any) -> tuple[Form, str]:
    form = draw(st.sampled_from(["chat", "responses", "messages"]))
    value: dict[str, Any] = draw(st.dictionaries(TEXTS, VALUES, max_size=3))
    value["max"] = "a-number"
    if form == "responses":
        value["input"] = draw(MESSAGES | TEXTS.filter(bool))
        value |= draw(st.sampled_from([{}, {"instructions": "be brief"}, {"instructions": None}]))
    else:
        value["messages"] = draw(MESSAGES)
    if form == "messages":
        value |= draw(
            st.sampled_from(
                [{}, {"system": "be brief"}, {"system": [{"type": "text", "text": "x", "y": 1}]}, {"system": []}, {"system": ""}]
            )
        )
    names = draw(st.permutations(list(value)))
    return form, draw(written({name: value[name] for name in names}))


def is_own(value: object) -> bool:
    return isinstance(value, dict) and value.get("content", value.get("text")) in (CORE, RECALL)


@given(requests())
def test_every_byte_of_a_request_is_there_in_its_order(asked: tuple[Form, str]) -> None:
    form, text = asked
    body = read_body(form, text.encode())
    assert body is not None
    sent = extended(body, CORE, RECALL).decode()
    left = iter(sent)
    assert all(one in left for one in text)  # as a subsequence


@given(requests())
def test_a_request_says_the_same_without_what_was_added(asked: tuple[Form, str]) -> None:
    form, text = asked
    body = read_body(form, text.encode())
    assert body is not None
    before, after = (
        json.loads(text, parse_float=str, parse_int=str),
        json.loads(extended(body, CORE, RECALL), parse_float=str, parse_int=str),
    )
    name = "input" if form == "responses" else "messages"
    added = [one for one in after[name] if is_own(one)]
    after[name] = [one for one in after[name] if not is_own(one)]
    if isinstance(before[name], str):
        assert after[name] == [{"type": "message", "role": "user", "content": before[name]}]
        after[name] = before[name]
    system = after.get("system") if form == "messages" else None
    if isinstance(system, list):
        added += [one for one in system if is_own(one)]
        callers = [one for one in system if not is_own(one)]
        if "system" not in before:
            del after["system"]
        else:
            assert callers == ([{"type": "text", "text": before["system"]}] if isinstance(before["system"], str) else before["system"])
            after["system"] = before["system"]
    elif form == "messages" and system == CORE:
        added.append({"text": CORE})
        after["system"] = ""
    assert after == before
    said = sum(isinstance(one, dict) and one["role"] == "user" for one in before[name]) if isinstance(before[name], list) else 1
    assert len(added) == 1 + bool(said)


@given(MESSAGES, MESSAGES, st.sampled_from(["chat", "messages"]))
def test_what_is_sent_of_a_turn_begins_what_is_sent_of_the_next(first: Any, more: Any, form: Form) -> None:
    first = [*first, {"role": "user", "content": "go"}]
    one, two = (read_body(form, json.dumps({"messages": messages}).encode()) for messages in (first, [*first, *more]))
    assert one is not None
    assert two is not None
    sent = [json.dumps(json.loads(extended(body, CORE, RECALL))["messages"]) for body in (one, two)]
    assert sent[1].startswith(sent[0][:-1])
    assert opening_of(one).told == opening_of(two).told


@given(VALUES.map(lambda value: {"a": value, "b": [value, 1]}), st.data())
def test_places_are_those_of_the_values(value: Any, data: st.DataObject) -> None:
    text = data.draw(written(value))
    found = list(members(text, root(text)))
    assert {one.name: json.loads(text[one.start : one.end]) for one in found} == value
    assert [json.loads(text[start:end]) for start, end in elements(text, found[1].start)] == value["b"]


def test_insertions_of_one_place_keep_their_order() -> None:
    assert put_in("ab", [Insertion(1, "2"), Insertion(0, "0"), Insertion(1, "3"), Insertion(2, "4")]) == "0a23b4"


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"[]", b"{", b'{"messages": []}', b'{"messages": [{"role": "user", "content": "x"}], "messages": []}', b"\xff{}",
        b'{"messages": "x"}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_request_is_left_to_the_provider(raw: bytes) -> None:
    assert read_body("chat", raw) is None


@pytest.fixture(scope="module")
def there() -> Iterator[Running]:
    with running(InMemoryStore()) as found:
        found.book.apply([Add(section="s", text="Check the total of every invoice.")])
        yield found


def exchanged(there: Running, method: str, target: str, body: bytes, headers: dict[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
    parts = urlsplit(there.url)
    connection = http.client.HTTPConnection(str(parts.hostname), int(parts.port or 0), timeout=60)
    try:
        connection.request(method, target, body=body or None, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()
    finally:
        connection.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.binary(max_size=200),
    chunks=st.lists(st.binary(min_size=1, max_size=50), max_size=4),
    status=st.sampled_from([200, 201, 400, 404, 418, 500, 529]),
    named=st.text("abcdefghijklmnopqrstuvwxyz-", min_size=3, max_size=10),
    target=st.sampled_from(["/v1/models/a%2Fb?x=%20&y=1&y=2", "/v1/files", "/v1/chat/completions", "/openai/v1/responses", "/v1/messages"]),
)
def test_answers_come_back_as_the_provider_gave_them(
    there: Running, body: bytes, chunks: list[bytes], status: int, named: str, target: str
) -> None:
    there.provider.got.clear()
    kept = [
        ("content-type", "application/octet-stream"),
        (f"q{named}", "Value é".encode().decode("latin-1")),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
    ]
    there.provider.answer = lambda got: Answer(
        status=status, headers=[(n, v.encode("latin-1").decode("utf-8")) for n, v in kept], chunks=chunks
    )
    found = exchanged(there, "POST", target, body, {"authorization": "Bearer k", "x-odd": "1", "content-type": "application/json"})
    assert (found[0], found[2]) == (status, b"".join(chunks))
    assert [
        (name.lower(), value) for name, value in found[1] if name.lower() not in ("transfer-encoding", "x-tenure", "x-tenure-run")
    ] == kept
    (got,) = there.provider.got
    assert got.body == body  # none of these is a request that something could be added to
    assert got.target.decode() == target.removeprefix("/openai")
    assert {name for name, _ in got.headers} == {
        b"host",
        b"accept-encoding",
        b"content-length",
        b"authorization",
        b"x-odd",
        b"content-type",
    }


def test_compressed_answers_stay_compressed_and_are_recorded(there: Running) -> None:
    from tests.serving.proxy.servers import chat_reply
    from tests.serving.proxy.test_openai_client import recorded

    packed = gzip.compress(chat_reply("Packed."))
    there.provider.answer = lambda got: Answer(
        headers=[("content-type", "application/json"), ("content-encoding", "gzip"), ("content-length", str(len(packed)))],
        chunks=[packed[:10], packed[10:]],
    )
    asked = json.dumps({"model": "m", "messages": [{"role": "user", "content": "pack it"}]}).encode()
    _, headers, body = exchanged(there, "POST", "/v1/chat/completions", asked, {"accept-encoding": "gzip", "x-tenure-run": "packed-1"})
    assert body == packed
    assert dict(headers)["content-length"] == str(len(packed))
    assert recorded(there, "packed-1", 3).steps[1].content == "Packed."


def test_a_compressed_request_is_passed_and_said_so(there: Running) -> None:
    there.provider.got.clear()
    there.provider.answer = lambda got: Answer()
    packed = gzip.compress(b'{"messages": [{"role": "user", "content": "x"}]}')
    _, headers, _ = exchanged(there, "POST", "/v1/chat/completions", packed, {"content-encoding": "gzip"})
    assert there.provider.got[0].body == packed
    assert dict(headers)["x-tenure"] == "passed; compressed request"
