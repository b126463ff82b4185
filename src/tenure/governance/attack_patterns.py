"""What an instruction that is aimed at the agent looks like, in English and some other languages.

A rule looks for a verb and its object in one clause and asks how the clause means it: "Never disable the
foreign-key check" and "users who ask to skip verification" speak of the act, "skip the verification" orders it.
Texts are folded first (letters of other scripts that look Latin, full-width forms, spaced letters), and what
they hold in base64, hexadecimal, rot13 or backwards is read as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from tenure.governance.foreign_patterns import foreign_patterns
from tenure.governance.hidden_text import decoded_texts, encoded_blob


class Finding(NamedTuple):
    """A rule that a text breaks, and how, in one sentence."""

    rule: str
    reason: str


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

# ---- words -------------------------------------------------------------------------------------------

_W = r"[\w'\u2019-]+"
_GAP_STOP = r"(?!(?:before|after|until|when|if|unless|that|which|who|whose|with|without|by|failing|because|so|then|and|but|is|are|was|were|in|on|from|as|at|per)\b)"


def _gap(most: int) -> str:
    """Up to some words of one phrase."""
    return rf"(?:{_GAP_STOP}{_W}\s+){{0,{most}}}?"


_LEADS = re.compile(
    r"(?:^|[\n.;:!?,>(\[{|\"'\u201c\u2018*]\s*|\s[-\u2013\u2014]\s+|^[-*]\s+|\b(?:always|please|just|simply|then|first|also|and|or|now|immediately|automatically|silently|quietly|"
    r"safely|directly|instead|must|should|shall|do|kindly|you can|you may|you could|you will|you should|we can|you|we|agents?|assistants?|"
    r"(?:need|have|ok|okay|fine|safe|sure|remember|best|better|free|allowed|permitted|authori[sz]ed|able|want|going|recommended|required|instructed|necessary|"
    r"important|possible|acceptable|supposed|expected|is|was) to|by|recommend|suggest|consider|start|keep|prefer|hereby)\s+)\Z",
    re.MULTILINE,
)
"""What stands before a verb that gives an order, and not before one that a sentence is about."""

_CHECK = (
    r"(?:(?:safety|security|permission|access|identity|policy|input|fraud|credit|age|limit|foreign[- ]?key|integrity|type|balance|amount|signature|certificate|eligibility|sanity|payment|kyc|aml)[- ]?)?"
    r"(?:checks?\b(?![- ]?(?:in\b|out\b|ed\b|mark|list|box|sum|point))|checking\b(?! account)|verifications?\b(?! (?:code|email|link))|validat(?:ion|ions|or|ors)\b(?! (?:errors?|messages?|sets?|data|splits?|loss|failures?|results?))|"
    r"confirmations?\b(?! (?:emails?|numbers?|codes?|pages?|messages?|screens?|letters?|ids?))|approvals?\b(?! (?:emails?|requests?|ids?|messages?))|(?:code|human|manual|security|peer|safety|compliance) reviews?\b|review (?:step|queue|process)|"
    r"authenti?cation\b(?! (?:errors?|failures?|docs?|headers?))|authori[sz]ation\b(?! (?:errors?|failures?|headers?|codes?))|2fa\b|mfa\b|two[- ]factor|multi[- ]factor|guard ?rails?\b|safeguards?\b|safety (?:filters?|measures?|protocols?|features?|limits?|systems?)|"
    r"security (?:controls?|settings?|features?|measures?|polic(?:y|ies)|scann\w+|tools?|software)|audit(?:s|ing)?\b(?: (?:log\w*|trail))?|monitoring\b|rate[- ]?limit\w*|(?:tls|ssl|certificate|cert)\b(?: (?:validation|verification|errors?|warnings?))?|"
    r"sandbox(?:ing)?\b|firewall\b|anti[- ]?virus\b|defender\b|selinux\b|(?:pre-commit|commit|git|safety) hooks?\b|content filter\w*|moderation\b|consent\b|fraud detection|access controls?\b|(?:foreign[- ]?key|unique|integrity|database) constraints?\b|"
    r"(?:cancellation|refund|approval|security|safety|company|return) polic(?:y|ies)\b)"
)
_INSTRUCTIONS = (
    r"(?:instructions?|rules?|guidelines?|directives?|commands?|orders?|polic(?:y|ies)|constraints?|restrictions?|safeguards?|guard ?rails?|prompts?|(?:system )?messages?|lessons?|playbooks?|"
    r"programming|training|protocols?|limitations?|principles?)\b"
)
_OTHERS = r"(?:all|any|every|previous(?:ly)?|prior|earlier|preceding|above|foregoing|former|initial|original|your|system|developer|operator|user'?s?|admin\w*|other|those|these|safety|ethical|built-in|own|given)"
_ADDRESS = r"(?:[\w.%+'-]+@[\w-]+(?:\.[\w-]+)+|\[redacted:(?:email|phone|bank-account)\])"
_URL = r"(?:https?://|hxxps?://|ftp://|www\.)\S+"
_SENTENCE = r"(?:(?![.;!?]\s)[^\n]){0,140}?"
_DATA = (
    r"(?:conversation|transcript|chat (?:history|log)|history|credentials?|passwords?|secrets?|api[ _-]keys?|private keys?|(?:customer|client|user|personal|private|confidential|sensitive|internal|account|payment|card)(?:'s)? (?:data|details|information|info|records?|numbers?|files?|lists?)|"
    r"everything|a copy|copies|all (?:of )?(?:the |your |their )?(?:messages|emails|files|invoices|records|results|data|logs|outputs?|answers?|documents?)|memory|context|system prompt|environment variables|env vars|\.env\b|~/\.ssh|ssh keys?|session tokens?|cookies|playbook)"
)


class _Rule(NamedTuple):
    rule: str
    stems: tuple[frozenset[str], ...]  # one of each must occur, else the pattern is not tried
    pattern: str
    negatable: bool = True  # whether "never" before it turns its meaning round
    order: bool = False  # whether only a verb that gives an order counts
    unless: str = ""  # words in the clause that make it harmless


def _rule(rule: str, stems: str, pattern: str, *, negatable: bool = True, unless: str = "") -> _Rule:
    order = pattern.startswith("{LEAD}")
    pattern = pattern.removeprefix("{LEAD}")
    return _Rule(rule, tuple(frozenset(each.split("|")) for each in stems.split("&")), pattern, negatable, order, unless)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Patterns are compiled when a text first needs them: all at once would take longer than a command may take to start."""
    return re.compile(pattern, re.MULTILINE)


