"""Words that likeness of statements knows: courtesies, exact synonyms, units, negations, opposites."""

from __future__ import annotations

from collections.abc import Mapping

DROPPED = frozenset(("the", "please", "simply", "carefully", "then", "really", "kindly", "bitte"))
"""Words without which an instruction says the same."""

STRESSED = frozenset(("simply", "carefully", "really", "always"))
"""Of these, what says something after a negation or within a condition: "do not simply retry", "if it always fails"."""

CJK_DROPPED = ("请务必", "请一定要", "请", "務必", "务必", "必须", "一定要")
"""Courtesies and "be sure to" at the start of a Chinese sentence."""

CJK_BEGIN_A_WORD = "求教示假客问愿帖柬安罪"
"""After these, `请` is no courtesy: `请教` (ask for advice), `请假` (ask for leave)."""

FUNCTION_WORDS = frozenset(
    """a an and are as at be been being but by do does for from had has have he her his i if in into is it its of on or our
    she so than that the their them then there these they this those to up us was we were what which who with you your""".split()
)

LETTER_NOUNS = frozenset(
    """column columns option row variable letter key grade group plan section set step point case class field flag type part item list
    table file sheet cell level phase team node line route appendix annex vitamin vector matrix""".split()
)
"""Nouns after which `a` is a name."""

GERUND_AFTER = frozenset("before after when while whenever if §not without keep stop start instead".split())
"""Words after which a verb and its gerund say the same: "before you call", "before calling"."""

CONDITIONS = frozenset("if when whenever while unless before after until once whether during".split())
"""Words that open a condition, which may stand at either end of a sentence."""

MAY_HOLD_IT = frozenset("to that who which whose what how why and or but than".split())
"""Words behind which a condition at the end of a sentence may belong to something else than at its start:
"tell the user to pay before shipping", "before shipping, tell the user to pay"."""

LIST_OPENERS = frozenset(("including", "both", "either", "e.g."))

NEGATIONS = frozenset(
    """§not no without neither nor none except unless nothing nobody cannot refuse skip omit ignore forbid
    nicht nichts kein keine keinen keiner nie niemals ohne nunca jamás sin ninguno ninguna sans jamais""".split()
)
COMPARISONS = frozenset("§>= §<= §> §< max min exactly about approximately == != <= >= < > = equal".split())
QUANTIFIERS = frozenset(
    "all any some most more each only both many few several first last may can must should could might optional required".split()
)

UNITS: Mapping[str, str] = {
    form: unit
    for unit, forms in {
        "ms": "ms millisecond milliseconds",
        "s": "s sec secs second seconds",
        "minute": "min mins minute minutes",
        "h": "h hr hrs hour hours",
        "d": "d day days",
        "wk": "week weeks",
        "mo": "month months",
        "y": "year years",
        "%": "% percent",
        "b": "byte bytes",
        "kb": "kb kilobyte kilobytes",
        "mb": "mb megabyte megabytes",
        "gb": "gb gigabyte gigabytes",
        "mm": "mm millimeter millimeters millimetre millimetres",
        "cm": "cm centimeter centimeters centimetre centimetres",
        "m": "m meter meters metre metres",
        "km": "km kilometer kilometers kilometre kilometres",
        "g": "g gram grams",
        "kg": "kg kilogram kilograms kilo kilos",
        "usd": "usd dollar dollars",
        "eur": "eur euro euros",
        "lb": "lb lbs",
        "oz": "oz ounce ounces",
        "inch": "inch inches",
        "ft": "ft foot feet",
        "mi": "mile miles",
        "mph": "mph",
        "gbp": "gbp",
        "cny": "cny yuan",
        "jpy": "jpy yen",
    }.items()
    for form in forms.split()
}
"""Units after a figure, in one form."""

NUMBERS: Mapping[str, str] = {
    word: str(number) for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
}

VERBS: Mapping[str, str] = {
    form: word
    for word, forms in {
        "check": "verify",
        "use": "utilize utilise",
        "get": "retrieve fetch obtain",
        "call": "invoke",
        "start": "begin",
        "show": "display",
        "choose": "select pick",
    }.items()
    for form in forms.split()
}
"""Verbs that can stand for one another where they are one: in the middle of a sentence `select` may be a name."""

VERB_AFTER = frozenset("to and or then §not before after when while if".split())
"""Words after which a verb can stand; after the first of a pair, `axios or fetch`, only if it takes an object."""

DETERMINERS = frozenset("the a an all every each its their your this that these those".split())

SHORT_NAMES = frozenset("dir env doc docs info app spec func config".split())
"""Short forms that are also names of tools and folders: `use dir`, `the docs folder`."""

SYNONYMS: Mapping[str, str] = {
    form: word
    for word, forms in {
        "documentation": "docs doc",
        "max": "maximum",
        "min": "minimum",
        "when": "whenever",
        "every": "each",
        "largest": "biggest greatest",
        "larger": "bigger greater",
        "directory": "folder dir folders directories",
        "repository": "repo repositories repos",
        "configuration": "config",
        "parameter": "param params",
        "argument": "arg args",
        "information": "info",
        "specification": "spec specs",
        "application": "app apps",
        "§not": "never not avoid",
        "e.g.": "e.g eg",
        "function": "func",
        "environment": "env",
    }.items()
    for form in forms.split()
}
"""Words that can stand for one another in any instruction."""

