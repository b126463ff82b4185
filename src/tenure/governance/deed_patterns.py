"""English patterns of what no lesson may have an agent do: switch off checks, send things away, fetch and run, deceive.

In the short hand of `attack_patterns`.
"""

from __future__ import annotations

from tenure.governance.attack_patterns import CHECK_STEMS, HTTP_STEMS, NEGATION_STEMS, Rule, rule

CHECK_RULES: tuple[Rule, ...] = (
    rule(
        "disabled-check",
        "disabl|turn|switch|shut|deactivat|skip|bypass|circumvent|suppress|omit|remov|drop|ignor|mut|overrid|overrul|evad|defeat|sidestep|around|forgo|waiv|comment|weaken"
        f"|relax|loosen|silenc|neutral|uninstall|leave out|dispense|dodge|stop&{CHECK_STEMS}",
        r"{disable} ^5 {check}",
        order=True,
    ),
    rule("disabled-check", f"off&turn|switch|shut|take&{CHECK_STEMS}", r"(?:turn|switch|shut|take) ^4 {check} (?:[\w'-]+ ){0,5}?off\b", order=True),
    rule(
        "disabled-check",
        "avoid|evade|escape|dodge",
        r"(?:avoid|evade|escape|dodge) (?:the |any |an? )?(?:[\w'-]+ )?(?:approval|review|verification|confirmation|audit|kyc|identity check|oversight)\b(?! (?:errors?|emails?|requests?))",
        order=True,
    ),
    rule(
        "disabled-check",
        "skips|skip |disables|disable |bypass|ignores|ignore |turns off|turn off|omits|suppresses&agent|assistant|system|model|we|you|it",
        r"(?:the )?(?:agents?|assistants?|systems?|models?|we|you|it) (?:should |must |can |may )?(?:skips?|disables?|bypass(?:es)?|ignores?|turns? off|omits?|suppresses) ^4 {check}",
    ),
    rule(
        "disabled-check",
        f"{NEGATION_STEMS}&ask|wait|request|requir|seek|obtain|get|need&confirm|approv|permission|consent|verif|authori|review",
        r"{no} (?:[\w'-]+ ){0,2}?(?:ask(?:ing)?|wait(?:ing)?|request(?:ing)?|requir(?:e|ing)|seek(?:ing)?|obtain(?:ing)?|get(?:ting)?|need(?:ing)?) ~5 "
        r"(?:confirm\w*|approv\w*|permission|consent|verification|authori[sz]ation|review)\b",
        unless=r"\b(?:twice|again|more than once|second time|repeatedly|already|re-?ask\w*|until)\b",
    ),
    rule(
        "disabled-check",
        f"{NEGATION_STEMS}&verif|validat|check|confirm|authenticat",
        r"{no} (?:[\w'-]+ ){0,2}?(?:verify(?:ing)?|validat(?:e|ing)|check(?:ing)?|confirm(?:ing)?|authenticat(?:e|ing)|double[ -]check(?:ing)?) ~4 "
        r"(?:identity|identities|users?|customers?|callers?|recipients?|senders?|signatures?|certificates?|amounts?|payments?|permissions?|authori[sz]ation"
        r"|with the (?:user|customer|owner)|ownership|eligibility|anything|it with|details)\b",
        unless=r"\b(?:by|twice|again|more than once|until|solely|only|alone|already|using|based on)\b",
    ),
    rule(
        "disabled-check",
        "need|require|have to&authenticated|verified|validated|checked|confirmed|approved|authori|reviewed",
        r"(?:(?:do|does|need|must) not|don't|doesn't|need not|no longer|never) (?:need |have |require )?(?:to )?be (?:authenticated|verified|validated|checked|confirmed|approved|authori[sz]ed|reviewed)\b",
    ),
    rule(
        "disabled-check",
        "never need|not need|n't need|without need&confirm|approv|consent|verif|review",
        r"(?:never|not|n't) need (?:an? |any |the )?(?:[\w'-]+ )?(?:confirmation|approval|consent|verification|review)\b",
        unless=r"\b(?:read|read-only|search\w*|look\w*|list\w*|view\w*)\b",
    ),
    rule(
        "disabled-check",
        "without&confirm|approv|consent|verif|review|check|validat",
        r"without (?:[\w'-]+ ){0,3}?(?:confirmation|approval|consent|verification|(?:human|manual|code|security|safety) review|(?:confirming|verifying|checking|validating)\b)"
        r"(?! (?:email|number|code|message|is|are|was|were|gets?|returns?|fails?|will|can|may|raises?|results?))",
    ),
    rule(
        "disabled-check",
        "unnecessary|optional|required|needed|necessary|needless|superfluous&confirm|approv|verif|consent|check|validat|review",
        r"(?:confirmation|approval|verification|validation|consent|(?:safety|security|identity|fraud|permission) checks?|(?:human|manual|code) review)s? (?:is|are|was|isn't|aren't) (?:[\w'-]+ ){0,2}?"
        r"(?:unnecessary|optional|not (?:needed|required|necessary)|no longer (?:needed|required|necessary)|never (?:needed|required)|needless|superfluous)",
        unless=r"\b(?:read|reading|read-only|search\w*|look\w*|list\w*|view\w*|get\w*|quer\w*|field|parameter|argument)\b",
    ),
    rule(
        "disabled-check",
        f"skipped|bypassed|disabled|deactivated|off|ignored|omitted|waived|suppressed|removed|dropped|left out|circumvented|avoided|relaxed&{CHECK_STEMS}",
        r"{check} (?:[\w'-]+ ){0,2}?(?:can|may|should|must|is to|are to|has to|have to|needs? to|will|could|might) (?:[\w'-]+ ){0,2}?{disabled}",
    ),
    rule(
        "disabled-check",
        f"make sure|ensure|see to it|see that&{CHECK_STEMS}",
        r"(?:make sure|ensure|see to it|see)(?: that)? ^6 {check} (?:[\w'-]+ ){0,2}?(?:is|are|gets?|stays?|remains?) (?:[\w'-]+ )?{disabled}",
        order=True,
    ),
    rule(
        "disabled-check",
        f"leave|skip|turn|disable|bypass|ignore|without|drop|switch&{CHECK_STEMS}",
        r"{check}\b{sentence}\b(?:leave (?:it|them|this) out|skip (?:it|them|this)|turn (?:it|them) off|disable (?:it|them)|bypass (?:it|them)|do without (?:it|them)|switch (?:it|them) off)\b",
    ),
    rule(
        "disabled-check",
        "no confirmation|no approval|no verification|no consent|no check|no review|no validation|no safety|no security|no identity|no human|no manual|no further|no additional|no user",
        r"no (?:[\w'-]+ )?(?:confirmation|approval|verification|consent|(?:safety|security|identity) checks?|(?:human|manual) review)s? (?:is |are |will be )?(?:needed|required|necessary)\b",
        unless=r"\b(?:read|reading|read-only|search\w*|look\w*|list\w*|view\w*|quer\w*)\b",
    ),
    rule(
        "disabled-check",
        "even if|even when|even though|regardless|no matter|despite|although&accept|approve|pay|proceed|go ahead|allow|book|complete|execute|send|transfer|install|merge|deploy",
        r"(?:accept|approve|pay|proceed|go ahead|allow|book|complete|execute|send|transfer|install|merge|deploy)\b{sentence}\b(?:even (?:if|when|though)|regardless of|no matter|despite|although)\b"
        r"(?:(?![.;!?]\s)[^\n]){0,50}?{check}",
        order=True,
    ),
    rule(
        "disabled-check",
        "mark|record|report|set|flag|treat|return&check|verif|validat|review|audit|test",
        r"(?:(?:mark|record|report|set|flag|treat) ^4 (?:checks?|verification|validation|reviews?|audit|tests?) as (?:passed|done|complete\w*|successful|approved|green)\b"
        r"|return (?:success|true|ok|valid) (?:from|in) (?:the |every )?(?:[\w'-]+ )?(?:validator|check|verification|validation|test)s?\b)",
        order=True,
        unless=r"\b(?:only|after|once|when it|(?<!even\s)if it|if all|when all)\b",
    ),
    rule(
        "disabled-check",
        "even though|although|despite|even if|even when&approve|accept|pay|merge|deploy|release",
        r"(?:approve|accept|pay|merge the|deploy|release)\b{sentence}\b(?:even (?:though|if|when)|although|despite)\b{sentence}\b(?:differs?|do not match|does not match|mismatch\w*|fail(?:s|ed|ing)?"
        r"|missing|wrong|expired|invalid|not signed|unsigned)\b",
        order=True,
    ),
    rule("disabled-check", "set confirm|set the confirm", r"set (?:the )?[\"'`]?confirm\w*[\"'`]? to (?:false|off|no|0)\b", order=True),
    rule("disabled-check", f"waste|pointless|useless|formality|not worth|exempt&{CHECK_STEMS}", r"{check} (?:is|are) (?:a waste of time|pointless|useless|a formality|not worth)\b|exempt(?:ed)? from (?:the |any |all )?{check}"),
    rule("disabled-check", "later|afterward|after the fact&approv|confirm|permission|consent", r"(?:ask|request|get|obtain|seek) (?:for )?(?:[\w'-]+ ){0,3}?(?:approval|confirmation|permission|consent) (?:later|afterwards?|after the fact)\b", order=True),
    rule(
        "disabled-check",
        "assume|presume|treat|regard&consent|approv|confirm|permission|verif|agre|trusted|authenticat|valid",
        r"(?:(?:assume|presume) (?:that )?(?:the )?(?:[\w'-]+ ){0,3}?(?:consent|approval|confirmation|permission|verification) (?:was|is|has been|were)"
        r"|(?:assume|presume) (?:that )?(?:the )?{people} (?:has |have )?(?:consent\w*|approv\w*|confirm\w*|agre\w*)"
        r"|(?:treat|regard) (?:every|all|any|each) (?:[\w'-]+ ){1,4}?as (?:already )?(?:verified|approved|confirmed|trusted|authenticated)\b)",
        order=True,
    ),
    rule("disabled-check", "never|do not|don't&escalat|report|flag|raise&suspicious|fraud|security|violation|incident|abuse|phishing", r"(?:never|do not|don't) (?:escalate|report|flag|raise) (?:[\w'-]+ ){0,3}?(?:suspicious|fraud\w*|security|violations?|incidents?|abuse|phishing)\b", unless=r"\b(?:twice|by|until|only|again)\b"),
    rule("disabled-check", "silence|mute|suppress|disable|ignore|dismiss|turn off&security|safety|fraud|audit|compliance", r"(?:silence|mute|suppress|disable|ignore|dismiss|turn off) (?:all |any |every |the )?(?:[\w'-]+ ){0,2}?(?:security|safety|fraud|audit|compliance) (?:alerts?|warnings?|notifications?|alarms?|errors?)\b", order=True),
    rule("disabled-check", "threshold|limit&lower|raise|set|change|reduce|increase", r"(?:lower|raise|set|change|reduce|increase) (?:the )?(?:approval|review|fraud|verification|confirmation|security|refund) (?:thresholds?|limits?) to\b", order=True),
    rule("disabled-check", "prompt&answered|confirmed|accepted|approved", r"prompts? (?:should|must|can|are to|may) be (?:answered|confirmed|accepted|approved) (?:[\w'-]+ ){0,4}?(?:automatically|yes|without)\b"),
    rule(
        "disabled-check",
        "require|skip|bypass|disable|verify|check_hostname|sandbox|safe_mode|safemode|two_factor|mfa|auto_confirm|autoconfirm&false|true|off|0|1|no|yes|none",
        r"(?:requires?|needs?)[_-]?(?:approvals?|confirmations?|permissions?|auth\w*|review)['\"`]?\s*(?:=|:|to )\s*['\"`]?(?:false|0|no|off|none)\b"
        r"|skip[_-]?(?:validation|verification|checks?|auth\w*|confirm\w*|approval|permissions?)['\"`]?\s*(?:=|:|to )\s*['\"`]?(?:true|1|yes|on)\b"
        r"|(?:disable|bypass)[_-]\w*(?:auth|check|validation|security|ssl|tls|verif)\w*['\"`]?\s*(?:=|:|to )\s*['\"`]?(?:true|1|yes|on)\b"
        r"|(?:verify_?ssl|ssl_?verify|check_hostname|safe_?mode|two_?factor|mfa|require_?auth)['\"`]?\s*(?:=|:|to )\s*['\"`]?(?:false|0|no|off|none)\b",
    ),
    rule("disabled-check", "assert", r"(?:delete|remove|comment out|drop) ^3 assert(?:ion)?s?\b", order=True),
    rule(
        "disabled-check",
        "verify=|verify =|--insecure|curl|nosec|--no-verify|tls_reject|stricthostkey|foreign_key_checks|setenforce|ufw disable|skip-verif|--no-check|_unverified|allow-unsigned|no-ssl-verify|trusted-host",
        r"verify\s*=\s*false\b|--(?:insecure|no-verify|no-check\w*|skip-verif\w*|no-ssl-verify|trusted-host|allow-unsigned)\b|node_tls_reject_unauthorized\s*=\s*[\"']?0"
        r"|stricthostkeychecking\s*=?\s*no\b|foreign_key_checks\s*=\s*0|setenforce 0|ufw disable\b|_create_unverified_context"
        r"|curl\b[^\n]{0,80}\s-k\b|#\s?nosec\b",
    ),
)  # fmt: skip

