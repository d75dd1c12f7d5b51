"""Unstable tests: each with its class, its flake rate and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views.decorators.http import require_GET

from dashboard.access import project_page
from dashboard.commands import upload_command
from dashboard.filters import choice, number, text
from dashboard.fragments import render_part
from dashboard.leak_words import CLASSES
from leaks import queries, totals
from projects import options
from results.queries.shapes import CursorError

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from leaks.shapes import UnstableRow
    from projects.access import Access
    from results.queries.shapes import Page

WINDOWS = (7, 14, 30, 90)


@require_GET
@project_page()
def flaky_list(request: HttpRequest, access: Access) -> HttpResponse:
    """List unstable tests, the dearest first."""
    project = access.project
    default = options.read(project).window_days
    window = number(request.GET, "window", default=default, low=1, high=365)
    name, asked = choice(request.GET, "class", CLASSES), text(request.GET, "q")
    found = totals.unstable_totals(project.pk, window=window)
    context = {
        "access": access,
        "tab": "flaky",
        "window": window,
        "windows": WINDOWS,
        "classes": CLASSES,
        "name_asked": name,
        "asked": asked,
        "active": bool(name or asked),
        "totals": found,
        "all": sum(found.values()),
        "page": _page(request, access, window=window, name=name, q=asked),
        "command": upload_command(request, project),
    }
    return render_part(request, "dashboard/flaky.html", "results", context)


def _page(
    request: HttpRequest, access: Access, *, window: int, name: str, q: str
) -> Page[UnstableRow]:
    cursor = text(request.GET, "cursor") or None
    pk, name_or_any, part = access.project.pk, name or None, q or None
    try:
        return queries.list_unstable(
            pk, window=window, name=name_or_any, q=part, cursor=cursor
        )
    except CursorError:
        return queries.list_unstable(pk, window=window, name=name_or_any, q=part)
