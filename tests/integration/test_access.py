"""Who sees which page: strangers, the public, and each role."""

from __future__ import annotations

import re
from datetime import date

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import get_resolver

from dashboard.urls import _project
from ingest.models import Upload
from notify import endpoints
from projects.access import (
    NoSuchProject,
    RoleTooLow,
    access_project,
    readable_projects,
    role_of,
)
from projects.models import Membership, Project, Role
from pulls.models import Pull
from tests.builders import START, make_project, make_run
from tests.leaking import make_leaker
from tests.reviewing import make_finding
from tests.routing import make_route
from tests.visiting import base, make_user, visit, visitor

pytestmark = pytest.mark.django_db

# Pages and acts by what they need; every other page is readable.
ADMIN_PAGES = {
    "settings",
    "tokens",
    "secret",
    "recognisers",
    "routes",
    "route",
    "members",
    "audit",
    "webhooks",
    "webhook",
    "deliveries",
    "delivery",
    "code-host",
    "owners",
    "rules",
}
ADMIN_ACTS = {
    "make-webhook",
    "change-webhook",
    "rotate-webhook",
    "try-webhook",
    "switch-webhook",
    "send-again",
    "redeliver",
    "make-token",
    "revoke-token",
    "rotate-secret",
    "make-route",
    "rotate-route",
    "disable-route",
    "change-member",
    "remove-recogniser",
}
TRIAGER_ACTS = {
    "decide",
    "decide-leaker",
    "decide-tests",
    "review-decide",
    "review-close",
    "save-view",
    "change-pull",
    "remove-view",
    "exclude",
    "upload-retry",
    "upload-attach",
}
ACTS = ADMIN_ACTS | TRIAGER_ACTS
NAMES = [pattern.name for pattern in _project]


def path_of(name, project, *, run, upload, route, finding, leaker, webhook, delivery):
    """The path of a page, with the numbers that it takes."""
    [pattern] = [pattern for pattern in _project if pattern.name == name]
    numbers = {"pk": upload if name.startswith("upload") else run, "n": 1}
    if name == "failure":
        numbers["pk"] = 1
    if name == "finding":
        numbers["pk"] = finding
    if name in ("leaker", "decide-leaker"):
        numbers["pk"] = leaker
    if name.endswith("route"):
        numbers["pk"] = route
    if name.endswith("webhook"):
        numbers["pk"] = webhook
    if name in ("delivery", "redeliver"):
        numbers["pk"] = delivery
    path = str(pattern.pattern).replace("<slug:recogniser>", "a-gate")
    path = path.replace("<slug:what>", "tests")
    path = path.replace("<str:week>", f"{date.today():%G-W%V}")
    for key, value in numbers.items():
        path = path.replace(f"<int:{key}>", str(value))
    return f"{base(project)}/{path}"


@pytest.fixture
def project():
    return make_project("acme/shop")


