"""Errors of the proxy itself, in the form in which each provider's clients expect theirs."""

from __future__ import annotations

import json

_KINDS = {
    400: ("invalid_request_error", "invalid_request_error"),
    401: ("authentication_error", "authentication_error"),
    403: ("permission_error", "permission_error"),
    404: ("invalid_request_error", "not_found_error"),
    422: ("invalid_request_error", "invalid_request_error"),
    429: ("rate_limit_error", "rate_limit_error"),
    502: ("upstream_error", "api_error"),
    503: ("service_unavailable", "overloaded_error"),
    504: ("upstream_error", "timeout_error"),
}


def error_body(path: str, status: int, code: str, message: str) -> bytes:
    """The body of an error reply; JSON.

    Args:
        path: of the request: Anthropic's clients are told by it.
        status: of HTTP.
        code: a word that programs can go by.
        message: what, which value, what next.
    """
    openai, anthropic = _KINDS.get(status, ("api_error", "api_error"))
    value: dict[str, object] = {"error": {"message": message, "type": openai, "param": None, "code": f"tenure_{code}"}}
    if "/v1/messages" in path or path.startswith("/anthropic/"):
        value = {"type": "error", "error": {"type": anthropic, "message": message}}
    return json.dumps(value).encode("utf-8")
