"""Members of a project and their roles.

A project that has an admin keeps one: the last is neither removed nor demoted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import transaction

from projects import audit
from projects.models import Membership, Project, Role

if TYPE_CHECKING:
    from django.db.models import QuerySet


class MemberError(ValueError):
    """The members cannot be changed as asked; the message says why."""


def members(project: Project) -> QuerySet[Membership]:
    """Return the project's memberships with their accounts, by name."""
    return (
        Membership.objects.filter(project=project)
        .select_related("user")
        .order_by("user__username")
    )


def add_member(project: Project, account: str, *, role: Role, actor: str) -> Membership:
    """Give an account, named by its user name or e-mail address, a role."""
    user = _find_account(account)
    with transaction.atomic():
        membership, made = Membership.objects.get_or_create(
            project=project, user=user, defaults={"role": role}
        )
        if not made:
            raise MemberError(f"{user.username} is a member already.")
        audit.record(
            project,
            actor=actor,
            action="member.added",
            subject=user.username,
            detail={"role": role},
        )
    return membership


def join_as_admin(project: Project, user: User) -> None:
    """Make who created a project its first admin."""
    with transaction.atomic():
        Membership.objects.get_or_create(
            project=project, user=user, defaults={"role": Role.ADMIN}
        )
        audit.record(
            project,
            actor=user.get_username(),
            action="member.added",
            subject=user.get_username(),
            detail={"role": Role.ADMIN},
        )


def change_role(membership: Membership, *, role: Role, actor: str) -> None:
    """Give a member another role."""
    if membership.role == role:
        return
    with transaction.atomic():
        _keep_an_admin(membership)
        Membership.objects.filter(pk=membership.pk).update(role=role)
        audit.record(
            membership.project,
            actor=actor,
            action="member.role_changed",
            subject=membership.user.username,
            detail={"before": membership.role, "after": role},
        )


def remove_member(membership: Membership, *, actor: str) -> None:
    """Take a member out of the project; their account stays."""
    with transaction.atomic():
        _keep_an_admin(membership)
        Membership.objects.filter(pk=membership.pk).delete()
        audit.record(
            membership.project,
            actor=actor,
            action="member.removed",
            subject=membership.user.username,
            detail={"role": membership.role},
        )


def _find_account(account: str) -> User:
    account = account.strip()
    found = User.objects.filter(username=account, is_active=True).first()
    if found is None and "@" in account:
        matches = list(User.objects.filter(email__iexact=account, is_active=True)[:2])
        found = matches[0] if len(matches) == 1 else None
    if found is None:
        raise MemberError(
            f"No account is named “{account}”. They sign in once, or an operator makes"
            " the account, then you can add them."
        )
    return found


def _keep_an_admin(membership: Membership) -> None:
    """Refuse to lose the last admin; the lock keeps two of them from going at once."""
    Project.objects.select_for_update().filter(pk=membership.project_id).first()
    others = Membership.objects.filter(
        project_id=membership.project_id, role=Role.ADMIN
    ).exclude(pk=membership.pk)
    if membership.role == Role.ADMIN and not others.exists():
        raise MemberError(
            f"{membership.user.username} is the last admin. Make someone else an admin"
            " first."
        )
