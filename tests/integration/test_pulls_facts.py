"""Facts of hooks: late, repeated, wrong; by hand; and a stage that is killed."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from django.utils import timezone

from healthboard.pipeline import BY_NAME, drain, drain_all
from ingest import handovers
from ingest.models import Handover
from projects.creation import Created, create_project
from pulls import verdicts
from pulls.models import Comment, Commit, Edge, Pull, Verdict
from tests.asking import told
from tests.pulling import comment, hook, main, names, pull, pull_request, push, run
from tests.routing import deliver, make_route

pytestmark = pytest.mark.django_db
A, B, C = "a" * 40, "b" * 40, "c" * 40


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


@pytest.fixture
def github(acme):
    return make_route(acme.project, "github")


def state(project) -> object:
    """All that facts come to, without what the database numbers."""
    left_out = {
        "id",
        "project_id",
        "created_at",
        "due_at",
        "marks",
        "lease",
        "attempts",
    }
    pulls = [
        {k: v for k, v in row.items() if k not in left_out}
        for row in Pull.objects.filter(project=project).order_by("number").values()
    ]
    edges = Edge.objects.filter(project=project).order_by("from_number", "to_number")
    comments = Comment.objects.order_by("key").values_list("key", "body", "deleted")
    fields = ("from_number", "to_number", "kind", "source")
    commits = Commit.objects.order_by("sha").values_list("sha", "pull")
    return (pulls, list(edges.values_list(*fields)), list(comments), list(commits))


DELIVERIES = [
    ("pull_request", pull_request(7, 1, action="opened", body="Blocked on #5")),
    ("pull_request", pull_request(7, 2, action="edited", body="Depends on #6")),
    ("issue_comment", comment(7, 1, 1, "Blocked on #8")),
    ("issue_comment", comment(7, 1, 3, "Never mind", action="edited")),
    ("pull_request", pull_request(7, 4, state="merged", merge_commit=B, head=A)),
]


def test_deliveries_in_any_order_end_in_the_same_state():
    ends = []
    for n, order in enumerate(itertools.permutations(range(5))):
        if n % 5:
            continue
        acme = create_project(f"acme/app{n}", actor="test")
        route = make_route(acme.project, "github")
        for place in (*order, *order[:2]):
            event, payload = DELIVERIES[place]
            hook(route, event, payload, drain=False)
        drain(BY_NAME["ingest"])
        drain(BY_NAME["pulls"])
        ends.append(state(acme.project))
        Commit.objects.all().delete()
        Comment.objects.all().delete()
    for end in ends:
        assert end == ends[0]
    [seven] = [row for row in ends[0][0] if row["number"] == 7]
    assert (seven["state"], seven["merge_commit"]) == ("merged", B)
    assert ends[0][1] == []  # the latest body says nothing any more


def test_a_comment_s_latest_edit_counts_and_a_deleted_one_does_not(acme, github):
    hook(github, "pull_request", pull_request(7, 1))
    hook(github, "issue_comment", comment(7, 1, 3, "Blocked on #8", action="edited"))
    hook(github, "issue_comment", comment(7, 1, 1, "Blocked on #9"))
    assert pull(acme, 7)["blockers"]["direct"] == [8]
    hook(github, "issue_comment", comment(7, 1, 3, "", action="deleted"))
    hook(github, "issue_comment", comment(7, 1, 4, "Blocked on #8", action="edited"))
    assert pull(acme, 7)["blockers"]["direct"] == []


def test_a_closed_one_that_comes_before_its_opening_stays_closed(acme, github):
    hook(github, "pull_request", pull_request(7, 5, state="closed"))
    hook(github, "pull_request", pull_request(7, 1, action="opened"))
    assert pull(acme, 7)["state"] == "closed"
    hook(github, "pull_request", pull_request(7, 9, action="reopened"))
    assert pull(acme, 7)["state"] == "open"


def test_a_comment_on_a_mere_issue_is_nobody_s(acme, github):
    said = comment(7, 1, 1, "Blocked on #8")
    del said["issue"]["pull_request"]
    hook(github, "issue_comment", said)
    assert Pull.objects.count() == 0


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"pull_request": None},
        {"pull_request": {"number": -1}},
        {"pull_request": {"number": True}},
        {"pull_request": {"number": 3, "head": [], "base": "x", "updated_at": 7}},
        {"pull_request": {"number": 3, "title": ["x"], "updated_at": "yesterday"}},
        {"pull_request": {"number": 3, "body": "\x00", "title": "\ud800"}},
        {"issue": {"number": 3, "pull_request": {}}, "comment": {"id": {}}},
        {"ref": "refs/heads/main", "after": "x y", "commits": [None, {"id": 3}]},
        {"ref": "refs/heads/main", "after": B, "commits": {"id": B}},
        {"merge_group": {"head_sha": A}},
    ],
)
@pytest.mark.parametrize(
    "event", ["pull_request", "issue_comment", "push", "merge_group"]
)
def test_no_payload_kills_the_stage(acme, github, payload, event):
    deliver(github, json.dumps(payload).encode(), X_GitHub_Event=event)
    drain_all()
    assert not Handover.objects.exclude(failure="").exists()
    assert told("/projects/acme/app/status", acme.token)["pending"] == 0


def test_a_push_with_a_merge_ties_only_its_ends(acme, github):
    messages = ("Work", "More work", "Merge pull request #4 from acme/x")
    hook(github, "push", push(A, B, 1, *messages))
    by_sha = dict(Commit.objects.values_list("sha", "depth"))
    assert by_sha == {A: 0, B: 1}
    assert Pull.objects.get(number=4).state == "merged"


def test_a_force_push_does_not_descend_from_what_it_replaced(acme, github):
    hook(github, "push", push(A, B, 1, "Work", branch="x"))
    hook(github, "push", push(B, C, 2, "Other work", branch="x", forced=True))
    lines = dict(Commit.objects.values_list("sha", "line"))
    assert lines[A] == lines[B] != lines[C]


def test_gitlab_tells_the_same(acme):
    route = make_route(acme.project, "gitlab")
    project = {"path_with_namespace": "acme/app", "default_branch": "main"}
    request = {
        "iid": 12,
        "state": "opened",
        "title": "A change",
        "description": "Depends on !11",
        "updated_at": "2026-03-02 10:00:00 UTC",
        "created_at": "2026-03-02 09:00:00 UTC",
        "last_commit": {"id": A},
        "source_branch": "x",
        "target_branch": "main",
    }
    note = {
        "id": 1,
        "note": "Blocked on !10",
        "noteable_type": "MergeRequest",
        "updated_at": "2026-03-02 11:00:00 UTC",
        "created_at": "2026-03-02 11:00:00 UTC",
    }
    deliveries: list[dict[str, Any]] = [
        {"object_kind": "note", "object_attributes": note, "merge_request": request},
        {"object_kind": "merge_request", "object_attributes": request},
        {
            "object_kind": "push",
            "ref": "refs/heads/main",
            "before": C,
            "after": B,
            "commits": [{"id": B, "message": "See merge request acme/app!11"}],
            "total_commits_count": 1,
        },
    ]
    for one in deliveries:
        deliver(route, json.dumps({"project": project, **one}).encode())
    drain_all()
    found = pull(acme, 12)
    assert (found["head"], found["base"]) == (A, "main")
    assert found["blockers"]["direct"] == [10]  # !11 landed by its commit's word
    assert pull(acme, 11)["state"] == "merged"


def test_work_that_is_done_again_changes_nothing(acme, github):
    hook(github, "pull_request", pull_request(7, 1, body="Blocked on #5"))
    main(acme, A, 0, one="Boom")
    run(acme, B, 1, pr=7, base=A, one="Boom")
    before, verdict = state(acme.project), Verdict.objects.get(pull__number=7)
    for handover in Handover.objects.filter(stage="pulls"):
        handovers.hand_over(handover.upload, "pulls")
    drain_all()
    assert state(acme.project) == before
    after = Verdict.objects.get(pull__number=7)
    assert (after.detail, after.changed_at) == (verdict.detail, verdict.changed_at)


def test_a_fact_that_comes_while_a_verdict_is_made_is_not_lost(acme):
    main(acme, A, 0, one="Boom")
    run(acme, B, 1, pr=7, base=A, one="Boom")
    Pull.objects.update(due_at=timezone.now())
    claimed = verdicts.claim(timezone.now())
    Pull.objects.update(marks=99)
    verdicts.work(claimed)
    assert verdicts.waiting(acme.project.pk) == 1
    drain_all()
    assert verdicts.waiting(acme.project.pk) == 0


def test_what_is_given_back_five_times_waits_for_a_new_fact(acme):
    main(acme, A, 0, one="")
    run(acme, B, 1, pr=7, base=A, one="")
    assert BY_NAME["verdicts"].module == "pulls.verdicts"
    Pull.objects.update(due_at=timezone.now(), attempts=4)
    claimed = verdicts.claim(timezone.now())
    verdicts.give_back(claimed, "boom")
    row = Pull.objects.get(number=7)
    assert (row.due_at, row.failure) == (None, "boom")
    run(acme, C, 2, pr=7, base=A, one="Boom")
    assert Pull.objects.get(number=7).failure == ""
    assert names(pull(acme, 7)["failures"]) == {"introduced": ["one"]}


def test_circles_are_named(acme, github):
    for number, other in ((1, 2), (2, 3), (3, 1), (4, 1)):
        body = f"Blocked on #{other}"
        hook(github, "pull_request", pull_request(number, 1, body=body))
    found = pull(acme, 4)
    assert found["blockers"]["cycles"] == [[1, 2, 3]]
    assert found["blockers"]["order"] == [3, 2, 1]
    assert "#1, #2 and #3 wait for each other." in found["sentence"]
    assert told("/projects/acme/app/graph", acme.token)["cycles"] == [[1, 2, 3]]
    assert pull(acme, 1)["blocks"] == [3, 4]
