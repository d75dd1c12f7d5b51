"""Which page a person may see: the project's access rules, as a decorator.

Strangers get a 404, whether the project exists or not. Who may read but not act is
asked to sign in, or told which role it takes.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Concatenate

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404

from projects.access import Access, NoSuchProject, RoleTooLow, access_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase

    from projects.models import Role


def project_page[**P](
    *, needs: Role | None = None
) -> Callable[
    [Callable[Concatenate[HttpRequest, Access, P], HttpResponseBase]],
    Callable[..., HttpResponseBase],
]:
    """Give the view the `Access` of the person to the project in the URL."""

    def decorate(
        view: Callable[Concatenate[HttpRequest, Access, P], HttpResponseBase],
    ) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def guarded(
            request: HttpRequest,
            owner: str,
            name: str,
            *args: P.args,
            **kwargs: P.kwargs,
        ) -> HttpResponseBase:
            try:
                access = access_project(request.user, owner, name, needs=needs)
            except NoSuchProject as error:
                raise Http404 from error
            except RoleTooLow as error:
                if not request.user.is_authenticated:
                    return redirect_to_login(request.get_full_path())
                raise PermissionDenied(
                    f"This needs the role {error.needs} in {owner}/{name}."
                ) from error
            return view(request, access, *args, **kwargs)

        return guarded

    return decorate
