"""Who may see and change which project.

A project is seen by its members, by operators (superusers), and by everyone when it is
public. Whoever may not see it gets `NoSuchProject`, whether it exists or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from projects.models import Membership, Project, Role

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import QuerySet

_RANK = {None: 0, Role.VIEWER: 1, Role.TRIAGER: 2, Role.ADMIN: 3}


class NoSuchProject(LookupError):
    """The project does not exist, or this person may not know that it does."""


class RoleTooLow(PermissionError):
    """The project is visible to this person, but the act needs a higher role."""

    def __init__(self, needs: Role) -> None:
        super().__init__(f"this needs the role {needs}")
        self.needs = needs


@dataclass(frozen=True, slots=True)
class Access:
    """A project, and the role of the person who asks (None: a public reader)."""

    project: Project
    role: Role | None

    def may(self, needs: Role) -> bool:
        """Tell whether the role is at least this one."""
        return _RANK[self.role] >= _RANK[needs]

    @property
    def triages(self) -> bool:
        return self.may(Role.TRIAGER)

    @property
    def administers(self) -> bool:
        return self.may(Role.ADMIN)


def readable_projects(user: User | AnonymousUser) -> QuerySet[Project]:
    """Return the projects that this person may read, by owner and name."""
    projects = Project.objects.order_by("owner", "name")
    if user.is_superuser:
        return projects
    seen = Q(public=True)
    if user.is_authenticated:
        seen |= Q(pk__in=Membership.objects.filter(user=user).values("project"))
    return projects.filter(seen)


def role_of(user: User | AnonymousUser, project: Project) -> Role | None:
    """Return the person's role in a project; operators are admins everywhere."""
    if not user.is_authenticated or not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    role = (
        Membership.objects.filter(project=project, user=user)
        .values_list("role", flat=True)
        .first()
    )
    return Role(role) if role else None


def access_project(
    user: User | AnonymousUser, owner: str, name: str, *, needs: Role | None = None
) -> Access:
    """Return the project with the person's role in it.

    Raises NoSuchProject for strangers, RoleTooLow when the project may be read but
    `needs` is more than the person has.
    """
    project = Project.objects.filter(owner=owner, name=name).first()
    if project is None:
        raise NoSuchProject(f"{owner}/{name}")
    access = Access(project, role_of(user, project))
    if access.role is None and not project.public:
        raise NoSuchProject(f"{owner}/{name}")
    if needs is not None and not access.may(needs):
        raise RoleTooLow(needs)
    return access
