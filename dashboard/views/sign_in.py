"""Signing in and out: by account, or through a configured provider."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.views import (
    LoginView,
    PasswordChangeView,
    redirect_to_login,
)
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_http_methods

from dashboard import providers
from projects import throttling
from projects.identities import account_of

if TYPE_CHECKING:
    from typing import Any

    from django.http import HttpRequest, HttpResponse, HttpResponseBase

NEXT = "sign_in_next"


class SignIn(LoginView):
    """Django's own view, which is hardened, with our page and the providers.

    After too many wrong passwords it looks at none for a while, right or wrong.
    """

    template_name = "dashboard/sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        wait = throttling.seconds_to_wait(*self._who(), now=timezone.now())
        if not wait:
            return super().post(request, *args, **kwargs)
        form = self.get_form_class()(request)  # empty: nothing is checked
        context = self.get_context_data(form=form, minutes=math.ceil(wait / 60))
        response = self.render_to_response(context, status=429)
        response["Retry-After"] = str(wait)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        if form.non_field_errors():
            throttling.note_failure(*self._who(), now=timezone.now())
        return super().form_invalid(form)

    def form_valid(self, form: Any) -> HttpResponse:
        throttling.forget(*self._who())
        return super().form_valid(form)

    def _who(self) -> tuple[str, str]:
        return self.request.POST.get("username", ""), address_of(self.request)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(providers=providers.configured(), **kwargs)


class ChangePassword(PasswordChangeView):
    template_name = "dashboard/change_password.html"
    success_url = reverse_lazy("projects")

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Your password is changed.")
        return super().form_valid(form)


@require_GET
def begin(request: HttpRequest, provider: str) -> HttpResponseBase:
    """Send the person to the provider. A link, as forms may not lead elsewhere."""
    if not providers.is_configured(provider):
        raise Http404
    request.session[NEXT] = _safe(request, request.GET.get("next", ""))
    back = settings.SITE_ROOT + reverse("sign-in-done", args=[provider])
    try:
        return providers.begin(request, provider, back=back)
    except providers.SignInError as error:
        messages.error(request, str(error))
        return redirect("sign-in")


@require_GET
def finish(request: HttpRequest, provider: str) -> HttpResponseBase:
    """Sign in whom the provider sends back, as the account tied to them."""
    if not providers.is_configured(provider):
        raise Http404
    try:
        user = account_of(providers.finish(request, provider))
    except providers.SignInError as error:
        messages.error(request, str(error))
        return redirect("sign-in")
    if not user.is_active:
        messages.error(request, "This account is switched off.")
        return redirect("sign-in")
    target = request.session.pop(NEXT, "") or reverse("projects")
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect(target)


def address_of(request: HttpRequest) -> str:
    """Return where a request comes from; behind a proxy, what the proxy says.

    Its last entry is the proxy's own word; the others are the sender's.
    """
    direct: str = request.META.get("REMOTE_ADDR", "")
    if settings.SECURE_PROXY_SSL_HEADER is None:
        return direct
    told = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return told.rpartition(",")[2].strip() or direct


@require_http_methods(["GET", "POST"])
def administration(request: HttpRequest) -> HttpResponse:
    """The administration's own sign-in counts no failures: it is not used."""
    if request.user.is_authenticated:
        raise PermissionDenied("Only staff can use the administration.")
    return redirect_to_login(request.GET.get("next", reverse("admin:index")))


def _safe(request: HttpRequest, target: str) -> str:
    allowed = url_has_allowed_host_and_scheme(
        target, {request.get_host()}, require_https=request.is_secure()
    )
    return target if allowed else ""
