"""Settings: the host of the pull requests, where comments and checks are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.access import project_page
from dashboard.webhook_forms import CodeHostForm
from notify import hosts
from notify.endpoints import BadEndpoint
from notify.models import Remark
from projects.models import Role

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access

_SHOWN = 20


@require_http_methods(["GET", "POST"])
@project_page(needs=Role.ADMIN)
def code_host(request: HttpRequest, access: Access) -> HttpResponse:
    """Show and change where pull requests are commented on."""
    found, actor = hosts.of(access.project), request.user.get_username()
    if request.method == "POST" and "remove" in request.POST:
        hosts.remove(access.project, actor=actor)
        messages.success(request, "Nothing more is said there.")
        return redirect("code-host", access.project.owner, access.project.name)
    form = CodeHostForm(request.POST) if request.POST else CodeHostForm.of(found)
    if request.method == "POST" and form.is_valid():
        try:
            hosts.save(access.project, **form.cleaned_data, actor=actor)
        except BadEndpoint as error:
            form.add_error(error.field, error.message)
        else:
            messages.success(request, "Saved.")
            return redirect("code-host", access.project.owner, access.project.name)
    said = Remark.objects.filter(project=access.project).order_by("-told_at", "-number")
    context = {"access": access, "tab": "settings", "section": "code-host"}
    context |= {"host": found, "form": form, "remarks": list(said[:_SHOWN])}
    return render(request, "dashboard/settings_code_host.html", context)
