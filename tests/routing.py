"""Routes, and deliveries to them as each kind of sender signs them, for the tests."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from django.test import Client
from django.utils import timezone

from ingest import routes
from ingest.models import RouteKind
from ingest.routes import Created
from projects.models import Project
from tests.sending import signed

GATE = json.dumps(
    {
        "schema": "healthboard.gate/1",
        "gate": "sys_modules",
        "leaks": [
            {
                "test": "tests/test_cart.py::test_total",
                "kind": "sys_modules.removed",
                "items": ["shop.cart"],
                "item_count": 1,
            }
        ],
    }
).encode()
REVIEW = "# FleetReview\n\nConfidence: 3/5\n\n- P0 shop/cart.py:12 — it loses “ä”\n"
PUSH = b'{"ref": "refs/heads/main", "repository": {"full_name": "acme/app"}}'
JSON = "application/json"


def make_route(project: Project, kind: str = "gate", **options: Any) -> Created:
    return routes.create(
        project, RouteKind(kind), actor="test", now=timezone.now(), **options
    )


def hub_signed(body: bytes, secret: str) -> dict[str, str]:
    mac = hmac.new(secret.encode(), body, hashlib.sha256)
    return {"X-Hub-Signature-256": f"sha256={mac.hexdigest()}"}


def sign(made: Created, body: bytes) -> dict[str, str]:
    """The headers with which the sender of such a route proves itself."""
    if made.route.kind == RouteKind.GITHUB:
        return hub_signed(body, made.secret)
    if made.route.kind == RouteKind.GITLAB:
        return {"X-Gitlab-Token": made.secret}
    return signed(body, made.secret)


def wrapped(payload: Any, **context: Any) -> bytes:
    return json.dumps({"context": context, "payload": payload}).encode()


def deliver(
    made: Created,
    body: bytes,
    headers: dict[str, str] | None = None,
    *,
    query: str = "",
    content_type: str = JSON,
    **more: str,
) -> Any:
    """POST to a route, signed as it should be, or with these headers alone.

    Further headers are given by name: `X_Request_ID="1"`.
    """
    proof = sign(made, body) if headers is None else headers
    named = {name.replace("_", "-"): value for name, value in more.items()}
    return Client(raise_request_exception=False).post(
        made.route.address + query,
        data=body,
        content_type=content_type,
        headers=proof | named,
    )
