"""The runner of examples itself: one that never fails would prove nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import anchors_in, examples_in, links_in
from tests.docs.python_session import run_example
from tests.docs.terminal import Command, agrees, commands_in, masked, run_commands

PAGE = """
Text.

<!-- not run: needs a key -->
```bash
tenure learn --model openai:x
```

<!-- file: a/b.json -->

```json
{"a": 1}
```

1. In a list:

   ```console
   $ echo one
   one
   ```
"""


def test_examples_are_found_with_their_marks_and_lines() -> None:
    found = examples_in(PAGE)
    assert [(example.language, example.line, example.runs) for example in found] == [
        ("bash", 6, False),
        ("json", 12, False),
        ("console", 18, True),
    ]
    assert found[0].marks == {"not run": "needs a key"}
    assert found[1].marks == {"file": "a/b.json"}
    assert found[2].code == "$ echo one\none\n"


def test_a_mark_belongs_to_the_next_example_only() -> None:
    first, second = examples_in("<!-- not run: for a reason -->\ntext\n```sh\na\n```\n```sh\nb\n```\n")
    assert first.runs
    assert second.runs


def test_commands_keep_their_expected_output_and_continuation_lines() -> None:
    assert commands_in("$ a \\\n    --b\nout\n\nmore\n$ c\n", language="console") == [
        Command(text="a \\\n    --b", expected="out\n\nmore"),
        Command(text="c", expected=""),
    ]


def test_console_examples_start_with_a_command() -> None:
    with pytest.raises(ValueError, match="starts with a command"):
        commands_in("output\n", language="console")


def test_commands_of_an_example_share_a_shell_and_report_each_status(tmp_path: Path) -> None:
    commands = commands_in("$ x=5\n$ echo $x; (exit 3)\n$ echo err >&2\n", language="console")
    ran = run_commands(commands, folder=tmp_path, environment={"PATH": "/usr/bin:/bin"})
    assert [(one.status, one.output) for one in ran] == [(0, ""), (3, "5\n"), (0, "err\n")]


def test_an_example_that_ends_the_shell_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ended before"):
        run_commands(commands_in("$ exit 1\n$ echo a\n", language="console"), folder=tmp_path, environment={"PATH": "/usr/bin:/bin"})


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("Added inv-7k2m4q in 1.2 s", "Added inv-zzzzz in 1.3 s"),
        ("inv-7k2m  by person:kim", "inv-zzzzaaaabbbbc  by person:root"),
        ("id        lesson\n          invoices", "id    lesson\n      invoices"),
        ("at 2026-01-01 10:00", "at 2027-12-31T23:59:59.5Z"),
        ("01JZX8D2H4M6P8R0S2T4V6W8Y0", "01KZX8D2H4M6P8R0S2T4V6W8Y1"),
        ("first\n...\nlast", "first\nlast"),
        ("first\n...\nlast", "first\nx\ny\nlast"),
        ("a ... c", "a b b c"),
        ("a  b", "a      b   "),
    ],
)
def test_what_differs_from_run_to_run_is_no_difference(expected: str, actual: str) -> None:
    assert agrees(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("5 lessons", "6 lessons"),
        ("inv-00001", "inv-00002"),
        ("a ... c", "a b\nc"),
        ("first\n...\nlast", "first\nx"),
        ("one", "one\ntwo"),
        ("a.b", "a-b"),
    ],
)
def test_other_differences_are_seen(expected: str, actual: str) -> None:
    assert not agrees(expected, actual)


def test_the_folder_is_masked(tmp_path: Path) -> None:
    assert masked(f"wrote {tmp_path}/out.json", folder=tmp_path) == "wrote out.json"


def test_python_examples_share_names_and_report_the_line_of_the_page() -> None:
    names: dict[str, Any] = {}
    assert run_example("a = 1\n", names, page="p.md", line=3) == {"output": "", "error": ""}
    assert run_example("print(a)\n", names, page="p.md", line=9)["output"] == "1\n"
    assert 'File "p.md", line 12' in run_example("\n1 / 0\n", names, page="p.md", line=11)["error"]


def test_prompts_in_python_examples_are_checked() -> None:
    names: dict[str, Any] = {}
    assert run_example(">>> 1 + 1\n2\n>>> b = 2\n", names, page="p.md", line=1)["error"] == ""
    assert "Expected" in run_example(">>> b\n3\n", names, page="p.md", line=1)["error"]


def test_links_in_code_are_not_links() -> None:
    assert links_in("[a](b.md) `[c](d)`\n```text\n[e](f)\n```\n") == ["b.md"]


def test_anchors_are_those_of_the_renderer() -> None:
    assert anchors_in("# Exit codes\n## `tenure learn`: runs in\n") == {"exit-codes", "tenure-learn-runs-in"}
