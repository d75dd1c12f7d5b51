"""The templates of docs/ci: their own commands, run as the CI's shell runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
import yaml

from tests.client.running import ROOT
from tests.outside import report

TEMPLATES = ROOT / "docs" / "ci"
BAD = report("boils", "pours: <failure message='cold'>assert 20 == 90</failure>")


@pytest.fixture
def shell(connected):
    """A shell in which the client is installed; pip and pytest do as they are told."""
    tools = connected.folder / "tools"
    connected.write("report.xml", BAD)
    for name, line in {
        "healthboard-ci": f'exec {sys.executable} -m healthboard_client "$@"',
        "python3": 'case "$*" in "-m pip install "*) exit 0;; esac; exit 9',
        "pytest": "cp report.xml junit.xml; exit 1",
    }.items():
        connected.write(f"tools/{name}", f"#!/bin/sh\n{line}\n").chmod(0o755)

    def run(script, shell="sh", **variables):
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        answer = subprocess.run(
            [shell, "-e", "-c", script],
            cwd=connected.folder,
            env=connected.environment | {"PATH": path} | variables,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        assert connected.token not in answer.stdout + answer.stderr
        return answer

    return run


def test_github_action(shell, connected, project):
    action = yaml.safe_load((TEMPLATES / "action.yml").read_text())
    given = {
        **{name: each.get("default", "") for name, each in action["inputs"].items()},
        "url": connected.url,
        "token": connected.token,
        "files": "out/*.xml",
        "exit-code": "1",
        "shard": "1/1",
    }
    connected.write("out/a.xml", BAD)
    github = {"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "5", "GITHUB_SHA": "c0ffee1"}
    codes = {}
    for step in action["runs"]["steps"]:
        expression = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
        variables = {
            name: expression.sub(lambda match: given[match[1]], text)
            for name, text in step.get("env", {}).items()
        }
        answer = shell(step["run"], step["shell"], **github, **variables)
        codes[step["name"]] = (answer.returncode, answer.stdout + answer.stderr)
    assert {name: code for name, (code, _) in codes.items()} == {
        "Install": 0,
        "Upload": 0,
        "Check": 1,
    }, codes
    assert [run["run"] for run in project.items(f"{project.path}/runs")] == ["github-5"]


def test_gitlab_template(shell, connected, project):
    jobs = yaml.safe_load((TEMPLATES / "gitlab.yml").read_text())
    gitlab = {"GITLAB_CI": "true", "CI_PIPELINE_ID": "9", "CI_COMMIT_SHA": "c0ffee1"}
    gitlab |= {"CI_JOB_NAME": "unit 1/1", "CI_JOB_STATUS": "failed"}
    connected.write("test_tea.py", "def test_boils(): pass\n")
    before = shell("\n".join(jobs[".healthboard"]["before_script"]), **gitlab)
    assert before.returncode == 0, before.stderr
    assert (connected.folder / "shard.txt").read_text() == "test_tea.py\n"
    assert shell("pytest $(cat shard.txt)", **gitlab).returncode == 1
    after = shell("\n".join(jobs[".healthboard"]["after_script"]), **gitlab)
    assert after.returncode == 0, after.stderr
    assert "gitlab-9: failed" in after.stdout
    check = shell("\n".join(jobs["healthboard-check"]["script"]), **gitlab)
    assert check.returncode == 1, check.stderr
    [run] = project.items(f"{project.path}/runs")
    assert (run["run"], run["commit"]) == ("gitlab-9", "c0ffee1")


def test_jenkinsfile(shell, project):
    scripts = re.findall(
        r"sh '''(.*?)'''", (TEMPLATES / "Jenkinsfile").read_text(), re.S
    )
    jenkins = {"JENKINS_URL": "https://ci.example.com", "GIT_COMMIT": "c0ffee1"}
    jenkins |= {"JOB_NAME": "app", "BUILD_NUMBER": "3", "GIT_BRANCH": "origin/main"}
    answers = [shell(script, **jenkins) for script in scripts]
    assert [answer.returncode for answer in answers] == [0, 1], answers
    [run] = project.items(f"{project.path}/runs")
    assert (run["run"], run["branch"]) == ("jenkins-app-3", "main")
