"""Asking the read API, and what its errors look like."""

from __future__ import annotations

from typing import Any

from django.test import Client

from tests.sending import bearer

JSON = "application/json; charset=utf-8"
PROBLEM = "application/problem+json"


def ask(path: str, token: str | None = None, **query: Any) -> Any:
    """GET below /api/v1, as a token or as nobody."""
    headers = bearer(token) if token else {}
    client = Client(raise_request_exception=False)
    return client.get(f"/api/v1{path}", data=query, headers=headers)


def told(path: str, token: str, **query: Any) -> Any:
    """GET what must be there; return the JSON."""
    answer = ask(path, token, **query)
    assert (answer.status_code, answer["Content-Type"]) == (200, JSON), answer.content
    return answer.json()


def refused(answer: Any, status: int) -> dict[str, Any]:
    """Return the problem document of an error, checked for its form."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == PROBLEM
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["type"]
    assert problem["title"]
    assert problem["detail"]
    return problem


def wrong_fields(answer: Any) -> list[str]:
    """Return the fields that a 422 names."""
    return [error["field"] for error in refused(answer, 422)["errors"]]
