"""The OpenAPI 3.1 document, and a page that shows it.

Guarantees: every address of the API is in it, with every status that it answers; the
page is made here from the document and needs no script and no outside asset.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from api import extra_paths
from api.reading import sections
from api.shapes import ProblemShape
from api.v1 import api

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

PREFIX = "/api/v1/"

type Json = dict[str, Any]  # Any: JSON


@require_safe
def openapi_json(request: HttpRequest) -> HttpResponse:
    """Answer the document; it is open, as it says nothing of any project."""
    return JsonResponse(openapi())


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show the document to a person."""
    whole = openapi()
    return render(
        request, "api/docs.html", {"info": whole["info"], "sections": sections(whole)}
    )


@cache
def openapi() -> Json:
    """Return the document of this version."""
    whole: Json = dict(api.get_openapi_schema(path_prefix=PREFIX))
    whole["servers"] = [{"url": settings.SITE_ROOT}]
    whole["components"]["schemas"]["Problem"] = ProblemShape.model_json_schema(
        mode="serialization", ref_template="#/components/schemas/{model}"
    )
    whole["components"]["securitySchemes"]["SignatureV2"] = extra_paths.SIGNATURE
    _lift_definitions(whole)
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            _add_errors(operation, changes=method != "get", names="{" in path)
    whole["paths"].update(extra_paths.paths())
    return whole


def _lift_definitions(whole: Json) -> None:
    """Move what a schema defines inside itself to where its references point."""
    schemas = whole["components"]["schemas"]
    for schema in list(schemas.values()):
        schemas.update(schema.pop("$defs", {}))


def _add_errors(operation: Json, *, changes: bool, names: bool) -> None:
    statuses = ["401", "403", "422"]
    if names:
        statuses.append("404")
    if changes:
        statuses.append("409")
    own = {str(status): each for status, each in operation["responses"].items()}
    whole = extra_paths.problems(*statuses) | own
    operation["responses"] = dict(sorted(whole.items()))
