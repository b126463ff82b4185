"""The tables, the same for every database. Tenant is the first key column everywhere.

Values are kept as JSON in `body` where only Tenure reads them, as columns where a query does.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
    true,
)

from tenure.stores.expressions import KeyText, PackedVector

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _scoped(name: str, *columns: Column[object] | Index | UniqueConstraint | PrimaryKeyConstraint) -> Table:
    """A table whose rows belong to one scope of one tenant."""
    return Table(name, metadata, Column("tenant", Text, nullable=False), Column("scope", Text, nullable=False), *columns)


installation = Table(
    "installation",
    metadata,
    Column("writer", Text, primary_key=True),  # stands for this database in every chain it writes
    Column("created", Text, nullable=False),
    Column("unscrubbed", Text, nullable=False, server_default=""),  # since when forgotten texts may still stand in free pages
)

scopes = Table(
    "scopes",
    metadata,
    Column("n", Integer, primary_key=True, autoincrement=True),  # the wall token of the text index
    Column("tenant", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("version", Integer, nullable=False, server_default="0"),
    Column("cases", Integer, nullable=False, server_default="0"),  # kept runs that were not revoked
    Column("merged", Integer, nullable=False, server_default="0"),  # up to this version deltas count in the order of their ids
    UniqueConstraint("tenant", "scope"),
)

records = _scoped(
    "records",
    Column("key", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("group_key", Text),
    Column("imported", Boolean, nullable=False, server_default="0"),
    Column("delta_id", Text),
    Column("points_to", Text),
    PrimaryKeyConstraint("tenant", "scope", "key"),
    Index(None, "tenant", "scope", "group_key"),
    Index(None, "tenant", "scope", "points_to"),
)

lessons = Table(
    "lessons",
    metadata,
    Column("n", Integer, primary_key=True, autoincrement=True),  # row of the text index
    Column("tenant", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("section", Text, nullable=False),
    Column("about", KeyText, nullable=False),
    Column("came", Integer, nullable=False),  # version of the delta that brought it
    Column("pinned", Boolean, nullable=False),
    Column("created", Text, nullable=False),
    Column("updated", Text, nullable=False),
    Column("helpful", Integer, nullable=False),
    Column("harmful", Integer, nullable=False),
    Column("neutral", Integer, nullable=False),
    Column("support", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("tenant", "scope", "id"),
    Index(None, "tenant", "scope", "came"),
    Index(None, "tenant", "scope", "about"),
    Index(None, "tenant", "scope", "status"),
    Index("ix_lessons_support", "tenant", "scope", text("support DESC"), "id"),
)

sizes = _scoped(
    "sizes",
    Column("section", Text, nullable=False),
    Column("lessons", Integer, nullable=False),  # live ones
    Column("tokens", Integer, nullable=False),  # estimated, of the live ones
    PrimaryKeyConstraint("tenant", "scope", "section"),
)

ledger = _scoped(
    "ledger",
    Column("version", Integer, nullable=False),
    Column("writer", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("delta_id", Text, nullable=False),
    Column("delta_key", KeyText),
    Column("payload", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("recorded", Text, nullable=False),
    Column("effective", Boolean, nullable=False, server_default="1"),  # false for tombstones and for what they left empty
    Column("imported", Boolean, nullable=False, server_default="0"),  # written by another installation, which counts its version
    PrimaryKeyConstraint("tenant", "scope", "version"),
    Index(None, "tenant", "scope", "delta_id"),
    Index(None, "tenant", "scope", "delta_key"),
    UniqueConstraint("tenant", "scope", "writer", "seq"),
)

ledger_heads = _scoped(
    "ledger_heads",
    Column("writer", Text, nullable=False),
    Column("count", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "writer"),
)

ledger_texts = _scoped(
    "ledger_texts",
    Column("digest", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("salt", Text, nullable=False),
    Column("text", Text, nullable=False),
    # The version first: a digest is as good as random, and each would stand on a page of its own.
    PrimaryKeyConstraint("tenant", "scope", "version", "digest"),
)

runs = Table(
    "runs",
    metadata,
    Column("n", Integer, primary_key=True, autoincrement=True),  # row of the text index
    Column("tenant", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("arrived", Integer, nullable=False),  # order of arrival in the scope
    Column("task_key", KeyText, nullable=False),
    Column("task_kind", Text, nullable=False),
    Column("success", Boolean),
    Column("finished", Boolean, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("learned", Integer),  # steps learned from; none if the run is only kept
    Column("verdict_learned", Boolean, nullable=False, server_default=true()),  # false while one that came later is only kept
    Column("tools", Text, nullable=False),  # names of the tools it called, JSON
    Column("body", Text, nullable=False),
    Column("origin", KeyText, nullable=False, server_default=""),  # name of who reported it
    Column("revoked", Boolean, nullable=False, server_default="0"),
    UniqueConstraint("tenant", "scope", "id"),
    Index(None, "tenant", "scope", "task_key"),
    Index(None, "tenant", "scope", "arrived"),
    Index(None, "tenant", "scope", "origin"),
)

steps = _scoped(
    "steps",
    Column("run_id", Text, nullable=False),
    Column("place", Integer, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "run_id", "place"),
)

sources = _scoped(
    "sources",
    Column("run_id", Text, nullable=False),
    Column("lesson_id", Text, nullable=False),  # a lesson that rests on the run
    PrimaryKeyConstraint("tenant", "scope", "run_id", "lesson_id"),
)

exposures = _scoped(
    "exposures",
    Column("run_id", Text, nullable=False),
    Column("lesson_id", Text, nullable=False),
    Column("role", Text, nullable=False),  # shown, withheld or cited
    PrimaryKeyConstraint("tenant", "scope", "run_id", "lesson_id", "role"),
    Index(None, "tenant", "scope", "lesson_id"),
)

draws = _scoped(
    "draws",
    Column("lesson_id", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("text", Text, nullable=False),  # digest of what the lesson said
    Column("reason", Text, nullable=False),  # holdout or release
    Column("chance", Float, nullable=False),  # with which it was to be withheld
    Column("withheld", Boolean, nullable=False),
    Column("score", Float),  # of the run's outcome; none while that is unknown or does not count
    PrimaryKeyConstraint("tenant", "scope", "lesson_id", "run_id"),
    Index("ix_draws_run", "tenant", "scope", "run_id"),
)

forgotten_runs = _scoped(
    "forgotten_runs",
    Column("digest", Text, nullable=False),  # of salt and run id: whether a run was forgotten can be told, which were cannot
    Column("salt", Text, nullable=False),
    Column("at", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "digest"),
)

held = _scoped(
    "held",
    Column("id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "id"),
    Index(None, "tenant", "scope", "state"),
)

held_statements = _scoped(
    "held_statements",
    Column("says", KeyText, nullable=False),  # key of what it says
    Column("id", Text, nullable=False),  # of a held lesson or an open change
    PrimaryKeyConstraint("tenant", "scope", "says", "id"),
    Index(None, "tenant", "scope", "id"),
)

failed_replies = _scoped(
    "failed_replies",
    Column("id", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "id"),
)

postponed = _scoped(
    "postponed",
    Column("run_id", Text, nullable=False),
    Column("barrier", Text, nullable=False),  # what stood in the way: run, day, scope, pause or model
    Column("reason", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("moment", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "run_id"),
    Index("ix_postponed_moment", "tenant", "scope", "moment"),
)

cores = _scoped(
    "cores",
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope"),
)

settings = _scoped(
    "settings",
    Column("name", Text, nullable=False),
    Column("value", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "name"),
)

spending = _scoped(
    "spending",
    Column("day", Text, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("cached_tokens", Integer, nullable=False),
    Column("cost_usd", Text, nullable=False),  # decimal, as text: exact however small
    Column("priced", Boolean, nullable=False),  # false once a call had no known price
    PrimaryKeyConstraint("tenant", "scope", "day"),
)

observations = _scoped(
    "observations",
    Column("id", Text, nullable=False),
    Column("aggregate", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("counts", Boolean, nullable=False),  # false once it is revoked
    Column("amount", Text, nullable=False),  # its value, as text that sorts as numbers do
    Column("moment", Text, nullable=False),  # UTC, empty if unknown; with delta, step and id the order of `last`
    Column("delta_id", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("step", Integer, nullable=False),
    Column("origin", KeyText, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "id"),
    # The running order of the values of a row: the least, the greatest and the middle are read off it.
    Index("ix_observations_amount", "tenant", "scope", "aggregate", "unit", "key", "counts", "amount"),
    Index("ix_observations_last", "tenant", "scope", "aggregate", "unit", "key", "counts", "moment", "delta_id", "step", "id"),
    Index("ix_observations_run", "tenant", "scope", "run_id"),
    Index("ix_observations_origin", "tenant", "scope", "origin"),
)

labels = _scoped(
    "labels",
    Column("run_id", Text, nullable=False),
    Column("place", Integer, nullable=False),  # of the run in the order of arrival
    Column("text", Text, nullable=False),  # of its task
    Column("answer", Text, nullable=False),
    Column("reliability", Text, nullable=False),  # a decimal, as text: exact
    Column("counts", Boolean, nullable=False),  # whether it can grade lessons
    PrimaryKeyConstraint("tenant", "scope", "run_id"),
    Index(None, "tenant", "scope", "place"),
)

grades = _scoped(
    "grades",
    Column("lesson_id", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("is_right", Boolean, nullable=False),
    Column("place", Integer, nullable=False),  # of the run
    Column("reliability", Text, nullable=False),  # a decimal, as text: exact
    Column("source", Text, nullable=False),  # label, or the name of a check
    Column("wording", Text, nullable=False),  # digest of what was graded
    PrimaryKeyConstraint("tenant", "scope", "lesson_id", "run_id"),
    Index(None, "tenant", "scope", "run_id"),
)

beliefs = _scoped(
    "beliefs",
    Column("lesson_id", Text, nullable=False),
    Column("value", Text, nullable=False),  # a decimal, as text: exact
    Column("times_right", Integer, nullable=False),
    Column("times_wrong", Integer, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "lesson_id"),
)

noise = _scoped(
    "noise",
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope"),
)

aggregates = _scoped(
    "aggregates",
    Column("id", Text, nullable=False),
    Column("section", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("shown", Text, nullable=False),  # columns as JSON; empty if none were named
    PrimaryKeyConstraint("tenant", "scope", "id"),
)

sums = _scoped(
    "sums",
    Column("aggregate", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("count", Integer, nullable=False),  # observations that count; rows without any are removed
    Column("total", Text, nullable=False),  # their exact sum
    PrimaryKeyConstraint("tenant", "scope", "aggregate", "unit", "key"),
    Index("ix_sums_count", "tenant", "scope", "aggregate", text("count DESC"), "key", "unit"),
)

vectors = Table(
    "vectors",
    metadata,
    Column("n", Integer, primary_key=True, autoincrement=True),  # rises with every vector stored, and is never used again
    Column("tenant", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("kind", Text, nullable=False),  # lesson, run, session or entry
    Column("id", Text, nullable=False),  # of what it stands for; of a session its day, a space and its name
    Column("model", Text, nullable=False),
    Column("dimension", Integer, nullable=False),  # 0 where the model has no vector for the text
    Column("text_hash", Text, nullable=False),
    Column("vector", PackedVector, nullable=False),  # little-endian single precision, length 1
    UniqueConstraint("tenant", "scope", "kind", "id", "model"),
    Index(None, "tenant", "scope", "kind", "model", "dimension", "n"),
    sqlite_autoincrement=True,
)

memory_entries = Table(
    "memory_entries",
    metadata,
    Column("n", Integer, primary_key=True, autoincrement=True),  # row of the text index
    Column("tenant", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("at", Text, nullable=False),  # UTC to the microsecond; with the id the order of entries
    Column("day", Text, nullable=False),  # in the scope's zone, as filed
    Column("event", Text),  # of the host; one that is told twice counts once
    Column("body", Text, nullable=False),
    Column("session", Text, nullable=False, server_default=""),
    Column("own", Boolean, nullable=False, server_default=true()),  # of a person, not an answer
    UniqueConstraint("tenant", "scope", "id"),
    UniqueConstraint("tenant", "scope", "event"),
    # The sessions of a day, in order, are read from the index alone.
    Index("ix_memory_entries_day", "tenant", "scope", "day", "at", "id", "session", "own"),
)

memory_nodes = _scoped(
    "memory_nodes",
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("stale", Boolean, nullable=False),  # entries arrived since it was built
    Column("body", Text, nullable=False),  # empty before it is first built
    PrimaryKeyConstraint("tenant", "scope", "kind", "key"),
    Index("ix_memory_nodes_stale", "tenant", "scope", "stale"),
)

memory_files = _scoped(
    "memory_files",
    Column("layer", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("text", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "scope", "layer", "name"),
)


def _of_tenant(name: str, *columns: Column[object] | Index | UniqueConstraint | PrimaryKeyConstraint) -> Table:
    """A table whose rows belong to a tenant as a whole."""
    return Table(name, metadata, Column("tenant", Text, nullable=False), *columns)


api_keys = _of_tenant(
    "api_keys",
    Column("id", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("digest", Text, nullable=False),  # of its secret
    Column("created", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("expires", Text, nullable=False),  # empty for never, as below
    Column("revoked", Text, nullable=False),
    Column("rate", Integer, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
)

audit = _of_tenant(
    "audit",
    Column("id", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("act", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("request", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
)

kept_replies = _of_tenant(
    "kept_replies",
    Column("key", Text, nullable=False),
    Column("request", Text, nullable=False),  # digest of what was asked
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("at", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "key"),
    Index(None, "tenant", "at"),
)

conversations = _of_tenant(
    "conversations",
    Column("id", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("core", Text, nullable=False),
    Column("recall", Text, nullable=False),
    Column("shown", Text, nullable=False),  # JSON: shown, withheld, draws
    Column("generation", Integer, nullable=False),
    Column("begun", Text, nullable=False),
    Column("used", Text, nullable=False),
    Column("ended", Text, nullable=False),  # empty for not yet
    PrimaryKeyConstraint("tenant", "id"),
    Index(None, "tenant", "run"),
    Index(None, "tenant", "used"),
)

conversation_replies = _of_tenant(
    "conversation_replies",
    Column("reply", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("at", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "reply"),
    Index(None, "tenant", "conversation"),
)

prompt_generations = _of_tenant("prompt_generations", Column("generation", Integer, nullable=False), PrimaryKeyConstraint("tenant"))

web_sessions = _of_tenant(
    "web_sessions",
    Column("digest", Text, nullable=False),  # of the id in the cookie
    Column("key", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("expires", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "digest"),
)

workers = Table(
    "workers",
    metadata,
    Column("executor", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("process", Integer, nullable=False),
    Column("release", Text, nullable=False),
    Column("started", Float, nullable=False),  # seconds since 1970 by the database's clock, as below
    Column("seen", Float, nullable=False),
    PrimaryKeyConstraint("executor"),
)

turns = Table(
    "turns",
    metadata,
    Column("name", Text, nullable=False),
    Column("taken", Float, nullable=False),
    PrimaryKeyConstraint("name"),
)
