"""Processing again what was processed before, from the bytes as they were sent.

Recording a run is keyed by upload: what is replayed replaces what it said before.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.utils import timezone

from ingest import handovers
from ingest.models import State, Upload
from projects import audit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

RETRIED = (State.DEAD, State.FAILED)
REPLAYED = (State.PROCESSED, State.REJECTED, State.DEAD, State.FAILED)


def retry(upload: Upload, *, by: str) -> bool:
    """Try a dead or failed upload again now, or a stage above that gave it up.

    Tells whether there was such a thing.
    """
    uploads = Upload.objects.filter(pk=upload.pk, state__in=RETRIED)
    if not _admit_again(uploads) and not handovers.retry(upload):
        return False
    audit.record(
        upload.project, actor=by, action="upload.retried", subject=f"upload {upload.pk}"
    )
    return True


def replay(*, since: datetime | None = None, ids: Iterable[int] | None = None) -> int:
    """Let all these uploads be processed again; return how many there are.

    An upload whose body retention has deleted stays as it is.
    """
    uploads = Upload.objects.filter(state__in=REPLAYED, body_deleted_at__isnull=True)
    if since is not None:
        uploads = uploads.filter(received_at__gte=since)
    if ids is not None:
        uploads = uploads.filter(pk__in=list(ids))
    return _admit_again(uploads)


def _admit_again(uploads: QuerySet[Upload]) -> int:
    return uploads.update(
        state=State.ADMITTED, due_at=timezone.now(), attempts=0, lease=""
    )
