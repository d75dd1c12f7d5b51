"""Leakers: the list, one leaker, what people decide of it, and the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from analysis.cost import formula
from dashboard import charts
from dashboard.access import project_page
from dashboard.commands import gate_command
from dashboard.filters import choice, number, text
from dashboard.fragments import render_part
from dashboard.leak_maps import lay_out
from dashboard.leak_words import SOURCES, STATES, worth_a_look
from dashboard.leaker_decisions import CHOICES, LeakerDecisionForm
from dashboard.leaker_filters import ANY, read_filters
from dashboard.leaker_story import fix_seen, story_of
from dashboard.plots import plot_page
from leaks import queries, totals
from leaks.decisions import Overtaken, Undecidable
from leaks.decisions import decide as store
from leaks.recipes import recipes_for
from projects import options
from projects.models import Role
from results.queries import cases
from results.queries.leaks import list_leaks
from results.queries.shapes import CursorError

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from dashboard.leaker_filters import LeakerFilters
    from leaks.shapes import LeakerRow
    from projects.access import Access
    from results.queries.shapes import HistoryCell, Page

MAPPED = 100  # leakers that the map looks at
GATED = 5  # of a gate's words that the page of a leaker shows
SINCE = 200  # runs since a fix that are looked at
MAP_STATES = {"open": "open", ANY: "open, muted and fixed", "suspected": "suspected"}


@require_GET
@project_page()
def leaker_list(request: HttpRequest, access: Access) -> HttpResponse:
    """List leakers, the dearest first, by the filters of the query string."""
    filters = read_filters(request.GET)
    context = {
        "access": access,
        "tab": "leakers",
        "filters": filters,
        "states": STATES,
        "sources": SOURCES,
        "totals": totals.leaker_totals(access.project.pk),
        "page": _page(access, filters, text(request.GET, "cursor") or None),
        "window": options.read(access.project).window_days,
        "command": gate_command(request, access.project),
    }
    return render_part(request, "dashboard/leakers.html", "results", context)


@require_GET
@project_page()
def leaker(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Show what a leaker leaves behind, whom it breaks, and how sure that is."""
    row = _leaker_or_404(access, pk)
    context = {
        "access": access,
        "tab": "leakers",
        "leaker": row,
        "victims": worth_a_look(row.victims),
        "leaks": list_leaks(access.project.pk, test=row.test, limit=GATED),
        "recipes": recipes_for(row.kinds),
        "story": story_of(row, totals.decisions_of(pk), totals.proofs_of(row.test)),
        "fix": fix_seen(row, _cells(row)),
        "formula": formula(),
        "command": gate_command(request, access.project),
        "choices": CHOICES,
        "window": options.read(access.project).window_days,
    }
    return render(request, "dashboard/leaker.html", context)


@require_POST
@project_page(needs=Role.TRIAGER)
def decide(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Take a decision on a leaker, all of it or nothing."""
    _leaker_or_404(access, pk)
    form = LeakerDecisionForm(request.POST)
    by, now = request.user.get_username(), timezone.now()
    if not form.is_valid():
        messages.error(request, "A value makes no sense. Nothing was changed.")
        return _back(access, pk)
    seen = form.cleaned_data["seen"]
    try:
        done = store(access.project, pk, form.wish(), seen=seen, by=by, now=now)
    except Undecidable as error:
        reason = str(error)
        said = f"{reason[:1].upper()}{reason[1:]}. Nothing was changed."
        messages.error(request, said)
    except Overtaken as error:
        said = f"It is {STATES.get(str(error), str(error))} by now: somebody else, or a new run, was first. Nothing was changed."
        messages.error(request, said)
    else:
        messages.success(request, "Stored." if done else "Nothing was to be changed.")
    return _back(access, pk)


@require_GET
@plot_page
@project_page()
def leak_map(request: HttpRequest, access: Access) -> HttpResponse:
    """Draw who breaks whom; a chosen pair shows its evidence."""
    state = choice(request.GET, "state", MAP_STATES, default="open")
    rows = queries.list_leakers(
        access.project.pk, state=None if state == ANY else state, limit=MAPPED
    )
    drawn = lay_out(rows.items)
    here = reverse("leak-map", args=[access.project.owner, access.project.name])
    links = [
        f"{here}?state={state}&leaker={cell.leaker.id}&victim={cell.pair.test}#evidence"
        for cell in drawn.cells
    ]
    context = {
        "access": access,
        "tab": "leakers",
        "state": state,
        "states": MAP_STATES,
        "map": drawn,
        "cells": list(zip(drawn.cells, links, strict=True)),
        "more": rows.next is not None,
        "chosen": drawn.selected(
            number(request.GET, "leaker", default=0, high=2**62),
            number(request.GET, "victim", default=0, high=2**62),
        ),
        "plot": charts.leak_map(drawn, links),
    }
    return render(request, "dashboard/leak_map.html", context)


def _page(
    access: Access, filters: LeakerFilters, cursor: str | None
) -> Page[LeakerRow]:
    known = filters.known()
    try:
        return queries.list_leakers(access.project.pk, cursor=cursor, **known)
    except CursorError:
        return queries.list_leakers(access.project.pk, **known)


def _leaker_or_404(access: Access, pk: int) -> LeakerRow:
    row = queries.get_leaker(pk)
    if row is None or row.project_id != access.project.pk:
        raise Http404
    return row


def _cells(row: LeakerRow) -> list[HistoryCell]:
    """Return the newest results of the surest victim, where a fix is to be proven."""
    if row.fixed_at is None or not row.claimed:
        return []
    return cases.history(row.claimed[0].test, limit=SINCE).items


def _back(access: Access, pk: int) -> HttpResponse:
    return redirect("leaker", access.project.owner, access.project.name, pk)
