"""Guessing passwords: after ten wrong ones an account waits, at that address only."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from projects import throttling
from projects.models import FailedSignIn
from tests.visiting import PASSWORD, make_user, read

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ana():
    return make_user("ana")


def sign_in(password, *, name="ana", address="192.0.2.7", path="/sign-in", **headers):
    form = {"username": name, "password": password}
    return Client().post(path, form, REMOTE_ADDR=address, headers=headers)


def guess(times, **options):
    return [sign_in("a guess", **options).status_code for _ in range(times)]


def test_the_eleventh_password_is_not_looked_at():
    assert guess(10) == [200] * 10
    answer = sign_in(PASSWORD)
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 900
    text = read(answer)
    assert "Too many wrong passwords for this account from here." in text
    assert "try again in 15 minutes" in text
    assert sign_in("a guess", name=" ANA ").status_code == 429


def test_others_are_let_in_meanwhile():
    make_user("ben")
    guess(10)
    assert sign_in(PASSWORD, address="198.51.100.9").status_code == 302
    assert sign_in(PASSWORD, name="ben").status_code == 302


def test_a_right_password_begins_anew():
    guess(9)
    assert sign_in(PASSWORD).status_code == 302
    assert guess(10) == [200] * 10


def test_failures_are_forgotten_after_a_while():
    guess(10)
    FailedSignIn.objects.update(at=timezone.now() - throttling.WITHIN)
    assert sign_in("a guess").status_code == 200
    assert FailedSignIn.objects.count() == 1
    assert sign_in(PASSWORD).status_code == 302
    assert not FailedSignIn.objects.exists()


def test_the_wait_ends_when_the_tenth_last_failure_is_old():
    now = timezone.now()
    for minutes in range(12):
        throttling.note_failure("ana", "a", now=now - timedelta(minutes=minutes))
    # Of twelve, the ten newest count; the oldest of them was nine minutes ago.
    assert throttling.seconds_to_wait("ana", "a", now=now) == 6 * 60
    later = now + timedelta(minutes=6)
    assert throttling.seconds_to_wait("ana", "a", now=later) == 0


def test_an_account_that_is_not_there_is_throttled_alike():
    assert [*guess(10, name="nobody"), *guess(1, name="nobody")] == [200] * 10 + [429]


def test_behind_a_proxy_its_own_word_counts(settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    forged = iter(range(20))

    def attempt(client):
        told = f"203.0.113.{next(forged)}, {client}"
        return sign_in("a guess", **{"x-forwarded-for": told}).status_code

    assert [attempt("192.0.2.1") for _ in range(11)] == [200] * 10 + [429]
    assert attempt("192.0.2.2") == 200


def test_without_a_proxy_nobody_names_another_address():
    codes = [
        sign_in("a guess", **{"x-forwarded-for": f"203.0.113.{n}"}).status_code
        for n in range(11)
    ]
    assert codes == [200] * 10 + [429]


def test_the_administration_has_no_door_of_its_own():
    answer = sign_in(PASSWORD, path="/admin/login/?next=/admin/")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in?next=/admin/")
    client = Client()
    client.login(username="ana", password=PASSWORD)
    assert client.get("/admin/", follow=True).status_code == 403
    staff = make_user("stella", is_staff=True)
    client.force_login(staff)
    assert client.get("/admin/").status_code == 200
