"""`manage project create|list|delete`: also before the first `serve`."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from healthboard import schema
from healthboard.deletion import NoProject, contents, delete_project
from projects.creation import ProjectError, create_project
from projects.models import Project
from results.queries.runs import summaries_for

ACTOR = "command line"
UNSURE = (
    "{} has {:,} runs, {:,} tests and {:,} uploads. Nothing was deleted. Deleting cannot "
    "be undone: say it again with --yes."
)


class Command(BaseCommand):
    help = "Make, list or delete projects; secrets are printed once."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="prints its token and secret, once")
        delete = actions.add_parser("delete", help="with all its runs and uploads")
        listed = actions.add_parser("list", help="all of them, with their last run")
        for action in (create, delete):
            action.add_argument("slug", metavar="owner/name")
        for action in (create, listed):
            action.add_argument("--json", action="store_true")
        delete.add_argument("--yes", action="store_true", help="really delete it")

    def handle(self, **options: Any) -> None:  # Any: Django's options
        try:
            schema.bring_up()
            match options["action"]:
                case "create":
                    self._create(options["slug"], as_json=options["json"])
                case "delete":
                    self._delete(options["slug"], sure=options["yes"])
                case _:
                    self._list(as_json=options["json"])
        except (schema.Behind, ProjectError, NoProject) as error:
            raise CommandError(str(error)) from error

    def _create(self, slug: str, *, as_json: bool) -> None:
        created = create_project(slug, actor=ACTOR)
        answer = {
            "project": created.project.slug,
            "token": created.token,
            "webhook_secret": created.webhook_secret,
        }
        if as_json:
            self.stdout.write(json.dumps(answer))
            return
        for name, value in answer.items():
            self.stdout.write(f"{name}: {value}")
        self.stdout.write("Both secrets are shown only now.")

    def _delete(self, slug: str, *, sure: bool) -> None:
        held = contents(slug)
        if not sure:
            raise CommandError(UNSURE.format(slug, held.runs, held.tests, held.uploads))
        delete_project(slug, actor=ACTOR)
        self.stdout.write(
            f"Deleted {slug}: {held.runs:,} runs, {held.tests:,} tests and"
            f" {held.uploads:,} uploads with their files."
        )

    def _list(self, *, as_json: bool) -> None:
        projects = list(Project.objects.order_by("owner", "name"))
        found = summaries_for(project.pk for project in projects)
        rows = [
            {
                "project": project.slug,
                "default_branch": project.default_branch,
                "public": project.public,
                "tests": found[project.pk].tests,
                "last_run": last.started_at.isoformat() if last else None,
                "outcome": last.outcome if last else None,
            }
            for project in projects
            for last in [found[project.pk].last_run]
        ]
        if as_json:
            self.stdout.write(json.dumps(rows))
            return
        for row in rows:
            told = (
                f"{row['outcome']}, {row['last_run']}" if row["outcome"] else "no runs"
            )
            self.stdout.write(f"{row['project']}: {row['tests']:,} tests; {told}")
        if not rows:
            self.stdout.write("There is no project yet: project create owner/name")