RECIPIENT_RULES: tuple[Rule, ...] = (
    rule(
        "recipient",
        "@|[redacted:",
        r"(?:b?cc|blind[ -]copy|forward|send|e-?mail|mail|copy|upload|transmit|exfiltrate|share|submit|report|relay|deliver|redirect|route|leak|push|pay|wire|transfer|refund"
        r"|remit|include|add|invite|notify|message|text|call|contact|mirror|post|put|deliver)(?:ing|s|es|ed)?\b(?![_(=:\"']){sentence}(?<![=\"'(\[:])(?<![=:]\s){address}",
    ),
    rule("recipient", "@|[redacted:&go |goes|be sent|be copied|be forwarded|be mailed|be cc", r"(?:goes|go|be (?:sent|copied|forwarded|mailed|cc'?e?d)) (?:[\w'-]+ ){0,4}?to {address}"),
    rule(
        "recipient",
        "@|[redacted:&always|every|each|all|whenever|also|from now",
        r"(?:always|every|each time|all|whenever|also|from now on)\b{sentence}\b(?:b?cc|to|recipients?|email|reply[_-]to)\b[\"']?\s*[=:(]\s*[\[\"']{0,3}{address}",
    ),
    rule("recipient", "@|[redacted:&use", r"use {address} (?:as|for|in)\b", order=True),
    rule("recipient", "@", r"(?:report|send|forward|message|share|post|copy|dm)\b{sentence}\bto @(?!channel|here|everyone|team|all\b)[a-z]\w{2,}\b(?!\.)"),
    rule("recipient", "card|account", r"(?:go|goes|refund|transfer|send|pay|credit)(?:s|ed|ing)?\b{sentence}\b(?:to|onto|into) (?:the |my |this )?(?:card|account) (?:number )?(?:\[redacted:(?:card|bank-account)\]|\d[\d -]{7,})"),
    rule("recipient", HTTP_STEMS, r"(?:send|post|upload|transmit|forward|submit|report|push|dump|deliver|log|write)\b{sentence}{url}{sentence}\b(?:with|including|containing)\b{sentence}(?:{data}|\b(?:customer|user|client) (?:names?|emails?|addresses)\b)"),
    rule("recipient", "public|gist|pastebin|forum|social media", r"(?:save|post|upload|publish|put|share|paste|write|store)\b{sentence}\b(?:passwords?|credentials?|secrets?|api keys?|tokens?|private keys?|(?:customer|user|personal) (?:data|records?|lists?)){sentence}\b(?:public|gist|pastebin|forum|social media)\b"),
    rule("recipient", "attach", r"attach (?:the |all )?(?:[\w'-]+ ){0,2}?(?:customer|user|client|personnel|payroll) (?:database|lists?|records?|data|tables?)\b", order=True),
    rule("recipient", "@&invite|add|cc|include|share|give|grant", r"(?:invite|add|cc|include|share|give|grant) (?:[\w'-]+ ){0,3}?@[a-z]\w{2,}\b(?!\.)", order=True),
    rule(
        "recipient",
        HTTP_STEMS,
        r"(?:send|post|upload|transmit|exfiltrate|forward|leak|submit|report|share|copy|push|dump|deliver|append|encode|include|put|log|mirror|stream|ship|save|store|record|write"
        r"|embed|paste)(?:ing|s)?\b{sentence}(?<!\w){data}{sentence}{url}",
    ),
    rule("recipient", HTTP_STEMS, r"(?:always|every|each|all|before|after|whenever)\b{sentence}\b(?:send|post|upload|transmit|forward|report|copy|ping|notify)\b{sentence}\b(?:to|at) {url}"),
    rule("recipient", "](http|<img", r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]*[?&][^)\s]*\)|<img [^>]*src=[\"']?https?://[^>\s]*\?"),
    rule("recipient", " cc |bcc |blind", r"(?:b?cc|blind[ -]copy) (?:[\w'-]+ ){1,5}?(?:on|in|into|to|for) (?:all|every|each|any)\b"),
    rule(
        "recipient",
        "forward|send|mail&all|every|each|any",
        r"(?:forward|send|mail|email) (?:all|every|each|any|copies of (?:all|every|each|any)|a copy of (?:all|every|each|any)) {sentence}\bto\b(?! (?:the )?(?:user|customer|requester|owner|same|its|their)\b)",
        order=True,
    ),
    rule(
        "recipient",
        "recipient| cc|bcc|payee|beneficiar|collaborator|owner|admin|maintainer|forwarding|authorized user|authorised user|trusted|reply-to|webhook&add|include|invite|set|register|append|make|enter|save|put",
        r"(?:add|include|invite|set|register|append|make|enter|save|put) (?:yourself|me|us|[^\n.;]{0,40}?(?:[\w.@+-]*\d[\w.@+-]*|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|{address}|{url}|@\w+))"
        r" (?:as|to|in|into|on) (?:an? |the |every |all |each )?(?:[\w'-]+ ){0,4}?{group}",
        order=True,
    ),
    rule(
        "recipient",
        "recipient| cc|bcc|copy&all|every|each|any&add|include|put",
        r"(?:add|include|put) (?:the |an? |our |their )?(?:[\w'-]+ ){1,5}?(?:as an? (?:[\w'-]+ )?(?:b?cc|recipient)|(?:in|to|on|as) (?:b?cc|copy)) (?:of|on|in|for|to) (?:all|every|each|any)\b",
        order=True,
    ),
    rule(
        "recipient",
        "set|change|update|replace|redirect|use|pay&address|account|iban|wallet|url|webhook|beneficiar|payee|reply-to|recipient|destination|[redacted:bank",
        r"(?:set|change|update|replace|redirect|switch) ^2 (?:reply-to|forwarding|recipients?|beneficiary|payee|payout|bank|webhook|callback|destination|delivery|billing|contact)"
        r"\b{sentence}(?:{address}|{url}|{bank}|\baccount (?=\S*\d)\S{6,})",
        order=True,
    ),
    rule("recipient", "payee|beneficiary|payout|bank account", r"(?:payee|beneficiary|payout account|bank account)\b{sentence}\b(?:is now|becomes|will be|changes to|is) (?:the )?(?:account |iban )?(?:number )?(?:{bank}|(?=[\d -]*\d{4})\d[\d -]{6,})"),
    rule(
        "recipient",
        "transfer|wire|send|pay|remit|refund|withdraw|deposit|move|use&account|iban|wallet|address|upi|paypal|venmo|cashapp|cash app|0x|bc1|[redacted:bank|0|1|2|3",
        r"(?:(?:transfer|wire|send|pay|remit|refund|withdraw|deposit|move)\b (?:\S+ ){0,10}?(?:to|into) (?:\S+ ){0,4}?"
        r"(?:\b(?:account|iban|wallet|address|upi|paypal|venmo|cash ?app)\b\s*(?:number|no\.?|id|#|:)?\s*[:#]?\s*(?=\S*\d)\S{6,}|{bank})"
        r"|use (?:the )?(?:account|iban|wallet|address)\b (?:\S+ ){0,2}?(?:{bank}|(?=\S*\d)\S{8,}) (?:for|as|when|on)\b)",
    ),
)  # fmt: skip

