"""Settings → Webhooks in, and attaching by hand what came without a context."""

from __future__ import annotations

import html
import json
import re

import pytest
from django.utils import timezone

from dashboard.samples import samples
from healthboard.pipeline import drain_all
from ingest import answers, rate, routes
from ingest.models import Answer, Route, RouteKind, State
from ingest.models import Upload as Row
from projects.creation import Created, create_project
from projects.models import AuditEntry, Role
from results.models import Run
from tests.delivering import GREEN, send
from tests.routing import GATE, PUSH, REVIEW, deliver, make_route, wrapped
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme() -> Created:
    rate.forget()
    answers.forget()
    return create_project("acme/app", actor="test")


@pytest.fixture
def admin(acme):
    return visitor(acme.project, Role.ADMIN, name="ana")


def plain_of(answer) -> str:
    """The one secret that a page shows."""
    [plain] = re.findall(
        r'data-copy="(\S+)" title="Copy the secret"', answer.content.decode()
    )
    return html.unescape(plain)


def deliveries_of(client, route) -> list[str]:
    """The answers that a route's page lists, each in one line."""
    page = client.get(f"{base(route.project)}/settings/routes/{route.pk}")
    table = page.content.decode().partition("Last deliveries")[2].partition("</table>")
    rows = re.findall(r"<tr>(.*?)</tr>", table[0], re.DOTALL)[1:]
    texts = [html.unescape(re.sub(r"<[^>]*>", " ", row)) for row in rows]
    return [re.sub(r"\s+", " ", text).strip() for text in texts]


def test_a_route_is_made_its_secret_shown_once_and_works(acme, admin):
    page = f"{base(acme.project)}/settings/routes"
    assert "No route yet." in visit(admin, page)
    answer = admin.post(f"{page}/new", {"kind": "gate", "name": "nightly gates"})
    assert "no-store" in answer["Cache-Control"]
    secret = plain_of(answer)
    route = Route.objects.get()
    assert f"http://testserver/webhooks/{route.path}" in read(answer)
    assert deliver(routes.Created(route, secret), GATE).status_code == 202
    for path in (page, f"{page}/{route.pk}"):
        shown = visit(admin, path)
        assert "nightly gates" in shown
        assert secret not in shown
    assert route.created_by.get_username() == "ana"
    [entry] = AuditEntry.objects.filter(action="route.created")
    assert (entry.actor, entry.subject) == ("ana", "nightly gates")


@pytest.mark.parametrize("kind", RouteKind.values)
def test_a_page_shows_how_to_send(acme, admin, kind):
    made = make_route(acme.project, kind)
    answer = admin.get(f"{base(acme.project)}/settings/routes/{made.route.pk}")
    page = html.unescape(answer.content.decode())
    shown = samples(kind, url=f"http://testserver{made.route.address}")
    for text in (shown.curl, shown.python):
        assert f"<code>{text}</code>" in page
        assert f'data-copy="{text}"' in page


@pytest.mark.parametrize(
    "data", [{}, {"kind": "junit"}, {"kind": "gate", "name": "x" * 101}]
)
def test_a_route_that_is_wrong_is_not_made(acme, admin, data):
    answer = admin.post(f"{base(acme.project)}/settings/routes/new", data)
    assert answer.status_code == 200
    assert Route.objects.count() == 0


def test_rotating_shows_the_new_secret_and_both_work(acme, admin):
    made = make_route(acme.project)
    page = f"{base(acme.project)}/settings/routes/{made.route.pk}"
    answer = admin.post(f"{page}/rotate")
    renewed = routes.Created(made.route, plain_of(answer))
    assert "ends in 23 hours" in read(answer)
    statuses = [deliver(one, GATE).status_code for one in (made, renewed)]
    assert statuses == [202, 200]
    assert renewed.secret not in visit(admin, page)


def test_disabling_answers_404_and_keeps_what_came(acme, admin):
    made = make_route(acme.project)
    deliver(made, GATE)
    page = f"{base(acme.project)}/settings/routes"
    told = admin.post(f"{page}/{made.route.pk}/disable", follow=True)
    assert f"The route gate route {made.route.pk} is disabled." in read(told)
    assert deliver(made, GATE).status_code == 404
    assert "whatever is sent here gets a 404" in visit(admin, f"{page}/{made.route.pk}")
    assert len(deliveries_of(admin, made.route)) == 1


