"""Secrets in a text that are known by the name beside them: `password: hunter2`, `--api-key x`, `Authorization: Bearer ...`.

The name says that a value may be a secret (`secret_fields.field_kind`), the value whether it is one
(`secret_fields.is_secret`). Here is how name and value are joined in code, configuration, JSON inside JSON,
headers, command lines, tables and prose.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from tenure.governance.password_places import is_certain, is_certain_option
from tenure.governance.searching import Span, find_foreign, with_line_ends
from tenure.governance.secret_fields import AUTHORIZATION, cookie_values, field_kind, is_authorization, is_secret

_STEMS: dict[str, tuple[str, ...]] = {
    "pass": ("w", "p", "c", "e ", "e:", "e="),
    "pwd": (),
    "pw": (),
    "mdp": (),
    "secret": (),
    "token": (),
    "key": (),
    "auth": ("orization",),
    "cookie": ("s",),
    "sessi": ("d", "on"),
    "cvv": (),
    "cvc": (),
    "otp": (),
    "pin": (),
    "tok": (),
    "psk": (),
}
"""What names of secrets hold, and how small letters may go on behind it."""

_OF_DIGITS = frozenset({"cvv", "cvc", "otp", "pin"})
_DIGITS = re.compile(r"[0-9]{3}")

_WORD_STEMS = ("senha", "parola", "kennwort", "wachtwoord", "heslo", "salasana", "lozinka", "adgangskode", "identified by", "motdepasse")
_FOREIGN = re.compile(
    "\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u30d1\u30b9\u30ef\u30fc\u30c9|\ube44\ubc00\ubc88\ud638|\u00f1a\\b|\u0142o\\b"
    "|[\u015e\u015f]ifre|[\u041f\u043f]\u0430\u0440\u043e\u043b\u044c|\u0643\u0644\u0645\u0629 \u0627\u0644\u0645\u0631\u0648\u0631"
    "|\u1ead\u0074 kh\u1ea9u"
)
_NAME_CHARS = string.ascii_letters + string.digits + "_-."
_NAME_TAIL = string.ascii_letters + string.digits + "_-"
_TYPED = r"\??:[ \t]?[A-Za-z_][A-Za-z0-9_.\[\]|, ?]{0,40}=[ \t]?(?=\\{0,7}[\"'])"  # password: str = "..."
_NUMBERED = r"(?: #?[0-9]{1,2}(?=[ \t]{0,4}[:=])| for [\w.@-]{1,40}(?=: )| (?:is|was|lautet|ist|es|est)(?= ?:))?"  # Unseal Key 1: ...
_JOINT = r"={1,3}>?|!={1,2}|:=|:{1,2}|\uff1a|=>|->|%3[dD]"
_YAML = r"(?:[|>][+-]?[ \t]{0,4}\n[ \t]{1,20}|!!?[a-z]{1,20}[ ](?![|>]))?"  # a block, or a tag, before the value
_PAIRED = r"\\{0,7}[\"'][ \t]{0,4},?\s{0,20}\\{0,7}[\"']?[vV]alue\\{0,7}[\"']?[ \t]{0,4}[:=][ \t]{0,4}"  # name="password" value="..."
_VALUE = r"\\{0,7}[\"']?\bvalue\\{0,7}[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
_HELD = rf"\\{{0,7}}[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}}\{{[^{{}}\[\]\n]{{0,160}}?{_VALUE}"  # "db_password": {"value": "..."}
_ELEMENT = r"\\{0,7}[\"'][ \t]{0,4}>"  # <property name="password">...</property>
_LISTED = r"[ \t]{0,4}(?:\n|\\{1,4}n)[ \t]{1,20}value:[ \t]{1,4}"  # - name: DB_PASSWORD\n  value: ...
_FIRM = re.compile(
    rf"(?:\\{{0,7}}[\"'`]\]?|\*{{2}}|\])?{_NUMBERED}[ \t]{{0,8}}"
    rf"(?:{_TYPED}|{_JOINT})[ \t]{{0,8}}\*{{0,2}}[ \t]?(?:[brufBRUF@]{{1,2}}(?=[\"']))?"
    rf"{_YAML}|{_PAIRED}|{_LISTED}|{_ELEMENT}"
)
_CALLED = re.compile(r"\((?=\\{0,7}[\"'])")  # PASSWORD('...')
_HOLDER = re.compile(_HELD)
_LOOSE = re.compile(
    r"[ \t]{0,3}\|[ \t]{0,8}|\t{1,4}|[ ]{1,8}(?:(?:for [\w.@-]{1,40} )?(?:is|was|to|as|are|becomes|set to|now"
    r"|lautet|ist|war|es|est|era|\u00e8"
    r"|\u00e9|jest|er|\u00e4r|:)[ ]{1,2}(?:now |set to |jetzt |ahora |maintenant )?)?"
    r"|[ ]?(?:\u662f|\u4e3a|\u70ba|\u306f|\uff1d)[ ]?"
)
_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.){1,1024}+)\"|'((?:[^'\\\n]|\\.){1,1024}+)'|`([^`\n]{1,1024}+)`")
_ESCAPED = re.compile(r"(\\{1,7}[\"'])((?:(?!\1)[^\n]){1,1024}?)\1")
_PLAIN_RUN = r"(?:[!#$%()*+\-./0-9?@A-Z\[\]^_a-z{|}~\u00a1-\u024f]|&(?![A-Za-z0-9_.-]{1,60}=))"
_PLAIN_BOUND = 250
_QUOTES = ('"', "'", "`", "\\")
_NESTED = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{2,40}(?=[:=])")
_QUERY = re.compile(r"[A-Za-z]{1,20}=[^&\s]{1,60}&[A-Za-z]{1,20}=")
_PLAIN = re.compile(rf"[\"'`]?(?P<v>{_PLAIN_RUN}{{1,256}}(?:[:=]{{1,2}}{_PLAIN_RUN}{{1,256}}){{0,3}}={{0,2}})")
_ON = re.compile(r"[A-Za-z0-9_+/=.-]*+")
_BEARER = re.compile(r"[ \t]{1,4}(?P<v>[A-Za-z0-9._~+/-]{8,700}={0,2})")


def find_named(text: str, image: str, lower: str) -> Iterator[Span]:
    """Values that stand beside the name of a secret.

    Args:
        text: any text.
        image: its `ascii_image`.
        lower: the image in small letters.
    """
    for stem, goes_on in _STEMS.items():
        place = lower.find(stem)
        while place >= 0:
            stop = place + len(stem)
            # `keyboard`, `tokens`, `passenger`: most hits end here, so this test decides how fast a text is read.
            if (
                (not text[stop : stop + 1].islower() or lower.startswith(goes_on, stop))
                and (stem not in _OF_DIGITS or _DIGITS.search(text, stop, stop + 60) is not None)
                and not image.endswith("[redacted:", 0, place)
            ):  # the name of a kind
                found, stop = _beside_name(text, image, place, stop)
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
        bearer = _BEARER.match(text, place + 6)
        if bearer is not None and is_secret(bearer["v"], "token", loose=True):
            yield bearer.start("v"), _end_of_run(text, bearer.end("v")), "authorization"
        place = lower.find("bearer ", place + 7)


def _beside_name(text: str, image: str, place: int, stop: int) -> tuple[list[Span], int]:
    """What a name with a stem at this place gives away, and where to look on."""
    rest = image[stop : stop + 40]
    end = stop + len(rest) - len(rest.lstrip(_NAME_TAIL))
    chunk = image[max(0, place - 48) : place]
    start = place - (len(chunk) - len(chunk.rstrip(_NAME_CHARS)))
    name = text[start:end].rstrip("-.")
    end = start + len(name)
    kind = field_kind(name)
    if not kind and name.lower() == "key" and (owner := _word_before(image, start)):
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


def _word_before(image: str, start: int) -> str:
    """The word that makes a "key" of the text a secret one: "API key", "secret access key"."""
    chunk = image[max(0, start - 16) : start]
    word = chunk.rstrip(" ")
    if len(chunk) - len(word) != 1:
        return ""
    return word[len(word.rstrip(string.ascii_letters)) :]


_BELOW = re.compile(r":?[ \t\r]{0,4}\n{1,2}[ \t]{0,8}(?=[^\s:=]{8,128}[ \t\r]{0,4}(?:\n|\Z))")  # on a line of its own below the name
_FIRM_ONLY = frozenset({"secret-id"})
_CHANGED = re.compile(r"\\{0,7}[\"'] (?:->|=>|to) (?=\\{0,7}[\"'])")  # "old" -> "new"
_NEXT_ARGUMENT = re.compile(r"\\{0,7}[\"'],\s{0,8}(?=\\{0,7}[\"'])")  # ["--api-key", "..."]


def _value_after(text: str, start: int, end: int, kind: str) -> Iterator[Span]:
    if text.endswith(("://", "::"), 0, start):
        return  # the login of an address, which has its own rule, or the name of a class
    option = text.startswith("-", start)
    name_end = text[start:end].lower()
    firm = _HOLDER.match(text, end) or _FIRM.match(text, end) or (_CALLED.match(text, end) if kind == "password" else None)
    if firm is not None:
        yield from _judge(text, firm.end(), kind, loose=False, name=(start, end))
    elif text.endswith("<", 0, start) and text.startswith(">", end):
        yield from _judge(text, end + 1, kind, loose=False, name=(start, end))
    elif option and (listed := _NEXT_ARGUMENT.match(text, end)) is not None:
        yield from _judge(text, listed.end(), kind, loose=False, name=(start, end))
    elif kind == "password" and (below := _BELOW.match(text, end)) is not None:
        yield from _judge(text, below.end(), kind, loose=True)
    elif name_end != "pass" and kind not in _FIRM_ONLY and (loose := _LOOSE.match(text, end)) is not None:  # "pass" is a verb as well
        quoted = kind == "password" and text.startswith(_QUOTES[:2], loose.end())  # as in SQL
        yield from _judge(text, loose.end(), kind, loose=not option and not quoted, name=(start, end))


def _judge(text: str, place: int, kind: str, *, loose: bool, name: tuple[int, int] | None = None) -> Iterator[Span]:
    """The value at a place, if it is a secret.

    Args:
        text: any text.
        place: where the value starts.
        kind: of what the name says.
        loose: only a blank or a word such as "is" joins name and value.
        name: where the name starts and ends; none: a word of another language.
    """
    first = text[place : place + 1]
    if not "!" <= first <= "\u024f":
        return
    if first in _QUOTES:
        quoted = _QUOTED.match(text, place) or _ESCAPED.match(text, place)
        if quoted is not None:
            group = quoted.lastindex or 0
            if not quoted[group].lower().startswith("bearer ") and is_secret(
                quoted[group], kind, loose=loose, data=kind == "password" or _is_constant(text, name, kind)
            ):
                yield quoted.start(group), quoted.end(group), kind
                changed = _CHANGED.match(text, quoted.end(group))
                if changed is not None and not loose:
                    yield from _judge(text, changed.end(), kind, loose=True)
            return
    nested = _NESTED.match(text, place)
    if (nested is not None and field_kind(nested.group())) or _QUERY.match(text, place) is not None:
        return  # `password: token=...`: the inner names speak for the values
    plain = _PLAIN.match(text, place)
    if plain is None:
        return
    value = plain["v"]
    kept = _trimmed(value)
    stop = plain.start("v") + len(kept)
    if not is_secret(kept, kind, literal=False, loose=loose) and not (
        name is not None
        and (kind == "password" or _is_constant(text, name, kind))
        and is_secret(kept, kind, literal=False, data=True)
        and _stands_certain(text, name, place, stop)
    ):
        return
    if len(value) >= _PLAIN_BOUND:
        stop = max(stop, _end_of_run(text, stop))  # a value longer than the bound
    yield plain.start("v"), stop, kind


def _is_constant(text: str, name: tuple[int, int] | None, kind: str) -> bool:
    """Whether the name of a secret is that of a setting, as `JWT_SECRET`: others may hold the name of a secret kept elsewhere."""
    return kind == "secret" and name is not None and text[name[0] : name[1]].isupper()


def _stands_certain(text: str, name: tuple[int, int], place: int, stop: int) -> bool:
    """Whether what stands around a name and its value says that a mere word is the password."""
    start, end = name
    low = max(0, start - 600)
    window = with_line_ends(text[low : stop + 400])
    start, end, place, stop = start - low, end - low, place - low, stop - low
    if window[end:place].isspace():
        return is_certain_option(window, start, place, stop)
    return is_certain(window, start, end, place, stop)


def _trimmed(value: str) -> str:
    """A value without what belongs to the sentence, call or markup around it."""
    while value and (
        (value[-1] in ".:?!*|" and not (value[-1] in "?!*" and any(c.isdigit() for c in value)))
        or (value[-1] in ")]}" and not _closes(value))
    ):
        value = value[:-1]
    return value


def _closes(value: str) -> bool:
    opening = {")": "(", "]": "[", "}": "{"}[value[-1]]
    return value.count(opening) >= value.count(value[-1])


_OPEN_HEADER = re.compile(r"\\{0,7}[\"'`]?\]?[ \t]{0,4}(?:[:=]|=>|,)[ \t]{0,4}(?:[bf](?=[\"'\\]))?\\{0,7}[\"'`]?")
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
    found = AUTHORIZATION.match(text, start)
    if found is not None and is_authorization(text[start : found.end() + 1]):
        yield found.start("v"), _end_of_run(text, found.end("v")), "authorization"


_COOKIE_LINE = re.compile(r"[^\n\"'\\]{0,4000}")


def _in_cookie(text: str, end: int) -> tuple[list[Span], int]:
    opened = _OPEN_HEADER.match(text, end)
    line = _COOKIE_LINE.match(text, opened.end()) if opened is not None else None
    if line is None:
        return [], end
    return [(start, stop, "cookie") for start, stop in cookie_values(text, line.start(), line.end())], max(end, line.end())


def _after_word(text: str, stop: int) -> Iterator[Span]:
    """What stands behind a word of another language for "password"."""
    firm = _FIRM.match(text, stop)
    joint = firm or _LOOSE.match(text, stop)
    return _judge(text, joint.end(), "password", loose=firm is None) if joint is not None else iter(())


def _end_of_run(text: str, place: int) -> int:
    """Where a value that is longer than its pattern's bound ends."""
    found = _ON.match(text, place)
    return found.end() if found is not None else place
