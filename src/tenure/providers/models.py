"""Language models of any provider that pydantic-ai has, and of any OpenAI-compatible server.

Only plain text is asked for and given: structure is read from the text by `roles.replies`, the same
for every provider and also for models too small to call tools. Providers' errors end here.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import math
import re
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tenure.errors import MissingExtra, ModelError, SettingError, UserError
from tenure.ports import Prompt, Reply, Usage
from tenure.providers.answer_limit import AnswerTooLong, limit_answers
from tenure.providers.event_loop import LoopEnded, LoopThread
from tenure.providers.metering import LONGEST_WAIT_S

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.usage import RequestUsage

LONGEST_ANSWER = 8_000_000
"""Bytes of an answer that are read at most: a server that never stops must not fill the memory."""

_COMPATIBLE = ("openai", "openai-chat")
_FINISHES = {None: "stop", "content_filter": "refused"}
_KEY_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN)\b")
_PACKAGE = re.compile(r"pydantic-ai-slim\[[\w,-]+\]")
_NEEDS_COMPLETION_TOKENS = re.compile(r"(?:.*/)?(?:o\d|gpt-[5-9]|chatgpt)")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout_s: float = 120.0,
    max_retries: int = 3,
    sleep: Callable[[float], None] = time.sleep,
) -> PydanticAIModel:
    """The language model of a name. Sends nothing yet.

    Args:
        name: `PROVIDER:MODEL` with any provider of pydantic-ai, such as `openai:gpt-4o`,
            `anthropic:claude-sonnet-4-5` or `google:gemini-2.5-pro`.
        base_url: address of another server. With `openai:` (or without a provider) it is any server
            that speaks OpenAI's chat completions, such as llama.cpp, vLLM, Ollama or a gateway.
        api_key: none takes the provider's own environment variable. A key from `OPENAI_API_KEY` is
            never sent to a `base_url`.
        timeout_s: for one request, in seconds, to its last byte.
        max_retries: further requests after one that failed for a passing reason.
        sleep: waits so many seconds between requests.

    Raises:
        MissingExtra: pydantic-ai is not installed.
        UserError: no such provider, a package or a key of its is missing, or the name is malformed.
        SettingError: the address, the time-out or the number of retries cannot be used.
    """
    if not timeout_s > 0:
        raise SettingError(f"A model's time-out is {timeout_s} s; it must be more than 0.")
    if max_retries < 0:
        raise SettingError(f"A model's number of retries is {max_retries}; it must be 0 or more.")
    if base_url is not None and not re.match(r"https?://[^/\s]", base_url):
        raise SettingError(f"The base URL '{base_url}' is not an address. Write it like http://127.0.0.1:8080/v1")
    provider, model_name = split_name(name, base_url)
    try:
        import pydantic_ai.models
    except ModuleNotFoundError as exc:
        raise MissingExtra("Language models", extra="models") from exc
    try:
        model = _build(provider, model_name, base_url, api_key)
    except ImportError as exc:
        wanted = _PACKAGE.search(str(exc))
        advice = f"pip install '{wanted[0]}'" if wanted else str(exc)
        raise UserError(f"Provider '{provider}' of model '{name}' needs a package that is not installed: {advice}") from exc
    except pydantic_ai.UserError as exc:
        variable = _KEY_VARIABLE.search(str(exc))
        if variable:
            raise UserError(f"Model '{name}' needs a key. Set the environment variable {variable[0]}.") from exc
        raise UserError(f"Model '{name}' cannot be opened: {_first_sentence(str(exc))}") from exc
    return PydanticAIModel(
        model, name=f"{provider}:{model_name}", timeout_s=timeout_s, max_retries=max_retries, secret=api_key or "", sleep=sleep
    )


def split_name(name: str, base_url: str | None = None) -> tuple[str, str]:
    """Provider and model of a name.

    Raises:
        UserError: it lacks one of them.
    """
    provider, colon, model_name = name.strip().partition(":")
    if not colon and base_url is not None:
        provider, model_name = "openai", provider
    if not provider or not model_name:
        raise UserError(f"Model '{name}' names no provider. Write PROVIDER:MODEL, such as openai:gpt-4o, or give the base URL of a server.")
    return provider, model_name


def check_provider(name: str, base_url: str | None = None) -> None:
    """Whether a model's provider is a known one, as far as that can be told without opening the model.

    Raises:
        UserError: it is not, or the name is malformed.
    """
    provider, model_name = split_name(name, base_url)
    if base_url is None and importlib.util.find_spec("pydantic_ai") is not None:
        _provider_class(provider, model_name)


def _build(provider: str, model_name: str, base_url: str | None, api_key: str | None) -> Model:
    from pydantic_ai.models import infer_model

    if base_url is not None and provider in _COMPATIBLE:
        return _openai_compatible(model_name, base_url, api_key)
    provider_class = _provider_class(provider, model_name)
    given = {key: value for key, value in (("base_url", base_url), ("api_key", api_key)) if value is not None}
    if not given:
        return infer_model(f"{provider}:{model_name}")
    for key in given:
        if key not in inspect.signature(provider_class.__init__).parameters:
            what = "base URL" if key == "base_url" else "API key"
            raise UserError(
                f"Provider '{provider}' takes no {what}. For an OpenAI-compatible server use openai:{model_name} with its base URL."
            )
    return infer_model(f"{provider}:{model_name}", provider_factory=lambda _: provider_class(**given))


def _provider_class(provider: str, model_name: str) -> type[Provider[Any]]:
    from pydantic_ai.providers import infer_provider_class

    try:
        return infer_provider_class(provider)
    except ValueError as exc:
        raise UserError(
            f"There is no provider '{provider}' for model '{provider}:{model_name}'. There are openai, anthropic, google, mistral, groq, "
            f"bedrock, ollama, openrouter and more; any OpenAI-compatible server is openai:{model_name} with its base URL."
        ) from exc


def _openai_compatible(model_name: str, base_url: str, api_key: str | None) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    profile = OpenAIModelProfile(
        # Most servers know only the older `max_tokens`; OpenAI's newer models, behind a gateway, only the newer name.
        openai_chat_supports_max_completion_tokens=bool(_NEEDS_COMPLETION_TOKENS.match(model_name)),
        # Thoughts are told apart by `roles.replies`, which knows tags inside JSON texts and unclosed ones.
        thinking_tags=("\x00think\x00", "\x00/think\x00"),
    )
    # Named so that no price list takes it for OpenAI: what a server of one's own costs is not known.
    return OpenAIChatModel(model_name, provider=OpenAICompatibleProvider("own-server", base_url=base_url, api_key=api_key, profile=profile))


class PydanticAIModel:
    """A pydantic-ai model as a `LanguageModel`. Safe to share between threads and inside event loops.

    Its requests run on an event loop in a thread of its own, made at the first call, so that one
    connection pool serves all callers. `close` ends it; so does the end of the process.
    """

    def __init__(
        self,
        model: Model,
        *,
        name: str,
        timeout_s: float = 120.0,
        max_retries: int = 3,
        secret: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Wrap a pydantic-ai model.

        Args:
            model: any of pydantic-ai's, its own test models included.
            name: provider and model, as deltas name it.
            timeout_s: for one request, in seconds, to its last byte.
            max_retries: further requests after one that failed for a passing reason.
            secret: a key that must not appear in messages.
            sleep: waits so many seconds between requests.
        """
        self.name = name
        self._model, self._timeout_s, self._max_retries, self._secret, self._sleep = model, timeout_s, max_retries, secret, sleep
        self._loop: LoopThread | None = None
        self._lock = threading.Lock()
        limit_answers(model, LONGEST_ANSWER)

    def complete(self, prompt: Prompt) -> Reply:
        """The model's reply to a prompt.

        Failures that pass (a busy or unreachable server, a time-out, a rate limit) are tried again,
        after 1, 2, 4 ... seconds or as long as the provider asks for.

        Raises:
            ModelError: with the provider's reason, and the number of requests sent in `calls`.
            UserError: pydantic-ai refuses the request because of how the model is set up.
        """
        attempt, unanswered = 0, 0
        end = math.inf if prompt.within_s is None else time.monotonic() + prompt.within_s
        while True:
            attempt += 1
            try:
                response = self._run(self._request(prompt, max(0.001, min(self._timeout_s, end - time.monotonic()))))
            except _Failure as failure:
                unanswered += failure.unanswered
                asked_s = max(0.0, failure.wait_s) if failure.wait_s is not None else None
                wait_s = asked_s if asked_s is not None else min(2.0 ** (attempt - 1), LONGEST_WAIT_S)
                over = time.monotonic() + wait_s >= end
                if not failure.passing or attempt > self._max_retries or wait_s > LONGEST_WAIT_S or over:
                    raise self._error(failure, attempt, asked_s, unanswered) from failure.__cause__
                self._sleep(wait_s)
            else:
                return self._reply(response, attempt)

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """What so many tokens cost, in US dollars; none if the price is not known. Looks nothing up online."""
        from pydantic_ai.usage import RequestUsage

        return self._price(RequestUsage(input_tokens=input_tokens, output_tokens=output_tokens))

    def close(self) -> None:
        """End the connections and the thread. The model can be used again; it then opens new ones."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.stop()

    def _run(self, request: Coroutine[Any, Any, ModelResponse]) -> ModelResponse:
        with self._lock:
            if self._loop is None or not self._loop.alive:
                self._loop = LoopThread(self._model)
                weakref.finalize(self, self._loop.stop)
            loop = self._loop
        try:
            return loop.run(request)
        except LoopEnded as exc:
            raise _Failure(f"{exc}") from exc

    async def _request(self, prompt: Prompt, limit_s: float) -> ModelResponse:
        """The provider's answer within a time that counts to its last byte: a server that trickles is not waited for for ever."""
        from pydantic_ai import exceptions
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        settings: ModelSettings = {"max_tokens": prompt.max_tokens, "request_timeout": limit_s}
        if "max_retries" not in self._model.unsupported_settings:
            settings["max_retries"] = 0  # counted and bounded here
        system = [SystemPromptPart(content=prompt.system)] if prompt.system else []
        asked = [ModelRequest(parts=[*system, UserPromptPart(content=prompt.user)])]
        try:
            async with asyncio.timeout(limit_s):
                return await model_request(self._model, asked, model_settings=settings)
        except TimeoutError as exc:
            raise _Failure(f"it did not answer in time ({limit_s:.3g} s)", passing=True, unanswered=True) from exc
        except exceptions.ModelAPIError as exc:
            if _is_too_long(exc):
                raise _too_long() from exc
            # A refusal to connect cost nothing; a connection that broke may have cost the whole answer.
            cut = isinstance(exc, exceptions.ModelConnectionError) and not any(
                type(one).__name__ in ("ConnectError", "ConnectTimeout", "ConnectionRefusedError") for one in _causes(exc)
            )
            raise _Failure(_reason(exc, cut=cut), passing=_is_passing(exc), wait_s=exc.retry_after, unanswered=cut) from exc
        except exceptions.AgentRunError as exc:
            raise _Failure(str(exc)) from exc
        except exceptions.UserError as exc:
            raise UserError(f"Model '{self.name}' cannot be asked: {_first_sentence(str(exc))}") from exc
        except Exception as exc:  # each provider's SDK has errors of its own, and none may end a learner
            if _is_too_long(exc):
                raise _too_long() from exc
            raise _Failure(f"{type(exc).__name__}: {exc}") from exc

    def _reply(self, response: ModelResponse, calls: int) -> Reply:
        finish = _FINISHES.get(response.finish_reason, response.finish_reason) or "stop"
        if response.state in ("incomplete", "interrupted", "suspended"):
            finish = "length"
        refusal = (response.provider_details or {}).get("refusal")
        text = response.text or (refusal if isinstance(refusal, str) else "")
        used = response.usage
        cost = used.cost if used.cost is not None else self._price(used, response)
        return Reply(
            text=_LONE_SURROGATE.sub("\ufffd", text),
            finish_reason=finish,
            usage=Usage(
                calls=calls,
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cached_tokens=used.cache_read_tokens,
                cost_usd=cost,
            ),
            model=response.model_name or self._model.model_name,
        )

    def _price(self, used: RequestUsage, response: ModelResponse | None = None) -> Decimal | None:
        from genai_prices import calc_price

        names = dict.fromkeys(name for name in (response.model_name if response else None, self._model.model_name) if name)
        places = ({"provider_api_url": self._model.base_url}, {"provider_id": self._model.system})
        for name in names:
            for place in places:
                try:
                    return calc_price(used, name, **place).total_price
                except (LookupError, ValueError):
                    continue  # unknown here, or usage that cannot be priced
        return None

    def _error(self, failure: _Failure, attempts: int, asked_s: float | None, unanswered: int) -> ModelError:
        provider = self.name.partition(":")[0]
        tried = f" after {attempts} requests" if attempts > 1 else ""
        waiting = f"; it asks to wait {asked_s:.0f} s" if failure.passing and asked_s is not None and asked_s > LONGEST_WAIT_S else ""
        reason = _one_line(failure.reason)
        if self._secret:
            reason = reason.replace(self._secret, "[key]")
        return ModelError(
            f"Provider '{provider}' gave no reply from '{self.name}'{tried}: {reason}{waiting}",
            calls=attempts,
            passing=failure.passing,
            wait_s=asked_s,
            unanswered=unanswered,
        )


