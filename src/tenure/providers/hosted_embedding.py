"""Embeddings of any provider that pydantic-ai has them for, and of any server with OpenAI's embeddings endpoint."""

from __future__ import annotations

import inspect
import re
import threading
import weakref
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from tenure.errors import EmbeddingFailed, MissingExtra, SettingError, UserError
from tenure.providers.embedding import guarded
from tenure.providers.event_loop import LoopEnded, LoopThread
from tenure.vectors import unit

if TYPE_CHECKING:
    from array import array

    from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult

AT_ONCE = 96
"""Texts in one request: what the strictest of the providers takes."""

TIMEOUT_S = 30.0
"""How long a request may take, in seconds. A search that waits longer is better done by keywords."""


def open_hosted(name: str, *, base_url: str | None = None, api_key: str | None = None) -> HostedEmbedder:
    """The embedder of a provider's model. Sends nothing yet.

    Args:
        name: `PROVIDER:MODEL`.
        base_url: address of another server; with `openai:` any that has OpenAI's embeddings endpoint.
        api_key: none takes the provider's own environment variable, which is never sent to a `base_url`.

    Raises:
        MissingExtra: pydantic-ai is not installed.
        SettingError: the address is none.
        UserError: the provider is not known, or needs a key or a package.
    """
    if base_url is not None and not re.match(r"https?://[^/\s]", base_url):
        raise SettingError(f"The embedder's base URL '{base_url}' is not an address. Write it like http://127.0.0.1:8080/v1")
    try:
        import pydantic_ai
        from pydantic_ai.embeddings import infer_embedding_model
        from pydantic_ai.providers import Provider, infer_provider, infer_provider_class
    except ModuleNotFoundError as exc:
        raise MissingExtra(f"Embedder '{name}'", extra="models") from exc

    def make_provider(provider: str) -> Provider[object]:
        if base_url is None and api_key is None:
            return infer_provider(provider)
        kind = infer_provider_class(provider)
        # A server of one's own may want no key; an empty one would be taken from the environment.
        given = {"base_url": base_url, "api_key": api_key or ("none" if base_url is not None else None)}
        known = inspect.signature(kind.__init__).parameters
        if base_url is not None and "base_url" not in known:
            raise UserError(f"Provider '{provider}' takes no base URL. For a server with OpenAI's embeddings endpoint use openai:MODEL.")
        return kind(**{key: value for key, value in given.items() if value is not None and key in known})

    try:
        model = infer_embedding_model(name, provider_factory=make_provider)
    except ImportError as exc:
        raise UserError(f"Embedder '{name}' needs a package that is not installed: {_one_line(exc)}") from exc
    except (pydantic_ai.UserError, ValueError) as exc:
        raise UserError(f"Embedder '{name}' cannot be opened: {_one_line(exc)}") from exc
    return HostedEmbedder(model, name=name, secret=api_key or "")


class HostedEmbedder:
    """A pydantic-ai embedding model as an embedder (see `ports.Embedder`). Threads and event loops may share it.

    Args:
        model: any of pydantic-ai's.
        name: provider and model, as vectors are stored under.
        secret: a key that must not appear in messages.
        timeout_s: for one request, in seconds.
    """

    def __init__(self, model: EmbeddingModel, *, name: str, secret: str = "", timeout_s: float = TIMEOUT_S) -> None:
        self.name, self.dimension = name, 0
        self._model, self._secret, self._timeout_s = model, secret, timeout_s
        self._loop: LoopThread | None = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[array[float] | None]:
        """One vector per text (see `ports.Embedder`).

        Raises:
            EmbeddingFailed: the provider gave none; the message has its reason.
        """
        given = [guarded(text) for text in texts]
        said = [text for text in given if text.strip()]
        made: list[Sequence[float]] = []
        for start in range(0, len(said), AT_ONCE):
            some = said[start : start + AT_ONCE]
            found = self._ask(some, query=query).embeddings
            if len(found) != len(some):
                raise EmbeddingFailed(self.name, f"{len(found)} vectors came for {len(some)} texts")
            made += found
        sizes = {len(vector) for vector in made}
        if len(sizes | ({self.dimension} if self.dimension else set())) > 1:
            raise EmbeddingFailed(self.name, f"its vectors have {sorted(sizes)} numbers, where {self.dimension or 'one size'} was expected")
        self.dimension = self.dimension or max(sizes, default=0)
        vectors = iter(made)
        return [unit(next(vectors)) if text.strip() else None for text in given]

    def close(self) -> None:
        """End the connections and the thread."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.stop()

    def _ask(self, texts: list[str], *, query: bool) -> EmbeddingResult:
        import asyncio

        request = self._model.embed(texts, input_type="query" if query else "document")
        with self._lock:
            if self._loop is None or not self._loop.alive:
                self._loop = LoopThread(nullcontext())
                weakref.finalize(self, self._loop.stop)
            loop = self._loop
        try:
            return loop.run(asyncio.wait_for(request, self._timeout_s))
        except TimeoutError as exc:
            raise EmbeddingFailed(self.name, f"no answer within {self._timeout_s:g} s") from exc
        except LoopEnded as exc:
            raise EmbeddingFailed(self.name, str(exc)) from exc
        except Exception as exc:  # each provider's SDK has errors of its own, and none may end a search
            reason = _one_line(exc)
            raise EmbeddingFailed(self.name, reason.replace(self._secret, "[key]") if self._secret else reason) from exc


def _one_line(exc: BaseException) -> str:
    plain = " ".join(str(exc).split()) or type(exc).__name__
    return plain if len(plain) <= 300 else plain[:300] + "…"