_PHRASES: Mapping[str, str] = {
    "make sure to": "",
    "make sure you": "",
    "make sure that you": "",
    "be sure to": "",
    "remember to": "",
    "take care to": "",
    "do not forget to": "",
    "never forget to": "",
    "it is important to": "",
    "it's important to": "",
    "it is very important to": "",
    "it is necessary to": "",
    "you need to": "",
    "you have to": "",
    "you must": "",
    "you should": "",
    "ensure you": "",
    "ensure that you": "",
    "ensure that": "ensure",
    "check that": "check",
    "verify that": "check",
    "make sure that": "ensure",
    "make sure": "ensure",
    "do not": "§not",
    "does not": "§not",
    "must never": "§not",
    "must not": "§not",
    "should never": "§not",
    "should not": "§not",
    "you must not": "§not",
    "you should not": "§not",
    "you should never": "§not",
    "you must never": "§not",
    "in order to": "to",
    "so as to": "to",
    "prior to": "before",
    "subsequent to": "after",
    "in the event that": "if",
    "at least": "§>=",
    "no less than": "§>=",
    "no fewer than": "§>=",
    "at most": "§<=",
    "no more than": "§<=",
    "not more than": "§<=",
    "more than": "§>",
    "greater than": "§>",
    "larger than": "§>",
    "less than": "§<",
    "fewer than": "§<",
    "smaller than": "§<",
    "for example": "e.g.",
    "for instance": "e.g.",
    "as well as": "and",
    "try again": "retry",
    "per cent": "%",
    "before you": "before",
    "after you": "after",
    "when you": "when",
    "whenever you": "when",
    "while you": "while",
    "if you": "if",
    "each time": "every time",
}


def _by_first_word() -> Mapping[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]:
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for phrase, said in _PHRASES.items():
        cut = tuple(phrase.split())
        found.setdefault(cut[0], []).append((cut, tuple(said.split())))
    return {first: tuple(sorted(phrases, key=lambda one: -len(one[0]))) for first, phrases in found.items()}


PHRASES = _by_first_word()
"""Phrases and what they say, by their first word, the longest first."""

_OPPOSITES = """
    smallest/largest smaller/larger lowest/highest lower/higher shortest/longest shorter/longer fewest/most oldest/newest older/newer
    earliest/latest earlier/later least/greatest ascending/descending increasing/decreasing increase/decrease upward/downward
    before/after first/last next/previous start/end begin/finish open/close lock/unlock enable/disable enabled/disabled allow/forbid
    allow/deny accept/reject approve/refuse include/exclude including/excluding add/remove insert/delete create/destroy push/pop
    push/pull upload/download send/receive sender/recipient buyer/seller import/export read/write save/discard show/hide visible/hidden
    public/private internal/external local/remote upper/lowercase uppercase/lowercase top/bottom front/back inside/outside
    true/false pass/fail passed/failed success/failure valid/invalid
    required/optional mandatory/optional sync/async synchronous/asynchronous static/dynamic manual/automatic manually/automatically
    fast/slow quickly/slowly strict/loose gross/net debit/credit inbound/outbound incoming/outgoing input/output
    encrypt/decrypt encode/decode compress/decompress mount/unmount install/uninstall subscribe/unsubscribe known/unknown
    sorted/unsorted safe/unsafe merge/split expand/collapse maximize/minimize max/min raise/lower follow/unfollow
    domestic/international absolute/relative positive/negative full/empty old/new buy/sell
    online/offline forward/backward prefix/suffix parent/child source/target above/below mindestens/höchstens
    aufsteigend/absteigend vor/nach antes/después incluye/excluye ascendente/descendente
"""

_PAIRS = [pair.split("/") for pair in _OPPOSITES.split()]

# A word in several pairs keeps the first.
ANTONYMS: Mapping[str, tuple[str, str]] = {
    word: (f"±{one}/{other}", side) for one, other in reversed(_PAIRS) for word, side in ((one, "one"), (other, "other"))
}
"""Words that have an opposite: the pair they stand in, and which of the two they are."""

CJK_ANTONYMS: Mapping[str, tuple[str, str]] = {
    word: (f"±{one}", side)
    for one, other in (
        ("升序", "降序"),
        ("最大", "最小"),
        ("最早", "最晚"),
        ("最新", "最旧"),
        ("之前", "之后"),
        ("以前", "以后"),
        ("允许", "禁止"),
        ("启用", "禁用"),
        ("打开", "关闭"),
        ("增加", "减少"),
        ("上传", "下载"),
        ("含税", "免税"),
        ("買い", "売り"),
        ("昇順", "降順"),
        ("至少", "至多"),
        ("大于", "小于"),
        ("多于", "少于"),
        ("高于", "低于"),
    )
    for word, side in ((one, "one"), (other, "other"))
}

CJK_NEGATIONS = ("不要", "不得", "不能", "切勿", "请勿", "无需", "不", "勿", "别", "未", "ない", "しない", "않")
