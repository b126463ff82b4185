"""Markdown pages as a reader meets them: fenced examples, the marks before them, links.

A mark is an HTML comment on the line before a fence; readers do not see it.

    <!-- not run: needs a key -->          the example is skipped, for this reason
    <!-- file: runs.jsonl -->              the example is a file that later ones read
    <!-- output -->                        what the Python example before it printed
    <!-- exit: 3 -->                       the last command of the example ends with this code
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"^(?P<indent>\s*)(?P<ticks>`{3,}|~{3,})\s*(?P<language>[\w+-]*)")
_MARK = re.compile(r"^\s*<!--\s*(?P<name>not run|file|output|exit)\s*(?::\s*(?P<value>.*?))?\s*-->\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One fenced example.

    Attributes:
        line: of the first line of code in its page, from 1.
        language: what stands behind the fence, such as `python`; empty if nothing does.
        code: without the fence and its indentation, ending in a newline.
        marks: name and value of each mark before it.
    """

    line: int
    language: str
    code: str
    marks: Mapping[str, str]

    @property
    def runs(self) -> bool:
        """Whether it is an example to execute, rather than a file, an output or an illustration."""
        return self.language in ("python", "console", "bash", "sh") and not {"not run", "file", "output"} & self.marks.keys()


def pages() -> list[Path]:
    """The pages that readers meet, README first."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md", "benchmarks/README.md")]
    return [page for page in (*top, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "design").rglob("*.md"))) if page.exists()]


def place(page: Path) -> str:
    """A page's place as people name it."""
    return page.relative_to(ROOT).as_posix()


def examples_in(text: str) -> list[Example]:
    """Every fenced example of a page, in order."""
    found: list[Example] = []
    lines = text.split("\n")
    marks: dict[str, str] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line)
        mark = _MARK.match(line)
        if mark:
            marks[mark["name"]] = mark["value"] or ""
        elif fence:
            start = number = number + 1
            closing = re.compile(r"^\s*" + re.escape(fence["ticks"]) + r"\s*$")
            while number < len(lines) and not closing.match(lines[number]):
                number += 1
            code = textwrap.dedent("\n".join(lines[start:number])) + "\n"
            found.append(Example(line=start + 1, language=fence["language"], code=code, marks=marks))
            marks = {}
        elif line.strip():
            marks = {}
        number += 1
    return found


def without_examples(text: str) -> str:
    """A page without its fenced examples and code spans, for looking at its prose."""
    kept, inside = [], ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if inside:
            inside = "" if line.strip() == inside else inside
        elif fence:
            inside = fence["ticks"]
        else:
            kept.append(re.sub(r"`[^`]*`", "", line))
    return "\n".join(kept)


def links_in(text: str) -> list[str]:
    """Targets of the links of a page."""
    return re.findall(r"\]\(([^)\s]+)\)", without_examples(text))


def anchors_in(text: str) -> set[str]:
    """The anchors that headings of a page get."""
    headings = re.findall(r"^#{1,6}\s+(.*?)\s*$", without_examples_but_spans(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-") for heading in headings}


def without_examples_but_spans(text: str) -> str:
    """A page without its fenced examples."""
    return re.sub(r"^(\s*)(`{3,}|~{3,}).*?^\s*\2\s*$", "", text, flags=re.MULTILINE | re.DOTALL)
