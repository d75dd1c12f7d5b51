"""What becomes known of a run of the default branch: failed, recovered, incomplete.

Guarantees: a run is told of once for each of these, whatever comes in later; a run that
is not whole is told of at its deadline; a lane (the default branch in one environment)
recovers only after it was said to have failed, and not by an older run.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from notify.models import Event, EventType, Watch
from notify.outbox import write_event
from projects import options
from results.models import Run, RunOutcome

# Any, below: what a signal carries, and JSON.
_OPEN = (RunOutcome.INCOMPLETE, RunOutcome.DAMAGED, RunOutcome.NO_RESULTS)


def run_was_summarised(*, run_id: int, branch_class: str, **_: Any) -> None:
    """Take note of a run's new summary; the transaction that made it is open."""
    if branch_class != "default":
        return
    run = Run.objects.select_related("project").get(pk=run_id)
    if run.excluded_at is not None:
        return
    if run.outcome in _OPEN:
        _watch(run)
        return
    Watch.objects.filter(run_id=run.pk).delete()
    settle(run)


def settle(run: Run) -> None:
    """Tell of a run that is whole."""
    if run.outcome == RunOutcome.PASSED:
        if _had_failed(run):
            _write(run, EventType.RUN_RECOVERED)
    else:
        _write(run, EventType.RUN_FAILED)


def expire(run: Run) -> None:
    """Tell of a run whose deadline has come."""
    if run.outcome not in _OPEN:
        settle(run)
        return
    _write(run, EventType.RUN_INCOMPLETE)
    if run.failed or run.errors or run.leaks_raised or run.failed_outside:
        _write(run, EventType.RUN_FAILED)


def _watch(run: Run) -> None:
    """Wait for the rest, from the last upload on. Once told, it is told."""
    if Event.objects.filter(
        project=run.project_id, type=EventType.RUN_INCOMPLETE, key=_key(run)
    ).exists():
        return
    hours = options.read(run.project).incomplete_hours
    due = timezone.now() + timedelta(hours=hours)
    Watch.objects.update_or_create(
        run_id=run.pk,
        defaults={"project_id": run.project_id, "due_at": due, "lease": ""},
    )


def _had_failed(run: Run) -> bool:
    told = Event.objects.filter(
        project=run.project_id,
        subject=_lane(run),
        type__in=(EventType.RUN_FAILED, EventType.RUN_RECOVERED),
    )
    last = told.order_by("-pk").values("type", "data").first()
    if last is None or last["type"] != EventType.RUN_FAILED:
        return False
    return datetime.fromisoformat(last["data"]["started_at"]) <= run.started_at


def _write(run: Run, kind: EventType) -> None:
    data = {
        "run": run.pk,
        "name": run.name,
        "branch": run.branch,
        "commit": run.commit,
        "environment": run.environment,
        "outcome": run.outcome,
        "started_at": run.started_at.isoformat(),
        "ci_url": run.ci_url or None,
    }
    write_event(
        run.project_id,
        kind,
        _key(run),
        occurred_at=timezone.now(),
        data=data,
        path=f"runs/{run.pk}",
        subject=_lane(run),
    )


def _key(run: Run) -> str:
    return f"run/{run.pk}"


def _lane(run: Run) -> str:
    return f"lane/{run.environment_key}"
