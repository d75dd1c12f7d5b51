"""The inbox: one row an admitted upload. Its body is a file that the row points at.

The row is the queue: a stage claims it by a conditional UPDATE with a lease.
"""

from __future__ import annotations

from django.db import models

from projects.models import Project, Token


class State(models.TextChoices):
    ADMITTED = "admitted"
    PROCESSING = "processing"
    PROCESSED = "processed"
    REJECTED = "rejected"  # the input's fault; final
    FAILED = "failed"  # ours; tried again with backoff
    DEAD = "dead"  # given up; a button or the API tries again


WAITING = (State.ADMITTED, State.PROCESSING, State.FAILED)


class Upload(models.Model):
    """One admitted delivery.

    `files`: [{"n", "kind", "name", "size", "sha256"}] in the body's order, `n` counts
    from 1. `errors` and `warnings`: [{"file", "message", "line", "column", "path"}].
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="uploads")
    delivery_id = models.CharField(max_length=255)
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State, default=State.ADMITTED)
    context = models.JSONField(default=dict)
    files = models.JSONField(default=list)
    body = models.CharField(max_length=200)  # name below the inbox directory
    content_type = models.CharField(max_length=200)
    encoding = models.CharField(max_length=20, blank=True)
    wire_bytes = models.BigIntegerField()
    unpacked_bytes = models.BigIntegerField()
    token = models.ForeignKey(Token, models.SET_NULL, null=True, related_name="+")
    received_at = models.DateTimeField()
    processed_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    retry_at = models.DateTimeField(null=True)
    errors = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    run_id = models.BigIntegerField(null=True)  # results.Run, when it has one
    body_deleted_at = models.DateTimeField(null=True)  # retention

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "delivery_id"], name="one_upload_a_delivery"
            )
        ]
        indexes = [
            models.Index(
                fields=["project", "id"],
                name="waiting_uploads",
                condition=models.Q(state__in=["admitted", "processing", "failed"]),
            ),
            models.Index(fields=["project", "-received_at"], name="newest_uploads"),
        ]

    def __str__(self) -> str:
        return f"upload {self.pk} ({self.state})"
