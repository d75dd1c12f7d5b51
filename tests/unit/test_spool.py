"""The broker of the embedded mode: files that are whole, few, and gone when taken."""

from __future__ import annotations

import json
import os
from queue import Empty

import pytest
from kombu.connection import Connection
from kombu.transport import virtual

OPTIONS = ("data_folder_in", "data_folder_out", "control_folder")


@pytest.fixture
def channel(tmp_path):
    options = {**dict.fromkeys(OPTIONS, str(tmp_path)), "polling_interval": 0.01}
    connection = Connection(
        "filesystem://localhost",
        transport="healthboard.spool:Transport",
        transport_options=options,
    )
    with connection, connection.channel() as channel:
        yield channel


def _message(argument: str) -> dict[str, object]:
    return {"body": "x", "headers": {"task": "advance", "argsrepr": argument}}


def test_message_is_taken_once(channel, tmp_path):
    channel._put("ingest", _message("a"))
    assert channel._get("ingest") == _message("a")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(Empty):
        channel._get("ingest")


def test_message_of_another_queue_is_left(channel):
    channel._put("analyse", _message("a"))
    with pytest.raises(Empty):
        channel._get("ingest")
    assert channel._get("analyse") == _message("a")


def test_flood_of_equal_messages_is_one_file(channel, tmp_path):
    for _ in range(1_000):
        channel._put("ingest", _message("a"))
    channel._put("ingest", _message("b"))
    assert len(list(tmp_path.iterdir())) == 2
    taken = [channel._get("ingest")["headers"]["argsrepr"] for _ in range(2)]
    assert sorted(taken) == ["a", "b"]


def test_half_written_message_is_not_seen(channel, tmp_path):
    (tmp_path / "half.tmp").write_text('{"bo')
    (tmp_path / "left by a killed worker.taken").write_text("{}")
    with pytest.raises(Empty):
        channel._get("ingest")


def test_message_that_another_worker_took_is_passed_over(
    channel, tmp_path, monkeypatch
):
    channel._put("ingest", _message("a"))
    (path,) = tmp_path.iterdir()
    real = type(path).rename
    monkeypatch.setattr(
        type(path), "rename", lambda self, to: (self.unlink(), real(self, to))
    )
    with pytest.raises(Empty):
        channel._get("ingest")


def test_messages_are_plain_json(channel, tmp_path):
    channel._put("ingest", _message("a"))
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_text()) == _message("a")
    assert isinstance(channel, virtual.Channel)


def test_message_that_may_run_out_is_replaced(channel, tmp_path):
    channel._put("ingest", {**_message("a"), "body": "old"})
    (path,) = tmp_path.iterdir()
    channel._put("ingest", {**_message("a"), "body": "young"})
    assert json.loads(path.read_text())["body"] == "old"
    os.utime(path, (0, 0))
    channel._put("ingest", {**_message("a"), "body": "new"})
    assert list(tmp_path.iterdir()) == [path]
    assert channel._get("ingest")["body"] == "new"
