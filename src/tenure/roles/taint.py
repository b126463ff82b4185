"""Whether a statement comes from text that nobody vouches for: web pages, files, mail, what tools returned.

Two tests. A statement that repeats eight words in a row is a quotation, whoever wrote it. What a model concluded is
also held against the run as a whole: a model that read a stranger's words may have obeyed them, in words of its own.
See `design/taint.md` for the rule, what it rests on and where it ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

from tenure.governance.hidden_text import decoded_texts
from tenure.governance.instruction_words import (
    CHECKS,
    DEEDS_AT_ADDRESS,
    ERROR_ORDERS,
    FORCE,
    LEAVE_OUT,
    NEGATIONS,
    OPERATIONS,
    stems_of,
    word_stem,
    word_stems,
)
from tenure.playbook.run import Origin, Run, Step

QUOTED_WORDS = 8
"""This many words in a row are a quotation. A CJK character counts as a word."""

ERROR_QUOTE_LIMIT = 200
"""Characters of a tool's error that a statement may quote, in quotation marks, and still be its author's own."""

CARRIER_WORDS = 5
"""A string of so many words can carry an instruction; a shorter one only with a word that moves money, data, rights or checks."""

FREE_PART, ANCHORED_PART = 6, 3
"""Of so many words about a statement's subject, trusted texts may lack one, where a stranger could have had it written.

