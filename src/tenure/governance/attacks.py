"""Finds instructions that are aimed at the agent, in a text that is to become a lesson.

A rule finds a verb with its object; then the clause is read. "Never disable the foreign-key check" and "users who
ask to skip verification" speak of the act, "skip the verification" orders it. Texts are folded first (letters of
other scripts that look Latin, full-width forms, spaced letters), and what they hold in base64, hexadecimal, rot13
or backwards is read as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from tenure.governance.authority_patterns import IGNORE_RULES, POWER_RULES
from tenure.governance.check_patterns import CHECK_RULES
from tenure.governance.deed_patterns import DECEIT_RULES, FETCH_RULES, RECIPIENT_RULES
from tenure.governance.foreign_patterns import foreign_patterns
from tenure.governance.hidden_text import decoded_texts, encoded_blob
from tenure.governance.pattern_notation import REASONS, Rule, compiled


class Finding(NamedTuple):
    """A rule that a text breaks, and how, in one sentence."""

    rule: str
    reason: str


RULES: tuple[Rule, ...] = (*IGNORE_RULES, *POWER_RULES, *CHECK_RULES, *FETCH_RULES, *RECIPIENT_RULES, *DECEIT_RULES)
_STEMS = frozenset().union(*(each for rule in RULES for each in rule.stems))
_IGNORE_STEMS = frozenset().union(*(each for rule in IGNORE_RULES for each in rule.stems))


def find_attack(text: str, *, depth: int = 1) -> Finding | None:
    """The first rule that a text breaks; none if it breaks none.

    Args:
        text: a lesson's text; time grows with its length, so callers bound it.
        depth: how many layers of encoding to look into.
    """
    folded = fold(text)
    found = _in_plain_text(folded)
    if found is not None:
        return found
    spread = _SPREAD.sub(lambda letters: re.sub(r"[^A-Za-z]", "", letters.group()), folded)
    for other in {spread, spread.translate(_LEET)} - {folded}:
        found = _told_to_ignore(other)
        if found is not None:
            return found
    blob = encoded_blob(text)
    if blob:
        return Finding("encoded-text", f"it holds encoded text ({blob})")
    if depth:
        for manner, inner in decoded_texts(text):
            hidden = _told_to_ignore(fold(inner)) if manner in ("rot13", "reversed writing") else find_attack(inner, depth=depth - 1)
            if hidden is not None:
                return Finding("encoded-text", f"it hides in {manner} what {hidden.reason.removeprefix('it ')}")
    return None


_SPREAD = re.compile(r"\b(?:[A-Za-z][ ._*\u00b7-]){3,}[A-Za-z]\b")
_LEET = str.maketrans("01345@$", "oieasas")
_LATIN_LOOKALIKES = str.maketrans(
    dict(
        zip(
            "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u0261\u03bf\u03b1\u03b5\u03b9\u03bd\u03c1\u03c4"
            "\u03c5\u043a\u043c\u0442\u043d\u0432",
            "aeopcyxijsdqgoaeivptukmthb",
            strict=True,
        )
    )
)
_WORD_WITH_LATIN = re.compile(r"\b(?=[^\Wa-z]*[a-z])\w++")
_NOT_SEEN = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_BLANKS = re.compile(r"[^\S\n]+")


def fold(text: str) -> str:
    """A text as rules read it: small letters in their plain form, without hidden characters and marks.

    Letters of other scripts that look Latin are Latin in words that hold Latin ones.
    """
    if text.isascii():
        return _BLANKS.sub(" ", text.lower())
    plain = _NOT_SEEN.sub("", text)
    plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if unicodedata.category(c) != "Mn")
    plain = unicodedata.normalize("NFC", plain).lower().replace("\u2019", "'").replace("\u2018", "'")
    return _BLANKS.sub(
        " ", _WORD_WITH_LATIN.sub(lambda word: word.group() if word.group().isascii() else word.group().translate(_LATIN_LOOKALIKES), plain)
    )


def _in_plain_text(text: str) -> Finding | None:
    return _first(RULES, {stem for stem in _STEMS if stem in text}, text) or _in_other_languages(text)


def _told_to_ignore(text: str) -> Finding | None:
    """The same for a way of reading in which ordinary text makes no sense: only the clearest rules are tried."""
    if not any(verb in text for verb in ("ignore", "disregard", "forget", "overrid", "bypass", "obey", "system")):
        return None
    return _first(IGNORE_RULES, {stem for stem in _IGNORE_STEMS if stem in text}, text)


def _first(rules: Iterable[Rule], present: set[str], text: str) -> Finding | None:
    for rule in rules:
        if any(present.isdisjoint(each) for each in rule.stems):
            continue
        for found in compiled(rule.pattern).finditer(text):
            if not _inside_word(text, found.start()) and _is_meant(text, found, rule):
                return Finding(rule.rule, f"it {REASONS[rule.rule]}: '{_shown(found)}'")
    return None


def _in_other_languages(text: str) -> Finding | None:
    patterns, stems = foreign_patterns(ascii_only=text.isascii())
    present = {stem for stem in stems if stem in text}
    for foreign in patterns:
        if present.isdisjoint(foreign.stems):
            continue
        for found in re.finditer(foreign.pattern, text):
            around = text[max(0, found.start() - 24) : found.end() + 12]
            if not foreign.negation and _WITHOUT.search(found.group()) and _demands(text, found, foreign.denial):
                continue
            if not foreign.negation or re.search(foreign.negation, around) is None:
                return Finding(foreign.rule, f"it {REASONS[foreign.rule]}: '{_shown(found)}'")
    return None


_WITHOUT = re.compile(
    r"\b(?:sin|sem|sans|senza|ohne|zonder|bez|\u0431\u0435\u0437|tanpa)\b|\u062f\u0648\u0646|\u092c\u093f\u0928\u093e|\u092c\u0917\u0948\u0930|\u672a\u7ecf|\u672a\u7d93|\u306a\u3057\u306b|\u306a\u3057\u3067|\u305a\u306b"
    r"|\uc5c6\uc774|m[ae]d[ae]n\b"
)
_CLAUSE_MARKS = re.compile(r"[.,;:!?\n\u3002\uff0c\u3001\uff1b\u060c\u0964]")


def _demands(text: str, found: re.Match[str], denial: str) -> bool:
    """Whether a clause denies what its "without" leaves out: "niet zonder goedkeuring betalen" demands the approval."""
    before = _CLAUSE_MARKS.split(text[max(0, found.start() - 60) : found.start()])[-1]
    after = _CLAUSE_MARKS.split(text[found.end() : found.end() + 40])[0]
    return re.search(denial, before) is not None or re.search(denial + "|\u306a\u3044", after) is not None


def _inside_word(text: str, place: int) -> bool:
    return place > 0 and (text[place - 1].isalnum() or text[place - 1] == "_") and (text[place].isalnum() or text[place] == "_")


def _shown(found: re.Match[str]) -> str:
    words = " ".join(found.group().strip(" \n.,;:!?\"'(").split())
    return words if len(words) <= 80 else words[:79] + "\u2026"


_LEADS = (
    r"(?:^|[\n.;:!?,>(\[{|\"'\u201c*]\s*|\s[\u2013\u2014-] |^[-*] |\b(?:always|please|just|simply|then|first|also|and|or|now|immediately"
    r"|automatically|silently|quietly|safely|directly|instead|must|should|shall|do|kindly|you can|you may|you could|you will|you should"
    r"|we can|you|we|agents?|assistants?|(?:need|have|ok|okay|fine|safe|sure|remember|best|better|free|allowed|permitted|authori[sz]ed"
    r"|able|want|going|recommended|required|instructed|necessary|important|possible|acceptable|supposed|expected|is|was) to|by|recommend"
    r"|suggest|consider|start|keep|prefer|hereby) )\Z"
)
"""What stands before a verb that gives an order, and not before one that a sentence is about."""

_NEGATED = (
    r"\b(?:never|not|n't|cannot|can't|avoid(?:s|ed|ing)?|refus(?:e|es|ed|ing)|reject(?:s|ed|ing)?|declin(?:e|es|ed|ing)|prevent(?:s|ed"
    r"|ing)?|instead of|rather than|nobody|no one|none|nor|neither|forbid(?:s|den)?|prohibit(?:s|ed)?|disallow(?:s|ed)?|unable to|fail(?:s"
    r"|ed)? to|block(?:s|ed)?|beware of|stop|resist|against|(?:wrong|unsafe|illegal|dangerous) to|no reason to"
    r"|without)\b(?P<rest>[^.;:!?]*)\Z"
)
_TURNED_BACK = r"\b(?:and|then|but|just|instead|always|simply) (?:\w+ ){0,2}\Z|,\s*(?:and |then |but |just |please )*\Z"
_REPORTED = (
    r"\b(?:asks?|asked|asking|tells?|told|telling|says?|said|saying|attempts?|attempted|tries|tried|trying|claims?|claimed|requests?"
    r"|requested|wants?|wanted|demands?|instructs?|instructed|urges?|offers?|proposes?) (?:the |an? |you |us |them |it |me |to |agents? "
    r"|assistant |such as |like |[\"'\u201c:]\s*){0,5}\Z|\b(?:attackers?|attack|injection|phishing|malicious|suspicious|someone|who|that"
    r"|which|whether|how|why|because|if|when|whenever|unless|since|while|once|after|before|until|where|users? (?:can|could|may|might)"
    r"|scripts?|tests?|requests|calls|clients?|errors?|flag|option|parameter|argument|named|called|phrase|words?) (?:the |an? |you |we "
    r"|agents? |the agent |[\"'\u201c:]\s*){0,3}\Z"
)
_DENOUNCED = (
    r"\s*(?:\w+ ){0,3}?(?:is|are|was|were|will be|gets?|got) (?:\w+ )?(?:rejected|refused|forbidden|prohibited|not allowed|not permitted"
    r"|denied|blocked|an? (?:error|attack|red flag|violation|warning sign)|unsafe|dangerous|suspicious|malicious|fraud\w*|wrong|harmful)\b"
)
_REFUSED = (
    r"\b(?:refuse|decline|reject|do not comply|don't comply|never comply|treat (?:it|this|that|them|such \w+) as (?:an? )?(?:attack"
    r"|injection|untrusted|data|suspicious)|report (?:it|this|that)|escalate|ignore (?:it|this|that|them|such)|it is an? (?:attack"
    r"|injection)|stop and)\b"
)
_COMPLIES = r"\b(?:comply|obey|do so|do it|do that|agree|go ahead|proceed|accept|follow (?:it|that|them)|carry (?:it|that) out)\b"
_CONDITION = r"\b(?:if|when|whenever|any|requests?|messages?)\b"
_IDIOMS = (
    r"\b(?:(?:do not|don't|never) (?:hesitate|forget|fail|be afraid|neglect|omit) to|(?:do not|don't) worry(?: about (?:it|this))?"
    r"|never ?mind|not only|no problem|why not|it is not (?:wrong|a problem) to|nothing stops you from|no harm in)\b"
)
_SUBJECT = (
    r"\s*(?:\w+ ){0,4}?(?:is|are|was|makes?|causes?|leads?|returns?|fails?|breaks?|results?|raises?|hides?|can|will|may|would|gives?"
    r"|does)\b"
)
_GERUND = r"\w*ing\b"
_SWITCH = r"--\w|[\w.]+\s*=\s*\S"
_WARNED_OF = (
    r"[`'\"]?\s+(?:flag |option |only |also |just )?(?:hides?|masks?|skips?|disables?|bypass(?:es)?|exposes?|weakens?|breaks?|leaves?"
    r"|invites?|turns? off|switches off|means|is (?:\w+ )?(?:insecure|unsafe|dangerous|risky|forbidden|wrong|bad|a|an|no|never|not|only)\b)"
)
_COMMENDED = (
    r"\b(?:faster|quick\w*|fine|safe|default|standard|solves?|fixes|helps?|recommended|normal|best|saves?|avoids?|harmless|needs?|needed"
    r"|should|use it|add it|set it|pass it)\b"
)
_CLAUSE_END = re.compile(r"[.;!?](?:\s|\Z)|\n")


def _is_meant(text: str, found: re.Match[str], rule: Rule) -> bool:
    """Whether a clause orders what it names, rather than forbidding, reporting or describing it."""
    start, end = found.span()
    while start < end and text[start] in " \n.;:!?,>([{|\"'*\u201c-":
        start += 1
    before = compiled(_IDIOMS).sub("", text[max(0, start - 160) : start])
    before = before[max(before.rfind(c) for c in "\n.;!?") + 1 :].lstrip()
    closing = _CLAUSE_END.search(text, end)
    after = text[end : closing.start() if closing else len(text)][:200]
    clause = before + text[start:end] + after
    if rule.unless and compiled(rule.unless).search(clause):
        return False
    if not rule.negatable:
        return True
    negated = compiled(_NEGATED).search(before)
    if negated is not None and compiled(_TURNED_BACK).search(negated["rest"]) is None:
        return False
    reported = compiled(_REPORTED).search(before) is not None
    if compiled(_DENOUNCED).match(after) or (compiled(_REFUSED).search(clause) and (reported or compiled(_CONDITION).search(before))):
        return False
    if reported or (rule.order and compiled(_LEADS).search(before) is None):
        return reported and compiled(_COMPLIES).search(after) is not None and compiled(_REFUSED).search(after) is None
    if compiled(_SWITCH).match(found.group()) and compiled(_WARNED_OF).match(after) and not compiled(_COMMENDED).search(after):
        return False
    described = not before and compiled(_GERUND).match(text, start) and compiled(_SUBJECT).match(after)
    return not described
