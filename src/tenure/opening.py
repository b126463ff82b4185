"""What settings name, opened: the store, the language model with its spend caps, the embedder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tenure.errors import MissingExtra, SettingError, UserError
from tenure.known import belongs_to_a_project, remember
from tenure.ports import Clock, Embedder, LanguageModel, Store, TokenCounter, Usage
from tenure.project import is_postgres, without_password
from tenure.settings import Settings, read_settings
from tenure.system import SystemClock

if TYPE_CHECKING:
    from tenure.providers.metering import Caps


def open_store(url: str, clock: Clock | None = None) -> Store:
    """The store at an address: `sqlite:///path`, `postgresql://role:password@host/database`, or `memory://`.

    Raises:
        MissingExtra: it is in PostgreSQL, and the extra `postgres` is not installed.
        StoreError: the address is of no known kind, or the database cannot be opened.
    """
    if url.startswith("memory:"):
        from tenure.stores.in_memory import InMemoryStore

        return InMemoryStore(url)
    if url.startswith("sqlite:"):
        from tenure.stores.sqlite import open_sqlite

        path = Path(url.removeprefix("sqlite:///"))
        new = belongs_to_a_project(path) and not path.exists()
        _keep_out_of_git(path)
        store = open_sqlite(url, now=(clock or SystemClock()).now)
        if new:
            _record_as_made_here(path)
        return store
    if is_postgres(url):
        if find_spec("psycopg") is None:
            raise MissingExtra("PostgreSQL", extra="postgres")
        from tenure.stores.postgres import open_postgres

        return open_postgres(url, now=(clock or SystemClock()).now)
    raise UserError(
        f"'{without_password(url)}' is not a database address this Tenure knows. "
        "Use sqlite:///book.db, a file's path, postgresql://role@host/database, or memory://"
    )


def _record_as_made_here(database: Path) -> None:
    """Let hooks use what was made here. Where that cannot be recorded, `tenure doctor` says that they do not."""
    from tenure.stores.quick import Unreadable, made_at

    with suppress(OSError, SettingError, Unreadable):
        remember(database, made_at(str(database)))


def _keep_out_of_git(database: Path) -> None:
    """Have Git ignore a project's `.tenure` that is about to be made; what is there already is its owner's affair."""
    folder = database.parent
    if folder.name != ".tenure" or folder.exists():
        return
    try:
        folder.mkdir(parents=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError:
        return  # opening the database says what is wrong with the folder


def open_model(
    model: str | LanguageModel | None, base_url: str | None, settings: Settings, store: Store, scope: str, clock: Clock
) -> LanguageModel | None:
    """The model asked for, else the settings' one, with the scope's spend caps around it; none if there is none.

    Raises:
        MissingExtra: the extra `models` is not installed.
    """
    if model is None:
        model = settings.text("model") or None
    if model is None:
        return None
    from tenure.providers.metering import MeteredModel

    if isinstance(model, str):
        from tenure.providers import models

        # The meter tries again, so that each request is booked by itself; and it says how long one may take.
        model = models.open_model(
            model, base_url=base_url or settings.text("base_url") or None, api_key=settings.api_key, timeout_s=86_400, max_retries=0
        )
    elif isinstance(model, MeteredModel):
        return model

    def caps_of(asked: str) -> Caps:
        """The caps of a scope as they are set now: another process may have changed them."""
        with store.reading(asked) as reading:
            return spend_caps(read_settings(reading.setting, settings.environment))

    return MeteredModel(model, caps_of, StoredSpending(store), scope=scope, clock=clock)


def spend_caps(settings: Settings) -> Caps:
    """What models may use, by the settings of a scope."""
    from tenure.providers.metering import Caps

    return Caps(
        calls_per_run=settings.whole("spend.calls_per_run"),
        calls_per_day=settings.whole_or_none("spend.calls_per_day"),
        calls_per_scope=settings.whole_or_none("spend.calls_per_scope"),
        tokens_per_run=settings.whole("spend.tokens_per_run"),
        tokens_per_day=settings.whole("spend.tokens_per_day"),
        tokens_per_scope=settings.whole_or_none("spend.tokens_per_scope"),
        usd_per_run=settings.money("spend.usd_per_run"),
        usd_per_day=settings.money("spend.usd_per_day"),
        usd_per_scope=settings.money("spend.usd_per_scope"),
        seconds_per_run=settings.whole("spend.seconds_per_run"),
        seconds_per_call=settings.whole("spend.seconds_per_call"),
        retries=settings.whole("spend.retries"),
    )


def open_embedder(name: str | None, settings: Settings) -> Embedder | None:
    """The embedder of a name, else of the settings; none if there is none.

    Raises:
        UserError: it is named, and cannot be opened.
    """
    from tenure.providers import embedding

    return embedding.open_embedder(
        name or settings.text("embedder"), base_url=settings.text("embedder_base_url") or None, api_key=settings.embedder_api_key
    )


def take_out_names(settings: Settings) -> None:
    """Have this process take names out of texts if a model for it is named in the settings.

    Raises:
        MissingExtra: Presidio is not installed.
        UserError: the model is not there.
    """
    if model := settings.text("redact.names"):
        from tenure.providers import name_detection

        name_detection.install(model)


def open_counter(settings: Settings) -> TokenCounter:
    """What counts the tokens of contexts, by the settings.

    Raises:
        MissingExtra: a tokenizer is named in them, and is not installed.
    """
    from tenure.providers import token_counting

    return token_counting.open_counter(settings.text("context.counter"), model=settings.text("model"))


class StoredSpending:
    """What a scope spent, kept in its store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def spent(self, scope: str, day: date | None) -> Usage:
        """See `SpendLedger`."""
        return self._store.spent(scope, None if day is None else day.isoformat())

    def book(self, scope: str, usage: Usage, decide: Callable[[Mapping[date, Usage]], date]) -> date:
        """See `SpendLedger`."""

        def named(days: Mapping[str, Usage]) -> str:
            return decide({date.fromisoformat(day): used for day, used in days.items()}).isoformat()

        return date.fromisoformat(self._store.book_spending(scope, usage, named))

    def record(self, scope: str, day: date, usage: Usage) -> None:
        """See `SpendLedger`."""
        self._store.add_spending(scope, day.isoformat(), usage)
