"""A service over each kind of store, opened once for a file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.serving.service.services import Service


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whoever asks for a service is run over each store."""
    if "service" in metafunc.fixturenames:
        metafunc.parametrize("service", ["sqlite", "postgres"], indirect=True, scope="module")


@pytest.fixture(scope="module")
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that learns in two threads."""
    from tests.serving.service import services

    if request.param == "postgres":
        from tests import postgres

        if postgres.MISSING:
            pytest.skip(postgres.MISSING)
    store = services.STORES[request.param](tmp_path_factory.mktemp(request.param))
    with services.service(store, threads=2, rate=0, failures=0) as made:
        yield made
    store.close()