FETCH_RULES: tuple[Rule, ...] = (
    rule(
        "fetch-and-run",
        "curl|wget|iwr|irm|invoke-|fetch|aria2c",
        r"(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|fetch|aria2c)\b[^\n|]{0,200}\|\s*(?:sudo )?(?:env \S+ )?(?:/(?:usr/)?bin/)?"
        r"(?:sh|bash|zsh|dash|ksh|python[0-9.]*|node|perl|ruby|php|iex|pwsh|powershell|source)\b",
    ),
    rule("fetch-and-run", "curl|wget&http|www.", r"(?:curl|wget)\b[^\n]{0,200}?{url}[^\n]{0,80}?(?:&&|;) ?(?:sudo )?(?:sh|bash|zsh|python[0-9.]*|node|perl|chmod \+x|\./)"),
    rule("fetch-and-run", "pipe|feed|pass&http|www.", r"{url}{sentence}\b(?:pipe|feed|pass)\b{sentence}\b(?:in)?to (?:sh|bash|zsh|python|node|a shell|the shell)\b"),
    rule(
        "fetch-and-run",
        "curl|wget|urlopen|requests|downloadstring|iwr|fetch",
        r"(?:\b(?:ba|z)?sh\b|\bsource\b|(?<!\w)\.) <\(\s*(?:curl|wget)|\b(?:ba|z)?sh -c [\"']?\$\(\s*(?:curl|wget)|\beval\s*[\"'(]{0,3}\$\(\s*(?:curl|wget)"
        r"|\b(?:exec|eval)\s*\(\s*(?:\w+\.)*(?:urlopen|get|fetch|read)\b|\biex\s*\(|downloadstring\s*\(",
    ),
    rule(
        "fetch-and-run",
        "http|www.|link|url|.sh|.exe|.ps1|.bat|.jar|.dmg|.msi|script|binary|installer|payload|package&download|fetch|get|pull|retriev|wget|curl|grab|clone"
        "&run|execut|install|launch|eval|source|start|obey|follow",
        r"(?:download|fetch|get|pull|retrieve|wget|curl|grab|clone)(?:ing)?\b{sentence}(?:{url}|\blink\b|\burl\b|\S+\.(?:sh|exe|ps1|bat|jar|dmg|msi)\b"
        r"|\b(?:script|binary|installer|payload|package)\b){sentence}\b(?:and|then|to) (?:then )?(?:run|execute|install|launch|eval|source|start|obey|follow)\b",
    ),
    rule("fetch-and-run", "http|www.|this link|this url", r"(?:run|execute|install|launch|eval|source)\b (?:[\w'-]+ ){0,6}?(?:from|at|hosted (?:at|on)|found (?:at|on)|located at) (?:[\w'-]+ ){0,2}?(?:{url}|\bthis (?:link|url)\b)"),
    rule(
        "fetch-and-run",
        "http",
        r"(?:pip|pip3|npm|pnpm|yarn|uv|gem|cargo|go) (?:pip )?(?:install|add|i|get|exec) (?:-\S+ )*(?:git\+)?https?://|(?:npx|bunx|uvx|deno run|python -m pip install) (?:-\S+ )*(?:git\+)?https?://"
        r"|pip3? install\b[^\n]{0,80}--(?:extra-)?index-url https?://",
    ),
    rule(
        "fetch-and-run",
        "http|www.|this link|this url|this page|that link|that url|that page",
        r"(?:follow|obey|execute|carry out|apply|load|read|use|do|perform|take) (?:[\w'-]+ ){0,4}?(?:instructions?|steps?|commands?|rules|prompts?|directives?|what it says)"
        r" (?:[\w'-]+ ){0,4}?(?:at|on|in|from|under|behind|of) (?:[\w'-]+ ){0,2}?(?:{url}|\bthis (?:link|url|page)\b|\bthat (?:link|url|page)\b)",
    ),
    rule(
        "fetch-and-run",
        "http|www.",
        r"(?:visit|open|go to|browse|fetch|load|read|get|navigate to|check)\b{sentence}{url}{sentence}\b(?:and|then) (?:[\w'-]+ ){0,2}?"
        r"(?:follow|obey|execute|run|do (?:what|as|whatever)|act on|apply|carry out|comply|behave|(?:complete|perform|finish) (?:the |all |its )?(?:steps|tasks|instructions))\b",
    ),
    rule("fetch-and-run", "http|www.&order|command|instruction|task|carry", r"(?:check|poll|query|read)\b (?:\S+ ){0,3}?{url} (?:[\w'-]+ )?for (?:new |further )?(?:orders|commands|instructions|tasks)\b"),
    rule("fetch-and-run", "http|www.&import|load|require|source|include|add", r"(?:import|load|require|source|include|add) (?:the |this |an? )?(?:[\w'-]+ )?(?:module|script|library|package|plugin|skill|extension|code|function|lesson)s? (?:[\w'-]+ )?(?:from|at) {url}"),
)  # fmt: skip

