"""The commands of docker-compose.yml, as plain processes on real servers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

import pytest
import yaml
from django.conf import settings

from tests.services.serving import ROOT, Client, environment, manage
from tests.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.kill,
    pytest.mark.postgres,
    pytest.mark.valkey,
    pytest.mark.timeout(180),
]

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]


@pytest.fixture
def variables(tmp_path, fresh_postgres, fresh_valkey):
    return environment(
        tmp_path / "data",
        DATABASE_URL=fresh_postgres,
        REDIS_URL=fresh_valkey,
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        HEALTHBOARD_LEASE_SECONDS="10",
    )


def _command(service: str, **replaced: str) -> list[str]:
    """The command of a service, with our Python and without fixed addresses."""
    words = [replaced.get(word, word) for word in SERVICES[service]["command"]]
    return words if words[0] == "sh" else [sys.executable, "-m", *words]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _running(command: list[str], variables: dict[str, str], log: Path) -> Iterator[Any]:
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            env=variables,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait(timeout=PATIENCE)


def _answers(client: Client) -> bool:
    try:
        return bool(client.get("/healthz"))
    except OSError:
        return False


def test_compose_commands_process_an_upload_and_survive_a_killed_worker(
    tmp_path, variables
):
    subprocess.run(_command("init"), env=variables, cwd=ROOT, check=True)
    create = ("project", "create", "acme/app", "--json")
    made = json.loads(manage(tmp_path / "data", *create, **_urls(variables)))
    address = f"127.0.0.1:{_free_port()}"
    web = _command("web", **{"0.0.0.0:8000": address})
    client = Client(f"http://{address}", made["token"])
    with ExitStack() as stack:

        def run(name: str, command: list[str]) -> Any:
            log = tmp_path / f"{name}.log"
            return stack.enter_context(_running(command, variables, log))

        run("web", web)
        first = run("worker1", _command("worker", **{"worker@%h": "one@%h"}))
        run("worker2", _command("worker", **{"worker@%h": "two@%h"}))
        for role in list(settings.WORKING_QUEUES)[1:]:
            run(role, _command(role))
        run("beat", _command("beat"))
        until(lambda: _answers(client), what="web answers")
        assert client.processed(client.upload("first"))["state"] == "processed"
        uploads = [client.upload(f"r{number}") for number in range(20)]
        os.killpg(first.pid, signal.SIGKILL)
        states = {client.processed(upload)["state"] for upload in uploads}
        assert states == {"processed"}
        until(lambda: _ready(client), what="all roles are served")


def _ready(client: Client) -> bool:
    try:
        return bool(client.get("/readyz")["status"] == "ready")
    except HTTPError:
        return False


def test_compose_serves_each_queue_by_the_role_of_its_name():
    for role, queue in settings.WORKING_QUEUES.items():
        command = SERVICES[role]["command"]
        assert command[command.index("-Q") + 1] == queue
        assert SERVICES[role]["healthcheck"]["test"]


def _urls(variables: dict[str, str]) -> dict[str, str]:
    return {name: variables[name] for name in ("DATABASE_URL", "REDIS_URL")}


def test_worker_refuses_a_database_without_migrations(variables):
    answer = subprocess.run(
        _command("worker"), env=variables, cwd=ROOT, capture_output=True, text=True
    )
    assert answer.returncode == 1
    assert "worker=stopped the database lacks" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_wake_without_a_broker_is_one_line_in_the_log(tmp_path, variables):
    """So an upload is admitted all the same; the beat finds it later."""
    dead = {**_urls(variables), "REDIS_URL": f"redis://127.0.0.1:{_free_port()}/0"}
    manage(tmp_path / "data", "migrate", "-v0", **dead)
    code = "from healthboard import tasks; tasks.wake('ingest'); tasks.wake('ingest')"
    answer = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
        env={**variables, **dead},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stderr.count("broker=unreachable task=advance(ingest)") == 1


def test_compose_services_wait_for_what_they_need():
    for name in ("web", *settings.WORKING_QUEUES, "beat"):
        needed = SERVICES[name]["depends_on"]
        assert needed == {"init": {"condition": "service_completed_successfully"}}
        assert SERVICES[name]["volumes"] == ["data:/data"]
    assert set(SERVICES["init"]["depends_on"]) == {"postgres", "redis"}
    for name in ("web", "worker", "postgres", "redis"):
        assert SERVICES[name]["healthcheck"]["test"]
