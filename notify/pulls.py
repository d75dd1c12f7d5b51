"""What happened to pull requests, told when it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notify.models import EventType
from notify.outbox import write_event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from pulls.models import Pull
    from pulls.shapes import Told

# Any, below: what a signal carries.
_PATHS = 500
_LINES = 10


def verdict_was_changed(
    *, pull: Pull, before: str, after: str, told: Told, at: datetime, **_: Any
) -> None:
    items = [*told.failures, *told.leaks]
    shares = {item.share for item in items}
    counts = {s: sum(item.share == s for item in items) for s in sorted(shares)}
    owners = {one.owner for one in told.findings if one.owner}
    files = {item.nodeid.partition("::")[0] for item in items if item.nodeid}
    files |= {one.path for one in told.findings if one.path}
    write_event(
        pull.project_id,
        EventType.VERDICT,
        f"pull/{pull.number}/{at.isoformat()}",
        occurred_at=at,
        data={
            **_pull(pull),
            "before": before or None,
            "verdict": after,
            "red": told.red,
            "sentence": told.sentence,
            "lines": [*told.reasons, *told.advice][:_LINES],
            "head": told.head,
            "counts": counts,
        },
        path=f"pulls/{pull.number}",
        subject=f"pull/{pull.number}",
        owners=sorted(owners),
        paths=sorted(files)[:_PATHS],
    )


def pull_was_unblocked(
    *, pull: Pull, by: Sequence[int | str], at: datetime, **_: Any
) -> None:
    names = [f"#{one}" if isinstance(one, int) else one for one in by]
    write_event(
        pull.project_id,
        EventType.UNBLOCKED,
        f"pull/{pull.number}/{at.isoformat()}",
        occurred_at=at,
        data={**_pull(pull), "by": names},
        path=f"pulls/{pull.number}",
        subject=f"pull/{pull.number}",
    )


def _pull(pull: Pull) -> dict[str, Any]:
    return {"number": pull.number, "title": pull.title, "author": pull.author or None}
