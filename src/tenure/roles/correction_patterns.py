"""How people say that something is to be done otherwise, in seven languages.

`LEAD` may stand before an order at the start of a sentence: "No, please don't …". Patterns are kept
narrow: what is missed can be said again, what is wrongly learned misleads every run to come.
"""

from __future__ import annotations

import re

LEAD = (
    r"^(?:(?:no|nope|nah|wait|hey|ok(?:ay)?|please|also|and|but|so|again|well|right|hmm|actually|instead|look|listen|sorry|i said"
    r"|nein|bitte|halt|nochmal|non|s'il (?:te|vous) pla[iî]t|attends|por favor|oye|espera|请|請|不|いや|いいえ|아니|아니요)"
    r"(?![\w'])[\s,.!:;—–，、-]*)*"
)

# "don't worry", "I never had": turns of phrase, not orders. "Don't cancel it": a customer's wish for one case, not a way of working.
_NO_ORDER = (
    r"(?!(?:worry|know|think|have|need|want|wish|see|mind|understand|care|hesitate|remember|recall|believe|feel|like|get|bother|be|blame"
    r"|let|you|we|they|i|even|really|cancel|exchange|refund|book|charge|upgrade|ship|proceed|return (?:it|them|the|this|that|any))\b)"
)
_NO_HABIT = (
    r"(?!(?:mind|had|have|has|got|received|been|did|was|were|heard|used|flown|booked|told|asked|said|happened|gave|made|thought|seen|a|the"
    r"|again|enough|before)\b)"
)


def _pattern(*, anywhere: tuple[str, ...] = (), at_start: tuple[str, ...] = ()) -> re.Pattern[str]:
    return re.compile("|".join((*(f"{LEAD}(?:{order})" for order in at_start), *anywhere)), re.IGNORECASE)


STANDING = _pattern(
    at_start=(
        # English
        rf"(?:(?:you|we) (?:should|must|need to|have to|are to) )?(?:always|never) {_NO_HABIT}[a-z]+",
        # German
        r"(?:\w+(?:e|st|en sie)? )?(?:immer|niemals|nie) (?!mehr\b|wieder\b)\w+",
        # French
        r"(?:ne |n')?\w+(?:ez|e|s)? (?:toujours|jamais)\b",
        # Spanish
        r"(?:siempre|nunca|jamás) (?!he\b|me\b|había\b|ha\b)\w+",
    ),
    anywhere=(
        # English
        r"\b(?:from now on|going forward|from here on|for future reference|in this (?:repo(?:sitory)?|project|code ?base))\b",
        r"\b(?:next time|in (?:the )?future|every time|whenever)\b.*\b(?:use|do|don't|run|make|ask|put|write|keep|check|add|call|avoid)\b",
        r"\bi(?:'ve| have)? (?:already |just )?(?:told|asked) you (?:to|not|never|always|that|twice|already|before|about)\b",
        r"\bwe (?:always|never|only) (?:use|do|run|write|put|call|commit|push|name|test|deploy)\b",
        # German
        r"\b(?:ab jetzt|ab sofort|von nun an|künftig|in zukunft|nächstes mal|beim nächsten mal)\b",
        r"\b(?:ich habe? (?:dir|ihnen|es dir|es ihnen)|hab(?:e)? ich (?:dir|ihnen)) (?:doch |schon |bereits )*gesagt\b",
        # French
        r"\b(?:désormais|dorénavant|à partir de maintenant|à l'avenir|la prochaine fois)\b",
        r"\bje (?:t'|te |vous |te l'|vous l')(?:ai|avais) (?:déjà )?dit\b",
        # Spanish
        r"\b(?:a partir de ahora|de ahora en adelante|en (?:el )?futuro|la próxima vez)\b",
        r"\b(?:ya )?(?:te|le|os) (?:lo )?(?:dije|he dicho|había dicho)\b",
        # Chinese
        r"从现在起|從現在起|从今以后|从今往后|今后|以[后後](?:都|请|請|不|要|别|別)|下次|每次都",
        r"一律|务必|務必|永远不要|绝不要",
        r"我(?:已经|已經|刚才|剛才|不是)?(?:说过|說過|告诉过你|告訴過你|跟你说过|跟你說過|讲过)",
        # Japanese
        r"(?:必ず|絶対に|常に|いつも|今後は|これからは|次回(?:から|は)|毎回).*(?:て(?:ください|くれ|ね|$)|ないで|すること|な(?:$|。))",
        r"と言った(?:でしょ|はず|じゃ|のに)|言いました(?:よね|が)|前にも言",
        # Korean
        r"(?:앞으로(?:는)?|다음부터(?:는)?|다음에는|항상|언제나|절대(?:로)?).*"
        r"(?:마(?:세요|$|요)?|하세요|해(?:요|라|$| ?주세요)|써(?:요|$)?|쓰세요|사용)",
        r"(?:라고|다고) (?:했잖|말했|했었)|말했잖",
    ),
)
"""Standing instructions: how things are done from now on, or were said to be done before."""

