"""The description of the API, as OpenAPI has it: made of the same ways that answer, refusals included."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from discreet import __version__
from discreet.service.server.api_ways import WAYS, ApiWay

REFUSAL = {
    "type": "object",
    "required": ["error", "asked", "obstacle", "consequence", "remedy"],
    "properties": {name: {"type": "string"} for name in ("error", "asked", "obstacle", "consequence", "remedy")}
    | {"values": {"type": "object"}},
    "additionalProperties": False,
}
ALWAYS = (400, 401, 413, 429, 503)
MEANINGS = {
    200: "Done.",
    202: "Not there yet: it waits for a curator, or is being worked on.",
    400: "It is no request that could be read.",
    401: "Nobody is known by this key.",
    402: "Over budget; `values.left` says what is left.",
    404: "There is no such thing for you: what belongs to somebody else does not exist.",
    405: "Not asked in this way.",
    409: "The key belongs to another question, or its charge has no result.",
    413: "Too large.",
    422: "What cannot be asked, with the word and the remedy.",
    429: "Too many requests, or questions at a time.",
    503: "A ledger or the records cannot be used; nothing is released until somebody has set it right.",
}


def description() -> dict[str, Any]:
    """The whole description.

    Examples
    --------
    >>> sorted(description()["paths"]["/api/data/{name}/ask"]["post"]["responses"])[:4]
    ['200', '202', '400', '401']
    """
    paths: dict[str, Any] = {}
    for way in WAYS:
        paths.setdefault(way.path, {})[way.method.lower()] = _operation(way)
    return {
        "openapi": "3.1.0",
        "info": {"title": "discreet", "version": __version__, "description": "Ask, without giving anybody away."},
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Refusal": REFUSAL},
        },
        "security": [{"key": []}],
    }  # fmt: skip


def statuses(way: ApiWay) -> list[int]:
    """All statuses that a way may have."""
    found = {200, *ALWAYS, *way.refuses, *((404,) if way.names else ()), 422}
    return sorted(found - ({200} if way.path.endswith(("/approve", "/again")) else set()))


def _operation(way: ApiWay) -> dict[str, Any]:
    named = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in way.names]
    found: dict[str, Any] = {
        "summary": way.about,
        "operationId": f"{way.method.lower()}{way.path.replace('/', '_').replace('{', '').replace('}', '')}",
        "responses": {str(status): _response(status) for status in statuses(way)},
    }
    if named:
        found["parameters"] = named
    if way.method == "POST":
        found["requestBody"] = {
            "required": bool(_required(way)),
            "content": {"application/json": {"schema": _body(way)}},
        }
    return found


def _required(way: ApiWay) -> list[str]:
    return [name for name, one in way.fields.items() if one.required]


def _body(way: ApiWay) -> dict[str, Any]:
    fields = {name: one.schema for name, one in way.fields.items()}
    required = {"required": _required(way)} if _required(way) else {}
    return {"type": "object", "properties": fields, "additionalProperties": False, **required}


def _response(status: int) -> dict[str, Any]:
    schema = {"type": "object"} if status in (200, 202) else {"$ref": "#/components/schemas/Refusal"}
    meaning = MEANINGS.get(status, HTTPStatus(status).phrase)
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}
