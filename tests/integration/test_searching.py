"""Searching without regard to case: the same answers on both databases."""

from __future__ import annotations

import pytest

from projects.creation import Created, create_project
from results.models import TestCase as Case
from results.queries.search import search
from tests.delivering import send

pytestmark = pytest.mark.django_db

NAMES = ("test_grösse", "test_GRÖSSE_ZWEI", "test_Ärger", "test_ПРИВЕТ", "test_100%_é")


@pytest.fixture
def acme() -> Created:
    created = create_project("acme/app", actor="test")
    cases = "".join(f'<testcase classname="t" name="{name}"/>' for name in NAMES)
    send(created, f"<testsuite>{cases}</testsuite>".encode())
    return created


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("GRÖSSE", {"test_grösse", "test_GRÖSSE_ZWEI"}),
        ("grösse", {"test_grösse", "test_GRÖSSE_ZWEI"}),
        ("ärger", {"test_Ärger"}),
        ("привет", {"test_ПРИВЕТ"}),
        ("%_É", {"test_100%_é"}),
        ("%É", set()),
        ("_zwei", {"test_GRÖSSE_ZWEI"}),
        ("TEST_100%", {"test_100%_é"}),
        ("grosse", set()),
    ],
)
def test_letters_of_every_script_have_no_case(acme: Created, asked, found):
    names = Case.objects.filter(name__icontains=asked).values_list("name", flat=True)
    assert set(names) == found
    hits = search(acme.project.pk, asked)
    assert {
        hit.label.rpartition("::")[2] for hit in hits if hit.kind == "test"
    } == found
