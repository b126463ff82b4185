"""Token counts by a real tokenizer, where one is on this machine. Nothing here opens a connection.

tiktoken fetches its vocabularies over the network at their first use, so it counts only with one
that lies in its cache already; bpe-openai (the extra `tokens`) brings them in its wheel.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tenure.errors import MissingExtra, SettingError
from tenure.ports import TokenCounter
from tenure.ranking import Estimate

AUTO = "auto"

ENCODINGS = ("o200k_base", "cl100k_base")
"""Tokenizers that can be asked for: that of GPT-4o and all later models of OpenAI, and that of GPT-4 and GPT-3.5."""

PIECE = 32_000
"""Characters that are counted at once."""

_OLDER_MODELS = re.compile(r"gpt-4(?![o.\d])|gpt-3\.5|text-embedding-")
_ADDRESS = re.compile(r"https://[^\s\"']+\.tiktoken")


class EncodingCounter:
    """Counts with a tokenizer (see `ports.TokenCounter`).

    Args:
        name: as it is shown, such as `o200k_base (tiktoken)`.
        encode: cuts a text into tokens; marks such as `<|endoftext|>` in it are ordinary text.
    """

    def __init__(self, name: str, encode: Callable[[str], Any]) -> None:
        self.name = name
        self._encode = encode
        self._counted = lru_cache(maxsize=8_192)(self._count)

    def __call__(self, text: str) -> int:
        """Tokens of a text; of a long one the sum over its pieces, which can be a few more."""
        # Tokenizers refuse what is very long, and some take time that grows faster than the text.
        if len(text) > PIECE:
            return sum(self._count(text[start : start + PIECE]) for start in range(0, len(text), PIECE))
        return self._counted(text)

    def _count(self, text: str) -> int:
        # Tokenizers take no lone surrogates.
        return len(self._encode(text.encode("utf-8", "replace").decode("utf-8")))


def open_counter(name: str = AUTO, *, model: str = "") -> TokenCounter:
    """What counts the tokens of contexts.

    Args:
        name: `auto` takes a tokenizer if one is at hand, else the estimate; `estimate`; or one of `ENCODINGS`.
        model: the language model, which says what tokenizer `auto` takes. Those of other makers than
            OpenAI have tokenizers of their own that nobody can run here; counts come close.

    Raises:
        SettingError: there is no such tokenizer.
        MissingExtra: it is asked for by name, and not at hand.
    """
    if name == Estimate.name:
        return Estimate()
    wanted = encoding_of(model) if name == AUTO else name
    if wanted not in ENCODINGS:
        raise SettingError(f"There is no tokenizer '{name}'. There are {', '.join(ENCODINGS)}; '{AUTO}' and '{Estimate.name}' need none.")
    found = _at_hand(wanted)
    if found is not None:
        return found
    if name == AUTO:
        return Estimate()
    raise MissingExtra(f"Tokenizer '{name}'", extra="tokens")


def encoding_of(model: str) -> str:
    """The tokenizer that comes nearest to a model's own."""
    return "cl100k_base" if _OLDER_MODELS.search(model) else "o200k_base"


@lru_cache(maxsize=4)
def _at_hand(encoding: str) -> TokenCounter | None:
    if tiktoken_has(encoding):
        import tiktoken

        # A damaged file in its cache makes it ask the network; without one the next best counts, and its name says so.
        with contextlib.suppress(Exception):
            return EncodingCounter(f"{encoding} (tiktoken)", tiktoken.get_encoding(encoding).encode_ordinary)
    if find_spec("bpe_openai") is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # its own way of reading its vocabulary
            import bpe_openai

            made = bpe_openai.get_encoding(encoding)
        return EncodingCounter(f"{encoding} (bpe-openai)", made.encode_ordinary)
    return None


def tiktoken_has(encoding: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether tiktoken is installed and a vocabulary of it lies in its cache, so that it can count without the network."""
    if find_spec("tiktoken") is None or find_spec("tiktoken_ext") is None:
        return False
    import inspect

    from tiktoken_ext import openai_public

    address = _ADDRESS.search(inspect.getsource(getattr(openai_public, encoding)))
    if address is None:
        return False
    named = environment.get("TIKTOKEN_CACHE_DIR", environment.get("DATA_GYM_CACHE_DIR"))
    folder = Path(tempfile.gettempdir()) / "data-gym-cache" if named is None else Path(named)
    # tiktoken's own name for the file. It checks the bytes itself, and would fetch them anew if they were wrong.
    return named != "" and (folder / sha1(address[0].encode(), usedforsecurity=False).hexdigest()).is_file()
