"""The inbox: one row an admitted upload. Its body is a file that the row points at.

The row is the queue: a stage claims it by a conditional UPDATE with a lease. A `Route`
is where a webhook delivers; what it delivers is an upload too.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models import Project, Token


class State(models.TextChoices):
    ADMITTED = "admitted"
    PROCESSING = "processing"
    PROCESSED = "processed"
    REJECTED = "rejected"  # the input's fault; final
    FAILED = "failed"  # ours; tried again with backoff
    DEAD = "dead"  # given up; a button or the API tries again


class RouteKind(models.TextChoices):
    """What a route takes; its file is of this kind."""

    GATE = "gate"
    REVIEW = "review"
    EFFECTS = "effects"
    GITHUB = "github"
    GITLAB = "gitlab"


class Route(models.Model):
    """A place where a webhook delivers: `/webhooks/<path>`. Never deleted.

    Its secrets are `projects.Secret` rows of this path.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="routes")
    kind = models.CharField(max_length=10, choices=RouteKind)
    path = models.CharField(max_length=64, unique=True)  # nobody can guess it
    name = models.CharField(max_length=100, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    disabled_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name or f"{self.kind} route {self.pk}"

    @property
    def address(self) -> str:
        """Where it takes deliveries, on this server."""
        return f"/webhooks/{self.path}"


class Upload(models.Model):
    """One admitted delivery.

    `files`: [{"n", "kind", "name", "size", "sha256"}] in the body's order, `n` counts
    from 1. `errors` and `warnings`: [{"file", "message", "line", "column", "path"}].
    `due_at` says from when on somebody may claim it: receipt, the end of the lease, or
    the next try; None when nothing is left to do.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="uploads")
    delivery_id = models.CharField(max_length=255)
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State, default=State.ADMITTED)
    context = models.JSONField(default=dict)
    files = models.JSONField(default=list)
    body = models.CharField(max_length=200)  # name below the inbox directory
    content_type = models.CharField(max_length=300)
    encoding = models.CharField(max_length=20, blank=True)
    wire_bytes = models.BigIntegerField()
    unpacked_bytes = models.BigIntegerField()
    token = models.ForeignKey(Token, models.SET_NULL, null=True, related_name="+")
    route = models.ForeignKey(
        Route, models.RESTRICT, null=True, related_name="uploads", db_index=False
    )
    event = models.CharField(max_length=100, blank=True)  # as a hook's header names it
    attached_at = models.DateTimeField(null=True)  # its context was given by hand
    received_at = models.DateTimeField()
    processed_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    lease = models.CharField(max_length=80, blank=True)  # who works on it; `leases.py`
    errors = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    failure = models.TextField(blank=True)  # our own last error, in `failed` and `dead`
    run_id = models.BigIntegerField(null=True)  # results.Run, when it has one
    body_deleted_at = models.DateTimeField(null=True)  # retention

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "delivery_id"], name="one_upload_a_delivery"
            )
        ]
        indexes = [
            # "is not null" is the one condition that SQLite can match with a query
            # whose values are parameters.
            models.Index(
                fields=["project", "due_at"],
                name="due_uploads",
                condition=models.Q(due_at__isnull=False),
            ),
            models.Index(fields=["project", "-received_at"], name="newest_uploads"),
            models.Index(fields=["body"], name="upload_of_a_body"),
            models.Index(
                fields=["received_at"],
                name="kept_bodies",
                condition=models.Q(body_deleted_at__isnull=True),
            ),
            models.Index(
                fields=["route", "-received_at"],
                name="uploads_of_a_route",
                condition=models.Q(route__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"upload {self.pk} ({self.state})"


class Answer(models.Model):
    """An answer of a route that left no upload; `answers.py` keeps only a few."""

    route = models.ForeignKey(Route, models.CASCADE, related_name="answers")
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField()
    delivery_id = models.CharField(max_length=200, blank=True)
    detail = models.CharField(max_length=300, blank=True)
    upload = models.ForeignKey(Upload, models.CASCADE, null=True, related_name="+")

    def __str__(self) -> str:
        return f"{self.status} of {self.route}"


class Turn(models.Model):
    """When a project's uploads were last claimed: whose turn is longest ago is next."""

    project = models.OneToOneField(
        Project, models.CASCADE, primary_key=True, related_name="turn"
    )
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"turn of {self.project_id}"


class Handover(models.Model):
    """That a stage above has to work on an upload, once it was read here.

    The row is that stage's queue: `due_at` says from when on somebody may claim it,
    None that nothing is left to do. Given up: none is due, and `failure` says why.
    """

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="handovers")
    stage = models.CharField(max_length=20)
    due_at = models.DateTimeField(null=True)
    lease = models.CharField(max_length=80, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    failure = models.TextField(blank=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["upload", "stage"], name="one_handover_a_stage"
            )
        ]
        indexes = [
            models.Index(
                fields=["stage", "due_at"],
                name="due_handovers",
                condition=models.Q(due_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.stage} of upload {self.upload_id}"
