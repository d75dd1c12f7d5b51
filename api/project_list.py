"""Projects: what the asker may read."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Query, Router

from api import paging
from api.access import asker_of, project_of, projects_of
from api.addresses import project_url
from api.shapes import Listing, ProjectShape
from projects.models import Project

router = Router(tags=["projects"])


@router.get("/projects", response=Listing[ProjectShape])
def list_projects(
    request: HttpRequest, paged: Query[paging.Paged]
) -> Listing[ProjectShape]:
    """The projects that the token or the person may read, by name."""
    after = paging.decode("projects", paged.cursor, shape=(str, str))
    # Sorted here: a database may order text by the rules of a language.
    readable = sorted(projects_of(asker_of(request)), key=_place)
    projects = [each for each in readable if after is None or _place(each) > after]
    shown = projects[: paged.limit]
    following = None
    if len(projects) > paged.limit:
        following = paging.encode("projects", _place(shown[-1]))
    return Listing[ProjectShape](items=[_shape(each) for each in shown], next=following)


@router.get("/projects/{project:p}", response=ProjectShape)
def get_project(request: HttpRequest, p: str) -> ProjectShape:
    """One project."""
    return _shape(project_of(asker_of(request), p))


def _place(project: Project) -> tuple[str, str]:
    return project.owner, project.name


def _shape(project: Project) -> ProjectShape:
    return ProjectShape(
        project=project.slug,
        title=project.title or project.slug,
        public=project.public,
        default_branch=project.default_branch,
        zone=project.zone,
        url=project_url(project),
    )
