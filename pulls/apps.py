from __future__ import annotations

from django.apps import AppConfig


class PullsConfig(AppConfig):
    name = "pulls"
    default_auto_field = "django.db.models.BigAutoField"
