"""Which names of fields, variables, headers and options speak of a secret, and whether a value beside one is it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from tenure.governance.value_judgement import TECHNICAL, is_chosen, is_code, is_phrase, is_placeholder, is_wordlike

_PASSWORD_HEADS = frozenset(
    "password passwd pwd pw mdp pass passe passphrase passcode passwort kennwort contrase\u00f1a contrasena senha wachtwoord parola "
    "has\u0142o haslo sifre \u015fifre".split()
)
_HEADS = {
    **dict.fromkeys(_PASSWORD_HEADS, "password"),
    "secret": "secret",
    "token": "token",
    "apikey": "api-key",
    "apitoken": "token",
    "authtoken": "token",
    "accesstoken": "token",
    "secretkey": "secret",
    "accesskey": "api-key",
    "privatekey": "private-key",
    "authorization": "authorization",
    "cookie": "cookie",
    "cookies": "cookie",
    "auth": "basic-auth",
    "sessionid": "session",
    "phpsessid": "session",
    "jsessionid": "session",
    "sessid": "session",
    "cvv": "card-code",
    "cvc": "card-code",
    "otp": "one-time-code",
    "tok": "token",
    "psk": "password",
    "pin": "pin",
    "requirepass": "password",
}
_PAIRED_HEADS = {("key", "data"): "private-key", ("secret", "id"): "secret-id", ("key", "base"): "secret"}
_KEY_OWNERS = frozenset(
    "api secret access private encryption signing auth master account subscription license storage deploy webhook shared consumer "
    "client hmac jwt ssh gpg admin server ingest write app application bot service root session preshared unseal setup totp mfa "
    "authenticator recovery".split()
)
_ENDINGS = {  # `dbpassword`, `MYTOKEN`: names without a joint
    **dict.fromkeys(("password", "passwd", "passphrase", "storepass", "keypass", "sshpass", "userpass", "dbpass", "rootpass"), "password"),
    **dict.fromkeys(("adminpass", "smtppass", "mailpass", "ftppass", "vpnpass", "wifipass", "mypass", "becomepass"), "password"),
    **dict.fromkeys(("apikey", "accesskey", "accountkey"), "api-key"),
    **dict.fromkeys(("secretkey", "clientsecret"), "secret"),
    **dict.fromkeys(("accesstoken", "authtoken", "apitoken", "bottoken", "refreshtoken", "idtoken", "sessiontoken"), "token"),
    "privatekey": "private-key",
    "token": "token",
    "secret": "secret",
}
_TRAILERS = frozenset(
    "value plain plaintext raw base64 b64 prod production dev staging test live new old current confirm confirmation again repeat "
    "data".split()
)
_NO_SECRET_TOKENS = frozenset(
    "page next prev previous continuation pagination sync resume start end stop eos bos pad mask special max min num unk sep cls "
    "first last new line change cancellation cancel per each total output input prompt completion cached reasoning used remaining "
    "delimiter lex parser syntax".split()
)
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z\u00df-\u024f]+|[0-9]+")


@lru_cache(maxsize=8192)
def field_kind(name: str) -> str:
    """What sort of secret a field, variable, header or option of this name holds; empty if none.

    `DB_PASSWORD`, `clientSecret`, `X-Api-Key` and `--auth-token` name secrets; `max_tokens`, `token_type`,
    `password_policy`, `next_page_token`, `primary_key` and `public_key` do not.
    """
    parts = [part.lower() for part in _NAME_PART.findall(name)]
    while len(parts) > 1 and (parts[-1] in _TRAILERS or parts[-1].isdigit() or (parts[-1] == "v" and len(parts) > 2)):
        parts.pop()
    if not parts:
        return ""
    last, owner = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last == "key":
        return "private-key" if owner == "private" else "secret" if owner == "secret" else _key_kind(owner, name)
    kind = _PAIRED_HEADS.get((owner, last)) or _HEADS.get(last, "")
    if kind == "session" or (last in ("id", "sid") and owner in ("session", "sess", "connect") and "." in name):
        return "session"
    if kind == "token" and (owner in _NO_SECRET_TOKENS or "public" in parts):
        return ""
    if kind in ("cookie", "basic-auth") and len(parts) > 1 and owner not in ("set", "proxy", "npm"):
        return ""
    if (not kind and len(parts) == 1) or last.endswith(("apikey", "password")):
        if last.endswith("token") and last[:-5] in _NO_SECRET_TOKENS:
            return ""
        kind = kind or next((named for ending, named in _ENDINGS.items() if last.endswith(ending)), "")
    return kind


_OTHER_KEYS = frozenset(
    "public primary foreign unique partition sort cache object idempotency row hash range shard group dedup routing translation registry "
    "search composite natural surrogate candidate index lookup map dict json xml column config tag label metadata label answer hot short "
    "arrow function home end enter escape tab shift ctrl control alt option delete return space any press major minor music piano locale "
    "i18n message event entity item user order product customer record document file path bucket s3 blob image layer digest checksum "
    "content body queue stream topic issue project board host known pub publishable".split()
)
"""What makes a key one to find something by, to press, or to show to everybody."""


def _key_kind(owner: str, name: str) -> str:
    if owner in _KEY_OWNERS:
        return "api-key"
    written_as_setting = name.isupper() or name[:2] in ("x-", "X-") or "-" in name  # KAGGLE_KEY=..., x-rapidapi-key: ...
    return "some-key" if owner and owner not in _OTHER_KEYS and written_as_setting else ""


@lru_cache(maxsize=1024)
def is_drawn(value: str) -> bool:
    """Whether a value is a row of letters and digits that no word, date or id is made of."""
    if len(value) < 20 or _DRAWN.fullmatch(value) is None or _UUID.fullmatch(value) is not None or is_wordlike(value):
        return False
    letters, digits = _has(value)
    return letters and digits and (value == value.lower() or sum(c.isdigit() for c in value) >= 2)


_DRAWN = re.compile(r"[A-Za-z0-9_-]{20,200}={0,2}")


def is_secret(value: str, kind: str, *, literal: bool = True, loose: bool = False, data: bool = False) -> bool:
    """Whether the value of a field is a secret, rather than a word, a name, a placeholder or code.

    Args:
        value: the value without its quotes.
        kind: as `field_kind` gave it for the field's name.
        literal: the value is data (a JSON string, an option on a command line), not perhaps code.
        loose: only a blank or a word such as "is" joins name and value, so that more must speak for it.
        data: the place leaves no doubt that the value is the password itself, so that a mere word can be one.
    """
    value = value.strip()
    if len(value) < (3 if kind in _JUDGES or kind == "password" else 8):
        return False
    if len(value) < 16 and value.isalpha() and (value.islower() or value.isupper()) and not (data and kind == "password"):
        return False  # plainly a word: decided at once, because most values are
    if is_placeholder(value) or (not literal and is_code(value)):
        return False
    if kind in _JUDGES:
        return _JUDGES[kind](value)
    if kind == "secret" and data and len(value) >= 8 and is_wordlike(value):
        return is_chosen(value) and (any(c.isdigit() for c in value) or "-" in value)
    if kind == "password":
        return _is_password(value, literal=literal, loose=loose, data=data)
    return _is_token(value, session=kind == "session", literal=literal, loose=loose)


def _is_token(value: str, *, session: bool, literal: bool, loose: bool) -> bool:
    drawn = (
        literal and len(value) >= 24 and len(set(value) & _SIGNS) >= 3 and all(_has(value))
    )  # a call holds a bracket, and few other signs
    if (
        " " in value
        or (is_code(value) and not drawn)
        or (not literal and _TYPE.match(value) is not None)
        or (session and _ID.fullmatch(value) is not None)
    ):
        return False
    if len(value) < (16 if loose or session else 8) or is_wordlike(value) or _is_path(value) or _VARIABLE.match(value) is not None:
        return False
    letters, digits = _has(value)
    return letters and (digits or (len(value) >= 16 and not loose))


_SIGNS = frozenset("!@#$%^&*+")


def _is_password(value: str, *, literal: bool, loose: bool, data: bool) -> bool:
    if value.isdigit():
        return len(value) >= 4 and not loose
    if " " in value:  # a sentence about passwords, unless one of its words is one
        if data and is_phrase(value):
            return True
        return len(value) <= 64 and any(_is_password_in_prose(word) for word in value.split()[:12])
    if len(value) < (6 if loose else 3) or _is_path(value):
        return False
    if is_wordlike(value, units=loose):
        if data and is_chosen(value):
            return True
        if loose:  # "the password is Falcon-Tiger-42"
            return any(c in "-_." for c in value) and _is_word_with_number(value) and re.sub("[-_.]", "", value).lower() not in TECHNICAL
        return _is_word_with_number(value) and (literal or not value.replace("_", "").isalnum())
    letters, digits = _has(value)
    return digits if loose and letters else letters or digits


def _is_password_in_prose(word: str) -> bool:
    return len(word) >= 6 and all(_has(word)) and not is_wordlike(word)


def _is_word_with_number(value: str) -> bool:
    """Whether a value is a word and a number of two digits or more, as `Winter-2024`; but not `password-2024`, which is a name."""
    parts = [part for part in re.split(r"[-_.]", value) if part]
    named = any(part.lower() in _HEADS or part.lower() in _KEY_OWNERS for part in parts)
    return not named and parts[:1] != [] and parts[0].isalpha() and any(part.isdigit() and len(part) >= 2 for part in parts)


def _has(value: str) -> tuple[bool, bool]:
    """Whether a value holds letters, and whether it holds digits."""
    return any(c.isalpha() for c in value), any(c.isdigit() for c in value)


_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9A-HJKMNP-TV-Z]{26}")
_PATH = re.compile(r"(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]*)*")


# `imdsv2_session_token`, `gemini_api_key\\r\\n`: the name of a variable, perhaps with a version in it.
_VARIABLE = re.compile(
    r"(?:[A-Za-z]{1,12}[0-9]{0,2}_){1,6}(?:token|key|secret|password|pass|id|name|value|header)s?[0-9]{0,2}(?:\\+[rn]){0,4}\Z",
    re.IGNORECASE,
)
# What a value in code is that names a type or a constant: `Ed25519PrivateKey`.
_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(?:Key|Token|Secret|Credential|Password|Type|Config|Provider)s?(?:[A-Z][A-Za-z]*)?\Z")


def _is_path(value: str) -> bool:
    return _PATH.fullmatch(value) is not None and value.count("/") > 1 and value == value.lower()


def _is_basic(value: str) -> bool:
    """Whether a value is base64 of `user:password`."""
    if len(value) < 6 or len(value) > 1024 or not value.isascii():
        return False
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    user, colon, password = decoded.partition(b":")
    return bool(colon and password) and all(32 <= byte < 127 for byte in user) and _is_written(password)


def _is_written(password: bytes) -> bool:
    try:
        return password.decode().rstrip("\r\n").isprintable()
    except UnicodeDecodeError:
        return False


AUTHORIZATION = re.compile(
    r"(?:(?P<scheme>bearer|basic|token|apikey|api-key|digest|negotiate|ntlm|splunk|sso-key|key|jwt"
    r"|oauth|ssws|genie-?key|snyk|circle-token|pat|aws)[ \t]{1,4})?(?P<v>[A-Za-z0-9._~+/=-]{3,700})",
    re.IGNORECASE,
)


def is_authorization(value: str) -> bool:
    """Whether the value of an Authorization header holds a credential: a scheme and a token, or a long token alone."""
    found = AUTHORIZATION.match(value)
    if found is None:
        return False
    secret, scheme = found["v"], (found["scheme"] or "").lower()
    if _VARIABLE.match(secret) is not None:
        return False
    if is_placeholder(secret) or is_code(value[found.start("v") :]) or is_wordlike(secret) or not any(c.isalpha() for c in secret):
        return scheme == "basic" and _is_basic(secret)
    return len(secret) >= (6 if scheme else 12) and not secret.startswith("AWS4-")


_PAIR = re.compile(r"(?P<name>[A-Za-z0-9_.$!#%-]{1,80})=(?P<v>[^;,\s\"'\\]{1,800})")
_COOKIE_ATTRIBUTES = frozenset(
    "path domain expires max-age samesite version priority lang locale theme _ga _gid _gcl_au _fbp _gat _pk_id _hjid".split()
)


def cookie_values(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Places of the values in a line of cookies that look like sessions, not like settings."""
    for pair in _PAIR.finditer(text, start, end):
        value = pair["v"]
        if pair["name"].lower() in _COOKIE_ATTRIBUTES or len(value) < 6 or is_placeholder(value) or is_wordlike(value):
            continue
        if any(c.isdigit() for c in value) or len(value) >= 16:
            yield pair.span("v")


def _is_cookie(value: str) -> bool:
    return any(True for _ in cookie_values(value, 0, len(value)))


_JUDGES: dict[str, Callable[[str], bool]] = {
    "card-code": lambda value: value.isdigit() and len(value) in (3, 4),
    "one-time-code": lambda value: value.isdigit() and 4 <= len(value) <= 8,
    "pin": lambda value: value.isdigit() and 4 <= len(value) <= 8,
    "some-key": is_drawn,
    "secret-id": lambda value: _UUID.fullmatch(value) is not None,
    "basic-auth": _is_basic,
    "authorization": is_authorization,
    "cookie": _is_cookie,
}
"""Kinds with a form of their own."""
