"""Secrets that are known by the name beside them: `password: hunter2`, `--api-key x`, `Authorization: Bearer ...`.

The name says that a value may be a secret; `value_judgement` says whether this one is. Fields of parsed
JSON (`field_kind`, `is_secret`) and plain text in any notation (`find_named`) go by the same two answers.
"""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Iterator
from functools import lru_cache

from tenure.governance.personal_data import find_foreign
from tenure.governance.value_judgement import is_code, is_placeholder, is_wordlike

Span = tuple[int, int, str]

_PASSWORD_HEADS = frozenset(
    "password passwd pwd pass passe passphrase passcode passwort kennwort contrase\u00f1a contrasena senha wachtwoord parola has\u0142o haslo sifre \u015fifre".split()
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
}
_KEY_OWNERS = frozenset(
    "api secret access private encryption signing auth master account subscription license storage deploy webhook shared consumer client hmac jwt ssh gpg "
    "admin server ingest write app application bot service root session".split()
)
_ENDINGS = (  # `dbpassword`, `MYTOKEN`: names without a joint
    ("password", "password"), ("passwd", "password"), ("passphrase", "password"), ("apikey", "api-key"), ("secretkey", "secret"),
    ("privatekey", "private-key"), ("accesskey", "api-key"), ("accountkey", "api-key"), ("clientsecret", "secret"), ("accesstoken", "token"),
    ("authtoken", "token"), ("apitoken", "token"), ("bottoken", "token"), ("refreshtoken", "token"), ("idtoken", "token"), ("sessiontoken", "token"),
)  # fmt: skip
_TRAILERS = frozenset("value plain plaintext raw base64 b64 prod production dev staging test live new old current confirm confirmation again repeat data".split())
_NO_SECRET_TOKENS = frozenset(
    "page next prev previous continuation pagination sync resume start end stop eos bos pad mask special max min num unk sep cls first last new line "
    "change cancellation cancel per each total output input prompt completion cached reasoning used remaining delimiter lex parser syntax".split()
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
        kind = "private-key" if owner == "private" else "secret" if owner == "secret" else "api-key" if owner in _KEY_OWNERS else ""
        return kind
    if last == "data" and owner == "key":
        return "private-key"
    kind = _HEADS.get(last, "")
    if kind == "session" or (last in ("id", "sid") and owner in ("session", "sess", "connect") and "." in name):
        return "session"
    if kind == "token" and owner in _NO_SECRET_TOKENS:
        return ""
    if kind in ("cookie", "basic-auth") and len(parts) > 1 and owner not in ("set", "proxy", "npm"):
        return ""
    if (not kind and len(parts) == 1) or last.endswith(("apikey", "password")):
        kind = kind or next((named for ending, named in _ENDINGS if last.endswith(ending)), "")
    return kind


_SHORT_KINDS = frozenset({"password", "card-code", "one-time-code", "basic-auth", "authorization", "cookie"})


def is_secret(value: str, kind: str, *, literal: bool = True, loose: bool = False) -> bool:
    """Whether the value of a field is a secret, rather than a word, a name, a placeholder or code.

    Args:
        value: the value without its quotes.
        kind: as `field_kind` gave it for the field's name.
        literal: the value is data (a JSON string, an option on a command line), not perhaps code.
        loose: only a blank or a word such as "is" joins name and value, so that more must speak for it.
    """
    value = value.strip()
    if len(value) < (3 if kind in _SHORT_KINDS else 8) or (len(value) < 16 and value.isalpha() and (value.islower() or value.isupper())):
        return False  # too short, or plainly a word: decided at once, because most values are
    if is_placeholder(value) or (not literal and is_code(value)):
        return False
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    if kind == "password":
        return _is_password(value, letters=letters, digits=digits, loose=loose)
    if kind in ("card-code", "one-time-code"):
        return value.isdigit() and (3 <= len(value) <= 4 if kind == "card-code" else 4 <= len(value) <= 8)
    if kind == "basic-auth":
        return _is_basic(value)
    if kind == "authorization":
        return _is_authorization(value)
    if kind == "cookie":
        return any(True for _ in _cookie_values(value, 0, len(value)))
    if " " in value or is_code(value) or (not literal and _names_a_type(value)) or (kind == "session" and _is_id(value)):
        return False
    least = 16 if loose or kind == "session" else 8
    if len(value) < least or is_wordlike(value) or _is_path(value):
        return False
    return (letters and digits) or (len(value) >= 16 and letters and not loose)


def _is_password(value: str, *, letters: bool, digits: bool, loose: bool) -> bool:
    if value.isdigit():
        return len(value) >= 4 and not loose
    if " " in value:  # a sentence about passwords, unless one of its words is one
        return any(len(word) >= 6 and not word.isdigit() and any(c.isdigit() for c in word) and not is_wordlike(word) for word in value.split()[:12]) and len(value) <= 64
    if len(value) < (6 if loose else 3) or is_wordlike(value, units=loose) or _is_path(value):
        return False
    return digits if loose and letters else letters or digits


_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9A-HJKMNP-TV-Z]{26}")
_PATH = re.compile(r"(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]*)*")


