"""The addresses of the read API, the badge, the metrics and the probes."""

from __future__ import annotations

from django.urls import path, re_path, register_converter

from api import badge, document, health, metrics, parameters, problems

register_converter(parameters.ProjectSlug, "project")
register_converter(parameters.RowNumber, "number")
register_converter(parameters.NodeId, "nodeid")

# The operations' own paths use the converters as soon as they are built.
from api.v1 import api  # noqa: E402

urlpatterns = [
    path("api/v1/openapi.json", document.openapi_json, name="openapi"),
    path("api/v1/docs", document.docs, name="api-docs"),
    path("api/v1/", api.urls),
    re_path(r"^api/", problems.nothing_here),
    path("badge/<project:p>.svg", badge.badge, name="badge"),
    path("metrics", metrics.metrics, name="metrics"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
