"""Whether a tool's error says what was wrong with a call, or talks: gives orders, addresses agents, tells of other things.

An error is the one text of a stranger that lessons quote, so it has to be one. What is wrong can be said in countless
ways, and orders too; but a sentence that says that something failed nearly always uses one of a few hundred words, and
a sentence for agents, persons or all times to come nearly always one of some others. See `design/taint.md`.
"""

from __future__ import annotations

import re

from tenure.governance.attacks import find_attack
from tenure.governance.instruction_words import (
    CHECKS,
    DEEDS_AT_ADDRESS,
    ERROR_ORDERS,
    FORCE,
    LEAVE_OUT,
    negates_check,
    stems_of,
    word_stems,
)

LONGEST_ERROR = 800
"""An error of more characters holds more than what was wrong."""

TALK_WORDS = 6
"""So many words in a sentence that does not say what failed are talk; fewer, if one of them moves money, data, rights or checks.

Two more, if the error began with what failed: "Read it first before writing to it"."""

_SHORTEST = 4
_PREFIX = re.compile(r"^\s*(?:(?:[\w.\[\]]*(?:error|exception|warning|fehler|erreur|hint|err!)[\w\[\]]*|\d{3})\s*[:!]*\s+)+", re.IGNORECASE)
_ENDS = re.compile(r"(?<=[.!?。！？])\s+|[;；]|(?<=[。！？])|\n+")
_CLAUSES = re.compile(r"[,:–—]\s+|\s-\s|[()]|\s(?=(?:so|but|then)\s)")
_NAME = re.compile(r"[`'\"]?\b\w+_\w+\b[`'\"]?|--\w[\w-]*|[\w.-]*/[\w./-]+")
_COMPOUND = re.compile(r"\w+-\w+")
_LETTERS = re.compile(r"[぀-ヿ㐀-鿿가-힯]|[^\W\d_]{2,}")
_CODE_LINE = re.compile(r"^\s*(?:File \"[^\"\n]{1,300}\", line \d+|at [\w$.<>]+ ?\(|Traceback \(most recent|\d+ *\||[\^~\-=+|. ]+$)")
_FAILS = re.compile(
    r"err!|\b(?:error|fatal|panic|abort\w*|fail\w*|crash\w*|cannot|can(?:'| no)t|(?:could|does|do|did|is|are|was|were|has|have|would|should"
    r"|will) ?n[o']t|unable|not (?:found|enough|allowed|supported|permitted|valid|available|implemented|a|an|in)|no (?:such|module|rule"
    r"|match\w*|space|route|results?|default|file|free|more|longer exists)|deni(?:ed|es)|refus\w+|reject\w*|forbidden|prohibited"
    r"|unauthori[sz]ed|invalid|illegal|malformed|missing|undefined|unknown|unexpected|unsupported|unrecogni[sz]ed|unresolved|unreachable"
    r"|unavailable|unterminated|unused|must|requires?|required"
    r"|needs? (?!no\b|not\b)|expect(?:s|ed|ing)|wants|timed? ?out|timeout|conflict\w*|already|exists"
    r"|expired|exceed\w*|too \w+|at most|at least|maximum|minimum|insufficient|out of|empty|blank|locked|closed|taken|wrong|bad|duplicate"
    r"|violat\w+|mismatch\w*|differs?|corrupt\w*|broken|overflow\w*|killed|lost|left|add up|exactly|only"
    r"|should be (?:a|an|the|either|one|in|of|at|between|less|more|greater)|did you mean|meant"
    r"|forgot|perhaps|deprecated|overwritten|ambiguous|in use|self-signed|in stock|pending"
    r"|fehler\w*|ungültig\w*|muss|fehlt|unbekannt\w*|wurde nicht|erreur|invalide|introuvable|inconnue?|manquante?|obligatoire|doit|échec"
    r"|inválid\w+|falta|debe|no existe|desconocid\w+|não existe|deve|errore|non valid\w+|manca\w*|geçersiz|bulunamadı|gerekli|hata"
    r"|не найден\w*|ошибка|неверн\w+|недопустим\w+|должн\w+|отсутствует|обязательн\w+)\b"
    r"|错误|錯誤|失败|失敗|无法|無法|无效|不存在|不足|未找到|必须"
    r"|エラー|失敗|無効|できません|見つかりません|必須|오류|실패|없습니다|خطأ|غير صالح|غير موجود|गलत|त्रुटि",
    re.IGNORECASE,
)
"""Words of sentences that say what failed, or what a call has to be like."""

