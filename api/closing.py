"""Nothing unknown passes: every query parameter is one that the operation names.

Guarantees: an unknown parameter, one given twice, and a value that no database takes
(a NUL character) are a 422 that names the parameter.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from api.problems import FieldError, Invalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest


def closed(view: Callable[..., Any]) -> Callable[..., Any]:  # Any: any operation
    """Wrap an operation: refuse query parameters that it does not have."""
    allowed = {
        name
        for model in view._ninja_operation.models  # type: ignore[attr-defined]
        if model.__ninja_param_source__ == "query"
        for name in model.__ninja_flatten_map__
    }

    @wraps(view)
    def wrapped(request: HttpRequest, **values: Any) -> Any:  # Any: as above
        check_query(request, allowed)
        return view(request, **values)

    return wrapped


def check_query(request: HttpRequest, allowed: set[str]) -> None:
    """Raise Invalid for parameters outside `allowed`, or given twice, or with NUL."""
    errors = []
    for name, values in request.GET.lists():
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            errors.append(FieldError(name, f"unknown parameter; there are: {known}"))
        elif len(values) > 1:
            errors.append(FieldError(name, "given more than once"))
        elif "\0" in values[0]:
            errors.append(FieldError(name, "must not hold a NUL character"))
    if errors:
        raise Invalid(*errors)
