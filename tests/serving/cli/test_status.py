"""`tenure status` and `tenure version`."""

from __future__ import annotations

from collections.abc import Callable

from tenure.version import VERSION
from tests.serving.cli.conftest import Cli


def test_what_a_person_reads(cli: Cli, playbook: None, golden: Callable[[str, str], None]) -> None:
    golden("cli/status.txt", cli("status").steady)


def test_json_counts(cli: Cli, runs: None) -> None:
    found = cli("status", "--json").json
    assert (found["scope"], found["version"], found["counts"]["runs"], found["counts"]["live"]) == ("acme/finance", 2, 2, 1)
    assert found.keys() >= {"database", "pending", "held", "failed_replies", "last_change", "spent_today"}


def test_the_version_is_printed_by_command_and_by_option(cli: Cli) -> None:
    assert cli("version").out.startswith(f"tenure {VERSION} (Python ")
    assert cli("--version").out == f"tenure {VERSION}\n"
    assert cli("version", "--json").json["version"] == VERSION
