"""Runs: the list, one run, its results, its failures, and what differs from another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import project_page
from dashboard.commands import upload_command
from dashboard.filters import choice, number, text
from dashboard.fragments import render_part
from dashboard.health import runs_in_short
from dashboard.lanes import lanes_of
from dashboard.run_causes import causes_of_run
from dashboard.run_filters import RunFilters, read_filters
from dashboard.sparklines import stacked
from findings import effect_queries
from findings.effect_queries import EffectFilters
from projects.models import Role
from results import exclusion
from results.queries import runs
from results.queries.leaks import list_leaks
from results.queries.shapes import CursorError, Page, RunDetail, RunRow

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access

LEAKS = 50  # on a run's page
SHOWN = {
    "failing": "failed or error",
    "failed": "failed",
    "error": "error",
    "flaky": "flaky",
    "skipped": "skipped",
    "xfailed": "expected failure",
    "xpassed": "unexpected pass",
    "passed": "passed",
}


@require_GET
@project_page()
def run_list(request: HttpRequest, access: Access) -> HttpResponse:
    """List runs, the newest first, by the filters of the query string."""
    filters = read_filters(request.GET, zone=access.project.zone)
    page = _page_of_runs(access, filters, text(request.GET, "cursor") or None)
    context = {
        "access": access,
        "tab": "runs",
        "filters": filters,
        "page": page,
        "sentence": runs_in_short(page.items),
        "command": upload_command(request, access.project),
    }
    return render_part(request, "dashboard/runs.html", "results", context)


@require_GET
@project_page()
def run(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Say how a run went, what failed together, and what is missing."""
    detail = _run_or_404(access, pk)
    counts = detail.row.counts
    kinds = ("failed", "errors", "passed", "xpassed", "xfailed", "skipped")
    failing = counts.failed + counts.errors
    previous = detail.previous_run if failing else None
    others = runs.list_runs(access.project.pk, limit=30).items
    groups = runs.failure_groups(pk)
    context = {
        "access": access,
        "tab": "runs",
        "run": detail.row,
        "detail": detail,
        "comparison": runs.compare(pk, previous) if previous else None,
        "bar": stacked({kind: getattr(counts, kind) for kind in kinds}),
        "failing": failing,
        "groups": groups,
        "causes": causes_of_run(detail.row, groups),
        "leaks": list_leaks(access.project.pk, run=pk, limit=LEAKS),
        "effects": effect_queries.totals(access.project.pk, EffectFilters(run=pk)),
        "lanes": lanes_of(runs.timeline(pk)),
        "others": [other for other in others if other.id != pk],
    }
    return render(request, "dashboard/run.html", context)


@require_GET
@project_page()
def results(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """List a run's results by outcome and by part of the node id."""
    detail = _run_or_404(access, pk)
    outcome = choice(request.GET, "outcome", SHOWN)
    asked = text(request.GET, "q")
    cursor = text(request.GET, "cursor") or None
    try:
        page = runs.list_results(
            pk, outcome=outcome or None, q=asked or None, cursor=cursor
        )
    except CursorError:
        page = runs.list_results(pk, outcome=outcome or None, q=asked or None)
    context = {
        "access": access,
        "tab": "runs",
        "run": detail.row,
        "page": page,
        "outcome": outcome,
        "asked": asked,
        "shown": SHOWN,
    }
    return render_part(request, "dashboard/results.html", "results", context)


@require_GET
@project_page()
def failure(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Show the whole text of one failure."""
    detail = runs.failure_detail(pk)
    if detail is None or detail.project_id != access.project.pk:
        raise Http404
    context = {"access": access, "tab": "runs", "failure": detail}
    return render_part(request, "dashboard/failure.html", "text", context)


@require_GET
@project_page()
def compare(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Say what differs between a run and the one in `with` (default: the last)."""
    detail = _run_or_404(access, pk)
    wanted = number(request.GET, "with", default=detail.previous_run or 0)
    base = runs.get_run(wanted) if wanted else None
    if base is not None and base.row.project_id != access.project.pk:
        base = None
    others = runs.list_runs(access.project.pk, limit=30).items
    context = {
        "access": access,
        "tab": "runs",
        "run": detail.row,
        "base": base,
        "comparison": runs.compare(pk, wanted) if base else None,
        "wanted": wanted,
        "others": [other for other in others if other.id != pk],
    }
    return render(request, "dashboard/compare.html", context)


@require_POST
@project_page(needs=Role.TRIAGER)
def exclude(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Leave a run out of statistics, with a reason; or take it in again."""
    _run_or_404(access, pk)
    by = request.user.get_username()
    reason = text(request.POST, "reason")
    if "include" in request.POST:
        exclusion.include(pk, by=by)
        messages.success(request, "The run counts in statistics again.")
    elif not reason:
        messages.error(request, "Say why the run is left out. Nothing was changed.")
    else:
        exclusion.exclude(pk, by=by, reason=reason)
        messages.success(request, "The run no longer counts in statistics.")
    return redirect("run", access.project.owner, access.project.name, pk)


def _run_or_404(access: Access, pk: int) -> RunDetail:
    detail = runs.get_run(pk)
    if detail is None or detail.row.project_id != access.project.pk:
        raise Http404
    return detail


def _page_of_runs(
    access: Access, filters: RunFilters, cursor: str | None
) -> Page[RunRow]:
    known = filters.known()
    try:
        return runs.list_runs(access.project.pk, cursor=cursor, **known)
    except CursorError:
        return runs.list_runs(access.project.pk, **known)
