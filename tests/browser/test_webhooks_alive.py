"""The pages of webhooks out and of the code host: accessible, quiet, and they fit."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.utils import timezone

from notify import endpoints, hosts
from notify.endpoints import Wanted
from notify.models import Attempt, Delivery, DeliveryState
from projects.creation import create_project
from projects.models import Role
from tests.visiting import base, make_user

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def board(transactional_db, live_server):
    """A project with webhooks of three formats, one disabled, and a dead delivery."""
    project = create_project("acme/shop", actor="a test").project
    ana = make_user("ana", is_staff=True)
    project.memberships.create(user=ana, role=Role.ADMIN)
    wanted = [
        Wanted("https://hooks.example/" + "long/" * 30, name="chat", format="slack"),
        Wanted("https://ci.example/in", events=["leaker.new", "run.failed"]),
        Wanted("mailto:ana@example.org", format="email", every=24),
    ]
    made = [endpoints.create(project, one, actor="ana").endpoint for one in wanted]
    delivery = endpoints.try_out(made[0], actor="ana")
    now = timezone.now()
    Attempt.objects.create(
        delivery=delivery,
        at=now,
        url=made[0].url,
        headers={"Content-Type": "application/json", "webhook-id": "evt_1"},
        body='{"text": "' + "x" * 500 + '"}',
        status=500,
        answer="no",
        address="192.0.2.1",
        duration_ms=1234,
        error="answered 500",
    )
    Delivery.objects.update(
        state=DeliveryState.DEAD, due_at=None, done_at=now, tries=10, status=500
    )
    endpoints.switch(made[1], on=False, actor="ana")
    hosts.save(
        project, kind="github", api_url="", repository="acme/shop", secret="t", actor=""
    )
    url = live_server.url
    return SimpleNamespace(
        url=url, base=url + base(project), webhooks=made, delivery=delivery.pk
    )


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (360, "dark")], ids=["wide", "narrow"]
)
def test_the_pages_of_webhooks_are_accessible_and_fit(
    board, open_page, axe, width, scheme
):
    size = {"width": width, "height": 900}
    page = open_page(viewport=size, color_scheme=scheme)
    paths = ["/settings/webhooks", "/deliveries", "/settings/code-host"]
    paths += [f"/settings/webhooks/{one.pk}" for one in board.webhooks]
    paths += [f"/deliveries/{board.delivery}", "/deliveries?state=waiting"]
    for path in paths:
        page.goto(board.base + path)
        page.wait_for_load_state("networkidle")
        assert axe(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.wrong == [], path
        assert page.locator("h1").count() == 1, path
