"""Connects what is written outside the pipeline, or for a later stage, to its wake-up."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.apps import AppConfig

from ingest.signals import upload_received
from notify.signals import work_waits


class HealthboardConfig(AppConfig):
    name = "healthboard"

    def ready(self) -> None:
        # The tasks need the models, which are not there when this file is read.
        tasks = import_module("healthboard.tasks")

        def wake_ingest(**_: Any) -> None:  # Any: what a signal carries
            tasks.wake("ingest")

        def wake_notify(*, stage: str, **_: Any) -> None:  # Any: as above
            tasks.wake(stage)

        upload_received.connect(wake_ingest, weak=False, dispatch_uid="wake ingest")
        work_waits.connect(wake_notify, weak=False, dispatch_uid="wake notify")
