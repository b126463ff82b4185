"""Whether a statement comes from text that nobody vouches for: web pages, files, mail, what tools returned.

Two tests. A statement that repeats eight words in a row is a quotation, whoever wrote it. What a model concluded is
also held against the run as a whole: a model that read a stranger's words may have obeyed them, in words of its own.
See `design/taint.md` for the rule, what it rests on and where it ends.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

from tenure.governance.attacks import fold
from tenure.governance.hidden_text import decoded_texts, hidden_characters
from tenure.governance.instruction_words import (
    FORCE,
    GUARDS,
    OPERATIONS,
    denies,
    negates_check,
    stems_of,
    word_stem,
    word_stems,
)
from tenure.playbook.run import Origin, Run, Step
from tenure.roles.error_statements import is_directive, told_by

QUOTED_WORDS = 8
"""This many words in a row are a quotation. A CJK character counts as a word."""

ERROR_QUOTE_LIMIT = 200
"""Characters of a tool's error that a statement may quote, in quotation marks, and still be its author's own."""

CARRIER_WORDS = 5
"""A string of so many words can carry an instruction; a shorter one only with a word that moves money, data, rights or checks."""

FREE_PART, OWN_PART, ANCHORED_PART = 6, 4, 3
"""Of so many words about a statement's subject, trusted texts may lack one, where a stranger could have had it written.

Of four, if the stranger does not use it either and one trusted sentence holds half of the others.
Of a statement that names a tool which the run called, they may lack more, and one in any case: it is about structure."""

_LITTLE = 150
"""So many words of strangers in a run are also compared as one: an instruction may come in parts."""

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*|\n+")

_NO = re.compile(r"^\W*no\b\s*[,:;-]|\byes or no\b", re.IGNORECASE)
"""What a person says before the right way, and two answers of which one will do: they deny nothing of what follows."""

_CONTRAST = re.compile(r"(?:,|\band\b)\s*(?:but )?(?:not|never)\b[^,.;:!?\n]*", re.IGNORECASE)
_KEPT_OUT = re.compile(r"\b(?:stay|keep|kept|leave|left)s?\s(?:\w+\s){0,3}?out\b", re.IGNORECASE)

_READ = 200_000
"""Characters of untrusted text that are looked through one by one; a run with more is taken to carry instructions."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_QUOTED = f"{{1,{ERROR_QUOTE_LIMIT}}}"
_QUOTATION = re.compile(rf"\"[^\"\n]{_QUOTED}\"|“[^”\n]{_QUOTED}”|`[^`\n]{_QUOTED}`|(?<!\w)'[^'\n]{_QUOTED}'(?!\w)")
_ADDRESS = re.compile(r"(?:https?|hxxps?|ftp)://|www\.|\w@\w|\[redacted:(?:email|url-password|bank-account|phone)\]", re.IGNORECASE)
_SPECIFIC = re.compile(
    r"(?<![a-z])[a-z]++://[^\s\"'`)>]+|\[redacted:[a-z-]+\]|(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w.-])\.?(?:[\w-]++\.)+(?:com|org|net|io|dev|ai|app|sh|ru|cn|co|example)\b"
    r"|\b(?=\w*\d\w)\w++|\b(?=[A-Za-z]\w*_\w)\w++|\b[a-z]++[A-Z]\w*+",
)
"""Names and figures. Each alternative starts only where such a word can, so that time grows with the length and no faster."""

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

    def may_have_written(self, statement: str, *, read_more: bool = False) -> str:
        """Why a statement that a model made of this run may be a stranger's, in a few words; empty if it is the model's own.

        It is the model's own if nothing untrusted in the run could have carried an instruction, or if all that the
        statement is about stands in texts that are trusted: what persons said, names of tools and their arguments,
        and short errors.

        Args:
            statement: what the model says.
            read_more: whether it read other texts than the run, as the model of a host does; then what carries no
                instruction here vouches for nothing, and only the second test counts.
        """
        if self.is_repeated_in(statement):
            return "it repeats untrusted text"
        ground = self._grounded()
        return ground.lacks(statement) if read_more or ground.has_carrier else ""

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


def _said_around(run: Run, outside: str) -> list[str]:
    """What a trusted run says beside its steps: its task, unless a stranger's message holds it, and how it ended."""
    task = run.task.text.strip()
    return [
        *([run.task.text] if task and task not in outside else []),
        run.task.kind,
        *([run.outcome.feedback] if run.outcome.honest else []),
    ]


