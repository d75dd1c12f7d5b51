"""Projects, who may see and change them, and every change that was made.

This package is the only writer of these tables.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Role(models.TextChoices):
    VIEWER = "viewer"
    TRIAGER = "triager"
    ADMIN = "admin"


class Scope(models.TextChoices):
    UPLOAD = "upload"
    READ = "read"
    ADMIN = "admin"


class Project(models.Model):
    """A suite of tests with its own tokens, members and settings.

    `options` holds what the settings page edits, read through `options.read`.
    """

    owner = models.CharField(max_length=100)
    name = models.CharField(max_length=100)
    title = models.CharField(max_length=200, blank=True)
    public = models.BooleanField(default=False)
    demo = models.BooleanField(default=False)
    default_branch = models.CharField(max_length=255, default="main")
    zone = models.CharField(max_length=64, default="UTC")
    options = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="project_slug")
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def slug(self) -> str:
        return f"{self.owner}/{self.name}"


class Membership(models.Model):
    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_role_each")
        ]

    def __str__(self) -> str:
        return f"{self.user} {self.role} of {self.project}"


class Token(models.Model):
    """A bearer token. Only its SHA-256 is stored; `hint` is its readable start."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)
    scopes = models.JSONField(default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"


class Secret(models.Model):
    """A secret of a project's uploads (V2), or of one webhook route.

    During a rotation two are valid. Kept readable, as an HMAC needs it; see SECURITY.md.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="secrets")
    route = models.CharField(max_length=64, blank=True)  # its path; "" for uploads
    value = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"secret {self.pk} of {self.project}"


class Identity(models.Model):
    """A person at a provider of sign-ins, tied to an account here."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="identities"
    )
    provider = models.CharField(max_length=40)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "identities"
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "subject"], name="one_account_a_person"
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.subject}"


class FailedSignIn(models.Model):
    """A wrong password, kept for minutes. `key` is a digest of account and address."""

    key = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["key", "at"], name="failed_sign_ins")]

    def __str__(self) -> str:
        return f"{self.key[:8]} {self.at:%H:%M:%S}"


class AuditEntry(models.Model):
    """One change that a person, a token or a command made. Append only."""

    project = models.ForeignKey(
        Project, models.CASCADE, null=True, related_name="audit"
    )
    at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=200)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=300, blank=True)
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["project", "-at"], name="audit_newest")]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.subject}"
