"""Reviews, ledgers of effects, the findings made of both, and what people decided.

This package is the only writer of these tables. `Review`, `Ledger`, `Decision` and
`ClusterDecision` are what happened; `Finding` and `Cluster` are told anew from them.
"""

from __future__ import annotations

from django.db import models

from ingest.models import Upload
from projects.models import Project
from results.models import TestCase


class Source(models.TextChoices):
    REVIEW = "review"
    EFFECT = "effect"


class Course(models.Model):
    """What is told anew in one piece: a pull request's reviews, a project's effects.

    `version` rises with each change: a telling that began before the last one is not
    stored.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="courses")
    source = models.CharField(max_length=10, choices=Source)
    pr = models.PositiveIntegerField(default=0)  # 0: none
    version = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "source", "pr"], name="one_course"
            )
        ]

    def __str__(self) -> str:
        return f"{self.source}s of #{self.pr}" if self.pr else f"{self.source}s"


class Review(models.Model):
    """One review, as one file of an upload tells it.

    `content` holds its findings, so that a pull request's life can be told anew after
    the body was deleted. `counts` are those of this import: created, closed, reopened,
    untouched.
    """

    course = models.ForeignKey(Course, models.CASCADE, related_name="reviews")
    upload = models.ForeignKey(Upload, models.CASCADE, related_name="reviews")
    file = models.PositiveIntegerField()  # its number in the upload
    at = models.DateTimeField()  # of receipt
    commit = models.CharField(max_length=64, blank=True)
    run_id = models.BigIntegerField(null=True)
    score = models.FloatField(null=True)  # confidence: score of out_of
    out_of = models.FloatField(null=True)
    provenance = models.JSONField(default=dict)
    unparsed = models.JSONField(default=list)  # [{"line", "text"}]
    notes = models.JSONField(default=list)
    partial = models.BooleanField(default=False)
    complete = models.BooleanField(default=True)
    reviewers = models.JSONField(default=list)
    raised = models.PositiveIntegerField(default=0)
    content = models.BinaryField()  # `stored.py`
    counts = models.JSONField(default=dict)
    moves = models.JSONField(default=list)  # {"key", "text"}: what moved, in words
    ambiguous = models.JSONField(default=list)  # {"keys", "text"}: what cannot be told

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["upload", "file"], name="one_review_a_file")
        ]
        indexes = [models.Index(fields=["course", "-at"], name="newest_reviews")]

    def __str__(self) -> str:
        return f"review of upload {self.upload_id}"


class Cluster(models.Model):
    """Near-duplicates of one course; most have one member. `rank` sorts them."""

    course = models.ForeignKey(Course, models.CASCADE, related_name="clusters")
    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    key = models.CharField(max_length=32)
    severity = models.CharField(max_length=2)
    rank = models.CharField(max_length=300)
    reviewers = models.JSONField(default=list)
    size = models.PositiveIntegerField(default=1)
    links = models.JSONField(default=list)  # {"left", "right", "why"}
    by_hand = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["course", "key"], name="one_cluster")
        ]
        indexes = [models.Index(fields=["project", "rank"], name="ranked_clusters")]

    def __str__(self) -> str:
        return f"{self.severity} cluster of {self.size}"


class Finding(models.Model):
    """One finding on one pull request, as its reviews and decisions leave it."""

    course = models.ForeignKey(Course, models.CASCADE, related_name="findings")
    project = models.ForeignKey(Project, models.CASCADE, related_name="findings")
    cluster = models.ForeignKey(
        Cluster, models.SET_NULL, null=True, related_name="members"
    )
    source = models.CharField(max_length=10, choices=Source)
    pr = models.PositiveIntegerField(null=True)
    key = models.CharField(max_length=32)
    former = models.JSONField(default=list)  # its keys before its file was renamed
    severity = models.CharField(max_length=2)
    path = models.TextField(blank=True)
    line = models.PositiveBigIntegerField(null=True)
    end_line = models.PositiveBigIntegerField(null=True)
    also_at = models.JSONField(default=list)  # [[line, end_line]]
    title = models.TextField()
    detail = models.TextField(blank=True)
    rule = models.CharField(max_length=300, blank=True)
    reviewers = models.JSONField(default=list)
    suppressions = models.JSONField(default=list)
    state = models.CharField(max_length=20)
    reason = models.TextField(blank=True)
    owner = models.CharField(max_length=200, blank=True)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    opened_at = models.DateTimeField()
    due = models.DateTimeField()
    due_by_hand = models.BooleanField(default=False)
    seen_count = models.PositiveIntegerField(default=1)
    raised_since_fixed = models.PositiveIntegerField(default=0)
    score = models.FloatField(null=True)  # confidence of the review that raised it last
    out_of = models.FloatField(null=True)
    rank = models.CharField(max_length=300)
    run_id = models.BigIntegerField(null=True)
    effect_id = models.TextField(blank=True)
    history = models.JSONField(default=list)  # what reviews did: `telling.Event`

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["course", "key"], name="one_finding")
        ]
        indexes = [
            models.Index(fields=["project", "rank"], name="ranked_findings"),
            models.Index(fields=["project", "pr"], name="findings_of_a_pull"),
        ]

    def __str__(self) -> str:
        return f"{self.severity} {self.path}: {self.title}"[:200]


class Decision(models.Model):
    """What a person decided of a finding. Append only."""

    class What(models.TextChoices):
        STATE = "state"
        OWNER = "owner"
        DUE = "due"

    course = models.ForeignKey(Course, models.CASCADE, related_name="decisions")
    key = models.CharField(max_length=32)
    at = models.DateTimeField()
    by = models.CharField(max_length=200)
    what = models.CharField(max_length=10, choices=What)
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["course", "key"], name="decisions_of_a_finding")
        ]

    def __str__(self) -> str:
        return f"{self.by}: {self.what} {self.after}"


class ClusterDecision(models.Model):
    """That a person split findings from others, or joined them. Append only."""

    course = models.ForeignKey(Course, models.CASCADE, related_name="cluster_decisions")
    at = models.DateTimeField()
    by = models.CharField(max_length=200)
    hand = models.CharField(max_length=10)
    these = models.JSONField(default=list)
    those = models.JSONField(default=list)
    reason = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.by}: {self.hand}"


class Ledger(models.Model):
    """One export of effects. Only current ones count; others are being written."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="ledgers")
    upload = models.ForeignKey(Upload, models.CASCADE, related_name="ledgers")
    file = models.PositiveIntegerField()
    current = models.BooleanField(default=False)
    at = models.DateTimeField()
    run_id = models.BigIntegerField(null=True)
    pr = models.PositiveIntegerField(null=True)
    commit = models.CharField(max_length=64, blank=True)
    run_ended = models.BooleanField(default=True)
    notes = models.JSONField(default=list)
    effects_count = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["project", "-at"], name="newest_ledgers"),
            models.Index(fields=["project", "run_id"], name="ledgers_of_a_run"),
        ]

    def __str__(self) -> str:
        return f"ledger of upload {self.upload_id}"


