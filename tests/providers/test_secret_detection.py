"""The second look: own rules first, nothing is loaded for texts without a literal, and what it finds is taken out."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tenure.governance import redaction
from tenure.governance.redaction import add_finder, redact, redact_all
from tenure.providers import secret_detection

installed = pytest.mark.skipif(not secret_detection.is_installed(), reason="detect-secrets is not installed")


def test_a_finder_is_asked_about_what_the_rules_left_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def finder(text: str) -> list[tuple[int, int, str]]:
        asked.append(text)
        place = text.find("zebra")
        return [(place, place + 5, "animal")] if place >= 0 else []

    monkeypatch.setattr(redaction, "_finders", [])
    add_finder(finder)
    add_finder(finder)
    assert redact("a zebra, api_key=0123456789abcdef0123").text == "a [redacted:animal], api_key=[redacted:api-key]"
    assert not any("0123456789abcdef" in text for text in asked)
    assert redact_all(["one", "a zebra", "two"]) == ["one", "a [redacted:animal]", "two"]
    untouched = ["one", "two"]
    assert all(new is old for new, old in zip(redact_all(untouched), untouched, strict=True))


def test_texts_without_a_literal_load_no_library() -> None:
    code = (
        "import sys; from tenure.providers.secret_detection import redact_text; "
        "redact_text('Cancelled booking 17 of Ana: 214.50 EUR, commit ' + 'ab12' * 10); print('detect_secrets' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_a_text_is_cleaned_with_or_without_the_library() -> None:
    assert redaction_of("AWS_ACCESS_KEY_ID=AKIA" + "QX7PMZT2LD5WVRNE") == "AWS_ACCESS_KEY_ID=[redacted:aws-key]"


def redaction_of(text: str) -> str:
    return secret_detection.redact_text(text)


@installed
def test_the_named_key_plugins_are_those_of_the_library() -> None:
    kinds = {kind for kind, _, _ in secret_detection._loaded()}
    assert len(kinds) == len(secret_detection.PLUGINS)
    assert not any("entropy" in kind or "keyword" in kind for kind in kinds)


@installed
def test_a_plugin_finds_what_the_own_rules_do_not_know() -> None:
    value = "0f3c" * 16
    assert value not in redaction_of(f"https://api.softlayer.com/soap/v3/{value}")
