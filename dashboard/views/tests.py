"""Tests: the list and one test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import Http404
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from dashboard import charts
from dashboard.access import project_page
from dashboard.beliefs import beliefs_of
from dashboard.commands import upload_command
from dashboard.filters import choice, number, text
from dashboard.fragments import render_part
from dashboard.histories import tallies
from dashboard.plots import plot_page
from dashboard.standing import standing_of
from dashboard.standing_forms import LIFTS
from projects import options
from results.queries import cases
from results.queries.leaks import list_leaks
from results.queries.shapes import CaseRow, CursorError, HistoryCell, Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse, QueryDict

    from projects.access import Access

WINDOWS = (7, 14, 30, 90)
SORTS = {
    "": "Name",
    "failed_runs": "Failed runs",
    "fail_rate": "Fail rate",
    "flake_rate": "Flake rate",
    "total_s": "Time spent",
}
_CELLS = 100
_LEAKS = 20


@require_GET
@project_page()
def test_list(request: HttpRequest, access: Access) -> HttpResponse:
    """List tests by name, or the worst of them by what is asked."""
    sort = choice(request.GET, "sort", SORTS)
    window = _window(request, access)
    context = {
        "access": access,
        "tab": "tests",
        "sort": sort,
        "sorts": SORTS,
        "asked": text(request.GET, "q"),
        "file": text(request.GET, "file"),
        "state": choice(request.GET, "state", ("active", "gone")),
        "window": window,
        "windows": WINDOWS,
        "tally": cases.tally(access.project.pk, window=window),
        "page": _page_of_tests(access, request.GET, sort, window=window),
        "command": upload_command(request, access.project),
        "lifts": LIFTS,
    }
    return render_part(request, "dashboard/tests.html", "results", context)


@require_GET
@plot_page
@project_page()
def test(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Show a test's history, durations and failures."""
    window = _window(request, access)
    case = cases.get_case(pk, window=window)
    if case is None or case.project_id != access.project.pk:
        raise Http404
    page = _history(pk, text(request.GET, "cursor") or None)
    owner, name = access.project.owner, access.project.name
    shown = {cell.outcome for cell in page.items}
    urls = [reverse("run", args=[owner, name, cell.run]) for cell in page.items]
    context = {
        "access": access,
        "tab": "tests",
        "case": case,
        "window": window,
        "page": page,
        "newest": page.items[0] if page.items and "cursor" not in request.GET else None,
        "shows_xfailed": "xfailed" in shown,
        "shows_xpassed": "xpassed" in shown,
        "branches": tallies(page.items, by="branch"),
        "environments": tallies(page.items, by="environment"),
        "failures": cases.failures(pk),
        "leaks": list_leaks(access.project.pk, test=pk, limit=_LEAKS),
        "plot": charts.durations_of_test(page.items, urls),
        **beliefs_of(pk, page.items),
        **standing_of(access.project, case),
    }
    return render(request, "dashboard/test.html", context)


def _window(request: HttpRequest, access: Access) -> int:
    default = options.read(access.project).window_days
    return number(request.GET, "window", default=default, low=1, high=365)


def _history(pk: int, cursor: str | None) -> Page[HistoryCell]:
    try:
        return cases.history(pk, limit=_CELLS, before=cursor)
    except CursorError:
        return cases.history(pk, limit=_CELLS)


def _page_of_tests(
    access: Access, query: QueryDict, sort: str, *, window: int
) -> Page[CaseRow]:
    known: dict[str, Any] = {  # Any: arguments of the lists
        "q": text(query, "q") or None,
        "file": text(query, "file") or None,
        "state": choice(query, "state", ("active", "gone")) or None,
        "window": window,
    }
    listed: Callable[..., Page[CaseRow]] = cases.list_cases
    if sort:
        listed = cases.rank_cases
        known["by"] = sort
    else:
        known["by_name"] = True
    try:
        cursor = text(query, "cursor") or None
        return listed(access.project.pk, cursor=cursor, **known)
    except CursorError:
        return listed(access.project.pk, **known)
