"""Pure packages compute; they never ask the clock, chance, files or the terminal.

`.importlinter` forbids the modules; this forbids the calls that need no import or a harmless-looking one.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.source_files import PACKAGE, package_files, place, tree_of

PURE = ("playbook", "governance", "excerpts", "fusion", "ranking", "terms", "memory_tree")
CALLS = frozenset({"open", "print", "input", "exec", "eval", "breakpoint", "__import__"})
METHODS = frozenset(
    {"now", "utcnow", "today", "fromtimestamp", "uuid1", "uuid4", "getenv", "read_text", "write_text", "read_bytes", "write_bytes"}
)
MODULES = frozenset({"time", "random", "os", "secrets", "uuid", "sys", "asyncio", "threading"})


def pure_files() -> list[Path]:
    return [path for path in package_files() if path.relative_to(PACKAGE).parts[0].removesuffix(".py") in PURE]


def impurities(tree: ast.AST) -> list[str]:
    """What in a file asks something of the world, as `line: name`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            found.append(f"{node.lineno}: {node.func.id}()")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            found.append(f"{node.lineno}: .{node.func.attr}()")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in MODULES:
            found.append(f"{node.lineno}: {node.value.id}.{node.attr}")
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.append(f"{node.lineno}: {type(node).__name__.lower()} {', '.join(node.names)}")
    return found


@pytest.mark.parametrize("path", pure_files(), ids=place)
def test_pure_files_ask_nothing_of_the_world(path: Path) -> None:
    assert impurities(tree_of(path)) == []


@pytest.mark.parametrize(
    "code", ["open('x')", "print(1)", "datetime.now(UTC)", "uuid.uuid4()", "time.time()", "random.random()", "Path('x').read_text()"]
)
def test_the_check_sees_what_it_is_for(code: str) -> None:
    assert impurities(ast.parse(code))


@pytest.mark.parametrize("code", ["datetime.fromisoformat('2026-01-01')", "def f(now: datetime) -> None: ...", "lesson.time"])
def test_the_check_lets_pass_what_is_pure(code: str) -> None:
    assert impurities(ast.parse(code)) == []
