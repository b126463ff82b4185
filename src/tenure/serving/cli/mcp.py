"""`tenure mcp`: an MCP server for hosts of agents, over standard input and output."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import threading
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.errors import MissingExtra, UserError
from tenure.serving.cli.output import is_terminal
from tenure.serving.cli.request import OK, Request
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.ports import LanguageModel
    from tenure.serving.mcp import TenureServer
    from tenure.wiring import Tenure


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(
        app,
        "mcp",
        mcp,
        "tenure mcp",
        "tenure mcp --scope acme/finance --read-only",
        "tenure mcp --sampling",
    )


def mcp(
    request: Request,
    read_only: Annotated[bool, typer.Option("--read-only", help="Only look: context, recall and resources. Nothing is kept.")] = False,
    sampling: Annotated[
        bool, typer.Option("--sampling", help="Without a model of its own, reflect with the host's, if it lends it by MCP sampling.")
    ] = False,
) -> int:
    """Serve agents of a host over MCP.

    The host starts it and talks to it through stdin and stdout. It gives lessons for a task, takes reports of how
    runs ended and learns from them, and puts proposed lessons before a person. It writes finished tasks into the long-term
    memory and finds them again. It ends when its input ends.
    """
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtra("The MCP server", extra="mcp")
    if sys.stdin is None or sys.stdout is None:  # closed by whoever started this
        raise UserError("This speaks MCP over standard input and output, and one of them is closed. Let a host start it: docs/howto/mcp.md")
    if is_terminal(sys.stdin):
        request.terminal.say("This speaks MCP and waits for a host on stdin; end with Ctrl-D. How to set up a host: docs/howto/mcp.md")
    from tenure.serving.mcp_stdio import Wire, log_to_stderr

    wire = Wire()  # before anything is loaded that might print
    log_to_stderr()
    opened = request.reading() if read_only else request.writing()
    with opened as book:
        request.terminal.say(f"Serving scope {book.scope} from {book.store.url}{', to look only' if read_only else ''}.")
        _serve(book, wire, read_only=read_only, sampling=sampling)
    return OK


def _serve(book: Tenure, wire: Any, *, read_only: bool, sampling: bool) -> None:
    from tenure.serving.mcp_background import Background
    from tenure.serving.mcp_stdio import serve

    named = bool(book.settings().text("model"))
    background = Background(book, _opened_once(book)) if (named or sampling) and not read_only else None

    def make() -> TenureServer:
        from tenure.serving.agent_memory import AgentMemory
        from tenure.serving.agent_tools import AgentTools
        from tenure.serving.mcp import build_server

        threading.Thread(target=_warm_up, args=(book,), name="tenure-mcp-warm-up", daemon=True).start()
        tools = AgentTools(book, writes=not read_only, model_thinks=named)
        reported = _reporter(background, named, sampling) if background is not None else None
        return build_server(tools, memory=AgentMemory(book), reported=reported)

    serve(make, wire, ended=background.end if background is not None else lambda: None)
    if background is not None:
        background.settled(0.5)


def _warm_up(book: Tenure) -> None:
    """Load what the first call would wait for, while the host makes up its mind: up to a second or two of a processor."""
    from tenure.errors import TenureError
    from tenure.governance.redaction import redact
    from tenure.opening import open_counter

    redact("a text without anything to take out")
    with contextlib.suppress(TenureError):  # the first call says what is wrong
        open_counter(book.settings())("a text")
        _ = book.learner
        with book.store.reading(book.scope) as reading:
            reading.search("a text", limit=1)


def _reporter(background: Any, named: bool, sampling: bool) -> Any:
    def reported(run: str, ctx: Any) -> None:
        import asyncio

        import anyio

        from tenure.serving.mcp_background import LentModel, lends_model

        lent: LanguageModel | None = None
        if not named:
            if not sampling or not lends_model(ctx.session):
                return
            lent = LentModel(ctx.session, anyio.from_thread.run_sync(asyncio.get_running_loop))
        background.reported(run, lent)

    return reported


def _opened_once(book: Tenure) -> Any:
    """Opens the scope's own model at its first use: its library takes longer to load than the server to start."""
    import functools

    @functools.cache
    def opened() -> LanguageModel | None:
        from tenure.opening import open_model

        return open_model(None, None, book.settings(), book.store, book.scope, book.clock)

    return opened
