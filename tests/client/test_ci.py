"""What each CI's recorded variables say; `environments/` holds one job a file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from healthboard_client.ci import read_ci
from healthboard_client.ci.facts import Facts, load, number, shard_of

RECORDED = sorted((Path(__file__).parent / "environments").glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_variables_are_read(path):
    case = json.loads(path.read_text())
    facts = read_ci(case["environ"], load=lambda name: case["files"].get(name, ""))
    expected = asdict(Facts()) | case["expected"]
    if "shard" in case["expected"]:
        expected["shard"] = tuple(case["expected"]["shard"])
    assert asdict(facts) == expected


def test_every_ci_is_recorded():
    providers = {
        json.loads(p.read_text())["expected"].get("provider") for p in RECORDED
    }
    assert providers == {
        *("github", "gitlab", "jenkins", "circleci", "buildkite", "azure"),
        *("bitbucket", "teamcity", None),
    }


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_ci_of_which_only_its_sign_is_left_says_nothing_false(path):
    """Variables that are missing make empty fields, not errors and not guesses."""
    signs = {
        *("GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "CIRCLECI", "BUILDKITE"),
        *("TF_BUILD", "TEAMCITY_VERSION"),
    }
    environ = json.loads(path.read_text())["environ"]
    facts = read_ci({k: v for k, v in environ.items() if k in signs})
    said = {k: v for k, v in asdict(facts).items() if v not in ("", None)}
    assert said.keys() <= {"provider", "attempt"}


@pytest.mark.parametrize(
    ("index", "count", "first", "expected"),
    [
        ("0", "3", 0, (1, 3)),
        ("2", "3", 0, (3, 3)),
        ("3", "3", 0, None),
        ("1", "1", 1, None),
        ("0", "3", 1, None),
        ("x", "3", 1, None),
        (None, "3", 1, None),
        ("1", None, 1, None),
        ("1", "²", 1, None),
    ],
)
def test_shards_count_from_one_and_only_where_there_are_several(
    index, count, first, expected
):
    assert shard_of(index, count, first=first) == expected


@pytest.mark.parametrize("text", [None, "", "false", "-1", "0", "1.5", "9" * 30])
def test_what_is_no_positive_number_is_none(text):
    assert number(text) is None


def test_a_file_that_is_not_there_says_nothing(tmp_path):
    assert load(str(tmp_path / "missing")) == ""
    assert load(str(tmp_path)) == ""
    assert load("") == ""
