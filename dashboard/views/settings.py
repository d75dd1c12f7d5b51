"""Settings of a project: general, tokens, signing secret, members, audit log.

Plain texts of secrets are rendered in the answer to the request that made them, and
never kept: a reload does not show them again.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard.access import project_page
from dashboard.commands import upload_command
from dashboard.filters import number
from dashboard.forms import MemberForm, RoleForm, SettingsForm, TokenForm
from dashboard.paging import page_of
from projects import administration, options, signing
from projects.members import (
    MemberError,
    add_member,
    change_role,
    members,
    remove_member,
)
from projects.models import AuditEntry, Membership, Role, Token
from results import reclassifying

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access


@require_http_methods(["GET", "POST"])
@project_page(needs=Role.ADMIN)
def general(request: HttpRequest, access: Access) -> HttpResponse:
    """Show and change the project's own settings."""
    now = administration.read_settings(access.project)
    initial = asdict(now) | asdict(now.options)
    form = SettingsForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        wanted = form.settings(options.read(access.project))
        changed = administration.save_settings(
            access.project, wanted, actor=_actor(request)
        )
        messages.success(request, "Saved." if changed else "Nothing was changed.")
        return redirect("settings", access.project.owner, access.project.name)
    behind = reclassifying.waiting(access.project.pk) > 0
    return _page(request, access, "general", form=form, behind=behind)


@require_GET
@project_page(needs=Role.ADMIN)
def tokens(request: HttpRequest, access: Access) -> HttpResponse:
    return _tokens_page(request, access, TokenForm(initial={"scopes": ["upload"]}))


@require_POST
@never_cache
@project_page(needs=Role.ADMIN)
def make_token(request: HttpRequest, access: Access) -> HttpResponse:
    """Issue a token and show its plain text, once."""
    form = TokenForm(request.POST)
    if not form.is_valid() or not request.user.is_authenticated:
        return _tokens_page(request, access, form)
    token, plain = administration.make_token(
        access.project,
        name=form.cleaned_data["name"],
        scopes=form.chosen(),
        user=request.user,
    )
    empty = TokenForm(initial={"scopes": ["upload"]})
    return _tokens_page(request, access, empty, made=token, plain=plain)


@require_POST
@project_page(needs=Role.ADMIN)
def revoke_token(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    token = get_object_or_404(
        Token.objects.select_related("project"), pk=pk, project=access.project
    )
    administration.revoke_token(token, actor=_actor(request))
    messages.success(request, f"The token {token.name} is revoked.")
    return redirect("tokens", access.project.owner, access.project.name)


@require_GET
@project_page(needs=Role.ADMIN)
def secret(request: HttpRequest, access: Access) -> HttpResponse:
    return _secret_page(request, access)


@require_POST
@never_cache
@project_page(needs=Role.ADMIN)
def rotate_secret(request: HttpRequest, access: Access) -> HttpResponse:
    """Make a new signing secret and show it, once."""
    plain = administration.rotate_secret(
        access.project, actor=_actor(request), now=timezone.now()
    )
    return _secret_page(request, access, plain=plain)


@require_http_methods(["GET", "POST"])
@project_page(needs=Role.ADMIN)
def people(request: HttpRequest, access: Access) -> HttpResponse:
    """List the members, and add one."""
    form = MemberForm(request.POST or None, initial={"role": Role.VIEWER})
    if request.method == "POST" and form.is_valid():
        try:
            added = add_member(
                access.project,
                form.cleaned_data["account"],
                role=form.chosen(),
                actor=_actor(request),
            )
        except MemberError as error:
            form.add_error("account", str(error))
        else:
            messages.success(request, f"{added.user} is now a {added.role}.")
            return redirect("members", access.project.owner, access.project.name)
    rows = list(members(access.project))
    return _page(
        request, access, "members", form=form, members=rows, roles=Role.choices
    )


@require_POST
@project_page(needs=Role.ADMIN)
def change_member(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Give a member another role, or take them out."""
    member = get_object_or_404(
        Membership.objects.select_related("user", "project"),
        pk=pk,
        project=access.project,
    )
    form = RoleForm(request.POST)
    try:
        if "remove" in request.POST:
            remove_member(member, actor=_actor(request))
            messages.success(request, f"{member.user} is no longer a member.")
        elif form.is_valid():
            change_role(member, role=form.chosen(), actor=_actor(request))
            messages.success(request, f"{member.user} is now a {form.chosen()}.")
    except MemberError as error:
        messages.error(request, str(error))
    return redirect("members", access.project.owner, access.project.name)


@require_GET
@project_page(needs=Role.ADMIN)
def audit_log(request: HttpRequest, access: Access) -> HttpResponse:
    """List every change that someone made, the newest first."""
    entries = AuditEntry.objects.filter(project=access.project).order_by("-at", "-id")
    page = page_of(entries, number(request.GET, "page", default=1, low=1))
    return _page(request, access, "audit", page=page)


def _tokens_page(
    request: HttpRequest, access: Access, form: TokenForm, **more: object
) -> HttpResponse:
    rows = (
        Token.objects.filter(project=access.project)
        .select_related("created_by")
        .order_by("revoked_at", "-id")
    )
    live = [token for token in rows if token.revoked_at is None]
    revoked = [token for token in rows if token.revoked_at is not None]
    return _page(
        request,
        access,
        "tokens",
        form=form,
        live=live,
        revoked=revoked,
        command=upload_command(
            request, access.project, token=str(more.get("plain", "")) or None
        ),
        **more,
    )


def _secret_page(
    request: HttpRequest, access: Access, *, plain: str = ""
) -> HttpResponse:
    now = timezone.now()
    valid = signing.secrets_of(access.project, now=now)
    return _page(request, access, "secret", plain=plain, secrets=valid)


def _page(
    request: HttpRequest, access: Access, section: str, **context: object
) -> HttpResponse:
    return render(
        request,
        f"dashboard/settings_{section}.html",
        {"access": access, "tab": "settings", "section": section, **context},
    )


def _actor(request: HttpRequest) -> str:
    return request.user.get_username()
