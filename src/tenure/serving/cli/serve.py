"""`tenure serve`: the HTTP service."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.errors import MissingExtra, UserError
from tenure.serving.cli.background import learning, make_key, new_file, warm_up, watch
from tenure.serving.cli.request import OK, Request
from tenure.serving.cli.verbs import add_verb

if TYPE_CHECKING:
    from tenure.serving.service.app import Room

USUAL_PORT = 8_765
USUAL_RATE = 6_000


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    add_verb(
        app,
        "serve",
        serve,
        "tenure serve",
        "tenure serve --db team.db --port 9000",
        "tenure serve --host 0.0.0.0 --behind-tls",
        "tenure serve --without-keys    # for yourself, on this machine",
    )


def serve(
    request: Request,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="Port; 0 takes a free one.")] = USUAL_PORT,
    tls_cert: Annotated[str, typer.Option("--tls-cert", metavar="FILE", help="Certificate, PEM.")] = "",
    tls_key: Annotated[str, typer.Option("--tls-key", metavar="FILE", help="Its key, PEM.")] = "",
    behind_tls: Annotated[bool, typer.Option("--behind-tls", help="Something in front ends TLS and says who calls.")] = False,
    forwarded_from: Annotated[
        str, typer.Option("--forwarded-from", metavar="ADDRESSES", help="With --behind-tls: whose word on callers counts; by commas, or *.")
    ] = "127.0.0.1",
    plain_http: Annotated[bool, typer.Option("--plain-http", help="Let keys cross the network in the open.")] = False,
    without_keys: Annotated[bool, typer.Option("--without-keys", help="Serve this machine alone, all as admin of tenant 'local'.")] = False,
    rate: Annotated[int, typer.Option("--rate", min=0, max=1_000_000, help="Requests a minute per key; 0 for no limit.")] = USUAL_RATE,
    learners: Annotated[int, typer.Option("--learners", min=0, max=64, help="Threads that learn here; 0 leaves it to tenure worker.")] = 2,
    model: Annotated[str | None, typer.Option("--model", metavar="PROVIDER:MODEL", help="Reflect with this model.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Address of an OpenAI-compatible server.")] = None,
    log: Annotated[str, typer.Option("--log", metavar="LEVEL", help="Log as JSON lines: info, warning, error, debug, off.")] = "off",
    metrics: Annotated[bool, typer.Option("--metrics", help="Keep metrics, for Prometheus at /metrics and for OTLP.")] = False,
) -> int:
    """Serve agents and people over HTTP: REST API, MCP and pages.

    Listens to this machine alone unless --host says otherwise, and then only with a key in the database and TLS, or a word
    on how it is kept safe. Runs are on disk before they are acknowledged; what they teach is learned in the background.
    Ctrl-C or SIGTERM ends it once the requests at hand are answered. The API's document is at /openapi.json.
    """
    missing = next((name for name in ("fastapi", "uvicorn", "jinja2") if importlib.util.find_spec(name) is None), None)
    if missing is not None:
        raise MissingExtra("The HTTP service", extra="server")
    from tenure.serving.service.app import build_app
    from tenure.serving.service.engine import Engine
    from tenure.serving.service.listening import Address, check_start, listen, trusted, url_of
    from tenure.serving.service.listening import serve as serve_app

    address = Address(host=host, port=port, tls_cert=tls_cert, tls_key=tls_key, behind_tls=behind_tls, plain_http=plain_http)
    if behind_tls and tls_cert:
        raise UserError("--behind-tls says that TLS ends before this server; leave it out, or --tls-cert.")
    believed = trusted(forwarded_from)
    watch(log, metrics=metrics)
    new = new_file(request)
    with request.learning(model=model, base_url=base_url) as book:
        advice = check_start(address, book.store, book.clock, without_keys=without_keys, make=make_key(request, "admin"))
        warm_up(book)
        engine = Engine(book)
        app = build_app(engine, rooms=_rooms(), rate=rate, without_keys=without_keys)
        with listen(address) as taken:
            request.terminal.say(f"Serving {book.store.url} at {url_of(address, taken)} (end with Ctrl-C)")
            if new:
                request.terminal.say(f"There was no database at {new}: it is made now, and empty.")
            if advice:
                request.terminal.say(advice)
            with learning(request, engine, learners):
                serve_app(app, address, taken, forwarded_from=believed)
    return OK


def _rooms() -> list[Room]:
    """The parts of the app beside the API. Each is mounted by its own module."""
    from tenure.serving.service.app import Room
    from tenure.serving.web import mount_pages

    return [Room(mount=mount_pages)]
