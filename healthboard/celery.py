"""The Celery application: it only says "look now"; the work is rows in the database.

Its settings are the `CELERY_…` ones of settings.py.
"""

from __future__ import annotations

import os
from typing import Any

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "healthboard.settings")

app = Celery("healthboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["healthboard"])


@signals.setup_logging.connect  # type: ignore[untyped-decorator]
def leave_logging_alone(**_: Any) -> None:  # Any: what a signal carries
    """Keep Celery from setting up logging: Django did."""
