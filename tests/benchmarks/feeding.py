"""Uploads for a benchmark: admitted through the real inbox, in this process.

Needs an installation that is set up.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.core.management import call_command
from django.utils import timezone

from healthboard import collected
from healthboard.pipeline import BY_NAME, drain
from projects.creation import create_project
from results import days
from tests.benchmarks.reports import Shape, report
from tests.sending import Upload, bearer, post

if TYPE_CHECKING:
    from projects.models import Project

START = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
AT_ONCE = 10  # uploads that the worker takes before it looks at the days


@dataclass(frozen=True, slots=True)
class Fed:
    project: Project
    token: str


def make_project(slug: str = "acme/app") -> Fed:
    call_command("migrate", verbosity=0)
    collected.collect()
    made = create_project(slug, actor="benchmark")
    return Fed(made.project, made.token)


def context(number: int, *, a_day: int) -> dict[str, object]:
    """The run of this number; `a_day` of them start on each day, minutes apart."""
    day, place = divmod(number, a_day)
    started = START + timedelta(days=day, minutes=place * 3)
    return {
        "run": f"ci-{number}",
        "branch": "main",
        "commit": f"c{number}",
        "started_at": started.isoformat(),
    }


def send(fed: Fed, number: int, *, shape: Shape, a_day: int = AT_ONCE) -> int:
    """Send one report; return how many bytes it has."""
    data = report(shape)
    files = [("junit", "report.xml", data)]
    said = context(number, a_day=a_day)
    answer = post(Upload(context=said, files=files), bearer(fed.token))
    assert answer.status_code == 202, answer.content
    return len(data)


def work() -> None:
    """Do what the worker does until nothing is due."""
    while drain(BY_NAME["ingest"], limit=AT_ONCE):
        drain(BY_NAME["days"], limit=AT_ONCE)


def finish_days() -> None:
    """Rebuild the days that the worker would still wait with."""
    later = timezone.now() + timedelta(hours=1)
    while (day := days.claim(later)) is not None:
        days.work(day)