_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(?:Key|Token|Secret|Credential|Password|Type|Config|Provider)s?(?:[A-Z][A-Za-z]*)?\Z")


def _names_a_type(value: str) -> bool:
    """Whether a value in code is a type or a constant: `Ed25519PrivateKey`."""
    return _TYPE.match(value) is not None


def _is_id(value: str) -> bool:
    return _ID.fullmatch(value) is not None


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
    return bool(colon and password) and all(32 <= byte < 127 for byte in user)


_SCHEME = re.compile(r"(?:(?P<scheme>bearer|basic|token|apikey|api-key|digest|negotiate|ntlm|splunk|sso-key|key|jwt|oauth)[ \t]{1,4})?(?P<v>[A-Za-z0-9._~+/=-]{3,700})", re.IGNORECASE)


def _is_authorization(value: str) -> bool:
    found = _SCHEME.match(value)
    if found is None:
        return False
    secret, scheme = found["v"], (found["scheme"] or "").lower()
    if is_placeholder(secret) or is_code(value[found.start("v") :]) or is_wordlike(secret) or not any(c.isalpha() for c in secret):
        return scheme == "basic" and _is_basic(secret)
    return len(secret) >= (6 if scheme else 12) and not secret.startswith("AWS4-")


_PAIR = re.compile(r"(?P<name>[A-Za-z0-9_.$!#%-]{1,80})=(?P<v>[^;,\s\"'\\]{1,800})")
_COOKIE_ATTRIBUTES = frozenset("path domain expires max-age samesite version priority lang locale theme".split())


