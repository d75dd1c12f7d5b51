"""Uploads through a network that fails, to the real server; pauses are noted, not made."""

from __future__ import annotations

import os

import pytest

from healthboard_client import sending, spool
from healthboard_client.files import Report
from healthboard_client.server import NoAnswer, Server
from healthboard_client.settings import Settings
from tests.client.proxy import proxying
from tests.outside import report

GOOD = report("boils", "pours")


class Clock:
    """Time that passes only in pauses."""

    def __init__(self):
        self.now = 1000.0
        self.pauses = []

    def pause(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds

    def __call__(self):
        return self.now


def _server(url, token, clock, retry_for=120.0):
    return Server(
        Settings(url, token, retry_for=retry_for),
        pause=clock.pause,
        clock=clock,
        chance=lambda: 1.0,
    )


@pytest.fixture
def entry(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_bytes(GOOD)
    report = Report("junit", path, len(GOOD))
    context = {"run": "r", "protocol": 1}
    return spool.write(tmp_path / "spool", context, [report], url="u", project="")


@pytest.mark.parametrize(
    ("faults", "pauses", "duplicate"),
    [
        ([], [], False),
        (["reset"], [0.5], False),
        (["reset midway", "reset"], [0.5, 1.0], False),
        (["no answer"], [0.5], True),
        (["half head"], [0.5], True),
        (["half body", "no answer"], [0.5, 1.0], True),
        (["slow"], [], False),
        (["nonsense"], [0.5], False),
        (["502", "502", "502"], [0.5, 1.0, 2.0], False),
        (["503", "429"], [7.0, 3.0], False),
    ],
)
def test_the_upload_arrives_exactly_once(project, entry, faults, pauses, duplicate):
    clock = Clock()
    with proxying(project.port, *faults) as proxy:
        receipt = sending.send(_server(proxy.url, project.token, clock), entry)
    assert receipt.duplicate is duplicate
    assert clock.pauses == pauses
    project.settle()
    [run] = project.items(f"{project.path}/runs")
    assert project.get(f"/api/v1/runs/{run['id']}")["uploads"] == [receipt.upload]


def test_pauses_grow_to_half_a_minute_and_end_with_the_time(project, entry):
    clock = Clock()
    with (
        proxying(project.port, *["502"] * 20) as proxy,
        pytest.raises(NoAnswer, match=r"502 Bad Gateway \(9 attempts\)"),
    ):
        sending.send(_server(proxy.url, project.token, clock), entry)
    assert clock.pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_a_server_that_asks_for_more_time_than_there_is_ends_it(project, entry):
    clock = Clock()
    with proxying(project.port, "503") as proxy, pytest.raises(NoAnswer, match="503"):
        sending.send(_server(proxy.url, project.token, clock, retry_for=6), entry)
    assert clock.pauses == []


@pytest.mark.parametrize(
    ("fault", "words", "final"),
    [
        ("401", "401 Unauthorized", False),
        ("413 early", "413 ", False),
        ("422", "422 Unprocessable", True),
        ("moved", "moved to http://127.0.0.1:9/: set HEALTHBOARD_URL so", False),
    ],
)
def test_a_refusal_is_not_tried_again(project, entry, fault, words, final):
    clock = Clock()
    with (
        proxying(project.port, fault) as proxy,
        pytest.raises(sending.Refused, match=words) as refused,
    ):
        sending.send(_server(proxy.url, project.token, clock), entry)
    assert proxy.met == [fault]  # the redirect was not followed
    assert refused.value.final is final
    assert clock.pauses == []


def test_a_refusal_in_the_middle_of_a_long_body_is_read(project, tmp_path):
    """The sender is still sending when the answer comes and the connection ends."""
    path = tmp_path / "random.xml"
    path.write_bytes(b"<testsuite/>" + os.urandom(8_000_000))
    big = Report("junit", path, path.stat().st_size)
    entry = spool.write(tmp_path / "spool", {"run": "r"}, [big], url="u", project="")
    with (
        proxying(project.port, "413 early") as proxy,
        pytest.raises(sending.Refused, match="413"),
    ):
        sending.send(_server(proxy.url, project.token, Clock()), entry)


def test_a_list_is_read_whole_over_a_bad_line(project):
    clock = Clock()
    for number in range(3):
        context = {"run": f"r{number}", "commit": f"c{number}"}
        project.give(context, ("junit", "j.xml", GOOD))
    project.settle()
    with proxying(project.port, "half body", "pass", "slow", "reset") as proxy:
        server = _server(proxy.url, project.token, clock)
        runs = list(server.items(server.of_project("runs")))
    assert [run["run"] for run in runs] == ["r2", "r1", "r0"]
