"""The Celery application: it only says "look now"; the work is rows in the database.

Its settings are the `CELERY_…` ones of settings.py.
"""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "healthboard.settings")

app = Celery("healthboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["healthboard"])
