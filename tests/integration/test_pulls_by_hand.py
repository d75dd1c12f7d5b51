"""What a person says of a pull request, and what turns one red."""

from __future__ import annotations

import pytest

from healthboard.pipeline import drain_all
from projects.creation import Created, create_project
from projects.models import AuditEntry, Project
from pulls import actions
from pulls.models import State
from tests.pulling import hook, main, pull, pull_request, run
from tests.routing import make_route

pytestmark = pytest.mark.django_db
A, B, C = "a" * 40, "b" * 40, "c" * 40


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


def test_an_edge_by_hand_blocks_until_the_other_is_closed_by_hand(acme):
    main(acme, A, 0, one="")
    run(acme, B, 1, pr=7, base=A, one="")
    run(acme, C, 1, pr=8, base=A, one="")
    actions.add_edge(acme.project, 7, 8, by="ada")
    drain_all()
    found = pull(acme, 7)
    assert (found["verdict"], found["blockers"]["direct"]) == ("blocked", [8])
    actions.set_state(acme.project, 8, State.CLOSED, by="ada")
    drain_all()
    assert pull(acme, 7)["verdict"] == "clear"
    acts = AuditEntry.objects.filter(project=acme.project, actor="ada")
    assert list(acts.order_by("pk").values_list("action", "subject")) == [
        ("pull.edge_added", "#7"),
        ("pull.state_set", "#8"),
    ]


def test_a_declared_edge_that_is_taken_away_stays_so(acme):
    route = make_route(acme.project, "github")
    hook(route, "pull_request", pull_request(7, 1, body="Blocked on #8"))
    actions.remove_edge(acme.project, 7, 8, by="ada")
    drain_all()
    assert pull(acme, 7)["blockers"]["direct"] == []
    hook(route, "pull_request", pull_request(7, 2, body="Still blocked on #8"))
    assert pull(acme, 7)["blockers"]["direct"] == []
    with pytest.raises(actions.ActionError, match="does not wait"):
        actions.remove_edge(acme.project, 7, 9, by="ada")
    actions.add_edge(acme.project, 7, 8, by="ada")
    drain_all()
    assert pull(acme, 7)["blockers"]["direct"] == [8]


@pytest.mark.parametrize("number", [0, -1, 2**31])
def test_only_numbers_of_pull_requests_are_taken(acme, number):
    with pytest.raises(actions.ActionError, match="no number"):
        actions.add_edge(acme.project, 7, number, by="ada")
    with pytest.raises(actions.ActionError, match="itself"):
        actions.add_edge(acme.project, 7, 7, by="ada")


@pytest.mark.parametrize(
    ("policy", "tests", "reason"),
    [
        ("red_introduced_failure", {"one": "Boom"}, "it introduces 1 failure"),
        ("red_incomplete", {"one": "", "complete": False}, "a run is incomplete"),
    ],
)
def test_the_policies_decide_what_is_red(acme, policy, tests, reason):
    main(acme, A, 0, one="")
    run(acme, B, 1, pr=7, base=A, **tests)
    assert (pull(acme, 7)["red"], pull(acme, 7)["reasons"]) == (True, [reason])
    Project.objects.filter(pk=acme.project.pk).update(options={policy: False})
    run(acme, C, 2, pr=7, base=A, **tests)
    assert (pull(acme, 7)["red"], pull(acme, 7)["reasons"]) == (False, [])


def test_another_failure_of_the_same_test_is_said_to_be_another(acme):
    main(acme, A, 0, one="ValueError: x")
    run(acme, B, 1, pr=7, base=A, one="KeyError: y")
    [one] = pull(acme, 7)["failures"]["introduced"]
    assert one["why"] == "other"
    assert one["reason"] == "it failed at aaaaaaa too, but with another failure"


def test_an_incomplete_base_run_without_the_test_is_passed_over(acme):
    main(acme, A, 0, one="Boom", two="")
    run(acme, B, 1, branch="main", ancestry=[B, A], complete=False, two="")
    run(acme, C, 2, pr=7, ancestry=[C, B], one="Boom", two="", three="Boom")
    found = pull(acme, 7)["failures"]
    assert [one["base_commit"] for one in found["inherited"]] == [A]
    assert [one["why"] for one in found["introduced"]] == ["absent"]
