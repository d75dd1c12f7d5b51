"""Trends, and the status of a project."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from api.trends import Metric
from api.waiting import waiting
from healthboard.pipeline import STAGES, drain_all
from projects.creation import Created, create_project
from tests.asking import ask, told
from tests.delivering import FIRST, GREEN, send

pytestmark = pytest.mark.django_db

# No page waits for what only cleans up.
HIDDEN = ("sweep", "forget", "prune")  # a page is up to date without them
SHOWN = [stage.name for stage in STAGES if stage.name not in HIDDEN]
TRENDS = "/projects/acme/app/trends"
STATUS = "/projects/acme/app/status"


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


def noon(days_ago: int) -> str:
    day = (timezone.now() - timedelta(days=days_ago)).date()
    return f"{day}T12:00:00Z"


def series(acme: Created, metric: str, **query) -> Any:
    trend = told(TRENDS, acme.token, metric=metric, **query)
    assert trend["metric"] == metric
    return trend["points"]


def test_the_pass_rate_of_a_day(acme):
    send(acme, FIRST, run="1", branch="main", started_at=noon(2))
    send(acme, GREEN, run="2", branch="main", started_at=noon(1))
    points = series(acme, "pass_rate", window="7d")
    assert len(points) == 7
    dates = [each["date"] for each in points]
    assert dates == sorted(dates)
    measured = {each["date"]: each for each in points if each["value"] is not None}
    two, one = sorted(measured)
    # of four results one is skipped: two passed of three that were executed
    assert measured[two]["value"] == pytest.approx(2 / 3)
    assert measured[one]["value"] == 1
    assert (measured[two]["runs"], measured[one]["runs"]) == (1, 1)


@pytest.mark.parametrize("metric", list(Metric))
def test_every_metric_of_the_contract_answers(acme, metric):
    assert all(each["value"] is None for each in series(acme, metric))
    send(acme, GREEN, run="2", branch="main", started_at=noon(1))
    assert ask(TRENDS, acme.token, metric=metric, by="day").status_code == 200


@pytest.mark.parametrize("metric", ["open_leakers", "open_findings", "lost_s"])
def test_what_nothing_measures_yet_has_an_empty_series(acme, metric):
    send(acme, GREEN, started_at=noon(1))
    assert series(acme, metric) == []


def test_a_trend_of_one_class_of_branches(acme):
    send(acme, FIRST, run="1", branch="feature", started_at=noon(1))
    mine = {"metric": "failed_tests", "window": "3d"}
    other = told(TRENDS, acme.token, branch_class="other", **mine)
    default = told(TRENDS, acme.token, branch_class="default", **mine)
    assert [each["value"] for each in other["points"] if each["runs"]] == [1]
    assert [each for each in default["points"] if each["runs"]] == []
    assert (other["window"], other["by"]) == ("3d", "day")


# Status


def test_pending_is_0_when_all_pages_are_up_to_date(acme):
    assert told(STATUS, acme.token) == {
        "pending": 0,
        "stages": dict.fromkeys(SHOWN, 0),
        "last_processed_at": None,
    }
    upload_id = send(acme, GREEN, drain=False)
    status = told(STATUS, acme.token)
    assert status["pending"] == 1
    assert status["stages"]["ingest"] == 1
    drain_all()
    status = told(STATUS, acme.token)
    assert status["pending"] == 0
    upload = told(f"/uploads/{upload_id}", acme.token)
    assert status["last_processed_at"] == upload["processed_at"]


def test_another_project_is_not_pending(acme):
    other = create_project("other/app", actor="test")
    send(other, GREEN, drain=False)
    assert told(STATUS, acme.token)["pending"] == 0
    assert told("/projects/other/app/status", other.token)["pending"] == 1


def test_the_status_knows_every_stage_of_the_pipeline():
    assert list(waiting()) == SHOWN
