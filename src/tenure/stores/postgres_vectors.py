"""Vectors in PostgreSQL: pgvector compares a question with every vector of a scope, exactly, and sends back the nearest alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, text

from tenure.ports import Near, Nearest, VectorKind
from tenure.stores.expressions import vector_text
from tenure.stores.scopes import tenant
from tenure.stores.sql_vectors import MOST_COMPARED, NEWEST_COMPARED, with_what_they_are
from tenure.stores.vectors import Compared, nearest_of, pack

# The figures of all rows stand beside each of the nearest. Ties go by id, as everywhere.
_NEAREST = text(
    """
    SELECT id, cosine, count(*) OVER (), min(cosine) OVER (), sum(cosine) OVER (), sum(cosine * cosine) OVER () FROM (
        SELECT id, greatest(-1.0, least(1.0, -(vector <#> CAST(:question AS vector)))) AS cosine FROM (
            SELECT id, vector FROM vectors
            WHERE tenant = :tenant AND scope = :scope AND kind = :kind AND model = :model AND dimension = :dimension
            ORDER BY n DESC LIMIT :newest
        ) AS mine
    ) AS compared
    ORDER BY cosine DESC, id LIMIT :most
    """
)
_MORE_THAN = text(
    "SELECT 1 FROM vectors WHERE tenant = :tenant AND scope = :scope AND kind = :kind AND model = :model AND dimension = :dimension "
    "ORDER BY n OFFSET :most LIMIT 1"
)
_COSINES = text(
    "SELECT id, -(vector <#> CAST(:question AS vector)) FROM vectors "
    "WHERE tenant = :tenant AND scope = :scope AND kind = :kind AND model = :model AND dimension = :dimension AND id = ANY(:ids)"
)


def nearest(connection: Connection, scopes: Sequence[str], vector: Sequence[float], *, model: str, kind: VectorKind, limit: int) -> Nearest:
    """What of some scopes is nearest to a vector (see `ports.Reading.nearest`)."""
    packed = pack(vector)
    if not packed or limit < 1:
        return Nearest()
    hits: list[Near] = []
    every: list[Compared] = []
    for scope in scopes:
        asked = {"tenant": tenant(scope), "scope": scope, "kind": kind, "model": model, "dimension": len(vector)}
        newest: int | None = None
        if kind in ("session", "entry") and connection.execute(_MORE_THAN, {**asked, "most": MOST_COMPARED}).first() is not None:
            newest = NEWEST_COMPARED
        found = connection.execute(_NEAREST, {**asked, "question": vector_text(packed), "newest": newest, "most": limit}).all()
        if not found:
            continue
        hits += [Near(id=one, cosine=float(cosine), scope=scope) for one, cosine, *_ in found]
        _, _, count, lowest, total, squares = found[0]
        every.append(Compared(lowest=float(lowest), count=int(count), total=float(total), squares=float(squares)))
    hits.sort(key=lambda near: (-near.cosine, near.id))
    whole = with_what_they_are(connection, kind, hits[:limit])
    return nearest_of(whole, every, compared=sum(one.count for one in every))


def cosines(
    connection: Connection, scope: str, kind: VectorKind, ids: Collection[str], *, model: str, vector: Sequence[float]
) -> Mapping[str, float]:
    """The cosines of some of a scope with a vector, of those that have one."""
    packed = pack(vector)
    if not packed or not ids:
        return {}
    asked = {"tenant": tenant(scope), "scope": scope, "kind": kind, "model": model, "dimension": len(vector)}
    found = connection.execute(_COSINES, {**asked, "question": vector_text(packed), "ids": sorted(ids)})
    return {str(one): float(cosine) for one, cosine in found}
