"""What holds for every test: no network, no home folder of the person who runs them, known settings."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import threading
import time
import tomllib
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# Modules of helpers that assert, before any test imports them.
pytest.register_assert_rewrite("tests.stores.contract", "tests.stores.processes")

ROOT = Path(__file__).resolve().parent.parent
NO_NETWORK = Path(__file__).resolve().parent / "no_network"
GOLDEN = Path(__file__).resolve().parent / "golden"

sys.path.insert(0, str(NO_NETWORK))
import tenure_no_network  # noqa: E402  # from the folder that child processes have on their path

# `ci`: the same examples every time, so that a red run is red again. `dev`: fewer, new ones every time. `full`: many new ones.
hypothesis.settings.register_profile("ci", max_examples=100, derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("dev", max_examples=60, deadline=None)
hypothesis.settings.register_profile("full", max_examples=1_000, deadline=None, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev")
hypothesis.settings.load_profile(PROFILE)

LAWS = ("tests/playbook/test_law_", "tests/governance/")
"""Files whose properties everything else rests on: the algebra, redaction, admission, the chain of the ledger."""
EXAMPLES_OF_LAWS = 300
"""Examples of each of them under `ci`."""

_home = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files anew from what the tests see; read the diff")


def pytest_configure(config: pytest.Config) -> None:
    """Before anything of the package is imported: an own home, no settings of the caller's, no network."""
    home = tempfile.mkdtemp(prefix="tenure-home-")
    config.stash[_home] = home
    for name in [
        name for name in os.environ if name.startswith(("TENURE_", "XDG_")) and name not in ("TENURE_DATA", "TENURE_NODE_MCP", "TENURE_AXE")
    ]:
        del os.environ[name]
    # A key that lies about in the caller's environment must not make a test call a paid service.
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        del os.environ[name]
    os.environ["HOME"] = home
    # What a test sees must not depend on which embedders and tokenizers are installed; tests of those name theirs.
    os.environ["TENURE_EMBEDDER"] = "none"
    os.environ["TENURE_COUNTER"] = "estimate"
    os.environ["NO_COLOR"] = "1"
    os.environ["COLUMNS"] = "100"
    # src for a checkout that is not installed; the guard for the processes that tests start.
    os.environ["PYTHONPATH"] = os.pathsep.join((str(NO_NETWORK), str(ROOT / "src")))
    # Tests start processes by the hundred. Each would compile the package anew where bytecode is not kept.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if str(ROOT / "src") not in sys.path:
        sys.path.insert(1, str(ROOT / "src"))
    tenure_no_network.forbid()
    config.addinivalue_line("markers", "full: the full size of a test that runs smaller by default; run them with: pytest -m full")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Full sizes take minutes: they run only where `-m full` asks for them."""
    if "full" in str(config.getoption("-m")):
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("full")]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Laws get more examples, where a test does not name a number of its own."""
    function: Any = getattr(item, "function", None)
    wanted = getattr(function, "_hypothesis_internal_use_settings", None)
    usual = hypothesis.settings.get_profile("ci").max_examples
    if PROFILE == "ci" and wanted is not None and wanted.max_examples == usual and item.nodeid.startswith(LAWS):
        function._hypothesis_internal_use_settings = hypothesis.settings(wanted, max_examples=EXAMPLES_OF_LAWS)


def pytest_collection() -> None:
    """What is collected stays to the end: looking for garbage among it is for nothing."""
    gc.disable()


def pytest_collection_finish() -> None:
    """A worker holds some 800,000 objects by now. What tests leave behind is looked for without going through those each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash.get(_home, ""), ignore_errors=True)


@pytest.fixture(scope="module", autouse=True)
def no_thread_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Servers, loops and pools that a file of tests started have ended with it: what runs on takes time from the tests after it."""
    before = set(threading.enumerate())

    def left() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread not in before]

    yield
    if left():
        gc.collect()  # what nobody closed ends once nobody has it
        until = time.monotonic() + 20
        while left() and time.monotonic() < until:
            time.sleep(0.05)
        names = ", ".join(f"{thread.name} (first seen in {_first_seen.get(thread, 'no test')})" for thread in left())
        if names:
            pytest.fail(f"threads that {request.node.nodeid} started go on: {names}")


_first_seen: weakref.WeakKeyDictionary[threading.Thread, str] = weakref.WeakKeyDictionary()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Note which test a thread came with."""
    if threading.active_count() > 1:
        for thread in threading.enumerate():
            _first_seen.setdefault(thread, item.nodeid)


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real data that is not part of this repository; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("TENURE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"needs the real data files: none in {folder} (set TENURE_DATA)")
    return folder


@pytest.fixture(scope="session")
def tenure_command() -> list[str]:
    """The start of a command line that runs `tenure` from this checkout, whether or not it is installed."""
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["tenure"]
    module, _, function = entry.partition(":")
    return [sys.executable, "-c", f"import sys; sys.argv[0] = 'tenure'; from {module} import {function}; sys.exit({function}())"]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden("prompts/reflect.md", text)`: the text is, byte for byte, what tests/golden holds under that name."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        if not path.exists():
            pytest.fail(f"tests/golden/{name} is missing. Write it and read it: pytest --update-golden {request.node.nodeid}")
        assert path.read_bytes().decode("utf-8") == text

    return compare