_IGNORE = r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|overrul(?:e|ing)|bypass(?:ing)?|circumvent(?:ing)?|neglect(?:ing)?|discard(?:ing)?|dismiss(?:ing)?|violat(?:e|ing)|supersed(?:e|ing)|set aside|throw away|erase|break|drop|stop (?:following|obeying|applying|respecting)|pay no attention to|(?:do not|don't|no longer|never) (?:follow|obey|comply with|adhere to|listen to|respect|heed))"
_DISABLE = r"(?:disabl(?:e|ing)|turn(?:ing)? off|switch(?:ing)? off|shut(?:ting)? (?:off|down)|deactivat(?:e|ing)|skip(?:ping)?|bypass(?:ing)?|circumvent(?:ing)?|suppress(?:ing)?|omit(?:ting)?|remov(?:e|ing)|drop(?:ping)?|ignor(?:e|ing)|mut(?:e|ing)|overrid(?:e|ing)|overrul(?:e|ing)|evad(?:e|ing)|defeat(?:ing)?|sidestep(?:ping)?|(?:work|get)(?:ing|ting)? around|forgo(?:ing)?|waiv(?:e|ing)|comment(?:ing)? out|weaken(?:ing)?|relax(?:ing)?|loosen(?:ing)?|silenc(?:e|ing)|neutrali[sz](?:e|ing)|uninstall(?:ing)?|leave out|dispense with)"
_GRANT = r"(?:grant|give|assign|allow|confer|provide|extend|award|elevate|promote|escalate|upgrade)"
_POWERS = r"(?:access|permissions?|rights|privileges?|roles?|admin\w*|root|sudo|control|authority|superuser|credentials)\b"
_FULL = r"(?:full|unrestricted|unlimited|unconditional|admin(?:istrat\w+)?|root|superuser|owner|sudo|elevated|god|master)"
_EXEMPT = r"\b(?:only|unless|if|within|at most|up to|no more than|not|before|until|once|while|during|at least|under)\b"

_IGNORE_STEMS = "ignor|disregard|forget|overrid|overrul|bypass|circumvent|neglect|discard|dismiss|violat|supersed|set aside|throw away|erase|break|drop|stop|no attention|do not|don't|no longer|never"

_RULES: tuple[_Rule, ...] = (
    # ---- instructions to ignore others
    _rule("ignore-instructions", _IGNORE_STEMS + "&instruction|rule|guideline|directive|command|order|polic|constraint|restriction|guard|prompt|message|lesson|playbook|programming|training|protocol|limitation|principle",
          rf"{_IGNORE}\s+(?:{_W}\s+){{0,4}}?{_OTHERS}\s+(?:{_W}\s+){{0,3}}?{_INSTRUCTIONS}"),
    _rule("ignore-instructions", _IGNORE_STEMS + "&instruction|rule|guideline|directive|command|prompt|lesson|polic",
          rf"{_IGNORE}\s+(?:the\s+|any\s+)?(?:{_W}\s+){{0,2}}?(?:instructions?|rules|guidelines|directives|commands|prompts?|lessons|polic(?:y|ies))\s+(?:{_W}\s+){{0,2}}?(?:above|before|so far|given|you (?:were|have been|got)|of the (?:system|developer|operator)|in the (?:system|developer|playbook))"),
    _rule("ignore-instructions", _IGNORE_STEMS + "&everything|anything|all ", rf"{_IGNORE}\s+(?:everything|anything|all)\s+(?:else\s+)?(?:{_W}\s+){{0,2}}?(?:above|before|you (?:know|knew|were|have|learned|learnt)|prior|previously|said|told|in the (?:system|playbook))"),
    _rule("ignore-instructions", "overrid|supersed|preceden|priority|replac|outrank|trump|cancel&this|these|following|my|its|new&all|any|every|previous|prior|earlier|system|your|developer|safety",
          rf"(?:this|these|the following|my|its?|new)\s+(?:{_W}\s+)?(?:lessons?|rules?|instructions?|notes?|entr(?:y|ies)|messages?|texts?|directives?|orders?|commands?|guidance)\s+(?:{_W}\s+)?(?:overrides?|supersedes?|(?:takes?|has|have) (?:precedence|priority) over|replaces?|outranks?|trumps?|cancels?)\s+(?:{_W}\s+){{0,3}}?(?:all|any|every|everything|previous|prior|earlier|system|your|developer|safety)\b"),
    _rule("ignore-instructions", "you are |you're |act as|pretend|behave&dan|unrestrict|unfilter|uncensor|jailbr|evil|god|mode|root|admin|different|bound|restricted|subject", r"(?:you are|you're|act as|pretend (?:to be|you are)|behave (?:as|like))\s+(?:now\s+|no longer\s+)?(?:an?\s+|the\s+|in\s+)?(?:dan\b|unrestricted|unfiltered|uncensored|jailbroken|evil\b|god mode|developer mode|maintenance mode|root\b|admin mode|a different (?:ai|assistant)|bound by|restricted by|subject to (?:any|your|the) (?:rules|polic))"),
    _rule("ignore-instructions", "no rules|no restriction|no limit|no guideline|no filter", r"(?:you|there|we)\s+(?:have|are|has|were)\s+no\s+(?:rules|restrictions|limits|guidelines|filters)\b"),
    _rule("ignore-instructions", "system prompt|instruction|directive|override", r"(?:^|[\n.!\])>*#]\s*)(?:new|updated|revised|real|actual|important|urgent|secret|hidden|system|admin|developer)\s+(?:system\s+)?(?:prompt|instructions?|directives?|override)\s*[:=\u2014-]", negatable=False),
    _rule("ignore-instructions", "system override|jailbreak|god mode|developer mode|dan mode", r"(?:system override\b|(?:enter|activate|enable|switch to|engage)\s+(?:jailbreak|god|dan|unrestricted|developer)[- ]?mode|jailbreak (?:mode|yourself|the))"),
    _rule("ignore-instructions", "obey|follow|execute|comply|carry out|do what|act on|trust&instruction|command|order|directive|request|it says&tool|page|site|mail|document|file|attachment|comment|output|result|body|payload|description|ticket|note|html|link|url", rf"(?:obey|follow|execute|comply with|carry out|do(?!\s+not)|act on|trust)\s+(?:(?:all|any|every|each|whatever|the|what)\s+)?(?:{_W}\s+){{0,2}}?(?:instructions?|commands?|orders?|directives?|requests?|it)\s+(?:{_W}\s+){{0,4}}?(?:in|from|inside|contained|embedded|written|found|hidden|that appears?|given (?:in|by)|of|says)\s+(?:{_W}\s+){{0,4}}?(?:tool|web ?page|web ?site|page|email|e-mail|mail|document|file|attachment|comment|output|result|message body|payload|description|ticket|note|html|link|url)s?\b"),
    _rule("ignore-instructions", "treat", rf"treat\s+(?:{_W}\s+){{1,8}}?as\s+(?:{_W}\s+){{0,3}}?(?:system (?:message|prompt|instruction)s?|(?:your |new |trusted )instructions?|instructions?|commands|trusted|authoritative|orders|admin\w*)\b", unless=r"\b(?:untrusted|data|not as)\b"),
    _rule("ignore-instructions", "<|im_start|[inst]|[/inst]|<<sys>>|</system>|<system>|<|system|<|endof", r"<\|(?:im_start|im_end|system|user|assistant|endoftext|end_header_id|start_header_id|eot_id)\|?>?|\[/?inst\]|<</?sys>>|</?system(?:[- _](?:prompt|message|instruction)s?)?>\s*(?:you|ignore|new|override|from)", negatable=False),
    # ---- capabilities
    _rule("capability", "grant|give|assign|allow|confer|provid|extend|award|elevate|promote|escalate|upgrade&access|permission|rights|privilege|role|admin|root|sudo|control|authority|superuser|credential",
          "{LEAD}" rf"{_GRANT}\s+(?:yourself|(?:the|this|every|any|all)\s+(?:{_W}\s+)?(?:agents?|assistant|models?|bots?|ai|guests?|anonymous|public|users?)|me|us|everyone|anyone|anybody|user\s+{_W}|account\s+{_W}|{_ADDRESS})\s+(?:{_W}\s+){{0,6}}?{_POWERS}"),
    _rule("capability", "grant|give|assign|add &full|unrestrict|unlimit|uncondit|admin|root|super|owner|sudo|elevated|god|master&access|permission|rights|privilege|role|control", "{LEAD}" rf"(?:grant|give|assign|add)\s+{_gap(5)}{_FULL}\s+(?:{_W}\s+){{0,2}}?(?:access|permissions?|rights|privileges?|role|control)\b", unless=r"\bonly (?:grant|give|assign|add|if|after|when)\b"),
    _rule("capability", "authori|permitted|allowed|granted|cleared|entitled|empowered|approved|given|free&you|agent|assistant|model&any|all|every|unlimited|without|full|unrestricted|admin|root|shell|bash|sudo|regardless|whatever|no limit",
          rf"(?:you|the (?:agent|assistant|model)|agents?|assistants?)\s+(?:are|is|have been|has been|'re|have|has|were)\s+(?:{_W}\s+){{0,2}}?(?:authori[sz]ed|permitted|allowed|granted|cleared|entitled|empowered|approved|given|free)\s+(?:{_W}\s+){{0,8}}?(?:any|all|every|everything|unlimited|without|full|unrestricted|admin\w*|root|shell|bash|sudo|regardless|whatever|anything|no limits?)\b",
          unless=r"\b(?:not|only|without (?:a |any )?(?:fee|charge|penalty|cost))\b"),
    _rule("capability", "authori|permitted|allowed|granted|cleared|entitled|empowered|approved&now|hereby|already|pre", rf"(?:you|the (?:agent|assistant|model)|agents?|assistants?)\s+(?:are|is|have been|has been|'re)\s+(?:now|hereby|from now on|already|pre)[- ]?\s*(?:{_W}\s+){{0,2}}?(?:authori[sz]ed|permitted|allowed|granted|cleared|entitled|empowered|approved)\b", unless=_EXEMPT),
    _rule("capability", "access|permission|privilege|rights|control|authority&full|unrestrict|unlimit|uncondit|admin|root|super|owner|sudo|elevated|god|master&you|agent|assistant|model", rf"(?:you|the (?:agent|assistant|model))\s+(?:now\s+|already\s+)?(?:has|have|possess(?:es)?|enjoys?)\s+(?:{_W}\s+){{0,2}}?{_FULL}\s+(?:{_W}\s+){{0,2}}?(?:access|permissions?|privileges?|rights|control|authority)\b"),
    _rule("capability", "elevate|escalate|sudoers|root", "{LEAD}" rf"(?:(?:elevate|escalate)\s+{_gap(3)}(?:privileges?|permissions?|rights|access)\b|add\s+{_gap(3)}(?:yourself|the agent|me)\s+to\s+(?:{_W}\s+){{0,3}}?(?:sudoers|admin\w*|root|wheel)|(?:run|execute)\s+(?:everything|all\s+(?:{_W}\s+)?commands?|every\s+(?:{_W}\s+)?command)\s+(?:as|with)\s+(?:root|sudo|admin\w*))"),
    _rule("capability", "chmod", r"chmod\s+(?:-r\s+)?(?:0?777|a\+rwx|\+s|u\+s)\b"),
    # ---- permissions of tools
    _rule("tool-permission", "permission|allowlist|allow-list|allow list|whitelist|denylist|deny-list|sandbox|approval mode|access|polic|restriction&tool|agent|assistant|your|own|mcp|sandbox|execution|shell|bash|command",
          "{LEAD}" rf"(?:change|modify|edit|update|set|extend|relax|loosen|widen|expand|rewrite|open up|reconfigure|adjust|alter|raise|remove|clear|delete|empty)\s+(?:the\s+|your\s+|its\s+|all\s+|my\s+)?(?:{_W}\s+)?(?:tools?'?s?|agents?'?s?|assistant'?s?|your|own|mcp|sandbox|execution|shell|bash|command)\s+(?:permissions?|access|allow[- ]?lists?|whitelists?|deny[- ]?lists?|polic(?:y|ies)|approval mode|restrictions?|sandbox settings)\b"),
    _rule("tool-permission", "allowed|allow-|allow l|allowl|white|trusted|approved|permitted|permission&add|append|include|insert|put|move", "{LEAD}" rf"(?:add|append|include|insert|put|move)\s+(?:\S+\s+){{1,6}}?(?:to|in|into|on)\s+(?:the\s+|your\s+|its\s+)?(?:{_W}\s+){{0,3}}?(?:(?:allowed|approved|permitted|trusted|auto-?approved)[- ](?:tools?|commands?|list of tools)|(?:tool|agent|command|agent's|permission|bash|shell)s?\s+(?:allow|white|permission)[- ]?lists?|permissions\.allow)\b"),
    _rule("tool-permission", "allow&bash|shell|*|write|edit|webfetch|all|any", r"\"?\ballow(?:ed)?[_-]?(?:tools|commands|list)?\"?\s*[:=]\s*\[?\s*[\"']?(?:bash|shell|\*|write|edit|webfetch|all|any)\b|\"?\ballow\"?\s*:\s*\[\s*\"(?:bash|shell|\*|webfetch)"),
    _rule("tool-permission", "dangerously|bypasspermissions|--yolo|--allow-all|--no-sandbox|auto-approv|autoapprov|auto approv|permission-mode|full-auto|skip-permission",
          r"--(?:dangerously-[a-z-]+|yolo|allow-all(?:-tools)?|no-sandbox|full-auto|skip-permissions?)\b|\bbypasspermissions\b|\bdangerouslyskippermissions\b|\bauto[- ]?approv(?:e|ing)\s+(?:all|every|any|everything|tool|command|shell|bash)"),
    _rule("tool-permission", "approve|accept|confirm&automatic|without|default|silently|blindly|at once", "{LEAD}" rf"(?:approve|accept|confirm)\s+(?:all|every|any|each)\s+(?:{_W}\s+){{0,3}}?(?:tool|command|shell|bash|permission|action|request|prompt|transaction|payment|refund)s?\b\s*(?:{_W}\s+){{0,3}}?(?:automatically|without|by default|silently|blindly|at once)"),
    _rule("tool-permission", "shell|bash|terminal|code execution|filesystem|file system|root|sudo&enable|activate|unlock|turn on|switch on|open|unblock", "{LEAD}" rf"(?:enable|activate|unlock|turn on|switch on|open|unblock)\s+(?:the\s+|your\s+)?(?:{_W}\s+){{0,2}}?(?:shell|bash|terminal|code execution|file ?system|root|sudo)\s+(?:{_W}\s+)?(?:tools?|access|permissions?|mode|execution|commands?)\b"),
    # ---- checks
    _rule("disabled-check", "disabl|turn|switch|shut|deactivat|skip|bypass|circumvent|suppress|omit|remov|drop|ignor|mut|overrid|overrul|evad|defeat|sidestep|around|forgo|waiv|comment|weaken|relax|loosen|silenc|neutral|uninstall|leave out|dispense&check|verif|validat|confirm|approv|review|authenti|authori|2fa|mfa|factor|guard|safe|secur|audit|monitor|limit|tls|ssl|cert|sandbox|firewall|virus|defender|selinux|hook|filter|moderation|consent|fraud|access|constraint|polic",
          "{LEAD}" rf"{_DISABLE}\s+{_gap(5)}{_CHECK}"),
    _rule("disabled-check", "skips|skip |disables|disable |bypass|ignores|ignore |turns off|turn off|omits|suppresses&agent|assistant|system|model|we|you|it", rf"(?:the\s+)?(?:agents?|assistants?|systems?|models?|we|you|it)\s+(?:should\s+|must\s+|can\s+|may\s+)?(?:skips?|disables?|bypasses|ignores?|turns? off|omits?|suppresses)\s+{_gap(4)}{_CHECK}"),
    _rule("disabled-check", "do not|don't|never|no need|needn't|need not|necessary|stop|without|no reason&ask|wait|request|requir|seek|obtain|get|need&confirm|approv|permission|consent|verif|authori|review",
          rf"(?:do not|don't|never|no need to|needn't|need not|not necessary to|unnecessary to|stop|without|no reason to)\s+(?:{_W}\s+){{0,2}}?(?:ask(?:ing)?|wait(?:ing)?|request(?:ing)?|requir(?:e|ing)|seek(?:ing)?|obtain(?:ing)?|get(?:ting)?|need(?:ing)?)\s+(?:{_W}\s+){{0,5}}?(?:confirm\w*|approv\w*|permission|consent|verification|authori[sz]ation|review)\b",
          unless=r"\b(?:twice|again|more than once|second time|repeatedly|already|re-?ask\w*|until)\b"),
    _rule("disabled-check", "do not|don't|never|no need|needn't|need not|necessary|stop|without|no reason&verif|validat|check|confirm|authenticat",
          rf"(?:do not|don't|never|no need to|needn't|need not|not necessary to|stop|without|no reason to)\s+(?:{_W}\s+){{0,2}}?(?:verify(?:ing)?|validat(?:e|ing)|check(?:ing)?|confirm(?:ing)?|authenticat(?:e|ing)|double[- ]check(?:ing)?)\s+(?:{_W}\s+){{0,4}}?(?:identity|identities|users?|customers?|callers?|recipients?|senders?|signatures?|certificates?|amounts?|payments?|permissions?|authori[sz]ation|with the (?:user|customer|owner)|ownership|eligibility|anything|it with|details)\b",
          unless=r"\b(?:by|twice|again|more than once|until|solely|only|alone|already|using|based on)\b"),
    _rule("disabled-check", "without&confirm|approv|consent|verif|review|check|validat", rf"without\s+(?:{_W}\s+){{0,3}}?(?:confirmation|approval|consent|verification|(?:human|manual|code|security|safety) review|(?:confirming|verifying|checking|validating)\b)(?! (?:email|number|code|message|is|are|was|were|gets?|returns?|fails?|will|can|may|raises?|results?))"),
    _rule("disabled-check", "unnecessary|optional|required|needed|necessary|needless|superfluous&confirm|approv|verif|consent|check|validat|review", rf"(?:confirmation|approval|verification|validation|consent|(?:safety|security|identity|fraud|permission) checks?|(?:human|manual|code) review)s?\s+(?:is|are|was|isn't|aren't)\s+(?:{_W}\s+){{0,2}}?(?:unnecessary|optional|not (?:needed|required|necessary)|no longer (?:needed|required|necessary)|never (?:needed|required)|needless|superfluous)",
          unless=r"\b(?:read|reading|read-only|search\w*|look\w*|list\w*|view\w*|get\w*|quer\w*|field|parameter|argument)\b"),
    _rule("disabled-check", "skipped|bypassed|disabled|turned off|switched off|ignored|omitted|waived|suppressed|removed|dropped&confirm|approv|verif|consent|check|validat|review|authenticat", rf"(?:confirmation|approval|verification|validation|authentication|consent|review|(?:safety|security|identity|fraud|permission|foreign[- ]key)? ?checks?)s?\s+(?:step\s+)?(?:can|may|should|must|is to|are to|has to|have to|needs? to|will|could|might)\s+(?:{_W}\s+){{0,2}}?(?:skipped|bypassed|disabled|turned off|switched off|ignored|omitted|waived|suppressed|removed|dropped)\b"),
    _rule("disabled-check", "no confirmation|no approval|no verification|no consent|no check|no review|no validation", rf"no\s+(?:{_W}\s+)?(?:confirmation|approval|verification|consent|(?:safety|security|identity) checks?|(?:human|manual) review)s?\s+(?:is|are|will be)?\s*(?:needed|required|necessary)\b",
          unless=r"\b(?:read|reading|read-only|search\w*|look\w*|list\w*|view\w*|quer\w*)\b"),
    _rule("disabled-check", "verify=|verify =|--insecure|--no-verify|tls_reject|stricthostkey|foreign_key_checks|setenforce|ufw disable|skip-verif|--no-check|_unverified|allow-unsigned|disable_ssl",
          r"verify\s*=\s*false\b|--(?:insecure|no-verify|no-check\w*|skip-verif\w*|no-ssl-verify|trusted-host|allow-unsigned)\b|node_tls_reject_unauthorized\s*=\s*[\"']?0|stricthostkeychecking\s*=?\s*no\b|\bforeign_key_checks\s*=\s*0|\bsetenforce\s+0|\bufw\s+disable\b|_create_unverified_context"),
    # ---- recipients
    _rule("recipient", "@|[redacted:",
          rf"(?:b?cc|blind[- ]copy|forward|send|e-?mail|mail|copy|upload|transmit|exfiltrate|share|submit|report|relay|deliver|redirect|route|leak|push|pay|wire|transfer|refund|remit|include|add|invite|notify|message|text|call|contact)(?:ing|s|es|ed)?\b(?![_(=:]){_SENTENCE}(?<![=\"'(\[:])(?<![=:]\s){_ADDRESS}"),
    _rule("recipient", "@|[redacted:&always|every|each|all|whenever|also|from now", rf"(?:always|every|each time|all|whenever|also|from now on)\b{_SENTENCE}\b(?:b?cc|to|recipients?|email|reply[_-]to)\b[\"']?\s*[=:(]\s*[\[\"']{{0,3}}{_ADDRESS}"),
    _rule("recipient", "http|hxxp|www.|ftp:", rf"(?:send|post|upload|transmit|exfiltrate|forward|leak|submit|report|share|copy|push|dump|deliver|append|encode|include|put)(?:ing|s)?\b{_SENTENCE}\b{_DATA}{_SENTENCE}{_URL}"),
    _rule("recipient", "http|hxxp|www.|ftp:", rf"(?:always|every|each|all|before|after|whenever)\b{_SENTENCE}\b(?:send|post|upload|transmit|forward|report|copy|ping|notify)\b{_SENTENCE}\b(?:to|at)\s+{_URL}"),
    _rule("recipient", " cc |bcc |blind", rf"(?:b?cc|blind[- ]copy)\b\s+(?:{_W}\s+){{1,5}}?(?:on|in|into|to|for)\s+(?:all|every|each|any)\b"),
    _rule("recipient", "forward|send|mail&all|every|each|any", "{LEAD}" rf"(?:forward|send|mail|email)\s+(?:(?:all|every|each|any|copies of (?:all|every|each|any)|a copy of (?:all|every|each|any))\s+{_SENTENCE}\bto\b(?!\s+(?:the\s+)?(?:user|customer|requester|owner|same|its|their)\b))"),
    _rule("recipient", "recipient| cc|bcc|payee|beneficiar|collaborator|owner|admin|maintainer|forwarding|authorized user|authorised user|trusted|reply-to|webhook&add|include|invite|set|register|append|make|enter|save|put",
          "{LEAD}" rf"(?:add|include|invite|set|register|append|make|enter|save|put)\s+(?:yourself|me|us|(?:[^\n.;]{{0,40}}?)(?:[\w.@+-]*\d[\w.@+-]*|\"[^\"\n]{{1,60}}\"|'[^'\n]{{1,60}}'|{_ADDRESS}|{_URL}|@\w+))\s+(?:as|to|in|into|on)\s+(?:an?\s+|the\s+|every\s+|all\s+|each\s+)?(?:{_W}\s+){{0,4}}?(?:recipients?|b?cc|payees?|beneficiar(?:y|ies)|collaborators?|co-?owners?|owners?|admin\w*|maintainers?|forwarding address(?:es)?|authori[sz]ed users?|trusted (?:contacts?|senders?|recipients?)|reply-to|webhooks?)\b"),
    _rule("recipient", "recipient| cc|bcc|copy&all|every|each|any&add|include|put", "{LEAD}" rf"(?:(?:always|every time)\s+)?(?:add|include|put)\s+(?:the\s+|an?\s+|our\s+|their\s+)?(?:{_W}\s+){{1,5}}?(?:as\s+an?\s+(?:{_W}\s+)?(?:b?cc|recipient)|(?:in|to|on|as)\s+(?:b?cc|copy))\s+(?:of|on|in|for|to)\s+(?:all|every|each|any)\b"),
    _rule("recipient", "transfer|wire|send|pay|remit|refund|withdraw|deposit|move&account|iban|wallet|address|upi|paypal|venmo|cashapp|cash app|0x|bc1|[redacted:bank|0", rf"(?:transfer|wire|send|pay|remit|refund|withdraw|deposit|move)\b\s+(?:\S+\s+){{0,10}}?(?:to|into)\s+(?:\S+\s+){{0,4}}?(?:\b(?:account|iban|wallet|address|upi|paypal|venmo|cash ?app)\b\s*(?:number|no\.?|id|#|:)?\s*[:#]?\s*(?=\S*\d)\S{{6,}}|0x[0-9a-f]{{16,}}|bc1\w{{16,}}|[a-z]{{2}}\d{{2}}[a-z0-9]{{11,}}|\[redacted:bank-account\])"),
    # ---- fetch and run
    _rule("fetch-and-run", "curl|wget|iwr|irm|invoke-|http|fetch", r"(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|fetch|aria2c)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:env\s+\S+\s+)?(?:/(?:usr/)?bin/)?(?:sh|bash|zsh|dash|ksh|python[0-9.]*|node|perl|ruby|php|iex|pwsh|powershell|source)\b"),
    _rule("fetch-and-run", "curl|wget|urlopen|requests|downloadstring|iwr|fetch", r"(?:\b(?:ba|z)?sh\b|\bsource\b|(?<!\w)\.)\s+<\(\s*(?:curl|wget)|\b(?:ba|z)?sh\s+-c\s+[\"']?\$\(\s*(?:curl|wget)|\beval\s*[\"'(]{0,3}\$\(\s*(?:curl|wget)|\b(?:exec|eval)\s*\(\s*(?:\w+\.)*(?:urlopen|get|fetch|read)\b|\biex\s*\(|downloadstring\s*\("),
    _rule("fetch-and-run", "http|www.|link|url|.sh|.exe|.ps1|.bat|.jar|.dmg|.msi|script|binary|installer|payload|package&download|fetch|get|pull|retriev|wget|curl|grab&run|execut|install|launch|eval|source|start|obey|follow", rf"(?:download|fetch|get|pull|retrieve|wget|curl|grab)(?:ing)?\b{_SENTENCE}(?:{_URL}|\blink\b|\burl\b|\S+\.(?:sh|exe|ps1|bat|jar|dmg|msi)\b|\b(?:script|binary|installer|payload|package)\b){_SENTENCE}\b(?:and|then|to)\s+(?:then\s+)?(?:run|execute|install|launch|eval|source|start|obey|follow)\b"),
    _rule("fetch-and-run", "http|www.|this link|this url", rf"(?:run|execute|install|launch|eval|source)\b\s+(?:{_W}\s+){{0,6}}?(?:from|at|hosted (?:at|on)|found (?:at|on)|located at)\s+(?:{_W}\s+){{0,2}}?(?:{_URL}|\bthis (?:link|url)\b)"),
    _rule("fetch-and-run", "http", r"(?:pip|pip3|npm|pnpm|yarn|uv|gem|cargo|go)\s+(?:pip\s+)?(?:install|add|i|get|exec)\s+(?:-\S+\s+)*(?:git\+)?https?://|\b(?:npx|bunx|uvx|deno run|python -m pip install)\s+(?:-\S+\s+)*(?:git\+)?https?://|\bpip3?\s+install\b[^\n]{0,80}--(?:extra-)?index-url\s+https?://"),
    _rule("fetch-and-run", "http|www.|this link|this url|this page|that link|that url|that page", rf"(?:follow|obey|execute|carry out|apply|load|read|use|do|perform|take)\s+(?:{_W}\s+){{0,4}}?(?:instructions?|steps?|commands?|rules|prompts?|directives?|what it says)\s+(?:{_W}\s+){{0,4}}?(?:at|on|in|from|under|behind|of)\s+(?:{_W}\s+){{0,2}}?(?:{_URL}|\bthis (?:link|url|page)\b|\bthat (?:link|url|page)\b)"),
    _rule("fetch-and-run", "http|www.", rf"(?:visit|open|go to|browse|fetch|load|read|get|navigate to|check)\b{_SENTENCE}{_URL}{_SENTENCE}\b(?:and|then)\s+(?:{_W}\s+){{0,2}}?(?:follow|obey|execute|run|do (?:what|as|whatever)|act on|apply|carry out|comply)\b"),
    # ---- behind somebody's back
    _rule("secrecy", "tell|inform|notif|alert|warn|letting|let &do not|don't|never|without", rf"(?:do not|don't|never|without)\s+(?:{_W}\s+)?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|letting|let)\s+(?:the\s+|any\s+)?(?:users?|customers?|operators?|admin\w*|anyone|anybody|owners?|owner|humans?|developers?|security(?: team)?|supervisors?)\b(?:\s*[.,;!]|\s*$|\s+(?:about|of|know|that you|that this|why|when)\b|\s+and\b)",
          unless=r"\b(?:yet|until|before|unless it|too early|success|succeeded|guess\w*|internal)\b"),
    _rule("secrecy", "secret|hidden|quiet|hide|conceal|cover|between us|confidential|log|trace|evidence", "{LEAD}" rf"(?:keep\s+(?:this|it|that|these|the \w+)\s+(?:{_W}\s+)?(?:secret|hidden|quiet|confidential|between us)\s+from|(?:hide|conceal)\s+(?:this|it|that|these|the|your|any|all)\s+(?:{_W}\s+){{0,4}}?from\s+(?:the\s+)?(?:users?|customers?|operators?|admin\w*|anyone|logs?|audit\w*|humans?|owner)|(?:cover (?:up )?(?:your|the) tracks|(?:delete|erase|clear|wipe)\s+(?:the\s+|your\s+|all\s+)?(?:audit|security|access)?\s*(?:logs?|traces?|evidence|history)\s+(?:afterwards|after|so that|of this|to hide)))"),
    # ---- giving secrets away
    _rule("exfiltration", "reveal|leak|exfiltrat|disclos|dump|expos|divulg|hand over|give&prompt|instruction|credential|secret|password|key|token|environment|.env|internal",
          "{LEAD}" rf"(?:reveal|leak|exfiltrate|disclose|dump|expose|divulge|hand over|give (?:away|out))\s+(?:{_W}\s+){{0,5}}?(?:system prompt|hidden (?:prompt|instructions?)|credentials?|secrets?|passwords?|api[ _-]?keys?|private keys?|access tokens?|environment variables|\.env|internal (?:data|instructions))"),
    _rule("exfiltration", "system prompt|instruction|prompt|environment variables|credential|password|secrets|key&print|repeat|output|show|display|echo|recite|include|append|return|paste|write|attach|put", "{LEAD}" rf"(?:print|repeat|output|show|display|echo|recite|include|append|return|paste|write|attach|put)\s+(?:{_W}\s+){{0,4}}?(?:(?:your|the|this|full|entire|complete)\s+(?:system prompt|(?:hidden|initial|original|secret|system) (?:prompt|instructions?))|(?:all\s+|the\s+|your\s+)?environment variables|(?:your|all|the user'?s?|stored|any)\s+(?:{_W}\s+)?(?:credentials|passwords|secrets|api[ _-]?keys|private keys))\b"),
)  # fmt: skip

_STEMS = frozenset().union(*(each for rule in _RULES for each in rule.stems))

# ---- how a clause means it ------------------------------------------------------------------------------

_NEGATED = re.compile(
    r"\b(?:never|not|n't|cannot|can't|avoid(?:s|ed|ing)?|refus(?:e|es|ed|ing)|reject(?:s|ed|ing)?|declin(?:e|es|ed|ing)|prevent(?:s|ed|ing)?|instead of|rather than|nobody|no one|none|nor|neither|forbid(?:s|den)?|prohibit(?:s|ed)?|"
    r"disallow(?:s|ed)?|unable to|fail(?:s|ed)? to|block(?:s|ed)?|beware of|stop|resist|against|wrong to|unsafe to|illegal to|dangerous to|no reason to|without)\b(?P<rest>[^.;:!?]*)\Z"
)
_TURNED_BACK = re.compile(r"\b(?:and|then|but|just|instead|always|simply)\s+(?:\w+\s+){0,2}\Z|,\s*(?:and\s+|then\s+|but\s+|just\s+|please\s+)*\Z")
_REPORTED = re.compile(
    r"\b(?:asks?|asked|asking|tells?|told|telling|says?|said|saying|attempts?|attempted|tries|tried|trying|claims?|claimed|requests?|requested|wants?|wanted|demands?|instructs?|instructed|urges?|offers?|proposes?|"
    r"attacker|attackers|attack|injection|phishing|malicious|suspicious|someone|who|that|which|whether|how|why|because|if|when|whenever|unless|since|while|once|after|before|until|where|users? (?:can|could|may|might)|scripts?|tests?|requests|"
    r"calls|clients?|errors?|flag|option|mode|parameter|setting|argument|named|called|phrase|words?|text)\s+(?:the\s+|an?\s+|you\s+|us\s+|them\s+|it\s+|me\s+|to\s+|agents?\s+|assistant\s+|such as\s+|like\s+|[\"'\u201c\u2018:]\s*){0,4}\Z"
)
_ABOUT = re.compile(r"\s*(?:\w+\s+){0,3}?(?:is|are|was|were|will be|gets?|got)\s+(?:\w+\s+)?(?:rejected|refused|forbidden|prohibited|not allowed|not permitted|denied|blocked|an? (?:error|attack|red flag|violation|warning sign)|unsafe|dangerous|suspicious|malicious|fraud\w*|wrong|harmful)\b")
_REFUSED = re.compile(r"\b(?:refuse|decline|reject|do not comply|don't comply|never comply|treat (?:it|this|that|them) as (?:an? )?(?:attack|injection|untrusted|data|suspicious)|report (?:it|this|that)|escalate|ignore (?:it|this|that|them|such)|it is an? (?:attack|injection)|stop and)\b")
_COMPLIES = re.compile(r"\b(?:comply|obey|do so|do it|do that|agree|go ahead|proceed|accept|follow (?:it|that|them)|carry (?:it|that) out)\b")
_IDIOMS = re.compile(r"\b(?:(?:do not|don't|never) (?:hesitate|forget|fail|be afraid|neglect|omit) to|(?:do not|don't) worry(?: about (?:it|this))?|never ?mind|not only|no problem|why not|it is not (?:wrong|a problem) to|nothing stops you from|no harm in)\b")
_GERUND = re.compile(r"\w*ing\b")


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
            hidden = find_attack(inner, depth=depth - 1) if manner not in ("rot13", "reversed writing") else _told_to_ignore(fold(inner))
            if hidden is not None:
                return Finding("encoded-text", f"it hides in {manner} what {hidden.reason.removeprefix('it ')}")
    return None


_SPREAD = re.compile(r"\b(?:[A-Za-z][ ._*\u00b7-]){3,}[A-Za-z]\b")
_LEET = str.maketrans("01345@$", "oieasas")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u0261\u03bf\u03b1\u03b5\u03b9\u03bd\u03c1\u03c4\u03c5\u043a\u043c\u0442\u043d\u0432\u0433\u04bb\u0432",
    "aeopcyxijsdlgoaeivptuk" + "mthbrhb",
)
_MIXED = re.compile(r"\w*[a-z]\w*")
_NOT_SEEN = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_BLANKS = re.compile(r"[^\S\n]+")


