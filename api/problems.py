"""Errors as `application/problem+json` (RFC 9457).

Guarantees: whatever goes wrong below `/api/`, inside or outside the operations (an
unknown path, a wrong method, a failed CSRF check, a crash), the answer has this form.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong filter, parameter, field or cursor."""

    field: str
    message: str


class ApiError(Exception):
    """What the API refuses to do; the answer is a problem with this status."""

    status = HTTPStatus.BAD_REQUEST

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors: tuple[FieldError, ...] = ()


class NotAuthenticated(ApiError):
    status = HTTPStatus.UNAUTHORIZED


class Forbidden(ApiError):
    status = HTTPStatus.FORBIDDEN


class NotFound(ApiError):
    status = HTTPStatus.NOT_FOUND


class Conflict(ApiError):
    status = HTTPStatus.CONFLICT


class Gone(ApiError):
    status = HTTPStatus.GONE


class Invalid(ApiError):
    """Readable but wrong; every wrong field is named."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(self, *errors: FieldError) -> None:
        super().__init__("; ".join(f"{each.field}: {each.message}" for each in errors))
        self.errors = errors


def problem(
    status: int, detail: str, *, errors: Sequence[FieldError] = ()
) -> JsonResponse:
    """Return the answer for one error."""
    body: dict[str, Any] = {  # Any: JSON
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
    }
    if errors:
        body["errors"] = [asdict(error) for error in errors]
    response = JsonResponse(body, status=status, content_type=MEDIA_TYPE)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = 'Bearer realm="Healthboard"'
    return response


@csrf_exempt
def nothing_here(request: HttpRequest) -> HttpResponse:
    """Answer for every address below `/api/` that is none."""
    return problem(HTTPStatus.NOT_FOUND, _DETAILS[404])


def answer(request: HttpRequest, error: ApiError) -> HttpResponse:
    """Turn what an operation raised into its answer."""
    return problem(error.status, error.detail, errors=error.errors)


_DETAILS = {
    400: "The request cannot be read.",
    403: "The request was refused: its CSRF token is missing or wrong.",
    404: "There is nothing at this address.",
    405: "This address does not take this method.",
    500: "The server failed. The error was logged; nothing was changed.",
}


class ProblemMiddleware:
    """Gives the errors that Django itself answers below `/api/` their form.

    Stands first, so that it also sees what other middleware refuses.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if (
            response.status_code < HTTPStatus.BAD_REQUEST
            or not request.path_info.startswith("/api/")
            or response.get("Content-Type", "").startswith(MEDIA_TYPE)
        ):
            return response
        status = response.status_code
        detail = _DETAILS.get(status, HTTPStatus(status).description)
        replaced = problem(status, detail)
        for name in ("Allow", "Retry-After"):
            if name in response:
                replaced[name] = response[name]
        return replaced
