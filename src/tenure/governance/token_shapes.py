"""Secrets that are known by their own shape, whatever stands around them.

Keys and tokens of services, JSON web tokens and webhooks. Every finder is linear in the length of the text:
its anchors are literals, its repetitions bounded or possessive. Prefixes are those the services publish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from tenure.governance.personal_data import find_accounts
from tenure.governance.searching import Span, places
from tenure.governance.value_judgement import is_masked, is_placeholder, is_wordlike

_RUN = re.compile(r"[^A-Za-z0-9_.-][A-Za-z0-9_.-]{15,}+")
_FIRST_RUN = re.compile(r"[A-Za-z0-9_.-]{15,}+")
_BODY = re.compile(r"[A-Za-z0-9_-]*+(?:={1,2}(?![A-Za-z0-9=]))?")
_ANY = r"[A-Za-z0-9]"
_SAFE = r"[A-Za-z0-9_-]"
_HEX = r"[A-Fa-f0-9]"
_END = r"(?![A-Za-z0-9])"

# Kind, prefixes, and what follows a prefix. Bounds are there for speed; `_tail` finds the end of what is longer.
_SHAPES: tuple[tuple[str, str, str], ...] = (
    ("aws-key", "AKIA ASIA ABIA ACCA", rf"[A-Z0-9]{{16}}{_END}"),
    ("aws-key", "ABSK", r"[A-Za-z0-9+/]{40,200}"),
    ("google-key", "AIza GOCSPX- ya29.", rf"{_SAFE}{{20,255}}"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ANY}{{20,255}}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{20,255}"),
    ("gitlab-token", "glpat- glptt- gldt- glrt- glft- glsoat- glcbt- glimt- gloas- glagent- glffct-", r"[A-Za-z0-9_.-]{16,255}"),
    ("slack-token", "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp-", r"[A-Za-z0-9-]{10,255}"),
    ("slack-token", "xapp-", r"[0-9]-[A-Za-z0-9-]{10,255}"),
    ("stripe-key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", rf"{_ANY}{{10,255}}"),
    ("stripe-key", "whsec_", r"[A-Za-z0-9+/]{20,255}"),
    ("anthropic-key", "sk-ant-", rf"{_SAFE}{{12,255}}"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", rf"{_SAFE}{{12,255}}"),
    ("openai-key", "sk-", rf"{_ANY}{{20,255}}"),
    ("api-token", "sk-", r"[A-Za-z0-9_.-]{12,255}"),
    ("tenure-key", "tnr_", rf"{_ANY}{{62}}"),
    ("huggingface-token", "hf_ api_org_", rf"{_ANY}{{20,255}}"),
    ("npm-token", "npm_", rf"{_ANY}{{20,255}}"),
    ("pypi-token", "pypi-", rf"{_SAFE}{{16,255}}"),
    ("twilio-key", "SK", rf"[0-9a-f]{{32}}{_END}"),
    ("api-token", "HRKU-", rf"{_SAFE}{{30,80}}"),
    ("sendgrid-key", "SG.", rf"{_SAFE}{{16,32}}\.{_SAFE}{{16,64}}"),
    ("mailgun-key", "key-", rf"[0-9a-f]{{32}}{_END}"),
    ("discord-token", "mfa.", rf"{_SAFE}{{60,255}}"),
    ("jwt", "eyJ", rf"{_SAFE}{{8,}}+\.{_SAFE}{{8,}}+(?:\.{_SAFE}*+)?"),
    (
        "api-token",  # DigitalOcean, Shopify, Databricks, Pulumi, RubyGems, Supabase, Shippo, ElevenLabs, Firecrawl, Sonar, Sourcegraph
        "doo_v1_ dop_v1_ dor_v1_ shpat_ shpca_ shppa_ shpss_ dapi pul- rubygems_ sbp_ shippo_live_ shippo_test_ sk_ fc- sqa_ sqp_ squ_ "
        "sgp_",
        rf"{_HEX}{{24,255}}{_END}",
    ),
    (
        # Linear, Groq, Perplexity, New Relic, Buildkite, Render, Notion, Netlify, xAI, Replicate, Cerebras, Prefect, ReadMe, Neon, Apify
        "api-token",
        "lin_api_ lin_oauth_ gsk_ pplx- NRAK- bkua_ rnd_ ntn_ nfp_ xai- r8_ csk- pnu_ pnb_ rdme_ napi_ apify_api_ AKID",
        rf"{_ANY}{{20,255}}",
    ),
    (
        # Square, Docker, Grafana, Figma, PlanetScale, Sentry, Vault, Tavily, LangSmith, Pinecone, NVIDIA, Supabase, Fly, Doppler ...
        "api-token",
        "sq0atp- sq0csp- sq0idp- dckr_pat_ dckr_oat_ glsa_ glc_ figd_ pscale_tkn_ pscale_pw_ pscale_oauth_ sntrys_ sntryu_ sntrya_ hvs. "
        "hvb. hvr. tvly- lsv2_pt_ lsv2_sk_ pcsk_ nvapi- sb_secret_ fo1_ fm1_ fm2_ dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. ATATT3 "
        "ATCTT3 AQVN FLWSECK tfp_ CFPAT- CCIPAT_ tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook- wandb_v1_ tgp_v1_ "
        "duffel_test_ duffel_live_ ops_eyJ",
        rf"{_SAFE}{{16,255}}",
    ),
    ("api-token", "EAA EZAK EZTK AKCp ATTA secret_", rf"{_ANY}{{40,255}}"),
    ("api-token", "EAAA", rf"{_SAFE}{{56,255}}"),
    ("google-key", "APA91b", rf"{_SAFE}{{80,255}}"),
    ("api-token", "pa- sl.", rf"{_SAFE}{{40,255}}"),
    ("api-token", "LTAI", rf"{_ANY}{{12,30}}{_END}"),
    ("api-token", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{30,255}}"),
    ("api-token", "pat", rf"{_ANY}{{14}}\.{_HEX}{{64}}"),
    ("api-token", "pat-na pat-eu", r"[0-9]-[a-f0-9-]{30,60}"),
    ("api-token", "dt0", r"[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,70}"),
    ("api-token", "access-sandbox- access-development- access-production-", r"[a-f0-9-]{36}"),
    ("api-token", "xkeysib-", rf"{_HEX}{{40,80}}-{_ANY}{{10,30}}"),
    ("api-token", "re_", rf"{_ANY}{{6,12}}_{_ANY}{{16,40}}"),
    ("private-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{40,70}"),
    # The base64 of a private-key block, and of the inside of an OpenSSH one.
    (
        "private-key",
        "b3BlbnNzaC1rZXktdjE LS0tLS1CRUdJTiBSU0EgUFJJVkFURSB LS0tLS1CRUdJTiBQUklWQVRFI LS0tLS1CRUdJTiBFQyBQUklWQVRFI "
        "LS0tLS1CRUdJTiBPUEVOU1NI LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJ",
        r"[A-Za-z0-9+/]{20,255}",
    ),
)
_BY_PREFIX: dict[str, list[tuple[str, str]]] = {}
for _kind, _prefixes, _rest in _SHAPES:
    for _prefix in _prefixes.split():
        _BY_PREFIX.setdefault(_prefix, []).append((_kind, _rest))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Made when first needed: most texts hold no prefix, and importing this must be quick."""
    return re.compile(pattern)


