"""A small corpus of runs, each with one thing to learn. What is learned from them is pinned in tests/golden/extract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tenure.playbook.run import Run
from tests.roles.told import agent, call, gave, refused, told, user

WALLET: Mapping[str, Any] = {
    "customer_id": "kim_4471",
    "methods": {
        "voucher_5512": {"kind": "voucher", "balance": 40, "id": "voucher_5512"},
        "card_9087712": {"kind": "card", "last_four": "7712", "id": "card_9087712"},
    },
    "orders": ["#Q20931", "#Q20932"],
}
ORDER: Mapping[str, Any] = {
    "order_id": "#Q20931",
    "customer_id": "kim_4471",
    "lines": [{"sku": "LAMP-204", "price": 31.5}, {"sku": "DESK-118", "price": 210}],
    "status": "shipped",
}
SEATS: list[Any] = [
    {"train": "ICE702", "date": "2026-03-02", "free_seats": {"first": 3, "second": 0}},
    {"train": "ICE704", "date": "2026-03-02", "free_seats": {"first": 9, "second": 21}},
]


def shell(command: str) -> Any:
    """A call of the shell."""
    return call("Bash", command=command, description="run it")


def pay(*parts: tuple[str, float]) -> Any:
    """A call that pays an invoice in parts."""
    return call(
        "pay_invoice", invoice="INV-7", payments=[{"method": method, "amount": amount} for method, amount in parts], lines=["a", "b", "c"]
    )


TRACEBACK = (
    'Exit code 1\nTraceback (most recent call last):\n  File "app.py", line 3, in <module>\n    import yaml\n'
    "ModuleNotFoundError: No module named 'yaml'"
)
NOT_ADDED_UP = "Error: amounts do not add up, total due is 330, but paid 110"

ERRORS: Mapping[str, Run] = {
    "a sum that the error names": told(
        user("Pay INV-7"),
        pay(("bank", 100)),
        refused("Error: amounts do not add up, total due is 330, but paid 100"),
        pay(("bank", 300), ("cash", 30)),
        gave({"ok": True}),
    ),
    "a sum, and a list that explains it": told(
        user("Pay INV-7"), pay(("bank", 110)), refused(NOT_ADDED_UP), pay(("bank", 330)), gave({"ok": True})
    ),
    "a sum that stays wrong": told(
        user("Pay INV-7"), pay(("bank", 110)), refused(NOT_ADDED_UP), pay(("bank", 110)), refused(NOT_ADDED_UP), success=False
    ),
    "an id looked up after the error": told(
        user("Pay with my card ending in 7712"),
        call("charge", order_id="#Q20931", method="card_7712"),
        refused("Error: payment method not found"),
        call("get_customer", customer_id="kim_4471"),
        gave(WALLET),
        call("charge", order_id="#Q20931", method="card_9087712"),
        gave("charged"),
    ),
    "another kind of id": told(
        user("Change my order"),
        call("get_customer", customer_id="kim_4471"),
        gave(WALLET),
        call("change_order", order_id="#Q20931", sku="LAMP-204", method="voucher_5512"),
        refused("Error: voucher cannot be used for changes"),
        call("change_order", order_id="#Q20931", sku="LAMP-204", method="card_9087712"),
        gave("changed"),
    ),
    "a balance that was there to see": told(
        user("Pay"),
        call("get_customer", customer_id="kim_4471"),
        gave(WALLET),
        call("charge", order_id="#Q20931", method="voucher_5512"),
        refused("Error: voucher balance is not enough"),
        call("charge", order_id="#Q20931", method="card_9087712"),
        gave("charged"),
    ),
    "a balance, never cured": told(
        user("Pay"),
        call("get_customer", customer_id="kim_4471"),
        gave(WALLET),
        call("charge", order_id="#Q20931", method="voucher_5512"),
        refused("Error: voucher balance is not enough"),
        success=False,
    ),
    "a status, never cured": told(
        user("Cancel it"),
        call("get_order", order_id="#Q20931"),
        gave(ORDER),
        call("cancel_order", order_id="#Q20931"),
        refused("Error: non-pending order cannot be cancelled"),
        call("cancel_order", order_id="#Q20931"),
        refused("Error: non-pending order cannot be cancelled"),
        success=False,
    ),
    "seats that a search had shown": told(
        user("Book two"),
        call("search_trains", date="2026-03-02"),
        gave(SEATS),
        call("book_train", train="ICE702", seats=2, fare="second"),
        refused("Error: not enough seats on train ICE702"),
        call("book_train", train="ICE704", seats=2, fare="second"),
        gave("booked"),
    ),
    "an element left out": told(
        user("Move my trip"),
        call("move_trip", trip="T-88", legs=[{"train": "ICE702", "date": "2026-02-01"}, {"train": "ICE704", "date": "2026-03-02"}]),
        refused("Error: train ICE702 not available on 2026-02-01"),
        call("move_trip", trip="T-88", legs=[{"train": "ICE704", "date": "2026-03-02"}]),
        gave("moved"),
        success=False,
    ),
    "an element added, and the rest shared": told(
        user("Pay"),
        call("get_customer", customer_id="kim_4471"),
        gave(WALLET),
        pay(("voucher_5512", 100)),
        refused("Error: balance of voucher_5512 is too low"),
        pay(("voucher_5512", 40), ("card_9087712", 60)),
        gave({"ok": True}),
    ),
    "a sign in front": told(
        user("Where is Q20931?"),
        call("get_order", order_id="Q20931"),
        refused("Error: order not found"),
        call("get_order", order_id="#Q20931"),
        gave(ORDER),
    ),
    "a value that the error names": told(
        user("Book"),
        call("book_room", room="small", day="2026-03-02"),
        refused("Room 'small' is closed on 2026-03-02; the next free day is 2026-03-04"),
        call("book_room", room="small", day="2026-03-04"),
        gave("booked"),
    ),
    "a value that the user corrected": told(
        user("I am Kim Lindqvst, 4471"),
        call("find_customer_by_name", first="Kim", last="Lindqvst"),
        refused("Error: customer not found"),
        agent("How is it spelt?"),
        user("Lindqvist"),
        call("find_customer_by_name", first="Kim", last="Lindqvist"),
        gave("kim_4471"),
    ),
    "another way to look it up": told(
        user("kim@example.org"),
        call("find_customer_by_mail", mail="kim@example.org"),
        refused("Error: customer not found"),
        call("find_customer_by_name", first="Kim", last="Lindqvist"),
        gave("kim_4471"),
    ),
    "nobody could know": told(
        user("my number is 4471"), call("find_customer", number="4471"), refused("Error: customer not found"), success=False
    ),
    "two lists of one length": told(
        user("Swap"),
        call("swap", give=["LAMP-204", "DESK-118"], take=["LAMP-205"]),
        refused("Error: the number of articles should match"),
        call("swap", give=["LAMP-204"], take=["LAMP-205"]),
        gave("swapped"),
    ),
    "a format": told(
        user("Set it"),
        call("create_event", start="2026-03-02 10:00", title="standup"),
        refused("Invalid start '2026-03-02 10:00', expected ISO 8601"),
        call("create_event", start="2026-03-02T10:00:00Z", title="standup"),
        gave({"id": 5}),
    ),
    "an argument too few": told(
        user("Set it"),
        call("create_event", title="standup"),
        refused("TypeError: create_event() missing 1 required argument: 'start'"),
        call("create_event", title="standup", start="2026-03-02"),
        gave({"id": 5}),
    ),
    "a message inside JSON": told(
        user("Pay"),
        call("transfer", currency="usd", amount=5),
        refused('{"error": {"code": "bad_currency", "message": "currency must be upper case, got usd"}}'),
        call("transfer", currency="USD", amount=5),
        gave("ok"),
    ),
    "another errand of the same tool": told(
        user("Cancel both"),
        call("get_order", order_id="#Q20931"),
        gave(ORDER),
        call("cancel_order", order_id="#Q20931", note="first of two"),
        refused("Error: shipped order cannot be cancelled"),
        call("cancel_order", order_id="#Q20955", note="the other one"),
        gave("cancelled"),
    ),
    "nothing but bad luck": told(
        user("Fetch"),
        call("fetch_page", url="https://example.org/a"),
        refused("Error: timed out after 30 s"),
        call("fetch_page", url="https://example.org/a"),
        gave("page"),
    ),
    "Chinese": told(
        user("付款"),
        call("支付", 账单="INV-7", 金额=255),
        refused("错误：金额不一致，总额为305，已付255"),
        call("支付", 账单="INV-7", 金额=305),
        gave("好"),
    ),
    "a missing module": told(
        user("Run it"),
        shell("python app.py"),
        refused(TRACEBACK),
        shell("python -m pip install pyyaml"),
        gave("Successfully installed"),
        shell("cd src && python app.py"),
        gave("done"),
        success=True,
    ),
    "another folder": told(
        user("Run it"),
        shell("python app.py"),
        refused("Exit code 2\npython: can't open file 'app.py': [Errno 2] No such file or directory"),
        shell("cd src && python app.py"),
        gave("done"),
    ),
    "another command": told(
        user("Test it"),
        shell("npm test"),
        refused("Exit code 127\n/bin/bash: line 1: npm: command not found"),
        shell("pnpm test"),
        gave("ok"),
    ),
    "a command that stays wrong": told(
        user("Test it"),
        shell("npm test"),
        refused("Exit code 127\n/bin/bash: line 1: npm: command not found"),
        shell("npm test"),
        refused("Exit code 127\n/bin/bash: line 1: npm: command not found"),
        success=False,
    ),
    "an edit without reading": told(
        user("Fix it"),
        call("Edit", file_path="src/app.py", old_string="def a():\n  return 1", new_string="x"),
        refused("<tool_use_error>String to replace not found in file.\nString: def a():\n  return 1</tool_use_error>"),
        call("Read", file_path="src/app.py"),
        gave("1 def a():\n2     return 1"),
        call("Edit", file_path="src/app.py", old_string="def a():\n    return 1", new_string="x"),
        gave("ok"),
    ),
    "a file not read before": told(
        user("Fix it"),
        call("Write", file_path="src/app.py", content="x = 1\n" * 40),
        refused("File has not been read yet. Read it first before writing to it."),
        call("Read", file_path="src/app.py"),
        gave("1 x"),
        call("Write", file_path="src/app.py", content="x = 1\n" * 40),
        gave("ok"),
    ),
    "a wrong path": told(
        user("Read it"),
        call("Read", file_path="src/ap.py"),
        refused("File does not exist."),
        call("Glob", pattern="**/app.py"),
        gave("lib/app.py"),
        call("Read", file_path="lib/app.py"),
        gave("x"),
    ),
}
"""Runs with a rejected call, by what is to be learned from them."""

SILENT: Mapping[str, Run] = {
    "a failing test is an outcome": told(
        user("Fix it"),
        shell("pytest -q"),
        refused("Exit code 1\nFAILED tests/test_a.py::test_x - AssertionError: 1 != 2\n1 failed in 0.1s"),
        call("Edit", file_path="a.py", old_string="1", new_string="2"),
        gave("ok"),
        shell("pytest -q"),
        gave("1 passed"),
    ),
    "an error that says nothing": told(user("Go"), call("run_job", name="a"), refused("Exit code 1"), success=False),
    "a person's refusal is no error of the tool": told(
        user("Go"),
        call("Write", file_path="a.py", content="x"),
        refused("The user doesn't want to proceed with this tool use. The tool use was rejected."),
        success=False,
    ),
    "a command that failed once on the way to success": told(
        user("Go"), shell("grep -r needle src"), refused("Exit code 2\ngrep: src: No such file or directory"), success=True
    ),
}
"""Runs with a rejected call of which nothing is to be learned."""

CORRECTIONS: Mapping[str, Run] = {
    "another tool": told(user("Add left-pad"), shell("npm install left-pad"), gave("added"), agent("Done."), user("no, use pnpm not npm")),
    "a standing rule": told(user("Look around"), shell("ls"), gave("a"), user("Thanks. From now on run the tests before you commit.")),
    "German": told(user("Füge left-pad hinzu"), shell("npm install left-pad"), gave("ok"), user("Nein, nimm pnpm statt npm.")),
    "French": told(user("Ajoute left-pad"), shell("npm install left-pad"), gave("ok"), user("N'utilise pas npm ici.")),
    "Spanish": told(user("Añade left-pad"), shell("npm install left-pad"), gave("ok"), user("Nunca hagas commit en main")),
    "Chinese": told(user("加一个依赖"), shell("npm install left-pad"), gave("ok"), user("不要用npm，用pnpm")),
    "Japanese": told(user("依存を追加"), shell("npm install left-pad"), gave("ok"), user("npmではなくpnpmを使ってください")),
    "Korean": told(user("의존성 추가"), shell("npm install left-pad"), gave("ok"), user("npm 말고 pnpm을 써")),
    "what follows the wrong": told(
        user("Deploy"), call("deploy", target="staging"), gave("ok"), user("That's wrong. Production deploys go through the pipeline.")
    ),
}
"""Runs in which a person corrects the agent."""


def booking(*steps: Any, id: str, success: bool) -> Run:
    """An attempt at one task."""
    return told(user("Cancel my order Q20931, please."), *steps, id=id, success=success, kind="shop", key="task-9")


_LOOK = (call("get_order", order_id="#Q20931"), gave(ORDER))
PAIRS: Mapping[str, tuple[Run, Run]] = {
    "an argument": (
        booking(*_LOOK, call("ship", order_id="#Q20931", speed="express"), gave("ok"), id="f", success=False),
        booking(*_LOOK, call("ship", order_id="#Q20931", speed="standard"), gave("ok"), id="s", success=True),
    ),
    "a call too many": (
        booking(*_LOOK, call("cancel_order", order_id="#Q20931"), gave("ok"), id="f", success=False),
        booking(*_LOOK, agent("It has shipped."), id="s", success=True),
    ),
    "a call too few": (
        booking(*_LOOK, id="f", success=False),
        booking(*_LOOK, call("refund", order_id="#Q20931", amount=31.5), gave("ok"), id="s", success=True),
    ),
    "another tool": (
        booking(
            *_LOOK,
            call("escalate", summary="The customer wants to cancel an order that has shipped already."),
            gave("ok"),
            id="f",
            success=False,
        ),
        booking(*_LOOK, call("refund", order_id="#Q20931", amount=31.5), gave("ok"), id="s", success=True),
    ),
    "another order": (
        booking(call("refund", order_id="#Q20931"), gave("ok"), call("close_case", order_id="#Q20931"), gave("ok"), id="f", success=False),
        booking(call("close_case", order_id="#Q20931"), gave("ok"), call("refund", order_id="#Q20931"), gave("ok"), id="s", success=True),
    ),
    "a look-up": (booking(agent("I think so."), id="f", success=False), booking(*_LOOK, agent("Yes."), id="s", success=True)),
}
"""A failed and a successful attempt at one task, by what differs."""


def sequence_runs() -> list[Run]:
    """Successful runs of one kind that share a sequence."""
    common = [
        call("find_customer", mail="kim@example.org"),
        gave("kim_4471"),
        *_LOOK,
        call("refund", order_id="#Q20931", amount=31.5),
        gave("ok"),
    ]
    extra = [call("think", thought="hm"), gave(""), call("get_customer", customer_id="kim_4471"), gave(WALLET)]
    steps = [[*common], [*common[:2], *extra, *common[2:]], [*common[:4], *common[2:4], *common[4:]]]
    return [replace(told(user(f"Refund {n}"), *some, id=f"r{n}", success=True, kind="shop")) for n, some in enumerate(steps)]