class _Failure(Exception):
    """One request that failed: why, whether the reason passes, how long to wait, and whether it may have been worked on."""

    def __init__(self, reason: str, *, passing: bool = False, wait_s: float | None = None, unanswered: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.passing, self.wait_s, self.unanswered = reason, passing, wait_s, unanswered


def _too_long() -> _Failure:
    return _Failure(f"its answer is longer than {LONGEST_ANSWER:,} bytes", unanswered=True)


def _is_too_long(exc: BaseException) -> bool:
    return any(isinstance(cause, AnswerTooLong) for cause in _causes(exc))


def _causes(exc: BaseException) -> list[BaseException]:
    """An error and what led to it, the nearest first."""
    found: list[BaseException] = []
    current: BaseException | None = exc
    while current is not None and all(current is not one for one in found):
        found.append(current)
        current = current.__cause__ or current.__context__
    return found


def _is_passing(exc: Exception) -> bool:
    """Whether the same request may succeed a little later."""
    from pydantic_ai import exceptions

    if isinstance(exc, exceptions.ModelHTTPError) and exc.provider_retry_hint is not None:
        return exc.provider_retry_hint
    if isinstance(exc, exceptions.ModelHTTPError) and exc.status_code in (408, 409):
        return True
    return isinstance(
        exc,
        exceptions.ModelRateLimitError
        | exceptions.ModelUnavailableError
        | exceptions.ModelServerError
        | exceptions.ModelConnectionError
        | exceptions.ModelRequestTimeout,
    )


def _reason(exc: Exception, *, cut: bool = False) -> str:
    """What went wrong and what to do, in the caller's terms."""
    from pydantic_ai import exceptions

    if cut and not isinstance(exc, exceptions.ModelTimeoutError):
        return f"the connection broke before the answer was whole ({exc})"

    advice: tuple[tuple[type[Exception], str], ...] = (
        (exceptions.ModelQuotaExceededError, "the account's quota or credit is used up"),
        (exceptions.ModelAuthenticationError, "the key is missing, wrong or without access to this model"),
        (exceptions.ModelNotFoundError, "it knows no such model, or the address is wrong"),
        (exceptions.ModelContextWindowExceededError, "the prompt is longer than the model's window"),
        (exceptions.ModelRateLimitError, "its rate limit is reached"),
        (exceptions.ModelUnavailableError, "it is overloaded or down"),
        (exceptions.ModelTimeoutError, "it did not answer in time"),
        (exceptions.ModelRequestTimeout, "it did not answer in time"),
        (exceptions.ModelConnectionError, "it cannot be reached"),
    )
    said = next((text for kind, text in advice if isinstance(exc, kind)), "")
    return f"{said} ({exc})" if said else str(exc)


def _one_line(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 400 else plain[:400] + "…"


def _first_sentence(text: str) -> str:
    return _one_line(re.split(r"(?<=[.!?])\s+(?=[A-Z])", text.strip(), maxsplit=1)[0])
