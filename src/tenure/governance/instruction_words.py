"""Words by which a sentence is judged that may come from a stranger: what instructs beyond the ordinary, what any advice on tools says.

Words are compared by their first five letters (`word_stem`), so that `verify` and `verification` are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+(?:['\u2019][a-z]+)?")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STEM = 5
_ORDINARY = 40


_IRREGULAR = dict(
    pair.split(":")
    for pair in (
        "paid:pay sent:send made:make told:tell held:hold gave:give given:give took:take taken:take bought:buy left:leave kept:keep "
        "found:find ran:run wrote:write written:write shown:show chose:choose chosen:choose began:begin begun:begin sold:sell lost:lose "
        "noted:note noting:note used:use using:use spoke:speak spoken:speak "
        "broke:break broken:break went:go gone:go came:come said:say knew:know known:know got:get built:build"
    ).split()
)

_WITH_E = frozenset(("note", "none", "done", "once"))
"""Words that would be others without their last letter."""


def word_stem(word: str) -> str:
    """What words of one family share: without `-ing`, `-ed`, `-s` and a last `e`, the first five letters, in small ones."""
    return _known_stem(word) if len(word) <= _ORDINARY else _stem_of(word)


@lru_cache(maxsize=50_000)
def _known_stem(word: str) -> str:
    """The stem of a word of ordinary length, kept in mind: the logs of a long run say the same words a million times."""
    return _stem_of(word)


def _stem_of(word: str) -> str:
    folded = word.casefold().replace("\u2019", "'").removesuffix("'s")
    if folded.endswith("n't"):
        return "not"
    folded = _IRREGULAR.get(folded, folded)
    for ending in ("ing", "ed", "s"):
        if folded.endswith(ending) and len(folded) - len(ending) >= 3 and not folded.endswith("ss"):
            folded = folded[: -len(ending)]
            if ending != "s" and len(folded) > 3 and folded[-1] == folded[-2] and folded[-1] in "bdgmnprt":
                folded = folded[:-1]
            break
    if len(folded) >= 4 and folded.endswith("e") and folded not in _WITH_E:
        folded = folded[:-1]
    return folded[:_STEM]


def word_stems(text: str) -> Iterator[str]:
    """Stems of the words of a text in their order; names such as `getUser_id` are taken apart."""
    for word in _WORD.findall(_CAMEL.sub(" ", text)):
        yield word_stem(word)


def _stems(words: str) -> frozenset[str]:
    return frozenset(word_stem(word) for word in words.split())


def _roots(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(sorted(words.split()))})")


def stems_of(roots: re.Pattern[str], text: str) -> frozenset[str]:
    """Stems of the words of a text that begin with one of the roots: more exact than stems alone (`follow` is not `following`)."""
    words = (word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text)))
    return frozenset(word_stem(word) for word in words if roots.match(word))


FORCE = _roots(
    r"ignore disregard forget overrid overrule bypass skip omit waiv(?:e|ing) disabl deactivate suppress circumvent relax weaken exempt "
    r"forward send(?:ing|s)?\b email mail(?:s|ed|ing)?\b upload post(?:ing|s|ed)?\b publish shar(?:e|ing)\b export transmit submit "
    r"transfer wir(?:e|ing)\b remit payout deposit redirect rout(?:e|ing)\b "
    r"cc\b bcc\b subscrib recipient beneficiar payee webhook "
    r"approv authori[sz]  grant allow permit whitelist allowlist trust  privileg admin root\b sudo superuser unrestricted "
    r"unlimited refund reimburs discount credit compensat "
    r"reveal disclos expos leak password credential secret "
    r"download install execut curl\b wget fetch visit(?:ing)?\b shell\b eval\b "
    r"obey compl(?:y|ies) follow\b mandat(?:e|ing)\b supersed precedence priorit outrank authoritative "
    r"secretly silently quietly conceal hid(?:e|ing)\b confidential discreet unattended automatically immediately unconditionally "
    r"regardless "
    r"whatever anyone everyone unasked unverified unchecked delet eras(?:e|ing) wip(?:e|ing) purg(?:e|ing) destroy "
    r"recommend promot prais endors mention advertis buy purchas brand\b sponsor"
)
"""What moves money, data, rights or checks, obeys somebody, or promotes something. A lesson needs a trusted text for each."""

NEGATIONS = frozenset("not never no don't dont needn't neednt without cannot can't unnecessary needless stop cease avoid".split())
CHECKS = _stems(
    "verify verification check confirm confirmation approve approval ask consent authenticate validate review identity limit audit log "
    "policy rule inform notify tell warn signature"
)
GUARDS = CHECKS - _stems("ask inform notify tell warn rule") | _stems("test")
"""Checks that lose their use if they come after what they guard."""

ERROR_ORDERS = _roots(
    r"disregard forget obey waiv(?:e|ing) exempt assistant secretly silently quietly conceal unconditionally regardless whatever "
    r"everyone anyone anyway "
    r"forward wir(?:e|ing)\b payout promot whitelist unasked unverified unchecked reimburs"
)
"""Words that no fact about a tool call needs: an error that holds one gives orders."""

LEAVE_OUT = _stems("ignore skip bypass omit disable suppress override drop relax avoid")
"""Verbs that are orders in an error if a check follows."""

DEEDS_AT_ADDRESS = _roots(
    r"run(?:ning)?\b curl\b wget fetch download install execut visit(?:ing)?\b open(?:ing)?\b click send(?:ing|s)?\b "
    r"post(?:ing|s|ed)?\b upload mail(?:s|ed|ing)?\b email past(?:e|ed|ing)\b put(?:ting)?\b hand(?:ed|ing)?\b"
)
"""What an error may tell to do at an address that it names."""

OPERATIONS = _stems(
    "a an the this that these those it its and or but so if when whenever while once until unless then than because since as at by for "
    "from in into of off on onto out over per through to under up with within is are was were be been being has have had do does did "
    "can could may might must shall should will would i you your we our they their he she his her who which what whose where how why "
    "all any each every both either neither other another some such same only also just too very more most less least again still yet "
    "first second last next previous before after later earlier once always usually "
    "call pass use using give take make set get put look find read write list search load keep hold need want require expect return "
    "contain include add change update create start stop finish end begin wait try retry repeat compare match fit differ "
    "tool tools function argument arguments parameter field value values name id number format form string text object array json "
    "type input output result response reply request error message reject rejected accept accepted fail failed failure succeed success "
    "valid invalid missing empty wrong right correct exact exactly existing current actual given known unknown stored listed shown "
    "step task case example record data item entry line row order sequence single one two once "
    "check ensure sure note remember state status detail details not never instead rather without no "
    "user customer caller owner person people somebody someone agent ask tell say said answer about belong mean leave left "
    "there here now new old only different available possible "
    "compute calculate plan consult inspect determine several letter three "
    "prefer like wish please thank happen occur become able way"
)
"""What any advice on calling tools is made of. It supports a statement; it says nothing of what the statement is about."""

NEGATION_STEMS = frozenset(word_stem(word) for word in NEGATIONS)
_AFFIRMERS = _stems("without unless until before")
_NEAR, _AT_ONCE = 8, 3
"""Within so many words a negation meets what makes a demand of it: "never delete without asking"; and "do not skip", which stand closer."""


def _affirms(stem: str, distance: int) -> bool:
    return (stem in _AFFIRMERS and distance <= _NEAR) or (stem in LEAVE_OUT and distance <= _AT_ONCE)


def _negations(stems: Sequence[str]) -> Iterator[int]:
    """Places of the words that deny or leave out, other than those that two of them make a demand of."""
    last: int | None = None
    for place, stem in enumerate(stems):
        turned = last is not None and stems[last] in _AFFIRMERS and stem in NEGATION_STEMS and place - last <= _NEAR
        if last is not None and (turned or _affirms(stem, place - last)):
            last = None  # "never pay without an order", and "without an order it is not paid"
        elif stem in NEGATION_STEMS or stem in LEAVE_OUT:
            if last is not None:
                yield last
            last = place
    if last is not None:
        yield last


def denies(stems: Iterable[str]) -> bool:
    """Whether a sentence denies, forbids or leaves out something. "Never delete without asking" demands, and so denies nothing."""
    return next(_negations(list(stems)), None) is not None


def negates_check(stems: Sequence[str]) -> bool:
    """Whether a check is named soon after a negation or a verb that leaves out, unless two of them make it a demand."""
    return any(not CHECKS.isdisjoint(stems[place + 1 : place + (4 if stems[place] in LEAVE_OUT else 5)]) for place in _negations(stems))
