"""What is not done yet for a project: 0 pending means that its pages are up to date."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router

from api import waiting
from api.access import asker_of, project_of
from api.shapes import StatusShape
from ingest import queries as inbox

router = Router(tags=["projects"])


@router.get("/projects/{project:p}/status", response=StatusShape)
def get_status(request: HttpRequest, p: str) -> StatusShape:
    """How many uploads and stages are not yet done."""
    project = project_of(asker_of(request), p)
    stages = waiting.waiting(project.pk)
    return StatusShape(
        pending=sum(stages.values()),
        stages=stages,
        last_processed_at=inbox.last_processed_at(project),
    )
