"""`serve`: one command, all of it; it survives what kills its parts."""

from __future__ import annotations

import os
import signal

import pytest

from healthboard.roles import BY_NAME
from tests.services.serving import children_of, prepared, processes_of, serving, start
from tests.waiting import until

pytestmark = [pytest.mark.kill, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    data = prepared(tmp_path_factory.mktemp("serve") / "data dir")
    with serving(data) as running:
        yield running


def test_upload_is_processed(server):
    client = server.client()
    upload = client.processed(client.upload("r1"))
    assert upload["state"] == "processed"


@pytest.mark.parametrize("part", ["web", *BY_NAME])
def test_killed_part_is_replaced(server, part):
    client = server.client()
    server.kill(part)
    upload = client.processed(client.upload(f"after {part}"))
    assert upload["state"] == "processed"
    alive = set(server.started(part)) & set(processes_of(server.data))
    assert alive == {server.started(part)[-1]}


def test_killed_child_of_the_web_part_is_replaced(server):
    client = server.client()
    (child,) = children_of(server.started("web")[-1])
    os.kill(child, signal.SIGKILL)
    until(
        lambda: set(children_of(server.started("web")[-1])) - {child},
        what="another child answers",
    )
    assert client.get("/healthz") == {"status": "ok"}


def test_port_in_use_is_one_sentence(server, tmp_path):
    second = start(tmp_path / "other", "--port", str(server.port))
    assert second.process.wait(timeout=60) == 1
    assert second.text == (
        f"CommandError: port {server.port} is taken; choose another with --port\n"
    )


def test_data_directory_in_use_is_one_sentence(server):
    second = start(server.data, "--port", "0")
    assert second.process.wait(timeout=60) == 1
    assert second.text == (
        f"CommandError: process {server.process.pid} serves {server.data} already; "
        "end it, or give another --data\n"
    )
