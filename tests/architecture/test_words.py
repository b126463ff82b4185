"""One word, one meaning: the words of docs/glossary.md, and none of their synonyms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.source_files import PACKAGE, ROOT, package_files, place, texts_in

# What other systems call a lesson, a run or a delta.
FORBIDDEN = re.compile(r"\b(bullets?|skills?|memory items?|learnings|trajector(?:y|ies)|rollouts?|changesets?)\b", re.IGNORECASE)

# Files that read or write the forms of others name them in those forms' own words. A file that no longer needs its line loses it.
FOREIGN_FORMS = {
    "src/tenure/playbook/lessons.py": "names the papers' words once, beside ours",
    "src/tenure/playbook/run.py": "names the papers' word once, beside ours",
    "src/tenure/playbook/foreign.py": "reads ACE JSON and Skillbook files",
    "src/tenure/traces/codex.py": "Codex calls its log files rollouts",
    "src/tenure/evaluation/harness/metrics.py": "a published figure has the papers' word as its key",
    "src/tenure/connect/claude_code.py": "the host's folder for instructions is called skills",
    "src/tenure/connect/codex.py": "the host's folder for instructions is called skills",
    "src/tenure/connect/cursor.py": "the host's folder for instructions is called skills",
    "src/tenure/connect/opencode.py": "the host's folder for instructions is called skills",
}


def foreign_words(path: Path) -> list[str]:
    """Synonyms in what a reader of a file or a user of the product sees, as `line: word`."""
    texts = texts_in(path) if path.suffix == ".py" else list(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
    return [f"{line}: {word}" for line, text in texts for word in FORBIDDEN.findall(text)]


def spoken_files() -> list[Path]:
    return [*package_files(), *sorted(PACKAGE.rglob("*.md"))]


@pytest.mark.parametrize("path", [path for path in spoken_files() if place(path) not in FOREIGN_FORMS], ids=place)
def test_texts_use_the_words_of_the_glossary(path: Path) -> None:
    assert foreign_words(path) == []


@pytest.mark.parametrize("name", sorted(FOREIGN_FORMS))
def test_the_list_of_exceptions_only_shrinks(name: str) -> None:
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"{name} does not exist yet")
    assert foreign_words(path), f"{name} needs no exception any more: take its line out"


def glossary() -> list[tuple[str, str]]:
    """Word and meaning of each row of the glossary's tables."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", text, re.MULTILINE)
    return [(word, meaning) for word, meaning in rows]


def test_the_glossary_gives_each_word_one_meaning() -> None:
    words = [word for word, _ in glossary()]
    assert len(words) == len(set(words))
    assert len(words) >= 20


@pytest.mark.parametrize(
    "word",
    [
        "run",
        "step",
        "outcome",
        "origin",
        "case",
        "lesson",
        "playbook",
        "delta",
        "receipt",
        "reflection",
        "revision",
        "scope",
        "ledger",
        "version",
    ],
)
def test_the_glossary_explains_the_words_of_the_design(word: str) -> None:
    assert word in {known for known, _ in glossary()}
