"""Pull requests, what they say of each other, commits, and the stored verdicts.

This package is the only writer of these tables. `Commit` and `Line` hold first parents
so that the ancestors of a commit are a range (`ancestry.py`).
"""

from __future__ import annotations

from django.db import models

from projects.models import Project


class State(models.TextChoices):
    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class Word(models.TextChoices):
    """The verdict in one word."""

    CLEAR = "clear"
    YOURS = "yours"
    NOT_YOURS = "not_yours"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class Source(models.TextChoices):
    DECLARED = "declared"  # by its texts
    COMPUTED = "computed"  # it inherits what the other one fixes
    MANUAL = "manual"


class Repository(models.Model):
    """What hooks say of a project's repository; the row that serialises its facts.

    `default_branch` is the one by which commits were marked; `former` are those that
    it had before. `causes_at`: leakers and classes are taken into account up to then.
    """

    project = models.OneToOneField(Project, models.CASCADE, primary_key=True)
    name = models.CharField(max_length=255, blank=True)
    told_branch = models.CharField(max_length=255, blank=True)  # by a hook
    default_branch = models.CharField(max_length=255)
    former = models.JSONField(default=list)
    version = models.PositiveIntegerField(default=0)
    causes_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "repositories"

    def __str__(self) -> str:
        return f"repository of {self.project_id}"


class Pull(models.Model):
    """A pull request (a merge request). What it says now, whatever came in which order.

    `told_key` and `refs_key` sort what was told by the sender's clock: only a later
    word replaces an earlier one. `due_at`: its verdict is to be made anew from then on;
    `marks` rises with every reason for that.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="pulls", db_index=False
    )
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    title = models.TextField(blank=True)
    body = models.TextField(blank=True)
    author = models.CharField(max_length=255, blank=True)
    url = models.TextField(blank=True)
    draft = models.BooleanField(default=False)
    head_sha = models.CharField(max_length=64, blank=True)
    head_branch = models.CharField(max_length=255, blank=True)
    head_repository = models.CharField(max_length=255, blank=True)
    base_sha = models.CharField(max_length=64, blank=True)
    base_branch = models.CharField(max_length=255, blank=True)
    merge_commit = models.CharField(max_length=64, blank=True)
    opened_at = models.DateTimeField(null=True)
    merged_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    told_key = models.CharField(max_length=120, blank=True)
    told_state = models.CharField(max_length=10, blank=True)
    told_at = models.DateTimeField(null=True)
    refs_key = models.CharField(max_length=120, blank=True)
    refs_at = models.DateTimeField(null=True)
    landed_as = models.CharField(max_length=64, blank=True)  # by a commit's message
    landed_at = models.DateTimeField(null=True)
    hand_state = models.CharField(max_length=10, blank=True)
    hand_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    lease = models.CharField(max_length=80, blank=True)
    marks = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    failure = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="one_pull")
        ]
        indexes = [
            models.Index(fields=["project", "state", "-number"], name="pulls_by_state"),
            models.Index(
                fields=["due_at"],
                name="due_pulls",
                condition=models.Q(due_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.number}"


class Comment(models.Model):
    """A comment as its latest edit leaves it; a deleted one keeps its place."""

    pull = models.ForeignKey(
        Pull, models.CASCADE, related_name="comments", db_index=False
    )
    key = models.CharField(max_length=40)
    body = models.TextField(blank=True)
    told_key = models.CharField(max_length=120, blank=True)
    made_at = models.DateTimeField(null=True)
    deleted = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pull", "key"], name="one_comment")
        ]

    def __str__(self) -> str:
        return f"comment {self.key} on {self.pull_id}"


class Edge(models.Model):
    """`from_number` waits for (or is related to) the other one.

    `origin` is the pull request whose texts, or whose verdict, say so; 0 by hand. A
    repository's name stands where the other one is elsewhere. `denied`: a person took
    away what a text declares.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    origin = models.PositiveIntegerField()
    from_number = models.PositiveIntegerField()
    to_number = models.PositiveIntegerField()
    to_repository = models.CharField(max_length=255, blank=True)
    kind = models.CharField(max_length=10)  # formats.phrases.Kind
    source = models.CharField(max_length=10, choices=Source)
    reason = models.CharField(max_length=300, blank=True)
    denied = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    *("project", "from_number", "to_number", "to_repository"),
                    *("kind", "source", "origin"),
                ],
                name="one_edge",
            )
        ]
        indexes = [
            models.Index(fields=["project", "to_number"], name="edges_to"),
            models.Index(fields=["project", "origin"], name="edges_of_origin"),
        ]

    def __str__(self) -> str:
        return f"{self.from_number} {self.kind} {self.to_number}"


