"""`healthboard-ci check` against the real server."""

from __future__ import annotations

import json

import pytest

from tests.outside import junit

FAILING = "pours: <failure message='cold'>assert 20 == 90</failure>"
GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_RUN_ID": "7211",
    "GITHUB_SHA": "c0ffee1",
    "GITHUB_REF": "refs/heads/main",
}


def _give(project, run, *cases, commit="c0ffee1", **context):
    context = {"run": run, "branch": "main", "commit": commit, **context}
    return project.give(context, junit(*cases))


def test_a_green_run_passes(connected, project):
    _give(project, "github-7211", "boils")
    said = connected.ci("check", **GITHUB)
    assert said.code == 0, said.text
    assert "github-7211: pass. Nothing failed." in said.out
    assert "  ok introduced-failure" in said.out


def test_a_failure_without_a_pull_request_is_red(connected, project):
    _give(project, "github-7211", "boils", FAILING)
    said = connected.ci("check", **GITHUB)
    assert said.code == 1, said.text
    assert "NO introduced-failure: github-7211: kitchen::kitchen.tea::pours" in said.out


@pytest.mark.parametrize("named", ["nightly-3", "id"])
def test_a_run_is_named_by_its_name_or_id(connected, project, named):
    upload = _give(project, "nightly-3", FAILING)
    run = str(project.run_of(upload)["id"]) if named == "id" else named
    said = connected.ci("check", "--run", run, "--fail-on", "incomplete")
    assert said.code == 0, said.text
    assert connected.ci("check", "--run", run, "--fail-on", "failure").code == 1


def test_every_environment_of_a_run_counts(connected, project):
    _give(project, "n", "boils", environment={"os": "linux"})
    _give(project, "n", FAILING, environment={"os": "macos"})
    project.settle()
    said = connected.ci("check", "--run", "n", "--json")
    assert said.code == 1
    value = json.loads(said.out)
    assert (len(value["runs"]), value["red"]) == (2, True)


def test_missing_shards_and_runs_have_no_answer_in_time(connected, project):
    _give(project, "n", "boils", shard={"index": 1, "count": 2})
    project.settle()
    said = connected.ci("check", "--run", "n", "--timeout", "1")
    assert said.code == 2
    assert "1 of 2 parts came" in said.err
    said = connected.ci("check", "--run", "other", "--timeout", "0")
    assert said.code == 2
    assert "other to arrive" in said.err


def test_an_inherited_failure_is_not_the_pull_requests(connected, project):
    """The base fails too: only what the change introduced makes it red."""
    _give(project, "base", "boils", FAILING, commit="a" * 40)
    project.settle()
    head = {"pr": 538, "branch": "feature", "base_branch": "main"}
    head |= {"merge_base": "a" * 40, "ancestry": ["b" * 40, "a" * 40]}
    _give(project, "head", "boils", FAILING, commit="b" * 40, **head)
    said = connected.ci("check", "--pr", "538")
    assert said.code == 0, said.text
    assert connected.ci("check", "--pr", "538", "--fail-on", "failure").code == 1
    new = "stirs: <failure message='spoon'>assert None</failure>"
    head["ancestry"] = ["c" * 40, "b" * 40, "a" * 40]
    _give(project, "head-2", "boils", FAILING, new, commit="c" * 40, **head)
    said = connected.ci("check", "--pr", "538", "--commit", "c" * 40)
    assert said.code == 1, said.text
    assert "NO introduced-failure: kitchen::kitchen.tea::stirs" in said.out
    assert "pours" not in said.out.partition("NO introduced-failure")[2]


def test_misuse_has_its_own_exit_code(connected):
    assert connected.ci("check").code == 64  # no CI, no --run
    assert connected.ci("check", "--fail-on", "everything").code == 64
    assert connected.ci("check", "--run", "a", "--pr", "5").code == 64
    assert connected.ci("check", "--run", "a", HEALTHBOARD_TOKEN="").code == 64


def test_a_server_that_does_not_answer_is_no_answer(job):
    said = job.ci("check", "--run", "a", "--retry-for", "0", "--project", "acme/app")
    assert said.code == 2
    assert "no answer from the server" in said.err
