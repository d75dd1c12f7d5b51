"""The OpenAPI document is true, the docs page shows it, docs/api.md names it all."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from openapi_spec_validator import OpenAPIV31SpecValidator

ROOT = Path(__file__).resolve().parents[2]
# What the contract lists for this version, with the names of its paths.
PROMISED = {
    "/api/v1/uploads",
    "/api/v1/uploads/{id}",
    "/api/v1/uploads/{id}/raw",
    "/api/v1/uploads/{id}/files/{n}",
    "/api/v1/uploads/{id}/retry",
    "/api/v1/projects/{p}/runs",
    "/api/v1/runs/{id}",
    "/api/v1/runs/{id}/results",
    "/api/v1/projects/{p}/tests",
    "/api/v1/tests/{id}",
    "/api/v1/tests/{id}/history",
    "/api/v1/projects/{p}/tests/{test}",
    "/api/v1/projects/{p}/tests/{test}/history",
    "/api/v1/projects/{p}/trends",
    "/api/v1/projects/{p}/status",
    "/badge/{p}.svg",
    "/metrics",
    "/healthz",
    "/readyz",
}


@pytest.fixture
def document() -> Any:
    answer = Client().get("/api/v1/openapi.json")
    assert answer["Content-Type"] == "application/json"
    return answer.json()


def test_the_document_is_valid_openapi_3_1(document):
    assert document["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(document).validate()


def test_every_promised_path_is_in_the_document(document):
    assert PROMISED - set(document["paths"]) == set()


def test_every_operation_says_what_it_refuses(document):
    for path, methods in document["paths"].items():
        if not path.startswith("/api/"):
            continue
        for operation in methods.values():
            problems = {
                status
                for status, response in operation["responses"].items()
                if "application/problem+json" in response.get("content", {})
            }
            assert {"401", "403", "422"} <= problems, path
            assert operation["security"], path


def test_every_operation_has_its_own_id_and_words(document):
    operations = [
        operation
        for methods in document["paths"].values()
        for operation in methods.values()
    ]
    assert len({each["operationId"] for each in operations}) == len(operations)
    assert all(each["summary"] for each in operations)


def test_every_route_below_api_is_in_the_document(document):
    """What the URL resolver knows, written as the document writes it."""
    known = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route) for route in _routes()}
    # The last one is the same address with a slash that some clients add.
    undescribed = {
        "/api/v1/",
        "/api/v1/openapi.json",
        "/api/v1/docs",
        "/api/v1/uploads/",
    }
    below = {route for route in known if route.startswith("/api/v1/")}
    assert below - undescribed - set(document["paths"]) == set()


def _routes(resolver: URLResolver | None = None, prefix: str = "/") -> list[str]:
    found = []
    for pattern in (resolver or get_resolver()).url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            found.append(route)
        elif not route.startswith("/admin"):
            found += _routes(pattern, route)
    return found


def test_docs_api_md_names_every_path_and_parameter(document):
    text = (ROOT / "docs" / "api.md").read_text()
    named = set(re.findall(r"`([^`\n]+)`", text))
    missing = [
        path for path in document["paths"] if not any(path in words for words in named)
    ]
    missing += [
        f"{each['name']} of {path}"
        for path, methods in document["paths"].items()
        for operation in methods.values()
        for each in operation["parameters"]
        if each["in"] == "query" and each["name"] not in named
    ]
    assert missing == []


@pytest.mark.django_db
def test_the_docs_page_shows_every_operation_without_script_of_its_own(document):
    answer = Client().get("/api/v1/docs")
    assert answer.status_code == 200
    page = answer.content.decode()
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in page
    assert "script-src 'self'" in answer["Content-Security-Policy"]
    assert " style=" not in page
    assert "<style" not in page
    for script in re.findall(r"<script[^>]*>", page):
        assert 'src="/' in script
    for address in re.findall(r'(?:src|href)="([^"]+)"', page):
        assert address.startswith(("/", "#")), address
