"""`manage project`: before the first `serve`, and for two processes at once."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.services.serving import ROOT, environment, manage

pytestmark = [pytest.mark.kill, pytest.mark.timeout(120)]


def test_project_is_made_in_an_empty_data_directory(tmp_path):
    made = json.loads(manage(tmp_path, "project", "create", "acme/app", "--json"))
    assert made["project"] == "acme/app"
    assert made["token"].startswith("hb_")
    assert made["webhook_secret"]


def test_two_at_once_share_the_work_of_migrating(tmp_path):
    makers = [
        subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "project", "create", f"a/{name}"],
            env=environment(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in ("one", "two")
    ]
    told = [maker.communicate()[0] for maker in makers]
    assert [maker.returncode for maker in makers] == [0, 0], told


def test_known_project_is_refused_in_a_sentence(tmp_path):
    manage(tmp_path, "project", "create", "acme/app")
    again = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "project", "create", "acme/app"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 1
    assert again.stderr == "CommandError: the project acme/app exists already\n"