def fold(text: str) -> str:
    """A text as rules read it: compatible forms, small letters, no marks over letters, no hidden characters, Latin look-alikes in Latin words."""
    if text.isascii():
        return _BLANKS.sub(" ", text.lower())
    plain = _NOT_SEEN.sub("", text)
    plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if unicodedata.category(c) != "Mn")
    plain = unicodedata.normalize("NFC", plain).lower().replace("\u2019", "'").replace("\u2018", "'")
    return _BLANKS.sub(" ", _MIXED.sub(lambda word: word.group() if word.group().isascii() else word.group().translate(_LOOKALIKES), plain))


def _in_plain_text(text: str) -> Finding | None:
    return _first(_RULES, {stem for stem in _STEMS if stem in text}, text) or _in_other_languages(text)


def _told_to_ignore(text: str) -> Finding | None:
    """The same for a way of reading in which ordinary text makes no sense: only its clearest rules are tried."""
    if not any(verb in text for verb in ("ignore", "disregard", "forget", "overrid", "bypass", "obey", "system")):
        return None
    rules = [rule for rule in _RULES if rule.rule == "ignore-instructions"]
    return _first(rules, {stem for rule in rules for each in rule.stems for stem in each if stem in text}, text)


def _first(rules: Iterable[_Rule], present: set[str], text: str) -> Finding | None:
    for rule in rules:
        if any(present.isdisjoint(each) for each in rule.stems):
            continue
        for found in _compiled(rule.pattern).finditer(text):
            if not _inside_word(text, found.start()) and _is_meant(text, found, rule):
                return Finding(rule.rule, f"it {REASONS[rule.rule]}: '{_shown(text, found)}'")
    return None


