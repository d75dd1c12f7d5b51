"""What every list has: saved views, and itself as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import project_page
from dashboard.list_exports import EXPORTED, table_of
from formats.tables import write_csv
from projects.models import Role
from review.saved import PAGES, BadView, remove_view, save_view

if TYPE_CHECKING:
    from django.http import HttpRequest

    from projects.access import Access


@require_GET
@project_page()
def export(request: HttpRequest, access: Access, what: str) -> HttpResponse:
    """Give a list as CSV, by the filters of its page."""
    if what not in EXPORTED:
        raise Http404
    project = access.project
    columns, rows = table_of(what, project, request.GET)
    answer = HttpResponse(
        write_csv(columns, rows), content_type="text/csv; charset=utf-8"
    )
    name = f"{project.owner}-{project.name}-{what}.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@require_POST
@project_page(needs=Role.TRIAGER)
def save(request: HttpRequest, access: Access, what: str) -> HttpResponse:
    """Save what the list shows under a name, for all who read the project."""
    if what not in PAGES:
        raise Http404
    query = request.POST.get("query", "")
    by, name = request.user.get_username(), request.POST.get("name", "")
    try:
        row = save_view(access.project, what, name, query, by=by, now=timezone.now())
    except BadView as error:
        said = str(error)
        messages.error(request, f"{said[:1].upper()}{said[1:]}. Nothing was saved.")
        return _list(access, what, "")
    messages.success(request, f"Saved as “{row.name}”.")
    return _list(access, what, row.query)


@require_POST
@project_page(needs=Role.TRIAGER)
def remove(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Remove a saved view."""
    page = remove_view(access.project, pk, by=request.user.get_username())
    if not page:
        raise Http404
    messages.success(request, "The view is removed.")
    return _list(access, page, "")


def _list(access: Access, page: str, query: str) -> HttpResponse:
    where = reverse(page, args=[access.project.owner, access.project.name])
    return redirect(f"{where}?{query}" if query else where)