class _Ground:
    """What of a run is trusted, and whether something that is not could have carried an instruction."""

    def __init__(self, run: Run) -> None:
        untrusted = [step for step in run.steps if _is_untrusted(step, run)]
        outside = "\n".join(step.content for step in untrusted if step.kind == "message")
        texts = _said_around(run, outside) if run.origin.trusted else []
        self._carriers: list[str] = []
        self.first_carrier = -1
        calls: dict[str, str] = {}
        names: set[str] = set()
        scraps: dict[str, list[str]] = {}
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
                    facts, rest = told_by(step.error)
                    texts.append("\n".join((*facts, calls.get(step.call_id or step.name, step.name))))
                    self._carriers.extend(rest)
                if not repeated and _carries(step.content):
                    self._carriers.append(step.content)
                elif not repeated:
                    scraps.setdefault(step.name, []).extend(_scraps(step.content))
                names.update(_result_fields(step.content))
            elif step.role in ("user", "system") or (step.origin is not None and step.origin.trusted):
                texts.extend((step.content, step.error))
            elif not self._carriers:  # what the agent says and passes once it has read a stranger's words may be theirs
                texts.append(step.content)
                if step.kind == "tool_call":
                    texts.append(json.dumps(dict(step.arguments), default=str, ensure_ascii=False))
        # An instruction may come in parts, none of which says anything.
        self._carriers.extend("\n".join(parts) for parts in scraps.values() if _say_something_together(parts))
        if self._carriers and self.first_carrier < 0:
            self.first_carrier = len(run.steps) - 1
        # Names of fields in results are structure; they lend no word that moves money, data, rights or checks.
        texts.append(" ".join(sorted(name for name in names if not stems_of(FORCE, name))))
        self._text = "\n".join(texts).casefold()
        told = [sentence for text in texts for sentence in _SENTENCE.split(_NO.sub("", text))]
        self._in_order = [list(word_stems(sentence)) for sentence in told]
        self._sentences = [frozenset(stems) for stems in self._in_order]
        self._denials = [_polarities(sentence) for sentence in told]
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
        tests = (self._unnamed, self._unchecked, self._unsupported, self._opposed)
        return next((reason for test in tests if (reason := test(statement))), "")

    def _unnamed(self, statement: str) -> str:
        """A name or figure, or a word that moves money, data, rights or checks, which no trusted text has."""
        for found in (*_SPECIFIC.finditer(statement), *_NAME.finditer(statement)):
            if found.group().casefold() not in self._text:
                return f"no trusted step names '{found.group()[:60]}'"
        forceful = stems_of(FORCE, statement)
        for stem in word_stems(statement):
            if stem in forceful and stem not in self._stems:
                word = next(word for word in _WORD.findall(statement) if word_stem(word) == stem) if stem.isascii() else stem
                return f"no trusted step speaks of '{word}'"
        return ""

    def _unchecked(self, statement: str) -> str:
        """A check that it leaves out or puts too late, though no trusted text does."""
        stems = list(word_stems(statement))
        if negates_check(stems) and not negates_check(list(word_stems(self._text))):
            return "it tells to leave out a check, and no trusted step does"
        late = _checks_put_late(stems) & self._stems
        if late and not any(late & _checks_put_late(sentence) for sentence in self._in_order):
            return "it puts a check after what it guards, and no trusted step does"
        return ""

    def _unsupported(self, statement: str) -> str:
        """Words about its subject of which the trusted texts lack too many, or have fewer in one place than a stranger's text."""
        subject = _subject_of(statement)
        said = subject | stems_of(FORCE, statement)
        lacking = subject - self._stems
        anchored = self._names_a_tool(statement)
        if len(lacking) > (max(1, len(subject) // ANCHORED_PART) if anchored else len(subject) // FREE_PART):
            # Words that the stranger does not use either may be the model's way to say what one trusted sentence says.
            told = max((len(said & sentence) for sentence in self._sentences), default=0)
            foreign = lacking & frozenset().union(*self._carried())
            if foreign or len(lacking) > max(anchored, len(subject) // OWN_PART) or 2 * told < len(said) + 1:
                return f"of {len(subject)} words about its subject, trusted steps lack {len(lacking)}"
        if any(len(part) > 1 and part <= lacking for part in map(_subject_of, _CLAUSE.split(statement))):
            return "a clause of it rests on no word of a trusted step"
        words = frozenset(word_stems(statement))
        outside, inside = (
            max(((len(said & unit), len(words & unit)) for unit in units), default=(0, 0)) for units in (self._carried(), self._units)
        )
        return f"an untrusted text holds {outside[0]} of its words, more than any trusted one" if outside > inside else ""

    def _opposed(self, statement: str) -> str:
        """Whether it denies what the sentence that it would rest on affirms, or the reverse; of several, one that agrees will do."""
        said = _subject_of(statement) | stems_of(FORCE, statement)
        if not said or self._names_a_tool(statement) or _only_looks(statement):
            return ""
        most = max((len(said & sentence) for sentence in self._sentences), default=0)
        nearest = [place for place, sentence in enumerate(self._sentences) if len(said & sentence) == most]
        agrees = any(not _polarities(statement).isdisjoint(self._denials[place]) for place in nearest)
        return "" if agrees else "it turns round what the nearest trusted sentence says"

    def _names_a_tool(self, statement: str) -> bool:
        return any(name in statement for name in self._names)

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


def _polarities(sentence: str) -> frozenset[bool]:
    """Whether a sentence denies something; both if it does so only beside the right thing, as in "by id, not by name"."""
    plain = _KEPT_OUT.sub(" not ", _NO.sub("", sentence))
    return frozenset((denies(word_stems(plain)), denies(word_stems(_CONTRAST.sub("", plain)))))


def _is_untrusted(step: Step, run: Run) -> bool:
    origin: Origin | None = step.origin or (None if run.origin.trusted else run.origin)
    from_outside = step.kind in ("tool_result", "event")
    return (origin is None and from_outside) or (origin is not None and not origin.trusted)


def _subject_of(statement: str) -> frozenset[str]:
    """Stems of the words that a statement is about."""
    return frozenset(stem for stem in word_stems(statement) if stem not in OPERATIONS and not stem.isdigit())


_CLAUSE = re.compile(r"[.;:!?]\s+|\n+")


def _checks_put_late(stems: Sequence[str]) -> frozenset[str]:
    """Stems of the checks that a sentence puts after what they guard: "refund before you verify", "approval after it is paid"."""
    late: set[str] = set()
    for place, stem in enumerate(stems):
        before, behind = (frozenset(part) & GUARDS for part in (stems[max(0, place - _NEAR) : place], stems[place + 1 : place + 1 + _NEAR]))
        if stem == "befor" and not before and not denies(stems[:place]):
            late |= behind
        elif stem in ("after", "later", "once") and not behind:
            late |= before
    return frozenset(late)


_NEAR = 6
_CONDITION = re.compile(r"^(?:if|when|whenever|once|unless|before|after|for|in)\b[^,;:]*,\s*(?:then )?", re.IGNORECASE)
_LOOK = re.compile(
    r"(?:first |always )?(?:search|look|list|check|verify|compare|read|wait|stop|refuse|reject|decline"
    r"|call (?:get|list|search|find|read)_)",
    re.IGNORECASE,
)


def _only_looks(statement: str) -> bool:
    """Whether all that a statement tells to do is to look, to compare, to wait or to refuse: that does no harm on any condition."""
    told = _CONDITION.sub("", statement.strip())
    return _LOOK.match(told) is not None and not denies(word_stems(told))


def _carries(content: str) -> bool:
    """Whether an untrusted text could carry an instruction."""
    if len(content) > _READ:
        return True
    return any(_could_instruct(leaf) for leaf in _leaves(content))


def _scraps(content: str) -> Iterator[str]:
    """Short strings of an untrusted text with a word that is written small."""
    if len(content) <= _READ:
        yield from (leaf for leaf in _leaves(content) if _SMALL.search(leaf) is not None)


def _say_something_together(parts: Sequence[str]) -> bool:
    """Whether short strings that one tool returned could be an instruction in parts: of one it shows, and all are long enough."""
    distinct = dict.fromkeys(parts)
    return (
        any(" " in part.strip() and _PART.search(part) for part in distinct)
        and sum(len(_SMALL.findall(part)) for part in distinct) >= CARRIER_WORDS - 1
    )


_SMALL = re.compile(r"(?<![\w-])[^\W\d_A-Z][^\W\d_]*(?![\w-])")
_PART = re.compile(
    r"\b(?:the|a|an|who|what|which|then|maybe|to|for|of|in|on|at|with|without|and|or|not|no|is|are|be|if|when|all|any|every|you|your|my"
    r"|from|by|as|der|die|das|und|ohne|zu|f\u00fcr|le|les|des|de|du|et|pour|sans|el|los|las|y|para|sin|di|il|per|senza|\u0438|\u0432|\u043d\u0430|\u0431\u0435\u0437|\u043d\u0435)\b"
    r"|[.?!:](?:\s|$)|^[^\W\d_A-Z]+,? [^\W\d_A-Z]+,? [^\W\d_A-Z]+$"
)
"""What a sentence has and a name or a state has not: small words that join words, a full stop, three small words in a row."""


def _readings(text: str) -> Iterator[str]:
    """A text, and what it says to whoever decodes it."""
    yield text
    if "%" in text:
        yield unquote(text)
    if not text.isascii() and (seen := fold(text.translate(_TAGS))) != text.casefold():
        yield seen
    if len(text) <= _DECODED:
        for leaf in _leaves(text):
            yield from (inner for _, inner in decoded_texts(leaf))
            if _SPACED.search(leaf):
                yield _SPACED.sub(lambda run: run.group().replace(" ", ""), leaf)


_TAGS = {code: code - 0xE0000 for code in range(0xE0020, 0xE007F)}
_DECODED = 20_000
_SPACED = re.compile(r"\b(?:\w ){3,}\w\b")
_ENCODED = ("base64", "hexadecimal", "escapes")


def _could_instruct(leaf: str) -> bool:
    """Whether a string of an untrusted text could be an instruction, as it stands or to whoever decodes it."""
    if "%" in leaf:
        leaf = unquote(leaf)
    if len(leaf) < 4:
        return False
    letters = [word for word in _WORD.findall(leaf) if any(c.isalpha() for c in word)]
    return bool(hidden_characters(leaf)) or _talks(leaf, letters) or _hides(leaf, letters)


def _talks(leaf: str, letters: list[str]) -> bool:
    """Whether a string could be a sentence: five words or an address, or two of which one would order something."""
    if " " in leaf.strip() and (len(letters) >= CARRIER_WORDS or _ADDRESS.search(leaf) is not None):
        return True
    if len(letters) > CARRIER_WORDS and _ADDRESS.search(leaf) is None:
        return True  # joined by something else than blanks
    if len(letters) < 2:
        return False
    if len(letters) == CARRIER_WORDS - 1 and leaf == leaf.casefold() and _ID.fullmatch(leaf) is None:
        return True  # no name: those are written large
    if _STOP.search(leaf) is not None and {word_stem(word) for word in letters}.isdisjoint(_VERDICTS):
        return True
    if _DENIED.search(leaf) is not None or negates_check(list(word_stems(leaf))):
        return True
    return _ID.fullmatch(leaf) is None and bool(stems_of(FORCE, leaf)) and {word_stem(word) for word in letters}.isdisjoint(_VERDICTS)


def _hides(leaf: str, letters: list[str]) -> bool:
    """Whether a string says something to whoever decodes it: dots and dashes, pictures, base64, hexadecimal digits, escapes."""
    if len(leaf) < 16:
        return False
    if len(letters) <= 1 and " " in leaf and sum(c.isalnum() for c in leaf) < len(leaf) // 5:
        return True
    return any(_is_printable(found.group()) for found in _TOKEN.finditer(leaf)) or any(
        manner in _ENCODED for manner, _ in decoded_texts(leaf)
    )


_STOP = re.compile(r"\s[^\W\d_]{4,}[.!?]\s*$|[^\W\d_][\u3002\uff01\uff1f\u0964\u061f]")
"""The end of a sentence, and of no abbreviation."""

_DENIED = re.compile(
    r"\b(?:kein\w*|nicht|nie|niemals|ohne|sans|pas|jamais|sin|nunca|senza|mai|sem|n\u00e3o|geen|niet|zonder|bez|\u0431\u0435\u0437|\u043d\u0435|\u043d\u0435\u0442|\u043d\u0435\u043b\u044c\u0437\u044f)\b",
    re.IGNORECASE,
)
"""Negations of other languages: two words with one are an order more often than a name."""
_TOKEN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}+={0,2}")


def _is_printable(token: str) -> bool:
    """Whether a token is base64 of printable characters, whatever they say: encoded twice it is base64 again. Ids and digests are not."""
    body = token.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = b64decode(body + "=" * (-len(body) % 4))
    except ValueError:
        return False
    return all(32 <= byte < 127 for byte in raw)


_ID = re.compile(r"[A-Za-z0-9_.:/#@+-]+")
_VERDICTS = frozenset(
    map(word_stem, ("successful", "success", "succeeded", "done", "completed", "ok", "failed", "pending", "accepted", "confirmed", "found"))
)
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
