"""One comment and one check a pull request, at a host that answers as the real ones."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from joserfc import jwt
from joserfc.jwk import RSAKey

from healthboard.pipeline import BY_NAME, drain
from notify import hosts
from notify.endpoints import BadEndpoint
from notify.models import CodeHost, Remark
from projects.creation import create_project
from pulls.models import Pull, Verdict
from pulls.shapes import FindingItem, HeadRun, Item, Told
from tests.code_hosts import TOKEN, hosting, limited, secondary
from tests.receiving import LOOPBACK

pytestmark = pytest.mark.django_db

MARK = "<!-- healthboard: acme/app -->"
HEAD = "c0ffee"


@pytest.fixture
def project(settings):
    settings.HEALTHBOARD_WEBHOOK_ALLOW = LOOPBACK
    return create_project("acme/app", actor="test").project


def connect(project, host, kind="github", **fields):
    wanted = {"secret": TOKEN, "repository": "acme/app"} | fields
    return hosts.save(project, kind=kind, api_url=host.url, actor="test", **wanted)


def failing(n, share="introduced"):
    return Item(
        test=n,
        nodeid=f"tests/test_a.py::test_{n}",
        kind="failed",
        share=share,
        why="passed",
        reason="it was not seen at the base",
        environments=[],
        message=f"assert {n} == 1 | @ada <b>",
    )


def leak(n):
    return Item(
        test=n,
        nodeid=f"tests/test_b.py::test_{n}",
        kind="env.set",
        share="introduced",
        why="passed",
        reason="new",
        environments=[],
        recipe="use monkeypatch",
    )


def told(*, failures=(), leaks=(), findings=(), red=None, head=HEAD, sentence=""):
    items = [*failures, *leaks]
    return Told(
        word="yours" if items else "clear",
        sentence=sentence or f"{len(items)} introduced.",
        red=bool(items) if red is None else red,
        reasons=["it introduces something"] if items else [],
        advice=[],
        head=head,
        untested="",
        base="b",
        quality="known",
        leaks=list(leaks),
        failures=list(failures),
        findings=list(findings),
        runs=[HeadRun(1, "ci", "passed", True, {}, 3)],
        base_runs=[],
        tests=3,
    )


def judge(project, verdict, number=7):
    """Store a verdict as the pulls stage does."""
    now = timezone.now()
    pull, _ = Pull.objects.get_or_create(
        project=project, number=number, defaults={"created_at": now}
    )
    Verdict.objects.update_or_create(
        pull=pull,
        defaults={
            "word": verdict.word,
            "red": verdict.red,
            "sentence": verdict.sentence,
            "head": verdict.head,
            "detail": verdict.to_json(),
            "at": now,
            "changed_at": now,
        },
    )


def say():
    """Run the stage; a try that waits for later is due at once."""
    drain(BY_NAME["remarks"])


def again():
    Remark.objects.exclude(due_at=None).update(due_at=timezone.now())
    say()


def the_comment(host):
    (only,) = host.comments.values()
    return only["body"]


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_one_comment_is_edited_in_place(project, kind):
    with hosting() as host:
        connect(project, host, kind)
        host.comments = {
            n: {"id": n, "on": "7", "body": f"somebody's {n}"} for n in range(150)
        }
        judge(project, told(failures=[failing(1)]))
        say()
        mine = [one for one in host.comments.values() if MARK in one["body"]]
        assert len(mine) == 1
        assert "test_1" in mine[0]["body"]
        judge(project, told(failures=[failing(2)]))
        say()
        assert "test_2" in mine[0]["body"]
        assert "test_1" not in mine[0]["body"]
        judge(project, told())
        say()
        assert "🟢" in mine[0]["body"]
        assert len(host.comments) == 151


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_what_is_green_is_not_commented_on(project, kind):
    with hosting() as host:
        connect(project, host, kind)
        judge(project, told())
        say()
        assert host.comments == {}
        assert len(host.statuses) == 1


def test_what_was_said_is_not_said_again(project):
    with hosting() as host:
        connect(project, host)
        judge(project, told(failures=[failing(1)]))
        say()
        before = len(host.asked)
        judge(project, told(failures=[failing(1)]))
        say()
        assert len(host.asked) == before


def test_several_verdicts_at_once_are_one_comment(project):
    with hosting() as host:
        connect(project, host)
        for n in range(4):
            judge(project, told(failures=[failing(n)]))
        say()
        assert "test_3" in the_comment(host)


def test_a_comment_whose_making_was_not_answered_is_not_made_twice(project):
    with hosting() as host:
        connect(project, host)
        host.lose = True
        judge(project, told(failures=[failing(1)]))
        say()
        assert Remark.objects.get().error != ""
        again()
        assert "test_1" in the_comment(host)
        assert Remark.objects.get().error == ""


def test_a_comment_that_somebody_deleted_is_made_anew_with_the_next_news(project):
    with hosting() as host:
        connect(project, host)
        judge(project, told(failures=[failing(1)]))
        say()
        host.comments.clear()
        judge(project, told(failures=[failing(2)]))
        say()
        assert "test_2" in the_comment(host)


def test_a_comment_fits_by_showing_fewer_rows(project):
    with hosting() as host:
        connect(project, host)
        judge(project, told(failures=[failing(n) for n in range(3000)]))
        say()
        body = the_comment(host)
    assert len(body.encode()) <= 65_000
    assert body.startswith(MARK)
    assert body.endswith("3 tests</sub>\n")
    shown = body.count("\n| `tests/test")
    assert shown > 0
    assert f"… and {3000 - shown} more" in body
    assert "@ada" not in body
    assert "<b>" not in body


def key_pair():
    return RSAKey.generate_key(2048, auto_kid=False)


def test_an_app_makes_a_check_run_with_annotations_50_a_call(project):
    key = key_pair()
    with hosting() as host:
        pem = key.as_pem(private=True).decode()
        connect(project, host, secret=pem, app_id="12", installation_id="34")
        finding = FindingItem(
            1, "P0", "open", "shop/pay.py", 41, "It logs the token", "introduced", ""
        )
        judge(project, told(leaks=[leak(n) for n in range(119)], findings=[finding]))
        say()
        (check,) = host.checks.values()
        calls = [one for one in host.writes if "check-runs" in one[1]]
    assert (check["head_sha"], check["conclusion"]) == (HEAD, "failure")
    assert [method for method, _ in calls] == ["POST", "PATCH", "PATCH"]
    assert len(check["annotations"]) == 120
    last = check["annotations"][-1]
    assert (last["path"], last["start_line"]) == ("shop/pay.py", 41)
    claims = jwt.decode(host.claims[0], key).claims
    assert claims["iss"] == "12"
    assert claims["exp"] - claims["iat"] == 600


def test_a_plain_token_sets_a_commit_status(project):
    with hosting() as host:
        connect(project, host)
        judge(project, told(failures=[failing(1)]))
        say()
        ((head, status),) = host.statuses
    assert (head, status["state"], status["context"]) == (
        HEAD,
        "failure",
        "Healthboard",
    )


@pytest.mark.parametrize(
    ("error", "least"),
    [
        # Made when it is asked: a limit names a moment.
        (lambda: limited(1800), 1700),
        (lambda: secondary("120"), 110),
        (secondary, 55),
    ],
    ids=["hourly", "retry-after", "secondary"],
)
def test_limits_are_waited_for_by_all_of_the_project(project, error, least):
    with hosting() as host:
        connect(project, host)
        host.errors = [error()]
        judge(project, told(failures=[failing(1)]))
        judge(project, told(failures=[failing(2)]), number=8)
        say()
        asked = len(host.asked)
        assert asked == 1
        until = CodeHost.objects.get().held_until
        assert until > timezone.now() + timedelta(seconds=least)
        again()
        assert len(host.asked) == asked
        CodeHost.objects.update(held_until=timezone.now())
        again()
        assert len(host.comments) == 2


@pytest.mark.parametrize("status", [401, 404, 422, 500, 502])
def test_an_error_is_shown_and_tried_again_later(project, status):
    with hosting() as host:
        connect(project, host)
        host.errors = [(status, {}, {"message": "no way"})]
        judge(project, told(failures=[failing(1)]))
        say()
        assert f"{status}: no way" in CodeHost.objects.get().error
        assert Remark.objects.get().due_at > timezone.now()
        assert TOKEN not in Remark.objects.get().error
        again()
        assert len(host.comments) == 1
        assert CodeHost.objects.get().error == ""


def test_a_secret_does_not_go_to_another_address(project):
    with hosting() as host, hosting() as other:
        connect(project, host)
        with pytest.raises(BadEndpoint, match="is needed"):
            connect(project, other, secret="")
        connect(project, host, secret="", comments=False)
        assert CodeHost.objects.get().secret == TOKEN


def test_a_host_inside_is_refused_unless_it_is_allowed(project, settings):
    settings.HEALTHBOARD_WEBHOOK_ALLOW = []
    with hosting() as host, pytest.raises(BadEndpoint, match="not a public"):
        connect(project, host)
