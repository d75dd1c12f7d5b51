"""What an upload says, as fields of its run and its shard.

Guarantees: a field that an upload says nothing of is left out, or at its default.
Nothing here touches a database.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from results.models import RunOutcome
from results.storable import storable
from results.summary import branch_class, day_of

if TYPE_CHECKING:
    from datetime import datetime

    from formats.context import Context
    from formats.report import Contribution
    from projects.models import Project


def run_key(context: Context, upload_id: int) -> dict[str, Any]:
    """A run without a name is the upload's own: no name can be given to meet it."""
    named = bool(context.run)
    return {
        "name": context.run or f"upload-{upload_id}",
        "environment_key": context.environment_key,
        "own_upload": 0 if named else upload_id,
    }


def new_run(
    project: Project, context: Context, started_at: datetime, started_from: str
) -> dict[str, Any]:  # Any: a value of any field of Run
    return {
        "environment": dict(context.environment),
        "started_at": started_at,
        "started_from": started_from,
        "day": day_of(started_at, project.zone),
        "branch_class": branch_class(context.branch, context.pr, project),
        "outcome": RunOutcome.NO_RESULTS,
    }


def place(context: Context) -> dict[str, Any]:  # Any: a value of any field of Shard
    said = {
        "branch": context.branch,
        "commit": context.commit,
        "head_sha": context.head_sha,
        "base_sha": context.base_sha,
        "base_branch": context.base_branch,
        "merge_base": context.merge_base,
        "pr": context.pr,
        "ci_url": context.ci_url,
        "committed_at": context.committed_at and context.committed_at.isoformat(),
    }
    return {
        "context": {name: value for name, value in said.items() if value},
        "job": context.job,
        "index": context.shard.index,
        "count": context.shard.count,
        "attempt": context.attempt,
        "complete": context.complete,
        "exit_code": context.exit_code,
    }


def contributed(contribution: Contribution) -> dict[str, Any]:  # Any: as above
    return {
        "duration_s": contribution.duration_s,
        "wall_s": contribution.wall_s,
        "order": contribution.order.value,
        "reported": asdict(contribution.reported),
        "processes": [storable(name) for name in contribution.processes],
        "repeats": contribution.repeats,
        "only_in_report": contribution.only_in_report,
        "only_in_trace": contribution.only_in_trace,
        "zoneless_start": storable(contribution.zoneless_start)[:40],
    }


def clean(value: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
    return {
        key: storable(one) if isinstance(one, str) else one
        for key, one in value.items()
    }
