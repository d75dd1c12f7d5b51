"""Completing what an event tells, outside the transaction that made it true.

Guarantees: the fact stays as it was written; what is added is read once, before the
event is handed on, so that every endpoint hears the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leaks.models import Pair, PairStatus
from notify.models import EventType
from notify.outbox import clean
from results.models import Run
from results.queries.failures import failure_groups

if TYPE_CHECKING:
    from notify.models import Event
    from results.queries.shapes import FailureGroup

CAUSES = 20
TESTS = 10  # of one cause
PATHS = 500


def complete(event: Event) -> None:
    """Add to the event's data what only its words need."""
    if event.type in (
        EventType.RUN_FAILED,
        EventType.RUN_RECOVERED,
        EventType.RUN_INCOMPLETE,
    ):
        _complete_run(event)
    elif event.type in (EventType.LEAKER_NEW, EventType.LEAKER_REOPENED):
        _complete_leaker(event)


def _complete_leaker(event: Event) -> None:
    if "test" not in event.data:
        return
    pairs = Pair.objects.filter(
        test=event.data["test"],
        status__in=(PairStatus.PROVEN, PairStatus.CONFIRMED),
        current=True,
    )
    found = pairs.select_related("victim").order_by("-posterior", "pk")[:TESTS]
    event.data["victims"] = clean(
        [
            {
                "test": pair.victim_id,
                "nodeid": pair.victim.nodeid,
                "status": pair.status,
                "failed_after": pair.failed_after,
                "passed_after": pair.passed_after,
                "failed_without": pair.failed_without,
                "passed_without": pair.passed_without,
            }
            for pair in found
        ]
    )


def _complete_run(event: Event) -> None:
    run = Run.objects.filter(pk=event.data["run"]).first()
    if run is None:
        return
    counts = ("tests", "passed", "failed", "errors", "skipped", "flaky")
    event.data |= {
        "counts": {name: getattr(run, name) for name in counts},
        "failing": run.failed + run.errors,
        "leaks_raised": run.leaks_raised,
    }
    if event.type == EventType.RUN_INCOMPLETE:
        event.data["why"] = _why(run)
        event.data["missing"] = run.completeness.get("missing", [])
    if event.type != EventType.RUN_FAILED:
        return
    groups = [one for one in failure_groups(run.pk) if one.total]
    causes = [_cause(one) for one in groups[:CAUSES]]
    event.data |= {"causes": clean(causes), "more_causes": len(groups) - len(causes)}
    files = {row.nodeid.partition("::")[0] for one in groups for row in one.rows}
    event.about = clean(event.about | {"paths": sorted(files)[:PATHS]})


def _why(run: Run) -> str:
    """Say what it lacks, in the words of its own page."""
    told = [str(one.get("message", "")) for one in run.problems]
    return next((one for one in told if one), run.outcome.replace("_", " "))


def _cause(group: FailureGroup) -> dict[str, Any]:  # Any: JSON
    """Fold the failures that share one cause into one."""
    counted = [row for row in group.rows if row.counted]
    return {
        "message": (counted[0].message or group.title)[:500],
        "title": group.title[:300],
        "group": group.group,
        "count": group.total,
        "tests": [row.nodeid[:300] for row in counted[:TESTS]],
    }
