"""A broker that needs no server: kombu's file system transport, made safe.

Guarantees: a message is complete when it can be seen, a message that says the same
as one that waits adds nothing (so a flood of uploads leaves one file a stage), and a
taken message leaves nothing behind. All messages only say "look now".
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import filesystem

NOTICE_SECONDS = 0.2
YOUNG_SECONDS = 5.0


class Channel(filesystem.Channel):
    """Messages are files. `Any` and the ignored overrides are kombu's."""

    def _put(  # type: ignore[override]
        self, queue: str, payload: dict[str, Any], **kwargs: Any
    ) -> None:
        folder = Path(self.data_folder_out)
        headers = payload.get("headers") or {}
        saying = f"{headers.get('task')} {headers.get('argsrepr')}"
        name = hashlib.sha256(saying.encode()).hexdigest()[:16]
        waiting = folder / f"{name}.{queue}.msg"
        if _waits(waiting):
            return
        written = folder / f"{uuid.uuid4()}.tmp"
        written.write_text(json.dumps(payload))
        written.replace(waiting)

    def _get(self, queue: str) -> Any:  # type: ignore[override]
        # Asked twenty times a second for each queue, so a plain listing.
        folder, ending = self.data_folder_in, f".{queue}.msg"
        for name in sorted(os.listdir(folder)):  # noqa: PTH208
            if not name.endswith(ending):
                continue
            taken = Path(folder, f"{uuid.uuid4()}.taken")
            try:
                Path(folder, name).rename(taken)
            except FileNotFoundError:
                continue
            payload = taken.read_text()
            taken.unlink()
            return json.loads(payload)
        raise Empty


def _waits(message: Path) -> bool:
    """Tell whether a message waits that will not have run out when it is taken.

    Whoever takes it looks after this moment, so it says all that a new one would.
    """
    try:
        return time.time() - message.stat().st_mtime < YOUNG_SECONDS
    except FileNotFoundError:
        return False


class Transport(filesystem.Transport):
    Channel = Channel

    def drain_events(  # type: ignore[override]
        self, connection: Any, timeout: float | None = None
    ) -> None:
        """Wait for a message, but not so long that a stop is noticed late."""
        soon = min(timeout or 1.0, NOTICE_SECONDS)
        super().drain_events(connection, timeout=soon)  # type: ignore[no-untyped-call]
