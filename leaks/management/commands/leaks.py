"""`manage.py leaks recompute owner/name`: judge a project anew, from all its facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from ingest import leases
from leaks import recounting
from leaks.models import Leaker, Verdict
from projects.models import Project
from results import recounts

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    help = "Recompute leakers, victims and classes of a project from all its facts."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["recompute"])
        parser.add_argument("slug", metavar="owner/name")

    def handle(self, *, slug: str, **options: Any) -> None:  # Any: Django's options
        owner, _, name = slug.partition("/")
        project = Project.objects.filter(owner=owner, name=name).first()
        if project is None:
            raise CommandError(f"there is no project {slug}")
        recount = recounts.take(project.pk, timezone.now(), lease=leases.new_lease())
        if recount is None:
            raise CommandError("a worker is at it right now; try again later")
        recounting.work(recount)
        leakers = Leaker.objects.filter(project=project).count()
        verdicts = Verdict.objects.filter(project=project).count()
        self.stdout.write(f"{leakers} leakers, {verdicts} unstable tests")
