"""Whole stories of pull requests, each from uploads and webhooks alone."""

from __future__ import annotations

import json

import pytest

from projects.creation import Created, create_project
from pulls.signals import unblocked, verdict_changed
from tests.asking import told
from tests.delivering import send
from tests.pulling import (
    at,
    comment,
    gate,
    hook,
    main,
    names,
    pull,
    pull_request,
    push,
    report,
    run,
)
from tests.routing import make_route

pytestmark = pytest.mark.django_db

A, B, C, D = "a" * 40, "b" * 40, "c" * 40, "d" * 40
HEAD = "e" * 40


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


@pytest.fixture
def github(acme):
    return make_route(acme.project, "github")


def test_from_the_first_red_run_to_green(acme, github):
    """A leak that is inherited, its fix, the rebase: as in the thread of #541."""
    leak = gate(("purge", "sys_modules.removed"), name="sys_modules")
    main(acme, A, 0, purge="", one="Boom: one", two="Boom: two", leaks=leak)
    hook(github, "pull_request", pull_request(540, 1, head="5" * 40, base=A))
    body = "Land #540 first - the gate fires until its fix is in."
    opened = pull_request(541, 1, head=HEAD, base=A, body=body)
    hook(github, "pull_request", opened)
    run(
        acme,
        HEAD,
        2,
        pr=541,
        base=A,
        purge="",
        one="Boom: one",
        two="Boom: two",
        leaks=leak,
    )
    red = pull(acme, 541)
    assert (red["verdict"], red["red"]) == ("blocked", False)
    assert names(red["failures"]) == {"inherited": ["one", "two"]}
    assert names(red["leaks"]) == {"inherited": ["purge"]}
    assert red["blockers"]["direct"] == [540]
    assert red["sentence"].endswith("Blocked on #540.")
    assert pull(acme, 540)["blocks"] == [541]

    run(acme, "5" * 40, 3, pr=540, base=A, purge="", one="", two="", leaks=gate())
    fix = pull(acme, 540)
    assert (fix["verdict"], fix["sentence"]) == (
        "clear",
        "No failure and no leak in 3 tests. It fixes 2 failures and 1 leak.",
    )
    waits = pull(acme, 541)
    assert "2 inherited (fixed by #540, open)" in waits["sentence"]
    graph = told("/projects/acme/app/graph", acme.token)
    assert sorted((e["to"], e["source"], e["open"]) for e in graph["edges"]) == [
        (540, "computed", True),
        (540, "declared", True),
    ]

    told_of: list[object] = []
    receiver = lambda pull, by, **_: told_of.append((pull.number, by))  # noqa: E731
    unblocked.connect(receiver, weak=False)
    try:
        hook(github, "push", push(A, B, 4, "Restore modules (#540)"))
        merged = pull_request(540, 4, state="merged", merge_commit=B, head="5" * 40)
        hook(github, "pull_request", merged)
        hook(github, "pull_request", merged)
    finally:
        unblocked.disconnect(receiver)
    assert told_of == [(541, [540])]

    main(acme, B, 5, purge="", one="", two="", leaks=gate())
    stale = pull(acme, 541)
    assert stale["verdict"] == "not_yours"
    assert names(stale["failures"]) == {"inherited_fixed_upstream": ["one", "two"]}
    gone = stale["failures"]["inherited_fixed_upstream"][0]["gone"]
    assert (gone["commit"], gone["pull"]) == (B, 540)
    assert stale["advice"][0] == (
        "Rebase onto main: 3 of its faults are fixed there since bbbbbbb (#540)."
        " This branch is based on aaaaaaa."
    )
    graph = told("/projects/acme/app/graph", acme.token)
    assert [(e["source"], e["open"]) for e in graph["edges"]] == [("declared", False)]

    hook(github, "pull_request", pull_request(541, 6, head=C, base=B, body=body))
    untested = pull(acme, 541)
    assert (untested["verdict"], untested["untested"]) == ("unknown", C)
    run(acme, C, 7, pr=541, ancestry=[C, B, A], purge="", one="", two="", leaks=gate())
    green = pull(acme, 541)
    assert (green["verdict"], green["merge_base"]) == ("clear", B)
    assert green["sentence"] == "No failure and no leak in 3 tests."


def test_a_verdict_is_told_once_a_change(acme):
    heard: list[tuple[int, str, str]] = []

    def receiver(pull, before, after, **_):
        heard.append((pull.number, before, after))

    verdict_changed.connect(receiver, weak=False)
    try:
        main(acme, A, 0, one="")
        upload = run(acme, HEAD, 1, pr=7, base=A, one="Boom")
        from_again = acme.project.uploads.get(pk=upload)
        assert from_again.state == "processed"
        run(acme, HEAD, 2, pr=7, base=A, one="Boom")
        run(acme, B, 3, pr=7, base=A, one="")
    finally:
        verdict_changed.disconnect(receiver)
    assert heard == [(7, "", "yours"), (7, "yours", "clear")]