class Effect(models.Model):
    """One effect and how it was judged. `key` is that of its lineage and its id."""

    ledger = models.ForeignKey(Ledger, models.CASCADE, related_name="effects")
    number = models.PositiveIntegerField()  # its place by sequence, from 1
    key = models.CharField(max_length=32)
    effect_id = models.TextField()
    lineage = models.TextField()  # the ledger's own `run_id`
    action_id = models.TextField()
    tool = models.TextField()
    action = models.TextField(blank=True)
    request_id = models.TextField(blank=True)
    execution = models.CharField(max_length=20)
    impact = models.CharField(max_length=10, blank=True)  # empty: not known
    verdict = models.CharField(max_length=20)
    reason = models.TextField(blank=True)
    cleanup = models.CharField(max_length=20)
    unresolved_impact = models.BooleanField(default=False)
    external = models.BooleanField(default=False)
    disclosure = models.CharField(max_length=60, blank=True)
    superseded_by = models.TextField(blank=True)
    scope_known = models.BooleanField(default=True)
    replayed = models.BooleanField(default=False)
    running_at_end = models.BooleanField(default=False)
    targets = models.JSONField(default=list)
    detail = models.JSONField(default=dict)  # obligations and timeline
    finding = models.JSONField(null=True)  # what it is worth: severity, title, detail
    test = models.ForeignKey(
        TestCase, models.SET_NULL, null=True, related_name="+", db_index=False
    )
    test_name = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["ledger", "number"], name="effects_of_a_ledger"),
            models.Index(fields=["key"], name="effects_by_key"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.verdict}"
