"""Every GET of the document, called with real data: its form and what it costs."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from openapi_schema_validator import OAS31Validator

from api.document import openapi
from projects.creation import Created, create_project
from tests.asking import ask, reads, told
from tests.delivering import BROKEN, FIRST, GREEN, send
from tests.reviewing import FIRST as REVIEW
from tests.reviewing import ledger, send_review
from tests.reviewing import send as send_files

pytestmark = pytest.mark.django_db

AT = timezone.now().strftime("%Y-%m-%dT00:00:00Z")


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


def costs(acme: Created, paths: list[str]) -> dict[str, int]:
    found = {}
    for path in paths:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            answer = ask(path, acme.token)
            assert answer.status_code == 200, (path, answer)
            assert answer.getvalue()
        found[path] = len(captured)
    return found


def test_every_get_of_the_document_answers_with_a_fixed_number_of_queries(acme):
    send(acme, FIRST, run="1", branch="main", started_at=AT)
    send_findings(acme, 1)
    paths = list(reads(acme.token).values())
    before = costs(acme, paths)
    assert len(before) >= 15
    assert max(before.values()) <= 20
    for n in range(2, 6):
        send(acme, GREEN, run=f"{n}", branch="main", started_at=AT)
        send(acme, FIRST, run=f"{n}", branch="x", attempt=2, started_at=AT)
        send_findings(acme, n)
    assert costs(acme, paths) == before


def send_findings(acme: Created, n: int) -> None:
    """A review and a ledger, for each list to hold something."""
    send_review(acme, REVIEW, pr=n)
    send_files(acme, ("effects", "e.jsonl", ledger()), run=f"{n}", branch="main")


def schema_of(template: str) -> Any:
    """Return the schema of an operation's answer; None where it is no JSON."""
    document = openapi()
    content = document["paths"][template]["get"]["responses"]["200"].get("content", {})
    schema = content.get("application/json", {}).get("schema")
    return schema and {**schema, "components": document["components"]}


def test_every_answer_is_as_its_schema_says(acme):
    send(acme, FIRST, BROKEN, run="1", branch="main", started_at=AT)
    send(acme, GREEN, run="1", branch="main", attempt=2, started_at=AT)
    send_findings(acme, 1)
    checked = 0
    for template, path in reads(acme.token).items():
        schema = schema_of(template)
        if schema is None:
            continue
        answer = told(path, acme.token)
        OAS31Validator(schema).validate(answer)
        assert_no_field_is_missing(answer, schema, template)
        checked += 1
    assert checked >= 13


def assert_no_field_is_missing(answer: Any, schema: Any, template: str) -> None:
    name = schema["$ref"].rpartition("/")[2]
    fields = schema["components"]["schemas"][name]["properties"]
    assert set(answer) == set(fields), template
