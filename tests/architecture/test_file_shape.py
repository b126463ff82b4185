"""Few, deep modules of a readable size, named for what they know."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.source_files import PACKAGE, package_files, place, texts_in

MOST_LINES = 600
# A file past the limit is two rooms in one. This list stays empty.
LONGER: frozenset[str] = frozenset()

# Such a name says that nobody decided what the module is for.
NAMELESS = frozenset(
    {"util", "utils", "helper", "helpers", "manager", "managers", "base", "common", "misc", "shared", "core", "handler", "handlers"}
)


@pytest.mark.parametrize("path", package_files(), ids=place)
def test_no_file_is_longer_than_can_be_read_at_once(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES or place(path) in LONGER, f"{place(path)} has {lines} lines, {MOST_LINES} at most: split it by what it knows"


@pytest.mark.parametrize("path", package_files(), ids=place)
def test_every_module_is_named_for_what_it_knows(path: Path) -> None:
    assert NAMELESS.isdisjoint(part.removesuffix(".py").strip("_") for part in path.relative_to(PACKAGE).parts)


@pytest.mark.parametrize("path", package_files(), ids=place)
def test_no_unfinished_work_is_left_in_the_text(path: Path) -> None:
    marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
    found = [
        f"{number}: {line.strip()}" for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if marks.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("path", package_files(), ids=place)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8").strip()
    assert not text or (texts_in(path) and texts_in(path)[0][0] == 1), f"{place(path)} has no docstring in its first line"
