"""A PostgreSQL database with the tables of jobs, for the tests of workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.postgres import Database


@pytest.fixture
def database() -> Iterator[Database]:
    """A fresh database, set up as `tenure migrate` does it."""
    pytest.importorskip("dbos")
    from tests import postgres

    if postgres.MISSING:
        pytest.skip(postgres.MISSING)
    from tenure.workers.schema import prepare

    made = postgres.fresh_database()
    prepare(made.admin_url, "tenure_app")
    yield made
    postgres.drop(made)
