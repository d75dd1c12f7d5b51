"""The read API, version 1: its operations, and the form of their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import Http404
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from api import (
    cases,
    findings,
    gate,
    leakers,
    leaks,
    problems,
    project_list,
    pulls,
    reviews,
    runs,
    status,
    trends,
    uploads,
    webhooks,
)
from api.access import AUTH
from api.closing import closed
from api.problems import ApiError, FieldError, Invalid, NotFound, answer
from results.queries.shapes import CursorError

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from ninja.operation import Operation


class Api(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


api = Api(
    title="Healthboard",
    version="1.0.0",
    description="What CI uploads became: runs, results, tests, trends.",
    urls_namespace="v1",
    openapi_url=None,  # `document` adds what no operation here describes
    docs_url=None,
    auth=AUTH,
)
for module in (
    project_list,
    uploads,
    runs,
    gate,
    cases,
    leakers,
    leaks,
    trends,
    findings,
    pulls,
    reviews,
    webhooks,
    status,
):
    module.router.add_decorator(closed)
    api.add_router("", module.router)


@api.exception_handler(ApiError)
def refused(request: HttpRequest, error: ApiError) -> HttpResponse:
    return answer(request, error)


@api.exception_handler(CursorError)
def bad_cursor(request: HttpRequest, error: CursorError) -> HttpResponse:
    message = "not a cursor of this list; start again without one"
    return answer(request, Invalid(FieldError("cursor", message)))


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = [
        FieldError(str(each["loc"][-1]), str(each["msg"]).removeprefix("Value error, "))
        for each in error.errors
    ]
    return answer(request, Invalid(*errors))


@api.exception_handler(Http404)
def missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return answer(request, NotFound("There is nothing at this address."))


@api.exception_handler(HttpError)
def other(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problems.problem(error.status_code, str(error))
