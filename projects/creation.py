"""Making a project with what it needs to be used."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils import timezone

from projects import audit, signing, tokens
from projects.models import Project, Scope

SLUG = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")


class ProjectError(ValueError):
    """A project cannot be made as asked; the message says why."""


@dataclass(frozen=True, slots=True)
class Created:
    """A new project with its secrets in plain text: shown once."""

    project: Project
    token: str
    webhook_secret: str


def create_project(slug: str, *, actor: str, demo: bool = False) -> Created:
    """Make a project, a token with every scope, and a signing secret."""
    if not SLUG.fullmatch(slug):
        raise ProjectError(
            f"{slug!r} is no project name: use owner/name with letters, digits, . _ -"
        )
    owner, name = slug.split("/")
    try:
        with transaction.atomic():
            project = Project.objects.create(owner=owner, name=name, demo=demo)
            _, plain = tokens.issue(project, name="first token", scopes=list(Scope))
            secret = signing.rotate(project, now=timezone.now())
            audit.record(project, actor=actor, action="project.created", subject=slug)
    except IntegrityError as error:
        raise ProjectError(f"the project {slug} exists already") from error
    return Created(project, plain, secret)
