"""A person's corrections: sentences that tell the agent how to do things from now on.

Only durable instructions count. What somebody wants this once ("no, the blue one", "I don't need
insurance") is an answer, not a rule, so a sentence needs a marker of one of two kinds:

- *standing*: `always`, `never`, `from now on`, `I told you`; after any action of the run;
- *correcting*: `no, use X`, `don't …`, `stop …ing`, `that's wrong`, `X, not Y`; only right after an
  action that changed something, or one that a person refused, and never where the speaker talks of
  own wishes or property, as customers do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tenure.governance.hidden_text import quote
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Run, Step
from tenure.roles.actions import Action
from tenure.roles.correction_patterns import CORRECTING, NEGATIVE, OWN_WISH, STANDING
from tenure.roles.differences import shown_command
from tenure.roles.reflection import Insight
from tenure.roles.texts import printable, tool_name

QUOTE_LIMIT = 200
"""Most characters of a person's words that a lesson repeats."""

_READ_LIMIT = 1500  # what is longer is a document, and only its start is a person's own
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.](?=\S)[^.!?。！？\n]*)*[.!?。！？]*")
_REMINDER = re.compile(r"<([a-z][\w-]*)\b[^>]*>.*?</\1>", re.DOTALL)
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)|^>.*$", re.DOTALL | re.MULTILINE)


def learn_from_person(run: Run, actions: Sequence[Action]) -> tuple[Insight, ...]:
    """One insight for each message in which a person corrects the agent, in the person's words.

    Args:
        run: the run; of its messages only a person's count, not those of another agent or a document.
        actions: its tool calls.
    """
    found: dict[str, Insight] = {}
    last_message = -1
    for index, step in enumerate(run.steps):
        if not _is_person(step):
            continue
        before = [action for action in actions if 0 <= action.step < index]
        if before:
            fresh = [action for action in before if action.step > last_message]
            refused = next((s for s in range(index - 1, last_message, -1) if run.steps[s].name in ("refused", "interrupted")), -1)
            changing = [action for action in fresh if action.changes_state]
            said = _said(step.content, right_after=bool(changing) or refused >= 0)
            if said:
                action = (changing or fresh or before)[-1]
                insight = _insight(run, index, said, action)
                found.setdefault(insight.about, insight)
        last_message = index
    return tuple(found.values())


def _is_person(step: Step) -> bool:
    trusted = step.origin is None or (step.origin.trusted and step.origin.channel not in ("tool", "web", "file", "mail", "system"))
    return step.kind == "message" and step.role == "user" and trusted and bool(step.content.strip())


def _said(content: str, *, right_after: bool) -> str:
    """A person's correction in a message, as it is quoted; empty if there is none."""
    text = _CODE_BLOCK.sub("\n", _REMINDER.sub("\n", content[:_READ_LIMIT]))
    sentences = list(_sentences(text))
    matching = [place for place, sentence in enumerate(sentences) if _is_correction(sentence, right_after=right_after)]
    if not matching:
        return ""
    whole = printable(text)
    if len(whole) <= QUOTE_LIMIT:
        return whole
    first = matching[0]
    said = sentences[first]
    for sentence in sentences[first + 1 : matching[-1] + 2]:  # what follows "that's wrong" says what is right
        if len(said) + len(sentence) >= QUOTE_LIMIT:
            break
        said = f"{said} {sentence}"
    return said if len(said) <= QUOTE_LIMIT else said[: QUOTE_LIMIT - 1].rsplit(" ", 1)[0] + "…"


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = printable(found.group())
        if sentence:
            yield sentence


def _is_correction(sentence: str, *, right_after: bool) -> bool:
    if sentence.endswith(("?", "？")):
        return False
    plain = sentence.replace("’", "'")
    if OWN_WISH.search(plain):
        return False
    return bool(STANDING.search(plain)) or (right_after and bool(CORRECTING.search(plain)))


def _insight(run: Run, index: int, said: str, action: Action) -> Insight:
    words = quote(said, limit=QUOTE_LIMIT)
    did = f"`{shown_command(action.command)}`" if action.command else tool_name(action.tool)
    return Insight(
        text=f'A person corrected the agent after {did}; do as they said: "{words}"',
        kind="prohibition" if NEGATIVE.search(words.replace("’", "'")) else "domain_rule",
        about=f"correction:{words.casefold().rstrip(' .!。！')}",
        evidence=(Evidence(run=run.id, step=action.step, role="context"), Evidence(run=run.id, step=index, role="correction")),
        basis="person",
    )
