"""Effects: what agents' runs may have changed, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views.decorators.http import require_GET

from dashboard.access import project_page
from dashboard.commands import effects_command
from dashboard.filters import choice, number, text
from dashboard.fragments import render_part
from findings import effect_queries
from findings.effect_queries import EffectFilters
from formats.effects.judgement import Verdict
from results.queries import runs
from results.queries.shapes import CursorError

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from findings.models import Effect
    from findings.shapes import Page
    from projects.access import Access

VERDICTS = tuple(verdict.value for verdict in Verdict)


@require_GET
@project_page()
def effect_list(request: HttpRequest, access: Access) -> HttpResponse:
    """List the effects of a run, or of all, with how they were judged."""
    run_id = number(request.GET, "run", default=0, high=2**63 - 1)
    run = runs.get_run(run_id) if run_id else None
    if run is not None and run.row.project_id != access.project.pk:
        run = None
    filters = EffectFilters(
        run=run_id or None,
        verdict=choice(request.GET, "verdict", VERDICTS),
        external=bool(text(request.GET, "external")),
        effect=text(request.GET, "effect"),
    )
    everything = EffectFilters(run=run_id or None)
    context = {
        "access": access,
        "tab": "effects",
        "run": run,
        "run_id": run_id,
        "filters": filters,
        "verdicts": VERDICTS,
        "totals": effect_queries.totals(access.project.pk, everything),
        "page": _page(access, filters, text(request.GET, "cursor") or None),
        "ledgers": effect_queries.list_ledgers(access.project.pk),
        "command": effects_command(request, access.project),
    }
    return render_part(request, "dashboard/effects.html", "results", context)


def _page(access: Access, filters: EffectFilters, cursor: str | None) -> Page[Effect]:
    project = access.project.pk
    try:
        return effect_queries.list_effects(project, filters, cursor=cursor, limit=50)
    except CursorError:
        return effect_queries.list_effects(project, filters, limit=50)
