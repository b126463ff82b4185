"""An operation survives being written as JSON; what is no operation says why."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.delta import OPERATIONS, Add, Merge, Operation, Pin, Restore, Retire, Tally, Update
from tenure.playbook.lessons import TALLY_NAMES, Evidence
from tenure.playbook.operations_json import operation_from_json, operation_to_json

TEXT = st.text(max_size=30)
PLACES = st.lists(st.builds(Evidence, run=TEXT, step=st.integers(-1, 10**6), role=TEXT), max_size=3).map(tuple)
NAMES = st.lists(TEXT, max_size=3).map(tuple)


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    """Any well-typed operation, sensible or not."""
    kind = draw(st.sampled_from(list(OPERATIONS.values())))
    given_values: dict[str, Any] = {}
    for one in fields(kind):
        nullable = (kind is Add and one.name in ("id", "kind")) or (kind is Update and one.name not in ("id", "evidence"))
        nullable = nullable or (kind is Merge and one.name == "text")
        strategy: st.SearchStrategy[Any] = TEXT
        if one.name in TALLY_NAMES or one.name == "step":
            strategy = st.integers()
        elif one.name in ("unmerge", "pinned", "revoked"):
            strategy = st.booleans()
        elif one.name in ("ids", "tool_order", "show"):
            strategy = NAMES
        elif one.name == "evidence":
            strategy = PLACES
        given_values[one.name] = draw(st.none() | strategy if nullable else strategy)
    return kind(**given_values)


@given(operations())
def test_an_operation_written_as_json_comes_back_the_same(op: Operation) -> None:
    assert operation_from_json(json.loads(json.dumps(operation_to_json(op)))) == op


@given(operations(), st.sampled_from([str.lower, str.title, str.upper]))
def test_the_name_may_be_written_in_any_case_and_stand_under_type(op: Operation, case: Any) -> None:
    obj = operation_to_json(op)
    obj["type"] = case(obj.pop("op"))
    assert operation_from_json(obj) == op


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
)
KEYS = [
    "section",
    "text",
    "content",
    "id",
    "bullet_id",
    "ids",
    "into",
    "helpful",
    "evidence",
    "pinned",
    "unmerge",
    "status",
    "tag",
    "metadata",
    "tool_order",
]


@given(JSON | st.fixed_dictionaries({"op": st.sampled_from([*OPERATIONS, "TAG", "delete", "x"])}, optional=dict.fromkeys(KEYS, JSON)))
def test_any_json_gives_an_operation_or_a_reason(obj: Any) -> None:
    read = operation_from_json(obj)
    if isinstance(read, str):
        assert read
    else:
        assert operation_from_json(operation_to_json(read)) == read


@pytest.mark.parametrize(
    ("obj", "op"),
    [
        ({"op": "ADD", "section": "s", "text": "A"}, Add("s", "A")),
        ({"type": "ADD", "section": "s", "content": "A", "bullet_id": ""}, Add("s", "A")),
        ({"op": "add", "text": "A"}, Add("", "A")),
        ({"op": "ADD", "section": "s", "text": "A", "id": None, "kind": None, "note": "ignored"}, Add("s", "A")),
        ({"op": "ADD", "type": "strategy", "text": "A"}, Add("", "A")),
        ({"op": "UPDATE", "lesson_id": "s-1", "content": "B"}, Update("s-1", text="B")),
        ({"op": "UPDATE", "id": "s-1", "text": None, "applies_when": ""}, Update("s-1", applies_when="")),
        ({"op": "TAG", "bullet_id": "s-1", "tag": "Helpful"}, Tally("s-1", helpful=1)),
        ({"type": "TAG", "skill_id": "s-1", "metadata": {"harmful": 2}}, Tally("s-1", harmful=2)),
        ({"op": "REMOVE", "id": "s-1"}, Retire("s-1")),
        ({"op": "DELETE", "bullet_id": "s-1", "reason": "wrong"}, Retire("s-1", "wrong")),
        ({"op": "MERGE", "ids": ["a", "b"], "into": "a"}, Merge(("a", "b"), "a")),
        ({"op": "RESTORE", "id": "a", "unmerge": True}, Restore("a", unmerge=True)),
        ({"op": "PIN", "id": "a"}, Pin("a")),
        ({"op": "TALLY", "id": "a", "shown": -2}, Tally("a", shown=-2)),
        (
            {"op": "ADD", "section": "s", "text": "A", "evidence": [{"run": "r", "step": 3, "role": "error"}, {"run": "r"}]},
            Add("s", "A", evidence=(Evidence(run="r", step=3, role="error"), Evidence(run="r"))),
        ),
    ],
)
def test_what_others_call_it_is_understood(obj: dict[str, Any], op: Operation) -> None:
    assert operation_from_json(obj) == op


@pytest.mark.parametrize(
    ("obj", "reason"),
    [
        ("ADD", "it is the text 'ADD', not an object"),
        ([], "it is a list, not an object"),
        ({}, "its field 'op' is missing"),
        ({"op": 3}, "its field 'op' is a number, not a text"),
        (
            {"op": "REWRITE", "text": "all"},
            "operation 'REWRITE' is not known; use one of: ADD, UPDATE, TALLY, MERGE, RETIRE, RESTORE, PIN, OBSERVE, REVOKE",
        ),
        ({"op": "ADD", "section": "s"}, "its field 'text' is missing"),
        ({"op": "ADD", "section": "s", "text": None}, "its field 'text' is null, not a text"),
        ({"op": "ADD", "section": "s", "content": 7}, "its field 'content' is a number, not a text"),
        ({"op": "ADD", "section": ["s"], "text": "A"}, "its field 'section' is a list, not a text"),
        ({"op": "UPDATE", "id": 12, "text": "B"}, "its field 'id' is a number, not a text"),
        ({"op": "UPDATE", "text": "B"}, "its field 'id' is missing"),
        ({"op": "MERGE", "ids": [1], "into": "a"}, "its field 'ids' is not a list of texts: it has a number"),
        ({"op": "MERGE", "ids": "a b", "into": "a"}, "its field 'ids' is not a list of texts: it has the text 'a b'"),
        ({"op": "MERGE", "ids": ["a", "b"]}, "its field 'into' is missing"),
        ({"op": "TALLY", "id": "a", "helpful": True}, "its field 'helpful' is true, not a whole number"),
        ({"op": "TALLY", "id": "a", "helpful": 1.5}, "its field 'helpful' is a number, not a whole number"),
        ({"op": "TALLY", "id": "a", "helpful": "1"}, "its field 'helpful' is the text '1', not a whole number"),
        ({"op": "TAG", "id": "a", "tag": "good"}, "its field 'tag' is the text 'good'; use one of: helpful, harmful, neutral"),
        ({"op": "TAG", "id": "a"}, "its field 'tag' is null; use one of: helpful, harmful, neutral"),
        ({"op": "PIN", "id": "a", "pinned": "yes"}, "its field 'pinned' is the text 'yes', not true or false"),
        ({"op": "ADD", "text": "A", "evidence": "r"}, "its field 'evidence' is the text 'r', not a list of places"),
        ({"op": "ADD", "text": "A", "evidence": [3]}, "its field 'evidence' has a number where a place should be"),
        ({"op": "ADD", "text": "A", "evidence": [{"run": 1}]}, "its field 'evidence' has a place whose 'run' or 'role' is not a text"),
        (
            {"op": "ADD", "text": "A", "evidence": [{"run": "r", "step": True}]},
            "its field 'evidence' has a place whose 'step' is true, not a whole number",
        ),
    ],
)
def test_a_reason_names_the_field(obj: Any, reason: str) -> None:
    assert operation_from_json(obj) == reason
