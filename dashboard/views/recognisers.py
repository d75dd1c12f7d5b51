"""Settings: how gates' failures are told in reports; a project's own patterns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.access import project_page
from dashboard.recognisers import RecogniserForm, preview
from formats.own_patterns import MOST_PATTERNS
from formats.recognisers import BUILT_IN
from projects import administration, options
from projects.models import Role

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from formats.own_patterns import OwnPattern
    from projects.access import Access


@require_http_methods(["GET", "POST"])
@project_page(needs=Role.ADMIN)
def recognisers(request: HttpRequest, access: Access) -> HttpResponse:
    """List the recognisers; try a new one on a sample, and save what was tried."""
    own = options.read(access.project).recognisers
    form = RecogniserForm(request.POST or None)
    tried = None
    if request.method == "POST" and form.is_valid():
        new = form.recogniser()
        tried = preview(new, form.cleaned_data["sample"])
        refusal = _refusal(new, own)
        if refusal:
            form.add_error("name", refusal)
        elif "save" in request.POST and tried.own:
            _save(request, access, (*own, new))
            messages.success(request, f"{new.name} is used from the next upload on.")
            return redirect("recognisers", access.project.owner, access.project.name)
    context = {
        "access": access,
        "tab": "settings",
        "section": "recognisers",
        "built_in": BUILT_IN,
        "own": own,
        "form": form,
        "tried": tried,
    }
    return render(request, "dashboard/settings_recognisers.html", context)


@require_POST
@project_page(needs=Role.ADMIN)
def remove_recogniser(
    request: HttpRequest, access: Access, recogniser: str
) -> HttpResponse:
    """Take a recogniser out; leaks that it has found stay."""
    own = options.read(access.project).recognisers
    kept = tuple(one for one in own if one.name != recogniser)
    if len(kept) < len(own):
        _save(request, access, kept)
        messages.success(request, f"{recogniser} is no longer used.")
    return redirect("recognisers", access.project.owner, access.project.name)


def _refusal(new: OwnPattern, own: tuple[OwnPattern, ...]) -> str:
    taken = {one.name for one in own} | {one.name for one in BUILT_IN}
    if new.name in taken:
        return f"There is a recogniser {new.name} already."
    return f"There are {MOST_PATTERNS} already." if len(own) >= MOST_PATTERNS else ""


def _save(
    request: HttpRequest, access: Access, recognisers: tuple[OwnPattern, ...]
) -> None:
    now = administration.read_settings(access.project)
    wanted = replace(now, options=replace(now.options, recognisers=recognisers))
    actor = request.user.get_username()
    administration.save_settings(access.project, wanted, actor=actor)
