"""What the API says of an upload, in every state it can have."""

from __future__ import annotations

import gzip
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from healthboard.pipeline import drain_all
from ingest.models import State
from ingest.models import Upload as Row
from projects import tokens
from projects.creation import Created, create_project
from projects.models import AuditEntry, Membership, Role, Scope
from tests.asking import ask, refused, told
from tests.delivering import BROKEN, FIRST, GREEN, send
from tests.sending import PATH, Upload, bearer, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


def content(answer) -> bytes:
    assert answer.status_code == 200, answer
    return b"".join(answer.streaming_content)


def test_an_upload_from_admission_to_its_run(acme):
    before = timezone.now()
    upload_id = send(acme, FIRST, run="7", drain=False)
    waiting = told(f"/uploads/{upload_id}", acme.token)
    assert waiting["state"] == "admitted"
    assert (waiting["run"], waiting["processed_at"]) == (None, None)
    drain_all()
    done = told(f"/uploads/{upload_id}", acme.token)
    assert done["state"] == "processed"
    assert (done["id"], done["project"]) == (upload_id, "acme/app")
    assert done["kind"] == ["junit"]
    assert (done["error"], done["errors"]) == (None, [])
    assert before.isoformat()[:19] <= done["received_at"] <= done["processed_at"]
    assert done["processed_at"].endswith("Z")
    assert told(f"/runs/{done['run']}", acme.token)["run"] == "7"


def test_the_url_of_the_receipt_leads_here(acme):
    answer = post(Upload({}), bearer(acme.token))
    url = answer.json()["url"]
    assert url == told(f"/uploads/{answer.json()['id']}", acme.token)["url"]


def test_a_bad_file_among_good_ones_is_named_with_its_place(acme):
    upload = told(f"/uploads/{send(acme, GREEN, BROKEN, run='1')}", acme.token)
    assert upload["state"] == "processed"
    assert len(upload["errors"]) == 1
    error = upload["error"]
    assert error == upload["errors"][0]
    assert error["file"] == "2.xml"
    assert error["line"] == 2
    assert error["column"] >= 1
    assert error["message"]


def test_an_upload_without_a_good_file_is_rejected(acme):
    upload = told(f"/uploads/{send(acme, BROKEN)}", acme.token)
    assert upload["state"] == "rejected"
    assert upload["error"]["file"] == "1.xml"
    assert upload["run"] is None


def test_a_repair_is_a_warning(acme):
    report = b'<testsuite><testcase name="a"><failure message="x">\x01</failure></testcase></testsuite>'
    upload = told(f"/uploads/{send(acme, report)}", acme.token)
    assert upload["state"] == "processed"
    assert any(each["file"] == "1.xml" for each in upload["warnings"])


def test_our_own_failure_is_told_and_when_it_is_tried_again(acme):
    upload_id = send(acme, GREEN, drain=False)
    due = timezone.now() + timedelta(minutes=3)
    Row.objects.update(state=State.FAILED, failure="OSError: disk", due_at=due)
    upload = told(f"/uploads/{upload_id}", acme.token)
    assert upload["error"]["message"] == "OSError: disk"
    assert upload["retry_at"] is not None


@pytest.mark.parametrize("state", list(State))
def test_the_bytes_are_there_in_every_state(acme, state):
    body = gzip.compress(Upload({}, [("junit", "a/b.xml", GREEN)]).body, mtime=0)
    answer = Client().post(
        PATH,
        data=body,
        content_type=Upload().content_type,
        headers=bearer(acme.token) | {"Content-Encoding": "gzip"},
    )
    upload_id = answer.json()["id"]
    Row.objects.update(state=state)
    raw = ask(f"/uploads/{upload_id}/raw", acme.token)
    assert content(raw) == body
    assert raw["X-Upload-Content-Encoding"] == "gzip"
    assert raw["X-Upload-Content-Type"] == Upload().content_type
    assert f'filename="upload-{upload_id}.gz"' in raw["Content-Disposition"]
    file = ask(f"/uploads/{upload_id}/files/1", acme.token)
    assert content(file) == GREEN
    assert file["Content-Length"] == str(len(GREEN))
    assert file["Content-Disposition"] == 'attachment; filename="b.xml"'
    assert "Content-Encoding" not in raw


