"""HEAD of what can be read: the answer of GET, without its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse, StreamingHttpResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

READ = "/api/v1/"


class HeadMiddleware:
    """The API's operations know GET and POST only."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method != "HEAD" or not request.path.startswith(READ):
            return self.get_response(request)
        request.method = "GET"
        response = self.get_response(request)
        if isinstance(response, StreamingHttpResponse):
            # A generator that never began would not close its file.
            next(iter(response), b"")
            response.streaming_content = ()
        elif isinstance(response, HttpResponse):
            response["Content-Length"] = str(len(response.content))
            response.content = b""
        return response
