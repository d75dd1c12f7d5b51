"""The badge, the metrics and the probes."""

from __future__ import annotations

from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from api import heartbeat
from projects import tokens
from projects.creation import Created, create_project
from projects.models import Scope
from tests.asking import PROBLEM, refused
from tests.delivering import BROKEN, FIRST, GREEN, send
from tests.sending import bearer

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


@pytest.fixture
def data_dir(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return tmp_path


def publish(created: Created) -> None:
    created.project.public = True
    created.project.save(update_fields=["public"])


def words(answer) -> str:
    assert answer["Content-Type"].startswith("image/svg+xml")
    picture = ElementTree.fromstring(answer.content)
    return " ".join(text.strip() for text in picture.itertext() if text.strip())


# Badge


def test_a_badge_tells_the_default_branch(acme):
    publish(acme)
    answer = Client().get("/badge/acme/app.svg")
    assert "no runs yet" in words(answer)
    send(acme, GREEN, run="1", branch="main", started_at="2026-03-03T10:00:00Z")
    send(acme, FIRST, run="2", branch="feature", started_at="2026-03-05T10:00:00Z")
    assert "3 passed" in words(Client().get("/badge/acme/app.svg"))
    send(acme, FIRST, run="3", branch="main", started_at="2026-03-04T10:00:00Z")
    assert "1 failing" in words(Client().get("/badge/acme/app.svg"))


def test_a_damaged_run_is_never_a_green_badge(acme):
    publish(acme)
    send(acme, GREEN, BROKEN, run="1", branch="main")
    assert "damaged" in words(Client().get("/badge/acme/app.svg"))


def test_a_badge_of_a_private_project_looks_like_none(acme):
    hidden = Client().get("/badge/acme/app.svg")
    nothing = Client().get("/badge/no/such.svg")
    assert (hidden.status_code, nothing.status_code) == (404, 404)
    assert hidden.content == nothing.content
    assert "unknown" in words(hidden)


def test_a_token_opens_the_badge_of_its_project(acme):
    answer = Client().get("/badge/acme/app.svg", headers=bearer(acme.token))
    assert answer.status_code == 200
    other = create_project("other/app", actor="test")
    answer = Client().get("/badge/acme/app.svg", headers=bearer(other.token))
    assert answer.status_code == 404


def test_a_badge_is_safe_and_not_kept_by_proxies(acme):
    publish(acme)
    answer = Client().get("/badge/acme/app.svg")
    assert "no-cache" in answer["Cache-Control"]
    assert b"<script" not in answer.content
    assert b"style" not in answer.content


# Metrics


def scrape(token: str | None = None, client: Client | None = None) -> dict[str, float]:
    headers = bearer(token) if token else {}
    answer = (client or Client()).get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.content
    return {
        ":".join([sample.name, *sample.labels.values()]): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_metrics_count_what_is_there(acme):
    send(acme, FIRST, run="1")
    send(acme, GREEN, run="2")
    send(acme, BROKEN)
    send(acme, GREEN, run="3", drain=False)
    found = scrape(acme.token)
    assert found["healthboard_uploads:processed"] == 2
    assert found["healthboard_uploads:rejected"] == 1
    assert found["healthboard_uploads:admitted"] == 1
    assert found["healthboard_uploads:dead"] == 0
    assert found["healthboard_waiting:ingest"] == 1
    assert found["healthboard_waiting:days"] == 0
    assert 0 <= found["healthboard_oldest_waiting_seconds"] < 60
    assert found["healthboard_runs:failed"] == 1
    assert found["healthboard_runs:passed"] == 1
    assert found["healthboard_results"] == 7
    assert found["healthboard_tests"] == 4
    assert found["healthboard_projects"] == 1


def test_metrics_are_not_for_everyone(acme, settings):
    refused(Client().get("/metrics"), 401)
    refused(Client().get("/metrics", headers=bearer("hb_wrong")), 401)
    _, plain = tokens.issue(acme.project, name="ci", scopes=[Scope.UPLOAD])
    refused(Client().get("/metrics", headers=bearer(plain)), 403)
    settings.HEALTHBOARD_METRICS_OPEN = True
    assert scrape()["healthboard_projects"] == 1


@pytest.mark.parametrize("scope", [Scope.READ, Scope.ADMIN])
def test_a_token_that_reads_or_administers_sees_metrics(acme, scope):
    _, plain = tokens.issue(acme.project, name="scraper", scopes=[scope])
    assert scrape(plain)["healthboard_projects"] == 1


def test_staff_see_metrics_and_others_do_not(acme):
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    refused(client.get("/metrics"), 403)
    client.force_login(User.objects.create_user("grace", is_staff=True))
    assert scrape(client=client)["healthboard_projects"] == 1


def test_a_scrape_costs_the_same_whatever_there_is(acme, django_assert_num_queries):
    scrape(acme.token)
    with django_assert_num_queries(19):
        scrape(acme.token)
    for run in ("1", "2", "3"):
        send(acme, FIRST, run=run)
    with django_assert_num_queries(19):
        scrape(acme.token)


# Probes


def test_healthz_needs_nothing(django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_readyz_names_the_worker_that_never_came(data_dir):
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["missing"] == ["analyst", "notifier", "worker"]
    assert answer["Content-Type"] != PROBLEM


def everybody_beats(at):
    for queue in settings.WORKING_QUEUES.values():
        heartbeat.beat(queue, now=at)


def test_readyz_is_ready_while_all_workers_beat(data_dir):
    everybody_beats(timezone.now())
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "checks": {
            "database": "ok",
            "broker": "ok",
            "worker": "ok",
            "analyst": "ok",
            "notifier": "ok",
        },
        "missing": [],
    }


@pytest.mark.parametrize(("role", "queue"), settings.WORKING_QUEUES.items())
def test_readyz_notices_that_one_of_the_workers_stopped(data_dir, role, queue):
    everybody_beats(timezone.now())
    heartbeat.beat(queue, now=timezone.now() - heartbeat.STALE - timedelta(seconds=5))
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["missing"] == [role]
    assert "the last sign of life is 9" in answer.json()["checks"][role]


def test_the_age_of_each_sign_of_life_is_a_metric(acme, data_dir):
    heartbeat.beat("analyse", now=timezone.now() - timedelta(seconds=30))
    found = scrape(acme.token)
    assert 30 <= found["healthboard_worker_age_seconds:analyse"] < 90
    assert "healthboard_worker_age_seconds:ingest" not in found


def test_readyz_names_a_broker_that_cannot_be_written(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "gone"
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["missing"] == ["analyst", "broker", "notifier", "worker"]


def test_readyz_names_a_redis_that_does_not_answer(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["missing"] == ["analyst", "broker", "notifier", "worker"]


@pytest.mark.valkey
def test_the_heartbeat_goes_through_redis_where_there_is_one(settings, fresh_valkey):
    settings.REDIS_URL = fresh_valkey
    assert heartbeat.last_beat("ingest") is None
    now = timezone.now()
    everybody_beats(now)
    assert heartbeat.last_beat("ingest") == now
    assert Client().get("/readyz").status_code == 200


def test_the_heartbeat_is_one_small_file(data_dir):
    heartbeat.beat("ingest", now=timezone.now())
    heartbeat.beat("ingest", now=timezone.now())
    assert [path.name for path in data_dir.iterdir()] == ["heartbeat-ingest"]
