"""Codes that open an account beside or instead of its password: one-time codes, recovery codes, authenticator keys, seed phrases.

They are numbers and words, so only the words beside them tell what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.governance.searching import Span, find_foreign, places

_CODE_OWNER = re.compile(
    r"(?:\b(?:verif[a-z]{2,8}|security|authenti[a-z]{2,8}|auth|one[- ]time|log-?in|sign-?in|access|2fa|mfa|sms|totp|factor"
    r"|unlock|device|alarm|door|gate|pairing)[ _-]|\byour(?: [a-z0-9.]{1,20}){0,2} "
    r"|best.tigungs|sicherheits|verifizierungs|einmal-?|anmelde|zugangs|freischalt|verificatie|toegangs)\Z"
)
_DIGITS = r"(?:[A-Z]-)?(?P<v>[0-9]{3}[ -][0-9]{3}|[0-9]{4,8})(?![\w%]|[.,:/-][0-9])"
_AFTER_CODE = re.compile(
    r"(?: (?:de|di) [^\s:=0-9]{5,14})?[\"'\\]{0,4}[ ]{0,3}(?:(?:[:=#]|->|is|ist|lautet|est|es|\u00e8|was)[ ]{0,3}(?:now )?)?[\"'`*\\]{0,4}"
    + _DIGITS
)
_BARE_CODE = re.compile(r" (?P<v>[0-9]{6})(?= to (?:sign|log|verif|confirm|complete|finish))")
_FOREIGN_WORD = re.compile(
    "\u9a8c\u8bc1\u7801|\u9a57\u8b49\u78bc|\u8a8d\u8a3c\u30b3\u30fc\u30c9|\u78ba\u8a8d\u30b3\u30fc\u30c9"
    "|\uc778\uc99d\ubc88\ud638|[\u041a\u043a]\u043e\u0434 \u043f\u043e\u0434\u0442\u0432"
    "|\u00f3digo de "
)
_AFTER_FOREIGN = re.compile(
    r"[^\s:\uff1a0-9]{0,14}[ ]{0,2}(?:[:\uff1a=]|\u662f|\u4e3a|\u306f|es|\u2014|-)?[ ]{0,3}(?P<v>[0-9]{4,8})(?![\w%]|[.,:/-][0-9])"
)
_IS_YOUR = re.compile(r" is your [^\n.:]{0,48}?\b(?:code|otp|pin|passcode|password)\b")
_BEFORE_IS = re.compile(r"(?<![\w.-])(?:[A-Z]-)?(?P<v>[0-9]{3}[ -][0-9]{3}|[0-9]{4,8})\Z")


_USE = re.compile(r"(?P<v>[0-9]{4,8}) (?:to (?:log|sign|verify|confirm)|as your)")
_TAN = re.compile(r"(?:-nummer| code)?(?::| lautet| ist)[ ]{1,2}(?P<v>[0-9]{6,8})(?![\w%]|[.,:/-][0-9])")


def find_second_factors(text: str, lower: str) -> Iterator[Span]:
    """One-time codes, recovery codes, authenticator keys and seed phrases, by the words beside them.

    Args:
        text: any text.
        lower: its `ascii_image` in small letters.
    """
    yield from _one_time_codes(text, lower)
    for place in places(lower, " is your "):
        if (
            _IS_YOUR.match(lower, place)
            and (found := _BEFORE_IS.search(text, max(0, place - 12), place)) is not None
            and found.end() == place
        ):
            yield found.start("v"), found.end("v"), "one-time-code"
    for anchor, pattern in (("use ", _USE), ("tan", _TAN)):
        for place in places(lower, anchor):
            if not lower[place - 1 : place].isalnum() and (found := pattern.match(lower, place + len(anchor))) is not None:
                yield found.start("v"), found.end("v"), "one-time-code"
    for word in find_foreign(_FOREIGN_WORD, text, lower):
        if (found := _AFTER_FOREIGN.match(text, word.end())) is not None:
            yield found.start("v"), found.end("v"), "one-time-code"
    if "code" in lower or "key" in lower:
        for anchor in ("recovery", "backup", "scratch", "rescue", "wiederherstellungs", "secours"):
            for place in places(lower, anchor):
                yield from _recovery_codes(text, place + len(anchor))
    for anchor in ("seed", "mnemonic", *(("recovery phrase", "secret phrase", "backup phrase") if " phrase" in lower else ())):
        for place in places(lower, anchor):
            yield from _seed_phrase(text, place + len(anchor))
    for anchor in (
        "totp",
        "2fa",
        "mfa",
        "authenticator",
        *(("setup key", "secret key", "entry key", "this key") if " key" in lower else ()),
    ):
        for place in places(lower, anchor):
            if not lower[place - 1 : place].isalnum():
                yield from _authenticator_key(text, place + len(anchor))


def _one_time_codes(text: str, lower: str) -> Iterator[Span]:
    for anchor in ("code", "codice"):
        for place in places(lower, anchor):
            stop = place + len(anchor)
            if not any("0" <= c <= "9" for c in text[stop : stop + 36]):
                continue
            bare = _BARE_CODE.match(text, stop)
            if bare is not None:
                yield bare.start("v"), bare.end("v"), "one-time-code"
            elif (
                anchor == "codice" or text.startswith(" de ", stop) or _CODE_OWNER.search(lower, max(0, place - 24), place) is not None
            ) and (found := _AFTER_CODE.match(text, stop)) is not None:
                yield found.start("v"), found.end("v"), "one-time-code"


_CODES = re.compile(
    r"(?:[ _-]?(?:code|key)s?|codes?)\b[\"']?(?: \([^)\n]{0,60}\)| (?:for|are|is|list)[^\n:=0-9]{0,40})?[ ]?(?:[:=]|are|is)?"
)
_CODE_GAP = re.compile(r"(?:[\s,;|\"'`\[\]*\u2022]|\\n|- |[0-9]{1,2}[.)] ){1,40}")
_CODE_ITEM = re.compile(
    r"[0-9]{4,6} [0-9]{4,6}(?![\w-])|[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){1,9}(?![\w-])|[A-Za-z0-9]{8,32}(?![\w-])|[0-9]{6,12}(?![\w-])"
)
_MOST_CODES = 24


def _recovery_codes(text: str, place: int) -> Iterator[Span]:
    opened = _CODES.match(text, place)
    if opened is None:
        return
    place = opened.end()
    form: tuple[int, ...] | None = None
    for _ in range(_MOST_CODES):
        gap = _CODE_GAP.match(text, place)
        item = _CODE_ITEM.match(text, gap.end()) if gap is not None else None
        if item is None:
            return
        groups = tuple(map(len, re.split("[ -]", item.group())))
        if form is None and (not any(c.isdigit() for c in item.group()) or _DATE_LIKE.match(item.group())):
            return
        if form is not None and groups != form:
            return
        form = groups
        yield item.start(), item.end(), "recovery-code"
        place = item.end()


_DATE_LIKE = re.compile(r"[12][0-9]{3}-?[01][0-9]-?[0-3][0-9]|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}")

_PHRASE_JOINT = re.compile(r"(?: ?(?:phrase|words?|list|backup))?(?: \([^)\n]{0,40}\))?[\"']?[ ]?(?:[:=\uff1a]|is|was)\s{0,4}[\"'`\[]{0,2}")
_PHRASE_WORDS = re.compile(
    r"(?:[0-9]{1,2}[.)] ?)?[a-z]{3,8}(?:[\"']?[ ,\n]{1,3}[\"']?(?:[0-9]{1,2}[.)] ?)?[a-z]{3,8}(?![A-Za-z])){11,23}(?![A-Za-z])"
)
_NO_SEED_WORDS = frozenset("the and for are was not your from has had its our their been were should would could".split())


def _seed_phrase(text: str, place: int) -> Iterator[Span]:
    opened = _PHRASE_JOINT.match(text, place)
    found = _PHRASE_WORDS.match(text, opened.end()) if opened is not None else None
    if found is None:
        return
    words = list(re.finditer("[a-z]{3,8}", found.group()))
    count = next((n for n in (24, 21, 18, 15, 12) if len(words) == n), 24 if len(words) > 24 else 12)
    if not any(word.group() in _NO_SEED_WORDS for word in words[:count]):
        yield found.start(), found.start() + words[count - 1].end(), "seed-phrase"


_BASE32 = re.compile(r"(?<![\w-])(?:(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{2,4}|(?:[a-z2-7]{4} ){3,15}[a-z2-7]{2,4}|[A-Z2-7]{16,64})(?![\w-])")


_DIGIT = re.compile("[2-7]")


def _authenticator_key(text: str, place: int) -> Iterator[Span]:
    line = text.find("\n", place, place + 120)
    end = line if line >= 0 else min(len(text), place + 120)
    if _DIGIT.search(text, place, end) is None:
        return
    found = _BASE32.search(text, place, end)
    if found is not None and found.start() - place <= 48:
        key = found.group()
        if _DIGIT.search(key) is not None and not key.isdigit():
            yield found.start(), found.end(), "one-time-key"
