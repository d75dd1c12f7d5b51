from __future__ import annotations

from django.apps import AppConfig

from projects import searching


class ProjectsConfig(AppConfig):
    name = "projects"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        searching.install()
