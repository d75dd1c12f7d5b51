"""Who may what with which token or secret, and what a person changes on the pages."""

from __future__ import annotations

import json
import os
import re
import signal
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.outside import Person, junit
from tests.sending import PATH, Upload, signed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.outside import Outside, Project

pytestmark = [pytest.mark.kill, pytest.mark.timeout(120)]

SETTINGS: dict[str, Any] = {
    "title": "",
    "default_branch": "main",
    "zone": "UTC",
    "window_days": "30",
    "due_p0_days": "1",
    "due_p1_days": "7",
    "due_p2_days": "30",
    "due_p3_days": "90",
    "strip_path_prefixes": "",
    "add_path_prefix": "",
    "strip_classname_prefixes": "",
    "add_classname_prefix": "",
    "repeats": "auto",
    "keep_bodies_days": "90",
    "keep_facts_days": "400",
}


@pytest.fixture(scope="module")
def admin(running: Outside) -> Person:
    return Person(running.server)


def shown_once(page: str) -> str:
    [plain] = re.findall(r'data-copy="(\S+)" title="Copy the (?:token|secret)', page)
    return plain


def token(admin: Person, project: Project, *scopes: str) -> Project:
    """The project as somebody with a new token has it."""
    page = f"/p/{project.slug}/settings/tokens"
    made = admin.fill(f"{page}/new", page=page, name="t", scopes=list(scopes))
    return replace(project, token=shown_once(made))


def statuses(asking: Project, upload: int, run: int) -> dict[str, int]:
    project = asking.path
    reads = [f"/api/v1/uploads/{upload}", f"/api/v1/runs/{run}", f"{project}/runs"]
    reads += [f"{project}/tests", f"{project}/status", f"{PATH}/{upload}/raw"]
    read = {asking.ask("GET", path).status for path in reads}
    assert len(read) == 1
    return {
        "read": read.pop(),
        "upload": asking.send({"run": uuid.uuid4().hex}).status,
        "admin": asking.ask("POST", f"{PATH}/{upload}/retry").status,
    }


def test_a_token_may_what_its_scopes_say(admin: Person, running: Outside):
    project = running.project()
    upload = project.give({"run": "r"})
    run = project.run_of(upload)["id"]
    # What was processed is not tried again: 409 says that it might have been.
    full = {"read": 200, "upload": 202, "admin": 409}
    assert statuses(project, upload, run) == full
    for scope, status in full.items():
        asking = token(admin, project, scope)
        expected = dict.fromkeys(full, 403) | {scope: status}
        assert statuses(asking, upload, run) == expected


def test_a_stranger_learns_nothing(running: Outside):
    project, stranger = running.project(), running.project()
    upload = project.give({"run": "r"})
    run = project.run_of(upload)["id"]
    test = project.items(f"{project.path}/tests")[0]["id"]
    paths = [f"{PATH}/{upload}", f"{PATH}/{upload}/raw", f"{PATH}/{upload}/files/1"]
    paths += [f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/results"]
    paths += [f"/api/v1/tests/{test}", f"/api/v1/tests/{test}/history"]
    paths += [f"{project.path}/{name}" for name in ("runs", "tests", "status")]
    for path in paths:
        there = stranger.ask("GET", path)
        nowhere = stranger.ask("GET", path.replace(project.slug, "no/body") + "99999")
        assert (there.status, nowhere.status) == (404, 404), path
        assert replace(project, token="hb_wrong").ask("GET", path).status == 401
        assert project.ask("GET", path, headers={}).status == 401


def test_a_revoked_token_is_nothing_at_once(admin: Person, running: Outside):
    project = running.project()
    page = f"/p/{project.slug}/settings/tokens"
    asking = token(admin, project, "upload", "read")
    assert asking.send({"run": "1"}).status == 202
    numbers = [int(n) for n in re.findall(r"/tokens/(\d+)/revoke", admin.read(page))]
    admin.fill(f"{page}/{max(numbers)}/revoke", page=page)
    assert asking.send({"run": "2"}).status == 401
    assert asking.ask("GET", f"{asking.path}/runs").status == 401
    assert project.send({"run": "2"}).status == 202


def test_both_secrets_are_valid_while_one_is_rotated(admin: Person, running: Outside):
    project = running.project()
    page = f"/p/{project.slug}/settings/secret"
    new = shown_once(admin.fill(f"{page}/rotate", page=page))
    assert new != project.secret
    answers = []
    for secret in (project.secret, new, "neither"):
        upload = Upload({"run": uuid.uuid4().hex})
        headers = {"Content-Type": upload.content_type} | signed(upload.body, secret)
        path = f"{PATH}?project={project.slug}"
        answers.append(project.ask("POST", path, upload.body, headers).status)
    assert answers == [202, 202, 401]


def test_a_setting_says_what_repeats_are(
    admin: Person, running: Outside, shared_folder: Path
):
    folder = shared_folder / "bugs" / "40-attempts-as-separate-cases"
    expected = json.loads((folder / "expected.json").read_text())
    project = running.project()
    admin.fill(f"/p/{project.slug}/settings", **{**SETTINGS, "repeats": "attempts"})
    file = ("junit", "a.xml", (folder / "a.xml").read_bytes())
    run = project.run_of(project.give({"run": "r"}, file))
    final = expected.get("expected", expected)["final"]
    assert {name: run["counts"][name] for name in final} == final


def test_a_setting_joins_what_differs_by_a_prefix(
    admin: Person, running: Outside, shared_folder: Path
):
    folder = shared_folder / "bugs" / "55-classname-changes-with-working-directory"
    project = running.project()
    changed = {"strip_classname_prefixes": "web."}
    admin.fill(f"/p/{project.slug}/settings", **SETTINGS | changed)
    for name in ("root.xml", "sub.xml"):
        file = ("junit", name, (folder / name).read_bytes())
        project.give({"run": name}, file)
    project.settle()
    assert len(project.items(f"{project.path}/tests")) == 2


def test_nothing_is_lost_when_the_worker_is_killed_while_uploads_come(
    running: Outside,
):
    project = running.project()
    sent = []
    for number in range(12):
        sent.append(project.give({"run": f"r{number}"}, junit("a", f"t{number}")))
        if number % 4 == 1:
            os.kill(running.server.started("worker")[-1], signal.SIGKILL)
    project.settle()
    assert {project.upload(number)["state"] for number in sent} == {"processed"}
    runs = project.items(f"{project.path}/runs")
    assert sorted(run["run"] for run in runs) == sorted(f"r{n}" for n in range(12))
    assert {run["counts"]["tests"] for run in runs} == {2}
    assert len(project.items(f"{project.path}/tests")) == 13
