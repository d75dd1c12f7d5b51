"""Signatures of what goes out: V2, as the board itself receives, and Standard Webhooks.

Guarantees: while two secrets are valid each receiver can check by the one it has: the
standard's header holds a signature by each, a V2 request is signed by one at a time.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

PREFIX = "whsec_"
SHORTEST = 16
SECRET_HEADERS = frozenset({"x-webhook-signature-v2", "webhook-signature"})


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def standard_key(secret: str) -> bytes:
    """Return the key of Standard Webhooks: what the secret encodes, else itself."""
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return secret.encode()


def headers(
    message_id: str, body: bytes, *, valid: Sequence[str], by: str, now: datetime
) -> dict[str, str]:
    """Return both schemes' headers; `by` is the secret that signs V2."""
    stamp = str(int(now.timestamp()))
    v2 = _mac(by.encode(), f"{stamp}.".encode() + body)
    text = f"{message_id}.{stamp}.".encode() + body
    standard = [base64.b64encode(_mac(standard_key(one), text)) for one in valid]
    return {
        "X-Request-ID": message_id,
        "X-Webhook-Timestamp": stamp,
        "X-Webhook-Signature-V2": v2.hex(),
        "webhook-id": message_id,
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(f"v1,{one.decode()}" for one in standard),
    }


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()
