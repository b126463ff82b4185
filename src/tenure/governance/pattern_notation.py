"""The notation of attack patterns: rules of verbs and their objects, word lists, and how both become regular expressions.

Patterns are regular expressions in a short hand: a blank is white space, ` ~3 ` up to three words of any sort,
` ^3 ` up to three words of one phrase (no "before", "that", "unless" between), `{name}` one of the word lists
below. The rules themselves are in `authority_patterns`, `check_patterns` and `deed_patterns`; `attacks` applies them and
decides what a clause with a match means.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

REASONS = {
    "ignore-instructions": "tells the agent to ignore or outrank its instructions",
    "capability": "grants a capability",
    "tool-permission": "changes what tools may do without asking",
    "recipient": "adds a recipient or sends data to an address",
    "disabled-check": "disables a check or a confirmation",
    "fetch-and-run": "fetches something from elsewhere to run or obey it",
    "secrecy": "tells the agent to act behind somebody's back",
    "exfiltration": "asks to give away secrets or the prompt",
}
"""What a text does that breaks a rule, by the name of the rule."""

_WORD = r"[\w'-]+"
_PHRASE_END = (
    r"(?!(?:before|after|until|when|if|unless|that|which|who|whose|with|without|by|failing|because|so|then|and|but|is|are|was|were|in|on"
    r"|from|as|at|per)\b)"
)

_LISTS = {
    # whom instructions come from, and what they are called
    "ignore": (
        r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|overrul(?:e|ing)|bypass(?:ing)?|circumvent(?:ing)?"
        r"|neglect(?:ing)?|discard(?:ing)?|dismiss(?:ing)?|violat(?:e|ing)|supersed(?:e|ing)|set aside|throw away|erase|break|drop"
        r"|pay no attention to|stop (?:following|obeying|applying|respecting)|(?:do not|don't|no longer|never) (?:follow|obey|comply with"
        r"|adhere to|listen to|respect|heed))"
    ),
    "instructions": (
        r"(?:instructions?|rules?|guidelines?|guidance|directives?|commands?|orders?|polic(?:y|ies)|constraints?|restrictions?|safeguards?"
        r"|guard ?rails?|prompts?|(?:system )?messages?|lessons?|playbooks?|programming|training|protocols?)\b"
    ),
    "others": (
        r"(?:all|any|every|previous(?:ly)?|prior|earlier|preceding|above|foregoing|former|initial|original|your|system|developer|operator"
        r"|user'?s?|admin\w*|other|those|these|safety|ethical|built-in|own|given)"
    ),
    "masters": r"(?:operator|developer|system|administrator|admin|owner|company|playbook|supervisor)",
    "carrier": (
        r"(?:tool|web ?page|web ?site|page|email|e-mail|mail|document|file|attachment|comment|output|result|message|body|payload"
        r"|description|ticket|note|html|link|url|readme|issue|text)s?"
    ),
    # who is given what
    "self": r"(?:you|the (?:agent|assistant|model|bot)|agents?|assistants?|models?|bots?)",
    "anybody": (
        r"(?:yourself|(?:the|this|every|any|all|current) (?:\w+ )?(?:agents?|assistant|models?|bots?|ai|guests?|anonymous|public|users?"
        r"|vendors?|plugin|extension|app|integration|script|contractor)|me|us|them|him|her|whoever|everyone|anyone|anybody|user [\w'-]+"
        r"|vendor [\w'-]+|account [\w'-]+|anonymous(?: users?)?|guests?|{address})"
    ),
    "powers": r"(?:access|permissions?|rights|privileges?|roles?|admin\w*|root|sudo|control|authority|superuser|credentials)\b",
    "full": (
        r"(?:full|unrestricted|unlimited|unconditional|complete|total|admin(?:istrat\w+)?|root|superuser|owner|sudo|elevated|god|master)"
    ),
    "free": (
        r"(?:any|all|every|everything|unlimited|without|full|unrestricted|arbitrary|admin\w*|root|shell|bash|sudo|regardless|whatever"
        r"|whenever|anything|freely|at will|no limits?)"
    ),
    "allowed": r"(?:authori[sz]ed|permitted|allowed|granted|cleared|entitled|empowered|approved|given|free)",
    # checks, and what is done to them
    "check": (
        r"(?:(?:safety|security|permission|access|identity|policy|input|fraud|credit|age|limit|foreign[ -]?key|integrity|balance|amount"
        r"|signature|certificate|eligibility|sanity|payment|kyc|aml|compliance)[ -]?)?(?:checks?\b(?![ -]?(?:in\b|out\b|ed\b|mark|list|box"
        r"|sum|point|digit))|checking\b(?! account)|verifications?\b(?! (?:code|email|link))|validat(?:ion|ions|or|ors)\b(?! (?:errors?"
        r"|messages?|sets?|data|splits?|loss|failures?|results?))|confirmations?\b(?! (?:emails?|numbers?|codes?|pages?|messages?|screens?"
        r"|letters?|ids?|dialogs?))|approvals?\b(?! (?:emails?|requests?|ids?|messages?|numbers?))|(?:code|human|manual|security|peer"
        r"|safety|compliance) reviews?\b|review (?:step|queue|process)|authentication\b(?! (?:errors?|failures?|docs?|headers?))"
        r"|authori[sz]ation\b(?! (?:errors?|failures?|headers?|codes?))|2fa\b|mfa\b|kyc\b|two[ -]factor|multi[ -]factor"
        r"|guard ?rails?\b(?! heights?)|safeguards?\b|safety (?:filters?|measures?|protocols?|features?|limits?|systems?)|(?:fraud|content"
        r"|security|safety) (?:filters?|rules|scans?|controls?|settings?|features?|measures?|polic(?:y|ies)|scann\w+|tools?|software)"
        r"|audit(?:s|ing)?\b(?: (?:log\w*|trail))?|monitoring\b|rate[ -]?limit\w*|(?:tls|ssl|certificate|cert)\b(?: (?:validation"
        r"|verification|errors?|warnings?))?|sandbox(?:ing)?\b|firewall\b(?! rules)|anti[ -]?virus\b|defender\b|selinux\b|(?:pre-commit"
        r"|commit|git|safety) hooks?\b|content filter\w*|moderation\b|consent\b(?! forms?)|fraud detection|access controls?\b"
        r"|(?:foreign[ -]?key|unique|integrity|database) constraints?\b|(?:cancellation|refund|approval|security|safety|company"
        r"|return) polic(?:y|ies)\b)"
    ),
    "disable": (
        r"(?:disabl(?:e|ing)|(?:turn|switch)(?:ing)? off|shut(?:ting)? (?:off|down)|deactivat(?:e|ing)|skip(?:ping)?|bypass(?:ing)?"
        r"|circumvent(?:ing)?|suppress(?:ing)?|omit(?:ting)?|remov(?:e|ing)|drop(?:ping)?|ignor(?:e|ing)|mut(?:e|ing)|overrid(?:e|ing)"
        r"|overrul(?:e|ing)|evad(?:e|ing)|defeat(?:ing)?|sidestep(?:ping)?|(?:work|get)(?:ing|ting)? around|forgo(?:ing)?|waiv(?:e|ing)"
        r"|comment(?:ing)? out|weaken(?:ing)?|relax(?:ing)?|loosen(?:ing)?|silenc(?:e|ing)|neutrali[sz](?:e|ing)|uninstall(?:ing)?"
        r"|leave out|dispense with|dodge|stop (?:the|all|any))"
    ),
    "disabled": (
        r"(?:skipped|bypassed|disabled|deactivated|(?:turned|switched) off|ignored|omitted|waived|suppressed|removed|dropped|left out"
        r"|circumvented|avoided|relaxed)\b"
    ),
    "no": r"(?:do not|don't|never|no need to|needn't|need not|not necessary to|unnecessary to|stop|without|no reason to)",
    # whom and what goes where
    "address": r"(?:[\w.%+'-]+@[\w-]+(?:\.[\w-]+)+|\[redacted:(?:email|phone|bank-account)\])",
    "url": r"(?:(?:https?|hxxps?|ftp)://|www\.|(?:gist\.)?(?:github|gitlab|bitbucket|pastebin)\.(?:com|org)/)\S+",
    "sentence": r"(?:(?![.;!?]\s)[^\n]){0,140}?",
    "data": (
        r"(?:conversations?|transcripts?|chat (?:history|log)|history|credentials?|passwords?|secrets?|api[ _-]keys?|private keys?"
        r"|(?:access |session )?tokens?|(?:customer|client|user|personal|private|confidential|sensitive|internal|account|payment"
        r"|card)(?:'s)? (?:data|details|information|info|records?|numbers?|files?|lists?)|everything|a copy|copies|all (?:of )?(?:the "
        r"|your |their )?(?:messages|emails|files|invoices|records|results|data|logs|outputs?|answers?|documents?)|memory|context"
        r"|system prompt|environment variables|env vars|\.env\b|~/\.ssh|ssh keys?|cookies|playbook)"
    ),
    "bank": r"(?:[a-z]{2}\d{2}[a-z0-9]{11,}|0x[0-9a-f]{16,}|bc1\w{16,}|\[redacted:bank-account\])",
    "group": (
        r"(?:recipients?|b?cc|payees?|beneficiar(?:y|ies)|collaborators?|co-?owners?|owners?|admin\w*|maintainers?"
        r"|forwarding address(?:es)?|authori[sz]ed users?|trusted (?:contacts?|senders?|recipients?)|reply-to|webhooks?)\b"
    ),
    "people": (
        r"(?:users?|customers?|clients?|operators?|admin\w*|anyone|anybody|somebody|owners?|humans?|developers?|security(?: team)?"
        r"|supervisors?|reviewers?)\b"
    ),
    "hidden": r"(?:(?:hidden|initial|original|secret|system) (?:prompt|instructions?))",
    "secrets": r"(?:credentials|passwords|secrets|api[ _-]?keys|private keys)",
}


class Rule(NamedTuple):
    """One pattern and when it counts.

    Attributes:
        rule: the rule that a match breaks, one of `REASONS`.
        stems: of each group one must occur in the text, else the pattern need not be tried.
        pattern: in short hand.
        order: only a verb that gives an order counts ("Skip the check", not "tests that skip the check").
        negatable: "never" before it turns its meaning round.
        unless: a regular expression for words in the clause that make it harmless; empty for none.
    """

    rule: str
    stems: tuple[frozenset[str], ...]
    pattern: str
    order: bool = False
    negatable: bool = True
    unless: str = ""


def rule(name: str, stems: str, pattern: str, *, order: bool = False, negatable: bool = True, unless: str = "") -> Rule:
    """A rule whose stems are written as groups: `a|b&c|d` wants one of `a`, `b` and one of `c`, `d`."""
    return Rule(name, tuple(frozenset(each.split("|")) for each in stems.split("&")), pattern, order, negatable, unless)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern in short hand as a regular expression.

    Made when first needed: all at once would take longer than a command may take to start.
    """
    while (named := re.search(r"\{([a-z]+)\}", pattern)) is not None:
        pattern = pattern.replace(named.group(), _LISTS[named.group(1)])
    pattern = re.sub(r" ~(\d) ", lambda most: rf"\\s+(?:{_WORD}\\s+){{0,{most.group(1)}}}?".replace("\\\\", "\\"), pattern)
    pattern = re.sub(r" \^(\d) ", lambda most: rf"\\s+(?:{_PHRASE_END}{_WORD}\\s+){{0,{most.group(1)}}}?".replace("\\\\", "\\"), pattern)
    return re.compile(pattern.replace(" ", r"\s+"), re.MULTILINE)


# Stems of word lists that several rules use.
NEGATION_STEMS = "do not|don't|never|no need|needn't|need not|necessary|stop|without|no reason"
CHECK_STEMS = (
    "kyc|check|verif|validat|confirm|approv|review|authenti|authori|2fa|mfa|factor|guard|safe|secur|audit|monitor|limit|tls|ssl|cert"
    "|sandbox|firewall|virus|defender|selinux|hook|filter|moderation|consent|fraud|access|constraint|polic"
)
HTTP_STEMS = "http|hxxp|www.|ftp:|github|gitlab|bitbucket|pastebin"
