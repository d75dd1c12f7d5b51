"""The inbox, to be read."""

from __future__ import annotations

from django.contrib import admin

from ingest.models import Answer, Handover, Route, Turn, Upload
from projects.admin import ReadOnly


@admin.register(Upload)
class UploadAdmin(ReadOnly):
    list_display = ("id", "project", "state", "received_at", "attempts", "run_id")
    list_filter = ("state",)
    list_select_related = ("project",)


@admin.register(Turn)
class TurnAdmin(ReadOnly):
    list_display = ("project", "at")
    list_select_related = ("project",)


@admin.register(Handover)
class HandoverAdmin(ReadOnly):
    list_display = ("upload", "stage", "due_at", "attempts", "done_at")
    list_filter = ("stage",)


@admin.register(Route)
class RouteAdmin(ReadOnly):
    list_display = ("id", "project", "kind", "name", "created_at", "disabled_at")
    list_filter = ("kind",)
    list_select_related = ("project",)


@admin.register(Answer)
class AnswerAdmin(ReadOnly):
    list_display = ("route", "at", "status", "delivery_id", "detail")
    list_filter = ("status",)