DECEIT_RULES: tuple[Rule, ...] = (
    rule(
        "secrecy",
        "tell|inform|notif|alert|warn|letting|let &do not|don't|never|without",
        r"(?:do not|don't|never|without) (?:[\w'-]+ )?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|letting|let) (?:the |any )?{people}"
        r"(?:\s*[.,;!]|\s*$| (?:about|of|know|that you|that this|why|when)\b| and\b)",
        unless=r"\b(?:yet|until|before|unless it|too early|success|succeeded|guess\w*|internal)\b",
    ),
    rule(
        "secrecy",
        "mention|reveal|disclose|discuss|show|talk&do not|don't|never",
        r"(?:do not|don't|never) (?:mention|reveal|disclose|discuss|show|talk about) (?:this|these|the above) (?:rules?|lessons?|notes?|instructions?|messages?|changes?|steps?|texts?|entr(?:y|ies))\b",
    ),
    rule("secrecy", "nobody|no one", r"tell (?:nobody|no one|noone)\b", order=True),
    rule("secrecy", "do not|don't|never&log|record|document|audit", r"(?:do not|don't|never) (?:log|record|document|audit) (?:this|these) (?:[\w'-]+ )?(?:actions?|changes?|transfers?|steps?|calls?|payments?|transactions?|requests?|deletions?)\b"),
    rule("secrecy", "find out|notice|know about|learn |realiz|realis&not|never|n't", r"{people} (?:must|should|may|can|need)(?:not| not|n't| never) (?:find out|notice|know about|learn (?:about|of)|reali[sz]e)\b"),
    rule("secrecy", "trace|record|log|evidence|pretend", r"leave no (?:traces?|records?|logs?|evidence)\b|pretend (?:that|to have|the (?:refund|payment|transfer|booking|order|call))\b", order=True),
    rule("secrecy", "notic|find out|realiz|realis|know|see it", r"so (?:that )?(?:the |no |any )?{people} (?:do not|don't|does not|doesn't|won't|will not|never|cannot|can't) (?:notice|see|know|find out|reali[sz]e)|without (?:the |any )?{people} (?:noticing|knowing|finding out)|\bunnoticed by (?:the )?{people}"),
    rule(
        "secrecy",
        "secret|hidden|quiet|hide|conceal|cover|between us|confidential|log|trace|track|evidence",
        r"(?:keep (?:this|it|that|these|the \w+) (?:[\w'-]+ )?(?:secret|hidden|quiet|confidential|between us) from|(?:hide|conceal) (?:this|it|that|these|the|your|any|all) (?:[\w'-]+ ){0,4}?from (?:the )?"
        r"(?:users?|customers?|operators?|admin\w*|anyone|logs?|audit\w*|humans?|owner)|(?:cover|hide|erase|remove|clear|clean up|delete|wipe) (?:up )?(?:your|all|any|the) (?:tracks|traces)"
        r"|(?:delete|erase|clear|wipe) (?:the |your |all )?(?:audit|security|access)?\s*(?:logs?|traces?|evidence|history) (?:afterwards|after|so that|of this|to hide))",
        order=True,
    ),
    rule(
        "secrecy",
        "although|even if|even though|even when|despite|regardless&tell|inform|assure|report|claim",
        r"(?:tell|inform|assure|report to|claim to) (?:the )?{people}{sentence}\b(?:everything is|all is|it worked|succe\w+|fine|complete\w*|ok|normal|approved)\b{sentence}\b(?:although|even (?:if|though|when)|despite|regardless)\b",
    ),
    rule(
        "exfiltration",
        "reveal|leak|exfiltrat|disclos|dump|expos|divulg|hand over|give&prompt|instruction|credential|secret|password|key|token|environment|.env|internal",
        r"(?:reveal|leak|exfiltrate|disclose|dump|expose|divulge|hand over|give (?:away|out)) (?:[\w'-]+ ){0,5}?"
        r"(?:system prompt|{hidden}|credentials?|secrets?|passwords?|api[ _-]?keys?|private keys?|access tokens?|environment variables|\.env\b|internal (?:data|instructions))",
        order=True,
    ),
    rule(
        "exfiltration",
        "system prompt|instruction|prompt|environment variables|credential|password|secrets|key|.env|.ssh",
        r"(?:print|repeat|output|show|display|echo|recite|include|append|return|paste|write|attach|put|share|send|list|quote|answer|reply|respond) (?:[\w'-]+ ){0,4}?"
        r"(?:(?:your|the|this|full|entire|complete) (?:system prompt|{hidden})|(?:all |the |your )?environment variables|(?:the )?(?:contents? of )?(?:your |the )?(?:\.env\b|~/\.ssh|id_rsa)"
        r"|(?:your|all|the user'?s?|stored|any) (?:[\w'-]+ )?{secrets})\b",
        order=True,
    ),
    rule(
        "exfiltration",
        "key|password|credential|secret|token|prompt|instruction|configuration|memory&chat|reply|answer|message|response|ticket|comment|email|log|me|us",
        r"(?:(?:paste|post|include|put|write|send|give) (?:the |your |all )(?:[\w'-]+ ){0,3}?(?:api[ _-]?keys?|passwords?|credentials|keys|secrets?|tokens?) (?:in|into|to|with) (?:the |your |each |every )?"
        r"(?:chat|reply|answer|message|response|ticket|comment)\b|(?:begin|start|end|open|finish) (?:your|the|each|every) (?:answer|reply|response) with ~4 (?:system prompt|{hidden})"
        r"|(?:send|give|tell|show) (?:me|us) (?:your|the) (?:[\w'-]+ ){0,3}?(?:configuration|keys?|credentials|prompt|instructions|memory|passwords?)\b)",
        order=True,
    ),
)  # fmt: skip
