"""What the document says of addresses that are plain views: inbox, badge, probes."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

type Json = dict[str, Any]  # Any: JSON

_PROBLEM = {
    "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
}
SIGNATURE: Json = {
    "type": "apiKey",
    "in": "header",
    "name": "X-Webhook-Signature-V2",
    "description": "hex HMAC-SHA256 of timestamp + '.' + body, X-Webhook-Timestamp",
}
_SECURITY: list[Json] = [{"Bearer": []}, {"Session": []}]
_PROJECT: Json = {
    "in": "path",
    "name": "p",
    "required": True,
    "schema": {"type": "string"},
    "description": "owner/name",
}
_KINDS = ("junit", "reportlog", "order", "gate", "effects", "review", "auto")


def problems(*statuses: str) -> Json:
    """Return the responses for these error statuses."""
    return {
        status: {"description": HTTPStatus(int(status)).phrase, "content": _PROBLEM}
        for status in statuses
    }


def paths() -> Json:
    """Return the path items, by whole path."""
    return {
        "/api/v1/uploads": {"post": _upload()},
        "/badge/{p}.svg": {"get": _badge()},
        "/metrics": {"get": _metrics()},
        "/healthz": {"get": _probe("healthz", "The web process is alive", "200")},
        "/readyz": {
            "get": _probe(
                "readyz", "Database, broker and worker can be reached", "200", "503"
            )
        },
    }


def _upload() -> Json:
    return {
        "operationId": "receive_upload",
        "tags": ["uploads"],
        "summary": "Send an upload",
        "description": (
            "One part context (JSON) and any number of files, each part named by "
            "its kind. Admitted whole or not at all; the body may be gzip or zstd. "
            "Authentication: a token with the scope upload, or a V2 signature "
            "(X-Webhook-Timestamp, X-Webhook-Signature-V2)."
        ),
        "security": [{"Bearer": []}, {"SignatureV2": []}],
        "parameters": [
            _header("Idempotency-Key", "the delivery's identity; else the digest"),
            _header("Content-Encoding", "gzip or zstd"),
            {
                "in": "query",
                "name": "project",
                "required": False,
                "schema": {"type": "string"},
                "description": "owner/name, for a signed upload",
            },
        ],
        "requestBody": {
            "required": True,
            "content": {"multipart/form-data": {"schema": _upload_body()}},
        },
        "responses": {
            "202": _json("First time seen; stored durably", _receipt("accepted")),
            "200": _json("Seen before, the same body", _receipt("duplicate")),
            **problems(
                *("400", "401", "403", "409", "413", "415", "422", "429", "503")
            ),
        },
    }


def _upload_body() -> Json:
    file = {"type": "string", "contentMediaType": "application/octet-stream"}
    return {
        "type": "object",
        "properties": {
            "context": {"type": "string", "contentMediaType": "application/json"},
            **{kind: {"type": "array", "items": file} for kind in _KINDS},
        },
    }


def _receipt(status: str) -> Json:
    return {
        "type": "object",
        "required": ["id", "status", "url"],
        "properties": {
            "id": {"type": "integer"},
            "status": {"const": status},
            "url": {"type": "string"},
        },
    }


def _badge() -> Json:
    return {
        "operationId": "badge",
        "tags": ["operation"],
        "summary": "The health of the default branch in one small picture",
        "security": [{}, *_SECURITY],
        "parameters": [_PROJECT],
        "responses": {
            "200": {"description": "An SVG", "content": {"image/svg+xml": {}}},
            "404": {"description": "No such project, or not for who asks"},
        },
    }


def _metrics() -> Json:
    return {
        "operationId": "metrics",
        "tags": ["operation"],
        "summary": "Numbers of this installation for Prometheus",
        "description": (
            "For a token with the scope read or admin, signed-in staff, or everyone "
            "when HEALTHBOARD_METRICS_OPEN is True."
        ),
        "security": [{}, *_SECURITY],
        "parameters": [],
        "responses": {
            "200": {"description": "Metrics", "content": {"text/plain": {}}},
            "401": {"description": "Not for everyone", "content": _PROBLEM},
            "403": {"description": "Not for this token or person", "content": _PROBLEM},
        },
    }


def _probe(name: str, summary: str, *statuses: str) -> Json:
    body = {"type": "object", "required": ["status"]}
    return {
        "operationId": name,
        "tags": ["operation"],
        "summary": summary,
        "security": [],
        "parameters": [],
        "responses": {
            status: _json(HTTPStatus(int(status)).phrase, body) for status in statuses
        },
    }


def _json(description: str, schema: Json) -> Json:
    return {
        "description": description,
        "content": {"application/json": {"schema": schema}},
    }


def _header(name: str, description: str) -> Json:
    return {
        "in": "header",
        "name": name,
        "required": False,
        "schema": {"type": "string"},
        "description": description,
    }
