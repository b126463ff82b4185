"""The stores under test, each opened once for a file of tests; every test takes a scope of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    # Only for types: this file may be read before tests/conftest.py has put the package on the path.
    from tenure.ports import Store
    from tests.stores.contract import Adapter


WIRED_EXAMPLES = 25
"""Examples of a property for an adapter that is reached over a wire, at most."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whoever asks for a store is run with each adapter."""
    if "adapter" in metafunc.fixturenames:
        from tests.stores.contract import ADAPTERS

        metafunc.parametrize("adapter", sorted(ADAPTERS), indirect=True, scope="module")


@pytest.fixture(scope="module")
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """Each way to have a store."""
    from tests.stores.contract import ADAPTERS

    found = ADAPTERS[request.param]
    if found.missing:
        pytest.skip(found.missing)
    return found


@pytest.fixture(autouse=True)
def fewer_examples_over_a_wire(request: pytest.FixtureRequest) -> Iterator[None]:
    """With a server each look is some messages to and fro: a property there has fewer examples, so that all of them end in good time."""
    function: Any = getattr(request, "function", None)
    before = getattr(function, "_hypothesis_internal_use_settings", None)
    if before is None or "postgres" not in request.node.name:
        yield
        return
    from hypothesis import settings

    function._hypothesis_internal_use_settings = settings(before, max_examples=min(before.max_examples, WIRED_EXAMPLES))
    yield
    function._hypothesis_internal_use_settings = before


@pytest.fixture(scope="module")
def store(adapter: Adapter, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An open store of each kind."""
    opened = adapter.open(tmp_path_factory.mktemp(adapter.name))
    yield opened
    opened.close()
