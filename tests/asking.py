"""Asking the read API, and what its errors look like."""

from __future__ import annotations

from datetime import date
from typing import Any
from urllib.parse import quote

from django.test import Client
from django.utils import timezone

from analysis import METHOD_VERSION
from api.document import openapi
from leaks.models import (
    Leaker,
    LeakerSource,
    LeakerState,
    Pair,
    PairKind,
    PairStatus,
)
from notify import endpoints
from notify.endpoints import Wanted
from notify.models import Delivery
from projects.models import Project
from pulls.models import Pull
from results.models import TestCase
from tests.sending import bearer

JSON = "application/json; charset=utf-8"
PROBLEM = "application/problem+json"


def ask(path: str, token: str | None = None, /, **query: Any) -> Any:
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


def reads(token: str) -> dict[str, str]:
    """Every GET below /api with what the project has in the place of each name."""
    run = told("/projects/acme/app/runs", token)["items"][0]
    result = told(f"/runs/{run['id']}/results", token)["items"][0]
    upload = told(f"/runs/{run['id']}", token)["uploads"][0]
    found = {}
    for path, methods in openapi()["paths"].items():
        if "get" not in methods or not path.startswith("/api/v1/"):
            continue
        kind = path.split("/")[3]
        numbered = _pull() if "/pulls/" in path else 1
        ids = {
            "uploads": upload,
            "runs": run["id"],
            "tests": result["test"],
            "leakers": _leaker(result["test"]),
            "deliveries": _delivery(),
        }
        filled = path.replace("{p}", "acme/app").replace("{n}", str(numbered))
        filled = filled.replace("{id}", str(ids.get(kind)))
        filled = filled.replace("{test}", quote(result["nodeid"], safe=""))
        filled = filled.replace("{week}", f"{date.today():%G-W%V}")
        filled += "?metric=pass_rate" if path.endswith("/trends") else ""
        found[path] = filled.removeprefix("/api/v1")
    return found


def _leaker(test: int) -> int:
    """Make this test a leaker, and the victim of another, if it is none."""
    case = TestCase.objects.get(pk=test)
    row, _ = Leaker.objects.get_or_create(
        test=case,
        project=case.project,
        defaults={
            "state": LeakerState.OPEN,
            "source": LeakerSource.GATE,
            "method_version": METHOD_VERSION,
            "opened_at": timezone.now(),
            "updated_at": timezone.now(),
        },
    )
    first = TestCase.objects.filter(project=case.project).exclude(pk=test).first()
    assert first is not None
    Pair.objects.get_or_create(
        test=first,
        victim=case,
        kind=PairKind.VICTIM,
        project=case.project,
        defaults={"status": PairStatus.PROVEN, "updated_at": timezone.now()},
    )
    return row.pk


def _pull() -> int:
    """A pull request of the project that nothing is known of, made if there is none."""
    found = Pull.objects.first()
    if found is None:
        project = Project.objects.get(owner="acme", name="app")
        now = timezone.now()
        found = Pull.objects.create(project=project, number=7, created_at=now)
    return found.number


def _delivery() -> int:
    """A delivery to a webhook of the project, made if there is none."""
    found = Delivery.objects.first()
    if found is None:
        project = Project.objects.get(owner="acme", name="app")
        wanted = Wanted("https://hooks.example/in")
        made = endpoints.create(project, wanted, actor="test")
        found = endpoints.try_out(made.endpoint, actor="test")
        endpoints.switch(made.endpoint, on=False, actor="test")  # it leads nowhere
    return found.pk
