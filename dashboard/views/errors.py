"""Error pages: what happened, what is safe, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponseServerError
from django.shortcuts import render
from django.template.loader import get_template

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", {"reason": str(exception)}, status=403)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403.html", {"csrf": True}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """The page asks neither the database nor the session: one may be what broke."""
    return HttpResponseServerError(get_template("500.html").render())
