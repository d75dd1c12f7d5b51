"""The way out of mails, without signing in: the link itself is the proof.

A GET only asks, since mail scanners follow links. A mail program's own button sends
`List-Unsubscribe=One-Click` by POST, without a cookie, and so without a CSRF token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import Http404
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from notify import endpoints

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@csrf_exempt
@never_cache
@require_http_methods(["GET", "POST"])
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Ask, then stop the mails of one subscription."""
    found = endpoints.by_unsubscribe_token(token)
    if found is None:
        raise Http404
    done = request.method == "POST"
    address = found.url.removeprefix("mailto:")
    if done:
        endpoints.disable(
            found, reason="unsubscribed", now=timezone.now(), actor=address
        )
    context = {"done": done, "address": address, "project": found.project.slug}
    return render(request, "dashboard/unsubscribe.html", context)
