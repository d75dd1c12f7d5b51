from __future__ import annotations

from django.apps import AppConfig


class HealthboardConfig(AppConfig):
    name = "healthboard"
