"""Events, the endpoints that hear of them, deliveries and their attempts.

This package is the only writer of these tables. An `Event` is one fact, whoever hears
of it; a `Delivery` is one event for one endpoint; an `Attempt` is one request.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models import Project


class EventType(models.TextChoices):
    LEAKER_NEW = "leaker.new"
    LEAKER_REOPENED = "leaker.reopened"
    LEAKER_FIXED = "leaker.fixed"
    NEWLY_FLAKY = "test.newly_flaky"
    FINDING_P0 = "finding.p0"
    VERDICT = "pull_request.verdict"
    UNBLOCKED = "pull_request.unblocked"
    RUN_FAILED = "run.failed"
    RUN_RECOVERED = "run.recovered"
    RUN_INCOMPLETE = "run.incomplete"
    REVIEW_READY = "review.ready"
    ENDPOINT_DISABLED = "endpoint.disabled"
    DIGEST = "digest"  # stands for the events that were folded into it
    TEST = "webhook.test"


class Format(models.TextChoices):
    JSON = "json"
    SLACK = "slack"
    TEAMS = "teams"
    EMAIL = "email"


class Endpoint(models.Model):
    """Where a project's events go. `lease` is held by whoever sends to it.

    `filters` are read by `matching`. `every` is the pause between two digests in
    hours; 0 is none: each event goes out at once. Its secrets are rows of
    `projects.signing`.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=100, blank=True)
    url = models.CharField(max_length=2000)
    events = models.JSONField(default=list)  # empty: all
    format = models.CharField(max_length=10, choices=Format, default=Format.JSON)
    filters = models.JSONField(default=dict)
    every = models.PositiveIntegerField(default=0)
    folds = models.BooleanField(default=True)  # a storm becomes one digest
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )  # who is told when it is disabled
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=300, blank=True)
    failing_since = models.DateTimeField(null=True)  # since its last success
    held_until = models.DateTimeField(null=True)  # nothing is sent before
    taken_at = models.DateTimeField(null=True)  # those that waited longest are next
    lease = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["project", "-id"], name="newest_endpoints")]

    def __str__(self) -> str:
        return self.name or f"webhook {self.pk}"


class Event(models.Model):
    """One fact, once: whoever finds it again finds it written.

    `about` is what filters ask for: severity, owners, paths. `data` is completed when
    the event is fanned out. `due_at` is set until then.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="events")
    type = models.CharField(max_length=40, choices=EventType)
    key = models.CharField(max_length=200)  # of the fact
    public_id = models.CharField(max_length=40, unique=True)
    subject = models.CharField(max_length=200, blank=True)
    occurred_at = models.DateTimeField()
    created_at = models.DateTimeField()
    path = models.TextField(blank=True)  # of its page
    data = models.JSONField(default=dict)
    about = models.JSONField(default=dict)
    muted = models.BooleanField(default=False)
    due_at = models.DateTimeField(null=True)  # or the end of a lease
    lease = models.CharField(max_length=64, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "type", "key"], name="one_event_a_fact"
            )
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                name="events_to_fan_out",
                condition=models.Q(due_at__isnull=False),
            ),
            models.Index(
                fields=["project", "subject", "-id"], name="events_of_a_thing"
            ),
            models.Index(fields=["project", "-id"], name="newest_events"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.public_id}"


class DeliveryState(models.TextChoices):
    WAITING = "waiting"
    DELIVERED = "delivered"
    DEAD = "dead"
    FOLDED = "folded"  # told by a digest


class Delivery(models.Model):
    """One event for one endpoint. `due_at` is set while it waits."""

    endpoint = models.ForeignKey(
        Endpoint, models.CASCADE, related_name="deliveries", db_index=False
    )
    event = models.ForeignKey(Event, models.CASCADE, related_name="deliveries")
    state = models.CharField(
        max_length=10, choices=DeliveryState, default=DeliveryState.WAITING
    )
    due_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)  # since it was (re)started
    created_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)
    status = models.PositiveIntegerField(null=True)  # of the last answer
    error = models.CharField(max_length=300, blank=True)  # of the last attempt
    digest = models.ForeignKey(
        "self", models.SET_NULL, null=True, related_name="folded"
    )

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "event"], name="one_delivery_each"
            )
        ]
        indexes = [
            models.Index(
                fields=["endpoint", "due_at"],
                name="deliveries_due",
                condition=models.Q(due_at__isnull=False),
            ),
            models.Index(fields=["endpoint", "-id"], name="newest_deliveries"),
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk} ({self.state})"


class Attempt(models.Model):
    """One request and its answer. Signatures are not kept."""

    delivery = models.ForeignKey(Delivery, models.CASCADE, related_name="attempts")
    at = models.DateTimeField()
    url = models.CharField(max_length=2000)
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)
    status = models.PositiveIntegerField(null=True)
    answer_headers = models.JSONField(default=dict)
    answer = models.TextField(blank=True)  # 64 KiB at most
    answer_cut = models.BooleanField(default=False)
    address = models.CharField(max_length=45, blank=True)  # that was connected to
    duration_ms = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"attempt {self.pk}: {self.status or self.error}"


class Watch(models.Model):
    """A run of the default branch that is not settled yet, and its deadline."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    run_id = models.BigIntegerField(unique=True)
    due_at = models.DateTimeField(null=True)
    lease = models.CharField(max_length=64, blank=True)

    class Meta:
        verbose_name_plural = "watches"
        indexes = [
            models.Index(
                fields=["due_at"],
                name="watches_due",
                condition=models.Q(due_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"watch on run {self.run_id}"


class HostKind(models.TextChoices):
    GITHUB = "github"
    GITLAB = "gitlab"


class CodeHost(models.Model):
    """Where a project's pull requests live, and how to speak there.

    `secret` is a token, or the private key of an app; kept readable, as it is needed,
    and never shown again.
    """

    project = models.OneToOneField(
        Project, models.CASCADE, primary_key=True, related_name="code_host"
    )
    kind = models.CharField(max_length=10, choices=HostKind)
    api_url = models.CharField(max_length=2000)
    repository = models.CharField(max_length=255)
    app_id = models.CharField(max_length=40, blank=True)
    installation_id = models.CharField(max_length=40, blank=True)
    secret = models.TextField()
    comments = models.BooleanField(default=True)
    checks = models.BooleanField(default=True)
    held_until = models.DateTimeField(null=True)  # it asked to wait
    error = models.CharField(max_length=300, blank=True)  # of the last try
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.repository} on {self.kind}"


class Remark(models.Model):
    """What a host was told of one pull request: one comment, one check of its head."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    number = models.PositiveIntegerField()
    comment_id = models.CharField(max_length=40, blank=True)
    comment_digest = models.CharField(max_length=32, blank=True)
    check_digest = models.CharField(max_length=32, blank=True)
    due_at = models.DateTimeField(null=True)
    marks = models.PositiveIntegerField(default=1)  # rises with each reason
    lease = models.CharField(max_length=64, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=300, blank=True)
    told_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="one_remark")
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                name="remarks_due",
                condition=models.Q(due_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"remark on #{self.number}"
