"""Pull requests: the list, one of them, what people set by hand, who waits for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import project_page
from dashboard.commands import pull_command
from dashboard.filters import choice, number, text
from dashboard.fragments import render_part
from dashboard.pull_filters import read_filters
from dashboard.pull_graph import draw
from dashboard.pull_words import STATES, WORDS, advice_of, groups_of, ranked
from formats.phrases import Kind
from projects.models import Role
from pulls import actions, queries
from pulls.models import State
from results.queries import runs
from results.queries.shapes import CursorError
from results.queries.tested import runs_by_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponse

    from dashboard.pull_filters import PullFilters
    from projects.access import Access
    from pulls.shapes import Page, PullRow, PullSummary, Told
    from results.queries.shapes import Comparison

LISTED = 50


@require_GET
@project_page()
def pull_list(request: HttpRequest, access: Access) -> HttpResponse:
    """List pull requests with their verdicts, the newest first."""
    filters = read_filters(request.GET)
    context = {
        "access": access,
        "tab": "pulls",
        "filters": filters,
        "states": STATES,
        "words": WORDS,
        "counts": queries.count_pulls(access.project.pk),
        "page": _page(access, filters, text(request.GET, "cursor") or None),
        "command": pull_command(request, access.project),
    }
    return render_part(request, "dashboard/pulls.html", "results", context)


@require_GET
@project_page()
def pull(request: HttpRequest, access: Access, n: int) -> HttpResponse:
    """Say whose its failures are, what it waits for, and what to do."""
    row = _pull_or_404(access, n)
    told = row.told
    graph = queries.graph(access.project.pk)
    context = {
        "access": access,
        "tab": "pulls",
        "pull": row,
        "told": told,
        "groups": groups_of(told) if told else [],
        "advice": advice_of(told) if told else [],
        "findings": ranked(told.findings) if told else [],
        "nodes": {node.number: node for node in graph.nodes},
        "comparison": _comparison(told) if told else None,
        "states": STATES,
        "command": pull_command(request, access.project, number=n),
    }
    return render(request, "dashboard/pull.html", context)


@require_POST
@project_page(needs=Role.TRIAGER)
def change(request: HttpRequest, access: Access, n: int) -> HttpResponse:
    """Set a state, add an edge or take one away."""
    _pull_or_404(access, n)
    by = request.user.get_username()
    try:
        done = _act(access, n, request.POST, by=by)
    except actions.ActionError as error:
        messages.error(request, f"{error} Nothing was changed.")
    else:
        if done:
            messages.success(request, "Stored; the verdict is made anew.")
        else:
            messages.error(request, "A value makes no sense. Nothing was changed.")
    return redirect("pull", access.project.owner, access.project.name, n)


@require_GET
@project_page()
def dependencies(request: HttpRequest, access: Access) -> HttpResponse:
    """List who waits for whom, with the drawing beside."""
    graph = queries.graph(access.project.pk)
    wanted = choice(request.GET, "show", ("open", "all"), default="open")
    shown = queries.open_part(graph) if wanted == "open" else graph
    context = {
        "access": access,
        "tab": "pulls",
        "graph": shown,
        "any": bool(graph.edges),
        "show": wanted,
        "nodes": {node.number: node for node in graph.nodes},
        "drawing": draw(shown),
        "command": pull_command(request, access.project),
    }
    return render(request, "dashboard/dependencies.html", context)


def _act(access: Access, n: int, sent: Mapping[str, str], *, by: str) -> bool:
    """Do what a form asks for; False where it asks for nothing that there is."""
    act = text(sent, "act")
    other = number(sent, "to", default=0)
    kind = Kind(choice(sent, "kind", list(Kind), default=Kind.BLOCKING))
    state = choice(sent, "state", State.values)
    if act == "state" and state:
        actions.set_state(access.project, n, State(state), by=by)
    elif act == "add":
        actions.add_edge(access.project, n, other, by=by, kind=kind)
    elif act == "remove":
        actions.remove_edge(access.project, n, other, by=by, kind=kind)
    else:
        return False
    return True


def _page(
    access: Access, filters: PullFilters, cursor: str | None
) -> Page[PullSummary]:
    known = filters.known()
    project = access.project.pk
    try:
        return queries.summaries(project, cursor=cursor, limit=LISTED, **known)
    except CursorError:
        return queries.summaries(project, limit=LISTED, **known)


def _pull_or_404(access: Access, n: int) -> PullRow:
    row = queries.get_pull(access.project.pk, n) if 0 < n < 2**31 else None
    if row is None:
        raise Http404
    return row


def _comparison(told: Told) -> Comparison | None:
    """Compare the first run of the head whose environment has one of the base."""
    if not told.runs or not told.base_runs:
        return None
    bases = {
        str(sorted(one.environment.items())): one for one in runs_by_id(told.base_runs)
    }
    for run in told.runs:
        base = bases.get(str(sorted(run.environment.items())))
        if base is not None and base.id != run.id:
            return runs.compare(run.id, base.id)
    return None