CORRECTING = _pattern(
    at_start=(
        # English
        rf"(?:do not|don't|dont) (?:ever |just |you dare )?{_NO_ORDER}[a-z]+",
        r"stop (?:it\b|that\b|(?!being\b)[a-z]+ing\b)",
        r"(?:use|run|call|write|put|do|import|install|name|take) .{1,60}(?:\bnot\b|\binstead of\b|\brather than\b|\binstead\b)",
        r"(?:it'?s |it is |that'?s )?not .{1,40}\bbut\b(?! (?:i|it|we|you|they|he|she|that|this|there)\b)",
        # German
        r"(?:nimm|nutze?|verwende?|benutze?|mach|schreibe?|(?:nehmen|verwenden|benutzen) sie) .{1,60}"
        r"\b(?:an?statt|statt|nicht|stattdessen)\b",
        r"(?:lösch|änder|mach|schreib|commit|push|verwend|benutz|nutz|nimm|install)\w* (?:das |die |den |es |hier |sie )*"
        r"(?:nicht|kein\w*)\b",
        r"nicht .{1,40}\bsondern\b",
        # French
        r"(?:ne |n')\w+ (?:\w+ )?(?:pas|plus)\b(?! besoin)",
        r"(?:utilise[zr]?|prends|prenez|mets|mettez|fais|faites) .{1,60}(?:au lieu d|plutôt qu|et pas|, pas\b|et non)",
        # Spanish
        r"no (?:uses?|utilices?|hagas?|pongas?|borres?|ejecutes?|escribas?|instales?|toques?|cambies?|agregues?|vuelvas?)\b",
        r"(?:usa|utiliza|use|utilice|haz|pon|ejecuta) .{1,60}(?:en (?:vez|lugar) de|y no\b|, no\b)",
        r"no .{1,40}\bsino\b",
    ),
    anywhere=(
        # English
        r"^(?:no|nope)[\s,.!:;—–-]+(?:please )?"
        r"(?:use|do|run|put|write|make|keep|call|name|add|remove|try|it should|it must|you should|we use)\b",
        r"\b(?:that|this|it)(?:'s| is|s) (?:wrong|not right|incorrect|not correct|not what i (?:asked|meant|said|wanted))\b",
        r"\byou (?:should(?:n't| not)? have|shouldn't|should not|must not|mustn't|were supposed to|forgot to)\b",
        # German
        r"^nein[\s,.!:;—–-]+(?:bitte )?(?:nimm|nutze?|verwende?|benutze?|mach|schreib|nehmen|verwenden|benutzen|nutzen)",
        r"\b(?:das|dies) (?:ist|war) (?:so )?(?:falsch|nicht richtig|nicht das)|\bhör(?:en sie)? auf\b",
        # French
        r"^non[\s,.!:;—–-]+(?:utilise|prends|mets|fais|écris|emploie|lance)",
        r"\bc'est (?:faux|incorrect|pas (?:ça|correct|ce que))|\bce n'est pas (?:ça|correct|ce que)|\barr[êe]tez? de\b",
        # Spanish
        r"^no[\s,.!:;—–-]+(?:usa|utiliza|haz|pon|escribe|ejecuta|use|utilice)\b",
        r"\b(?:eso|esto) (?:está mal|es incorrecto|no es (?:correcto|lo que))|\bdej[ae] de \w+(?:ar|er|ir)\b",
        # Chinese
        r"(?:^|[，,、：:\s])(?:请|請)?(?:不要|别|別|请勿|請勿|禁止|停止)(?!的|人|处|處|墅|是)",
        r"^(?:这|這|那)?(?:不对|不對|错了|錯了|不是这样|不是這樣)",
        r"不是.{1,30}(?:而是|，是|，要)",
        r"(?:改用|换成|換成|应该用|應該用|请用|請用|要用|使用|用).{1,30}(?:而不是|不要用|不是|别用|別用|不要)",
        # Japanese
        r"(?:し|使わ|やら|書か|消さ|変え)ないで|やめて|ではなく|じゃなくて|じゃなく|でなく",
        r"(?:それは|これは)?(?:違います|違う|間違って|間違いです)",
        # Korean
        r"(?:하지|쓰지|사용하지|지우지|바꾸지|건드리지) ?마|그만|(?:말고|아니라) |틀렸|잘못(?:됐|되|했)",
    ),
)
"""Corrections of what was just done."""

OWN_WISH = re.compile(
    r"(?<![\w'])(?:my|mine|our|i'd|i'm|i am|i want|i need|i prefer|i would|i will|i'll|i have|i was|i can|i don't|could you|can you"
    r"|would you|me to|mein\w*|ich (?:möchte|will|brauche|habe (?!(?:es )?(?:dir|ihnen)))|mon|mes|je (?:veux|voudrais|préfère)|mi|mis"
    r"|quiero|quisiera|prefiero)(?![\w'])"
    r"|我(?:想|要|的|需要|不要|不想)|私の|したいです|제 |저는",
    re.IGNORECASE,
)
"""The speaker's own wishes and things, of which no rule follows."""

NEGATIVE = re.compile(
    r"\b(?:don't|dont|do not|never|stop|must ?n[o']t|should ?n[o']t|nicht|nie|niemals|kein\w*|hör|jamais|arr[êe]te[zr]?|nunca|deja de)\b"
    r"|\b(?:ne|n')\b.*\bpas\b|^no (?:uses?|utilices?|hagas?|pongas?|borres?|ejecutes?|toques?)\b"
    r"|不要|别|別|勿|禁止|绝不|ないで|やめて|지 ?마|절대",
    re.IGNORECASE,
)
"""Orders not to do something."""
