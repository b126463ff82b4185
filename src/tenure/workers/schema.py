"""The tables of jobs, made by whoever may make tables. Workers and servers only use them."""

from __future__ import annotations

import logging

from dbos import DBOS

from tenure.stores.postgres_setup import restrict
from tenure.workers.jobs import SCHEMA
from tenure.workers.queue import driver_url


def prepare(admin_url: str, role: str) -> None:
    """Make the tables of jobs, or bring them up to date, and let the application's role use them.

    Args:
        admin_url: of the PostgreSQL database, as a role that may make schemas.
        role: the application's.
    """
    logging.getLogger("dbos").setLevel(logging.WARNING)
    DBOS.migrate(driver_url(admin_url), schema=SCHEMA, application_role=role)
    restrict(admin_url, SCHEMA, role)  # DBOS gives the role more than jobs need