@cache
def _any_prefix() -> str:
    """One pattern for all prefixes, branching on their first letter; the longest first, so that `sk-ant-` is not read as `sk-`."""
    by_letter: dict[str, list[str]] = {}
    for prefix in sorted(_BY_PREFIX, key=len, reverse=True):
        by_letter.setdefault(prefix[0], []).append(re.escape(prefix[1:]))
    return "|".join(f"{letter}(?:{'|'.join(rests)})" for letter, rests in by_letter.items())


_PREFIX = re.compile(f"(?<![A-Za-z0-9])(?:{_any_prefix()}|us[0-9]|atlasv1)")
_TWILIO_PAIR = re.compile(
    r"(?<![A-Za-z0-9])AC[0-9a-f]{32}(?:\\{0,7}[\"']?[:,][ ]?\\{0,7}[\"']?"
    r"|[^\nA-Za-z0-9]{1,4}(?:auth|token|auth[ _]?token)[^\nA-Za-z0-9]{1,4})(?P<v>[0-9a-f]{32})(?![A-Za-z0-9])"
)
_IN_BASE64 = frozenset("+/")
_DISCORD = re.compile(rf"[MNO]{_SAFE}{{22,27}}\.{_SAFE}{{6}}\.{_SAFE}{{27,255}}")

_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
_BASE64_TAIL = re.compile(r"[A-Za-z0-9+/]*+={0,2}")
# Mailchimp keys and Terraform tokens, which are known by what stands in their middle or at their end.
_INNER = re.compile(r"(?<![A-Za-z0-9])(?:[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,80})")
_TELEGRAM = re.compile(r"AA[A-Za-z0-9_-]{31,36}(?![A-Za-z0-9_-])")
_SENDER = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_AZURE_CLIENT = re.compile(r"[A-Za-z0-9_.-]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,37}")
_HOOKS = (
    ("hooks.slack.com", re.compile(r"/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9]+/[A-Za-z0-9/]{8,200})")),
    ("discord.com", re.compile(r"/api/(?:v[0-9]+/)?webhooks/[0-9]{6,24}/(?P<v>[A-Za-z0-9_-]{16,200})")),
    ("discordapp.com", re.compile(r"/api/(?:v[0-9]+/)?webhooks/[0-9]{6,24}/(?P<v>[A-Za-z0-9_-]{16,200})")),
    ("webhook.office.com", re.compile(r"/webhookb2/(?P<v>[A-Za-z0-9@/-]{30,300})")),
)


