"""Which operations may change a playbook: pass, hold for a review, or refuse with the reason.

A lesson can never grant a capability, change tool permissions, add a recipient, disable a check or tell the
agent to ignore its instructions; nor may it hide anything or say where to fetch what to run. A lesson whose
instruction comes from untrusted text waits for a person. This is one wall of several: what no pattern here
knows still has to pass taint, grading and review.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tenure.governance.attacks import Finding, find_attack
from tenure.governance.hidden_text import hidden_characters, lone_surrogate
from tenure.playbook.delta import Add, Merge, Observe, Operation, Pin, Restore, Retire, Revoke, Tally, Update

Action = Literal["pass", "hold", "refuse"]

TRUSTED_BASES = frozenset({"structure", "person", "model"})
"""Whose words a learned instruction may be made of. Any other basis counts as untrusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of an operation.

    Attributes:
        action: `pass`, `hold` (waits for a review) or `refuse`.
        reason: one sentence; never empty for `hold` and `refuse`. On `pass` it is a warning, if there is something to say.
        rule: the rule that decided, in fixed words: one of `RULES`; empty if none did.
    """

    action: Action
    reason: str = ""
    rule: str = ""


RULES: tuple[str, ...] = (
    "ignore-instructions", "capability", "tool-permission", "recipient", "disabled-check", "fetch-and-run", "secrecy", "exfiltration",
    "hidden-characters", "encoded-text", "too-long", "broken-text", "untrusted-source", "protected-lesson", "pin",
)  # fmt: skip
"""Every rule that can hold or refuse an operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on the texts of learned operations, in characters.

    Attributes:
        text: longest text, conditions, advice against, or reason.
        section: longest name of a section.
    """

    text: int = 2_000
    section: int = 200


_PASS = Decision(action="pass")
_SCANNED = 10_000
"""How much of a text is searched for attacks. Only persons can pass longer ones, and those get a warning at most."""


def admit(
    operation: Operation, *, author_trusted: bool = False, basis: str = "structure", protected: bool = False, limits: Limits | None = None
) -> Decision:
    """Decide on one operation.

    Args:
        operation: what would be done.
        author_trusted: a person who owns the playbook proposes it. Theirs pass, with a warning where a learned one
            would be refused; only a text that cannot be stored is refused.
        basis: whose words the instruction is made of: `structure`, `person`, `model`, or `untrusted`. What is none of
            the first three is untrusted.
        protected: it would change or remove a lesson that is pinned or that a person wrote.
        limits: bounds for learned texts.
    """
    texts = _texts(operation)
    if any(lone_surrogate(text) for _, text in texts):
        return Decision(
            action="refuse", reason=("the text holds half a character (a lone surrogate), which no file can store"), rule="broken-text"
        )
    finding = _find(texts)
    if author_trusted:
        return Decision(action="pass", reason=f"warning: {finding.reason}", rule=finding.rule) if finding is not None else _PASS
    long = _too_long(texts, limits or Limits())
    if long is not None:
        return long
    if finding is not None:
        return Decision(action="refuse", reason=finding.reason, rule=finding.rule)
    return _hold(operation, basis=basis, protected=protected)


def admit_all(
    operations: tuple[Operation, ...], *, author_trusted: bool = False, basis: str = "structure", limits: Limits | None = None
) -> tuple[Decision, ...]:
    """One decision per operation of a delta whose operations share author and basis, in their order."""
    return tuple(admit(operation, author_trusted=author_trusted, basis=basis, limits=limits) for operation in operations)


def _hold(operation: Operation, *, basis: str, protected: bool) -> Decision:
    """Whether a learned operation that says nothing bad has to wait all the same."""
    if isinstance(operation, Tally):
        return _PASS
    if protected and _changes(operation):
        return Decision(
            action="hold", reason=("it would change or remove a lesson that is pinned or that a person wrote"), rule="protected-lesson"
        )
    if isinstance(operation, Revoke):
        return Decision(action="hold", reason="only a person revokes observations or puts them back", rule="revoke")
    if isinstance(operation, Pin):
        return Decision(action="hold", reason="only a person pins a lesson or takes its pin away", rule="pin")
    if basis not in TRUSTED_BASES and _says_something(operation):
        return Decision(
            action="hold",
            reason=("its instruction comes from untrusted text; a person or independent trusted origins must confirm it"),
            rule="untrusted-source",
        )
    return _PASS


def _changes(operation: Operation) -> bool:
    """Whether an operation alters what a lesson says or whether it is shown."""
    if isinstance(operation, Update):
        return any(
            given is not None for given in (operation.text, operation.applies_when, operation.status, operation.kind, operation.about)
        )
    return isinstance(operation, Merge | Retire | Restore | Pin)


def _says_something(operation: Operation) -> bool:
    """Whether an operation carries words into the playbook, or brings words back into use."""
    if isinstance(operation, Update):
        return operation.text is not None or operation.applies_when is not None or operation.status == "active"
    # To take a lesson away is to say something too: "forget the rule about refunds".
    return isinstance(operation, Add | Restore | Observe | Retire | Merge)


def _texts(operation: Operation) -> list[tuple[str, str]]:
    """What an operation says, as name of the field and text."""
    if isinstance(operation, Add):
        tools = ", ".join(operation.tool_order)
        named = [
            ("text", operation.text),
            ("applies_when", operation.applies_when),
            ("avoid", operation.avoid),
            ("section", operation.section),
            ("about", operation.about),
            ("tool_order", tools),
        ]
    elif isinstance(operation, Update):
        named = [("text", operation.text or ""), ("applies_when", operation.applies_when or ""), ("about", operation.about or "")]
    elif isinstance(operation, Merge):
        named = [("text", operation.text or "")]
    elif isinstance(operation, Retire | Revoke):
        named = [("reason", operation.reason)]
    elif isinstance(operation, Observe):
        # Keys and names stand in prompts as lessons do.
        named = [(name, getattr(operation, name)) for name in ("name", "section", "key", "unit")]
    else:
        named = []
    return [(name, text) for name, text in named if text]


def _find(texts: list[tuple[str, str]]) -> Finding | None:
    for name, text in texts:
        hidden = hidden_characters(text)
        if hidden:
            return Finding(
                "hidden-characters", f"the {_told(name)} holds hidden characters ({hidden}), which a reader does not see and an agent does"
            )
    # Names for machines and talk for the log are told to no agent. The rest is read as one, because an agent is shown it as one.
    said = [f"Avoid {text}" if name == "avoid" else text for name, text in texts if name not in ("about", "tool_order", "reason")]
    return find_attack("\n".join(said)[:_SCANNED]) if said else None


def _too_long(texts: list[tuple[str, str]], limits: Limits) -> Decision | None:
    for name, text in texts:
        most = limits.section if name == "section" else limits.text
        if len(text) > most:
            return Decision(
                action="refuse",
                reason=(f"the {_told(name)} has {len(text):,} characters; a learned one may have {most:,}"),
                rule="too-long",
            )
    return None


def _told(name: str) -> str:
    return {"applies_when": "conditions", "avoid": "advice against", "tool_order": "tool order", "about": "subject"}.get(name, name)
