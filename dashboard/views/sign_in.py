"""Signing in and out: by account, or through a configured provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import Http404
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET

from dashboard import providers
from projects.identities import account_of

if TYPE_CHECKING:
    from typing import Any

    from django.http import HttpRequest, HttpResponse, HttpResponseBase

NEXT = "sign_in_next"


class SignIn(LoginView):
    """Django's own view, which is hardened, with our page and the providers."""

    template_name = "dashboard/sign_in.html"
    redirect_authenticated_user = True

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


def _safe(request: HttpRequest, target: str) -> str:
    allowed = url_has_allowed_host_and_scheme(
        target, {request.get_host()}, require_https=request.is_secure()
    )
    return target if allowed else ""