def find_tokens(text: str) -> Iterator[Span]:
    """Keys and tokens of services, by their published shapes."""
    first = _FIRST_RUN.match(text)
    if first is not None:
        yield from _tokens_in_run(text, 0, first.end())
    for run in _RUN.finditer(text):
        start, end = run.span()
        start += 1
        if text[start - 1] in "%:/" or _PREFIX.search(text, start, end) is not None:
            yield from _tokens_in_run(text, start, end)
        elif text[start].isupper():
            yield from _capital_run(text, start, end)
    if "~" in text:
        for place in places(text, "Q~"):  # Azure client secrets: three characters, a digit, `Q~`, some 34 characters
            if found := _AZURE_CLIENT.match(text, max(0, place - 4)):
                yield found.start(), found.end(), "azure-key"
    if "hook" in text:
        yield from _webhooks(text)


def _tokens_in_run(text: str, start: int, end: int) -> Iterator[Span]:
    place = start
    prefix = _compiled(_any_prefix()).match(text, start + 2, end) if start and text[start - 1] == "%" else None  # `%20ghp_...`
    while (prefix := prefix or _PREFIX.search(text, place, end)) is not None:
        first, token = prefix.start(), _token_at(text, prefix)
        prefix = None
        if token is None:
            place = first + 1
            continue
        kind, place = token  # what is made of words throughout holds no token either, so the search goes on behind it
        if _is_real(text[first:place], kind) and not (text[first - 1 : first] in _IN_BASE64 and text.startswith("EAA", first)):
            yield first, place, kind
            if kind == "aws-key":
                yield from _aws_secret_beside(text, place)
    yield from _odd_shapes(text, start, end)
    if text[start].isupper():
        yield from _capital_run(text, start, end)


def _capital_run(text: str, start: int, end: int) -> Iterator[Span]:
    if text.startswith("AC", start) and (pair := _TWILIO_PAIR.match(text, start)) is not None:
        yield pair.start("v"), pair.end("v"), "twilio-key"  # the token that stands beside the id of its account
    if text[start + 2].isdigit():
        yield from find_accounts(text, start, end)
    found = _DISCORD.match(text, start, end) if end - start >= 58 else None
    if found is not None and not is_wordlike(found.group()):
        yield start, found.end(), "discord-token"


def _token_at(text: str, prefix: re.Match[str]) -> tuple[str, int] | None:
    """Kind and end of the token that starts with this prefix."""
    name = prefix.group()
    if name == "eyJ" and text[prefix.start() - 1 : prefix.start()] in ("_", "-"):
        return None  # else a text full of starts would be read to its end at each of them
    while name:
        for kind, rest in _BY_PREFIX.get(name, ()):
            found = _compiled(rest).match(text, prefix.start() + len(name))
            if found is not None:
                return kind, max(found.end(), _tail(text, found.end(), kind))
        name = name[:-1]  # `sk-proj-` may still be a plain `sk-`
    return None


def _tail(text: str, end: int, kind: str) -> int:
    """Where a token that is longer than its pattern's bound ends."""
    pattern = _BASE64_TAIL if kind in ("private-key", "stripe-key") else _BODY
    found = pattern.match(text, end) if text[end - 1 : end].isalnum() or text[end - 1 : end] in "_-" else None
    return found.end() if found is not None else end


def _is_real(token: str, kind: str) -> bool:
    """Whether a token is one, and neither a placeholder (`AKIAXXXXXXXXXXXXXXXX`) nor a name made of words."""
    if kind in ("aws-key", "twilio-key"):
        return not is_masked(token[4:])
    return not is_masked(token) and not is_wordlike(token)


def _aws_secret_beside(text: str, end: int) -> Iterator[Span]:
    """The secret half of a key pair, which has no prefix: 40 mixed characters soon after the key id."""
    for found in _AWS_SECRET.finditer(text, end, min(len(text), end + 160)):
        secret = found.group()
        if any(c.isdigit() for c in secret) and any(c.isupper() for c in secret) and any(c.islower() for c in secret):
            yield found.start(), found.end(), "aws-key"


def _odd_shapes(text: str, start: int, end: int) -> Iterator[Span]:
    """Shapes that do not start with a prefix of their own, in a run of letters, digits, `_`, `.` and `-`."""
    if text.startswith("AA", start) and text.endswith(":", 0, start) and (found := _TELEGRAM.match(text, start)):
        digits = len(chunk := text[max(0, start - 13) : start - 1]) - len(chunk.rstrip("0123456789"))
        if 6 <= digits <= 11:
            yield start - 1 - digits, found.end(), "telegram-token"
    if text.startswith("APA91b", start) and text.endswith(":", 0, start):
        chunk = text[max(0, start - 16) : start - 1]
        sender = len(chunk) - len(chunk.rstrip(_SENDER))
        if 8 <= sender < 16:
            yield start - 1 - sender, start, "google-key"  # the first part of a Firebase server key
    if text.startswith("1//0", start - 3) and start >= 3:
        yield start - 3, end, "google-key"
    for found in _INNER.finditer(text, start, end):
        yield found.start(), found.end(), "mailchimp-key" if "-us" in found.group() else "api-token"


def _webhooks(text: str) -> Iterator[Span]:
    for host, pattern in _HOOKS:
        for place in places(text, host):
            found = pattern.match(text, place + len(host))
            if found is not None and not is_placeholder(found["v"]):
                yield found.start("v"), found.end("v"), "webhook"