def _in_other_languages(text: str) -> Finding | None:
    patterns, stems = foreign_patterns(ascii_only=text.isascii())
    present = {stem for stem in stems if stem in text}
    for foreign in patterns:
        if present.isdisjoint(foreign.stems):
            continue
        for found in _compiled(foreign.pattern).finditer(text):
            around = text[max(0, found.start() - 24) : found.end() + 12]
            if not foreign.negation or _compiled(foreign.negation).search(around) is None:
                return Finding(foreign.rule, f"it {REASONS[foreign.rule]}: '{_shown(text, found)}'")
    return None


def _complies(after: str) -> bool:
    """Whether a clause goes on to do what somebody in it asks for."""
    return _COMPLIES.search(after) is not None and _REFUSED.search(after) is None


def _inside_word(text: str, place: int) -> bool:
    return place > 0 and (text[place - 1].isalnum() or text[place - 1] == "_") and (text[place].isalnum() or text[place] == "_")


def _shown(text: str, found: re.Match[str]) -> str:
    words = " ".join(found.group().strip(" \n.,;:!?\"'(").split())
    return words if len(words) <= 80 else words[:79] + "\u2026"


def _is_meant(text: str, found: re.Match[str], rule: _Rule) -> bool:
    """Whether a clause orders what it names, rather than forbidding or describing it."""
    start, end = found.span()
    while start < end and text[start] in " \n.;:!?,>([{|\"'*\u201c\u2018-":
        start += 1
    before = _IDIOMS.sub("", text[max(0, start - 160) : start])
    opening = max(before.rfind(c) for c in "\n.;!?")
    before = before[opening + 1 :].lstrip()
    closing = re.search(r"[.;!?](?:\s|\Z)|\n", text[end:])
    after = text[end : end + (closing.start() if closing else len(text))][:200]
    clause = before + text[start:end] + after
    if rule.unless and _compiled(rule.unless).search(clause):
        return False
    if not rule.negatable:
        return True
    if rule.order and _LEADS.search(before) is None:
        return _REPORTED.search(before) is not None and _complies(after)
    negated = _NEGATED.search(before)
    if negated is not None and _TURNED_BACK.search(negated["rest"]) is None:
        return False
    if _REFUSED.search(clause) and (_REPORTED.search(before) or re.search(r"\b(?:if|when|whenever|any|requests?|messages?)\b", before)):
        return False
    if _ABOUT.match(after):
        return False
    if _REPORTED.search(before):
        return _complies(after)
    return not (_GERUND.match(text, start) and not before and re.match(r"\s*(?:\w+\s+){0,4}?(?:is|are|was|makes?|causes?|leads?|returns?|fails?|breaks?|results?|raises?|hides?|can|will|may|would|gives?|does)\b", after))
