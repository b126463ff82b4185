"""English patterns of instructions that are aimed at the agent, as rules of verbs and their objects.

Patterns are regular expressions in a short hand: a blank is white space, ` ~3 ` up to three words of any sort,
` ^3 ` up to three words of one phrase (no "before", "that", "unless" between), `{name}` one of the word lists
below. `attacks` reads them; what a clause with a match means is decided there.
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
    r"(?!(?:before|after|until|when|if|unless|that|which|who|whose|with|without|by|failing|because|so|then|and|but|is|are|was|were|in|on|from|as|at|per)\b)"
)

_LISTS = {
    # whom instructions come from, and what they are called
    "ignore": (
        r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|overrul(?:e|ing)|bypass(?:ing)?|circumvent(?:ing)?|neglect(?:ing)?"
        r"|discard(?:ing)?|dismiss(?:ing)?|violat(?:e|ing)|supersed(?:e|ing)|set aside|throw away|erase|break|drop|pay no attention to"
        r"|stop (?:following|obeying|applying|respecting)|(?:do not|don't|no longer|never) (?:follow|obey|comply with|adhere to|listen to|respect|heed))"
    ),
    "instructions": (
        r"(?:instructions?|rules?|guidelines?|guidance|directives?|commands?|orders?|polic(?:y|ies)|constraints?|restrictions?|safeguards?|guard ?rails?"
        r"|prompts?|(?:system )?messages?|lessons?|playbooks?|programming|training|protocols?)\b"
    ),
    "others": (
        r"(?:all|any|every|previous(?:ly)?|prior|earlier|preceding|above|foregoing|former|initial|original|your|system|developer|operator|user'?s?|admin\w*"
        r"|other|those|these|safety|ethical|built-in|own|given)"
    ),
    "masters": r"(?:operator|developer|system|administrator|admin|owner|company|playbook|supervisor)",
    "carrier": (
        r"(?:tool|web ?page|web ?site|page|email|e-mail|mail|document|file|attachment|comment|output|result|message|body|payload|description|ticket|note|html"
        r"|link|url|readme|issue|text)s?"
    ),
    # who is given what
    "self": r"(?:you|the (?:agent|assistant|model|bot)|agents?|assistants?|models?|bots?)",
    "anybody": (
        r"(?:yourself|(?:the|this|every|any|all|current) (?:\w+ )?(?:agents?|assistant|models?|bots?|ai|guests?|anonymous|public|users?|vendors?|plugin|extension|app|integration|script|contractor)|me|us|them|him|her"
        r"|whoever|everyone|anyone|anybody|user [\w'-]+|vendor [\w'-]+|account [\w'-]+|anonymous(?: users?)?|guests?|{address})"
    ),
    "powers": r"(?:access|permissions?|rights|privileges?|roles?|admin\w*|root|sudo|control|authority|superuser|credentials)\b",
    "full": r"(?:full|unrestricted|unlimited|unconditional|complete|total|admin(?:istrat\w+)?|root|superuser|owner|sudo|elevated|god|master)",
    "free": (
        r"(?:any|all|every|everything|unlimited|without|full|unrestricted|arbitrary|admin\w*|root|shell|bash|sudo|regardless|whatever|whenever|anything|freely"
        r"|at will|no limits?)"
    ),
    "allowed": r"(?:authori[sz]ed|permitted|allowed|granted|cleared|entitled|empowered|approved|given|free)",
    # checks, and what is done to them
    "check": (
        r"(?:(?:safety|security|permission|access|identity|policy|input|fraud|credit|age|limit|foreign[ -]?key|integrity|balance|amount|signature|certificate"
        r"|eligibility|sanity|payment|kyc|aml|compliance)[ -]?)?"
        r"(?:checks?\b(?![ -]?(?:in\b|out\b|ed\b|mark|list|box|sum|point|digit))|checking\b(?! account)|verifications?\b(?! (?:code|email|link))"
        r"|validat(?:ion|ions|or|ors)\b(?! (?:errors?|messages?|sets?|data|splits?|loss|failures?|results?))"
        r"|confirmations?\b(?! (?:emails?|numbers?|codes?|pages?|messages?|screens?|letters?|ids?|dialogs?))"
        r"|approvals?\b(?! (?:emails?|requests?|ids?|messages?|numbers?))|(?:code|human|manual|security|peer|safety|compliance) reviews?\b"
        r"|review (?:step|queue|process)|authentication\b(?! (?:errors?|failures?|docs?|headers?))|authori[sz]ation\b(?! (?:errors?|failures?|headers?|codes?))"
        r"|2fa\b|mfa\b|kyc\b|two[ -]factor|multi[ -]factor|guard ?rails?\b(?! heights?)|safeguards?\b|safety (?:filters?|measures?|protocols?|features?|limits?|systems?)"
        r"|(?:fraud|content|security|safety) (?:filters?|rules|scans?|controls?|settings?|features?|measures?|polic(?:y|ies)|scann\w+|tools?|software)"
        r"|audit(?:s|ing)?\b(?: (?:log\w*|trail))?|monitoring\b|rate[ -]?limit\w*|(?:tls|ssl|certificate|cert)\b(?: (?:validation|verification|errors?|warnings?))?"
        r"|sandbox(?:ing)?\b|firewall\b(?! rules)|anti[ -]?virus\b|defender\b|selinux\b|(?:pre-commit|commit|git|safety) hooks?\b|content filter\w*|moderation\b"
        r"|consent\b(?! forms?)|fraud detection|access controls?\b|(?:foreign[ -]?key|unique|integrity|database) constraints?\b"
        r"|(?:cancellation|refund|approval|security|safety|company|return) polic(?:y|ies)\b)"
    ),
    "disable": (
        r"(?:disabl(?:e|ing)|(?:turn|switch)(?:ing)? off|shut(?:ting)? (?:off|down)|deactivat(?:e|ing)|skip(?:ping)?|bypass(?:ing)?|circumvent(?:ing)?"
        r"|suppress(?:ing)?|omit(?:ting)?|remov(?:e|ing)|drop(?:ping)?|ignor(?:e|ing)|mut(?:e|ing)|overrid(?:e|ing)|overrul(?:e|ing)|evad(?:e|ing)|defeat(?:ing)?"
        r"|sidestep(?:ping)?|(?:work|get)(?:ing|ting)? around|forgo(?:ing)?|waiv(?:e|ing)|comment(?:ing)? out|weaken(?:ing)?|relax(?:ing)?|loosen(?:ing)?"
        r"|silenc(?:e|ing)|neutrali[sz](?:e|ing)|uninstall(?:ing)?|leave out|dispense with|dodge|stop (?:the|all|any))"
    ),
    "disabled": (
        r"(?:skipped|bypassed|disabled|deactivated|(?:turned|switched) off|ignored|omitted|waived|suppressed|removed|dropped|left out|circumvented|avoided|relaxed)\b"
    ),
    "no": r"(?:do not|don't|never|no need to|needn't|need not|not necessary to|unnecessary to|stop|without|no reason to)",
    # whom and what goes where
    "address": r"(?:[\w.%+'-]+@[\w-]+(?:\.[\w-]+)+|\[redacted:(?:email|phone|bank-account)\])",
    "url": r"(?:(?:https?|hxxps?|ftp)://|www\.|(?:gist\.)?(?:github|gitlab|bitbucket|pastebin)\.(?:com|org)/)\S+",
    "sentence": r"(?:(?![.;!?]\s)[^\n]){0,140}?",
    "data": (
        r"(?:conversations?|transcripts?|chat (?:history|log)|history|credentials?|passwords?|secrets?|api[ _-]keys?|private keys?|(?:access |session )?tokens?"
        r"|(?:customer|client|user|personal|private|confidential|sensitive|internal|account|payment|card)(?:'s)? (?:data|details|information|info|records?|numbers?"
        r"|files?|lists?)|everything|a copy|copies|all (?:of )?(?:the |your |their )?(?:messages|emails|files|invoices|records|results|data|logs|outputs?|answers?"
        r"|documents?)|memory|context|system prompt|environment variables|env vars|\.env\b|~/\.ssh|ssh keys?|cookies|playbook)"
    ),
    "bank": r"(?:[a-z]{2}\d{2}[a-z0-9]{11,}|0x[0-9a-f]{16,}|bc1\w{16,}|\[redacted:bank-account\])",
    "group": (
        r"(?:recipients?|b?cc|payees?|beneficiar(?:y|ies)|collaborators?|co-?owners?|owners?|admin\w*|maintainers?|forwarding address(?:es)?"
        r"|authori[sz]ed users?|trusted (?:contacts?|senders?|recipients?)|reply-to|webhooks?)\b"
    ),
    "people": r"(?:users?|customers?|clients?|operators?|admin\w*|anyone|anybody|somebody|owners?|humans?|developers?|security(?: team)?|supervisors?|reviewers?)\b",
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
    """A pattern in short hand as a regular expression. Made when first needed: all at once would take longer than a command may take to start."""
    while (named := re.search(r"\{([a-z]+)\}", pattern)) is not None:
        pattern = pattern.replace(named.group(), _LISTS[named.group(1)])
    pattern = re.sub(r" ~(\d) ", lambda most: rf"\\s+(?:{_WORD}\\s+){{0,{most.group(1)}}}?".replace("\\\\", "\\"), pattern)
    pattern = re.sub(r" \^(\d) ", lambda most: rf"\\s+(?:{_PHRASE_END}{_WORD}\\s+){{0,{most.group(1)}}}?".replace("\\\\", "\\"), pattern)
    return re.compile(pattern.replace(" ", r"\s+"), re.MULTILINE)


_IGNORE = "ignor|disregard|forget|overrid|overrul|bypass|circumvent|neglect|discard|dismiss|violat|supersed|set aside|throw away|erase|break|drop|stop|no attention|do not|don't|no longer|never"
_TOLD = "instruction|rule|guideline|guidance|directive|command|order|polic|constraint|restriction|guard|prompt|message|lesson|playbook|programming|training|protocol|limitation|principle"
NEGATION_STEMS = "do not|don't|never|no need|needn't|need not|necessary|stop|without|no reason"
CHECK_STEMS = "kyc|check|verif|validat|confirm|approv|review|authenti|authori|2fa|mfa|factor|guard|safe|secur|audit|monitor|limit|tls|ssl|cert|sandbox|firewall|virus|defender|selinux|hook|filter|moderation|consent|fraud|access|constraint|polic"
_POWERS = "access|permission|rights|privilege|role|admin|root|sudo|control|authority|superuser|credential"
_FULL = "full|unrestrict|unlimit|uncondit|complete|total|admin|root|super|owner|sudo|elevated|god|master"
HTTP_STEMS = "http|hxxp|www.|ftp:|github|gitlab|bitbucket|pastebin"
_LIMITED = r"\b(?:only|unless|if|within|at most|up to|no more than|not|before|until|once|while|during|at least|under)\b"

IGNORE_RULES: tuple[Rule, ...] = (
    rule("ignore-instructions", f"{_IGNORE}&{_TOLD}", r"{ignore} ~4 {others} ~3 {instructions}"),
    rule(
        "ignore-instructions",
        f"{_IGNORE}&instruction|rule|guideline|directive|command|prompt|lesson|polic",
        r"{ignore} (?:the |any )?(?:[\w'-]+ ){0,2}?(?:instructions?|rules|guidelines|directives|commands|prompts?|lessons|polic(?:y|ies))"
        r" ~2 (?:above|before|so far|given|you (?:were|have been|got)|of the (?:system|developer|operator)|in the (?:system|developer|playbook))",
    ),
    rule(
        "ignore-instructions",
        f"{_IGNORE}&everything|anything|all |whatever|what",
        r"{ignore} (?:everything|anything|all|whatever|what) (?:else )?(?:[\w'-]+ ){0,2}?"
        r"(?:above|before|you (?:know|knew|were|have|learned|learnt)|prior|previously|said|told|user|{masters})\b",
    ),
    rule(
        "ignore-instructions",
        "follow|obey|comply|adhere|respect&playbook|system prompt|polic|rule|guideline|instruction",
        r"(?:stop (?:following|obeying|respecting)|(?:no longer|do not|don't|not) (?:need|have) to (?:follow|obey|respect|comply with)|(?:must|should|need|shall|can|do|have to|may) not (?:follow|obey|comply with|adhere to|respect)|no longer (?:follow|obey)) "
        r"(?:the |your )?(?:playbook|system prompt|polic(?:y|ies)|rules of the system|[\w'-]+ polic(?:y|ies)|(?:company|your|safety|security|operator'?s?|developer'?s?) ^1 (?:polic(?:y|ies)|rules|guidelines|instructions)"
        r"|company polic(?:y|ies))\b",
        negatable=False,
    ),
    rule(
        "ignore-instructions",
        "overrid|supersed|preceden|priority|replac|outrank|trump|cancel&this|these|following|my|its|new",
        r"(?:this|these|the following|my|its?|new) (?:[\w'-]+ )?(?:lessons?|rules?|instructions?|notes?|entr(?:y|ies)|messages?|texts?|directives?|orders?|commands?|guidance)"
        r" (?:[\w'-]+ )?(?:overrides?|supersedes?|(?:takes?|has|have) (?:precedence|priority) over|replaces?|outranks?|trumps?|cancels?)"
        r" ~3 (?:all|any|every|everything|previous|prior|earlier|system|your|developer|safety)\b",
    ),
    rule(
        "ignore-instructions",
        "void|invalid|outdated|wrong|obsolete|cancel|revoked|supersed|no longer|null|suspended|lifted|matter|apply|count",
        r"(?:your|system|developer'?s?|operator'?s?|previous|prior|earlier|former|all other|existing|safety) (?:[\w'-]+ )?(?:instructions?|guidance|guidelines|directives|orders|prompts?|lessons"
        r"|rules|restrictions) ~2 (?:(?:is |are |as )?(?:now )?(?:void|invalid|outdated|wrong|obsolete|cancell?ed|revoked|superseded|null|suspended|lifted|no longer (?:valid|in force))\b"
        r"|(?:no longer|do not|don't|never) (?:apply|applies|hold|count|matter|bind))",
        unless=r"\buser'?s\b",
    ),
    rule(
        "ignore-instructions",
        "ignore|disregard|forget|skip|drop|overwrite&instruction|rules|guideline|prompt|directive",
        r"(?:your|system|developer'?s?|operator'?s?|previous|prior|former) (?:[\w'-]+ )?(?:instructions?|rules|guidelines|prompts?|directives)\b(?:(?![.;!?]\s)[^\n]){0,50}?"
        r"\b(?:ignore|disregard|forget|skip|drop|overwrite) (?:them|it|these|those)\b",
    ),
    rule(
        "ignore-instructions",
        "overwrite|delete|erase|wipe|retire|replace&lesson|playbook|instruction|guardrail|memor",
        r"(?:overwrite|delete|erase|wipe|retire|replace) (?:all|every|any|the) (?:other |existing |previous |earlier |old )?(?:lessons|playbooks?|instructions|guard ?rails|memor(?:y|ies))\b",
        order=True,
    ),
    rule("ignore-instructions", "forget|disregard|violate|break|flout&polic|rules|guideline", r"(?:forget(?: about)?|disregard|violate|break|flout) (?:the |all |our |your )?(?:[\w'-]+ )?(?:polic(?:y|ies)|guidelines)\b", order=True),
    rule("ignore-instructions", "do what&tells|says|asks|wants|orders", r"do what(?:ever)? (?:the |this |that |an? )?(?:[\w'-]+ )?{carrier} (?:tells|says|asks|wants|orders)", unless=r"\b(?:user|customer)'?s?\b"),
    rule("ignore-instructions", "trust", r"trust (?:all|any|every) (?:[\w'-]+ )?(?:mcp|tools?|servers?|sources?|senders?|certificates?|hosts?|domains?|inputs?|texts?|outputs?|pages?|plugins?)\b", order=True),
    rule("ignore-instructions", "regardless", r"regardless of (?:what )?(?:your|the) (?:system prompt|instructions|rules|guidelines|playbook|developer|operator)\b"),
    rule("ignore-instructions", "put|place|rank&above|over|before|ahead", r"(?:put|place|rank) {sentence}\b(?:above|over|before|ahead of) (?:the |your )?{masters}(?:'s)? (?:rules|instructions|polic(?:y|ies)|prompt)", order=True),
    rule("ignore-instructions", "command|order|instruction&you must|you should|you have to|you need to", r"(?:is|are) (?:an? )?(?:commands?|orders?|instructions?) (?:that )?you (?:must|should|have to|need to) (?:execute|obey|follow|carry out)"),
    rule("ignore-instructions", "order|command|instruction&do them|obey|execute|follow", r"(?:is|are) (?:orders?|commands?|instructions?)[^\n.]{0,20}?[,;:] ?(?:do|obey|execute|follow) (?:them|it)\b"),
    rule("ignore-instructions", "others are|other lessons|other rules|everything else", r"(?:the )?(?:others|other (?:lessons|rules)|everything else) (?:is|are) (?:void|invalid|ignored|cancell?ed|to be ignored)\b"),
    rule("ignore-instructions", "persona|role|identity|character|speak as|act as|respond as|answer as", r"(?:drop|change|abandon|switch) your (?:persona|role|identity|character)\b|(?:speak|act|respond|answer) as (?:the |an? )?(?:system|root|owner|(?:system )?administrator)\b", order=True),
    rule("ignore-instructions", "override", r"overrid(?:e|ing)[ _-](?:safety|security|polic(?:y|ies)|rules|guard ?rails|limits)\b['\"]?\s*[:=]"),
    rule("ignore-instructions", "only&counts|matters|is valid", r"only (?:the |this )?(?:text|document|message|note|ticket|page)\b{sentence}\b(?:counts|matters|is valid)\b"),
    rule(
        "ignore-instructions",
        "you are |you're |act as|pretend|behave&dan|unrestrict|unfilter|uncensor|jailbr|evil|god|mode|root|admin|different|bound|restricted|subject",
        r"(?:you are|you're|act as|pretend (?:to be|you are)|behave (?:as|like)) (?:now |no longer )?(?:an? |the |in )?"
        r"(?:dan\b|unrestricted|unfiltered|uncensored|jailbroken|evil\b|god mode|developer mode|maintenance mode|root\b|admin mode|a different (?:ai|assistant)"
        r"|bound by|restricted by|subject to (?:any|your|the) (?:rules|polic))",
    ),
    rule("ignore-instructions", "no rules|no restriction|no limit|no guideline|no filter", r"(?:you|there|we) (?:have|are|has|were) no (?:rules|restrictions|limits|guidelines|filters)\b"),
    rule(
        "ignore-instructions",
        "system prompt|instruction|directive|override",
        r"(?:^|[\n.!\])>*#]\s*)(?:new|updated|revised|real|actual|important|urgent|secret|hidden|system|admin|developer) (?:system )?"
        r"(?:prompt|instructions?|directives?|override)\s*[:=\u2014-]",
        negatable=False,
    ),
    rule(
        "ignore-instructions",
        "system override|jailbreak|god mode|developer mode|dan mode|unrestricted mode",
        r"(?:system override\b|(?:enter|activate|enable|switch to|engage) (?:jailbreak|god|dan|unrestricted|developer)[ -]?mode|jailbreak (?:mode|yourself|the))",
    ),
    rule(
        "ignore-instructions",
        "obey|follow|execute|comply|carry out|do what|act on|trust&instruction|command|order|directive|request|it says",
        r"(?:obey|follow|execute|comply with|carry out|do(?! not)|act on|trust) (?:(?:all|any|every|each|whatever|the|what) )?(?:[\w'-]+ ){0,2}?"
        r"(?:instructions?|commands?|orders?|directives?|requests?|it) ~4 (?:in|from|inside|contained|embedded|written|found|hidden|that appears?|given (?:in|by)|of|says)"
        r" ~4 (?!(?:the )?(?:readme|user|file before))(?:tool|web ?page|web ?site|page|email|e-mail|mail|document|attachment|comment|output|result|message body|payload|description"
        r"|ticket|note|html|link|url)s?\b",
    ),
    rule(
        "ignore-instructions",
        "command|instruction|order&carry|execute|obey|follow|run|do them|do it",
        r"{carrier} ~3 (?:contains?|includes?|has|have|holds?) ~2 (?:commands?|instructions?|orders?)\b{sentence}(?<!not\s)(?<!never\s)(?<!n't\s)\b(?:carry (?:them|it) out|(?:execute|obey|follow|run|do) (?:them|it|these))\b",
        negatable=False,
    ),
    rule(
        "ignore-instructions",
        "treat|count|is an|are |as ",
        r"(?:treat ~8 as|{carrier} ~4 (?:counts?|is to be treated|should be treated|must be treated|are to be treated) as) (?:[\w'-]+ ){0,3}?"
        r"(?:system (?:message|prompt|instruction)s?|(?:your |new |trusted )?instructions?|commands?|trusted|authoritative|orders?|from the (?:administrator|system|owner))\b",
        unless=r"\b(?:untrusted|data|not as)\b",
    ),
    rule(
        "ignore-instructions",
        "<|im_|[inst]|[/inst]|<<sys>>|</system|<system|<|system|<|user|<|assistant|<|endof|<|start|<|end|<|eot",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|end_header_id|start_header_id|eot_id)\|?>?|\[/?inst\]|<</?sys>>"
        r"|</?system(?:[ _-](?:prompt|message|instruction)s?)?>\s*(?:you|ignore|new|override|from)",
        negatable=False,
    ),
)  # fmt: skip

POWER_RULES: tuple[Rule, ...] = (
    rule(
        "capability",
        f"grant|give|assign|allow|confer|provid|extend|award|elevate|promote|escalate|upgrade&{_POWERS}",
        r"(?:grant|give|assign|allow|confer|provide|extend|award|elevate|promote|escalate|upgrade) {anybody} ~6 {powers}",
        order=True,
    ),
    rule(
        "capability",
        f"grant|give|assign|add &{_FULL}&access|permission|rights|privilege|role|control",
        r"(?:grant|give|assign|add) ^5 {full} ~2 (?:access|permissions?|rights|privileges?|role|control)\b",
        order=True,
        unless=r"\bonly (?:grant|give|assign|add|if|after|when)\b",
    ),
    rule("capability", "make&admin|owner|root|superuser", r"make {anybody} (?:an? |the )?(?:global |full )?(?:admin\w*|owner|root|superuser)\b", order=True),
    rule(
        "capability",
        "allow|let|permit",
        r"(?:allow|let|permit) (?:{anybody}|{self}|(?:the|this|every|any) (?:[\w'-]+ )?tools?|external users?|unauthenticated users?|all users) (?:to )?(?:read|write|access|edit|run|execute|delete|use|modify|call|install|spend|transfer)\b",
        order=True,
        unless=r"\b(?:only|if|unless|not|own)\b",
    ),
    rule(
        "capability",
        "authori|permitted|allowed|granted|cleared|entitled|empowered|approved|given|free&you|agent|assistant|model",
        r"{self} (?:are|is|have been|has been|'re|have|has|were) ~2 {allowed} ~8 {free}\b",
        unless=r"\b(?:not|only|without (?:a |any )?(?:fee|charge|penalty|cost))\b",
    ),
    rule(
        "capability",
        "authori|permitted|allowed|granted|cleared|entitled|empowered|approved&now|hereby|already|pre",
        r"{self} (?:are|is|have been|has been|'re) (?:now|hereby|from now on|already|pre)[ -]?\s*(?:[\w'-]+ ){0,2}?"
        r"(?:authori[sz]ed|permitted|allowed|granted|cleared|entitled|empowered|approved)\b",
        unless=_LIMITED,
    ),
    rule(
        "capability",
        "may |can |permission to|right to|free to&any |any|arbitrary|whenever|shell|all |every|unrestrict|unlimit|freely|at will|whatever",
        r"{self} (?:may|can|have permission to|has permission to|have the right to|has the right to|are free to) (?:now |always )?(?:use|run|execute|call|delete|access|read|write|modify"
        r"|transfer|spend|install|approve)\b{sentence}\b(?:arbitrary|whenever|shell|unrestricted|unlimited|freely|at will|whatever|any (?:tool|file|command|amount|account)|all (?:tools|files"
        r"|commands|accounts)|any [\w'-]+ (?:it|you|they) (?:wants?|likes?))\b",
        unless=r"\b(?:only|unless|not|cannot)\b",
    ),
    rule(
        "capability",
        f"access|permission|privilege|rights|control|authority&{_FULL}&you|agent|assistant|model",
        r"{self} (?:now |already )?(?:has|have|possess(?:es)?|enjoys?) ~2 {full} ~2 (?:access|permissions?|privileges?|rights|control|authority)\b",
    ),
    rule(
        "capability",
        "elevate|escalate|sudo|root|admin|approve",
        r"(?:(?:elevate|escalate) ^3 (?:privileges?|permissions?|rights|access)\b|add ^3 (?:yourself|the agent|me) to ~3 (?:sudoers|admin\w*|root|wheel)"
        r"|(?:run|execute) (?:everything|all (?:[\w'-]+ )?commands?|every (?:[\w'-]+ )?command) (?:as|with|using|under|via) (?:root|sudo|admin\w*)"
        r"|use (?:sudo|(?:the |an? )?(?:admin\w*|root|superuser|service|owner'?s?) (?:account|token|credentials|key|login)) (?:for|on|in) (?:everything|every|all|each|any)\b"
        r"|approve ~4 (?:yourself\b|your own (?:requests?|permissions?|changes?))|request (?:elevated|admin\w*|root) (?:permissions?|privileges?|rights|access))",
        order=True,
    ),
    rule(
        "capability",
        "promote|upgrade|elevate|role|scope|permission|authorized_keys|root|for yourself",
        r"(?:(?:promote|upgrade|elevate) (?:\S+ ){1,5}?to (?:an? |the )?(?:admin\w*|owner|root|superuser)\b|set ^4 role ~2 (?:to|=) [\"']?(?:admin\w*|owner|root)\b"
        r"|(?:grant|give|assign) (?:all|every) (?:[\w'-]+ )?(?:scopes?|permissions?|rights|privileges?)\b|(?:escalate|switch|su) to root\b"
        r"|(?:add|append|put|write|install)\b{sentence}\bauthorized_keys\b|(?:unlock|enable|activate|allow) (?:the )?(?:[\w'-]+ ){1,4}?for yourself\b"
        r"|(?:create|generate|issue|mint) ^4 (?:keys?|tokens?|credentials?|accounts?) with (?:full|admin\w*|all|unlimited|root|write) (?:scopes?|access|rights|permissions?))",
        order=True,
    ),
    rule("capability", "bucket|database|port|server|network", r"(?:open|expose|make) ^4 (?:bucket|database|ports?|server|network) ~3 (?:public|internet|world|everyone|0\.0\.0\.0)", order=True),
    rule("capability", "chmod|--privileged", r"chmod (?:-r )?(?:0?777|a\+rwx|\+s|u\+s)\b|docker run ~4 --privileged"),
    rule(
        "tool-permission",
        "permission|allowlist|allow-list|allow list|whitelist|denylist|deny-list|sandbox|approval mode|access|polic|restriction&tool|agent|assistant|your|own|mcp|sandbox|execution|shell|bash|command",
        r"(?:change|modify|edit|update|set|extend|relax|loosen|widen|expand|rewrite|open up|reconfigure|adjust|alter|raise|remove|clear|delete|empty)"
        r" (?:the |your |its |all |my )?(?:[\w'-]+ )?(?:tools?'?s?|agents?'?s?|assistant'?s?|your|own|mcp|sandbox|execution|shell|bash|command)"
        r" (?:permissions?|access|allow[ -]?lists?|whitelists?|deny[ -]?lists?|polic(?:y|ies)|approval mode|restrictions?|sandbox settings)\b",
        order=True,
    ),
    rule(
        "tool-permission",
        "allowed|allow-|allow l|allowl|white|trusted|approved|permitted|permission&add|append|include|insert|put|move",
        r"(?:add|append|include|insert|put|move) (?:\S+ ){1,6}?(?:to|in|into|on) (?:the |your |its )?(?:[\w'-]+ ){0,3}?"
        r"(?:(?:allowed|approved|permitted|trusted|auto-?approved)[ -](?:tools?|commands?|list of tools)"
        r"|(?:tool|agent|command|agent's|permission|bash|shell)s? (?:allow|white|permission)[ -]?lists?|permissions\.allow)\b",
        order=True,
    ),
    rule(
        "tool-permission",
        "allow|permission&settings|config|.json|.toml|.claude|codex|cursor",
        r"(?:put|add|write|set|insert|place)\b{sentence}\b(?:under|to|in|into|of)\b{sentence}\b(?:allow|permissions?|allowlist|allowed|always_?allow)\b{sentence}"
        r"(?:settings|config|\.json|\.toml|\.claude|codex|cursor)",
        order=True,
    ),
    rule(
        "tool-permission",
        "allow&bash|shell|*|write|edit|webfetch|all|any",
        r"\ballow (?:bash|shell|write|edit|webfetch)\(|\"?\ballow(?:ed)?[_-]?(?:tools|commands|list)?\"?\s*[:=]\s*\[?\s*[\"']?(?:bash|shell|\*|write|edit|webfetch|all|any)\b|\"?\ballow\"?\s*:\s*\[\s*\"(?:bash|shell|\*|webfetch)",
    ),
    rule("tool-permission", "settings|.claude|codex|cursor&allow", r"(?:edit|change|modify|rewrite|update) (?:\S+ ){0,4}?\S*(?:settings|\.claude|codex|cursor)\S*{sentence}\b(?:allowed|allow)\b", order=True),
    rule("tool-permission", "restriction|limit|lock&remove|lift|drop|disable|bypass", r"(?:remove|lift|drop|disable|bypass) (?:the |any |all )?(?:[\w'-]+ ){0,2}?(?:restrictions?|locks?) (?:of|on|from) (?:the )?(?:[\w'-]+ ){0,3}?(?:tool|agent|assistant|database)\b", order=True),
    rule(
        "tool-permission",
        "dangerously|bypasspermissions|acceptedits|--allow-danger|--auto-approve|--no-confirm|--force-yes|--yolo|--allow-all|--no-sandbox|auto-approv|autoapprov|auto approv|auto-accept|auto-run|full-auto|skip-permission",
        r"--(?:dangerously-[a-z-]+|yolo|allow-all(?:-tools)?|allow-danger\w*|auto-approve|no-confirm\w*|force-yes|no-sandbox|full-auto|skip-permissions?)\b|bypasspermissions\b|acceptedits\b|dangerouslyskippermissions\b"
        r"|auto[ -]?approv(?:e|ing) (?:all|every|any|everything|tool|command|shell|bash)|(?:turn on|enable|use|activate|switch on) (?:the )?auto[ -]?(?:approve|approval|accept|run|confirm)\w*",
    ),
    rule(
        "tool-permission",
        "approval|permission|sandbox|trust&never|none|off|bypass|full|danger|yolo|auto|allow|always",
        r"(?:set|switch|change|turn|put) ^4 (?:approval[ _-]?policy|permission[ _-]?mode|approval[ _-]?mode|ask[_-]for[_-]approval|sandbox[ _-]?mode|trust level)"
        r" ~2 (?:to|into|=) (?:[\w'-]+ )?[\"'`]?(?:never|none|off|bypass\w*|full|danger\w*|yolo|auto\w*|allow\w*|always)",
    ),
    rule(
        "tool-permission",
        "approve|accept|confirm&automatic|without|default|silently|blindly|at once",
        r"(?:approve|accept|confirm) (?:all|every|any|each) ~3 (?:tool|command|shell|bash|permission|action|request|prompt|transaction|payment|refund)s?\b"
        r"\s*(?:[\w'-]+ ){0,3}?(?:automatically|without|by default|silently|blindly|at once)",
        order=True,
    ),
    rule(
        "tool-permission",
        "yes|allow|approve|accept|ok |continue&prompt|warning|dialog|question|request",
        r"(?:answer|say|press|click|reply|choose|select) (?:with )?[\"']?(?:yes|allow|approve|accept|ok|continue|y)[\"']? (?:to|on|at|for|in) (?:[\w'-]+ ){0,2}?"
        r"(?:permission|security|safety|all|any|every|each|approval) (?:[\w'-]+ ){0,2}?(?:prompts?|warnings?|dialogs?|questions|requests)\b",
        order=True,
    ),
    rule(
        "tool-permission",
        "deny|denied|block|white|allow",
        r"(?:(?:remove|delete|drop|take) (?:\S+ ){1,4}?from (?:the |your )?(?:[\w'-]+ ){0,2}?(?:deny[ -]?(?:list|rules?)|denied (?:tools|commands))"
        r"|(?:white|allow)[ -]?list (?:\S+ ){1,5}?(?:for|in) (?:the )?(?:[\w'-]+ ){0,2}?(?:tool|agent|sandbox|fetch|shell)s?\b)",
        order=True,
    ),
    rule(
        "tool-permission",
        "shell|bash|terminal|code execution|filesystem|file system|root|sudo&enable|activate|unlock|turn on|switch on|open|unblock",
        r"(?:enable|activate|unlock|turn on|switch on|open|unblock) (?:the |your )?(?:[\w'-]+ ){0,2}?(?:shell|bash|terminal|code execution|file ?system|root|sudo)"
        r" (?:[\w'-]+ )?(?:tools?|access|permissions?|mode|execution|commands?)\b",
        order=True,
    ),
)  # fmt: skip
