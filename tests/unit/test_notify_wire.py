"""Attacks on the board's requests, with real sockets and a resolver that lies."""

from __future__ import annotations

import contextlib
import socket
import threading
from ipaddress import ip_network

import pytest

from notify.wire import ANSWER_BYTES, Gate, Request, send
from tests.receiving import LOOPBACK, receiving


def gate(*addresses, allowed=LOOPBACK, deadline=5.0):
    """Names lead to these addresses; without any the system is asked."""
    known = {"resolve": lambda _host, _port: list(addresses)} if addresses else {}
    return Gate(allowed=allowed, connect_s=2.0, deadline_s=deadline, **known)


def post(url, through, **headers):
    return send(Request(url, b"{}", headers), through)


@contextlib.contextmanager
def serving(talk):
    """A server that does `talk(connection)` with each connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)
    ended = threading.Event()
    connections = []

    def accept():
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connections.append(connection)
            with connection, contextlib.suppress(OSError):
                talk(connection)

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/", connections
    finally:
        ended.set()
        thread.join()
        listener.close()


def test_the_name_stays_in_the_host_header_and_the_address_is_the_checked_one():
    with receiving() as receiver:
        url = f"http://hooks.example:{receiver.port}/hook"
        outcome = post(url, gate("127.0.0.1"))
    assert (outcome.status, outcome.address) == (200, "127.0.0.1")
    assert receiver.received[0].headers["host"] == f"hooks.example:{receiver.port}"


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254"]
)
def test_a_name_that_leads_inside_is_refused(address):
    with receiving() as receiver:
        outcome = post(f"http://x.example:{receiver.port}/", gate(address, allowed=()))
    assert outcome.status is None
    assert "not a public address" in outcome.error
    assert receiver.received == []


def test_a_name_that_changes_between_check_and_connect_gains_nothing():
    """There is one look-up, and its answer is what is connected to."""
    asked = []

    def flips(host, port):
        asked.append(host)
        return ["127.0.0.2"] if len(asked) == 1 else ["127.0.0.1"]

    with receiving() as receiver:
        through = Gate(allowed=[ip_network("127.0.0.1/32")], resolve=flips)
        url = f"http://flips.example:{receiver.port}/"
        first = post(url, through)
        assert "refused" in first.error
        assert receiver.received == []
        assert asked == ["flips.example"]


def test_of_several_addresses_only_the_allowed_one_is_connected_to():
    with receiving() as receiver:
        through = gate("10.0.0.1", "127.0.0.1", allowed=[ip_network("127.0.0.1/32")])
        outcome = post(f"http://mixed.example:{receiver.port}/", through)
    assert (outcome.status, outcome.address) == (200, "127.0.0.1")


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0177.0.0.1", "0x7f.0.0.1", "127.1", "0x7f000001", "localhost"],
)
def test_other_spellings_of_loopback_are_refused_by_what_they_lead_to(host):
    with receiving() as receiver:
        outcome = post(f"http://{host}:{receiver.port}/", gate(allowed=()))
    assert outcome.status is None
    assert receiver.received == []


def test_a_redirect_is_not_followed():
    with receiving() as inside:
        with receiving(lambda _: (302, {"Location": inside.url})) as outside:
            outcome = post(outside.url, gate())
        assert outcome.status == 302
        assert inside.received == []


def test_an_endless_body_is_read_to_64_kib():
    def endless(connection):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with serving(endless) as (url, _):
        outcome = post(url, gate())
    assert outcome.status == 200
    assert (len(outcome.body), outcome.cut) == (ANSWER_BYTES, True)


def drip(connection, text):
    """Send a byte at a time until the other side is gone."""
    connection.recv(65536)
    pause = threading.Event()
    for byte in text:
        connection.sendall(bytes([byte]))
        pause.wait(0.02)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"a" * 5000, None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"a" * 5000, 200),
    ],
    ids=["headers", "body"],
)
def test_a_slow_drip_ends_at_the_deadline(text, status):
    with serving(lambda connection: drip(connection, text)) as (url, _):
        outcome = post(url, gate(deadline=1.0))
    assert outcome.status == status
    assert (outcome.cut, outcome.error) in (
        (True, ""),
        (False, "no answer within 1 s"),
    )


def test_a_handshake_that_never_ends_ends_at_the_deadline():
    def silent(connection):
        while connection.recv(65536):
            pass

    with serving(silent) as (url, _):
        outcome = post(url.replace("http:", "https:"), gate(deadline=0.5))
    assert (outcome.status, outcome.error) == (None, "no answer within 0.5 s")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 500 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
    ],
    ids=["nothing", "nonsense", "no-status", "headers", "long", "chunks", "length"],
)
def test_a_hostile_answer_is_an_outcome(answer):
    def talk(connection):
        connection.recv(65536)
        connection.sendall(answer)

    with serving(talk) as (url, _):
        outcome = post(url, gate())
    assert outcome.status in (None, 200)
    assert outcome.status is not None or outcome.error


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb"])
def test_a_header_cannot_bring_another(value):
    with receiving() as receiver:
        outcome = post(receiver.url, gate(), **{"X-A": value})
    assert outcome.status is None
    assert receiver.received == []


def test_a_dead_port_is_told():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    outcome = post(f"http://127.0.0.1:{port}/", gate())
    assert (outcome.status, outcome.error) == (
        None,
        "no connection: Connection refused",
    )


def test_a_certificate_that_nobody_signed_is_an_error():
    """A plain server spoken to by TLS: no answer is taken for one."""
    with receiving() as receiver:
        outcome = post(receiver.url.replace("http:", "https:"), gate())
    assert outcome.status is None
    assert receiver.received == []
