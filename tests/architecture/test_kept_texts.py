"""What may stand in no file of the repository."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source_files import ROOT, kept_files, place

# An address of one registry, or a place on one machine, is right for nobody else.
FOREIGN = {
    "a package registry's address": re.compile(
        r"(py" + r"pi\.org|python" + r"hosted\.|npm" + r"js\.|https?://[\w.-]+/(simple|packages/[0-9a-f]{2})|index[-_]url)", re.IGNORECASE
    ),
    "a path of one machine": re.compile(r"(?<![\w./-])/(work|root|home/\w+|Users/\w+)/"),
    "this checkout's own path": re.compile(re.escape(str(ROOT)) + r"\b"),
    "a secret": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}"),
}

# Praise is for readers to give, and these words claim what a number should show.
PRAISE = re.compile(
    r"\b(blazing(ly)?|seamless(ly)?|effortless(ly)?|supercharge\w*|revolutionary|game[- ]chang\w+"
    r"|world[- ]class|cutting[- ]edge|state[- ]of[- ]the[- ]art)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("what", sorted(FOREIGN))
def test_no_kept_file_names(what: str) -> None:
    found = []
    for path in kept_files():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if FOREIGN[what].search(line):
                found.append(f"{place(path)}:{number}: {line.strip()[:120]}")
    assert found == []


def prose() -> list[Path]:
    return [path for path in kept_files() if path.suffix == ".md" and "golden" not in path.parts]


@pytest.mark.parametrize("path", prose(), ids=place)
def test_prose_does_not_praise_itself(path: Path) -> None:
    assert PRAISE.findall(path.read_text(encoding="utf-8")) == []


def test_constraints_hold_names_and_versions_only() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+", line)] == []


def test_constraints_pin_everything_that_is_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["project"]["dependencies"]]
    for wanted in project["project"]["optional-dependencies"].values():
        asked += wanted
    for group in project["dependency-groups"].values():
        asked += group
    names = {_plain(re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0]) for line in asked} - {"tenure"}
    pinned = {
        _plain(line.partition("==")[0]) for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "==" in line
    }
    assert names - pinned == set(), "refresh them: make constraints"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
