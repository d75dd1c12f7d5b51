"""The Django project. It loads the Celery application with it.

Without that, a process that only publishes would use Celery's default broker.
"""

from __future__ import annotations

from healthboard.celery import app as celery_app

__all__ = ["celery_app"]
