"""`serve`: all of Healthboard in one command, on one machine, with no other server.

The first start makes an administrator and prints the password, there and nowhere else,
and fills a demo project through the API.
"""

from __future__ import annotations

import http.client
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from healthboard import collected, lifeline, locks, schema, sign_in
from healthboard.listening import PortTaken, listen
from healthboard.roles import ROLES, Role
from healthboard.supervisor import Part, Supervisor

if TYPE_CHECKING:
    import socket
    from pathlib import Path

HANDOVER_SECONDS = 20.0  # what a killed predecessor left ends within this
UP_SECONDS = 60.0
EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104


class Command(BaseCommand):
    help = "Run the web server and the workers on this machine."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="0: any free one")
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument(
            "--no-demo", action="store_true", help="do not make a demo project"
        )

    def handle(self, *, port: int, host: str, no_demo: bool, **_: Any) -> None:
        _own(settings.DATA_DIR)
        try:
            listener = listen(host, port)
        except PortTaken as error:
            raise CommandError(str(error)) from error
        try:
            schema.bring_up()
        except schema.Behind as error:
            raise CommandError(str(error)) from error
        collected.collect()
        password = sign_in.first_password()
        if password and not no_demo:
            _pending().touch()
        connection.close()
        address = _address(host, listener.getsockname()[1])
        _tell_parts(host, address)
        supervisor = Supervisor()
        supervisor.add(_web(listener))
        for role in ROLES:
            supervisor.add(_working(role))
        arguments = (supervisor, listener, address, password)
        threading.Thread(target=_welcome, args=arguments, daemon=True).start()
        supervisor.run()


def _own(data: Path) -> None:
    """Be the only server of a data directory; wait for what a killed one left."""
    if not locks.take(data / "serve.lock"):
        process = locks.holder(data / "serve.lock")
        raise CommandError(
            f"process {process} serves {data} already; end it, or give another --data"
        )
    deadline = time.monotonic() + HANDOVER_SECONDS
    for lock in (data / lifeline.WEB_LOCK, *(data / role.lock for role in ROLES)):
        while not locks.is_free(lock):
            if time.monotonic() > deadline:
                process = locks.holder(lock)
                raise CommandError(f"process {process} of the last server still runs")
            time.sleep(0.1)


def _address(host: str, port: int) -> str:
    if host in (*EVERYWHERE, "127.0.0.1"):
        host = "localhost"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _tell_parts(host: str, address: str) -> None:
    """Set what the parts read from the environment, where nobody set it."""
    if not os.environ.get("SITE_ROOT"):
        os.environ["SITE_ROOT"] = address
    if not os.environ.get("ALLOWED_HOSTS") and host not in EVERYWHERE:
        os.environ["ALLOWED_HOSTS"] = ",".join([*settings.ALLOWED_HOSTS, host])
    # On a terminal a line for each upload would push the first password out of sight.
    os.environ["LOG_LEVEL"] = os.environ.get("LOG_LEVEL") or "WARNING"


def _web(listener: socket.socket) -> Part:
    return Part(
        name="web",
        command=[sys.executable, "-m", "healthboard.web"],
        environment={"HEALTHBOARD_SOCKET": str(listener.fileno())},
        descriptors=(listener.fileno(),),
    )


def _working(role: Role) -> Part:
    command = [sys.executable, "-m", "healthboard.worker", role.name]
    return Part(name=role.name, command=command)


def _pending() -> Path:
    """The mark that the demo is still to be made; an interrupted one is made again."""
    path: Path = settings.DATA_DIR / "demo.pending"
    return path


def _welcome(
    supervisor: Supervisor, listener: socket.socket, address: str, password: str
) -> None:
    """Say where it is once it answers; then fill the demo, if it is still to do."""
    if not _answers(listener):
        return
    lines = [f"Healthboard is at {address}"]
    if password:
        lines += [
            f"Sign in as {sign_in.ADMIN} with {password} (this is shown only once;",
            "`python3 dev.py manage changepassword admin` sets another)",
        ]
    sys.stdout.write("\n".join(["", *lines, "", ""]))
    sys.stdout.flush()
    if _pending().exists():
        supervisor.add(
            Part(
                name="demo",
                command=[sys.executable, "manage.py", "demo", "--url", address],
                once=True,
                done=lambda code: None if code else _pending().unlink(),
            )
        )


def _answers(listener: socket.socket) -> bool:
    """Ask for a page. The socket is open already, so the question waits its turn."""
    host, port = listener.getsockname()[:2]
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    deadline = time.monotonic() + UP_SECONDS
    while time.monotonic() < deadline:
        client = http.client.HTTPConnection(local, port, timeout=UP_SECONDS)
        try:
            client.request("GET", "/healthz", headers={"Host": "localhost"})
            client.getresponse().read()
        except (OSError, http.client.HTTPException):
            time.sleep(0.2)
        else:
            return True
        finally:
            client.close()
    return False
