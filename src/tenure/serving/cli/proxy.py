"""`tenure proxy`: between agents and their providers."""

from __future__ import annotations

import importlib.util
from typing import Annotated

import typer

from tenure.errors import MissingExtra, UserError
from tenure.serving.cli.background import learning, make_key, new_file, warm_up, watch
from tenure.serving.cli.request import OK, Request
from tenure.serving.cli.verbs import add_verb
from tenure.serving.proxy import BUDGET_MS

USUAL_PORT = 8_790
USUAL_RATE = 6_000


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(
        app,
        "proxy",
        proxy,
        "tenure proxy --upstream openai=https://api.openai.com --without-keys",
        "tenure proxy --upstream openai=https://api.openai.com --upstream anthropic=https://api.anthropic.com",
        "tenure proxy --upstream local=http://127.0.0.1:8000 --db team.db --port 9000",
    )


def proxy(
    request: Request,
    upstream: Annotated[
        list[str] | None,
        typer.Option(
            "--upstream", metavar="NAME=URL", help="A provider: openai=https://api.openai.com. Once for each.", show_default=False
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="Port; 0 takes a free one.")] = USUAL_PORT,
    tls_cert: Annotated[str, typer.Option("--tls-cert", metavar="FILE", help="Certificate, PEM.")] = "",
    tls_key: Annotated[str, typer.Option("--tls-key", metavar="FILE", help="Its key, PEM.")] = "",
    behind_tls: Annotated[bool, typer.Option("--behind-tls", help="Something in front ends TLS.")] = False,
    plain_http: Annotated[bool, typer.Option("--plain-http", help="Let keys cross the network in the open.")] = False,
    without_keys: Annotated[bool, typer.Option("--without-keys", help="Let everybody on this machine in, without a Tenure key.")] = False,
    budget: Annotated[
        int, typer.Option("--budget-ms", min=1, max=60_000, help="How long a request may wait for lessons; then it goes on without.")
    ] = BUDGET_MS,
    rate: Annotated[int, typer.Option("--rate", min=0, max=1_000_000, help="Requests a minute per key; 0 for no limit.")] = USUAL_RATE,
    learners: Annotated[int, typer.Option("--learners", min=0, max=64, help="Threads that learn here; 0 leaves it to tenure worker.")] = 1,
    model: Annotated[str | None, typer.Option("--model", metavar="PROVIDER:MODEL", help="Reflect with this model.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Address of an OpenAI-compatible server.")] = None,
    log: Annotated[str, typer.Option("--log", metavar="LEVEL", help="Log as JSON lines: info, warning, error, debug, off.")] = "off",
) -> int:
    """Stand between agents and providers: add lessons and record runs.

    Agents change their base URL and nothing else. Chat completions, responses and messages get the playbook and what fits the
    task, the same in every turn; all else passes untouched, and so does everything when the database cannot be used. A Tenure
    key stands in the header x-tenure-key; the provider's own key passes through and is kept nowhere. How a run ended is told in
    the header x-tenure-outcome, or by POST /v1/runs/ID/outcome. Ctrl-C or SIGTERM ends it once requests at hand are answered.
    """
    missing = next((name for name in ("fastapi", "httpx2", "uvicorn") if importlib.util.find_spec(name) is None), None)
    if missing is not None:
        raise MissingExtra("The proxy", extra="server")
    from tenure.serving.proxy.app import Proxy
    from tenure.serving.proxy.door import Door
    from tenure.serving.proxy.upstream import read_upstreams
    from tenure.serving.service.access import Access
    from tenure.serving.service.engine import Engine
    from tenure.serving.service.listening import Address, check_start, listen, serve, url_of

    upstreams = read_upstreams(upstream or [])
    address = Address(host=host, port=port, tls_cert=tls_cert, tls_key=tls_key, behind_tls=behind_tls, plain_http=plain_http)
    if behind_tls and tls_cert:
        raise UserError("--behind-tls says that TLS ends before this server; leave it out, or --tls-cert.")
    watch(log, metrics=False)
    new = new_file(request)
    with request.learning(model=model, base_url=base_url) as book:
        advice = check_start(address, book.store, book.clock, without_keys=without_keys, make=make_key(request, "reporter"))
        warm_up(book)
        engine = Engine(book)
        access = Access(engine, rate=rate)
        door = Door(
            engine, without_keys=without_keys, scope=book.scope, who=lambda presented, where: access.caller(presented, address=where)[0]
        )
        app = Proxy(engine, upstreams, door, budget_ms=budget)
        with listen(address) as taken:
            where = url_of(address, taken)
            names = ", ".join(f"{name} ({url})" for name, url in upstreams.urls.items())
            request.terminal.say(f"Proxy at {where} before {names}; lessons from {book.store.url}. End with Ctrl-C.")
            request.terminal.say(f"Agents: base_url={where}/v1 (OpenAI), base_url={where} (Anthropic)")
            if new:
                request.terminal.say(f"There was no database at {new}: it is made now, and empty.")
            if without_keys:
                request.terminal.say(f"No keys are asked for; requests act in scope {book.scope} unless x-tenure-scope names another.")
            elif advice:
                request.terminal.say(advice)
            with learning(request, engine, learners):
                serve(app, address, taken, date_header=False)  # the provider's date is the answer's
    return OK
