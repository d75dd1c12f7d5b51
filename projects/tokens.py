"""Bearer tokens: made, checked and revoked. Only digests are stored."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from projects.models import Project, Scope, Token

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import AbstractBaseUser

PREFIX = "hb_"
TOUCH_EVERY = timedelta(minutes=10)


def issue(
    project: Project,
    *,
    name: str,
    scopes: Iterable[Scope],
    created_by: AbstractBaseUser | None = None,
) -> tuple[Token, str]:
    """Make a token; the second value is its plain text, which is never stored."""
    plain = PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        project=project,
        name=name,
        digest=_digest(plain),
        hint=plain[:8],
        scopes=sorted(scopes),
        created_by_id=created_by.pk if created_by else None,
    )
    return token, plain


def find(plain: str) -> Token | None:
    """Return the valid token with this plain text, with its project, or None.

    A look-up by digest: an unknown text costs the same as a known one, and no
    comparison of secrets takes place.
    """
    return (
        Token.objects.select_related("project")
        .filter(digest=_digest(plain), revoked_at=None)
        .first()
    )


def touch(token: Token, *, now: datetime) -> None:
    """Note that a token was used, at most every ten minutes."""
    if token.last_used_at is not None and now - token.last_used_at < TOUCH_EVERY:
        return  # as most requests find it: nothing to ask the database
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - TOUCH_EVERY)
    Token.objects.filter(stale, pk=token.pk).update(last_used_at=now)


def revoke(token: Token) -> None:
    """Make a token invalid at once and for ever."""
    Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def _digest(plain: str) -> str:
    return hashlib.sha256(plain.encode("utf-8", "surrogateescape")).hexdigest()
