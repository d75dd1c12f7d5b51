"""Who sends an upload: a bearer token, or a V2 signature of its project's secret.

Guarantees: everything that is not authenticated raises the same `Unauthenticated`, and
costs the same whether the project exists; nothing in a signed body is believed before
its signature was checked, but the name of the project whose secret must have signed it.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.problems import Unauthenticated
from ingest.signatures import BadSignature, Signature, read_v2
from projects import signing, tokens
from projects.models import Project, Token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Claim:
    """A fresh V2 signature that was not checked yet."""

    signature: Signature
    project: str  # the slug that the address names, or ""


def identify(
    headers: Mapping[str, str], *, project: str, now: datetime
) -> Token | Claim:
    """Return the valid token or the signature that a request carries."""
    scheme, _, plain = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        token = tokens.find(plain.strip())
        if token is None:
            raise Unauthenticated
        return token
    try:
        return Claim(read_v2(headers, now=now), project)
    except BadSignature as error:
        raise Unauthenticated(str(error)) from error


def verify(
    claim: Claim, body: Iterable[bytes], *, context: bytes, now: datetime
) -> Project:
    """Return the project whose secret signed this body; `context` may name it."""
    project = _find(claim.project or _named_project(context))
    keys = signing.valid_secrets(project, now=now) if project else []
    # Without a project the body is hashed all the same: time tells nothing.
    signed = claim.signature.matches(keys or [secrets.token_hex()], body)
    if project is None or not signed:
        raise Unauthenticated
    return project


def _find(slug: str) -> Project | None:
    owner, slash, name = slug.partition("/")
    if not slash or not owner.isprintable() or not name.isprintable():
        return None
    return Project.objects.filter(owner=owner, name=name).first()


def _named_project(context: bytes) -> str:
    try:
        document = json.loads(context)
    except (ValueError, RecursionError):
        return ""
    named = document.get("project") if isinstance(document, dict) else None
    return named if isinstance(named, str) else ""
