"""The demo's project and the token that its uploads are sent with.

Guarantees: a project that is not a demo is never touched; the history ends when the
project was made, so that every later seeding is the same one; no token stays valid.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from projects import administration, audit, tokens
from projects.creation import ProjectError, create_project
from projects.models import Project, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator

_TITLE = "A made-up agent runtime with made-up failures"
_ACTOR = "demo"


class NotADemo(Exception):
    """There is a project of this name already, and it is somebody's own."""


def demo_project(slug: str) -> Project:
    """Return the demo project, made if it is not there."""
    owner, _, name = slug.partition("/")
    project = Project.objects.filter(owner=owner, name=name).first()
    if project is None:
        return _make(slug)
    if not project.demo:
        raise NotADemo(f"{slug} is a project already, and not a demo")
    return project


def _make(slug: str) -> Project:
    try:
        project = create_project(slug, actor=_ACTOR, demo=True).project
    except ProjectError as error:
        raise NotADemo(str(error)) from error
    settings = replace(administration.read_settings(project), title=_TITLE)
    administration.save_settings(project, settings, actor=_ACTOR)
    for token in project.tokens.all():  # nobody has seen it
        administration.revoke_token(token, actor=_ACTOR)
    return project


@contextmanager
def borrowed_token(project: Project) -> Iterator[str]:
    """Lend a token for as long as the block runs; one left by a crash ends too."""
    for left in project.tokens.filter(name=_ACTOR, revoked_at=None):
        administration.revoke_token(left, actor=_ACTOR)
    token, plain = tokens.issue(project, name=_ACTOR, scopes=[Scope.UPLOAD, Scope.READ])
    audit.record(project, actor=_ACTOR, action="token.issued", subject=_ACTOR)
    try:
        yield plain
    finally:
        administration.revoke_token(token, actor=_ACTOR)