def test_the_last_deliveries_are_shown_with_their_answers(acme, admin):
    made = make_route(acme.project)
    deliver(made, GATE, Idempotency_Key="first")
    deliver(made, GATE, Idempotency_Key="first")
    deliver(made, GATE + b" ", Idempotency_Key="first")
    deliver(made, GATE, {}, Idempotency_Key="forged")
    deliver(made, wrapped({}, colour="red"), Idempotency_Key="<b>odd</b>")
    upload = Row.objects.get().pk
    shown = deliveries_of(admin, made.route)
    assert [line.removesuffix(" just now") for line in shown] == [
        "422 colour: unknown key <b>odd</b>",
        "401 it has no X-Webhook-Signature-V2 forged",
        f"409 Upload {upload} had the same id and another body. first",
        f"200 upload {upload} came before first",
        f"202 upload {upload} stored first",
    ]
    assert deliveries_of(admin, make_route(acme.project).route) == []


def test_a_flood_fills_no_table_and_hides_nobody(acme, settings):
    settings.HEALTHBOARD_RATE = 0
    made, other = make_route(acme.project), make_route(acme.project)
    deliver(other, GATE, {})
    for n in range(70):
        deliver(made, wrapped({}, colour=n), Idempotency_Key=f"{n}")
    for _ in range(70):
        deliver(made, GATE, {})
    mine = Answer.objects.filter(route=made.route)
    assert mine.exclude(status=401).count() == answers.KEPT
    assert mine.filter(status=401).count() <= answers.KEPT_STRANGE
    kept = mine.filter(status=422).order_by("pk").values_list("delivery_id", flat=True)
    assert list(kept) == [f"{n}" for n in range(20, 70)]
    assert Answer.objects.filter(route=other.route).count() == 1
    assert Row.objects.count() == 0


def test_strangers_are_noted_slowly():
    strangers = answers.Strangers()
    burst = [strangers.may(1, now=100.0) for _ in range(answers.BURST + 1)]
    assert burst == [True] * answers.BURST + [False]
    assert strangers.may(2, now=100.0)
    assert not strangers.may(1, now=100.0 + answers.PAUSE_S / 2)
    assert strangers.may(1, now=100.0 + answers.PAUSE_S)


def test_the_uploads_pages_name_the_route(acme, admin):
    made = make_route(acme.project, "github", name="our repository")
    deliver(made, PUSH, X_GitHub_Event="push")
    row = Row.objects.get()
    assert "our repository" in visit(admin, f"{base(acme.project)}/uploads")
    page = f"{base(acme.project)}/uploads/{row.pk}"
    assert "by route our repository, event push" in visit(admin, page)
    viewer = visitor(acme.project, Role.VIEWER)
    answer = viewer.get(page).content.decode()
    assert "our repository" in answer
    assert f"settings/routes/{made.route.pk}" not in answer


@pytest.fixture
def stood_alone(acme):
    """A review that came without a context, and was read."""
    deliver(make_route(acme.project, "review"), REVIEW.encode())
    drain_all()
    return Row.objects.get()


def attach(client, row, follow=True, **data):
    path = f"{base(row.project)}/uploads/{row.pk}/attach"
    return client.post(path, data, follow=follow)


def test_a_review_is_attached_to_a_pull_request(acme, admin, stood_alone):
    page = f"{base(acme.project)}/uploads/{stood_alone.pk}"
    assert "Where does it belong?" in visit(admin, page)
    told = attach(admin, stood_alone, pr="538")
    assert f"Upload {stood_alone.pk} is attached to #538" in read(told)
    stood_alone.refresh_from_db()
    assert stood_alone.state == State.ADMITTED
    assert (stood_alone.context["pr"], stood_alone.context["project"]) == (
        538,
        "acme/app",
    )
    drain_all()
    stood_alone.refresh_from_db()
    assert (stood_alone.state, stood_alone.run_id) == (State.PROCESSED, None)
    assert "stands-alone" not in [one["code"] for one in stood_alone.warnings]
    [entry] = AuditEntry.objects.filter(action="upload.attached")
    assert (entry.actor, entry.detail) == ("ana", {"pr": 538})


