"""A project that has something to show, and its admin at a browser."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from healthboard.pipeline import drain_all
from leaks.models import Pair, Verdict
from projects.creation import create_project
from projects.models import Role
from results.models import Run
from tests.delivering import BROKEN, FIRST, GREEN, send
from tests.leaking import make_decision, make_leaker, make_pair, make_verdict
from tests.reviewing import FIRST as REVIEWED
from tests.reviewing import ledger, send_review
from tests.reviewing import send as send_files
from tests.routing import REVIEW, deliver, make_route
from tests.visiting import PASSWORD, base, make_user


@pytest.fixture
def board(transactional_db, live_server):
    """A project with green, red, damaged and incomplete runs, and its admin."""
    made = create_project("acme/shop", actor="a test")
    made.project.title = "A shop with a title that takes more than a narrow line"
    made.project.save(update_fields=["title"])
    ana = make_user("ana", is_staff=True)
    made.project.memberships.create(user=ana, role=Role.ADMIN)
    now = datetime.now(UTC)
    runs = {
        "ci-1": ([GREEN], {}),
        "ci-2": ([GREEN, BROKEN], {}),
        "ci-3": ([GREEN], {"shard": {"index": 1, "count": 2}, "pr": 538}),
        "ci-4": ([FIRST], {"environment": {"os": "linux"}}),
    }
    for age, (name, (files, context)) in enumerate(reversed(runs.items()), start=1):
        started = (now - timedelta(hours=age)).isoformat()
        values = {"branch": "main", "commit": f"{age:040x}", "started_at": started}
        send(made, *files, run=name, **values | context)
    reviewers = make_route(made.project, "review", name="reviewers")
    alone = deliver(reviewers, REVIEW.encode()).json()["id"]
    for proof in (None, {}):
        deliver(reviewers, REVIEW.encode(), proof)
    drain_all()
    send_review(made, f"{REVIEWED}\n- P9 shop/what.py:1 — no such severity\n", pr=538)
    send_files(made, ("effects", "e.jsonl", ledger()), run="ci-1", branch="main")
    leaker, pending = leakers_of(made.project)
    red = Run.objects.get(name="ci-4")
    return SimpleNamespace(
        url=live_server.url,
        project=made.project,
        base=live_server.url + base(made.project),
        red=red.pk,
        green=Run.objects.get(name="ci-1").pk,
        damaged=Run.objects.get(name="ci-2").pk,
        test=made.project.tests.get(name="test_session").pk,
        failure=red.failures.get(outcome=1).pk,
        upload=made.project.uploads.first().pk,
        route=reviewers.route.pk,
        alone=alone,
        finding=made.project.findings.get(path="tests/conftest.py").pk,
        leaker=leaker,
        pending=pending,
    )


def leakers_of(project):
    """Two leakers, one of them muted, and a test that cannot be explained yet.

    Stored last: a recount of these few runs would find none.
    """
    first, last, victim = (
        project.tests.get(name=name)
        for name in ("test_total", "test_logout", "test_session")
    )
    project.leakers.all().delete()  # what the few runs themselves make of it
    for table in (Pair, Verdict):
        table.objects.filter(project=project).delete()
    leaker = make_leaker(
        project, first, kinds=["sys_modules.removed"], source="both", ticket="SHOP-1"
    )
    make_pair(project, first, victim)
    muted = make_leaker(project, last, state="muted", lost_s=3.0)
    make_pair(project, last, victim, status="suspect", posterior=0.05)
    make_decision(muted, what="state", before="open", after="muted", note="later")
    make_verdict(project, victim)
    probe = {"why": "No order is known.", "command": "pytest -p random_order"}
    make_verdict(
        project, last, "unexplained", missing="Two failures.", probe=probe, rank=1
    )
    return leaker.pk, last.pk


@pytest.fixture
def open_page(new_context, board):
    """Open a page of the board as its admin; what goes wrong is in `page.wrong`."""

    def _open(path="/", *, signed_in=True, **options):
        page = new_context(**options).new_page()
        page.wrong = []
        page.on("console", lambda message: _note(page, message))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("request", lambda request: _check(page, board, request))
        if signed_in:
            page.goto(f"{board.url}/sign-in")
            page.get_by_label("User name").fill("ana")
            page.get_by_label("Password").fill(PASSWORD)
            page.keyboard.press("Enter")
            page.wait_for_url(f"{board.url}/")
        page.goto(path if path.startswith("http") else board.base + path)
        return page

    return _open


def _note(page, message):
    if message.type in ("error", "warning"):
        page.wrong.append(message.text)


def _check(page, board, request):
    if not request.url.startswith((board.url, "data:", "blob:")):
        page.wrong.append(f"asked {request.url}")
