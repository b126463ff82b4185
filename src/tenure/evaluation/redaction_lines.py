"""The labelled lines of bench `redaction`: templates in `sets/redaction.txt`, their secrets made here.

No secret is written down anywhere: each is drawn in the shape of its kind by a seeded generator, so that no scanner
finds anything in the sources, and the same seed gives the same lines.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from tenure.errors import UserError

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_DIGITS = "0123456789"
_HEX = "0123456789abcdef"
_B62 = _LOWER + _UPPER + _DIGITS
_B64 = _B62 + "+/"
_B64URL = _B62 + "-_"
_ULID = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PLACE = re.compile(r"<<([a-z0-9-]+)>>|\(\(([a-z0-9-]+)\)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSecret:
    """A text that must go.

    Attributes:
        value: as it stands in the line.
        kind: what it is; any word.
    """

    value: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledLine:
    """A text, and what in it is secret.

    Attributes:
        text: one line or several.
        secrets: what must go; empty for a look-alike, of which all must stay.
        part: which part of the set it belongs to.
    """

    text: str
    secrets: tuple[LabelledSecret, ...] = ()
    part: str = "all"


class _Maker:
    """Draws made-up secrets and look-alikes."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(f"redaction {seed}")

    def draw(self, alphabet: str, count: int) -> str:
        return "".join(self._dice.choices(alphabet, k=count))

    def mixed(self, count: int, alphabet: str = _B62) -> str:
        """A draw with small and capital letters and digits in it, as any real one of that length has."""
        while True:
            drawn = self.draw(alphabet, count)
            if re.search("[a-z]", drawn) and re.search("[A-Z]", drawn) and re.search("[0-9]", drawn):
                return drawn

    def password(self) -> str:
        """As people and generators make them: a word with a year, letters with signs, or words and a digit."""
        words = ("Sommer", "Falcon", "harbour", "Tiger", "winter", "Orchid", "copper", "Delta")
        sort = self._dice.randrange(4)
        if sort == 0:
            return self._dice.choice(words) + self.draw(_DIGITS, 4) + self._dice.choice("!?#$")
        if sort == 1:
            return self.mixed(14) + self._dice.choice("!*%-")
        if sort == 2:
            return f"{self._dice.choice(words)}-{self._dice.choice(words)}-{self.draw(_DIGITS, 2)}"
        return self.mixed(10)

    def password_for_url(self) -> str:
        return self.mixed(self._dice.choice((8, 12, 16)))

    def weak_password(self) -> str:
        """As people make them who want to remember it: a word, two, or a word and a digit."""
        words = ("swordfish", "lantern", "dragonfly", "pelican", "tangerine", "sunflower", "kestrel", "maple", "coconut", "brickwall")
        word, sort = self._dice.choice(words), self._dice.randrange(4)
        if sort == 0:
            return word
        if sort == 1:
            return f"{word}-{self._dice.choice(words)}"
        return word.capitalize() + self.draw("23456789", 1) if sort == 2 else f"{word}_{self.draw('23456789', 2)}"

    def phrase(self, count: int) -> str:
        words = "ribbon canoe velvet harbor puzzle mimic ocean timber galaxy fossil lunar wedding legal winner yellow zebra acid".split()
        return " ".join(self._dice.choices(words, k=count))

    def uuid(self) -> str:
        return "-".join(self.draw(_HEX, count) for count in (8, 4, 4, 4, 12))

    def pem(self, label: str, body: str, line_end: str = "\n") -> str:
        lines = [body[at : at + 64] for at in range(0, len(body), 64)]
        return line_end.join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"))

    def card(self) -> str:
        """A number in the form of a payment card with a right check digit."""
        start = self._dice.choice(("4", "51", "37"))
        length = 15 if start == "37" else 16
        digits = start + self.draw(_DIGITS, length - 1 - len(start))
        total = 0
        for place, digit in enumerate(reversed(digits)):
            value = int(digit) * (2 if place % 2 == 0 else 1)
            total += value - 9 if value > 9 else value
        return digits + str(-total % 10)

    def iban(self) -> str:
        account = self.draw("123456789", 1) + self.draw(_DIGITS, 17)
        check = 98 - int(account + "131400") % 97  # D = 13, E = 14
        return f"DE{check:02d}{account}"

    def jwt(self) -> str:
        def part(value: Mapping[str, Any]) -> str:
            return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

        header = part({"alg": "RS256", "typ": "JWT"})
        return f"{header}.{part({'sub': self.draw(_DIGITS, 10), 'exp': 1767225600})}.{self.mixed(86, _B64URL)}"