def test_a_gate_is_attached_to_a_run_by_name_number_or_pull_request(acme, admin):
    context = {"run": "ci-7", "environment": {"os": "linux"}, "branch": "fix", "pr": 7}
    send(acme, GREEN, job="unit", shard={"index": 1, "count": 1}, **context)
    run = Run.objects.get()
    made = make_route(acme.project)
    for n, data in enumerate(({"run": "ci-7"}, {"run": f"{run.pk}"}, {"pr": "7"})):
        deliver(made, GATE + b" " * n)
        drain_all()
        row = Row.objects.order_by("-pk")[0]
        assert (row.state, row.run_id) == (State.PROCESSED, None)
        assert "ci-7" in read(attach(admin, row, **data))
        drain_all()
        row.refresh_from_db()
        assert (row.state, row.run_id, row.errors) == (State.PROCESSED, run.pk, [])
    run.refresh_from_db()
    assert Run.objects.count() == 1
    assert [(part["job"], part["index"]) for part in run.parts] == [("unit", 1)]
    assert run.branch == "fix"
    assert run.outcome == "failed"
    assert run.leaks_raised == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "Name one run, or one pull request."),
        ({"run": "ci-1", "pr": "7"}, "Name one run, or one pull request."),
        ({"pr": "0"}, "greater than or equal to 1"),
        ({"run": "ci-none"}, "There is no run 'ci-none' in this project."),
        ({"run": "9" * 30}, "There is no run"),
        ({"run": "٣"}, "There is no run"),
    ],
)
def test_what_does_not_exist_attaches_nothing(acme, admin, stood_alone, data, said):
    assert said in read(attach(admin, stood_alone, **data))
    before, stood_alone = stood_alone, Row.objects.get()
    assert (stood_alone.context, stood_alone.state) == ({}, before.state)
    assert not AuditEntry.objects.filter(action="upload.attached").exists()


def test_only_what_stands_alone_can_be_attached(acme, admin):
    send(acme, GREEN, run="ci-1")
    deliver(make_route(acme.project, "github"), PUSH)
    deliver(make_route(acme.project, "gate"), wrapped(json.loads(GATE), run="ci-1"))
    drain_all()
    assert Row.objects.count() == 3
    for row in Row.objects.all():
        page = visit(admin, f"{base(acme.project)}/uploads/{row.pk}")
        assert "Where does it belong?" not in page
        attach(admin, row, run="ci-1")
        kept = Row.objects.get(pk=row.pk)
        assert (kept.context, kept.attached_at) == (row.context, None)


def test_a_run_without_a_name_cannot_be_joined(acme, admin, stood_alone):
    send(acme, GREEN)
    run = Run.objects.get()
    told = read(attach(admin, stood_alone, run=f"{run.pk}"))
    assert "no name of its own" in told


def test_what_is_being_processed_is_not_attached(acme, admin, stood_alone):
    Row.objects.update(state=State.PROCESSING, due_at=timezone.now())
    told = read(attach(admin, stood_alone, pr="5"))
    assert "It is being processed right now" in told


def test_a_viewer_attaches_nothing(acme, stood_alone):
    viewer = visitor(acme.project, Role.VIEWER)
    page = visit(viewer, f"{base(acme.project)}/uploads/{stood_alone.pk}")
    assert "Where does it belong?" not in page
    assert attach(viewer, stood_alone, follow=False, pr="5").status_code == 403


def test_a_route_of_another_project_is_not_there(acme, admin):
    other = make_route(create_project("acme/other", actor="test").project)
    page = f"{base(acme.project)}/settings/routes/{other.route.pk}"
    assert admin.get(page).status_code == 404
    for act in ("rotate", "disable"):
        assert admin.post(f"{page}/{act}").status_code == 404
    assert routes.find(other.route.path) == other.route
