"""The generated pages say what the code says."""

from __future__ import annotations

import importlib
import re

import pytest

from docs.generate import PAGES, REFERENCE, command_tree, walk


@pytest.mark.parametrize("name", sorted(PAGES))
def test_generated_pages_are_up_to_date(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name](), "run: make docs"


def test_every_exit_code_is_explained() -> None:
    request = importlib.import_module("tenure.serving.cli.request")
    codes = {request.OK, request.FAILED, request.MISUSED, request.IN_PART, request.INTERRUPTED}
    page = (REFERENCE / "exit-codes.md").read_text(encoding="utf-8")
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)} == codes


def test_every_command_and_every_option_says_what_it_is() -> None:
    silent = []
    for path, command in walk(command_tree(), "tenure"):
        if not (command.help or "").strip():
            silent.append(path)
        silent += [f"{path} {param.opts[0]}" for param in command.params if not (getattr(param, "help", None) or "").strip()]
    assert silent == []
