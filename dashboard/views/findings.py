"""Findings: the ranked list, one finding, decisions, and the exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import project_page
from dashboard.commands import review_command
from dashboard.decisions import STATES, DecisionForm
from dashboard.exports import as_csv
from dashboard.filters import choice, number, text
from dashboard.finding_filters import read_asked
from dashboard.fragments import render_part
from dashboard.paging import SIZE, cut
from findings import actions, queries
from findings.links import links_of
from findings.trails import trail_of
from formats.reviews.life import Undecidable
from projects.models import Role

if TYPE_CHECKING:
    from django.http import HttpRequest

    from projects.access import Access

REVIEWS = 5  # that the list shows
SARIF = "application/sarif+json"


@require_GET
@project_page()
def finding_list(request: HttpRequest, access: Access) -> HttpResponse:
    """List findings in clusters, the most pressing first."""
    asked, now = read_asked(request.GET), timezone.now()
    project = access.project
    page = number(request.GET, "page", default=1, low=1, high=100_000)
    start = (page - 1) * SIZE
    clusters = queries.list_clusters(
        project.pk, asked.filters, now=now, start=start, size=SIZE + 1
    )
    context = {
        "access": access,
        "tab": "findings",
        "asked": asked,
        "totals": queries.count(project.pk, now=now),
        "page": cut(clusters, page),
        "reviews": queries.list_reviews(
            project.pk, pr=asked.filters.pr, limit=REVIEWS
        ).items,
        "choices": STATES,
        "command": review_command(request, project),
    }
    return render_part(request, "dashboard/findings.html", "results", context)


@require_GET
@project_page()
def finding(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Show a finding: why it ranks as it does, its cluster and its history."""
    now = timezone.now()
    row = queries.get_finding(access.project.pk, pk, now=now)
    if row is None:
        raise Http404
    context = {
        "access": access,
        "tab": "findings",
        "finding": row,
        "cluster": queries.get_cluster(access.project.pk, row.cluster or 0, now=now),
        "trail": trail_of(pk),
        "links": links_of(access.project.pk, [row])[pk],
        "choices": STATES,
    }
    return render(request, "dashboard/finding.html", context)


@require_POST
@project_page(needs=Role.TRIAGER)
def decide(request: HttpRequest, access: Access) -> HttpResponse:
    """Decide on the chosen findings, all of them or none."""
    form = DecisionForm(request.POST, project=access.project)
    act = choice(request.POST, "act", ("decide", "split", "join"), default="decide")
    if not form.is_valid():
        fault = "Choose at least one finding." if "finding" in form.errors else ""
        messages.error(request, f"{fault or 'A value makes no sense.'} {_UNCHANGED}")
        return _back(request, access)
    try:
        done = _act(act, form, access, by=request.user.get_username())
    except (Undecidable, actions.Contended) as error:
        reason = str(error)
        messages.error(request, f"{reason[:1].upper()}{reason[1:]}. {_UNCHANGED}")
    else:
        messages.success(request, done)
    return _back(request, access)


@require_GET
@project_page()
def export(request: HttpRequest, access: Access) -> HttpResponse:
    """Give the findings that the filters ask for as a file."""
    asked, now = read_asked(request.GET), timezone.now()
    project = access.project
    name = f"{project.owner}-{project.name}-findings"
    answer: HttpResponse
    if choice(request.GET, "format", ("csv", "sarif"), default="csv") == "sarif":
        log = queries.as_sarif(project.pk, asked.filters, now=now)
        answer = JsonResponse(log, content_type=SARIF)
        name += ".sarif"
    else:
        rows = queries.everything(project.pk, asked.filters, now=now)
        answer = HttpResponse(as_csv(rows), content_type="text/csv; charset=utf-8")
        name += ".csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


_UNCHANGED = "Nothing was changed."


def _act(act: str, form: DecisionForm, access: Access, *, by: str) -> str:
    """Do what was asked; return what was done, in a sentence."""
    ids, wish, now = form.cleaned_data["finding"], form.wish(), timezone.now()
    reason = wish.reason
    if act == "split":
        actions.split(access.project, ids, by=by, now=now, reason=reason)
        return "They stand apart from their cluster, also after the next review."
    if act == "join":
        actions.join(access.project, ids, by=by, now=now, reason=reason)
        return "They are one cluster, also after the next review."
    changed = actions.apply(access.project, ids, wish, by=by, now=now)
    if not changed:
        return "Nothing was to be changed."
    return f"{changed} finding{'s' if changed != 1 else ''} changed."


def _back(request: HttpRequest, access: Access) -> HttpResponse:
    """Return to the page that the decision was made on, and nowhere else."""
    target = text(request.POST, "next")
    if url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        return redirect(target)
    return redirect("findings", access.project.owner, access.project.name)
