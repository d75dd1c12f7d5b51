"""The facts: test cases, runs, what uploads said of them, failures, day totals.

This package is the only writer of these tables. What is looked at one by one is a
row; what is looked at by the million is a column block (`blocks.py`).
"""

from __future__ import annotations

from django.db import models

from projects.models import Project
from results.recount_rows import Recount as Recount


class RunOutcome(models.TextChoices):
    PASSED = "passed"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    DAMAGED = "damaged"
    NO_RESULTS = "no_results"


class TestCase(models.Model):
    """A test of a project. `number` is dense (0, 1, 2 …): the index of every array."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="tests", db_index=False
    )
    number = models.PositiveIntegerField()
    key = models.BinaryField(max_length=16)  # digest of the normalised identity
    nodeid = models.TextField()
    rank = models.PositiveSmallIntegerField(default=0)  # the richest id is displayed
    file = models.TextField(blank=True)
    suite = models.TextField(blank=True)
    name = models.TextField()
    params = models.TextField(blank=True)
    line = models.PositiveIntegerField(null=True)
    first_seen = models.DateTimeField()
    first_run_id = models.BigIntegerField(null=True)
    last_seen = models.DateTimeField()  # moved at most once a day
    same_as = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="one_case_a_key"),
            models.UniqueConstraint(fields=["project", "number"], name="dense_numbers"),
        ]

    def __str__(self) -> str:
        return self.nodeid


class Counter(models.Model):
    """How many test cases a project has: the row that serialises their numbering.

    `epoch` is drawn when the row is made: what a process remembers of a project is
    true only as long as it is the same (a restored or emptied database has another).
    """

    project = models.OneToOneField(Project, models.CASCADE, primary_key=True)
    tests = models.PositiveIntegerField(default=0)
    epoch = models.CharField(max_length=32)

    def __str__(self) -> str:
        return f"{self.tests} tests"


class Run(models.Model):
    """One execution of the suite in one environment, from any number of parts."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="runs")
    name = models.CharField(max_length=255)  # the context's `run`, else upload-<id>
    own_upload = models.BigIntegerField(default=0)  # not 0: nobody named this run
    environment = models.JSONField(default=dict)
    environment_key = models.CharField(max_length=64)
    branch = models.CharField(max_length=255, blank=True)
    commit = models.CharField(max_length=64, blank=True)
    head_sha = models.CharField(max_length=64, blank=True)
    base_sha = models.CharField(max_length=64, blank=True)
    base_branch = models.CharField(max_length=255, blank=True)
    merge_base = models.CharField(max_length=64, blank=True)
    pr = models.PositiveIntegerField(null=True)
    ci_url = models.TextField(blank=True)
    committed_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField()
    started_from = models.CharField(max_length=10)  # context, report or receipt
    zoneless_start = models.CharField(max_length=40, blank=True)
    day = models.DateField()  # in the project's zone
    branch_class = models.CharField(max_length=10)  # default or other
    outcome = models.CharField(max_length=10, choices=RunOutcome)
    instead = models.CharField(max_length=10, default="")  # of results: effects …
    order = models.CharField(max_length=10, default="unknown")
    tests = models.PositiveIntegerField(default=0)
    passed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    xfailed = models.PositiveIntegerField(default=0)
    xpassed = models.PositiveIntegerField(default=0)
    flaky = models.PositiveIntegerField(default=0)
    leaks = models.PositiveIntegerField(default=0)  # told by gates, opted out ones not
    leaks_raised = models.PositiveIntegerField(default=0)  # … that fail the run
    conflicts = models.PositiveIntegerField(default=0)
    reported = models.JSONField(default=dict)
    duration_s = models.FloatField(default=0.0)
    wall_s = models.FloatField(null=True)
    attempts = models.PositiveIntegerField(default=1)
    parts = models.JSONField(default=list)  # one entry a job and index
    by_attempt = models.JSONField(default=list)  # counts of each attempt alone
    completeness = models.JSONField(default=dict)
    problems = models.JSONField(default=list)  # [{"kind", "message", "upload"}]
    failed_outside = models.BooleanField(default=False)
    bad = models.BooleanField(default=False)  # most of it failed: no statistics
    facts_deleted = models.BooleanField(default=False)  # by retention
    excluded_at = models.DateTimeField(null=True)
    excluded_by = models.CharField(max_length=200, blank=True)
    excluded_reason = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=0)  # rises with every summary
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name", "environment_key", "own_upload"],
                name="one_run",
            )
        ]
        indexes = [
            models.Index(fields=["project", "-started_at"], name="runs_newest"),
            models.Index(
                fields=["project", "branch", "-started_at"], name="runs_branch"
            ),
            models.Index(fields=["project", "commit"], name="runs_commit"),
            models.Index(fields=["project", "pr"], name="runs_pr"),
            models.Index(fields=["project", "day"], name="runs_day"),
            models.Index(fields=["project", "updated_at"], name="runs_oldest"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.outcome})"


