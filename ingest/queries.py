"""Reading the inbox: for the uploads page, the API and the status of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Case, Count, IntegerField, Max, Min, Value, When

from ingest import handovers
from ingest.models import State, Upload

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from django.db.models import QuerySet

    from projects.models import Project

_DEAD_FIRST = Case(
    When(state=State.DEAD, then=Value(0)),
    When(state=State.FAILED, then=Value(1)),
    default=Value(2),
    output_field=IntegerField(),
)


def uploads(
    project: Project, *, states: Iterable[State] = (), run_id: int | None = None
) -> QuerySet[Upload]:
    """Return a project's uploads: dead ones first, then failed, then by newest."""
    found = Upload.objects.filter(project=project)
    chosen = list(states)
    if chosen:
        found = found.filter(state__in=chosen)
    if run_id is not None:
        found = found.filter(run_id=run_id)
    return found.annotate(urgency=_DEAD_FIRST).order_by(
        "urgency", "-received_at", "-pk"
    )


def get(upload_id: int) -> Upload | None:
    """Return an upload with its project and its route."""
    found = Upload.objects.select_related("project", "route")
    return found.filter(pk=upload_id).first()


def counts(project: Project) -> dict[State, int]:
    """Return how many uploads a project has in each state."""
    found = dict(
        Upload.objects.filter(project=project)
        .values_list("state")
        .annotate(Count("pk"))
        .order_by()
    )
    return {state: found.get(state.value, 0) for state in State}


def last_processed_at(project: Project) -> datetime | None:
    """Return when an upload of this project was last done with."""
    last: datetime | None = Upload.objects.filter(project=project).aggregate(
        last=Max("processed_at")
    )["last"]
    return last


def problems(upload: Upload) -> list[dict[str, Any]]:  # Any: JSON
    """Return what is wrong, the first first: our own failure, then the bad files."""
    ours = {
        "file": None,
        "message": upload.failure,
        "line": None,
        "column": None,
        "path": None,
    }
    above = [
        {**ours, "message": f"{each.stage}: {each.failure}"}
        for each in handovers.dead(upload)
    ]
    return [*([ours] if upload.failure else []), *above, *upload.errors]


def kinds(upload: Upload) -> list[str]:
    """Return the kinds of an upload's files, each once, in their order."""
    return list(dict.fromkeys(entry["kind"] for entry in upload.files))


def counts_of_all() -> dict[State, int]:
    """Return how many uploads of all projects there are in each state."""
    found = dict(Upload.objects.values_list("state").annotate(Count("pk")).order_by())
    return {state: found.get(state.value, 0) for state in State}


def oldest_waiting() -> datetime | None:
    """Return when the oldest upload that is not done yet was received."""
    oldest: datetime | None = Upload.objects.filter(due_at__isnull=False).aggregate(
        oldest=Min("received_at")
    )["oldest"]
    return oldest