def test_files_are_counted_from_1(acme):
    upload_id = send(acme, FIRST, GREEN)
    upload = told(f"/uploads/{upload_id}", acme.token)
    assert [each["n"] for each in upload["files"]] == [1, 2]
    assert content(ask(f"/uploads/{upload_id}/files/2", acme.token)) == GREEN
    for n in (0, 3):
        refused(ask(f"/uploads/{upload_id}/files/{n}", acme.token), 404)


def test_bytes_that_retention_deleted_are_gone(acme):
    upload_id = send(acme, FIRST)
    Row.objects.update(body_deleted_at=timezone.now())
    refused(ask(f"/uploads/{upload_id}/raw", acme.token), 410)
    refused(ask(f"/uploads/{upload_id}/files/1", acme.token), 410)
    assert told(f"/uploads/{upload_id}", acme.token)["state"] == "processed"


def test_an_upload_of_another_project_looks_like_none(acme):
    other = create_project("other/app", actor="test")
    upload_id = send(other, GREEN)
    for end in ("", "/raw", "/files/1"):
        theirs = refused(ask(f"/uploads/{upload_id}{end}", acme.token), 404)
        assert theirs == refused(ask(f"/uploads/{upload_id + 1}{end}", acme.token), 404)


# Another try


def retry(upload_id: int, token: str):
    client = Client(raise_request_exception=False)
    return client.post(f"/api/v1/uploads/{upload_id}/retry", headers=bearer(token))


def test_a_dead_upload_is_tried_again(acme):
    upload_id = send(acme, GREEN, drain=False)
    Row.objects.update(state=State.DEAD, due_at=None, failure="x", attempts=5)
    answer = retry(upload_id, acme.token)
    assert answer.status_code == 202
    assert answer.json()["state"] == "admitted"
    drain_all()
    assert told(f"/uploads/{upload_id}", acme.token)["state"] == "processed"
    entry = AuditEntry.objects.get(action="upload.retried")
    assert entry.actor == "token first token"


def test_an_upload_that_is_not_dead_is_not_tried_again(acme):
    for files in ([GREEN], [BROKEN]):
        refused(retry(send(acme, *files), acme.token), 409)


def test_another_try_needs_the_scope_admin(acme):
    upload_id = send(acme, GREEN)
    _, plain = tokens.issue(acme.project, name="r", scopes=[Scope.READ, Scope.UPLOAD])
    refused(retry(upload_id, plain), 403)
    refused(Client().post(f"/api/v1/uploads/{upload_id}/retry"), 401)


def test_another_try_by_a_person_needs_the_role_and_the_csrf_token(acme):
    upload_id = send(acme, GREEN, drain=False)
    Row.objects.update(state=State.DEAD, due_at=None)
    user = User.objects.create_user("ada")
    member = Membership.objects.create(
        project=acme.project, user=user, role=Role.TRIAGER
    )
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    path = f"/api/v1/uploads/{upload_id}/retry"
    refused(client.post(path), 403)
    client.cookies["csrftoken"] = secret = "a" * 32
    assert (
        "role"
        in refused(client.post(path, headers={"X-CSRFToken": secret}), 403)["detail"]
    )
    member.role = Role.ADMIN
    member.save(update_fields=["role"])
    assert "CSRF" in refused(client.post(path), 403)["detail"]
    answer = client.post(path, headers={"X-CSRFToken": secret})
    assert answer.status_code == 202
    assert AuditEntry.objects.get(action="upload.retried").actor == "ada"
