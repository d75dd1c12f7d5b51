from __future__ import annotations

from django.apps import AppConfig


class LeaksConfig(AppConfig):
    name = "leaks"
    default_auto_field = "django.db.models.BigAutoField"