class Classification(models.Model):
    """By which settings of its project the runs got their day and class.

    A row that differs from its project is work for `reclassifying`.
    """

    project = models.OneToOneField(Project, models.CASCADE, primary_key=True)
    zone = models.CharField(max_length=64)
    default_branch = models.CharField(max_length=255)
    due_at = models.DateTimeField(null=True)  # end of a lease or of a pause
    error = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.default_branch}, {self.zone}"


class Roster(models.Model):
    """A sorted list of test numbers, shared by all parts that have the same one."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    digest = models.BinaryField(max_length=16)
    tests = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "digest"], name="one_roster")
        ]

    def __str__(self) -> str:
        return f"roster of {self.tests} tests"


class Shard(models.Model):
    """What one upload says of one part (job, shard, attempt) of one run.

    Recording is keyed by upload: processing it again replaces this row and all that
    hangs on it. Several uploads of one part are several rows; reading merges them.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="shards")
    upload_id = models.BigIntegerField(unique=True)
    same_as_upload = models.BigIntegerField(null=True)  # adds nothing: stored by it
    context = models.JSONField(default=dict)  # what this upload said of the run
    job = models.CharField(max_length=255, blank=True)
    index = models.PositiveIntegerField(default=1)
    count = models.PositiveIntegerField(default=1)
    attempt = models.PositiveIntegerField(default=1)
    roster = models.ForeignKey(
        Roster, models.PROTECT, null=True, related_name="+", db_index=False
    )
    tests = models.PositiveIntegerField(default=0)
    failing = models.PositiveIntegerField(default=0)
    leaks_raised = models.PositiveIntegerField(default=0)  # enforced, not opted out
    duration_s = models.FloatField(default=0.0)
    wall_s = models.FloatField(null=True)
    order = models.CharField(max_length=10, default="unknown")
    complete = models.BooleanField(default=True)
    exit_code = models.IntegerField(null=True)
    reported = models.JSONField(default=dict)
    processes = models.JSONField(default=list)
    repeats = models.CharField(max_length=12, blank=True)
    only_in_report = models.PositiveIntegerField(default=0)
    only_in_trace = models.PositiveIntegerField(default=0)
    kinds = models.JSONField(default=list)
    file_digests = models.JSONField(default=list)
    damage = models.JSONField(default=list)  # file problems of this upload
    notes = models.JSONField(default=list)
    started_at = models.DateTimeField(null=True)
    started_from = models.CharField(max_length=10, blank=True)
    zoneless_start = models.CharField(max_length=40, blank=True)
    received_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.job or 'part'} {self.index}/{self.count} of run {self.run_id}"


class Block(models.Model):
    """The results of one shard for 1,024 test numbers, as columns (`blocks.py`).

    `chunk` = number // 1024; chunk -1 is the shard's order: its processes and what
    they ran, in order of start. Written once, never changed.
    """

    project_id = models.BigIntegerField()
    shard = models.ForeignKey(Shard, models.CASCADE, related_name="blocks")
    chunk = models.IntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project_id", "chunk", "shard"], name="one_block_a_chunk"
            )
        ]

    def __str__(self) -> str:
        return f"chunk {self.chunk} of shard {self.shard_id}"


