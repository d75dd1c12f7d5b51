"""The row of `recounts.py`: that a project's facts changed."""

from __future__ import annotations

from django.db import models

from projects.models import Project


class Recount(models.Model):
    """That a project's facts changed since they were last recounted (`recounts.py`).

    `marks` rises with every change: a recount that began before the last one leaves
    the project dirty.
    """

    project = models.OneToOneField(Project, models.CASCADE, related_name="recount")
    dirty = models.BooleanField(default=True)
    marks = models.PositiveIntegerField(default=0)
    not_before = models.DateTimeField(null=True)
    lease = models.CharField(max_length=100, blank=True)  # who is at it
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)  # that failed, in a row
    error = models.TextField(blank=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["project"],
                name="dirty_recounts",
                condition=models.Q(dirty=True),
            )
        ]

    def __str__(self) -> str:
        return f"recount of project {self.project_id}"
