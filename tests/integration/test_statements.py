"""Single rows by statements whose text is made once: as the ORM would write them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from formats import report
from formats.outcomes import Outcome
from results import bulk, statements
from results.details import store_details
from results.models import Classification, Counter, Day, Detail, Run, Shard
from tests.builders import make_project

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
ONE_DAY = ("project", "date", "branch_class")


def make_run(project, name="ci-1", **fields):
    return Run(
        project=project,
        name=name,
        environment_key="e",
        started_at=NOW,
        started_from="context",
        day=NOW.date(),
        branch_class="default",
        outcome="passed",
        created_at=NOW,
        updated_at=NOW,
        **fields,
    )


def make_day(project, **fields):
    return Day(project=project, date=NOW.date(), branch_class="default", **fields)


def test_a_row_reads_back_as_it_was_given():
    project = make_project()
    said = {
        "environment": {"os": "linux", "quote": "it's 100 %s"},
        "problems": [{"kind": "damage", "message": "ä\n", "upload": None}],
        "pr": None,
        "wall_s": 1.5,
        "failed_outside": True,
        "committed_at": datetime(2026, 3, 2, 8, 0, tzinfo=timezone(timedelta(hours=2))),
    }
    pk = statements.insert(make_run(project, **said))
    row = Run.objects.get()
    assert row.pk == pk
    assert {name: getattr(row, name) for name in said} == said
    assert (row.day, row.started_at, row.tests) == (date(2026, 3, 2), NOW, 0)
    assert (row.parts, row.completeness) == ([], {})


def test_a_row_with_the_key_of_another_is_not_inserted():
    project = make_project()
    run = statements.insert(make_run(project))
    first = Shard(run_id=run, upload_id=7, received_at=NOW, job="unit")
    again = Shard(run_id=run, upload_id=7, received_at=NOW, job="other")
    pk = statements.insert(first, key=("upload_id",))
    assert statements.insert(again, key=("upload_id",)) is None
    assert Shard.objects.values_list("pk", "job").get() == (pk, "unit")


def test_a_row_without_a_number_of_its_own_returns_its_key():
    project = make_project()
    row = Counter(project=project, tests=3, epoch="e")
    assert statements.insert(row, returning="project") == project.pk
    again = Classification(project=project, zone="UTC", default_branch="main")
    key = ("project",)
    assert statements.insert(again, key=key, returning="project") == project.pk
    assert statements.insert(again, key=key, returning="project") is None


def test_an_upsert_counts_and_puts_only_what_it_is_told_to():
    project = make_project()
    returning = ("id", "marks", "date")

    def mark(day):
        return statements.upsert(
            day, key=ONE_DAY, rise="marks", put=("dirty",), returning=returning
        )

    pk, marks, day = mark(make_day(project))
    assert (marks, day) == (1, date(2026, 3, 2))
    Day.objects.update(dirty=False, totals={"runs": 1}, attempts=2)
    assert mark(make_day(project, error="not put")) == (pk, 2, date(2026, 3, 2))
    row = Day.objects.get()
    assert (row.dirty, row.totals, row.attempts, row.error) == (
        True,
        {"runs": 1},
        2,
        "",
    )


def test_a_change_touches_one_row_and_the_named_fields():
    project = make_project()
    first = statements.insert(make_run(project))
    statements.insert(make_run(project, "ci-2"))
    statements.change(Run, first, {"parts": [{"job": "a"}], "pr": 3, "outcome": "x"})
    told = Run.objects.order_by("name").values_list("parts", "pr", "outcome", "name")
    assert list(told) == [
        ([{"job": "a"}], 3, "x", "ci-1"),
        ([], None, "passed", "ci-2"),
    ]


def test_many_rows_leave_those_that_are_there():
    project = make_project()
    names = (
        "project",
        "digest",
        "message",
        "fingerprint",
        "fingerprint_version",
        "title",
        "text",
        "text_bytes",
    )
    rows = [
        (project.pk, bytes([n] * 16), f"text {n}", b"f" * 16, 1, "", None, 0)
        for n in range(3)
    ]
    key = ("project", "digest")
    bulk.insert(Detail, names, rows[:1], ignore=key)
    changed = [(*rows[0][:2], "another", *rows[0][3:]), *rows[1:]]
    bulk.insert(Detail, names, changed, ignore=key)
    found = Detail.objects.order_by("digest").values_list("message", flat=True)
    assert list(found) == ["text 0", "text 1", "text 2"]


def test_texts_of_one_upload_are_one_transaction(django_assert_num_queries):
    """Outside a transaction SQLite would end, and wait for the disk, once a row."""
    project = make_project()
    results = [
        (
            report.TestResult(
                "k", "t", 0, "", "", "t", "", Outcome.FAILED, text=f"text {n}"
            ),
            1,
        )
        for n in range(30)
    ]
    with django_assert_num_queries(5):  # two reads, begin, insert, end
        assert len(store_details(project.pk, results)) == 30
