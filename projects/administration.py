"""What a project's admin changes: settings, tokens and the signing secret.

Every function writes its audit entry in the same transaction as the change.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from projects import audit, options, signing, tokens
from projects.models import AuditEntry, Project, Scope, Token

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Settings:
    """What the settings page edits: the project's own fields and its options."""

    title: str
    public: bool
    default_branch: str
    zone: str
    options: options.Options


def read_settings(project: Project) -> Settings:
    """Return the settings as they are."""
    return Settings(
        title=project.title,
        public=project.public,
        default_branch=project.default_branch,
        zone=project.zone,
        options=options.read(project),
    )


def save_settings(
    project: Project, settings: Settings, *, actor: str
) -> dict[str, list[Any]]:  # Any: JSON values
    """Store settings; return what changed as {name: [before, after]}."""
    changed = _differences(read_settings(project), settings)
    if not changed:
        return {}
    with transaction.atomic():
        Project.objects.filter(pk=project.pk).update(
            title=settings.title,
            public=settings.public,
            default_branch=settings.default_branch,
            zone=settings.zone,
            options=options.to_json(settings.options),
        )
        audit.record(
            project,
            actor=actor,
            action="settings.changed",
            subject=", ".join(sorted(changed)),
            detail=changed,
        )
    return changed


def follow_default_branch(project: Project, name: str, *, before: str) -> bool:
    """Take over what the repository's host calls the default branch.

    A person's word stays: only `main`, which nobody chose, or what the host said
    `before`, is replaced, and nothing once somebody has set it.
    """
    chosen = AuditEntry.objects.filter(
        project=project, action="settings.changed", subject__contains="default_branch"
    )
    taken = {Project._meta.get_field("default_branch").get_default(), before} - {""}
    mine = Project.objects.filter(pk=project.pk, default_branch__in=taken)
    with transaction.atomic():
        if chosen.exists() or not mine.exclude(default_branch=name).update(
            default_branch=name
        ):
            return False
        audit.record(
            project,
            actor="webhook",
            action="default_branch.followed",
            subject=name,
            detail={"default_branch": [project.default_branch, name]},
        )
    return True


def make_token(
    project: Project, *, name: str, scopes: Iterable[Scope], user: User
) -> tuple[Token, str]:
    """Issue a token; the second value is its plain text, which is shown once."""
    with transaction.atomic():
        token, plain = tokens.issue(project, name=name, scopes=scopes, created_by=user)
        audit.record(
            project,
            actor=user.get_username(),
            action="token.issued",
            subject=f"{name} ({token.hint}…)",
            detail={"scopes": token.scopes},
        )
    return token, plain


def revoke_token(token: Token, *, actor: str) -> None:
    """Make a token invalid at once; the row stays, so that its uses can be read."""
    if token.revoked_at is not None:
        return
    with transaction.atomic():
        tokens.revoke(token)
        audit.record(
            token.project,
            actor=actor,
            action="token.revoked",
            subject=f"{token.name} ({token.hint}…)",
        )


def rotate_secret(project: Project, *, actor: str, now: datetime) -> str:
    """Make a new signing secret; it is shown once, the old one signs for 24 hours."""
    with transaction.atomic():
        value = signing.rotate(project, now=now)
        audit.record(project, actor=actor, action="webhook_secret.rotated")
    return value


def _differences(before: Settings, after: Settings) -> dict[str, list[Any]]:
    old, new = _flat(before), _flat(after)
    return {name: [old[name], new[name]] for name in new if old[name] != new[name]}


def _flat(settings: Settings) -> dict[str, Any]:  # Any: JSON values
    plain = asdict(settings)
    flat = plain | plain.pop("options")
    flat.pop("options", None)
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in flat.items()
    }
