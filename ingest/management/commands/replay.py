"""`manage replay --since 2026-01-31` or `manage replay 12 13`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ingest.replaying import replay


class Command(BaseCommand):
    help = "Process uploads again from their stored bytes, as after a parser fix."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ids", nargs="*", type=int, metavar="upload")
        parser.add_argument(
            "--since", help="all that were received since this day or time (UTC)"
        )

    def handle(self, *, ids: list[int], **options: Any) -> None:  # Any: Django's
        if bool(ids) == bool(options["since"]):
            raise CommandError("Name the uploads, or give --since; not both.")
        since = _moment(options["since"]) if options["since"] else None
        count = replay(since=since, ids=ids or None)
        self.stdout.write(f"{count} uploads will be processed again.")


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"{text!r} is no ISO 8601 day or time.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
