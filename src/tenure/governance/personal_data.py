"""Payment cards, bank accounts, mail addresses, phone and social security numbers in a text.

Numbers are judged by their check digits, their grouping and the word beside them, because order numbers,
dates, amounts and ids look much like them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from tenure.governance.searching import Span, find_foreign, places

_LOCAL = string.ascii_letters + string.digits + "._%+'-" + "".join(chr(c) for c in range(0xC0, 0x250) if c not in (0xD7, 0xF7))
_DOMAIN = re.compile(r"(?:[A-Za-z0-9\u00c0-\u024f](?:[A-Za-z0-9\u00c0-\u024f-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_(\[-])")
_FILE_ENDINGS = frozenset(
    "png jpg jpeg gif svg webp ico js ts jsx tsx mjs css html htm json yaml yml toml txt rb java cpp php "
    "lock zip gz tar pdf csv log sql xml".split()
)
_CODE_WORDS = frozenset(
    "transpose weight weights shape values value dot mean sum self data grad reshape view item items size dtype names param params".split()
)
_MACHINES = (".gserviceaccount.com", "users.noreply.github.com", "noreply.gitlab.com")
_NOBODY = re.compile(r"(?:[a-z-]{1,20}[-+.])?(?:no-?reply|do-?not-?reply)(?:[-+.][a-z-]{1,20})?|mailer-daemon", re.IGNORECASE)
"""Addresses of programs, that no person reads."""

_REMOTE_COMMAND = re.compile(r"\b(?:ssh|scp|sftp|rsync|mosh)\b[^\n]{0,60}\Z")


def find_emails(text: str) -> Iterator[Span]:
    """Mail addresses. Logins of remote commands, versions (`pkg@1.2`) and addresses of repositories are none."""
    at = text.find("@")
    while at >= 0:
        found = _DOMAIN.match(text, at + 1)
        if found is not None and (start := _local_start(text, at)) < at and _is_address(text, start, at, found):
            yield start, found.end(), "email"
            at = text.find("@", found.end())
        else:
            at = text.find("@", at + 1)


def _local_start(text: str, at: int) -> int:
    chunk = text[max(0, at - 64) : at]
    local = chunk[len(chunk.rstrip(_LOCAL)) :]
    start = at - len(local)
    while local[:1] == "_" and text.endswith("\\", 0, start):  # `jane\_doe@...`, as Markdown escapes it
        chunk = text[max(0, start - 65) : start - 1]
        local = chunk[len(chunk.rstrip(_LOCAL)) :] + "\\" + local
        start = at - len(local)
    if start and text[start - 1] == "\\" and local[:1] in ("n", "r", "t"):  # `\n` of a text inside a JSON string
        start += 1
    while start < at and text[start] in ".'-%+":
        start += 1
    return start


def _is_address(text: str, start: int, at: int, domain: re.Match[str]) -> bool:
    local, name = text[start:at], domain.group()
    ending = name.rpartition(".")[2].lower()
    if name in ("openssh.com", "libssh.org"):
        return False  # names of algorithms
    if name.endswith(_MACHINES) or _NOBODY.fullmatch(local) is not None:
        return False
    if ending in _FILE_ENDINGS or ending in _CODE_WORDS or (len(local) == 1 and name.find(".") == 1 and len(ending) > 3):
        return False
    after = text[domain.end() : domain.end() + 2]
    if after in (":/", ":~") or (local == "git" and after[:1] in (":", "/", "")):
        return False
    before = text[max(0, start - 80) : start]
    scheme = before.rfind("://")
    if scheme >= 0 and not any(c in " \t\n/\"'<>`" for c in before[scheme + 3 :]):
        return False  # the login of an address, which has its own rule
    return _REMOTE_COMMAND.search(before) is None


_NUMBER = re.compile(r"[0-9][0-9 .-]{11,}+")
_CARD = re.compile(
    r"(?<![\w.+])(?<![0-9]-)(?:[0-9]{13,19}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{3})?"
    r"|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5})(?![\w+]|[.-][0-9])"
)
_ISSUERS = (
    (re.compile(r"4"), (13, 16, 19)),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"30[0-5]|3095|36|3[89]"), (14, 16, 19)),
    (re.compile(r"6011|64[4-9]|65"), (16, 19)),
    (re.compile(r"35(?:2[89]|[3-8])"), (16, 17, 18, 19)),
    (re.compile(r"62|81"), (16, 17, 18, 19)),
    (re.compile(r"5018|5020|5038|5893|6304|6759|676[1-3]"), (16, 18, 19)),
)
_PHONE = re.compile(
    r"(?<![\w.+/#=-])(?:1[-. ])?[2-9][0-9]{2}([-.])[0-9]{3}\1[0-9]{4}(?![\w/-]|\.[0-9])"
    r"|(?<![\w.+/#=-])0[1-9][0-9]{0,2}-[0-9]{3,4}-[0-9]{4}(?![\w/-]|\.[0-9])"  # 03-1234-5678, 010-1234-5678
)
_NOT_A_PHONE = re.compile(
    r"\b(?:order|invoice|ticket|ref|reference|id|sku|part|serial|isbn|case|tracking|account|acct|batch|lot|model|version|no|nr"
    r"|number)[\s.:#=\"']{0,6}\Z"
)


def find_numbers(text: str) -> Iterator[Span]:
    """Payment cards (by issuer, length, grouping and Luhn digit), bank accounts in groups, and phone numbers as `555-123-4567`."""
    for run in _NUMBER.finditer(text):
        start = run.start()
        end = start + len(run.group().rstrip(" .-"))
        if end - start >= 13:
            for card in _CARD.finditer(text, start, end):
                digits = card.group().replace(" ", "").replace("-", "")
                if _followed_by_more(text, card.end(), end) or _stands_in_row(text, card):
                    continue
                if is_card(digits):
                    yield card.start(), card.end(), "card"
            account = _grouped_account_near(text, start)
            if account is not None:
                yield account
        for phone in _PHONE.finditer(text, start, end):
            if (
                not _followed_by_more(text, phone.end(), end)
                and _NOT_A_PHONE.search(text[max(0, phone.start() - 24) : phone.start()].lower()) is None
            ):
                yield phone.start(), phone.end(), "phone"


def _followed_by_more(text: str, place: int, end: int) -> bool:
    """Whether a number that ends where its run of digits ends goes on behind it, as in `4111111111111111a`."""
    return place == end and place < len(text) and (text[place].isalnum() or text[place] == "_")


_GROUP_BEFORE = re.compile(r"(?<![0-9A-Za-z])[0-9A-F]{4,5} \Z")
_GROUP_AFTER = re.compile(r" [0-9A-F]{4,5}(?![0-9A-Za-z/])")


def _stands_in_row(text: str, card: re.Match[str]) -> bool:
    """Whether groups of four go on before or behind a card, as in a table of codes: `52BB 5352 5354 5353 5351 5366`."""
    before = _GROUP_BEFORE.search(text, max(0, card.start() - 6), card.start())
    after = _GROUP_AFTER.match(text, card.end())
    sides = [found.group() for found in (before, after) if found is not None]
    return len(sides) == 2 or any(c in "ABCDEF" for side in sides for c in side)


def is_card(digits: str) -> bool:
    """Whether a row of digits is a card number: an issuer's prefix, a length it uses, and the Luhn check digit."""
    if not any(len(digits) in lengths and prefix.match(digits) for prefix, lengths in _ISSUERS):
        return False
    if len(set(digits)) == 1 or not _luhn(digits):
        return False
    return len(digits) != 13 or not _is_article_number(digits)


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit)
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def _is_article_number(digits: str) -> bool:
    """Whether 13 digits are an EAN, by its own check digit."""
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return total % 10 == 0


