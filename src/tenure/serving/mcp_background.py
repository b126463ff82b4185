"""Reflection by a model after an agent reported a run: in a thread of its own, so that no tool waits for a model.

The run is learned from by plain code at once. That a model is still to think about it is kept in the store, so a
server that is ended in between loses nothing: the next one, or `tenure learn --pending`, goes on.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tenure.errors import ModelError, TenureError
from tenure.postponed import Postponed

if TYPE_CHECKING:
    from tenure.learning.loop import Learner
    from tenure.ports import LanguageModel, Prompt, Reply
    from tenure.wiring import Tenure

_log = logging.getLogger("tenure.mcp")

WAITS = "an agent reported the run; a model thinks about it in the background"

ANSWER_WITHIN_S = 300.0
"""Seconds that a host may take to answer a request for sampling; persons may have to confirm it."""


class Background:
    """Has a model reflect on reported runs, one at a time.

    Args:
        book: the playbook, opened without a model.
        model: the scope's own, opened when it is first needed; none where there is none.
    """

    def __init__(self, book: Tenure, model: Callable[[], LanguageModel | None]) -> None:
        self._book, self._own = book, model
        self._wanted = threading.Event()
        self._ended = False
        self._lent: LanguageModel | None = None
        self._learner: tuple[LanguageModel, Learner] | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def reported(self, run: str, lent: LanguageModel | None = None) -> None:
        """Note that a run waits for a model, and have it thought about.

        Args:
            run: its id; it was learned from.
            lent: a model that stands in where the scope has none.
        """
        with self._book.store.writing(self._book.scope) as work:
            work.postpone(Postponed(run=run, limit="pause", reason=WAITS, at=self._book.clock.now().isoformat()))
        with self._lock:
            self._lent = lent
            self._wanted.set()
            if self._thread is None and not self._ended:
                self._thread = threading.Thread(target=self._work, name="tenure-mcp-reflection", daemon=True)
                self._thread.start()

    def end(self) -> None:
        """Think about no further run."""
        self._ended = True
        self._wanted.set()

    def settled(self, timeout_s: float) -> bool:
        """Wait until the thread has ended; whether it has. Call `end` first."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()

    def _work(self) -> None:
        while self._wanted.wait() and not self._ended:
            self._wanted.clear()
            try:
                self._think()
            except TenureError as exc:
                _log.warning("reflection in the background: %s", exc)
            except Exception:  # noqa: BLE001  # no fault of a model's library may end the thread
                _log.exception("reflection in the background")

    def _think(self) -> None:
        from tenure.learning.loop import Learner
        from tenure.opening import open_model

        book = self._book
        model = self._own() or open_model(self._lent, None, book.settings(), book.store, book.scope, book.clock)
        if model is None:
            return
        if self._learner is None or self._learner[0] is not model:  # the same one remembers how often the model failed
            self._learner = (model, Learner(book.store, clock=book.clock, ids=book.ids, model=model))
        summary = self._learner[1].learn_postponed(book.scope)
        for problem in summary.problems:
            _log.warning("%s", problem)


class LentModel:
    """The model of the client, by MCP sampling: asked from a thread, answered over the connection of a request.

    Args:
        session: of the request by which a run was reported.
        loop: the event loop that serves it.
    """

    def __init__(self, session: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._session, self._loop = session, loop

    @property
    def name(self) -> str:
        """Which model it is the client does not promise."""
        return "mcp-sampling"

    def complete(self, prompt: Prompt) -> Reply:
        """The client's answer.

        Raises:
            ModelError: it refused, gave no text, or took too long.
        """
        from mcp.shared.exceptions import MCPDeprecationWarning, MCPError, NoBackChannelError
        from mcp_types import SamplingMessage, TextContent

        from tenure.ports import Reply, Usage
        from tenure.ranking import estimate_tokens

        async def ask() -> Any:
            with warnings.catch_warnings():  # the call warns, not the wait for it
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                asked = self._session.create_message(
                    [SamplingMessage(role="user", content=TextContent(type="text", text=prompt.user))],
                    max_tokens=prompt.max_tokens or 2_048,
                    system_prompt=prompt.system,
                )
            return await asked

        if self._loop.is_closed():
            raise ModelError("The client of the MCP server is gone.", passing=True)
        future = asyncio.run_coroutine_threadsafe(ask(), self._loop)
        try:
            answer = future.result(ANSWER_WITHIN_S)
        except TimeoutError as exc:
            future.cancel()
            raise ModelError(f"The client gave no answer within {ANSWER_WITHIN_S:.0f} s.", calls=1, unanswered=1) from exc
        except NoBackChannelError as exc:  # newer versions of the protocol have no way to ask
            raise ModelError("The client speaks a version of MCP in which no model can be lent.") from exc
        except MCPError as exc:
            raise ModelError(f"The client refused to lend its model: {exc}", calls=1) from exc
        except (RuntimeError, OSError) as exc:
            raise ModelError(f"The client could not be asked: {exc}", calls=1) from exc
        content = answer.content
        text = content.text if isinstance(content, TextContent) else ""
        if not text:
            raise ModelError("The client answered with something that is no text.", calls=1)
        used = Usage(
            calls=1, input_tokens=estimate_tokens(prompt.system) + estimate_tokens(prompt.user), output_tokens=estimate_tokens(text)
        )
        return Reply(text=text, finish_reason="length" if answer.stop_reason == "maxTokens" else "stop", usage=used, model=answer.model)


def lends_model(session: Any) -> bool:
    """Whether the client of a session announces sampling."""
    capabilities = session.client_capabilities
    return capabilities is not None and capabilities.sampling is not None
