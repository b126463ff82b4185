"""The files that the architecture tests look at."""

from __future__ import annotations

import ast
import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tenure"


def package_files() -> list[Path]:
    """Every Python file of the package, sorted."""
    return sorted(PACKAGE.rglob("*.py"))


def place(path: Path) -> str:
    """A file's place as people name it, such as `src/tenure/playbook/apply.py`."""
    return path.relative_to(ROOT).as_posix()


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """A Python file, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def kept_files() -> list[Path]:
    """Every text file that is, or would be, in version control; all files where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [
            path for folder in ("src", "tests", "docs", "design", "scripts", "benchmarks", ".ci") for path in (ROOT / folder).rglob("*")
        ]
        paths += [path for path in ROOT.iterdir() if path.is_file()]
    return sorted(path for path in paths if path.is_file() and _is_text(path))


def _is_text(path: Path) -> bool:
    with path.open("rb") as file:
        return b"\0" not in file.read(4096)


def texts_in(path: Path) -> list[tuple[int, str]]:
    """Line and content of every docstring and every other string of a Python file, parts of f-strings included."""
    return [(node.lineno, node.value) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
