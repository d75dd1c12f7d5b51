"""The spool: what could not be sent, for the next command."""

from __future__ import annotations

import gzip
import os

import pytest

from healthboard_client import spool
from healthboard_client.files import Report

HERE = {"url": "https://a", "project": "acme/app"}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "spool"


@pytest.fixture
def reports(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_bytes(b"<testsuite/>")
    return [Report("junit", path, 12)]


def _write(folder, reports, **where):
    return spool.write(folder, {"run": "r"}, reports, **(HERE | where))


def test_an_entry_is_the_body_as_it_is_sent(folder, reports):
    entry = _write(folder, reports)
    with entry.path.open("rb") as file:
        file.seek(entry.body.start)
        body = gzip.decompress(file.read(entry.body.length))
    edge = f"--{entry.label.boundary}".encode()
    assert body.split(edge) == [
        b"",
        b'\r\nContent-Disposition: form-data; name="context"\r\n\r\n{"run": "r"}\r\n',
        b'\r\nContent-Disposition: form-data; name="junit"; filename="'
        + str(reports[0].path).encode()
        + b'"\r\n\r\n<testsuite/>\r\n',
        b"--\r\n",
    ]


def test_what_was_kept_is_claimed_once(folder, reports):
    kept = _write(folder, reports)
    spool.keep(kept)
    [mine] = spool.claim(folder, **HERE)
    assert mine.label == kept.label
    assert list(spool.claim(folder, **HERE)) == []
    spool.drop(mine)
    assert list(folder.iterdir()) == []


def test_an_entry_goes_only_where_it_was_made_for(folder, reports):
    spool.keep(_write(folder, reports))
    assert list(spool.claim(folder, url="https://b", project="acme/app")) == []
    assert list(spool.claim(folder, url="https://a", project="acme/other")) == []
    assert len(list(spool.claim(folder, **HERE))) == 1


def test_an_entry_of_a_killed_command_is_taken_after_an_hour(folder, reports):
    entry = _write(folder, reports)
    assert list(spool.claim(folder, **HERE)) == []
    old = entry.path.stat().st_mtime - spool.STUCK_S - 1
    os.utime(entry.path, (old, old))
    assert [one.label for one in spool.claim(folder, **HERE)] == [entry.label]
    assert list(spool.claim(folder, **HERE)) == []  # it is being sent again


def test_half_a_draft_of_a_killed_command_goes_away(folder):
    folder.mkdir()
    draft = folder / "0.draft"
    draft.write_bytes(b"{")
    assert list(spool.claim(folder, **HERE)) == []
    assert draft.exists()
    os.utime(draft, (0, 0))
    assert list(spool.claim(folder, **HERE)) == []
    assert not draft.exists()


def test_what_is_older_than_a_month_is_forgotten(folder, reports, monkeypatch):
    path = spool.keep(_write(folder, reports))
    now = path.stat().st_mtime + spool.KEPT_S + 60
    monkeypatch.setattr("healthboard_client.spool.time.time", lambda: now)
    assert list(spool.claim(folder, **HERE)) == []
    assert not path.exists()


def test_strange_files_are_left_alone(folder, reports):
    entry = spool.keep(_write(folder, reports))
    (folder / "notes.txt").write_text("mine")
    (folder / "broken.waiting").write_bytes(b"\xff\xfe no label")
    (folder / "older.waiting").write_bytes(b'{"url": "https://a"}\nbody')
    assert len(list(spool.claim(folder, **HERE))) == 1
    left = {path.name for path in folder.iterdir()}
    assert {"notes.txt", "broken.waiting", "older.waiting"} < left
    assert not entry.exists()


def test_a_report_that_vanishes_leaves_nothing_behind(folder, reports):
    reports[0].path.unlink()
    with pytest.raises(FileNotFoundError):
        _write(folder, reports)
    assert list(folder.iterdir()) == []


def test_where_the_spool_is(tmp_path):
    assert spool.directory("here", {}).as_posix() == "here"
    assert spool.directory(None, {"HEALTHBOARD_SPOOL": "there"}).as_posix() == "there"
    cache = spool.directory(None, {"XDG_CACHE_HOME": str(tmp_path)})
    assert cache == tmp_path / "healthboard" / "spool"
