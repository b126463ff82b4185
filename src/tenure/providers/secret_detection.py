"""The named-key plugins of detect-secrets, as a second look after the own redaction rules.

Only plugins that know a key by its name or its fixed shape: not those that guess by entropy or by the word
"password", which drown real runs in false hits. The library takes 0.2 s to import, so it is imported for the first
text that holds one of the literals its plugins start from, and reads only lines that do.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from tenure.governance.redaction import Redacted, add_finder, redact
from tenure.governance.searching import Span, ascii_image
from tenure.governance.value_judgement import is_masked, is_placeholder, is_wordlike

PLUGINS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("artifactory", "ArtifactoryDetector", ("akc",)),
    ("aws", "AWSKeyDetector", ("akia", "asia", "abia", "acca", "a3t", "aws")),
    ("azure_storage_key", "AzureStorageKeyDetector", ("accountkey=",)),
    ("cloudant", "CloudantDetector", ("cloudant",)),
    ("discord", "DiscordBotTokenDetector", ("discord",)),
    ("github_token", "GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("gitlab_token", "GitLabTokenDetector", ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "gr1348941", "glcbt-", "glimt-", "glptt-")),
    ("ibm_cloud_iam", "IbmCloudIamDetector", ("ibm",)),
    ("ibm_cos_hmac", "IbmCosHmacDetector", ("ibm", "secret_access_key", "secret-access-key", "secretaccesskey")),
    ("mailchimp", "MailchimpDetector", ("-us",)),
    ("openai", "OpenAIDetector", ("t3blbkfj",)),
    ("pypi_token", "PypiTokenDetector", ("pypi-age",)),
    ("sendgrid", "SendGridDetector", ("sg.",)),
    ("slack", "SlackDetector", ("xox", "hooks.slack.com")),
    ("softlayer", "SoftlayerDetector", ("softlayer",)),
    ("square_oauth", "SquareOAuthDetector", ("sq0csp-",)),
    ("stripe", "StripeDetector", ("k_live_",)),
    ("telegram_token", "TelegramBotTokenDetector", ("telegram",)),
)  # fmt: skip
"""Module, class, and the literals, in small letters, one of which a line must hold before the plugin reads it.

Left out: entropy and keyword plugins; public addresses, which are no secrets; private keys, of which the plugin knows
the first line only; logins in addresses, web tokens and npm's, of which the own rules know more forms; and Twilio's,
which takes the id of an account for a key.
"""

LONGEST_LINE = 4_000
"""Characters of a line that is read. The plugins' patterns are made for lines of source; longer ones are cut into pieces."""

_ANCHORS = tuple(sorted({anchor for _, _, anchors in PLUGINS for anchor in anchors}))
_LINE = re.compile(r"[^\n]+")


@cache
def is_installed() -> bool:
    """Whether detect-secrets is there. Without it the own rules stand alone."""
    return find_spec("detect_secrets") is not None


@cache
def _loaded() -> Sequence[tuple[str, tuple[str, ...], Any]]:
    """Kind of what it finds, literals, and the plugin, of each that this version of the library has."""
    found: list[tuple[str, tuple[str, ...], Any]] = []
    for module, name, anchors in PLUGINS:
        plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)()
        found.append((re.sub(r"[^a-z0-9]+", "-", plugin.secret_type.lower()).strip("-"), anchors, plugin))
    return found


def find_more(text: str) -> Iterator[Span]:
    """What detect-secrets finds in a text: start, end, kind. Nothing, quickly, in a text without one of the literals."""
    lower = ascii_image(text).lower()
    there = {anchor for anchor in _ANCHORS if anchor in lower}
    if not there or not is_installed():
        return
    wanted = [(kind, mine, plugin) for kind, anchors, plugin in _loaded() if (mine := there.intersection(anchors))]
    for line in _LINE.finditer(text):
        for start in range(line.start(), line.end(), LONGEST_LINE):
            end = min(line.end(), start + LONGEST_LINE)
            small = lower[start:end]
            for kind, mine, plugin in wanted:
                if any(anchor in small for anchor in mine):
                    yield from _found(text, start, end, kind, plugin)


def _found(text: str, start: int, end: int, kind: str, plugin: Any) -> Iterator[Span]:
    piece = text[start:end]
    for value in dict.fromkeys(said.strip(" \t\"'=:") for said in plugin.analyze_string(piece)):
        place = piece.find(value)
        if len(value) < 8 or place < 0 or "[redacted:" in value or is_placeholder(value) or is_masked(value) or is_wordlike(value):
            continue
        yield start + place, start + place + len(value), kind


def install() -> None:
    """Have every redaction in this process take the second look."""
    add_finder(find_more)


def redact_text(text: str) -> str:
    """A text as it is stored: after the own rules and the second look."""
    install()
    cleaned: Redacted = redact(text)
    return cleaned.text
