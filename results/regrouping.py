"""Fingerprinting stored failures anew after the method changed.

Guarantees: only texts of another version are touched, a batch a transaction, so it can
be stopped and started at any time. What was cut from a text stays cut: its two ends
are what the method reads.
"""

from __future__ import annotations

from django.db.models import Max

from formats.fingerprints import VERSION, fingerprint
from results.details import unpack_text
from results.models import Detail
from results.storable import storable

_AT_ONCE = 200


def regroup(*, project_id: int | None = None) -> int:
    """Fingerprint every text of another version; return how many there were."""
    outdated = Detail.objects.exclude(fingerprint_version=VERSION)
    if project_id is not None:
        outdated = outdated.filter(project_id=project_id)
    last = outdated.aggregate(last=Max("pk"))["last"] or 0
    done, after = 0, 0
    while True:
        batch = list(
            outdated.filter(pk__gt=after, pk__lte=last).order_by("pk")[:_AT_ONCE]
        )
        if not batch:
            return done
        for detail in batch:
            group = fingerprint(detail.message, unpack_text(detail.text))
            detail.fingerprint = group.digest
            detail.fingerprint_version = group.version
            detail.title = storable(group.title)
        Detail.objects.bulk_update(
            batch, ["fingerprint", "fingerprint_version", "title"]
        )
        done, after = done + len(batch), batch[-1].pk
