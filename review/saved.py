"""Saved views: named query strings of a list, shared in the project.

Guarantees: one name once a list; saving it again replaces it; only what the list itself
reads is kept, not the place in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from django.db import transaction

from projects import audit
from results.storable import storable
from review.models import SavedView

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from projects.models import Project

PAGES = ("runs", "tests", "flaky", "leakers", "findings", "effects", "uploads", "pulls")
MOST = 50  # of one list
_LONGEST_NAME, _LONGEST_QUERY = 80, 4_000
_PLACES = ("cursor", "page")


class BadView(ValueError):
    """The view cannot be saved; the message says why."""


def views_of(project_id: int, page: str) -> Sequence[SavedView]:
    """Return the saved views of a list, by name."""
    rows = SavedView.objects.filter(project_id=project_id, page=page)
    return list(rows.order_by("name")[:MOST])


def save_view(
    project: Project, page: str, name: str, query: str, *, by: str, now: datetime
) -> SavedView:
    """Save a list's query string under a name."""
    name, kept = storable(name).strip(), clean(query)
    if page not in PAGES:
        raise BadView("there is no such list")
    if not name or len(name) > _LONGEST_NAME:
        raise BadView(f"a view has a name of at most {_LONGEST_NAME} characters")
    if len(kept) > _LONGEST_QUERY:
        raise BadView("these filters are too long to be saved")
    with transaction.atomic():
        mine = SavedView.objects.filter(project=project, page=page)
        if mine.exclude(name=name).count() >= MOST:
            raise BadView(f"a list has at most {MOST} saved views")
        row, _ = SavedView.objects.update_or_create(
            project=project,
            page=page,
            name=name,
            defaults={"query": kept, "made_at": now, "made_by": by[:200]},
        )
        audit.record(project, actor=by, action="view.saved", subject=f"{page}: {name}")
    return row


def remove_view(project: Project, pk: int, *, by: str) -> str:
    """Remove a view; return the list that it was of, "" where there was none."""
    with transaction.atomic():
        row = SavedView.objects.filter(project=project, pk=pk).first()
        if row is None:
            return ""
        row.delete()
        audit.record(
            project, actor=by, action="view.removed", subject=f"{row.page}: {row.name}"
        )
    return row.page


def clean(query: str) -> str:
    """Return a query string without the place in the list, its values in order."""
    pairs = parse_qsl(query.removeprefix("?"), max_num_fields=100)
    kept = [(key, storable(value)) for key, value in pairs if key not in _PLACES]
    return urlencode(kept)
