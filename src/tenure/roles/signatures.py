"""Error texts as families: which line says it, and what is left when values are masked.

Two errors are of one family when they differ only in numbers, ids, dates, names, quoted values,
paths or hashes. A signature is the tool and the masked text; it is what a lesson about an error is about.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tenure.playbook.run import Run
from tenure.roles.actions import actions_of
from tenure.roles.texts import printable
from tenure.roles.vocabulary import ACRONYMS, EMPTY_WORDS, ENTITIES, FILE_ENDINGS, MONTHS, NO_NAMES, TERMS

MASK = "#"
"""What stands for every masked value."""

MASKED_LIMIT = 120
"""Longest masked text, in characters; longer ones are cut at a word."""

_READ_LIMIT = 16_000  # characters of an error that are looked at, half from its start, half from its end
_LINE_LIMIT = 600  # characters of the telling line that are masked

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_TAG = re.compile(r"</?(?:tool_use_error|error|stderr|stdout|output)>", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_EXIT = re.compile(r"(?i)^(?:command |process )?(?:failed |exited )?(?:with )?(?:exit|return|status)[ -]?(?:code|status)?:? *-?\d+\.?$")
_EXIT_PREFIX = re.compile(r"(?i)^exit code:? *-?\d+[:;,.]? +(?=\S)")
_SHELL_PREFIX = re.compile(r"^(?:/[\w/.-]+/)?(?:ba|z|da|k|fi)?sh: (?:line \d+: |\d+: )?(?=\S)")
_PREFIX = re.compile(r"(?i)^(?:(?:fatal |tool |api )?error|err|fehler|erreur|错误|錯誤|エラー|오류)\s*(?:[:：]\s*|-\s+|!\s+)(?=\S)")
_EXCEPTION = re.compile(r"^(?:E\s+)?((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Timeout|NotFound|Denied)\b(?::.*)?)$")
_COMPLAINT = re.compile(
    r"(?i)\b(?:err!|error|fatal|panic|fail(?:ed|ure|s)?|cannot|can't|could ?n[o']t|unable|not found|no such|not enough|no module|denied"
    r"|refused|forbidden|invalid|illegal|missing|undefined|unknown|unexpected|unsupported|unrecogni[sz]ed|not allowed|does not|doesn't|must"
    r"|required|timed? ?out|conflict|already exists|expired|fehler|erreur|nicht|ungültig|introuvable|échec|inválid\w*|no se)\b"
    r"|错误|錯誤|失败|失敗|无法|無法|不存在|不能|不足|未找到|エラー|できません|見つかりません|오류|실패|없습니다"
)
_NOISE_LINE = re.compile(r"^(?:Traceback \(most recent|File [\"']|at [\w$.<>]+ ?\(|[\^~\-=+|. ]+$|\d+ *\||>>> )")
_MESSAGE_KEYS = (
    *("message", "msg", "error_description", "error_message", "detail", "details", "reason", "description", "title", "error", "errors"),
)
_CODE_KEYS = ("code", "type", "error", "status", "name")


def headline(error: str) -> str:
    """The line of an error text that says what was wrong, with nothing masked.

    Of JSON the message, of a traceback the exception, of other long outputs the first line that
    complains; without white space runs, control characters, and a leading `Error:`.
    """
    if len(error) > _READ_LIMIT:
        error = error[: _READ_LIMIT // 2] + "\n" + error[-_READ_LIMIT // 2 :]
    text = _TAG.sub("\n", _ANSI.sub("", error)).strip()
    told = _structured(text)
    if told is None:
        told = _telling_line(text)
    line = printable(told)[:_LINE_LIMIT]
    while True:  # "Error: Exit code 1: Error: x" has several
        bare = _PREFIX.sub("", _SHELL_PREFIX.sub("", _EXIT_PREFIX.sub("", line)))
        if bare == line:
            return line
        line = bare


def mask(error: str) -> str:
    """An error text with its values masked, on one line, the same for the whole family.

    Numbers, ids, dates, names, quoted values, paths, addresses and hashes become `#`; quotes become
    `'`. Masking twice changes nothing.

    Args:
        error: the text of a rejected tool result, of any length.

    Returns:
        At most `MASKED_LIMIT` characters; empty if the error says nothing.
    """
    return _mask_kept(error) if len(error) <= 2000 else _mask(error)


@lru_cache(maxsize=4096)
def _mask_kept(error: str) -> str:
    """Runs of one agent show the same few errors over and over."""
    return _mask(error)


def _mask(error: str) -> str:
    text = error
    for _ in range(8):  # one round settles all but values inside values
        masked = _mask_once(text)
        if masked == text:
            break
        text = masked
    return text


def signature(tool: str, error: str) -> str:
    """What a lesson about an error is about: `tool-error:<tool>:<masked error>`."""
    return f"tool-error:{tool}:{mask(error)}"


def error_subjects(run: Run) -> frozenset[str]:
    """The signatures of all rejected calls of a run."""
    return frozenset(signature(action.tool, action.error) for action in actions_of(run) if action.error)


def says_something(masked: str) -> bool:
    """Whether a masked error names a fault, beyond that there was one."""
    return any(word.lower() not in EMPTY_WORDS for word in _WORD.findall(masked))


def _telling_line(text: str) -> str:
    lines = [line for line in (raw.strip() for raw in text.splitlines()) if line]
    if len(lines) < 2:
        return text
    if "Traceback (most recent call last)" in text:
        for line in reversed(lines):
            if found := _EXCEPTION.match(line):
                return found.group(1)
    candidates = [line for line in lines if not _EXIT.match(line) and not _NOISE_LINE.match(line)] or lines
    if "validation error" in candidates[0]:  # pydantic: the field and its fault stand on the next two lines
        return " ".join(candidates[:3])
    return next((line for line in candidates if _COMPLAINT.search(line)), candidates[0])


def _structured(text: str) -> str | None:
    """The message inside a JSON or Python literal, or none if the text is not one."""
    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
    if start < 0 and not text.startswith('"'):
        return None
    lead = text[: max(start, 0)]
    if "\n" in lead.strip() or text[-1:] not in '}]"':
        return None
    value = _literal(text[max(start, 0) :])
    if value is None:
        return None
    said = _message(value)
    return _SPACE.sub(" ", f"{lead.rstrip(' -:')}: {said}" if lead.strip(" -:") else said) if said else None


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if len(text) > 4000:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _message(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return _telling_line(value.strip())
    if isinstance(value, Sequence):
        return _message(value[0], depth + 1) if value and depth < 6 and isinstance(value[0], str | Mapping) else ""
    if not isinstance(value, Mapping) or depth >= 6:
        return ""
    for key in _MESSAGE_KEYS:
        said = _message(value.get(key), depth + 1)
        if said:
            code = next((str(value[k]) for k in _CODE_KEYS if k != key and isinstance(value.get(k), str)), "")
            place = value.get("loc")
            if isinstance(place, Sequence) and not isinstance(place, str):
                code = ".".join(str(part) for part in place)
            return f"{code}: {said}" if code and code not in said else said
    return ", ".join(f"{key}: {json.dumps(kept)}" for key, kept in list(value.items())[:6] if isinstance(kept, str | int | float | bool))


# --- masking ---------------------------------------------------------------------------------------

_L = "A-Za-zÀ-ÖØ-öø-ɏ"
_W = rf"{_L}\d_"
_DAYS = "(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? +)?"

_NO_LETTER_BEFORE, _NO_LETTER_AFTER = r"(?<![A-Za-z\d_])", r"(?![A-Za-z\d_])"  # `\b` that holds between Chinese and Latin too
_VALUE = re.compile(
    r"(?P<url>[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>)\]}]*[^\s'\"<>)\]}.,;:!?])"
    r"|(?P<mail>[A-Za-z\d_.+-]+@[A-Za-z\d_-]+(?:\.[A-Za-z\d_-]+)+)"
    rf"|(?P<quoted>{_NO_LETTER_BEFORE}'(?:[^'\n]|(?<=\w)'(?=\w))*'{_NO_LETTER_AFTER}|\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|‘[^’\n]*’"
    r"|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》)"
    rf"|(?P<date>{_NO_LETTER_BEFORE}{_DAYS}(?:{MONTHS})\.? +(?:\d{{1,2}}(?:st|nd|rd|th)?(?:,? +\d{{4}})?|\d{{4}}){_NO_LETTER_AFTER}"
    rf"|{_NO_LETTER_BEFORE}{_DAYS}\d{{1,2}}(?:st|nd|rd|th)?\.? +(?:de +|of +)?(?:{MONTHS}){_NO_LETTER_AFTER}\.?(?:,? +(?:de +)?\d{{4}})?"
    r"|\d{2,4} ?[年년] ?(?:\d{1,2} ?[月월] ?)?(?:\d{1,2} ?[日号號일])?|\d{1,2} ?[月월] ?\d{1,2} ?[日号號일]"
    rf"|(?<![A-Za-z\d_:])\d{{1,2}}(?::\d{{2}}){{0,2}} ?(?:[AaPp]\.?[Mm]{_NO_LETTER_AFTER}\.?))"
    r"|(?P<path>(?<![A-Za-z\d_:/\\.#])(?:[A-Za-z]:[\\/]|~[\\/]|\.{1,2}[\\/]|[\\/])[A-Za-z\d_.@+~-]*[A-Za-z\d_@+~-]"
    r"(?:[\\/]+[A-Za-z\d_.@+~-]*[A-Za-z\d_@+~-])*[\\/]?(?::\d+)*"
    rf"|(?<![A-Za-z\d_/.-])[A-Za-z\d_.@-]+(?:/[A-Za-z\d_.@-]+)*\.(?:{FILE_ENDINGS}){_NO_LETTER_AFTER}(?!\.\w)(?::\d+)*)"
    rf"|(?P<number>(?<![{_W}])[#№]?[-+]?(?:[{_L}_]+-)*[{_L}_]*\d[{_W}]*(?:[.,:/'](?=[{_L}_]*\d)[{_W}]+|-[{_W}]+)*)"
)
_CODE = re.compile(
    rf"\b((?i:{ENTITIES})(?: +(?:id|code|number|no\.))?(?: +|: *| *= *))(?!(?:{ACRONYMS})\b)([A-Z]{{2,}}(?:[-_/][A-Z]+)*)(?![\w'])"
)
_ROUTE = re.compile(r"\b(from|between) [A-Z]{3,4} (to|and) [A-Z]{3,4}\b")
_TITLE = rf"(?!(?:{NO_NAMES})\b)[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ'’-]+"
_NAME = re.compile(rf"\b((?i:{ENTITIES})(?: +(?:named|called|name))?(?: +|: *| *= *))({_TITLE}(?: {_TITLE})*)(?![\w'])")
_FULL_NAME = re.compile(rf"(?<=[a-z.] )((?:for|by|to|from|with|of|mr\.?|mrs\.?|ms\.?|dr\.?) )({_TITLE}(?: {_TITLE})+)(?![\w'])")
_LOWER_WORD = re.compile(r"(?<![\w'])[a-z]{3,}")
_LISTED = re.compile(r"#(?:(?:[ ,;|/·、，-]|\.(?! ))*#)+")
_LISTED_QUOTES = re.compile(r"'#'(?:(?: *[,;、，] *| )'#')+")
_WORD = re.compile(r"[^\W\d_]{2,}")


def _mask_once(text: str) -> str:
    line = _VALUE.sub(_masked_value, headline(text))
    line = _ROUTE.sub(r"\1 # \2 #", _CODE.sub(r"\1#", line))
    if _LOWER_WORD.search(line):  # a text all in capitals or title case has no names that could be told
        line = _FULL_NAME.sub(r"\1#", _NAME.sub(r"\1#", line))
    line = line.replace('"', "'").replace("`", "'")  # a lesson quotes it in double quotes, between backticks
    line = _LISTED_QUOTES.sub("'#'", _LISTED.sub("#", line))
    line = _SPACE.sub(" ", line).strip().rstrip(" .!。！;,:")
    if len(line) > MASKED_LIMIT:
        kept = line[:MASKED_LIMIT]
        cut = kept.rfind(" ")
        line = (kept[:cut] if cut > MASKED_LIMIT // 2 else kept).rstrip(" .!。！;,:")
    return line


def _masked_value(found: re.Match[str]) -> str:
    kind, value = found.lastgroup, found.group()
    if kind == "quoted":
        inner = value[1:-1]
        words = inner.split()
        if len(words) >= 4 and sum(word[:1].islower() for word in words) * 2 >= len(words):  # prose, not a value
            return "'" + _VALUE.sub(_masked_value, inner.replace('"', "'")) + "'"
        return f"'{MASK}'"
    if kind == "number" and value.lower() in TERMS:
        return value
    return MASK
