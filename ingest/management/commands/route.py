"""`manage route create|list|rotate|disable`: webhook routes without the pages."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from ingest import routes
from ingest.models import Route, RouteKind
from projects.models import Project

ACTOR = "command line"


class Command(BaseCommand):
    help = "Make a webhook route, give it a new secret, disable it, or list all."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="prints path and secret once")
        create.add_argument("project", metavar="owner/name")
        create.add_argument("kind", choices=RouteKind.values)
        create.add_argument("--name", default="", help="what it is for")
        rotate = actions.add_parser("rotate", help="prints the new secret once")
        disable = actions.add_parser("disable", help="answers 404 from now on")
        for each in (rotate, disable):
            each.add_argument("path", help="/webhooks/… as `create` printed it")
        listed = actions.add_parser("list", help="the routes of a project")
        listed.add_argument("project", metavar="owner/name")
        for each in (create, rotate, disable, listed):
            each.add_argument("--json", action="store_true")

    def handle(self, *, action: str, **options: Any) -> None:  # Any: Django's options
        answer = getattr(self, f"_{action}")(**options)
        if options["json"]:
            self.stdout.write(json.dumps(answer))
            return
        for row in answer if isinstance(answer, list) else [answer]:
            for name, value in row.items():
                self.stdout.write(f"{name}: {value}")
        if "secret" in answer:
            self.stdout.write("The secret is shown only now.")

    def _create(
        self, *, project: str, kind: str, name: str, **options: Any
    ) -> dict[str, str]:
        if len(name) > 100:
            raise CommandError("A name has at most 100 characters.")
        created = routes.create(
            _project(project),
            RouteKind(kind),
            actor=ACTOR,
            now=timezone.now(),
            name=name,
        )
        return {"path": created.route.address, "secret": created.secret}

    def _rotate(self, *, path: str, **options: Any) -> dict[str, str]:
        route = _route(path)
        secret = routes.rotate(route, actor=ACTOR, now=timezone.now())
        return {"path": route.address, "secret": secret}

    def _disable(self, *, path: str, **options: Any) -> dict[str, str]:
        route = _route(path)
        routes.disable(route, actor=ACTOR, now=timezone.now())
        return {"path": route.address, "state": "disabled"}

    def _list(self, *, project: str, **options: Any) -> list[dict[str, str]]:
        return [
            {
                "path": route.address,
                "kind": route.kind,
                "name": route.name,
                "state": "disabled" if route.disabled_at else "enabled",
            }
            for route in routes.routes_of(_project(project))
        ]


def _project(slug: str) -> Project:
    owner, _, name = slug.partition("/")
    project = Project.objects.filter(owner=owner, name=name).first()
    if project is None:
        raise CommandError(f"There is no project {slug}.")
    return project


def _route(path: str) -> Route:
    try:
        return routes.find(path.rpartition("/")[2])
    except routes.NoSuchRoute as error:
        raise CommandError(f"There is no route {path}, or it is disabled.") from error
