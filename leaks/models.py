"""Leakers, pairs of leaker and victim, what is believed of unstable tests, proofs.

This package is the only writer of these tables. `Proof` is what happened; the others
are told anew from the facts, the proofs and, for what was claimed before, themselves.
"""

from __future__ import annotations

from django.db import models

from projects.models import Project
from results.models import TestCase


class LeakerState(models.TextChoices):
    SUSPECTED = "suspected"
    OPEN = "open"
    MUTED = "muted"
    DISMISSED = "dismissed"
    FIXED = "fixed"
    VERIFIED_FIXED = "verified_fixed"


class LeakerSource(models.TextChoices):
    GATE = "gate"
    CORRELATION = "correlation"
    BOTH = "both"


class PairKind(models.TextChoices):
    """What the other test is to the unstable one: its leaker, or its setter."""

    VICTIM = "victim"
    BRITTLE = "brittle"


class PairStatus(models.TextChoices):
    PROVEN = "proven"
    CONFIRMED = "confirmed"
    SUSPECT = "suspect"
    INDISTINGUISHABLE = "indistinguishable"
    REFUTED = "refuted"


class ProofResult(models.TextChoices):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"


class Leaker(models.Model):
    """A test that leaves something behind; `first_*` is where it was first seen to."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="leakers")
    test = models.OneToOneField(TestCase, models.CASCADE, related_name="leaker")
    state = models.CharField(max_length=15, choices=LeakerState)
    source = models.CharField(max_length=15, choices=LeakerSource)
    kinds = models.JSONField(default=list)  # of leaks, by the word of gates
    recipe = models.TextField(blank=True)
    ticket = models.TextField(blank=True)
    owner = models.CharField(max_length=200, blank=True)
    first_run_id = models.BigIntegerField(null=True)
    first_commit = models.CharField(max_length=64, blank=True)
    first_pr = models.PositiveIntegerField(null=True)
    first_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)  # its newest leak, or victim's failure
    opened_at = models.DateTimeField(null=True)
    reopened_at = models.DateTimeField(null=True)
    fixed_at = models.DateTimeField(null=True)
    fix = models.JSONField(null=True)  # how sure that is (leaks/fixes.py)
    fixed_commit = models.CharField(max_length=64, blank=True)  # by a person's word
    failed_results = models.FloatField(default=0.0)
    failed_runs = models.FloatField(default=0.0)
    lost_s = models.FloatField(default=0.0)
    pulls = models.PositiveIntegerField(default=0)  # that it turned red
    victims = models.PositiveIntegerField(default=0)  # proven or confirmed
    method_version = models.PositiveIntegerField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["project", "-lost_s", "id"], name="dearest_leakers")
        ]

    def __str__(self) -> str:
        return f"leaker {self.test_id} ({self.state})"


class Pair(models.Model):
    """What is believed of one test as the leaker (the setter) of another one.

    `current`: the newest judgement speaks of it. A claim of the past stays, with the
    evidence that it had.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    test = models.ForeignKey(
        TestCase, models.CASCADE, related_name="harms", db_index=False
    )
    victim = models.ForeignKey(TestCase, models.CASCADE, related_name="harmed_by")
    kind = models.CharField(max_length=10, choices=PairKind)
    status = models.CharField(max_length=20, choices=PairStatus)
    place = models.PositiveSmallIntegerField(
        default=0
    )  # among the victim's, best first
    posterior = models.FloatField(default=0.0)
    bf = models.FloatField(default=1.0)
    failed_after = models.PositiveIntegerField(default=0)
    passed_after = models.PositiveIntegerField(default=0)
    failed_without = models.PositiveIntegerField(default=0)
    passed_without = models.PositiveIntegerField(default=0)
    p_value = models.FloatField(default=1.0)
    q_value = models.FloatField(default=1.0)
    lives_for = models.FloatField(null=True)  # tests; None: to the end of the process
    evidence = models.JSONField(default=dict)  # with the version of the method
    current = models.BooleanField(default=True)
    claimed_at = models.DateTimeField(null=True)  # when it last became a claim
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["test", "victim", "kind"], name="one_pair_a_kind"
            )
        ]

    def __str__(self) -> str:
        return f"{self.test_id} {self.status} of {self.victim_id}"


class Verdict(models.Model):
    """The one class of an unstable test, with the numbers that made it so."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    test = models.OneToOneField(TestCase, models.CASCADE, related_name="verdict")
    name = models.CharField(max_length=20)  # analysis.judgement.Class
    since = models.DateTimeField()  # it has this class
    evidence = models.JSONField(default=dict)
    missing = models.TextField(blank=True)  # to explain it
    probe = models.JSONField(null=True)  # {"ask", "why", "command"}
    failed_runs = models.PositiveIntegerField(default=0)
    affected_prs = models.PositiveIntegerField(default=0)
    lost_s = models.FloatField(default=0.0)
    told_flaky_at = models.DateTimeField(null=True)  # once, as long as it is unstable
    rank = models.PositiveIntegerField(default=0)  # 0 is the dearest of its project
    last_failed = models.DateTimeField(null=True)
    method_version = models.PositiveIntegerField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["project", "rank"], name="dearest_verdicts")]

    def __str__(self) -> str:
        return f"test {self.test_id}: {self.name}"


class Proof(models.Model):
    """The result of a reproduction, told from outside; it outranks statistics."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="proofs")
    key = models.CharField(max_length=255)  # what makes a repeated proof the same
    digest = models.CharField(max_length=64)  # of what was told
    leaker = models.ForeignKey(TestCase, models.CASCADE, related_name="+")
    victim = models.ForeignKey(TestCase, models.CASCADE, related_name="proofs")
    result = models.CharField(max_length=10, choices=ProofResult)
    kind = models.CharField(max_length=10, choices=PairKind)
    how = models.TextField(blank=True)
    command = models.TextField(blank=True)
    runs = models.PositiveIntegerField(null=True)
    failed = models.PositiveIntegerField(null=True)
    commit = models.CharField(max_length=64, blank=True)
    environment = models.JSONField(default=dict)
    told_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="one_proof_a_key")
        ]
        indexes = [models.Index(fields=["project", "-id"], name="newest_proofs")]

    def __str__(self) -> str:
        return f"{self.result}: {self.leaker_id} before {self.victim_id}"


class LeakerDecision(models.Model):
    """What a person decided of a leaker, one row a change; never changed."""

    class What(models.TextChoices):
        STATE = "state"
        FIX = "fix"
        TICKET = "ticket"
        OWNER = "owner"
        NOTE = "note"

    leaker = models.ForeignKey(Leaker, models.CASCADE, related_name="decisions")
    at = models.DateTimeField()
    by = models.CharField(max_length=200)
    what = models.CharField(max_length=10, choices=What)
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    note = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.by}: {self.what} of leaker {self.leaker_id}"