_HINT = re.compile(
    r"^\W*(?:(?:please|you (?:may|might|can) want to|first|then|to [\w, -]{3,60}?[,:]) )?(?:use|try|see|run|call|set|pass|provide|retry"
    r"|check|choose|specify|did|valid|available|allowed|supported|usage|perhaps|maybe|hint|note that|help|found|line|integrate|commit|fix"
    r"|request|read|reopen|wait|log in)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says how the call would be accepted."""

_STANDING = re.compile(
    r"\b(?:from (?:now|today|here) on|from today|from this (?:release|version|day)|in future|hence(?:forth|forward)|going forward"
    r"|next time|the next time|(?:each|every) time|for (?:all|every|any) \w+|as of (?:now|today)|for good|best practice"
    r"|needs? (?:no|not)|no need|(?:not|no longer|never) (?:needed|necessary|required)"
    r"|remember|bear in mind|keep in mind|memori[sz]e|(?:team|company|house) (?:convention|rule|practice)|policy (?:update|change)"
    r"|agents|assistants?|chat ?bots?|language models?|ai|colleagues|yourself|nobody"
    r"|(?:is|are) never (?!used|read|awaited|called|reached|constructed)|(?:may|can) be \w+ (?:through|away|freely)"
    r"|(?:tell|inform|ask|give|show|answer|offer|charge|promise|assure|remind|greet|thank)s? (?:the |every |each |any |all |your )?"
    r"(?:users?|customers?|callers?|clients?|passengers?|patients?|guests?|buyers?|shoppers?|people)"
    r"|when(?:ever)? (?:you|some(?:one|body)|any(?:one|body))\b|whenever|to-?do"
    r"|if (?:a|any|the) (?:user|customer|caller|client|patient)|my \w+|our (?:new|bank|own))\b",
    re.IGNORECASE,
)
"""What speaks to agents, of persons, or for all times to come. No fact about one call does."""

_ADDRESS = re.compile(r"(?:https?|hxxps?|ftp)://|www\.|\w@\w|\[redacted:(?:email|url-password|bank-account|phone)\]", re.IGNORECASE)
_REPEATED_ADDRESS = re.compile(r"[`'\"][^`'\"\s]{1,80}[`'\"]")
_HONEST_FORCE = frozenset(("insta", "fetch", "execu", "visit", "downl", "allow"))
"""Of the stems of `FORCE` those that a hint on how to be accepted uses too: "please install pandas first"."""


def is_directive(error: str) -> bool:
    """Whether an error says more than what was wrong with a call.

    It does if it is very long, uses a word that facts about a call have no use for, tells to leave out a check, names an
    address together with something to do there, breaks a rule of admission, or has a sentence that is talk.
    """
    if len(error) > LONGEST_ERROR:
        return True
    stems = list(word_stems(error))
    # A part of a compound is no verb: "fast-forward".
    if stems_of(ERROR_ORDERS, _COMPOUND.sub(" ", error)):
        return True
    left_out = any(stem in LEAVE_OUT and not CHECKS.isdisjoint(stems[place + 1 : place + 5]) for place, stem in enumerate(stems))
    waived = bool({"witho", "unnec"} & set(stems)) and negates_check(stems)
    if left_out or waived:
        return True
    # An address between quotation marks is a value of the call.
    if _ADDRESS.search(_REPEATED_ADDRESS.sub("", error)) is not None and stems_of(DEEDS_AT_ADDRESS, error):
        return True
    said = statements_of(error)
    most = TALK_WORDS + 2 * (_FAILS.search(_NAME.sub(" ", said[0])) is not None) if said else TALK_WORDS
    if find_attack(error) is not None or any(_is_talk(sentence, most) for sentence in said):
        return True
    whole = _NAME.sub(" ", " ".join(said))
    failed = _FAILS.search(whole) is not None or any(_HINT.match(sentence) for sentence in said)
    return not failed and len(_LETTERS.findall(whole)) >= TALK_WORDS


def statements_of(error: str) -> tuple[str, ...]:
    """The sentences of an error, without lines of code and of a stack, and without a leading "Error:"."""
    lines = [line for line in error.splitlines() if _CODE_LINE.match(line) is None]
    return tuple(bare for part in _ENDS.split("\n".join(lines)) if (bare := _PREFIX.sub("", part).strip()))


def told_by(error: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The clauses of an error that say what failed or how a call is accepted, and those that add something of four words or more."""
    facts: list[str] = []
    rest: list[str] = []
    for sentence in statements_of(error):
        for clause in _CLAUSES.split(sentence):
            plain = _NAME.sub(" ", clause)
            adds = len(_LETTERS.findall(plain)) >= _SHORTEST and _FAILS.search(plain) is None and _HINT.match(plain) is None
            (rest if adds else facts).append(clause)
    return tuple(facts), tuple(rest)


def _is_talk(sentence: str, most: int) -> bool:
    """Whether a sentence neither says what failed nor how the call would be accepted, or speaks beyond the call.

    Args:
        sentence: one of an error.
        most: so many words may tell something else, if none of them moves anything.
    """
    plain = _NAME.sub(" ", sentence)
    words = _LETTERS.findall(plain)
    if len(words) < _SHORTEST:
        return False
    if _STANDING.search(plain) is not None:
        return True
    if _FAILS.search(plain) is not None:
        # "Disk full, so the history may be rewritten": what failed, and what to do about it.
        return any(_FAILS.search(clause) is None and _is_talk(clause, most) for clause in _CLAUSES.split(plain))
    stems = frozenset(word_stems(plain))
    forceful = (stems_of(FORCE, _COMPOUND.sub(" ", plain)) - _HONEST_FORCE) | (stems & LEAVE_OUT)
    if _HINT.match(plain) is not None:
        return bool(forceful)
    return bool(forceful) or len(words) >= most or not plain.isascii()
