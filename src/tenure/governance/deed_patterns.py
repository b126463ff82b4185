"""English patterns of texts that have an agent send things away, fetch something and run it, deceive, or give away secrets.

In the notation of `pattern_notation`.
"""

from __future__ import annotations

from tenure.governance.pattern_notation import HTTP_STEMS, Rule, rule

RECIPIENT_RULES: tuple[Rule, ...] = (
    rule(
        "recipient",
        "@|[redacted:",
        r"(?:b?cc|blind[ -]copy|forward|send|e-?mail|mail|copy|upload|transmit|exfiltrate|share|submit|report|relay|deliver|redirect|route"
        r"|leak|push|pay|wire|transfer|refund|remit|include|add|invite|notify|message|text|call|contact|mirror|post|put|deliver)(?:ing|s"
        r"|es|ed)?\b(?![_(=:\"']){sentence}(?<![=\"'(\[:])(?<![=:]\s){address}",
    ),
    rule(
        "recipient",
        "@|[redacted:&go |goes|be sent|be copied|be forwarded|be mailed|be cc",
        r"(?:goes|go|be (?:sent|copied|forwarded|mailed|cc'?e?d)) (?:[\w'-]+ ){0,4}?to {address}",
    ),
    rule(
        "recipient",
        "@|[redacted:&always|every|each|all|whenever|also|from now",
        r"(?:always|every|each time|all|whenever|also|from now on)\b{sentence}\b(?:b?cc|to|recipients?|email"
        r"|reply[_-]to)\b[\"']?\s*[=:(]\s*[\[\"']{0,3}{address}",
    ),
    rule("recipient", "@|[redacted:&use", r"use {address} (?:as|for|in)\b", order=True),
    rule(
        "recipient",
        "@",
        r"(?:report|send|forward|message|share|post|copy|dm)\b{sentence}\bto @(?!channel|here|everyone|team|all\b)[a-z]\w{2,}\b(?!\.)",
    ),
    rule(
        "recipient",
        "card|account",
        r"(?:go|goes|refund|transfer|send|pay|credit)(?:s|ed|ing)?\b{sentence}\b(?:to|onto|into) (?:the |my |this )?(?:card"
        r"|account) (?:number )?(?:\[redacted:(?:card|bank-account)\]|\d[\d -]{7,})",
    ),
    rule(
        "recipient",
        HTTP_STEMS,
        r"(?:send|post|upload|transmit|forward|submit|report|push|dump|deliver|log|write)\b{sentence}{url}{sentence}\b(?:with|including"
        r"|containing)\b{sentence}(?:{data}|\b(?:customer|user|client) (?:names?|emails?|addresses)\b)",
    ),
    rule(
        "recipient",
        "public|gist|pastebin|forum|social media",
        r"(?:save|post|upload|publish|put|share|paste|write|store)\b{sentence}\b(?:passwords?|credentials?|secrets?|api keys?|tokens?"
        r"|private keys?|(?:customer|user|personal) (?:data|records?|lists?)){sentence}\b(?:public|gist|pastebin|forum|social media)\b",
    ),
    rule(
        "recipient",
        "attach",
        r"attach (?:the |all )?(?:[\w'-]+ ){0,2}?(?:customer|user|client|personnel|payroll) (?:database|lists?|records?|data|tables?)\b",
        order=True,
    ),
    rule(
        "recipient",
        "@&invite|add|cc|include|share|give|grant",
        r"(?:invite|add|cc|include|share|give|grant) (?:[\w'-]+ ){0,3}?@[a-z]\w{2,}\b(?!\.)",
        order=True,
    ),
    rule(
        "recipient",
        HTTP_STEMS,
        r"(?:send|post|upload|transmit|exfiltrate|forward|leak|submit|report|share|copy|push|dump|deliver|append|encode|include|put|log"
        r"|mirror|stream|ship|save|store|record|write|embed|paste)(?:ing|s)?\b{sentence}(?<!\w){data}{sentence}{url}",
    ),
    rule(
        "recipient",
        HTTP_STEMS,
        r"(?:always|every|each|all|before|after|whenever)\b{sentence}\b(?:send|post|upload|transmit|forward|report|copy|ping"
        r"|notify)\b{sentence}\b(?:to|at) {url}",
    ),
    rule("recipient", "](http|<img", r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]*[?&][^)\s]*\)|<img [^>]*src=[\"']?https?://[^>\s]*\?"),
    rule("recipient", " cc |bcc |blind", r"(?:b?cc|blind[ -]copy) (?:[\w'-]+ ){1,5}?(?:on|in|into|to|for) (?:all|every|each|any)\b"),
    rule(
        "recipient",
        "forward|send|mail&all|every|each|any",
        r"(?:forward|send|mail|email) (?:all|every|each|any|copies of (?:all|every|each|any)|a copy of (?:all|every|each"
        r"|any)) {sentence}\bto\b(?! (?:the )?(?:user|customer|requester|owner|same|its|their)\b)",
        order=True,
    ),
    rule(
        "recipient",
        "recipient| cc|bcc|payee|beneficiar|collaborator|owner|admin|maintainer|forwarding|authorized user|authorised user|trusted"
        "|reply-to|webhook&add|include|invite|set|register|append|make|enter|save|put",
        r"(?:add|include|invite|set|register|append|make|enter|save|put) (?:yourself|me|us|[^\n.;]{0,40}?(?:[\w.@+-]*\d[\w.@+-]*"
        r"|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|{address}|{url}|@\w+)) (?:as|to|in|into|on) (?:an? |the |every |all "
        r"|each )?(?:[\w'-]+ ){0,4}?{group}",
        order=True,
    ),
    rule(
        "recipient",
        "recipient| cc|bcc|copy&all|every|each|any&add|include|put",
        r"(?:add|include|put) (?:the |an? |our |their )?(?:[\w'-]+ ){1,5}?(?:as an? (?:[\w'-]+ )?(?:b?cc|recipient)|(?:in|to|on"
        r"|as) (?:b?cc|copy)) (?:of|on|in|for|to) (?:all|every|each|any)\b",
        order=True,
    ),
    rule(
        "recipient",
        "set|change|update|replace|redirect|use|pay&address|account|iban|wallet|url|webhook|beneficiar|payee|reply-to|recipient"
        "|destination|[redacted:bank",
        r"(?:set|change|update|replace|redirect|switch) ^2 (?:reply-to|forwarding|recipients?|beneficiary|payee|payout|bank|webhook"
        r"|callback|destination|delivery|billing|contact)\b{sentence}(?:{address}|{url}|{bank}|\baccount (?=\S*\d)\S{6,})",
        order=True,
    ),
    rule(
        "recipient",
        "payee|beneficiary|payout|bank account",
        r"(?:payee|beneficiary|payout account|bank account)\b{sentence}\b(?:is now|becomes|will be|changes to|is) (?:the )?(?:account "
        r"|iban )?(?:number )?(?:{bank}|(?=[\d -]*\d{4})\d[\d -]{6,})",
    ),
    rule(
        "recipient",
        "transfer|wire|send|pay|remit|refund|withdraw|deposit|move|use&account|iban|wallet|address|upi|paypal|venmo|cashapp|cash app|0x"
        "|bc1|[redacted:bank|0|1|2|3",
        r"(?:(?:transfer|wire|send|pay|remit|refund|withdraw|deposit|move)\b (?:\S+ ){0,10}?(?:to|into) (?:\S+ ){0,4}?(?:\b(?:account|iban"
        r"|wallet|address|upi|paypal|venmo|cash ?app)\b\s*(?:number|no\.?|id|#|:)?\s*[:#]?\s*(?=\S*\d)\S{6,}|{bank})"
        r"|use (?:the )?(?:account|iban|wallet|address)\b (?:\S+ ){0,2}?(?:{bank}|(?=\S*\d)\S{8,}) (?:for|as|when|on)\b)",
    ),
)

