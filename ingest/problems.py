"""What the inbox refuses, as `application/problem+json` (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.http import JsonResponse

if TYPE_CHECKING:
    from collections.abc import Callable

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A refusal with its status; `field` names the field that is wrong, if one is."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *,
        field: str = "",
        retry_after: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.field = field
        self.retry_after = retry_after


class Unauthenticated(Problem):
    """The same answer for a missing, bad or stale token or signature.

    `why` is for the project's admin alone, never for whoever sent the request.
    """

    scheme = "Bearer"

    def __init__(self, why: str = "", *, detail: str = "") -> None:
        super().__init__(
            HTTPStatus.UNAUTHORIZED,
            detail
            or "This needs a valid project token or a valid, fresh V2 signature.",
        )
        self.why = why


class Unsigned(Unauthenticated):
    """The same answer for everything that a route's secret did not sign."""

    scheme = "Signature"

    def __init__(self, why: str) -> None:
        super().__init__(why, detail="This needs a valid signature of this route.")


class ProblemResponse(JsonResponse):
    """An answer that does one more thing once it was sent."""

    def __init__(
        self, body: dict[str, Any], *, status: int, after: Callable[[], None]
    ) -> None:  # Any: JSON
        super().__init__(body, status=status, content_type=MEDIA_TYPE)
        self._after = after

    def close(self) -> None:
        super().close()
        self._after()


def response(problem: Problem, *, after: Callable[[], None]) -> ProblemResponse:
    """Return the answer to a refused request; `after` runs once it was sent."""
    body: dict[str, Any] = {  # Any: JSON
        "type": "about:blank",
        "title": problem.status.phrase,
        "status": int(problem.status),
        "detail": problem.detail,
    }
    if problem.field:
        body["field"] = problem.field
        body["errors"] = [{"field": problem.field, "message": problem.detail}]
    answer = ProblemResponse(body, status=problem.status, after=after)
    if problem.retry_after is not None:
        answer["Retry-After"] = str(problem.retry_after)
    if isinstance(problem, Unauthenticated):
        answer["WWW-Authenticate"] = f'{problem.scheme} realm="Healthboard"'
    if problem.status == HTTPStatus.METHOD_NOT_ALLOWED:
        answer["Allow"] = "POST"
    if problem.status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
        answer["Accept-Encoding"] = "gzip, zstd"
    return answer
