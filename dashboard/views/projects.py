"""The list of projects, one project, and making a new one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from dashboard import charts
from dashboard.access import project_page
from dashboard.commands import upload_command
from dashboard.filters import number
from dashboard.forms import NewProjectForm
from dashboard.health import card, last_value, longest_part, overall, whole
from dashboard.plots import plot_page
from leaks.queries import list_leakers
from leaks.totals import open_leakers
from projects import options
from projects.access import readable_projects
from projects.creation import ProjectError, create_project
from projects.days import today_in
from projects.members import join_as_admin
from pulls import queries as pulls
from results.queries import cases, runs, trends
from results.queries.bad_days import bad_days

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access
    from results.queries.shapes import ProjectSummary

WINDOWS = (7, 14, 30, 90)
BLOCKED = 5  # pull requests
JOURNEY = 100  # changes in the table
LEAKERS = 5  # that the page of a project shows


@require_GET
def projects(request: HttpRequest) -> HttpResponse:
    """List the projects that this person may read, those in trouble first."""
    found = list(readable_projects(request.user))
    summaries = runs.summaries_for(project.pk for project in found)
    leaking = open_leakers([project.pk for project in found])
    cards = [
        card(project, summaries.get(project.pk), leakers=leaking.get(project.pk, 0))
        for project in found
    ]
    cards.sort(key=lambda card: card.urgency)
    context = {"cards": cards, "sentence": overall(cards)}
    return render(request, "dashboard/projects.html", context)


@require_GET
@plot_page
@project_page()
def project(request: HttpRequest, access: Access) -> HttpResponse:
    """Say how the default branch is, and show its trends."""
    known = access.project
    window = number(
        request.GET, "window", default=options.read(known).window_days, low=1, high=365
    )
    summary = runs.summaries_for([known.pk])[known.pk]
    context = {
        "access": access,
        "tab": "project",
        "summary": summary,
        "newest": runs.list_runs(known.pk, limit=8).items,
        "worst": cases.worst_cases(known.pk, by="failed_runs", window=window, limit=8),
        "leakers": list_leakers(known.pk, state="open", limit=LEAKERS).items,
        "leaking": open_leakers([known.pk]).get(known.pk, 0),
        "window": window,
        "windows": WINDOWS,
        "command": upload_command(request, known),
        "bad_days": bad_days(known.pk, since=timezone.now() - timedelta(days=7)),
        **_pulls(access, window),
        **_last_run(summary),
        **_trends(access, window, branch_class=summary.branch_class),
    }
    return render(request, "dashboard/project.html", context)


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def new_project(request: HttpRequest) -> HttpResponse:
    """Make a project; its token and secret are shown once, in the answer."""
    if not request.user.is_staff:
        raise PermissionDenied("Only staff can make projects. Ask an operator.")
    form = NewProjectForm(request.POST or None)
    context: dict[str, object] = {"form": form}
    if request.method == "POST" and form.is_valid():
        actor = request.user.get_username()
        try:
            made = create_project(form.cleaned_data["slug"], actor=actor)
        except ProjectError as error:
            form.add_error("slug", str(error))
        else:
            join_as_admin(made.project, request.user)
            command = upload_command(request, made.project, token=made.token)
            context |= {"made": made, "command": command}
    return render(request, "dashboard/new_project.html", context)


def _last_run(summary: ProjectSummary) -> dict[str, object]:
    """Return the run that speaks for the project, and what it changed."""
    last = summary.last_default_run or summary.last_run
    if last is None:
        return {"last": None}
    detail = runs.get_run(last.id)
    previous = detail.previous_run if detail else None
    return {
        "last": last,
        "detail": detail,
        "last_failing": last.counts.failed + last.counts.errors,
        "longest": longest_part(detail),
        "comparison": runs.compare(last.id, previous) if previous else None,
    }


def _pulls(access: Access, window: int) -> dict[str, object]:
    """Return what the default branch went through, and who is blocked now."""
    since = timezone.now() - timedelta(days=window)
    found = pulls.journey(access.project, since=since)
    blocked = pulls.summaries(
        access.project.pk, state="open", word="blocked", limit=BLOCKED
    )
    return {
        "journey": found,
        "journey_rows": found.changes[::-1][:JOURNEY],
        "journey_plot": charts.journey(found.points),
        "blocked": blocked.items,
        "more_blocked": blocked.next is not None,
    }


def _trends(access: Access, window: int, *, branch_class: str) -> dict[str, object]:
    """Return the trends of a window as figures, and the points for their tables."""
    today = today_in(access.project.zone, timezone.now())
    found = {
        metric: trends.trend(
            access.project.pk,
            metric,
            window_days=window,
            branch_class=branch_class,
            today=today,
        )
        for metric in (
            trends.Metric.PASS_RATE,
            trends.Metric.FAILED_TESTS,
            trends.Metric.DURATION_P50,
            trends.Metric.DURATION_P95,
        )
    }
    rate, failing, p50, p95 = found.values()
    return {
        "rate": rate,
        "pass_rate": whole(rate.points),
        "last_p50": last_value(p50.points),
        "last_p95": last_value(p95.points),
        "health_plot": charts.health(failing.points, rate.points),
        "health_rows": list(zip(failing.points, rate.points, strict=True))[::-1],
        "duration_plot": charts.durations_by_day(p50.points, p95.points),
        "duration_rows": list(zip(p50.points, p95.points, strict=True))[::-1],
    }
