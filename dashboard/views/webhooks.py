"""Settings: webhooks out, what was delivered to them, and sending again.

A secret is rendered in the answer to the request that made it, and never again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import project_page
from dashboard.filters import choice, number, text
from dashboard.fragments import render_part
from dashboard.paging import page_of
from dashboard.webhook_forms import AgainForm, WebhookForm
from notify import endpoints, previews, queries, redelivering
from notify.endpoints import SUBSCRIBABLE, BadEndpoint
from notify.models import DeliveryState, Endpoint
from notify.queries import DeliveryFilters
from projects.models import Role

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access


@require_GET
@project_page(needs=Role.ADMIN)
def webhooks(request: HttpRequest, access: Access) -> HttpResponse:
    return _list_page(request, access, WebhookForm())


@require_POST
@never_cache
@project_page(needs=Role.ADMIN)
def make_webhook(request: HttpRequest, access: Access) -> HttpResponse:
    """Make a webhook and show its secret, once."""
    form = WebhookForm(request.POST)
    if not form.is_valid() or not request.user.is_authenticated:
        return _list_page(request, access, form)
    try:
        made = endpoints.create(
            access.project, form.wanted(), actor=_actor(request), user=request.user
        )
    except BadEndpoint as error:
        form.refuse(error)
        return _list_page(request, access, form)
    return _webhook_page(request, access, made.endpoint, plain=made.secret, made=True)


@require_GET
@project_page(needs=Role.ADMIN)
def webhook(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    return _webhook_page(request, access, _webhook_or_404(access, pk))


@require_POST
@project_page(needs=Role.ADMIN)
def change_webhook(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    found = _webhook_or_404(access, pk)
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _webhook_page(request, access, found, form=form)
    try:
        endpoints.change(found, form.said(), actor=_actor(request))
    except BadEndpoint as error:
        form.refuse(error)
        return _webhook_page(request, access, found, form=form)
    messages.success(request, "Saved.")
    return _back(access, pk)


@require_POST
@never_cache
@project_page(needs=Role.ADMIN)
def rotate_webhook(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Make a new secret and show it, once."""
    found = _webhook_or_404(access, pk)
    plain = endpoints.rotate(found, actor=_actor(request))
    return _webhook_page(request, access, found, plain=plain)


@require_POST
@project_page(needs=Role.ADMIN)
def try_webhook(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Send a test event, to this webhook alone."""
    delivery = endpoints.try_out(_webhook_or_404(access, pk), actor=_actor(request))
    messages.success(request, "A test is on its way; reload to see its answer.")
    owner, name = access.project.owner, access.project.name
    return redirect("delivery", owner, name, delivery.pk)


@require_POST
@project_page(needs=Role.ADMIN)
def switch_webhook(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Disable or enable a webhook, or remove it."""
    found = _webhook_or_404(access, pk)
    if "remove" in request.POST:
        endpoints.remove(found, actor=_actor(request))
        messages.success(request, f"{found} is removed.")
        return redirect("webhooks", access.project.owner, access.project.name)
    on = "enable" in request.POST
    endpoints.switch(found, on=on, actor=_actor(request))
    messages.success(request, f"{found} is {'enabled' if on else 'disabled'}.")
    return _back(access, pk)


@require_POST
@project_page(needs=Role.ADMIN)
def send_again(request: HttpRequest, access: Access) -> HttpResponse:
    """Send again all that was told since a time."""
    form = AgainForm(request.POST)
    if form.is_valid():
        done = redelivering.redeliver_since(
            access.project,
            form.since(timezone.now()),
            actor=_actor(request),
            webhook=form.cleaned_data["webhook"],
            state=form.cleaned_data["state"],
        )
        messages.success(request, f"{done} deliveries are sent again.")
    else:
        messages.error(request, "Say since when, in hours.")
    return redirect("deliveries", access.project.owner, access.project.name)


@require_GET
@project_page(needs=Role.ADMIN)
def delivery_list(request: HttpRequest, access: Access) -> HttpResponse:
    """List what was sent and what is still to be, the newest first."""
    asked = DeliveryFilters(
        webhook=number(request.GET, "webhook", default=0, low=0) or None,
        state=choice(request.GET, "state", DeliveryState.values),
        event=text(request.GET, "event"),
    )
    rows = queries.deliveries_of(access.project.pk, asked)
    context = {
        **_common(access, section="deliveries"),
        "asked": asked,
        "states": DeliveryState.values,
        "types": [*SUBSCRIBABLE, "digest", "webhook.test"],
        "webhooks": list(Endpoint.objects.filter(project=access.project)),
        "page": page_of(rows, number(request.GET, "page", default=1, low=1)),
        "again": AgainForm(initial={"hours": 24}),
    }
    return render_part(request, "dashboard/deliveries.html", "results", context)


@require_GET
@project_page(needs=Role.ADMIN)
def delivery(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Show one delivery with its requests and answers."""
    found = queries.get_delivery(pk)
    if found is None or found.endpoint.project_id != access.project.pk:
        raise Http404
    context = {
        **_common(access, section="deliveries"),
        "delivery": found,
        "attempts": queries.attempts_of(found),
        "preview": previews.of_delivery(found),
    }
    return render(request, "dashboard/delivery.html", context)


@require_POST
@project_page(needs=Role.ADMIN)
def redeliver(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    found = queries.get_delivery(pk)
    if found is None or found.endpoint.project_id != access.project.pk:
        raise Http404
    if redelivering.redeliver(found, actor=_actor(request)):
        messages.success(request, "It is sent again, with the same id.")
    else:
        messages.error(request, "It waits already, or its webhook is disabled.")
    return redirect("delivery", access.project.owner, access.project.name, pk)


def _webhook_or_404(access: Access, pk: int) -> Endpoint:
    found = queries.get_endpoint(access.project.pk, pk)
    if found is None:
        raise Http404
    return found


def _list_page(request: HttpRequest, access: Access, form: WebhookForm) -> HttpResponse:
    rows = list(queries.endpoints_of(access.project.pk))
    context = {**_common(access, section="webhooks"), "form": form, "webhooks": rows}
    return render(request, "dashboard/settings_webhooks.html", context)


def _webhook_page(
    request: HttpRequest,
    access: Access,
    found: Endpoint,
    *,
    plain: str = "",
    made: bool = False,
    form: WebhookForm | None = None,
) -> HttpResponse:
    kind = text(request.GET, "preview") or "leaker.new"
    recent = queries.deliveries_of(access.project.pk, DeliveryFilters(webhook=found.pk))
    context = {
        **_common(access, section="webhooks"),
        "webhook": found,
        "plain": plain,
        "made": made,
        "form": form or WebhookForm.of(found),
        "secrets": queries.secrets_of(found, now=timezone.now()),
        "deliveries": list(recent[:20]),
        "types": SUBSCRIBABLE,
        "kind": kind,
        "preview": previews.of_type(kind, found),
    }
    return render(request, "dashboard/settings_webhook.html", context)


def _back(access: Access, pk: int) -> HttpResponse:
    return redirect("webhook", access.project.owner, access.project.name, pk)


def _common(access: Access, *, section: str) -> dict[str, object]:
    return {"access": access, "tab": "settings", "section": section}


def _actor(request: HttpRequest) -> str:
    return request.user.get_username()
