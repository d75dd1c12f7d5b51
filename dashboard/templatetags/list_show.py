"""What stands below every list: its saved views, and itself as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import template

from dashboard.list_exports import EXPORTED
from review.saved import clean, views_of

if TYPE_CHECKING:
    from django.template import RequestContext

register = template.Library()


@register.inclusion_tag("dashboard/_list_tools.html", takes_context=True)
def list_tools(context: RequestContext, page: str) -> dict[str, Any]:  # Any: a context
    """Show the views of a list, the form that saves one, and the way to CSV."""
    access, request = context["access"], context["request"]
    query = clean(request.GET.urlencode())
    views = views_of(access.project.pk, page)
    return {
        "access": access,
        "request": request,
        "csrf_token": context.get("csrf_token"),
        "list": page,
        "query": query,
        "views": views,
        "shown": next((one for one in views if one.query == query and query), None),
        "exported": page in EXPORTED,
    }
