"""`tenure memory`: the session protocol, recall, export and import, as people and hosts use them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tenure import Add, Tenure
from tests.learning.test_memory import Told
from tests.serving.cli.conftest import Cli
from tests.serving.cli.test_forget import Counted

Golden = Callable[[str, str], None]


def fill(place: str = "sqlite:///book.db") -> Tenure:
    """A memory of some days with all types, two sessions, layers, and a lesson."""
    clock = Told(datetime(2026, 3, 2, 9, tzinfo=UTC))
    book = Tenure.open(place, scope="acme/finance", embedder="none", clock=clock, ids=Counted())
    book.apply([Add("invoices", "Convert each line at the invoice-date rate before summing.", id="inv-00001")])
    memory = book.memory
    memory.log("Answer in German, and in short sentences.", type="user")
    memory.log("Never deploy on Fridays:\n## the rota\nis empty then.", type="feedback", topic="releases")
    clock.moment = datetime(2026, 3, 9, 14, 30, tzinfo=UTC)
    memory.log("Which rate did we use for the March invoices?", session="chat-7", role="user")
    memory.log("The invoice-date rate, as the auditors asked for it.", session="chat-7", role="assistant")
    memory.log("Migration of the ledger to Postgres has begun.", type="project", topic="ledger migration")
    clock.moment = datetime(2026, 3, 15, 8, 5, tzinfo=UTC)
    memory.checkpoint(request="fix the login", decisions="keep sessions in Redis", outcome="fixed in 3f2a", topic="login", event="task-1")
    memory.log("VAT table of 2025: https://example.org/vat", type="reference", topic="vat")
    memory.write("queue", "- check the VAT table\n")
    memory.write("working", "- ledger migration: step 3 of 7\n")
    memory.write("scratchpad", "The replica lags by two minutes.\n")
    memory.write("plan", "1. dump\n2. load\n", name="ledger migration")
    return book


def test_what_agents_load_and_read(folder: Path, golden: Golden) -> None:
    with fill() as book:
        start = book.memory.start()
        assert book.memory.start() == start
        golden("memory/start.md", f"{start.text}\n")
        golden("memory/root.md", f"{start.root}\n")
        for question in ("which rate for the invoices in March?", "when may we deploy releases?", "zebra"):
            golden(f"memory/recall-{question.split()[0]}.md", f"{book.memory.recall(question).text}\n")
        book.memory.export("mirror")
    for path in ("ROOT.md", "2026-03-09.md", "daily/2026-03-09.md", "monthly/2026-03.md", "knowledge/releases.md"):
        golden(f"memory/mirror/{path}", Path("mirror", path).read_text(encoding="utf-8"))


def test_start_begins_with_what_a_context_begins_with_and_changes_behind_what_stays(folder: Path, cli: Cli) -> None:
    with fill() as book:
        context = book.context("reconcile the invoices").text
    before = cli("memory", "start", "--json").json
    assert before["playbook"]
    assert context.startswith(before["playbook"].rstrip())
    assert list(before["layers"]) == ["queue", "working", "scratchpad"]
    cli("memory", "write", "scratchpad", input="now something else\n")
    after = cli("memory", "start").out
    assert after.startswith(before["text"][: before["text"].index("# Scratchpad")])
    assert cli("memory", "start").out == after
    assert cli("memory", "start", "--budget", "1", "--json").json["playbook"] == ""
    assert cli("memory", "start", "--budget", "0").code == 2


def test_a_flush_is_done_when_it_is_due_and_once_for_each_event(cli: Cli) -> None:
    early = cli("memory", "flush", "what we know", "--messages", "7", "--window-used", "0.4")
    assert (early.code, early.out) == (0, "")
    assert early.err == "No flush is due: 7 of 20 messages, 40% of the window where 80% is the most. Nothing was written.\n"
    assert cli("memory", "flush", "what we know", "--messages", "7", "--json").json["due"] is False
    due = cli("memory", "flush", "what we know", "--window-used", "80%", "--event", "c-1")
    assert due.err.splitlines()[-2:] == ["A flush is due: 80% of the window is used (80% is the most).", "Kept. 3 nodes built."]
    again = cli("memory", "flush", "what we know", "--messages", "20", "--event", "c-1")
    assert "Event 'c-1' was kept before; nothing was written down again. 0 nodes built." in again.err
    assert cli("memory", "flush", "-", "--decision", input="we take NATS").err.startswith("A flush is due: something was decided.")
    assert "Nothing was given to write down" in cli("memory", "flush").err
    for wrong in ("much", "8", "-1"):
        refused = cli("memory", "flush", "--window-used", wrong)
        assert refused.code == 2, wrong
        assert "0.8" in refused.err


def test_a_checkpoint_is_told_once(cli: Cli) -> None:
    asked = ("memory", "checkpoint", "--request", "fix login", "--outcome", "fixed", "--event", "t-1")
    assert cli(*asked).err.splitlines()[-1].startswith("Kept in ")
    assert cli(*asked).err == "Event 't-1' was kept before; nothing was written.\n"
    assert cli("memory", "checkpoint").code == 2


@pytest.mark.parametrize(
    ("layer", "most", "next_step"), [("scratchpad", 150, "knowledge"), ("working", 100, "knowledge"), ("queue", 50, "plan")]
)
def test_a_text_over_its_cap_is_refused_and_the_next_step_is_named(cli: Cli, layer: str, most: int, next_step: str) -> None:
    refused = cli("memory", "write", layer, input="x\n" * (most + 1))
    assert refused.code == 2
    assert f"would have {most + 1} lines" in refused.err
    assert next_step in refused.err


def test_export_and_import_say_what_they_did(folder: Path, cli: Cli, golden: Golden) -> None:
    fill().close()
    first, again = cli("memory", "export", "mirror"), cli("memory", "export", "mirror")
    day = Path("mirror/2026-03-09.md")
    day.write_text(day.read_text(encoding="utf-8") + "\n- a line of mine\n", encoding="utf-8")
    refused = cli("memory", "export", "mirror")
    assert (first.code, again.code, refused.code) == (0, 0, 3)
    preview = cli("memory", "import", "mirror", "--dry-run")
    taken = cli("memory", "import", "mirror")
    golden("cli/memory-mirror.txt", "".join(one.steady for one in (first, again, refused, preview, taken)))
    assert cli("memory", "import", "mirror", "--json").json["new"] == 0
    assert cli("memory", "export", "mirror", "--json").json["left"] == []
    assert cli("memory", "import", "nowhere").code == 2
    other = cli("memory", "import", "mirror", "--json", TENURE_DB="other.db")
    assert other.json["new"] == 8


def test_what_the_root_names_can_be_shown(folder: Path, cli: Cli) -> None:
    fill().close()
    assert cli("memory", "show", "knowledge/releases").out == "- 2026-03-02: Never deploy on Fridays:\n  ## the rota\n  is empty then.\n"
    assert cli("memory", "show", "plan/ledger migration").out == "1. dump\n2. load\n"
    assert cli("memory", "show", "queue", "--json").json["text"] == "- check the VAT table\n"
    refused = cli("memory", "show", "plan/none")
    assert refused.code == 2
    assert "There are ledger migration." in refused.err
