"""`manage project create owner/name [--json]`: also before the first `serve`."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from healthboard import schema
from projects.creation import ProjectError, create_project


class Command(BaseCommand):
    help = "Make a project; prints its token and webhook secret once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["create"])
        parser.add_argument("slug", metavar="owner/name")
        parser.add_argument("--json", action="store_true")

    def handle(self, *, slug: str, **options: Any) -> None:  # Any: Django's options
        try:
            schema.bring_up()
            created = create_project(slug, actor="command line")
        except (schema.Behind, ProjectError) as error:
            raise CommandError(str(error)) from error
        answer = {
            "project": created.project.slug,
            "token": created.token,
            "webhook_secret": created.webhook_secret,
        }
        if options["json"]:
            self.stdout.write(json.dumps(answer))
            return
        for name, value in answer.items():
            self.stdout.write(f"{name}: {value}")
        self.stdout.write("Both secrets are shown only now.")
