from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from dashboard.views.sign_in import administration

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/login/", administration),  # before the one that it replaces
    path("admin/", admin.site.urls),
    path("", include("ingest.urls")),
    path("", include("api.urls")),
    path("", include("dashboard.urls")),
]

handler400 = "dashboard.views.errors.bad_request"
handler403 = "dashboard.views.errors.forbidden"
handler404 = "dashboard.views.errors.not_found"
handler500 = "dashboard.views.errors.server_error"