def _grouped(text: str) -> str:
    if len(text) == 15:
        return f"{text[:4]} {text[4:10]} {text[10:]}"
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


_SECRETS: Mapping[str, Callable[[_Maker], str]] = {
    "aws-access-key": lambda m: m._dice.choice(("AKIA", "ASIA")) + m.draw(_UPPER + "234567", 16),
    "aws-secret": lambda m: m.mixed(40, _B64),
    "aws-session-token": lambda m: "IQoJb3JpZ2luX2Vj" + m.mixed(280, _B64) + "=",
    "github-token": lambda m: m._dice.choice(("ghp_", "gho_", "ghs_")) + m.mixed(36),
    "github-fine-token": lambda m: "github_" + "pat_" + m.mixed(22) + "_" + m.mixed(59),
    "gitlab-token": lambda m: "glpat" + "-" + m.mixed(20, _B64URL),
    "slack-token": lambda m: "xox" + "b-" + m.draw(_DIGITS, 12) + "-" + m.draw(_DIGITS, 13) + "-" + m.mixed(24),
    "slack-webhook": lambda m: f"T{m.draw(_UPPER + _DIGITS, 8)}/B{m.draw(_UPPER + _DIGITS, 10)}/{m.mixed(24)}",
    "stripe-key": lambda m: "sk_" + m._dice.choice(("live_", "test_")) + m.mixed(m._dice.choice((24, 99))),
    "stripe-webhook": lambda m: "whsec" + "_" + m.mixed(32),
    "google-api-key": lambda m: "AIza" + m.mixed(35, _B64URL),
    "google-oauth": lambda m: "ya29" + ".a0" + m.mixed(120, _B64URL),
    "google-client-secret": lambda m: "GOCSPX" + "-" + m.mixed(28, _B64URL),
    "openai-key": lambda m: "sk-" + m._dice.choice(("proj-", "")) + m.mixed(48),
    "anthropic-key": lambda m: "sk-ant" + "-api03-" + m.mixed(93, _B64URL) + "AA",
    "huggingface-token": lambda m: "hf" + "_" + m.mixed(34, _LOWER + _UPPER + "0123"),
    "npm-token": lambda m: "npm" + "_" + m.mixed(36),
    "pypi-token": lambda m: "pypi-AgEIcHlwaS5vcmc" + m.mixed(120, _B64URL),
    "sendgrid-key": lambda m: "SG" + "." + m.mixed(22, _B64URL) + "." + m.mixed(43, _B64URL),
    "twilio-key": lambda m: "SK" + m.draw(_HEX, 32),
    "mailgun-key": lambda m: "key" + "-" + m.draw(_HEX, 32),
    "mailchimp-key": lambda m: m.draw(_HEX, 32) + "-us" + m.draw("123456789", 1),
    "jwt": lambda m: m.jwt(),
    "pem-key": lambda m: m.pem("RSA PRIVATE KEY", "MIIEpA" + m.mixed(800, _B64) + "=="),
    "pem-key-escaped": lambda m: m.pem("PRIVATE KEY", "MIIEvg" + m.mixed(800, _B64) + "==", "\\n"),
    "openssh-key": lambda m: m.pem("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEA" + m.mixed(300, _B64)),
    "url-password": lambda m: m.password_for_url(),
    "password": lambda m: m.password(),
    "basic-auth": lambda m: base64.b64encode(f"ci:{m.mixed(14)}".encode()).decode(),
    "opaque-token": lambda m: m.mixed(m._dice.choice((32, 40, 43))),
    "hex32-secret": lambda m: m.draw(_HEX, 32),
    "hex64-secret": lambda m: m.draw(_HEX, 64),
    "django-secret": lambda m: m.mixed(50, _LOWER + _UPPER + _DIGITS + "!@#^&*(-_=+)"),
    "azure-storage-key": lambda m: m.mixed(86, _B64) + "==",
    "azure-shared-key": lambda m: m.mixed(43, _B64) + "=",
    "azure-sig": lambda m: m.mixed(40) + "%2B" + m.draw(_B62, 2) + "%3D",
    "azure-client-secret": lambda m: m.mixed(3) + "8Q~" + m.mixed(34, _B64URL),
    "discord-token": lambda m: "M" + m.mixed(23) + "." + m.mixed(6) + "." + m.mixed(38, _B64URL),
    "discord-webhook": lambda m: m.mixed(68, _B64URL),
    "telegram-token": lambda m: m.draw("123456789", 10) + ":AA" + m.mixed(33, _B64URL),
    "digitalocean-token": lambda m: "dop_v1" + "_" + m.draw(_HEX, 64),
    "databricks-token": lambda m: "dapi" + m.draw(_HEX, 32),
    "shopify-token": lambda m: "shpat" + "_" + m.draw(_HEX, 32),
    "square-token": lambda m: "EAAA" + m.mixed(60, _B64URL),
    "vault-token": lambda m: "hvs" + "." + m.mixed(90, _B64URL),
    "newrelic-key": lambda m: "NRAK" + "-" + m.draw(_UPPER + _DIGITS, 27),
    "linear-key": lambda m: "lin_api" + "_" + m.mixed(40),
    "notion-token": lambda m: "ntn" + "_" + m.draw(_DIGITS, 11) + m.mixed(35),
    "airtable-token": lambda m: "pat" + m.mixed(14) + "." + m.draw(_HEX, 64),
    "terraform-token": lambda m: m.mixed(14) + ".atlasv1." + m.mixed(67),
    "sentry-token": lambda m: "sntrys" + "_eyJ" + m.mixed(100) + "_" + m.mixed(43),
    "grafana-token": lambda m: "glsa" + "_" + m.mixed(32) + "_" + m.draw(_HEX, 8),
    "age-key": lambda m: "AGE-SECRET-KEY" + "-1" + m.draw("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "fcm-key": lambda m: "AAAA" + m.mixed(7, _B64URL) + ":APA91b" + m.mixed(134, _B64URL),
    "doppler-token": lambda m: "dp.pt" + "." + m.mixed(43),
    "planetscale-token": lambda m: "pscale" + "_pw_" + m.mixed(43),
    "postman-key": lambda m: "PMAK" + "-" + m.draw(_HEX, 24) + "-" + m.draw(_HEX, 34),
    "dockerhub-token": lambda m: "dckr" + "_pat_" + m.mixed(27, _B64URL),
    "card": lambda m: m.card(),
    "card-spaced": lambda m: _grouped(m.card()),
    "cvv": lambda m: m.draw("123456789", 3),
    "iban": lambda m: m.iban(),
    "iban-spaced": lambda m: _grouped(m.iban()),
    "email": lambda m: (
        f"{m.draw(_LOWER, 6)}.{m.draw(_LOWER, 5)}{m.draw(_DIGITS, 2)}@{m.draw(_LOWER, 7)}.{m._dice.choice(('com', 'de', 'co.uk'))}"
    ),
    "phone": lambda m: f"+44 20 {m.draw('3789', 1)}{m.draw(_DIGITS, 3)} {m.draw(_DIGITS, 4)}",
    "phone-de": lambda m: f"0{m.draw('1567', 1)}{m.draw('123456789', 2)} {m.draw('123456789', 7)}",
    "phone-us": lambda m: f"({m.draw('23456789', 1)}{m.draw(_DIGITS, 2)}) {m.draw('23456789', 1)}{m.draw(_DIGITS, 2)}-{m.draw(_DIGITS, 4)}",
    "otp": lambda m: m.draw("123456789", 6),
    "base64-password": lambda m: base64.b64encode(m.mixed(16).encode()).decode(),
    "base64-pem": lambda m: base64.b64encode(m.pem("EC PRIVATE KEY", "MHcCAQEE" + m.mixed(150, _B64)).encode()).decode(),
    "weak-password": lambda m: m.weak_password(),
    "seed-phrase": lambda m: m.phrase(12),
    "recovery-code": lambda m: f"{m.draw(_LOWER, 2)}{m.draw('23456789', 2)}-{m.draw(_LOWER + '23456789', 4)}",
    "pin": lambda m: m.draw("123456789", 4),
    "totp": lambda m: m.draw(_UPPER + "234567", 28) + "A2B3",
    "totp-grouped": lambda m: "ab2c " + " ".join(m.draw(_LOWER + "234567", 4) for _ in range(6)),
    "uuidsecret": lambda m: m.uuid(),
    "hex37": lambda m: m.draw(_HEX, 37),
    "hex40secret": lambda m: m.draw(_HEX, 40),
    "hex128": lambda m: m.draw(_HEX, 128),
    "opaque32": lambda m: m.mixed(32),
    "opaque64": lambda m: m.mixed(64),
    "b64-44": lambda m: m.mixed(43, _B64) + "=",
    "wgkey": lambda m: m.mixed(42, _B64) + "E=",
    "keybody": lambda m: f"MHcCAQEE{m.mixed(56, _B64)}\n{m.mixed(64, _B64)}\n{m.mixed(40, _B64)}==",
    "ethkey": lambda m: "0x" + m.draw(_HEX, 64),
    "jsession": lambda m: m.draw(_HEX.upper(), 32),
    "oauthcode": lambda m: "4/0A" + m.mixed(60, _B64URL),
    "gitlab-runner": lambda m: "GR1348941" + m.mixed(20, _B64URL),
    "gitlab-job": lambda m: "glcbt" + "-64_" + m.mixed(20, _B64URL),
    "slack-app": lambda m: "xapp" + f"-1-A{m.draw(_UPPER, 10)}-{m.draw(_DIGITS, 13)}-{m.draw(_HEX, 64)}",
    "stripe-restricted": lambda m: "rk_" + "live_" + m.mixed(99),
    "mailgun-new": lambda m: f"{m.draw(_HEX, 32)}-{m.draw(_HEX, 8)}-{m.draw(_HEX, 8)}",
    "openai-svc": lambda m: "sk-" + "svcacct-" + m.mixed(74, _B64URL) + "T3Blbk" + "FJ" + m.mixed(74, _B64URL),
    "square-secret": lambda m: "sq0csp" + "-" + m.mixed(43, _B64URL),
    "figma": lambda m: "figd" + "_" + m.mixed(40, _B64URL),
    "atlassian": lambda m: "ATATT3" + "xFfGF0" + m.mixed(180, _B64URL) + "=" + m.draw(_HEX.upper(), 8),
    "groq": lambda m: "gsk" + "_" + m.mixed(52),
    "replicate": lambda m: "r8" + "_" + m.mixed(37),
    "pplx": lambda m: "pplx" + "-" + m.mixed(48),
    "rubygems": lambda m: "rubygems" + "_" + m.draw(_HEX, 48),
    "hashi-old": lambda m: "s." + m.mixed(24),
    "herokutoken": lambda m: "HRKU" + "-" + m.uuid(),
    "jfrog": lambda m: "AKCp8" + m.mixed(68),
    "sonar": lambda m: "squ" + "_" + m.draw(_HEX, 40),
    "pulumi": lambda m: "pul" + "-" + m.draw(_HEX, 40),
    "resend": lambda m: "re" + f"_{m.mixed(8)}_{m.mixed(24)}",
    "supabase": lambda m: "sbp" + "_" + m.draw(_HEX, 40),
    "circleci": lambda m: "CCIPAT" + f"_{m.mixed(22)}_{m.draw(_HEX, 40)}",
    "passphrase": lambda m: "-".join(m.draw(_LOWER, 5) for _ in range(4)) + m.draw(_DIGITS, 2),
}
"""Kinds of secrets, each with a maker of fakes in its shape."""

_ALPHABETS = {"hex": _HEX, "digits": _DIGITS, "upper": _UPPER, "base62-": _B62, "base64-": _B64}


_STAYS: Mapping[str, Callable[[_Maker], str]] = {
    "uuid": lambda m: m.uuid(),
    "ulid": lambda m: "01" + m.draw(_ULID, 24),
    "ulid-tail": lambda m: m.draw(_ULID, 24),
    "nanoid": lambda m: m.mixed(21, _B64URL),
    "twilio-sid": lambda m: "AC" + m.draw(_HEX, 32),
    "hex16up": lambda m: m.draw(_HEX.upper(), 16),
    "base64-lines": lambda m: "\n".join(m.draw(_B64, 64) for _ in range(4)),
}

KINDS: tuple[str, ...] = tuple(_SECRETS)


def _stay(maker: _Maker, name: str) -> str:
    if name in _STAYS:
        return _STAYS[name](maker)
    shape = re.fullmatch(r"([a-z]+(?:\d\d-)?-?)(\d+)", name)
    assert shape is not None, name
    return maker.draw(_ALPHABETS[shape[1]], int(shape[2]))


def labelled_lines(seed: int = 0) -> tuple[LabelledLine, ...]:
    """The lines of the built-in set, parts `known`, `held-out` and `fresh-1` to `fresh-3`, with secrets drawn from this seed."""
    text = files("tenure.evaluation").joinpath("sets/redaction.txt").read_text(encoding="utf-8")
    maker, part = _Maker(seed), ""
    lines: list[LabelledLine] = []
    for template in text.splitlines():
        if template.startswith("== "):
            part = template.removeprefix("== set: ").split(" ; ")[0]
        elif template and not template.startswith("# "):
            lines.append(_filled(template, maker, part))
    return tuple(lines)


def _filled(template: str, maker: _Maker, part: str) -> LabelledLine:
    """A line with its places filled. Only what stands in the template is unescaped, not what is filled in."""
    pieces: list[str] = []
    secrets: list[LabelledSecret] = []
    at = 0
    for place in _PLACE.finditer(template):
        pieces.append(template[at : place.start()].replace("\\n", "\n").replace("\\t", "\t"))
        if place[1]:
            value = _SECRETS[place[1]](maker)
            secrets.append(LabelledSecret(value=value, kind=place[1]))
        else:
            value = _stay(maker, place[2])
        pieces.append(value)
        at = place.end()
    pieces.append(template[at:].replace("\\n", "\n").replace("\\t", "\t"))
    return LabelledLine(text="".join(pieces), secrets=tuple(secrets), part=part)


def read_lines(path: Path) -> tuple[LabelledLine, ...]:
    """Labelled lines from a JSONL file.

    Each line is `{"text": TEXT, "secrets": [SECRET, ...], "part": NAME}`; a SECRET is the text that must go, or
    `{"value": TEXT, "kind": NAME}`. Without `secrets` (or with an empty list) all of the text must stay. `part` and
    `kind` are free words that results are counted by; `kind` beside `secrets` counts for all of the line.

    Raises:
        UserError: a line is none of that; the message names it.
    """
    lines: list[LabelledLine] = []
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if raw.strip():
            lines.append(_read(raw, f"{path}, line {number}"))
    if not lines:
        raise UserError(f'{path} holds no line. Each is {{"text": ..., "secrets": ["...", ...]}}')
    return tuple(lines)


def _read(raw: str, where: str) -> LabelledLine:
    try:
        row = json.loads(raw)
    except json.JSONDecodeError as exc:
        raise UserError(f"{where} is no JSON: {exc.msg}") from exc
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise UserError(f'{where} has no "text". A line is {{"text": ..., "secrets": ["...", ...]}}')
    listed: Sequence[object] = row["secrets"] if isinstance(row.get("secrets"), list) else []
    secrets: list[LabelledSecret] = []
    for one in listed:
        value = one.get("value") if isinstance(one, dict) else one
        kind = (one.get("kind") if isinstance(one, dict) else None) or row.get("kind") or "secret"
        if not isinstance(value, str) or not value or value not in row["text"]:
            raise UserError(f'{where}: each of "secrets" is a text that stands in "text", or {{"value": ..., "kind": ...}}')
        secrets.append(LabelledSecret(value=value, kind=str(kind)))
    return LabelledLine(text=row["text"], secrets=tuple(secrets), part=str(row.get("part") or "all"))
