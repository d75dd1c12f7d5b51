"""What a killed process had claimed is free again at once.

Guarantees: only the leases of owners that are known to be dead are freed; of others
they run out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils import timezone

from ingest import leases
from notify.models import Endpoint, Event, Remark, Watch

if TYPE_CHECKING:
    from datetime import datetime


def free_dead(now: datetime) -> int:
    """Free all that dead owners hold; return how many rows that were."""
    held = [
        Endpoint.objects.filter(lease_until__gt=now),
        *(kind.objects.filter(due_at__gt=now) for kind in (Event, Watch, Remark)),
    ]
    owners = {
        leases.owner_of(lease)
        for some in held
        for lease in some.exclude(lease="").values_list("lease", flat=True)
    }
    return sum(free(owner) for owner in owners if leases.is_dead(owner))


def free(owner: str) -> int:
    """Free what this owner holds."""
    now, theirs = timezone.now(), {"lease__startswith": f"{owner}/"}
    freed = Endpoint.objects.filter(**theirs).update(lease="", lease_until=None)
    for kind in (Event, Watch, Remark):
        mine = kind.objects.filter(due_at__isnull=False, **theirs)
        freed += mine.update(lease="", due_at=now)
    return freed


def owner_has_died(*, owner: str, **_: Any) -> None:  # Any: what a signal carries
    """Free what it held before nobody knows any more that it is dead."""
    free(owner)
