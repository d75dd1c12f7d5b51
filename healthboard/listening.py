"""The socket of `serve`: opened once, and handed to each web process in turn.

So a port that is taken is known before anything starts, and a web process that is
replaced turns nobody away: who connects meanwhile waits.
"""

from __future__ import annotations

import errno
import socket


class PortTaken(Exception):
    """The message says what to do about it."""


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((host, port))
    except (OSError, OverflowError) as error:
        server.close()
        raise PortTaken(_reason(error, host, port)) from error
    server.listen(512)
    return server


def _reason(error: Exception, host: str, port: int) -> str:
    code = error.errno if isinstance(error, OSError) else None
    if code == errno.EADDRINUSE:
        return f"port {port} is taken; choose another with --port"
    if code == errno.EACCES:
        return f"port {port} needs root; choose one above 1023 with --port"
    return f"cannot listen on {host} port {port}: {error}"
