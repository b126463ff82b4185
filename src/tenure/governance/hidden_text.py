"""Characters that a reader does not see, text that hides in code, and quoting that makes foreign text harmless."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SUSPECT = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
_MARKS = "\u200e\u200f\u061c"
_TAG_LEAST, _TAG_MOST = 0xE0020, 0xE007F
_BLACK_FLAG = "\U0001f3f4"
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def lone_surrogate(text: str) -> bool:
    """Whether a text holds half of a character, as cut UTF-16 does; it cannot be written as UTF-8."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def hidden_characters(text: str) -> str:
    """Names of the hidden characters of a text, such as `U+202E RIGHT-TO-LEFT OVERRIDE`; empty if there are none.

    Control characters other than tab and line ends, bidirectional overrides and embeddings, zero-width
    characters, tags, fillers and soft hyphens. What a script or an emoji needs is none: joiners between Arabic
    or Indic letters and inside emoji, direction marks in right-to-left text, variation selectors after a symbol.
    """
    names: list[str] = []
    for place in hidden_places(text):
        char = text[place]
        name = f"U+{ord(char):04X} {unicodedata.name(char, 'control character')}"
        if name not in names:
            names.append(name)
        if len(names) == 3:
            break
    return ", ".join(names)


def hidden_places(text: str) -> Iterator[int]:
    """Where the hidden characters of a text stand (see `hidden_characters`)."""
    if text.isascii() and _CONTROL.search(text) is None:
        return
    for found in _SUSPECT.finditer(text):
        if not _has_a_use(text, found.start()):
            yield found.start()


def _has_a_use(text: str, place: int) -> bool:
    char = text[place]
    before, after = text[place - 1] if place else "", text[place + 1] if place + 1 < len(text) else ""
    if char in _JOINERS:
        return _joins(before) and _joins(after)
    if char in _MARKS:
        near = text[max(0, place - 40) : place + 40]
        return any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in near)
    if "\ufe00" <= char <= "\ufe0f":  # one selector, after something that can be drawn in several ways
        return bool(before) and unicodedata.category(before) in ("So", "Sm", "Po", "Nd", "Lo", "Sk") and not ("\ufe00" <= after <= "\ufe0f")
    if _TAG_LEAST <= ord(char) <= _TAG_MOST:  # the flags of England, Scotland and Wales
        start = text.rfind(_BLACK_FLAG, max(0, place - 8), place)
        return start >= 0 and all(_TAG_LEAST <= ord(c) <= _TAG_MOST for c in text[start + 1 : place])
    return char == "\ufeff" and place == 0


def _joins(char: str) -> bool:
    """Whether a letter or symbol is of a kind that joiners stand beside."""
    if not char:
        return False
    if unicodedata.category(char) in ("So", "Sk", "Mn", "Mc") or char in "\ufe0f\u2640\u2642\u2695":
        return True
    return unicodedata.bidirectional(char) in ("AL", "R") or "\u0900" <= char <= "\u0dff" or "\u1000" <= char <= "\u17ff"


_LONG = re.compile(r"\S{60}")
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{80,}={0,2}")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_HEX_BLOB = re.compile(r"(?:[0-9A-Fa-f]{2}){65,}")
_ESCAPES = re.compile(r"(?:\\x[0-9A-Fa-f]{2}){8,}|(?:%[0-9A-Fa-f]{2}){10,}|(?:&#x?[0-9A-Fa-f]{2,5};){8,}")
_BITS = re.compile(r"(?:[01]{8}[ ,]?){8,}")
_CODES = re.compile(r"[0-9]{2,3}(?:[ ,]+[0-9]{2,3}){12,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}+={0,2}")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}){12,}+")
_UNICODE = re.compile(r"(?:\\u[0-9A-Fa-f]{4}){6,}")
_ROT13 = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm")


def encoded_blob(text: str) -> str:
    """What sort of long encoded text a text holds, in words; empty if none. Digests of up to 512 bits are none."""
    for found in _BLOB.finditer(text) if _LONG.search(text) is not None else ():
        blob = found.group()
        # Paths and names change between cases, digits and joints at every word; encoded bytes do at every other letter.
        if len(blob) < 3 * len(_HUMP.findall(blob)) and any(c.isdigit() for c in blob) and any(c.isupper() for c in blob):
            return f"a run of {len(blob)} base64 characters"
    found_hex = _HEX_BLOB.search(text)
    if found_hex is not None:
        return f"a run of {len(found_hex.group())} hexadecimal digits"
    if _ESCAPES.search(text) is not None or _BITS.search(text) is not None:
        return "a text written as character codes"
    for found in _CODES.finditer(text):
        codes = [int(code) for code in re.findall(r"[0-9]+", found.group())]
        if all(32 <= code < 127 for code in codes) and _reads_as_text("".join(map(chr, codes))):
            return "a text written as character codes"
    return ""


def decoded_texts(text: str) -> Iterator[tuple[str, str]]:
    """What short encoded parts of a text say: how each is encoded, and the text in it.

    Base64, hexadecimal and escaped parts that decode to readable text, and the whole text in rot13 and backwards.
    """
    for found in _BASE64.finditer(text):
        plain = _readable(_from_base64(found.group()))
        if plain:
            yield "base64", plain
    for found in _HEX.finditer(text):
        plain = _readable(bytes.fromhex(found.group()))
        if plain:
            yield "hexadecimal", plain
    for found in _UNICODE.finditer(text):
        yield "escapes", "".join(chr(int(code, 16)) for code in found.group().split("\\u")[1:])
    if text.isascii():
        yield "rot13", text.translate(_ROT13)
    yield "reversed writing", text[::-1]


def _from_base64(token: str) -> bytes:
    body = token.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return b""


def _readable(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if len(text) >= 8 and _reads_as_text(text) else ""


def _reads_as_text(text: str) -> bool:
    return sum(c.isalpha() or c in " .,:;!?'\"@/-_\n" for c in text) >= 0.85 * len(text)


_BLANKS = re.compile(r"\s+")
_ODD = re.compile(r"[^\x20-\x7e]")
_HARMLESS = str.maketrans({"`": "'", '"': "'", "\u2028": " ", "\u2029": " "})


def quote(text: str, limit: int = 200) -> str:
    """A foreign text made fit to stand inside a lesson, between quotation marks or backticks.

    One line; runs of white space are one blank; backticks and double quotes are single ones; control
    characters, hidden ones and lone surrogates are written as their codes; cut at the limit with an ellipsis.
    Quoting twice changes nothing.

    Args:
        text: untrusted text.
        limit: most characters of the result, at least 1.
    """
    plain = _BLANKS.sub(" ", text[: 8 * limit + 64].translate(_HARMLESS)).strip()
    plain = _ODD.sub(lambda odd: _shown(plain, odd), plain)
    if len(plain) <= limit and len(text) <= 8 * limit + 64:
        return plain
    return plain[: limit - 1].rstrip(" " + _JOINERS) + "\u2026"


def _shown(text: str, odd: re.Match[str]) -> str:
    char = odd.group()
    kept = char not in _MARKS and _has_a_use(text, odd.start()) if _SUSPECT.match(char) else unicodedata.category(char)[0] in "LMNPSZ"
    if kept:
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