def _cookie_values(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for pair in _PAIR.finditer(text, start, end):
        value = pair["v"]
        if pair["name"].lower() in _COOKIE_ATTRIBUTES or len(value) < 6 or is_placeholder(value) or is_wordlike(value):
            continue
        if any(c.isdigit() for c in value) or len(value) >= 16:
            yield pair.span("v")


_STEMS: dict[str, tuple[str, ...]] = {
    "pass": ("w", "p", "c", "e "),
    "pwd": (),
    "secret": (),
    "token": (),
    "key": (),
    "auth": ("orization",),
    "cookie": ("s",),
    "sessi": ("d", "on"),
    "cvv": (),
    "cvc": (),
    "otp": (),
}
"""What names of secrets hold, and how small letters may go on behind it."""
_WORD_STEMS = ("senha", "parola")
_FOREIGN = re.compile(
    "\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u30d1\u30b9\u30ef\u30fc\u30c9|\ube44\ubc00\ubc88\ud638|\u00f1a\\b|\u0142o\\b|[\u015e\u015f]ifre"
    "|[\u041f\u043f]\u0430\u0440\u043e\u043b\u044c|\u0643\u0644\u0645\u0629 \u0627\u0644\u0645\u0631\u0648\u0631|\u1ead\u0074 kh\u1ea9u"
)
_NAME_CHARS = string.ascii_letters + string.digits + "_-."
_REST = re.compile(r"[A-Za-z0-9_-]{0,40}")
_FIRM = re.compile(
    r"(?:\\{0,3}[\"'`]\]?|\*{2}|\])?[ \t]{0,8}(?:"
    r"\??:[ \t]?[A-Za-z_][A-Za-z0-9_.\[\]|, ?]{0,40}=[ \t]?(?=\\{0,3}[\"'])"  # password: str = "..."
    r"|={1,3}>?|!={1,2}|:=|:{1,2}|\uff1a|=>|->|%3[dD]"
    r")[ \t]{0,8}\*{0,2}[ \t]?(?:[brufBRUF@]{1,2}(?=[\"']))?"
    r"|\\{0,3}[\"'][ \t]{0,4},?\s{0,20}\\{0,3}[\"']?[vV]alue\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}"  # name="password" value="..."
    r"|[ \t]{0,4}(?:\n|\\n)[ \t]{1,20}value:[ \t]{1,4}"  # - name: DB_PASSWORD\n  value: ...
)
_LOOSE = re.compile(r"[ \t]{0,3}\|[ \t]{0,8}|\t{1,4}|[ ]{1,8}(?:(?:is|was|to|as|are|becomes|set to|now)[ ]{1,2}(?:now |set to )?)?|[ ]?(?:\u662f|\u4e3a|\u70ba|\u306f|\uff1d)[ ]?")
_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.){1,1024}+)\"|'((?:[^'\\\n]|\\.){1,1024}+)'|`([^`\n]{1,1024}+)`")
_ESCAPED = re.compile(r"(\\{1,3}[\"'])((?:(?!\1)[^\n]){1,1024}?)\1")
_PLAIN_RUN = r"(?:[!#$%()*+\-./0-9?@A-Z\[\]^_a-z{|}~\u00a1-\u024f]|&(?![A-Za-z0-9_.-]{1,60}=))"
_PLAIN_BOUND = 250
_QUOTES = ("\"", "'", "`", "\\")
_NESTED = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{2,40}(?=[:=])")
_PLAIN = re.compile(rf"[\"'`]?(?P<v>{_PLAIN_RUN}{{1,256}}(?:[:=]{{1,2}}{_PLAIN_RUN}{{1,256}}){{0,3}}={{0,2}})")
_ON = re.compile(r"[A-Za-z0-9_+/=.-]*+")
_BEARER = re.compile(r"[ \t]{1,4}(?P<v>[A-Za-z0-9._~+/-]{8,700}={0,2})")


def find_named(text: str, lower: str) -> Iterator[Span]:
    """Values that stand beside the name of a secret.

    Args:
        text: any text.
        lower: its `ascii_image` in small letters.
    """
    for stem, goes_on in _STEMS.items():
        place = lower.find(stem)
        while place >= 0:
            stop = place + len(stem)
            # `keyboard`, `tokens`, `passenger`: most hits end here, so this test decides how fast a text is read.
            if not text[stop : stop + 1].islower() or lower.startswith(goes_on, stop):
                found, stop = _beside_name(text, lower, place, stop)
                yield from found
            place = lower.find(stem, stop)
    for stem in _WORD_STEMS:
        place = lower.find(stem)
        while place >= 0:
            yield from _after_word(text, place + len(stem))
            place = lower.find(stem, place + len(stem))
    for word in find_foreign(_FOREIGN, text, lower):
        yield from _after_word(text, word.end())
    place = lower.find("bearer ")
    while place >= 0:
        found = _BEARER.match(text, place + 6)
        if found is not None and is_secret(found["v"], "token", loose=True):
            yield found.start("v"), _end_of_run(text, found.end("v")), "authorization"
        place = lower.find("bearer ", place + 7)
    yield from _on_command_lines(text)


