"""What people decided of tests, and the weekly reviews in which they did.

This package is the only writer of these tables. `Change` and `Epoch` are append only;
`Standing` is what they come to now, `Choice` what was decided in one week.
"""

from __future__ import annotations

from django.db import models

from projects.models import Project
from results.models import TestCase


class Standing(models.Model):
    """What holds of one test by decision. `version` rises with every change.

    A mute ends at its time, or once the test failed more often than `muted_failures`
    since it was muted, whichever comes first.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="standings")
    test = models.OneToOneField(TestCase, models.CASCADE, related_name="standing")
    version = models.PositiveIntegerField(default=0)
    owner = models.CharField(max_length=200, blank=True)
    fix_by = models.DateField(null=True)
    quarantined_until = models.DateTimeField(null=True)
    quarantine_reason = models.TextField(blank=True)
    muted_at = models.DateTimeField(null=True)
    muted_until = models.DateTimeField(null=True)
    muted_failures = models.PositiveIntegerField(null=True)
    accepted_at = models.DateTimeField(null=True)
    accepted_reason = models.TextField(blank=True)
    ticket = models.CharField(max_length=500, blank=True)
    updated_at = models.DateTimeField()
    updated_by = models.CharField(max_length=200)

    class Meta:
        indexes = [
            models.Index(
                fields=["project", "quarantined_until"],
                name="quarantined_tests",
                condition=models.Q(quarantined_until__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"decisions on test {self.test_id}"


class Epoch(models.Model):
    """That a test was said to be fixed: a new count begins, the old one stays here.

    `runs` and `failed` are those of the count that ended: of the executed results
    since the epoch before, in the window that then was looked at.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    test = models.ForeignKey(TestCase, models.CASCADE, related_name="epochs")
    at = models.DateTimeField()  # from when on it counts anew
    commit = models.CharField(max_length=64, blank=True)
    pr = models.PositiveIntegerField(null=True)
    note = models.TextField(blank=True)
    runs = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    runs_that_day = models.PositiveIntegerField(default=0)  # of it, on the epoch's day
    failed_that_day = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(null=True)  # from when on the old ones were counted
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=200)

    class Meta:
        indexes = [models.Index(fields=["test", "-at"], name="epochs_of_a_test")]

    def __str__(self) -> str:
        return f"test {self.test_id} fixed at {self.commit or self.at}"


class Change(models.Model):
    """One decision: who changed what of which subject. Append only.

    `subject` is `test:12`, `finding:5` or `pull:540`; `week` the review in which it
    was decided, if in one.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="changes")
    subject = models.CharField(max_length=40)
    week = models.CharField(max_length=8, blank=True)
    at = models.DateTimeField()
    by = models.CharField(max_length=200)
    what = models.CharField(max_length=20)
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["project", "subject", "-id"], name="changes_newest")
        ]

    def __str__(self) -> str:
        return f"{self.by}: {self.what} {self.after}"


class Week(models.Model):
    """One ISO week's review. With `frozen_at` its agenda no longer changes.

    `agenda` is then what was shown; before, it is made of the facts each time it is
    asked for. `closed_at`: people ended the meeting, and nothing is decided any more.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="weeks")
    name = models.CharField(max_length=8)  # 2026-W10
    agenda = models.JSONField(default=dict)
    frozen_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], name="one_review_a_week"
            )
        ]

    def __str__(self) -> str:
        return f"review {self.name}"


class Choice(models.Model):
    """What was decided of one subject in one week. `version` rises with every change."""

    week = models.ForeignKey(Week, models.CASCADE, related_name="choices")
    subject = models.CharField(max_length=40)
    version = models.PositiveIntegerField(default=0)
    decision = models.CharField(max_length=20, blank=True)
    owner = models.CharField(max_length=200, blank=True)
    fix_by = models.DateField(null=True)
    until = models.DateField(null=True)  # of a mute or a quarantine
    failures = models.PositiveIntegerField(null=True)  # until more than so many
    reason = models.TextField(blank=True)
    note = models.TextField(blank=True)
    at = models.DateTimeField()
    by = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["week", "subject"], name="one_choice")
        ]

    def __str__(self) -> str:
        return f"{self.subject}: {self.decision}"


class Codeowners(models.Model):
    """A project's CODEOWNERS file, as it was given."""

    project = models.OneToOneField(
        Project, models.CASCADE, primary_key=True, related_name="codeowners"
    )
    text = models.TextField(blank=True)
    updated_at = models.DateTimeField()
    updated_by = models.CharField(max_length=200)

    class Meta:
        verbose_name_plural = "codeowners"

    def __str__(self) -> str:
        return f"owners of project {self.project_id}"


class SavedView(models.Model):
    """A named query string of one list, shared by all who read the project."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="saved_views")
    page = models.CharField(max_length=20)  # the list's name
    name = models.CharField(max_length=80)
    query = models.TextField(blank=True)
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "page", "name"], name="one_view_a_name"
            )
        ]

    def __str__(self) -> str:
        return f"{self.page}: {self.name}"
