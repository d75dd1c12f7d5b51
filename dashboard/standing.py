"""What a test's page shows of its decisions: what holds, its counts, its trail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils import timezone

from dashboard.standing_forms import LIFTS
from review import epochs, owners, wording
from review.standings import Held, changes_of, epochs_of, held_of

if TYPE_CHECKING:
    from projects.models import Project
    from results.queries.shapes import CaseRow


def standing_of(project: Project, case: CaseRow) -> dict[str, Any]:  # Any: of a page
    """Return the context of the part `_standing.html`."""
    now = timezone.now()
    held = held_of([case.id], now=now)
    files = owners.by_file(project.pk, [case.file])
    own = held.get(case.id, Held(case.id))
    return {
        "held": own,
        "owner_name": owners.owner_of(case.id, case.file, held, files),
        "file_owner": files.get(case.file, ""),
        "fix_words": _fix(project, case.id),
        "epochs": epochs_of(case.id),
        "changes": changes_of(project.pk, f"test:{case.id}", limit=20),
        "lifts": LIFTS,
    }


def _fix(project: Project, test_id: int) -> str:
    """Say how sure the newest fix is; "" where none was said."""
    one = epochs.newest_of(project, test_id, now=timezone.now())
    if one is None:
        return ""
    row = one.epoch
    return wording.fixed(
        one.proof,
        since=wording.mark(row.pr, row.commit, row.at),
        old_failed=row.failed,
        old_runs=row.runs,
    )
