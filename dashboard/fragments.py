"""A page, or the part of it that htmx asks for, from one template and one address.

Back and forward always get the whole page: caches tell the two apart by `Vary`, and
htmx says when it restores history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


def render_part(
    request: HttpRequest, template: str, part: str, context: dict[str, object]
) -> HttpResponse:
    """Render the named partial for htmx, else the whole template."""
    asked = HtmxDetails(request)
    only_part = bool(asked) and not asked.history_restore_request
    name = f"{template}#{part}" if only_part else template
    response = render(request, name, context)
    patch_vary_headers(response, ["HX-Request"])
    return response
