"""Calls find their results, and a call is known to change something or not."""

from __future__ import annotations

from typing import Any

import pytest

from tenure.playbook.run import Run, Step, Task
from tenure.roles.actions import Action, actions_of, is_read_only, is_shell, leaves, shell_changes
from tests.roles.told import agent, call, gave, refused, told


def pairs(run: Run) -> list[tuple[str, int, int]]:
    return [(action.tool, action.call, action.result) for action in actions_of(run)]


def by_id(kind: str, name: str, call_id: str) -> Step:
    return Step(kind=kind, name=name, call_id=call_id)  # type: ignore[arg-type]


def test_results_find_their_call_by_id_in_whatever_order_they_come() -> None:
    steps = (by_id("tool_call", "a", "1"), by_id("tool_call", "a", "2"), by_id("tool_result", "", "2"), by_id("tool_result", "a", "1"))
    assert pairs(Run(id="r", task=Task(text=""), steps=steps)) == [("a", 0, 3), ("a", 1, 2)]


def test_without_ids_a_result_belongs_to_the_first_open_call_of_its_tool() -> None:
    steps = (call("a"), call("b"), Step(kind="tool_result", name="b"), Step(kind="tool_result", name="a"), call("c"), gave("x"))
    assert pairs(told(*steps)) == [("a", 0, 3), ("b", 1, 2), ("c", 4, 5)]


def test_a_call_without_result_and_a_result_without_call_are_kept() -> None:
    run = told(call("a"), agent("…"), by_id("tool_result", "b", "7"))
    assert pairs(run) == [("a", 0, -1), ("b", -1, 2)]
    assert [action.accepted for action in actions_of(run)] == [False, True]


def test_arguments_that_are_no_object_are_kept_as_they_are() -> None:
    [action] = actions_of(told(Step(kind="tool_call", name="a", content="{broken"), refused("no")))
    assert action.arguments == {"": "{broken"}
    assert action.error == "no"
    assert not action.accepted


@pytest.mark.parametrize(
    "tool",
    [
        "get_order",
        "list_all_airports",
        "search_direct_flight",
        "WebSearch",
        "Read",
        "Grep",
        "think",
        "calculate",
        "mcp__git__git_log",
        "user.find",
    ],
)
def test_tools_that_look_are_read_only(tool: str) -> None:
    assert is_read_only(tool)


@pytest.mark.parametrize(
    "tool", ["book_reservation", "update_order", "Edit", "Write", "mcp__git__git_commit", "transfer_to_human", "frobnicate", "支付", ""]
)
def test_tools_that_change_or_say_nothing_of_it_change_state(tool: str) -> None:
    assert not is_read_only(tool)


@pytest.mark.parametrize(
    "command",
    ["ls -la", "git status && git log -3", "cat a | grep b", "LANG=C rg x src 2>/dev/null", "npm ls", "python --version", "cd a; pwd"],
)
def test_commands_that_look_change_nothing(command: str) -> None:
    assert not shell_changes(command)


@pytest.mark.parametrize("command", ["npm install x", "git commit -m x", "echo a > b", "cat a && rm a", "sudo make install", "python x.py"])
def test_commands_that_run_or_write_change_state(command: str) -> None:
    assert shell_changes(command)


def test_a_shell_is_judged_by_its_command() -> None:
    steps = (call("Bash", command="git status"), gave(""), call("shell", command=["bash", "-lc", "cd src && rm x"]), gave(""))
    look, change = actions_of(told(*steps))
    assert (look.command, look.changes_state) == ("git status", False)
    assert (change.command, change.changes_state) == ("rm x", True)


@pytest.mark.parametrize(
    ("tool", "expected"), [("Bash", True), ("run_command", True), ("mcp__x__execute_shell", True), ("book", False), ("get_command", False)]
)
def test_shells_are_known_by_name(tool: str, expected: bool) -> None:
    assert is_shell(tool) is expected


def test_remarks_do_not_make_another_call() -> None:
    def shell(**more: Any) -> Action:
        return actions_of(told(call("Bash", command="ls", **more)))[0]

    assert shell(description="look").same_call(shell(description="look again", timeout="5"))
    first, second = (actions_of(told(call("cancel", reason=reason)))[0] for reason in ("a", "b"))
    assert not first.same_call(second)


def test_leaves_name_lists_and_leave_ids_open() -> None:
    value = {"pay": [{"amount": 5, "id": "x"}], "methods": {"card_9087712": {"kind": "card"}}, "address1": "Elm"}
    found = [("pay[].amount", 5), ("pay[].id", "x"), ("methods.*.kind", "card"), ("address1", "Elm")]
    assert list(leaves(value)) == found
