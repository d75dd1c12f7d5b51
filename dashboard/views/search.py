"""Search: a project's tests, files, commits, pull requests, runs; or projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from dashboard.access import project_page
from dashboard.filters import text
from projects.access import readable_projects
from pulls.queries import summaries
from results.queries.search import search
from results.queries.shapes import Hit

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access

KINDS = {
    "test": "Tests",
    "file": "Files",
    "run": "Runs",
    "commit": "Commits",
    "pull": "Pull requests",
    "pr": "Runs of a pull request",
}
_LIMIT = 50


@require_GET
@project_page()
def project_search(request: HttpRequest, access: Access) -> HttpResponse:
    """Search one project; hits are grouped by what they are."""
    asked = text(request.GET, "q")
    pulls = _pulls(access.project.pk, asked)
    hits = search(access.project.pk, asked, limit=_LIMIT) if asked else []
    known = {hit.id for hit in pulls}
    hits = [hit for hit in hits if hit.kind != "pr" or hit.id not in known]
    hits += pulls
    groups = [
        (kind, title, [hit for hit in hits if hit.kind == kind])
        for kind, title in KINDS.items()
    ]
    context = {
        "access": access,
        "tab": "search",
        "search_text": asked,
        "groups": [group for group in groups if group[2]],
        "total": len(hits),
        "limit": _LIMIT,
    }
    return render(request, "dashboard/search.html", context)


@require_GET
def everywhere(request: HttpRequest) -> HttpResponse:
    """Find projects by name; with one project, search in it."""
    asked = text(request.GET, "q")
    readable = readable_projects(request.user)
    first = list(readable[:2])
    if len(first) == 1 and asked:
        [only] = first
        query = request.GET.urlencode()
        response = redirect("search", only.owner, only.name)
        response["Location"] += f"?{query}"
        return response
    owner, _, name = asked.partition("/")
    fits = Q(owner__icontains=asked) | Q(name__icontains=asked)
    if name:
        fits |= Q(owner__iexact=owner, name__icontains=name)
    found = (
        list(readable.filter(fits | Q(title__icontains=asked))[:50]) if asked else []
    )
    context = {"search_text": asked, "found": found}
    return render(request, "dashboard/search_projects.html", context)


def _pulls(project_id: int, asked: str) -> list[Hit]:
    """Find pull requests by number, title or author."""
    if not asked:
        return []
    found = summaries(project_id, q=asked, limit=_LIMIT).items
    return [Hit("pull", f"#{one.number}", one.number, one.title) for one in found]
