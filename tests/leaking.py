"""Builders of what a judgement comes to: leakers, pairs, classes, decisions.

The stage would tell them anew from the runs; pages that only read need not wait for it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from leaks.models import Leaker, LeakerDecision, Pair, Verdict
from projects.models import Project
from results.models import TestCase as Case

METHOD = {"method_version": 1, "window_days": 30, "parts_read": 40}


def make_leaker(project: Project, test: Case, **fields: Any) -> Leaker:
    """An open leaker, known from its runs."""
    now = datetime.now(UTC)
    values = {
        "state": "open",
        "source": "correlation",
        "first_at": now,
        "opened_at": now,
        "last_at": now,
        "failed_results": 4.5,
        "failed_runs": 2.5,
        "lost_s": 340.0,
        "pulls": 2,
        "victims": 1,
        "method_version": 1,
        "updated_at": now,
    }
    return Leaker.objects.create(project=project, test=test, **values | fields)


def make_pair(project: Project, test: Case, victim: Case, **fields: Any) -> Pair:
    """A confirmed pair: 41 of 43 after it, 1 of 160 without."""
    now = datetime.now(UTC)
    values = {
        "kind": "victim",
        "status": "confirmed",
        "posterior": 0.987,
        "bf": 3e9,
        "failed_after": 41,
        "passed_after": 2,
        "failed_without": 1,
        "passed_without": 159,
        "p_value": 2.1e-31,
        "q_value": 4e-29,
        "lives_for": 12.2,
        "evidence": METHOD,
        "claimed_at": now,
        "updated_at": now,
    }
    return Pair.objects.create(
        project=project, test=test, victim=victim, **values | fields
    )


def make_verdict(
    project: Project, test: Case, name: str = "victim", **fields: Any
) -> Verdict:
    """The class of a test."""
    now = datetime.now(UTC)
    values = {
        "since": now,
        "evidence": METHOD
        | {
            "stories": {"victim": 0.98, "flake": 0.015, "place": 0.005},
            "failed": 42,
            "passed": 161,
            "same_commit": True,
            "runs": [],
            "stretch": [],
        },
        "failed_runs": 42,
        "affected_prs": 3,
        "lost_s": 700.0,
        "last_failed": now,
        "method_version": 1,
        "updated_at": now,
    }
    return Verdict.objects.create(
        project=project, test=test, name=name, **values | fields
    )


def make_decision(leaker: Leaker, **fields: Any) -> LeakerDecision:
    """A note on a leaker."""
    values = {"at": datetime.now(UTC), "by": "ana", "what": "note", "note": "looked"}
    return LeakerDecision.objects.create(leaker=leaker, **values | fields)
