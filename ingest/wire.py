"""A request's body as blocks from the socket, with or without a Content-Length.

Guarantees: never more than the cap is handed out; a body shorter than its
Content-Length is `Malformed`; nothing is kept in memory but one block; a client that
stops sending holds a thread for a bounded time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gunicorn.http.errors import ParseException

from formats.unpacking import BLOCK, Malformed, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator

# After a refusal the rest is read up to so much beyond the cap, so that a client which
# is still sending gets to read the answer; a longer rest ends with the connection.
DRAIN = 8 * 2**20
DRAIN_IDLE_S = 5.0
IDLE_S = 60.0

_BROKEN = (OSError, ParseException)  # the connection ended; its chunks are no chunks


class Wire:
    """The raw body of one request. `count` is the number of bytes read so far."""

    def __init__(self, environ: dict[str, Any], *, most: int) -> None:  # Any: WSGI
        self._stream = environ["wsgi.input"]
        self._socket = environ.get("gunicorn.socket")
        self._wait_at_most(IDLE_S)
        self._most = most
        self._length = _length(environ)
        self._ended = False
        self.count = 0

    @property
    def exceeded(self) -> bool:
        """Tell whether more than the cap came in."""
        return self.count > self._most

    def check(self) -> None:
        """Refuse a body that announces to be too large, before reading it."""
        if self._length is not None and self._length > self._most:
            raise self._too_large()

    def blocks(self) -> Iterator[bytes]:
        """Yield what has not been read yet."""
        while block := self._read():
            if self.exceeded:
                raise self._too_large()
            yield block

    def drain(self) -> None:
        """Read and forget a bounded part of what is left."""
        self._wait_at_most(DRAIN_IDLE_S)
        stop = self._most + DRAIN
        try:
            while self.count < stop and self._read():
                pass
        except Malformed:
            self._ended = True

    def _wait_at_most(self, seconds: float) -> None:
        # gunicorn makes its socket blocking again before the next request.
        if self._socket is not None:
            self._socket.settimeout(seconds)

    def _read(self) -> bytes:
        if self._ended:
            return b""
        size = BLOCK
        if self._length is not None:
            size = min(size, self._length - self.count)
        try:
            block: bytes = self._stream.read(size) if size else b""
        except _BROKEN as error:
            self._ended = True
            raise Malformed("the connection broke while the body came in") from error
        self.count += len(block)
        self._ended = not block
        if not block and self._length is not None and self.count < self._length:
            raise Malformed("the body ended before its Content-Length")
        return block

    def _too_large(self) -> TooLarge:
        return TooLarge(f"the body is larger than {self._most} bytes")


def _length(environ: dict[str, Any]) -> int | None:  # Any: WSGI
    """Return the announced length; None where the stream itself says where it ends."""
    if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        return None
    text = environ.get("CONTENT_LENGTH") or ""
    if text.isascii() and text.isdigit():
        return int(text)
    return None if environ.get("wsgi.input_terminated") else 0
