"""Signatures over the raw bytes of a body, as they were sent.

Guarantees: every comparison takes the same time whatever it finds; a V2 signature is
read only while it is fresh; with several valid secrets each of them is tried.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.models import RouteKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

SKEW_S = 300

_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
_HEX = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)


class BadSignature(Exception):
    """There is no signature, or it is none that can be checked; the message says why."""


@dataclass(frozen=True, slots=True)
class Signature:
    """An HMAC-SHA256 that was not checked yet: of `prefix` and the raw body."""

    prefix: bytes
    digest: str

    def matches(self, keys: Sequence[str], body: Iterable[bytes]) -> bool:
        """Tell whether one of these secrets signed the body."""
        macs = [hmac.new(key.encode(), self.prefix, hashlib.sha256) for key in keys]
        for block in body:
            for mac in macs:
                mac.update(block)
        found = [hmac.compare_digest(mac.hexdigest(), self.digest) for mac in macs]
        return any(found)


def read_v2(headers: Mapping[str, str], *, now: datetime) -> Signature:
    """Return the V2 signature of a request, if it is fresh."""
    timestamp = headers.get("X-Webhook-Timestamp", "").strip()
    digest = headers.get("X-Webhook-Signature-V2", "").strip()
    if not timestamp and not digest:
        raise BadSignature("it has no X-Webhook-Signature-V2")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise BadSignature("its X-Webhook-Timestamp is no time in seconds")
    if not _HEX.fullmatch(digest):
        raise BadSignature("its X-Webhook-Signature-V2 is no SHA-256 in hex")
    skew = round(now.timestamp()) - int(timestamp)
    if abs(now.timestamp() - int(timestamp)) > SKEW_S:
        ahead = "behind" if skew > 0 else "ahead of"
        raise BadSignature(f"its timestamp is {abs(skew)} s {ahead} our clock")
    return Signature(f"{timestamp}.".encode(), digest.lower())


def read_github(headers: Mapping[str, str]) -> Signature:
    """Return the signature of a GitHub hook."""
    sent = headers.get("X-Hub-Signature-256", "").strip()
    scheme, _, digest = sent.partition("=")
    if not sent:
        raise BadSignature(
            "it has no X-Hub-Signature-256: does the hook have a secret?"
        )
    if scheme != "sha256" or not _HEX.fullmatch(digest):
        raise BadSignature("its X-Hub-Signature-256 is not sha256= and 64 hex digits")
    return Signature(b"", digest.lower())


def check_gitlab(headers: Mapping[str, str], keys: Sequence[str]) -> None:
    """Check the secret itself, which a GitLab hook sends."""
    sent = headers.get("X-Gitlab-Token", "")
    if not sent:
        raise BadSignature(
            "it has no X-Gitlab-Token: does the hook have a secret token?"
        )
    matches = [hmac.compare_digest(key.encode(), sent.encode()) for key in keys]
    if not any(matches):
        raise BadSignature("its X-Gitlab-Token is not the secret of this route")


def read(
    kind: str, headers: Mapping[str, str], keys: Sequence[str], *, now: datetime
) -> Signature | None:
    """Return what is to be checked over the body; None where the headers suffice."""
    if kind == RouteKind.GITLAB:
        check_gitlab(headers, keys)
        return None
    if kind == RouteKind.GITHUB:
        return read_github(headers)
    return read_v2(headers, now=now)
