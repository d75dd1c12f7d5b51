"""The health of uploads: what came, what was refused and why, how big, how slow."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from dashboard.access import project_page
from dashboard.commands import upload_command
from dashboard.filters import number
from dashboard.sparklines import stacked
from ingest.health import health
from results.queries.bad_days import bad_days

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access

HOURS = (24, 72, 168)
# The look of a state in the bars.
_FILLS = {
    "processed": "passed",
    "rejected": "failed",
    "dead": "error",
    "failed": "error",
    "admitted": "skipped",
    "processing": "skipped",
}


@require_GET
@project_page()
def upload_health(request: HttpRequest, access: Access) -> HttpResponse:
    """Show how the uploads of the last hours fared."""
    now = timezone.now()
    hours = number(request.GET, "hours", default=24, low=1, high=168)
    found = health(access.project.pk, now=now, hours=hours)
    most = max((hour.total for hour in found.hours), default=0)
    context = {
        "access": access,
        "tab": "uploads",
        "health": found,
        "hours": hours,
        "choices": HOURS,
        "rows": [(hour, _bar(hour.states, most)) for hour in found.hours],
        "bad_days": bad_days(access.project.pk, since=now - timedelta(hours=hours)),
        "command": upload_command(request, access.project),
    }
    return render(request, "dashboard/upload_health.html", context)


def _bar(states: dict[str, int], most: int) -> list[object]:
    """Lay the states of an hour side by side; what is missing to the most is empty."""
    counts: dict[str, int] = {}
    for state, count in states.items():
        fill = _FILLS[state]
        counts[fill] = counts.get(fill, 0) + count
    total = sum(counts.values())
    if not total:
        return []
    return [*stacked({**counts, "nothing": most - total})]