_ACCOUNT = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}(?![A-Za-z0-9])")
_GROUPED_ACCOUNT = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?(?![A-Za-z0-9])")


def is_account(text: str) -> bool:
    """Whether a text without spaces is an IBAN, by its remainder modulo 97."""
    if not 15 <= len(text) <= 34:
        return False
    turned = text[4:] + text[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def _grouped_account_near(text: str, start: int) -> Span | None:
    for found in _GROUPED_ACCOUNT.finditer(text, max(0, start - 10), min(len(text), start + 44)):
        whole = found.group()
        while len(whole) >= 15:  # a following word of four capitals may have been taken in
            if is_account(whole.replace(" ", "")):
                return found.start(), found.start() + len(whole), "bank-account"
            whole = whole.rpartition(" ")[0]
    return None


def find_accounts(text: str, start: int, end: int) -> Iterator[Span]:
    """IBANs written without spaces, inside a run of letters and digits."""
    for found in _ACCOUNT.finditer(text, start, end):
        if is_account(found.group()):
            yield found.start(), found.end(), "bank-account"


_ABROAD = re.compile(r"\+[1-9][0-9]{0,14}(?:(?:[ .\-/\u00a0]|\)[ -]?| ?\()[0-9]{1,10}(?![0-9])){0,6}(?![\w%]|[.,:][0-9])")
_PAREN = re.compile(r"\([0-9]{3}\)[ -]?[0-9]{3}[-. ]?[0-9]{4}(?![\w-])")
_DATE = re.compile(
    r"(?<![0-9])(?:[12][0-9]{3}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12][0-9]|3[01])"
    r"|(?:0?[1-9]|[12][0-9]|3[01])[-/.](?:0?[1-9]|[12][0-9]|3[01])[-/.][12][0-9]{3}|[0-9]{1,3}(?:\.[0-9]{1,3}){3})(?![0-9])"
)
_PHONE_WORDS = (
    "phone",
    "mobile",
    "tel",
    "mobil",
    "handy",
    "cell",
    "whatsapp",
    "fax",
    "rufnummer",
    "celular",
    "portable",
    "call",
    "reach",
    "home",
)
_TRUNK = re.compile(
    # A national number with its leading 0, in groups, and not in steps as 01 02 03 are.
    r"[^\n0-9+]{0,24}?(?P<v>\(?0(?:[1-9][0-9]{1,4}\)?[ /-]{1,3}[0-9]{3,8}(?:[ -][0-9]{2,6}){0,3}"
    r"|[1-9](?:[ .-][0-9]{2}){4}|[1-9][0-9]{8,10}))(?![\w/-]|[.,:][0-9])"
)
_FOREIGN_PHONE = re.compile(
    "\u7535\u8bdd|\u624b\u673a|\u96fb\u8a71|\u643a\u5e2f|\uc804\ud654|\ud734\ub300\ud3f0|[\u0422\u0442]\u0435\u043b\u0435\u0444\u043e\u043d"
    "|[Tt]\u00e9l|[Tt]el\u00e9fono|[Mm]\u00f3vil"
)
_BESIDE_WORD = re.compile(
    r"(?:e?fon[eo]?|\u00e9phone|\u53f7|\u756a\u53f7|\ubc88\ud638)?(?:[_ -]?(?:[Nn]umber|num|[Nn]o|[Nn]r|[Nn]ummer"
    r"|NUMBER))?[\"'\\]{0,8}\.?(?:\s{0,3}[:=#\uff1a]|[ ](?:is|at|number))?\s{0,3}[\"'\\]{0,8}(?P<v>\+?\(?[0-9][0-9 ().\-/]{5,20}[0-9])"
    r"(?![\w]|\.[0-9])"
)
_SOCIAL = re.compile(
    r"(?:ssn|social security(?: (?:number|no\.?|num))?)[\"'\\]{0,8}(?:\s{0,3}[:=#]|[ ]is)?\s{0,3}[\"'\\]{0,8}"
    r"(?P<v>[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4})(?![\w-])"
)


def find_phones(text: str, image: str, lower: str) -> Iterator[Span]:
    """Phone numbers: international ones, `(555) 123-4567`, and rows of digits beside a word such as "phone".

    Args:
        text: any text.
        image: its `ascii_image`.
        lower: the image in small letters.
    """
    place = image.find("+")
    while place >= 0:
        length = 0
        if "0" < image[place + 1 : place + 2] <= "9" and not _joined(image, place) and (found := _ABROAD.match(image, place)) is not None:
            length = _length_abroad(found.group())
        if length:
            yield place, place + length, "phone"
        place = image.find("+", place + max(1, length))
    place = image.find("(")
    while place >= 0:
        found = _PAREN.match(image, place)
        if found is not None and not _joined(image, place):
            yield place, found.end(), "phone"
        place = image.find("(", place + 1)
    for word in _PHONE_WORDS:
        place = lower.find(word)
        while place >= 0:
            if not lower[place - 1 : place].isalpha() or word == "phone":  # not in "hotel"
                stop = place + len(word)
                if word in _WEAK_WORDS:
                    yield from _after_trunk(text, stop)
                elif word != "tel" or not lower.startswith("l", stop):  # not in "tell"
                    yield from _beside_word(text, stop)
                    yield from _after_trunk(text, stop)
            place = lower.find(word, place + len(word))
    for foreign in find_foreign(_FOREIGN_PHONE, text, lower):
        yield from _beside_word(text, foreign.end())
    for word in ("ssn", "social security"):
        for place in places(lower, word):
            social = _SOCIAL.match(lower, place) if not lower[place - 1 : place].isalpha() else None
            if social is not None:
                yield social.start("v"), social.end("v"), "social-security-number"


_WEAK_WORDS = frozenset({"call", "reach", "home", "portable", "cell", "handy", "fax"})
"""Words beside which only a number in the form of a telephone's is one."""


def _after_trunk(text: str, place: int) -> Iterator[Span]:
    found = _TRUNK.match(text, place)
    if found is not None and 9 <= sum(c.isdigit() for c in found["v"]) <= 12 and _DATE.search(found["v"]) is None:
        yield found.start("v"), found.end("v"), "phone"


def _beside_word(text: str, place: int) -> Iterator[Span]:
    found = _BESIDE_WORD.match(text, place)
    if found is not None and _is_beside(found["v"]):
        yield found.start("v"), found.end("v"), "phone"


def _joined(image: str, place: int) -> bool:
    """Whether what stands at a place goes on from a word or a term before it, as in `f(555)` or `a+1`."""
    before = image[place - 1] if place else " "
    return before.isalnum() or before in "_+)]"


def _length_abroad(number: str) -> int:
    """How much of a row of groups is one phone number; 0 if it is none."""
    if len(number) < 9 or (number.count(".") == 1 and number[1:].replace(".", "").isdigit()):
        return 0  # too short, or a decimal fraction
    date = _DATE.search(number)
    if date is not None:
        number = number[: date.start()].rstrip(" .-/(\u00a0")
    while sum(c.isdigit() for c in number) > 15 and len(groups := re.split(r"[^0-9+]+", number)) > 1:
        number = number[: number.rfind(groups[-1])].rstrip(" .-/()\u00a0")
    digits = sum(c.isdigit() for c in number)
    separated = any(c in " .-/()\u00a0" for c in number)
    return len(number) if (9 if separated else 10) <= digits <= 15 else 0


def _is_beside(number: str) -> bool:
    return 7 <= sum(c.isdigit() for c in number) <= 15 and _DATE.search(number) is None and number.count(".") != 1
