"""Epochs: a fix begins a new count, and the old one stays to be seen."""

from __future__ import annotations

from datetime import timedelta

import pytest

from projects.creation import create_project
from review import epochs
from review.agenda import review_of
from review.deciding import Undecidable
from review.shapes import Section
from review.standings import epochs_of, held_of
from tests.builders import make_context, make_run, rebuild_days
from tests.meeting import MONDAY, WEDNESDAY, WEEK, make_old

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    made = create_project("acme/app", actor="test").project
    make_old(made)
    return made


def run(project, n, outcome, *, branch="main", commit="c1", **fields):
    """The n-th hour of Monday, or later."""
    context = make_context(
        f"ci-{n}-{branch}",
        branch=branch,
        commit=commit,
        started_at=MONDAY + timedelta(hours=n),
        **fields,
    )
    make_run(project, {"test_a": outcome, "test_b": "passed"}, context=context)


def progress(project, *, until):
    [one] = epochs.recent(project, since=MONDAY, until=until, kind="default")
    return one


def test_a_fix_begins_a_new_count_within_its_day(project):
    for n, outcome in enumerate(("failed", "passed", "failed", "passed", "skipped")):
        run(project, n, outcome)
    run(project, 3, "failed", branch="x")  # of another branch
    rebuild_days()
    test = project.tests.get(name="test_a")
    now = MONDAY + timedelta(hours=6)
    row = epochs.begin(project, test.pk, by="ana", now=now, pr=540, note="seeded")
    assert (row.failed, row.runs, row.at) == (2, 4, now)
    assert progress(project, until=WEDNESDAY).runs == 0
    for n in (7, 8, 30):
        run(project, n, "passed", commit="c2")
    rebuild_days()
    one = progress(project, until=WEDNESDAY)
    assert (one.runs, one.failed, one.proof.state) == (3, 0, "waiting")
    run(project, 31, "error", commit="c2")
    rebuild_days()
    one = progress(project, until=WEDNESDAY)
    assert (one.runs, one.failed, one.proof.state) == (4, 1, "reopened")


def test_the_count_begins_with_the_first_run_of_the_commit(project):
    for n, (outcome, commit) in enumerate(
        [("failed", "c1"), ("failed", "c1"), ("passed", "c2"), ("passed", "c2")]
    ):
        run(project, n, outcome, commit=commit)
    rebuild_days()
    test = project.tests.get(name="test_a")
    row = epochs.begin(project, test.pk, by="ana", now=WEDNESDAY, commit="c2")
    assert (row.at, row.failed, row.runs) == (MONDAY + timedelta(hours=2), 2, 2)
    one = progress(project, until=WEDNESDAY)
    assert (one.runs, one.failed) == (2, 0)


def test_the_old_count_stays_and_a_second_one_begins_where_it_ended(project):
    run(project, 0, "failed")
    rebuild_days()
    test = project.tests.get(name="test_a")
    first = MONDAY + timedelta(hours=1)
    epochs.begin(project, test.pk, by="ana", now=first, commit="c9")
    run(project, 2, "failed")
    run(project, 3, "passed")
    rebuild_days()
    epochs.begin(project, test.pk, by="bob", now=MONDAY + timedelta(hours=4))
    told = [(row.failed, row.runs, row.made_by) for row in epochs_of(test.pk)]
    assert told == [(1, 2, "bob"), (1, 1, "ana")]
    held = held_of([test.pk], now=WEDNESDAY)[test.pk]
    assert (held.state, held.fixed_at) == ("fixed", MONDAY + timedelta(hours=4))


def test_the_agenda_says_how_sure_the_fix_is(project):
    for n in range(10):
        run(project, n, "failed" if n % 2 else "passed")
    rebuild_days()
    test = project.tests.get(name="test_a")
    now = MONDAY + timedelta(hours=10)
    epochs.begin(project, test.pk, by="ana", now=now, pr=540)
    for n in range(11, 41):
        run(project, n, "passed")
    rebuild_days()
    [item] = review_of(project, WEEK, now=WEDNESDAY).agenda.sections[Section.FIXED]
    # Beta(5.5, 5.5) from 0.224: (1 - 0.224)^30 = 0.0005; 1 - 0.05^(1/30) = 0.095.
    assert item.why == (
        "0 failures in 30 runs since #540; at the old 50 % that happens by chance less "
        "than once in 10^3; with 95 % certainty it now fails in fewer than 9.5 %."
    )
    assert item.figures["fix"] == "verified"


def test_a_test_of_another_project_has_no_epoch_here(project):
    other = create_project("acme/other", actor="test").project
    run(other, 0, "passed")
    test = other.tests.get(name="test_a")
    with pytest.raises(Undecidable, match="of another project"):
        epochs.begin(project, test.pk, by="eve", now=WEDNESDAY)
    with pytest.raises(Undecidable, match="a commit has at most 64 characters"):
        epochs.begin(other, test.pk, by="eve", now=WEDNESDAY, commit="c" * 65)
