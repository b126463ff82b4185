"""How the routes of the API are made: bodies that are JSON and nothing else, replies with an example, problems in one form."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NoReturn

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool
from starlette.convertors import PathConvertor, register_url_convertor

from tenure.serving.service.doing import DEEPEST, IDEMPOTENCY, May, caller_of
from tenure.serving.service.problems import PROBLEM_SCHEMA, Problem
from tenure.traces.decoding import without_lone_surrogates

SECURITY: list[dict[str, list[str]]] = [{"key": []}, {"keyHeader": []}]
"""Either is enough."""

SCHEMES = {
    "key": {"type": "http", "scheme": "bearer", "description": "An API key: `Authorization: Bearer tnr_...`. Make one: tenure keys create"},
    "keyHeader": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key in a header of its own."},
}

_PROBLEM = {"application/problem+json": {"schema": PROBLEM_SCHEMA}}

PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "What was wrong with the request, and what to do.", "content": _PROBLEM},
    "5XX": {"description": "What failed here, and whether to try again.", "content": _PROBLEM},
}


class Body(BaseModel):
    """What a request brings: a field that is not known is an error, and a text is no number."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class ApiRoute(APIRoute):
    """A route of the API. Its document says who may use it; its body is read once, and strictly."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().__init__(path, endpoint, **more)
        may = may_of(self.dependant)
        said = dict(self.openapi_extra or {})
        if may is not None:
            said |= {"security": SECURITY, "x-tenure-act": may.act}
            if may.once:
                said["parameters"] = [*said.get("parameters", ()), IDEMPOTENCY]
        self.openapi_extra = said

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request: FastAPI's handler, with the body read before it."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def strict(request: Request) -> Response:
            await run_in_threadpool(caller_of, request)  # who has no key is told that, whatever they sent
            request._json = read_body(await request.body(), request.headers.get("content-type", ""))
            return await handle(request)

        return strict


def may_of(dependant: Dependant) -> May | None:
    """What a route is for, by its dependencies."""
    for one in dependant.dependencies:
        if isinstance(one.call, May):
            return one.call
        found = may_of(one)
        if found is not None:
            return found
    return None


def read_body(body: bytes, media: str) -> Any:
    """The JSON of a body; half characters, as a text that was cut has them, become U+FFFD.

    Raises:
        Problem: 415, it is said to be something else; 400, it is no JSON, or too deep.
    """
    if not body:
        return None
    kind = media.partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Problem(415, "media", f"The body is '{kind[:60] or 'of no type'}'. Send JSON with Content-Type: application/json.")
    return read_json(body)


def read_json(text: bytes) -> Any:
    """The value of a JSON text, half characters replaced.

    Raises:
        Problem: 400, it is no JSON, or too deep.
    """
    try:
        value = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise Problem(400, "json", f"The JSON is nested too deeply; {DEEPEST} levels are the most.") from None
    except UnicodeDecodeError as exc:
        raise Problem(400, "json", f"The body is not UTF-8: byte {exc.start}.") from None
    except json.JSONDecodeError as exc:
        raise Problem(400, "json", f"The body is no JSON: {exc.msg}, line {exc.lineno}, column {exc.colno}.") from None
    except ValueError as exc:
        raise Problem(400, "json", f"The body is no JSON: {str(exc)[:120]}") from None
    if _deeper(value, DEEPEST):
        raise Problem(400, "json", f"The JSON is nested too deeply; {DEEPEST} levels are the most.")
    return without_lone_surrogates(value)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON.")


def _deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = [inner for one in level if isinstance(one, dict | list) for inner in (one.values() if isinstance(one, dict) else one)]
        if not level:
            return False
    return True


class _Name(PathConvertor):
    """A part of a path that is a name of somebody's: any text, with slashes and line ends in it."""

    regex = r"[\s\S]+"


register_url_convertor("name", _Name())


def router(tag: str) -> APIRouter:
    """A router of the API."""
    return APIRouter(prefix="/v1", tags=[tag], route_class=ApiRoute, responses=PROBLEMS)


def told(description: str, example: Any, *, status: int = 200, media: str = "application/json") -> dict[int | str, dict[str, Any]]:
    """What a route replies, for its document: the example, and the form that follows from it."""
    return {status: {"description": description, "content": {media: {"schema": _schema(example), "example": example}}}}


def _schema(example: Any) -> dict[str, Any]:
    if isinstance(example, Mapping):
        return {"type": "object", "required": sorted(example), "properties": {name: _schema(value) for name, value in example.items()}}
    if isinstance(example, list):
        return {"type": "array", "items": _schema(example[0]) if example else {}}
    if isinstance(example, bool):
        return {"type": "boolean"}
    if isinstance(example, str):
        return {"type": "string"}
    if isinstance(example, int | float):
        return {"type": "number"}
    return {}
