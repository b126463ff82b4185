"""Private-key blocks in a text: whole, cut off, escaped, numbered or indented.

Every search is linear in the length of the text: anchors are literals, repetitions bounded or possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.governance.searching import Span, places

_KEY_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_KEY_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_KEY_LINE = re.compile(
    # What may stand between two lines: line ends (also escaped), indentation, quotes, `+`, `>`, `|`, line numbers.
    r"(?:\\+[nrt]|\s|[\"'+>|#,*]|(?<=[\n ])[0-9]{1,5}(?:[\t→:|]|\\t))*+(?:(?:Proc-Type|DEK-Info|Comment|Version"
    r"|Subject)[ ]?:[^\n\\\"]{0,120}|[A-Za-z0-9+/]{20,}+={0,2})"
)
_KEY_LAST_LINE = re.compile(
    r"(?:\\+[nrt]|\s){1,12}(?=[A-Za-z+/]{0,18}[0-9+/=]|[A-Za-z0-9+/]{0,19}\Z)[A-Za-z0-9+/]{1,19}={0,2}(?![A-Za-z0-9 ])"
)
_KEY_LONGEST = 20_000
_PUTTY_LINES = re.compile(r"Private-Lines: [0-9]{1,3}(?:\\[nr]|\s){1,4}")


def find_private_keys(text: str) -> Iterator[Span]:
    """Private-key blocks: whole, cut off before their end, on one line with escaped line ends, or with line numbers."""
    place = text.find("PRIVATE KEY")
    while place >= 0:
        word = text.rfind("BEGIN", max(0, place - 48), place)
        begin = _KEY_BEGIN.search(text, max(0, word - 6), min(len(text), place + 30)) if word >= 0 else None
        if begin is None:
            place = text.find("PRIVATE KEY", place + 11)
            continue
        stop = _key_end(text, begin.end())
        if stop > begin.end():
            yield begin.start(), stop, "private-key"
        place = text.find("PRIVATE KEY", max(stop, place + 11))
    yield from _key_parts(text)
    place = text.find("Private-Lines: ")
    while place >= 0:
        if (begin := _PUTTY_LINES.match(text, place)) is not None:
            stop = _key_lines_end(text, begin.end())
            if stop > begin.end():
                yield begin.end(), stop, "private-key"
        place = text.find("Private-Lines: ", place + 15)


def _key_end(text: str, start: int) -> int:
    limit = min(len(text), start + _KEY_LONGEST)
    following = text.find("-BEGIN", start, limit)
    end = _KEY_END.search(text, start, limit if following < 0 else following)
    if end is not None and (body := text[start : end.start()]) and _holds_key(body):
        return end.end()
    return _key_lines_end(text, start)


_KEY_CHUNK = re.compile(r"[A-Za-z0-9+/=]+")
_MASK = frozenset("xX")
_ESCAPED_BLANK = re.compile(r"\\+[nrt]")


def _holds_key(body: str) -> bool:
    """Whether what stands between the two marks is a key: a long run, or short ones on lines of their own, and no words."""
    plain = _ESCAPED_BLANK.sub("\n", body)
    runs = _KEY_CHUNK.findall(plain)
    if set("".join(runs)) <= _MASK:
        return False
    if max(map(len, runs), default=0) >= 16:
        return True
    chunks = [chunk for raw in plain.split() if (chunk := raw.strip("\"'+>|#,\\"))]
    return bool(runs) and "\n" in plain and len(chunks) <= 8 and all(map(_KEY_CHUNK.fullmatch, chunks))


def _key_lines_end(text: str, start: int) -> int:
    """Where the lines of a block that has lost its end stop."""
    place = start
    while place - start < _KEY_LONGEST and (line := _KEY_LINE.match(text, place)) is not None:
        place = line.end()
    if place > start and (last := _KEY_LAST_LINE.match(text, place)) is not None:
        place = last.end()
    return place


_WEB_KEY_PART = re.compile(r"\\{0,7}[\"'](?:d|p|q|dp|dq|qi|k)\\{0,7}[\"'][ ]?:[ ]?\\{0,7}[\"'](?P<v>[A-Za-z0-9_-]{20,2000})")
_XML_KEY_PART = re.compile(r"<(?:D|P|Q|DP|DQ|InverseQ)>(?P<v>[A-Za-z0-9+/=\s]{20,2000})</")


def _key_parts(text: str) -> Iterator[Span]:
    """The secret numbers of a JSON web key, and of a key in XML; the public ones stay."""
    for anchor, pattern in (("kty", _WEB_KEY_PART), ("<RSAKeyValue>", _XML_KEY_PART)):
        behind = 0
        for place in places(text, anchor):
            begin = max(behind, place - 600)
            behind = min(len(text), place + 4_000)
            for found in pattern.finditer(text, begin, behind):
                yield found.start("v"), found.end("v"), "private-key"
