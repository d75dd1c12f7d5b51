"""Plain functions that build state for tests; every default is visible here."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from django.db import transaction

from formats.context import Context, Shard
from formats.gates import LeakFact
from formats.outcomes import Outcome
from formats.report import (
    Attempt,
    Contribution,
    FileProblem,
    Note,
    OrderQuality,
    Reported,
    TestLeak,
    TestResult,
)
from projects.models import Project
from results import days, recording

START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)  # a Monday
_uploads = count(1)


def some[T](value: T | None) -> T:
    """The value, which must be there."""
    assert value is not None
    return value


def make_project(slug="acme/shop", **fields):
    owner, name = slug.split("/")
    return Project.objects.create(owner=owner, name=name, **fields)


def make_result(name, outcome="passed", **fields):
    """A result of `tests/test_shop.py`, or of the file that stands before `::`."""
    file, _, last = name.rpartition("::")
    file = file or "tests/test_shop.py"
    values = {
        "key": f"{file[:-3].replace('/', '.')}::{last}",
        "nodeid": f"{file}::{last}",
        "rank": 2,
        "file": file,
        "suite": "",
        "name": last,
        "params": "",
        "outcome": Outcome(outcome),
        "duration": 0.25,
    }
    if outcome in ("failed", "error"):
        values["message"] = f"assert {last} == 1"
        values["text"] = f"{file}:12: AssertionError in {last}"
    return TestResult(**values | fields)


def make_leak(name, kind="env.set", *, from_text=False, session=False, **fields):
    """A leak of `make_result(name)`; with `session` of no test."""
    case = None if session else make_result(name)
    values = {"kind": kind, "gate": "env", "items": ("HOME",), "item_count": 1}
    fact = LeakFact(case and case.nodeid, **values | fields)
    return TestLeak(fact, case, from_text)


def attempts_of(*outcomes):
    return tuple(
        Attempt(Outcome(outcome), 0.25, f"attempt {n}", f"text {n}")
        for n, outcome in enumerate(outcomes, start=1)
    )


def make_contribution(results=("test_a", "test_b"), **fields):
    """`results` are names (all passed), {name: outcome}, or TestResults.

    They ran in one process, in the given order, as a JUnit report would have it.
    """
    if isinstance(results, dict):
        results = [make_result(name, outcome) for name, outcome in results.items()]
    made = [make_result(one) if isinstance(one, str) else one for one in results]
    placed = [
        one if one.process >= 0 else one._replace(process=0, position=place)
        for place, one in enumerate(made)
    ]
    outcomes = [one.outcome for one in placed]
    values: dict[str, Any] = {
        "results": placed,
        "processes": ["main"],
        "order": OrderQuality.ASSUMED,
        "reported": Reported(
            tests=len(outcomes),
            passed=outcomes.count(Outcome.PASSED),
            failed=outcomes.count(Outcome.FAILED),
            errors=outcomes.count(Outcome.ERROR),
            skipped=outcomes.count(Outcome.SKIPPED) + outcomes.count(Outcome.XFAILED),
        ),
        "duration_s": sum(
            duration or 0.0
            for one in placed
            for duration in (one.duration, *(a.duration for a in one.attempts))
        ),
    }
    return Contribution(**values | fields)


def make_context(run="ci-1", *, shard=None, **fields):
    """`shard` is written "2/4"."""
    values = {"run": run, "branch": "main", "commit": "c1", "started_at": START}
    if shard:
        index, of = shard.split("/")
        values["shard"] = Shard(int(index), int(of))
    return Context(**values | fields)


def prepare(
    project,
    results=("test_a", "test_b"),
    *,
    context=None,
    upload_id=None,
    received_at=None,
    damage=(),
    kinds=("junit",),
    digests=None,
    notes=(),
    **contribution,
):
    """Prepare an upload; `results` None is one without a good file. `damage` are file
    names (then "file is empty") or FileProblems; `notes` are codes."""
    upload_id = upload_id or next(_uploads)
    context = context or make_context()
    bad = [
        FileProblem(one, "file is empty") if isinstance(one, str) else one
        for one in damage
    ]
    return recording.prepare(
        project,
        upload_id=upload_id,
        received_at=received_at or START + timedelta(minutes=5),
        context=context,
        contribution=(
            None if results is None else make_contribution(results, **contribution)
        ),
        kinds=list(kinds) if results is not None else [],
        file_digests=digests if digests is not None else [f"digest-{upload_id}"],
        damage=bad,
        notes=[Note(code, f"about {code}") for code in notes],
    )


def store(prepared):
    with transaction.atomic():
        return recording.store(prepared)


def make_run(project, results=("test_a", "test_b"), **options):
    """Record one upload and return its run's id."""
    return store(prepare(project, results, **options)).run_id


def later(context, **step):
    """The same context, started a while later: `later(context, hours=2)`."""
    return replace(context, started_at=context.started_at + timedelta(**step))


def rebuild_days(now=None):
    """Run the days stage to its end."""
    while (day := days.claim(now or datetime.now(UTC))) is not None:
        days.work(day)