class Detail(models.Model):
    """A failure's (or skip's) message and text, stored once a project and digest."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    digest = models.BinaryField(max_length=16)
    message = models.TextField(blank=True)
    fingerprint = models.BinaryField(max_length=16)
    fingerprint_version = models.PositiveSmallIntegerField()
    title = models.TextField(blank=True)  # the fingerprint in words
    text = models.BinaryField(null=True)  # compressed
    text_bytes = models.PositiveIntegerField(default=0)  # before it was cut

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "digest"], name="one_detail")
        ]
        indexes = [models.Index(fields=["project", "fingerprint"], name="detail_group")]

    def __str__(self) -> str:
        return self.message[:80]


class Failure(models.Model):
    """A result that has a text: failed, error, skipped, xfailed, a failed attempt, or
    a pass with the words of a gate.

    `attempt` counts the attempts inside its shard from 1; 0 is the last one.
    """

    run = models.ForeignKey(
        Run, models.CASCADE, related_name="failures", db_index=False
    )
    shard = models.ForeignKey(Shard, models.CASCADE, related_name="failures")
    test = models.ForeignKey(
        TestCase, models.CASCADE, related_name="failures", db_index=False
    )
    attempt = models.PositiveIntegerField(default=0)
    outcome = models.PositiveSmallIntegerField()  # formats.outcomes.CODE
    detail = models.ForeignKey(Detail, models.PROTECT, related_name="+")

    class Meta:
        indexes = [
            models.Index(fields=["run", "test"], name="failures_of_run"),
            models.Index(fields=["test", "-id"], name="failures_of_test"),
        ]

    def __str__(self) -> str:
        return f"test {self.test_id} in run {self.run_id}"


class LeakSource(models.TextChoices):
    PAYLOAD = "payload"  # a gate's own words
    TEXT = "text"  # recognised in a report


class Leak(models.Model):
    """One leak as one upload tells it: a fact of its run, and its outcome's.

    `counted` is decided anew with every summary (`leaking.py`): what a later attempt
    superseded or another upload tells better stays, and does not count.
    """

    project_id = models.BigIntegerField()
    run = models.ForeignKey(
        Run, models.CASCADE, related_name="leak_facts", db_index=False
    )
    shard = models.ForeignKey(Shard, models.CASCADE, related_name="leaks_told")
    test = models.ForeignKey(
        TestCase, models.CASCADE, null=True, related_name="leaks", db_index=False
    )  # null: of the whole session
    place = models.PositiveIntegerField()  # in its upload
    source = models.CharField(max_length=10, choices=LeakSource)
    kind = models.CharField(max_length=200)
    gate = models.CharField(max_length=200, blank=True)
    items = models.JSONField(default=list)
    item_count = models.PositiveIntegerField(default=0)
    phase = models.CharField(max_length=200, blank=True)
    worker = models.TextField(blank=True)
    position = models.PositiveIntegerField(null=True)
    enforced = models.BooleanField(default=True)
    opted_out = models.BooleanField(default=False)
    message = models.TextField(blank=True)
    recipe = models.TextField(blank=True)
    detail = models.JSONField(null=True)  # path, reason, agent_session, prompt
    reported = models.PositiveSmallIntegerField(null=True)  # CODE: the case's outcome
    what = models.BinaryField(max_length=16)  # digest: equal for the same leak
    content = models.BinaryField(max_length=16)  # digest: equal for the same words
    counted = models.BooleanField(default=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["project_id", "-run", "shard", "place"], name="leaks_newest"
            ),
            models.Index(fields=["run", "shard", "place"], name="leaks_of_run"),
            models.Index(fields=["test", "-run"], name="leaks_of_test"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} in run {self.run_id}"


class Day(models.Model):
    """A day's totals for one class of branches; rebuilt whole from its runs.

    `marks` rises with every change of the day's runs: a rebuild that began before the
    last one leaves the day dirty.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="days")
    date = models.DateField()
    branch_class = models.CharField(max_length=10)
    data = models.BinaryField(null=True)
    totals = models.JSONField(default=dict)
    dirty = models.BooleanField(default=True)
    marks = models.PositiveIntegerField(default=1)
    not_before = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)  # that failed, in a row
    error = models.TextField(blank=True)
    rebuilt_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "date", "branch_class"], name="one_day"
            )
        ]
        indexes = [
            models.Index(
                fields=["project"], name="dirty_days", condition=models.Q(dirty=True)
            )
        ]

    def __str__(self) -> str:
        return f"{self.date} {self.branch_class}"
