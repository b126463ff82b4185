"""Sentences that give an agent rights without ordering anything: "you have permission to push without review".

Admission refuses orders (`attacks`). Who owns a playbook may tell their agent what it may do, so a grant as such is no attack. From
another installation nobody here can tell who says so, whatever name stands beside it: such a lesson waits for a person.
"""

from __future__ import annotations

import re

from tenure.governance.attacks import Finding, fold

_AGENT = r"(?:you|(?:the |this |your |any |every |all |our )?(?:ai )?(?:agents?|assistants?|models?|bots?))"
_RIGHT = (
    r"(?:admin\w*|root|sudo|superuser|owner|full|unrestricted|unlimited|elevated|write|push|deploy\w*|production|all|any)\b"
    r"[^.;\n]{0,40}?\b(?:access|rights?|permissions?|privileges?|authority|control|powers?)"
)
_UNASKED = (
    r"\bwithout (?:(?:any|a|an|the|further|prior|first|explicit|human|your|my|their|code) ){0,3}"
    r"(?:asking|review\w*|approv\w*|confirm\w*|permission|consent|checks?|checking|oversight|supervision|authori[sz]ation|notice)"
)
_NOW = r"(?:now |also |hereby |always |already |fully )*"
_OPEN = r"(?! not\b| never\b| only\b)"
_GRANTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_AGENT} {_NOW}(?:have|has|hold|holds|get|gets|were given|was given|got) "
        r"(?:been given |been granted |the |my |our |full |explicit |standing )*"
        rf"(?:permission|authority|authori[sz]ation|clearance|consent|{_RIGHT})\b",
        rf"\b{_AGENT} {_NOW}(?:are|is|have been|has been|were|was) {_NOW}"
        r"(?:allowed|permitted|authori[sz]ed|entitled|cleared|empowered|free|granted|an? admin\w*|root|(?:the )?(?:owner|administrator))\b",
        rf"\b(?:grant(?:s|ed)?|gives?|gave|given|extend(?:s|ed)?) (?:to )?{_AGENT} [^.;\n]{{0,40}}?(?:permission|{_RIGHT})\b",
        rf"\b{_AGENT} (?:may|can|could|shall|should|must|will|need not|needn't|(?:does not|don't) need)\b"
        rf"{_OPEN}[^.;\n]{{0,120}}?{_UNASKED}\b",
        rf"\b{_AGENT} (?:may|can)\b{_OPEN}[^.;\n]{{0,60}}?\b(?:sudo|as root|as admin\w*)\b",
        r"\b(?:permission|authori[sz]ation|access|rights?|privileges?) (?:is|are|was|were|has been|have been) "
        rf"{_NOW}(?:granted|given) to {_AGENT}\b",
    )
)


def find_grant(text: str) -> Finding | None:
    """The first sentence of a text that says what an agent may do of its own accord; none if there is none.

    Args:
        text: of a lesson, at most 10,000 characters of which are read.
    """
    folded = " ".join(fold(text[:10_000]).replace("\n", " . ").split())
    for pattern in _GRANTS:
        found = pattern.search(folded)
        if found is not None:
            said = found.group()
            shown = said if len(said) <= 80 else said[:79] + "\u2026"
            return Finding("capability", f"it grants a capability, and comes from another installation: '{shown}'")
    return None
