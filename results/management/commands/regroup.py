"""`manage.py regroup`: group failures anew after the fingerprint method changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from projects.models import Project
from results.regrouping import regroup

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    help = "Fingerprint stored failures of an older method version anew."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", nargs="?", help="owner/name; default: all")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's signature
        slug = options["project"]
        project_id = None if slug is None else _project_id(slug)
        self.stdout.write(f"{regroup(project_id=project_id)} texts grouped anew")


def _project_id(slug: str) -> int:
    owner, _, name = slug.partition("/")
    project = Project.objects.filter(owner=owner, name=name).first()
    if project is None:
        raise CommandError(f"there is no project {slug}")
    return project.pk
