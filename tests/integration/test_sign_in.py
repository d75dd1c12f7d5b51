"""Signing in: by account, and through a provider that runs beside the test."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from joserfc.jwk import RSAKey

from projects.identities import Person, account_of
from projects.models import AuditEntry, Identity, Role
from tests.builders import make_project
from tests.providers import CLIENT, SECRET, running
from tests.visiting import PASSWORD, make_user, read, visit, visitor

pytestmark = pytest.mark.django_db

ANA = {
    "sub": "248289761001",
    "preferred_username": "ana.moreno",
    "name": "Ana Moreno",
    "email": "ana@example.org",
    "email_verified": True,
}


@pytest.fixture
def oidc(settings):
    with running() as provider:
        provider.person = dict(ANA)
        settings.HEALTHBOARD_OIDC_ISSUER = provider.url
        settings.HEALTHBOARD_OIDC_CLIENT_ID = CLIENT
        settings.HEALTHBOARD_OIDC_CLIENT_SECRET = SECRET
        settings.HEALTHBOARD_OIDC_NAME = "Acme"
        yield provider


@pytest.fixture
def github(settings):
    with running() as provider:
        provider.person = {"id": 583231, "login": "octo", "name": "Octo Cat"}
        settings.HEALTHBOARD_GITHUB_CLIENT_ID = CLIENT
        settings.HEALTHBOARD_GITHUB_CLIENT_SECRET = SECRET
        settings.HEALTHBOARD_GITHUB_URL = provider.url
        settings.HEALTHBOARD_GITHUB_API_URL = provider.url
        yield provider


def sign_in(provider, key, *, client=None, **query):
    """Go to the provider, agree there, come back."""
    client = client or Client()
    away = client.get(f"/sign-in/{key}", query_params=query)
    assert away.status_code == 302
    path, answer = provider.consent(away["Location"])
    return client, client.get(path, query_params=answer)


def signed_in(client):
    return client.session.get("_auth_user_id") is not None


def test_an_account_signs_in_and_out():
    make_user("ana")
    client = Client()
    wrong = client.post("/sign-in", {"username": "ana", "password": "not it"})
    assert "That user name and password do not fit." in read(wrong)
    assert not signed_in(client)
    right = client.post("/sign-in", {"username": "ana", "password": PASSWORD})
    assert right["Location"] == "/"
    assert signed_in(client)
    assert client.get("/sign-out").status_code == 405
    client.post("/sign-out")
    assert not signed_in(client)


def test_after_sign_in_one_is_where_one_wanted_to_be():
    project = make_project("acme/shop", public=True)
    make_user("ana", is_superuser=True)
    client = Client()
    asked = client.get("/p/acme/shop/settings")
    assert asked["Location"] == "/sign-in?next=/p/acme/shop/settings"
    fields = {"username": "ana", "password": PASSWORD}
    answer = client.post(asked["Location"], fields | {"next": "/p/acme/shop/settings"})
    assert answer["Location"] == "/p/acme/shop/settings"
    assert project.slug in visit(client, answer["Location"])


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "\\\\e"])
def test_no_sign_in_leads_elsewhere(target, oidc):
    make_user("bo")
    fields = {"username": "bo", "password": PASSWORD, "next": target}
    assert Client().post("/sign-in", fields)["Location"] == "/"
    _, back = sign_in(oidc, "oidc", next=target)
    assert back["Location"] == "/"


def test_a_password_is_changed():
    client = visitor(name="ana")
    page = "/account/password"
    fields = {"old_password": PASSWORD, "new_password1": "quite new words"}
    told = client.post(page, fields | {"new_password2": "quite new words"}, follow=True)
    assert "Your password is changed." in read(told)
    assert User.objects.get().check_password("quite new words")
    assert Client().get(page)["Location"].startswith("/sign-in")


def test_without_configuration_there_is_no_provider():
    assert "Continue with" not in visit(Client(), "/sign-in")
    for path in ("/sign-in/oidc", "/sign-in/github", "/sign-in/oidc/done"):
        assert Client().get(path).status_code == 404


def test_openid_connect_makes_an_account_and_finds_it_again(oidc):
    assert "Continue with Acme" in visit(Client(), "/sign-in")
    client, back = sign_in(oidc, "oidc", next="/search")
    assert back["Location"] == "/search"
    assert signed_in(client)
    ana = User.objects.get()
    assert (ana.username, ana.first_name, ana.email) == (
        "ana.moreno",
        "Ana",
        "ana@example.org",
    )
    assert not ana.has_usable_password()
    assert not ana.is_staff
    # Names and addresses may change at the provider; the person stays the same.
    oidc.person |= {"preferred_username": "ana.m", "email": "new@example.org"}
    sign_in(oidc, "oidc")
    assert User.objects.get() == ana
    assert AuditEntry.objects.get().action == "account.created"


def test_the_way_to_the_provider_is_guarded(oidc):
    away = Client().get("/sign-in/oidc")["Location"]
    query = parse_qs(urlsplit(away).query)
    assert query["redirect_uri"] == ["http://localhost:8000/sign-in/oidc/done"]
    assert query["client_id"] == [CLIENT]
    assert query["code_challenge_method"] == ["S256"]
    assert len(query["state"][0]) > 20
    assert len(query["nonce"][0]) > 10


@pytest.mark.parametrize(
    "lies",
    [
        {"iss": "https://evil.example"},
        {"aud": "another client"},
        {"nonce": "of another sign-in"},
        {"exp": 1},
        {"sub": ""},
        {"sub": None},
    ],
    ids=str,
)
def test_a_lying_token_signs_nobody_in(oidc, lies):
    oidc.lies = lies
    client, back = sign_in(oidc, "oidc")
    assert back["Location"] == "/sign-in"
    assert not signed_in(client)
    assert not User.objects.exists()


def test_a_token_of_another_key_signs_nobody_in(oidc):
    oidc.other_key = RSAKey.generate_key(2048)
    client, back = sign_in(oidc, "oidc")
    assert back["Location"] == "/sign-in"
    assert not signed_in(client)


@pytest.mark.parametrize(
    "query", [{}, {"state": "x", "code": "y"}, {"error": "denied"}]
)
def test_coming_back_without_having_gone_signs_nobody_in(oidc, query):
    client = Client()
    told = client.get("/sign-in/oidc/done", query_params=query, follow=True)
    assert "The sign-in was refused, or took too long." in read(told)
    assert not signed_in(client)


def test_an_answer_for_another_browser_signs_nobody_in(oidc):
    path, answer = oidc.consent(Client().get("/sign-in/oidc")["Location"])
    victim = Client()
    victim.get(path, query_params=answer)
    assert not signed_in(victim)


def test_a_provider_that_is_down_is_told_kindly(oidc):
    oidc.broken = True
    told = Client().get("/sign-in/oidc", follow=True)
    assert "The sign-in service does not answer." in read(told)


def test_a_provider_that_breaks_half_way_is_told_kindly(oidc):
    client = Client()
    path, answer = oidc.consent(client.get("/sign-in/oidc")["Location"])
    oidc.broken = True
    told = client.get(path, query_params=answer, follow=True)
    assert "Sign in to Healthboard" in read(told)
    assert not signed_in(client)


def test_an_unverified_address_is_not_kept(oidc):
    oidc.person["email_verified"] = False
    sign_in(oidc, "oidc")
    assert User.objects.get().email == ""


@pytest.mark.parametrize("provider", ["oidc", "github"])
def test_a_taken_name_or_address_is_never_taken_over(provider, oidc, github):
    names = {"oidc": "ana.moreno", "github": "octo"}
    owner = make_user(names[provider], is_superuser=True)
    User.objects.update(email="ana@example.org")
    client, _ = sign_in({"oidc": oidc, "github": github}[provider], provider)
    assert client.session["_auth_user_id"] != str(owner.pk)
    new = User.objects.exclude(pk=owner.pk).get()
    assert new.username == f"{names[provider]}-2"
    assert not new.is_superuser


def test_github_signs_in_by_its_number(github):
    client, back = sign_in(github, "github")
    assert back["Location"] == "/"
    assert signed_in(client)
    assert Identity.objects.get().subject == "583231"
    github.person["login"] = "renamed"
    sign_in(github, "github")
    assert User.objects.get().username == "octo"


@pytest.mark.parametrize("answer", [{}, {"id": "583231"}, {"message": "Bad creds"}])
def test_a_github_answer_without_a_number_signs_nobody_in(github, answer):
    github.person = answer
    client, back = sign_in(github, "github")
    assert back["Location"] == "/sign-in"
    assert not signed_in(client)


def test_a_switched_off_account_stays_out(oidc):
    sign_in(oidc, "oidc")
    User.objects.update(is_active=False)
    client, _ = sign_in(oidc, "oidc")
    assert not signed_in(client)
    assert "This account is switched off." in visit(client, "/sign-in")


def test_an_account_of_a_provider_sees_only_what_it_may(oidc):
    shop = make_project("acme/shop")
    client, _ = sign_in(oidc, "oidc")
    assert "You are not a member of a project yet" in visit(client, "/")
    visit(client, "/p/acme/shop/", status=404)
    shop.memberships.create(user=User.objects.get(), role=Role.VIEWER)
    visit(client, "/p/acme/shop/")


def test_a_login_of_odd_characters_becomes_a_plain_name():
    odd = Person(provider="oidc", subject="1", login="  <ana>/é moreno ")
    assert account_of(odd).username == "ana-é-moreno"
    assert account_of(Person(provider="oidc", subject="2", login="/")).username == (
        "someone"
    )
