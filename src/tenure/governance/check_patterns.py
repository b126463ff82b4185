"""English patterns of texts that have an agent switch off, skip or fake a check or a confirmation.

In the notation of `pattern_notation`.
"""

from __future__ import annotations

from tenure.governance.pattern_notation import CHECK_STEMS, NEGATION_STEMS, Rule, rule

CHECK_RULES: tuple[Rule, ...] = (
    rule(
        "disabled-check",
        "disabl|turn|switch|shut|deactivat|skip|bypass|circumvent|suppress|omit|remov|drop|ignor|mut|overrid|overrul|evad|defeat|sidestep"
        "|around|forgo|waiv|comment|weaken"
        f"|relax|loosen|silenc|neutral|uninstall|leave out|dispense|dodge|stop&{CHECK_STEMS}",
        r"{disable} ^5 {check}",
        order=True,
    ),
    rule(
        "disabled-check",
        f"off&turn|switch|shut|take&{CHECK_STEMS}",
        r"(?:turn|switch|shut|take) ^4 {check} (?:[\w'-]+ ){0,5}?off\b",
        order=True,
    ),
    rule(
        "disabled-check",
        "avoid|evade|escape|dodge",
        r"(?:avoid|evade|escape|dodge) (?:the |any |an? )?(?:[\w'-]+ )?(?:approval|review|verification|confirmation|audit|kyc"
        r"|identity check|oversight)\b(?! (?:errors?|emails?|requests?))",
        order=True,
    ),
    rule(
        "disabled-check",
        "skips|skip |disables|disable |bypass|ignores|ignore |turns off|turn off|omits|suppresses&agent|assistant|system|model|we|you|it",
        r"(?:the )?(?:agents?|assistants?|systems?|models?|we|you|it) (?:should |must |can |may )?(?:skips?|disables?|bypass(?:es)?"
        r"|ignores?|turns? off|omits?|suppresses) ^4 {check}",
    ),
    rule(
        "disabled-check",
        f"{NEGATION_STEMS}&ask|wait|request|requir|seek|obtain|get|need&confirm|approv|permission|consent|verif|authori|review",
        r"{no} (?:[\w'-]+ ){0,2}?(?:ask(?:ing)?|wait(?:ing)?|request(?:ing)?|requir(?:e|ing)|seek(?:ing)?|obtain(?:ing)?|get(?:ting)?"
        r"|need(?:ing)?) ~5 (?:confirm\w*|approv\w*|permission|consent|verification|authori[sz]ation|review)\b",
        unless=r"\b(?:twice|again|more than once|second time|repeatedly|already|re-?ask\w*|until)\b",
    ),
    rule(
        "disabled-check",
        f"{NEGATION_STEMS}&verif|validat|check|confirm|authenticat",
        r"{no} (?:[\w'-]+ ){0,2}?(?:verify(?:ing)?|validat(?:e|ing)|check(?:ing)?|confirm(?:ing)?|authenticat(?:e|ing)"
        r"|double[ -]check(?:ing)?) ~4 (?:identity|identities|users?|customers?|callers?|recipients?|senders?|signatures?|certificates?"
        r"|amounts?|payments?|permissions?|authori[sz]ation|with the (?:user|customer|owner)|ownership|eligibility|anything|it with"
        r"|details)\b",
        unless=r"\b(?:by|twice|again|more than once|until|solely|only|alone|already|using|based on)\b",
    ),
    rule(
        "disabled-check",
        "need|require|have to&authenticated|verified|validated|checked|confirmed|approved|authori|reviewed",
        r"(?:(?:do|does|need|must) not|don't|doesn't|need not|no longer|never) (?:need |have |require )?(?:to )?be (?:authenticated"
        r"|verified|validated|checked|confirmed|approved|authori[sz]ed|reviewed)\b",
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
        r"without (?:[\w'-]+ ){0,3}?(?:confirmation|approval|consent|verification|(?:human|manual|code|security|safety) review"
        r"|(?:confirming|verifying|checking|validating)\b)(?! (?:email|number|code|message|is|are|was|were|gets?|returns?|fails?|will|can"
        r"|may|raises?|results?))",
    ),
    rule(
        "disabled-check",
        "unnecessary|optional|required|needed|necessary|needless|superfluous&confirm|approv|verif|consent|check|validat|review",
        r"(?:confirmation|approval|verification|validation|consent|(?:safety|security|identity|fraud|permission) checks?|(?:human|manual"
        r"|code) review)s? (?:is|are|was|isn't|aren't) (?:[\w'-]+ ){0,2}?(?:unnecessary|optional|not (?:needed|required|necessary)"
        r"|no longer (?:needed|required|necessary)|never (?:needed|required)|needless|superfluous)",
        unless=r"\b(?:read|reading|read-only|search\w*|look\w*|list\w*|view\w*|get\w*|quer\w*|field|parameter|argument)\b",
    ),
    rule(
        "disabled-check",
        f"skipped|bypassed|disabled|deactivated|off|ignored|omitted|waived|suppressed|removed|dropped|left out|circumvented|avoided"
        f"|relaxed&{CHECK_STEMS}",
        r"{check} (?:[\w'-]+ ){0,2}?(?:can|may|should|must|is to|are to|has to|have to|needs? to|will|could"
        r"|might) (?:[\w'-]+ ){0,2}?{disabled}",
    ),
    rule(
        "disabled-check",
        f"make sure|ensure|see to it|see that&{CHECK_STEMS}",
        r"(?:make sure|ensure|see to it|see)(?: that)? ^6 {check} (?:[\w'-]+ ){0,2}?(?:is|are|gets?|stays?"
        r"|remains?) (?:[\w'-]+ )?{disabled}",
        order=True,
    ),
    rule(
        "disabled-check",
        f"leave|skip|turn|disable|bypass|ignore|without|drop|switch&{CHECK_STEMS}",
        r"{check}\b{sentence}\b(?:leave (?:it|them|this) out|skip (?:it|them|this)|turn (?:it|them) off|disable (?:it|them)|bypass (?:it"
        r"|them)|do without (?:it|them)|switch (?:it|them) off)\b",
    ),
    rule(
        "disabled-check",
        "no confirmation|no approval|no verification|no consent|no check|no review|no validation|no safety|no security|no identity"
        "|no human|no manual|no further|no additional|no user",
        r"no (?:[\w'-]+ )?(?:confirmation|approval|verification|consent|(?:safety|security|identity) checks?|(?:human"
        r"|manual) review)s? (?:is |are |will be )?(?:needed|required|necessary)\b",
        unless=r"\b(?:read|reading|read-only|search\w*|look\w*|list\w*|view\w*|quer\w*)\b",
    ),
    rule(
        "disabled-check",
        "even if|even when|even though|regardless|no matter|despite|although&accept|approve|pay|proceed|go ahead|allow|book|complete"
        "|execute|send|transfer|install|merge|deploy",
        r"(?:accept|approve|pay|proceed|go ahead|allow|book|complete|execute|send|transfer|install|merge"
        r"|deploy)\b{sentence}\b(?:even (?:if|when|though)|regardless of|no matter|despite|although)\b(?:(?![.;!?]\s)[^\n]){0,50}?{check}",
        order=True,
    ),
    rule(
        "disabled-check",
        "mark|record|report|set|flag|treat|return&check|verif|validat|review|audit|test",
        r"(?:(?:mark|record|report|set|flag|treat) ^4 (?:checks?|verification|validation|reviews?|audit|tests?) as (?:passed|done"
        r"|complete\w*|successful|approved|green)\b|return (?:success|true|ok|valid) (?:from|in) (?:the |every )?(?:[\w'-]+ )?(?:validator"
        r"|check|verification|validation|test)s?\b)",
        order=True,
        unless=r"\b(?:only|after|once|when it|(?<!even\s)if it|if all|when all)\b",
    ),
    rule(
        "disabled-check",
        "even though|although|despite|even if|even when&approve|accept|pay|merge|deploy|release",
        r"(?:approve|accept|pay|merge the|deploy|release)\b{sentence}\b(?:even (?:though|if|when)|although"
        r"|despite)\b{sentence}\b(?:differs?|do not match|does not match|mismatch\w*|fail(?:s|ed|ing)?|missing|wrong|expired|invalid"
        r"|not signed|unsigned)\b",
        order=True,
    ),
    rule("disabled-check", "set confirm|set the confirm", r"set (?:the )?[\"'`]?confirm\w*[\"'`]? to (?:false|off|no|0)\b", order=True),
    rule(
        "disabled-check",
        f"waste|pointless|useless|formality|not worth|exempt&{CHECK_STEMS}",
        r"{check} (?:is|are) (?:a waste of time|pointless|useless|a formality|not worth)\b|exempt(?:ed)? from (?:the |any |all )?{check}",
    ),
    rule(
        "disabled-check",
        "later|afterward|after the fact&approv|confirm|permission|consent",
        r"(?:ask|request|get|obtain|seek) (?:for )?(?:[\w'-]+ ){0,3}?(?:approval|confirmation|permission|consent) (?:later|afterwards?"
        r"|after the fact)\b",
        order=True,
    ),
    rule(
        "disabled-check",
        "assume|presume|treat|regard&consent|approv|confirm|permission|verif|agre|trusted|authenticat|valid",
        r"(?:(?:assume|presume) (?:that )?(?:the )?(?:[\w'-]+ ){0,3}?(?:consent|approval|confirmation|permission|verification) (?:was|is"
        r"|has been|were)|(?:assume|presume) (?:that )?(?:the )?{people} (?:has |have )?(?:consent\w*|approv\w*|confirm\w*|agre\w*)"
        r"|(?:treat|regard) (?:every|all|any|each) (?:[\w'-]+ ){1,4}?as (?:already )?(?:verified|approved|confirmed|trusted"
        r"|authenticated)\b)",
        order=True,
    ),
    rule(
        "disabled-check",
        "never|do not|don't&escalat|report|flag|raise&suspicious|fraud|security|violation|incident|abuse|phishing",
        r"(?:never|do not|don't) (?:escalate|report|flag|raise) (?:[\w'-]+ ){0,3}?(?:suspicious|fraud\w*|security|violations?|incidents?"
        r"|abuse|phishing)\b",
        unless=r"\b(?:twice|by|until|only|again)\b",
    ),
    rule(
        "disabled-check",
        "silence|mute|suppress|disable|ignore|dismiss|turn off&security|safety|fraud|audit|compliance",
        r"(?:silence|mute|suppress|disable|ignore|dismiss|turn off) (?:all |any |every |the )?(?:[\w'-]+ ){0,2}?(?:security|safety|fraud"
        r"|audit|compliance) (?:alerts?|warnings?|notifications?|alarms?|errors?)\b",
        order=True,
    ),
    rule(
        "disabled-check",
        "threshold|limit&lower|raise|set|change|reduce|increase",
        r"(?:lower|raise|set|change|reduce|increase) (?:the )?(?:approval|review|fraud|verification|confirmation|security"
        r"|refund) (?:thresholds?|limits?) to\b",
        order=True,
    ),
    rule(
        "disabled-check",
        "prompt&answered|confirmed|accepted|approved",
        r"prompts? (?:should|must|can|are to|may) be (?:answered|confirmed|accepted|approved) (?:[\w'-]+ ){0,4}?(?:automatically|yes"
        r"|without)\b",
    ),
    rule(
        "disabled-check",
        "require|skip|bypass|disable|verify|check_hostname|sandbox|safe_mode|safemode|two_factor|mfa|auto_confirm|autoconfirm&false|true"
        "|off|0|1|no|yes|none",
        r"(?:requires?|needs?)[_-]?(?:approvals?|confirmations?|permissions?|auth\w*|review)['\"`]?\s*(?:=|:|to )\s*['\"`]?(?:false|0|no"
        r"|off|none)\b|skip[_-]?(?:validation|verification|checks?|auth\w*|confirm\w*|approval|permissions?)['\"`]?\s*(?:=|:"
        r"|to )\s*['\"`]?(?:true|1|yes|on)\b|(?:disable|bypass)[_-]\w*(?:auth|check|validation|security|ssl|tls|verif)\w*['\"`]?\s*(?:=|:"
        r"|to )\s*['\"`]?(?:true|1|yes|on)\b|(?:verify_?ssl|ssl_?verify|check_hostname|safe_?mode|two_?factor|mfa"
        r"|require_?auth)['\"`]?\s*(?:=|:|to )\s*['\"`]?(?:false|0|no|off|none)\b",
    ),
    rule("disabled-check", "assert", r"(?:delete|remove|comment out|drop) ^3 assert(?:ion)?s?\b", order=True),
    rule(
        "disabled-check",
        "verify=|verify =|--insecure|curl|nosec|--no-verify|tls_reject|stricthostkey|foreign_key_checks|setenforce|ufw disable|skip-verif"
        "|--no-check|_unverified|allow-unsigned|no-ssl-verify|trusted-host",
        r"verify\s*=\s*false\b|--(?:insecure|no-verify|no-check\w*|skip-verif\w*|no-ssl-verify|trusted-host|allow-unsigned)\b"
        r"|node_tls_reject_unauthorized\s*=\s*[\"']?0|stricthostkeychecking\s*=?\s*no\b|foreign_key_checks\s*=\s*0|setenforce 0"
        r"|ufw disable\b|_create_unverified_context|curl\b[^\n]{0,80}\s-k\b|#\s?nosec\b",
    ),
)
