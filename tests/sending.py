"""Building the bodies and headers of uploads, byte by byte, for the tests."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

BOUNDARY = "a-boundary-of-ours"
PATH = "/api/v1/uploads"
PASSED = b'<testsuite name="s"><testcase classname="m" name="one"/></testsuite>'


@dataclass(frozen=True)
class Upload:
    """One upload as a sender puts it together."""

    context: dict[str, Any] | bytes | None = None
    files: list[tuple[str, str, bytes]] = field(
        default_factory=lambda: [("junit", "report.xml", PASSED)]
    )
    boundary: str = BOUNDARY

    @property
    def body(self) -> bytes:
        parts = []
        if self.context is not None:
            raw = self.context
            text = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
            parts.append(self._part("context", "", text))
        parts += [self._part(*each) for each in self.files]
        return b"".join(parts) + f"--{self.boundary}--\r\n".encode()

    def _part(self, name: str, filename: str, content: bytes) -> bytes:
        named = f'; filename="{filename}"' if filename else ""
        head = f'Content-Disposition: form-data; name="{name}"{named}'
        return f"--{self.boundary}\r\n{head}\r\n\r\n".encode() + content + b"\r\n"

    @property
    def content_type(self) -> str:
        return f'multipart/form-data; boundary="{self.boundary}"'


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def signed(body: bytes, secret: str, *, at: float | None = None) -> dict[str, str]:
    stamp = str(int(time.time() if at is None else at))
    mac = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256)
    return {
        "X-Webhook-Timestamp": stamp,
        "X-Webhook-Signature-V2": mac.hexdigest(),
    }


def post(
    body: bytes | Upload,
    headers: dict[str, str],
    *,
    query: str = "",
    content_type: str = "",
) -> Any:
    """POST through Django's own test client, errors and all."""
    raw = body if isinstance(body, bytes) else body.body
    given = Upload().content_type if isinstance(body, bytes) else body.content_type
    return Client(raise_request_exception=False).post(
        PATH + query,
        data=raw,
        content_type=content_type or given,
        headers=headers,
    )
