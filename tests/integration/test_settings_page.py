"""Settings, tokens, signing secret, members and the audit log, by their pages."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from projects import options, signing, tokens
from projects.administration import make_token
from projects.models import AuditEntry, Membership, Role, Scope, Secret, Token
from tests.builders import make_project
from tests.sending import Upload, bearer, post
from tests.visiting import base, make_user, read, visit, visitor

pytestmark = pytest.mark.django_db

SETTINGS = {
    "title": "The shop",
    "default_branch": "trunk",
    "zone": "Europe/Zurich",
    "public": "on",
    "window_days": "14",
    "due_p0_days": "1",
    "due_p1_days": "7",
    "due_p2_days": "30",
    "due_p3_days": "90",
    "strip_path_prefixes": "build/\n  src/  \n\n",
    "add_path_prefix": "app/",
    "strip_classname_prefixes": "",
    "add_classname_prefix": "",
    "repeats": "attempts",
    "keep_bodies_days": "30",
    "keep_facts_days": "200",
}


@pytest.fixture
def shop():
    return make_project("acme/shop")


@pytest.fixture
def admin(shop):
    return visitor(shop, Role.ADMIN, name="ana")


def entries(project):
    return list(
        AuditEntry.objects.filter(project=project)
        .order_by("id")
        .values_list("actor", "action", "subject")
    )


def plain_of(answer):
    """The one secret that an answer shows."""
    [plain] = re.findall(r'data-copy="(\S+)" title="Copy the (?:token|secret)', answer)
    return plain


def test_settings_are_saved_and_read_back(shop, admin):
    told = admin.post(f"{base(shop)}/settings", SETTINGS, follow=True)
    assert "Saved." in read(told)
    shop.refresh_from_db()
    assert (shop.title, shop.default_branch, shop.zone, shop.public) == (
        "The shop",
        "trunk",
        "Europe/Zurich",
        True,
    )
    assert options.read(shop) == options.Options(
        repeats="attempts",
        strip_path_prefixes=("build/", "src/"),
        add_path_prefix="app/",
        keep_bodies_days=30,
        keep_facts_days=200,
        window_days=14,
    )
    page = told.content.decode()
    assert "build/\nsrc/</textarea>" in page
    assert "days are in Europe/Zurich" in read(told)


def test_a_change_of_settings_is_written_down_once(shop, admin):
    for _ in range(2):
        told = admin.post(f"{base(shop)}/settings", SETTINGS, follow=True)
    assert "Nothing was changed." in read(told)
    [entry] = AuditEntry.objects.filter(project=shop)
    assert (entry.actor, entry.action) == ("ana", "settings.changed")
    assert entry.detail["zone"] == ["UTC", "Europe/Zurich"]
    assert entry.detail["strip_path_prefixes"] == [[], ["build/", "src/"]]
    assert "add_classname_prefix" not in entry.detail
    text = visit(admin, f"{base(shop)}/settings/audit")
    assert "zone: UTC → Europe/Zurich" in text
    assert "public: no → yes" in text


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("zone", "Mars/Olympus", "Mars/Olympus is no time zone"),
        ("default_branch", "", "This field is required."),
        ("window_days", "0", "greater than or equal to 1"),
        ("keep_facts_days", "ten", "Enter a whole number."),
        ("repeats", "sometimes", "Select a valid choice"),
    ],
)
def test_a_wrong_setting_changes_nothing_and_says_why(shop, admin, field, value, told):
    answer = admin.post(f"{base(shop)}/settings", SETTINGS | {field: value})
    text = read(answer)
    assert "Nothing was saved: 1 field below needs another value." in text
    assert told in text
    shop.refresh_from_db()
    assert (shop.title, shop.options) == ("", {})
    assert entries(shop) == []


def test_a_token_is_shown_once_and_works(shop, admin):
    page = f"{base(shop)}/settings/tokens"
    answer = admin.post(f"{page}/new", {"name": "CI", "scopes": ["upload"]})
    plain = plain_of(answer.content.decode())
    assert f"Authorization: Bearer {plain}" in read(answer)
    assert "no-store" in answer["Cache-Control"]
    assert tokens.find(plain) is not None
    assert Token.objects.get().scopes == ["upload"]
    assert plain not in admin.get(page).content.decode()
    assert not Token.objects.filter(digest__contains=plain).exists()
    assert post(Upload({"run": "ci-1"}), bearer(plain)).status_code == 202
    assert "upload" in visit(admin, page)
    hint = Token.objects.get().hint
    assert entries(shop) == [("ana", "token.issued", f"CI ({hint}…)")]


def test_a_token_without_name_or_scope_is_not_made(shop, admin):
    page = f"{base(shop)}/settings/tokens/new"
    assert "This field is required." in read(admin.post(page, {"name": "CI"}))
    assert "This field is required." in read(admin.post(page, {"scopes": ["read"]}))
    assert not Token.objects.exists()


def test_a_revoked_token_is_refused_at_once(shop, admin):
    ana = Membership.objects.get(project=shop).user
    token, plain = make_token(shop, name="CI", scopes=[Scope.UPLOAD], user=ana)
    page = f"{base(shop)}/settings/tokens/{token.pk}/revoke"
    told = admin.post(page, follow=True)
    assert "The token CI is revoked." in read(told)
    assert post(Upload({"run": "ci-1"}), bearer(plain)).status_code == 401
    admin.post(page)
    actions = [action for _, action, _ in entries(shop)]
    assert actions == ["token.issued", "token.revoked"]
    assert "Revoked (1)" in visit(admin, f"{base(shop)}/settings/tokens")


def test_a_token_of_another_project_cannot_be_revoked_here(shop, admin):
    other = make_project("acme/other")
    token, plain = make_token(other, name="CI", scopes=[], user=make_user("bo"))
    answer = admin.post(f"{base(shop)}/settings/tokens/{token.pk}/revoke")
    assert answer.status_code == 404
    assert tokens.find(plain) is not None


def test_a_rotated_secret_is_shown_once_and_the_old_one_signs_for_a_day(shop, admin):
    old = signing.rotate(shop, now=timezone.now())
    page = f"{base(shop)}/settings/secret"
    assert old not in admin.get(page).content.decode()
    answer = admin.post(f"{page}/rotate")
    new = plain_of(answer.content.decode())
    assert "no-store" in answer["Cache-Control"]
    assert new not in admin.get(page).content.decode()
    now = timezone.now()
    assert signing.valid_secrets(shop, now=now) == [new, old]
    assert signing.valid_secrets(shop, now=now + timedelta(hours=25)) == [new]
    text = visit(admin, page)
    assert "ending" in text
    assert "signs until in 23 hours" in text
    assert entries(shop) == [("ana", "webhook_secret.rotated", "")]
    assert Secret.objects.count() == 2


def test_a_member_is_added_by_name_or_address(shop, admin):
    make_user("bo")
    make_user("cy")
    page = f"{base(shop)}/settings/members"
    told = admin.post(page, {"account": "bo", "role": "triager"}, follow=True)
    assert "bo is now a triager." in read(told)
    admin.post(page, {"account": "CY@example.org", "role": "viewer"})
    found = Membership.objects.filter(project=shop).order_by("user__username")
    assert list(found.values_list("user__username", "role")) == [
        ("ana", "admin"),
        ("bo", "triager"),
        ("cy", "viewer"),
    ]
    again = admin.post(page, {"account": "bo", "role": "admin"})
    assert "bo is a member already." in read(again)
    missing = admin.post(page, {"account": "nobody", "role": "admin"})
    assert "No account is named “nobody”" in read(missing)
    assert [action for _, action, _ in entries(shop)] == ["member.added"] * 2


def test_an_address_that_two_accounts_have_names_nobody(shop, admin):
    for name in ("bo", "cy"):
        make_user(name)
    User.objects.exclude(username="ana").update(email="same@example.org")
    page = f"{base(shop)}/settings/members"
    answer = admin.post(page, {"account": "same@example.org", "role": "viewer"})
    assert "No account is named" in read(answer)


def test_a_role_is_changed_and_a_member_removed(shop, admin):
    bo = Membership.objects.create(project=shop, user=make_user("bo"), role="viewer")
    page = f"{base(shop)}/settings/members/{bo.pk}"
    told = admin.post(page, {"role": "triager"}, follow=True)
    assert "bo is now a triager." in read(told)
    told = admin.post(page, {"remove": "1"}, follow=True)
    assert "bo is no longer a member." in read(told)
    assert not Membership.objects.filter(pk=bo.pk).exists()
    assert entries(shop) == [
        ("ana", "member.role_changed", "bo"),
        ("ana", "member.removed", "bo"),
    ]


@pytest.mark.parametrize("act", [{"role": "viewer"}, {"remove": "1"}])
def test_the_last_admin_stays(shop, admin, act):
    own = Membership.objects.get(project=shop)
    page = f"{base(shop)}/settings/members/{own.pk}"
    told = admin.post(page, act, follow=True)
    assert "ana is the last admin." in read(told)
    own.refresh_from_db()
    assert own.role == Role.ADMIN
    assert entries(shop) == []


def test_a_removed_member_is_a_stranger_at_once(shop, admin):
    bo = visitor(shop, Role.VIEWER, name="bo")
    visit(bo, f"{base(shop)}/")
    member = Membership.objects.get(user__username="bo")
    admin.post(f"{base(shop)}/settings/members/{member.pk}", {"remove": "1"})
    visit(bo, f"{base(shop)}/", status=404)


def test_the_audit_log_is_paged_newest_first(shop, admin):
    for n in range(60):
        AuditEntry.objects.create(project=shop, actor="bo", action=f"act.number_{n}")
    page = f"{base(shop)}/settings/audit"
    first = visit(admin, page)
    assert "act.number_59" in first
    assert "act.number_9 " not in first
    assert "act.number_9 " in visit(admin, page, page="2")
    assert "Nothing was changed yet." in visit(admin, page, page="99")


def test_facts_cannot_be_changed_in_the_administration(shop):
    root = visitor(name="root", is_superuser=True, is_staff=True)
    for model in ("results/run", "results/block", "ingest/upload", "projects/token"):
        assert root.get(f"/admin/{model}/").status_code == 200
        assert root.get(f"/admin/{model}/add/").status_code == 403
    assert root.post(f"/admin/projects/project/{shop.pk}/delete/").status_code == 403
    signing.rotate(shop, now=timezone.now())
    secret = Secret.objects.get()
    seen = root.get(f"/admin/projects/secret/{secret.pk}/change/").content.decode()
    assert secret.value not in seen
