"""HEAD answers as GET does, without the body."""

from __future__ import annotations

import pytest
from django.test import Client

from projects.creation import create_project
from tests.asking import reads
from tests.delivering import FIRST, send
from tests.sending import bearer

pytestmark = pytest.mark.django_db


def test_every_read_answers_head_like_get():
    acme = create_project("acme/app", actor="test")
    send(acme, FIRST, run="1", branch="main")
    client, headers = Client(), bearer(acme.token)
    for path in reads(acme.token).values():
        got = client.get(f"/api/v1{path}", headers=headers)
        head = client.head(f"/api/v1{path}", headers=headers)
        assert head.status_code == got.status_code == 200, path
        assert head["Content-Type"] == got["Content-Type"]
        assert head.getvalue() == b""
        if got.streaming:
            assert got.getvalue()  # read to its end, it is closed
        else:
            assert int(head["Content-Length"]) == len(got.content)


def test_head_refuses_what_get_refuses():
    client = Client()
    assert client.head("/api/v1/projects/acme/app/runs").status_code == 401
    assert client.head("/api/v1/uploads").status_code == 405
    assert client.head("/api/v1/nothing").status_code == 404
