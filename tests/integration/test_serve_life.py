"""How `serve` begins and ends, and what is left when it is killed."""

from __future__ import annotations

import http.cookiejar
import os
import re
import signal
import sqlite3
import urllib.parse
import urllib.request

import pytest

from healthboard.roles import BY_NAME
from tests.services.serving import prepared, processes_of, serving, start
from tests.waiting import until

pytestmark = [pytest.mark.kill, pytest.mark.timeout(180)]
PARTS = ("web", *BY_NAME)


def _sign_in(address: str, name: str, password: str) -> str:
    """Sign in as a browser would; return the address that it ends at."""
    jar = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    with browser.open(f"{address}/sign-in", timeout=30) as page:
        field = re.search(
            r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode()
        )
    assert field is not None
    form = {
        "csrfmiddlewaretoken": field[1],
        "username": name,
        "password": password,
        "next": "/admin/",
    }
    request = urllib.request.Request(
        f"{address}/sign-in",
        data=urllib.parse.urlencode(form).encode(),
        headers={"Referer": address},
    )
    with browser.open(request, timeout=30) as page:
        return str(page.url)


def test_first_start_shows_a_sign_in_once_and_keeps_it_nowhere(tmp_path):
    data = tmp_path / "data"
    with serving(data) as first:
        address = first.address
        shown = until(
            lambda: re.search(r"Sign in as (\w+) with (\S+)", first.text),
            what="the sign-in is shown",
        )
        name, password = shown.groups()
        assert not (data / "demo.pending").exists()
        assert _sign_in(address, name, password) == f"{address}/admin/"
        assert _sign_in(address, name, "wrong") == f"{address}/sign-in"
    with serving(data) as second:
        assert second.address
        assert "Sign in" not in second.text
    holding = [
        path
        for path in data.rglob("*")
        if path.is_file() and password.encode() in path.read_bytes()
    ]
    assert holding == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stop_signal_ends_every_part(tmp_path, number):
    with serving(prepared(tmp_path / "data")) as server:
        assert server.address
        assert server.stop(number) == 0
        assert processes_of(server.data) == []
        assert f"serve=stopping signal={number.name}" in server.text
        assert "serve=stopped" in server.text
        assert "Traceback" not in server.text


def test_server_takes_over_at_once_from_a_killed_one(tmp_path):
    """The parts of the killed one may still be ending, with its port and locks."""
    data = prepared(tmp_path / "data")
    with serving(data) as first:
        client = first.client()
        port = first.port
        uploads = [client.upload(f"r{number}") for number in range(20)]
        first.process.send_signal(signal.SIGKILL)
        with serving(data, "--port", str(port)) as second:
            second.token = first.token
            client = second.client()
            states = {client.processed(upload)["state"] for upload in uploads}
            assert second.port == port
            orphans = {pid for part in PARTS for pid in first.started(part)}
            assert orphans.isdisjoint(processes_of(data))
    assert states == {"processed"}


def test_worker_killed_again_and_again_does_all_work_once(tmp_path):
    with serving(prepared(tmp_path / "data")) as server:
        client = server.client()
        uploads = [client.upload(f"r{number}") for number in range(30)]
        for _ in range(3):
            server.kill("worker")
        assert {client.processed(upload)["state"] for upload in uploads} == {
            "processed"
        }
    with sqlite3.connect(server.data / "healthboard.db") as database:
        runs = database.execute("SELECT COUNT(*) FROM results_run").fetchone()
        shards = database.execute("SELECT COUNT(*) FROM results_shard").fetchone()
    database.close()
    assert (runs, shards) == ((30,), (30,))


def test_newer_database_gets_no_work_done_and_no_server(tmp_path):
    data = prepared(tmp_path / "data")
    newer = "INSERT INTO django_migrations (app, name, applied) VALUES (?, ?, ?)"
    future = ("results", "0999_from_the_future", "2030-01-01")
    with serving(data) as server:
        client = server.client()
        client.processed(client.upload("before"))
        path = data / "healthboard.db"
        database = sqlite3.connect(path, isolation_level=None, timeout=20)
        database.execute(newer, future)
        waiting = client.upload("after")
        until(
            lambda: "taking no work: the database is newer" in server.text,
            what="the worker says why",
        )
        assert client.get(f"/api/v1/uploads/{waiting}")["state"] == "admitted"
        database.execute("DELETE FROM django_migrations WHERE name = ?", [future[1]])
        assert client.processed(waiting)["state"] == "processed"
        database.execute(newer, future)
        database.close()
    server = start(data, "--port", "0")
    assert server.process.wait(timeout=60) == 1
    assert server.text == (
        "CommandError: the database is newer than this code "
        "(results.0999_from_the_future); update the code\n"
    )


def test_demo_is_tried_until_it_succeeded(tmp_path):
    """The mark of a demo to be made outlives a server that could not make it."""
    data = prepared(tmp_path / "data")
    (data / "demo.pending").touch()
    with serving(data) as server:
        assert server.address
        assert until(lambda: server.started("demo"), what="the demo is made")
        os.kill(server.started("demo")[0], signal.SIGKILL)
        until(lambda: "part=demo ended" in server.text, what="the demo has ended")
        assert (data / "demo.pending").exists()
        assert server.stop(signal.SIGHUP) == 0
