"""Who may read what over HTTP."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from projects import tokens
from projects.creation import Created, create_project
from projects.models import Membership, Role, Scope, Token
from tests.asking import ask, refused, told
from tests.sending import bearer

pytestmark = pytest.mark.django_db

OURS = "/projects/acme/app"


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


@pytest.fixture
def other() -> Created:
    return create_project("other/app", actor="test")


def signed_in(*, staff: bool = False, superuser: bool = False) -> tuple[User, Client]:
    user = User.objects.create_user("ada", is_staff=staff, is_superuser=superuser)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return user, client


def test_a_token_reads_its_own_project(acme):
    assert told(OURS, acme.token)["project"] == "acme/app"


@pytest.mark.parametrize("slug", ["acme/app", "acme%2Fapp", "acme%2fapp"])
def test_the_slash_of_a_project_may_be_encoded(acme, slug):
    assert told(f"/projects/{slug}/status", acme.token)["pending"] == 0


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer hb_wrong",
        "Basic YWRhOng=",
        "hb_token",
        "Bearer \xe9\xff",
    ],
)
def test_without_a_valid_token_all_is_401(acme, header):
    headers = {} if header is None else {"Authorization": header}
    client = Client(raise_request_exception=False)
    for path in (OURS, "/projects/no/such", "/uploads/1", "/runs/1", "/tests/1"):
        answer = client.get(f"/api/v1{path}", headers=headers)
        refused(answer, 401)
        assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_revoked_token_is_401_at_once(acme):
    tokens.revoke(Token.objects.get())
    refused(ask(OURS, acme.token), 401)


def test_a_token_without_the_scope_read_is_403(acme):
    _, plain = tokens.issue(acme.project, name="ci", scopes=[Scope.UPLOAD, Scope.ADMIN])
    refused(ask(OURS, plain), 403)
    refused(ask("/projects", plain), 403)


def test_another_project_looks_like_none(acme, other):
    theirs = refused(ask("/projects/other/app", acme.token), 404)
    none = refused(ask("/projects/no/such", acme.token), 404)
    assert theirs == none


def test_the_list_of_projects_is_what_a_token_reads(acme, other):
    page = told("/projects", acme.token)
    assert [each["project"] for each in page["items"]] == ["acme/app"]
    assert page["next"] is None


def test_a_member_reads_a_project_and_a_stranger_does_not(acme, other):
    user, client = signed_in()
    refused(client.get("/api/v1" + OURS), 404)
    Membership.objects.create(project=acme.project, user=user, role=Role.VIEWER)
    assert client.get("/api/v1" + OURS).status_code == 200
    refused(client.get("/api/v1/projects/other/app"), 404)


def test_a_public_project_is_read_by_everyone_who_is_signed_in(acme):
    acme.project.public = True
    acme.project.save(update_fields=["public"])
    _, client = signed_in()
    assert client.get("/api/v1" + OURS).status_code == 200
    refused(ask(OURS), 401)


def test_a_wrong_token_is_not_saved_by_a_session(acme):
    user, client = signed_in()
    Membership.objects.create(project=acme.project, user=user, role=Role.ADMIN)
    answer = client.get("/api/v1" + OURS, headers=bearer("hb_wrong"))
    refused(answer, 401)


def test_the_list_of_projects_comes_in_pages():
    for name in ("b", "a", "B", "c"):
        create_project(f"acme/{name}", actor="test")
    _, client = signed_in(superuser=True)
    names, cursor = [], None
    while True:
        query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = client.get("/api/v1/projects", query).json()
        names.append([each["project"] for each in page["items"]])
        cursor = page["next"]
        if cursor is None:
            break
    assert names == [["acme/B", "acme/a", "acme/b"], ["acme/c"]]


def test_a_token_that_reads_notes_its_use_once(acme, django_assert_num_queries):
    before = timezone.now()
    told(OURS, acme.token)
    used = Token.objects.get().last_used_at
    assert used is not None
    assert used >= before
    with django_assert_num_queries(1):
        told(OURS, acme.token)
    assert Token.objects.get().last_used_at == used
