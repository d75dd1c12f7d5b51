"""Settings: routes that webhooks deliver to, and what they answered lately.

A secret is rendered in the answer to the request that made it, and never again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import project_page
from dashboard.forms import RouteForm
from dashboard.samples import samples
from ingest import answers
from ingest import routes as routing
from ingest.models import Route
from projects.models import Role

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access


@require_GET
@project_page(needs=Role.ADMIN)
def routes(request: HttpRequest, access: Access) -> HttpResponse:
    return _list_page(request, access, RouteForm())


@require_POST
@never_cache
@project_page(needs=Role.ADMIN)
def make_route(request: HttpRequest, access: Access) -> HttpResponse:
    """Make a route and show its secret, once."""
    form = RouteForm(request.POST)
    if not form.is_valid() or not request.user.is_authenticated:
        return _list_page(request, access, form)
    made = routing.create(
        access.project,
        form.chosen(),
        name=form.cleaned_data["name"],
        actor=request.user.get_username(),
        user=request.user,
        now=timezone.now(),
    )
    return _route_page(request, access, made.route, plain=made.secret)


@require_GET
@project_page(needs=Role.ADMIN)
def route(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    return _route_page(request, access, _route_or_404(access, pk))


@require_POST
@never_cache
@project_page(needs=Role.ADMIN)
def rotate_route(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Make a new secret and show it, once."""
    found = _route_or_404(access, pk)
    actor = request.user.get_username()
    plain = routing.rotate(found, actor=actor, now=timezone.now())
    return _route_page(request, access, found, plain=plain, rotated=True)


@require_POST
@project_page(needs=Role.ADMIN)
def disable_route(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    found = _route_or_404(access, pk)
    routing.disable(found, actor=request.user.get_username(), now=timezone.now())
    messages.success(request, f"The route {found} is disabled.")
    return redirect("routes", access.project.owner, access.project.name)


def _route_or_404(access: Access, pk: int) -> Route:
    mine = Route.objects.select_related("project", "created_by")
    return get_object_or_404(mine, pk=pk, project=access.project)


def _list_page(request: HttpRequest, access: Access, form: RouteForm) -> HttpResponse:
    rows = list(routing.routes_of(access.project))
    live = [row for row in rows if row.disabled_at is None]
    disabled = [row for row in rows if row.disabled_at is not None]
    return _page(request, access, "routes", form=form, live=live, disabled=disabled)


def _route_page(
    request: HttpRequest,
    access: Access,
    found: Route,
    *,
    plain: str = "",
    rotated: bool = False,
) -> HttpResponse:
    url = request.build_absolute_uri(found.address)
    return _page(
        request,
        access,
        "route",
        route=found,
        url=url,
        plain=plain,
        rotated=rotated,
        secrets=routing.secrets_of(found, now=timezone.now()),
        samples=samples(found.kind, url=url, secret=plain),
        deliveries=answers.last_deliveries(found),
    )


def _page(
    request: HttpRequest, access: Access, page: str, **context: object
) -> HttpResponse:
    context |= {"access": access, "tab": "settings", "section": "routes"}
    return render(request, f"dashboard/settings_{page}.html", context)
