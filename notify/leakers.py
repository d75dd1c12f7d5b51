"""What became of leakers and of unstable tests, told when it is stored.

Guarantees: one event each time it becomes true; what a person muted is written as
muted, and told by digests alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leaks.models import LeakerState
from notify.models import EventType
from notify.outbox import write_event

if TYPE_CHECKING:
    from datetime import datetime

    from leaks.models import Leaker, Verdict

# Any, below: what a signal carries.


def leaker_was_opened(*, leaker: Leaker, at: datetime, **_: Any) -> None:
    _write(leaker, EventType.LEAKER_NEW, "opened", at)


def leaker_was_reopened(*, leaker: Leaker, at: datetime, **_: Any) -> None:
    _write(leaker, EventType.LEAKER_REOPENED, f"reopened/{at.isoformat()}", at)


def leaker_was_fixed(
    *, leaker: Leaker, at: datetime, verified: bool = False, **_: Any
) -> None:
    how = "verified" if verified else "fixed"
    since = leaker.reopened_at or leaker.opened_at
    told = since.isoformat() if since else ""
    _write(leaker, EventType.LEAKER_FIXED, f"{how}/{told}", at, verified=verified)


def test_became_flaky(*, verdict: Verdict, at: datetime, **_: Any) -> None:
    case = verdict.test
    write_event(
        verdict.project_id,
        EventType.NEWLY_FLAKY,
        f"test/{case.pk}/{verdict.since.isoformat()}",
        occurred_at=at,
        data={
            "test": case.pk,
            "nodeid": case.nodeid,
            "class": verdict.name,
            "missing": verdict.missing or None,
        },
        path=f"tests/{case.pk}",
        paths=[case.file] if case.file else [],
    )


def _write(
    leaker: Leaker, kind: EventType, how: str, at: datetime, **more: Any
) -> None:
    case = leaker.test
    write_event(
        leaker.project_id,
        kind,
        f"leaker/{leaker.pk}/{how}",
        occurred_at=at,
        data={
            "leaker": leaker.pk,
            "test": case.pk,
            "nodeid": case.nodeid,
            "kinds": leaker.kinds,
            "source": leaker.source,
            "run": leaker.first_run_id,
            "commit": leaker.first_commit or None,
            "pr": leaker.first_pr,
            "owner": leaker.owner or None,
            "recipe": leaker.recipe or None,
            **more,
        },
        path=f"leakers/{leaker.pk}",
        owners=[leaker.owner] if leaker.owner else [],
        paths=[case.file] if case.file else [],
        muted=leaker.state == LeakerState.MUTED,
    )
