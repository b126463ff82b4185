"""WordPiece: a text as the numbers that BERT-like models read.

The vocabulary beside this file (`bert_vocabulary.txt.gz`, 30,522 pieces) is that of Google's BERT,
uncased, Apache-2.0; MiniLM was trained with it, and the wheel that brings MiniLM does not have it.

Source: Devlin et al., BERT (2019); Schuster and Nakajima, Japanese and Korean Voice Search (2012).
"""

from __future__ import annotations

import gzip
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

LONGEST_WORD = 100
"""Characters of a word beyond which it is unknown as a whole."""


class WordPiece:
    """Cuts texts into pieces of a vocabulary, the longest that fits first.

    Args:
        vocabulary: number of each piece; pieces inside a word begin with `##`.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._unknown, self._first, self._last = (vocabulary[mark] for mark in ("[UNK]", "[CLS]", "[SEP]"))
        self._pieces = lru_cache(maxsize=65_536)(self._pieces_of)

    @classmethod
    def bundled(cls) -> WordPiece:
        """With the vocabulary of BERT, uncased."""
        with gzip.open(Path(__file__).with_name("bert_vocabulary.txt.gz"), "rt", encoding="utf-8", newline="\n") as lines:
            return cls({line.rstrip("\n"): number for number, line in enumerate(lines)})

    def encode(self, text: str, *, longest: int) -> list[int]:
        """The pieces of a text by number, between a mark at the start and one at the end.

        Args:
            text: in any script, without lone surrogates.
            longest: pieces in all; the rest of the text is left out.
        """
        found = [self._first]
        for word in _words(text):
            found.extend(self._pieces(word))
            if len(found) >= longest:
                break
        return [*found[: longest - 1], self._last]

    def _pieces_of(self, word: str) -> tuple[int, ...]:
        if len(word) > LONGEST_WORD:
            return (self._unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self._vocabulary.get(word[start:end] if start == 0 else f"##{word[start:end]}")
                if piece is not None:
                    break
            else:
                return (self._unknown,)
            found.append(piece)
            start = end
        return tuple(found)


def _words(text: str) -> Iterator[str]:
    """Words in lower case without accents; each mark and each Chinese character is a word of its own."""
    word: list[str] = []
    for character in unicodedata.normalize("NFD", "".join(map(_plain, text)).lower()):
        category = unicodedata.category(character)
        if category == "Mn":
            continue
        if character.isspace() or _is_mark(character, category) or _is_chinese(character):
            if word:
                yield "".join(word)
                word = []
            if not character.isspace():
                yield character
        else:
            word.append(character)
    if word:
        yield "".join(word)


def _plain(character: str) -> str:
    """The character; a space for every kind of white space, nothing for a control character."""
    if character in "\t\n\r" or unicodedata.category(character) == "Zs":
        return " "
    if character in "\x00\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs"):
        return ""
    return character


def _is_mark(character: str, category: str) -> bool:
    return category.startswith("P") or (character.isascii() and not character.isalnum() and not character.isspace())


def _is_chinese(character: str) -> bool:
    code = ord(character)
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x2CEAF
        or 0x2F800 <= code <= 0x2FA1F
    )
