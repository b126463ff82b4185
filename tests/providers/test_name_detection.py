"""Names go where their user asked for it, by a model on the machine, and nothing is downloaded."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tenure.errors import MissingExtra, UserError
from tenure.governance import redaction
from tenure.providers import name_detection
from tenure.wiring import Tenure

installed = find_spec("presidio_analyzer") is not None and find_spec("spacy") is not None
needs_presidio = pytest.mark.skipif(not installed, reason="needs the extra 'names'")


@pytest.mark.skipif(installed, reason="the extra 'names' is installed")
def test_without_the_extra_the_message_says_how_to_get_it() -> None:
    with pytest.raises(MissingExtra, match=r"tenure\[names\].*en_core_web_sm"):
        name_detection.install("en_core_web_sm")


@needs_presidio
def test_a_model_that_is_not_there_is_named_and_not_downloaded() -> None:
    with pytest.raises(UserError, match=r"xx_no_such_model.*not installed"):
        name_detection.install("xx_no_such_model")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model that knows two names, made here."""
    spacy: Any = importlib.import_module("spacy")
    made = spacy.blank("en")
    ruler = made.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PERSON", "pattern": [{"LOWER": "anna"}, {"LOWER": "lee"}]},
            {"label": "GPE", "pattern": "Brno"},
            {"label": "PERSON", "pattern": "HAT080"},
        ]
    )
    made.to_disk(tmp_path / "model")
    monkeypatch.setattr(redaction, "_finders", [])
    return str(tmp_path / "model")


@needs_presidio
def test_names_and_places_go_and_ids_stay(model: str) -> None:
    name_detection.install(model)
    told = "Anna Lee flew to Brno on HAT080; write to anna.lee@posteo.example"
    assert redaction.redact(told).text == "[redacted:name] flew to [redacted:place] on HAT080; write to [redacted:email]"


@needs_presidio
def test_a_second_pass_changes_nothing_and_many_at_once_are_as_each_alone(model: str) -> None:
    name_detection.install(model)
    texts = ["Anna", "Lee in Brno", "Anna Lee", "nothing here", "x\n" * 30_000 + "Anna Lee"]
    clean = redaction.redact_all(texts)
    assert clean == [redaction.redact(text).text for text in texts]
    assert clean[0] == "Anna"
    assert clean[4].endswith("[redacted:name]")
    assert redaction.redact_all(clean) == clean


@pytest.mark.skipif(installed, reason="the extra 'names' is installed")
def test_a_scope_that_asks_for_names_is_not_read_without_and_can_be_set_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/book.db"
    with Tenure.open(url, scope="s") as book:
        book.set("redact.names", "en_core_web_sm")
    with pytest.raises(MissingExtra, match="Taking names out"):
        Tenure.open(url, scope="s")
    runner = [sys.executable, "-m", "tenure"]
    told = subprocess.run([*runner, "context", "x", "--db", url, "--scope", "s"], capture_output=True, text=True, check=False)
    assert (told.returncode, "tenure[names]" in told.stderr) == (2, True)
    back = subprocess.run([*runner, "config", "set", "redact.names", "", "--db", url, "--scope", "s"], capture_output=True, check=False)
    assert back.returncode == 0
    Tenure.open(url, scope="s").close()
