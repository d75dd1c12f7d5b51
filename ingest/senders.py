"""Who sends an upload: a bearer token, or a V2 signature of its project's secret.

Guarantees: everything that is not authenticated raises the same `Unauthenticated`, and
costs the same whether the project exists; nothing in a signed body is believed before
its signature was checked, but the name of the project whose secret must have signed it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.problems import Unauthenticated
from projects import signing, tokens
from projects.models import Project, Token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

SKEW_S = 300

_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Signature:
    """A fresh V2 signature that was not checked yet."""

    timestamp: str
    digest: str
    project: str  # the slug that the address names, or ""


def identify(
    headers: Mapping[str, str], *, project: str, now: datetime
) -> Token | Signature:
    """Return the valid token or the signature that a request carries."""
    scheme, _, plain = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        token = tokens.find(plain.strip())
        if token is None:
            raise Unauthenticated
        return token
    timestamp = headers.get("X-Webhook-Timestamp", "").strip()
    digest = headers.get("X-Webhook-Signature-V2", "").strip()
    if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(digest):
        raise Unauthenticated
    if abs(now.timestamp() - int(timestamp)) > SKEW_S:
        raise Unauthenticated
    return Signature(timestamp, digest.lower(), project)


def verify(
    signature: Signature, body: Iterable[bytes], *, context: bytes, now: datetime
) -> Project:
    """Return the project whose secret signed this body; `context` may name it."""
    project = _find(signature.project or _named_project(context))
    # Without a project the body is hashed all the same: time tells nothing.
    keys = signing.valid_secrets(project, now=now) if project else []
    macs = [
        hmac.new(key.encode(), f"{signature.timestamp}.".encode(), hashlib.sha256)
        for key in keys or [secrets.token_hex()]
    ]
    for block in body:
        for mac in macs:
            mac.update(block)
    matches = [hmac.compare_digest(mac.hexdigest(), signature.digest) for mac in macs]
    if project is None or not any(matches):
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