FETCH_RULES: tuple[Rule, ...] = (
    rule(
        "fetch-and-run",
        "curl|wget|iwr|irm|invoke-|fetch|aria2c",
        r"(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|fetch|aria2c)\b[^\n|]{0,200}\|\s*(?:sudo )?(?:env \S+ )?(?:/"
        r"(?:usr/)?bin/)?(?:sh|bash|zsh|dash|ksh|python[0-9.]*|node|perl|ruby|php|iex|pwsh|powershell|source)\b",
    ),
    rule(
        "fetch-and-run",
        "curl|wget&http|www.",
        r"(?:curl|wget)\b[^\n]{0,200}?{url}[^\n]{0,80}?(?:&&|;) ?(?:sudo )?(?:sh|bash|zsh|python[0-9.]*|node|perl|chmod \+x|\./)",
    ),
    rule(
        "fetch-and-run",
        "pipe|feed|pass&http|www.",
        r"{url}{sentence}\b(?:pipe|feed|pass)\b{sentence}\b(?:in)?to (?:sh|bash|zsh|python|node|a shell|the shell)\b",
    ),
    rule(
        "fetch-and-run",
        "curl|wget|urlopen|requests|downloadstring|iwr|fetch",
        r"(?:\b(?:ba|z)?sh\b|\bsource\b|(?<!\w)\.) <\(\s*(?:curl|wget)|\b(?:ba|z)?sh -c [\"']?\$\(\s*(?:curl|wget)"
        r"|\beval\s*[\"'(]{0,3}\$\(\s*(?:curl|wget)|\b(?:exec|eval)\s*\(\s*(?:\w+\.)*(?:urlopen|get|fetch|read)\b"
        r"|\biex\s*\(|downloadstring\s*\(",
    ),
    rule(
        "fetch-and-run",
        "http|www.|link|url|.sh|.exe|.ps1|.bat|.jar|.dmg|.msi|script|binary|installer|payload|package&download|fetch|get|pull|retriev|wget"
        "|curl|grab|clone&run|execut|install|launch|eval|source|start|obey|follow",
        r"(?:download|fetch|get|pull|retrieve|wget|curl|grab|clone)(?:ing)?\b{sentence}(?:{url}|\blink\b|\burl\b|\S+\.(?:sh|exe|ps1|bat"
        r"|jar|dmg|msi)\b|\b(?:script|binary|installer|payload|package)\b){sentence}\b(?:and|then|to) (?:then )?(?:run|execute|install"
        r"|launch|eval|source|start|obey|follow)\b",
    ),
    rule(
        "fetch-and-run",
        "http|www.|this link|this url",
        r"(?:run|execute|install|launch|eval|source)\b (?:[\w'-]+ ){0,6}?(?:from|at|hosted (?:at|on)|found (?:at|on)"
        r"|located at) (?:[\w'-]+ ){0,2}?(?:{url}|\bthis (?:link|url)\b)",
    ),
    rule(
        "fetch-and-run",
        "http",
        r"(?:pip|pip3|npm|pnpm|yarn|uv|gem|cargo|go) (?:pip )?(?:install|add|i|get|exec) (?:-\S+ )*(?:git\+)?https?://|(?:npx|bunx|uvx"
        r"|deno run|python -m pip install) (?:-\S+ )*(?:git\+)?https?://|pip3? install\b[^\n]{0,80}--(?:extra-)?index.url https?://",
    ),
    rule(
        "fetch-and-run",
        "http|www.|this link|this url|this page|that link|that url|that page",
        r"(?:follow|obey|execute|carry out|apply|load|read|use|do|perform|take) (?:[\w'-]+ ){0,4}?(?:instructions?|steps?|commands?|rules"
        r"|prompts?|directives?|what it says) (?:[\w'-]+ ){0,4}?(?:at|on|in|from|under|behind|of) (?:[\w'-]+ ){0,2}?(?:{url}"
        r"|\bthis (?:link|url|page)\b|\bthat (?:link|url|page)\b)",
    ),
    rule(
        "fetch-and-run",
        "http|www.",
        r"(?:visit|open|go to|browse|fetch|load|read|get|navigate to|check)\b{sentence}{url}{sentence}\b(?:and"
        r"|then) (?:[\w'-]+ ){0,2}?(?:follow|obey|execute|run|do (?:what|as|whatever)|act on|apply|carry out|comply|behave|(?:complete"
        r"|perform|finish) (?:the |all |its )?(?:steps|tasks|instructions))\b",
    ),
    rule(
        "fetch-and-run",
        "http|www.&order|command|instruction|task|carry",
        r"(?:check|poll|query|read)\b (?:\S+ ){0,3}?{url} (?:[\w'-]+ )?for (?:new |further )?(?:orders|commands|instructions|tasks)\b",
    ),
    rule(
        "fetch-and-run",
        "http|www.&import|load|require|source|include|add",
        r"(?:import|load|require|source|include|add) (?:the |this |an? )?(?:[\w'-]+ )?(?:module|script|library|package|plugin|skil+"
        r"|extension|code|function|lesson)s? (?:[\w'-]+ )?(?:from|at) {url}",
    ),
)