def test_a_stale_base_is_named_with_the_commit_to_rebase_onto(acme):
    main(acme, A, 0, one="Boom", two="")
    run(acme, B, 1, branch="main", ancestry=[B, A], one="Boom", two="")
    run(acme, C, 2, branch="main", ancestry=[C, B], one="", two="")
    run(acme, HEAD, 3, pr=3, branch="x", ancestry=[HEAD, A], one="Boom", two="New")
    found = pull(acme, 3)
    assert names(found["failures"]) == {
        "introduced": ["two"],
        "inherited_fixed_upstream": ["one"],
    }
    assert (found["merge_base"], found["base_quality"]) == (A, "derived")
    assert found["verdict"] == "yours"
    [one] = found["failures"]["inherited_fixed_upstream"]
    assert one["gone"]["commit"] == C


def test_two_leakers_with_two_fixes_do_not_wait_for_each_other(acme):
    both = gate(("l1", "env.set"), ("l2", "env.set"))
    main(acme, A, 0, l1="", l2="", v1="Boom 1", v2="Boom 2", leaks=both)
    first = gate(("l2", "env.set"))
    run(acme, B, 1, pr=538, base=A, l1="", l2="", v1="", v2="Boom 2", leaks=first)
    second = gate(("l1", "env.set"))
    run(acme, C, 2, pr=540, base=A, l1="", l2="", v1="Boom 1", v2="", leaks=second)
    run(
        acme,
        HEAD,
        3,
        pr=541,
        base=A,
        l1="",
        l2="",
        v1="Boom 1",
        v2="Boom 2",
        leaks=both,
    )
    found = pull(acme, 541)
    assert found["verdict"] == "blocked"
    assert found["blockers"]["order"] == [538, 540]
    assert names(pull(acme, 538)["leaks"]) == {"fixed": ["l1"], "inherited": ["l2"]}
    graph = told("/projects/acme/app/graph", acme.token)
    assert graph["cycles"] == []
    assert pull(acme, 538)["verdict"] == pull(acme, 540)["verdict"] == "not_yours"
    run(
        acme,
        D,
        4,
        branch="main",
        ancestry=[D, A],
        l1="",
        l2="",
        v1="",
        v2="",
        leaks=gate(),
    )
    found = pull(acme, 541)
    assert (found["verdict"], found["blockers"]["order"]) == ("not_yours", [])
    assert found["failures"]["inherited"] == []


def test_a_merge_queue_s_candidate_is_judged_by_its_base(acme, github):
    main(acme, A, 0, one="", two="")
    hook(github, "pull_request", pull_request(104, 1, head=HEAD, base=A))
    run(acme, HEAD, 2, pr=104, base=A, one="", two="")
    assert pull(acme, 104)["verdict"] == "clear"
    queue = f"gh-readonly-queue/main/pr-104-{A}"
    group = {
        "action": "checks_requested",
        "merge_group": {
            "head_sha": D,
            "head_ref": f"refs/heads/{queue}",
            "base_sha": A,
            "base_ref": "refs/heads/main",
            "head_commit": {"id": D, "timestamp": at(3)},
        },
    }
    hook(github, "merge_group", group)
    run(acme, D, 4, branch=queue, one="", two="Boom")
    queued = pull(acme, 104)
    assert (queued["verdict"], queued["head"], queued["merge_base"]) == (
        "yours",
        HEAD,
        A,
    )
    assert names(queued["failures"]) == {"introduced": ["two"]}
    # It lands all the same: its candidate is then the default branch's newest commit.
    hook(github, "push", push(A, D, 5))
    closed = pull_request(104, 5, state="merged", merge_commit=D, head=HEAD)
    hook(github, "pull_request", closed)
    run(acme, C, 6, pr=105, ancestry=[C, D], one="", two="Boom")
    after = pull(acme, 105)
    assert names(after["failures"]) == {"inherited": ["two"]}
    assert after["merge_base"] == D


def test_a_revert_brings_back_what_was_fixed(acme):
    main(acme, A, 0, one="Boom")
    run(acme, B, 1, branch="main", ancestry=[B, A], one="")
    run(acme, HEAD, 2, pr=9, ancestry=[HEAD, A], one="Boom")
    assert names(pull(acme, 9)["failures"]) == {"inherited_fixed_upstream": ["one"]}
    run(acme, C, 3, branch="main", ancestry=[C, B], one="Boom")
    assert names(pull(acme, 9)["failures"]) == {"inherited": ["one"]}
    run(acme, D, 4, branch="main", ancestry=[D, C], one="")
    [one] = pull(acme, 9)["failures"]["inherited_fixed_upstream"]
    assert one["gone"]["commit"] == D  # not B: it came back since


