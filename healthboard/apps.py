"""Connects the inbox to the pipeline: the one signal of the project."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.apps import AppConfig

from ingest.signals import upload_received


class HealthboardConfig(AppConfig):
    name = "healthboard"

    def ready(self) -> None:
        # The tasks need the models, which are not there when this file is read.
        tasks = import_module("healthboard.tasks")

        def wake_ingest(**_: Any) -> None:  # Any: what a signal carries
            tasks.wake("ingest")

        upload_received.connect(wake_ingest, weak=False, dispatch_uid="wake ingest")