class Line(models.Model):
    """A stretch of first parents without a gap. Its commits' depths rise by one.

    `parent` and `parent_depth` are where it left another one, if that is known.
    `default_to`: up to this depth its commits are on the default branch.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    parent = models.BigIntegerField(null=True)  # a Line's id; no key, it may be moved
    parent_depth = models.IntegerField(null=True)
    default_to = models.IntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["project", "parent"], name="lines_that_left")]

    def __str__(self) -> str:
        return f"line {self.pk}"


class Commit(models.Model):
    """`pull`: the one that it landed. `queued`: the one that a merge queue tried with
    it. `tested`: a run outside of any pull request ran here."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    sha = models.CharField(max_length=64)
    short = models.BooleanField(default=False)  # perhaps an abbreviation
    line = models.ForeignKey(
        Line, models.CASCADE, related_name="commits", db_index=False
    )
    depth = models.IntegerField()
    at = models.DateTimeField(null=True)
    pull = models.PositiveIntegerField(null=True)
    queued = models.PositiveIntegerField(null=True)
    tested = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "sha"], name="one_commit")
        ]
        indexes = [
            models.Index(fields=["line", "depth"], name="commits_of_a_line"),
            models.Index(
                fields=["line", "-depth"],
                name="tested_commits",
                condition=models.Q(tested=True),
            ),
            models.Index(
                fields=["project", "pull"],
                name="landed_commits",
                condition=models.Q(pull__isnull=False),
            ),
            models.Index(
                fields=["project", "queued"],
                name="queued_commits",
                condition=models.Q(queued__isnull=False),
            ),
            models.Index(
                fields=["project"],
                name="short_commits",
                condition=models.Q(short=True),
            ),
        ]

    def __str__(self) -> str:
        return self.sha[:12]


class Tested(models.Model):
    """That a run outside of any pull request ran at a commit."""

    run_id = models.BigIntegerField(primary_key=True)  # results.Run
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    commit = models.ForeignKey(Commit, models.CASCADE, related_name="runs")
    branch = models.CharField(max_length=255, blank=True)

    class Meta:
        indexes = [models.Index(fields=["project", "branch"], name="tested_branches")]

    def __str__(self) -> str:
        return f"run {self.run_id}"


class Verdict(models.Model):
    """The newest verdict on a pull request, with all its evidence.

    `detail` is a `shapes.Told` as JSON. `waits` are the blockers that were open, for
    the day when none is left.
    """

    pull = models.OneToOneField(Pull, models.CASCADE, primary_key=True)
    word = models.CharField(max_length=10, choices=Word)
    red = models.BooleanField(default=False)
    sentence = models.TextField()
    head = models.CharField(max_length=64, blank=True)
    base = models.CharField(max_length=64, blank=True)
    quality = models.CharField(max_length=10, blank=True)  # known, derived, estimated
    detail = models.JSONField(default=dict)
    waits = models.JSONField(default=list)
    speaks = models.PositiveIntegerField(default=0)  # of so many leaks and failures
    tests = models.JSONField(default=list)  # ids of those that they are of
    causes = models.CharField(max_length=32, blank=True)  # digest: what made them so
    reviewed = models.PositiveIntegerField(default=0)  # version of its findings
    method = models.PositiveIntegerField(default=1)
    at = models.DateTimeField()
    changed_at = models.DateTimeField()  # since when the word is this one

    def __str__(self) -> str:
        return f"{self.word} of {self.pull_id}"


class Mark(models.Model):
    """That a pull request inherits, or fixes, one leak or failure."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    pull = models.ForeignKey(Pull, models.CASCADE, related_name="marked")
    key = models.BinaryField(max_length=16)
    share = models.CharField(max_length=10)  # inherited or fixed

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pull", "key", "share"], name="one_mark")
        ]
        indexes = [models.Index(fields=["project", "key", "share"], name="marks_of")]

    def __str__(self) -> str:
        return f"{self.pull_id} {self.share}"
