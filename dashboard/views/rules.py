"""The thresholds of a project, with what changing them would do before it is done."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard.access import project_page
from projects import administration, options
from projects.models import Role
from review.rules import previews

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access


def _days(label: str, *, most: int = 3650) -> forms.IntegerField:
    return forms.IntegerField(min_value=1, max_value=most, label=label)


class RulesForm(forms.Form):
    """The thresholds that can be changed."""

    flaky_least_percent = forms.FloatField(
        min_value=0,
        max_value=100,
        label="The review lists a test as flaky from this flake rate on, in percent",
    )
    window_days = _days("Window of the pages, in days", most=365)
    due_p0_days = _days("A P0 is overdue after, in days")
    due_p1_days = _days("A P1 is overdue after, in days")
    due_p2_days = _days("A P2 is overdue after, in days")
    due_p3_days = _days("A P3 is overdue after, in days")


@require_http_methods(["GET", "POST"])
@project_page(needs=Role.ADMIN)
def rules(request: HttpRequest, access: Access) -> HttpResponse:
    """Show the thresholds, try others, and save them."""
    held = options.read(access.project)
    form = RulesForm(request.POST or None, initial=asdict(held))
    wanted = held
    if request.method == "POST" and form.is_valid():
        wanted = replace(held, **form.cleaned_data)
        if "save" in request.POST:
            now = administration.read_settings(access.project)
            changed = administration.save_settings(
                access.project,
                replace(now, options=wanted),
                actor=request.user.get_username(),
            )
            messages.success(request, "Saved." if changed else "Nothing was changed.")
            return redirect("rules", access.project.owner, access.project.name)
    told = {
        one.name: one for one in previews(access.project, wanted, now=timezone.now())
    }
    context = {
        "access": access,
        "tab": "settings",
        "section": "rules",
        "form": form,
        "rows": [(field, told[field.name]) for field in form],
        "tried": wanted != held,
    }
    return render(request, "dashboard/settings_rules.html", context)