DECEIT_RULES: tuple[Rule, ...] = (
    rule(
        "secrecy",
        "tell|inform|notif|alert|warn|letting|let &do not|don't|never|without",
        r"(?:do not|don't|never|without) (?:[\w'-]+ )?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|letting"
        r"|let) (?:the |any )?{people}(?:\s*[.,;!]|\s*$| (?:about|of|know|that you|that this|why|when)\b| and\b)",
        unless=r"\b(?:yet|until|before|unless it|too early|success|succeeded|guess\w*|internal)\b",
    ),
    rule(
        "secrecy",
        "mention|reveal|disclose|discuss|show|talk&do not|don't|never",
        r"(?:do not|don't|never) (?:mention|reveal|disclose|discuss|show|talk about) (?:this|these|the above) (?:rules?|lessons?|notes?"
        r"|instructions?|messages?|changes?|steps?|texts?|entr(?:y|ies))\b",
    ),
    rule("secrecy", "nobody|no one", r"tell (?:nobody|no one|noone)\b", order=True),
    rule(
        "secrecy",
        "do not|don't|never&log|record|document|audit",
        r"(?:do not|don't|never) (?:log|record|document|audit) (?:this|these) (?:[\w'-]+ )?(?:actions?|changes?|transfers?|steps?|calls?"
        r"|payments?|transactions?|requests?|deletions?)\b",
    ),
    rule(
        "secrecy",
        "find out|notice|know about|learn |realiz|realis&not|never|n't",
        r"{people} (?:must|should|may|can|need)(?:not| not|n't| never) (?:find out|notice|know about|learn (?:about|of)|reali[sz]e)\b",
    ),
    rule(
        "secrecy",
        "trace|record|log|evidence|pretend",
        r"leave no (?:traces?|records?|logs?|evidence)\b|pretend (?:that|to have|the (?:refund|payment|transfer|booking|order|call))\b",
        order=True,
    ),
    rule(
        "secrecy",
        "notic|find out|realiz|realis|know|see it",
        r"so (?:that )?(?:the |no |any )?{people} (?:do not|don't|does not|doesn't|won't|will not|never|cannot|can't) (?:notice|see|know"
        r"|find out|reali[sz]e)|without (?:the |any )?{people} (?:noticing|knowing|finding out)|\bunnoticed by (?:the )?{people}",
    ),
    rule(
        "secrecy",
        "secret|hidden|quiet|hide|conceal|cover|between us|confidential|log|trace|track|evidence",
        r"(?:keep (?:this|it|that|these|the \w+) (?:[\w'-]+ )?(?:secret|hidden|quiet|confidential|between us) from|(?:hide"
        r"|conceal) (?:this|it|that|these|the|your|any|all) (?:[\w'-]+ ){0,4}?from (?:the )?(?:users?|customers?|operators?|admin\w*"
        r"|anyone|logs?|audit\w*|humans?|owner)|(?:cover|hide|erase|remove|clear|clean up|delete|wipe) (?:up )?(?:your|all|any"
        r"|the) (?:tracks|traces)|(?:delete|erase|clear|wipe) (?:the |your |all )?(?:audit|security|access)?\s*(?:logs?|traces?|evidence"
        r"|history) (?:afterwards|after|so that|of this|to hide))",
        order=True,
    ),
    rule(
        "secrecy",
        "although|even if|even though|even when|despite|regardless&tell|inform|assure|report|claim",
        r"(?:tell|inform|assure|report to|claim to) (?:the )?{people}{sentence}\b(?:everything is|all is|it worked|succe\w+|fine"
        r"|complete\w*|ok|normal|approved)\b{sentence}\b(?:although|even (?:if|though|when)|despite|regardless)\b",
    ),
    rule(
        "exfiltration",
        "reveal|leak|exfiltrat|disclos|dump|expos|divulg|hand over|give&prompt|instruction|credential|secret|password|key|token"
        "|environment|.env|internal",
        r"(?:reveal|leak|exfiltrate|disclose|dump|expose|divulge|hand over|give (?:away|out)) (?:[\w'-]+ ){0,5}?(?:system prompt|{hidden}"
        r"|credentials?|secrets?|passwords?|api[ _-]?keys?|private keys?|access tokens?|environment variables|\.env\b|internal (?:data"
        r"|instructions))",
        order=True,
    ),
    rule(
        "exfiltration",
        "system prompt|instruction|prompt|environment variables|credential|password|secrets|key|.env|.ssh",
        r"(?:print|repeat|output|show|display|echo|recite|include|append|return|paste|write|attach|put|share|send|list|quote|answer|reply"
        r"|respond) (?:[\w'-]+ ){0,4}?(?:(?:your|the|this|full|entire|complete) (?:system prompt|{hidden})|(?:all |the "
        r"|your )?environment variables|(?:the )?(?:contents? of )?(?:your |the )?(?:\.env\b|~/\.ssh|id_rsa)|(?:your|all|the user'?s?"
        r"|stored|any) (?:[\w'-]+ )?{secrets})\b",
        order=True,
    ),
    rule(
        "exfiltration",
        "key|password|credential|secret|token|prompt|instruction|configuration|memory&chat|reply|answer|message|response|ticket|comment"
        "|email|log|me|us",
        r"(?:(?:paste|post|include|put|write|send|give) (?:the |your |all )(?:[\w'-]+ ){0,3}?(?:api[ _-]?keys?|passwords?|credentials|keys"
        r"|secrets?|tokens?) (?:in|into|to|with) (?:the |your |each |every )?(?:chat|reply|answer|message|response|ticket|comment)\b"
        r"|(?:begin|start|end|open|finish) (?:your|the|each|every) (?:answer|reply|response) with ~4 (?:system prompt|{hidden})|(?:send"
        r"|give|tell|show) (?:me|us) (?:your|the) (?:[\w'-]+ ){0,3}?(?:configuration|keys?|credentials|prompt|instructions|memory"
        r"|passwords?)\b)",
        order=True,
    ),
)