@pytest.fixture
def numbers(project):
    upload = Upload.objects.create(
        project=project,
        delivery_id="one",
        digest="d",
        body="nowhere",
        content_type="multipart/form-data",
        wire_bytes=1,
        unpacked_bytes=1,
        received_at=START,
        state="dead",
    )
    Pull.objects.create(project=project, number=1, created_at=START)
    route = make_route(project).route
    run = make_run(project)
    leaker = make_leaker(project, project.tests.first())
    wanted = endpoints.Wanted("https://hooks.example/")
    webhook = endpoints.create(project, wanted, actor="test").endpoint
    return {
        "webhook": webhook.pk,
        "delivery": endpoints.try_out(webhook, actor="test").pk,
        "run": run,
        "upload": upload.pk,
        "route": route.pk,
        "finding": make_finding(project).pk,
        "leaker": leaker.pk,
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("who", ["nobody", "a stranger", "a member elsewhere"])
def test_a_private_project_does_not_exist_for_others(project, numbers, name, who):
    client = {
        "nobody": lambda: Client(),
        "a stranger": lambda: visitor(),
        "a member elsewhere": lambda: visitor(make_project("acme/other"), Role.ADMIN),
    }[who]()
    missing = make_project("acme/gone")
    path, same = (path_of(name, one, **numbers) for one in (project, missing))
    missing.delete()
    ask = client.post if name in ACTS else client.get
    seen, nothing = ask(path), ask(same)
    assert (seen.status_code, nothing.status_code) == (404, 404)
    # Beside the address itself, nothing tells the one that exists from the other.
    assert _masked(seen, "shop") == _masked(nothing, "gone")


def _masked(answer, name):
    text = answer.content.decode().replace(f"acme/{name}", "acme/…")
    return re.sub('csrfmiddlewaretoken" value="[^"]*"', "", text)


@pytest.mark.parametrize("name", sorted(set(NAMES) - ACTS))
def test_a_public_project_is_read_without_sign_in(project, numbers, name):
    type(project).objects.update(public=True)
    answer = Client().get(path_of(name, project, **numbers))
    if name in ADMIN_PAGES:
        assert answer.status_code == 302
        assert answer["Location"].startswith("/sign-in?next=")
    else:
        # Of an upload without a body and of no failure there is nothing to see.
        assert answer.status_code in (200, 404)
        assert (answer.status_code == 404) == (
            name in ("failure", "upload-raw", "upload-file")
        ) or name == "test"


@pytest.mark.parametrize("name", sorted(ADMIN_PAGES | ACTS))
@pytest.mark.parametrize("role", list(Role))
def test_a_role_opens_what_it_may_do_and_no_more(project, numbers, name, role):
    client = visitor(project, role)
    ask = client.post if name in ACTS else client.get
    answer = ask(path_of(name, project, **numbers))
    enough = {Role.VIEWER: set(), Role.TRIAGER: TRIAGER_ACTS}.get(
        role, ADMIN_PAGES | ACTS
    )
    refused = name not in enough
    assert (answer.status_code == 403) == refused
    assert (b"You may not do this" in answer.content) == refused


@pytest.mark.parametrize("name", sorted(ACTS))
def test_an_act_is_never_a_get(project, numbers, name):
    client = visitor(project, Role.ADMIN)
    assert client.get(path_of(name, project, **numbers)).status_code == 405


@pytest.mark.parametrize("name", sorted(ACTS | {"settings", "members"}))
def test_an_act_needs_the_forms_token(project, numbers, name):
    member = make_user("ana")
    Membership.objects.create(project=project, user=member, role=Role.ADMIN)
    client = Client(enforce_csrf_checks=True)
    client.force_login(member)
    answer = client.post(path_of(name, project, **numbers))
    assert answer.status_code == 403
    assert b"The form was out of date" in answer.content


@pytest.mark.parametrize("kind", ["runs", "uploads", "failures", "tests", "leakers"])
def test_a_thing_of_another_project_is_not_shown_here(project, kind):
    other = make_project("acme/other")
    make_run(other, {"test_a": "failed"})
    foreign = {
        "runs": lambda: other.runs.get().pk,
        "tests": lambda: other.tests.get().pk,
        "leakers": lambda: make_leaker(other, other.tests.get()).pk,
        "failures": lambda: other.runs.get().failures.get().pk,
        "uploads": lambda: (
            Upload.objects.create(
                project=other,
                delivery_id="x",
                digest="d",
                body="x",
                content_type="x",
                wire_bytes=1,
                unpacked_bytes=1,
                received_at=START,
            ).pk
        ),
    }[kind]()
    here, there = (visitor(one, Role.ADMIN, name=one.name) for one in (project, other))
    assert here.get(f"{base(project)}/{kind}/{foreign}").status_code == 404
    assert there.get(f"{base(other)}/{kind}/{foreign}").status_code == 200


def test_the_list_has_what_one_may_read():
    shop, pub = make_project("acme/shop"), make_project("acme/pub", public=True)
    secret = make_project("zeta/secret")
    ana = make_user("ana")
    Membership.objects.create(project=shop, user=ana, role=Role.VIEWER)
    root = make_user("root", is_superuser=True)
    assert list(readable_projects(AnonymousUser())) == [pub]
    assert list(readable_projects(ana)) == [pub, shop]
    assert list(readable_projects(root)) == [pub, shop, secret]
    nobody = visit(Client(), "/")
    assert "acme/pub" in nobody
    assert "acme/shop" not in nobody


def test_roles_are_as_given_and_operators_are_admins():
    shop = make_project("acme/shop")
    ana = make_user("ana")
    Membership.objects.create(project=shop, user=ana, role=Role.TRIAGER)
    assert role_of(ana, shop) == Role.TRIAGER
    assert role_of(AnonymousUser(), shop) is None
    assert role_of(make_user("root", is_superuser=True), shop) == Role.ADMIN
    gone = make_user("gone", is_active=False)
    Membership.objects.create(project=shop, user=gone, role=Role.ADMIN)
    assert role_of(gone, shop) is None


def test_access_raises_by_what_is_missing():
    shop = make_project("acme/shop")
    ana = make_user("ana")
    with pytest.raises(NoSuchProject):
        access_project(ana, "acme", "shop")
    Membership.objects.create(project=shop, user=ana, role=Role.VIEWER)
    assert access_project(ana, "acme", "shop").role == Role.VIEWER
    with pytest.raises(RoleTooLow) as caught:
        access_project(ana, "acme", "shop", needs=Role.ADMIN)
    assert caught.value.needs == Role.ADMIN


def test_only_staff_make_projects():
    assert Client().get("/new")["Location"].startswith("/sign-in")
    assert visitor(name="bo").get("/new").status_code == 403
    staff = visitor(name="ana", is_staff=True)
    answer = staff.post("/new", {"slug": "acme/new"})
    text = answer.content.decode()
    project = Project.objects.get(owner="acme", name="new")
    assert "hb_" in text
    assert "&quot;project&quot;: &quot;acme/new&quot;" in text
    assert project.memberships.get().role == Role.ADMIN
    again = staff.post("/new", {"slug": "acme/new"})
    assert b"exists already" in again.content


def test_every_page_of_a_project_is_checked_here():
    """A page that is added later comes under the tests above by itself."""
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) >= ADMIN_PAGES | ACTS
    assert get_resolver().reverse_dict  # the addresses resolve
