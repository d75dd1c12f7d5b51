"""Who asks over HTTP, and which projects they may read.

Guarantees: a missing or wrong token is 401; a project that does not exist and one that
the asker may not see give the same 404; a token or role that is not enough is 403.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.utils import timezone
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from api.problems import Forbidden, NotAuthenticated, NotFound
from projects import tokens
from projects.access import (
    NoSuchProject,
    RoleTooLow,
    access_project,
    readable_projects,
)
from projects.models import Project, Role, Scope, Token

if TYPE_CHECKING:
    from django.http import HttpRequest

NO_PROJECT = "There is no such project."


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: exactly one of a token and a signed-in person."""

    token: Token | None = None
    user: User | None = None

    @property
    def name(self) -> str:
        """Return how the audit log calls them."""
        return f"token {self.token.name}" if self.token else str(self.user)


class Bearer(HttpBearer):
    """A project's token."""

    def __call__(self, request: HttpRequest) -> Asker | None:
        header = request.headers.get("Authorization")
        if header is None:
            return None
        scheme, _, plain = header.partition(" ")
        if scheme.lower() != "bearer":
            raise NotAuthenticated("Use the scheme Bearer with a project's token.")
        return self.authenticate(request, plain.strip())

    def authenticate(self, request: HttpRequest, token: str) -> Asker:
        found = tokens.find(token)
        if found is None:
            raise NotAuthenticated("The token is wrong or was revoked.")
        now = timezone.now()
        used = found.last_used_at
        # Asked here first: even an UPDATE of no row takes SQLite's write lock.
        if used is None or now - used > tokens.TOUCH_EVERY:
            tokens.touch(found, now=now)
        return Asker(token=found)


class Session(APIKeyCookie):
    """A signed-in person. What changes something needs the CSRF token."""

    param_name = "sessionid"

    def __init__(self) -> None:
        # Its own check would answer 403 to a stranger who is not signed in at all.
        super().__init__(csrf=False)

    def authenticate(self, request: HttpRequest, key: str | None) -> Asker:
        user = request.user
        if not isinstance(user, User):
            raise NotAuthenticated("Send a token (Authorization: Bearer …) or sign in.")
        if check_csrf(request) is not None:
            raise Forbidden("The CSRF token is missing or wrong.")
        return Asker(user=user)


AUTH = (Bearer(), Session())


def asker_of(request: HttpRequest) -> Asker:
    """Return who asks, as the operation's authentication found out."""
    asker: Asker = request.auth  # type: ignore[attr-defined] # set by the framework
    return asker


def optional_asker(request: HttpRequest) -> Asker | None:
    """Return who asks, or None for an anonymous request. A wrong token is an error."""
    asker = AUTH[0](request)
    if asker is None and isinstance(request.user, User):
        return Asker(user=request.user)
    return asker


def project_of(asker: Asker, slug: str, *, scope: Scope = Scope.READ) -> Project:
    """Return the project with this name, if the asker may do this with it."""
    if asker.token is not None:
        if asker.token.project.slug != slug:
            raise NotFound(NO_PROJECT)
        _need_scope(asker.token, scope)
        return asker.token.project
    owner, _, name = slug.partition("/")
    needs = Role.ADMIN if scope == Scope.ADMIN else None
    try:
        return access_project(_person(asker), owner, name, needs=needs).project
    except NoSuchProject:
        raise NotFound(NO_PROJECT) from None
    except RoleTooLow as error:
        raise Forbidden(f"This needs the role {error.needs} in the project.") from None


def project_by_id(
    asker: Asker, project_id: int, *, otherwise: str, scope: Scope = Scope.READ
) -> Project:
    """Return the project of a thing that was found by its own id.

    To a stranger the thing itself does not exist: a 404 with `otherwise`.
    """
    if asker.token is not None:
        slug = asker.token.project.slug if asker.token.project_id == project_id else ""
    else:
        found = Project.objects.filter(pk=project_id).first()
        slug = found.slug if found else ""
    try:
        return project_of(asker, slug, scope=scope)
    except NotFound:
        raise NotFound(otherwise) from None


def projects_of(asker: Asker) -> list[Project]:
    """Return what the asker may read, by owner and name."""
    if asker.token is not None:
        _need_scope(asker.token, Scope.READ)
        return [asker.token.project]
    return list(readable_projects(_person(asker)))


def _need_scope(token: Token, scope: Scope) -> None:
    if scope not in token.scopes:
        raise Forbidden(f"The token does not have the scope {scope}.")


def _person(asker: Asker) -> User:
    if asker.user is None:
        raise NotAuthenticated("Sign in.")
    return asker.user
