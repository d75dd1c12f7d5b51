"""A project's code host: set, changed, removed. Its secret is never shown again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from notify.addresses import BadUrl, check_url
from notify.endpoints import BadEndpoint
from notify.models import CodeHost, HostKind, Remark
from projects import audit

if TYPE_CHECKING:
    from projects.models import Project

DEFAULT_URLS = {
    HostKind.GITHUB: "https://api.github.com",
    HostKind.GITLAB: "https://gitlab.com/api/v4",
}
_REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)*", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,20}", re.ASCII)


def of(project: Project) -> CodeHost | None:
    return CodeHost.objects.filter(project=project).first()


def save(
    project: Project,
    *,
    kind: str,
    api_url: str,
    repository: str,
    secret: str,
    app_id: str = "",
    installation_id: str = "",
    comments: bool = True,
    checks: bool = True,
    actor: str,
) -> CodeHost:
    """Set the host; without a secret the one that is there stays."""
    before = of(project)
    api_url = api_url or DEFAULT_URLS[HostKind(kind)]
    # A secret goes nowhere but where it was given for.
    same = before is not None and (before.api_url, before.kind) == (api_url, kind)
    if not secret and before is not None and same:
        secret = before.secret
    values = {
        "kind": kind,
        "api_url": api_url,
        "repository": repository,
        "secret": secret,
        "app_id": app_id,
        "installation_id": installation_id,
        "comments": comments,
        "checks": checks,
    }
    _check(values)
    fresh = {"held_until": None, "error": "", "changed_at": timezone.now()}
    with transaction.atomic():
        host, _ = CodeHost.objects.update_or_create(
            project=project, defaults=values | fresh
        )
        _record(project, actor, "code_host.changed", f"{repository} on {kind}")
    return host


def remove(project: Project, *, actor: str) -> None:
    """Say nothing more there; what was said stays."""
    with transaction.atomic():
        CodeHost.objects.filter(project=project).delete()
        Remark.objects.filter(project=project).update(due_at=None, lease="")
        _record(project, actor, "code_host.removed", "")


def _check(values: dict[str, object]) -> None:
    try:
        check_url(str(values["api_url"]), settings.HEALTHBOARD_WEBHOOK_ALLOW)
    except BadUrl as error:
        raise BadEndpoint("api_url", str(error)) from error
    if not _REPOSITORY.fullmatch(str(values["repository"])):
        raise BadEndpoint("repository", "must be owner/name (or a number, on GitLab)")
    secret = str(values["secret"])
    if not secret:
        raise BadEndpoint("secret", "is needed, for this host")
    for name in ("app_id", "installation_id"):
        if values[name] and not _DIGITS.fullmatch(str(values[name])):
            raise BadEndpoint(name, "must be a number")
    if bool(values["app_id"]) != bool(values["installation_id"]):
        raise BadEndpoint("installation_id", "an app needs both numbers")
    if values["app_id"]:
        try:
            RSAKey.import_key(secret)
        except (JoseError, ValueError, TypeError):
            raise BadEndpoint("secret", "must be the app's private key (PEM)") from None
    elif not secret.isascii() or not secret.isprintable() or " " in secret:
        raise BadEndpoint("secret", "must be a token: ASCII without spaces")


def _record(project: Project, actor: str, action: str, subject: str) -> None:
    audit.record(project, actor=actor, action=action, subject=subject)
