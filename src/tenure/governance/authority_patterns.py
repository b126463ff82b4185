"""English patterns of texts that take authority: they tell an agent to ignore its instructions, or give out powers.

In the notation of `pattern_notation`.
"""

from __future__ import annotations

from tenure.governance.pattern_notation import Rule, rule

_IGNORE = (
    "ignor|disregard|forget|overrid|overrul|bypass|circumvent|neglect|discard|dismiss|violat|supersed|set aside|throw away|erase|break|drop"
    "|stop|no attention|do not|don't|no longer|never"
)
_TOLD = (
    "instruction|rule|guideline|guidance|directive|command|order|polic|constraint|restriction|guard|prompt|message|lesson|playbook"
    "|programming|training|protocol|limitation|principle"
)
_POWERS = "access|permission|rights|privilege|role|admin|root|sudo|control|authority|superuser|credential"
_FULL = "full|unrestrict|unlimit|uncondit|complete|total|admin|root|super|owner|sudo|elevated|god|master"
_LIMITED = r"\b(?:only|unless|if|within|at most|up to|no more than|not|before|until|once|while|during|at least|under)\b"

IGNORE_RULES: tuple[Rule, ...] = (
    rule("ignore-instructions", f"{_IGNORE}&{_TOLD}", r"{ignore} ~4 {others} ~3 {instructions}"),
    rule(
        "ignore-instructions",
        f"{_IGNORE}&instruction|rule|guideline|directive|command|prompt|lesson|polic",
        r"{ignore} (?:the |any )?(?:[\w'-]+ ){0,2}?(?:instructions?|rules|guidelines|directives|commands|prompts?|lessons|polic(?:y"
        r"|ies)) ~2 (?:above|before|so far|given|you (?:were|have been|got)|of the (?:system|developer|operator)|in the (?:system"
        r"|developer|playbook))",
    ),
    rule(
        "ignore-instructions",
        f"{_IGNORE}&everything|anything|all |whatever|what",
        r"{ignore} (?:everything|anything|all|whatever|what) (?:else )?(?:[\w'-]+ ){0,2}?(?:above|before|you (?:know|knew|were|have"
        r"|learned|learnt)|prior|previously|said|told|user|{masters})\b",
    ),
    rule(
        "ignore-instructions",
        "follow|obey|comply|adhere|respect&playbook|system prompt|polic|rule|guideline|instruction",
        r"(?:stop (?:following|obeying|respecting)|(?:no longer|do not|don't|not) (?:need|have) to (?:follow|obey|respect|comply with)"
        r"|(?:must|should|need|shall|can|do|have to|may) not (?:follow|obey|comply with|adhere to|respect)|no longer (?:follow"
        r"|obey)) (?:the |your )?(?:playbook|system prompt|polic(?:y|ies)|rules of the system|[\w'-]+ polic(?:y|ies)|(?:company|your"
        r"|safety|security|operator'?s?|developer'?s?) ^1 (?:polic(?:y|ies)|rules|guidelines|instructions)|company polic(?:y|ies))\b",
        negatable=False,
    ),
    rule(
        "ignore-instructions",
        "overrid|supersed|preceden|priority|replac|outrank|trump|cancel&this|these|following|my|its|new",
        r"(?:this|these|the following|my|its?|new) (?:[\w'-]+ )?(?:lessons?|rules?|instructions?|notes?|entr(?:y|ies)|messages?|texts?"
        r"|directives?|orders?|commands?|guidance) (?:[\w'-]+ )?(?:overrides?|supersedes?|(?:takes?|has|have) (?:precedence|priority) over"
        r"|replaces?|outranks?|trumps?|cancels?) ~3 (?:all|any|every|everything|previous|prior|earlier|system|your|developer|safety)\b",
    ),
    rule(
        "ignore-instructions",
        "void|invalid|outdated|wrong|obsolete|cancel|revoked|supersed|no longer|null|suspended|lifted|matter|apply|count",
        r"(?:your|system|developer'?s?|operator'?s?|previous|prior|earlier|former|all other|existing|safety) (?:[\w'-]+ )?(?:instructions?"
        r"|guidance|guidelines|directives|orders|prompts?|lessons|rules|restrictions) ~2 (?:(?:is |are |as )?(?:now )?(?:void|invalid"
        r"|outdated|wrong|obsolete|cancell?ed|revoked|superseded|null|suspended|lifted|no longer (?:valid|in force))\b|(?:no longer|do not"
        r"|don't|never) (?:apply|applies|hold|count|matter|bind))",
        unless=r"\buser'?s\b",
    ),
    rule(
        "ignore-instructions",
        "ignore|disregard|forget|skip|drop|overwrite&instruction|rules|guideline|prompt|directive",
        r"(?:your|system|developer'?s?|operator'?s?|previous|prior|former) (?:[\w'-]+ )?(?:instructions?|rules|guidelines|prompts?"
        r"|directives)\b(?:(?![.;!?]\s)[^\n]){0,50}?\b(?:ignore|disregard|forget|skip|drop|overwrite) (?:them|it|these|those)\b",
    ),
    rule(
        "ignore-instructions",
        "overwrite|delete|erase|wipe|retire|replace&lesson|playbook|instruction|guardrail|memor",
        r"(?:overwrite|delete|erase|wipe|retire|replace) (?:all|every|any|the) (?:other |existing |previous |earlier |old )?(?:lessons"
        r"|playbooks?|instructions|guard ?rails|memor(?:y|ies))\b",
        order=True,
    ),
    rule(
        "ignore-instructions",
        "forget|disregard|violate|break|flout&polic|rules|guideline",
        r"(?:forget(?: about)?|disregard|violate|break|flout) (?:the |all |our |your )?(?:[\w'-]+ )?(?:polic(?:y|ies)|guidelines)\b",
        order=True,
    ),
    rule(
        "ignore-instructions",
        "do what&tells|says|asks|wants|orders",
        r"do what(?:ever)? (?:the |this |that |an? )?(?:[\w'-]+ )?{carrier} (?:tells|says|asks|wants|orders)",
        unless=r"\b(?:user|customer)'?s?\b",
    ),
    rule(
        "ignore-instructions",
        "trust",
        r"trust (?:all|any|every) (?:[\w'-]+ )?(?:mcp|tools?|servers?|sources?|senders?|certificates?|hosts?|domains?|inputs?|texts?"
        r"|outputs?|pages?|plugins?)\b",
        order=True,
    ),
    rule(
        "ignore-instructions",
        "regardless",
        r"regardless of (?:what )?(?:your|the) (?:system prompt|instructions|rules|guidelines|playbook|developer|operator)\b",
    ),
    rule(
        "ignore-instructions",
        "put|place|rank&above|over|before|ahead",
        r"(?:put|place|rank) {sentence}\b(?:above|over|before|ahead of) (?:the |your )?{masters}(?:'s)? (?:rules|instructions|polic(?:y"
        r"|ies)|prompt)",
        order=True,
    ),
    rule(
        "ignore-instructions",
        "command|order|instruction&you must|you should|you have to|you need to",
        r"(?:is|are) (?:an? )?(?:commands?|orders?|instructions?) (?:that )?you (?:must|should|have to|need to) (?:execute|obey|follow"
        r"|carry out)",
    ),
    rule(
        "ignore-instructions",
        "order|command|instruction&do them|obey|execute|follow",
        r"(?:is|are) (?:orders?|commands?|instructions?)[^\n.]{0,20}?[,;:] ?(?:do|obey|execute|follow) (?:them|it)\b",
    ),
    rule(
        "ignore-instructions",
        "others are|other lessons|other rules|everything else",
        r"(?:the )?(?:others|other (?:lessons|rules)|everything else) (?:is|are) (?:void|invalid|ignored|cancell?ed|to be ignored)\b",
    ),
    rule(
        "ignore-instructions",
        "persona|role|identity|character|speak as|act as|respond as|answer as",
        r"(?:drop|change|abandon|switch) your (?:persona|role|identity|character)\b|(?:speak|act|respond|answer) as (?:the "
        r"|an? )?(?:system|root|owner|(?:system )?administrator)\b",
        order=True,
    ),
    rule(
        "ignore-instructions",
        "override",
        r"overrid(?:e|ing)[ _-](?:safety|security|polic(?:y|ies)|rules|guard ?rails|limits)\b['\"]?\s*[:=]",
    ),
    rule(
        "ignore-instructions",
        "only&counts|matters|is valid",
        r"only (?:the |this )?(?:text|document|message|note|ticket|page)\b{sentence}\b(?:counts|matters|is valid)\b",
    ),
    rule(
        "ignore-instructions",
        "you are |you're |act as|pretend|behave&dan|unrestrict|unfilter|uncensor|jailbr|evil|god|mode|root|admin|different|bound"
        "|restricted|subject",
        r"(?:you are|you're|act as|pretend (?:to be|you are)|behave (?:as|like)) (?:now |no longer )?(?:an? |the |in )?(?:dan\b"
        r"|unrestricted|unfiltered|uncensored|jailbroken|evil\b|god mode|developer mode|maintenance mode|root\b|admin mode"
        r"|a different (?:ai|assistant)|bound by|restricted by|subject to (?:any|your|the) (?:rules|polic))",
    ),
    rule(
        "ignore-instructions",
        "no rules|no restriction|no limit|no guideline|no filter",
        r"(?:you|there|we) (?:have|are|has|were) no (?:rules|restrictions|limits|guidelines|filters)\b",
    ),
    rule(
        "ignore-instructions",
        "system prompt|instruction|directive|override",
        r"(?:^|[\n.!\])>*#]\s*)(?:new|updated|revised|real|actual|important|urgent|secret|hidden|system|admin"
        r"|developer) (?:system )?(?:prompt|instructions?|directives?|override)\s*[:=\u2014-]",
        negatable=False,
    ),
    rule(
        "ignore-instructions",
        "system override|jailbreak|god mode|developer mode|dan mode|unrestricted mode",
        r"(?:system override\b|(?:enter|activate|enable|switch to|engage) (?:jailbreak|god|dan|unrestricted|developer)[ -]?mode"
        r"|jailbreak (?:mode|yourself|the))",
    ),
    rule(
        "ignore-instructions",
        "obey|follow|execute|comply|carry out|do what|act on|trust&instruction|command|order|directive|request|it says",
        r"(?:obey|follow|execute|comply with|carry out|do(?! not)|act on|trust) (?:(?:all|any|every|each|whatever|the"
        r"|what) )?(?:[\w'-]+ ){0,2}?(?:instructions?|commands?|orders?|directives?|requests?|it) ~4 (?:in|from|inside|contained|embedded"
        r"|written|found|hidden|that appears?|given (?:in|by)|of|says) ~4 (?!(?:the )?(?:readme|user|file before))(?:tool|web ?page"
        r"|web ?site|page|email|e-mail|mail|document|attachment|comment|output|result|message body|payload|description|ticket|note|html"
        r"|link|url)s?\b",
    ),
    rule(
        "ignore-instructions",
        "command|instruction|order&carry|execute|obey|follow|run|do them|do it",
        r"{carrier} ~3 (?:contains?|includes?|has|have|holds?) ~2 (?:commands?|instructions?"
        r"|orders?)\b{sentence}(?<!not\s)(?<!never\s)(?<!n't\s)\b(?:carry (?:them|it) out|(?:execute|obey|follow|run|do) (?:them|it"
        r"|these))\b",
        negatable=False,
    ),
    rule(
        "ignore-instructions",
        "treat|count|is an|are |as ",
        r"(?:treat ~8 as|{carrier} ~4 (?:counts?|is to be treated|should be treated|must be treated"
        r"|are to be treated) as) (?:[\w'-]+ ){0,3}?(?:system (?:message|prompt|instruction)s?|(?:your |new |trusted )?instructions?"
        r"|commands?|trusted|authoritative|orders?|from the (?:administrator|system|owner))\b",
        unless=r"\b(?:untrusted|data|not as)\b",
    ),
    rule(
        "ignore-instructions",
        "<|im_|[inst]|[/inst]|<<sys>>|</system|<system|<|system|<|user|<|assistant|<|endof|<|start|<|end|<|eot",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|end_header_id|start_header_id|eot_id)\|?>?|\[/?inst\]|<</?sys>>"
        r"|</?system(?:[ _-](?:prompt|message|instruction)s?)?>\s*(?:you|ignore|new|override|from)",
        negatable=False,
    ),
)

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
    rule(
        "capability",
        "make&admin|owner|root|superuser",
        r"make {anybody} (?:an? |the )?(?:global |full )?(?:admin\w*|owner|root|superuser)\b",
        order=True,
    ),
    rule(
        "capability",
        "allow|let|permit",
        r"(?:allow|let|permit) (?:{anybody}|{self}|(?:the|this|every|any) (?:[\w'-]+ )?tools?|external users?|unauthenticated users?"
        r"|all users) (?:to )?(?:read|write|access|edit|run|execute|delete|use|modify|call|install|spend|transfer)\b",
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
        r"{self} (?:are|is|have been|has been|'re) (?:now|hereby|from now on|already|pre)[ -]?\s*(?:[\w'-]+ ){0,2}?(?:authori[sz]ed"
        r"|permitted|allowed|granted|cleared|entitled|empowered|approved)\b",
        unless=_LIMITED,
    ),
    rule(
        "capability",
        "may |can |permission to|right to|free to&any |any|arbitrary|whenever|shell|all |every|unrestrict|unlimit|freely|at will|whatever",
        r"{self} (?:may|can|have permission to|has permission to|have the right to|has the right to|are free to) (?:now |always )?(?:use"
        r"|run|execute|call|delete|access|read|write|modify|transfer|spend|install|approve)\b{sentence}\b(?:arbitrary|whenever|shell"
        r"|unrestricted|unlimited|freely|at will|whatever|any (?:tool|file|command|amount|account)|all (?:tools|files|commands|accounts)"
        r"|any [\w'-]+ (?:it|you|they) (?:wants?|likes?))\b",
        unless=r"\b(?:only|unless|not|cannot)\b",
    ),
    rule(
        "capability",
        f"access|permission|privilege|rights|control|authority&{_FULL}&you|agent|assistant|model",
        r"{self} (?:now |already )?(?:has|have|possess(?:es)?|enjoys?) ~2 {full} ~2 (?:access|permissions?|privileges?|rights|control"
        r"|authority)\b",
    ),
    rule(
        "capability",
        "elevate|escalate|sudo|root|admin|approve",
        r"(?:(?:elevate|escalate) ^3 (?:privileges?|permissions?|rights|access)\b|add ^3 (?:yourself|the agent|me) to ~3 (?:sudoers"
        r"|admin\w*|root|wheel)|(?:run|execute) (?:everything|all (?:[\w'-]+ )?commands?|every (?:[\w'-]+ )?command) (?:as|with|using"
        r"|under|via) (?:root|sudo|admin\w*)|use (?:sudo|(?:the |an? )?(?:admin\w*|root|superuser|service|owner'?s?) (?:account|token"
        r"|credentials|key|login)) (?:for|on|in) (?:everything|every|all|each|any)\b|approve ~4 (?:yourself\b|your own (?:requests?"
        r"|permissions?|changes?))|request (?:elevated|admin\w*|root) (?:permissions?|privileges?|rights|access))",
        order=True,
    ),
    rule(
        "capability",
        "promote|upgrade|elevate|role|scope|permission|authorized_keys|root|for yourself",
        r"(?:(?:promote|upgrade|elevate) (?:\S+ ){1,5}?to (?:an? |the )?(?:admin\w*|owner|root|superuser)\b|set ^4 role ~2 (?:to"
        r"|=) [\"']?(?:admin\w*|owner|root)\b|(?:grant|give|assign) (?:all|every) (?:[\w'-]+ )?(?:scopes?|permissions?|rights"
        r"|privileges?)\b|(?:escalate|switch|su) to root\b|(?:add|append|put|write|install)\b{sentence}\bauthorized_keys\b|(?:unlock"
        r"|enable|activate|allow) (?:the )?(?:[\w'-]+ ){1,4}?for yourself\b|(?:create|generate|issue|mint) ^4 (?:keys?|tokens?"
        r"|credentials?|accounts?) with (?:full|admin\w*|all|unlimited|root|write) (?:scopes?|access|rights|permissions?))",
        order=True,
    ),
    rule(
        "capability",
        "bucket|database|port|server|network",
        r"(?:open|expose|make) ^4 (?:bucket|database|ports?|server|network) ~3 (?:public|internet|world|everyone|0\.0\.0\.0)",
        order=True,
    ),
    rule("capability", "chmod|--privileged", r"chmod (?:-r )?(?:0?777|a\+rwx|\+s|u\+s)\b|docker run ~4 --privileged"),
    rule(
        "tool-permission",
        "permission|allowlist|allow-list|allow list|whitelist|denylist|deny-list|sandbox|approval mode|access|polic|restriction&tool|agent"
        "|assistant|your|own|mcp|sandbox|execution|shell|bash|command",
        r"(?:change|modify|edit|update|set|extend|relax|loosen|widen|expand|rewrite|open up|reconfigure|adjust|alter|raise|remove|clear"
        r"|delete|empty) (?:the |your |its |all |my )?(?:[\w'-]+ )?(?:tools?'?s?|agents?'?s?|assistant'?s?|your|own|mcp|sandbox|execution"
        r"|shell|bash|command) (?:permissions?|access|allow[ -]?lists?|whitelists?|deny[ -]?lists?|polic(?:y|ies)|approval mode"
        r"|restrictions?|sandbox settings)\b",
        order=True,
    ),
    rule(
        "tool-permission",
        "allowed|allow-|allow l|allowl|white|trusted|approved|permitted|permission&add|append|include|insert|put|move",
        r"(?:add|append|include|insert|put|move) (?:\S+ ){1,6}?(?:to|in|into|on) (?:the |your |its )?(?:[\w'-]+ ){0,3}?(?:(?:allowed"
        r"|approved|permitted|trusted|auto-?approved)[ -](?:tools?|commands?|list of tools)|(?:tool|agent|command|agent's|permission|bash"
        r"|shell)s? (?:allow|white|permission)[ -]?lists?|permissions\.allow)\b",
        order=True,
    ),
    rule(
        "tool-permission",
        "allow|permission&settings|config|.json|.toml|.claude|codex|cursor",
        r"(?:put|add|write|set|insert|place)\b{sentence}\b(?:under|to|in|into|of)\b{sentence}\b(?:allow|permissions?|allowlist|allowed"
        r"|always_?allow)\b{sentence}(?:settings|config|\.json|\.toml|\.claude|codex|cursor)",
        order=True,
    ),
    rule(
        "tool-permission",
        "allow&bash|shell|*|write|edit|webfetch|all|any",
        r"\ballow (?:bash|shell|write|edit|webfetch)\(|\"?\ballow(?:ed)?[_-]?(?:tools|commands|list)?\"?\s*[:=]\s*\[?\s*[\"']?(?:bash"
        r"|shell|\*|write|edit|webfetch|all|any)\b|\"?\ballow\"?\s*:\s*\[\s*\"(?:bash|shell|\*|webfetch)",
    ),
    rule(
        "tool-permission",
        "settings|.claude|codex|cursor&allow",
        r"(?:edit|change|modify|rewrite|update) (?:\S+ ){0,4}?\S*(?:settings|\.claude|codex|cursor)\S*{sentence}\b(?:allowed|allow)\b",
        order=True,
    ),
    rule(
        "tool-permission",
        "restriction|limit|lock&remove|lift|drop|disable|bypass",
        r"(?:remove|lift|drop|disable|bypass) (?:the |any |all )?(?:[\w'-]+ ){0,2}?(?:restrictions?|locks?) (?:of|on"
        r"|from) (?:the )?(?:[\w'-]+ ){0,3}?(?:tool|agent|assistant|database)\b",
        order=True,
    ),
    rule(
        "tool-permission",
        "dangerously|bypasspermissions|acceptedits|--allow-danger|--auto-approve|--no-confirm|--force-yes|--yolo|--allow-all|--no-sandbox"
        "|auto-approv|autoapprov|auto approv|auto-accept|auto-run|full-auto|skip-permission",
        r"--(?:dangerously-[a-z-]+|yolo|allow-all(?:-tools)?|allow-danger\w*|auto-approve|no-confirm\w*|force-yes|no-sandbox|full-auto"
        r"|skip-permissions?)\b|bypasspermissions\b|acceptedits\b|dangerouslyskippermissions\b|auto[ -]?approv(?:e|ing) (?:all|every|any"
        r"|everything|tool|command|shell|bash)|(?:turn on|enable|use|activate|switch on) (?:the )?auto[ -]?(?:approve|approval|accept|run"
        r"|confirm)\w*",
    ),
    rule(
        "tool-permission",
        "approval|permission|sandbox|trust&never|none|off|bypass|full|danger|yolo|auto|allow|always",
        r"(?:set|switch|change|turn|put) ^4 (?:approval[ _-]?policy|permission[ _-]?mode|approval[ _-]?mode|ask[_-]for[_-]approval"
        r"|sandbox[ _-]?mode|trust level) ~2 (?:to|into|=) (?:[\w'-]+ )?[\"'`]?(?:never|none|off|bypass\w*|full|danger\w*|yolo|auto\w*"
        r"|allow\w*|always)",
    ),
    rule(
        "tool-permission",
        "approve|accept|confirm&automatic|without|default|silently|blindly|at once",
        r"(?:approve|accept|confirm) (?:all|every|any|each) ~3 (?:tool|command|shell|bash|permission|action|request|prompt|transaction"
        r"|payment|refund)s?\b\s*(?:[\w'-]+ ){0,3}?(?:automatically|without|by default|silently|blindly|at once)",
        order=True,
    ),
    rule(
        "tool-permission",
        "yes|allow|approve|accept|ok |continue&prompt|warning|dialog|question|request",
        r"(?:answer|say|press|click|reply|choose|select) (?:with )?[\"']?(?:yes|allow|approve|accept|ok|continue|y)[\"']? (?:to|on|at|for"
        r"|in) (?:[\w'-]+ ){0,2}?(?:permission|security|safety|all|any|every|each|approval) (?:[\w'-]+ ){0,2}?(?:prompts?|warnings?"
        r"|dialogs?|questions|requests)\b",
        order=True,
    ),
    rule(
        "tool-permission",
        "deny|denied|block|white|allow",
        r"(?:(?:remove|delete|drop|take) (?:\S+ ){1,4}?from (?:the |your )?(?:[\w'-]+ ){0,2}?(?:deny[ -]?(?:list|rules?)|denied (?:tools"
        r"|commands))|(?:white|allow)[ -]?list (?:\S+ ){1,5}?(?:for|in) (?:the )?(?:[\w'-]+ ){0,2}?(?:tool|agent|sandbox|fetch|shell)s?\b)",
        order=True,
    ),
    rule(
        "tool-permission",
        "shell|bash|terminal|code execution|filesystem|file system|root|sudo&enable|activate|unlock|turn on|switch on|open|unblock",
        r"(?:enable|activate|unlock|turn on|switch on|open|unblock) (?:the |your )?(?:[\w'-]+ ){0,2}?(?:shell|bash|terminal|code execution"
        r"|file ?system|root|sudo) (?:[\w'-]+ )?(?:tools?|access|permissions?|mode|execution|commands?)\b",
        order=True,
    ),
)
