from __future__ import annotations

from django.urls import path

from ingest import views

urlpatterns = [
    path("webhooks/<path:path>", views.receive_delivery, name="receive-delivery"),
    path("api/v1/uploads", views.receive, name="receive-upload"),
    path("api/v1/uploads/", views.receive),  # as some write it; a POST has no redirect
]
