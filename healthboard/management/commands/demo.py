"""`manage demo`: fills the demo project of a running server by uploads over HTTP.

Guarantees: what was sent once is never added again, so a command that was interrupted
is simply run again.
"""

from __future__ import annotations

import time
from datetime import UTC
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from healthboard.demo.deliveries import deliveries
from healthboard.demo.project import NotADemo, borrowed_token, demo_project
from healthboard.demo.sending import SendingFailed, Server
from healthboard.demo.suite import SLUG


class Command(BaseCommand):
    help = "Fill a demo project with thirty days of CI history."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default="http://localhost:8000")
        parser.add_argument("--project", default=SLUG, metavar="owner/name")

    def handle(self, *, url: str, project: str, **_: Any) -> None:  # Any: Django's
        try:
            self._seed(url, project)
        except (NotADemo, SendingFailed) as error:
            if self.stdout.isatty():
                self.stdout.write("")  # ends the line that was kept up to date
            raise CommandError(f"the demo is not complete: {error}") from error

    def _seed(self, url: str, slug: str) -> None:
        started = time.monotonic()
        project = demo_project(slug)
        until = project.created_at.astimezone(UTC).replace(microsecond=0)
        with borrowed_token(project) as token:
            connection.close()
            server = Server(url, token=token)
            sent = new = 0
            for delivery in deliveries(until):
                new += server.send(delivery)
                sent += 1
                self._show(f"Demo: {sent} uploads sent, {delivery.elapsed:4.0%}")
            for left in server.remaining(slug):
                self._show(f"Demo: {sent} uploads sent, {left} still to be read")
            server.close()
        spent = time.monotonic() - started
        self._show(f"Demo: {sent} uploads, {new} new, in {spent:.0f} s", end="\n")
        self.stdout.write(f"See {server.address}/p/{slug}/")

    def _show(self, text: str, *, end: str = "") -> None:
        """Keep one line up to date; where it cannot be rewritten, show its last state."""
        if self.stdout.isatty():
            self.stdout.write(f"\r{text:<60}", ending=end)
            self.stdout.flush()
        elif end:
            self.stdout.write(text, ending=end)
