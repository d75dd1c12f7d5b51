"""Sending one upload, and waiting for what the server makes of it.

Guarantees: the same id with every attempt; an upload is called sent only when the
server said that it has it; one that the server refuses for good is not kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from healthboard_client.exits import Unanswered

if TYPE_CHECKING:
    from collections.abc import Callable

    from healthboard_client.server import Server
    from healthboard_client.spool import Entry

PATH = "/api/v1/uploads"
POLL_S = (0.2, 5.0)
FINAL = ("processed", "rejected", "dead")
# Mended by another token or a larger limit, so worth keeping.
_CURABLE = (401, 403, 404, 413)


@dataclass(frozen=True)
class Receipt:
    """The server has the upload."""

    upload: int
    duplicate: bool


class Refused(Unanswered):
    """The server does not take the upload; `final` where no later time changes that."""

    def __init__(self, message: str, *, final: bool) -> None:
        super().__init__(message)
        self.final = final


def send(server: Server, entry: Entry) -> Receipt:
    """Send one entry; raise `Refused`, or `NoAnswer` when the time is over."""
    headers = {
        "Content-Type": f'multipart/form-data; boundary="{entry.label.boundary}"',
        "Content-Encoding": "gzip",
        "Idempotency-Key": entry.label.key,
    }
    answer = server.call("POST", PATH, entry.body, headers)
    if not answer.good:
        final = answer.status >= 400 and answer.status not in _CURABLE
        raise Refused(answer.reason(), final=final)
    said = answer.json()
    if not isinstance(said, dict) or "id" not in said:
        raise Refused("the answer names no upload: is this Healthboard?", final=False)
    return Receipt(int(said["id"]), said.get("status") == "duplicate")


def wait(server: Server, receipt: Receipt, *, most: float) -> dict[str, Any]:
    """Wait until an upload is processed; return what the server says of it."""
    path = f"{PATH}/{receipt.upload}"
    return until(
        server,
        lambda: server.get(path),
        lambda upload: upload["state"] in FINAL,
        most=most,
        what=f"upload {receipt.upload} to be processed",
    )


def until(
    server: Server,
    ask: Callable[[], dict[str, Any]],
    done: Callable[[dict[str, Any]], bool],
    *,
    most: float,
    what: str,
) -> dict[str, Any]:
    """Ask again and again, ever more slowly, until it is so."""
    end, (pause, longest) = server.clock() + most, POLL_S
    while True:
        said = ask()
        if done(said):
            return said
        if server.clock() + pause > end:
            raise Unanswered(f"waited {most:g} s for {what}")
        server.pause(pause)
        pause = min(1.5 * pause, longest)