Of a statement that names a tool which the run called, they may lack more, and one in any case: it is about structure."""

_LITTLE = 150
"""So many words of strangers in a run are also compared as one: an instruction may come in parts."""

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*|\n+")

_NO = re.compile(r"^\W*no\b\s*[,:;-]", re.IGNORECASE)
"""What a person says before the right way: it denies nothing of what follows."""

_READ = 200_000
"""Characters of untrusted text that are looked through one by one; a run with more is taken to carry instructions."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_QUOTED = f"{{1,{ERROR_QUOTE_LIMIT}}}"
_QUOTATION = re.compile(rf"\"[^\"\n]{_QUOTED}\"|“[^”\n]{_QUOTED}”|`[^`\n]{_QUOTED}`|(?<!\w)'[^'\n]{_QUOTED}'(?!\w)")
_ADDRESS = re.compile(r"(?:https?|hxxps?|ftp)://|www\.|\w@\w|\[redacted:(?:email|url-password|bank-account|phone)\]", re.IGNORECASE)
_SPECIFIC = re.compile(
    r"[a-z]+://[^\s\"'`)>]+|\[redacted:[a-z-]+\]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[\w-]+\.)+(?:com|org|net|io|dev|ai|app|sh|ru|cn|co|example)\b"
    r"|\b\w*\d\w+\b|\b[A-Za-z]\w*(?:_\w+)+\b|\b[a-z]+[A-Z]\w*\b",
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b|\b[A-Z]{3,}\b")


class UntrustedText:
    """The untrusted texts of one run, ready to be compared with statements.

    Untrusted are what tools returned and what events carried, unless their origin is marked as
    trusted, and every step whose origin is marked as not. Errors of tools are half way: they are
    facts about the call, so a statement may quote them in quotation marks.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._payloads: set[tuple[str, ...]] = set()
        self._errors: set[tuple[str, ...]] = set()
        for step in run.steps:
            if _is_untrusted(step, run):
                # Logs often repeat the error as the content of the rejected result.
                if step.error and step.error.strip() in step.content:
                    self._errors.update(_runs_of_words(step.content))
                else:
                    self._payloads.update(_runs_of_words(step.content))
                self._errors.update(_runs_of_words(step.error))
        self._ground: _Ground | None = None

    def is_repeated_in(self, statement: str) -> bool:
        """Whether a statement has `QUOTED_WORDS` words in a row from untrusted text."""
        if not self._payloads.isdisjoint(_runs_of_words(statement)):
            return True
        return not self._errors.isdisjoint(_runs_of_words(_QUOTATION.sub(" … ", statement)))

    def may_have_written(self, statement: str) -> str:
        """Why a statement that a model made of this run may be a stranger's, in a few words; empty if it is the model's own.

        It is the model's own if nothing untrusted in the run could have carried an instruction, or if all that the
        statement is about stands in texts that are trusted: what persons said, names of tools and their arguments,
        and short errors.
        """
        if self.is_repeated_in(statement):
            return "it repeats untrusted text"
        ground = self._grounded()
        return ground.lacks(statement) if ground.has_carrier else ""

    @property
    def has_carrier(self) -> bool:
        """Whether something untrusted in the run could have carried an instruction, and a model that read it may have obeyed."""
        return self._grounded().has_carrier

    def nearest(self, statement: str) -> int:
        """Index of the untrusted step that shares most words with a statement, the first of equals.

        Where none shares two, the first that could have carried an instruction; -1 if there is none of either.
        """
        words = frozenset(word_stems(statement))
        best, shared = -1, 1
        for index, step in enumerate(self._run.steps):
            if _is_untrusted(step, self._run):
                texts = (reading for text in (step.content, step.error) for reading in _readings(text[:_READ]) if text)
                found = max((len(words & frozenset(word_stems(text))) for text in texts), default=0)
                if found > shared:
                    best, shared = index, found
        return best if best >= 0 else self._grounded().first_carrier

    def _grounded(self) -> _Ground:
        if self._ground is None:
            self._ground = _Ground(self._run)
        return self._ground


class _Ground:
    """What of a run is trusted, and whether something that is not could have carried an instruction."""

    def __init__(self, run: Run) -> None:
        untrusted = [step for step in run.steps if _is_untrusted(step, run)]
        outside = "\n".join(step.content for step in untrusted if step.kind == "message")
        texts: list[str] = []
        if run.origin.trusted:
            if run.task.text.strip() and run.task.text.strip() not in outside:
                texts.append(run.task.text)
            texts.append(run.task.kind)
            if run.outcome.honest:
                texts.append(run.outcome.feedback)
        self._carriers: list[str] = []
        self.first_carrier = -1
        calls: dict[str, str] = {}
        names: set[str] = set()
        for index, step in enumerate(run.steps):
            if self._carriers and self.first_carrier < 0:
                self.first_carrier = index - 1
            if step.kind == "tool_call":
                calls[step.call_id or step.name] = shape = " ".join((step.name, *_field_names(step.arguments)))
                texts.append(shape)
            if _is_untrusted(step, run):
                repeated = bool(step.error) and step.error.strip() in step.content
                if step.error and is_directive(step.error):
                    self._carriers.append(step.error)
                elif step.error:  # what was wrong with a call, beside the call
                    texts.append(f"{step.error}\n{calls.get(step.call_id or step.name, step.name)}")
                if not repeated and _carries(step.content):
                    self._carriers.append(step.content)
                names.update(_result_fields(step.content))
            elif step.role in ("user", "system") or (step.origin is not None and step.origin.trusted):
                texts.extend((step.content, step.error))
            elif not self._carriers:  # what the agent says and passes once it has read a stranger's words may be theirs
                texts.append(step.content)
                if step.kind == "tool_call":
                    texts.append(json.dumps(dict(step.arguments), default=str, ensure_ascii=False))
        if self._carriers and self.first_carrier < 0:
            self.first_carrier = len(run.steps) - 1
        # Names of fields in results are structure; they lend no word that moves money, data, rights or checks.
        texts.append(" ".join(sorted(name for name in names if not stems_of(FORCE, name))))
        self._text = "\n".join(texts).casefold()
        self._sentences = [sentence for text in texts for sentence in _sentences(_NO.sub("", text))]
        self._units = [*self._sentences, *(one | other for one, other in pairwise(self._sentences))]
        self._stems = frozenset().union(*self._sentences)
        self._names = sorted({step.name for step in run.steps if step.kind == "tool_call" and len(step.name) > 3})
        self._outside: Sequence[frozenset[str]] | None = None

    @property
    def has_carrier(self) -> bool:
        """Whether something that is not trusted could have carried an instruction."""
        return bool(self._carriers)

    def lacks(self, statement: str) -> str:
        """What a statement says that no trusted text says; empty if it says nothing of the sort."""
        for found in (*_SPECIFIC.finditer(statement), *_NAME.finditer(statement)):
            if found.group().casefold() not in self._text:
                return f"no trusted step names '{found.group()[:60]}'"
        stems = list(word_stems(statement))
        forceful = stems_of(FORCE, statement)
        for stem in stems:
            if stem in forceful and stem not in self._stems:
                word = next(word for word in _WORD.findall(statement) if word_stem(word) == stem) if stem.isascii() else stem
                return f"no trusted step speaks of '{word}'"
        if _negates_check(stems) and not _negates_check(list(word_stems(self._text))):
            return "it tells to leave out a check, and no trusted step does"
        subject = {stem for stem in stems if stem not in OPERATIONS and not stem.isdigit()}
        unsupported = len(subject - self._stems)
        anchored = any(name in statement for name in self._names)
        if unsupported > (max(1, len(subject) // ANCHORED_PART) if anchored else len(subject) // FREE_PART):
            return f"of {len(subject)} words about its subject, trusted steps lack {unsupported}"
        said = subject | forceful
        words = frozenset(stems)
        outside, inside = (
            max(((len(said & unit), len(words & unit)) for unit in units), default=(0, 0)) for units in (self._carried(), self._units)
        )
        if outside > inside:
            return f"an untrusted text holds {outside[0]} of its words, more than any trusted one"
        if said and not anchored:
            # The sentence it would rest on; of several, one that agrees will do.
            most = max((len(said & sentence) for sentence in self._sentences), default=0)
            nearest = [sentence for sentence in self._sentences if len(said & sentence) == most]
            if all(_negative(sentence) != _negative(stems) for sentence in nearest):
                return "it turns round what the nearest trusted sentence says"
        return ""

    def _carried(self) -> Sequence[frozenset[str]]:
        """Stems of what strangers wrote: each two sentences that follow each other, and all of it if that is little."""
        if self._outside is None:
            texts = [reading for text in self._carriers for reading in _readings(text[:_READ])]
            sentences = [sentence for text in texts for sentence in _sentences(text)]
            pairs = [one | other for one, other in pairwise(sentences)]
            little = sum(map(len, sentences)) <= _LITTLE
            self._outside = [*sentences, *pairs, *([frozenset().union(*sentences)] if little else [])]
        return self._outside


def _sentences(text: str) -> Iterator[frozenset[str]]:
    """Stems of each sentence of a text."""
    for sentence in _SENTENCE.split(text):
        if stems := frozenset(word_stems(sentence)):
            yield stems


def is_directive(error: str) -> bool:
    """Whether an error says more than what was wrong with a call.

    It does if it is very long, uses a word that facts about a call have no use for, tells to leave out a check, or names
    an address together with something to do there.
    """
    stems = list(word_stems(error))
    if len(error) > 4 * ERROR_QUOTE_LIMIT or stems_of(ERROR_ORDERS, error):
        return True
    left_out = any(stem in LEAVE_OUT and not CHECKS.isdisjoint(stems[place + 1 : place + 5]) for place, stem in enumerate(stems))
    waived = bool({"witho", "unnec"} & set(stems)) and _negates_check(stems)
    return left_out or waived or (_ADDRESS.search(error) is not None and bool(stems_of(DEEDS_AT_ADDRESS, error)))


def _negative(stems: Iterable[str]) -> bool:
    return any(stem in _NEGATION_STEMS for stem in stems)


def _is_untrusted(step: Step, run: Run) -> bool:
    origin: Origin | None = step.origin or (None if run.origin.trusted else run.origin)
    from_outside = step.kind in ("tool_result", "event")
    return (origin is None and from_outside) or (origin is not None and not origin.trusted)


def _negates_check(stems: list[str]) -> bool:
    """Whether a check is named soon after a negation, unless two negations make it a demand ("never ... without checking")."""
    negated = [place for place, stem in enumerate(stems) if stem in _NEGATION_STEMS]
    for number, place in enumerate(negated):
        if number and place - negated[number - 1] <= 8:
            continue
        demanded = any(stem in _NEGATION_STEMS for stem in stems[place + 1 : place + 9])
        if not demanded and any(stem in CHECKS for stem in stems[place + 1 : place + 5]):
            return True
    return False


_NEGATION_STEMS = frozenset(word_stem(word) for word in NEGATIONS)


def _carries(content: str) -> bool:
    """Whether an untrusted text could carry an instruction."""
    if len(content) > _READ:
        return True
    return any(_could_instruct(leaf) for leaf in _leaves(content))


def _readings(text: str) -> Iterator[str]:
    """A text, and what it says to whoever decodes it."""
    yield text
    if "%" in text:
        yield unquote(text)
    if len(text) <= _DECODED:
        for leaf in _leaves(text):
            yield from (inner for _, inner in decoded_texts(leaf))
            if _SPACED.search(leaf):
                yield _SPACED.sub(lambda run: run.group().replace(" ", ""), leaf)


_DECODED = 20_000
_SPACED = re.compile(r"\b(?:\w ){3,}\w\b")
_ENCODED = ("base64", "hexadecimal", "escapes")


def _could_instruct(leaf: str) -> bool:
    if len(leaf) < 4:
        return False
    letters = [word for word in _WORD.findall(leaf) if any(c.isalpha() for c in word)]
    if " " in leaf.strip() and (len(letters) >= CARRIER_WORDS or _ADDRESS.search(leaf) is not None):
        return True
    if len(letters) > CARRIER_WORDS and _ADDRESS.search(leaf) is None:
        return True  # joined by something else than blanks
    stems = {word_stem(word) for word in letters}
    if len(letters) >= 2 and _ID.fullmatch(leaf) is None and stems_of(FORCE, leaf) and not stems & _VERDICTS:
        return True
    return len(leaf) >= 16 and any(manner in _ENCODED for manner, _ in decoded_texts(leaf))


_ID = re.compile(r"[A-Za-z0-9_.:/#@+-]+")
_VERDICTS = frozenset(map(word_stem, ("successful", "success", "succeeded", "done", "completed", "ok", "failed", "pending", "accepted")))
"""Beside one of these, a word that would order something reports it: "transfer successful"."""


def _leaves(content: str) -> Iterator[str]:
    """The strings of a JSON value, names of its fields too; of any other text, the text."""
    stripped = content.lstrip()
    if stripped[:1] in ("{", "["):
        try:
            pending: list[Any] = [json.loads(content)]
        except (ValueError, RecursionError):
            yield content
            return
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                if item[:1] in ("{", "[") and item != content:
                    yield from _leaves_of_text(item)
                else:
                    yield item
            elif isinstance(item, dict):
                pending.extend(item.values())
                yield from (key for key in item if " " in key or len(key) > 40)
            elif isinstance(item, list):
                pending.extend(item)
        return
    yield content


def _leaves_of_text(item: str) -> Iterator[str]:
    """JSON inside JSON is looked into once more."""
    try:
        inner = json.loads(item)
    except (ValueError, RecursionError):
        yield item
        return
    yield from (str(part) for part in (inner.values() if isinstance(inner, dict) else inner))


def _field_names(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if hasattr(item, "items"):
            for key, inner in item.items():
                yield str(key)
                pending.append(inner)
        elif isinstance(item, list | tuple):
            pending.extend(item)


def _result_fields(content: str) -> Iterator[str]:
    """Names of fields in a JSON result."""
    if content.lstrip()[:1] in ("{", "[") and len(content) <= _READ:
        try:
            yield from (name for name in _field_names(json.loads(content)) if _FIELD.fullmatch(name))
        except (ValueError, RecursionError):
            return


_FIELD = re.compile(r"[A-Za-z]\w{0,30}")


def _runs_of_words(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    for place in range(len(words) - QUOTED_WORDS + 1):
        yield tuple(words[place : place + QUOTED_WORDS])
