"""A model that writes summaries of the memory: when it is asked, what it costs, and what comes of its failures."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from tenure import Tenure
from tenure.errors import ModelError
from tenure.ports import LanguageModel
from tenure.providers.scripted import ScriptedModel
from tenure.ranking import estimate_tokens
from tests.learning.test_memory import NOON, Told

LONG = "We fired the kiln at 1200 degrees for Oakdale.\n" * 250
GOOD = json.dumps({"lines": ["kiln: fired at 1200 degrees for Oakdale"]})
BAD = json.dumps({"lines": ["kiln: sold to Alice for 99 dollars"]})
DOWN = ModelError("the provider is down")


@pytest.fixture
def clock() -> Told:
    return Told(NOON)


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'book.db'}"


def opened(url: str, clock: Told, model: LanguageModel) -> Tenure:
    book = Tenure.open(url, scope="mine", clock=clock, embedder="none", model=model)
    book.memory.log("Always wear gloves.", type="feedback", topic="safety")
    book.memory.log(LONG, session="a", role="user")
    return book


def text(book: Tenure, name: str) -> str:
    node = book.memory.node(name)
    assert node is not None
    return node.text


def test_a_period_that_is_over_is_summarised_once_and_its_week_and_month_when_they_are(url: str, clock: Told) -> None:
    model = ScriptedModel([GOOD, GOOD, GOOD])
    book = opened(url, clock, model)
    assert book.memory.compact().by_model == 0
    clock.moment += timedelta(days=1)
    done = book.memory.compact()
    assert (done.by_model, done.waiting, done.problems) == (2, 0, ())
    assert [prompt.purpose for prompt in model.prompts] == ["summarise"] * 2
    assert model.prompts[0].user.startswith("# The day 2026-03-15\n")
    assert '"text": "# 2026-03-15: 2 sessions' in model.prompts[1].user
    assert "* kiln: fired at 1200 degrees for Oakdale" in text(book, "2026-03-15")
    assert "Always wear gloves." in text(book, "2026-03-15")
    assert "- #2: " in text(book, "2026-03-15")
    assert estimate_tokens(text(book, "2026-03-15")) <= 1_500
    node = book.memory.node("2026-W11")
    assert node is not None
    assert node.by == "scripted:replies, prompt 1"
    before = [text(book, name) for name in ("2026-03-15", "2026-W11", "2026-03")]
    assert book.memory.compact(all=True).by_model == 0
    assert [text(book, name) for name in ("2026-03-15", "2026-W11", "2026-03")] == before
    assert model.left == 1
    clock.moment += timedelta(days=30)
    assert book.memory.compact().by_model == 1
    assert model.prompts[2].user.startswith("# The month 2026-03\n")


def test_a_late_entry_takes_the_summaries_above_it_away_and_they_are_made_anew(url: str, clock: Told) -> None:
    model = ScriptedModel([GOOD] * 4)
    book = opened(url, clock, model)
    clock.moment += timedelta(days=1)
    book.memory.compact()
    book.memory.log("And we glazed it.", at=NOON + timedelta(hours=1))
    assert book.memory.compact(ask=False).waiting == 2
    assert "* kiln" not in text(book, "2026-03-15")
    with book.store.reading(book.scope) as look:
        assert list(look.memory_files("memory.summaries")) == []
    assert book.memory.compact().by_model == 2
    assert "And we glazed it." in model.prompts[2].user


def test_a_reply_that_rests_on_nothing_is_not_used_tried_again_and_then_given_up(url: str, clock: Told) -> None:
    model = ScriptedModel([BAD, "no JSON at all", BAD, GOOD])
    book = opened(url, clock, model)
    clock.moment += timedelta(days=1)
    done = book.memory.compact()
    assert (done.by_model, done.waiting) == (0, 2)
    assert "the extractive one stands: 1 of its 1 lines name a number, name or quotation" in done.problems[0]
    node = book.memory.node("2026-03-15")
    assert node is not None
    assert node.by == "extractive"
    assert "Alice" not in node.text
    assert book.memory.failure("2026-03-15").startswith("1 of its 1 lines")
    assert "holds no JSON object" in book.memory.compact().problems[0]
    # The third time it is given up, and the week is summarised from the extractive text.
    done = book.memory.compact()
    assert (done.by_model, done.waiting) == (1, 0)
    assert len(model.prompts) == 4
    assert book.memory.compact(all=True).by_model == 0


def test_a_model_that_is_down_stops_nothing_and_is_asked_once(url: str, clock: Told) -> None:
    model = ScriptedModel([DOWN, GOOD, GOOD])
    book = opened(url, clock, model)
    clock.moment += timedelta(days=1)
    done = book.memory.compact()
    assert len(model.prompts) == 1
    assert (done.by_model, done.waiting) == (0, 2)
    assert done.problems == (
        "The model could not be asked, the extractive summaries stand until the next compacting: the provider is down",
    )
    assert set(done.built) == {"2026-03-15", "2026-W11", "2026-03"}
    assert "kiln" in text(book, "2026-03-15")
    assert book.memory.compact().by_model == 2


def test_caps_of_spending_hold_and_say_what_waits(tmp_path: Path, clock: Told) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    with Tenure.open(url, scope="mine", clock=clock, embedder="none") as first:
        first.set("spend.calls_per_day", "1")
    model = ScriptedModel([GOOD])
    book = opened(url, clock, model)
    clock.moment += timedelta(days=1)
    done = book.memory.compact()
    assert (done.by_model, done.waiting) == (1, 1)
    assert done.problems[0].startswith("The cap of 1 calls per day is reached")
    assert len(model.prompts) == 1


def test_start_and_flush_never_wait_for_a_model(url: str, clock: Told) -> None:
    model = ScriptedModel([])
    book = opened(url, clock, model)
    clock.moment += timedelta(days=1)
    book.memory.start()
    assert book.memory.flush("more").compacted.waiting == 2
    assert model.prompts == []


def test_when_a_model_is_asked_is_a_setting(url: str, clock: Told) -> None:
    model = ScriptedModel([GOOD] * 3)
    book = opened(url, clock, model)
    book.set("memory.summaries", "always")
    assert book.memory.compact().by_model == 3
    book.set("memory.summaries", "extractive")
    book.memory.compact()
    assert "* kiln" not in text(book, "2026-03-15")
    book.set("memory.summaries", "always")
    assert book.memory.compact().by_model == 0
    assert "* kiln" in text(book, "2026-03-15")


def test_secrets_in_a_reply_do_not_stay(url: str, clock: Told) -> None:
    said = json.dumps({"lines": ["kiln: fired with password=hunter2secret99x for Oakdale", "kiln: Oakdale"]})
    book = opened(url, clock, ScriptedModel([said, GOOD]))
    clock.moment += timedelta(days=1)
    book.memory.compact()
    with book.store.reading(book.scope) as look:
        assert "hunter2secret99x" not in look.memory_file("memory.summaries", "2026-03-15")