def _beside_name(text: str, lower: str, place: int, stop: int) -> tuple[list[Span], int]:
    """What a name with a stem at this place gives away, and where to look on."""
    end = _REST.match(text, stop).end()  # type: ignore[union-attr]  # matches the empty text too
    chunk = text[max(0, place - 48) : place]
    start = place - (len(chunk) - len(chunk.rstrip(_NAME_CHARS)))
    name = text[start:end].rstrip("-.")
    end = start + len(name)
    kind = field_kind(name)
    if not kind and name.lower() == "key" and (owner := _word_before(lower, start)):
        kind = field_kind(f"{owner}_{name}")
    if not kind:
        return [], stop
    if kind == "authorization":
        found = list(_in_header(text, end))
    elif kind == "cookie":
        return _in_cookie(text, end)
    else:
        found = list(_value_after(text, start, end, kind))
    return found, max(stop, *(span[1] for span in found)) if found else stop


def _word_before(lower: str, start: int) -> str:
    """The word that makes a "key" of the text a secret one: "API key", "secret access key"."""
    chunk = lower[max(0, start - 16) : start]
    word = chunk.rstrip(" ")
    if len(chunk) - len(word) != 1:
        return ""
    return word[len(word.rstrip(string.ascii_lowercase)) :]


def _value_after(text: str, start: int, end: int, kind: str) -> Iterator[Span]:
    if text.startswith("://", start - 3):
        return  # the login of an address, which has its own rule
    option = text.startswith("-", start)
    name_end = text[start:end].lower()
    firm = _FIRM.match(text, end)
    if firm is not None:
        yield from _judge(text, firm.end(), kind, loose=False)
    elif text.startswith("<", start - 1) and text.startswith(">", end):
        yield from _judge(text, end + 1, kind, loose=False)
    elif name_end != "pass" and (loose := _LOOSE.match(text, end)) is not None:  # "pass" is a verb as well
        yield from _judge(text, loose.end(), kind, loose=not option)


def _judge(text: str, place: int, kind: str, *, loose: bool) -> Iterator[Span]:
    first = text[place : place + 1]
    if not "!" <= first <= "\u024f":
        return
    if first in _QUOTES:
        quoted = _QUOTED.match(text, place) or _ESCAPED.match(text, place)
        if quoted is not None:
            group = quoted.lastindex or 0
            if not quoted[group].lower().startswith("bearer ") and is_secret(quoted[group], kind, loose=loose):
                yield quoted.start(group), quoted.end(group), kind
            return
    nested = _NESTED.match(text, place)
    if nested is not None and field_kind(nested.group()):
        return  # `password: token=...`: the inner name speaks for the value
    plain = _PLAIN.match(text, place)
    if plain is None:
        return
    value = plain["v"]
    kept = _trimmed(value)
    if not is_secret(kept, kind, literal=False, loose=loose):
        return
    stop = plain.start("v") + len(kept)
    if len(value) >= _PLAIN_BOUND:
        stop = max(stop, _end_of_run(text, stop))  # a value longer than the bound
    yield plain.start("v"), stop, kind


def _trimmed(value: str) -> str:
    """A value without what belongs to the sentence, call or markup around it."""
    while value and ((value[-1] in ".:?!*|" and not (value[-1] in "?!*" and any(c.isdigit() for c in value))) or (value[-1] in ")]}" and not _closes(value))):
        value = value[:-1]
    return value


def _closes(value: str) -> bool:
    opening = {")": "(", "]": "[", "}": "{"}[value[-1]]
    return value.count(opening) >= value.count(value[-1])


