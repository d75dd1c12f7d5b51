"""Attaching by hand what a webhook delivered without a context.

Guarantees: only an upload whose sender said nothing of where it belongs can be attached;
it is then processed again as if the context had come with it; the act is in the audit
log.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from formats.context import Context
from ingest import receiving
from ingest.kinds import HOOKS
from ingest.models import State, Upload
from ingest.replaying import REPLAYED
from projects import audit
from results.queries import joinable

if TYPE_CHECKING:
    from results.queries.joinable import JoinableRun

_OF_A_PULL_REQUEST = "review"  # what else comes is of a run


class AttachError(ValueError):
    """It cannot be attached so; the message says why."""


def is_attachable(upload: Upload) -> bool:
    """Tell whether this upload stands at project level and can be attached."""
    return (
        upload.route_id is not None
        and not upload.context.get("run")
        and (not upload.context or upload.attached_at is not None)
        and upload.files[0]["kind"] not in HOOKS
        and upload.body_deleted_at is None
    )


def attach_to_run(upload: Upload, asked: str, *, by: str) -> str:
    """Let an upload be a part of the run of this name or number; return its name."""
    run = joinable.find_run(upload.project_id, asked)
    if run is None:
        raise AttachError(f"There is no run {asked[:100]!r} in this project.")
    if not run.named:
        raise AttachError(
            "That run has no name of its own, as its CI sent no `run`: nothing can join"
            " it."
        )
    _join(upload, run, by=by)
    return run.name


def attach_to_pull_request(upload: Upload, pr: int, *, by: str) -> str:
    """Let an upload speak of a pull request; return what it was attached to.

    A review is of the pull request itself; all else of its newest run.
    """
    if upload.files[0]["kind"] == _OF_A_PULL_REQUEST:
        context = Context(project=upload.project.slug, pr=pr)
        _attach(upload, context, by=by, detail={"pr": pr})
        return f"#{pr}"
    run = joinable.newest_of_pull_request(upload.project_id, pr)
    if run is None:
        raise AttachError(f"No run of #{pr} is known that this could join.")
    _join(upload, run, by=by, pr=pr)
    return f"{run.name} of #{pr}"


def _join(upload: Upload, run: JoinableRun, *, by: str, pr: int | None = None) -> None:
    context = replace(run.context, pr=pr or run.context.pr)
    detail = {"run": run.name} | ({"pr": pr} if pr else {})
    _attach(upload, context, by=by, detail=detail)


def _attach(
    upload: Upload, context: Context, *, by: str, detail: dict[str, Any]
) -> None:  # Any: JSON
    if not is_attachable(upload):
        raise AttachError("This upload says itself where it belongs.")
    now = timezone.now()
    with transaction.atomic():
        mine = Upload.objects.filter(
            pk=upload.pk,
            state__in=REPLAYED,
            attached_at=upload.attached_at,
            body_deleted_at__isnull=True,
        )
        attached = mine.update(
            context=receiving.stored_context(context),
            attached_at=now,
            state=State.ADMITTED,
            due_at=now,
            attempts=0,
            lease="",
        )
        if not attached:
            raise AttachError("It is being processed right now: try again in a moment.")
        audit.record(
            upload.project,
            actor=by,
            action="upload.attached",
            subject=f"upload {upload.pk}",
            detail=detail,
        )
