"""Words that likeness of statements knows: courtesies, exact synonyms, units, negations, opposites."""

from __future__ import annotations

from collections.abc import Mapping

DROPPED = frozenset(("the", "please", "simply", "carefully", "then", "really", "kindly", "bitte"))
"""Words without which an instruction says the same."""

STRESSED = frozenset(("simply", "carefully", "really", "always"))
"""Of these, what says something after a negation or within a condition: "do not simply retry", "if it always fails"."""

CJK_DROPPED = ("请务必", "请一定要", "请", "務必", "务必", "必须", "一定要")
"""Courtesies and "be sure to" at the start of a Chinese sentence."""

CJK_BEGIN_A_WORD = (*"求教示假客问愿帖柬安罪购款战命缨辞领托神援功降赏奖批", "调单", "调令", "调报", "调函", "修单", "休")
"""Before these, `请` is no courtesy: `请教` (ask for advice), `请假` (ask for leave), `请购单` (purchase requisition)."""

FUNCTION_WORDS = frozenset(
    """a an and are as at be been being but by do does for from had has have he her his i if in into is it its of on or our
    she so than that the their them then there these they this those to up us was we were what which who with you your""".split()
)

LETTER_NOUNS = frozenset(
    """column columns option row variable letter key grade group plan section set step point case class field flag type part item list
    table file sheet cell level phase team node line route appendix annex vitamin vector matrix""".split()
)
"""Nouns after which `a` is a name."""

GERUND_AFTER = frozenset("before after when while whenever if §not".split())
"""Words after which a verb and its gerund say the same: "before you call", "before calling"; "avoid calling", "do not call"."""

CONDITIONS = frozenset("if when whenever while unless before after until once whether during".split())
"""Words that open a condition, which may stand at either end of a sentence."""

MAY_HOLD_IT = frozenset("to that who which whose what how why and or but than as not so such".split())
"""Words behind which a condition at the end of a sentence may belong to something else than at its start:
"tell the user to pay before shipping", "before shipping, tell the user to pay"."""

CLAUSE_OPENERS = frozenset(("if", "when", "unless"))
"""Of the words that open a condition, those behind which a whole clause stands, which belongs to a verb. "Before the strike" may
belong to a noun: "refund tickets before the strike"."""

ASKING = frozenset(
    """ask tell say know see check verify test confirm show report note log record find determine decide learn state inform explain
    specify mention look document print remember predict guess estimate query let remind warn notify notice write list read recall
    doubt wonder care mind matter track monitor watch understand describe indicate flag mark discover ascertain""".split()
)
"""Verbs whose object may be a question: "ask the user if it is paid" is not "if it is paid, ask the user"."""

WISHING = frozenset(
    """ask request require demand need want expect insist promise plan schedule offer suggest recommend advise propose order permit allow
    forbid prohibit ban prevent book reserve deny approve announce claim assume regret prefer like mean see report agree""".split()
)
"""Verbs whose object may be a deed with its time: "require payment before shipping"."""

TIMES = frozenset(
    "time times date dates day days moment moments hour hours minute minutes second week weeks month months year years case cases".split()
)
"""Nouns behind which `when` may say which: "log the time when the call fails"."""

PRONOUNS = frozenset("it them him her me us".split())

PARTICIPLES = frozenset(
    """arisen awoken beaten become begun bent bet bid bitten blown borne bought bound bred broken brought built burnt burst cast caught
    chosen come cost crept cut dealt done drawn dreamt driven drunk dug eaten fallen fed felt fled flown forbidden forgiven forgot
    forgotten
    fought found frozen given gone got gotten grown heard held hidden hit hung hurt kept known laid lain lapsed lead leapt learnt led
    left lent let lit lost made meant met misled mistaken outdone overdone paid proven put quit read redone resent reset rewritten rid
    ridden rung risen run said sat seen sent set sewn shaken shed shewn shone shot shown shrunk shut slept slid sold sought sown
    spelt spent spilt split spoken spread sprung spun stolen stood stuck stung struck strung sung sunk sworn swept swollen swum swung
    taken taught thought thrown told torn understood undone upset withdrawn withheld woken won worn wound woven written rebuilt resold
    unpaid unsold unsent undone unread unseen prepaid overpaid underpaid forgone foreseen overseen shipped rerun
    valid available free open due active pending possible present visible new current eligible void early late absent needed ready
    alive here there now today online offline away abroad overnight outstanding""".split()
)
"""Words that may stand behind the noun they belong to, and what follows with them: "tickets bought before the strike"."""

LIST_OPENERS = frozenset(("including", "both", "either", "e.g."))

NEGATIONS = frozenset(
    """§not no never avoid without neither nor none except unless nothing nobody cannot refuse skip omit ignore forbid
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

TICKED = frozenset("box boxes checkbox checkboxes tickbox tickboxes option options toggle radio tile square item items".split())
"""What can be ticked: to check it is not to verify it."""

SHORT_UNITS = frozenset("min second s m h d g b y mo mi foot lb m".split())
"""Forms of units that can be something else before a noun: "3 min values"."""

ARTICLE_TELLS = frozenset(
    """few little lot bit couple number second third fourth fifth sixth half quarter only most more less least same other others best worst
    one ones next previous past last first many some any all each every several both either neither majority minority former
    latter single very""".split()
)
"""Words that say something else with an article than without: "a few", "the second", "the most"."""

THEN_IS_A_TIME = frozenset("since until till by from before after only even just back the than of".split())
"""Words after which `then` is a time: "since then it fails"."""

VERB_AFTER = frozenset("to and or then §not before after when while if".split())
"""Words after which a verb can stand; after the first of a pair, `axios or fetch`, only if it takes an object."""

FINITE = frozenset("is are was were has have had do does did can could must should will would may might".split())
"""Verbs that make a clause of the words before them."""

DETERMINERS = frozenset("the a an all every each its their your this that these those".split())

SHORT_NAMES = frozenset("dir env doc docs info app spec func config".split())
"""Short forms that are also names of tools and folders: `use dir`, `the docs folder`."""

NAMING = frozenset(
    """name names named rename renamed call called calls titled entitled title label labelled labeled tag tagged answer say said type
    typed write enter print return reply respond spell spelled alias key value string text literal word term keyword""".split()
)
"""Words shortly behind which a word may stand for itself: "name the column repo"."""

SYNONYMS: Mapping[str, str] = {
    form: word
    for word, forms in {
        "documentation": "docs",
        "max": "maximum",
        "min": "minimum",
        "when": "whenever",
        "every": "each",
        "largest": "biggest greatest",
        "larger": "bigger greater",
        "directory": "folder dir",
        "directories": "folders dirs",
        "repository": "repo",
        "repositories": "repos",
        "configuration": "config",
        "parameter": "param",
        "parameters": "params",
        "argument": "arg",
        "arguments": "args",
        "information": "info",
        "specification": "spec",
        "specifications": "specs",
        "application": "app",
        "applications": "apps",
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
    "por favor": "",
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