def test_a_fork_s_main_is_not_the_default_branch(acme):
    main(acme, A, 0, one="")
    run(acme, HEAD, 1, pr=12, branch="main", base=A, one="Boom")
    run(acme, C, 2, pr=13, branch="x", base=A, one="Boom")
    found = pull(acme, 13)
    assert names(found["failures"]) == {"introduced": ["one"]}
    assert names(pull(acme, 12)["failures"]) == {"introduced": ["one"]}


def test_a_default_branch_that_is_renamed_keeps_its_history(acme, github):
    main(acme, A, 0, one="Boom", two="")
    run(acme, HEAD, 1, pr=5, branch="x", ancestry=[HEAD, A], one="Boom", two="")
    renamed = {"full_name": "acme/app", "default_branch": "trunk"}
    moved = push(A, B, 2, "Go on", branch="trunk", repository=renamed)
    hook(github, "push", moved)
    project = told("/projects", acme.token)["items"][0]
    assert project["default_branch"] == "trunk"
    assert names(pull(acme, 5)["failures"]) == {"inherited": ["one"]}
    run(acme, B, 3, branch="trunk", one="", two="")
    assert names(pull(acme, 5)["failures"]) == {"inherited_fixed_upstream": ["one"]}


def test_without_any_run_of_the_base_nothing_is_guessed(acme):
    run(acme, HEAD, 1, pr=2, branch="x", ancestry=[HEAD, A], one="Boom", two="")
    found = pull(acme, 2)
    assert found["verdict"] == "unknown"
    assert names(found["failures"]) == {"unknown": ["one"]}
    assert found["sentence"] == (
        "1 failure: 0 introduced, 1 of unknown origin. No run of main is known to"
        " compare with."
    )
    # Its own earlier run proves nothing.
    run(acme, B, 2, pr=2, branch="x", ancestry=[B, HEAD, A], one="Boom", two="")
    assert names(pull(acme, 2)["failures"]) == {"unknown": ["one"]}
    main(acme, A, 3, one="Boom", two="")
    assert names(pull(acme, 2)["failures"]) == {"inherited": ["one"]}


def test_the_journey_tells_what_each_fix_earned(acme, github):
    main(acme, A, 0, a="1", b="2", c="3")
    hook(github, "push", push(A, B, 1, "Restore modules (#538)"))
    main(acme, B, 1, a="1", b="", c="")
    hook(github, "push", push(B, C, 2, "Restore attributes (#540)"))
    main(acme, C, 2, a="", b="", c="")
    found = told("/projects/acme/app/journey", acme.token, window="400d")
    assert [(p["failing"], p["gone"], p["pull"]) for p in found["changes"]] == [
        (3, 0, None),
        (1, 2, 538),
        (0, 1, 540),
    ]
    assert pull(acme, 540)["state"] == "merged"  # by the word of its commit


def test_the_samples_thread_comes_out_as_its_edges(acme, github, shared):
    sample = json.loads((shared / "samples" / "pr-thread.json").read_text())
    repo = {"full_name": sample["repository"], "default_branch": "main"}
    for one in sample["pulls"]:
        payload = pull_request(one["number"], 1, state=one["state"], body=one["body"])
        hook(github, "pull_request", {**payload, "repository": repo})
        for n, body in enumerate(one["comments"]):
            said = comment(one["number"], n + 1, n + 2, body)
            hook(github, "issue_comment", {**said, "repository": repo})
    graph = told("/projects/acme/app/graph", acme.token)
    found = {(e["from"], e["to"], e["kind"], e["open"]) for e in graph["edges"]}
    wanted = {
        (e["from"], e["to"], e["kind"], e.get("open", False))
        for e in sample["expected_edges"]
    }
    optional = {
        (e["from"], e["to"], e["kind"], False)
        for e in sample["expected_edges"]
        if "note" in e
    }
    assert wanted - optional <= found <= wanted


def test_another_environment_is_no_evidence(acme):
    linux, mac = {"os": "linux"}, {"os": "mac"}
    send(acme, report(one="Boom"), run="m", branch="main", commit=A, environment=mac)
    send(
        acme,
        report(one="Boom"),
        run="p",
        pr=4,
        commit=HEAD,
        merge_base=A,
        environment=linux,
    )
    assert names(pull(acme, 4)["failures"]) == {"unknown": ["one"]}
