"""The small pieces that `serve` is made of."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from healthboard import lifeline, locks
from healthboard.listening import PortTaken, listen

HOLD = """
import sys, pathlib
from healthboard import locks
locks.wait_for(pathlib.Path(sys.argv[1])); print("held", flush=True); sys.stdin.read()
"""


def test_lock_is_free_again_when_its_holder_is_killed(tmp_path):
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=-1, stdout=-1, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert not locks.is_free(path)
        assert not locks.take(path)
        assert locks.holder(path) == str(holder.pid)
        holder.kill()
        holder.wait()
        assert locks.is_free(path)


def test_holder_of_a_lock_that_was_never_taken_is_nobody(tmp_path):
    assert locks.holder(tmp_path / "lock") == ""


def test_listening_on_a_port_in_use_says_so():
    first = listen("127.0.0.1", 0)
    port = first.getsockname()[1]
    with pytest.raises(PortTaken, match=f"port {port} is taken; choose another"):
        listen("127.0.0.1", port)
    first.close()


@pytest.mark.parametrize("port", [-1, 65536])
def test_listening_on_an_impossible_port_says_so(port):
    with pytest.raises(PortTaken, match=f"cannot listen on 127.0.0.1 port {port}"):
        listen("127.0.0.1", port)


def test_listening_on_a_strange_host_says_so():
    with pytest.raises(PortTaken, match=r"cannot listen on no\.such\.host\.invalid"):
        listen("no.such.host.invalid", 0)


def test_who_connects_before_a_web_part_is_there_waits():
    server = listen("127.0.0.1", 0)
    with socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        accepted.sendall(b"here")
        assert client.recv(4) == b"here"
        accepted.close()
    server.close()


@pytest.mark.parametrize(
    ("at_start", "code"),
    [
        ("pass", -15),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN)", 1),
    ],
    ids=["obeys", "does not obey"],
)
def test_part_ends_with_its_supervisor(at_start, code):
    reading, writing = os.pipe()
    script = (
        "import signal, time; from healthboard import lifeline;"
        f"{at_start}; lifeline.hold(grace=0.2); print('up', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, lifeline.VARIABLE: str(reading)},
        pass_fds=[reading],
        stdout=-1,
    ) as part:
        assert part.stdout is not None
        assert part.stdout.readline() == b"up\n"
        os.close(writing)
        assert part.wait(timeout=20) == code
    os.close(reading)
