"""Whether a statement repeats text that nobody vouches for: web pages, files, mail, what tools returned."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.playbook.run import Run

QUOTED_WORDS = 8
"""This many words in a row are a quotation. A CJK character counts as a word."""

ERROR_QUOTE_LIMIT = 200
"""Characters of a tool's error that a statement may quote, in quotation marks, and still be its author's own."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_QUOTED = f"{{1,{ERROR_QUOTE_LIMIT}}}"
_QUOTATION = re.compile(rf"\"[^\"\n]{_QUOTED}\"|“[^”\n]{_QUOTED}”|`[^`\n]{_QUOTED}`|(?<!\w)'[^'\n]{_QUOTED}'(?!\w)")


class UntrustedText:
    """The untrusted texts of one run, ready to be compared with statements.

    Untrusted are what tools returned and what events carried, unless their origin is marked as
    trusted, and every step whose origin is marked as not. Errors of tools are half way: they are
    facts about the call, so a statement may quote them in quotation marks.
    """

    def __init__(self, run: Run) -> None:
        self._payloads: set[tuple[str, ...]] = set()
        self._errors: set[tuple[str, ...]] = set()
        for step in run.steps:
            origin = step.origin or (None if run.origin.trusted else run.origin)
            from_outside = step.kind in ("tool_result", "event")
            if (origin is None and from_outside) or (origin is not None and not origin.trusted):
                # Logs often repeat the error as the content of the rejected result.
                if step.error and step.error.strip() in step.content:
                    self._errors.update(_runs_of_words(step.content))
                else:
                    self._payloads.update(_runs_of_words(step.content))
                self._errors.update(_runs_of_words(step.error))

    def is_repeated_in(self, statement: str) -> bool:
        """Whether a statement has `QUOTED_WORDS` words in a row from untrusted text."""
        if not self._payloads.isdisjoint(_runs_of_words(statement)):
            return True
        return not self._errors.isdisjoint(_runs_of_words(_QUOTATION.sub(" … ", statement)))


def _runs_of_words(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    for place in range(len(words) - QUOTED_WORDS + 1):
        yield tuple(words[place : place + QUOTED_WORDS])
