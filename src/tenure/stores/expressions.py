"""Pieces of statements that databases write differently, and columns that they keep differently."""

from __future__ import annotations

import hashlib
import json
from array import array
from typing import Any, Literal

from sqlalchemy import Dialect as SqlDialect
from sqlalchemy import Integer, LargeBinary, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import TypeDecorator, UserDefinedType

from tenure.stores.vectors import unpack


class holds_at(GenericFunction[int]):  # it is written like a function of the database
    """Where in a text another one stands first, from 1; 0 if it does not."""

    type = Integer()
    inherit_cache = True
    name = "instr"


@compiles(holds_at, "postgresql")
def _strpos(element: holds_at, compiler: SQLCompiler, **options: Any) -> str:
    return f"strpos{compiler.process(element.clause_expr, **options)}"


class _Part(TypeDecorator[str]):
    """A part of a JSON text. PostgreSQL cannot take every text out of JSON (none with a NUL), so there it is taken out here."""

    impl = Text
    cache_ok = True

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.name = name

    def process_result_value(self, value: str | None, dialect: SqlDialect) -> str | None:
        if value is None or dialect.name != "postgresql":
            return value
        part = json.loads(value).get(self.name)
        return part if part is None or isinstance(part, str) else json.dumps(part)


class _JsonPart(GenericFunction[str]):
    inherit_cache = True
    name = "json_extract"


@compiles(_JsonPart, "postgresql")
def _whole(element: _JsonPart, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(next(iter(element.clauses)), **options)


def json_part(body: Any, name: Literal["text", "topics"]) -> Any:
    """A part of the JSON object in a column: a text as it is, anything else as JSON."""
    return _JsonPart(body, f"$.{name}", type_=_Part(name))


class _PgVector(UserDefinedType[str]):
    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "vector"


class PackedVector(TypeDecorator[bytes]):
    """A vector as packed bytes (see `vectors.pack`); a column of pgvector's type in PostgreSQL.

    pgvector has no vector without numbers: what a model has no vector for is one of a single zero there, beside dimension 0.
    """

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: SqlDialect) -> Any:
        """The type of the column."""
        return dialect.type_descriptor(_PgVector() if dialect.name == "postgresql" else LargeBinary())

    def process_bind_param(self, value: bytes | None, dialect: SqlDialect) -> Any:
        """Packed bytes as the database takes them."""
        return value if value is None or dialect.name != "postgresql" else vector_text(value)

    def process_result_value(self, value: Any, dialect: SqlDialect) -> bytes | None:
        """What the database has, as packed bytes."""
        if value is None or dialect.name != "postgresql":
            return None if value is None else bytes(value)
        numbers = array("f", json.loads(value))
        return b"" if list(numbers) == [0.0] else unpack(numbers.tobytes()).tobytes()


LONGEST_KEY = 1_000
"""Bytes of a text that PostgreSQL puts into an index as it is; a row of an index holds some 2,700 in all."""

_KEPT = 200
_SHORTENED = "\x02sha256:"


class KeyText(TypeDecorator[str]):
    """A text of any length that rows are looked up by. In PostgreSQL a very long one is its beginning and its digest."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: SqlDialect) -> str | None:
        """The text as an index can hold it."""
        return short_key(value) if value is not None and dialect.name == "postgresql" else value


def short_key(key: str) -> str:
    """A key as an index of PostgreSQL can hold it; what is short already stays as it is."""
    if len(key) * 4 <= LONGEST_KEY or len(key.encode("utf-8", "surrogatepass")) <= LONGEST_KEY:
        return key
    return f"{key[:_KEPT]}{_SHORTENED}{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def is_shortened(key: str | None) -> bool:
    """Whether a key may be the digest of a longer one."""
    return key is not None and _SHORTENED in key


def whole_key(key: str | None, payload: str) -> str | None:
    """The key of a delta, given the one that its row has and the payload, which has all of it."""
    if not is_shortened(key):
        return key
    said = json.loads(payload).get("key")
    return said if isinstance(said, str) and short_key(said) == key else key


def vector_text(packed: bytes) -> str:
    """A packed vector as pgvector reads it."""
    return f"[{','.join(map(repr, unpack(packed)))}]" if packed else "[0]"