_OPEN_HEADER = re.compile(r"\\{0,3}[\"'`]?\]?[ \t]{0,4}(?:[:=]|=>|,)[ \t]{0,4}[bf]?\\{0,3}[\"'`]?")
_AWS_SIGNATURE = re.compile(r"AWS4-HMAC-SHA256 [^\n\"]{0,400}?Signature=(?P<v>[0-9a-f]{32,128})")


def _in_header(text: str, end: int) -> Iterator[Span]:
    opened = _OPEN_HEADER.match(text, end)
    if opened is None:
        return
    start = opened.end()
    if text.startswith("AWS4-", start):
        if (signed := _AWS_SIGNATURE.match(text, start)) is not None:
            yield signed.start("v"), signed.end("v"), "authorization"
        return
    found = _SCHEME.match(text, start)
    if found is not None and _is_authorization(text[start : found.end() + 1]):
        yield found.start("v"), _end_of_run(text, found.end("v")), "authorization"


_COOKIE_LINE = re.compile(r"[^\n\"'\\]{0,4000}")


def _in_cookie(text: str, end: int) -> tuple[list[Span], int]:
    opened = _OPEN_HEADER.match(text, end)
    line = _COOKIE_LINE.match(text, opened.end()) if opened is not None else None
    if line is None:
        return [], end
    return [(start, stop, "cookie") for start, stop in _cookie_values(text, line.start(), line.end())], max(end, line.end())


def _after_word(text: str, stop: int) -> Iterator[Span]:
    """What stands behind a word of another language for "password"."""
    firm = _FIRM.match(text, stop)
    joint = firm or _LOOSE.match(text, stop)
    return _judge(text, joint.end(), "password", loose=firm is None) if joint is not None else iter(())


def _end_of_run(text: str, place: int) -> int:
    """Where a value that is longer than its pattern's bound ends."""
    found = _ON.match(text, place)
    return found.end() if found is not None else place


_LOGIN = r"[\"']?[^\s\"':]{1,80}:(?P<v>[^\s\"']{2,128})"
_OPERAND = r"[\"']?(?P<v>[^\s\"'-][^\s\"']{1,128})"
_COMMANDS: dict[str, tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]] = {
    "p": (
        (("mysql", "mariadb", "mycli"), re.compile(_OPERAND)),
        (("sshpass", "docker login", "podman login", "mongo", "az login", "kinit", "twine"), re.compile(r"[ =]{0,2}" + _OPERAND)),
    ),
    "u": ((("curl", "http"), re.compile(r"[ =]{0,2}" + _LOGIN)),),
    "-": ((("curl", "wget"), re.compile(r"user[ =]" + _LOGIN)),),
    "a": ((("redis-cli",), re.compile(r"[ ]" + _OPERAND)),),
}
"""By the letter of the option: commands one of which must stand before it on the line, and its value."""


def _on_command_lines(text: str) -> Iterator[Span]:
    """Passwords behind the short options of commands that take one there: `mysql -pPW`, `curl -u user:PW`."""
    place = text.find(" -")
    while place >= 0:
        stop = place + 3
        for commands, value in _COMMANDS.get(text[place + 2 : stop], ()):
            found = value.match(text, stop)
            if found is not None and _starts_with(commands, text, place) and _is_option_value(found["v"]):
                yield found.start("v"), found.end("v"), "password"
                line_end = text.find("\n", found.end())
                stop = line_end if line_end >= 0 else len(text)  # a command takes one password
        place = text.find(" -", stop)


def _starts_with(commands: tuple[str, ...], text: str, place: int) -> bool:
    """Whether one of the commands stands before a place on its line, with no other command between."""
    before = text[max(0, place - 240) : place]
    before = before[max(before.rfind("\n"), before.rfind("|"), before.rfind(";")) + 1 :]
    return any(command in before for command in commands)


def _is_option_value(value: str) -> bool:
    return not is_placeholder(value) and not is_code(value) and not value.isdigit() and value.lower() not in ("password", "pass")
